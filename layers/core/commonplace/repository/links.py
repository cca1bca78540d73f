"""Extraction of links and tags from a document's body and frontmatter.

CommonMark links and images, those in HTML, `[[wiki links]]`, `![[embeds]]`, and targets with raw spaces, which Obsidian
follows. Nothing inside code or a comment is a link or a tag, and addresses on the web are left out.
"""

import logging
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape, unescape
from itertools import islice, takewhile
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from markdown_it.token import Token

from commonplace.repository.comments import visible
from commonplace.repository.dialect import WIKI, dialect
from commonplace.repository.link import Link, LinkKind
from commonplace.repository.problems import Problem

if TYPE_CHECKING:
    from commonplace.repository.markdown import ParsedFile

logger = logging.getLogger(__name__)

_EXTERNAL = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]+:(?!\s|%20)|//)")

_HTML_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_IN_HTML = re.compile(
    r"(?P<before><(?:(?P<image>img)\b[^>]{0,500}?\ssrc|a\b[^>]{0,500}?\shref)\s*=\s*)"
    r"(?P<value>\"[^\"<>]{0,1000}\"|'[^'<>]{0,1000}'|[^\s\"'<>]{1,1000})",
    re.IGNORECASE,
)
_BARE_PIPE = re.compile(r"(?<!\\)\[\[[^\[\]|]*(?<!\\)\|[^\[\]]*\]\]")
_DELIMITER_ROW = re.compile(r"[ \t>]*+(?=[^|]*\|)(?=[^-]*-)[ \t:|-]++\Z")
MAX_TAGS = 200
"""Tags that a body may give its document: lists and the index hold each of them."""
MAX_PROBLEMS = 100
"""Problems that are reported of one body: whoever mends some sees the rest the next time."""

_KINDS: dict[str, LinkKind] = {"link_open": "link", "image": "image", "spaced": "link", "spaced_image": "image"}


class Mentions(NamedTuple):
    """What a file refers to, the frontmatter first; tags of the body as written, with the line of the first of each."""

    links: tuple[Link, ...]
    tags: Mapping[str, int]
    problems: tuple[Problem, ...]


def find_mentions(file: "ParsedFile", is_embed: Callable[[str], bool] = lambda _field: False) -> Mentions:
    """Return what the file refers to. Never raises.

    `is_embed` says whether the text of a field of the frontmatter is itself a target.
    """
    links = [*_frontmatter_links(file, is_embed)]
    tags: dict[str, int] = {}
    problems: tuple[Problem, ...] = ()
    try:
        blocks = dialect().parse(file.body)
        for block in blocks:
            if block.type == "inline" and block.children:
                line = file.body_line + (block.map[0] if block.map else 0)
                links += _inline_links(block, line)
                for token in block.children:
                    if token.type == "tag" and token.content[1:] not in tags and len(tags) < MAX_TAGS:
                        tags[token.content[1:]] = line + block.content.count("\n", 0, token.meta["position"])
            elif block.type == "html_block" and block.map:
                links += _html_links(block.content, file.body_line + block.map[0])
        problems = tuple(islice(_bare_pipes(file, blocks), MAX_PROBLEMS))
    except Exception as error:  # noqa: BLE001 - a parser's bug in one body must not end a run over all of them
        logger.warning("links of a body could not be read", extra={"error": type(error).__name__})
    return Mentions(tuple(links), tags, problems)


def _bare_pipes(file: "ParsedFile", blocks: Sequence[Token]) -> Iterator[Problem]:
    """Yield a problem for each row that cuts a wiki link, of a table or of what a bar too many keeps from being one."""
    lines = re.split(r"\r\n|\n|\r", visible(file.body, html=False)) if "[[" in file.body else []
    for block in blocks:
        first, end = block.map or (0, 0)
        rows = lines[first:end] if block.type in ("table_open", "paragraph_open") else []
        if block.type == "table_open" or any(map(_DELIMITER_ROW.match, rows)):
            for number, row in enumerate(rows, file.body_line + first):
                if _BARE_PIPE.search(re.sub(r"(?<!`)(`++)[^`]*+\1(?!`)", "", row)):
                    message = "a `|` inside of a wiki link ends the cell of a table"
                    yield Problem("bare-pipe", message, "write `\\|`: `[[page\\|text]]`", number)


