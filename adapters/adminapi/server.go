package adminapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"plexus/adapters/gate"
	"plexus/domain/admission"
)

// Limits of the admin socket.
const (
	MaxRequests    = 64               // at once; more are answered 503
	MaxHeaderBytes = 16 << 10         // of one request
	MaxPages       = 1000             // rows of one page list
	readLimit      = 10 * time.Second // one request, header included
	writeLimit     = 30 * time.Second
)

// Extensions lets browser extensions in: *browsers.Registry.
type Extensions interface {
	Extensions(ctx context.Context) ([]admission.Extension, error)
	AllowExtension(ctx context.Context, id int64) (admission.Extension, error)
	RemoveExtension(ctx context.Context, id int64) (admission.Extension, error)
	ForgetExtension(ctx context.Context, id int64) error
	RotateToken(ctx context.Context) error
}

// Config wires a server; every field is required.
type Config struct {
	Extensions Extensions
	Remembered Remembered
	Phones     Phones
	SignIn     SignIn
	Status     func(ctx context.Context) (any, error) // a value that encodes as a JSON object
	TokenFile  string                                 // path
	Log        *slog.Logger
}

// NewServer builds an HTTP server for the admin socket; the caller serves a
// listener that lets nobody but the owner's account in, and shuts it down.
func NewServer(cfg Config) *http.Server {
	s := &server{Config: cfg, slots: make(chan struct{}, MaxRequests), stopping: make(chan struct{})}
	web := &http.Server{
		Handler:        s.routes(),
		ReadTimeout:    readLimit,
		WriteTimeout:   writeLimit,
		IdleTimeout:    readLimit,
		MaxHeaderBytes: MaxHeaderBytes,
		ErrorLog:       slog.NewLogLogger(cfg.Log.Handler(), slog.LevelWarn),
	}
	web.RegisterOnShutdown(func() { close(s.stopping) })
	return web
}

type server struct {
	Config
	slots    chan struct{} // one per request under way
	stopping chan struct{} // closed when the server shuts down
	router   *chi.Mux
}

// endpoint answers one request with a value to encode, or nil for 204.
type endpoint func(r *http.Request) (any, error)

func (s *server) routes() http.Handler {
	r := chi.NewRouter()
	s.router = r
	r.Use(s.limitRequests)
	r.NotFound(func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, errNoSuchPath) })
	r.MethodNotAllowed(func(w http.ResponseWriter, r *http.Request) {
		if len(s.methods(r)) == 0 {
			s.fail(w, r, errNoSuchPath) // chi does not look at the path when it does not know the method
			return
		}
		s.fail(w, r, errMethod)
	})
	get := func(path string, e endpoint) { r.Get(path, s.handler(e)) }
	post := func(path string, e endpoint) { r.Post(path, s.handler(e)) }

	get("/v1/status", func(r *http.Request) (any, error) { return s.Status(r.Context()) })
	get("/v1/extensions", func(r *http.Request) (any, error) {
		rows, err := s.Extensions.Extensions(r.Context())
		return convert(rows, NewExtension), err
	})
	post("/v1/extensions/{id}/{verb:(allow|remove|forget)}", s.decide)
	get("/v1/devices", func(r *http.Request) (any, error) {
		rows, err := s.Phones.Devices(r.Context())
		return convert(rows, newDevice), err
	})
	post("/v1/devices/{id}/{verb:(revoke|let-in|rename)}", s.changeDevice)
	post("/v1/invitations", s.invite)
	get("/v1/invitations/{id}", s.outcome)
	post("/v1/invitations/{id}/cancel", s.cancel)
	post("/v1/signin/link", func(*http.Request) (any, error) { return s.SignIn.SignInLink() })
	post("/v1/signin/code", func(*http.Request) (any, error) { return s.SignIn.SignInCode() })
	post("/v1/token/rotate", s.rotateToken)
	get("/v1/pages", s.pages)
	post("/v1/pages/clear", s.clearPages)
	post("/v1/pages/forget", s.forgetPages)
	get("/v1/sites", func(*http.Request) (any, error) { return sites(s.Remembered.Excluded()), nil })
	post("/v1/sites/{verb:(exclude|include)}", s.changeSites)
	return r
}

// limitRequests bounds the requests under way.
func (s *server) limitRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		select {
		case s.slots <- struct{}{}:
			defer gate.HoldRequest(r)() // nobody but the owner gets this far
			defer func() { <-s.slots }()
			next.ServeHTTP(w, r)
		default:
			s.fail(w, r, errBusy)
		}
	})
}

// handler runs an endpoint. No request has a body, so one byte of it is one too many.
func (s *server) handler(run endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if n, err := io.ReadFull(r.Body, make([]byte, 1)); n > 0 || !errors.Is(err, io.EOF) {
			s.fail(w, r, errBody)
			return
		}
		switch value, err := run(r); {
		case err != nil:
			s.fail(w, r, err)
		case value == nil:
			w.WriteHeader(http.StatusNoContent)
		default:
			s.send(w, http.StatusOK, value)
		}
	}
}

// fail answers with a Fault, and with the methods that the path has.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	f := faultOf(err)
	if f.status == http.StatusInternalServerError && r.Context().Err() == nil { // the client is still connected
		s.Log.Error("a request on the admin socket failed", "route", r.Pattern, "error", err)
	}
	for _, method := range s.methods(r) {
		w.Header().Add("Allow", method)
	}
	s.send(w, f.status, Fault{Code: f.code, Message: f.message})
}

// methods gives those that the path of a request has.
func (s *server) methods(r *http.Request) []string {
	return slices.DeleteFunc([]string{http.MethodGet, http.MethodPost}, func(method string) bool {
		return !s.router.Match(chi.NewRouteContext(), method, cmp.Or(r.URL.RawPath, r.URL.Path, "/"))
	})
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

// convert gives every row its wire form; no rows are [], not null.
func convert[R, T any](rows []R, one func(R) T) []T {
	list := make([]T, 0, len(rows))
	for _, row := range rows {
		list = append(list, one(row))
	}
	return list
}

// decide allows, removes or forgets an extension.
func (s *server) decide(r *http.Request) (any, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || id < 1 {
		return nil, errNumber
	}
	var row admission.Extension
	switch r.PathValue("verb") {
	case "allow":
		row, err = s.Extensions.AllowExtension(r.Context(), id)
	case "remove":
		row, err = s.Extensions.RemoveExtension(r.Context(), id)
	default:
		return nil, s.Extensions.ForgetExtension(r.Context(), id)
	}
	return NewExtension(row), err
}

func (s *server) rotateToken(r *http.Request) (any, error) {
	if err := s.Extensions.RotateToken(r.Context()); err != nil {
		return nil, err
	}
	rows, err := s.Extensions.Extensions(r.Context())
	rows = slices.DeleteFunc(rows, func(row admission.Extension) bool { return row.State != admission.ByToken })
	return Rotated{TokenFile: s.TokenFile, Extensions: convert(rows, NewExtension)}, err
}
