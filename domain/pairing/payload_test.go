package pairing

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func mustServer(t *testing.T, s string) Server {
	t.Helper()
	server, err := ParseServer(s)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return server
}

func TestCR03_PayloadIsByteExact(t *testing.T) {
	i := Invitation{Code: code(0x0f), Server: mustServer(t, "wss://host.tailnet.ts.net:8443"), CreatedAt: testTime()}
	want := `{"type":"nova.pair","version":1,"server":"wss://host.tailnet.ts.net:8443/client/v1","code":"0000000000000000000000000000000f"}`
	if got := i.Payload().Reveal(); got != want {
		t.Errorf("the payload is\n%s, want\n%s", got, want)
	}
	legacy := strings.TrimSuffix(want, "}") + `,"expires_at":1772357520000}`
	if got := i.LegacyPayload(testTime()).Reveal(); got != legacy {
		t.Errorf("the legacy payload is\n%s, want\n%s", got, legacy)
	}
}

func TestCR04_ServerAddresses(t *testing.T) {
	for _, c := range []struct{ in, url, origin string }{
		{"wss://box.tail1234.ts.net", "wss://box.tail1234.ts.net/client/v1", "https://box.tail1234.ts.net"},
		{"wss://box.tail1234.ts.net/", "wss://box.tail1234.ts.net/client/v1", "https://box.tail1234.ts.net"},
		{"wss://box.tail1234.ts.net:8443/client/v1", "wss://box.tail1234.ts.net:8443/client/v1", "https://box.tail1234.ts.net:8443"},
		{" WSS://Box.Tail1234.TS.net \n", "wss://box.tail1234.ts.net/client/v1", "https://box.tail1234.ts.net"},
		{"wss://box:443", "wss://box:443/client/v1", "https://box"},
		{"wss://192.168.1.7", "wss://192.168.1.7/client/v1", "https://192.168.1.7"},
		{"wss://[fd7a:115c::1]:8443", "wss://[fd7a:115c::1]:8443/client/v1", "https://[fd7a:115c::1]:8443"},
		{"wss://xn--bcher-kva.example", "wss://xn--bcher-kva.example/client/v1", "https://xn--bcher-kva.example"},
		{"wss://3d-printer", "wss://3d-printer/client/v1", "https://3d-printer"},
	} {
		s, err := ParseServer(c.in)
		if err != nil || s.String() != c.url || s.Origin() != c.origin {
			t.Errorf("%q: %v, origin %s, %v", c.in, s, s.Origin(), err)
		}
	}
}

func TestCR04_BadServerAddressNamesThePart(t *testing.T) {
	for in, part := range map[string]string{
		"":                          "scheme",
		"box.tail1234.ts.net":       "scheme",
		"ws://x/client/v1":          "scheme",
		"https://x":                 "scheme",
		"wss:x":                     "host",
		"wss://":                    "host",
		"wss:///client/v1":          "host",
		"wss://u:p@x/client/v1":     "user",
		"wss://@x":                  "user",
		"wss://x/client/v1?c=1":     "query",
		"wss://x?":                  "query",
		"wss://x/client/v1#a":       "fragment",
		"wss://x#":                  "fragment",
		"wss://x/other":             "path",
		"wss://x/client/v1/":        "path",
		"wss://x//client/v1":        "path",
		"wss://x/client%2fv1":       "path",
		"wss://x/Client/v1":         "path",
		"wss://127.0.0.1/client/v1": "host",
		"wss://127.9.9.9":           "host",
		"wss://0.0.0.0:9010":        "host",
		"wss://localhost":           "host",
		"wss://LOCALHOST:1":         "host",
		"wss://box.localhost":       "host",
		"wss://[::1]":               "host",
		"wss://[::]":                "host",
		"wss://[::ffff:127.0.0.1]":  "host",
		"wss://[fe80::1%25eth0]":    "host",
		"wss://127.1":               "host",
		"wss://2130706433":          "host",
		"wss://0x7f.1":              "host",
		"wss://0x7f000001":          "host",
		"wss://bücher.example":      "host",
		"wss://a b":                 "address",
		"wss://a..b":                "host",
		"wss://.":                   "host",
		"wss://-a":                  "host",
		"wss://a%41":                "address",
		"wss://x:":                  "port",
		"wss://x:0":                 "port",
		"wss://x:65536":             "port",
		"wss://x:http":              "address",
		"wss://x\x00":               "address",
		"wss://" + longName(2048-5): "length",
		"wss://a\\b":                "address",
	} {
		_, err := ParseServer(in)
		var bad *AddressError
		if !errors.As(err, &bad) || bad.Part != part {
			t.Errorf("%q: %v, want a fault of the %s", in, err, part)
			continue
		}
		if strings.Contains(err.Error(), "u:p") || !strings.Contains(err.Error(), part) || !strings.HasSuffix(bad.Reason, ".") {
			t.Errorf("%q: the error reads %q", in, err)
		}
	}
	if _, err := ParseServer("wss://" + longName(2048-6)); err != nil {
		t.Errorf("2048 characters: %v", err)
	}
}

// longName gives a host name of n characters.
func longName(n int) string { return strings.Repeat("abc.", n)[:n-1] + "x" }

// FuzzServerURL: no panic, and whatever is taken comes out as an address that
// is taken unchanged, needs no escape in JSON and leaves nothing to a guess.
func FuzzServerURL(f *testing.F) {
	for _, seed := range []string{
		"wss://box.tail1234.ts.net:8443/client/v1", "wss://[fd7a:115c::1]", "wss://u:p@x", "ws://x", "wss://x?", "wss://127.1", " WSS://X ", "wss://x:00443",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		s, err := ParseServer(in)
		if err != nil {
			var bad *AddressError
			if !errors.As(err, &bad) {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		out := s.String()
		again, err := ParseServer(out)
		if err != nil || again != s || again.String() != out {
			t.Fatalf("%q came out as %q, which reads as %q, %v", in, out, again, err)
		}
		payload := Invitation{Server: s, Code: code(1)}.Payload().Reveal()
		var read struct{ Server string }
		if err := json.Unmarshal([]byte(payload), &read); err != nil || read.Server != out {
			t.Fatalf("%q is not the payload of %q: %v", payload, out, err)
		}
		if !strings.HasPrefix(out, "wss://") || !strings.HasSuffix(out, "/client/v1") || strings.ContainsAny(out, "?#@%\\ ") {
			t.Fatalf("%q came out as %q", in, out)
		}
	})
}
