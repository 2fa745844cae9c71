package portstest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"plexus/domain/pairing"
	"plexus/ports"
)

// Devices runs the contract of ports.DeviceRegistry. build gives an empty
// registry and cleans up by t.Cleanup.
func Devices(t *testing.T, build func(t *testing.T) ports.DeviceRegistry) {
	t.Helper()
	t.Run("add, list, find", func(t *testing.T) { addAndFind(t, build(t)) })
	t.Run("remove", func(t *testing.T) { removeDevice(t, build(t)) })
	t.Run("rename", func(t *testing.T) { renameDevice(t, build(t)) })
	t.Run("touch", func(t *testing.T) { touchDevice(t, build(t)) })
	t.Run("limit under concurrency", func(t *testing.T) { deviceLimit(t, build(t)) })
	t.Run("ended context", func(t *testing.T) { deviceContext(t, build(t)) })
}

// NewDevice gives a device and its token's hash, of their own for every n.
func NewDevice(n byte) (pairing.Device, pairing.TokenHash) {
	d := pairing.Device{
		ID: pairing.NewDeviceID([16]byte{0: 0xd0, 15: n}), Name: fmt.Sprintf("📱 number %d", n),
		CreatedAt: visitTime().Add(-time.Duration(n) * time.Hour), // later ones are not newer
	}
	return d, pairing.NewDeviceToken([16]byte{15: n}).Hash()
}

func addDevice(t *testing.T, r ports.DeviceRegistry, n byte) pairing.Device {
	t.Helper()
	d, hash := NewDevice(n)
	if err := r.AddDevice(t.Context(), d, hash); err != nil {
		t.Fatalf("add device %d: %v", n, err)
	}
	return d
}

func listDevices(t *testing.T, r ports.DeviceRegistry) []pairing.Device {
	t.Helper()
	list, err := r.Devices(t.Context())
	if err != nil {
		t.Fatalf("list: %v", err)
	}
	return list
}

// sameDevice compares times as instants: a store may give another location back.
func sameDevice(a, b pairing.Device) bool {
	same := a.CreatedAt.Equal(b.CreatedAt) && a.FirstConnectedAt.Equal(b.FirstConnectedAt) && a.LastSeenAt.Equal(b.LastSeenAt)
	return same && a.ID == b.ID && a.Name == b.Name && a.NeverConnected() == b.NeverConnected()
}

func addAndFind(t *testing.T, r ports.DeviceRegistry) {
	if list := listDevices(t, r); len(list) != 0 {
		t.Fatalf("an empty registry lists %d", len(list))
	}
	want := []pairing.Device{addDevice(t, r, 3), addDevice(t, r, 1), addDevice(t, r, 2)}
	if got := listDevices(t, r); !slices.EqualFunc(got, want, sameDevice) {
		t.Errorf("list is %v, want %v", got, want)
	}
	_, hash := NewDevice(1)
	if got, err := r.FindDevice(t.Context(), hash); err != nil || !sameDevice(got, want[1]) {
		t.Errorf("find gives %v, %v", got, err)
	}
	if got, err := r.DeviceHash(t.Context(), want[1].ID); err != nil || got != hash {
		t.Errorf("the hash is %s, %v", got.Hex(), err)
	}
	stranger, other := NewDevice(9)
	if _, err := r.FindDevice(t.Context(), other); !errors.Is(err, ports.ErrDeviceUnknown) {
		t.Errorf("an unknown hash: %v, want ErrDeviceUnknown", err)
	}
	if _, err := r.FindDevice(t.Context(), pairing.TokenHash{}); !errors.Is(err, ports.ErrDeviceUnknown) {
		t.Errorf("the zero hash: %v, want ErrDeviceUnknown", err)
	}
	if _, err := r.DeviceHash(t.Context(), stranger.ID); !errors.Is(err, ports.ErrDeviceUnknown) {
		t.Errorf("hash of an unknown device: %v, want ErrDeviceUnknown", err)
	}
}

func removeDevice(t *testing.T, r ports.DeviceRegistry) {
	kept, gone := addDevice(t, r, 1), addDevice(t, r, 2)
	if err := r.RemoveDevice(t.Context(), gone.ID); err != nil {
		t.Fatalf("remove: %v", err)
	}
	_, hash := NewDevice(2)
	for range 10 { // whichever connection answers has seen the removal
		if _, err := r.FindDevice(t.Context(), hash); !errors.Is(err, ports.ErrDeviceUnknown) {
			t.Fatalf("a removed device: %v, want ErrDeviceUnknown", err)
		}
	}
	if list := listDevices(t, r); len(list) != 1 || !sameDevice(list[0], kept) {
		t.Errorf("%v are left, want %v", list, kept)
	}
	if err := r.RemoveDevice(t.Context(), gone.ID); !errors.Is(err, ports.ErrDeviceUnknown) {
		t.Errorf("removed again: %v, want ErrDeviceUnknown", err)
	}
}

