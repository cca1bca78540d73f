"""Requests as bytes. Vectors are written as short decimals, once, and not number by number through the JSON encoder."""

import json
import re
import secrets
from collections.abc import Iterable
from typing import Any

from commonplace.search.model import Vector

# Nobody can send text that is taken for one of these slots.
_TOKEN = f"numbers-{secrets.token_hex(12)}-"
_SLOT = re.compile(f'"{_TOKEN}([0-9]+)"')


class Numbers:
    """A vector, ready to be put into a request. Nine digits tell every 32-bit number from its neighbours."""

    __slots__ = ("text",)

    def __init__(self, vector: Vector) -> None:
        values = tuple(vector)
        self.text = "[" + ",".join(["%.9g"] * len(values)) % values + "]"


def encode(body: Any) -> bytes:
    """A body as JSON in UTF-8. Halves of characters, which no encoding has, become question marks."""
    found: list[str] = []

    def slot(value: object) -> str:
        if not isinstance(value, Numbers):
            raise TypeError(f"{type(value).__name__} cannot be sent")
        found.append(value.text)
        return f"{_TOKEN}{len(found) - 1}"

    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), default=slot, allow_nan=False)
    if found:
        text = _SLOT.sub(lambda match: found[int(match[1])], text)
    return text.encode("utf-8", "replace")


def lines(bodies: Iterable[Any]) -> bytes:
    """Bodies for `_bulk` and `_msearch`: one a line."""
    return b"".join(encode(body) + b"\n" for body in bodies)
