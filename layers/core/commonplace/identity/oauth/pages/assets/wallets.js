// Wallets of this browser: those that announce themselves (EIP-6963), else the one at window.ethereum.

const SAFE_ICON = /^data:image\/(png|svg\+xml|webp|jpeg|gif)[;,]/;
const PATIENCE_MS = 400;

/** Calls `offer` with a button for each wallet, and `nothing` when there is none. */
export function discover(offer, nothing) {
  const known = new Set();
  addEventListener("eip6963:announceProvider", (event) => {
    const { info, provider } = event.detail || {};
    if (!provider || typeof info?.uuid !== "string" || known.has(info.uuid)) return;
    known.add(info.uuid);
    offer(button(info.name, info.icon), provider);
  });
  dispatchEvent(new Event("eip6963:requestProvider"));
  setTimeout(() => {
    if (known.size) return;
    if (window.ethereum) offer(button("Browser wallet"), window.ethereum);
    else nothing();
  }, PATIENCE_MS);
}

function button(name, icon) {
  const made = document.createElement("button");
  made.type = "button";
  if (SAFE_ICON.test(icon || "")) {
    const image = new Image(24, 24);
    image.alt = "";
    image.src = icon;
    made.append(image);
  }
  const label = document.createElement("bdi");
  label.textContent = String(name || "A wallet").slice(0, 60); // text, never markup: whoever made the wallet wrote it
  made.append(label);
  return made;
}

const hex = (text) => "0x" + [...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** The address that the wallet gives. */
export async function address(provider) {
  const [first] = await provider.request({ method: "eth_requestAccounts" });
  if (!first) throw new Error("no account");
  return first;
}

/** A signature over exactly this text. */
export const signature = (provider, text, account) =>
  provider.request({ method: "personal_sign", params: [hex(text), account] });
