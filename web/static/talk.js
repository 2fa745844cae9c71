// The page of one conversation: what is written goes over the desktop socket, and
// the answer appears while it is made. Without it the form is posted. What the host
// says is shown as Markdown; without script its text is there as it is.
"use strict";

(async (folder) => {
  const { MarkdownView } = await import(folder + "markdown.js");
  const sheet = document.createElement("link");
  sheet.rel = "stylesheet";
  sheet.href = folder + "markdown.css";
  document.head.append(sheet);

  function markdown(element) {
    element.classList.add("markdown");
    const copy = document.documentElement.lang.startsWith("zh") ? "复制" : "Copy";
    return new MarkdownView(element, { copy, copied: document.body.dataset.copied });
  }

  function readAll() {
    for (const words of document.querySelectorAll(".message:not(.mine, #answer) .words:not(.markdown)")) {
      const text = words.textContent;
      const view = markdown(words);
      view.append(text);
      view.end();
    }
  }
  readAll();
  document.addEventListener("plexus:fresh", readAll);

  const form = document.getElementById("write");
  if (!form) return;
  const field = document.getElementById("text");
  const fault = document.getElementById("text-fault");
  const answer = document.getElementById("answer");
  const said = document.getElementById("answer-text");
  const conversation = form.dataset.conversation;
  const address = "ws://" + location.host + document.body.dataset.base + "desktop";
  let socket = null;
  let instance = ""; // of the host; texts name it
  let sent = null; // what waits for its receipt
  let source = null; // the form that it came from
  let patience = 0; // timer of that
  let shown = ""; // turn and message that the answer belongs to
  let known = ""; // what was said so far
  let view = null; // of that
  let wait = 1000;

  function connect() {
    if (document.hidden || socket) return;
    socket = new WebSocket(address);
    socket.onmessage = (e) => {
      wait = 1000;
      take(JSON.parse(e.data));
    };
    socket.onclose = () => {
      socket = null;
      instance = "";
      setTimeout(connect, wait);
      wait = Math.min(wait * 2, 60_000);
    };
  }

  function take(m) {
    switch (m.type) {
      case "desktop.capabilities":
        instance = m.capabilities.includes("text_input") ? m.input_instance_id : "";
        // What had no receipt is sent again: the host knows the request if it has it.
        if (sent && sent.input_instance_id === instance) socket.send(JSON.stringify(sent));
        else if (sent) settle(false);
        break;
      case "input.text_result":
        if (m.request_id !== sent?.request_id) break;
        // The host remembers no more requests: without one the form is as good.
        if (m.error === "request_capacity" && source.isConnected) source.submit();
        else settle(m.ok);
        break;
      case "caption":
        if (m.conversation_id === conversation && m.role === "assistant") caption(m);
        break;
      case "conversation.error":
        if (m.conversation_id === conversation) answer.hidden = true;
    }
  }

  // A receipt has come: what was written is stored, or stays in the field.
  function settle(ok) {
    clearTimeout(patience);
    sent = null;
    field.readOnly = false;
    fault.textContent = ok ? "" : form.dataset.failed;
    if (ok && source === form) field.value = "";
  }

  // A caption that is not the last holds the end of what was said so far.
  function caption(m) {
    const key = [m.turn_id, m.message_id].join(" ");
    if (key !== shown) say("");
    shown = key;
    if (m.final) {
      // One without words takes away what was shown.
      if (m.full_text || m.text) say(m.full_text ?? joined(known, m.text));
      else answer.hidden = true;
      view?.end();
      return;
    }
    const low = atBottom();
    say(joined(known, m.text));
    answer.hidden = false;
    if (low) scrollTo(0, document.documentElement.scrollHeight);
  }

  // What was shown stays, and where a text goes on only the rest is new.
  function say(text) {
    if (!view || !text.startsWith(known)) [view, known] = [markdown(said), ""];
    view.append(text.slice(known.length));
    known = text;
  }

  // joined puts the end of a text to what is known of it. What came in between, if
  // it came too fast, is seen when the answer is whole.
  function joined(known, end) {
    const at = known.lastIndexOf(end.slice(0, 40));
    if (at >= 0) return known.slice(0, at) + end;
    return known && !end.startsWith(known) ? known + " … " + end : end;
  }

  const atBottom = () => innerHeight + scrollY > document.documentElement.scrollHeight - 80;

  // What is asked again is a new text, of a new request.
  document.addEventListener("submit", (e) => {
    if (e.target !== form && !e.target.matches(".again")) return;
    const words = e.target.elements.text.value;
    if (sent || !words.trim()) return e.preventDefault();
    if (!instance || socket?.readyState !== WebSocket.OPEN) return;
    e.preventDefault();
    source = e.target;
    // This word asks for a search, whoever sends it.
    const search = e.submitter?.name === "search" && !/^\s*\/search\s/i.test(words);
    const text = search ? "/search " + words : words;
    sent = { type: "input.text", text, request_id: newID(), input_instance_id: instance, conversation_id: conversation };
    field.readOnly = true;
    socket.send(JSON.stringify(sent));
    patience = setTimeout(settle, 30_000, false);
  });

  const newID = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");

  // Enter sends, Shift and Enter begins a line.
  field.addEventListener("keydown", (e) => {
    if (e.key !== "Enter" || e.shiftKey || e.isComposing) return;
    e.preventDefault();
    form.requestSubmit();
  });

  // Once the page shows the whole answer, the one that grew makes room.
  document.addEventListener("plexus:fresh", () => {
    const low = atBottom();
    const waiting = document.querySelector(".talk .message:last-child .pulse");
    if (!waiting) answer.hidden = true;
    if (low) scrollTo(0, document.documentElement.scrollHeight);
  });

  document.addEventListener("visibilitychange", () => (document.hidden ? socket?.close() : connect()));
  addEventListener("pageshow", (e) => e.persisted && connect());
  addEventListener("pagehide", () => socket?.close());
  connect();
})(document.currentScript.src.replace(/[^/]*$/, ""));
