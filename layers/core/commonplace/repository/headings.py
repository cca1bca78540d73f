"""Links as their text, and anchors of headings. No Markdown parser is loaded."""

import re
from collections.abc import Collection
from urllib.parse import quote

from commonplace.repository.problems import Problem

_WIKI = re.compile(r"(!?)\[\[([^\[\]]+)\]\]")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\((?:<[^<>\n]*>)?+(?:[^()\n]++|\([^()\n]*\))*+\)")
BLOCK = re.compile(r"(?:^|[ \t])\^([A-Za-z0-9-]{1,64})[ \t]*\Z")  # Obsidian's name of a block, at its end
_ALWAYS_THERE = re.compile(r"|top|:~:.*|fn(?:ref)?[\d:-]+|L\d+(?:C\d+)?(?:-L\d+(?:C\d+)?)?", re.DOTALL)
"""Fragments that lead somewhere on every page: the browser's own, footnotes, and GitHub's lines of a file."""
_NOT_IN_AN_ANCHOR = re.compile(r"[^\w\- ]")


def unlinked(text: str) -> str:
    """Return the text with each link, image and embed as the text that it shows."""
    for _ in range(2):  # an image may be the text of a link
        text = _LINK.sub(r"\1", _WIKI.sub(lambda found: wiki_text(found[2], embed=bool(found[1])), text))
    return text


def wiki_text(inside: str, *, embed: bool = False) -> str:
    """Return what Obsidian shows of `[[…]]`: the text after the bar, else `page > heading`. An embed's size is none."""
    target, *names = (part.removesuffix("\\").strip() for part in inside.split("|"))
    shown = "|".join(name for name in names if not (embed and re.fullmatch(r"\d+(?:x\d+)?", name)))
    parts = (part.strip() for part in target.split("#"))
    return shown or " > ".join(part for part in parts if part and not part.startswith("^")) or target


def anchor(text: str) -> str:
    """As GitHub makes it of a heading: `Who we are, really?` is `who-we-are-really`. An anchor stays what it is."""
    return _NOT_IN_AN_ANCHOR.sub("", " ".join(text.split()).lower()).replace(" ", "-")


def fragment_of(written: str | None) -> str:
    """`#` and the anchor of a heading (`Part#Chapter` names the inner one), or of a block (`^name`)."""
    inner = (written or "").rpartition("#")[2].strip()
    if not inner:
        return ""
    return f"#{quote(inner if inner.startswith('^') else anchor(inner))}"


def place_in_file(written: str | None) -> str:
    """Return `#` and the fragment as written (RFC 3986, 3.5): `page=2` of a PDF, `t=30` of a recording."""
    return "#" + quote(written, safe="!$&'()*+,;=:@/?", errors="replace") if written else ""


def leads(fragment: str, anchors: Collection[str]) -> bool:
    """Return whether a fragment, as written, leads to one of the anchors of a page."""
    inner = fragment.rpartition("#")[2].strip().removeprefix("user-content-")
    return inner in anchors or anchor(inner) in anchors or _ALWAYS_THERE.fullmatch(inner) is not None


def no_such_place(fragment: str, line: int) -> Problem:
    """Return the problem of a link whose page exists, and whose heading or block does not."""
    shown = "".join(char if char.isprintable() else "?" for char in fragment[:200])
    what = "block" if shown.rpartition("#")[2].startswith("^") else "heading"
    return Problem("broken-content", f"there is no {what} `{shown}` on the page", "correct the part after `#`", line)
