package web

import (
	"fmt"
	"strings"
	"time"

	"github.com/a-h/templ"
)

// to gives the address of a path below the session's prefix.
func (f Layout) to(format string, args ...any) templ.SafeURL {
	return templ.SafeURL(f.Base + fmt.Sprintf(format, args...))
}

// exact is the moment in full, in the location of f.Now.
func (f Layout) exact(t time.Time) string {
	return t.In(f.Now.Location()).Format("Monday, 2 January 2006, 15:04:05 MST")
}

// ago says how long before f.Now t was, in words.
func (f Layout) ago(t time.Time) string {
	w := f.T
	switch d := f.Now.Sub(t); {
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
	return f.day(t)
}

func (f Layout) day(t time.Time) string { return t.In(f.Now.Location()).Format("2 Jan 2006") }

// lasting gives a length of time with at most two units.
func (f Layout) lasting(d time.Duration) string {
	days, hours := int(d/(24*time.Hour)), int(d/time.Hour)%24
	minutes := int(d/time.Minute) % 60
	switch {
	case days > 0:
		return fmt.Sprintf(f.T.Days, days, hours)
	case hours > 0:
		return fmt.Sprintf(f.T.Hours, hours, minutes)
	case minutes > 0:
		return fmt.Sprintf(f.T.Minutes, minutes)
	}
	return fmt.Sprintf(f.T.Seconds, max(int(d/time.Second), 0))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}

// bytes gives a size with three digits at most.
func bytes(n int64) string {
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

// quick gives a duration as people read it: 0.4 ms, 38 ms, 1.2 s.
func quick(d time.Duration) string {
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

// browser names the kind of extension that an origin belongs to.
func (f Layout) browser(origin string) string {
	switch scheme, _, _ := strings.Cut(origin, "://"); scheme {
	case "chrome-extension":
		return f.T.Chromium
	case "moz-extension":
		return f.T.Firefox
	case "safari-web-extension":
		return f.T.Safari
	}
	return f.T.Other
}

// cause gives a refusal's short title.
func (f Layout) cause(r Refusal) string {
	if title, ok := f.T.Causes[r.Cause]; ok {
		return title
	}
	return r.Cause
}

// advice says what to do about a refusal, on this page where that is possible.
func (f Layout) advice(r Refusal) string {
	if own, ok := f.T.Advice[r.Cause]; ok {
		return own
	}
	return r.Advice
}

// peer names who was refused.
func (f Layout) peer(r Refusal) string {
	if r.Peer == "" {
		return f.T.AnyTool
	}
	return r.Peer
}

// redeem says why a phone was refused, and when it may try again where it has to wait.
func (f Layout) redeem(r RedeemRefusal) string {
	said := f.T.Redeems[r.Cause]
	if r.Cause != RedeemTooMany {
		return said
	}
	if r.Wait <= 0 {
		return said + " " + f.T.RedeemNow
	}
	// The moment stays true while the page is not drawn again. Both are rounded up.
	const almost = time.Second - 1
	in, until := (r.Wait + almost).Truncate(time.Second), f.Now.Add(r.Wait+almost)
	return said + " " + fmt.Sprintf(f.T.RedeemWait, f.lasting(in), until.Format("15:04:05"))
}

// stateWord names an extension's state, and leadOf says what it means.
func (f Layout) stateWord(s ExtensionState) string {
	switch s {
	case ExtensionWaiting:
		return f.T.StateWaiting
	case ExtensionAllowed:
		return f.T.StateAllowed
	case ExtensionByToken:
		return f.T.StateByToken
	case ExtensionBlocked:
		return f.T.StateBlocked
	}
	return string(s)
}

func (f Layout) leadOf(s ExtensionState) string {
	switch s {
	case ExtensionWaiting:
		return f.T.LeadWaiting
	case ExtensionByToken:
		return f.T.LeadByToken
	case ExtensionBlocked:
		return f.T.LeadBlocked
	case ExtensionAllowed:
	}
	return ""
}

// machine is a moment for the datetime attribute.
func machine(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// pages says how much the index holds.
func pages(t Words, i Index) string {
	if i.Pages == 1 {
		return fmt.Sprintf(t.IndexPage, bytes(i.Bytes))
	}
	return fmt.Sprintf(t.IndexPages, i.Pages, bytes(i.Bytes))
}
