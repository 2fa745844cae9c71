package pairing

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"plexus/domain/secret"
)

// MaxServerLength bounds a server address, in bytes.
const MaxServerLength = 2048

// clientPath is the one path of a server address.
const clientPath = "/client/v1"

// LegacyValidity is how far ahead the expiry of a legacy payload lies. The host
// does not enforce it; one known client requires the member.
const LegacyValidity = 2 * time.Minute

// AddressError names the part of a server address that is wrong. It repeats
// nothing of the address, which may hold a password.
type AddressError struct {
	Part   string // "length", "scheme", "user", "host", "port", "path", "query", "fragment" or "address"
	Reason string // a sentence for the owner
}

// Error names the part and says what is wrong with it.
func (e *AddressError) Error() string {
	if e.Part == "address" {
		return "server address: " + e.Reason
	}
	return "server address: " + e.Part + ": " + e.Reason
}

// Server is a checked address, wss://host[:port]/client/v1. The zero value is
// no address.
type Server struct {
	host string // lower case; an IPv6 address without its brackets
	port uint16 // 0: none was given
}

// ParseServer checks an address and normalizes it: white space around it goes,
// scheme and host become lower case, the path becomes /client/v1. The error is
// an *AddressError.
func ParseServer(s string) (Server, error) {
	s = strings.TrimSpace(s)
	if len(s) > MaxServerLength {
		return Server{}, &AddressError{"length", "It is longer than 2048 characters."}
	}
	u, err := url.Parse(s)
	if err != nil {
		return Server{}, &AddressError{"address", "It is no URL; it should look like wss://name.example.ts.net."}
	}
	if err := checkParts(s, u); err != nil {
		return Server{}, err
	}
	host, err := checkHost(u.Host, u.Hostname())
	if err != nil {
		return Server{}, err
	}
	if u.Port() == "" && !strings.HasSuffix(u.Host, ":") {
		return Server{host: host}, nil
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil || port == 0 {
		return Server{}, &AddressError{"port", "It must be a number from 1 to 65535."}
	}
	return Server{host: host, port: uint16(port)}, nil
}

func checkParts(s string, u *url.URL) error {
	path := u.EscapedPath()
	switch {
	case u.Scheme != "wss":
		return &AddressError{"scheme", "It must be wss, because the phone's connection has to be encrypted."}
	case u.Host == "":
		return &AddressError{"host", "There is none; the address should look like wss://name.example.ts.net."}
	case u.User != nil:
		return &AddressError{"user", "There must be no user name or password before the host."}
	case strings.Contains(s, "?"):
		return &AddressError{"query", "There must be nothing after a question mark."}
	case strings.Contains(s, "#"):
		return &AddressError{"fragment", "There must be nothing after a hash sign."}
	case path != "" && path != "/" && path != clientPath:
		return &AddressError{"path", "It must be empty or /client/v1."}
	}
	return nil
}

func checkHost(authority, host string) (string, error) {
	host = strings.ToLower(host)
	if ip, err := netip.ParseAddr(host); err == nil {
		bracketed := strings.HasPrefix(authority, "[")
		if ip.Is6() != bracketed || ip.Zone() != "" {
			return "", &AddressError{"host", "It is no address that a phone could use."}
		}
		if ip = ip.Unmap(); ip.IsLoopback() || ip.IsUnspecified() {
			return "", ownMachine()
		}
		return host, nil
	}
	const digits, letters = "0123456789", "abcdefghijklmnopqrstuvwxyz"
	labels := strings.Split(host, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || strings.Trim(label, digits+letters+"-_") != "" {
			return "", &AddressError{"host", "A name has letters, digits and hyphens between its dots; write other letters in their xn-- form."}
		}
	}
	last := labels[len(labels)-1]
	if last == "localhost" {
		return "", ownMachine()
	}
	hex, isHex := strings.CutPrefix(last, "0x")
	if strings.Trim(last, digits) == "" || isHex && strings.Trim(hex, digits+"abcdef") == "" { // 127.1, 0x7f.1: some resolvers take them for addresses
		return "", &AddressError{"host", "It looks like an IP address and is none."}
	}
	return host, nil
}

func ownMachine() error {
	return &AddressError{"host", "This address means the phone itself; use the name by which the phone reaches this machine."}
}

// String is the whole address, as the QR carries it.
func (s Server) String() string { return "wss://" + s.hostPort(s.port) + clientPath }

// Host is the name or IP address without the port, in lower case.
func (s Server) Host() string { return s.host }

// Authority is host or host:port, without the default port 443.
func (s Server) Authority() string {
	if s.port == 443 {
		return s.hostPort(0)
	}
	return s.hostPort(s.port)
}

// Origin is what a browser sends from a page of that server: https://host[:port].
func (s Server) Origin() string { return "https://" + s.Authority() }

func (s Server) hostPort(port uint16) string {
	host := s.host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port == 0 {
		return host
	}
	return host + ":" + strconv.Itoa(int(port))
}

// Payload is the text of a QR code. It holds the code, so it is a secret too.
type Payload struct{ secret.Text }

// Payload is what the invitation's QR carries. No member needs escaping.
func (i Invitation) Payload() Payload { return Payload{secret.New(i.payload("}"))} }

// LegacyPayload is Payload with an expiry LegacyValidity after now, in Unix
// milliseconds, for a client that requires one.
func (i Invitation) LegacyPayload(now time.Time) Payload {
	expiry := strconv.FormatInt(now.Add(LegacyValidity).UnixMilli(), 10)
	return Payload{secret.New(i.payload(`,"expires_at":` + expiry + "}"))}
}

func (i Invitation) payload(end string) string {
	return `{"type":"nova.pair","version":1,"server":"` + i.Server.String() + `","code":"` + i.Code.Reveal() + `"` + end
}
