package httpguard

import (
	"net/http"
	"testing"
)

func TestProxied(t *testing.T) {
	for name, want := range map[string]bool{
		"Forwarded": true, "Via": true, "X-Forwarded-For": true, "X-Forwarded-Host": true, "X-Forwarded-Proto": true,
		"Tailscale-User-Login": true, "via": true, "x-forwarded-for": true,
		"Origin": false, "X-Forward": false, "Viable": false, "X-Requested-With": false,
	} {
		h := http.Header{}
		h.Set(name, "")
		if got := Proxied(h); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if Proxied(nil) {
		t.Error("no header at all counts as proxied")
	}
}
