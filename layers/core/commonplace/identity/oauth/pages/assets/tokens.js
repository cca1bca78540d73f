// Creates tokens, shows each once, and revokes them.
import { $, busy, offerSigningOut, post, say } from "/auth/assets/page.js";

const form = $("create"), list = $("grants");
const all = (name) => [...form.querySelectorAll(`input[name="${name}"]:checked`)].map((box) => box.value);

function show() {
  const [chosen] = all("organisation");
  for (const one of form.querySelectorAll("fieldset[data-organisation]")) one.hidden = one.dataset.organisation !== chosen;
}

if (form) {
  form.addEventListener("change", show);
  show();
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const [organisation] = all("organisation"), [permission] = all("permission");
    const values = { name: form.elements.name.value, expiry: form.elements.expiry.value, organisation, permission };
    busy(async () => {
      const made = await post("/account/tokens", { ...values, roles: all(`role:${organisation}`), kinds: all("kind") });
      $("token").textContent = made.token;
      $("made").hidden = false;
      form.reset();
      show();
      say("The token is made. It stands in the list below when you load the page again.");
      $("made").querySelector("pre").focus();
    });
  });
  form.querySelector("button.primary").disabled = false;
}

list.addEventListener("click", (event) => {
  const item = event.target.closest("button.revoke")?.closest("li[data-grant]");
  if (!item) return;
  busy(async () => {
    await post("/account/revoke", { grant: item.dataset.grant });
    say(`${item.querySelector("h3").textContent} is revoked.`);
    item.remove();
    $("none").hidden = list.children.length > 0;
    $("status").focus();
  });
});

offerSigningOut();
