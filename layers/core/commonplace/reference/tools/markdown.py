"""Text of a catalogue as Markdown that it cannot leave: a line, a code span, a code block, a text whose blocks end."""

import re
from collections.abc import Sequence

_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
"""What follows backticks on their line has none (CommonMark, section 4.5)."""


def line(text: str, most: int = 500) -> str:
    """One printable line of at most so many characters, with an ellipsis where something is gone."""
    told = "".join(letter if letter.isprintable() else " " for letter in text[: 4 * most])
    told = " ".join(told.split())
    return told if len(told) <= most else told[: most - 1].rstrip() + "…"


def code(text: str, most: int = 500) -> str:
    """A code span that its text cannot end."""
    told = line(text, most)
    ticks = "`" * (1 + max((len(found) for found in re.findall("`+", told)), default=0))
    pad = " " if "`" in told else ""
    return f"{ticks}{pad}{told}{pad}{ticks}"


def either(names: Sequence[str], most: int = 150) -> str:
    """`a`, `b` or `c`, each a code span; empty for none."""
    *others, last = [code(name, most) for name in names] or [""]
    return f"{', '.join(others)} or {last}" if others else last


def block(text: str) -> str:
    """A code block that its text cannot end."""
    runs = {mark: max((len(found) for found in re.findall(f"{mark}+", text)), default=0) for mark in "`~"}
    mark = min(runs, key=lambda one: max(2, runs[one]))
    fence = mark * max(3, 1 + runs[mark])
    return f"{fence}\n{text.strip(chr(10))}\n{fence}"


def closed(text: str) -> str:
    """Markdown whose last code block ends, so that what follows stands outside of it."""
    fence = open_fence(text)
    return f"{text}\n{fence}" if fence else text


def open_fence(text: str) -> str:
    """Return the fence of the code block in which a text ends; empty outside of one."""
    fence = ""
    for row in text.splitlines():
        found = _FENCE.match(row)
        if found is None:
            continue
        if not fence:
            fence = found[1]
        elif found[1].startswith(fence) and not row.strip().strip(fence[0]):
            fence = ""
    return fence
