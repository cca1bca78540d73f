// The chat: sends what is typed, shows an answer as it comes, follows one that is being written, and asks for approval.
// What is whole is rendered by the server: after each answer the page's turns are loaded anew.
const chat = document.getElementById("chat");
const { api, id, csrf, page } = chat.dataset;
const turns = () => document.getElementById("turns");
const status = document.getElementById("status");
const again = document.getElementById("again");
const form = document.getElementById("ask");
const field = document.getElementById("message");
const stop = document.getElementById("stop");
const send = form.querySelector("button.primary");
const headers = { "content-type": "application/json", "x-csrf-token": csrf };
const WORKING = "Answering …";
const WHOLE = "The answer is whole.";
const GONE = "The connection broke. Load the page again to go on.";
const WAITING = "Something waits for your decision.";
const UNANSWERED = "This message has no answer.";
const FOLLOWS = 20;
let busy = false;
let last = null;

function tell(text, wrong = false) {
  status.textContent = text;
  status.classList.toggle("wrong", wrong);
  status.classList.toggle("quiet", text === WHOLE);
}

function work(on) {
  busy = on;
  send.disabled = on;
  stop.hidden = !on;
  turns().setAttribute("aria-busy", String(on));
  if (on) { tell(WORKING); again.hidden = true; }
}

function item(kind, text) {
  turns().querySelector(".empty")?.remove();
  const made = document.createElement("li");
  made.className = kind;
  if (text !== undefined) {
    const words = document.createElement("p");
    words.dir = "auto";
    words.textContent = text;
    made.append(words);
  }
  turns().append(made);
  made.scrollIntoView({ block: "nearest" });
  return made;
}

// What an answer says, as it comes: plain paragraphs, without the marks of Markdown that a reader need not see.
class Live {
  constructor() {
    this.item = item("answer");
    this.parts = new Map();
    this.failed = "";
    this.ended = false;
  }

  step(text) {
    const line = document.createElement("p");
    line.className = "step";
    line.textContent = text;
    this.item.append(line);
  }

  take(frame) {
    switch (frame.type) {
      case "text-start": {
        const words = document.createElement("div");
        words.className = "reply live";
        words.dir = "auto";
        this.item.append(words);
        this.parts.set(frame.id, { words, text: "" });
        break;
      }
      case "text-delta": {
        const part = this.parts.get(frame.id);
        part.text += frame.delta;
        part.words.textContent = part.text.replace(/\*\*([^*\n]+)\*\*/g, "$1").replace(/^> ?/gm, "").replace(/^#+ /gm, "");
        break;
      }
      case "tool-input-available":
        if (frame.toolName === "searchKnowledge") this.step(`Searched for “${frame.input.query ?? ""}”`);
        else if (frame.toolName === "searchCommons") this.step(`Searched all sources for “${frame.input.query ?? ""}”`);
        else if (frame.toolName.includes("__")) this.step(`Turned to ${frame.toolName.replace("__", ": ")}`);
        else if (frame.toolName === "getDocument") this.step(`Read ${frame.input.id ?? "a document"}`);
        break;
      case "error": this.failed = frame.errorText; break;
      case "abort": this.failed = "Stopped."; break;
      case "finish": this.ended = true; break;
    }
  }
}

async function read(answer, live) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const frames = (rest + value).split("\n\n");
    rest = frames.pop();
    for (const frame of frames) {
      if (frame.startsWith("data: {")) live.take(JSON.parse(frame.slice(6)));
    }
  }
}

async function refusal(answer) {
  try {
    const { error } = await answer.json();
    const wait = error.details?.retryAfterSeconds;
    return `${error.message}${error.details?.hint ? ` ${error.details.hint}` : ""}${wait ? ` Try again in ${wait} seconds.` : ""}`;
  } catch {
    return "The answer could not be had just now.";
  }
}

// Replaces turns and list by what the server renders of them now.
async function refresh() {
  const answer = await fetch(page, { headers: { accept: "text/html" } });
  if (!answer.ok) return false;
  const found = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const name of ["turns", "conversations"]) {
    document.getElementById(name).replaceWith(found.getElementById(name));
  }
  document.querySelector("h1").textContent = found.querySelector("h1").textContent;
  document.title = found.title;
  return true;
}

