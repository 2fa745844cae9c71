package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plexus/adapters/novaclient"
	"plexus/domain/nova"
	"plexus/tests/program"
)

// phoneName is by which name the phones of these tests reach the host.
const phoneName = "home.example.org:8443"

// topicOf is the number and ID of the one topic, 0 when there is none.
func topicOf(e program.Event) (number int, id string) {
	for _, c := range e.Conversations {
		if c.Kind == "topic" {
			return c.Number, c.ID
		}
	}
	return 0, ""
}

// said are the messages as one text.
func said(e program.Event) string {
	var lines []string
	for _, m := range e.Messages {
		lines = append(lines, m.Role+": "+m.Text)
	}
	return strings.Join(lines, "\n")
}

// talker starts a phone for programs that keeps its pairing in a folder.
func (p *plexus) talker(folder string, args ...string) *program.TerminalPhone {
	p.t.Helper()
	cmd := p.command(append([]string{"phone", "--json", "--dial", p.at.Client}, args...)...)
	cmd.Env = append(cmd.Env, "XDG_STATE_HOME="+folder)
	return program.StartTerminalPhone(p.t, cmd)
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
	o, err := program.Phone(filepath.Join(p.home, "data"), p.at.Client, "wss://"+phoneName)
	if err != nil {
		p.t.Fatal(err)
	}
	conn, err := novaclient.Dial(p.t.Context(), o)
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
	phone.Shows("snapshot", "without a topic", func(e program.Event) bool { n, _ := topicOf(e); return n == 0 })

	site := serveArticle(t)
	panel := b.pressAction(b.open(site.URL + "/bridge"))
	panel.waitText("#status", "Connected")
	askAboutPage(t, panel, model, site.URL)
	first := phone.Shows("snapshot", "after the answer", program.Any)
	number, topic := topicOf(first)
	if number == 0 {
		t.Fatalf("the first snapshot after the answer has no topic: %+v", first)
	}
	phone.Says(fmt.Sprintf("/open %d", number))
	opened := phone.Shows("snapshot", "of the topic", func(e program.Event) bool { return e.SelectedID == topic })
	if got := said(opened); !strings.HasPrefix(got, "user: When did the bridge open?\nassistant: It opened in 1931") {
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
func follow(t *testing.T, phone *program.TerminalPhone, model *stubModel) {
	t.Helper()
	phone.Says("And who built it?")
	prompt := receive(t, "a question to the model", model.asked)
	for _, part := range []string{"The bridge opened in 1931 after four years of work.", "When did the bridge open?", "It opened in 1931", "And who built it?"} {
		if !strings.Contains(prompt, part) {
			t.Errorf("the prompt misses %q: %s", part, prompt)
		}
	}
	if e := phone.Shows("text", "with its outcome", program.Any); !e.OK {
		t.Errorf("the text: %+v", e)
	}
	model.say <- "Ada Bridge did."
	model.say <- ""
	phone.Shows("caption", "with the answer", func(e program.Event) bool { return e.Final && e.FullText == "Ada Bridge did." })
}

// cutOff kills the host in the middle of an acknowledged turn and starts it again.
// The phone asks once more. It gives the request of the turn that was cut off.
func cutOff(t *testing.T, phone *program.TerminalPhone, model *stubModel, host *plexus) (requestID string) {
	t.Helper()
	phone.Says("And what does it cost?")
	requestID = phone.Shows("text", "that is admitted", func(e program.Event) bool { return e.OK }).RequestID
	receive(t, "a question to the model", model.asked)
	model.say <- "It costs "
	host.kill()
	phone.Shows("status", "of the loss", func(e program.Event) bool { return e.Phase == "waiting" })
	host.start()
	phone.Shows("status", "of the new connection", func(e program.Event) bool { return e.Phase == "connected" })
	after := phone.Shows("snapshot", "of the new host", program.Any)
	var statuses []string
	for _, m := range after.Messages {
		if m.Role == "user" {
			statuses = append(statuses, m.Text+" "+m.Status)
		}
	}
	want := "When did the bridge open? completed, And who built it? completed, And what does it cost? interrupted"
	if got := strings.Join(statuses, ", "); got != want || !strings.Contains(said(after), "assistant: Ada Bridge did.") {
		t.Errorf("after the restart the topic has %s\n%s", got, said(after))
	}
	phone.Says("/again") // as a new text, since it is seen that the first got no answer
	if e := phone.Shows("text", "once more", program.Any); !e.OK || e.RequestID == requestID {
		t.Errorf("asked again the host says %+v", e)
	}
	receive(t, "the question once more", model.asked)
	model.say <- "It costs nothing."
	model.say <- ""
	phone.Shows("caption", "with the answer", func(e program.Event) bool { return e.Final && e.FullText == "It costs nothing." })
	phone.Quits()
	return requestID
}

// onThePage goes on with the topic on the owner's page and deletes it there.
func onThePage(t *testing.T, host *plexus, b *chromium, model *stubModel, phone *program.TerminalPhone, topic string) {
	t.Helper()
	phone.Shows("snapshot", "with the topic", func(e program.Event) bool { n, _ := topicOf(e); return n != 0 })
	owner := host.signIn(b)
	owner.click(`nav a[href$="/conversations"]`)
	owner.waitText("h1", "Conversations")
	owner.click(fmt.Sprintf("[data-conversation=%q] a", topic))
	owner.waitText("h1", "The Valley Bridge")
	owner.wait(`document.querySelectorAll(".talk .message.mine").length === 4 && document.querySelector(".talk").innerText.includes("Ada Bridge did.")`)
	owner.typeText("#text", "Can one walk over it?\r")
	receive(t, "a question to the model", model.asked)
	model.say <- "One can "
	owner.wait(`!document.querySelector("#answer").hidden && document.querySelector("#answer-text").innerText.includes("One can")`)
	model.say <- "indeed."
	model.say <- ""
	owner.wait(`document.querySelector("#answer").hidden && document.querySelector(".talk .message:last-child .words")?.innerText === "One can indeed."`)
	phone.Shows("caption", "of the page's answer", func(e program.Event) bool { return e.Final && e.FullText == "One can indeed." })
	owner.click(`.actions a[href$="/delete"]`)
	owner.wait(`document.querySelector("main form button.danger")`)
	owner.click("main form button.danger")
	owner.waitText("h1", "Conversations")
	phone.Shows("snapshot", "without the topic", func(e program.Event) bool { n, _ := topicOf(e); return n == 0 })
}
