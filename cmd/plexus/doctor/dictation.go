package doctor

import (
	"context"

	"plexus/cmd/plexus/status"
)

// dictation says what phones are offered, and why it is not more.
func (s Subject) dictation(context.Context) []Finding {
	const check = "dictation"
	r := s.Recognizer
	switch {
	case r == nil:
		return []Finding{skipped(check, "Model and recogniser are not known: the host did not tell, or the configuration has faults, which plexus serve lists.")}
	case !r.TextInput:
		return []Finding{skipped(check, "There is no model, so phones are offered neither text nor dictation.")}
	case r.Reach == status.Off:
		return []Finding{warning(check, "Nothing turns speech into text. "+status.TextNeedsDictation+".",
			`Set recognizer.kind in the configuration to "command" or "openai", and name the program or the service there.`)}
	case r.Problem != "":
		return []Finding{warning(check, "What was said cannot be turned into text: "+r.Name+": "+r.Problem+".",
			"Start or install it, or name another under [recognizer] in the configuration.")}
	}
	return []Finding{ok(check, "Phones are offered text and dictation, by "+r.Name+".")}
}
