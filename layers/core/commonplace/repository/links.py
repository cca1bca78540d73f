"""Extraction of links and tags from a document's body and frontmatter.

CommonMark links and images, those in HTML, `[[wiki links]]`, `![[embeds]]`, and targets with raw spaces, which Obsidian
follows. Nothing inside code or a comment is a link or a tag, and addresses on the web are left out.
"""

import logging
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape, unescape
from itertools import chain, islice, pairwise, takewhile
from typing import TYPE_CHECKING
from urllib.parse import unquote

from markdown_it.token import Token

from commonplace.kernel.markdown_budget import MAX_BLOCK_LENGTH, OutOfTime, Work
from commonplace.repository.comments import visible
from commonplace.repository.dialect import WIKI, dialect, plain
from commonplace.repository.headings import BLOCK, anchor, leads, no_such_place
from commonplace.repository.link import Link, LinkKind
from commonplace.repository.problems import Problem

if TYPE_CHECKING:
    from commonplace.repository.markdown import ParsedFile

logger = logging.getLogger(__name__)

_EXTERNAL = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]+:(?!\s|%20)|//)")

_HTML_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_IN_HTML = re.compile(
    r"(?P<before><(?:(?P<image>img)\b[^<>]{0,500}?\ssrc|a\b[^<>]{0,500}?\shref)\s{0,100}=\s{0,100})"
    r"(?P<value>\"[^\"<>]{0,1000}\"|'[^'<>]{0,1000}'|[^\s\"'<>]{1,1000})",
    re.IGNORECASE,
)
RAW_ID = re.compile(r"\b(?:id|name)\s*=\s*[\"']?([\w.:-]{1,100})", re.IGNORECASE)
_LINE_END = re.compile(r"\r\n|\n|\r")
_CONFLICT = re.compile(r"(?:<{7}|>{7})(?: \S|\Z)|={7}\Z")
_BARE_PIPE = re.compile(r"(?<!\\)\[\[[^\[\]|]*(?<!\\)\|[^\[\]]*\]\]")
_DELIMITER_ROW = re.compile(r"[ \t>]*+(?=[^|]*\|)(?=[^-]*-)[ \t:|-]++\Z")
MAX_TAGS = 200  # Tags that a body may give its document: lists and the index hold each of them
MAX_PROBLEMS = 100  # Problems that are reported of one body: whoever mends some sees the rest the next time
_KINDS: dict[str, LinkKind] = {"link_open": "link", "image": "image", "spaced": "link", "spaced_image": "image"}


@dataclass(frozen=True, slots=True)
class Contents:
    """What a file has for other files, and what its readers would see broken in it."""

    links: tuple[Link, ...] = ()  # Those of the frontmatter first, then those of the body in order
    tags: Mapping[str, int] = field(default_factory=dict)
    """Tags of the body as written -> the line of the first of each."""
    anchors: tuple[str, ...] | None = None
    """Fragments that lead to a place in it: anchors of headings, `^names` of blocks, ids in HTML. None: not known."""
    problems: tuple[Problem, ...] = ()
    heading: str | None = None
    """Text of the first level-one heading outside of quotes and lists, as readers see it."""


def read_contents(file: "ParsedFile", is_embed: Callable[[str], bool] = lambda _field: False) -> Contents:
    """Return every reference to something in the repository, the anchors and the problems of a file.

    `is_embed` says whether the text of a field of the frontmatter is itself a target. Raises OutOfTime, nothing else.
    """
    links = [*_frontmatter_links(file, is_embed)]
    env: dict[str, Work] = {}
    try:
        tokens = dialect().parse(file.body, env)
        tags: dict[str, int] = {}
        for block in tokens:
            line = file.body_line + (block.map[0] if block.map else 0)
            if block.type == "inline" and block.children:
                links += _inline_links(block, line)
                for token in block.children:
                    if token.type == "tag" and token.content[1:] not in tags and len(tags) < MAX_TAGS:
                        tags[token.content[1:]] = line + block.content.count("\n", 0, token.meta["position"])
            elif block.type == "html_block" and block.map:
                links += _html_links(block.content, line)
        anchors = tuple(_anchors(tokens))
        hint = "put what is not prose into a block of code, or divide it"
        long = f"a paragraph of more than {MAX_BLOCK_LENGTH:,} characters is shown as plain text"
        much = "the file has too much markup: from here on it is shown as plain text"
        places = ((much, env["work"].ended), (long, env["work"].long_block))
        unread = [
            Problem("too-much-markup", message, hint, file.body_line + at) for message, at in places if at is not None
        ]
        problems = chain(
            unread,
            _conflicts(file, tokens),
            _own_fragments(file, tokens, anchors),
            _bare_pipes(file, tokens),
        )
        texts = (
            " ".join(BLOCK.sub("", plain(inside.children)).split())
            for token, inside in pairwise(tokens)
            if token.type == "heading_open" and token.tag == "h1" and token.level == 0
        )
        return Contents(
            tuple(links), tags, anchors, tuple(islice(problems, MAX_PROBLEMS)), next(filter(None, texts), None)
        )
    except OutOfTime:
        raise
    except Exception as error:  # noqa: BLE001 - a parser's bug in one body must not end a run over all of them
        logger.warning("links of a body could not be read", extra={"error": type(error).__name__})
        return Contents(tuple(links))