func renameDevice(t *testing.T, r ports.DeviceRegistry) {
	one, two, three := addDevice(t, r, 1), addDevice(t, r, 2), addDevice(t, r, 3)
	two.Name = one.Name // names need not differ
	for range 2 {       // also to the name that it has
		if err := r.RenameDevice(t.Context(), two.ID, two.Name); err != nil {
			t.Fatalf("rename: %v", err)
		}
	}
	if got, want := listDevices(t, r), []pairing.Device{one, two, three}; !slices.EqualFunc(got, want, sameDevice) {
		t.Errorf("list is %v, want %v", got, want)
	}
	_, hash := NewDevice(2)
	if got, err := r.FindDevice(t.Context(), hash); err != nil || !sameDevice(got, two) {
		t.Errorf("find gives %v, %v, want %v", got, err, two)
	}
	stranger, _ := NewDevice(9)
	if err := r.RenameDevice(t.Context(), stranger.ID, "x"); !errors.Is(err, ports.ErrDeviceUnknown) {
		t.Errorf("an unknown device: %v, want ErrDeviceUnknown", err)
	}
}

func touchDevice(t *testing.T, r ports.DeviceRegistry) {
	d := addDevice(t, r, 1)
	at := visitTime()
	for _, step := range []struct{ at, last time.Duration }{{time.Hour, time.Hour}, {3 * time.Hour, 3 * time.Hour}, {2 * time.Hour, 3 * time.Hour}} {
		if err := r.TouchDevice(t.Context(), d.ID, at.Add(step.at)); err != nil {
			t.Fatalf("touch: %v", err)
		}
		d.FirstConnectedAt, d.LastSeenAt = at.Add(time.Hour), at.Add(step.last)
		if list := listDevices(t, r); len(list) != 1 || !sameDevice(list[0], d) {
			t.Errorf("after %v: %+v, want %+v", step.at, list, d)
		}
	}
	stranger, _ := NewDevice(9)
	if err := r.TouchDevice(t.Context(), stranger.ID, at); !errors.Is(err, ports.ErrDeviceUnknown) {
		t.Errorf("an unknown device: %v, want ErrDeviceUnknown", err)
	}
}

func deviceLimit(t *testing.T, r ports.DeviceRegistry) {
	const tries = pairing.MaxDevices + 8
	var wg sync.WaitGroup
	errs := make([]error, tries)
	for n := range tries {
		wg.Go(func() {
			d, hash := NewDevice(byte(n))
			errs[n] = r.AddDevice(t.Context(), d, hash)
		})
	}
	wg.Wait()
	added := 0
	for _, err := range errs {
		switch {
		case err == nil:
			added++
		case !errors.Is(err, ports.ErrDeviceLimit):
			t.Errorf("over the limit: %v, want ErrDeviceLimit", err)
		}
	}
	list := listDevices(t, r)
	if added != pairing.MaxDevices || len(list) != pairing.MaxDevices {
		t.Fatalf("%d added, %d listed, want %d", added, len(list), pairing.MaxDevices)
	}
	if err := r.RemoveDevice(t.Context(), list[0].ID); err != nil {
		t.Fatal(err)
	}
	addDevice(t, r, 200)
}

func deviceContext(t *testing.T, r ports.DeviceRegistry) {
	ctx := endedContext(t)
	d, hash := NewDevice(1)
	if err := r.AddDevice(ctx, d, hash); err == nil {
		t.Error("added although its context had ended")
	}
	if list := listDevices(t, r); len(list) != 0 {
		t.Errorf("the failed call left %v", list)
	}
}

// Revocations runs the contract of ports.RevocationLog. build gives an empty
// log; reopen gives the same log anew, as after a restart.
func Revocations(t *testing.T, build func(t *testing.T) (log ports.RevocationLog, reopen func() ports.RevocationLog)) {
	t.Helper()
	log, reopen := build(t)
	if got, err := log.RevokedHashes(t.Context()); err != nil || len(got) != 0 {
		t.Fatalf("an empty log gives %d hashes, %v", len(got), err)
	}
	_, first := NewDevice(1)
	_, second := NewDevice(2)
	for _, hash := range []pairing.TokenHash{first, second, first} {
		if err := log.AppendRevoked(t.Context(), hash); err != nil {
			t.Fatal(err)
		}
	}
	for _, log := range []ports.RevocationLog{log, reopen()} {
		got, err := log.RevokedHashes(t.Context())
		if err != nil || !slices.Contains(got, first) || !slices.Contains(got, second) {
			t.Errorf("the log gives %d hashes, %v", len(got), err)
		}
	}
}
