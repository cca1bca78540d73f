// Buttons that copy: code blocks, the text that a link leads to (`data-copy` on a link), and what an element says.
const say = document.createElement("p");
say.className = "quiet";
say.setAttribute("role", "status");
document.body.append(say);

function button(label, text) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = label;
  made.addEventListener("click", async () => {
    let told = "Copied";
    try {
      await navigator.clipboard.writeText(await text());
    } catch {
      told = "Not copied";
    }
    made.textContent = say.textContent = told;
    setTimeout(() => { made.textContent = label; say.textContent = ""; }, 2000);
  });
  return made;
}

if (navigator.clipboard) {
  for (const block of document.querySelectorAll("main pre")) {
    const around = document.createElement("div");
    around.className = "copied";
    block.replaceWith(around);
    const code = block.querySelector("code") ?? block;
    around.append(block, button("Copy", () => code.textContent));
  }
  for (const link of document.querySelectorAll("a[data-copy]")) {
    const item = document.createElement("li");
    item.append(button("Copy as Markdown", async () => (await fetch(link.href)).text()));
    link.closest("li").after(item);
  }
  const citation = document.getElementById("Citation");
  citation?.after(button("Copy citation", () => citation.textContent));
}
