"""A budget of work for parsing one Markdown text: counted, so that it ends at the same place on every machine.

Time of a Markdown parser may grow with the square of what never closes. Beyond the budget a text has no markup.
"""

import importlib
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

BASE_WORK = 1_000_000
"""Units that any text may cost: one is about a microsecond. What people write costs less than one a character."""
WORK_PER_CHARACTER = 2
"""Units that each character before a place adds, so that a text and its beginning end at the same place."""
MAX_BLOCK_LENGTH = 50_000
"""Characters of one paragraph, cell or heading that has markup."""

_STEP = 6
"""Units of one position at which all rules are tried; a position that the parser remembers costs one."""
_TOKEN = 3
_LINE = 10
_REACHING = frozenset("<[!^$`=")
"""Characters whose rules may look as far as the end of their block."""
_REACH = 7
"""Such a look costs a unit for so many characters, as a power of two."""

# A row that lacks cells is filled up: a table of few characters could make 65,536 of them.
setattr(importlib.import_module("markdown_it.rules_block.table"), "MAX_AUTOCOMPLETED_CELLS", 5_000)  # noqa: B010 - untyped

Parser = TypeVar("Parser", bound=MarkdownIt)
InlineRule = Callable[[StateInline, bool], bool]


_GIVEN_UP: ContextVar[float] = ContextVar("given_up", default=math.inf)


class OutOfTime(Exception):
    """Parsing took longer than its caller waits."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Give parsing up after so long: the last resort, for a machine that is slow beyond measure. Raises OutOfTime."""
    token = _GIVEN_UP.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _GIVEN_UP.reset(token)


def _check_time() -> None:
    if time.monotonic() > _GIVEN_UP.get():
        raise OutOfTime


@dataclass(slots=True)
class Work:
    """The cost of parsing one text. It is in the parser's environment as `work`."""

    spent: int = 0
    tokens: int = 0
    """The cost of texts that were parsed before on the same page."""
    limit: int = BASE_WORK
    block_line: int = 0
    ended: int | None = None
    """0-based line from which on the text has no markup."""
    long_block: int | None = None
    """0-based line of the first block that is too long to have markup."""

    def end(self, line: int) -> None:
        self.ended = line if self.ended is None else min(self.ended, line)


def bounded(parser: Parser) -> Parser:
    """Return the parser, which now counts its work and stops to read markup where the budget ends."""
    skip = parser.inline.skipToken

    def skip_token(state: StateInline) -> None:
        state.env["work"].spent += 1
        skip(state)

    parser.core.ruler.before("normalize", "work", lambda state: state.env.setdefault("work", Work()))
    parser.core.ruler.at("inline", _inline)
    parser.block.ruler.before("table", "work", _count_block)
    parser.inline.ruler.before("text", "work", _count_step)
    parser.inline.skipToken = skip_token  # type: ignore[method-assign]
    return parser


def _count_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Make one paragraph without markup of all that follows the end of the budget."""
    work: Work = state.env["work"]
    _check_time()
    spent = _TOKEN * (work.tokens + len(state.tokens)) + _LINE * start
    if silent or spent <= BASE_WORK + WORK_PER_CHARACTER * state.bMarks[start]:
        return False
    work.end(start)
    state.push("paragraph_open", "p", 1).map = [start, end]
    token = state.push("inline", "", 0)
    token.content = state.getLines(start, end, state.blkIndent, False).strip()
    token.map, token.meta = [start, end], {"plain": True}
    state.push("paragraph_close", "p", -1)
    state.line = end
    return True


def _inline(state: StateCore) -> None:
    work: Work = state.env["work"]
    passed, spent_up = 0, False
    for token in state.tokens:
        if token.type != "inline":
            continue
        _check_time()
        passed += len(token.content)
        work.limit, work.block_line = BASE_WORK + WORK_PER_CHARACTER * passed, token.map[0] if token.map else 0
        token.children = []
        long = len(token.content) > MAX_BLOCK_LENGTH and not token.meta.get("plain")
        if long and work.long_block is None:
            work.long_block = work.block_line
        if spent_up:
            work.end(work.block_line)
        if long or spent_up or token.meta.get("plain"):
            token.children.append(Token("text", "", 0, content=token.content))
            continue
        state.md.inline.parse(token.content, state.md, state.env, token.children)
        spent_up = work.spent > work.limit


def _count_step(state: StateInline, silent: bool) -> bool:
    work: Work = state.env["work"]
    reaches = state.src[state.pos] in _REACHING
    work.spent += _STEP + ((state.posMax - state.pos) >> _REACH if reaches else 0)
    if work.spent <= work.limit:
        return False
    if not silent:
        work.end(work.block_line + state.src.count("\n", 0, state.pos))
        state.append_pending(state.src[state.pos : state.posMax])
    state.pos = state.posMax
    return True


def spend(state: StateInline, units: int) -> None:
    """Count what a rule costs beside its step."""
    state.env["work"].spent += units
