// Lets people try what /docs describes: shows the fields, and the answer as text.
const SHOWN_CHARACTERS = 20_000;

function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function address(form) {
  const query = new URLSearchParams();
  let target = form.dataset.path;
  for (const field of form.querySelectorAll("[data-in]")) {
    if (field.dataset.in === "path") target = target.replace(`{${field.name}}`, encodeURIComponent(field.value));
    else if (field.value) query.append(field.name, field.value);
  }
  return target + (query.size ? `?${query}` : "");
}

async function show(target, status, body) {
  const say = (text, bad) => {
    status.setAttribute("class", bad ? "status bad" : "status");
    status.textContent = text;
  };
  say("Loading…");
  body.replaceChildren();
  try {
    const response = await fetch(target);
    const type = response.headers.get("content-type") || "";
    let text = /json|text|javascript/.test(type) ? await response.text() : `(${(await response.blob()).size} bytes)`;
    if (/json/.test(type)) text = JSON.stringify(JSON.parse(text), null, 2);
    if (text.length > SHOWN_CHARACTERS) text = `${text.slice(0, SHOWN_CHARACTERS)}\n… (${text.length} characters)`;
    say(`${response.status} ${type}`, !response.ok);
    // A block that scrolls: keyboards reach it, and its name says what it is.
    body.replaceChildren(make("pre", { tabindex: "0", role: "group", "aria-label": "Answer" }, text || "(no body)"));
  } catch (problem) {
    say(`No answer: ${problem.message}`, true);
  }
}

for (const form of document.querySelectorAll("form[data-try]")) {
  const link = make("a");
  // The status is read aloud; an answer of many pages is not.
  const status = make("p", { class: "status", role: "status" });
  const body = make("div");
  const update = () => { link.href = link.textContent = address(form); };
  for (const field of form.querySelectorAll("[data-in]")) field.hidden = false;
  form.append(make("button", { type: "submit" }, "Try it"), link, status, body);
  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    show(address(form), status, body);
  });
  update();
}

function openFromAddress() {
  const wanted = document.getElementById(location.hash.slice(1));
  if (wanted?.tagName !== "DETAILS") return;
  wanted.open = true;
  wanted.scrollIntoView();
  wanted.querySelector("summary").focus();
}
addEventListener("hashchange", openFromAddress);
addEventListener("load", () => requestAnimationFrame(openFromAddress)); // After the browser has followed the fragment itself.
