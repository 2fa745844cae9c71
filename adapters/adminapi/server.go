package adminapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"plexus/domain/admission"
	"plexus/domain/pages"
)

// Limits of the admin socket.
const (
	MaxRequests    = 64               // at once; more are answered 503
	MaxHeaderBytes = 16 << 10         // of one request
	MaxPages       = 1000             // rows of one page list
	readLimit      = 10 * time.Second // one request, header included
	writeLimit     = 30 * time.Second
)

// Desk is the application as this API uses it: *browsers.Registry.
type Desk interface {
	Extensions(ctx context.Context) ([]admission.Extension, error)
	AllowExtension(ctx context.Context, id int64) (admission.Extension, error)
	RemoveExtension(ctx context.Context, id int64) (admission.Extension, error)
	ForgetExtension(ctx context.Context, id int64) error
	RotateToken(ctx context.Context) error
}

// Shelf is the page index as this API uses it.
type Shelf interface {
	Pages(ctx context.Context, limit int) ([]pages.Listing, error)
	ClearPages(ctx context.Context) (int, error)
}

// Config wires a server; every field is required.
type Config struct {
	Desk      Desk
	Shelf     Shelf
	Phones    Phones
	Owner     Owner
	Status    func(ctx context.Context) (any, error) // a value that encodes as a JSON object
	TokenFile string                                 // path
	Log       *slog.Logger
}

// NewServer builds an HTTP server for the admin socket; the caller serves a
// listener that lets nobody but the owner's account in, and shuts it down.
func NewServer(cfg Config) *http.Server {
	s := newServer(cfg)
	web := &http.Server{
		Handler:        s.handler(),
		ReadTimeout:    readLimit,
		WriteTimeout:   writeLimit,
		IdleTimeout:    readLimit,
		MaxHeaderBytes: MaxHeaderBytes,
		ErrorLog:       slog.NewLogLogger(cfg.Log.Handler(), slog.LevelWarn),
	}
	web.RegisterOnShutdown(func() { close(s.stopping) })
	return web
}

// endpoint answers one request with a value to encode, or nil for 204.
type endpoint func(r *http.Request) (any, error)

type server struct {
	Config
	places   chan struct{}
	stopping chan struct{} // closed when the server shuts down
}

func newServer(cfg Config) *server {
	return &server{Config: cfg, places: make(chan struct{}, MaxRequests), stopping: make(chan struct{})}
}

// NewHandler serves the paths of this package.
func NewHandler(cfg Config) http.Handler { return newServer(cfg).handler() }

func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	for path, methods := range map[string]map[string]endpoint{
		"/v1/status":                  {http.MethodGet: s.status},
		"/v1/extensions":              {http.MethodGet: s.extensions},
		"/v1/extensions/{id}/allow":   {http.MethodPost: s.decide(s.Desk.AllowExtension)},
		"/v1/extensions/{id}/remove":  {http.MethodPost: s.decide(s.Desk.RemoveExtension)},
		"/v1/extensions/{id}/forget":  {http.MethodPost: s.forget},
		"/v1/devices":                 {http.MethodGet: s.devices},
		"/v1/devices/{id}/revoke":     {http.MethodPost: s.revoke},
		"/v1/invitations":             {http.MethodPost: s.invite},
		"/v1/invitations/{id}":        {http.MethodGet: s.outcome},
		"/v1/invitations/{id}/cancel": {http.MethodPost: s.cancel},
		"/v1/signin/link":             {http.MethodPost: s.signInLink},
		"/v1/signin/code":             {http.MethodPost: s.signInCode},
		"/v1/token/rotate":            {http.MethodPost: s.rotate},
		"/v1/pages":                   {http.MethodGet: s.pages},
		"/v1/pages/clear":             {http.MethodPost: s.clear},
	} {
		mux.HandleFunc(path, s.answer(methods))
	}
	mux.HandleFunc("/", s.answer(nil))
	return mux
}

// answer runs the endpoint of the request's method; without any, the path does
// not exist.
func (s *server) answer(methods map[string]endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		value, err := s.run(methods, r)
		if err != nil {
			f := faultOf(err)
			if f.status == http.StatusInternalServerError && r.Context().Err() == nil { // who asked is still there
				s.Log.Error("a request on the admin socket failed", "route", r.Pattern, "error", err)
			}
			for method := range methods {
				w.Header().Add("Allow", method)
			}
			s.send(w, f.status, Fault{Code: f.code, Message: f.message})
			return
		}
		if value == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		s.send(w, http.StatusOK, value)
	}
}

func (s *server) run(methods map[string]endpoint, r *http.Request) (any, error) {
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	default:
		return nil, errBusy
	}
	if methods == nil {
		return nil, errNoSuchPath
	}
	run, ok := methods[r.Method]
	if !ok {
		return nil, errMethod
	}
	// No request has a body, so one byte of it is one too many.
	if n, err := io.ReadFull(r.Body, make([]byte, 1)); n > 0 || !errors.Is(err, io.EOF) {
		return nil, errBody
	}
	return run(r)
}

func (s *server) send(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		s.Log.Error("an answer of the admin socket could not be encoded", "error", err)
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		s.Log.Debug("a command left before its answer", "error", err)
	}
}

func (s *server) status(r *http.Request) (any, error) { return s.Status(r.Context()) }

func (s *server) extensions(r *http.Request) (any, error) {
	rows, err := s.Desk.Extensions(r.Context())
	list := make([]Extension, 0, len(rows))
	for _, row := range rows {
		list = append(list, NewExtension(row))
	}
	return list, err
}

func (s *server) decide(change func(context.Context, int64) (admission.Extension, error)) endpoint {
	return func(r *http.Request) (any, error) {
		id, err := rowID(r)
		if err != nil {
			return nil, err
		}
		row, err := change(r.Context(), id)
		return NewExtension(row), err
	}
}

func (s *server) forget(r *http.Request) (any, error) {
	id, err := rowID(r)
	if err != nil {
		return nil, err
	}
	return nil, s.Desk.ForgetExtension(r.Context(), id)
}

func (s *server) rotate(r *http.Request) (any, error) {
	if err := s.Desk.RotateToken(r.Context()); err != nil {
		return nil, err
	}
	rows, err := s.Desk.Extensions(r.Context())
	done := Rotated{TokenFile: s.TokenFile, Extensions: []Extension{}}
	for _, row := range rows {
		if row.State == admission.ByToken {
			done.Extensions = append(done.Extensions, NewExtension(row))
		}
	}
	return done, err
}

func (s *server) pages(r *http.Request) (any, error) {
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || limit < 1 || limit > MaxPages {
		return nil, errNumber
	}
	rows, err := s.Shelf.Pages(r.Context(), limit)
	list := make([]Page, 0, len(rows))
	for _, row := range rows {
		list = append(list, newPage(row))
	}
	return list, err
}

func (s *server) clear(r *http.Request) (any, error) {
	n, err := s.Shelf.ClearPages(r.Context())
	return Cleared{Pages: n}, err
}

func rowID(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || id < 1 {
		return 0, errNumber
	}
	return id, nil
}
