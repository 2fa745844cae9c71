package web

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestAgo(t *testing.T) {
	now := time.Date(2026, time.November, 30, 9, 30, 0, 0, time.UTC)
	l := Layout{T: English(), Now: now}
	for before, want := range map[time.Duration]string{
		-2 * time.Minute:              "later",
		-30 * time.Second:             "just now",
		59 * time.Second:              "just now",
		time.Minute:                   "1 minute ago",
		2*time.Minute - time.Second:   "1 minute ago",
		3 * time.Minute:               "3 minutes ago",
		time.Hour:                     "1 hour ago",
		24*time.Hour - time.Second:    "23 hours ago",
		24 * time.Hour:                "yesterday",
		48 * time.Hour:                "2 days ago",
		30*24*time.Hour - time.Second: "29 days ago",
		30 * 24 * time.Hour:           "31 Oct 2026",
	} {
		if got := l.ago(now.Add(-before)); got != want {
			t.Errorf("%v before: %q, want %q", before, got, want)
		}
	}
}

func TestFigures(t *testing.T) {
	l := Layout{T: English()}
	for got, want := range map[string]string{
		l.duration(-time.Second):                "0 s",
		l.duration(59 * time.Second):            "59 s",
		l.duration(61 * time.Second):            "1 min",
		l.duration(3*time.Hour + time.Minute):   "3 h 1 min",
		l.duration(50 * time.Hour):              "2 d 2 h",
		formatBytes(0):                          "0 B",
		formatBytes(999):                        "999 B",
		formatBytes(1000):                       "1.0 KiB",
		formatBytes(20 << 20):                   "20 MiB",
		formatBytes(3 << 40):                    "3.0 TiB",
		formatBytes(5000 << 40):                 "5000 TiB",
		formatLatency(400 * time.Microsecond):   "0.4 ms",
		formatLatency(38 * time.Millisecond):    "38 ms",
		formatLatency(1200 * time.Millisecond):  "1.2 s",
		formatLatency(100 * time.Second):        "100 s",
		hostOf("wss://box.example:8443/client"): "box.example:8443",
		hostOf("box.example"):                   "box.example",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestChartFitsItsBox(t *testing.T) {
	for _, recent := range [][]time.Duration{nil, {0}, {time.Second}, make([]time.Duration, 300)} {
		c := newChart(recent)
		if c.Bars != min(len(recent), chartBars) || strings.Count(c.Path, "z") != c.Bars {
			t.Errorf("%d durations: %d bars, path %q", len(recent), c.Bars, c.Path)
		}
	}
	if c := newChart([]time.Duration{time.Second, 2 * time.Second}); !strings.HasSuffix(c.Path, "M282 40v-40h4v40z") || c.Width != 286 {
		t.Errorf("width %d, path %q", c.Width, c.Path)
	}
}

func TestQRCodeDrawsEveryDarkModule(t *testing.T) {
	q := NewQRCode([][]bool{{true, true, false}, {false, false, false}, {true, false, true}})
	if want := "M0 0h2v1h-2zM0 2h1v1h-1zM2 2h1v1h-1z"; q.Path != want || q.Modules != 3 {
		t.Errorf("%+v, want path %q", q, want)
	}
	for modules, want := range map[int]int{53: 265, 57: 285, 61: 244, 71: 284} {
		if got := (QRCode{Modules: modules}).pixels(); got != want {
			t.Errorf("%d modules: %d px, want %d", modules, got, want)
		}
	}
}

// Each text is there.
func TestWordsAreComplete(t *testing.T) {
	expectWords(t, reflect.ValueOf(English()))
}

func expectWords(t *testing.T, v reflect.Value) {
	t.Helper()
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case f.Kind() == reflect.Struct:
			expectWords(t, f)
		case f.Len() == 0:
			t.Errorf("English has no %s", v.Type().Field(i).Name)
		}
	}
}
