package web

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/a-h/templ"
)

// to gives the address of a path below the session's prefix.
func (l Layout) to(format string, args ...any) templ.SafeURL {
	return templ.SafeURL(l.Base + fmt.Sprintf(format, args...))
}

// fullTime is the moment in full, in the location of l.Now.
func (l Layout) fullTime(t time.Time) string {
	return t.In(l.Now.Location()).Format("Monday, 2 January 2006, 15:04:05 MST")
}

// ago says how long before l.Now t was, in words.
func (l Layout) ago(t time.Time) string {
	w := l.T
	switch d := l.Now.Sub(t); {
	case d < -time.Minute:
		return w.InFuture
	case d < time.Minute:
		return w.JustNow
	case d < time.Hour:
		return plural(int(d/time.Minute), w.MinuteAgo, w.MinutesAgo)
	case d < 24*time.Hour:
		return plural(int(d/time.Hour), w.HourAgo, w.HoursAgo)
	case d < 30*24*time.Hour:
		return plural(int(d/(24*time.Hour)), w.DayAgo, w.DaysAgo)
	}
	return l.day(t)
}

func (l Layout) day(t time.Time) string { return t.In(l.Now.Location()).Format("2 Jan 2006") }

// duration gives a length of time with at most two units.
func (l Layout) duration(d time.Duration) string {
	days, hours := int(d/(24*time.Hour)), int(d/time.Hour)%24
	minutes := int(d/time.Minute) % 60
	switch {
	case days > 0:
		return fmt.Sprintf(l.T.Days, days, hours)
	case hours > 0:
		return fmt.Sprintf(l.T.Hours, hours, minutes)
	case minutes > 0:
		return fmt.Sprintf(l.T.Minutes, minutes)
	}
	return fmt.Sprintf(l.T.Seconds, max(int(d/time.Second), 0))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}

// formatBytes gives a size with three digits at most.
func formatBytes(n int64) string {
	value, unit := float64(n), 0
	units := [...]string{"B", "KiB", "MiB", "GiB", "TiB"}
	for value >= 1000 && unit < len(units)-1 {
		value, unit = value/1024, unit+1
	}
	if unit == 0 || value >= 10 {
		return fmt.Sprintf("%.0f %s", value, units[unit])
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}

// formatLatency gives a duration as people read it: 0.4 ms, 38 ms, 1.2 s.
func formatLatency(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case ms < 10:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.0f ms", ms)
	case ms < 100_000:
		return fmt.Sprintf("%.1f s", ms/1000)
	}
	return fmt.Sprintf("%.0f s", ms/1000)
}

// extensionKind names the kind of extension that an origin belongs to.
func (l Layout) extensionKind(origin string) string {
	scheme, _, _ := strings.Cut(origin, "://")
	return cmp.Or(l.T.ExtensionKinds[scheme], l.T.OtherExtension)
}

// refusalTitle gives a refusal's short title.
func (l Layout) refusalTitle(r Refusal) string { return cmp.Or(l.T.Causes[r.Cause], r.Cause) }

// refusalPeer names who was refused.
func (l Layout) refusalPeer(r Refusal) string { return cmp.Or(r.Peer, l.T.AnyTool) }

// busyLead says why a phone was turned away, up to the name of the other one.
func (l Layout) busyLead(b Busy) string {
	lead := l.T.BusyThen
	switch {
	case b.Kept:
		lead = l.T.BusyKept
	case b.CanLetIn:
		lead = l.T.BusyNow
	}
	if b.By != "" {
		lead += ":"
	}
	return lead
}

// redeemText says why a phone was refused, and when it may try again where it has to wait.
func (l Layout) redeemText(r RedeemRefusal) string {
	sentence := l.T.Redeems[r.Cause]
	if r.Cause != RedeemTooMany {
		return sentence
	}
	if r.Wait <= 0 {
		return sentence + " " + l.T.RedeemNow
	}
	// The moment stays true while the page is not rendered again. Both are rounded up.
	const almost = time.Second - 1
	in, until := (r.Wait + almost).Truncate(time.Second), l.Now.Add(r.Wait+almost)
	return sentence + " " + fmt.Sprintf(l.T.RedeemWait, l.duration(in), until.Format("15:04:05"))
}

// machineTime is a moment for the datetime attribute.
func machineTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// indexSize says how much the index holds.
func indexSize(t Words, i Index) string {
	if i.Pages == 1 {
		return fmt.Sprintf(t.IndexPage, formatBytes(i.Bytes))
	}
	return fmt.Sprintf(t.IndexPages, i.Pages, formatBytes(i.Bytes))
}

// beginning cuts a text to what is enough to tell it from others.
func beginning(text string) string {
	const enough = 60
	n := 0
	for i := range text {
		if n == enough {
			return text[:i] + "…"
		}
		n++
	}
	return text
}
