package nerve_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plexus/adapters/wsconn/wstest"
	"plexus/domain/framing"
	"plexus/tests/program"
)

func socketPins() []pin {
	return []pin{
		{"40 server_binds_and_accepts", func(t *testing.T, f *fixture) {
			host, _, err := net.SplitHostPort(f.addr)
			if err != nil || host != "127.0.0.1" {
				t.Errorf("it listens at %s", f.addr)
			}
			conn, err := net.Dial("tcp", f.addr)
			if err != nil {
				t.Fatal(err)
			}
			_ = conn.Close()
		}},
		// Decision D6: the right token is enough for who has no Origin, and for an extension.
		{"41 auth_valid_no_origin_check", func(t *testing.T, f *fixture) { f.admits(t, "anvesha-v1."+token, offer(token)) }},
		{"42 auth_valid_with_origin", func(t *testing.T, f *fixture) {
			f.admits(t, "anvesha-v1."+token, offer(token), from(ourOrigin))
		}},
		{"43 ping_roundtrip", func(t *testing.T, f *fixture) {
			w := f.dialWebSocket(t)
			send(t, w, ping(42))
			message, err := w.ReadFrame()
			if err != nil || !message.Fin || message.Opcode != wstest.Binary || !bytes.Equal(message.Payload, ping(42)) {
				t.Errorf("got %+v (%v), want one binary message", message, err)
			}
		}},
		{"44 multiple_sequential_pings", func(t *testing.T, f *fixture) { echoes(t, f.dialWebSocket(t), 1, 100, 0xFFFFFFFF, 999) }},
		{"45 ping_echoes_request_id", func(t *testing.T, f *fixture) { echoes(t, f.dialWebSocket(t), 0xDEADBEEF) }},
		{"46 ping_reply_flags_and_type", func(t *testing.T, f *fixture) {
			w := f.dialWebSocket(t)
			send(t, w, frame(framing.Ping, framing.Stream|framing.Final, 1, ""))
			if g := receive(t, w); g.Type != framing.Ping || g.Flags&framing.Final == 0 || g.Flags&framing.Stream != 0 {
				t.Errorf("got %v with flags %#02x", g.Type, g.Flags)
			}
		}},
		{"47 multiple_pings_distinct_ids", func(t *testing.T, f *fixture) { echoes(t, f.dialWebSocket(t), 0, 1, 1<<64-1, 42, 0xABCD) }},
	}
}

func socketWire(f *fixture) func(*testing.T) wire {
	return func(t *testing.T) wire { return f.dialWebSocket(t) }
}

// emptyObject is the query of the reference's WebSocket tests; it is refused.
func emptyObject(id uint64) []byte { return frame(framing.SearchQueryMsg, framing.Final, id, "{}") }

func socketClientPins() []pin {
	return []pin{
		{"48 two_concurrent_pings", func(t *testing.T, f *fixture) { manyClients(t, socketWire(f), 1, 2) }},
		{"49 three_concurrent_clients", func(t *testing.T, f *fixture) { manyClients(t, socketWire(f), 10, 20, 30) }},
		// A Close frame is a failing read too (pins 50 and 61 to 63).
		{"50 bad_frame_closes_one_connection_only", func(t *testing.T, f *fixture) {
			good, bad := f.dialWebSocket(t), f.dialWebSocket(t)
			send(t, bad, make([]byte, 20))
			expectEnd(t, bad, 1002)
			echoes(t, good, 99)
		}},
		{"51 cancel_isolation_between_connections", func(t *testing.T, f *fixture) {
			a, b := f.dialWebSocket(t), f.dialWebSocket(t)
			send(t, a, emptyObject(777))
			send(t, b, cancel(777))
			echoes(t, b, 1)
			send(t, a, ping(2))
			refusedUntilEcho(t, a, 2, 777)
		}},
		{"52 reconnect_after_disconnect", func(t *testing.T, f *fixture) {
			first := f.dialWebSocket(t)
			echoes(t, first, 1)
			_ = first.Close()
			echoes(t, f.dialWebSocket(t), 2)
		}},
		// Read until the Ping echo with the right ID (decision D1a).
		{"53 search_query_handled_connection_stays_open", func(t *testing.T, f *fixture) {
			w := f.dialWebSocket(t)
			send(t, w, emptyObject(42), ping(43))
			refusedUntilEcho(t, w, 43, 42)
		}},
		{"54 cancel_handled_connection_stays_open", func(t *testing.T, f *fixture) {
			w := f.dialWebSocket(t)
			send(t, w, emptyObject(99), cancel(99), ping(100))
			refusedUntilEcho(t, w, 100, 99)
		}},
		{"55 agent_task_lifecycle", func(t *testing.T, f *fixture) {
			w := f.dialWebSocket(t)
			send(t, w, frame(framing.AgentTaskStart, framing.Final, 200, "{}"), frame(framing.AgentTaskEvent, framing.Stream, 200, "{}"),
				frame(framing.AgentTaskDone, framing.Final, 200, ""))
			echoes(t, w, 201)
		}},
	}
}

