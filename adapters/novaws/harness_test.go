package novaws

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"plexus/adapters/httpguard"
	"plexus/adapters/wsconn"
	"plexus/adapters/wsconn/wstest"
	"plexus/domain/nova"
)

const (
	ownName     = "phone.example" // an accepted host
	serverID    = "11111111-1111-4111-8111-111111111111"
	inputID     = "22222222-2222-4222-8222-222222222222"
	masterToken = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	deviceToken = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	wrongToken  = "cccccccccccccccccccccccccccccccc"
	pairCode    = "dddddddddddddddddddddddddddddddd"
	wrongCode   = "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
	freshToken  = "99999999999999999999999999999999" // what a redeem gives
	privateText = "my private words"
)

// harness is a server in fake time, its fake host and its phones.
type harness struct {
	t     *testing.T
	s     *Server
	host  *fakeHost
	peers []*wstest.Peer
}

// inFakeTime runs f in a bubble where time moves only when everybody waits.
// Whatever happens, no secret may be in the log, which it gives back.
func inFakeTime(t *testing.T, d *fakeHost, f func(t *testing.T, h *harness), options ...func(*Config)) (log string) {
	t.Helper()
	var lines bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		var ids atomic.Int64
		config := Config{
			ServerInstanceID: serverID, InputInstanceID: inputID,
			NewID: func() string { return fmt.Sprintf("33333333-3333-4333-8333-%012d", ids.Add(1)) },
			Log:   slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug})),
		}
		for _, o := range options {
			o(&config)
		}
		h := &harness{t: t, host: d}
		h.s = New(Deps{Auth: d, Pairing: d, Personal: d.personalHost(), Refuse: d.refuse}, config)
		defer func() { // also when f gave up
			for _, p := range h.peers {
				_ = p.Close()
			}
			h.shutdown()
		}()
		f(t, h)
	})
	log = lines.String()
	for _, s := range []string{masterToken, deviceToken, wrongToken, pairCode, wrongCode, freshToken, privateText} {
		if strings.Contains(log, s) {
			t.Errorf("the log holds a secret:\n%s", log)
		}
	}
	return log
}

func (h *harness) shutdown() {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 5*time.Second)
	defer cancel()
	if err := h.s.Shutdown(ctx); err != nil {
		h.t.Errorf("shutdown: %v", err)
	}
}

// local names the listener as a program of this machine does.
func (h *harness) local() string {
	h.s.hosts.Store(httpguard.LoopbackHosts(&net.TCPAddr{Port: 18787}))
	return "127.0.0.1:18787"
}

// open upgrades target; header is pairs of name and value.
func (h *harness) open(target string, header ...string) *wstest.Peer {
	h.t.Helper()
	name := ownName
	if target == pairAdminPath { // for this machine alone
		name = h.local()
	}
	r := wstest.UpgradeRequest(name, target)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	p, response := wstest.Pipe(h.s, r)
	if p == nil {
		h.t.Fatalf("the upgrade of %s was answered %d", target, response.StatusCode)
	}
	h.peers = append(h.peers, p)
	return p
}

// phone is a client whose own goroutine takes whatever the host sends and
// answers pings.
type phone struct {
	*wstest.Peer
	t      *testing.T
	id     string            // of the connection, once ready
	frames chan wstest.Frame // closed at the end
	end    error             // set before frames is closed
}

// start lets a goroutine of its own read for p.
func (h *harness) start(p *wstest.Peer) *phone {
	c := &phone{Peer: p, t: h.t, frames: make(chan wstest.Frame, 2000)}
	go func() {
		defer close(c.frames)
		for {
			f, err := p.ReceiveMessage()
			if err != nil {
				c.end = err
				return
			}
			c.frames <- f
		}
	}()
	return c
}

func hello(token, members string) string {
	return `{"type":"hello","token":"` + token + `","protocol_version":1` + members + `}`
}

// connectAndHello opens a client connection that says hello.
func (h *harness) connectAndHello(token, members string) *phone {
	h.t.Helper()
	p := h.start(h.open(clientPath))
	p.say(hello(token, members))
	return p
}

// connect is a client that is let in: ready and the capabilities are read.
func (h *harness) connect(members string) *phone {
	h.t.Helper()
	p := h.connectAndHello(masterToken, members)
	p.welcomed()
	return p
}

