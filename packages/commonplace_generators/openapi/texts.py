"""Text out of a document that others wrote, as it may stand in an entry: short, clean, and without credentials."""

import re

from commonplace_generators.openapi.credentials import scrubbed

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_RELATIVE_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\((?!https?://)[^()\s]{0,500}\)")
_LINK = re.compile(r"!?\[([^\[\]]{1,300})\]\(https?://[^()\s]{0,500}\)")
_BREAK = re.compile(r"</?(?:br|p|li|ul|div|tr|td)\s?/?>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][a-zA-Z0-9]{0,20}(?:\s[^<>]{0,300})?/?>")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"(\[])")
_BLOCK = re.compile(r"(?:```.*?(?:```|\Z)|(?!\n\n).)+", re.DOTALL)
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)

MAX_READ = 20_000
"""Characters of a description that are looked at."""


def clean(value: object) -> str:
    """Return what is no text is none. Line ends are those of Unix."""
    if not isinstance(value, str):
        return ""
    text = _CONTROL.sub("", value[:MAX_READ].replace("\r\n", "\n").replace("\r", "\n"))
    return scrubbed(_RELATIVE_LINK.sub(r"\1", _TAG.sub("", _BREAK.sub(" ", text)))).strip()


def line(value: object, most: int) -> str:
    """In one line, cut at a word."""
    read = value[: 4 * most + 200] if isinstance(value, str) else value
    return cut(" ".join(_LINK.sub(r"\1", clean(read)).split()), most)


def cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    begun = text[: most - 1].rsplit(" ", 1)[0] if " " in text[: most - 1] else text[: most - 1]
    return f"{begun.rstrip(' ,;:-')}…"


def sentences(text: str, most: int) -> str:
    """As many whole sentences as have room, and never less than a part of the first."""
    found, said = "", _LINK.sub(r"\1", text)
    for one in _SENTENCE.split(said):
        if len(found) + len(one) >= most:
            break
        found = f"{found} {one}".strip()
    return found or cut(said, most)


def paragraphs(value: object, most: int) -> str:
    """Markdown of several paragraphs, cut between two of them; a block of code is whole or not there. Headings become
    bold: an entry has its own."""
    kept, room = list[str](), most
    for one in (block.strip("\n") for block in _BLOCK.findall(clean(value))):
        if not one.strip() or one.count("```") % 2:
            continue
        if len(one) > room:
            kept.append("…" if kept or "```" in one else cut(one, most))
            break
        kept.append(_HEADING.sub(r"**\1**", one))
        room -= len(one) + 2
    return "\n\n".join(kept)


def code(value: object, most: int = 80) -> str:
    """Between backticks, in one line."""
    text = cut(" ".join(clean(str(value)).split()), most).replace("`", "'")
    return f"`{text}`"
