package absent

import (
	"plexus/domain/usecases/personal/hub"
	"plexus/ports"
)

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
