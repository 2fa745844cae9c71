package topics

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"plexus/domain/answers"
	"plexus/domain/conversations"
	"plexus/domain/pages"
	"plexus/domain/text"
	"plexus/ports"
	"plexus/usecases/personal/hub"
	"plexus/usecases/personal/stored"
)

// keepLimit bounds how long the end of an answer waits for the disk (decision T2).
const keepLimit = 3 * time.Second

// Errors of keeping an answer.
var (
	errLate    = fmt.Errorf("it is still being written after %v", keepLimit)
	errStopped = errors.New("the host has stopped")
)

// record is one question of the browser until its answer has ended.
type record struct {
	topics  *Topics
	asked   ports.AnsweredQuestion
	subject string
	began   uint64      // of the erasures
	page    *pages.Page // nil: nothing for the page index

	writing chan struct{} // closed when the last write has ended; nil: none has begun
	pair    pair          // what the last write has stored
	err     error         // of the last write
	told    bool          // err is one that Keep has given
}

// pair names a question and its answer in a topic; an ID is "" where there is none.
type pair struct {
	topic, user, assistant string
	complete               bool
}

var _ ports.AnswerRecorder = (*Topics)(nil)

// BeginAnswer implements ports.AnswerRecorder.
func (t *Topics) BeginAnswer(q ports.AnsweredQuestion) ports.AnswerRecord {
	address, ok := pages.CanonicalURL(q.Page.URL)
	if !t.recording.Load() || !ok || t.excludes(address) {
		return nil
	}
	q.Page.URL = address
	r := &record{topics: t, asked: q, subject: conversations.SubjectKey(address)}
	if page, ok := pages.New(q.Page, q.Asker); ok && !t.opts.NoPageIndex {
		r.page = &page
	}
	if q.Question == "" && r.page == nil {
		return nil
	}
	r.began = t.erased.begin()
	return r
}

// Keep implements ports.AnswerRecord.
func (r *record) Keep(ctx context.Context, a ports.Answered) error {
	wait, stop := r.topics.hub.Within(ctx, keepLimit)
	defer stop()
	r.write(ctx, func(tx ports.PersonalTx) error { return r.store(tx, a, r.page) })
	select {
	case <-r.writing:
		r.told = r.err != nil
		return r.err
	case <-wait.Done():
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return errLate
}

// End implements ports.AnswerRecord.
func (r *record) End(ctx context.Context, a ports.Answered) error {
	defer r.topics.erased.end()
	switch {
	case r.writing == nil && r.asked.Question == "":
		return nil
	case r.writing == nil:
		r.write(ctx, func(tx ports.PersonalTx) error { return r.store(tx, a, nil) })
	case !a.Complete:
		r.write(ctx, r.interrupt)
	}
	<-r.writing
	if r.told {
		return nil
	}
	return errors.Join(r.err, hub.SafeCall(func() error { return r.topics.KeepBounds(ctx) }))
}

// write makes a change after the one before it, beside the caller: a disk that
// hangs must hold up no answer.
func (r *record) write(ctx context.Context, change func(tx ports.PersonalTx) error) {
	ctx = context.WithoutCancel(ctx)
	before, done := r.writing, make(chan struct{})
	r.writing = done
	begun := r.topics.hub.Start(func(context.Context) {
		defer close(done)
		if before != nil {
			<-before
		}
		err := hub.SafeCall(func() error { return r.topics.hub.Update(ctx, change) })
		if err != nil {
			r.err, r.told = err, false
		}
	})
	if !begun {
		r.err, r.told = errStopped, false
		close(done)
	}
}

// mayStay is asked in the moment of the change, so that no removal comes in between.
func (r *record) mayStay() bool {
	t := r.topics
	return t.recording.Load() && !t.excludes(r.asked.Page.URL) && !t.erased.since(r.subject, r.began) && !t.erased.siteSince(r.asked.Page.URL, r.began)
}

// store keeps question and answer, and the page where it is given one.
func (r *record) store(tx ports.PersonalTx, a ports.Answered, page *pages.Page) error {
	t := r.topics
	if !r.mayStay() {
		return hub.ErrUnchanged
	}
	if page != nil {
		if err := tx.IndexPage(*page); err != nil {
			return err
		}
	}
	if r.asked.Question == "" {
		return nil
	}
	c, err := tx.TopicBySubject(r.subject)
	isNew := errors.Is(err, ports.ErrConversationUnknown)
	if err != nil && !isNew {
		return err
	}
	if isNew {
		c = conversations.Conversation{ID: t.hub.NewID("topic:"), Kind: conversations.Topic, SubjectKey: r.subject, CreatedAt: t.hub.Timestamp()}
	}
	from := r.asked.Page
	c.Title, c.UpdatedAt = conversations.NewTitle(from.Title), t.hub.Timestamp()
	if u, err := url.Parse(from.URL); c.Title == "" && err == nil {
		c.Title = conversations.NewTitle(u.Host)
	}
	if err := tx.PutConversation(c); err != nil {
		return err
	}
	body := strings.TrimSpace(strings.TrimSpace(from.Selection) + "\n" + strings.TrimSpace(from.Extract))
	if body = text.Truncate(strings.ToValidUTF8(body, "\uFFFD"), conversations.MaxBackground); body != "" {
		about := conversations.Background{URL: from.URL, Title: conversations.NewTitle(from.Title), Text: body}
		if err := stored.SaveBackground(tx, c.ID, about); err != nil {
			return err
		}
	}
	if err := r.addPair(tx, c.ID, a); err != nil {
		return err
	}
	if isNew {
		return t.keepNumber(tx, c.ID)
	}
	return nil
}

// addPair stores a question with its answer, or with what came of one.
func (r *record) addPair(tx ports.PersonalTx, topic string, a ports.Answered) error {
	h := r.topics.hub
	id := h.NewID("")
	user := conversations.Message{
		ID: "user:" + id, ConversationID: topic, Role: conversations.User, CreatedAt: h.Timestamp(), TurnID: "turn:" + id,
		Text: conversations.TruncateUnits(r.asked.Question, conversations.MaxMessage), Status: conversations.Completed,
	}
	delivery := conversations.Delivered
	if !a.Complete {
		user.Status, delivery = conversations.Interrupted, conversations.CutOff
	}
	r.pair = pair{topic: topic, user: user.ID, complete: a.Complete}
	answer := answers.WithSources(a.Text, a.Results, a.Ended)
	if _, err := tx.AddMessage(user); err != nil || answer == "" {
		return err
	}
	r.pair.assistant = "assistant:" + id
	_, err := tx.AddMessage(conversations.Message{
		ID: r.pair.assistant, ConversationID: topic, Role: conversations.Assistant, CreatedAt: h.Timestamp(), TurnID: user.TurnID,
		Text: answer, ReplyTo: user.ID, Delivery: delivery,
	})
	return err
}

// interrupt corrects a pair that was stored as whole and did not get to its end.
// One that was cleared meanwhile is gone.
func (r *record) interrupt(tx ports.PersonalTx) error {
	if !r.pair.complete {
		return hub.ErrUnchanged
	}
	for _, id := range []string{r.pair.user, r.pair.assistant} {
		m, err := tx.Message(r.pair.topic, id)
		if errors.Is(err, ports.ErrMessageUnknown) {
			continue
		}
		if err != nil {
			return err
		}
		if m.Role == conversations.User {
			m.Status = conversations.Interrupted
		} else {
			m.Delivery = conversations.CutOff
		}
		if err := tx.SetMessage(m); err != nil {
			return err
		}
	}
	r.pair.complete = false
	return nil
}
