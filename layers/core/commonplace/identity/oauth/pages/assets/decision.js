// Sends a decision, and leads back to the app. By script: a form's redirect to another site is what the policy forbids.
// Until it is here the buttons rest, or the browser would send the form itself.
import { $, ask, busy, say } from "/auth/assets/page.js";

export function offerDeciding() {
  const decision = $("decision");
  if (!decision) return;
  decision.addEventListener("submit", (event) => {
    event.preventDefault();
    const form = new URLSearchParams(new FormData(event.target, event.submitter));
    busy(async () => {
      const { redirectTo } = await ask("/authorize", { method: "POST", body: form });
      say(form.get("decision") === "allow" ? "Allowed. You can go back to the app." : "Declined. You can go back to the app.");
      location.assign(redirectTo);
      return true;
    });
  });
  decision.querySelector("fieldset:disabled").disabled = false;
}
