package devices

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"plexus/adapters/memory"
	"plexus/domain/pairing"
	"plexus/domain/secret"
	"plexus/domain/sessions"
	"plexus/ports"
)

const testServer = "wss://box.tail1234.ts.net"

// faultyDevices is a registry that can be told to fail, and to call somebody in
// the middle of a step.
type faultyDevices struct {
	store  *memory.Devices
	mu     sync.Mutex
	faults map[string]error  // by step: add, remove, list, touch, find, hash
	during map[string]func() // runs before the step
}

func (f *faultyDevices) step(name string) error {
	f.mu.Lock()
	err, hook := f.faults[name], f.during[name]
	f.mu.Unlock()
	if hook != nil {
		hook()
	}
	return err
}

func (f *faultyDevices) fail(step string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults[step] = err
}

func (f *faultyDevices) AddDevice(ctx context.Context, d pairing.Device, h pairing.TokenHash) error {
	return errors.Join(f.step("add"), unless(f, "add", func() error { return f.store.AddDevice(ctx, d, h) }))
}

func (f *faultyDevices) RemoveDevice(ctx context.Context, id pairing.DeviceID) error {
	return errors.Join(f.step("remove"), unless(f, "remove", func() error { return f.store.RemoveDevice(ctx, id) }))
}

func (f *faultyDevices) RenameDevice(ctx context.Context, id pairing.DeviceID, name string) error {
	return errors.Join(f.step("rename"), unless(f, "rename", func() error { return f.store.RenameDevice(ctx, id, name) }))
}

func (f *faultyDevices) TouchDevice(ctx context.Context, id pairing.DeviceID, at time.Time) error {
	return errors.Join(f.step("touch"), unless(f, "touch", func() error { return f.store.TouchDevice(ctx, id, at) }))
}

func (f *faultyDevices) FindDevice(ctx context.Context, h pairing.TokenHash) (pairing.Device, error) {
	if err := f.step("find"); err != nil {
		return pairing.Device{}, err
	}
	return f.store.FindDevice(ctx, h)
}

func (f *faultyDevices) DeviceHash(ctx context.Context, id pairing.DeviceID) (pairing.TokenHash, error) {
	if err := f.step("hash"); err != nil {
		return pairing.TokenHash{}, err
	}
	return f.store.DeviceHash(ctx, id)
}

func (f *faultyDevices) Devices(ctx context.Context) ([]pairing.Device, error) {
	if err := f.step("list"); err != nil {
		return nil, err
	}
	return f.store.Devices(ctx)
}

// unless does the work where the step has no fault.
func unless(f *faultyDevices, step string, work func() error) error {
	f.mu.Lock()
	failing := f.faults[step] != nil
	f.mu.Unlock()
	if failing {
		return nil
	}
	return work()
}

// faultyLog is a list of revocations that can be told to fail.
type faultyLog struct {
	*memory.Revocations
	err error
}

func (f *faultyLog) AppendRevoked(ctx context.Context, h pairing.TokenHash) error {
	if f.err != nil {
		return f.err
	}
	return f.Revocations.AppendRevoked(ctx, h)
}

// stage is a Service over stores in memory.
type stage struct {
	*Service
	t        *testing.T
	devices  *faultyDevices
	revoked  *faultyLog
	settings *memory.Settings
	master   pairing.MasterToken
	now      time.Time
	log      bytes.Buffer
}

func newStage(t *testing.T) *stage {
	t.Helper()
	d := &stage{
		t: t, now: time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC),
		devices: &faultyDevices{store: memory.NewDevices(), faults: map[string]error{}, during: map[string]func(){}},
		revoked: &faultyLog{Revocations: memory.NewRevocations()}, settings: memory.NewSettings(),
		master: pairing.NewMasterToken([16]byte{0: 0xaa, 15: 1}),
	}
	d.restart(Options{})
	return d
}

// restart begins another process life over the same stores.
func (d *stage) restart(opts Options) {
	d.t.Helper()
	opts.Master = d.master.Hash()
	service, err := New(d.t.Context(), Deps{
		Devices: d.devices, Revoked: d.revoked, Settings: d.settings,
		Random: rand.NewChaCha8([32]byte{byte(d.now.Unix())}), Now: func() time.Time { return d.now },
		Log: slog.New(slog.NewTextHandler(&d.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}, opts)
	if err != nil {
		d.t.Fatal(err)
	}
	d.Service = service
}

func (d *stage) invite() pairing.Invitation {
	d.t.Helper()
	i, _, err := d.CreateInvitation(d.t.Context(), testServer)
	if err != nil {
		d.t.Fatal(err)
	}
	return i
}

// pair gives a new device and its token.
func (d *stage) pair(name string) (pairing.DeviceToken, pairing.Device) {
	d.t.Helper()
	token, device, err := d.Redeem(d.t.Context(), d.invite().Code, name)
	if err != nil {
		d.t.Fatal(err)
	}
	return token, device
}

func (d *stage) hello(token pairing.DeviceToken) Identity {
	d.t.Helper()
	who, err := d.Authenticate(d.t.Context(), token)
	if err != nil {
		d.t.Fatalf("hello: %v", err)
	}
	return who
}

func (d *stage) connect(token pairing.DeviceToken) (*clientLink, func()) {
	d.t.Helper()
	link := &clientLink{}
	detach, ok := d.AttachClient(d.t.Context(), d.hello(token), link)
	if !ok {
		d.t.Fatal("an authenticated client could not be attached")
	}
	return link, detach
}

func (d *stage) status() []Status {
	d.t.Helper()
	list, err := d.Service.Devices(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	return list
}

// clientLink remembers why it was told to end.
type clientLink struct {
	mu      sync.Mutex
	reasons []sessions.CloseReason
}

func (l *clientLink) Close(r sessions.CloseReason) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reasons = append(l.reasons, r)
}

func (l *clientLink) revoked() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.reasons) > 0 && l.reasons[0] == sessions.DeviceRevoked
}

// leaks reports secrets that are in text.
func leaks(t *testing.T, text string, secrets ...interface{ Reveal() string }) {
	t.Helper()
	for _, s := range secrets {
		if bytes.Contains([]byte(text), []byte(s.Reveal())) {
			t.Errorf("a secret is in %q", text)
		}
	}
}

// asText takes a secret of one kind for one of another.
func asText(s interface{ Reveal() string }) secret.Text { return secret.New(s.Reveal()) }

var errDisk = errors.New("disk full")

var (
	_ ports.DeviceRegistry = (*faultyDevices)(nil)
)
