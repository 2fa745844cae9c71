package adminweb

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plexus/adapters/memory"
	"plexus/domain/conversations"
	"plexus/domain/pages"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal"
	"plexus/usecases/personal/hub"
	"plexus/usecases/personal/topics"
)

// startPersonal gives the stage a personal host whose model says one sentence.
func (st *stage) startPersonal(log *slog.Logger) {
	st.t.Helper()
	st.model, st.desktop = &memory.ScriptedModel{Pieces: []string{"It opened ", "in 1932."}}, &fakeDesktop{}
	st.index = memory.NewPages(st.clock, pages.DefaultBounds())
	store := memory.NewPersonalWith(st.index)
	var err error
	st.personal, err = personal.New(st.t.Context(), personal.Deps{
		Services: hub.Services{
			Store: store, Random: rand.Reader, Now: st.clock, Within: context.WithTimeout,
			After: func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }, Log: log,
		},
		Archive: store, Settings: memory.NewSettings(), Model: st.model, Index: st.index,
	}, personal.Options{InputInstanceID: "22222222-2222-4222-8222-222222222222", Topics: topics.Options{Record: true}})
	if err != nil {
		st.t.Fatal(err)
	}
	st.t.Cleanup(st.personal.Stop)
}

// fakeDesktop notes what it is asked.
type fakeDesktop struct {
	over func(context.Context) bool // of the last request
	shut bool
}

func (d *fakeDesktop) Serve(w http.ResponseWriter, _ *http.Request, over func(context.Context) bool) {
	d.over = over
	_, _ = io.WriteString(w, "the socket")
}

func (d *fakeDesktop) Shutdown(context.Context) error {
	d.shut = true
	return nil
}

// answered waits until the host has answered what was asked in a conversation.
func (st *stage) answered(id string) {
	st.t.Helper()
	for patience := time.After(10 * time.Second); ; {
		next := st.personal.Changed()
		list, err := st.personal.Chats.Messages(st.t.Context(), id, 0, 1)
		if err == nil && len(list) == 1 && list[0].Role == conversations.Assistant {
			return
		}
		select {
		case <-next:
		case <-patience:
			st.t.Fatal("the host did not answer")
		}
	}
}

// A chat is begun, written in, searched, cleared and deleted without script.
func TestAChatWithoutScript(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	wantText(t, b.get("conversations"), "Main chat", "No other conversation yet", "Phones show no text box: the app shows one only where dictation works")
	at, page := b.must("conversations", url.Values{"title": {"  The  bridge "}})
	wantText(t, page, "The bridge", "Nothing has been said here", `<textarea id="text"`)
	typed := "When did\r\nit open? <b>"
	code, to := b.post(at, url.Values{"text": {typed}})
	if code != http.StatusSeeOther || to != at+"#end" {
		t.Fatalf("writing: %d %s", code, to)
	}
	id := strings.TrimPrefix(at, "conversations/")
	st.answered(id)
	page = b.get(at)
	wantText(t, page, "When did\nit open? &lt;b&gt;", "It opened in 1932.")
	wantNoText(t, page, typed, "Waiting for the answer")
	wantText(t, b.get("conversations?q=OPENED"), "The bridge", "<mark>opened</mark> in 1932.")
	wantText(t, b.get("conversations?q=nowhere"), "No message has all these words")
	wantText(t, b.get(at+"/clear"), "Clear “The bridge”?")
	_, page = b.must(at+"/clear", nil)
	wantText(t, page, "Cleared.", "Nothing has been said here")
	wantText(t, b.get(at+"/delete"), "Delete “The bridge”?")
	_, page = b.must(at+"/delete", nil)
	wantText(t, page, "Deleted.", "No other conversation yet")
	for _, gone := range []string{at, at + "/clear"} {
		if code, _ := b.status(gone); code != http.StatusNotFound {
			t.Errorf("%s: %d", gone, code)
		}
	}
	if code, page := b.post(at, url.Values{"text": {"Still there?"}}); code != http.StatusNotFound {
		t.Errorf("writing where nothing is: %d\n%s", code, visible(page))
	}
	if strings.Contains(st.log.String(), "When did") || strings.Contains(st.log.String(), "1932") {
		t.Error("the log holds what was said")
	}
}

// What is not taken stays in the form, with the reason.
func TestATextThatIsNotTakenStays(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	long := strings.Repeat("汉", 4001)
	for text, want := range map[string]string{" \r\n": "something is empty or too long", long: "something is empty or too long"} {
		code, page := b.post("conversations/chat:main", url.Values{"text": {text}})
		if code != http.StatusUnprocessableEntity || !strings.Contains(page, want) || text == long && !strings.Contains(page, long) {
			t.Errorf("%d bytes: %d\n%.300s", len(text), code, visible(page))
		}
	}
	if code, _ := b.post("conversations/chat:main", url.Values{"text": {strings.Repeat("汉", 4000)}}); code != http.StatusSeeOther {
		t.Errorf("4000 characters of three bytes: %d", code)
	}
	st.answered("chat:main")
	st.personal.Stop()
	code, page := b.post("conversations/chat:main", url.Values{"text": {"Too late"}})
	if code != http.StatusUnprocessableEntity {
		t.Errorf("to a host that stops: %d", code)
	}
	wantText(t, page, ">Too late</textarea>")
}

