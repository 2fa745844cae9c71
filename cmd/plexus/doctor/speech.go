package doctor

import "context"

// TextNeedsDictation is what an owner has to know whose host takes text alone.
const TextNeedsDictation = "Phone apps show their text box only when dictation works"

// Speech is what the host has for what a phone types and says.
type Speech struct {
	Model      bool   // there is one to answer it
	Recognizer string // what turns speech into text, for people; "": nothing
	Problem    string // why that cannot be used; "": it can
}

// dictation says what phones are offered, and why it is not more.
func (s Subject) dictation(context.Context) []Finding {
	const check = "dictation"
	speech := s.Speech
	switch {
	case speech == nil:
		return []Finding{skipped(check, "Model and recogniser are not known: the host did not tell, or the configuration has faults, which plexus serve lists.")}
	case !speech.Model:
		return []Finding{skipped(check, "There is no model, so phones are offered neither text nor dictation.")}
	case speech.Recognizer == "":
		return []Finding{warning(check, "Nothing turns speech into text. "+TextNeedsDictation+".",
			`Set recognizer.kind in the configuration to "command" or "openai", and name the program or the service there.`)}
	case speech.Problem != "":
		return []Finding{warning(check, "What was said cannot be turned into text: "+speech.Recognizer+": "+speech.Problem+".",
			"Start or install it, or name another under [recognizer] in the configuration.")}
	}
	return []Finding{ok(check, "Phones are offered text and dictation, by "+speech.Recognizer+".")}
}
