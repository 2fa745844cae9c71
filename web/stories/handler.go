package stories

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"time"

	"plexus/web"
)

// Handler serves the stories, under the policy that the real pages have: a list
// at /, each at Base and its name, the overview at Base alone. code is that of
// Payload.
func Handler(now func() time.Time, code web.QRCode) (http.Handler, error) {
	static, err := web.Static()
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle(web.StaticPrefix, static)
	// withStories hands a handler the stories as seen now.
	withStories := func(h func(w http.ResponseWriter, r *http.Request, stories []Story)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			h(w, r, All(now(), code))
		}
	}
	mux.HandleFunc("GET "+Base, withStories(show))
	mux.HandleFunc("GET "+Base+"events", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("GET /{$}", withStories(list))
	return mux, nil
}

func show(w http.ResponseWriter, r *http.Request, stories []Story) {
	name := strings.TrimPrefix(r.URL.Path, Base)
	if name == "" {
		name = "overview"
	}
	for _, s := range stories {
		if s.Name != name {
			continue
		}
		var body bytes.Buffer
		if err := s.View.Render(r.Context(), &body); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		send(w, body.Bytes())
		return
	}
	http.NotFound(w, r)
}

func list(w http.ResponseWriter, _ *http.Request, stories []Story) {
	var body bytes.Buffer
	body.WriteString("<!DOCTYPE html><html lang=\"en\"><title>Stories</title><ul>")
	for _, s := range stories {
		fmt.Fprintf(&body, "<li><a href=%q>%s</a></li>", Base+s.Name, s.Name)
	}
	body.WriteString("</ul></html>")
	send(w, body.Bytes())
}

func send(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", web.ContentSecurityPolicy)
	if _, err := w.Write(body); err != nil {
		return // the reader has left
	}
}
