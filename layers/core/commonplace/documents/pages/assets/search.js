// Results while typing: the same page is fetched and its results take the place of those shown.
const WAIT = 200;
const form = document.querySelector("main form.find");
const field = form.elements.q;
let running, timer, shown = field.value.trim();

async function refresh() {
  const asked = field.value.trim();
  if (asked === shown) return;
  running?.abort();
  running = new AbortController();
  const address = `${form.getAttribute("action")}?${new URLSearchParams(new FormData(form))}`;
  const place = document.getElementById("results");
  place.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(address, { signal: running.signal });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = page.getElementById("results");
    if (!found) return;
    shown = asked;
    // What is announced stays in place: a region that is replaced is not read out.
    const told = document.getElementById("found");
    const next = found.querySelector("#found");
    told.textContent = next.textContent.trim();
    next.replaceWith(told);
    place.replaceChildren(...found.childNodes);
    document.title = page.title;
    history.replaceState(null, "", address);
  } catch (error) {
    if (error.name !== "AbortError") console.warn(error);
  } finally {
    place.removeAttribute("aria-busy");
  }
}

field.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(refresh, WAIT);
});
