package adminweb

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestServeOverARealSocket: a stream outlives the limits of a request, and a
// shutdown ends it at once.
func TestServeOverARealSocket(t *testing.T) {
	st := newStage(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	st.site.http.ReadTimeout, st.site.http.WriteTimeout = 50*time.Millisecond, 50*time.Millisecond
	served := make(chan error, 1)
	go func() { served <- st.site.Serve(ln) }()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
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
	lines := bufio.NewReader(answer.Body)
	if line, err := lines.ReadString('\n'); err != nil || line != ": here\n" {
		t.Errorf("first line %q, %v", line, err)
	}
	limit := time.NewTimer(200 * time.Millisecond) // several times the limits above
	<-limit.C
	if err := st.clients.SetNoPhone(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	for line := ""; !strings.HasPrefix(line, "data:"); {
		if line, err = lines.ReadString('\n'); err != nil {
			t.Fatalf("the stream did not live to tell the change: %v", err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := st.site.Shutdown(ctx); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	if !st.desktop.shut {
		t.Error("the page's sockets were not shut")
	}
	if _, err := io.Copy(io.Discard, lines); err != nil {
		t.Errorf("the stream did not end cleanly: %v", err)
	}
	_ = answer.Body.Close()
	if err := <-served; err != nil {
		t.Errorf("serve: %v", err)
	}
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
