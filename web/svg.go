package web

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A module of a QR code is five CSS pixels wide, or four where the code would
// not fit a window of 320 pixels. It is a whole number, so that no edge is blurred.
const (
	modulePixels      = 5
	modulePixelsTight = 4
	narrowest         = 285
)

// QRCode is a code as one SVG path in units of modules, quiet zone included.
type QRCode struct {
	Modules int
	Path    string
}

// NewQRCode draws a square matrix; true is dark.
func NewQRCode(modules [][]bool) QRCode {
	var b strings.Builder
	for y, row := range modules {
		for x := 0; x < len(row); {
			start := x
			for x < len(row) && row[x] {
				x++
			}
			if x > start {
				fmt.Fprintf(&b, "M%d %dh%dv1h-%dz", start, y, x-start, x-start)
				continue
			}
			x++
		}
	}
	return QRCode{Modules: len(modules), Path: b.String()}
}

func (q QRCode) pixels() int {
	if q.Modules*modulePixels > narrowest {
		return q.Modules * modulePixelsTight
	}
	return q.Modules * modulePixels
}

// Measures of the chart, in units of its view box.
const (
	chartBars   = 48
	chartHeight = 40
	barWidth    = 4
	barStep     = 6
)

// chart draws the last durations as bars, the newest at the right.
type chart struct {
	Bars    int
	Width   int
	Path    string
	Slowest time.Duration
}

func newChart(recent []time.Duration) chart {
	recent = recent[max(len(recent)-chartBars, 0):]
	c := chart{Bars: len(recent), Width: chartBars*barStep - (barStep - barWidth)}
	if len(recent) == 0 {
		return c
	}
	c.Slowest = slices.Max(recent)
	var b strings.Builder
	for i, d := range recent {
		height := 2
		if c.Slowest > 0 {
			height = max(height, int(int64(d)*chartHeight/int64(c.Slowest)))
		}
		x := c.Width - (len(recent)-i)*barStep + (barStep - barWidth)
		fmt.Fprintf(&b, "M%d %dv-%dh%dv%dz", x, chartHeight, height, barWidth, height)
	}
	c.Path = b.String()
	return c
}
