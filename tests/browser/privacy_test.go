package browser

import (
	"testing"

	"plexus/adapters/memory"
	"plexus/domain/framing"
	"plexus/ports"
)

// TestOwnerPageSearchesForOneText: the second button sends the text as one that asks
// for a search, over the socket as Send does.
func TestOwnerPageSearchesForOneText(t *testing.T) {
	h, with := withPersonalHost(t, &memory.ScriptedModel{Pieces: []string{"In 1932."}})
	p := startOwnerPage(t, with).enter(launch(t, extensionDir))
	p.click(`nav a[href$="/conversations"]`)
	p.waitText("h1", "Conversations")
	p.click(`[data-conversation="chat:main"] a`)
	p.wait(`document.querySelector("#write")`)
	p.eval("window.kept = true")
	h.awaitSocket(t)
	p.typeText("#text", "When did it open?")
	p.click(`#write button[name="search"]`)
	p.wait(`document.querySelector(".message.mine .words")?.innerText === "/search When did it open?" && document.querySelector("#text").value === ""`)
	p.typeText("#text", "And then?\r")
	p.wait(`[...document.querySelectorAll(".message.mine .words")].at(-1)?.innerText === "And then?"`)
	if p.eval("window.kept") != true {
		t.Error("the page was loaded again")
	}
}

// TestOwnerPageForgetsAndExcludes walks through the page of what is remembered.
func TestOwnerPageForgetsAndExcludes(t *testing.T) {
	h, with := withPersonalHost(t, &memory.ScriptedModel{})
	for _, address := range []string{"https://www.bank.test/account", "https://bank.test/", "https://news.test/"} {
		record := h.Topics.BeginAnswer(ports.AnsweredQuestion{Question: "What?", Page: framing.PageContext{URL: address, Title: "Page of " + address, Extract: "Its text."}})
		whole := ports.Answered{Text: "That.", Complete: true}
		if err := record.Keep(t.Context(), whole); err != nil {
			t.Fatal(err)
		}
		if err := record.End(t.Context(), whole); err != nil {
			t.Fatal(err)
		}
	}
	p := startOwnerPage(t, with).enter(launch(t, extensionDir))
	p.click(`nav a[href$="/privacy"]`)
	p.waitText("h1", "Privacy & storage")
	p.click(`a[href$="/privacy/pages"].button`)
	p.wait(`document.querySelectorAll("#live li").length === 3`)
	p.click(`a[aria-label="Forget…: https://news.test/"]`)
	p.waitText("h1", "Forget this page?")
	p.wait(`document.querySelector("[name=topics]").checked`)
	p.click(`form button.danger`)
	p.wait(`document.querySelectorAll("#live li").length === 2`)

	p.click(`nav a[href$="/privacy"]`)
	p.wait(`document.querySelector("#site")`)
	p.typeText("#site", "bank.test:8443\r")
	p.wait(`document.querySelector("#site-fault")?.innerText.includes("Leave the port away") && document.querySelector("#site").value === "bank.test:8443"`)
	p.eval(`document.querySelector("#site").value = ""`)
	p.typeText("#site", "bank.*\r")
	p.wait(`document.querySelector("#excluded")?.innerText.includes("bank.*")`)
	sizes, err := h.Chats.Sizes(t.Context())
	_, left, failed := h.Privacy.Pages(t.Context(), ports.PageList{})
	if err != nil || failed != nil || sizes.Topics != 0 || left != 0 {
		t.Errorf("%d topics and %d pages are left, %v, %v", sizes.Topics, left, err, failed)
	}
	p.click(`#excluded button`)
	p.wait(`document.querySelector("#excluded")?.innerText.includes("No site is excluded.")`)
}
