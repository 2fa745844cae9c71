package absent

import (
	"encoding/json"
	"strings"

	"plexus/domain/nova"
	"plexus/domain/nova/jsonform"
	"plexus/domain/usecases/personal/hub"
	"plexus/domain/usecases/personal/params"
	"plexus/domain/workbench"
	"plexus/ports"
)

// Bounds of parameters, in UTF-16 units where it is a text.
const (
	maxEvidenceID = 600
	maxCursor     = 256
	maxEntryID    = 256
	maxVersion    = 128
	maxContent    = 500 // trimmed
	maxPage       = 100
)

// Memory is what the host would remember of its owner. Parameters are looked at as
// if there were one.
func Memory() hub.Area {
	return hub.Area{
		Commands: []hub.Command{
			{Method: "memory.list", Phone: true, Do: hub.Refuse[List](workbench.Unsupported)},
			{Method: "memory.evidence", Phone: true, Do: hub.Mutate(func(hub.Request, Evidence) hub.Mutation {
				return hub.Mutation{Apply: func(ports.PersonalTx) (any, error) {
					return map[string]any{"state": "unavailable", "evidence": nil}, nil
				}}
			})},
			{Method: "memory.correct", Phone: true, Do: hub.Refuse[Correct](workbench.Unsupported)},
			{Method: "memory.forget", Phone: true, Do: hub.Refuse[Forget](workbench.Unsupported)},
			{Method: "memory.purge", Phone: true, KeepsData: true, Do: hub.Refuse[Purge](workbench.Unsupported)},
			{Method: "memory.reextract", Do: hub.Refuse[Reextract](workbench.Unsupported)},
		},
		Members: []hub.Member{everywhere("memory", `{"entries":[],"cursor":null,"overview":null}`)},
	}
}

// The parameters of the commands. Of most of them nothing is kept.
type (
	Evidence  struct{ EvidenceID string }
	List      struct{}
	Correct   struct{}
	Forget    struct{}
	Purge     struct{}
	Reextract struct{}
)

func (p *Evidence) Read(f *jsonform.Form) {
	params.Text(f, "evidence_id", &p.EvidenceID, maxEvidenceID)
	f.Want("evidence_id", !strings.Contains(p.EvidenceID, "\x00"))
}

func (*List) Read(f *jsonform.Form) {
	var cursor string
	var limit nova.Optional[uint64]
	f.Text("cursor", jsonform.Omitted, &cursor, jsonform.Units(0, maxCursor))
	f.OptionalUint("limit", jsonform.Omitted, &limit, 1, maxPage)
	if f.Has("include_expired") {
		f.Bool("include_expired", new(bool))
	}
}

func (*Correct) Read(f *jsonform.Form) {
	params.Text(f, "id", new(string), maxEntryID)
	checkVersion(f)
	params.TrimmedText(f, "content", new(string), maxContent)
}

// Read passes over a content, which clients have been seen to send.
func (*Forget) Read(f *jsonform.Form) {
	params.Text(f, "id", new(string), maxEntryID)
	checkVersion(f)
	f.Value("content", new(json.RawMessage))
}

func (*Purge) Read(f *jsonform.Form) {
	params.Text(f, "id", new(string), params.MaxRef)
	checkVersion(f)
}

func (*Reextract) Read(f *jsonform.Form) {
	params.Text(f, "id", new(string), params.MaxRef)
}

// checkVersion looks at the version of a memory entry: an integer or a string.
func checkVersion(f *jsonform.Form) {
	const name = "expected_version"
	if _, text := f.Peek(name); text {
		params.Text(f, name, new(string), maxVersion)
		return
	}
	f.Uint(name, new(uint64), 0, jsonform.MaxSafe)
}