func securityPins() []pin {
	refuses := func(lines ...string) func(*testing.T, *fixture) {
		return func(t *testing.T, f *fixture) { f.refuses(t, lines...) }
	}
	ends := func(code int, message []byte) func(*testing.T, *fixture) {
		return func(t *testing.T, f *fixture) {
			w := f.dialWebSocket(t)
			_ = w.Send(message) // the host may hang up before it has all of it
			expectEnd(t, w, code)
		}
	}
	return []pin{
		{"56 reject_wrong_token", refuses(offer(wrongToken()))},
		{"57 reject_missing_token", refuses()},
		// Decision D6: a web page never passes; an extension does with the right token,
		// listed or not, and so does who has no Origin.
		{"58 reject_wrong_origin", refuses(from("https://evil.example"), offer(token))},
		{"59 reject_correct_origin_wrong_token", refuses(from(ourOrigin), offer(wrongToken()))},
		{"60 reject_missing_origin", func(t *testing.T, f *fixture) {
			f.admits(t, "anvesha-v1."+token, offer(token))
			f.refuses(t, offer(wrongToken()))
		}},
		{"61 reject_oversized_payload_header", ends(1002, header(framing.Magic, 1, byte(framing.Ping), 2, 1, 1_048_577))},
		{"62 reject_invalid_magic", ends(1002, make([]byte, 20))},
		{"63 reject_truncated_frame", ends(1002, []byte{0x4e, 0x45, 0x52, 0x56})},
		// Its header is wrong already, and is judged before the rest has come.
		{"64 reject_oversized_websocket_message", ends(1002, make([]byte, 1_048_597))},
		{"65 default_config_binds_loopback_only", func(t *testing.T, _ *fixture) {
			// Whether it is we who take the port or somebody else: the program names the
			// one address that it wanted.
			if ln, err := net.Listen("tcp", "127.0.0.1:9001"); err == nil {
				defer ln.Close()
			}
			if code, output := servesNot(t); code != 1 || !strings.Contains(output, "port 9001 on 127.0.0.1 ") {
				t.Errorf("it ended with %d and said:\n%s", code, output)
			}
		}},
	}
}

// TestH19_TheTakenPortIsNamed: another port in silence would leave every client
// looking for the host in vain.
func TestH19_TheTakenPortIsNamed(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, port, err := net.SplitHostPort(ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	code, output := servesNot(t, "--nerve-addr", ln.Addr().String())
	if code != 1 || !strings.Contains(output, port) || !strings.Contains(output, "--nerve-addr") {
		t.Errorf("it ended with %d and said:\n%s", code, output)
	}
}

// servesNot builds the program and lets it serve with a home of its own, which
// it is expected to refuse at once.
func servesNot(t *testing.T, flags ...string) (code int, output string) {
	t.Helper()
	home := t.TempDir()
	binary := filepath.Join(home, "plexus.exe")
	if err := errors.Join(program.Sources(), program.Build(binary)); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	serve := exec.CommandContext(ctx, binary, append([]string{"serve", "--data-dir", filepath.Join(home, "d")}, flags...)...)
	serve.Env = []string{"HOME=" + home, "USERPROFILE=" + home, "LOCALAPPDATA=" + home, "APPDATA=" + home}
	serve.WaitDelay = time.Second
	out, err := serve.CombinedOutput()
	if err == nil || ctx.Err() != nil {
		t.Fatalf("it served (%v):\n%s", err, out)
	}
	return serve.ProcessState.ExitCode(), string(out)
}
