package novaclient

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"plexus/domain/nova"
	"plexus/domain/pairing"
)

// open dials in the background and gives the outcome.
func open(h *host, p Profile) <-chan error {
	outcome := make(chan error, 1)
	go func() {
		c, err := Dial(h.t.Context(), h.options(p))
		if err == nil {
			c.Close()
		}
		outcome <- err
	}()
	return outcome
}

func TestHello_IsThatOfTheProfile(t *testing.T) {
	for p, want := range map[Profile]string{
		Flutter: `{"type":"hello","token":"` + testToken().Reveal() + `","protocol_version":1,"media":{"transports":["host_pcm_v1"]},"language":"en","capabilities":["personal"]}`,
		IOS:     `{"type":"hello","token":"` + testToken().Reveal() + `","protocol_version":1,"media":{"transports":["host_pcm_v1"]}}`,
	} {
		inFakeTime(t, func(t *testing.T, h *host) {
			outcome := open(h, p)
			l := <-h.opened
			if l.request.RequestURI != clientPath || l.request.Host != "box.example.ts.net" || len(l.request.Header["Origin"]) > 0 {
				t.Errorf("the client asks %s for %s", l.request.Host, l.request.RequestURI)
			}
			if _, hello, err := l.ws.Read(t.Context()); err != nil || string(hello) != want {
				t.Errorf("the hello is %s (%v), want %s", hello, err, want)
			}
			_ = l.ws.Close(CodeRejected, "")
			<-outcome
		})
	}
}

func without(member string) string {
	a := strings.Index(ready, `"`+member+`":`)
	b := a + strings.IndexAny(ready[a:], "}]") + 2
	return ready[:a] + ready[b:]
}

func TestN88_ReadyIsChecked(t *testing.T) {
	with := func(old, new string) string { return strings.Replace(ready, old, new, 1) }
	for name, c := range map[string]struct {
		ready string
		good  bool
	}{
		"as it should be":         {ready, true},
		"without media":           {without("media"), true},
		"integrated":              {with("cascaded", "integrated"), true},
		"members nobody knows":    {with(`"media":{`, `"later":[],"media":{"later":1,`), true},
		"upper case instance":     {with(serverID, strings.ToUpper(serverID)), true},
		"media is null":           {with(`"media":{`, `"media":null,"was":{`), false},
		"direct media unasked":    {with("host_pcm_v1", "qwen_aoq_runtime_v1"), false},
		"another path":            {with(`"relay"`, `"direct"`), false},
		"another audio owner":     {with(`"audio_owner":"client"`, `"audio_owner":"host"`), false},
		"unknown pipeline":        {with("cascaded", "quantum"), false},
		"48 kHz out":              {with("24000", "48000"), false},
		"16 kHz out":              {with("24000", "16000"), false},
		"48 kHz in":               {with("16000", "48000"), false},
		"stereo":                  {with(`"channels":1`, `"channels":2`), false},
		"another encoding":        {with("pcm_s16le", "opus"), false},
		"no output format":        {without("output_audio"), false},
		"version 2":               {with(`"protocol_version":1`, `"protocol_version":2`), false},
		"version as text":         {with(`"protocol_version":1`, `"protocol_version":"1"`), false},
		"version with a fraction": {with(`"protocol_version":1`, `"protocol_version":1.0`), false},
		"no version":              {with(`"protocol_version":1,`, ``), false},
		"instance no UUID":        {with(serverID, "server"), false},
		"connection no UUID":      {with(connectionID, "connection"), false},
		"no captions":             {with(`"captions",`, ``), false},
		"no executor":             {with(`"executor",`, ``), false},
		"another type":            {with("client.ready", "client.hello"), false},
		"no JSON":                 {"ready", false},
		"an array":                {"[" + ready + "]", false},
		"too long":                {with(`"media"`, `"x":"`+strings.Repeat("x", nova.MaxText)+`","media"`), false},
	} {
		inFakeTime(t, func(t *testing.T, h *host) {
			outcome := open(h, Flutter)
			l := h.greet(c.ready)
			go func() { _, _, _ = l.ws.Read(context.Background()) }()
			err := <-outcome
			if good := err == nil; good != c.good || !good && (!errors.Is(err, ErrMismatch) || !endIn(err).Terminal()) {
				t.Errorf("%s: got %v, want it to be taken: %v", name, err, c.good)
			}
			_ = l.ws.CloseNow()
		})
	}
}

