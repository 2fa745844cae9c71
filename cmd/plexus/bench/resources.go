package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"plexus/domain/framing"
)

// Allocations are heap allocations of the whole host process per frame.
type Allocations struct {
	PerPing  float64 `json:"per_ping"`
	PerToken float64 `json:"per_token"`
	PerQuery float64 `json:"per_query"` // query in, results and one token out, upstream call included
	Frames   int     `json:"frames"`
}

func (b *run) allocations(_ context.Context, w *wire, r *Report) error {
	n := b.samples(100_000)
	r.Allocations.Frames = n
	ping, err := w.pack(framing.Ping, 1, nil)
	if err != nil {
		return err
	}
	b.say("allocations: %d Pings", n)
	if r.Allocations.PerPing, err = b.perOperation(n, func(int) error { return w.exchange(ping, framing.Ping, 1) }); err != nil {
		return err
	}
	b.say("allocations: %d tokens", floodTokens)
	perFlood, err := b.perOperation(1, func(int) error { return flood(w) })
	if err != nil {
		return err
	}
	r.Allocations.PerToken = perFlood / floodTokens
	b.say("allocations: queries")
	r.Allocations.PerQuery, err = b.perOperation(b.samples(1000), func(i int) error {
		_, err := firstResultOnce(w, uint64(i), 0)
		return err
	})
	return err
}

// perOperation counts the host's allocations while f runs n times, less what
// asking for its vitals costs.
func (b *run) perOperation(n int, f func(i int) error) (float64, error) {
	if err := f(0); err != nil { // warm
		return 0, err
	}
	idle1, err := b.host.vitals()
	if err != nil {
		return 0, err
	}
	before, err := b.host.vitals()
	if err != nil {
		return 0, err
	}
	for i := range n {
		if err := f(i); err != nil {
			return 0, err
		}
	}
	after, err := b.host.vitals()
	if err != nil {
		return 0, err
	}
	asking := before.Mallocs - idle1.Mallocs
	spent := after.Mallocs - before.Mallocs
	return float64(spent-min(asking, spent)) / float64(n), nil
}

// Throughput is informative.
type Throughput struct {
	PingsPerSecond  float64 `json:"pings_per_second"` // 64 outstanding
	TokensPerSecond float64 `json:"tokens_per_second"`
}

const outstanding = 64

func (b *run) throughput(_ context.Context, w *wire, r *Report) error {
	b.say("throughput")
	ping, err := w.pack(framing.Ping, 1, nil)
	if err != nil {
		return err
	}
	n := b.samples(200_000)
	start := time.Now()
	for sent, received := 0, 0; received < n; received++ {
		for ; sent < n && sent-received < outstanding; sent++ {
			if _, err := w.Write(ping); err != nil {
				return err
			}
		}
		if err := w.await(framing.Ping, 1); err != nil {
			return err
		}
	}
	r.Throughput.PingsPerSecond = float64(n) / time.Since(start).Seconds()
	start = time.Now()
	if err := flood(w); err != nil {
		return err
	}
	r.Throughput.TokensPerSecond = floodTokens / time.Since(start).Seconds()
	return nil
}

// flood asks for floodTokens tokens and reads them all.
func flood(w *wire) error {
	request, err := w.ask(3, askFlood, false)
	if err != nil {
		return err
	}
	return w.exchange(request, framing.AiTokenMsg, 3)
}

// Memory is what many connections cost that promise much and send nothing.
type Memory struct {
	Connections   int     `json:"connections"`
	ResidentKiB   int     `json:"resident_kib"` // before
	GrowthKiB     int     `json:"growth_kib"`   // while they are open
	PerConnection float64 `json:"per_connection_kib"`
}

func (b *run) memory(_ context.Context, r *Report) error {
	n := b.samples(1000)
	b.say("memory: %d connections that promise a megabyte", n)
	before, err := b.host.vitals()
	if err != nil {
		return err
	}
	promise := framing.AppendHeader(nil, framing.Header{Type: framing.Ping, Flags: framing.Final, PayloadLength: framing.MaxPayloadSize})
	var conns []net.Conn
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}()
	for range n {
		c, err := b.host.dial(false)
		if err != nil {
			return err
		}
		conns = append(conns, c)
		if _, err := c.Write(promise); err != nil {
			return err
		}
	}
	after, err := b.host.vitals()
	if err != nil {
		return err
	}
	growth := after.Resident - before.Resident
	r.Memory = Memory{Connections: n, ResidentKiB: before.Resident, GrowthKiB: growth, PerConnection: float64(growth) / float64(n)}
	return nil
}

// Soak is a long run of questions, cancels and reconnects.
type Soak struct {
	Seconds    float64 `json:"seconds"`
	Operations int     `json:"operations"`
	Before     Vitals  `json:"before"`
	After      Vitals  `json:"after"` // once everybody has left
}

const soakRate = 200 // operations a second

func (b *run) soak(ctx context.Context, r *Report) error {
	if b.options.Soak == 0 {
		return nil
	}
	before, err := b.host.vitals()
	if err != nil {
		return err
	}
	s := &Soak{Before: before}
	start := time.Now()
	tick := time.NewTicker(time.Second / soakRate)
	defer tick.Stop()
	for time.Since(start) < b.options.Soak {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if s.Operations%soakRate == 0 {
			b.say("soak: %.0f of %.0f s", time.Since(start).Seconds(), b.options.Soak.Seconds())
		}
		if err := b.soakOnce(uint64(s.Operations)); err != nil {
			return fmt.Errorf("operation %d: %w", s.Operations, err)
		}
		s.Operations++
	}
	s.Seconds = time.Since(start).Seconds()
	deadline := time.Now().Add(10 * time.Second) // for the last connections to end
	for {
		if s.After, err = b.host.vitals(); err != nil {
			return err
		}
		if s.After.Goroutines <= before.Goroutines+5 || time.Now().After(deadline) {
			r.Soak = s
			return nil
		}
	}
}

// soakOnce connects, asks, and reads, cancels or just leaves.
func (b *run) soakOnce(id uint64) error {
	w, err := dialHost(b.host, id%2 == 0)
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }()
	kind := rand.IntN(3)
	if kind == 0 {
		_, err = firstResultOnce(w, id, 0)
		return err
	}
	if err := w.send(w.ask(id, askSteady, false)); err != nil || kind == 1 {
		return err // kind 1 leaves in the middle of the answer
	}
	if err := errors.Join(w.send(w.pack(framing.Cancel, id, nil)), w.send(w.pack(framing.Ping, id+1, nil))); err != nil {
		return err
	}
	return w.await(framing.Ping, id+1)
}
