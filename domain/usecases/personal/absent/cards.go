package absent

import (
	"plexus/domain/nova/jsonform"
	"plexus/domain/usecases/personal/hub"
	"plexus/domain/usecases/personal/params"
	"plexus/domain/workbench"
)

// Cards are the suggestions that would be made of what the host knows, and the
// profile that it would draft.
func Cards() hub.Area {
	return hub.Area{
		Commands: append(unsupported("profile", "refresh"),
			hub.Command{Method: "context.adopt", Phone: true, Do: hub.Refuse[Card](workbench.CardNotFound)},
			hub.Command{Method: "context.dismiss", Phone: true, Do: hub.Refuse[Card](workbench.CardNotFound)},
		),
		Members: []hub.Member{
			{
				Name: "workbench_context",
				Desktop: hub.Constant(`{"status":"idle","candidate_count":0,"recap":{"text":null,"projects":[]},"empty_reason":null,` +
					`"empty_reasons":{"todos":null,"ideas":null,"goals":null},"cards":[]}`),
				Phone: hub.Constant(`{"status":"idle","recap":{"text":null,"projects":[]},"cards":[]}`),
			},
			{
				Name:    "profile_preparation",
				Desktop: hub.Constant(`{"status":"idle","draft":null,"sources":[]}`),
				Phone:   hub.Constant(`{"status":"idle","draft":null}`),
			},
		},
	}
}

// Card is the parameters of context.adopt and dismiss.
type Card struct{ ID string }

func (p *Card) Read(f *jsonform.Form) {
	params.Text(f, "id", &p.ID, params.MaxID)
}
