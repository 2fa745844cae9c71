package adminapi

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plexus/adapters/memory"
	"plexus/domain/pairing"
	"plexus/domain/secret"
	"plexus/ports"
	"plexus/usecases/devices"
)

const someServer = "wss://box.tail1234.ts.net"

// counting is a source of different bits.
type counting struct{ next byte }

func (c *counting) Read(b []byte) (int, error) {
	for i := range b {
		c.next++
		b[i] = c.next
	}
	return len(b), nil
}

// phones is the real thing over stores in memory.
func phones(t *testing.T) *devices.Service {
	t.Helper()
	store := memory.NewDevices()
	c, err := devices.New(t.Context(), devices.Deps{
		Devices: store, Revoked: memory.NewRevocations(), Settings: memory.NewSettings(),
		Random: &counting{}, Now: time.Now, Log: quiet(),
	}, devices.Options{Master: secret.New("master").Hash()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// setupPhones serves p.
func setupPhones(t *testing.T, p Phones, log *slog.Logger) *Client {
	t.Helper()
	srv := NewServer(Config{Extensions: &registry{}, Remembered: &remembered{}, Phones: p, Log: log})
	ends := make(chan net.Conn)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(&pipeListener{ends: ends, done: make(chan struct{})}) }()
	t.Cleanup(func() {
		if err := srv.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		<-served
	})
	return NewClient(func(ctx context.Context) (net.Conn, error) {
		here, there := net.Pipe()
		select {
		case ends <- there:
			return here, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
}

// pipeListener hands out pipes, which fake time can see.
type pipeListener struct {
	ends chan net.Conn
	done chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.ends:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	select {
	case <-l.done:
	default:
		close(l.done)
	}
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{} }

func TestPhones_InviteWaitRedeemRevoke(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := phones(t)
		c := setupPhones(t, service, quiet())
		ctx := t.Context()
		if _, err := c.Invite(ctx, "", false, false); !errors.Is(err, ErrNoPublicURL) {
			t.Errorf("without an address: %v", err)
		}
		i, err := c.Invite(ctx, someServer, false, false)
		if err != nil || i.Server != someServer+"/client/v1" || !strings.Contains(i.Payload, `"type":"nova.pair"`) || strings.Contains(i.Payload, "expires_at") {
			t.Fatalf("invitation %+v, %v", i, err)
		}
		if i.PublicURL != "" {
			t.Errorf("an address that no phone has used is the public one: %+v", i)
		}
		told := make(chan Outcome, 1)
		go func() {
			o, err := c.Outcome(ctx, i.ID)
			if err != nil {
				t.Error(err)
			}
			told <- o
		}()
		synctest.Wait()
		open, _ := service.OpenInvitation()
		_, device, err := service.Redeem(ctx, open.Code, "A\u202ephone")
		if err != nil {
			t.Fatal(err)
		}
		if o := <-told; o.State != "redeemed" || o.Device == nil || o.Device.ID != device.ID.String() || strings.Contains(o.Device.Name, "\u202e") {
			t.Errorf("outcome %+v", o)
		}
		other, err := c.Invite(ctx, "wss://other.example", false, false)
		if err != nil || other.PublicURL != i.Server || other.PublicURLFixed {
			t.Errorf("an invitation elsewhere %+v, %v", other, err)
		}
		if kept, err := c.Invite(ctx, "wss://kept.example", false, true); err != nil || kept.PublicURL != kept.Server {
			t.Errorf("one that is kept: %+v, %v", kept, err)
		}
		list, err := c.Devices(ctx)
		if err != nil || len(list) != 1 || list[0].FirstConnectedAt != nil || list[0].Connected {
			t.Errorf("devices %+v, %v", list, err)
		}
		if err := c.RevokeDevice(ctx, device.ID.String()); err != nil {
			t.Error(err)
		}
		if err := c.RevokeDevice(ctx, device.ID.String()); !errors.Is(err, ports.ErrDeviceUnknown) {
			t.Errorf("revoked twice: %v", err)
		}
		var remote *RemoteError
		if err := c.RevokeDevice(ctx, "../x"); !errors.As(err, &remote) || remote.Code != "bad_device" {
			t.Errorf("a strange ID: %v", err)
		}
	})
}

func TestK19_AnAddressIsKeptByHandOrByAPhone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := phones(t)
		c := setupPhones(t, service, quiet())
		if _, err := c.Invite(t.Context(), someServer, true, false); err != nil {
			t.Fatal(err)
		}
		if public, _, ok := service.PublicURL(); ok {
			t.Errorf("without a phone the public URL is %s", public)
		}
		if _, err := c.Invite(t.Context(), someServer, true, true); err != nil {
			t.Fatal(err)
		}
		if public, _, _ := service.PublicURL(); public.String() != someServer+"/client/v1" {
			t.Errorf("the public URL is %s", public)
		}
		i, err := c.Invite(t.Context(), "", true, false)
		if err != nil || i.Server != someServer+"/client/v1" || !i.Replaced || !strings.Contains(i.Payload, "expires_at") {
			t.Errorf("%+v, %v", i, err)
		}
		if was, err := c.CancelInvitation(t.Context(), i.ID); err != nil || !was {
			t.Errorf("cancel: %v, %v", was, err)
		}
		if was, err := c.CancelInvitation(t.Context(), i.ID); err != nil || was {
			t.Errorf("cancelled twice: %v, %v", was, err)
		}
		if o, err := c.Outcome(t.Context(), i.ID); err != nil || o.State != "cancelled" {
			t.Errorf("%+v, %v", o, err)
		}
	})
}

