package wsconn

import (
	"encoding/base64"
	"net/http"
	"strings"
)

// IsUpgrade reports whether r is a proper WebSocket upgrade (RFC 6455 §4.2.1):
// GET, HTTP/1.1, the two header tokens, version 13 and a key of 16 bytes. It
// looks at nothing that belongs to admission.
func IsUpgrade(r *http.Request) bool {
	keys := r.Header.Values("Sec-WebSocket-Key")
	if len(keys) != 1 {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(keys[0])
	return err == nil && len(key) == 16 &&
		r.Method == http.MethodGet && r.ProtoMajor == 1 && r.ProtoMinor >= 1 &&
		headerHasToken(r.Header, "Connection", "upgrade") &&
		headerHasToken(r.Header, "Upgrade", "websocket") &&
		r.Header.Get("Sec-WebSocket-Version") == "13"
}

func headerHasToken(h http.Header, name, token string) bool {
	for _, line := range h.Values(name) {
		for part := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(part), token) {
				return true
			}
		}
	}
	return false
}
