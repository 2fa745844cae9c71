package nerve_test

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"plexus/adapters/hostfiles"
	"plexus/adapters/nervews"
	"plexus/domain/framing"
	"plexus/domain/sessions"
)

// pin is one behavior that existing clients rely on, numbered as the reference
// daemon's tests are.
type pin struct {
	name string
	test func(t *testing.T, f *fixture)
}

// TestB47_ReferencePins holds the behaviors that the tests of the reference
// daemon pin down, each over its own transport. Where a decision of ours differs
// the pin says so.
func TestB47_ReferencePins(t *testing.T) {
	f := start(t, setup{origins: []string{ourOrigin}})
	seen := 0
	for _, group := range [][]pin{unitPins(), unixPins(), unixQueryPins(), unixClientPins(), unixErrorPins(), socketPins(), socketClientPins(), securityPins()} {
		for _, p := range group {
			seen++
			if want := twoDigits(seen); !strings.HasPrefix(p.name, want+" ") {
				t.Errorf("pin %q should be number %s", p.name, want)
			}
			t.Run(p.name, func(t *testing.T) { p.test(t, f) })
		}
	}
	if seen != 65 {
		t.Errorf("%d pins, want 65", seen)
	}
}

func twoDigits(n int) string { return string([]byte{'0' + byte(n/10), '0' + byte(n%10)}) }

func unitPins() []pin {
	newToken := func(t *testing.T) string {
		loaded, err := hostfiles.LoadToken(filepath.Join(t.TempDir(), "token"))
		if err != nil {
			t.Fatal(err)
		}
		return loaded.Token.Secret().Reveal()
	}
	table := func(t *testing.T) (f sessions.Inflight[*bool], canceled *bool) {
		canceled = new(bool)
		if err := f.Begin(1, canceled); err != nil {
			t.Fatal(err)
		}
		return f, canceled
	}
	return []pin{
		{"01 generate_token_is_64_hex_chars", func(t *testing.T, _ *fixture) {
			if !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(newToken(t)) {
				t.Error("the token is not 64 hex digits")
			}
		}},
		{"02 tokens_are_unique", func(t *testing.T, _ *fixture) {
			if first, second := newToken(t), newToken(t); first == second {
				t.Error("two tokens are the same")
			}
		}},
		{"03 request_table_lifecycle", func(t *testing.T, _ *fixture) {
			f, entry := table(t)
			if got, live := f.Get(1); !live || got != entry || *got {
				t.Error("the new entry is not live, or cancelled")
			}
			if got, ok := f.End(1); !ok || got != entry || f.Len() != 0 {
				t.Error("the entry did not leave an empty table")
			}
		}},
		{"04 cancel_unknown_request_is_safe", func(t *testing.T, _ *fixture) {
			f, _ := table(t)
			if _, ok := f.End(999); ok || f.Len() != 1 {
				t.Error("an unknown ID ended something")
			}
		}},
		// The reference keeps a cancelled entry; here it has left the table, and a
		// second Cancel is as harmless as one of an unknown ID.
		{"05 duplicate_cancel_is_safe", func(t *testing.T, _ *fixture) {
			f, _ := table(t)
			f.End(1)
			if _, ok := f.End(1); ok || f.Len() != 0 {
				t.Error("an entry ended twice")
			}
		}},
		{"06 cancel_marks_request", func(t *testing.T, _ *fixture) {
			f, _ := table(t)
			f.Drain(func(_ uint64, canceled *bool) { *canceled = true })
			f.Drain(func(uint64, *bool) { t.Error("an entry was drained twice") })
			answer, begun, ended := holdingAnswer()
			w := start(t, setup{answer: answer}).dialWebSocket(t)
			send(t, w, askFrame(1))
			<-begun
			send(t, w, cancel(1), cancel(1), ping(2))
			<-ended // its context says so
			expectEcho(t, w, 2)
		}},
	}
}

// echoes pings with each ID in turn.
func echoes(t *testing.T, w wire, ids ...uint64) {
	t.Helper()
	for _, id := range ids {
		send(t, w, ping(id))
		expectEcho(t, w, id)
	}
}

func readsBack(id uint64, payload string) func(*testing.T, *fixture) {
	return func(t *testing.T, _ *fixture) {
		client, server := net.Pipe()
		prepare(t, client)
		prepare(t, server)
		go func() { _, _ = client.Write(frame(framing.Ping, framing.Final, id, payload)) }() // a failure shows in the read
		h, got, err := new(nervews.FrameBuffer).Read(server, nil)
		if err != nil || h.RequestID != id || int(h.PayloadLength) != len(payload) || string(got[framing.HeaderSize:]) != payload {
			t.Errorf("read %+v %q (%v)", h, got, err)
		}
	}
}

