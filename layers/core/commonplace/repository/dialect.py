"""The Markdown that documents are written in: CommonMark, what GitHub adds, and what Obsidian adds.

Who looks for links and who renders parse with this one parser: what is shown as a link is what the graph has.
"""

import re
from collections.abc import Iterable
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.html_inline import html_inline
from markdown_it.rules_inline.image import image
from markdown_it.rules_inline.link import link
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.dollarmath.index import math_block_dollar
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.footnote.index import footnote_ref
from mdit_py_plugins.gfm_autolink import gfm_autolink_plugin
from mdit_py_plugins.gfm_autolink.index import _email_rule, _protocol_rule, _www_inline_rule

from commonplace.kernel.markdown_budget import InlineRule, bounded, spend
from commonplace.repository.comments import visible
from commonplace.repository.headings import wiki_text

WIKI = re.compile(r"(!?)\[\[([^\[\]\n]+)\]\]")
_HIGHLIGHT = re.compile(r"==(?![\s=])(.{1,2000}?)(?<![\s=])==(?!=)", re.DOTALL)
_TAG = re.compile(r"#([^\s\u2000-\u206f\u2e00-\u2e7f'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\]+)")
"""The characters that Obsidian takes for part of a tag."""
MAX_TAG_LENGTH = 100  # Characters of a tag in a text: the index has a value for it and for each tag above it
_TITLE = re.compile(r"\s+(?:\"[^\"]*\"|'[^']*')\Z")
_LOOKS_LIKE_A_PATH = re.compile(r"\S/|/\S|\.[A-Za-z0-9]{2,5}(?:#.*)?\Z")
_PARENTHESES = re.compile(r"[()\n]")
_CLOSES_MATH = re.compile(r"\$\$[ \t]*$", re.MULTILINE)
_FOOTNOTE = re.compile(r"\[\^[^\s\[\]]{1,500}\]")
_PROTOCOL = re.compile(r"(?:https?|mailto|xmpp)\Z")
_END_OF_ADDRESS = re.compile(r"[ \t\r\n\0\v\f]")
_END_OF_DOMAIN = re.compile(r"[^\w@.-]", re.ASCII)
_MAX_TARGET_LENGTH = 1000
_MAX_ADDRESS_LENGTH = 2048
"""Characters of an address that becomes a link without brackets: the rules look at all of them at every mark."""
_LINK_WORK = 20  # Units of a link in the parser's budget, beside its steps: it is resolved, stored and rendered


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
        self.core.ruler.after("inline", "headings", _no_tags_in_headings)
        self.block.ruler.at("math_block", _math_block)
        self.inline.ruler.at("link", _with_position(link))
        self.inline.ruler.at("image", _with_position(image))
        self.inline.ruler.at("html_inline", _html)
        self.inline.ruler.at("footnote_ref", _footnote_reference)
        self.inline.ruler.at("gfm_autolink_www", _within_an_address("www.", _www_inline_rule))
        self.inline.ruler.at("gfm_autolink_protocol", _within_an_address(":", _protocol_rule))
        self.inline.ruler.at("gfm_autolink_email", _within_an_address("@", _email_rule, _END_OF_DOMAIN))
        self.inline.ruler.before("link", "wiki", _wiki)
        self.inline.ruler.after("image", "spaced", _spaced)
        self.inline.ruler.before("emphasis", "highlight", _highlight)
        self.inline.ruler.before("emphasis", "tag", _tag)
        bounded(self)

    def normalizeLink(self, url: str) -> str:
        return url


@cache
def dialect() -> Dialect:
    """Return the parser; it keeps nothing between texts."""
    return Dialect()


_LEAVES = ("text", "tag", "code_inline", "math_inline", "math_inline_double", "image", "spaced", "spaced_image")


def plain(tokens: Iterable[Token] | None) -> str:
    """Return the text of inline tokens, as a reader sees it."""
    text = ""
    for token in tokens or ():
        if token.type in ("softbreak", "hardbreak"):
            text += " "
        elif token.type == "wiki" and (found := WIKI.fullmatch(token.content)):
            text += wiki_text(found[2], embed=bool(found[1]))
        else:
            text += token.content if token.type in _LEAVES else str(token.meta.get("shown", ""))
    return text


