// Package topics keeps what was asked in the browser: a question about a page and
// its answer become a pair in the topic of that page (decisions T1, T2). It also
// removes topics, since they are what grows.
package topics

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"plexus/domain/answers"
	"plexus/domain/conversations"
	"plexus/domain/pages"
	"plexus/domain/text"
	"plexus/ports"
	"plexus/usecases/personal/hub"
	"plexus/usecases/personal/stored"
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
	MaxAge      time.Duration
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
	t.opts.MaxAge = cmp.Or(opts.MaxAge, conversations.TopicAge)
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
	return hub.Area{Open: func(tx ports.PersonalTx) error { return t.expire(tx, "") }}
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

var _ ports.AnswerRecorder = (*Topics)(nil)

// BeginAnswer implements ports.AnswerRecorder.
func (t *Topics) BeginAnswer(q ports.AnsweredQuestion) ports.AnswerRecord {
	address, ok := pages.CanonicalURL(q.Page.URL)
	if !t.recording.Load() || !ok || t.excludes(address) {
		return nil
	}
	return &answer{topics: t, question: q, address: address, subject: conversations.SubjectKey(address), began: t.erased.begin()}
}

// answer is a question of the browser that is being answered.
type answer struct {
	topics           *Topics
	question         ports.AnsweredQuestion
	address, subject string
	began            uint64 // on the clock of erasures
}

// KeepsPage implements ports.AnswerRecord.
func (n *answer) KeepsPage() bool {
	t := n.topics
	return t.recording.Load() && !t.excludes(n.address) && !t.erased.since(n.subject, n.began) && !t.erased.siteSince(n.address, n.began)
}

// End implements ports.AnswerRecord.
func (n *answer) End(ctx context.Context, a ports.Answered) {
	t := n.topics
	defer t.erased.end()
	if n.question.Question == "" {
		return
	}
	if err := hub.SafeCall(func() error { return errors.Join(t.record(ctx, n, a), t.KeepBounds(ctx)) }); err != nil {
		t.hub.Log.Error("a question of the browser could not be kept as a topic", "error", err)
	}
}

func (t *Topics) record(ctx context.Context, n *answer, a ports.Answered) error {
	q, address, subject := n.question, n.address, n.subject
	return t.hub.Update(ctx, func(tx ports.PersonalTx) error {
		if !n.KeepsPage() {
			return hub.ErrUnchanged
		}
		c, err := tx.TopicBySubject(subject)
		isNew := errors.Is(err, ports.ErrConversationUnknown)
		if err != nil && !isNew {
			return err
		}
		if isNew {
			c = conversations.Conversation{ID: t.hub.NewID("topic:"), Kind: conversations.Topic, SubjectKey: subject, CreatedAt: t.hub.Timestamp()}
		}
		c.Title, c.UpdatedAt = conversations.NewTitle(q.Page.Title), t.hub.Timestamp()
		if u, err := url.Parse(address); c.Title == "" && err == nil {
			c.Title = conversations.NewTitle(u.Host)
		}
		if err := tx.PutConversation(c); err != nil {
			return err
		}
		body := strings.TrimSpace(strings.TrimSpace(q.Page.Selection) + "\n" + strings.TrimSpace(q.Page.Extract))
		if body = text.Truncate(strings.ToValidUTF8(body, "\uFFFD"), conversations.MaxBackground); body != "" {
			about := conversations.Background{URL: address, Title: conversations.NewTitle(q.Page.Title), Text: body}
			if err := stored.SaveBackground(tx, c.ID, about); err != nil {
				return err
			}
		}
		if err := t.addPair(tx, c.ID, q.Question, a); err != nil {
			return err
		}
		if isNew {
			return t.expire(tx, c.ID)
		}
		return nil
	})
}

// addPair stores a question with its answer, or with what came of one.
func (t *Topics) addPair(tx ports.PersonalTx, topic, question string, a ports.Answered) error {
	id := t.hub.NewID("")
	user := conversations.Message{
		ID: "user:" + id, ConversationID: topic, Role: conversations.User, CreatedAt: t.hub.Timestamp(), TurnID: "turn:" + id,
		Text: conversations.TruncateUnits(question, conversations.MaxMessage), Status: conversations.Completed,
	}
	delivery := conversations.Delivered
	if !a.Complete {
		user.Status, delivery = conversations.Interrupted, conversations.CutOff
	}
	answer := answers.WithSources(a.Text, a.Results)
	if _, err := tx.AddMessage(user); err != nil || answer == "" {
		return err
	}
	_, err := tx.AddMessage(conversations.Message{
		ID: "assistant:" + id, ConversationID: topic, Role: conversations.Assistant, CreatedAt: t.hub.Timestamp(), TurnID: user.TurnID,
		Text: answer, ReplyTo: user.ID, Delivery: delivery,
	})
	return err
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

// erasures remembers what was cleared or deleted while questions of the browser
// were being answered: those answers are not kept.
type erasures struct {
	mu      sync.Mutex
	running int               // answers
	clock   uint64            // rises with every erasure
	erased  map[string]uint64 // subject key → clock; "" stands for all
	sites   map[pages.Site]uint64
}

// begin notes that an answer is under way, and gives when it began.
func (e *erasures) begin() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running++
	return e.clock
}

// since reports whether a subject was erased since.
func (e *erasures) since(subject string, began uint64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.erased[subject] > began || e.erased[""] > began
}

// end forgets erasures that no running answer needs.
func (e *erasures) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running--; e.running == 0 {
		e.erased, e.sites = nil, nil
	}
}

func (e *erasures) note(subject string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.clock++
	if e.running == 0 {
		return
	}
	if e.erased == nil {
		e.erased = map[string]uint64{}
	}
	e.erased[subject] = e.clock
}
