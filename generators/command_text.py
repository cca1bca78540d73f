"""How a command reads: its title and its content, in the shape of seed 003, "Command Entry Example"."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from generators.commands import Command, Option

MAX_CONTENT = 60_000
MAX_TITLE = 120
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'(])")
_FENCE = re.compile(r"`{3,}")


def title(one: "Command") -> str:
    """What is said, else the first sentence of the summary, else the name."""
    said = sentence(one.summary).rstrip(".!: ")
    return shortened(one.title or f"{said[:1].upper()}{said[1:]}" or one.name, MAX_TITLE)


def sentence(text: str) -> str:
    """The first one, on one line."""
    return _SENTENCE_END.split(" ".join(text.split()), maxsplit=1)[0]


def content(one: "Command") -> str:
    """Markdown: what it does, its syntax, arguments, options, output."""
    parts = [
        _described(one),
        f"**Syntax:**\n{fenced(one.syntax or one.name)}",
        _listed("Arguments", one.arguments),
        _listed("Options", one.options or ()) or _without(one),
        f"**Output:** {one.output.strip()}" if one.output else "",
    ]
    return "\n\n".join(part for part in parts if part)[:MAX_CONTENT]


def fenced(text: str) -> str:
    """In a fence that the text itself does not end."""
    fence = "`" * max([3, *(len(found) + 1 for found in _FENCE.findall(text))])
    return f"{fence}\n{text}\n{fence}"


def shortened(text: str, characters: int) -> str:
    """On one line, cut at a word where it is too long."""
    line = " ".join(text.split())
    if len(line) <= characters:
        return line
    return f"{line[: characters - 1].rsplit(' ', 1)[0]}…"[:characters]


def _described(one: "Command") -> str:
    said = one.description.strip()
    summary = one.summary.strip()
    text = said if said.startswith(summary.rstrip(". …")) else f"{summary}\n\n{said}".strip()
    if not one.deprecated:
        return text
    instead = f" Use `{one.replaced_by}`." if one.replaced_by else ""
    return f"{text}\n\n**Deprecated.**{instead}".strip()


def _without(one: "Command") -> str:
    return "" if one.options is None else "**Options:**\n- No options available"


def _listed(heading: str, options: "Sequence[Option]") -> str:
    lines = [
        f"- `{one.called}`: {' '.join(one.summary.split())}" if one.summary else f"- `{one.called}`" for one in options
    ]
    return "\n".join([f"**{heading}:**", *lines]) if lines else ""
