// Clients of the AI SDK without a page: commands come as lines of JSON on standard input, an answer goes out for each.
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, api, authorization] = process.argv.slice(2);
const ai = await import(pathToFileURL(createRequire(`${modules}/x`).resolve("ai")).href);

class State {
  status = "ready";
  error = undefined;
  messages = [];
  pushMessage = (message) => { this.messages = [...this.messages, message]; };
  popMessage = () => { this.messages = this.messages.slice(0, -1); };
  replaceMessage = (at, message) => { this.messages = this.messages.with(at, this.snapshot(message)); };
  snapshot = (value) => structuredClone(value);
}

class Chat extends ai.AbstractChat {
  constructor({ id, messages = [], onlyLast = true, drop }) {
    const state = new State();
    state.messages = messages;
    const fetched = async (url, options) => {
      const answer = await fetch(url, options);
      this.last = { status: answer.status, type: answer.headers.get("content-type") };
      if (!drop || !answer.body) return answer;
      // The connection breaks after so many bytes.
      let left = drop;
      drop = undefined;
      const reader = answer.body.getReader();
      const body = new ReadableStream({
        async pull(controller) {
          const { value, done } = await reader.read();
          if (done) return controller.close();
          left -= value.length;
          if (left >= 0) return controller.enqueue(value);
          await reader.cancel();
          controller.error(new TypeError("terminated"));
        },
      });
      return new Response(body, { status: answer.status, headers: answer.headers });
    };
    super({
      id,
      state,
      transport: new ai.DefaultChatTransport({
        api,
        headers: { authorization },
        fetch: fetched,
        ...(onlyLast ? { prepareSendMessagesRequest: ({ id, messages, trigger, messageId }) =>
          ({ body: { id, trigger, messageId, messages: messages.slice(-1) } }) } : {}),
      }),
      sendAutomaticallyWhen: ai.lastAssistantMessageIsCompleteWithApprovalResponses,
    });
  }
}

const chats = new Map();
const pending = new Map();

function shown(chat) {
  return { status: chat.status, error: chat.error?.message, last: chat.last, messages: chat.messages };
}

async function command({ op, name, wait = true, ...given }) {
  if (op === "open") { chats.set(name, new Chat(given)); return {}; }
  const chat = chats.get(name);
  const settle = async (work) => {
    const done = work.catch(() => {});
    pending.set(name, done);
    if (wait) await done;
    return shown(chat);
  };
  switch (op) {
    case "send": return settle(chat.sendMessage({ text: given.text }));
    case "resume": return settle(chat.resumeStream());
    case "regenerate": return settle(chat.regenerate());
    case "decide":
      return settle((async () => {
        for (const one of given.answers) await chat.addToolApprovalResponse(one);
        while (chat.status === "submitted" || chat.status === "streaming") await new Promise((done) => setTimeout(done, 20));
      })());
    case "leave": await chat.stop(); return shown(chat);
    case "wait": await pending.get(name); return shown(chat);
    case "state": return shown(chat);
  }
  throw new Error(`no command ${op}`);
}

for await (const line of createInterface({ input: process.stdin })) {
  try {
    console.log(JSON.stringify(await command(JSON.parse(line))));
  } catch (error) {
    console.log(JSON.stringify({ failed: String(error?.stack ?? error) }));
  }
}