def link_of(token: Token, text: str = "", line: int = 1) -> Link | None:
    """The reference that a token of the dialect makes; None for an address on the web and for a mere fragment.

    `text` is what a `link_open` has before its end; the other tokens carry theirs.
    """
    if token.type == "wiki" and (found := WIKI.fullmatch(token.content)):
        return _wiki_link(found, line)
    if kind := _KINDS.get(token.type):
        href = str(token.attrs.get("src") or token.attrs.get("href") or "")
        return _link(href, kind, text if token.type == "link_open" else token.content, line)
    return None


def replace_in_html(html: str, address_of: Callable[[Link], str | None]) -> str:
    """The HTML with other addresses for links and images that are told one."""

    def replaced(found: re.Match[str]) -> str:
        link = _html_link(found, 1)
        address = address_of(link) if link else None
        return found[0] if address is None else f'{found["before"]}"{escape(address)}"'

    return _IN_HTML.sub(replaced, html)


def _html_links(html: str, line: int) -> Iterator[Link]:
    """`<img src="…">` and `<a href="…">`, as GitHub follows them."""
    text = _HTML_COMMENT.sub(lambda found: "\n" * found[0].count("\n"), html)
    for found in _IN_HTML.finditer(text):
        if link := _html_link(found, line + text.count("\n", 0, found.start())):
            yield link


def _html_link(found: re.Match[str], line: int) -> Link | None:
    return _link(unescape(found["value"].strip("\"'")), "image" if found["image"] else "link", "", line)


def _frontmatter_links(file: "ParsedFile", is_embed: Callable[[str], bool]) -> Iterator[Link]:
    for name, value in file.frontmatter.items():
        line = file.lines.get(name, 1)
        for text in value if isinstance(value, list) else [value]:
            if not isinstance(text, str):
                continue
            found = WIKI.fullmatch(text.strip())
            link = _wiki_link(found, line) if found else None
            if found is None and is_embed(name):
                link = _link(text.strip(), "image", "", line)
            if link:
                yield replace(link, field=name)


def _inline_links(block: Token, line: int) -> Iterator[Link]:
    breaks = [found.start() for found in re.finditer("\n", block.content)]
    children = block.children or []
    for index, token in enumerate(children):
        text = _text_until_close(children, index) if token.type == "link_open" else ""
        if token.type == "html_inline":
            yield from _html_links(token.content, line)
        elif link := link_of(token, text, line + bisect_left(breaks, token.meta.get("position", 0))):
            yield link


def _text_until_close(tokens: list[Token], opening: int) -> str:
    following = (tokens[index] for index in range(opening, len(tokens)))
    inside = takewhile(lambda token: token.type != "link_close", following)
    return "".join(" " if token.type in ("softbreak", "hardbreak") else token.content for token in inside)


def _link(href: str, kind: LinkKind, text: str, line: int) -> Link | None:
    authored, _, fragment = href.partition("#")
    target = unquote(authored)
    if not target.strip() or _EXTERNAL.match(authored):
        return None
    return Link(target, unquote(fragment) or None, kind, text, line, written=href)


def _wiki_link(found: re.Match[str], line: int) -> Link | None:
    """`[[target#heading|text]]`; inside tables the bar is written `\\|`."""
    inside, _, text = found[2].partition("|")
    target, _, fragment = inside.removesuffix("\\").partition("#")
    target = target.strip()
    if not target or _EXTERNAL.match(target):
        return None
    kind: LinkKind = "embed" if found[1] else "wiki"
    shown = text.strip() or inside.removesuffix("\\").strip()
    return Link(target, fragment.strip() or None, kind, shown, line, written=found[0])
