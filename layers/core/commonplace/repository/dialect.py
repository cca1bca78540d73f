"""The Markdown that documents are written in: CommonMark, what GitHub adds, and what Obsidian adds.

Who looks for links and who renders parse with this one parser: what is shown as a link is what the graph has.
"""

import re
from collections.abc import Callable
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.image import image
from markdown_it.rules_inline.link import link
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.gfm_autolink import gfm_autolink_plugin

from commonplace.repository.comments import visible

WIKI = re.compile(r"(!?)\[\[([^\[\]\n]+)\]\]")
_HIGHLIGHT = re.compile(r"==(?![\s=])(.{1,2000}?)(?<![\s=])==(?!=)", re.DOTALL)
_TAG = re.compile(r"#([^\s\u2000-\u206f\u2e00-\u2e7f'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\]+)")
"""The characters that Obsidian takes for part of a tag."""
MAX_TAG_LENGTH = 100
"""Characters of a tag in a text: the index has a value for it and for each tag above it."""
_TITLE = re.compile(r"\s+(?:\"[^\"]*\"|'[^']*')\Z")
_LOOKS_LIKE_A_PATH = re.compile(r"\S/|/\S|\.[A-Za-z0-9]{2,5}(?:#.*)?\Z")
_MAX_TARGET_LENGTH = 1000
_MAX_BLOCK_LENGTH = 50_000
"""Characters of one paragraph, cell or heading: the parser's time grows with their square when brackets never close."""


class Dialect(MarkdownIt):
    """A parser whose links have their targets as written, and in `meta["position"]` where in their block they begin."""

    def __init__(self) -> None:
        super().__init__("commonmark")
        self.enable(["table", "strikethrough"])
        self.options["tasklists"] = True
        for plugin in (deflist_plugin, footnote_plugin, gfm_autolink_plugin):
            self.use(plugin)
        # Sums of money are no formulas.
        self.use(dollarmath_plugin, allow_labels=False, allow_space=False, allow_digits=False, double_inline=True)
        self.core.ruler.after("normalize", "comments", _remove_comments)
        self.core.ruler.at("inline", _inline)
        self.core.ruler.after("inline", "headings", _no_tags_in_headings)
        self.inline.ruler.at("link", _with_position(link))
        self.inline.ruler.at("image", _with_position(image))
        self.inline.ruler.before("link", "wiki", _wiki)
        self.inline.ruler.after("image", "spaced", _spaced)
        self.inline.ruler.before("emphasis", "highlight", _highlight)
        self.inline.ruler.before("emphasis", "tag", _tag)

    def normalizeLink(self, url: str) -> str:
        return url


@cache
def dialect() -> Dialect:
    """The parser; it keeps nothing between texts."""
    return Dialect()


def _remove_comments(state: StateCore) -> None:
    state.src = visible(state.src, html=False)


def _inline(state: StateCore) -> None:
    for token in state.tokens:
        if token.type != "inline":
            continue
        token.children = []
        if len(token.content) <= _MAX_BLOCK_LENGTH:
            state.md.inline.parse(token.content, state.md, state.env, token.children)
        else:
            token.children.append(Token("text", "", 0, content=token.content))


def _no_tags_in_headings(state: StateCore) -> None:
    for opening, inline in pairwise(state.tokens):
        if opening.type == "heading_open":
            for token in inline.children or ():
                token.type = "text" if token.type == "tag" else token.type


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
    found = WIKI.match(state.src, state.pos, state.posMax)
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


def _highlight(state: StateInline, silent: bool) -> bool:
    found = _HIGHLIGHT.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        end = state.posMax
        state.push("mark_open", "mark", 1)
        state.pos, state.posMax = found.start(1), found.end(1)
        state.md.inline.tokenize(state)
        state.push("mark_close", "mark", -1)
        state.posMax = end
    state.pos = found.end()
    return True


def _tag(state: StateInline, silent: bool) -> bool:
    """Read `#tag` at the beginning or after white space, outside links, if there is more in it than digits and gaps."""
    found = _TAG.match(state.src, state.pos, state.posMax)
    if found is None or state.linkLevel or state.src[state.pos - 1 : state.pos].strip():
        return False
    if len(found[1]) > MAX_TAG_LENGTH or all(char.isdigit() or char in "-_/" for char in found[1]):
        return False
    if not silent:
        _push(state, "tag", found[0])
    state.pos = found.end()
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
