package devices

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"plexus/domain/pairing"
	"plexus/usecases/syncx"
)

// Keys of what the owner sets on the page.
const (
	keyPublicURL     = "public_url"
	keyAcceptedHosts = "accepted_hosts" // authorities, one a line, oldest first
	keyNoPhone       = "no_phone"       // "true" or absent
)

// MaxAcceptedHosts bounds the list; one more drops the oldest.
const MaxAcceptedHosts = 32

// ErrSettingFixed: a flag, the environment or the configuration file has set it.
var ErrSettingFixed = errors.New("setting fixed outside the page")

// Addresses are the names by which phones reach this host, and whether the owner
// wants any phone for now. Memory holds what the store has.
type Addresses struct {
	deps    Deps
	changes *syncx.Notifier
	storing *syncx.Semaphore // of one, so that store and memory change in the same order

	mu      sync.Mutex       // guards what follows; never held during a call to a port
	public  pairing.Server   // zero: none
	fixed   bool             // public comes from outside the page
	hosts   []pairing.Server // under which phones were paired, and of former public addresses
	invited pairing.Server   // of the open invitation; zero: none is open
	noPhone bool
}

// loadAddresses reads what the owner set; public, when not "", counts instead of
// the address that is stored.
func loadAddresses(ctx context.Context, deps Deps, public string, changes *syncx.Notifier) (*Addresses, error) {
	a := &Addresses{deps: deps, changes: changes, storing: syncx.NewSemaphore(1), fixed: public != ""}
	stored, err := deps.Settings.Settings(ctx)
	if err != nil {
		return nil, fmt.Errorf("load settings: %w", err)
	}
	if !a.fixed {
		public = stored[keyPublicURL]
	}
	if public != "" {
		server, err := pairing.ParseServer(public)
		switch {
		case err == nil:
			a.public = server
		case a.fixed:
			return nil, fmt.Errorf("public_url: %w", err)
		default:
			deps.Log.Error("the stored public address cannot be used", "error", err)
		}
	}
	for line := range strings.Lines(stored[keyAcceptedHosts]) {
		if server, err := pairing.ParseServer("wss://" + strings.TrimSpace(line)); err == nil {
			a.hosts = append(a.hosts, server)
		}
	}
	a.noPhone = stored[keyNoPhone] == "true"
	return a, nil
}

// PublicURL is the address by which clients reach this host. ok is false when
// there is none; fixed says that it comes from a flag, the environment or the
// configuration file.
func (a *Addresses) PublicURL() (server pairing.Server, fixed, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.public, a.fixed, a.public != pairing.Server{}
}

// SetPublicURL stores the address, durably; "" takes it away. The host of the one
// that it replaces stays accepted. A bad one is a *pairing.AddressError, one that is
// fixed ErrSettingFixed.
func (a *Addresses) SetPublicURL(ctx context.Context, address string) error {
	var server pairing.Server
	if address != "" {
		var err error
		if server, err = pairing.ParseServer(address); err != nil {
			return fmt.Errorf("set public URL: %w", err)
		}
	}
	if err := a.setPublic(ctx, server); err != nil {
		return fmt.Errorf("set public URL: %w", err)
	}
	return nil
}

// setPublic stores a server as the public one; the zero one takes it away.
func (a *Addresses) setPublic(ctx context.Context, server pairing.Server) error {
	value := ""
	if server != (pairing.Server{}) {
		value = server.String()
		if old, fixed, ok := a.PublicURL(); ok && !fixed && old.Authority() != server.Authority() {
			if _, err := a.accept(ctx, old); err != nil {
				return err
			}
		}
	}
	return a.changeSetting(ctx, func() (string, string, func(), error) {
		if a.fixed {
			return "", "", nil, ErrSettingFixed
		}
		return keyPublicURL, value, func() { a.public = server }, nil
	})
}

// NoPhone reports whether the owner wants no client for now.
func (a *Addresses) NoPhone() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.noPhone
}

// SetNoPhone stores whether clients are turned away, durably. It ends no
// connection that is open.
func (a *Addresses) SetNoPhone(ctx context.Context, on bool) error {
	err := a.changeSetting(ctx, func() (key, value string, apply func(), err error) {
		if on {
			value = "true"
		}
		return keyNoPhone, value, func() { a.noPhone = on }, nil
	})
	if err != nil {
		return fmt.Errorf("set no phone: %w", err)
	}
	return nil
}

// AcceptedHost is one address by which clients may come (decision K8). One that is
// Public or Invited cannot be removed: it goes with what it belongs to.
type AcceptedHost struct {
	Server  pairing.Server
	Public  bool // it is the public URL's
	Invited bool // it is only that of the open invitation
}

