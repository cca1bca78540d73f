// The decision: what is ticked is what is allowed.
import { $, offerSigningOut } from "/auth/assets/page.js";
import { offerDeciding } from "/auth/assets/decision.js";

const form = $("decision");
const ticked = (name) => [...form.querySelectorAll(`input[name="${name}"]`)].filter((box) => box.checked);

function show() {
  const acts = [...ticked("scope"), ...ticked("permission")].some((box) => "acts" in box.dataset);
  const words = acts ? "read, and act in your name" : "only read";
  if ($("permission").textContent !== words) $("permission").textContent = words;
  const kinds = form.querySelectorAll('input[name="kind"]').length;
  const roles = [...form.querySelectorAll("fieldset[data-organisation]")];
  const [chosen] = ticked("organisation");
  for (const one of roles) one.hidden = one.dataset.organisation !== chosen?.value;
  const open = !(ticked("scope").length || ticked("permission").length) || (kinds > 0 && !ticked("kind").length) || (roles.length > 0 && !chosen);
  form.querySelector('button[value="allow"]').disabled = open;
}

form.addEventListener("change", show);
show();
offerDeciding();
offerSigningOut();
