// Each block of Mermaid is drawn in a closed frame when it comes into view; its source can be opened below it.
const address = document.querySelector("meta[name=diagram]").content;
const system = matchMedia("(prefers-color-scheme: dark)");
const root = document.documentElement;

for (const code of document.querySelectorAll("code.language-mermaid")) {
  const source = code.closest(".copied") ?? code.parentElement;
  const frame = document.createElement("iframe");
  Object.assign(frame, { className: "diagram", title: "Diagram; its source follows", src: address, loading: "lazy" });
  frame.sandbox = "allow-scripts";
  const draw = () => {
    const dark = (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
    frame.contentWindow?.postMessage({ text: code.textContent, dark }, "*");
  };
  addEventListener("message", ({ source: from, data }) => {
    if (from !== frame.contentWindow) return;
    if (data.ready) draw();
    if (data.failed) frame.remove();
    if (!(data.height > 0)) return;
    frame.style.height = `${Math.min(data.height, 4000)}px`;
    if (source.parentElement.tagName === "DETAILS") return;
    const details = document.createElement("details");
    details.append(Object.assign(document.createElement("summary"), { textContent: "Source of the diagram" }));
    source.before(details);
    details.append(source);
  });
  source.before(frame);
  system.addEventListener("change", draw);
  new MutationObserver(draw).observe(root, { attributeFilter: ["data-theme"] });
}
