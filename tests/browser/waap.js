// Stands in for the bundle of WaaP: a frame of its vendor's, a window that the frame opens, and a wallet that comes of it.
export async function connect(settings) {
  const frame = document.createElement("iframe");
  frame.src = "https://waap.xyz/iframe";
  const answered = new Promise((resolve) => addEventListener("message", (event) => resolve(event.data), { once: true }));
  document.body.append(frame);
  sessionStorage.setItem("waap", JSON.stringify({ settings, popup: await answered }));
  return { async request({ method, params = [] }) {
    return JSON.parse(await window.__wallet(JSON.stringify({ method, params }))).result;
  } };
}
