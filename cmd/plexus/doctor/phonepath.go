package doctor

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"plexus/adapters/novaclient"
	"plexus/domain/pairing"
)

// expiryNotice is how long before its end a certificate is reported.
const expiryNotice = 14 * 24 * time.Hour

// listener says hello to the client listener without a proxy between.
func (s Subject) listener(ctx context.Context) []Finding {
	const check = "client listener"
	if !s.Running {
		return []Finding{skipped(check, "No host runs.")}
	}
	if s.Server != (pairing.Server{}) {
		return []Finding{s.judgeHello(check, s.hello(ctx, novaclient.Options{Server: s.Server, Dial: s.Client}))}
	}
	// Without a public URL no name would be accepted, so it only connects.
	ctx, stop := context.WithTimeout(ctx, stepLimit)
	defer stop()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.Client.String())
	if err == nil {
		_ = conn.Close() // nothing was said
		err = &novaclient.End{Code: novaclient.CodeRejected}
	}
	return []Finding{s.judgeHello(check, err)}
}

// phonePath goes from the phone's side: name, address, certificate, upgrade, hello.
// Each step needs the one before, so a fault ends the check.
func (s Subject) phonePath(ctx context.Context) []Finding {
	if s.Server == (pairing.Server{}) {
		return []Finding{skipped("way", "Without a public URL there is no way to try.")}
	}
	hello := func(ctx context.Context) Finding {
		return s.judgeHello("hello", s.hello(ctx, novaclient.Options{Server: s.Server, Roots: s.Roots, DialContext: s.Dial}))
	}
	var found []Finding
	for _, step := range []func(context.Context) Finding{s.name, s.certificate, hello} {
		one := step(ctx)
		found = append(found, one)
		if one.Level == Fault {
			break
		}
	}
	return found
}

func (s Subject) name(ctx context.Context) Finding {
	host := s.Server.Host()
	if _, err := netip.ParseAddr(host); err == nil {
		return ok("name", host+" is an address; no name is looked up.")
	}
	ctx, stop := context.WithTimeout(ctx, stepLimit)
	defer stop()
	addrs, err := s.Lookup(ctx, host)
	switch {
	case err != nil || len(addrs) == 0:
		return fault("name", host+" leads nowhere: the name is not found.",
			"See that it is spelt right. A name of a tailnet is found only while Tailscale runs, with MagicDNS on.")
	case slices.ContainsFunc(addrs, func(a netip.Addr) bool { return a.Unmap().IsLoopback() || a.IsUnspecified() }):
		return warning("name", fmt.Sprintf("%s leads to %s, which means this machine here and the phone itself on a phone.", host, list(addrs)),
			"Phones need a name that leads to this machine from elsewhere; look at /etc/hosts.")
	}
	return ok("name", fmt.Sprintf("%s leads to %s.", host, list(addrs)))
}

func list(addrs []netip.Addr) string {
	texts := make([]string, 0, len(addrs))
	for _, a := range addrs {
		texts = append(texts, a.Unmap().String())
	}
	return strings.Join(texts, ", ")
}

// certificate makes the TLS handshake that a phone makes.
func (s Subject) certificate(ctx context.Context) Finding {
	const check = "tls"
	address := net.JoinHostPort(s.Server.Host(), strconv.Itoa(int(portOf(s.Server))))
	ctx, stop := context.WithTimeout(ctx, stepLimit)
	defer stop()
	raw, err := s.Dial(ctx, "tcp", address)
	if err != nil {
		return fault(check, "Nothing answers at "+address+": "+err.Error()+".", "Start the TLS proxy before the client listener; with Tailscale: plexus setup tailscale.")
	}
	defer raw.Close() // only the handshake was wanted
	conn := tls.Client(raw, &tls.Config{
		ServerName: s.Server.Host(), RootCAs: s.Roots, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, Time: s.Now,
	})
	if err := conn.HandshakeContext(ctx); err != nil {
		return s.noCertificate(address, err)
	}
	leaf := conn.ConnectionState().PeerCertificates[0]
	detail := fmt.Sprintf("The certificate of %s is good from %s to %s.", address, day(leaf.NotBefore), day(leaf.NotAfter))
	if leaf.NotAfter.Sub(s.Now()) < expiryNotice {
		return warning(check, detail, "It ends soon. See why it has not been renewed.")
	}
	return ok(check, detail)
}

