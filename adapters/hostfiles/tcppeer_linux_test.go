package hostfiles

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
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

// Both ways of looking must give one answer, whatever kind of socket the client
// holds and whatever state it is in.
func TestPeerLookup_BothWaysAgree(t *testing.T) {
	type ends struct{ out, in *net.TCPConn }
	connect := func(t *testing.T, listen, dialNetwork string) ends {
		l, err := net.Listen("tcp", listen)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		host := "127.0.0.1"
		if strings.HasPrefix(listen, "[") {
			host = "::1"
		}
		out, err := net.Dial(dialNetwork, net.JoinHostPort(host, port))
		if err != nil {
			t.Fatal(err)
		}
		in, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = out.Close(), in.Close() })
		return ends{out.(*net.TCPConn), in.(*net.TCPConn)}
	}
	for _, tc := range []struct {
		name, listen string
		change       func(ends)
		known        bool
	}{
		{"IPv4", "127.0.0.1:0", func(ends) {}, true},
		{"IPv6", "[::1]:0", func(ends) {}, true},
		{"half closed", "127.0.0.1:0", func(e ends) { _ = e.out.CloseWrite() }, true},
		{"orphaned", "127.0.0.1:0", func(e ends) { _ = e.out.Close() }, false},
		{"reset", "127.0.0.1:0", func(e ends) { _, _ = e.out.SetLinger(0), e.out.Close() }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := connect(t, tc.listen, "tcp")
			tc.change(e)
			peer, err := addrPort(e.in.RemoteAddr())
			if err != nil {
				t.Fatal(err)
			}
			local, err := addrPort(e.in.LocalAddr())
			if err != nil {
				t.Fatal(err)
			}
			asked, askErr := askForPeer(peer, local)
			scanned, scanErr := scanForPeer(peer, local)
			if asked != scanned || (askErr == nil) != tc.known || (scanErr == nil) != tc.known {
				t.Errorf("asked: %d, %v; scanned: %d, %v; known should be %v", asked, askErr, scanned, scanErr, tc.known)
			}
			if !tc.known && !errors.Is(askErr, ErrPeerUnknown) {
				t.Errorf("asked: %v, want ErrPeerUnknown", askErr)
			}
		})
	}
	t.Run("a client with an IPv6 socket for an IPv4 address", func(t *testing.T) {
		peer, local := dialMapped(t)
		asked, askErr := askForPeer(peer, local)
		scanned, scanErr := scanForPeer(peer, local)
		if asked != scanned || askErr != nil || scanErr != nil {
			t.Errorf("asked: %d, %v; scanned: %d, %v", asked, askErr, scanned, scanErr)
		}
	})
	t.Run("no connection, but a listener on the port asked for", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		peer := l.Addr().(*net.TCPAddr).AddrPort()
		if uid, err := askForPeer(peer, netip.MustParseAddrPort("127.0.0.1:9")); !errors.Is(err, ErrPeerUnknown) {
			t.Errorf("got %d, %v; a listener has connected to nobody", uid, err)
		}
	})
}

// dialMapped connects an IPv6 socket to an IPv4 listener and returns the ends as
// the listener's side sees them.
func dialMapped(t *testing.T) (peer, local netip.AddrPort) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	fd, err := syscall.Socket(syscall.AF_INET6, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	to := &syscall.SockaddrInet6{Port: l.Addr().(*net.TCPAddr).Port, Addr: netip.MustParseAddr("::ffff:127.0.0.1").As16()}
	if err := syscall.Connect(fd, to); err != nil {
		t.Fatal(err)
	}
	in, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	return in.RemoteAddr().(*net.TCPAddr).AddrPort(), in.LocalAddr().(*net.TCPAddr).AddrPort()
}

func TestSocketOwner_Malformed(t *testing.T) {
	source, destination := netip.MustParseAddrPort("127.0.0.1:54321"), netip.MustParseAddrPort("127.0.0.1:9001")
	refused := make([]byte, 20)
	binary.NativeEndian.PutUint16(refused[4:], unix.NLMSG_ERROR)
	binary.NativeEndian.PutUint32(refused[16:], ^uint32(unix.EPERM)+1)
	for name, answer := range map[string][]byte{
		"empty":       nil,
		"header only": make([]byte, unix.SizeofNlMsghdr),
		"other kind":  make([]byte, answerLen),
		"refused":     refused,
		"cut":         append([]byte{88, 0, 0, 0, unix.SOCK_DIAG_BY_FAMILY, 0}, make([]byte, 60)...),
	} {
		if uid, err := socketOwner(answer, source, destination); err == nil || errors.Is(err, ErrPeerUnknown) {
			t.Errorf("%s: %d, %v; want an error that makes the table be read", name, uid, err)
		}
	}
}

// The kernel finds one socket by its hash: beside n others the look-up costs the
// same. The table has a line for each.
func BenchmarkPeerLookup(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	for _, n := range []int{10, 1000, 8000} {
		var held []net.Conn
		for range n {
			out, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				b.Fatal(err)
			}
			in, err := l.Accept()
			if err != nil {
				b.Fatal(err)
			}
			held = append(held, in, out)
		}
		peer, local := held[0].RemoteAddr().(*net.TCPAddr).AddrPort(), held[0].LocalAddr().(*net.TCPAddr).AddrPort()
		for name, look := range map[string]func(peer, local netip.AddrPort) (uint32, error){"ask": askForPeer, "scan": scanForPeer} {
			b.Run(fmt.Sprintf("%s/connections=%d", name, n), func(b *testing.B) {
				for b.Loop() {
					if _, err := look(peer, local); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		for _, c := range held {
			_ = c.Close()
		}
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
