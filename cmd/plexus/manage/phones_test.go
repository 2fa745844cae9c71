package manage

import (
	"strings"
	"testing"
	"time"

	"plexus/adapters/adminapi"
	"plexus/cmd/plexus/cli"
)

func TestK19_PairSaysWhatBecomesOfTheAddress(t *testing.T) {
	const here, old = "wss://box.example/client/v1", "wss://old.example/client/v1"
	for name, c := range map[string]struct {
		public string
		fixed  bool
		want   string // "" for nothing
	}{
		"the remembered one": {here, false, ""},
		"the fixed one":      {here, true, ""},
		"none is remembered": {"", false, "is remembered once a phone has paired by it; --keep"},
		"another":            {old, false, "not the address so far, " + old},
		"another is fixed":   {old, true, "not the public URL, " + old + ", which is set by"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			i := adminapi.Invitation{Server: here, Payload: "x", PublicURL: c.public, PublicURLFixed: c.fixed}
			if err := drawInvitation(cli.Env{Stdout: &out}, i, false); err != nil {
				t.Fatal(err)
			}
			_, said, _ := strings.Cut(out.String(), "The phone will connect to "+here+"\n")
			said, _, _ = strings.Cut(said, "Scan it with the app.")
			if !strings.Contains(said, c.want) || (said == "") != (c.want == "") {
				t.Errorf("it says %q, want %q", said, c.want)
			}
		})
	}
}

func TestK18_TheListSaysWhoWasInTheWay(t *testing.T) {
	now := time.Now()
	at := now.Add(-2 * time.Minute)
	for want, d := range map[string]adminapi.Device{
		"turned away 2 min ago: another phone is connected: Ann’s phone. To let this one in: plexus devices let-in 01234567":                            {TurnedAwayBy: "Ann’s phone", CanLetIn: true},
		"turned away 2 min ago: another phone is connected. To let this one in: plexus devices let-in 01234567":                                         {CanLetIn: true},
		"turned away 2 min ago: the place is kept for another phone, which you let in: Ann’s phone. To let this one in: plexus devices let-in 01234567": {TurnedAwayBy: "Ann’s phone", KeptFor: true, CanLetIn: true},
		"turned away 2 min ago: another phone was connected: Ann’s phone":                                                                               {TurnedAwayBy: "Ann’s phone"},
		"turned away 2 min ago: another phone was connected":                                                                                            {},
	} {
		d.ID, d.TurnedAwayAt = "01234567-0000-4000-8000-000000000000", &at
		if got := turnedAway(d, now); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}