func unixPins() []pin {
	return []pin{
		{"07 ping_roundtrip", func(t *testing.T, f *fixture) {
			w := f.dialUnix(t)
			send(t, w, ping(1))
			if g := receive(t, w); g.Type != framing.Ping || g.RequestID != 1 || g.Flags&framing.Final == 0 {
				t.Errorf("got %+v", g.Header)
			}
		}},
		{"08 multiple_pings", func(t *testing.T, f *fixture) { echoes(t, f.dialUnix(t), 1, 2, 3, 4, 5) }},
		{"09 ping_roundtrip_over_unix_socket", func(t *testing.T, f *fixture) {
			w := f.dialUnix(t)
			send(t, w, frame(framing.Ping, 0, 99, "ping-ci-test"))
			chunk := make([]byte, 4096)
			n, err := w.Read(chunk) // one read must bring it all
			if want := frame(framing.Ping, framing.Final, 99, "ping-ci-test"); err != nil || !bytes.Equal(chunk[:n], want) {
				t.Errorf("read %q (%v)", chunk[:n], err)
			}
		}},
		{"10 socket_read_frame_roundtrip", readsBack(42, "hello nerve")},
		{"11 socket_read_frame_roundtrip_lifecycle", readsBack(7, "hello nerve")},
		{"12 connection_lifecycle", func(t *testing.T, f *fixture) {
			w := f.dialUnix(t)
			echoes(t, w, 1)
			_ = w.Close()
			echoes(t, f.dialUnix(t), 2)
		}},
	}
}

// bare is a query whose payload is plain text and no JSON, as the reference
// tests send it. It is refused, which decision D1a answers with one sentinel.
func bare(id uint64, flags framing.Flags) []byte {
	return frame(framing.SearchQueryMsg, flags, id, "what is this")
}

// refusedUntilEcho reads up to the echo of ping and insists that nothing but one
// sentinel for each refused query came before it. The reference is silent there.
func refusedUntilEcho(t *testing.T, w wire, ping uint64, refused ...uint64) {
	t.Helper()
	before := untilEcho(t, w, ping)
	if len(before) != len(refused) {
		t.Fatalf("%s before the echo of %d, want %d sentinels", shape(before), ping, len(refused))
	}
	for i, g := range before {
		if g.Type != framing.AiTokenMsg || g.Flags != framing.Final || g.RequestID != refused[i] || g.payload != sentinel {
			t.Errorf("got %v of %d with %s, want the sentinel of %d", g.Type, g.RequestID, g.payload, refused[i])
		}
	}
}

// Pins 13 to 20: read until the Ping echo with the right ID (decision D1a).
func unixQueryPins() []pin {
	return []pin{
		{"13 search_query_dispatched_to_ai_boundary", func(t *testing.T, f *fixture) {
			w := f.dialUnix(t)
			send(t, w, bare(42, framing.Stream), ping(43))
			refusedUntilEcho(t, w, 43, 42)
		}},
		{"14 multiple_requests_different_ids", func(t *testing.T, f *fixture) {
			w := f.dialUnix(t)
			send(t, w, ping(1), bare(2, framing.Final), ping(3))
			expectEcho(t, w, 1)
			refusedUntilEcho(t, w, 3, 2)
		}},
		{"15 search_query_accepted_without_disconnecting_client", func(t *testing.T, f *fixture) {
			w := f.dialUnix(t)
			send(t, w, bare(42, 0), ping(99))
			refusedUntilEcho(t, w, 99, 42)
		}},
		{"16 multiple_search_queries_do_not_disconnect_client", func(t *testing.T, f *fixture) {
			w := f.dialUnix(t)
			send(t, w, bare(1, 0), bare(2, 0), bare(3, 0), ping(100))
			refusedUntilEcho(t, w, 100, 1, 2, 3)
		}},
		{"17 search_query_then_cancel_leaves_connection_usable", func(t *testing.T, f *fixture) {
			w := f.dialUnix(t)
			send(t, w, bare(1, 0), frame(framing.Cancel, 0, 1, ""), ping(2))
			refusedUntilEcho(t, w, 2, 1) // a Cancel is not acknowledged
		}},
		{"18 interleaved_search_queries_and_pings", func(t *testing.T, f *fixture) {
			w := f.dialUnix(t)
			send(t, w, bytes.Join([][]byte{bare(10, 0), ping(11), bare(12, 0), ping(13)}, nil))
			refusedUntilEcho(t, w, 11, 10)
			refusedUntilEcho(t, w, 13, 12)
		}},
		{"19 cancel_pending_search_request_keeps_connection_open", func(t *testing.T, f *fixture) {
			w := f.dialUnix(t)
			send(t, w, bare(9, 0), cancel(9), ping(10))
			refusedUntilEcho(t, w, 10, 9)
		}},
		{"20 cancel_one_request_other_requests_unaffected", func(t *testing.T, f *fixture) {
			w := f.dialUnix(t)
			send(t, w, bare(1, 0), bare(2, 0), cancel(1), ping(99))
			refusedUntilEcho(t, w, 99, 1, 2)
		}},
		{"21 send_cancel_message", func(t *testing.T, f *fixture) {
			w := f.dialUnix(t)
			send(t, w, bare(100, framing.Stream), cancel(100), ping(101))
			refusedUntilEcho(t, w, 101, 100)
		}},
		{"22 cancel_nonexistent_request", func(t *testing.T, f *fixture) {
			w := f.dialUnix(t)
			send(t, w, cancel(999))
			echoes(t, w, 1)
		}},
	}
}

