package phone

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"plexus/adapters/novaclient"
	"plexus/cmd/plexus/cli"
	"plexus/domain/conversations"
	"plexus/domain/nova"
	"plexus/domain/pcm"
	"plexus/domain/text"
	"plexus/domain/workbench"
)

// command is one of the words that begin with a slash.
type command struct {
	word   string
	params string
	about  string
	atOnce bool // it waits for no line before it
	do     action
}

// action is what a command does with what follows its word.
type action func(ctx context.Context, p *session, conn *novaclient.Conn, rest string) error

// commands are all but /quit, in the order of /help.
func commands() []command {
	return []command{
		{"/list", "", "the conversations; what is typed goes to the one with the star", false, show(view.list)},
		{"/open", "N", "go to conversation N and show its last messages", false, personal(openConversation)},
		{"/new", "[TITLE]", "begin a conversation and go to it", false, personal(newConversation)},
		{"/clear", "", "forget the messages of this conversation", false, personal(clearConversation)},
		{"/read", "", "mark the messages of this conversation as read", false, personal(markRead)},
		{"/search", "WORDS", "let the host ask its search service for this, and answer", false, searchFor},
		{"/again", "", "ask the last text again if it has no answer; if it is not known whether the host has it, ask that, without sending it twice", false, askAgain},
		{"/dictate", "FILE", "let the host write down a WAV file of at most 60 s, 16 kHz, mono, 16 bits", false, dictateFile},
		{"/send", "", "send what was dictated", false, sendDraft},
		{"/todo", "TITLE", "put something on the list of to-dos", false, addTodo},
		{"/todos", "", "the to-dos that are open", false, show(view.todos)},
		{"/done", "N", "tick off to-do N", false, personal(endTodo)},
		{"/approve", "ID", "let an executor do what it asks for", true, answerCard(nova.Accept, func(c novaclient.Card) bool { return !c.IsProject() })},
		{"/confirm", "ID", "confirm a project", true, answerCard(nova.Accept, novaclient.Card.IsProject)},
		{"/decline", "ID", "decline either", true, answerCard(nova.Decline, func(novaclient.Card) bool { return true })},
		{"/help", "", "this list", true, func(_ context.Context, p *session, _ *novaclient.Conn, _ string) error {
			p.view.help()
			return nil
		}},
	}
}

// findCommand splits a line into its command and the rest.
func findCommand(line string) (c command, rest string, ok bool) {
	word, rest, _ := strings.Cut(line, " ")
	for _, c := range commands() {
		if c.word == word {
			return c, strings.TrimSpace(rest), true
		}
	}
	return command{}, "", false
}

// What is wrong with a line.
var (
	errNoCommand      = errors.New("there is no such command; /help lists them")
	errNoConversation = errors.New("there is no such conversation; /list shows them")
	errNoTodo         = errors.New("there is no such to-do; /todos shows them")
	errNothingSaid    = errors.New("there is nothing in this conversation")
	errNothingSent    = errors.New("nothing has been sent yet")
	errAnswered       = errors.New("the last text has its answer; type it again to ask it once more")
	errNoDraft        = errors.New("nothing has been dictated")
	errNoTitle        = errors.New("say what is to be done: /todo TITLE")
	errNoWords        = errors.New("say what to search for: /search WORDS")
	errNoFile         = errors.New("name a WAV file: /dictate FILE")
	errLargeFile      = errors.New("the file is too large for 60 s of speech")
	// errOtherCard: a card of the other kind has this ID.
	errOtherCard = errors.New("/confirm is for projects, /approve for executors")
)

// refusedError is a personal.result that is not ok.
type refusedError struct{ token string }

func (e *refusedError) Error() string { return "the host refused: " + e.token }

// searchFor sends a text that asks for a search.
func searchFor(ctx context.Context, p *session, conn *novaclient.Conn, rest string) error {
	if rest == "" {
		return errNoWords
	}
	return p.sendText(ctx, conn, conversations.SearchText(rest))
}

// sendPersonal sends a personal command that is to be ok. data, if it is not nil, takes
// what came with the result; a result too large to come leaves it as it is.
func sendPersonal(ctx context.Context, conn *novaclient.Conn, method string, params map[string]any, data any) error {
	result, err := conn.Personal(ctx, method, params)
	switch {
	case err != nil:
		return err
	case result.Error != "":
		return &refusedError{result.Error}
	case data != nil && result.Data != nil:
		if err := json.Unmarshal(result.Data, data); err != nil {
			return fmt.Errorf("reading the result of %s: %w", method, err)
		}
	}
	return nil
}

