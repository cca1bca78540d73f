// The map of links: zoom, drag, arrow keys from document to document, and the links of the one in hand.
// Without it the map is a drawing that scrolls, and every document in it a link.

const LEVELS = [1, 1.6, 2.6]; // of magnification, from which more names have room; as in map_model.py
const MOST = 4;
const DRAGGED = 5; // pixels, from which on a press is no click

const box = document.querySelector(".map-box");
const svg = box.querySelector("svg");
const { width, height } = svg.viewBox.baseVal;
const nodes = [...svg.querySelectorAll("a")].map((link) => {
  const [x, y] = link.dataset.at.split(" ").map(Number);
  return { link, x, y, at: link.dataset.at };
});
const byPlace = new Map(nodes.map((node) => [node.at, node]));
const byLink = new Map(nodes.map((node) => [node.link, node]));
const lines = svg.querySelector(".map-lines");
const ends = lines.getAttribute("d").split("M").slice(1).map((line) => line.split("L"));
const lit = lines.cloneNode();
lit.setAttribute("class", "map-lit");
lit.setAttribute("d", "");
lines.after(lit);

let zoom = 1;
let current = nodes[0];

const whole = () => Math.min(1, box.clientWidth / width, box.clientHeight / height);

function setZoom(wanted, x = box.clientWidth / 2, y = box.clientHeight / 2) {
  const next = Math.min(MOST, Math.max(whole(), wanted));
  const [left, top] = [(box.scrollLeft + x) / zoom, (box.scrollTop + y) / zoom];
  zoom = next;
  svg.style.width = `${width * zoom}px`;
  svg.style.height = `${height * zoom}px`;
  svg.style.setProperty("--zoom", zoom);
  svg.dataset.level = 1 + LEVELS.filter((level) => zoom >= level).length;
  box.scrollTo(left * zoom - x, top * zoom - y);
}

function show(node) {
  box.scrollTo(node.x * zoom - box.clientWidth / 2, node.y * zoom - box.clientHeight / 2);
}

function mark(node) {
  const touching = node ? ends.filter((pair) => pair.includes(node.at)) : [];
  const near = new Set(touching.flat());
  lit.setAttribute("d", touching.map(([from, to]) => `M${from}L${to}`).join(""));
  svg.classList.toggle("map-marked", Boolean(node));
  for (const { link, at } of nodes) link.classList.toggle("near", near.has(at) || at === node?.at);
}

function hold(node) {
  current.link.tabIndex = -1;
  current = node;
  node.link.tabIndex = 0;
}

// The nearest in a quarter of the plane; what lies straight ahead counts as nearer.
function beyond(from, [dx, dy]) {
  let best;
  let least = Infinity;
  for (const node of nodes) {
    const ahead = (node.x - from.x) * dx + (node.y - from.y) * dy;
    const aside = Math.abs((node.x - from.x) * dy) + Math.abs((node.y - from.y) * dx);
    if (ahead > 0 && aside <= ahead && ahead + 2 * aside < least) [best, least] = [node, ahead + 2 * aside];
  }
  return best;
}

const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const ACTIONS = {
  in: () => setZoom(zoom * 1.4),
  out: () => setZoom(zoom / 1.4),
  whole: () => setZoom(whole()),
};
const KEYS = { "+": "in", "=": "in", "-": "out", 0: "whole" };

svg.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const next = WAYS[event.key] ? beyond(current, WAYS[event.key]) : event.key === "Home" ? nodes[0] : undefined;
  if (next) {
    hold(next);
    next.link.focus({ preventScroll: true });
    show(next);
  } else if (KEYS[event.key]) {
    ACTIONS[KEYS[event.key]]();
    show(current);
  } else if (!WAYS[event.key]) {
    return;
  }
  event.preventDefault();
});
svg.addEventListener("focusin", (event) => {
  const node = byLink.get(event.target.closest("a"));
  if (!node) return; // some browsers let the drawing itself take the focus
  hold(node);
  mark(node);
});
svg.addEventListener("focusout", () => mark());
svg.addEventListener("pointerover", (event) => mark(byLink.get(event.target.closest("a"))));
svg.addEventListener("pointerleave", () => mark());

let from;
let dragged = false;
box.addEventListener("pointerdown", (event) => {
  if (event.pointerType !== "mouse" || event.button !== 0) return;
  from = { x: event.clientX + box.scrollLeft, y: event.clientY + box.scrollTop };
  dragged = false;
});
addEventListener("pointermove", (event) => {
  if (!from) return;
  const [left, top] = [from.x - event.clientX, from.y - event.clientY];
  dragged ||= Math.hypot(left - box.scrollLeft, top - box.scrollTop) > DRAGGED;
  if (dragged) box.scrollTo(left, top);
});
addEventListener("pointerup", () => { from = undefined; });
box.addEventListener("click", (event) => { if (dragged) event.preventDefault(); dragged = false; });
box.addEventListener("dragstart", (event) => event.preventDefault());
box.addEventListener("wheel", (event) => {
  if (!event.ctrlKey) return; // as trackpads say that two fingers part
  event.preventDefault();
  const { left, top } = box.getBoundingClientRect();
  setZoom(zoom * Math.exp(-event.deltaY / 200), event.clientX - left, event.clientY - top);
}, { passive: false });

// Two fingers: the browser moves the box with one, and leaves the distance of two to us (`touch-action`).
let apart = 0;
const spread = ([one, two]) => Math.hypot(one.clientX - two.clientX, one.clientY - two.clientY);
box.addEventListener("touchstart", ({ touches }) => {
  if (touches.length === 2) apart = spread(touches);
}, { passive: true });
box.addEventListener("touchmove", (event) => {
  if (event.touches.length !== 2) return;
  event.preventDefault();
  const [one, two] = event.touches;
  const { left, top } = box.getBoundingClientRect();
  setZoom((zoom * spread(event.touches)) / apart, (one.clientX + two.clientX) / 2 - left, (one.clientY + two.clientY) / 2 - top);
  apart = spread(event.touches);
}, { passive: false });

const tools = document.querySelector(".map-tools");
tools.hidden = false;
tools.addEventListener("click", (event) => ACTIONS[event.target.closest("button")?.value]?.());

for (const { link } of nodes) link.tabIndex = -1;
if (current) {
  const around = svg.querySelector("[aria-current]");
  hold(around ? byLink.get(around) : current);
  setZoom(Math.max(0.6, whole()));
  show(current);
}
