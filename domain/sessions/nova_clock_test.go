package sessions

import (
	"fmt"
	"testing"
	"time"

	"plexus/domain/nova"
)

func pong(id string) string {
	return fmt.Sprintf(`{"type":"clock.pong","ping_id":%q,"t_render_ms":1.5}`, id)
}

// TestN65_APongCountsOnceAndForAPingThatWasSent: all are applied, and none is
// delivered.
func TestN65_APongCountsOnceAndForAPingThatWasSent(t *testing.T) {
	n := admitted(t, "")
	if due := n.Deadline(); !due.Equal(start.Add(ClockInterval)) {
		t.Fatalf("the first ping is due at %v", due)
	}
	sent := start.Add(ClockInterval)
	want(t, "too early", n.Tick(sent.Add(-1)), Effects{})
	want(t, "the minute", n.Tick(sent), Effects{Send: []nova.Message{nova.ClockPing{PingID: "ping-0"}}})
	want(t, "the minute again", n.Tick(sent), Effects{})
	for i, c := range []struct {
		id    string
		after time.Duration
		trips int
		trip  time.Duration
	}{
		{"ping-1", 5 * time.Millisecond, 0, 0}, // not sent yet
		{"ping-0", 7 * time.Millisecond, 1, 7 * time.Millisecond},
		{"ping-0", 9 * time.Millisecond, 1, 7 * time.Millisecond}, // once only
	} {
		id := fmt.Sprint(i)
		want(t, c.id, n.Text(command(id, connection, pong(c.id)), sent.Add(c.after)), receipted(id, nova.Applied))
		if o := n.Observed(); o.RoundTrips != c.trips || o.RoundTrip != c.trip {
			t.Errorf("pong %d: %+v", i, o)
		}
	}
	next := sent.Add(ClockInterval)
	want(t, "the next minute", n.Tick(next), Effects{Send: []nova.Message{nova.ClockPing{PingID: "ping-1"}}})
	want(t, "a pong before its ping", n.Text(command("x", connection, pong("ping-1")), next.Add(-time.Second)), receipted("x", nova.Applied))
	if o := n.Observed(); o.RoundTrips != 2 || o.RoundTrip != 0 {
		t.Errorf("a round trip into the past: %+v", o)
	}
}

// TestN65_PingsAreForgottenOnDisconnect: nothing is due any more either.
func TestN65_PingsAreForgottenOnDisconnect(t *testing.T) {
	n := admitted(t, "")
	n.Tick(start.Add(ClockInterval))
	n.End(ClientGone)
	if len(n.clock.out) != 0 || !n.Deadline().IsZero() {
		t.Errorf("%d pings are still out, the next is due at %v", len(n.clock.out), n.Deadline())
	}
}

// TestN65_PongsDoNotUseUpTheCommands: a client that answers every ping of a long
// call keeps most of its ledger.
func TestN65_PongsDoNotUseUpTheCommands(t *testing.T) {
	n := admitted(t, "")
	pings := 0
	for ; !n.Deadline().IsZero(); pings++ {
		now := n.Deadline()
		for _, m := range n.Tick(now).Send {
			id := m.(nova.ClockPing).PingID
			if e := n.Text(command(id, connection, pong(id)), now); e.Close != 0 {
				t.Fatalf("pong %s: %v", id, e.Close)
			}
		}
		if pings > MaxCommands {
			t.Fatal("the pings never end")
		}
	}
	if left := MaxCommands - len(n.ledger.entries); n.Observed().RoundTrips != MaxClockPings || left < MaxCommands/2 {
		t.Errorf("%d round trips, %d commands left", n.Observed().RoundTrips, left)
	}
}

const telemetry = `{"type":"playback.telemetry","utterance_id":"u","generation_epoch":1,"final":true,"window_ms":%d,` +
	`"pcm_near_silence_ms_max":0,"frame_gap_ms_max":0.5,"stdin_drain_ms_max":0,"queued_samples":0,"queued_samples_max":0,` +
	`"stdin_buffered_bytes_max":0,"underrun_samples":0,"underrun_callbacks":0,"max_consecutive_underrun_samples":0,` +
	`"render_callbacks":0,"max_callback_us":0,"sequence_gaps":0,"rejected_frames":0,"stdin_backpressure_count":0}`

// TestN66_TelemetryIsCountedAndNeverAFault: invalid ones are one and the same
// control, so that two under one ID are a repetition.
func TestN66_TelemetryIsCountedAndNeverAFault(t *testing.T) {
	n := admitted(t, "")
	for _, c := range []struct{ id, payload string }{
		{"good", fmt.Sprintf(telemetry, 20)},
		{"too large", fmt.Sprintf(telemetry, 86_400_001)},
		{"empty", `{"type":"playback.telemetry"}`},
		{"empty", `{"type":"playback.telemetry","final":7}`},
	} {
		want(t, c.id, n.Text(command(c.id, connection, c.payload), start), receipted(c.id, nova.Applied))
	}
	if o := n.Observed(); o != (Observed{Telemetry: 1, TelemetryRejected: 2}) {
		t.Errorf("%+v", o)
	}
}

func TestN67_DiagnosticsAreCountedByPhase(t *testing.T) {
	n := admitted(t, "")
	for i, payload := range []string{
		`{"type":"connection.diagnostic","phase":"closed","close_code":1006,"reason":"abnormal"}`,
		`{"type":"connection.diagnostic","phase":"reconnect_attempt","attempt":1,"delay_ms":1000}`,
		`{"type":"connection.diagnostic","phase":"reconnect_attempt","attempt":2,"delay_ms":2000}`,
		`{"type":"connection.diagnostic","phase":"reconnect_result","attempt":2,"result":"connected"}`,
	} {
		id := fmt.Sprint(i)
		want(t, payload, n.Text(command(id, connection, payload), start), receipted(id, nova.Applied))
	}
	if o := n.Observed(); o != (Observed{Closed: 1, Reconnects: 2, Results: 1}) {
		t.Errorf("%+v", o)
	}
}
