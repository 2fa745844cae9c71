package bench

import (
	"fmt"
	"io"
	"strings"
)

// write writes the report for people.
func write(out io.Writer, r *Report) error {
	p := &printer{out: out}
	p.line("%s/%s, %d CPUs, %s; times in µs, host beside a bare socket in the same run", r.Machine.OS, r.Machine.Arch, r.Machine.CPUs, r.Machine.Go)
	p.line("")
	p.line("Round trip (Ping to echo)      %8s %8s %8s %8s %8s  %6s %6s", "p50", "p90", "p99", "p99.9", "max", "× p50", "× p99")
	for _, m := range r.RoundTrips {
		p.line("%s, %s, %s", m.Transport, size(m.Payload), m.Load)
		p.figures("  host", m.Host, fmt.Sprintf("  %6.2f %6.2f", m.RatioP50, m.RatioP99))
		p.figures("  bare socket", m.Floor, "")
	}
	if len(r.RoundTrips) > 0 {
		p.line("")
		p.line("Histogram of %s, %s, %s", r.RoundTrips[0].Transport, size(r.RoundTrips[0].Payload), r.RoundTrips[0].Load)
		p.histogram(r.RoundTrips[0].Histogram)
	}
	p.line("")
	p.line("%-30s %8s %8s %8s %8s %8s", "Latency", "p50", "p90", "p99", "p99.9", "max")
	for _, l := range append([]Latency{r.Cancel}, r.FirstResult...) {
		p.line("%s", l.What)
		p.figures("  host", l.Host, "")
		p.figures("  without a host", l.Bare, "")
		if l.Extra.N > 0 {
			p.figures("  host less the service's time", l.Extra, "")
		}
	}
	p.line("First result of a fresh host: %.0f µs", r.Cold.FirstResultUS)
	p.line("")
	p.line("Allocations of the host process: %.3f per Ping, %.3f per token, %.0f per query with search", r.Allocations.PerPing, r.Allocations.PerToken, r.Allocations.PerQuery)
	p.line("Throughput: %.0f Pings/s with %d outstanding, %.0f tokens/s on one connection", r.Throughput.PingsPerSecond, outstanding, r.Throughput.TokensPerSecond)
	p.line("Memory: %d KiB resident; %d connections that each promise 1 MiB add %d KiB, %.1f each", r.Memory.ResidentKiB, r.Memory.Connections, r.Memory.GrowthKiB, r.Memory.PerConnection)
	if s := r.Soak; s != nil {
		p.line("Soak: %d operations in %.0f s; goroutines %d → %d, files %d → %d, heap %d → %d KiB", s.Operations, s.Seconds,
			s.Before.Goroutines, s.After.Goroutines, s.Before.Files, s.After.Files, s.Before.HeapInUse>>10, s.After.HeapInUse>>10)
	}
	return p.err
}

// printer keeps the first error, so that the report reads as a list of lines.
type printer struct {
	out io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format+"\n", args...)
	}
}

func (p *printer) figures(name string, f Figures, tail string) {
	p.line("%-30s %8.1f %8.1f %8.1f %8.1f %8.1f%s", name, f.P50, f.P90, f.P99, f.P999, f.Max, tail)
}

// histogram draws one bar a bucket, from the first to the last that holds any.
func (p *printer) histogram(h Histogram) {
	first, last, most := len(h), 0, 1
	for i, n := range h {
		if n > 0 {
			first, last, most = min(first, i), max(last, i), max(most, n)
		}
	}
	for i := first; i <= last; i++ {
		p.line("  < %7d µs %8d %s", 1<<i, h[i], strings.Repeat("█", (h[i]*50+most-1)/most))
	}
}

func size(n int) string {
	if n >= 1<<10 {
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}
