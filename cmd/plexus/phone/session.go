package phone

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"plexus/adapters/novaclient"
	"plexus/domain/conversations"
	"plexus/domain/nova"
	"plexus/domain/workbench"
)

// view shows what a phone has to tell. Its methods may be called
// concurrently.
type view interface {
	paired(server, deviceID string)
	status(novaclient.Status)
	message(nova.Message)
	// input tells of what the host takes; boxed: an app would show its text box.
	input(takes nova.DesktopCapabilities, boxed bool)
	card(novaclient.Card)
	cardRemoved(novaclient.Card)
	// snapshot tells what is new; before is zero the first time.
	snapshot(now, before workbench.MobileSnapshot)
	// list, open and todos show a part of the last snapshot.
	list()
	open()
	todos()
	help()
	// textResult tells what became of a text: err is nil, *novaclient.TextRefused,
	// *novaclient.End or why it was not sent.
	textResult(nova.InputText, error)
	dictationResult(text string, err error)
	// lineDone ends what was typed in a line.
	lineDone(line string, err error)
}

// session is a connected phone: a client, what it shows and what is typed.
type session struct {
	view   view
	state  *state
	client *novaclient.Client
	stay   bool // the end of the input does not end the phone
	work   sync.WaitGroup
	// usable is closed when the first connection can take text, or will not.
	usable   chan struct{}
	opening  sync.Once
	patience *time.Timer // of usable

	mu     sync.Mutex
	last   nova.InputText // the last text that was sent
	lost   bool           // its outcome has not come
	failed bool           // it was not taken, or its answer has failed
	draft  string         // what was dictated and not sent
}

// capabilitiesWithin is how long typed lines wait, once there is a connection,
// for the host to say that it takes text. A host without a model never does.
const capabilitiesWithin = time.Second

// maxWaiting is how many typed lines wait for the one before them.
const maxWaiting = 64

// answeredWithin is how long the end of the input waits for the answer to the
// last text: more than the 120 s of a turn.
const answeredWithin = 150 * time.Second

func newSession(w io.Writer, o novaclient.Options, f Options) *session {
	p := &session{state: &state{}, stay: f.PayloadFile == "-", usable: make(chan struct{})}
	if f.JSON {
		p.view = &jsonLines{w: w, state: p.state}
	} else {
		p.view = &screen{w: w, server: o.Server.Authority(), state: p.state}
	}
	o.Events = novaclient.Events{
		Status: func(s novaclient.Status) {
			if s.Phase == novaclient.Connected && p.patience == nil {
				p.patience = time.AfterFunc(capabilitiesWithin, p.open)
			}
			p.view.status(s)
		},
		Message:  p.message,
		Snapshot: func(s workbench.MobileSnapshot) { p.view.snapshot(s, p.state.put(s)) },
		Card:     p.view.card, Removed: p.view.cardRemoved,
	}
	p.client = novaclient.New(o)
	return p
}

func (p *session) message(m nova.Message) {
	p.view.message(m)
	if fault, ok := m.(nova.ConversationError); ok {
		p.mu.Lock()
		p.failed = p.failed || p.last.ConversationID == "" || p.last.ConversationID == fault.ConversationID
		p.mu.Unlock()
	}
	takes, ok := m.(nova.DesktopCapabilities)
	if !ok {
		return
	}
	conn, err := p.client.Conn()
	p.view.input(takes, err == nil && conn.ShowsText())
	// A text whose outcome is missing went to a host that is gone, so whether it
	// was taken cannot be found out any more.
	p.mu.Lock()
	last, gone := p.last, p.lost && p.last.InputInstanceID != takes.InputInstanceID
	p.lost = p.lost && !gone
	p.mu.Unlock()
	if gone {
		p.view.textResult(last, &novaclient.TextRefused{Reason: nova.OutcomeUnknown})
	}
	p.open()
}

func (p *session) open() { p.opening.Do(func() { close(p.usable) }) }

// run lasts until the person quits, the connection is over for good or ctx ends.
func (p *session) run(ctx context.Context, input *bufio.Reader) error {
	running, quit := context.WithCancel(ctx)
	defer quit()
	var err error
	over := make(chan struct{})
	go func() {
		defer close(over)
		err = p.client.Run(running)
	}()
	typed := make(chan string)
	// It may stay behind in a read of the terminal, which nothing can interrupt.
	go readLines(running, input, typed)
	left := p.serve(running, typed, over)
	quit()
	<-over
	p.work.Wait()
	if p.patience != nil {
		p.patience.Stop()
	}
	if left {
		return ctx.Err()
	}
	return err
}