func (p *phone) welcomed() {
	p.t.Helper()
	ready, ok := p.receive().(nova.Ready)
	if !ok {
		p.t.Fatalf("the first message was not ready: %v", p.end)
	}
	p.id = ready.ConnectionID
	if _, ok := p.receive().(nova.DesktopCapabilities); !ok {
		p.t.Fatalf("no capabilities after ready: %v", p.end)
	}
	synctest.Wait() // admission
}

func (p *phone) say(text string) {
	p.t.Helper()
	if err := p.SendText(text); err != nil {
		p.t.Fatalf("say: %v", err)
	}
}

func (p *phone) command(id, payload string) {
	p.t.Helper()
	p.say(commandText(id, p.id, payload))
}

func commandText(id, connection, payload string) string {
	return fmt.Sprintf(`{"type":"client.command","request_id":%q,"connection_id":%q,"payload":%s}`, id, connection, payload)
}

func onset(id string) string { return fmt.Sprintf(`{"type":"speech.onset","speech_id":%q}`, id) }

// next waits for the next frame; ok is false at the end.
func (p *phone) next() (f wstest.Frame, ok bool) {
	p.t.Helper()
	select {
	case f, ok = <-p.frames:
	case <-time.After(10 * time.Minute): // the bubble's time
		p.t.Fatal("neither a frame nor the end")
	}
	return f, ok
}

// receive waits for the next message; nil at the end.
func (p *phone) receive() nova.Message {
	p.t.Helper()
	f, ok := p.next()
	if !ok {
		return nil
	}
	m, err := nova.DecodeMessage(f.Payload)
	if err != nil {
		p.t.Fatalf("a message that no client takes: %v", err)
	}
	return m
}

func (p *phone) wantReceipt(id string, status nova.Status) {
	p.t.Helper()
	if m := p.receive(); m != (nova.Receipt{RequestID: id, Status: status}) {
		p.t.Fatalf("%#v (end %v), want a receipt of %s: %s", m, p.end, id, status)
	}
}

// wantEnd waits for the end without another message. A code of 0 is a cut.
func (p *phone) wantEnd(code int) {
	p.t.Helper()
	for _, text := range p.endsWith(code) {
		p.t.Errorf("%s before the end with %d", text, code)
	}
}

// endsWith waits for the end and gives what came before it.
func (p *phone) endsWith(code int) (before []string) {
	p.t.Helper()
	for f, ok := p.next(); ok; f, ok = p.next() {
		before = append(before, string(f.Payload))
	}
	if got := endCode(p.end); got != code {
		p.t.Errorf("the end was %d (%v), want %d", got, p.end, code)
	}
	return before
}

// endCode is the close code of an end; 0 for a cut.
func endCode(err error) int {
	var closed *wstest.CloseError
	switch {
	case errors.As(err, &closed):
		return closed.Code
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.ErrClosedPipe):
		return 0
	}
	return -1
}

// alive checks that a client is still served.
func (p *phone) alive() {
	p.t.Helper()
	p.say(`{"type":"client.command","request_id":"alive","connection_id":"another","payload":{}}`)
	p.wantReceipt("alive", nova.Stale)
}

// only gives the one session that is open.
func (h *harness) only() *session {
	h.t.Helper()
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	for _, c := range h.s.open {
		return c
	}
	h.t.Fatal("no session is open")
	return nil
}

// lifetime waits until every connection is gone, five minutes at most.
func (h *harness) lifetime() time.Duration {
	began := time.Now()
	for h.s.Connections() > 0 && time.Since(began) < 5*time.Minute {
		time.Sleep(10 * time.Millisecond)
	}
	return time.Since(began)
}

// within checks a duration of fake time.
func within(t *testing.T, what string, took, least, most time.Duration) {
	t.Helper()
	if took < least || took > most {
		t.Errorf("%s took %v, want %v to %v", what, took, least, most)
	}
}

func limits(frame, write time.Duration) func(*Config) {
	return func(c *Config) { c.Limits = wsconn.Limits{Frame: frame, Write: write} }
}

// receiveReceipt waits for the next receipt and passes over clock pings.
func (p *phone) receiveReceipt() (r nova.Receipt) {
	p.t.Helper()
	for {
		switch m := p.receive().(type) {
		case nova.Receipt:
			return m
		case nova.ClockPing:
		default:
			p.t.Fatalf("%#v (end %v), want a receipt", m, p.end)
		}
	}
}

func redeemText(code, name string) string {
	return fmt.Sprintf(`{"type":"pair.redeem","code":%q,"device_name":%q}`, code, name)
}
