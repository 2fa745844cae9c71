package novaws

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"plexus/domain/admission"
	"plexus/domain/nova"
	"plexus/domain/pairing"
	"plexus/domain/secret"
	"plexus/domain/sessions"
	"plexus/ports"
	"plexus/usecases/devices"
	"plexus/usecases/personal/hub"
)

// fakeHost is a host that lives in memory. The hooks, where set, take the place of
// what it would do.
type fakeHost struct {
	authenticate func(ctx context.Context) error
	attach       func(link ports.ClientLink) bool
	deliver      func(ctx context.Context, c nova.Control) error
	onAttach     func() // at Attach
	audio        func()
	snapshot     func(ctx context.Context) (nova.PersonalState, error)
	leave        func()
	input        nova.Input
	alone        bool // there is no personal host
	redeem       func(ctx context.Context) error
	noAttempts   bool
	paused       bool

	mu          sync.Mutex
	links       map[ports.ClientLink]devices.Identity
	attached    int
	detached    int
	controls    []nova.Control
	attachments []*fakeEndpoint
	refused     []admission.Cause
	peers       []string // of refused
	keepsOut    map[pairing.DeviceID]bool
	code        pairing.Code // open; empty for none
	tokens      map[string]pairing.Device
	attempts    int
}

func newFakeHost() *fakeHost {
	return &fakeHost{
		input: nova.TextInput,
		links: map[ports.ClientLink]devices.Identity{}, keepsOut: map[pairing.DeviceID]bool{},
		code:   pairing.Code{Text: secret.New(pairCode)},
		tokens: map[string]pairing.Device{deviceToken: {ID: pairing.DeviceID{1}, Name: "phone", CreatedAt: time.UnixMilli(1)}},
	}
}

func (d *fakeHost) Authenticate(ctx context.Context, token pairing.DeviceToken) (devices.Identity, error) {
	if d.authenticate != nil {
		if err := d.authenticate(ctx); err != nil {
			return devices.Identity{}, err
		}
	}
	if token.Reveal() == masterToken {
		return devices.Identity{Master: true}, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if device, ok := d.tokens[token.Reveal()]; ok {
		return devices.Identity{Device: device}, nil
	}
	return devices.Identity{}, devices.ErrTokenUnknown
}

func (d *fakeHost) AttachClient(_ context.Context, who devices.Identity, link ports.ClientLink) (func(), bool) {
	if d.attach != nil && !d.attach(link) {
		return nil, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.attached++
	d.links[link] = who
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.detached++
		delete(d.links, link)
	}, true
}

// personalHost is what the server is given as its personal host.
func (d *fakeHost) personalHost() PersonalHost {
	if d.alone {
		return nil
	}
	return d
}

func (d *fakeHost) Input() nova.Input { return d.input }

// Admits leaves the methods of the page out that tests ask for.
func (d *fakeHost) Admits(method string) bool {
	return !slices.Contains([]string{"sources.add", "connector.status", "feishu.status", "discovery.configure", "no.such"}, method)
}

func (d *fakeHost) Attach(link ports.PersonalLink, terms hub.Terms) hub.Endpoint {
	if d.onAttach != nil {
		d.onAttach()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	s := &fakeEndpoint{host: d, link: link, terms: terms}
	d.attachments = append(d.attachments, s)
	return s
}

// fakeEndpoint is one attached client of the host.
type fakeEndpoint struct {
	host  *fakeHost
	link  ports.PersonalLink
	terms hub.Terms

	heard int // bytes of audio
	left  int
}

func (s *fakeEndpoint) Deliver(ctx context.Context, c nova.Control) error {
	d := s.host
	d.mu.Lock()
	d.controls = append(d.controls, c)
	d.mu.Unlock()
	if d.deliver != nil {
		return d.deliver(ctx, c)
	}
	return nil
}

func (s *fakeEndpoint) Audio(pcm []byte) {
	if s.host.audio != nil {
		s.host.audio()
	}
	s.host.mu.Lock()
	defer s.host.mu.Unlock()
	s.heard += len(pcm)
}

func (s *fakeEndpoint) Snapshot(ctx context.Context) (nova.PersonalState, error) {
	return s.host.snapshot(ctx)
}

func (s *fakeEndpoint) Leave() {
	s.host.mu.Lock()
	s.left++
	s.host.mu.Unlock()
	if s.host.leave != nil {
		s.host.leave()
	}
}

// last gives the client that was attached last.
func (d *fakeHost) last() *fakeEndpoint {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.attachments[len(d.attachments)-1]
}

func (d *fakeHost) MayEnter(who devices.Identity) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.keepsOut[who.Device.ID]
}

func (d *fakeHost) TurnAway(_ context.Context, who devices.Identity) string {
	if who.Master {
		return ""
	}
	return who.Device.Name
}

func (d *fakeHost) AcceptsHost(name string) bool     { return name == ownName }
func (d *fakeHost) AcceptsOrigin(origin string) bool { return origin == "https://"+ownName }
func (d *fakeHost) NoPhone() bool                    { return d.paused }

func (d *fakeHost) refuse(cause admission.Cause, peer string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refused, d.peers = append(d.refused, cause), append(d.peers, peer)
}

var errNo = errors.New("no")

func (d *fakeHost) AuthenticateMaster(_ context.Context, token pairing.MasterToken) error {
	if token.Reveal() != masterToken {
		return devices.ErrTokenUnknown
	}
	return nil
}

func (d *fakeHost) CountAttempt() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.attempts++
	return !d.noAttempts
}

