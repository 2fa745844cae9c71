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

//go:embed static extension/markdown.js extension/markdown.css
var assets embed.FS

// besides are the files that a script loads from its own folder, shared with the
// extension; the script's address changes with theirs.
var besides = map[string][]string{"talk.js": {"extension/markdown.js", "extension/markdown.css"}}

// asset gives the address of a file, with a hash of its content in its name.
func asset(name string) string {
	hash := sha256.New()
	for _, file := range append([]string{"static/" + name}, besides[name]...) {
		content, err := assets.ReadFile(file)
		if err != nil {
			return StaticPrefix + name // a name that is not embedded leads to a 404
		}
		hash.Write(content)
	}
	return StaticPrefix + hex.EncodeToString(hash.Sum(nil)[:8]) + "/" + name
}

// Static serves the style sheet and the scripts under the addresses that the
// pages use, and under no other. Their content never changes, so they may be kept.
func Static() (http.Handler, error) {
	entries, err := assets.ReadDir("static")
	if err != nil {
		return nil, fmt.Errorf("list the embedded files: %w", err)
	}
	known := make(map[string]string, len(entries))
	for _, e := range entries {
		address := asset(e.Name())
		known[address] = path.Join("static", e.Name())
		for _, file := range besides[e.Name()] {
			known[path.Join(path.Dir(address), path.Base(file))] = file
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		file, ok := known[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		w.Header().Set("Content-Type", contentTypes[path.Ext(file)])
		http.ServeFileFS(w, r, assets, file)
	}), nil
}
