package hub_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"sync"
	"testing"
	"time"

	"plexus/adapters/memory"
	"plexus/domain/conversations"
	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/usecases/personal"
	"plexus/usecases/personal/chats"
	"plexus/usecases/personal/feed"
	"plexus/usecases/personal/hub"
	"plexus/usecases/personal/life"
	"plexus/usecases/personal/presentation"
	"plexus/usecases/personal/tasks"
)

// hosts are personal hosts with all areas, by their time zone.
var hosts sync.Map

// host gives the one of a time zone.
func host(zone string) *personal.Host {
	if h, ok := hosts.Load(zone); ok {
		return h.(*personal.Host)
	}
	store := memory.NewPersonal()
	h, err := personal.New(context.Background(), personal.Deps{
		Services: hub.Services{
			Store: store, Random: rand.Reader, Now: time.Now, Within: context.WithTimeout,
			After: func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }, Log: slog.New(slog.DiscardHandler),
		},
		Archive: store, Settings: memory.NewSettings(),
	}, personal.Options{InputInstanceID: "i", TimeZone: zone})
	if err != nil {
		panic(err)
	}
	hosts.Store(zone, h)
	return h
}

// Parts is what a host has to show at one moment.
type Parts struct {
	Revision      uint64
	Conversations []conversations.Conversation
	SelectedID    string
	VoiceID       string // "" for none
	Messages      func(visit func(conversations.Message) bool) error
	Feed          []feed.Item // newest first
	Items         []life.Item // of all three lists, in the order they were made
	Profile       life.Profile
	Tasks         []tasks.Task // in the order they were made
	Mode          workbench.Mode
	TimeZone      string
}

// members gives the members of the snapshot, those of these parts and the others as
// their areas have them.
func (p Parts) members(desktop bool) ([]hub.Part, error) {
	return host(p.TimeZone).Parts(desktop, map[string]hub.Value{
		"conversations": chats.Value(chats.Snapshot{
			Conversations: p.Conversations, SelectedID: p.SelectedID, VoiceID: p.VoiceID, Messages: p.Messages,
		}),
		"feed": feed.Value(p.Feed), "life": life.Value(p.Items, p.Profile), "tasks": tasks.Value(p.Tasks),
		"presentation_mode": presentation.Value(p.Mode),
	})
}

// Truncation says what a frame had no room for, list by list.
type Truncation struct {
	Messages bool
	Feed     int
	Tasks    int
	Reload   bool
}

// MobileFrame composes the snapshot of a phone.
func MobileFrame(p Parts) (frame []byte, cut Truncation, err error) {
	members, err := p.members(false)
	if err != nil {
		return nil, Truncation{}, err
	}
	frame, found, err := hub.Frame(false, p.Revision, members)
	cut.Reload = found.TooLong
	for _, list := range found.Lists {
		switch list.Member {
		case "conversations":
			cut.Messages = true
		case "feed":
			cut.Feed = list.Missing
		case "tasks":
			cut.Tasks = list.Missing
		}
	}
	return frame, cut, err
}

// DesktopFrame composes that of the owner's page.
func DesktopFrame(p Parts) ([]byte, error) {
	members, err := p.members(true)
	if err != nil {
		return nil, err
	}
	frame, _, err := hub.Frame(true, p.Revision, members)
	return frame, err
}

// A host that has just begun shows what its areas have, in the same order.
func TestAnAttachedClientIsShownTheMembersOfAllAreas(t *testing.T) {
	for desktop, compose := range map[bool]func(Parts) ([]byte, error){
		true: DesktopFrame, false: func(p Parts) ([]byte, error) { f, _, err := MobileFrame(p); return f, err },
	} {
		c := host("").Attach(nobody{}, hub.Terms{Desktop: desktop, Personal: true})
		state, err := c.Snapshot(t.Context())
		c.Leave()
		if err != nil {
			t.Fatal(err)
		}
		want, err := compose(emptyHost())
		if err != nil {
			t.Fatal(err)
		}
		if got, want := memberNames(t, state.Frame), memberNames(t, want); got != want {
			t.Errorf("desktop %v: members %s, want %s", desktop, got, want)
		}
	}
}

// memberNames lists the members of an object in their order.
func memberNames(t *testing.T, frame []byte) (names string) {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(frame, &members); err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(frame); {
		best, end := "", len(frame)
		for name, value := range members {
			text := `"` + name + `":` + string(value)
			if len(frame) >= at+1+len(text) && string(frame[at+1:at+1+len(text)]) == text {
				best, end = name, at+1+len(text)
			}
		}
		if best == "" {
			break
		}
		names, at = names+" "+best, end
	}
	return names
}

type nobody struct{}

func (nobody) Send(nova.Message) {}
func (nobody) Changed(uint64)    {}
