// As much of the DOM as markdown.js uses, for tests without a browser.

class FakeNode {
  parent = null;
  childNodes = [];

  get textContent() {
    return this.childNodes.map((n) => n.textContent).join("");
  }

  append(...nodes) {
    for (const given of nodes) {
      const node = typeof given === "string" ? new FakeText(given) : given;
      node.remove();
      node.parent = this;
      this.childNodes.push(node);
    }
  }

  remove() {
    if (this.parent) this.parent.childNodes.splice(this.parent.childNodes.indexOf(this), 1);
    this.parent = null;
  }

  replaceWith(node) {
    node.remove();
    node.parent = this.parent;
    this.parent.childNodes[this.parent.childNodes.indexOf(this)] = node;
    this.parent = null;
  }

  replaceChildren() {
    this.childNodes = [];
  }

  isEqualNode(other) {
    return html(this) === html(other);
  }
}

class FakeText extends FakeNode {
  nodeType = 3;

  constructor(data) {
    super();
    this.data = data;
  }

  get length() {
    return this.data.length;
  }

  get textContent() {
    return this.data;
  }

  appendData(more) {
    this.data += more;
  }

  cloneNode() {
    return new FakeText(this.data);
  }
}

export class FakeElement extends FakeNode {
  nodeType = 1;

  constructor(name) {
    super();
    this.name = name;
  }

  cloneNode() {
    return Object.assign(new FakeElement(this.name), this.attributes);
  }

  // Whatever was set is an attribute, so that nothing unexpected is overlooked.
  get attributes() {
    const own = ["parent", "childNodes", "nodeType", "name", "onclick"];
    return Object.fromEntries(Object.entries(this).filter(([key]) => !own.includes(key)));
  }
}

globalThis.document = { createElement: (name) => new FakeElement(name) };

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** Writes what is in a node as HTML. */
export function inner(node) {
  return node.childNodes.map(html).join("");
}

export function html(node) {
  if (node.nodeType === 3) return escaped(node.data);
  const attributes = Object.entries(node.attributes).map(([key, value]) => ` ${key === "className" ? "class" : key}="${escaped(String(value))}"`);
  const tag = `<${node.name}${attributes.join("")}>`;
  return node.name === "br" || node.name === "hr" ? tag : `${tag}${inner(node)}</${node.name}>`;
}

/** Every element in a node. */
export function elements(node) {
  const all = [];
  for (const stack = [node]; stack.length > 0; ) {
    const next = stack.pop();
    if (next.nodeType === 1 && next !== node) all.push(next);
    stack.push(...next.childNodes);
  }
  return all;
}
