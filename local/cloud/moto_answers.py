"""Answers of moto 5.2.5 that hold many values of items.

moto looks for each of the ten forms that a value of DynamoDB can have, under several names each, before it writes one:
with items of some dozen fields that is most of its time. Texts, numbers, truth values and lists of them are written as
they stand.
"""

from functools import cache
from typing import Any

_PLAIN = {"S": str, "N": str, "BOOL": bool}


@cache
def patch_answers() -> None:
    """Patch moto, once in this process."""
    from moto.core.serialize import BaseJSONSerializer

    plain = BaseJSONSerializer._serialize_type_structure

    def serialize(self: Any, serialized: Any, value: Any, shape: Any, key: str) -> None:
        if key and shape.name == "AttributeValue" and is_plain(value):
            self._default_serialize(serialized, dict(value), shape, key)
        else:
            plain(self, serialized, value, shape, key)

    serializer: Any = BaseJSONSerializer
    serializer._serialize_type_structure = serialize


def is_plain(value: Any) -> bool:
    """Whether the value is a text, a number, a truth value or a list of them, in the form that it is sent in."""
    if type(value) is not dict or len(value) != 1:
        return False
    ((kind, held),) = value.items()
    if kind == "L":
        return type(held) is list and all(is_plain(one) for one in held)
    return kind in _PLAIN and type(held) is _PLAIN[kind]
