// Texts of the page whose contrast with what is below them is under 4.5 to 1 (WCAG 2.2, 1.4.3).
() => {
  const light = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((one) => one / 255)
      .map((one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const over = (colour, below) => {
    canvas.fillStyle = `rgb(${below.slice(0, 3).join(",")})`; canvas.fillRect(0, 0, 1, 1);
    canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const base = dark ? [18, 18, 18] : [255, 255, 255];
  const poor = [];
  for (const element of document.querySelectorAll("main *")) {
    const text = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!text || !element.checkVisibility() || element.closest(":disabled")) continue;
    const chain = [];
    let below = base, fade = 1;
    for (let one = element; one; one = one.parentElement) {
      chain.unshift(one);
      fade *= +getComputedStyle(one).opacity;
    }
    for (const one of chain) below = over(getComputedStyle(one).backgroundColor, below);
    const ink = over(getComputedStyle(element).color, below).map((one, i) => one * fade + below[i] * (1 - fade));
    const [high, low] = [light(ink), light(below)].sort((a, b) => b - a);
    if ((high + 0.05) / (low + 0.05) < 4.5) poor.push(element.textContent.trim().slice(0, 40));
  }
  return poor;
}
