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
			{Method: "memory.list", Phone: true, Do: hub.Refuse(readList, workbench.Unsupported)},
			{Method: "memory.evidence", Phone: true, Do: hub.Mutate(readEvidence, func(hub.Request, Evidence) hub.Mutation {
				return hub.Mutation{Apply: func(ports.PersonalTx) (any, error) {
					return map[string]any{"state": "unavailable", "evidence": nil}, nil
				}}
			})},
			{Method: "memory.correct", Phone: true, Do: hub.Refuse(readCorrect, workbench.Unsupported)},
			{Method: "memory.forget", Phone: true, Do: hub.Refuse(readForget, workbench.Unsupported)},
			{Method: "memory.purge", Phone: true, KeepsData: true, Do: hub.Refuse(readPurge, workbench.Unsupported)},
			{Method: "memory.reextract", Do: hub.Refuse(readReextract, workbench.Unsupported)},
		},
		Members: []hub.Member{everywhere("memory", `{"entries":[],"cursor":null,"overview":null}`)},
	}
}

// Evidence is the parameters of memory.evidence.
type Evidence struct{ EvidenceID string }

func readEvidence(f *jsonform.Form) (p Evidence) {
	params.Text(f, "evidence_id", &p.EvidenceID, maxEvidenceID)
	f.Want("evidence_id", !strings.Contains(p.EvidenceID, "\x00"))
	return p
}

func readList(f *jsonform.Form) (p hub.Nothing) {
	var cursor string
	var limit nova.Optional[uint64]
	f.Text("cursor", jsonform.Omitted, &cursor, jsonform.Units(0, maxCursor))
	f.OptionalUint("limit", jsonform.Omitted, &limit, 1, maxPage)
	if f.Has("include_expired") {
		f.Bool("include_expired", new(bool))
	}
	return p
}

func readCorrect(f *jsonform.Form) (p hub.Nothing) {
	params.Text(f, "id", new(string), maxEntryID)
	checkVersion(f)
	params.TrimmedText(f, "content", new(string), maxContent)
	return p
}

// readForget passes over a content, which clients have been seen to send.
func readForget(f *jsonform.Form) (p hub.Nothing) {
	params.Text(f, "id", new(string), maxEntryID)
	checkVersion(f)
	f.Value("content", new(json.RawMessage))
	return p
}

func readPurge(f *jsonform.Form) (p hub.Nothing) {
	params.Text(f, "id", new(string), params.MaxRef)
	checkVersion(f)
	return p
}

func readReextract(f *jsonform.Form) (p hub.Nothing) {
	params.Text(f, "id", new(string), params.MaxRef)
	return p
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
