package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
)

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
