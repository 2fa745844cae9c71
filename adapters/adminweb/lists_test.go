package adminweb

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"plexus/domain/conversations"
	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal/life"
	"plexus/web"
)

// moment is when all pages are drawn.
var moment = time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)

type unused interface{ Conversations } // a field may not have the name of a method

// owner is a host that holds what it is given and notes what it is to do.
type owner struct {
	unused
	Topics
	items      []life.Item
	list       []conversations.Conversation
	background conversations.Background
	messages   []conversations.Message
	found      int
	fixed      bool
	refuses    error

	done life.Op
}

func (o *owner) Lists(context.Context) ([]life.Item, life.Profile, error) {
	return o.items, life.Profile{}, nil
}

func (o *owner) MutateLife(_ context.Context, _ string, op life.Op) (life.Outcome, error) {
	o.done = op
	return life.Outcome{}, o.refuses
}

func (o *owner) Conversations(context.Context, int, int) ([]conversations.Conversation, int, error) {
	return o.list, len(o.list), nil
}

func (o *owner) Conversation(_ context.Context, id string) (conversations.Conversation, conversations.Background, error) {
	return conversations.Conversation{ID: id, Kind: conversations.Topic}, o.background, nil
}

func (o *owner) Messages(_ context.Context, _ string, before int64, limit int) ([]conversations.Message, error) {
	list := slices.Clone(o.messages)
	if before > 0 {
		list = slices.DeleteFunc(list, func(m conversations.Message) bool { return m.Seq >= before })
	}
	return list[max(len(list)-limit, 0):], nil
}

func (o *owner) SearchMessages(_ context.Context, _ string, limit int) ([]ports.FoundMessage, error) {
	return make([]ports.FoundMessage, min(o.found, limit)), nil
}

func (o *owner) SubmitText(context.Context, string, string) error { return o.refuses }
func (o *owner) Input() nova.Input                                { return nova.TextAndDictation }
func (o *owner) Recording() (on, fixed bool)                      { return true, o.fixed }

// server is a page of o alone.
func (o *owner) server() *Server {
	return &Server{Config: Config{
		Extensions: newFakeExtensions(), Words: web.English(), Now: func() time.Time { return moment }, Log: slog.New(slog.DiscardHandler),
		Personal: &Personal{Conversations: o, Texts: o, Topics: o, Lists: o, RecordingFixedBy: "a line of config.toml"},
	}, slots: make(chan struct{}, 1)}
}

// get makes a page.
func (o *owner) get(t *testing.T, place string) string {
	t.Helper()
	code, page := o.do(t, httptest.NewRequest(http.MethodGet, sessionRoot+"x/"+place, http.NoBody))
	if code != http.StatusOK {
		t.Errorf("GET %s: %d", place, code)
	}
	return page
}

// post does an action.
func (o *owner) post(t *testing.T, place string, form url.Values) (int, string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, sessionRoot+"x/"+place, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return o.do(t, r)
}

// do serves a request without the defenses.
func (o *owner) do(t *testing.T, r *http.Request) (int, string) {
	t.Helper()
	routes, err := o.server().routes()
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	routes.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// inOrder wants parts of a page one after the other.
func inOrder(t *testing.T, page string, parts ...string) {
	t.Helper()
	rest := page
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Fatalf("%q does not come where it should in %q:\n%s", part, parts, page)
		}
		rest = after
	}
}

// What is due first stands on top and what has no date below; of what is done the
// latest comes first, and not all of it is shown.
func TestTodosAreInTheOrderOfTheirDates(t *testing.T) {
	o := &owner{}
	add := func(title, status, due string, age time.Duration) {
		o.items = append(o.items, life.Item{ID: title, Kind: workbench.Todo, Title: title, Status: status, Due: due, UpdatedAt: moment.Add(-age)})
	}
	add("Undated", "open", "", 0)
	add("Tomorrow", "open", "2026-12-01", 0)
	add("Today", "waiting", "2026-11-30", 0)
	add("Yesterday", "doing", "2026-11-29", 0)
	for n := range maxClosed + 2 {
		add(fmt.Sprintf("Closed %d.", n), "done", "2026-01-01", time.Duration(maxClosed+2-n)*time.Hour)
	}
	page := o.get(t, "lists")
	inOrder(t, page, "Yesterday</bdi>", ">Late<", "Today</bdi>", "Tomorrow</bdi>", "Undated</bdi>", "Closed 51.</bdi>", "Closed 50.</bdi>", "Closed 2.</bdi>", "2 older ones")
	if strings.Count(page, ">Late<") != 1 || strings.Contains(page, "Closed 1.<") {
		t.Errorf("what is not late is called so, or what is too old is shown:\n%s", page)
	}
}

// A to-do that was cancelled does not count for its goal.
func TestProgressOfAGoal(t *testing.T) {
	o := &owner{items: []life.Item{{ID: "g", Kind: workbench.Goal, Title: "Bridges", Status: "active"}}}
	for n, status := range []string{"done", "open", "cancelled"} {
		o.items = append(o.items, life.Item{ID: fmt.Sprint(n), Kind: workbench.Todo, Status: status, GoalID: "g"})
	}
	inOrder(t, o.get(t, "lists/goals"), "Bridges</bdi>", "1 of 2 done")
}

