package hostfiles

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestTCPPeerIsOurs_BothFamilies(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Logf("%s is not there on this machine: %v", addr, err)
			continue
		}
		out, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		in, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if ours, err := TCPPeerIsOurs(in); err != nil || !ours {
			t.Errorf("%s: ours %v, %v", addr, ours, err)
		}
		_ = out.Close()
		_ = in.Close()
		_ = l.Close()
	}
}

func TestFindPeer(t *testing.T) {
	peer := netip.MustParseAddrPort("127.0.0.1:54321") // D431
	local := netip.MustParseAddrPort("127.0.0.1:9001") // 2329
	const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	held := func(local, remote, state, uid, inode string) string {
		return "   1: " + local + " " + remote + " " + state + " 00000000:00000000 00:00000000 00000000  " + uid + "        0 " + inode + " 1 0 20 4 30 10 -1\n"
	}
	row := func(local, remote, state, uid string) string { return held(local, remote, state, uid, "12345") }
	const us, them = "0100007F:2329", "0100007F:D431"
	for _, tc := range []struct {
		name, table string
		six         bool
		uid         uint32
		known       bool
	}{
		{"established", head + row(us, them, "01", "0") + row(them, us, "01", "1000"), false, 1000, true},
		{"our own end does not count", head + row(us, them, "01", "1000"), false, 0, false},
		{"an orphan does not count", head + held(them, us, "05", "0", "0"), false, 0, false},
		{"half closed", head + row(them, us, "05", "1000"), false, 1000, true},
		{"other port", head + row("0100007F:D432", us, "01", "1000"), false, 0, false},
		{"mapped", head + row("0000000000000000FFFF00000100007F:D431", "0000000000000000FFFF00000100007F:2329", "01", "33"), true, 33, true},
		{"short line", head + "   1: " + them + "\n", false, 0, false},
		{"uid is no number", head + row(them, us, "01", "x"), false, 0, false},
		{"empty", "", false, 0, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			uid, err := findPeer(strings.NewReader(tc.table), peer, local, tc.six)
			if uid != tc.uid || (err == nil) != tc.known || (!tc.known && !errors.Is(err, ErrPeerUnknown)) {
				t.Errorf("got %d, %v", uid, err)
			}
		})
	}
}

// dialAs connects as the account uid. Only the thread of the goroutine changes
// its account; the goroutine never unlocks it, so the thread ends with it.
func dialAs(t *testing.T, uid uintptr, network, address string) net.Conn {
	t.Helper()
	type outcome struct {
		conn net.Conn
		err  error
	}
	done := make(chan outcome)
	go func() {
		runtime.LockOSThread()
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, ^uintptr(0), uid, ^uintptr(0)); errno != 0 {
			done <- outcome{nil, errno}
			return
		}
		conn, err := net.Dial(network, address)
		done <- outcome{conn, err}
	}()
	o := <-done
	if o.err != nil {
		t.Fatal(o.err)
	}
	t.Cleanup(func() { _ = o.conn.Close() })
	return o.conn
}

func TestPeers_OfAnotherAccountAreTurnedAway(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("only root can play another account; TestFindPeer covers the reading")
		return
	}
	const nobody = 65534
	t.Run("tcp", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		dialAs(t, nobody, "tcp", l.Addr().String())
		in, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if ours, err := TCPPeerIsOurs(in); err != nil || ours {
			t.Errorf("ours %v, %v; want a stranger", ours, err)
		}
		if ours, err := TCPPeerIsOursOrRoot(in); err != nil || ours {
			t.Errorf("ours or root's %v, %v; want a stranger", ours, err)
		}
	})
	t.Run("unix", func(t *testing.T) {
		path := filepath.Join(shortDir(t), "n.sock")
		l, _, err := ListenUnix(t.Context(), path, "--nerve-socket")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		refused := 0
		l.OnRefused = func() { refused++ }
		// The modes keep a stranger out already; the check is the second wall.
		if err := errors.Join(os.Chmod(filepath.Dir(path), 0o711), os.Chmod(path, 0o666)); err != nil {
			t.Fatal(err)
		}
		stranger := dialAs(t, nobody, "unix", path)
		ours, err := DialUnix(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		defer ours.Close()
		in, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if err := stranger.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := stranger.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the stranger's read gave %v; want a closed connection", err)
		}
		if refused != 1 {
			t.Errorf("refused %d, want 1", refused)
		}
	})
}