func TestN88_ReadyIsRemembered(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		c, l := h.connect(IOS)
		r := c.Ready()
		if r.ConnectionID != connectionID || r.ServerInstanceID != serverID || r.Pipeline != nova.Cascaded || r.Personal {
			t.Errorf("ready is %+v", r)
		}
		l.silent("p") // whose command names the connection in its own case
		finish(c, l)
	})
}

func TestReadyMustComeFirstAndAsText(t *testing.T) {
	for name, say := range map[string]func(*link){
		"another message": func(l *link) { l.say(desktop) },
		"binary":          func(l *link) { _ = l.ws.Write(context.Background(), websocket.MessageBinary, []byte(ready)) },
		"audio":           func(l *link) { l.sound("u", 1, 0, time.Second/10) },
	} {
		inFakeTime(t, func(t *testing.T, h *host) {
			outcome := open(h, IOS)
			l := h.greet()
			say(l)
			l.say(ready) // too late
			if err := <-outcome; !errors.Is(err, ErrMismatch) || !endIn(err).Terminal() {
				t.Errorf("%s first gave %v", name, err)
			}
			_ = l.ws.CloseNow()
		})
	}
}

func TestReadyMustComeWithinTenSeconds(t *testing.T) {
	for _, c := range []struct {
		after time.Duration
		good  bool
	}{{readyWithin - time.Millisecond, true}, {readyWithin + time.Millisecond, false}} {
		inFakeTime(t, func(t *testing.T, h *host) {
			outcome := open(h, Flutter)
			l := h.greet()
			timer := time.NewTimer(c.after)
			<-timer.C
			l.say(ready)
			go func() { _, _, _ = l.ws.Read(context.Background()) }()
			if err := <-outcome; (err == nil) != c.good || err != nil && endIn(err).Terminal() {
				t.Errorf("ready after %v gave %v", c.after, err)
			}
			_ = l.ws.CloseNow()
		})
	}
}

func TestAnUpgradeThatIsRefused(t *testing.T) {
	for _, status := range []int{http.StatusForbidden, http.StatusServiceUnavailable, http.StatusFound} {
		inFakeTime(t, func(t *testing.T, h *host) {
			h.status = status
			_, err := Dial(t.Context(), h.options(Flutter))
			var refused *RefusedError
			if !errors.As(err, &refused) || refused.Status != status || strings.Contains(err.Error(), testToken().Reveal()) {
				t.Errorf("got %v, want the status %d", err, status)
			}
		})
	}
}

func TestAddresses(t *testing.T) {
	for address, good := range map[string]bool{
		"127.0.0.1:18787": true, "[::1]:18787": true, "[::ffff:127.0.0.1]:1": true,
		"127.0.0.1": false, "127.0.0.1:0": false, "192.168.1.2:18787": false, "box:18787": false, "": false,
	} {
		if _, err := ParseDial(address); (err == nil) != good {
			t.Errorf("ParseDial(%q) gave %v", address, err)
		}
	}
	h := &host{t: t}
	far := h.options(Flutter)
	far.Dial = parsed("10.0.0.1:18787")
	nowhere := h.options(Flutter)
	nowhere.Server = pairing.Server{}
	noToken := h.options(Flutter)
	noToken.Token = pairing.DeviceToken{}
	for name, o := range map[string]Options{"over the network in the clear": far, "no server": nowhere, "no token": noToken} {
		if err := New(o).Run(t.Context()); err == nil {
			t.Errorf("%s: it was tried", name)
		}
	}
	tls := h.options(Flutter)
	tls.Dial = parsed("")
	if url, err := tls.url(clientPath); err != nil || url != "wss://box.example.ts.net/client/v1" {
		t.Errorf("the address is %s (%v)", url, err)
	}
}

// TestTLS_TrustsTheGivenRootsAlone dials a server whose certificate no system
// knows.
func TestTLS_TrustsTheGivenRootsAlone(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err == nil {
			_ = ws.Close(CodeIncompatible, "")
		}
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains of the first client
	server.StartTLS()
	defer server.Close()
	name, err := pairing.ParseServer("wss://example.com")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Server: name, Token: testToken(), DialContext: toListener(server.Listener.Addr().String())}
	if _, err := Dial(t.Context(), o); err == nil || endIn(err).Code != 0 {
		t.Errorf("an unknown certificate gave %v", err)
	}
	o.Roots = x509.NewCertPool()
	o.Roots.AddCert(server.Certificate())
	if _, err := Dial(t.Context(), o); err == nil || endIn(err).Code != CodeIncompatible {
		t.Errorf("with its root the server gave %v, want its close code", err)
	}
}
