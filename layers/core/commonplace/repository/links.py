"""Extraction of links from a document's body and frontmatter.

CommonMark links and images, `[[wiki links]]`, `![[embeds]]`, and targets with raw spaces, which CommonMark takes for
text but Obsidian follows. Nothing inside code is a link, and addresses on the web are left out.
"""

import logging
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import cache
from itertools import takewhile
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.image import image
from markdown_it.rules_inline.link import link
from markdown_it.token import Token

from commonplace.repository.link import Link, LinkKind
from commonplace.repository.markdown import ParsedFile

logger = logging.getLogger(__name__)

_EXTERNAL = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]+:(?!\s|%20)|//)")
_WIKI = re.compile(r"(!?)\[\[([^\[\]\n]+)\]\]")
_TITLE = re.compile(r"\s+(?:\"[^\"]*\"|'[^']*')\Z")
_LOOKS_LIKE_A_PATH = re.compile(r"\S/|/\S|\.[A-Za-z0-9]{2,5}(?:#.*)?\Z")
_MAX_TARGET_LENGTH = 1000
_MAX_BLOCK_LENGTH = 50_000
"""Characters of one paragraph, cell or heading: the parser's time grows with their square when brackets never close."""

_KINDS: dict[str, LinkKind] = {"link_open": "link", "image": "image", "spaced": "link", "spaced_image": "image"}


def find_links(file: ParsedFile, is_embed: Callable[[str], bool] = lambda _field: False) -> tuple[Link, ...]:
    """Every reference to something in the repository: frontmatter first, then the body in order. Never raises.

    `is_embed` says whether the text of a field of the frontmatter is itself a target.
    """
    found = [*_frontmatter_links(file, is_embed)]
    try:
        found += _body_links(file)
    except Exception as error:  # noqa: BLE001 - a parser's bug in one body must not end a run over all of them
        logger.warning("links of a body could not be read", extra={"error": type(error).__name__})
    return tuple(found)


def _frontmatter_links(file: ParsedFile, is_embed: Callable[[str], bool]) -> Iterator[Link]:
    for name, value in file.frontmatter.items():
        line = file.lines.get(name, 1)
        for text in value if isinstance(value, list) else [value]:
            if not isinstance(text, str):
                continue
            found = _WIKI.fullmatch(text.strip())
            if found:
                yield from _wiki_link(found, line)
            elif is_embed(name):
                yield from _link(text.strip(), "image", "", line)


def _body_links(file: ParsedFile) -> Iterator[Link]:
    for block in _parser().parse(file.body):
        if block.type == "inline" and block.children:
            line = file.body_line + (block.map[0] if block.map else 0)
            yield from _inline_links(block, line)


def _inline_links(block: Token, line: int) -> Iterator[Link]:
    breaks = [found.start() for found in re.finditer("\n", block.content)]
    children = block.children or []
    for index, token in enumerate(children):
        at = line + bisect_left(breaks, token.meta.get("position", 0))
        if token.type == "wiki" and (found := _WIKI.fullmatch(token.content)):
            yield from _wiki_link(found, at)
        elif kind := _KINDS.get(token.type):
            href = str(token.attrs.get("src") or token.attrs.get("href") or "")
            text = _text_until_close(children, index) if token.type == "link_open" else token.content
            yield from _link(href, kind, text, at)


def _text_until_close(tokens: list[Token], opening: int) -> str:
    following = (tokens[index] for index in range(opening, len(tokens)))
    inside = takewhile(lambda token: token.type != "link_close", following)
    return "".join(" " if token.type in ("softbreak", "hardbreak") else token.content for token in inside)


def _link(href: str, kind: LinkKind, text: str, line: int) -> Iterator[Link]:
    authored, _, fragment = href.partition("#")
    target = unquote(authored)
    if target.strip() and not _EXTERNAL.match(authored):
        yield Link(target, unquote(fragment) or None, kind, text, line)


def _wiki_link(found: re.Match[str], line: int) -> Iterator[Link]:
    """`[[target#heading|text]]`; inside tables the bar is written `\\|`."""
    inside, _, text = found[2].partition("|")
    target, _, fragment = inside.removesuffix("\\").partition("#")
    target = target.strip()
    if target and not _EXTERNAL.match(target):
        kind: LinkKind = "embed" if found[1] else "wiki"
        yield Link(target, fragment.strip() or None, kind, text.strip() or inside.removesuffix("\\").strip(), line)


class _Parser(MarkdownIt):
    """CommonMark, with the two kinds of links that Obsidian adds, and targets left as they are written."""

    def __init__(self) -> None:
        super().__init__("commonmark")
        self.core.ruler.at("inline", _inline)
        self.inline.ruler.at("link", _with_position(link))
        self.inline.ruler.at("image", _with_position(image))
        self.inline.ruler.before("link", "wiki", _wiki)
        self.inline.ruler.after("image", "spaced", _spaced)

    def normalizeLink(self, url: str) -> str:
        return url


def _inline(state: StateCore) -> None:
    for token in state.tokens:
        if token.type == "inline" and len(token.content) <= _MAX_BLOCK_LENGTH:
            token.children = []
            state.md.inline.parse(token.content, state.md, state.env, token.children)


@cache
def _parser() -> MarkdownIt:
    return _Parser()


def _with_position(rule: Callable[[StateInline, bool], bool]) -> Callable[[StateInline, bool], bool]:
    """The parser's own rule; its token also says where in the block it began, for the line."""

    def positioned(state: StateInline, silent: bool) -> bool:
        start, known = state.pos, len(state.tokens)
        if not rule(state, silent):
            return False
        for token in state.tokens[known : known + 2]:
            if token.type in ("link_open", "image"):
                token.meta["position"] = start
                break
        return True

    return positioned


def _wiki(state: StateInline, silent: bool) -> bool:
    found = _WIKI.match(state.src, state.pos, state.posMax)
    # `[[1]](address)` is a CommonMark link whose text has brackets.
    if found is None or state.src.startswith("(", found.end()):
        return False
    if not silent:
        _push(state, "wiki", found[0])
    state.pos = found.end()
    return True


def _spaced(state: StateInline, silent: bool) -> bool:
    """`[text](a path with spaces.md)`: no link to CommonMark, so its own rules have declined it before."""
    embedded = state.src.startswith("!", state.pos)
    opening = state.pos + embedded
    if not state.src.startswith("[", opening):
        return False
    label_end = state.md.helpers.parseLinkLabel(state, opening)
    if label_end < 0 or not state.src.startswith("(", label_end + 1):
        return False
    closing = _closing_parenthesis(state.src, label_end + 1, state.posMax)
    target = _TITLE.sub("", state.src[label_end + 2 : closing].strip()) if closing else ""
    if not (re.search(r"\s", target) and _LOOKS_LIKE_A_PATH.search(target)):
        return False
    if not silent:
        token = _push(state, "spaced_image" if embedded else "spaced", state.src[opening + 1 : label_end])
        token.attrs = {"href": target.removeprefix("<").removesuffix(">")}
    state.pos = closing + 1
    return True


def _push(state: StateInline, name: str, content: str) -> Token:
    token = state.push(name, "", 0)
    token.content = content
    token.meta = {"position": state.pos}
    return token


def _closing_parenthesis(text: str, opening: int, end: int) -> int:
    """Offset of the parenthesis that closes the one at `opening`, on the same line; 0 when there is none."""
    depth = 0
    for position in range(opening, min(end, opening + _MAX_TARGET_LENGTH)):
        if text[position] == "\n":
            return 0
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if depth == 0:
            return position
    return 0
