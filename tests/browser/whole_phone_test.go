package browser

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"plexus/adapters/hostfiles"
	"plexus/adapters/novaclient"
	"plexus/domain/nova"
	"plexus/domain/pairing"
	"plexus/domain/secret"
)

// phoneName is by which name the phones of these tests reach the host.
const phoneName = "home.example.org:8443"

// talk is an event of `plexus phone --json`: the members that are looked at.
type talk struct {
	Event, Phase, Line, Error, Role string
	OK, Final                       bool
	FullText                        string `json:"full_text"`
	RequestID                       string `json:"request_id"`
	SelectedID                      string `json:"selected_id"`
	ConversationID                  string `json:"conversation_id"`
	Conversations                   []struct {
		ID, Kind, Title string
		Number          int
	}
	Messages []struct {
		Role, Text, Status, Delivery string
		RequestID                    string `json:"request_id"`
	}
}

// topic is the number and ID of the one topic, 0 when there is none.
func (e talk) topic() (number int, id string) {
	for _, c := range e.Conversations {
		if c.Kind == "topic" {
			return c.Number, c.ID
		}
	}
	return 0, ""
}

// said are the messages as one text.
func (e talk) said() string {
	var lines []string
	for _, m := range e.Messages {
		lines = append(lines, m.Role+": "+m.Text)
	}
	return strings.Join(lines, "\n")
}

// talker is a running `plexus phone --json`.
type talker struct {
	t      *testing.T
	typed  io.Writer
	events chan talk
}

// talker starts a phone for programs that keeps its pairing in a folder.
func (p *plexus) talker(folder string, args ...string) *talker {
	p.t.Helper()
	cmd := p.command(append([]string{"phone", "--json", "--dial", p.at.Client}, args...)...)
	cmd.Env = append(cmd.Env, "XDG_STATE_HOME="+folder)
	typed, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if inErr != nil || outErr != nil {
		p.t.Fatal(inErr, outErr)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	k := &talker{t: p.t, typed: typed, events: make(chan talk, 4096)}
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(k.events)
		lines := bufio.NewScanner(out)
		for lines.Buffer(nil, 1<<20); lines.Scan(); {
			var e talk
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				p.t.Errorf("the phone printed %q: %v", lines.Text(), err)
			}
			k.events <- e
		}
	})
	p.t.Cleanup(func() {
		_ = cmd.Process.Kill() // most have ended already
		reading.Wait()
		_ = cmd.Wait()
	})
	return k
}

func (k *talker) says(line string) {
	k.t.Helper()
	if _, err := io.WriteString(k.typed, line+"\n"); err != nil {
		k.t.Fatal(err)
	}
}

// shows reads on to the next event of a kind that fits.
func (k *talker) shows(kind, what string, fits func(talk) bool) talk {
	k.t.Helper()
	late := time.After(2 * waitAtMost) // it may have to connect again
	var passed []string
	for {
		select {
		case e, more := <-k.events:
			switch {
			case !more:
				k.t.Fatalf("the phone ended before a %s %s", kind, what)
			case e.Event == kind && fits(e):
				return e
			}
			passed = append(passed, fmt.Sprintf("%.300v", fmt.Sprint(e)))
		case <-late:
			k.t.Fatalf("the phone never printed a %s %s, but\n%s", kind, what, strings.Join(passed, "\n"))
		}
	}
}

// kill ends the host at once, as a power cut does.
func (p *plexus) kill() {
	p.t.Helper()
	if err := p.process.Process.Kill(); err != nil {
		p.t.Fatal(err)
	}
	_ = p.process.Wait() // killed
	p.process = nil
}

