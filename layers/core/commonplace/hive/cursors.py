"""Cursors of a search: base64 of the number of results that come before (seed 004, task 2)."""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode

from commonplace.kernel.errors import InvalidInput

MAX_OFFSET = 10_000

_OFFSET = re.compile(r"0|[1-9][0-9]{0,4}")


def encode_cursor(offset: int) -> str:
    return urlsafe_b64encode(str(offset).encode()).decode()


def decode_cursor(cursor: str) -> int:
    """Raises InvalidInput for a text that no answer gave."""
    try:
        text = urlsafe_b64decode(cursor.strip()).decode("ascii") if len(cursor) <= 100 else ""
    except ValueError:
        text = ""
    if not _OFFSET.fullmatch(text) or int(text) > MAX_OFFSET:
        raise InvalidInput(
            "This cursor is not valid.", hint="Pass the next_cursor of an answer as it is; without one, it is page one."
        )
    return int(text)
