// One key for what a link or a button of the page does. Without scripts the links and buttons do it all the same.

const KEYS = "commonplace-single-keys";
const FIELDS = "input, select, textarea, [contenteditable]";

const help = document.getElementById("keys");
const wanted = document.getElementById("single-keys");
const passage = document.getElementById("passage");
const rows = [...document.querySelectorAll("[data-row]")];
let sent = false;

help.hidden = false;
wanted.checked = localStorage.getItem(KEYS) !== "off";
wanted.addEventListener("change", () => localStorage.setItem(KEYS, wanted.checked ? "on" : "off"));
for (const form of document.forms) form.addEventListener("submit", () => { sent = true; });

/** From one row of the queue to the next. */
function move(step) {
  const now = rows.indexOf(document.activeElement);
  rows[Math.min(Math.max(now + step, 0), rows.length - 1)]?.focus();
}

/** What is selected of the contribution, into the field that masks it. */
function take() {
  const selection = getSelection(), text = document.getElementById("text");
  if (text?.contains(selection.anchorNode) && text.contains(selection.focusNode)) passage.value = selection.toString().trim();
  passage.focus();
}

function act(key) {
  if (key === "?") {
    help.open = !help.open;
    if (help.open) help.querySelector("summary").focus();
    return true;
  }
  if (key === "m" && passage) return take(), true;
  if ((key === "j" || key === "k") && rows.length) return move(key === "j" ? 1 : -1), true;
  const found = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (!found) return false;
  if (found.matches(FIELDS)) found.form.querySelector(":checked")?.focus();
  else if (found.matches("a, button")) found.click();
  return true;
}

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const inField = event.target.matches?.(FIELDS) && event.target !== wanted;
  if (event.key === "Escape" && inField) return event.target.blur();
  if (inField || event.repeat || sent || !wanted.checked || event.key.length > 1) return;
  if (act(event.key)) event.preventDefault();
});