def _bare_pipes(file: "ParsedFile", blocks: Sequence[Token]) -> Iterator[Problem]:
    """Yield a problem for each row that cuts a wiki link, of a table or of what a bar too many keeps from being one."""
    lines = _LINE_END.split(visible(file.body, html=False)) if "[[" in file.body else []
    for block in blocks:
        first, end = block.map or (0, 0)
        rows = lines[first:end] if block.type in ("table_open", "paragraph_open") else []
        if block.type == "table_open" or any(map(_DELIMITER_ROW.match, rows)):
            for number, row in enumerate(rows, file.body_line + first):
                if _BARE_PIPE.search(re.sub(r"(?<!`)(`++)[^`]*+\1(?!`)", "", row)):
                    message = "a `|` inside of a wiki link ends the cell of a table"
                    yield Problem("bare-pipe", message, "write `\\|`: `[[page\\|text]]`", number)


def link_of(token: Token, text: str = "", line: int = 1) -> Link | None:
    """Return the reference that a token of the dialect makes; None for an address on the web and for a mere fragment.

    `text` is what a `link_open` has before its end; the other tokens carry theirs.
    """
    if token.type == "wiki" and (found := WIKI.fullmatch(token.content)):
        return _wiki_link(found, line)
    if kind := _KINDS.get(token.type):
        href = str(token.attrs.get("src") or token.attrs.get("href") or "")
        return _link(href, kind, text if token.type == "link_open" else token.content, line)
    return None


def replace_in_html(html: str, address_of: Callable[[Link], str | None]) -> str:
    """Return the HTML with other addresses for links and images that have one."""

    def replaced(found: re.Match[str]) -> str:
        link = _html_link(found, 1)
        address = address_of(link) if link else None
        return found[0] if address is None else f'{found["before"]}"{escape(address)}"'

    return _IN_HTML.sub(replaced, html)


def _html_links(html: str, line: int) -> Iterator[Link]:
    """`<img src="…">` and `<a href="…">`, as GitHub follows them."""
    # Where no comment is closed any more, the pattern would look for the end of each.
    ends = html.rfind("-->") + 3
    text = _HTML_COMMENT.sub(lambda found: "\n" * found[0].count("\n"), html[:ends]) + html[ends:]
    seen = 0
    for found in _IN_HTML.finditer(text):
        line, seen = line + text.count("\n", seen, found.start()), found.start()
        if link := _html_link(found, line):
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


def _conflicts(file: "ParsedFile", tokens: Sequence[Token]) -> Iterator[Problem]:
    """Markers that a merge has left outside of code, one problem for each conflict (git-merge, HOW CONFLICTS ARE
    PRESENTED)."""
    if "<<<<<<<" not in file.body and ">>>>>>>" not in file.body:
        return
    code = {at for token in tokens if token.type in ("fence", "code_block") and token.map for at in range(*token.map)}
    opened = divided = False
    for at, line in enumerate(_LINE_END.split(file.body)):
        if at in code or not (marker := _CONFLICT.match(line)):
            continue
        begins, divides = marker[0].startswith("<"), marker[0].startswith("=")
        if begins or (not divides and divided and not opened):
            message, hint = "a merge has left its markers here", "keep one of the versions, and take the markers out"
            yield Problem("broken-content", message, hint, file.body_line + at)
        opened, divided = begins or (divides and opened), divides


def _anchors(tokens: Sequence[Token]) -> Iterator[str]:
    counted: Counter[str] = Counter()
    for position, token in enumerate(tokens):
        children = token.children or ()
        if token.type == "heading_open":
            name = anchor(BLOCK.sub("", plain(tokens[position + 1].children))) or "section"
            yield f"{name}-{counted[name]}" if counted[name] else name
            counted[name] += 1
        elif children and children[-1].type == "text" and (found := BLOCK.search(children[-1].content)):
            yield f"^{found[1]}"
        for html in (token, *children):
            if html.type in ("html_block", "html_inline"):
                yield from RAW_ID.findall(html.content)


def _own_fragments(file: "ParsedFile", tokens: Sequence[Token], anchors: Sequence[str]) -> Iterator[Problem]:
    """Links of a file to places in itself that are not there."""
    known = frozenset(anchors)
    for block in tokens:
        breaks = [found.start() for found in re.finditer("\n", block.content)] if block.children else []
        for token in block.children or ():
            href = str(token.attrs.get("href", ""))
            if token.type == "wiki" and (found := WIKI.fullmatch(token.content)):
                href = found[2].partition("|")[0].removesuffix("\\").strip()
            if href.startswith("#") and not leads(unquote(href[1:]), known):
                line = file.body_line + (block.map[0] if block.map else 0)
                yield no_such_place(href[1:], line + bisect_left(breaks, token.meta.get("position", 0)))


def _inline_links(block: Token, line: int) -> Iterator[Link]:
    breaks = [found.start() for found in re.finditer("\n", block.content)]
    children = block.children or []
    for index, token in enumerate(children):
        text = ""
        if token.type == "link_open":
            inside = takewhile(lambda each: each.type != "link_close", children[index:])
            text = "".join(" " if each.type in ("softbreak", "hardbreak") else each.content for each in inside)
        if token.type == "html_inline":
            yield from _html_links(token.content, line)
        elif link := link_of(token, text, line + bisect_left(breaks, token.meta.get("position", 0))):
            yield link


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