// manyClients gives each of n clients an echo of its own while all are open.
func manyClients(t *testing.T, dial func(*testing.T) wire, ids ...uint64) {
	t.Helper()
	var all []wire
	for _, id := range ids {
		w := dial(t)
		send(t, w, ping(id))
		all = append(all, w)
	}
	for n, w := range all {
		expectEcho(t, w, ids[n])
	}
}

func unixWire(f *fixture) func(*testing.T) wire {
	return func(t *testing.T) wire { return f.dialUnix(t) }
}

// goodDespite sends junk from one client while another, there before, goes on.
func goodDespite(junk []byte, id uint64) func(*testing.T, *fixture) {
	return func(t *testing.T, f *fixture) {
		good, bad := f.dialUnix(t), f.dialUnix(t)
		send(t, bad, junk)
		_ = bad.Close()
		echoes(t, good, id)
	}
}

// cancelIsPrivate cancels on one connection what may be running on another.
func cancelIsPrivate(t *testing.T, f *fixture) {
	a, b := f.dialUnix(t), f.dialUnix(t)
	send(t, a, bare(1, 0), cancel(1))
	echoes(t, b, 2)
	send(t, a, ping(3))
	refusedUntilEcho(t, a, 3, 1)
}

func reconnects(id uint64) func(*testing.T, *fixture) {
	return func(t *testing.T, f *fixture) {
		first := f.dialUnix(t)
		echoes(t, first, 1)
		_ = first.Close()
		echoes(t, f.dialUnix(t), id)
	}
}

func unixClientPins() []pin {
	return []pin{
		{"23 two_simultaneous_clients_both_receive_responses", func(t *testing.T, f *fixture) { manyClients(t, unixWire(f), 10, 20) }},
		{"24 three_simultaneous_clients", func(t *testing.T, f *fixture) { manyClients(t, unixWire(f), 1, 2, 3) }},
		{"25 cancel_on_one_connection_does_not_affect_another", cancelIsPrivate},
		{"26 malformed_client_does_not_crash_concurrent_good_client", goodDespite([]byte("\xde\xad\xbe\xef\xff\xff\x00\x00"), 99)},
		{"27 client_disconnect_does_not_block_new_connections", reconnects(2)},
		// As pins 13 to 20: what came before the echo is one sentinel each.
		{"28 concurrent_requests_same_connection", func(t *testing.T, f *fixture) {
			w := f.dialUnix(t)
			send(t, w, bare(100, 0), bare(200, 0), cancel(100), ping(999))
			refusedUntilEcho(t, w, 999, 100, 200)
		}},
		{"29 two_clients_are_served_concurrently", func(t *testing.T, f *fixture) { manyClients(t, unixWire(f), 1, 2) }},
		{"30 malformed_client_does_not_affect_good_client", goodDespite(bytes.Repeat([]byte{0xff}, 100), 7)},
		{"31 cancel_on_connection_a_does_not_affect_connection_b", cancelIsPrivate},
		{"32 disconnected_client_does_not_block_new_connections", reconnects(42)},
	}
}

func unixErrorPins() []pin {
	// harmless does something odd on a connection and looks whether the next one works.
	harmless := func(odd func(t *testing.T, w stream)) func(*testing.T, *fixture) {
		return func(t *testing.T, f *fixture) {
			w := f.dialUnix(t)
			odd(t, w)
			_ = w.Close()
			echoes(t, f.dialUnix(t), 1)
		}
	}
	return []pin{
		{"33 connection_closed_gracefully", harmless(func(*testing.T, stream) {})},
		{"34 malformed_data_closes_connection", harmless(func(t *testing.T, w stream) {
			send(t, w, bytes.Repeat([]byte{0xff}, 50))
			expectEnd(t, w, 0)
		})},
		{"35 empty_write_handling", harmless(func(t *testing.T, w stream) {
			send(t, w, []byte{})
			echoes(t, w, 5)
		})},
		{"36 partial_frame_handling", harmless(func(t *testing.T, w stream) {
			send(t, w, []byte{0x56, 0x52, 0x45, 0x4e, 0x01, 0x00}) // the magic as it lies on the wire
		})},
		{"37 rapid_connect_disconnect", func(t *testing.T, f *fixture) {
			for range 3 {
				_ = f.dialUnix(t).Close()
			}
			echoes(t, f.dialUnix(t), 1)
		}},
		{"38 socket_already_exists", func(t *testing.T, _ *fixture) {
			dir, err := os.MkdirTemp("", "pin") // t.TempDir would make too long a socket path
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			path := filepath.Join(dir, "nerve.sock")
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			ln, _, err := hostfiles.ListenUnix(t.Context(), path, "--nerve-socket")
			if err != nil {
				t.Fatal(err)
			}
			defer ln.Close()
			conn, err := net.Dial("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			_ = conn.Close()
		}},
		{"39 agent_task_lifecycle_is_accepted", harmless(func(t *testing.T, w stream) {
			send(t, w, frame(framing.AgentTaskStart, 0, 77, "task payload"), frame(framing.AgentTaskDone, 0, 77, ""))
			echoes(t, w, 78)
		})},
	}
}
