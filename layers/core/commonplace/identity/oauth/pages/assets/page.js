// What every page of the authorization server shares.

export const $ = (id) => document.getElementById(id);

/** Says it where screen readers hear it. */
export function say(text, wrong = false) {
  const status = $("status");
  status.classList.toggle("wrong", wrong);
  status.textContent = text;
}

/** An answer of the server that is not what was hoped for; `message` is fit to be shown. */
export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Asks the server. Raises Refusal; offline is one as well. */
export async function ask(path, options = {}) {
  const headers = { accept: "application/json", "x-commonplace-page": "1", ...options.headers };
  let answer;
  try {
    answer = await fetch(path, { cache: "no-store", redirect: "error", ...options, headers });
  } catch {
    throw new Refusal(0, "The site cannot be reached. Check your connection and try again.");
  }
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refusal(answer.status, meaning(answer.status, told));
  return told;
}

export const post = (path, values) =>
  ask(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(values) });

function meaning(status, told) {
  if (status === 503) return "The service cannot check this right now. Try again in a moment.";
  if (status === 429) return "That was too often. Wait a while and try again.";
  return told?.error?.message || "That did not work. Load the page again.";
}

/** One thing at a time: buttons rest while the work is done, and for good when it says that the page is left. */
export async function busy(work) {
  const resting = [...document.querySelectorAll("button:enabled")], focused = document.activeElement;
  for (const button of resting) button.disabled = true;
  let left = false;
  try {
    left = await work();
  } catch (error) {
    say(error.message, true);
  }
  if (left) return;
  for (const button of resting) button.disabled = false;
  // A button that rests loses the focus; keyboards go on where they were.
  if (document.activeElement === document.body) focused?.focus();
}

/** Signs out, and shows the page again to whoever comes next. */
export function offerSigningOut() {
  const button = $("sign-out");
  if (!button) return;
  button.addEventListener("click", () => busy(async () => {
    await post("/account/signout", {});
    location.reload();
    return true;
  }));
  button.disabled = false;
}
