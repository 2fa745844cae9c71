package browser

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"plexus/adapters/adminweb"
	"plexus/adapters/adminweb/desktop"
	"plexus/adapters/adminweb/privacy"
	"plexus/adapters/memory"
	"plexus/domain/nova"
	"plexus/domain/pages"
	"plexus/ports"
	"plexus/usecases/personal"
	"plexus/usecases/personal/hub"
	"plexus/usecases/personal/topics"
	"plexus/usecases/personal/turns"
)

// pageHost is a personal host that tells when the page's socket is there. A text
// that is sent before that goes by the form, and the page is loaded again.
type pageHost struct {
	*personal.Host
	attached chan struct{}
}

// Attach implements desktop.Host.
func (h *pageHost) Attach(link ports.PersonalLink, terms hub.Terms) hub.Endpoint {
	defer func() { h.attached <- struct{}{} }()
	return h.Host.Attach(link, terms)
}

// awaitSocket waits for the next socket of the page.
func (h *pageHost) awaitSocket(t *testing.T) {
	t.Helper()
	select {
	case <-h.attached:
	case <-time.After(waitAtMost):
		t.Fatal("the page opened no socket")
	}
}

// withPersonalHost gives the page a personal host on a store in memory.
func withPersonalHost(t *testing.T, model *memory.ScriptedModel) (*pageHost, func(*adminweb.Config)) {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	index := memory.NewPages(time.Now, pages.DefaultBounds())
	store := memory.NewPersonalWith(index)
	made, err := personal.New(t.Context(), personal.Deps{
		Services: hub.Services{
			Store: store, Random: rand.Reader, Now: time.Now, Within: context.WithTimeout,
			After: func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }, Log: log,
		},
		Archive: store, Settings: memory.NewSettings(), Model: model, Index: index,
	}, personal.Options{InputInstanceID: "22222222-2222-4222-8222-222222222222", Topics: topics.Options{Record: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(made.Stop)
	h := &pageHost{made, make(chan struct{}, 16)} // a page that comes back opens another one
	return h, func(cfg *adminweb.Config) {
		cfg.Personal = &adminweb.Personal{Conversations: h.Chats, Texts: h.Turns, Topics: h.Topics, Lists: h.Life, Privacy: privacy.Config{
			Remembered: h.Privacy, Searches: h.Turns.Searches, SearchService: "a search service",
		}}
		cfg.Changed = append(cfg.Changed, h.Changed)
		cfg.Desktop = desktop.New(desktop.Config{Host: h, Log: log})
	}
}

// TestOwnerPageTalks: what is written goes over the socket, the answer is seen
// while it grows, longer than a caption holds, and then stands in the page.
func TestOwnerPageTalks(t *testing.T) {
	pieces := make([]string, 60)
	for i := range pieces {
		pieces[i] = fmt.Sprintf("Sentence %d of the answer. ", i)
	}
	half := make(chan struct{})
	model := &memory.ScriptedModel{Pieces: pieces, Rate: 25, Wait: func(ctx context.Context, n int) error {
		if n != len(pieces)/2 {
			return nil
		}
		select {
		case <-half:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
	h, with := withPersonalHost(t, model)
	o := startOwnerPage(t, with)
	p := o.enter(launch(t, extensionDir))
	p.click(`nav a[href$="/conversations"]`)
	p.waitText("h1", "Conversations")
	p.click(`[data-conversation="chat:main"] a`)
	p.wait(`document.querySelector("#write")`)
	p.eval("window.kept = true")
	h.awaitSocket(t)
	p.typeText("#text", "Tell me everything.\r")
	p.wait(`document.querySelector(".message.mine .words")?.innerText === "Tell me everything." && document.querySelector("#text").value === ""`)
	p.wait(`!document.querySelector("#answer").hidden && document.querySelector("#answer-text").innerText.includes("Sentence 25 of")`)
	grown, _ := p.eval(`document.querySelector("#answer-text").textContent`).(string)
	if !strings.HasPrefix(grown, "Sentence 0 of the answer. Sentence 1 of") {
		t.Errorf("while it grows the answer begins with %.60q", grown)
	}
	close(half)
	p.wait(`document.querySelector("#answer").hidden && document.querySelector(".message:not(.mine) .words")?.innerText.endsWith("Sentence 59 of the answer.")`)
	if p.eval("window.kept") != true {
		t.Error("the page was loaded again")
	}
	// From the phone's side: the page shows it by itself.
	if err := h.Turns.SubmitText(t.Context(), "chat:main", "And from elsewhere?"); err != nil {
		t.Fatal(err)
	}
	p.wait(`document.querySelectorAll(".message.mine").length === 2 && document.querySelectorAll(".talk .message").length === 4`)
	if got := p.faults(); got != "" {
		t.Errorf("faults:\n%s", got)
	}
}

// nobody is a client that looks at nothing.
type nobody struct{}

func (nobody) Send(nova.Message) {}
func (nobody) Changed(uint64)    {}

// TestOwnerPageTalksWhenNoMoreRequestsAreRemembered: a host does so for 256 texts
// of its life, and lives for months.
func TestOwnerPageTalksWhenNoMoreRequestsAreRemembered(t *testing.T) {
	h, with := withPersonalHost(t, &memory.ScriptedModel{Pieces: []string{"In 1932."}})
	other := h.Host.Attach(nobody{}, hub.Terms{Desktop: true, Personal: true})
	for n := range turns.MaxTextRequests {
		if err := other.Deliver(t.Context(), nova.InputText{Text: "?", RequestID: fmt.Sprint(n), ConversationID: "nowhere"}); err != nil {
			t.Fatal(err)
		}
	}
	p := startOwnerPage(t, with).enter(launch(t, extensionDir))
	p.click(`nav a[href$="/conversations"]`)
	p.waitText("h1", "Conversations")
	p.click(`[data-conversation="chat:main"] a`)
	p.wait(`document.querySelector("#write")`)
	h.awaitSocket(t)
	p.typeText("#text", "When did it open?\r")
	p.wait(`document.querySelector(".message.mine .words")?.innerText === "When did it open?" && document.querySelector("#text").value === ""`)
}

// TestOwnerPageTalksWithoutScript: the forms do.
func TestOwnerPageTalksWithoutScript(t *testing.T) {
	_, with := withPersonalHost(t, &memory.ScriptedModel{Pieces: []string{"In 1932."}})
	o := startOwnerPage(t, with)
	p := o.enter(launch(t, extensionDir))
	p.forbidScript()
	p.do(chromedp.Navigate(p.eval("location.href").(string) + "conversations/chat:main"))
	p.wait(`document.querySelector("#write")`)
	p.typeText("#text", "When did it open?")
	p.click("#write button")
	p.wait(`document.querySelector(".message.mine .words")?.innerText === "When did it open?"`)
	p.do(chromedp.Reload())
	p.wait(`document.querySelector(".message:not(.mine, #answer) .words")?.innerText === "In 1932."`)
	p.do(chromedp.Navigate(strings.Replace(p.eval("location.href").(string), "conversations/chat:main", "lists", 1)))
	p.wait(`document.querySelector("#title")`)
	p.typeText("#title", "Buy flour\r")
	p.wait(`document.querySelector("[data-item] .strong")?.innerText === "Buy flour"`)
	p.click("[data-item] button")
	p.wait(`document.querySelector(".closed .strong")?.innerText === "Buy flour"`)
}

// TestOwnerPageAsksAgain: a question whose answer failed stays, and is asked once more as
// a new one by one press, with what is being written left alone; without script too.
func TestOwnerPageAsksAgain(t *testing.T) {
	model := &memory.ScriptedModel{Err: ports.ErrModelUnavailable}
	h, with := withPersonalHost(t, model)
	o := startOwnerPage(t, with)
	p := o.enter(launch(t, extensionDir))
	p.do(chromedp.Navigate(p.eval("location.href").(string) + "conversations/chat:main"))
	p.wait(`document.querySelector("#write")`)
	h.awaitSocket(t)
	p.typeText("#text", "When did it open?\r")
	p.wait(`document.querySelectorAll(".message.mine .again button").length === 1`)
	p.eval("window.kept = true")
	p.typeText("#text", "And where")
	p.click(".again button")
	p.wait(`document.querySelectorAll(".message.mine .again button").length === 2`)
	if got := p.eval(`[...document.querySelectorAll(".message.mine .words")].map((w) => w.innerText).join("|") + "|" + document.querySelector("#text").value + "|" + window.kept`); got != "When did it open?|When did it open?|And where|true" {
		t.Errorf("the page shows %v", got)
	}
	if got := p.faults(); got != "" {
		t.Errorf("faults:\n%s", got)
	}
	p.forbidScript()
	p.do(chromedp.Reload())
	p.click(".again button")
	p.wait(`document.querySelectorAll(".message.mine").length === 3`)
}
