// Signs in: the wallet's address, the server's text, the wallet's signature, the server's judgement.
import { $, Refusal, ask, busy, post, say } from "/auth/assets/page.js";
import { address, discover, signature } from "/auth/assets/wallets.js";
import { offerDeciding } from "/auth/assets/decision.js";

const { state, prompt, next, waap } = $("sign-in").dataset;
const request = { next, ...(state && { stateId: state }), ...(prompt && { prompt }) };
const DECLINED = 4001; // EIP-1193

async function signIn(provider) {
  say("Your wallet asks you to connect.");
  const account = await address(provider);
  const asked = new URLSearchParams({ address: account, ...(state && { stateId: state }) });
  const { id, message } = await ask(`/siwe/nonce?${asked}`);
  say("Sign the text that your wallet shows.");
  const signed = await signature(provider, message, account);
  say("Checking your signature and your roles.");
  const { redirectTo } = await post("/siwe/verify", { id, signature: signed, ...request });
  say("You are signed in.");
  location.replace(redirectTo);
}

function explained(error) {
  if (error instanceof Refusal) return error;
  if (error?.code === DECLINED) return new Error("You declined the request in your wallet. Nothing was signed.");
  return new Error("The wallet reported an error. Unlock it and try again.");
}

function onClick(button, getProvider) {
  button.addEventListener("click", () => busy(async () => {
    try {
      await signIn(await getProvider());
    } catch (error) {
      throw explained(error);
    }
    return true;
  }));
}

if ($("wallets")) discover(
  (button, provider) => {
    $("no-wallet").hidden = true;
    onClick(button, () => provider);
    $("wallets").append(button);
  },
  () => { $("no-wallet").hidden = false; },
);

if (waap) {
  // Its code is loaded on a click, and from here: nobody's who does not use it.
  onClick($("waap"), async () => {
    say("A window opens in which you sign in.");
    const unreachable = new Refusal(0, "Signing in without a wallet cannot be reached now. Try again in a moment.");
    try {
      const { connect } = await import("/auth/assets/waap.js");
      return await connect(JSON.parse(waap));
    } catch (error) {
      throw error?.code === DECLINED ? error : unreachable;
    }
  });
}

$("oidc")?.addEventListener("click", () => busy(async () => {
  const { redirectTo } = await post("/oidc/start", request);
  location.assign(redirectTo);
  return true;
}));

offerDeciding();