// current is the last snapshot, the first one if need be.
func (p *session) current(ctx context.Context, conn *novaclient.Conn) (workbench.MobileSnapshot, error) {
	if !conn.Ready().Personal {
		return workbench.MobileSnapshot{}, novaclient.ErrNotPersonal
	}
	return p.state.await(ctx, snapshotWithin, isSnapshot)
}

// personalAction is what a command of the workbench does; last is the last snapshot.
type personalAction func(ctx context.Context, p *session, conn *novaclient.Conn, last workbench.MobileSnapshot, rest string) error

// personal makes an action that a host without a workbench cannot do.
func personal(do personalAction) action {
	return func(ctx context.Context, p *session, conn *novaclient.Conn, rest string) error {
		last, err := p.current(ctx, conn)
		if err != nil {
			return err
		}
		return do(ctx, p, conn, last, rest)
	}
}

// show shows a part of the last snapshot.
func show(part func(view)) action {
	return personal(func(_ context.Context, p *session, _ *novaclient.Conn, _ workbench.MobileSnapshot, _ string) error {
		part(p.view)
		return nil
	})
}

func openConversation(ctx context.Context, p *session, conn *novaclient.Conn, _ workbench.MobileSnapshot, rest string) error {
	id, ok := p.state.conversations.find(rest)
	if !ok {
		return errNoConversation
	}
	if err := sendPersonal(ctx, conn, "conversations.select", map[string]any{"id": id}, nil); err != nil {
		return err
	}
	return p.showSelected(ctx, func(s workbench.MobileSnapshot) bool { return s.Conversations.SelectedID == id })
}

// showSelected shows the selected conversation as soon as it is the right one.
func (p *session) showSelected(ctx context.Context, right func(workbench.MobileSnapshot) bool) error {
	if _, err := p.state.await(ctx, snapshotWithin, right); err != nil {
		return err
	}
	p.view.open()
	return nil
}

func newConversation(ctx context.Context, p *session, conn *novaclient.Conn, before workbench.MobileSnapshot, rest string) error {
	params := map[string]any{}
	if rest != "" {
		params["title"] = rest
	}
	if err := sendPersonal(ctx, conn, "conversations.create", params, nil); err != nil {
		return err
	}
	return p.showSelected(ctx, func(s workbench.MobileSnapshot) bool {
		return s.Conversations.SelectedID != before.Conversations.SelectedID
	})
}

func clearConversation(ctx context.Context, p *session, conn *novaclient.Conn, s workbench.MobileSnapshot, _ string) error {
	here, ok := findConversation(s, s.Conversations.SelectedID)
	if !ok {
		return errNoConversation
	}
	params := map[string]any{"id": here.ID, "expected_generation": here.Generation}
	if err := sendPersonal(ctx, conn, "conversations.clear", params, nil); err != nil {
		return err
	}
	p.mu.Lock()
	if p.last.ConversationID == here.ID {
		p.last = nova.InputText{} // its answer will not come
	}
	p.mu.Unlock()
	_, err := p.state.await(ctx, snapshotWithin, func(s workbench.MobileSnapshot) bool {
		now, ok := findConversation(s, here.ID)
		return !ok || now.Generation > here.Generation
	})
	return err
}

// findConversation finds a conversation in a snapshot.
func findConversation(s workbench.MobileSnapshot, id string) (workbench.ConversationRow, bool) {
	return find(s.Conversations.Items, func(c workbench.ConversationRow) bool { return c.ID == id })
}

func markRead(ctx context.Context, _ *session, conn *novaclient.Conn, s workbench.MobileSnapshot, _ string) error {
	messages := s.Conversations.Messages
	if len(messages) == 0 {
		return errNothingSaid
	}
	last := messages[len(messages)-1]
	return sendPersonal(ctx, conn, "conversations.read", map[string]any{"id": last.ConversationID, "through_message_id": last.ID}, nil)
}

// askAgain asks a text that got no answer as a new one. One whose outcome is not known
// keeps its ID, by which the host knows whether it has it.
func askAgain(ctx context.Context, p *session, conn *novaclient.Conn, _ string) error {
	p.mu.Lock()
	last, lost, failed := p.last, p.lost, p.failed
	p.mu.Unlock()
	if last.RequestID == "" {
		return errNothingSent
	}
	said, found := find(p.state.snapshot().Conversations.Messages, func(m workbench.MessageRow) bool { return m.RequestID == last.RequestID })
	switch {
	case lost:
	case found && said.Status == conversations.Completed:
		return errAnswered
	case failed, found && said.Status != conversations.Pending:
		again, err := conn.NewText(last.Text, last.ConversationID)
		if err != nil {
			return err
		}
		last = again
	}
	return p.submit(ctx, conn, last)
}

