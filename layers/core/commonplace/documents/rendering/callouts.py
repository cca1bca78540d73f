"""Callouts: quotes that begin with `[!type]`, as Obsidian and GitHub read them."""

import re
from collections.abc import Mapping

from markdown_it.token import Token

_OPENING = re.compile(r"\[!([\w -]{1,40})(?:\|[^\]]*)?\]([+-]?)[ \t]*")

_ALIASES: Mapping[str, str] = {
    "summary": "abstract",
    "tldr": "abstract",
    "hint": "tip",
    "important": "tip",
    "check": "success",
    "done": "success",
    "help": "question",
    "faq": "question",
    "caution": "warning",
    "attention": "warning",
    "fail": "failure",
    "missing": "failure",
    "error": "danger",
    "cite": "quote",
}
KINDS = frozenset(
    {"note", "abstract", "info", "todo", "tip", "success", "question", "warning", "failure", "danger", "bug"}
    | {"example", "quote"}
)
"""Obsidian's. What is none of them looks like a note."""


def open_callouts(tokens: list[Token]) -> list[Token]:
    """Return the tokens with every callout as an aside with a title, foldable ones as `details`; other quotes stay."""
    made: list[Token] = []
    closings: list[str | None] = []
    position = 0
    while position < len(tokens):
        token = tokens[position]
        position += 1
        if token.type == "blockquote_open":
            opened = _opened(tokens[position : position + 2])
            closings.append(opened[1] if opened else None)
            if opened:
                made += opened[0]
                if not tokens[position + 1].children:
                    position += 3
                continue
        elif token.type == "blockquote_close" and (closing := closings.pop()) is not None:
            made.append(_html(closing))
            continue
        made.append(token)
    return made


def _opened(following: list[Token]) -> tuple[list[Token], str] | None:
    """Return the tokens that begin a callout and the HTML that ends it. Takes the first line off the paragraph."""
    if len(following) < 2 or following[0].type != "paragraph_open":
        return None
    children = following[1].children or []
    if not children or children[0].type != "text" or not (found := _OPENING.match(children[0].content)):
        return None
    children[0].content = children[0].content[found.end() :]
    end = next((at for at, child in enumerate(children) if child.type in ("softbreak", "hardbreak")), len(children))
    title = Token("inline", "", 0, children=children[:end])
    following[1].children = children[end + 1 :]
    written = found[1].strip().casefold()
    if not any(child.content.strip() or child.type != "text" for child in title.children or []):
        title.children = [Token("text", "", 0, content=written.replace("-", " ").capitalize())]
    known = _ALIASES.get(written, written)
    name = f"callout callout-{known if known in KINDS else 'note'}"
    titled = 'class="callout-title" dir="auto"'
    if found[2]:
        unfolded = " open" if found[2] == "+" else ""
        before, between = f'<details class="{name}"{unfolded}><summary {titled}>', "</summary>"
        after = "</details>\n"
    else:
        before, between, after = f'<div class="{name}" role="note"><p {titled}>', "</p>", "</div>\n"
    body = '\n<div class="callout-body">\n'
    return [_html(before), title, _html(f"{between}{body}")], f"</div>{after}"


def _html(content: str) -> Token:
    return Token("html_block", "", 0, content=content, meta={"own": True})
