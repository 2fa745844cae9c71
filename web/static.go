package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
)

// ContentSecurityPolicy allows what the pages need: their own style sheet, script,
// forms and streams. It allows nothing inline, nothing from other hosts and no
// frame.
const ContentSecurityPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// StaticPrefix is the path below which Static is served.
const StaticPrefix = "/static/"

// contentTypes by extension; a system may know others.
var contentTypes = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

//go:embed static
var assets embed.FS

// asset gives the address of a file, with a hash of its content in its name.
func asset(name string) string {
	content, err := assets.ReadFile("static/" + name)
	if err != nil {
		return StaticPrefix + name // a name that is not embedded leads to a 404
	}
	hash := sha256.Sum256(content)
	return StaticPrefix + hex.EncodeToString(hash[:8]) + "/" + name
}

// Static serves the style sheet and the script under the addresses that the
// pages use, and under no other. Their content never changes, so they may be kept.
func Static() (http.Handler, error) {
	entries, err := assets.ReadDir("static")
	if err != nil {
		return nil, fmt.Errorf("list the embedded files: %w", err)
	}
	known := make(map[string]string, len(entries))
	for _, e := range entries {
		known[asset(e.Name())] = e.Name()
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, ok := known[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		w.Header().Set("Content-Type", contentTypes[path.Ext(name)])
		http.ServeFileFS(w, r, assets, path.Join("static", name))
	}), nil
}