// AcceptedHosts lists the public URL's first, then the others, oldest first, and
// that of the open invitation last. None is there twice.
func (a *Addresses) AcceptedHosts() []AcceptedHost {
	a.mu.Lock()
	defer a.mu.Unlock()
	var list []AcceptedHost
	add := func(h AcceptedHost) {
		same := func(other AcceptedHost) bool { return other.Server.Authority() == h.Server.Authority() }
		if h.Server != (pairing.Server{}) && !slices.ContainsFunc(list, same) {
			list = append(list, h)
		}
	}
	add(AcceptedHost{Server: a.public, Public: true})
	for _, server := range a.hosts {
		add(AcceptedHost{Server: server})
	}
	add(AcceptedHost{Server: a.invited, Invited: true})
	return list
}

// invite accepts the host of the open invitation as long as it is that; the zero
// server says that none is open.
func (a *Addresses) invite(server pairing.Server) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.invited = server
}

// RemoveAcceptedHost takes an authority (host or host:port) off the list,
// durably. One that is not there is no error.
func (a *Addresses) RemoveAcceptedHost(ctx context.Context, authority string) error {
	err := a.storeHosts(ctx, func(hosts []pairing.Server) []pairing.Server {
		return slices.DeleteFunc(hosts, func(server pairing.Server) bool { return server.Authority() == authority })
	})
	if err != nil {
		return fmt.Errorf("remove accepted host: %w", err)
	}
	return nil
}

// redeem stores a device, by register, that was paired by an address: the address's
// host is accepted from then on, and the address becomes the public one (decision
// K19). The host is stored first, so that no paired device is kept out, and taken
// back when register fails.
func (a *Addresses) redeem(ctx context.Context, server pairing.Server, register func() error) error {
	added, err := a.accept(ctx, server)
	if err != nil {
		return err
	}
	if err := register(); err != nil {
		if added {
			err = errors.Join(err, a.RemoveAcceptedHost(context.WithoutCancel(ctx), server.Authority()))
		}
		return err
	}
	if public, fixed, _ := a.PublicURL(); !fixed && public != server {
		if err := a.setPublic(ctx, server); err != nil { // the device is paired and gets in
			a.deps.Log.Error("the address of a paired device could not be remembered", "error", err)
		}
	}
	return nil
}

// accept puts the address's host on the list, and says whether it was not there yet.
func (a *Addresses) accept(ctx context.Context, server pairing.Server) (added bool, err error) {
	err = a.storeHosts(ctx, func(hosts []pairing.Server) []pairing.Server {
		added = !slices.ContainsFunc(hosts, func(h pairing.Server) bool { return h.Authority() == server.Authority() })
		if added {
			hosts = append(hosts, server)
		}
		return hosts[max(0, len(hosts)-MaxAcceptedHosts):]
	})
	if err != nil {
		return false, fmt.Errorf("accept host: %w", err)
	}
	return added, nil
}

func (a *Addresses) storeHosts(ctx context.Context, edit func([]pairing.Server) []pairing.Server) error {
	return a.changeSetting(ctx, func() (key, value string, apply func(), err error) {
		hosts := edit(slices.Clone(a.hosts))
		lines := make([]string, len(hosts))
		for i, server := range hosts {
			lines[i] = server.Authority()
		}
		return keyAcceptedHosts, strings.Join(lines, "\n"), func() { a.hosts = hosts }, nil
	})
}

// changeSetting makes one change in the store and then in memory. prepare and
// apply run under the lock; an empty value drops the key.
func (a *Addresses) changeSetting(ctx context.Context, prepare func() (key, value string, apply func(), err error)) error {
	if err := a.storing.Acquire(ctx); err != nil {
		return err
	}
	defer a.storing.Release()
	a.mu.Lock()
	key, value, apply, err := prepare()
	a.mu.Unlock()
	if err != nil {
		return err
	}
	// A store may report that ctx has ended after it has stored; memory would not
	// follow.
	if ctx := context.WithoutCancel(ctx); value == "" {
		err = a.deps.Settings.DropSetting(ctx, key)
	} else {
		err = a.deps.Settings.PutSetting(ctx, key, value)
	}
	if err != nil {
		return err
	}
	a.mu.Lock()
	apply()
	a.mu.Unlock()
	a.changes.Notify()
	return nil
}

// AcceptsHost reports whether a Host header names an accepted host. Its port
// does not count: proxies differ in whether they hand it on, and a name alone
// keeps a rebinding page out.
func (a *Addresses) AcceptsHost(header string) bool {
	server, err := pairing.ParseServer("wss://" + header)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(a.AcceptedHosts(), func(h AcceptedHost) bool { return h.Server.Host() == server.Host() })
}

// AcceptsOrigin reports whether an Origin header is an accepted host's, byte
// for byte.
func (a *Addresses) AcceptsOrigin(header string) bool {
	return slices.ContainsFunc(a.AcceptedHosts(), func(h AcceptedHost) bool { return h.Server.Origin() == header })
}