def wiki_parts(inside: str) -> list[str]:
    """`target|text|size`; inside tables the bar is written `\\|`."""
    return [part.removesuffix("\\").strip() for part in inside.split("|")]


def _remove_comments(state: StateCore) -> None:
    state.src = visible(state.src, html=False)


_CLOSED_MATH = math_block_dollar(allow_labels=False)


def _no_tags_in_headings(state: StateCore) -> None:
    for opening, inline in pairwise(state.tokens):
        if opening.type == "heading_open":
            for token in inline.children or ():
                token.type = "text" if token.type == "tag" else token.type


def _math_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Apply the plugin's rule where a later line closes the formula: it looks for one to the end of the text."""
    if "closes_math" not in state.env:
        state.env["closes_math"] = max((found.start() for found in _CLOSES_MATH.finditer(state.src)), default=-1)
    closed = state.env["closes_math"] > state.bMarks[start] + state.tShift[start]
    return closed and _CLOSED_MATH(state, start, end, silent)


def _html(state: StateInline, silent: bool) -> bool:
    """Read a comment to its first `-->` (CommonMark 0.31.2, section 6.6); the parser's pattern looks further."""
    if not state.src.startswith("<!--", state.pos):
        return html_inline(state, silent)
    end = -1
    if state.html_terminator_last("-->") >= state.pos + 2:
        end = state.src.find("-->", state.pos + 2, state.posMax)
    if end < 0:
        return False
    if not silent:
        state.push("html_inline", "", 0).content = state.src[state.pos : end + 3]
    state.pos = end + 3
    return True


def _footnote_reference(state: StateInline, silent: bool) -> bool:
    return bool(_FOOTNOTE.match(state.src, state.pos, state.posMax)) and footnote_ref(state, silent)


def _within_an_address(mark: str, rule: InlineRule, ends: re.Pattern[str] = _END_OF_ADDRESS) -> InlineRule:
    """Return a rule of the plugin that looks at one address, where it looked at all that follows and precedes."""

    key = -1 - (ends is _END_OF_DOMAIN)  # no position is negative

    def within(state: StateInline, silent: bool) -> bool:
        # These rules always decline what is only looked at.
        if silent or not state.src.startswith(mark, state.pos):
            return False
        if mark == ":" and not _PROTOCOL.search(state.src, max(0, state.pos - 6), state.pos):
            return False
        # Positions only grow, so one search serves all marks before the end that it finds.
        if state.cache.get(key, 0) <= state.pos:
            found = ends.search(state.src, state.pos)
            state.cache[key] = found.start() if found else len(state.src)
        maximum, end = state.posMax, min(state.cache[key], state.posMax)
        if end - state.pos > _MAX_ADDRESS_LENGTH:
            return False
        spend(state, (end - state.pos) >> 3)
        if mark == ":" and len(state.pending) > 6:
            near, state.pending = state.pending[-6:], state.pending[:-6]
            state.pushPending()
            state.pending = near
        state.posMax = end
        try:
            return rule(state, silent)
        finally:
            state.posMax = maximum

    return within


def _with_position(rule: InlineRule) -> InlineRule:
    """Return the parser's own rule; its token also says where in the block it began, for the line."""

    def positioned(state: StateInline, silent: bool) -> bool:
        start, known = state.pos, len(state.tokens)
        if not rule(state, silent):
            return False
        for token in state.tokens[known : known + 2]:
            if token.type in ("link_open", "image"):
                token.meta["position"] = start
                spend(state, _LINK_WORK)
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
    spend(state, _LINK_WORK)
    return token


def _closing_parenthesis(text: str, opening: int, end: int) -> int:
    """Offset of the parenthesis that closes the one at `opening`, on the same line; 0 when there is none."""
    depth = 0
    for found in _PARENTHESES.finditer(text, opening, min(end, opening + _MAX_TARGET_LENGTH)):
        if found[0] == "\n":
            return 0
        depth += 1 if found[0] == "(" else -1
        if depth == 0:
            return found.start()
    return 0
