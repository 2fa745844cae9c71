// Package topics keeps what was asked in the browser: a question about a page and
// its answer become a pair in the topic of that page (decisions T1, T2). It also
// removes topics, since they are what grows.
package topics

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"plexus/domain/conversations"
	"plexus/domain/pages"
	"plexus/ports"
	"plexus/usecases/personal/hub"
	"plexus/usecases/personal/voice"
)

// Options are the settings of one process life. The zero value of a limit means
// its default.
type Options struct {
	// Record says whether browser questions become topics. Fixed: a flag, the
	// environment or the file says so, and the page cannot change it.
	Record      bool
	RecordFixed bool
	MaxTopics   int
	MaxBytes    int64 // of the texts of all messages
	NoPageIndex bool  // pages are not remembered beside their topics
}

// Topics is the topics of the browser's questions.
type Topics struct {
	hub       *hub.Hub
	settings  ports.Settings
	archive   ports.PersonalArchive
	voice     *voice.Voice
	dropTurns func(conversationID string)
	opts      Options

	erased    erasures
	full      atomic.Bool // there is more text than may be kept, and nothing to remove
	recording atomic.Bool

	sites         atomic.Pointer[[]pages.Site] // excluded ones, in order
	changingSites sync.Mutex                   // held while that is stored: one change after the other
}

// New makes them and loads the owner's choice. dropTurns ends what is being said in
// a conversation that is removed.
func New(ctx context.Context, h *hub.Hub, settings ports.Settings, archive ports.PersonalArchive, v *voice.Voice, dropTurns func(conversationID string), opts Options) (*Topics, error) {
	t := &Topics{hub: h, settings: settings, archive: archive, voice: v, dropTurns: dropTurns, opts: opts}
	t.opts.MaxTopics = cmp.Or(opts.MaxTopics, conversations.MaxTopics)
	t.opts.MaxBytes = cmp.Or(opts.MaxBytes, conversations.MaxBytes)
	chosen, err := settings.Settings(ctx)
	if err != nil {
		return nil, fmt.Errorf("load settings: %w", err)
	}
	t.recording.Store(opts.Record)
	if !opts.RecordFixed {
		t.recording.Store(chosen[recordingKey] != "off")
	}
	t.loadSites(chosen)
	return t, nil
}

// Area is what the hub has to know of them.
func (t *Topics) Area() hub.Area {
	return hub.Area{Open: func(tx ports.PersonalTx) error { return t.keepNumber(tx, "") }}
}

// recordingKey is the owner's setting: "off" or absent.
const recordingKey = "record_browser"

// Recording says whether questions of the browser become topics; fixed: not for
// the page to change.
func (t *Topics) Recording() (on, fixed bool) { return t.recording.Load(), t.opts.RecordFixed }

// ErrRecordingFixed: a flag, the environment or the configuration file has set it.
var ErrRecordingFixed = errors.New("recording is fixed outside the page")

// SetRecording stores the owner's choice, durably.
func (t *Topics) SetRecording(ctx context.Context, on bool) error {
	if t.opts.RecordFixed {
		return ErrRecordingFixed
	}
	ctx = context.WithoutCancel(ctx) // memory has to follow the store
	var err error
	if on {
		err = t.settings.DropSetting(ctx, recordingKey)
	} else {
		err = t.settings.PutSetting(ctx, recordingKey, "off")
	}
	if err != nil {
		return fmt.Errorf("set recording: %w", err)
	}
	t.recording.Store(on)
	t.hub.NotifyPage()
	return nil
}

// Erased notes, from the change itself, that a conversation is cleared or deleted:
// an answer that has begun is then not kept in it.
func (t *Topics) Erased(c conversations.Conversation) {
	if c.SubjectKey != "" {
		t.erased.note(c.SubjectKey)
	}
}

// AllErased is Erased for every topic there is.
func (t *Topics) AllErased() { t.erased.note("") }
