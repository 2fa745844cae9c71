package adminweb

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"plexus/domain/admission"
)

// TestAnotherAccountIsTurnedAway: one that holds the cookie and knows the path,
// because it had the port while the host was stopped. With the defense left out
// it reads the devices.
func TestAnotherAccountIsTurnedAway(t *testing.T) {
	for _, c := range []struct {
		name    string
		ours    bool
		err     error
		without []string
		status  int
	}{
		{"ours", true, nil, nil, http.StatusOK},
		{"another account's", false, nil, nil, http.StatusForbidden},
		{"unknown", true, errors.New("no such connection"), nil, http.StatusForbidden},
		{"another account's, defense left out", false, nil, []string{"peer"}, http.StatusOK},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := newStage(t)
			b := st.enter()
			var asked atomic.Int32
			st.site.PeerIsOurs = func(net.Conn) (bool, error) { asked.Add(1); return c.ours, c.err }
			inner, err := st.site.routes()
			if err != nil {
				t.Fatal(err)
			}
			srv := httptest.NewUnstartedServer(st.site.protect(inner, c.without...))
			srv.Config.ConnContext = st.site.http.ConnContext
			srv.Start()
			defer srv.Close()
			for range 2 {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+b.base+"devices", nil)
				if err != nil {
					t.Fatal(err)
				}
				r.Host = address
				r.AddCookie(b.cookie)
				answer, err := srv.Client().Do(r)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, answer.Body)
				_ = answer.Body.Close()
				if answer.StatusCode != c.status {
					t.Errorf("status %d, want %d", answer.StatusCode, c.status)
				}
			}
			if n := asked.Load(); c.without == nil && n != 1 {
				t.Errorf("the system was asked %d times about one connection", n)
			}
			if list := st.extensions.Refusals(); c.status == http.StatusForbidden && (len(list) == 0 || list[0].Cause != admission.ForeignUser) {
				t.Errorf("refused for %v", list)
			}
		})
	}
}
