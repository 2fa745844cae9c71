package devices

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"plexus/domain/pairing"
	"plexus/domain/usecases/syncx"
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

// ownerSettings are the owner's settings in memory, as they are in the store.
// Service.mu guards the values.
type ownerSettings struct {
	storing *syncx.Semaphore // of one, so that store and memory change in the same order

	public  pairing.Server // zero: none
	fixed   bool           // public comes from outside the page
	hosts   []pairing.Server
	noPhone bool
}

func (s *Service) loadSettings(ctx context.Context) error {
	s.settings.storing = syncx.NewSemaphore(1)
	stored, err := s.deps.Settings.Settings(ctx)
	if err != nil {
		return fmt.Errorf("load settings: %w", err)
	}
	public := stored[keyPublicURL]
	if s.opts.PublicURL != "" {
		public, s.settings.fixed = s.opts.PublicURL, true
	}
	if public != "" {
		server, err := pairing.ParseServer(public)
		switch {
		case err == nil:
			s.settings.public = server
		case s.settings.fixed:
			return fmt.Errorf("public_url: %w", err)
		default:
			s.deps.Log.Error("the stored public address cannot be used", "error", err)
		}
	}
	for line := range strings.Lines(stored[keyAcceptedHosts]) {
		if server, err := pairing.ParseServer("wss://" + strings.TrimSpace(line)); err == nil {
			s.settings.hosts = append(s.settings.hosts, server)
		}
	}
	s.settings.noPhone = stored[keyNoPhone] == "true"
	return nil
}

// PublicURL is the address by which clients reach this host. ok is false when
// there is none; fixed says that it comes from a flag, the environment or the
// configuration file.
func (s *Service) PublicURL() (server pairing.Server, fixed, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings.public, s.settings.fixed, s.settings.public != pairing.Server{}
}

// SetPublicURL stores the address, durably; "" takes it away. A bad one is a
// *pairing.AddressError, one that is fixed ErrSettingFixed.
func (s *Service) SetPublicURL(ctx context.Context, address string) error {
	var server pairing.Server
	if address != "" {
		var err error
		if server, err = pairing.ParseServer(address); err != nil {
			return fmt.Errorf("set public URL: %w", err)
		}
	}
	err := s.changeSetting(ctx, func() (key, value string, apply func(), err error) {
		if s.settings.fixed {
			return "", "", nil, ErrSettingFixed
		}
		if address != "" {
			value = server.String()
		}
		return keyPublicURL, value, func() { s.settings.public = server }, nil
	})
	if err != nil {
		return fmt.Errorf("set public URL: %w", err)
	}
	return nil
}

// NoPhone reports whether the owner wants no client for now.
func (s *Service) NoPhone() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings.noPhone
}

// SetNoPhone stores whether clients are turned away, durably. It ends no
// connection that is open.
func (s *Service) SetNoPhone(ctx context.Context, on bool) error {
	err := s.changeSetting(ctx, func() (key, value string, apply func(), err error) {
		if on {
			value = "true"
		}
		return keyNoPhone, value, func() { s.settings.noPhone = on }, nil
	})
	if err != nil {
		return fmt.Errorf("set no phone: %w", err)
	}
	return nil
}

// AcceptedHost is one address by which clients may come (decision K8).
type AcceptedHost struct {
	Server pairing.Server
	Public bool // it is the public URL's, which is not in the list to remove from
}

// AcceptedHosts lists the public URL's first and then the others, oldest first.
func (s *Service) AcceptedHosts() []AcceptedHost {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []AcceptedHost
	if s.settings.public != (pairing.Server{}) {
		list = append(list, AcceptedHost{Server: s.settings.public, Public: true})
	}
	for _, server := range s.settings.hosts {
		list = append(list, AcceptedHost{Server: server})
	}
	return list
}

// RemoveAcceptedHost takes an authority (host or host:port) off the list,
// durably. One that is not there is no error.
func (s *Service) RemoveAcceptedHost(ctx context.Context, authority string) error {
	err := s.storeHosts(ctx, func(hosts []pairing.Server) []pairing.Server {
		return slices.DeleteFunc(hosts, func(server pairing.Server) bool { return server.Authority() == authority })
	})
	if err != nil {
		return fmt.Errorf("remove accepted host: %w", err)
	}
	return nil
}

// acceptServer puts the address's host on the list, if it is not accepted yet.
func (s *Service) acceptServer(ctx context.Context, server pairing.Server) error {
	for _, h := range s.AcceptedHosts() {
		if h.Server.Authority() == server.Authority() {
			return nil
		}
	}
	err := s.storeHosts(ctx, func(hosts []pairing.Server) []pairing.Server {
		hosts = append(hosts, server)
		return hosts[max(0, len(hosts)-MaxAcceptedHosts):]
	})
	if err != nil {
		return fmt.Errorf("accept host: %w", err)
	}
	return nil
}

func (s *Service) storeHosts(ctx context.Context, edit func([]pairing.Server) []pairing.Server) error {
	return s.changeSetting(ctx, func() (key, value string, apply func(), err error) {
		hosts := edit(slices.Clone(s.settings.hosts))
		lines := make([]string, len(hosts))
		for i, server := range hosts {
			lines[i] = server.Authority()
		}
		return keyAcceptedHosts, strings.Join(lines, "\n"), func() { s.settings.hosts = hosts }, nil
	})
}

// changeSetting makes one change in the store and then in memory. prepare and apply run
// under the lock; an empty value drops the key.
func (s *Service) changeSetting(ctx context.Context, prepare func() (key, value string, apply func(), err error)) error {
	if err := s.settings.storing.Acquire(ctx); err != nil {
		return err
	}
	defer s.settings.storing.Release()
	s.mu.Lock()
	key, value, apply, err := prepare()
	s.mu.Unlock()
	if err != nil {
		return err
	}
	// A store may report that ctx has ended after it has stored; memory would not
	// follow.
	if ctx := context.WithoutCancel(ctx); value == "" {
		err = s.deps.Settings.DropSetting(ctx, key)
	} else {
		err = s.deps.Settings.PutSetting(ctx, key, value)
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	apply()
	s.mu.Unlock()
	s.changes.Notify()
	return nil
}

// AcceptsHost reports whether a Host header names an accepted host. Its port
// does not count: proxies differ in whether they hand it on, and a name alone
// keeps a rebinding page out.
func (s *Service) AcceptsHost(header string) bool {
	server, err := pairing.ParseServer("wss://" + header)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(s.AcceptedHosts(), func(h AcceptedHost) bool { return h.Server.Host() == server.Host() })
}

// AcceptsOrigin reports whether an Origin header is an accepted host's, byte
// for byte.
func (s *Service) AcceptsOrigin(header string) bool {
	return slices.ContainsFunc(s.AcceptedHosts(), func(h AcceptedHost) bool { return h.Server.Origin() == header })
}
