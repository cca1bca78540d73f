"""Cursors: where a page of a lexical search ended, as text that is good for the same question only."""

import math
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import blake2b

from commonplace.errors import BadRequest
from commonplace.search.model import Position, RecordId

MAX_CURSOR_CHARACTERS = 1_000

_SEAL_BYTES = 8
_SCORE = struct.Struct(">d")


def cursor(position: Position, question: str) -> str:
    """Opaque. `question` is everything that the ranking depends on; a cursor of another question is refused."""
    told = _SCORE.pack(position.score) + position.id.encode()
    return urlsafe_b64encode(_seal(told, question) + told).decode().rstrip("=")


def position(text: str, question: str) -> Position:
    """What `cursor` was made from. Raises BadRequest for a cursor of another question, or of nobody."""
    try:
        raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        seal, told = raw[:_SEAL_BYTES], raw[_SEAL_BYTES:]
        (score,) = _SCORE.unpack_from(told)
        record = told[_SCORE.size :].decode()
    except (ValueError, struct.error):
        raise _refused() from None
    # Base64 has several spellings of the same bytes: only ours is one that we have given out.
    found = Position(score, RecordId(record))
    if seal != _seal(told, question) or not math.isfinite(score) or cursor(found, question) != text:
        raise _refused()
    return found


def _seal(told: bytes, question: str) -> bytes:
    """Not a secret: whoever forges one learns no more than by paging."""
    key = blake2b(question.encode("utf-8", "backslashreplace"), digest_size=32).digest()
    return blake2b(told, key=key, digest_size=_SEAL_BYTES, person=b"search-cursor").digest()


def _refused() -> BadRequest:
    return BadRequest(
        "This cursor does not belong to this search.",
        hint="A cursor goes on where a page of the very same q and filters ended. Leave it out to begin anew.",
        field="cursor",
    )
