"""JSON as bytes, both ways. Vectors are written as short decimals, once, and not number by number."""

from collections.abc import Iterable
from typing import Any

import orjson

from commonplace.search.model import Vector


class Numbers:
    """A vector, ready to be put into a request. Nine digits tell every 32-bit number from its neighbours."""

    __slots__ = ("fragment",)

    def __init__(self, vector: Vector) -> None:
        values = tuple(vector)
        self.fragment = orjson.Fragment("[" + ",".join(["%.9g"] * len(values)) % values + "]")


def encode(body: Any) -> bytes:
    """A body as JSON in UTF-8. Halves of characters, which no encoding has, become question marks."""
    try:
        return orjson.dumps(body, default=_numbers)
    except TypeError:
        return orjson.dumps(_whole(body), default=_numbers)


def lines(bodies: Iterable[Any]) -> bytes:
    """Bodies for `_bulk` and `_msearch`: one a line."""
    return b"".join(encode(body) + b"\n" for body in bodies)


def decode(text: bytes) -> Any:
    """What an answer says. Raises ValueError when it is no JSON."""
    return orjson.loads(text)


def _numbers(value: object) -> orjson.Fragment:
    if not isinstance(value, Numbers):
        raise TypeError(f"{type(value).__name__} cannot be sent")
    return value.fragment


def _whole(value: Any) -> Any:
    """The same with every half of a character replaced."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_whole(name): _whole(part) for name, part in value.items()}
    return [_whole(part) for part in value] if isinstance(value, list | tuple) else value
