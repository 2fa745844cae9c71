package personal

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"plexus/domain/answers"
	"plexus/domain/conversations"
	"plexus/domain/pages"
	"plexus/domain/text"
	"plexus/ports"
)

// topics remembers what was cleared or deleted while questions of the browser
// were being answered: those answers are not kept.
type topics struct {
	mu      sync.Mutex
	running int
	clock   uint64            // rises with every clearing
	cleared map[string]uint64 // subject key → clock; "" stands for all
}

// begin notes that an answer is under way, and when it began.
func (t *topics) begin() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running++
	return t.clock
}

// stale reports whether a subject was cleared since.
func (t *topics) stale(subject string, since uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cleared[subject] > since || t.cleared[""] > since
}

// end forgets what nobody needs any more.
func (t *topics) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running--; t.running == 0 {
		t.cleared = nil
	}
}

// wiped notes that a conversation is cleared or deleted, from the change itself:
// what is recorded after that one sees it.
func (t *topics) wiped(c conversations.Conversation) {
	if c.SubjectKey != "" {
		t.wipe(c.SubjectKey)
	}
}

func (t *topics) allWiped() { t.wipe("") }

func (t *topics) wipe(subject string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clock++
	if t.running == 0 {
		return
	}
	if t.cleared == nil {
		t.cleared = map[string]uint64{}
	}
	t.cleared[subject] = t.clock
}

// keyRecording is the owner's setting: "off" or absent.
const keyRecording = "record_browser"

func (h *Host) loadRecording(ctx context.Context) error {
	h.recording = h.opts.Record
	if h.opts.RecordFixed {
		return nil
	}
	stored, err := h.deps.Settings.Settings(ctx)
	if err != nil {
		return fmt.Errorf("load settings: %w", err)
	}
	h.recording = stored[keyRecording] != "off"
	return nil
}

// Recording says whether questions of the browser become topics; fixed: not for
// the page to change.
func (h *Host) Recording() (on, fixed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.recording, h.opts.RecordFixed
}

// ErrRecordingFixed: a flag, the environment or the configuration file has set it.
var ErrRecordingFixed = errors.New("recording is fixed outside the page")

// SetRecording stores the owner's choice, durably.
func (h *Host) SetRecording(ctx context.Context, on bool) error {
	if h.opts.RecordFixed {
		return ErrRecordingFixed
	}
	ctx = context.WithoutCancel(ctx) // memory has to follow the store
	var err error
	if on {
		err = h.deps.Settings.DropSetting(ctx, keyRecording)
	} else {
		err = h.deps.Settings.PutSetting(ctx, keyRecording, "off")
	}
	if err != nil {
		return fmt.Errorf("set recording: %w", err)
	}
	h.mu.Lock()
	h.recording = on
	h.mu.Unlock()
	h.changes.Notify()
	return nil
}

var _ ports.AnswerRecorder = (*Host)(nil)

// BeginAnswer implements ports.AnswerRecorder: a question about a page and its
// answer become a pair in the topic of that page (decisions T1, T2).
func (h *Host) BeginAnswer(q ports.AnsweredQuestion) (end func(ctx context.Context, a ports.Answered)) {
	address, ok := pages.CanonicalURL(q.Page.URL)
	if on, _ := h.Recording(); !on || !ok {
		return nil
	}
	began := h.topics.begin()
	return func(ctx context.Context, a ports.Answered) {
		defer h.topics.end()
		if err := guard(func() error { return errors.Join(h.record(ctx, q, address, a, began), h.keepBounds(ctx)) }); err != nil {
			h.deps.Log.Error("a question of the browser could not be kept as a topic", "error", err)
		}
	}
}

func (h *Host) record(ctx context.Context, q ports.AnsweredQuestion, address string, a ports.Answered, began uint64) error {
	subject := conversations.SubjectKey(address)
	return h.update(ctx, func(tx ports.PersonalTx) error {
		if on, _ := h.Recording(); !on || h.topics.stale(subject, began) {
			return errUnchanged
		}
		c, err := tx.TopicBySubject(subject)
		isNew := errors.Is(err, ports.ErrConversationUnknown)
		if err != nil && !isNew {
			return err
		}
		if isNew {
			c = conversations.Conversation{ID: h.newID("topic:"), Kind: conversations.Topic, SubjectKey: subject, CreatedAt: h.now()}
		}
		c.Title, c.UpdatedAt = topicTitle(q.Page.Title, address), h.now()
		if err := tx.PutConversation(c); err != nil {
			return err
		}
		if about := pageBackground(q, address); about.Text != "" {
			if err := save(tx, areaBackground, c.ID, about, 0); err != nil {
				return err
			}
		}
		if err := h.addPair(tx, c.ID, q.Question, a); err != nil {
			return err
		}
		if isNew {
			return h.expireTopics(tx, c.ID)
		}
		return nil
	})
}