func addTodo(ctx context.Context, p *session, conn *novaclient.Conn, rest string) error {
	if rest == "" {
		return errNoTitle
	}
	if _, err := p.current(ctx, conn); err != nil {
		return err
	}
	var made struct{ ID string }
	params := map[string]any{"op": "create", "kind": workbench.Todo, "title": rest}
	if err := sendPersonal(ctx, conn, "life.mutate", params, &made); err != nil || made.ID == "" {
		return err
	}
	_, err := p.state.await(ctx, snapshotWithin, func(s workbench.MobileSnapshot) bool {
		_, ok := todo(s, made.ID)
		return ok
	})
	return err
}

func todo(s workbench.MobileSnapshot, id string) (workbench.TodoRow, bool) {
	return find(s.Life.Todos, func(t workbench.TodoRow) bool { return t.ID == id })
}

// find gives the first row that is wanted.
func find[T any](rows []T, wanted func(T) bool) (row T, ok bool) {
	if i := slices.IndexFunc(rows, wanted); i >= 0 {
		return rows[i], true
	}
	return row, false
}

func endTodo(ctx context.Context, p *session, conn *novaclient.Conn, s workbench.MobileSnapshot, rest string) error {
	id, _ := p.state.openTodos.find(rest)
	old, ok := todo(s, id)
	if !ok {
		return errNoTodo
	}
	params := map[string]any{"op": "update", "kind": workbench.Todo, "id": id, "expected_version": old.Version, "status": "done"}
	if err := sendPersonal(ctx, conn, "life.mutate", params, nil); err != nil {
		return err
	}
	_, err := p.state.await(ctx, snapshotWithin, func(s workbench.MobileSnapshot) bool {
		now, ok := todo(s, id)
		return !ok || now.Version > old.Version
	})
	return err
}

func dictateFile(ctx context.Context, p *session, conn *novaclient.Conn, rest string) error {
	samples, err := readSpeech(rest)
	if err != nil {
		return err
	}
	id, err := p.selected(ctx, conn)
	if err != nil {
		return err
	}
	words, err := conn.Dictate(ctx, id, paced(ctx, samples))
	if words != "" {
		p.mu.Lock()
		p.draft = words
		p.mu.Unlock()
	}
	p.view.dictationResult(words, err)
	return err
}

// maxSpeechFile has room for the longest speech and what else a WAV file holds.
const maxSpeechFile = pcm.MaxSpeech + 64<<10

func readSpeech(path string) ([]byte, error) {
	if path == "" {
		return nil, errNoFile
	}
	content, err := cli.ReadAtMost(path, maxSpeechFile+1)
	if len(content) > maxSpeechFile {
		return nil, errLargeFile
	}
	var samples []byte
	if err == nil {
		samples, err = pcm.ParseWAV(content)
	}
	if err == nil {
		err = pcm.Check(samples)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the speech: %w", err)
	}
	return samples, nil
}

// Speech goes out in pieces, as a microphone gives it.
const (
	pieceLasts = 20 * time.Millisecond
	pieceBytes = int(pcm.BytesPerSecond * pieceLasts / time.Second)
)

// paced yields samples at the pace of speech, until ctx ends.
func paced(ctx context.Context, samples []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		pace := time.NewTicker(pieceLasts)
		defer pace.Stop()
		for piece := range slices.Chunk(samples, pieceBytes) {
			if !yield(piece) {
				return
			}
			select {
			case <-pace.C:
			case <-ctx.Done():
				return
			}
		}
	}
}

func sendDraft(ctx context.Context, p *session, conn *novaclient.Conn, _ string) error {
	p.mu.Lock()
	draft := p.draft
	p.mu.Unlock()
	if draft == "" {
		return errNoDraft
	}
	if err := p.sendText(ctx, conn, draft); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.draft = ""
	return nil
}

// answerCard takes an ID as it stands on the screen.
func answerCard(d nova.Decision, right func(novaclient.Card) bool) action {
	return func(ctx context.Context, _ *session, conn *novaclient.Conn, id string) error {
		card, ok := find(conn.Cards(), func(c novaclient.Card) bool { return c.ID == id || text.Printable(c.ID) == id })
		switch {
		case !ok:
			return novaclient.ErrNoCard
		case !right(card):
			return errOtherCard
		}
		status, err := conn.Decide(ctx, card.ID, d)
		if err == nil && status != nova.Applied {
			err = novaclient.ErrNotApplied
		}
		return err
	}
}