func day(t time.Time) string { return t.UTC().Format("2 January 2006") }

func (s Subject) noCertificate(address string, err error) Finding {
	const check = "tls"
	var unknown x509.UnknownAuthorityError
	var wrongName x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil && s.Now().Before(invalid.Cert.NotBefore):
		return fault(check, fmt.Sprintf("The certificate of %s is good only from %s on.", address, day(invalid.Cert.NotBefore)), "See whether the clock of this machine is right.")
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil:
		return fault(check, fmt.Sprintf("The certificate of %s ended on %s.", address, day(invalid.Cert.NotAfter)), "Renew it. Tailscale renews its own when its serve command is run again.")
	case errors.As(err, &wrongName):
		return fault(check, "The certificate at "+address+" is for another name.", "Set public_url to the name that the certificate is for, or get one for this name.")
	case errors.As(err, &unknown):
		return fault(check, "The certificate of "+address+" is not from an authority that this machine trusts, and a phone will not trust it either.", "Use a certificate of a public authority, such as Tailscale's.")
	}
	return fault(check, "No TLS at "+address+": "+err.Error()+".", "The proxy has to speak TLS and HTTP/1.1 there.")
}

// hello says hello with a token that nobody has. The error is never nil.
func (s Subject) hello(ctx context.Context, o novaclient.Options) error {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails: see crypto/rand
	o.Token = pairing.NewDeviceToken(random)
	ctx, stop := context.WithTimeout(ctx, stepLimit)
	defer stop()
	conn, err := novaclient.Dial(ctx, o)
	if err != nil {
		return err
	}
	conn.Close()
	return errLetIn
}

var errLetIn = errors.New("a made-up token was let in")

// judgeHello judges how a hello ended; the right answer is a refusal of its token.
func (s Subject) judgeHello(check string, err error) Finding {
	var refused *novaclient.RefusedError
	var end *novaclient.End
	switch {
	case errors.Is(err, errLetIn):
		return fault(check, "A made-up token was let in there, so it is not this host that answers.", "See where the proxy leads to.")
	case errors.As(err, &refused):
		return judgeStatus(check, refused.Status)
	case errors.As(err, &end) && end.Code == novaclient.CodeRejected:
		return ok(check, "It answers, and refuses a made-up token as it should.")
	case errors.As(err, &end) && end.Code != 0:
		return fault(check, fmt.Sprintf("A hello is ended with code %d, and should be with %d.", end.Code, novaclient.CodeRejected), "See whether it is this host that answers, and its log.")
	}
	return fault(check, "No answer to a hello: "+err.Error()+".", "See whether the proxy leads to the client listener, and the host's log.")
}

// judgeStatus judges the status that an upgrade was answered with.
func judgeStatus(check string, status int) Finding {
	detail := fmt.Sprintf("The upgrade to WebSocket is answered %d %s.", status, http.StatusText(status))
	switch status {
	case http.StatusForbidden:
		return fault(check, detail, "The name that the proxy hands on is not accepted. Set public_url to it, or pair a phone with it.")
	case http.StatusUpgradeRequired:
		return fault(check, detail, "The proxy does not hand the upgrade on. It has to speak HTTP/1.1 to the client and to the host.")
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return fault(check, detail, "The proxy answers, and nothing behind it: start the host, and see that the proxy leads to its client listener.")
	case http.StatusServiceUnavailable:
		return fault(check, detail, "The owner wants no phone for now (see the page), or every place is taken.")
	}
	return fault(check, detail, "Something else than this host answers there. See where the proxy leads to.")
}