// The main chat and the reminders stay, whatever is asked of them.
func TestPermanentConversationsStay(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	for _, id := range []string{conversations.MainID, conversations.ProactiveID} {
		wantNoText(t, b.get("conversations/"+id), "Delete…")
		if code, _ := b.status("conversations/" + id + "/delete"); code != http.StatusNotFound {
			t.Errorf("asking to delete %s: %d", id, code)
		}
		if code, _ := b.post("conversations/"+id+"/delete", nil); code != http.StatusConflict {
			t.Errorf("deleting %s: %d", id, code)
		}
	}
}

func TestRememberingIsASwitch(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	wantText(t, b.get("conversations"), `aria-checked="true"`)
	_, page := b.must("conversations/remember", url.Values{"on": {"false"}})
	wantText(t, page, `aria-checked="false"`, "are not remembered any more")
	if on, _ := st.personal.Topics.Recording(); on {
		t.Error("it is still on")
	}
	_, page = b.must("topics/delete", nil)
	wantText(t, page, "All topics are deleted.")
}

var versions = regexp.MustCompile(`name="version" value="(\d+)"`)

// A to-do is added, edited, done and reopened; who looks at an old version is told.
func TestTodosAndVersions(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	wantText(t, b.get("lists"), "Nothing to do")
	_, page := b.must("lists/todos", url.Values{"title": {"  Pay <the> bill "}})
	wantText(t, page, "Added.", "Pay &lt;the&gt; bill")
	id := regexp.MustCompile(`data-item="([0-9a-f]+)"`).FindStringSubmatch(page)[1]
	if code, page := b.post("lists/todos", url.Values{"title": {strings.Repeat("x", 201)}}); code != http.StatusUnprocessableEntity {
		t.Errorf("a title of 201 characters: %d\n%s", code, visible(page))
	}
	entry := "lists/todos/" + id
	edit := url.Values{"version": {"1"}, "title": {"Pay the bill"}, "note": {"At the\r\nbank"}, "due": {"2026-11-28"}, "status": {"doing"}}
	_, page = b.must(entry, edit)
	wantText(t, page, "Saved.", "At the\nbank", "28 Nov 2026", "Late", "Doing")
	code, page := b.post(entry, edit)
	if code != http.StatusUnprocessableEntity || versions.FindStringSubmatch(page)[1] != "2" {
		t.Errorf("an old version: %d", code)
	}
	wantText(t, page, "This was changed meanwhile", `value="Pay the bill"`)
	code, page = b.post(entry+"/status", url.Values{"status": {"done"}, "version": {"1"}})
	if code != http.StatusUnprocessableEntity {
		t.Errorf("an old version in the list: %d", code)
	}
	wantText(t, page, "This was changed meanwhile", "Pay the bill")
	_, page = b.must(entry+"/status", url.Values{"status": {"done"}, "version": {"2"}})
	wantText(t, page, "Done and cancelled", "Reopen", "Nothing to do")
	_, page = b.must(entry+"/status", url.Values{"status": {"cancelled"}, "version": {"3"}})
	wantText(t, page, "Cancelled.")
	for path, values := range map[string]url.Values{
		entry + "/status":         {"status": {"sold"}, "version": {"4"}},
		"lists/todos/x":           {"version": {"1"}, "title": {"x"}, "status": {"open"}},
		"lists/shopping":          {"title": {"x"}},
		"lists/ideas/x/convert":   {"target": {"idea"}, "version": {"1"}},
		"lists/shopping/x/status": {"status": {"open"}},
	} {
		if code, _ := b.post(path, values); code != http.StatusNotFound && code != http.StatusUnprocessableEntity {
			t.Errorf("POST %s %v: %d", path, values, code)
		}
	}
	for name, change := range map[string]string{"due": "tomorrow", "status": "sold", "title": "", "note": strings.Repeat("x", 4001)} {
		bad := url.Values{"version": {"4"}, "title": {"Pay the bill"}, "status": {"open"}}
		bad.Set(name, change)
		if code, page := b.post(entry, bad); code != http.StatusUnprocessableEntity || !strings.Contains(page, "something is empty or too long") {
			t.Errorf("%s %.20q: %d", name, change, code)
		}
	}
}