async function follow(live) {
  for (let round = 0; round < FOLLOWS && !live.ended && !live.failed; round += 1) {
    const answer = await fetch(`${api}/${id}/stream`);
    if (answer.status !== 200) return;
    live.item.replaceChildren();
    await read(answer, live);
  }
}

async function run(body, resume = false) {
  work(true);
  const live = new Live();
  let told = "";
  try {
    if (!resume) {
      const answer = await fetch(api, { method: "POST", headers, body: JSON.stringify({ id, ...body }) });
      if (answer.ok) {
        // Whoever loads the page again, or opens it elsewhere, finds the answer that is being written.
        if (location.pathname !== page) history.replaceState(null, "", page);
        await read(answer, live).catch(() => {});
      } else told = await refusal(answer);
    }
    if (!told && !live.ended && !live.failed) await follow(live);
    told ||= live.failed;
  } catch {
    told = GONE;
  }
  const shown = await refresh().catch(() => false);
  if (!shown && told) live.item.remove();
  work(false);
  const draft = turns().querySelector("[data-decision]");
  tell(told || (draft ? WAITING : WHOLE), Boolean(told) && told !== "Stopped.");
  again.hidden = !told || !last;
  // Never onto a button: what is typed meanwhile must not decide.
  field.focus({ preventScroll: true });
  (draft ?? turns().lastElementChild)?.scrollIntoView({ block: "nearest" });
}

function ask(text) {
  last = { id: crypto.randomUUID(), role: "user", parts: [{ type: "text", text }] };
  item("said", text);
  return run({ trigger: "submit-message", messages: [last] });
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const text = field.value.trim();
  if (busy || !text) return;
  field.value = "";
  ask(text);
});

field.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    form.requestSubmit();
  }
});

stop.addEventListener("click", () => {
  tell("Stopping …");
  fetch(`${api}/${id}/stop`, { method: "POST", headers });
});

again.querySelector("button").addEventListener("click", () => {
  run({ trigger: "regenerate-message", messages: [last] });
});

chat.addEventListener("click", (event) => {
  const decision = event.target.dataset?.decision;
  if (!decision || busy) return;
  const { call, type } = event.target.parentElement.dataset;
  const approval = { id: call, approved: decision === "approve" };
  const answers = [{ type, toolCallId: call, state: "approval-responded", input: {}, approval }];
  // Nothing goes on until every call of a step has its answer.
  const open = [...turns().querySelectorAll("[data-call]")].filter((one) => one.dataset.call !== call);
  for (const one of open) {
    if (one.dataset.decided === undefined) {
      event.target.parentElement.dataset.decided = decision;
      event.target.parentElement.querySelectorAll("button").forEach((button) => { button.disabled = true; });
      tell("Decide the other one, too.");
      return;
    }
    const earlier = { id: one.dataset.call, approved: one.dataset.decided === "approve" };
    answers.push({ ...answers[0], type: one.dataset.type, toolCallId: one.dataset.call, approval: earlier });
  }
  last = null;
  run({ trigger: "submit-message", messages: [{ id: "decision", role: "assistant", parts: answers }] });
});

document.addEventListener("click", async (event) => {
  if (event.target.id !== "delete" || !confirm("Delete this conversation?")) return;
  const answer = await fetch(`${api}/${id}`, { method: "DELETE", headers });
  if (answer.ok) location.assign("/console/chat");
  else tell(await refusal(answer), true);
});

const end = turns().lastElementChild;
if (chat.dataset.running !== undefined) run({}, true);
else if (end?.matches(".said")) {
  last = { id: end.dataset.message, role: "user", parts: [{ type: "text", text: end.querySelector("p").textContent }] };
  tell(UNANSWERED, true);
  again.hidden = false;
} else {
  const draft = turns().querySelector("[data-decision]");
  if (draft) tell(WAITING);
  if (!end?.matches(".empty")) (draft ?? end)?.scrollIntoView({ block: "nearest" });
}
chat.dataset.ready = "";
