// Disconnects apps. What is gone disappears, and focus goes to what says so.
import { $, busy, offerSigningOut, post, say } from "/auth/assets/page.js";

const list = $("grants");

function tidy() {
  $("none").hidden = list.children.length > 0;
  $("revoke-all").hidden = list.children.length < 2;
  $("status").focus();
}

function revoke(grant, done) {
  busy(async () => {
    await post("/account/revoke", { grant });
    done();
  });
}

list.addEventListener("click", (event) => {
  const item = event.target.closest("button.revoke")?.closest("li[data-grant]");
  if (!item) return;
  const name = item.querySelector("h2").textContent;
  revoke(item.dataset.grant, () => {
    item.remove();
    say(`${name} is disconnected.`);
    tidy();
  });
});

$("revoke-all").addEventListener("click", () => {
  if (!confirm("Disconnect every app?")) return;
  revoke("all", () => {
    list.replaceChildren();
    say("Every app is disconnected.");
    tidy();
  });
});

offerSigningOut();
