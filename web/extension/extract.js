// Injected into the page in front when the owner uses it: gives its title, the
// selection and its readable text. It changes nothing and remembers nothing; the
// panel bounds what is sent (excerpt.js).
(() => {
  const longest = 200_000; // characters; far more than is ever sent
  const skippedTags = new Set(
    ("NAV ASIDE FOOTER SCRIPT STYLE NOSCRIPT TEMPLATE SVG CANVAS IFRAME OBJECT VIDEO AUDIO DIALOG " +
      "BUTTON SELECT TEXTAREA INPUT DATALIST").split(" "),
  );
  const skippedRoles = new Set("navigation complementary banner contentinfo search menu menubar toolbar dialog alert".split(" "));
  const inline = new Set("A ABBR B BDI BDO CITE CODE DATA DEL DFN EM FONT I INS KBD LABEL MARK Q S SAMP SMALL SPAN STRONG SUB SUP TIME U VAR WBR".split(" "));
  const cells = new Set(["TD", "TH"]);

  function skipped(element) {
    if (skippedTags.has(element.tagName.toUpperCase()) || skippedRoles.has(element.getAttribute("role"))) return true;
    if (element.getAttribute("aria-hidden") === "true" || element.isContentEditable) return true;
    if (element.tagName === "HEADER" && !element.closest("article, main, [role=main]")) return true;
    // An element that is only its contents has no box to be visible.
    if (getComputedStyle(element).display === "contents") return false;
    return !element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  }

  // Of nested or repeated candidates the one with most text is the page's body;
  // a short one (a teaser, a login box) is not.
  function body() {
    const candidates = [...document.querySelectorAll("article, main, [role=main]")].map((root) => ({ root, text: read(root) }));
    const best = candidates.sort((a, b) => b.text.length - a.text.length)[0];
    return best && best.text.length >= 200 ? best.text : read(document.body);
  }

  function read(root) {
    const out = [];
    let length = 0;
    const stack = root ? [root] : [];
    while (stack.length > 0 && length < longest) {
      const node = stack.pop();
      if (typeof node === "string" || node.nodeType === Node.TEXT_NODE) {
        const text = typeof node === "string" ? node : node.data.replace(/\s+/g, " ");
        out.push(text);
        length += text.length;
      } else if (node.nodeType === Node.ELEMENT_NODE && !skipped(node)) {
        const apart = inline.has(node.tagName) ? "" : cells.has(node.tagName) ? " " : "\n";
        stack.push(apart, ...[...node.childNodes].reverse(), apart);
      }
    }
    return out.join("").replace(/ *\n\s*/g, "\n").replace(/ {2,}/g, " ").trim();
  }

  return {
    url: location.href,
    title: document.title,
    selection: getSelection()?.toString().trim().slice(0, longest) ?? "",
    text: body(),
  };
})();
