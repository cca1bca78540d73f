// What every page has: the switch of the theme, and a search that answers while somebody types.
const WAIT_MILLISECONDS = 200;
const MOST_RESULTS = 8;
const THEMES = ["system", "light", "dark"];

function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const root = document.documentElement;
const theme = document.getElementById("theme");
if (theme) {
  const show = () => { theme.ariaLabel = theme.title = `Theme: ${root.dataset.theme ?? "system"}`; };
  theme.addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf(root.dataset.theme ?? "system") + 1) % THEMES.length];
    if (next === "system") delete root.dataset.theme;
    else root.dataset.theme = next;
    try {
      localStorage.setItem("theme", next);
    } catch {} // Without storage the choice is this page's alone.
    show();
  });
  show();
  theme.closest("[hidden]").hidden = false;
}

const known = new Map();
let waitUntil = 0;

/** The answer of the search, cached for this page. Throws when it is refused, with what to say. */
async function search(q, signal) {
  if (known.has(q)) return known.get(q);
  const wait = Math.ceil((waitUntil - Date.now()) / 1000);
  if (wait > 0) throw new Error(`Too many searches: try again in ${wait} s.`);
  const answer = await fetch(`/api/v1/search?${new URLSearchParams({ q, limit: MOST_RESULTS, highlight: true })}`, { signal });
  if (answer.status === 429) {
    const seconds = Number(answer.headers.get("retry-after")) || 60;
    waitUntil = Date.now() + seconds * 1000;
    throw new Error(`Too many searches: try again in ${seconds} s.`);
  }
  if (!answer.ok) throw new Error("The search does not respond now.");
  known.set(q, await answer.json());
  return known.get(q);
}

/** The snippet with its marks: they are the only elements, and their text is set as text. */
function marked(html) {
  const parsed = new DOMParser().parseFromString(html, "text/html").body;
  return [...parsed.childNodes].map((node) => (node.nodeName === "MARK" ? make("mark", {}, node.textContent) : node.textContent));
}

/** Make the field of a search form a combobox: results in a list below it, reached by the arrow keys. */
function combine(form, name) {
  const field = form.elements.q;
  const list = make("div", { id: `${name}-results`, class: "found", role: "listbox", "aria-label": "Results", hidden: "" });
  const status = make("p", { class: "quiet", "aria-live": "polite" });
  form.append(list, status);
  Object.assign(field, { role: "combobox", ariaAutoComplete: "list", ariaExpanded: "false" });
  field.setAttribute("aria-controls", list.id);
  let running, timer;

  const active = () => list.querySelector("[aria-selected=true]");
  const select = (option) => {
    active()?.setAttribute("aria-selected", "false");
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    if (option) field.setAttribute("aria-activedescendant", option.id);
    else field.removeAttribute("aria-activedescendant");
  };
  const open = (options) => {
    list.replaceChildren(...options);
    list.hidden = !options.length;
    field.ariaExpanded = String(options.length > 0);
    select(null);
  };
  const option = (href, number, ...content) =>
    make("a", { href, id: `${name}-${number}`, role: "option", tabindex: "-1", "aria-selected": "false" }, ...content);
  const all = (q) => `/search?${new URLSearchParams({ q })}`;

  async function refresh() {
    running?.abort();
    running = new AbortController();
    const { signal } = running;
    const q = field.value.trim();
    if (q.length < 2) return open([]);
    try {
      const { results, suggestion } = await search(q, signal);
      if (signal.aborted) return;
      const shown = results.map((hit, at) => option(`/d/${encodeURIComponent(hit.contentType)}/${encodeURIComponent(hit.id)}`, at,
        make("strong", { dir: "auto" }, hit.title), make("span", { class: "count" }, hit.contentType),
        make("span", { class: "passage", dir: "auto" }, ...marked(hit.highlight ?? ""))));
      if (suggestion) shown.unshift(option(all(suggestion), "meant", "Did you mean ", make("strong", {}, suggestion), "?"));
      open([...shown, option(all(q), "all", `All results for “${q}”`)]);
      status.textContent = results.length ? `${results.length} results` : "No results";
    } catch (problem) {
      if (problem.name === "AbortError") return;
      open([]);
      status.textContent = problem.message;
      status.className = "fine";
    }
  }

  field.addEventListener("input", () => {
    clearTimeout(timer);
    status.className = "quiet";
    timer = setTimeout(refresh, WAIT_MILLISECONDS);
  });
  field.addEventListener("keydown", (event) => {
    const options = [...list.children];
    const at = options.indexOf(active());
    const down = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape" && !list.hidden && !form.closest("dialog")) open([]);
    else if (event.key === "Enter" && active()) active().click();
    else if (down && options.length) select(options[(at + down + (at < 0 && down < 0 ? 1 : 0) + options.length) % options.length]);
    else return;
    event.preventDefault();
  });
  form.addEventListener("focusout", (event) => {
    if (!form.contains(event.relatedTarget) && !form.closest("dialog")) open([]);
  });
  return field;
}

const forms = [...document.querySelectorAll("form[role=search][action='/search']")];
const own = forms.find((form) => form.closest("main") && document.getElementById("results"))?.elements.q;
if (!own) forms.forEach((form, at) => combine(form, `find-${at}`));

let dialog;
function openSearch() {
  if (own) return own.focus();
  if (!dialog) {
    const form = make("form", { action: "/search", class: "find wide", role: "search" },
      make("input", { type: "search", name: "q", maxlength: "1000", autocomplete: "off", placeholder: "Search", "aria-label": "Search" }));
    combine(form, "find-dialog");
    const keys = ["↑ ↓", " to choose, ", "Enter", " to open, ", "Esc", " to close"].map((text, at) => (at % 2 ? text : make("kbd", {}, text)));
    dialog = make("dialog", { class: "searching", "aria-label": "Search" }, form, make("p", { class: "fine" }, ...keys));
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    document.body.append(dialog);
  }
  if (!dialog.open) dialog.showModal();
  dialog.querySelector("input").select();
}

if (own || forms.length) addEventListener("keydown", (event) => {
  const writing = event.target.closest?.("input, textarea, select, [contenteditable]");
  const slash = event.key === "/" && !writing && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (!slash && !(event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey)) return;
  event.preventDefault();
  openSearch();
});
