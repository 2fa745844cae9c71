package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// childVariable tells this test binary that it is a child of a measurement.
const childVariable = "PLEXUS_BENCH_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		if err := RunChild(context.Background(), os.Args[1], os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestRun measures everything with few samples, and insists that each figure was
// really taken. How long things took decides nothing.
func TestRun(t *testing.T) {
	t.Setenv(childVariable, "1")
	var out, progress bytes.Buffer
	err := Run(t.Context(), Options{
		Divide: 1000, JSON: true, Soak: 300 * time.Millisecond,
		Child: func(kind string) []string { return []string{os.Args[0], kind} },
	}, &out, &progress)
	if err != nil {
		t.Fatal(err)
	}
	var r Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.RoundTrips) != 14 {
		t.Errorf("%d round trips, want 14", len(r.RoundTrips))
	}
	for _, m := range r.RoundTrips {
		if m.Host.N == 0 || m.Floor.N != m.Host.N || m.Host.P50 <= 0 || m.RatioP50 <= 0 || m.RatioP99 <= 0 {
			t.Errorf("%s, %d B, %s was not measured: %+v", m.Transport, m.Payload, m.Load, m)
		}
	}
	if r.Cancel.Host.N == 0 || r.Cancel.Bare.N == 0 || len(r.FirstResult) != 3 || r.Cold.FirstResultUS <= 0 {
		t.Errorf("cancel %+v, first results %d, cold %v", r.Cancel, len(r.FirstResult), r.Cold)
	}
	if p50 := r.FirstResult[2].Host.P50; p50 < 30_000 {
		t.Errorf("a first result came after %.0f µs from a service that takes 30 ms", p50)
	}
	if r.Allocations.PerQuery <= 0 || r.Throughput.TokensPerSecond <= 0 || r.Throughput.PingsPerSecond <= 0 {
		t.Errorf("allocations %+v, throughput %+v", r.Allocations, r.Throughput)
	}
	if r.Soak == nil || r.Soak.Operations == 0 || r.Soak.After.Goroutines > r.Soak.Before.Goroutines+5 {
		t.Errorf("soak %+v", r.Soak)
	}
	if !strings.Contains(progress.String(), "round trip: websocket") {
		t.Error("no progress was shown")
	}
}

func TestFigures(t *testing.T) {
	samples := make([]time.Duration, 1000)
	for i := range samples {
		samples[len(samples)-1-i] = time.Duration(i+1) * time.Microsecond
	}
	got := figuresOf(samples)
	want := Figures{N: 1000, P50: 501, P90: 901, P99: 991, P999: 1000, Max: 1000}
	if got != want {
		t.Errorf("figures %+v, want %+v", got, want)
	}
	if (figuresOf(nil) != Figures{}) {
		t.Error("no samples must give no figures")
	}
}

func TestMedianOf_IgnoresOneNoisyRepeat(t *testing.T) {
	noisy := []Figures{{N: 1, P99: 10}, {N: 1, P99: 900}, {N: 1, P99: 12}}
	if got := medianOf(noisy); got.P99 != 12 || got.N != 3 {
		t.Errorf("median %+v", got)
	}
	floor := []Figures{{P99: 10}, {P99: 10}, {P99: 6}}
	if got := ratioOf(noisy, floor, func(f Figures) float64 { return f.P99 }); got != 2 {
		t.Errorf("ratio %v, want the median of 1, 90 and 2", got)
	}
}

func TestHistogram_Doubles(t *testing.T) {
	var h Histogram
	for _, d := range []time.Duration{0, 999 * time.Nanosecond, time.Microsecond, 3 * time.Microsecond, time.Hour} {
		h.add(d)
	}
	if want := []int{2, 1, 1}; !slices.Equal(h[:3], want) || h[len(h)-1] != 1 {
		t.Errorf("buckets %v", h)
	}
}

func TestWrite_SaysWhatWasMeasured(t *testing.T) {
	r := &Report{
		RoundTrips: []RoundTrip{{Transport: "websocket", Load: idle, Host: Figures{P50: 35.5}, Floor: Figures{P50: 30}, RatioP50: 1.18}},
		Soak:       &Soak{Operations: 5},
	}
	r.RoundTrips[0].Histogram.add(40 * time.Microsecond)
	var out strings.Builder
	if err := write(&out, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"websocket, 0 B, idle", "35.5", "bare socket", "1.18", "█", "Soak: 5 operations"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, out.String())
		}
	}
	if err := write(failing{}, r); err == nil {
		t.Error("a report that could not be written must be an error")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestResidentOf(t *testing.T) {
	if got := residentOf("Name:\tx\nVmRSS:\t   12345 kB\nThreads:\t3\n"); got != 12345 {
		t.Errorf("resident %d", got)
	}
	if got := residentOf("VmRSS: what"); got != 0 {
		t.Errorf("garbage gave %d", got)
	}
}

func TestStream_KeepsItsRateAndEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, words := time.Now(), 0
		err := stream(t.Context(), 20_001, steadyRate, func(string) error { words++; return nil })
		if took := time.Since(begun); err != nil || words != 20_001 || took < 1998*time.Millisecond || took > 2*time.Second {
			t.Errorf("%d words at 10,000 a second took %v (%v); want 20,001 in 2 s", words, took, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := stream(ctx, 2, 1, func(string) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("after a cancel: %v", err)
		}
	})
}
