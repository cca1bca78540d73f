"""Cursors of lexical searches: where a page ended, valid for the same query only."""

import math
import struct

from commonplace.kernel.errors import BadRequest
from commonplace.search.model import Position, RecordId
from commonplace.web.sealed import opened, sealed

MAX_CURSOR_CHARACTERS = 1_000

_PURPOSE = b"search-cursor"
_SCORE = struct.Struct(">d")


def cursor(position: Position, question: str) -> str:
    """Opaque. `question` is everything that the ranking depends on; a cursor of another question is refused."""
    return sealed(_SCORE.pack(position.score) + position.id.encode(), question, purpose=_PURPOSE)


def position(text: str, question: str) -> Position:
    """What `cursor` was made from. Raises BadRequest for a cursor of another question, or of nobody."""
    try:
        told = opened(text, question, purpose=_PURPOSE)
        (score,) = _SCORE.unpack_from(told)
        record = told[_SCORE.size :].decode()
    except (ValueError, struct.error):
        raise _refused() from None
    if not math.isfinite(score):
        raise _refused()
    return Position(score, RecordId(record))


def _refused() -> BadRequest:
    return BadRequest(
        "This cursor does not belong to this search.",
        hint="A cursor goes on where a page of the very same q and filters ended. Leave it out to begin anew.",
        field="cursor",
    )
