"""The colours of a deployment: its accent, darkened and lightened until text in it reads well in both schemes."""

import colorsys

LIGHT_PAPER, DARK_PAPER = "#f4f2ec", "#20242a"
"""The least favourable backgrounds of site.css on which text in the accent stands."""

CONTRAST = 5.0
"""Of text in the accent; WCAG 2.2 AA asks for 4.5, and tinted backgrounds take a little of it."""

STEPS = 200

Rgb = tuple[float, float, float]


def stylesheet(accent: str) -> str:
    """Custom properties that site.css uses. `accent` is `#rrggbb`."""
    light, dark = readable(accent, LIGHT_PAPER), readable(accent, DARK_PAPER)
    return (
        f":root{{--accent:{light};--on-accent:{on(light)}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{--accent:{dark};--on-accent:{on(dark)}}}}}\n"
    )


def readable(colour: str, paper: str) -> str:
    """The colour, made darker on a light paper and lighter on a dark one, until its contrast is enough."""
    hue, lightness, saturation = colorsys.rgb_to_hls(*_rgb(colour))
    target = 0.0 if luminance(paper) > 0.5 else 1.0
    for step in range(STEPS + 1):
        moved = lightness + (target - lightness) * step / STEPS
        found = _hex(colorsys.hls_to_rgb(hue, moved, saturation))
        if contrast(found, paper) >= CONTRAST:
            return found
    return "#000000" if target == 0.0 else "#ffffff"


def on(colour: str) -> str:
    """Black or white, whichever reads better on it."""
    return max("#ffffff", "#101010", key=lambda ink: contrast(ink, colour))


def contrast(one: str, other: str) -> float:
    """From 1 to 21 (WCAG 2.2, contrast ratio)."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    """Relative luminance, from 0 to 1 (WCAG 2.2)."""
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in _rgb(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _rgb(colour: str) -> Rgb:
    red, green, blue = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    return red, green, blue


def _hex(colour: Rgb) -> str:
    return "#" + "".join(f"{round(part * 255):02x}" for part in colour)
