// Draws the text that the page sends. This frame has an origin of its own and may load nothing but this script and Mermaid.
let drawn = 0;
addEventListener("message", async ({ source, data: { text, dark } }) => {
  if (source !== parent) return;
  const at = ++drawn;
  document.documentElement.style.colorScheme = dark ? "dark" : "light";
  mermaid.initialize({ startOnLoad: false, securityLevel: "strict", theme: dark ? "dark" : "neutral" });
  try {
    const { svg } = await mermaid.render(`diagram-${at}`, text);
    if (at !== drawn) return;
    document.body.innerHTML = svg;
    const tell = () => parent.postMessage({ height: document.body.scrollHeight }, "*");
    tell();
    addEventListener("resize", tell);
  } catch (error) {
    parent.postMessage({ failed: String(error) }, "*");
  }
});
parent.postMessage({ ready: true }, "*");
