// Package absent is what this host does not have yet: no memory, discovery, source
// or news service, no cards and no executor. Each is an area whose members look
// missing, not simulated (nova-personal §13), and whose commands are known and
// refused. An area leaves this package when its capability comes.
package absent

import (
	"strings"

	"plexus/domain/nova/jsonform"
	"plexus/domain/usecases/personal/hub"
	"plexus/domain/usecases/personal/params"
	"plexus/domain/workbench"
	"plexus/ports"
)

const emptyList = `[]`

// unsupported lists commands of the owner's page that this host cannot do, by the
// names behind the prefix.
func unsupported(prefix, names string) []hub.Command {
	var commands []hub.Command
	for name := range strings.FieldsSeq(names) {
		commands = append(commands, hub.Command{Method: prefix + "." + name})
	}
	return commands
}

// everywhere is a member that the owner's page and phones see alike.
func everywhere(name, text string) hub.Member {
	return hub.Member{Name: name, Desktop: hub.Constant(text), Phone: hub.Constant(text)}
}

// Sources is where the host would learn from.
func Sources() hub.Area {
	return hub.Area{
		Commands: unsupported("sources", "add pause resume disconnect delete sync consent authorize_computer"),
		Members:  []hub.Member{{Name: "sources", Desktop: hub.Constant(emptyList)}},
	}
}

// News is what would be read for the owner.
func News() hub.Area {
	return hub.Area{
		Commands: unsupported("news", "state refresh action configure convert"),
		Members: []hub.Member{{
			Name: "news",
			Desktop: hub.Constant(`{"enabled":false,"refreshing":false,"explore":false,"mode":"timeline","rank_error":null,"pending":0,"total":0,` +
				`"interests":[],"interests_seeded":false,"profile_version":0,"items":[],"saved":[],"sources":[]}`),
			Phone: hub.Constant(`{"enabled":false,"refreshing":false,"items":[],"saved":[]}`),
		}},
	}
}

// Understanding is what the host would find out about its owner.
func Understanding() hub.Area {
	return hub.Area{
		Commands: unsupported("understanding", "start action"),
		Members:  []hub.Member{{Name: "understanding", Desktop: hub.Constant(`{"status":"idle"}`)}},
	}
}

// Connectors are the accounts that would be connected.
func Connectors() hub.Area {
	return hub.Area{
		Commands: append(unsupported("connector", "mail_status mail_access mail_connect local_status local_access local_connect "+
			"status link complete configure consent scopes sync pause resume disconnect delete"),
			unsupported("feishu", "status app.start app.status app.cancel app.bind login complete chats configure consent "+
				"sync pause resume disconnect delete bot.configure")...),
		Members: []hub.Member{{Name: "feishu", Desktop: hub.Constant(`null`)}, {Name: "connectors", Desktop: hub.Constant(`null`)}},
	}
}

// What a host without an executor and a memory can do.
const (
	noTasks  = `{"input":false,"cancel":false,"continue":false}`
	noMemory = `{"list":false,"get":false,"correct":false,"forgetEntry":false,"forgetSource":false,"purgeEntry":false}`
)

// settings are those of nova-personal §3.7. Nothing changes them yet.
type settings struct {
	Discovery        bool   `json:"discovery_enabled"`
	DiscoveryMinutes int    `json:"discovery_interval_minutes"`
	TimeZone         string `json:"timezone"`
	QuietStart       string `json:"quiet_start"`
	QuietEnd         string `json:"quiet_end"`
	Outlook          bool   `json:"briefing_outlook_enabled"`
	Review           bool   `json:"briefing_review_enabled"`
	OutlookTime      string `json:"briefing_outlook_time"`
	ReviewTime       string `json:"briefing_review_time"`
	Weekdays         []int  `json:"briefing_weekdays"`
}

// Discovery is what the host would look for of its own accord. zone is the IANA
// name of its time zone; "" is UTC.
func Discovery(zone string) hub.Area {
	if zone == "" {
		zone = "UTC"
	}
	fixed := settings{
		Discovery: true, DiscoveryMinutes: 30, TimeZone: zone, QuietStart: "22:00", QuietEnd: "08:00",
		OutlookTime: "08:30", ReviewTime: "18:30", Weekdays: []int{1, 2, 3, 4, 5},
	}
	return hub.Area{
		Commands: unsupported("discovery", "configure"),
		Members: []hub.Member{
			{
				Name:    "capabilities",
				Desktop: hub.Constant(`{"tasks":` + noTasks + `,"memory":` + noMemory + `,"discovery":false,"sources":false}`),
				Phone:   hub.Constant(`{"tasks":` + noTasks + `,"memory":` + noMemory + `}`),
			},
			{Name: "settings", Desktop: func(ports.PersonalView, *hub.Client) (hub.Value, error) { return hub.Value{Fixed: fixed}, nil }},
		},
	}
}

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
