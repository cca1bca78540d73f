"""Answers as HTML that leads to their sources alone: no images, no other links, nothing of their own HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from commonplace.chat.model import Source

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

MAX_CHARACTERS = 100_000
_CITED = re.compile(r"\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]")


def rendered(text: str, sources: Sequence[Source]) -> str:
    """Return Markdown as HTML; `[n]` leads to the source of that number, and is struck where there is none."""
    env = {"sources": {one.number: one for one in sources}, "urls": {one.url for one in sources}, "open": []}
    return str(_parser().render(text[:MAX_CHARACTERS], env))


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Without definitions of links `[1]` stays what it is, whatever follows it elsewhere.
    found = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable(["reference"])
    for name, rule in (("text", _text), ("image", _image), ("link_open", _link_open), ("link_close", _link_close)):
        found.add_render_rule(name, rule)
    return found


def _text(_: Any, tokens: Sequence[Any], at: int, __: Any, env: dict[str, Any]) -> str:
    def cited(found: re.Match[str]) -> str:
        return "".join(_reference(int(number), env["sources"]) for number in found[1].split(","))

    return _CITED.sub(cited, escape(tokens[at].content))


def _reference(number: int, sources: dict[int, Source]) -> str:
    if (source := sources.get(number)) is None:
        return f'<s title="There is no such source">[{number}]</s>'
    return f'<a class="cited" href="{escape(source.url)}" title="{escape(source.title)}">[{number}]</a>'


def _image(_: Any, tokens: Sequence[Any], at: int, __: Any, ___: Any) -> str:
    return escape(tokens[at].content)


def _link_open(_: Any, tokens: Sequence[Any], at: int, __: Any, env: dict[str, Any]) -> str:
    url = str(tokens[at].attrGet("href") or "")
    env["open"].append(url in env["urls"])
    return f'<a href="{escape(url)}">' if env["open"][-1] else ""


def _link_close(_: Any, __: Any, ___: int, ____: Any, env: dict[str, Any]) -> str:
    return "</a>" if env["open"].pop() else ""