// An idea becomes a goal, a to-do belongs to it, and the goal says how far it is.
func TestIdeasGoalsAndProgress(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	item := regexp.MustCompile(`data-item="([0-9a-f]+)"`)
	_, page := b.must("lists/ideas", url.Values{"title": {"A shelf"}})
	idea := item.FindStringSubmatch(page)[1]
	_, page = b.must("lists/ideas/"+idea+"/convert", url.Values{"target": {"goal"}, "version": {"1"}})
	wantText(t, page, "It is a goal now, too.")
	goal := item.FindStringSubmatch(b.get("lists/goals"))[1]
	_, page = b.must("lists/todos", url.Values{"title": {"Buy wood"}})
	todo := item.FindStringSubmatch(page)[1]
	wantText(t, b.get("lists/todos/"+todo), `<option value="`+goal+`">A shelf</option>`)
	_, page = b.must("lists/todos/"+todo, url.Values{"version": {"1"}, "title": {"Buy wood"}, "goal": {goal}, "status": {"done"}})
	wantText(t, page, "For <bdi>A shelf</bdi>")
	wantText(t, b.get("lists/goals"), "1 of 1 done")
	_, page = b.must("lists/goals/"+goal+"/status", url.Values{"status": {"completed"}, "version": {"1"}})
	wantText(t, page, "Completed.", "Completed and archived")
	_, page = b.must("lists/ideas/"+idea+"/status", url.Values{"status": {"archived"}, "version": {"1"}})
	wantText(t, page, "Archived.", "Restore")
}

func TestAboutYou(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	about := strings.Repeat("汉", 5000)
	_, page := b.must("lists/about", url.Values{"about": {about}, "version": {"0"}})
	wantText(t, page, about, "Saved.")
	for name, values := range map[string]url.Values{
		"This was changed meanwhile":     {"about": {"Mine"}, "version": {"0"}},
		"something is empty or too long": {"about": {about + "x"}, "version": {"1"}},
	} {
		code, page := b.post("lists/about", values)
		if code != http.StatusUnprocessableEntity || !strings.Contains(page, name) || !strings.Contains(page, about) {
			t.Errorf("%s: %d", name, code)
		}
	}
}

// The overview says how much is kept; without a personal host there is no word of it.
func TestWhatIsKeptAndAPageWithoutAHost(t *testing.T) {
	st := newStage(t)
	wantText(t, st.enter().get(""), "What is kept", "Topics among them")
	cfg := st.site.Config
	cfg.Personal, cfg.Desktop, cfg.Changed = nil, nil, nil
	site, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	site.hosts.Store(st.site.hosts.Load())
	st.handler = site.http.Handler
	b := st.enter()
	wantNoText(t, b.get(""), "What is kept", "Conversations")
	for _, path := range []string{"conversations", "lists", "desktop"} {
		if code, _ := b.status(path); code != http.StatusNotFound {
			t.Errorf("%s without a host: %d", path, code)
		}
	}
}

// A socket learns at once that its session was signed out or ended, and nothing
// while it lives.
func TestASocketLastsAsLongAsItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t)
		defer st.personal.Stop()
		b, other := st.enter(), st.enter()
		r := st.request(route{method: http.MethodGet, path: "desktop", upgrade: true}, b)
		if w := st.do(r); w.Body.String() != "the socket" {
			t.Fatalf("answered %d %s", w.Code, w.Body)
		}
		ended := make(chan bool, 1)
		go func() { ended <- st.desktop.over(context.Background()) }()
		if _, err := st.site.Sessions.PageSessions(t.Context(), st.clock()); err != nil {
			t.Fatal(err)
		}
		other.must("conversations", nil)
		time.Sleep(3 * streamInterval)
		synctest.Wait()
		if len(ended) > 0 {
			t.Fatal("the socket of a session that lives was ended")
		}
		b.post("signout", nil)
		began := time.Now()
		if !<-ended || time.Since(began) > time.Second {
			t.Errorf("told after %v", time.Since(began))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if st.desktop.over(ctx) {
			t.Error("a socket that is gone has no session that ends")
		}
	})
}

// A refusal that no page shows by itself is a sentence, not a fault in the log.
func TestRefusalsAreSentences(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	for range conversations.MaxChats - 1 {
		if _, err := st.personal.Chats.CreateChat(t.Context(), "x"); err != nil {
			if !errors.Is(err, workbench.ConversationLimit) {
				t.Fatal(err)
			}
		}
	}
	code, page := b.post("conversations", url.Values{"title": {"one more"}})
	if code != http.StatusConflict {
		t.Fatalf("one chat too many: %d", code)
	}
	wantText(t, page, "There are 128 chats already.")
	if strings.Contains(st.log.String(), "the owner's page failed") {
		t.Error("a refusal is in the log as a failure")
	}
	wantText(t, b.get("conversations"), "1–50 of", "Older")
	wantText(t, b.get("conversations?from=50"), "51–100 of", "Newer")
	if _, _, err := st.personal.Chats.Conversation(t.Context(), "nowhere"); !errors.Is(err, ports.ErrConversationUnknown) {
		t.Errorf("an unknown conversation: %v", err)
	}
}
