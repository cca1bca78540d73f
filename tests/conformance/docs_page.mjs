// Runs the documentation page's script on a document that keeps only what the script uses, and prints what it shows.
import fs from "node:fs";
import vm from "node:vm";

const [, , script, description] = process.argv;

class Element {
  constructor(name) {
    Object.assign(this, { tagName: name.toUpperCase(), children: [], attributes: {}, value: "" });
  }
  setAttribute(name, value) {
    this.attributes[name] = String(value);
    if (name === "value") this.value = String(value);
  }
  append(...children) { this.children.push(...children); }
  replaceChildren(...children) { this.children = children; }
  addEventListener() {}
  scrollIntoView() {}
  set textContent(text) { this.children = [text]; }
  get textContent() { return this.children.map((child) => child.textContent ?? child).join(""); }
}

const prose = (one) => one.tagName === "PRE" ? "" : one.children ? one.children.map(prose).join("") : one;

const places = { title: new Element("h1"), endpoints: new Element("nav"), description: new Element("div"), loading: new Element("p") };
const api = JSON.parse(fs.readFileSync(description, "utf8"));
const page = {
  document: { createElement: (name) => new Element(name), getElementById: (id) => places[id] ?? null, title: "" },
  location: { hash: "" },
  addEventListener() {},
  fetch: async () => ({ ok: true, json: async () => api }),
  URLSearchParams,
};
vm.runInNewContext(fs.readFileSync(script, "utf8"), page);
setImmediate(() => setImmediate(() => {
  const shown = { title: page.document.title, heading: places.title.textContent, prose: prose(places.description), contents: places.endpoints.textContent, main: places.description.textContent };
  console.log(JSON.stringify({ ...shown, failed: places.loading.textContent }));
}));
