// Renders the OpenAPI document beside this page. Text is only ever set as text, so nothing in it can be markup.
"use strict";

const SHOWN_CHARACTERS = 20_000;

function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).filter(Boolean).map((part) => {
    if (part.startsWith("`")) return make("code", {}, part.slice(1, -1));
    if (part.startsWith("**")) return make("strong", {}, ...inline(part.slice(2, -2)));
    return part;
  });
}

function prose(text) {
  return (text || "").trim().split(/\n\s*\n/).filter(Boolean).map((block) => {
    if (!block.startsWith("* ")) return make("p", {}, ...inline(block.replace(/\n/g, " ")));
    const items = block.split(/^\* /m).filter(Boolean).map((item) => item.replace(/\s*\n\s*/g, " "));
    return make("ul", {}, ...items.map((item) => make("li", {}, ...inline(item))));
  });
}

/** A block that scrolls: keyboards reach it, and its name says what it is. */
function code(label, text) {
  return make("pre", { tabindex: "0", role: "group", "aria-label": label }, text);
}

function bounds(schema) {
  const told = schema.anyOf ? Object.assign({}, ...schema.anyOf.filter((one) => one.type !== "null"), schema) : schema;
  const facts = [told.type === "array" ? `repeatable ${(told.items || {}).type || ""}`.trim() : told.format || told.type];
  if (told.minimum !== undefined) facts.push(`from ${told.minimum}`);
  if (told.maximum !== undefined) facts.push(`to ${told.maximum}`);
  if (told.maxLength !== undefined) facts.push(`at most ${told.maxLength} characters`);
  if (told.default !== undefined && told.default !== null && String(told.default)) facts.push(`default ${told.default}`);
  return facts.filter(Boolean).join(", ");
}

function choices(schema) {
  return schema.enum || (schema.items || {}).enum || null;
}

function field(parameter, id, hint) {
  const schema = parameter.schema || {};
  const valid = choices(schema);
  const label = { id, name: parameter.name, "aria-describedby": hint, ...(parameter.required ? { required: "" } : {}) };
  const example = [(schema.examples || [])[0] ?? parameter.example ?? ""].flat()[0];
  if (!valid) {
    return make("input", { ...label, value: parameter.required ? example : "", placeholder: example, autocomplete: "off" });
  }
  const select = make("select", label, ...(parameter.required ? [] : [make("option", { value: "" }, "not given")]));
  select.append(...valid.map((value) => make("option", { value }, value)));
  if (valid.includes(example)) select.value = example;
  return select;
}

function address(path, parameters, inputs) {
  const query = new URLSearchParams();
  let target = path;
  parameters.forEach((parameter, index) => {
    const value = inputs[index].value;
    if (parameter.in === "path") target = target.replace(`{${parameter.name}}`, encodeURIComponent(value));
    else if (value) query.append(parameter.name, value);
  });
  return target + (query.size ? `?${query}` : "");
}

async function show(target, status, body) {
  const say = (text, bad) => {
    status.setAttribute("class", bad ? "status bad" : "status");
    status.textContent = text;
  };
  say("Asking…");
  body.replaceChildren();
  try {
    const response = await fetch(target);
    const type = response.headers.get("content-type") || "";
    let text = /json|text|javascript/.test(type) ? await response.text() : `(${(await response.blob()).size} bytes)`;
    if (/json/.test(type)) text = JSON.stringify(JSON.parse(text), null, 2);
    if (text.length > SHOWN_CHARACTERS) text = `${text.slice(0, SHOWN_CHARACTERS)}\n… (${text.length} characters)`;
    say(`${response.status} ${type}`, !response.ok);
    body.replaceChildren(code("Answer", text || "(no body)"));
  } catch (problem) {
    say(`No answer: ${problem.message}`, true);
  }
}

function tryIt(path, described) {
  const parameters = [...(described.parameters || [])].sort((one, other) => !!other.required - !!one.required);
  const names = parameters.map((parameter) => `${described.operationId}-${parameter.name}`);
  const inputs = parameters.map((parameter, index) => field(parameter, names[index], `${names[index]}-hint`));
  const rows = parameters.map((parameter, index) => make(
    "div", { class: "parameter" },
    make("label", { for: names[index] }, make("code", {}, parameter.name), parameter.required ? " required" : ""),
    make("div", {}, inputs[index], make("div", { id: `${names[index]}-hint` },
      make("p", { class: "faint" }, bounds(parameter.schema || {})), ...prose(parameter.description))),
  ));
  const link = make("a", { href: "#" }, "");
  // The status is read aloud; an answer of many pages is not.
  const status = make("p", { class: "status", role: "status" });
  const body = make("div");
  const update = () => {
    link.textContent = address(path, parameters, inputs);
    link.href = link.textContent;
  };
  const form = make("form", { "aria-label": `Try it: ${described.summary}` }, ...rows,
    make("button", { type: "submit" }, "Try it"), link, status, body);
  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    show(address(path, parameters, inputs), status, body);
  });
  update();
  return form;
}

function answer([status, response]) {
  const [type, content] = Object.entries(response.content || {})[0] || [];
  const example = content && content.example;
  const text = typeof example === "string" ? example : JSON.stringify(example, null, 2);
  return make(
    "details", {},
    make("summary", {}, make("strong", {}, status), " ", ...inline(response.description), " ", make("span", { class: "faint" }, type || "")),
    example === undefined ? null : code(`Example of ${status}`, text),
  );
}

function operation(path, described) {
  return make(
    "details", { class: "operation", id: described.operationId },
    make("summary", {}, make("h3", {}, described.summary), make("code", {}, `GET ${path}`)),
    make("div", {}, ...prose(described.description), tryIt(path, described),
      make("h4", {}, "Answers"), ...Object.entries(described.responses).map(answer)),
  );
}

function openFromAddress() {
  const wanted = document.getElementById(location.hash.slice(1));
  if (wanted && wanted.tagName === "DETAILS") {
    wanted.open = true;
    wanted.scrollIntoView();
    wanted.querySelector("summary").focus();
  }
}

function render(api) {
  const main = document.getElementById("description");
  document.title = api.info.title + (main.dataset?.title ?? "");
  const operations = Object.entries(api.paths).map(([path, methods]) => [path, methods.get]).filter(([, get]) => get);
  const contents = document.getElementById("endpoints");
  document.getElementById("title").textContent = api.info.title;
  main.replaceChildren(
    make("p", { class: "faint" }, `Version ${api.info.version} · OpenAPI ${api.openapi} · `,
      make("a", { href: "/openapi.json" }, "openapi.json")),
    ...prose(api.info.description),
  );
  for (const tag of api.tags) {
    const inside = operations.filter(([, get]) => (get.tags || [])[0] === tag.name);
    contents.append(make("p", { "aria-hidden": "true" }, tag.name), make("ul", { "aria-label": tag.name },
      ...inside.map(([, get]) => make("li", {}, make("a", { href: `#${get.operationId}` }, get.summary)))));
    main.append(make("h2", {}, tag.name), ...prose(tag.description), ...inside.map(([path, get]) => operation(path, get)));
  }
  addEventListener("hashchange", openFromAddress);
  openFromAddress();
}

fetch("/openapi.json")
  .then((response) => (response.ok ? response.json() : Promise.reject(new Error(`status ${response.status}`))))
  .then(render)
  .catch((problem) => {
    document.getElementById("loading").textContent = `The description could not be read: ${problem.message}`;
  });
