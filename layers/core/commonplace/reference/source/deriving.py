"""What an entry does not say of itself, taken from what it does say."""

import re

from commonplace.reference.entries import METHODS, Method

_ARGUMENT = re.compile(r"[<\[{(\"']|--?[A-Za-z]|\.\.\.|…")
_SYNTAX = re.compile(r"(?im)^[^\w\n]{0,10}(?:syntax|usage)\b[^\n]*\n+(?:```[^\n]*\n)(.+?)\n```", re.DOTALL)
_ENDPOINT = re.compile(rf"({'|'.join(METHODS)})\s+(/\S*)\s*\Z", re.IGNORECASE)
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_NO_PROSE = re.compile(r"\s{0,3}(?:#|>|[-*+]\s|\d+[.)]\s|\||<|!\[)")
_MARKUP = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)|[*`]")

MAX_PARAGRAPH = 300


def name_of(syntax: str) -> str:
    """`helios gw users get <email> [--json]` is called `helios gw users get`."""
    words: list[str] = []
    for word in syntax.removeprefix("$ ").split():
        if _ARGUMENT.match(word):
            break
        words.append(word)
    return " ".join(words)


def syntax_in(content: str) -> str | None:
    """The one line of the code under `**Syntax:**`, as in the seed's example."""
    found = _SYNTAX.search(content)
    lines = [line.strip() for line in found[1].splitlines() if line.strip()] if found else []
    return lines[0] if len(lines) == 1 else None


def named_endpoint(text: str) -> tuple[Method, str] | None:
    """`GET /api/v1/users` as a title or a name."""
    found = _ENDPOINT.match(text.strip())
    if not found:
        return None
    method = next(one for one in METHODS if one == found[1].upper())
    return method, found[2]


def first_paragraph(body: str) -> str:
    """The first text of a body that is neither heading, list, table nor code, cut at a word."""
    lines: list[str] = []
    fenced = False
    for line in body.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        if fenced or not line.strip() or _FENCE.match(line) or _NO_PROSE.match(line):
            if lines:
                break
            continue
        lines.append(line.strip())
    text = " ".join(_MARKUP.sub(lambda found: found[1] or "", " ".join(lines)).split())
    if len(text) <= MAX_PARAGRAPH:
        return text
    return text[:MAX_PARAGRAPH].rsplit(" ", 1)[0] + "…"
