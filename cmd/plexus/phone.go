package main

import (
	"bufio"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"plexus/adapters/novaclient"
	"plexus/domain/nova"
	"plexus/domain/text"
)

const phoneNotes = `A phone in the terminal: it pairs with a host, on this machine or another, and
talks to it as the apps do. What is typed is sent as text. /approve ID, /decline
ID and /confirm ID answer what the host asks; /quit ends.

The first time it needs an invitation: the text of the QR code that plexus pair
draws, in a file or, for -, in the first line of the input. What it gets for it
is kept in $XDG_STATE_HOME/plexus/phone.json, readable by this account alone.`

// phoneName is what the host lists this phone as.
const phoneName = "Plexus phone"

// phoneFlags is the command line of phone.
type phoneFlags struct{ payloadFile, dial, caFile string }

func phone(ctx context.Context, p *program, args []string) error {
	fs := p.flags("phone [flags]", phoneNotes)
	var f phoneFlags
	fs.StringVar(&f.payloadFile, "payload-file", "", "`file` with the invitation; - is the first line of the input")
	fs.StringVar(&f.dial, "dial", "", "`address` on this machine to connect to, without TLS, instead of the invitation's, for instance 127.0.0.1:18787")
	fs.StringVar(&f.caFile, "ca-file", "", "PEM `file` of the certificate authorities to trust, instead of the system's")
	if err := p.parseNone(fs, args); err != nil {
		return err
	}
	return p.runPhone(ctx, f, os.Stdin)
}

// runPhone is the command without its command line.
func (p *program) runPhone(ctx context.Context, f phoneFlags, input io.Reader) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	path, err := phoneStatePath(p.getenv)
	if err != nil {
		return err
	}
	lines := bufio.NewReader(input)
	state, err := p.phonePairing(ctx, o, f.payloadFile, path, lines)
	if err != nil {
		return err
	}
	o.Server, o.Token = state.server, state.token
	err = newHandset(p.stdout, o, f.payloadFile == "-").run(ctx, lines)
	var end *novaclient.End
	if errors.As(err, &end) && end.Code == novaclient.CodeRejected {
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("the host no longer knows this phone, and its pairing cannot be erased: %w", err)
		}
		return errors.New("the host no longer knows this phone. Its pairing has been erased from here; pair again with a new invitation")
	}
	return phoneError(err)
}

// phoneError says what a person can do about the end of a connection.
func phoneError(err error) error {
	var end *novaclient.End
	switch {
	case !errors.As(err, &end):
		return err
	case end.Code == novaclient.CodeBusy:
		return fmt.Errorf("another phone is connected to the host, and it takes one at a time: %w", err)
	case end.Code == novaclient.CodeIncompatible, errors.Is(err, novaclient.ErrMismatch):
		return fmt.Errorf("the host and this phone do not understand each other; one of them may need an update: %w", err)
	}
	return fmt.Errorf("giving up after several tries: %w", err)
}

// options gives what the flags decide.
func (f phoneFlags) options() (o novaclient.Options, err error) {
	o.Profile = novaclient.Flutter
	if f.dial != "" {
		if o.Dial, err = novaclient.ParseDial(f.dial); err != nil {
			return o, usagef("--dial %q: %s", f.dial, err)
		}
	}
	if f.caFile != "" {
		o.Roots, err = readRoots(f.caFile)
	}
	return o, err
}

func readRoots(path string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate authorities: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("reading the certificate authorities: there is none in %s", path)
	}
	return roots, nil
}

// handset is a connected phone: a client, what it shows and what is typed.
type handset struct {
	screen *phoneScreen
	client *novaclient.Client
	stay   bool // the end of the input does not end the phone
	work   sync.WaitGroup
	// usable is closed when the first connection can take text, or will not.
	usable   chan struct{}
	opening  sync.Once
	patience *time.Timer // of usable
}

// capabilitiesWithin is how long typed lines wait, once there is a connection,
// for the host to say that it takes text. A host without a model never does.
const capabilitiesWithin = time.Second

// maxUnsent is how many typed texts wait for the one before them.
const maxUnsent = 16

func newHandset(w io.Writer, o novaclient.Options, stay bool) *handset {
	h := &handset{screen: &phoneScreen{w: w, server: o.Server.Authority()}, stay: stay, usable: make(chan struct{})}
	o.Events = novaclient.Events{Status: h.status, Message: h.message, Card: h.screen.card, Removed: h.screen.removed}
	h.client = novaclient.New(o)
	return h
}

