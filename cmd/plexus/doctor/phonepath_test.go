package doctor

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"plexus/domain/pairing"
)

const name = "box.tail1234.ts.net"

// proxy is a TLS server of that name. Its certificate is good from one time to
// another, and for name unless told otherwise.
type proxy struct {
	addr  string
	roots *x509.CertPool
}

func startProxy(t *testing.T, h http.Handler, from, to time.Time, names ...string) proxy {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, DNSNames: append(names, "")[:max(1, len(names))],
		NotBefore: from, NotAfter: to, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	if len(names) == 0 {
		template.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(h)
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	srv.Config.ErrorLog = nil
	srv.StartTLS()
	t.Cleanup(srv.Close)
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	return proxy{srv.Listener.Addr().String(), roots}
}

// subject is a host whose public URL leads to the proxy.
func (p proxy) subject(t *testing.T) Subject {
	t.Helper()
	server, err := pairing.ParseServer("wss://" + name)
	if err != nil {
		t.Fatal(err)
	}
	return Subject{
		Server: server, Roots: p.roots, Now: time.Now,
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("100.64.0.7")}, nil
		},
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, p.addr)
		},
	}
}

// refusing ends every hello with a code, as a host does.
func refusing(code websocket.StatusCode) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		_, _, _ = ws.Read(r.Context()) // the hello
		_ = ws.Close(code, "")
	})
}

func answers(code int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
}

func last(t *testing.T, found []Finding) Finding {
	t.Helper()
	if len(found) == 0 {
		t.Fatal("nothing was found")
	}
	return found[len(found)-1]
}

func TestWay_WholeAndRight(t *testing.T) {
	now := time.Now()
	found := startProxy(t, refusing(4003), now.Add(-time.Hour), now.Add(90*24*time.Hour)).subject(t).phonePath(t.Context())
	if len(found) != 3 {
		t.Fatalf("found %+v", found)
	}
	for _, f := range found {
		if f.Level != OK || f.Advice != "" {
			t.Errorf("%+v", f)
		}
	}
	if !strings.Contains(found[1].Detail, now.Add(90*24*time.Hour).UTC().Format("2 January 2006")) {
		t.Errorf("no date in %q", found[1].Detail)
	}
}

func TestWay_HelloAndUpgrade(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name    string
		handler http.Handler
		want    string
	}{
		{"another code", refusing(1008), "code 1008"},
		{"plain GET handed on", answers(http.StatusUpgradeRequired), "HTTP/1.1"},
		{"name not accepted", answers(http.StatusForbidden), "public_url"},
		{"nothing behind the proxy", answers(http.StatusBadGateway), "start the host"},
		{"no phone wanted", answers(http.StatusServiceUnavailable), "no phone for now"},
		{"another server", answers(http.StatusOK), "Something else"},
		{"moved away", http.RedirectHandler("https://elsewhere.example/", http.StatusFound), "Something else"},
	} {
		f := last(t, startProxy(t, c.handler, now.Add(-time.Hour), now.Add(90*24*time.Hour)).subject(t).phonePath(t.Context()))
		if f.Check != "hello" || f.Level != Fault || !strings.Contains(f.Detail+f.Advice, c.want) || f.Advice == "" {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}

func TestWay_Certificate(t *testing.T) {
	now := time.Now()
	year := 365 * 24 * time.Hour
	for _, c := range []struct {
		name     string
		from, to time.Time
		names    []string
		strange  bool // nobody vouches for it
		level    Level
		want     string
	}{
		{"ends soon", now.Add(-time.Hour), now.Add(3 * 24 * time.Hour), nil, false, Warning, "ends soon"},
		{"ended", now.Add(-year), now.Add(-time.Hour), nil, false, Fault, "ended on"},
		{"not yet good", now.Add(time.Hour), now.Add(year), nil, false, Fault, "clock"},
		{"another name", now.Add(-time.Hour), now.Add(year), []string{"other.example"}, false, Fault, "another name"},
		{"unknown authority", now.Add(-time.Hour), now.Add(year), nil, true, Fault, "trusts"},
	} {
		s := startProxy(t, refusing(4003), c.from, c.to, c.names...).subject(t)
		if c.strange {
			s.Roots = x509.NewCertPool()
		}
		found := s.phonePath(t.Context())
		if len(found) < 2 || found[1].Level != c.level || !strings.Contains(found[1].Detail+found[1].Advice, c.want) {
			t.Errorf("%s: %+v", c.name, found)
		}
		if (c.level == Fault) != (len(found) == 2) {
			t.Errorf("%s: it went on to %+v", c.name, last(t, found))
		}
	}
}

func TestWay_NameAndAddress(t *testing.T) {
	now := time.Now()
	p := startProxy(t, refusing(4003), now.Add(-time.Hour), now.Add(90*24*time.Hour))
	s := p.subject(t)
	s.Lookup = func(context.Context, string) ([]netip.Addr, error) { return nil, errors.New("no such host") }
	if f := last(t, s.phonePath(t.Context())); f.Level != Fault || !strings.Contains(f.Detail, "leads nowhere") {
		t.Errorf("%+v", f)
	}
	s.Lookup = func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.1.1")}, nil
	}
	if found := s.phonePath(t.Context()); found[0].Level != Warning || !strings.Contains(found[0].Detail, "127.0.1.1") || len(found) != 3 {
		t.Errorf("%+v", found)
	}
	s = p.subject(t)
	s.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("connection refused") }
	if f := last(t, s.phonePath(t.Context())); f.Check != "tls" || f.Level != Fault || !strings.Contains(f.Advice, "plexus setup tailscale") {
		t.Errorf("%+v", f)
	}
	s = p.subject(t)
	s.Dial = func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		_ = there.Close() // no TLS at all
		return here, nil
	}
	if f := last(t, s.phonePath(t.Context())); f.Check != "tls" || f.Level != Fault || !strings.Contains(f.Detail, "No TLS") {
		t.Errorf("%+v", f)
	}
	s.Server = pairing.Server{}
	if f := last(t, s.phonePath(t.Context())); f.Level != Skipped {
		t.Errorf("%+v", f)
	}
}