// addPair stores a question with its answer, or with what came of one.
func (h *Host) addPair(tx ports.PersonalTx, topic, question string, a ports.Answered) error {
	id := h.newID("")
	user := conversations.Message{
		ID: "user:" + id, ConversationID: topic, Role: conversations.User, CreatedAt: h.now(), TurnID: "turn:" + id,
		Text: conversations.CutUnits(question, conversations.MaxMessage), Status: conversations.Completed,
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
		ID: "assistant:" + id, ConversationID: topic, Role: conversations.Assistant, CreatedAt: h.now(), TurnID: user.TurnID,
		Text: answer, ReplyTo: user.ID, Delivery: delivery,
	})
	return err
}

// topicTitle is the page's title, or the host of its address.
func topicTitle(title, address string) string {
	if title = conversations.NewTitle(title); title != "" {
		return title
	}
	u, err := url.Parse(address)
	if err != nil {
		return conversations.NewTitle(address)
	}
	return conversations.NewTitle(u.Host)
}

// pageBackground is the newest text of the page.
func pageBackground(q ports.AnsweredQuestion, address string) conversations.Background {
	parts := []string{strings.TrimSpace(q.Page.Selection), strings.TrimSpace(q.Page.Extract)}
	body := strings.TrimSpace(strings.Join(parts, "\n"))
	return conversations.Background{
		URL: address, Title: conversations.NewTitle(q.Page.Title),
		Text: text.Cut(strings.ToValidUTF8(body, "\uFFFD"), conversations.MaxBackground),
	}
}

// oldestTopics gives those that may go of the first so many, the longest untouched
// first: all but the one that speaks, and the one to keep.
func (h *Host) oldestTopics(tx ports.PersonalView, first int, keep string) ([]conversations.Conversation, error) {
	list, err := tx.Conversations(ports.ConversationQuery{Kind: conversations.Topic, Limit: first, Oldest: true})
	return slices.DeleteFunc(list, func(c conversations.Conversation) bool { return c.ID == keep || h.ownsVoice(c.ID) }), err
}

// expireTopics removes topics that nobody touched for long, and the oldest
// beyond the bound. The one named stays, and the one that speaks.
func (h *Host) expireTopics(tx ports.PersonalTx, keep string) error {
	count, err := tx.CountConversations(conversations.Topic)
	if err != nil {
		return err
	}
	late := h.now().Add(-h.opts.TopicAge)
	for {
		oldest, err := h.oldestTopics(tx, 3, keep)
		if err != nil {
			return err
		}
		if len(oldest) == 0 || count <= h.opts.MaxTopics && !oldest[0].UpdatedAt.Before(late) {
			return nil
		}
		if err := h.dropConversation(tx, oldest[0].ID); err != nil {
			return err
		}
		count--
	}
}

// keepBounds removes the topics that were untouched for longest while the texts of
// all messages have more than MaxBytes together. When none is left to remove, no
// more text is taken.
func (h *Host) keepBounds(ctx context.Context) error {
	for {
		sizes, err := h.deps.Archive.PersonalSizes(ctx)
		if err != nil || sizes.MessageBytes <= h.opts.MaxBytes {
			h.full.Store(false)
			return err
		}
		dropped := ""
		err = h.update(ctx, func(tx ports.PersonalTx) error {
			oldest, err := h.oldestTopics(tx, 2, "")
			if err != nil {
				return err
			}
			if len(oldest) == 0 {
				return errUnchanged
			}
			dropped = oldest[0].ID
			return h.dropConversation(tx, dropped)
		})
		if err != nil || dropped == "" {
			h.full.Store(err == nil)
			return err
		}
		h.dropTurns(dropped)
	}
}

// dropConversation removes a conversation and what belongs to it. If it was the
// selected one, main is selected instead.
func (h *Host) dropConversation(tx ports.PersonalTx, id string) error {
	if err := errors.Join(tx.DropConversation(id), tx.DropRecord(areaBackground, id)); err != nil {
		return err
	}
	selected, err := selectedID(tx)
	if err != nil || selected != id {
		return err
	}
	return selectConversation(tx, conversations.MainID)
}