// An entry may belong to every goal that is not archived, and stays with its own.
func TestGoalsThatAnEntryMayBelongTo(t *testing.T) {
	o := &owner{items: []life.Item{
		{ID: "own", Kind: workbench.Goal, Title: "Its own", Status: "archived"},
		{ID: "gone", Kind: workbench.Goal, Title: "Another old one", Status: "archived"},
		{ID: "there", Kind: workbench.Goal, Title: "A new one", Status: "paused"},
		{ID: "i", Kind: workbench.Idea, Title: "A shelf", Status: "active", GoalID: "own"},
	}}
	page := o.get(t, "lists/ideas/i")
	inOrder(t, page, `<option value="own" selected>Its own`, `<option value="there">A new one`)
	if strings.Contains(page, "Another old one") {
		t.Error("it may belong to a goal that is archived")
	}
}

// The form of an entry changes what it shows and nothing else.
func TestAFormChangesWhatItShows(t *testing.T) {
	o := &owner{items: []life.Item{{ID: "g", Kind: workbench.Goal}}}
	form := url.Values{"title": {" Bridges "}, "note": {"a\r\nb"}, "status": {"paused"}, "criteria": {"One\r\nstands"}, "version": {"3"}}
	if code, page := o.post(t, "lists/goals/g", form); code != http.StatusSeeOther {
		t.Fatal(code, page)
	}
	want := life.UpdateItem{
		Kind: workbench.Goal, ID: "g", Expected: 3, Title: nova.Some("Bridges"), Note: nova.Some("a\nb"), Status: "paused", Criteria: nova.Some("One\nstands"),
	}
	if o.done != want {
		t.Errorf("the goal: %+v, want %+v", o.done, want)
	}
	form.Set("status", "active")
	if code, _ := o.post(t, "lists/ideas/i", form); code != http.StatusSeeOther || o.done.(life.UpdateItem).GoalID.Set {
		t.Errorf("an idea without the field of its goal: %+v, %d", o.done, code)
	}
	form.Set("goal", "")
	if code, _ := o.post(t, "lists/ideas/i", form); code != http.StatusSeeOther || o.done.(life.UpdateItem).GoalID != nova.Some("") {
		t.Errorf("an idea that belongs to none: %+v, %d", o.done, code)
	}
	o.done = nil
	form.Set("criteria", strings.Repeat("x", web.MaxCriteria+1))
	if code, _ := o.post(t, "lists/goals/g", form); code != http.StatusUnprocessableEntity || o.done != nil {
		t.Errorf("too long: %+v, %d", o.done, code)
	}
}

// A long conversation is shown from its end, with the way to what is older and back.
func TestALongTalkIsShownInParts(t *testing.T) {
	o := &owner{background: conversations.Background{URL: "https://example.org/bridge", Text: "Of bridges."}}
	for n := range int64(conversationSize + 2) {
		o.messages = append(o.messages, conversations.Message{Seq: n + 1, Text: fmt.Sprintf("Message %d.", n+1)})
	}
	page := o.get(t, "conversations/topic:1")
	inOrder(t, page, `href="https://example.org/bridge"`, "quoted to the model", `href="/s/x/conversations/topic:1?before=3"`, "Message 3.", "Message 102.", `id="write"`)
	if strings.Contains(page, "Message 2.") {
		t.Error("more is shown than fits")
	}
	past := o.get(t, "conversations/topic:1?before=3")
	inOrder(t, past, "Message 1.", "Message 2.", "Back to the newest")
	if strings.Contains(past, "Older messages") || strings.Contains(past, `id="write"`) {
		t.Errorf("the oldest part:\n%s", past)
	}
}

// What a list of conversations says around them.
func TestConversationsAndWhatIsFound(t *testing.T) {
	o := &owner{found: listSize - 1, fixed: true, list: []conversations.Conversation{{ID: conversations.MainID}, {ID: conversations.ProactiveID}}}
	page := o.get(t, "conversations")
	inOrder(t, page, "a line of config.toml", "disabled")
	if strings.Contains(page, "Delete all topics") {
		t.Error("topics can be deleted where there are none")
	}
	o.list = append(o.list, conversations.Conversation{ID: "topic:1", Kind: conversations.Topic})
	inOrder(t, o.get(t, "conversations"), "Delete all topics")
	if strings.Contains(o.get(t, "conversations?q=x"), "There may be more") {
		t.Error("there may be more than was found")
	}
	o.found++
	inOrder(t, o.get(t, "conversations?q=x"), "There may be more")
}

func TestRefusalsAreToldOrShown(t *testing.T) {
	o := &owner{refuses: workbench.ConversationNotFound}
	if code, _ := o.post(t, "conversations/chat:9", url.Values{"text": {"Hello"}}); code != http.StatusNotFound {
		t.Errorf("a text to a conversation that is gone: %d", code)
	}
	if said := refusalText(web.English(), workbench.Refusal("of_a_new_kind")); !strings.Contains(said, "of_a_new_kind") {
		t.Errorf("a refusal without a sentence: %q", said)
	}
}
