package sqlite

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"plexus/adapters/memory"
	"plexus/domain/pairing"
	"plexus/ports/portstest"
	"plexus/usecases/devices"
)

func testMaster(n byte) pairing.MasterToken { return pairing.NewMasterToken([16]byte{0: 0xaa, 15: n}) }

// clientsOf is the pairing of a host over the store.
func clientsOf(t *testing.T, s *Store) *devices.Service {
	t.Helper()
	c, err := devices.New(t.Context(), devices.Deps{
		Devices: s.Devices(), Revoked: memory.NewRevocations(), Settings: s.Settings(),
		Random: rand.NewChaCha8([32]byte{1}), Now: portstest.NewClock().Now, Log: slog.New(slog.DiscardHandler),
	}, devices.Options{Master: testMaster(1).Hash()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func pairOne(t *testing.T, c *devices.Service) (pairing.DeviceToken, pairing.Device) {
	t.Helper()
	i, _, err := c.CreateInvitation(t.Context(), "wss://box.example")
	if err != nil {
		t.Fatal(err)
	}
	token, device, err := c.Redeem(t.Context(), i.Code, "iPhone")
	if err != nil {
		t.Fatal(err)
	}
	return token, device
}

func TestN69_NoTokenIsInAnyFile(t *testing.T) {
	path := tempPath(t)
	s := openAt(t, path)
	if err := s.Devices().Bind(t.Context(), testMaster(1).Hash()); err != nil {
		t.Fatal(err)
	}
	c := clientsOf(t, s)
	secrets := []interface{ Reveal() string }{testMaster(1)}
	for range 3 {
		token, _ := pairOne(t, c)
		secrets = append(secrets, token)
	}
	i, _, err := c.CreateInvitation(t.Context(), "wss://box.example")
	if err != nil {
		t.Fatal(err)
	}
	secrets = append(secrets, i.Code)
	files, err := filesWithPrefix(path)
	if err != nil || len(files) < 2 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	checkModes(t, files)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range secrets {
			if bytes.Contains(content, []byte(secret.Reveal())) {
				t.Errorf("a token is in %s", filepath.Base(file))
			}
		}
	}
}

func TestN70_ARestartKeepsDevices(t *testing.T) {
	path := tempPath(t)
	first, err := Open(t.Context(), path, Options{Now: portstest.NewClock().Now})
	if err != nil {
		t.Fatal(err)
	}
	token, device := pairOne(t, clientsOf(t, first))
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := openAt(t, path)
	if err := second.Devices().Rebind(t.Context(), testMaster(1).Hash()); err != nil {
		t.Fatal(err)
	}
	who, err := clientsOf(t, second).Authenticate(t.Context(), token)
	if err != nil || who.Device.ID != device.ID || who.Device.Name != "iPhone" {
		t.Errorf("after a restart the token belongs to %+v, %v", who, err)
	}
}

func TestN71_DevicesAreBoundToTheMasterToken(t *testing.T) {
	path := tempPath(t)
	s := openAt(t, path)
	d := s.Devices()
	bind := func(n byte) error { return d.Bind(t.Context(), testMaster(n).Hash()) }
	if err := errors.Join(bind(1), bind(1)); err != nil {
		t.Fatalf("the first use and the second: %v", err)
	}
	device, hash := portstest.NewDevice(1)
	if err := d.AddDevice(t.Context(), device, hash); err != nil {
		t.Fatal(err)
	}
	var other *BindingError
	err := bind(2)
	if !errors.As(err, &other) {
		t.Fatalf("another master token: %v, want a BindingError", err)
	}
	for _, out := range []string{"plexus restore", "plexus devices reset --yes"} {
		if !strings.Contains(err.Error(), out) {
			t.Errorf("%q does not name %q", err, out)
		}
	}
	if err := bind(1); err != nil {
		t.Errorf("the refusal has changed the binding: %v", err)
	}
	if err := d.Rebind(t.Context(), testMaster(2).Hash()); err != nil {
		t.Fatal(err)
	}
	if err := bind(2); err != nil {
		t.Errorf("after Rebind: %v", err)
	}
	if dropped, err := d.Reset(t.Context(), testMaster(3).Hash()); err != nil || dropped != 1 {
		t.Fatalf("reset dropped %d, %v", dropped, err)
	}
	if list, err := d.Devices(t.Context()); err != nil || len(list) != 0 || bind(3) != nil {
		t.Errorf("after Reset: %d devices, %v", len(list), err)
	}
	if err := d.AddDevice(t.Context(), device, hash); err != nil {
		t.Fatal(err)
	}
	execute(t, path, "DELETE FROM meta")
	if err := bind(3); !errors.As(err, &other) {
		t.Errorf("devices that are bound to nothing: %v, want a BindingError", err)
	}
}

func TestCR45_AFullDiskLeavesTheInvitationOpen(t *testing.T) {
	s := openAt(t, tempPath(t))
	c := clientsOf(t, s)
	limit := func(pages int) {
		var was int
		if err := s.writer.QueryRowContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", pages)).Scan(&was); err != nil {
			t.Fatal(err)
		}
	}
	invite := func() pairing.Invitation {
		i, _, err := c.CreateInvitation(t.Context(), "wss://box.example")
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	name := strings.Repeat("𝄞", pairing.MaxDeviceName/2)
	i := invite()
	limit(1) // as many as there are
	var paired int
	var err error
	for err == nil && paired < pairing.MaxDevices {
		if _, _, err = c.Redeem(t.Context(), i.Code, name); err == nil {
			paired++
			i = invite()
		}
	}
	if !errors.Is(err, ErrDiskFull) {
		t.Fatalf("after %d devices: %v, want ErrDiskFull", paired, err)
	}
	if list, err := s.Devices().Devices(t.Context()); err != nil || len(list) != paired || c.Invitation(i.ID()).State != pairing.Waiting {
		t.Errorf("%d devices, %v, want the %d acknowledged; the invitation is %v", len(list), err, paired, c.Invitation(i.ID()).State)
	}
	limit(100_000)
	if _, _, err := c.Redeem(t.Context(), i.Code, name); err != nil {
		t.Errorf("with room again: %v", err)
	}
	checkIntegrity(t, s)
}

// crashDevices stores thirty devices and then, in turn, removes each and stores
// it again, until the process is killed. It says a device's number, from 1, when
// it is stored, and the number with a minus when it is removed.
func crashDevices(ctx context.Context, path string, out io.Writer) error {
	s, err := Open(ctx, path, Options{Now: time.Now})
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		number := n%30 + 1
		d, hash := portstest.NewDevice(byte(number))
		if n >= 30 {
			if err := s.Devices().RemoveDevice(ctx, d.ID); err != nil {
				return err
			}
			fmt.Fprintln(out, -number)
		}
		if err := s.Devices().AddDevice(ctx, d, hash); err != nil {
			return err
		}
		fmt.Fprintln(out, number)
	}
}

// TestN75_WhatWasAcknowledgedSurvivesAKill kills a process that pairs and
// revokes: a device that was said to be stored is there, one that was said to be
// removed is not.
func TestN75_WhatWasAcknowledgedSurvivesAKill(t *testing.T) {
	for range 5 {
		path := filepath.Join(t.TempDir(), "plexus.db")
		child, lines := startChild(t, "devices", path, 0)
		said := readSome(lines, 40+rand.IntN(60))
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		said = append(said, awaitKill(t, child, lines)...)
		s := openAt(t, path)
		last := map[int]string{} // by device: what was said of it last
		for _, line := range said {
			n, err := strconv.Atoi(line)
			if err != nil {
				t.Fatalf("the child said %q", line)
			}
			last[max(n, -n)] = line
		}
		final := said[len(said)-1]
		for n, line := range last {
			_, hash := portstest.NewDevice(byte(n))
			_, err := s.Devices().FindDevice(t.Context(), hash)
			if there := err == nil; there == strings.HasPrefix(line, "-") && !inFlight(n, final) {
				t.Errorf("the last word on device %d was %s, and it is there: %v", n, line, there)
			}
		}
		checkIntegrity(t, s)
	}
}

// inFlight: what came after the last word may have been done and not said: the
// device that was removed may be back, or the next one be gone.
func inFlight(n int, final string) bool {
	last, _ := strconv.Atoi(final)
	last = max(last, -last)
	return n == last || n == last%30+1
}

func readSome(lines *bufio.Scanner, n int) (said []string) {
	for len(said) < n && lines.Scan() {
		said = append(said, lines.Text())
	}
	return said
}