func (d *fakeHost) Redeem(ctx context.Context, code pairing.Code, name string) (pairing.DeviceToken, pairing.Device, error) {
	if d.redeem != nil {
		if err := d.redeem(ctx); err != nil {
			return pairing.DeviceToken{}, pairing.Device{}, err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.code.Empty() || code.Reveal() != d.code.Reveal() {
		return pairing.DeviceToken{}, pairing.Device{}, devices.ErrInvitation
	}
	d.code = pairing.Code{}
	device := pairing.Device{ID: pairing.DeviceID{2}, Name: name, CreatedAt: time.UnixMilli(2)}
	d.tokens[freshToken] = device
	return pairing.DeviceToken{Text: secret.New(freshToken)}, device, nil
}

func (d *fakeHost) CreateInvitation(_ context.Context, server string) (pairing.Invitation, bool, error) {
	address, err := pairing.ParseServer(server)
	if err != nil {
		return pairing.Invitation{}, false, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.code = pairing.Code{Text: secret.New(pairCode)}
	return pairing.Invitation{Server: address, Code: d.code}, false, nil
}

func (d *fakeHost) CancelInvitation(_ context.Context, id pairing.InvitationID) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.code.Empty() || d.code.ID() != id {
		return false, nil
	}
	d.code = pairing.Code{}
	return true, nil
}

func (d *fakeHost) ActiveCode(code secret.Text) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.code.Empty() && d.code.Reveal() == code.Reveal()
}

func (d *fakeHost) Devices(context.Context) ([]devices.Status, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []devices.Status
	for _, device := range d.tokens {
		all = append(all, devices.Status{Device: device})
	}
	return all, nil
}

func (d *fakeHost) Revoke(_ context.Context, id pairing.DeviceID) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := false
	for token, device := range d.tokens {
		if device.ID == id {
			known = true
			delete(d.tokens, token)
		}
	}
	if !known {
		return ports.ErrDeviceUnknown
	}
	for link, who := range d.links {
		if !who.Master && who.Device.ID == id {
			link.Close(sessions.DeviceRevoked)
		}
	}
	return nil
}

// admissions counts the clients that were let in, and those that have left.
func (d *fakeHost) admissions() (attached, detached int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.attached, d.detached
}

func (d *fakeHost) delivered() []nova.Control {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]nova.Control(nil), d.controls...)
}
