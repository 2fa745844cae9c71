package browser

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"

	"plexus/adapters/memory"
	"plexus/domain/admission"
)

// TestOwnerPageHasNoAlarmForANotFound: a page that is not there is refreshed like any
// other, and does not say that the host is gone; nothing is counted as refused, but
// somebody else who looks is.
func TestOwnerPageHasNoAlarmForANotFound(t *testing.T) {
	o := startOwnerPage(t)
	p := o.enter(launch(t, extensionDir))
	for i, there := range []string{"nonsense", "nonsense/a/b"} {
		p.eval(fmt.Sprintf(`location.href = document.body.dataset.base + %q`, there))
		p.waitText("h1", "There is nothing here")
		o.handshake(string(rune('a' + i)))
		p.wait(fmt.Sprintf(`document.querySelector("#nav .count")?.innerText === "%d"`, i+1)) // it was refreshed
		if p.eval(`document.querySelector("#lost").checkVisibility()`) != false {
			t.Errorf("%s: the page says that the host is gone", there)
		}
	}
	p.do(chromedp.Navigate(o.url + "/nonsense"))
	for _, r := range o.browsers.Refusals() {
		if r.Cause != admission.KeyWaiting {
			t.Errorf("counted as refused: %+v", r)
		}
	}
	probe, err := http.NewRequestWithContext(t.Context(), http.MethodGet, o.url+"/nonsense", nil)
	if err != nil {
		t.Fatal(err)
	}
	probe.Header.Set("Origin", "https://evil.example")
	answer, err := http.DefaultClient.Do(probe)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close() // its status says all
	if all := o.browsers.Refusals(); answer.StatusCode != http.StatusForbidden || all[0].Cause != admission.WebOrigin {
		t.Errorf("a look from elsewhere is not counted: %+v", all)
	}
}

// TestOwnerPageShowsThatItHasGone: a chat that was deleted elsewhere is said to be gone,
// but not while something is typed that would be lost.
func TestOwnerPageShowsThatItHasGone(t *testing.T) {
	_, with := withPersonalHost(t, &memory.ScriptedModel{})
	o := startOwnerPage(t, with)
	p := o.enter(launch(t, extensionDir))
	base, _ := p.eval("document.body.dataset.base").(string)
	for _, typed := range []string{"", "a thought"} {
		made, _ := p.eval(fmt.Sprintf(`fetch(%q, { method: "POST" }).then((r) => r.url)`, base+"conversations")).(string)
		p.do(chromedp.Navigate(made))
		p.wait(`document.querySelector("#text")`)
		p.eval(fmt.Sprintf(`document.querySelector("#text").value = %q`, typed))
		p.eval(fmt.Sprintf(`fetch(%q, { method: "POST" }).then((r) => r.url)`, made+"/delete"))
		if typed == "" {
			p.waitText("h1", "There is nothing here")
			continue
		}
		o.handshake("a")
		p.wait(`document.querySelector("#nav .count")`)
		if got := p.eval(`document.querySelector("#text").value + document.querySelector("#lost").checkVisibility()`); got != typed+"false" {
			t.Errorf("the page has %v", got)
		}
	}
}

// TestOwnerPageKeepsTheFocusOfAForm: where it was when the form was sent, by Enter and
// by a press; a button that has gone with its entry leaves the page as it begins.
func TestOwnerPageKeepsTheFocusOfAForm(t *testing.T) {
	_, with := withPersonalHost(t, &memory.ScriptedModel{})
	o := startOwnerPage(t, with)
	p := o.enter(launch(t, extensionDir))
	p.click(`nav a[href$="/lists"]`)
	for i, title := range []string{"Buy flour", "Buy salt"} { // one after the other, without a press between them
		if i == 0 {
			p.typeText("#title", title+"\r")
		} else {
			p.do(chromedp.KeyEvent(title + "\r"))
		}
		p.wait(fmt.Sprintf(`document.querySelectorAll("[data-item]").length === %d && document.activeElement.id === "title"`, i+1))
	}
	p.typeText("#title", "Buy yeast")
	p.click("form.stack button.primary")
	p.wait(`document.querySelectorAll("[data-item]").length === 3 && document.activeElement.matches("form.stack button.primary")`)
	p.click("[data-item] button")
	p.wait(`document.querySelectorAll(".closed [data-item]").length === 1 && document.activeElement === document.body`)
	p.eval(`sessionStorage.setItem("plexus.focus", "{what another program left")`)
	p.do(chromedp.Reload())
	p.waitText("h1", "To-dos")
	if got := p.faults(); got != "" {
		t.Errorf("faults:\n%s", got)
	}
}

// TestOwnerPageKeepsWhatIsTypedInALivePart: when a part with a field is replaced, the
// field has focus, text and caret again.
func TestOwnerPageKeepsWhatIsTypedInALivePart(t *testing.T) {
	o := startOwnerPage(t)
	p := o.enter(launch(t, extensionDir))
	p.eval(`(() => {
		const field = document.createElement("input");
		field.id = "held";
		document.getElementById("nav").append(field);
		const plain = fetch;
		window.fetch = async (...asked) => {
			const answer = await plain(...asked);
			const text = (await answer.text()).replace("</nav>", '<input id="held"></nav>');
			return new Response(text, { status: answer.status });
		};
		field.focus();
	})()`)
	p.do(chromedp.KeyEvent("abc"))
	p.eval(`document.activeElement.setSelectionRange(1, 2)`)
	o.handshake("a")
	p.wait(`document.querySelector("#nav .count")`)
	if got := p.eval(`(({ id, value, selectionStart, selectionEnd }) => [id, value, selectionStart, selectionEnd].join())(document.activeElement)`); got != "held,abc,1,2" {
		t.Errorf("the field has %v", got)
	}
}
