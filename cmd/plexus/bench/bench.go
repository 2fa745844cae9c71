// Package bench measures the host as its users meet it: over real sockets, in a
// process of its own with scripted adapters, each figure beside a bare socket
// that is measured in the same run, turn by turn. On a shared machine only such
// ratios mean something.
package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"
)

// Options of one run.
type Options struct {
	Divide int           // takes 1/Divide of the samples; 0 means 1
	Soak   time.Duration // 0: no soak
	JSON   bool
	// Child is the command line that starts a child of the given kind.
	Child func(kind string) []string
}

// Report is everything that was measured.
type Report struct {
	Machine     Machine     `json:"machine"`
	RoundTrips  []RoundTrip `json:"round_trips"`
	Cancel      Latency     `json:"cancel"`
	FirstResult []Latency   `json:"first_result"`
	Cold        Cold        `json:"cold"`
	Allocations Allocations `json:"allocations"`
	Memory      Memory      `json:"memory"`
	Throughput  Throughput  `json:"throughput"`
	Soak        *Soak       `json:"soak,omitempty"`
}

// Machine says what it ran on.
type Machine struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPUs int    `json:"cpus"`
	Go   string `json:"go"`
}

// Run measures everything and prints the report to out; progress goes to
// progress, one line that is written over.
func Run(ctx context.Context, o Options, out, progress io.Writer) error {
	dir, err := os.MkdirTemp("", "plexus-bench-")
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // temporary; the system cleans up too
	b := &run{options: o, dir: dir, progress: progress}
	report, err := b.measure(ctx)
	b.say("") // clears the line
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	if o.JSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(report)
	}
	return write(out, report)
}

// run is one measurement in progress.
type run struct {
	options  Options
	dir      string
	progress io.Writer

	stubs *stubs
	host  *child
	floor *child
}

func (b *run) measure(ctx context.Context) (*Report, error) {
	var err error
	if b.stubs, err = startStubs(); err != nil {
		return nil, err
	}
	defer b.stubs.close()
	if b.floor, err = startChild(ctx, b.options.Child(KindFloor), Setup{Dir: b.dir}); err != nil {
		return nil, fmt.Errorf("start the bare sockets: %w", err)
	}
	defer b.floor.close()
	setup := Setup{Dir: b.dir, SearchURL: b.stubs.searchURL, ModelURL: b.stubs.modelURL}
	if b.host, err = startChild(ctx, b.options.Child(KindHost), setup); err != nil {
		return nil, fmt.Errorf("start the host: %w", err)
	}
	defer b.host.close()

	r := &Report{Machine: Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Go: runtime.Version()}}
	for _, step := range []struct {
		name string
		take func(context.Context, *Report) error
	}{
		{"cold query", b.connected(b.coldQuery)}, {"round trip", b.roundTrips},
		{"cancel", b.connected(b.cancelLatency)}, {"first result", b.connected(b.firstResult)},
		{"allocations", b.connected(b.allocations)}, {"throughput", b.connected(b.throughput)},
		{"memory", b.memory}, {"soak", b.soak},
	} {
		if err := step.take(ctx, r); err != nil {
			return nil, fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return r, nil
}

// connected gives a step a WebSocket of its own to the host.
func (b *run) connected(take func(context.Context, *wire, *Report) error) func(context.Context, *Report) error {
	return func(ctx context.Context, r *Report) error {
		w, err := dialHost(b.host, true)
		if err != nil {
			return err
		}
		defer func() { _ = w.Close() }()
		return take(ctx, w, r)
	}
}

// samples scales a number of samples to the options.
func (b *run) samples(n int) int { return max(n/max(b.options.Divide, 1), 10) }

func (b *run) say(format string, args ...any) {
	_, _ = fmt.Fprintf(b.progress, "\r\x1b[K"+format, args...) // a progress line may be lost
}
