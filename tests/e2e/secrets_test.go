package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/coder/websocket"

	"plexus/domain/admission"
	"plexus/domain/framing"
)

// What must never be in a log: the words of a person, of a page, of the
// services, and every secret.
const (
	markQuestion = "MARKQUESTION"
	markPage     = "MARKPAGETEXT"
	markTitle    = "MARKPAGETITLE"
	markResult   = "MARKRESULT"
	markAnswer   = "MARKANSWER"
	modelSays    = "no such luck"
	searchKey    = "mark-search-key-5f0e"
	modelKey     = "mark-model-key-91c2"
	markSite     = "marksite-of-the-owner"
)

// upstream plays search service and model; status 0 means that they work.
func upstream(t *testing.T, status int) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/healthz":
			fmt.Fprint(w, `{"status":"ok"}`)
		case status != 0 && r.URL.Path == "/v1/models":
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"error":"refused %s"}`, r.Header.Get("Authorization"))
		case status != 0:
			w.WriteHeader(status)
			// A careless service repeats what it was sent. What a model's service says of
			// its own is told.
			body, _ := io.ReadAll(r.Body)
			own := markAnswer
			if strings.HasPrefix(r.URL.Path, "/v1/chat/") {
				own = modelSays
			}
			_ = json.NewEncoder(w).Encode(map[string]string{"error": strings.Join([]string{own, r.Header.Get("Authorization"), r.URL.Query().Get("q"), string(body)}, " ")})
		case r.URL.Path == "/v1/models":
			fmt.Fprint(w, `{"data":[{"id":"stub"}]}`)
		case strings.HasSuffix(r.URL.Path, "/search"):
			fmt.Fprintf(w, `{"results":[{"url":"https://r.example/","title":"%s","snippet":"%s","score":1}],"took_ms":1}`, markResult, markResult)
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":\"%s\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", markAnswer)
		}
	}))
	t.Cleanup(srv.Close)
	return srv
}

// exercise starts a daemon at debug level on the services and does everything
// that could make it speak. It gives back whatever was printed anywhere.
func exercise(t *testing.T, services *httptest.Server, format string) (d *daemon, printed string, token admission.Secret) {
	t.Helper()
	p := newPlace(t, "PLEXUS_SEARCH_API_KEY="+searchKey)
	keyFile := filepath.Join(p.home, "model-key")
	if err := os.WriteFile(keyFile, []byte(modelKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d = p.serve(t, "--log-format", format, "--config", p.configure(t, fmt.Sprintf(
		"[search]\nkind = \"anvesha\"\nurl = %q\n[model]\nkind = \"openai\"\nbase_url = %q\nname = \"stub\"\napi_key_file = %q\n",
		services.URL, services.URL+"/v1", keyFile)))
	token = d.token(t)

	asked := d.plexus(t, "ask", markQuestion+" when?", "--url", "https://page.example/"+markPage, "--title", markTitle,
		"--selection", markPage, "--extract", markPage+" opened in 1889.")
	for _, args := range [][]string{ // what looks after what is remembered, done and refused
		{"index", "exclude", markSite + ".example"}, {"index", "exclude", markSite + ".example:1"}, {"index", "exclude", "https://" + markSite + "/" + markPage + "?token=" + modelKey},
		{"index", "include", markSite + ".example"}, {"index", "forget", "https://page.example/" + markPage + "x"}, {"index", "forget", "file:///" + markPage},
		{"index", "forget", "--site", "other.*"}, {"index", "forget", "--site", markPage + "/" + searchKey},
	} {
		asked.stderr += d.plexus(t, args...).stderr
	}
	page := d.plexus(t, "status").stdout + d.plexus(t, "status", "--json").stdout + d.plexus(t, "extensions", "list").stdout
	strange(t, d, token)
	d.stop(t, syscall.SIGTERM)
	return d, asked.stderr + page, token
}

// strange sends what a careless or hostile client sends.
func strange(t *testing.T, d *daemon, token admission.Secret) {
	t.Helper()
	for _, payload := range []string{
		`{"v":1,"query":"` + markQuestion + `","unfinished`,
		`{"v":2,"query":"` + markQuestion + `"}`,
		markQuestion,
	} {
		ws, _, err := websocket.Dial(t.Context(), "ws://"+d.Nerve+"/?token="+token.Reveal(), &websocket.DialOptions{
			Subprotocols: []string{admission.SubprotocolPrefix + token.Reveal()},
		})
		if err != nil {
			t.Fatal(err)
		}
		frame, err := framing.AppendFrame(nil, framing.SearchQueryMsg, framing.Final, 1, []byte(payload))
		if err != nil {
			t.Fatal(err)
		}
		if err := ws.Write(t.Context(), websocket.MessageBinary, frame); err != nil {
			t.Fatal(err)
		}
		if _, _, err := ws.Read(t.Context()); err != nil {
			t.Errorf("a refused query got no answer: %v", err)
		}
		// Then what ends the connection: text, and no frame at all.
		if err := ws.Write(t.Context(), websocket.MessageText, []byte(markQuestion)); err != nil {
			t.Fatal(err)
		}
		_, _, _ = ws.Read(t.Context()) // its close
	}
	for _, offer := range []string{admission.SubprotocolPrefix + strings.ToUpper(token.Reveal()), admission.SubprotocolPrefix + token.Reveal() + "0"} {
		if _, _, err := websocket.Dial(t.Context(), "ws://"+d.Nerve+"/?token="+token.Reveal(), &websocket.DialOptions{Subprotocols: []string{offer}}); err == nil {
			t.Error("a wrong token was let in")
		}
	}
}

func search(t *testing.T, where, text string, marks ...string) {
	t.Helper()
	for _, mark := range marks {
		for _, form := range []string{mark, strings.ToLower(mark), strings.ToUpper(mark), base64.StdEncoding.EncodeToString([]byte(mark))} {
			if i := strings.Index(text, form); i >= 0 {
				t.Errorf("%s holds %q: …%s…", where, form, text[max(0, i-120):min(len(text), i+len(form)+40)])
			}
		}
	}
}

func TestQ4_NoPayloadTextInLogs(t *testing.T) {
	for name, status := range map[string]int{"services that work": 0, "services that fail": 500, "services that refuse the key": 401} {
		t.Run(name, func(t *testing.T) {
			services := upstream(t, status)
			for _, format := range []string{"text", "json"} {
				d, printed, token := exercise(t, services, format)
				if log := d.logged(); !strings.Contains(log, "connection closed") || strings.Contains(log, modelSays) != (status != 0) {
					t.Errorf("this is no log of what happened:\n%s", log)
				}
				search(t, format+" log", d.logged(), markQuestion, markPage, markTitle, markResult, markAnswer, markSite, searchKey, modelKey, token.Reveal())
				search(t, "output", printed, markQuestion, markAnswer, searchKey, modelKey, token.Reveal())
			}
		})
	}
}

// The keys go to their service and nowhere else: no file of the data directory
// holds one, the database neither.
func TestU5_KeysStayOutOfEveryFile(t *testing.T) {
	d, _, token := exercise(t, upstream(t, 401), "text")
	entries, err := os.ReadDir(d.dataDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(d.dataDir(), e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		search(t, e.Name(), string(b), searchKey, modelKey, token.Reveal())
	}
	if len(entries) == 0 {
		t.Error("there is nothing in the data directory")
	}
}
