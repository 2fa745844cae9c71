// Injected into the frames of the page in front when the person uses it: gives the
// title, the selection and the text that is on the screen. It changes nothing and
// remembers nothing; the panel bounds what is sent (excerpt.js).
//
// Text counts as on the screen whatever holds it: elements, open and closed shadow
// roots, frames of the same origin, editors. What is styled away is left out, what
// only surrounds the content (menus, side columns, cookie dialogs) is used when
// there is little else.
(() => {
  const longest = 500_000; // characters kept; far more than is ever sent
  const patienceMs = 1200; // of a page that never ends what was read until then is used
  const little = 30; // characters: a page with fewer has no content of its own
  const substantial = 200; // characters that make a main part or a dialog worth choosing

  // A page may call a form field "childNodes" or an image "title", which hides the
  // property of that name. The getters of the prototypes cannot be hidden.
  const getter = (type, name) => {
    const { get } = Object.getOwnPropertyDescriptor(type.prototype, name);
    return (object) => Reflect.apply(get, object, []);
  };
  const method = (type, name) => (object, ...args) => Reflect.apply(type.prototype[name], object, args);
  const childNodes = getter(Node, "childNodes");
  const nodeType = getter(Node, "nodeType");
  const localName = getter(Element, "localName");
  const attribute = method(Element, "getAttribute");
  const box = method(Element, "getBoundingClientRect");
  const textContent = getter(Node, "textContent");
  const assignedNodes = method(HTMLSlotElement, "assignedNodes");
  const editable = getter(HTMLElement, "isContentEditable");
  const value = getter(HTMLTextAreaElement, "value");
  const root = getter(Document, "documentElement");
  const frameDocument = { iframe: getter(HTMLIFrameElement, "contentDocument"), object: getter(HTMLObjectElement, "contentDocument") };
  if (globalThis.HTMLFrameElement) frameDocument.frame = getter(HTMLFrameElement, "contentDocument");

  // An element may have another namespace than its name tells, or belong to a frame
  // of another origin. Then the property is missing.
  const lenient = (read) => (object) => {
    try {
      return read(object);
    } catch {
      return null;
    }
  };
  const isEditable = lenient(editable);
  const assigned = lenient(assignedNodes);
  const innerDocument = lenient((element) => frameDocument[localName(element).toLowerCase()](element));
  const openRoot = getter(Element, "shadowRoot");
  const anyRoot = lenient((element) => (globalThis.chrome ?? globalThis.browser).dom.openOrClosedShadowRoot(element));
  const shadowRoot = (element) => anyRoot(element) ?? openRoot(element);

  const set = (names) => new Set(names.split(" "));
  const never = set("script style noscript template title desc metadata defs canvas video audio embed select datalist input progress meter rt rp");
  const around = set("nav aside");
  const aroundRoles = set("navigation complementary banner contentinfo search menu menubar toolbar");
  const inline = set("a abbr b bdi bdo button cite code data del dfn em font i ins kbd label mark q s samp small span strong sub sup time tspan u var");
  const headings = set("h1 h2 h3 h4 h5 h6");

  const px = (length) => Number.parseFloat(length); // NaN for auto and percentages

  function styledAway(style, name) {
    if (style.display === "none" || style.opacity === "0") return true;
    const clipped = (style.overflowX !== "visible" || style.overflowY !== "visible") && name !== "html" && name !== "body";
    if (clipped && px(style.height) === 0) return true; // a closed fold
    if (style.position !== "absolute" && style.position !== "fixed") return false;
    return (
      (clipped && px(style.width) <= 1 && px(style.height) <= 1) ||
      /^rect\((0|1)(px)?, ?(0|1)(px)?, ?(0|1)(px)?, ?(0|1)(px)?\)$/.test(style.clip) ||
      /^inset\((50|100)%/.test(style.clipPath) ||
      px(style.left) < -900 ||
      px(style.top) < -900
    );
  }

  // Fonts that draw a picture for a word, such as "arrow_back".
  const pictures = /^["']?[^,]*(\bicons?\b|iconfont|ionicons|glyphicons|icomoon|material symbols|font ?awesome)/i;

  const unreadable = (style) =>
    style.visibility !== "visible" || style.fontSize === "0px" || px(style.textIndent) < -900 || pictures.test(style.fontFamily);

  const fillsScreen = (element) => {
    const { width, height } = box(element);
    return width * height > 0.3 * innerWidth * innerHeight;
  };

  // A label on a button says what it does; a heading or a paragraph on one is content.
  const isLabel = (element, inHeading) => !inHeading && attribute(element, "aria-expanded") === null && textContent(element).trim().length < 40;

  /** What of the element's surroundings counts for what is in it. */
  function inside(element, name, style, outer) {
    const role = attribute(element, "role");
    const scope = { ...outer, hidden: unreadable(style) };
    if (name === "main" || role === "main") scope.main = true;
    if (name === "article" && !outer.article) scope.article = element;
    if (headings.has(name) || role === "heading") scope.heading = true;
    if (name === "dialog" || role === "dialog" || role === "alertdialog") scope.zone = "dialog";
    const frameOfPage = (name === "header" || name === "footer") && !scope.main && !scope.article;
    if (around.has(name) || aroundRoles.has(role) || frameOfPage) scope.zone = "around";
    scope.space = /^(pre(?!-line)|break-spaces|preserve(?!-breaks))/.test(style.whiteSpace) ? "all" : /-(line|breaks)$/.test(style.whiteSpace) ? "lines" : "";
    scope.items = /(flex|grid)$/.test(style.display);
    return scope;
  }

  /** What stands between an element and its neighbours. */
  function gap(name, style, outer) {
    const { display } = style;
    if (display === "inline" || display === "contents" || display.startsWith("ruby")) return "";
    if (display.startsWith("inline")) return inline.has(name) && name !== "button" ? "" : " ";
    if (display === "table-cell" || (outer.items && inline.has(name))) return " ";
    return "\n";
  }

  class Text {
    lines = [];
    length = 0;
    #line = "";
    #scope = null;

    // Text of another part of the page never shares a line with what came before.
    add(text, scope) {
      if (this.#line !== "" && (scope.zone !== this.#scope.zone || scope.main !== this.#scope.main || scope.article !== this.#scope.article)) this.end();
      if (this.#line === "") this.#scope = scope;
      this.#line += this.#line === "" || this.#line.endsWith(" ") ? text.replace(/^ /, "") : text;
      this.length += text.length;
    }

    addKept(text, scope) {
      for (const [i, part] of text.split("\n").entries()) {
        if (i > 0) this.end(scope);
        if (part === "") continue;
        if (this.#line === "") this.#scope = scope;
        this.#line += part;
        this.length += part.length;
      }
    }

    /** Ends a line. An empty one is kept only where white space is: given a scope. */
    end(scope = null) {
      if (this.#line.trim() !== "") this.lines.push({ text: this.#line.trimEnd(), scope: this.#scope });
      else if (scope) this.lines.push({ text: "", scope });
      this.#line = "";
    }
  }

  const found = { text: new Text(), unread: 0, pdf: false, more: false };

  /** Of one text that is too long by itself, such as a log file, begin and end are kept. */
  function bounded(text) {
    if (text.length <= longest) return text;
    found.more = true;
    return `${text.slice(0, longest / 2)}\n…\n${text.slice(-longest / 2)}`;
  }

  function addText(text, scope) {
    if (scope.hidden) return;
    if (scope.space === "all") found.text.addKept(bounded(text).replaceAll("\r", ""), scope);
    else if (scope.space === "lines") found.text.addKept(bounded(text).replace(/[^\S\n]+/g, " ").replace(/ ?\n ?/g, "\n"), scope);
    // Soft hyphens and invisible spaces would cut words, private characters are icons.
    else found.text.add(bounded(text).replace(/[\u00ad\u200b\u2060\ufeff\ue000-\uf8ff]/g, "").replace(/\s+/g, " "), scope);
  }

  /** The nodes in an element in the order of the screen, or null when none counts. */
  function contents(element, name, scope) {
    if (name in frameDocument) {
      const inner = innerDocument(element);
      if (inner && root(inner)) return [root(inner)];
      const large = name !== "object" && (fillsScreen(element) || scope.onlyFrames);
      if (large) found.unread++;
      return null;
    }
    if (name === "details" && attribute(element, "open") === null) {
      return [...childNodes(element)].filter((n) => nodeType(n) === 1 && localName(n) === "summary").slice(0, 1);
    }
    const shadow = shadowRoot(element);
    if (shadow) return [...childNodes(shadow)];
    const given = name === "slot" ? assigned(element) : null;
    return given?.length > 0 ? given : [...childNodes(element)];
  }

  /** Whether an element is something to type into that is no document of its own. */
  function isDraft(element, name, outer) {
    if (name === "textarea") return attribute(element, "readonly") === null && !fillsScreen(element);
    return attribute(element, "role") === "textbox" && !outer.editor && !fillsScreen(element);
  }

  function enter(element, outer, stack) {
    const name = localName(element).toLowerCase();
    if (name === "embed" && attribute(element, "type") === "application/pdf" && fillsScreen(element)) found.pdf = true;
    if (never.has(name)) return;
    const style = getComputedStyle(element);
    if (styledAway(style, name)) return;
    if (name === "br" || name === "hr") return found.text.end(outer.space === "all" ? outer : null);
    if (isDraft(element, name, outer)) return;
    if (name === "button" && isLabel(element, outer.heading || outer.summary)) return;
    const scope = inside(element, name, style, outer);
    if (name === "summary") scope.summary = true;
    if (name === "frameset") scope.onlyFrames = true;
    if (isEditable(element)) scope.editor = true;
    const apart = name === "textarea" || name === "text" ? "\n" : gap(name, style, outer);
    const nodes = name === "textarea" ? null : contents(element, name, scope);
    separate(apart, outer);
    stack.push({ after: apart, scope: outer });
    if (name === "textarea") addText(value(element), { ...scope, space: "all" });
    else if (style.contentVisibility !== "hidden") for (const node of (nodes ?? []).reverse()) stack.push({ node, scope });
  }

  function separate(apart, scope) {
    if (apart === "\n") found.text.end();
    else if (apart === " ") found.text.add(" ", scope);
  }

  function read(start) {
    const deadline = performance.now() + patienceMs;
    const scope = { zone: "page", main: false, article: null, heading: false, hidden: false, space: "", items: false };
    const stack = [{ node: start, scope }];
    for (let steps = 0; stack.length > 0; steps++) {
      if (found.text.length > longest || (steps % 128 === 0 && performance.now() > deadline)) {
        found.more = true;
        break;
      }
      const { node, scope, after } = stack.pop();
      if (!node) separate(after, scope);
      else if (nodeType(node) === Node.TEXT_NODE || nodeType(node) === Node.CDATA_SECTION_NODE) addText(textContent(node), scope);
      else if (nodeType(node) === Node.ELEMENT_NODE) enter(node, scope, stack);
    }
    found.text.end();
  }

  const amount = (lines) => lines.reduce((sum, { text }) => sum + text.length, 0);

  /** The lines that make up the content of the page. */
  function content(lines) {
    const page = lines.filter(({ scope }) => scope.zone === "page");
    const whole = amount(page);
    const worth = (part, share) => amount(part) >= Math.max(substantial, share * whole);
    let best = page.filter(({ scope }) => scope.main);
    if (!worth(best, 0.25)) {
      // The one article of a page is its content; of many (a forum, a front page) all are.
      const sizes = new Map();
      for (const { text, scope } of page) if (scope.article) sizes.set(scope.article, (sizes.get(scope.article) ?? 0) + text.length);
      const [largest] = [...sizes].sort((a, b) => b[1] - a[1])[0] ?? [null];
      best = page.filter(({ scope }) => largest !== null && scope.article === largest);
      if (!worth(best, 0.5)) best = page;
    }
    const dialog = lines.filter(({ scope }) => scope.zone === "dialog");
    if (amount(best) >= little) return amount(dialog) >= 2 * substantial ? [...best, ...dialog] : best;
    return lines;
  }

  // Empty lines stand only between lines of kept white space, and never two.
  function tidy(lines) {
    const full = (line) => line && line.text !== "";
    return lines.filter((line, i) => full(line) || (full(lines[i - 1]) && i < lines.length - 1));
  }

  function selection() {
    const own = getSelection()?.toString().trim() ?? "";
    if (own !== "") return own;
    for (let i = 0; i < Math.min(frames.length, 50); i++) {
      try {
        const inner = frames[i].getSelection()?.toString().trim() ?? "";
        if (inner !== "") return inner;
      } catch {
        // of another origin
      }
    }
    return "";
  }

  // A frame that its parent can read is read with it.
  if (window !== top && window.frameElement) return null;
  if (window !== top && innerWidth * innerHeight < 10_000) return null;

  const type = getter(Document, "contentType")(document);
  read(root(document));
  const lines = tidy(content(found.text.lines));
  return {
    top: window === top,
    url: location.href,
    title: getter(Document, "title")(document),
    selection: selection().slice(0, longest),
    text: lines.map(({ text }) => text).join("\n"),
    headings: lines.flatMap(({ scope }, i) => (scope.heading ? [i] : [])), // numbers of lines
    more: found.more, // there is more text than was read
    unread: found.unread, // large frames of other origins
    form: found.pdf || type === "application/pdf" ? "pdf" : /^(image|video|audio)\//.test(type) ? "media" : "text",
  };
})();