func (h *handset) status(s novaclient.Status) {
	if s.Phase == novaclient.Connected && h.patience == nil {
		h.patience = time.AfterFunc(capabilitiesWithin, h.open)
	}
	h.screen.status(s)
}

func (h *handset) message(m nova.Message) {
	if _, ok := m.(nova.DesktopCapabilities); ok {
		h.open()
	}
	h.screen.message(m)
}

func (h *handset) open() { h.opening.Do(func() { close(h.usable) }) }

// run lasts until the person quits, the connection is over for good or ctx ends.
func (h *handset) run(ctx context.Context, input *bufio.Reader) error {
	running, quit := context.WithCancel(ctx)
	defer quit()
	var err error
	over := make(chan struct{})
	go func() {
		defer close(over)
		err = h.client.Run(running)
	}()
	typed := make(chan string)
	// It may stay behind in a read of the terminal, which nothing can interrupt.
	go readLines(running, input, typed)
	left := h.serve(running, typed, over)
	quit()
	<-over
	h.work.Wait()
	if h.patience != nil {
		h.patience.Stop()
	}
	if left {
		return ctx.Err()
	}
	return err
}

// serve acts on typed lines. left: the person has quit, and what was typed
// before the end of the input has been dealt with.
func (h *handset) serve(ctx context.Context, typed <-chan string, over <-chan struct{}) (left bool) {
	texts, sent := make(chan string, maxUnsent), make(chan struct{})
	finish := sync.OnceFunc(func() { close(texts) })
	defer finish()
	h.work.Go(func() {
		defer close(sent)
		for line := range texts {
			h.try(ctx, func(conn *novaclient.Conn) error { return conn.Text(ctx, line, "") })
		}
	})
	usable, lines := h.usable, (<-chan string)(nil) // lines wait for a connection
	for {
		select {
		case <-over:
			return false
		case <-sent:
			return true
		case <-usable:
			usable, lines = nil, typed
		case line, more := <-lines:
			switch {
			case line == "/quit":
				return true
			case !more:
				lines = nil
				if !h.stay {
					finish()
				}
			default:
				h.act(ctx, line, texts)
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

// errBacklog: earlier texts have no answer yet.
var errBacklog = errors.New("too many texts wait for the host")

// act does what a line says. An answer to a card does not wait for texts, which
// may be what the question is about.
func (h *handset) act(ctx context.Context, line string, texts chan<- string) {
	if strings.HasPrefix(line, "/") {
		h.work.Go(func() {
			h.try(ctx, func(conn *novaclient.Conn) error { return answerCard(ctx, conn, line) })
		})
		return
	}
	select {
	case texts <- line:
	default:
		h.screen.failed(errBacklog)
	}
}

// try does something with the connection there is.
func (h *handset) try(ctx context.Context, do func(*novaclient.Conn) error) {
	conn, err := h.client.Conn()
	if err == nil {
		err = do(conn)
	}
	if err != nil && ctx.Err() == nil {
		h.screen.failed(err)
	}
}

// errPhoneCommand names what may begin with a slash.
var errPhoneCommand = errors.New("a line that begins with / is one of /approve ID, /decline ID, /confirm ID, /quit")

// errOtherCard: a card of the other kind has this ID.
var errOtherCard = errors.New("/confirm is for projects, /approve for executors")

func answerCard(ctx context.Context, conn *novaclient.Conn, line string) error {
	word, id, _ := strings.Cut(line, " ")
	decision := nova.Accept
	switch word {
	case "/approve", "/confirm":
	case "/decline":
		decision = nova.Decline
	default:
		return errPhoneCommand
	}
	card, err := findCard(conn.Cards(), strings.TrimSpace(id))
	if err != nil {
		return err
	}
	if decision == nova.Accept && card.IsProject() != (word == "/confirm") {
		return errOtherCard
	}
	status, err := conn.Decide(ctx, card.ID, decision)
	if err == nil && status != nova.Applied {
		err = novaclient.ErrNotApplied
	}
	return err
}

// findCard takes an ID as it stands on the screen.
func findCard(cards []novaclient.Card, id string) (novaclient.Card, error) {
	for _, c := range cards {
		if c.ID == id || text.Printable(c.ID) == id {
			return c, nil
		}
	}
	return novaclient.Card{}, novaclient.ErrNoCard
}
