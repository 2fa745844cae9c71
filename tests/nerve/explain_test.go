package nerve_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"plexus/adapters/nervews"
	"plexus/domain/admission"
)

// asks sends one request and takes its answer apart.
func (f *fixture) asks(t *testing.T, first string, lines ...string) (*http.Response, string) {
	t.Helper()
	raw := exchange(t, f.addr, requestText(first, append([]string{hostIs(f.addr)}, lines...)...))
	response, err := http.ReadResponse(bufio.NewReader(strings.NewReader(raw)), nil)
	if err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

// TestD7a_WhoMayReadThe426: an extension learns who is here and whether it is
// allowed; nobody else learns anything.
func TestD7a_WhoMayReadThe426(t *testing.T) {
	const page = "http://127.0.0.1:9010/"
	f := start(t, setup{origins: []string{otherOrigin}, config: nervews.Config{OwnersPage: page}})
	explained := func(origin, want string) {
		t.Helper()
		for _, first := range []string{"GET / HTTP/1.1", "POST / HTTP/1.1", "OPTIONS / HTTP/1.1", "GET /nerve HTTP/1.1"} {
			response, body := f.asks(t, first, from(origin), "Content-Length: 0")
			if response.StatusCode != http.StatusUpgradeRequired || response.Header.Get("Access-Control-Allow-Origin") != origin ||
				response.Header.Get("Content-Type") != "application/json" || response.Header.Get("Cache-Control") != "no-store" ||
				response.Header.Get("Vary") != "Origin" || strings.TrimSpace(body) != want {
				t.Errorf("%s from %s: %d %v %q, want %q", first, origin, response.StatusCode, response.Header, body, want)
			}
			for name := range response.Header {
				if strings.HasPrefix(name, "Access-Control-") && name != "Access-Control-Allow-Origin" {
					t.Errorf("%s from %s: header %s", first, origin, name)
				}
			}
		}
	}
	// The page is a part of the answer, so that a panel can lead its owner there.
	const allowed, notAllowed = `{"product":"plexus","allowed":true,"page":"` + page + `"}`, `{"product":"plexus","allowed":false,"page":"` + page + `"}`
	explained(ourOrigin, notAllowed)
	explained(otherOrigin, allowed)
	f.refuses(t, from(ourOrigin), offer(keyOf(0)))
	explained(ourOrigin, notAllowed)
	row := f.inState(t, ourOrigin, keyOf(0), admission.Waiting)
	allow(t, f.browsers, row.ID)
	explained(ourOrigin, allowed)
	remove(t, f.browsers, row.ID)
	explained(ourOrigin, notAllowed)
	f.admits(t, "anvesha-v1."+token, from(ourOrigin), offer(token))
	explained(ourOrigin, allowed)
}

// TestD7a_ATokenCanBeTried: only by an extension, only in the form in which it is
// offered; and it leaves nothing behind, however often.
func TestD7a_ATokenCanBeTried(t *testing.T) {
	f := start(t, setup{})
	wrong := strings.Repeat("0", 64)
	said := func(origin, first, body string) string {
		t.Helper()
		request := requestText(first, hostIs(f.addr), from(origin), fmt.Sprintf("Content-Length: %d", len(body))) + body
		_, answer, _ := strings.Cut(exchange(t, f.addr, request), "\r\n\r\n")
		return strings.TrimSpace(answer)
	}
	const none = `{"product":"plexus","allowed":false}`
	yes, no := strings.Replace(none, "}", `,"token":true}`, 1), strings.Replace(none, "}", `,"token":false}`, 1)
	for _, c := range []struct{ name, first, body, want string }{
		{"the right one", "POST / HTTP/1.1", "anvesha-v1." + token, yes},
		{"another", "POST / HTTP/1.1", "anvesha-v1." + wrong, no},
		{"one digit off", "POST / HTTP/1.1", "anvesha-v1." + token[:63] + "e", no},
		{"nothing", "POST / HTTP/1.1", "", none},
		{"no prefix", "POST / HTTP/1.1", token, none},
		{"too short", "POST / HTTP/1.1", "anvesha-v1." + token[1:], none},
		{"capitals", "POST / HTTP/1.1", "anvesha-v1." + strings.ToUpper(token), none},
		{"two of them", "POST / HTTP/1.1", "anvesha-v1." + wrong + ",anvesha-v1." + token, none},
		{"blanks up to the limit", "POST / HTTP/1.1", "anvesha-v1." + token + strings.Repeat(" ", 25), yes},
		{"blanks over the limit", "POST / HTTP/1.1", "anvesha-v1." + token + strings.Repeat(" ", 26), none},
		{"a large body", "POST / HTTP/1.1", "anvesha-v1." + token + strings.Repeat("\n", 1<<16), none},
		{"not a POST", "GET / HTTP/1.1", "anvesha-v1." + token, none},
	} {
		if got := said(ourOrigin, c.first, c.body); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for _, origin := range []string{"https://evil.example", "null", "http://" + f.addr} {
		if got := said(origin, "POST / HTTP/1.1", "anvesha-v1."+token); got != "" {
			t.Errorf("%s learns %q", origin, got)
		}
	}
	before := f.log.String()
	for range 200 {
		said(ourOrigin, "POST / HTTP/1.1", "anvesha-v1."+wrong)
	}
	rows, err := f.browsers.Extensions(t.Context())
	if err != nil || len(rows) != 0 || len(f.browsers.Refusals()) != 0 || f.log.String() != before {
		t.Errorf("rows %v, refusals %v, log %q, %v", rows, f.browsers.Refusals(), strings.TrimPrefix(f.log.String(), before), err)
	}
}

func TestD7a_OthersReadNothing(t *testing.T) {
	f := start(t, setup{origins: []string{ourOrigin, "https://evil.example"}, config: nervews.Config{OwnersPage: "http://127.0.0.1:9010/"}})
	for _, lines := range [][]string{
		{}, {from("https://evil.example")}, {from("http://" + f.addr)}, {from("null")}, {from(ourOrigin), from(ourOrigin)},
		{from(ourOrigin + ".evil.example")}, {from("https://" + strings.TrimPrefix(ourOrigin, "chrome-extension://"))},
	} {
		for _, first := range []string{"GET / HTTP/1.1", "POST / HTTP/1.1", "OPTIONS / HTTP/1.1"} {
			response, body := f.asks(t, first, append(lines, "Content-Length: 0")...)
			if response.StatusCode != http.StatusUpgradeRequired || body != "" || response.Header.Get("Upgrade") != "websocket" {
				t.Errorf("%s with %q: %d %q", first, lines, response.StatusCode, body)
			}
			for name := range response.Header {
				if strings.HasPrefix(name, "Access-Control-") || name == "Content-Type" {
					t.Errorf("%s with %q: header %s", first, lines, name)
				}
			}
		}
	}
}

// TestG14_Healthz: `ok` and nothing else, to whoever names the listener rightly.
func TestG14_Healthz(t *testing.T) {
	f := start(t, setup{})
	response, body := f.asks(t, "GET /healthz HTTP/1.1")
	if response.StatusCode != http.StatusOK || body != "ok" {
		t.Errorf("answered %d %q", response.StatusCode, body)
	}
	if response, _ = f.asks(t, "GET /healthz HTTP/1.1", from("https://evil.example")); response.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("a web page may read it")
	}
	if response, _ = f.asks(t, "GET /healthz/ HTTP/1.1"); response.StatusCode != http.StatusUpgradeRequired {
		t.Errorf("another path was answered %d", response.StatusCode)
	}
	f.admits(t, "anvesha-v1."+token, offer(token))
	if got := exchange(t, f.addr, requestText("GET /healthz HTTP/1.1", upgradeLines(hostIs(f.addr), offer(token))...)); status(got) != "101" {
		t.Errorf("an upgrade of /healthz was answered %q; any path upgrades", got)
	}
}
