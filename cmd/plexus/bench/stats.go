package bench

import (
	"math/bits"
	"slices"
	"time"
)

// Figures are percentiles of one series, in microseconds.
type Figures struct {
	N    int     `json:"n"`
	P50  float64 `json:"p50_us"`
	P90  float64 `json:"p90_us"`
	P99  float64 `json:"p99_us"`
	P999 float64 `json:"p99_9_us"`
	Max  float64 `json:"max_us"`
}

// figuresOf sorts samples in place.
func figuresOf(samples []time.Duration) Figures {
	if len(samples) == 0 {
		return Figures{}
	}
	slices.Sort(samples)
	at := func(q float64) float64 {
		i := min(int(q*float64(len(samples))), len(samples)-1)
		return float64(samples[i].Nanoseconds()) / 1e3
	}
	return Figures{N: len(samples), P50: at(.5), P90: at(.9), P99: at(.99), P999: at(.999), Max: at(1)}
}

// medianOf takes the median of each percentile over repeats, so that one noisy
// repeat decides nothing.
func medianOf(repeats []Figures) Figures {
	pick := func(of func(Figures) float64) float64 {
		values := make([]float64, len(repeats))
		for i, r := range repeats {
			values[i] = of(r)
		}
		return median(values)
	}
	f := Figures{
		P50: pick(func(f Figures) float64 { return f.P50 }), P90: pick(func(f Figures) float64 { return f.P90 }),
		P99: pick(func(f Figures) float64 { return f.P99 }), P999: pick(func(f Figures) float64 { return f.P999 }),
		Max: pick(func(f Figures) float64 { return f.Max }),
	}
	for _, r := range repeats {
		f.N += r.N
	}
	return f
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// ratioOf is the median over repeats of host/floor at one percentile.
func ratioOf(host, floor []Figures, of func(Figures) float64) float64 {
	ratios := make([]float64, 0, len(host))
	for i := range host {
		if of(floor[i]) > 0 {
			ratios = append(ratios, of(host[i])/of(floor[i]))
		}
	}
	if len(ratios) == 0 {
		return 0
	}
	return median(ratios)
}

// Histogram counts samples in buckets that double: below 1 µs, 2 µs, 4 µs …
type Histogram [24]int

func (h *Histogram) add(d time.Duration) {
	h[min(bits.Len64(uint64(d.Microseconds())), len(h)-1)]++
}
