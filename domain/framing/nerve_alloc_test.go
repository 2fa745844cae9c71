//go:build !race

package framing_test

import (
	"testing"

	"plexus/domain/framing"
)

// allocs fails when run allocates more than limit times. The race detector
// allocates on its own, hence the build tag of this file.
func allocs(t *testing.T, limit float64, run func()) {
	t.Helper()
	got := testing.AllocsPerRun(1000, run)
	t.Logf("%v allocations, at most %v", got, limit)
	if got > limit {
		t.Errorf("allocates %v times, at most %v", got, limit)
	}
}

func TestHeadersAllocateNothing(t *testing.T) {
	buf := make([]byte, 0, framing.HeaderSize)
	bad := framing.AppendHeader(nil, framing.Header{Type: 0xee})
	t.Run("encode", func(t *testing.T) {
		allocs(t, 0, func() { buf = framing.AppendHeader(buf[:0], ping) })
	})
	t.Run("parse", func(t *testing.T) {
		allocs(t, 0, func() {
			if h, err := framing.ParseHeader(buf); err != nil || h != ping {
				t.Fatal(h, err)
			}
		})
	})
	t.Run("refuse", func(t *testing.T) {
		allocs(t, 0, func() {
			if _, err := framing.ParseHeader(bad); err == nil {
				t.Fatal("accepted")
			}
		})
	})
}

func TestAiTokensAllocateNothing(t *testing.T) {
	buf := make([]byte, 0, 256)
	for name, text := range map[string]string{"plain": "Hello", "escapes": "a\n\"b\"\x01 é", "sentinel": "", "invalid": "\xff"} {
		t.Run(name, func(t *testing.T) {
			allocs(t, 0, func() { buf = framing.AppendAiToken(buf[:0], 1, text, true) })
		})
	}
}

func TestSearchResultsAllocateNothingInARoomyBuffer(t *testing.T) {
	r := framing.SearchResult{Results: make([]framing.Result, 10), TookMS: 34}
	buf := make([]byte, 0, 4096)
	allocs(t, 0, func() { buf, _ = framing.AppendSearchResult(buf[:0], 1, r) })
}

func TestSearchQueryAllocations(t *testing.T) {
	plain := fullQuery
	plain.Context.Title, plain.Context.Selection = "Page A", "chosen words"
	cases := map[string]struct {
		payload []byte
		limit   float64
	}{
		"no escapes":  {framing.AppendSearchQuery(nil, plain), 1},
		"two escapes": {framing.AppendSearchQuery(nil, fullQuery), 3},
		"unknown":     {append([]byte(`{"x":[[{"y":["z",1.5e3,null]}]],`), framing.AppendSearchQuery(nil, plain)[1:]...), 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			allocs(t, c.limit, func() {
				if _, err := framing.DecodeSearchQuery(c.payload); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

func TestAssemblerReusesItsBuffer(t *testing.T) {
	frame, err := framing.AppendFrame(nil, framing.Ping, framing.Final, 1, make([]byte, 1024))
	if err != nil {
		t.Fatal(err)
	}
	var a framing.Assembler
	allocs(t, 0, func() {
		a.Feed(frame)
		if _, ok, err := a.Next(); !ok || err != nil {
			t.Fatal(ok, err)
		}
	})
}

func BenchmarkDecodeSearchQuery(b *testing.B) {
	payload := framing.AppendSearchQuery(nil, fullQuery)
	b.SetBytes(int64(len(payload)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := framing.DecodeSearchQuery(payload); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendAiToken(b *testing.B) {
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = framing.AppendAiToken(buf[:0], 1, "Hello, world", false)
	}
}

func BenchmarkParseHeader(b *testing.B) {
	wire := framing.AppendHeader(nil, ping)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := framing.ParseHeader(wire); err != nil {
			b.Fatal(err)
		}
	}
}