// serve acts on typed lines. left: the person has quit, or what was typed before
// the end of the input has been dealt with.
func (p *session) serve(ctx context.Context, typed <-chan string, over <-chan struct{}) (left bool) {
	waiting, served := make(chan string, maxWaiting), make(chan struct{})
	finish := sync.OnceFunc(func() { close(waiting) })
	defer finish()
	p.work.Go(func() {
		defer close(served)
		for line := range waiting {
			if ctx.Err() == nil { // quitting drops the lines that have not begun
				p.runLine(ctx, line)
			}
		}
		p.awaitAnswer(ctx)
	})
	usable, lines := p.usable, (<-chan string)(nil) // lines wait for a connection
	for {
		select {
		case <-over:
			return false
		case <-served:
			return true
		case <-usable:
			usable, lines = nil, typed
		case line, more := <-lines:
			switch {
			case line == "/quit":
				return true
			case !more:
				lines = nil
				if !p.stay {
					finish()
				}
			default:
				p.dispatch(ctx, line, waiting)
			}
		}
	}
}

// readLines sends the lines of the input and closes the channel at its end.
func readLines(ctx context.Context, input *bufio.Reader, typed chan<- string) {
	defer close(typed)
	for {
		line, err := input.ReadString('\n')
		if line = strings.TrimSpace(line); line != "" {
			select {
			case typed <- line:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// errBacklog: earlier lines are not done yet.
var errBacklog = errors.New("too many lines wait for the host")

// dispatch does what a line says. Lines wait for each other, except an answer to a
// card: the line that is running may wait for that answer.
func (p *session) dispatch(ctx context.Context, line string, waiting chan<- string) {
	if c, _, ok := findCommand(line); ok && c.atOnce {
		p.work.Go(func() { p.runLine(ctx, line) })
		return
	}
	select {
	case waiting <- line:
	default:
		p.view.lineDone(line, errBacklog)
	}
}

// runLine does a line with the connection there is. It tells what became of it,
// unless it was given up because the phone quits.
func (p *session) runLine(ctx context.Context, line string) {
	conn, err := p.client.Conn()
	c, rest, ok := findCommand(line)
	switch {
	case err != nil:
	case ok:
		err = c.do(ctx, p, conn, rest)
	case strings.HasPrefix(line, "/"):
		err = errNoCommand
	default:
		err = p.sendText(ctx, conn, line)
	}
	if err == nil || !errors.Is(err, ctx.Err()) {
		p.view.lineDone(line, err)
	}
}

// sendText sends a text to the selected conversation.
func (p *session) sendText(ctx context.Context, conn *novaclient.Conn, words string) error {
	id, err := p.selected(ctx, conn)
	if err != nil {
		return err
	}
	text, err := conn.NewText(words, id)
	if err != nil {
		return err
	}
	return p.submit(ctx, conn, text)
}

// selected is where a text goes, "" to a host without a workbench.
func (p *session) selected(ctx context.Context, conn *novaclient.Conn) (string, error) {
	if !conn.Ready().Personal {
		return "", nil
	}
	s, err := p.current(ctx, conn)
	return s.Conversations.SelectedID, err
}

// What to do about a text that has no outcome.
var (
	errTextLost    = errors.New("the connection ended before the host said whether it has the text; /again asks for it")
	errTextUnknown = errors.New("the host was started anew, and whether it took the text is not known. Look at the conversation before you send it again")
)

// submit sends a text and waits for its outcome. The outcome is always printed:
// when the phone quits before it came, the text counts as lost.
func (p *session) submit(ctx context.Context, conn *novaclient.Conn, text nova.InputText) error {
	p.remember(text, true, false)
	err := conn.SubmitText(ctx, text)
	if err != nil && errors.Is(err, ctx.Err()) {
		err = &novaclient.End{Err: novaclient.ErrClosed} // this phone is about to close it
	}
	var end *novaclient.End
	lost := errors.As(err, &end)
	var refused *novaclient.TextRefused
	isRefused := errors.As(err, &refused)
	p.remember(text, lost, isRefused)
	p.view.textResult(text, err)
	switch {
	case lost:
		return errTextLost
	case isRefused && refused.Reason == nova.OutcomeUnknown:
		return errTextUnknown
	}
	return err
}

// remember notes what is known of the last text. The failure of an answer may come
// before the result of its text.
func (p *session) remember(text nova.InputText, lost, refused bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = refused || p.failed && p.last == text
	p.last, p.lost = text, lost
}

// awaitAnswer waits, at the end of the input, for the turn of the last text, as
// far as the host shows its turns.
func (p *session) awaitAnswer(ctx context.Context) {
	p.mu.Lock()
	last, lost := p.last, p.lost
	p.mu.Unlock()
	if _, ok := p.client.Workbench().Snapshot(); p.stay || !ok || lost || last.RequestID == "" {
		return
	}
	_, _ = p.state.await(ctx, answeredWithin, func(s workbench.MobileSnapshot) bool {
		if s.Conversations.SelectedID != last.ConversationID {
			return true
		}
		for _, m := range s.Conversations.Messages {
			if m.RequestID == last.RequestID {
				return m.Status != conversations.Pending
			}
		}
		return false
	})
}