func TestK18_ANameThatCannotBeUsedKeepsItsReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := phones(t)
		c := setupPhones(t, service, quiet())
		var ids []string
		for range 2 {
			if _, err := c.Invite(t.Context(), someServer, false, false); err != nil {
				t.Fatal(err)
			}
			open, _ := service.OpenInvitation()
			if _, _, err := service.Redeem(t.Context(), open.Code, "phone"); err != nil {
				t.Fatal(err)
			}
			o, err := c.Outcome(t.Context(), string(open.ID()))
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, o.Device.ID+" "+o.Device.Name)
		}
		if !strings.HasSuffix(ids[0], " phone") || !strings.HasSuffix(ids[1], " phone (2)") {
			t.Errorf("paired as %q", ids)
		}
		id, _, _ := strings.Cut(ids[1], " ")
		for name, want := range map[string]error{"": pairing.ErrNameEmpty, "a\x1bb": pairing.ErrNameMarks, strings.Repeat("x", 81): pairing.ErrNameTooLong} {
			if err := c.RenameDevice(t.Context(), id, name); !errors.Is(err, want) {
				t.Errorf("%q: %v, want %v", name, err, want)
			}
		}
		if err := c.RenameDevice(t.Context(), id, "Ann’s & Bob’s phone?"); err != nil {
			t.Fatal(err)
		}
		if list, err := c.Devices(t.Context()); err != nil || list[1].Name != "Ann’s & Bob’s phone?" {
			t.Errorf("%+v, %v", list, err)
		}
		const nobody = "00000000-0000-4000-8000-000000000000"
		if err := errors.Join(c.RenameDevice(t.Context(), nobody, "x")); !errors.Is(err, ports.ErrDeviceUnknown) {
			t.Errorf("renaming nobody: %v", err)
		}
		if err := c.LetDeviceIn(t.Context(), nobody); !errors.Is(err, ports.ErrDeviceUnknown) {
			t.Errorf("letting nobody in: %v", err)
		}
		if err := c.LetDeviceIn(t.Context(), id); err != nil {
			t.Error(err)
		}
	})
}

func TestPhones_ABadAddressKeepsItsPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := setupPhones(t, phones(t), quiet())
		for server, part := range map[string]string{"ws://x.example": "scheme", "wss://127.0.0.1": "host", "wss://u:p@x.example": "user", "wss://x.example/y": "path"} {
			_, err := c.Invite(t.Context(), server, false, false)
			var bad *pairing.AddressError
			if !errors.As(err, &bad) || bad.Part != part || bad.Reason == "" {
				t.Errorf("%s: %v", server, err)
			}
		}
	})
}

// One question is held for a while and then answered; a host that ends does not
// wait for it.
func TestPhones_TheQuestionIsHeldOpenButNotForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := setupPhones(t, phones(t), quiet())
		i, err := c.Invite(t.Context(), someServer, false, false)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		o, err := c.Outcome(t.Context(), i.ID)
		if err != nil || o.State != "waiting" || time.Since(began) != waitLimit {
			t.Errorf("%+v after %s, %v", o, time.Since(began), err)
		}
		go func() { _, _ = c.Outcome(context.Background(), i.ID) }() // left open for the shutdown
		synctest.Wait()
	})
}

func TestPhones_NoSecretInTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		service := phones(t)
		c := setupPhones(t, service, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
		if _, err := c.Invite(t.Context(), someServer, false, false); err != nil {
			t.Fatal(err)
		}
		open, _ := service.OpenInvitation()
		if _, err := call[struct{}](t.Context(), c, http.MethodGet, "/v1/invitations/"+open.Code.Reveal()); err != nil {
			t.Errorf("%v", err) // a code in the place of an ID is an invitation that is gone
		}
		if strings.Contains(log.String(), open.Code.Reveal()) {
			t.Errorf("the code is in the log:\n%s", log.String())
		}
	})
}

// signIn lets the owner in, or fails.
type signIn struct{ err error }

func (l signIn) SignInLink() (SignInLink, error) {
	return SignInLink{Page: "http://127.0.0.1:9010/", File: "/d/sign-in-1.html"}, l.err
}

func (l signIn) SignInCode() (SignInCode, error) {
	return SignInCode{Page: "http://127.0.0.1:9010/", Code: "ABCDEFGHIJ", ExpiresAt: time.Unix(60, 0).UTC()}, l.err
}

func TestSignIn_LinkAndCode(t *testing.T) {
	handler := func(err error) *Client {
		return setupHandler(t, NewServer(Config{Extensions: &registry{}, Remembered: &remembered{}, SignIn: signIn{err}, Log: quiet()}).Handler)
	}
	c := handler(nil)
	if link, err := c.SignInLink(t.Context()); err != nil || link.File != "/d/sign-in-1.html" {
		t.Errorf("%+v, %v", link, err)
	}
	if code, err := c.SignInCode(t.Context()); err != nil || code.Code != "ABCDEFGHIJ" || code.ExpiresAt.Unix() != 60 {
		t.Errorf("%+v, %v", code, err)
	}
	if _, err := handler(errors.New("disk full")).SignInLink(t.Context()); err == nil || strings.Contains(err.Error(), "disk full") {
		t.Errorf("a failure is told as %v", err)
	}
}
