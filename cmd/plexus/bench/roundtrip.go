package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"plexus/domain/framing"
)

// RoundTrip is Ping out to echo in, beside the same number of bytes through a
// bare socket of the same kind, in turn.
type RoundTrip struct {
	Transport string    `json:"transport"` // websocket or unix
	Payload   int       `json:"payload"`   // bytes
	Load      string    `json:"load"`      // what else goes on meanwhile
	Host      Figures   `json:"host"`
	Floor     Figures   `json:"floor"`
	RatioP50  float64   `json:"ratio_p50"`
	RatioP99  float64   `json:"ratio_p99"`
	Histogram Histogram `json:"histogram"` // of the host
}

// Loads.
const (
	idle          = "idle"
	anotherStream = "another connection streams 10,000 tokens/s"
	sameStream    = "the same connection streams 10,000 tokens/s"
)

const (
	repeats = 5  // the median of these is reported
	blocks  = 10 // turns of floor and host in one repeat
	warmup  = 2000
)

func (b *run) roundTrips(ctx context.Context, r *Report) error {
	for _, websocket := range []bool{true, false} {
		for _, payload := range []int{0, 1 << 10, 64 << 10} {
			for _, load := range []string{idle, anotherStream, sameStream} {
				if load == sameStream && payload > 0 {
					continue
				}
				m, err := b.roundTrip(ctx, websocket, payload, load)
				if err != nil {
					return err
				}
				r.RoundTrips = append(r.RoundTrips, m)
			}
		}
	}
	return nil
}

func (b *run) roundTrip(ctx context.Context, websocket bool, payload int, load string) (RoundTrip, error) {
	m := RoundTrip{Transport: "unix", Payload: payload, Load: load}
	if websocket {
		m.Transport = "websocket"
	}
	host, err := dialHost(b.host, websocket)
	if err != nil {
		return m, err
	}
	defer func() { _ = host.Close() }()
	floor, err := b.floor.dial(websocket)
	if err != nil {
		return m, err
	}
	defer func() { _ = floor.Close() }()
	stop, err := b.startLoad(host, load)
	if err != nil {
		return m, err
	}
	defer stop()

	request, err := host.pack(framing.Ping, 1<<40, make([]byte, payload))
	if err != nil {
		return m, err
	}
	pinger := func() error { return host.exchange(request, framing.Ping, 1<<40) }
	// The floor moves what the host moves: masked frame out, unmasked back.
	reply := make([]byte, len(request))
	echoer := func() error {
		if _, err := floor.Write(request); err != nil {
			return err
		}
		_, err := io.ReadFull(floor, reply)
		return err
	}
	return m, b.compare(ctx, &m, pinger, echoer)
}

// compare times both in turn, block by block.
func (b *run) compare(ctx context.Context, m *RoundTrip, host, floor func() error) error {
	n := 50_000
	if m.Payload > 1<<10 || m.Load != idle {
		n = 10_000
	}
	perBlock := max(b.samples(n)/repeats/blocks, 2)
	if _, err := timed(ctx, min(warmup, 20*perBlock), floor, nil); err != nil {
		return fmt.Errorf("bare socket: %w", err)
	}
	if _, err := timed(ctx, min(warmup, 20*perBlock), host, nil); err != nil {
		return err
	}
	var hosts, floors []Figures
	for repeat := range repeats {
		b.say("round trip: %s, %d B, %s: %d of %d", m.Transport, m.Payload, m.Load, repeat+1, repeats)
		var h, f []time.Duration
		for range blocks {
			fs, err := timed(ctx, perBlock, floor, nil)
			if err != nil {
				return fmt.Errorf("bare socket: %w", err)
			}
			hs, err := timed(ctx, perBlock, host, &m.Histogram)
			if err != nil {
				return err
			}
			h, f = append(h, hs...), append(f, fs...)
		}
		hosts, floors = append(hosts, figuresOf(h)), append(floors, figuresOf(f))
	}
	m.Host, m.Floor = medianOf(hosts), medianOf(floors)
	m.RatioP50 = ratioOf(hosts, floors, func(f Figures) float64 { return f.P50 })
	m.RatioP99 = ratioOf(hosts, floors, func(f Figures) float64 { return f.P99 })
	return nil
}

// timed calls f n times and keeps how long each call took.
func timed(ctx context.Context, n int, f func() error, h *Histogram) ([]time.Duration, error) {
	samples := make([]time.Duration, n)
	for i := range samples {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		start := time.Now()
		if err := f(); err != nil {
			return nil, err
		}
		samples[i] = time.Since(start)
		if h != nil {
			h.add(samples[i])
		}
	}
	return samples, nil
}

// startLoad begins what else goes on; stop ends it.
func (b *run) startLoad(same *wire, load string) (stop func(), err error) {
	switch load {
	case idle:
		return func() {}, nil
	case sameStream:
		return func() {}, same.send(same.ask(2, askSteady, false)) // it ends with its connection
	}
	other, err := dialHost(b.host, true)
	if err != nil {
		return nil, err
	}
	err = other.send(other.ask(1, askSteady, false))
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(io.Discard, other.r) }) // until it is closed
	return func() {
		_ = other.Close()
		reading.Wait()
	}, err
}

// livePings is few enough not to disturb a host that somebody uses.
const livePings = 2000

// Live measures the Ping of a running host, through a client of its own.
func Live(ctx context.Context, ping func() error, out io.Writer, asJSON bool) error {
	var h Histogram
	samples, err := timed(ctx, livePings, ping, &h)
	if err != nil {
		return fmt.Errorf("ping the running host: %w", err)
	}
	f := figuresOf(samples)
	if asJSON {
		return json.NewEncoder(out).Encode(f)
	}
	p := &printer{out: out}
	p.line("%d Pings of the running host, times in µs", f.N)
	p.line("%-30s %8s %8s %8s %8s %8s", "", "p50", "p90", "p99", "p99.9", "max")
	p.figures("unix socket", f, "")
	p.histogram(h)
	return p.err
}
