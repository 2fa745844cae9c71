package novaclient

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"plexus/domain/nova"
	"plexus/domain/pairing"
	"plexus/domain/secret"
)

const deviceID = "3f0c8c1e-33f2-4e09-9a51-0b6a2a9f1c77"

func testCode() pairing.Code { return pairing.Code{Text: secret.New(strings.Repeat("c0", 16))} }

func TestPayload(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	whole := `{"type":"nova.pair","version":1,"server":"wss://box.example.ts.net/client/v1","code":"` + testCode().Reveal() + `"}`
	with := func(old, new string) string { return strings.Replace(whole, old, new, 1) }
	expiring := func(at string) string { return with(`"}`, `","expires_at":`+at+`}`) }
	for name, c := range map[string]struct {
		text         string
		flutter, ios error
	}{
		"without an expiry": {whole, nil, ErrPayload},
		"in good time":      {expiring("1000001"), nil, nil},
		"just too late":     {expiring("1000000"), ErrTooLate, ErrTooLate},
		"no number":         {expiring(`"soon"`), ErrPayload, ErrPayload},
		"another type":      {with("nova.pair", "wifi"), ErrPayload, ErrPayload},
		"another version":   {with(`"version":1`, `"version":2`), ErrPayload, ErrPayload},
		"upper case code":   {with("c0", "C0"), ErrPayload, ErrPayload},
		"short code":        {with("c0", ""), ErrPayload, ErrPayload},
		"no JSON":           {"https://example.com", ErrPayload, ErrPayload},
	} {
		for p, want := range map[Profile]error{Flutter: c.flutter, IOS: c.ios} {
			got, err := ParsePayload([]byte(c.text), p, now)
			if !errors.Is(err, want) || err == nil && (got.Server != testServer() || got.Code.Hash() != testCode().Hash()) {
				t.Errorf("%s, profile %d: got %v, want %v", name, p, err, want)
			}
		}
	}
	for server, part := range map[string]string{
		"ws://box.example.ts.net": "scheme", "https://box.example.ts.net": "scheme", "wss://": "host", "wss://u:p@box.example.ts.net": "user",
		"wss://box.example.ts.net?x=1": "query", "wss://box.example.ts.net#x": "fragment", "wss://box.example.ts.net/client/v2": "path",
		"wss://box.example.ts.net": "", "wss://box.example.ts.net/": "", "wss://box.example.ts.net:8443/client/v1": "",
	} {
		_, err := ParsePayload([]byte(with("wss://box.example.ts.net/client/v1", server)), Flutter, now)
		var address *pairing.AddressError
		if (err == nil) != (part == "") || err != nil && (!errors.As(err, &address) || address.Part != part) {
			t.Errorf("server %s gave %v", server, err)
		}
	}
}

// answer plays the host of one pairing exchange and gives the request.
func (h *host) answer(path string, kind websocket.MessageType, text string) string {
	l := <-h.opened
	if l.request.RequestURI != path {
		h.t.Errorf("the client asked for %s", l.request.RequestURI)
	}
	_, request, err := l.ws.Read(context.Background())
	if err != nil {
		h.t.Error(err)
	}
	_ = l.ws.Write(context.Background(), kind, []byte(text))
	_ = l.ws.CloseNow()
	return string(request)
}

func TestRedeem(t *testing.T) {
	good := `{"type":"pair.ready","token":"` + testToken().Reveal() + `","device_id":"` + deviceID + `"}`
	for name, c := range map[string]struct {
		p    Profile
		kind websocket.MessageType
		text string
		want error
	}{
		"good":                  {Flutter, websocket.MessageText, good, nil},
		"binary":                {Flutter, websocket.MessageBinary, good, ErrAnswer},
		"binary, old app":       {IOS, websocket.MessageBinary, good, nil},
		"refused":               {Flutter, websocket.MessageText, `{"type":"pair.error","message":"pairing failed"}`, ErrPairRefused},
		"a token in upper case": {Flutter, websocket.MessageText, strings.Replace(good, "0a", "0A", 1), ErrAnswer},
		"no UUID":               {Flutter, websocket.MessageText, strings.Replace(good, deviceID, "device", 1), ErrAnswer},
		"another answer":        {Flutter, websocket.MessageText, `{"type":"pair.devices","devices":[],"pairing_active":false}`, ErrAnswer},
		"no JSON":               {Flutter, websocket.MessageText, "pong", ErrAnswer},
	} {
		inFakeTime(t, func(t *testing.T, h *host) {
			var got Paired
			redeemed := do(func() (err error) {
				got, err = Redeem(t.Context(), h.options(c.p), testCode(), "Plexus phone")
				return err
			})
			request := h.answer(pairPath, c.kind, c.text)
			if request != `{"type":"pair.redeem","code":"`+testCode().Reveal()+`","device_name":"Plexus phone"}` {
				t.Errorf("%s: the request is %s", name, request)
			}
			err := <-redeemed
			if !errors.Is(err, c.want) {
				t.Errorf("%s: got %v, want %v", name, err, c.want)
			}
			if err == nil && (got.Token.Hash() != testToken().Hash() || got.DeviceID.String() != deviceID) {
				t.Errorf("%s: paired as %s", name, got.DeviceID)
			}
			if s := fmt.Sprint(err, got); strings.Contains(s, testCode().Reveal()) || strings.Contains(s, testToken().Reveal()) {
				t.Errorf("%s: a secret was printed", name)
			}
		})
	}
}

func TestRedeem_LongAndLateAnswers(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		redeem := func() <-chan error {
			return do(func() error {
				_, err := Redeem(t.Context(), h.options(Flutter), testCode(), "phone")
				return err
			})
		}
		long := redeem()
		h.answer(pairPath, websocket.MessageText, strings.Repeat(" ", nova.MaxPairText+1))
		if err := <-long; err == nil {
			t.Error("an answer that is too long was read")
		}
		begun := time.Now()
		late := redeem()
		l := <-h.opened
		if err := <-late; !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != pairWithin {
			t.Errorf("without an answer: %v after %v", err, time.Since(begun))
		}
		_ = l.ws.CloseNow()
		if _, err := Redeem(t.Context(), h.options(Flutter), testCode(), " \n"); err == nil {
			t.Error("a blank name was sent")
		}
	})
}
