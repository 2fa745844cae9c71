package app

import (
	"bytes"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"plexus/cmd/plexus/config"
)

// The second net: nothing secret is meant to get this far.
func TestLogger_Redacts(t *testing.T) {
	const secret = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for _, format := range []string{"text", "json"} {
		var out bytes.Buffer
		log := newLogger(&out, config.Log{Format: format, Level: "debug"})
		log.Debug("offered anvesha-v1."+secret, "token", "tok-1", slog.Group("g", "question", "when?"),
			"header", "Bearer key-1", "error", os.ErrNotExist, "list", []string{secret}, "count", 3, "lasted", 3*time.Second)
		got := out.String()
		for _, bad := range []string{secret, "tok-1", "when?", "key-1"} {
			if strings.Contains(got, bad) {
				t.Errorf("%s: %q in %s", format, bad, got)
			}
		}
		if !strings.Contains(got, "file does not exist") || !strings.Contains(got, "3") || !strings.Contains(got, "3s") {
			t.Errorf("%s: too much is gone: %s", format, got)
		}
		out.Reset()
		newLogger(&out, config.Log{Format: format, Level: "warn"}).Info("quiet")
		if out.Len() != 0 {
			t.Errorf("%s: the level is ignored", format)
		}
	}
}
