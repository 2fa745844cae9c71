package httpguard

import (
	"net"
	"net/http"
	"testing"
)

func TestHostRule(t *testing.T) {
	at := func(ip string, port int) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: port} }
	for _, c := range []struct {
		name    string
		rule    *HostRule
		host    string
		allowed bool
		exactly bool
	}{
		{"literal", ListenerHosts(at("127.0.0.1", 9001)), "127.0.0.1:9001", true, true},
		{"IPv6 literal", ListenerHosts(at("::1", 9001)), "[::1]:9001", true, true},
		{"localhost", ListenerHosts(at("127.0.0.1", 9001)), "localhost:9001", true, true},
		{"another case", ListenerHosts(at("127.0.0.1", 9001)), "LocalHost:9001", true, false},
		{"another loopback", ListenerHosts(at("127.0.0.1", 9001)), "[::1]:9001", false, false},
		{"another port", ListenerHosts(at("127.0.0.1", 9001)), "127.0.0.1:9010", false, false},
		{"no port", ListenerHosts(at("127.0.0.1", 9001)), "localhost", false, false},
		{"rebinding", ListenerHosts(at("127.0.0.1", 9001)), "evil.example:9001", false, false},
		{"no host", ListenerHosts(at("127.0.0.1", 9001)), "", false, false},
		{"port 80 as bound", ListenerHosts(at("127.0.0.1", 80)), "127.0.0.1", false, false},
		{"port 80 left out", ListenerHosts(at("127.0.0.1", 80)).WithDefaultPort(), "127.0.0.1", true, true},
		{"port 80 spelled out", ListenerHosts(at("127.0.0.1", 80)).WithDefaultPort(), "localhost:80", true, true},
		{"another port left out", ListenerHosts(at("127.0.0.1", 9010)).WithDefaultPort(), "localhost", false, false},
		{"loopback name of any address", LoopbackHosts(at("10.0.0.7", 18787)), "[::1]:18787", true, true},
		{"its literal address", LoopbackHosts(at("10.0.0.7", 18787)), "10.0.0.7:18787", false, false},
		{"no TCP address", ListenerHosts(&net.UnixAddr{Name: "x", Net: "unix"}), "x", false, false},
		{"before it serves", nil, "", false, false},
	} {
		if got := c.rule.Allows(c.host); got != c.allowed {
			t.Errorf("%s: %v, want %v", c.name, got, c.allowed)
		}
		if got := c.rule.AllowsExactly(c.host); got != c.exactly {
			t.Errorf("%s, exactly: %v, want %v", c.name, got, c.exactly)
		}
	}
}

func TestOrigins(t *testing.T) {
	accepts := func(origin string) bool { return origin == "http://127.0.0.1:9010" }
	for _, c := range []struct {
		origins     []string
		host        string
		ifAny, same bool
	}{
		{nil, "127.0.0.1:9010", true, false},
		{[]string{"http://127.0.0.1:9010"}, "127.0.0.1:9010", true, true},
		{[]string{"http://127.0.0.1:9010"}, "localhost:9010", true, false},
		{[]string{"https://127.0.0.1:9010"}, "127.0.0.1:9010", false, false},
		{[]string{"http://127.0.0.1:9010", "http://127.0.0.1:9010"}, "127.0.0.1:9010", false, false},
		{[]string{"null"}, "127.0.0.1:9010", false, false},
		{[]string{""}, "127.0.0.1:9010", false, false},
		{[]string{"http://"}, "", false, false},
	} {
		r := &http.Request{Host: c.host, Header: http.Header{"Origin": c.origins}}
		if got := OriginIfAny(r.Header, accepts); got != c.ifAny {
			t.Errorf("%q: %v, want %v", c.origins, got, c.ifAny)
		}
		if got := SameOrigin(r); got != c.same {
			t.Errorf("%q at %q: %v, want %v", c.origins, c.host, got, c.same)
		}
	}
}
