package adminweb

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestServeOverASocket: a stream outlives the limits of a request, and a shutdown
// ends it at once.
func TestServeOverASocket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t)
		ln := &pipes{make(chan net.Conn), make(chan struct{})}
		served := make(chan error, 1)
		go func() { served <- st.site.Serve(ln) }()
		client := &http.Client{Transport: &http.Transport{
			DialContext: func(context.Context, string, string) (net.Conn, error) { return ln.dial(), nil },
		}}
		at := "http://" + ln.Addr().String()

		answer, err := client.Get(at + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(answer.Body); err != nil || string(body) != "ok" {
			t.Errorf("health: %q, %v", body, err)
		}
		_ = answer.Body.Close()

		b := &browser{st: st}
		b.enterOver(client, at)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at+b.base+"events", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.AddCookie(b.cookie)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		answer, err = client.Do(r)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("stream: %v, %v", answer, err)
		}
		began, lines := time.Now(), bufio.NewReader(answer.Body)
		if line, err := lines.ReadString('\n'); err != nil || line != ": here\n" {
			t.Errorf("first line %q, %v", line, err)
		}
		for time.Since(began) < 3*max(readLimit, writeLimit) { // it tells that it is there
			if line, err := lines.ReadString('\n'); err != nil || strings.HasPrefix(line, "data:") {
				t.Fatalf("after %v the stream gave %q, %v", time.Since(began), line, err)
			}
		}
		if err := st.clients.SetNoPhone(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		for line := ""; !strings.HasPrefix(line, "data:"); {
			if line, err = lines.ReadString('\n'); err != nil {
				t.Fatalf("the stream did not live to tell the change: %v", err)
			}
		}
		drained := make(chan error, 1)
		go func() {
			_, err := io.Copy(io.Discard, lines)
			drained <- err
		}()
		began = time.Now()
		if err := st.site.Shutdown(t.Context()); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("the shutdown took %v", took)
		}
		if !st.desktop.shut {
			t.Error("the page's sockets were not shut")
		}
		if err := <-drained; err != nil {
			t.Errorf("the stream did not end cleanly: %v", err)
		}
		_ = answer.Body.Close()
		client.CloseIdleConnections()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
}

// enterOver signs in over a socket.
func (b *browser) enterOver(client *http.Client, at string) {
	t := b.st.t
	t.Helper()
	link, err := b.st.site.SignIn.Link()
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at+"/signin", strings.NewReader("secret="+link.Secret.Reveal()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := client.Do(r)
	if err != nil || len(answer.Cookies()) != 1 {
		t.Fatalf("sign in: %v, %v", answer, err)
	}
	_ = answer.Body.Close()
	b.cookie, b.base = answer.Cookies()[0], answer.Header.Get("Location")
}
