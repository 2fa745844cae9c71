package nerve_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"plexus/adapters/memory"
	"plexus/adapters/novaws"
	"plexus/adapters/wsconn/wstest"
	"plexus/domain/admission"
	"plexus/domain/pairing"
	"plexus/domain/secret"
	"plexus/usecases/devices"
)

// phoneToken is the master token, which a phone may use as well as its own.
var phoneToken = strings.Repeat("5", pairing.TokenLength)

// serveClients starts a client listener beside a fixture.
func serveClients(t *testing.T, f *fixture) (addr string) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	store := memory.NewDevices()
	clients, err := devices.New(t.Context(), devices.Deps{
		Devices: store, Revoked: memory.NewRevocations(), Settings: memory.NewSettings(),
		Random: rand.Reader, Now: time.Now, Log: log,
	}, devices.Options{Master: secret.New(phoneToken).Hash()})
	if err != nil {
		t.Fatal(err)
	}
	server := novaws.New(novaws.Deps{Auth: clients, Pairing: clients, Refuse: func(admission.Cause, string) {}}, novaws.Config{
		ServerInstanceID: "00000000-0000-4000-8000-000000000001", InputInstanceID: "00000000-0000-4000-8000-000000000002",
		NewID: func() string { return "00000000-0000-4000-8000-000000000003" }, Log: log,
	})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(ln); err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		serving.Wait()
	})
	return ln.Addr().String()
}

// TestIdle_AThousandExtensionsAndAPhone: what they cost while they are there is
// logged; once they have left, the host is as it was. They come twice, because
// the runtime keeps its record of every goroutine that ever ran at once, some
// 0.4 KiB each, for the next ones: only the second coming shows what leaks.
func TestIdle_AThousandExtensionsAndAPhone(t *testing.T) {
	f := start(t, setup{})
	clientAddr := serveClients(t, f)
	fresh := measure(t, f)
	crowd(t, f, clientAddr, fresh)
	once := measure(t, f)
	t.Logf("the first crowd has left %d KiB of the runtime's records", (once.heap-fresh.heap)>>10)
	crowd(t, f, clientAddr, once)
	once.compare(t, f)
}

// crowd lets a thousand extensions and a phone come, stay and leave.
func crowd(t *testing.T, f *fixture, clientAddr string, before usage) {
	t.Helper()
	const extensions = 1000
	var peers []*wstest.Peer
	defer func() {
		for _, p := range peers {
			_ = p.Close()
		}
	}()
	for range extensions {
		p, response, err := wstest.Dial(f.addr, "Sec-WebSocket-Protocol: anvesha-v1."+token)
		if err != nil || p == nil {
			t.Fatalf("connection %d: %v, %v", len(peers), response, err)
		}
		peers = append(peers, p)
	}
	phone := pathDial(t, clientAddr, "/client/v1")
	peers = append(peers, phone)
	if err := phone.SendText(fmt.Sprintf(`{"type":"hello","token":%q,"protocol_version":1}`, phoneToken)); err != nil {
		t.Fatal(err)
	}
	if ready, err := phone.ReceiveMessage(); err != nil || !strings.Contains(string(ready.Payload), `"client.ready"`) {
		t.Fatalf("the phone was answered %s (%v)", ready.Payload, err)
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	more := m.HeapAlloc + m.StackInuse - before.heap
	t.Logf("with %d idle extensions and a phone: %d goroutines, heap and stacks %d KiB more, both ends in this process",
		extensions, runtime.NumGoroutine(), more>>10)
}

// pathDial upgrades another path than the root.
func pathDial(t *testing.T, addr, path string) *wstest.Peer {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	p, response, err := wstest.HandshakeAt(conn, path, "Host: "+addr)
	if err != nil || p == nil {
		t.Fatalf("the upgrade was answered %v (%v)", response, err)
	}
	return p
}
