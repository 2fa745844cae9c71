package bench

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// stubs are the services behind the host, in the measuring process, so that both
// ends of a latency are read from one clock.
type stubs struct {
	searchURL string
	modelURL  string
	results   []byte         // what the search answers
	hung      chan struct{}  // a model call has arrived
	ended     chan time.Time // and its request context has ended
	server    *http.Server
	serving   sync.WaitGroup
}

func startStubs() (*stubs, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the stubs: %w", err)
	}
	results := make([]string, 10) // of the size that a search service gives
	for i := range results {
		results[i] = fmt.Sprintf(`{"url":"https://result%d.test/page","title":"Result %d","snippet":"A short excerpt of about eighty characters, as a search service gives it.","score":%d.5}`, i, i, 10-i)
	}
	s := &stubs{
		results: []byte(`{"results":[` + strings.Join(results, ",") + `],"took_ms":1}`),
		hung:    make(chan struct{}, 1), ended: make(chan time.Time, 1),
	}
	s.searchURL = "http://" + ln.Addr().String()
	s.modelURL = s.searchURL + "/v1"
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/search", s.search)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"status":"ok"}`)) })
	mux.HandleFunc("POST /v1/chat/completions", func(_ http.ResponseWriter, r *http.Request) {
		// It is never answered; the stub tells when the caller went.
		_, _ = io.Copy(io.Discard, r.Body) // net/http notices a closed connection only after the body was read
		s.hung <- struct{}{}
		<-r.Context().Done()
		s.ended <- time.Now()
	})
	s.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	s.serving.Go(func() {
		if err := s.server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			_ = ln.Close() // the measurement fails and says why
		}
	})
	return s, nil
}

func (s *stubs) close() {
	_ = s.server.Close()
	s.serving.Wait()
}

// search answers ten results after the delay that the query's last word names.
func (s *stubs) search(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query().Get("q")
	if ms, err := strconv.Atoi(q[strings.LastIndexByte(q, ' ')+1:]); err == nil && ms > 0 {
		t := time.NewTimer(time.Duration(ms) * time.Millisecond)
		defer t.Stop()
		select {
		case <-t.C:
		case <-r.Context().Done():
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(s.results) // the caller may have cancelled
}
