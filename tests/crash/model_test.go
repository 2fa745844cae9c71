package crash

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"
)

// model answers with the marker of the question and counts how often each was
// asked. It lives in the test, so it survives what it answers.
type model struct {
	url string

	mu    sync.Mutex
	asked map[string]int
}

// marked finds the words that a question alone has: that of a text or of a page.
// The question comes first in a prompt.
var marked = regexp.MustCompile(`(ask|unique)(\d+)`)

// textMarker is a word that only one text has.
func textMarker(number int) string { return fmt.Sprintf("ask%d", number) }

func newModel(t *testing.T) *model {
	t.Helper()
	m := &model{asked: map[string]int{}}
	server := httptest.NewServer(http.HandlerFunc(m.answer))
	t.Cleanup(server.Close)
	m.url = server.URL + "/v1"
	return m
}

// answer streams three pieces. One in four is slow, and one in eight of the
// texts breaks off after the first piece.
func (m *model) answer(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Messages []struct{ Content string }
	}
	if json.NewDecoder(r.Body).Decode(&request) != nil || len(request.Messages) == 0 {
		http.Error(w, "no messages", http.StatusBadRequest)
		return
	}
	found := marked.FindStringSubmatch(request.Messages[len(request.Messages)-1].Content)
	if found == nil {
		http.Error(w, "no marker", http.StatusBadRequest)
		return
	}
	m.count(found[0])
	number, _ := strconv.Atoi(found[2]) // digits
	w.Header().Set("Content-Type", "text/event-stream")
	for n, piece := range []string{"It was ", found[0], ", I think."} {
		_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", piece)
		_ = http.NewResponseController(w).Flush()
		if n == 0 && number%8 == 5 && found[1] == "ask" {
			panic(http.ErrAbortHandler)
		}
		if number%4 == 1 {
			select {
			case <-r.Context().Done():
				return
			case <-time.After(time.Duration(number%80) * time.Millisecond):
			}
		}
	}
	_, _ = fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

func (m *model) count(marker string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked[marker]++
}

func (m *model) calls(marker string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked[marker]
}