// pairPhone makes an invitation and gives the file with the text of its code.
func (p *plexus) pairPhone(b *chromium) (file string) {
	p.t.Helper()
	owner := p.signIn(b)
	owner.click(`main .steps a[href$="/pair"]`)
	owner.waitText("h1", "Pair a phone")
	owner.typeText("#address", phoneName)
	owner.click("#address ~ button")
	owner.wait(`document.querySelector("#payload")?.value`)
	payload, _ := owner.eval(`document.querySelector("#payload").value`).(string)
	file = filepath.Join(p.home, "payload")
	if err := os.WriteFile(file, []byte(payload), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return file
}

// repeatText sends a text again by its ID, as a phone does that knows the present
// host, and gives what became of it.
func (p *plexus) repeatText(text nova.InputText) error {
	p.t.Helper()
	token, err := os.ReadFile(filepath.Join(p.home, "data", hostfiles.MasterTokenName))
	if err != nil {
		p.t.Fatal(err)
	}
	server, err := pairing.ParseServer("wss://" + phoneName)
	if err != nil {
		p.t.Fatal(err)
	}
	conn, err := novaclient.Dial(p.t.Context(), novaclient.Options{
		Server: server, Dial: netip.MustParseAddrPort(p.at.Client), Token: pairing.DeviceToken{Text: secret.New(strings.TrimSpace(string(token)))},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	defer conn.Close()
	return conn.SubmitText(p.t.Context(), text)
}

// TestWhole_AQuestionGoesOnOnThePhone: what was asked in the browser is gone on with
// on the phone, over a power cut, and on the owner's page. Nothing acknowledged is
// lost and nothing is answered twice.
func TestWhole_AQuestionGoesOnOnThePhone(t *testing.T) {
	model := newStubModel(t)
	host := newPlexus(t, model.config())
	host.start()
	b := launch(t, extensionDir)
	b.set(map[string]any{"address": "ws://" + host.nerve, "hostToken": host.token()})
	payload := host.pairPhone(b)
	folder := t.TempDir()
	phone := host.talker(folder, "--payload-file", payload)
	phone.shows("snapshot", "without a topic", func(e talk) bool { n, _ := e.topic(); return n == 0 })

	site := serveArticle(t)
	panel := b.pressAction(b.open(site.URL + "/bridge"))
	panel.waitText("#status", "Connected")
	askAboutPage(t, panel, model, site.URL)
	first := phone.shows("snapshot", "after the answer", func(talk) bool { return true })
	number, topic := first.topic()
	if number == 0 {
		t.Fatalf("the first snapshot after the answer has no topic: %+v", first)
	}
	phone.says(fmt.Sprintf("/open %d", number))
	opened := phone.shows("snapshot", "of the topic", func(e talk) bool { return e.SelectedID == topic })
	if got := opened.said(); !strings.HasPrefix(got, "user: When did the bridge open?\nassistant: It opened in 1931") {
		t.Errorf("the topic says\n%s", got)
	}
	follow(t, phone, model)

	cut := cutOff(t, phone, model, host)
	if err := host.repeatText(nova.InputText{Text: "And what does it cost?", RequestID: cut, ConversationID: topic}); err != nil {
		t.Errorf("the text is sent once more: %v", err)
	}
	select {
	case prompt := <-model.asked:
		t.Errorf("the interrupted turn was run again: %s", prompt)
	case <-time.After(time.Second):
	}
	phone = host.talker(folder)
	onThePage(t, host, b, model, phone, topic)
}

// follow goes on with the topic on the phone: the model gets the page and what was
// said before.
func follow(t *testing.T, phone *talker, model *stubModel) {
	t.Helper()
	phone.says("And who built it?")
	prompt := receive(t, "a question to the model", model.asked)
	for _, part := range []string{"The bridge opened in 1931 after four years of work.", "When did the bridge open?", "It opened in 1931", "And who built it?"} {
		if !strings.Contains(prompt, part) {
			t.Errorf("the prompt misses %q: %s", part, prompt)
		}
	}
	if e := phone.shows("text", "with its outcome", func(talk) bool { return true }); !e.OK {
		t.Errorf("the text: %+v", e)
	}
	model.say <- "Ada Bridge did."
	model.say <- ""
	phone.shows("caption", "with the answer", func(e talk) bool { return e.Final && e.FullText == "Ada Bridge did." })
}

// cutOff kills the host in the middle of an acknowledged turn and starts it again.
// It gives the turn's request.
func cutOff(t *testing.T, phone *talker, model *stubModel, host *plexus) (requestID string) {
	t.Helper()
	phone.says("And what does it cost?")
	requestID = phone.shows("text", "that is admitted", func(e talk) bool { return e.OK }).RequestID
	receive(t, "a question to the model", model.asked)
	model.say <- "It costs "
	host.kill()
	phone.shows("status", "of the loss", func(e talk) bool { return e.Phase == "waiting" })
	host.start()
	phone.shows("status", "of the new connection", func(e talk) bool { return e.Phase == "connected" })
	after := phone.shows("snapshot", "of the new host", func(talk) bool { return true })
	var statuses []string
	for _, m := range after.Messages {
		if m.Role == "user" {
			statuses = append(statuses, m.Text+" "+m.Status)
		}
	}
	want := "When did the bridge open? completed, And who built it? completed, And what does it cost? interrupted"
	if got := strings.Join(statuses, ", "); got != want || !strings.Contains(after.said(), "assistant: Ada Bridge did.") {
		t.Errorf("after the restart the topic has %s\n%s", got, after.said())
	}
	phone.says("/again")
	// The phone names the host that it sent the text to, which is gone.
	if e := phone.shows("text", "once more", func(talk) bool { return true }); e.OK || e.Error != string(nova.OutcomeUnknown) || e.RequestID != requestID {
		t.Errorf("asked again the host says %+v", e)
	}
	phone.says("/quit")
	for range phone.events { // to its end
	}
	return requestID
}

// onThePage goes on with the topic on the owner's page and deletes it there.
func onThePage(t *testing.T, host *plexus, b *chromium, model *stubModel, phone *talker, topic string) {
	t.Helper()
	phone.shows("snapshot", "with the topic", func(e talk) bool { n, _ := e.topic(); return n != 0 })
	owner := host.signIn(b)
	owner.click(`nav a[href$="/conversations"]`)
	owner.waitText("h1", "Conversations")
	owner.click(fmt.Sprintf("[data-conversation=%q] a", topic))
	owner.waitText("h1", "The Valley Bridge")
	owner.wait(`document.querySelectorAll(".talk .message.mine").length === 3 && document.querySelector(".talk").innerText.includes("Ada Bridge did.")`)
	owner.typeText("#text", "Can one walk over it?\r")
	receive(t, "a question to the model", model.asked)
	model.say <- "One can "
	owner.wait(`!document.querySelector("#answer").hidden && document.querySelector("#answer-text").innerText.includes("One can")`)
	model.say <- "indeed."
	model.say <- ""
	owner.wait(`document.querySelector("#answer").hidden && document.querySelector(".talk .message:last-child .words")?.innerText === "One can indeed."`)
	phone.shows("caption", "of the page's answer", func(e talk) bool { return e.Final && e.FullText == "One can indeed." })
	owner.click(`.actions a[href$="/delete"]`)
	owner.wait(`document.querySelector("main form button.danger")`)
	owner.click("main form button.danger")
	owner.waitText("h1", "Conversations")
	phone.shows("snapshot", "without the topic", func(e talk) bool { n, _ := e.topic(); return n == 0 })
}
