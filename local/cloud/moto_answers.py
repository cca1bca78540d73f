"""Answers of moto 5.2.5 that hold many values of items.

moto looks for each of the ten forms that a value of DynamoDB can have, under several names each, before it writes one:
with items of some dozen fields that is most of its time. A text, a number or a truth value is written as it stands.
"""

from functools import cache
from typing import Any

_PLAIN = {"S": str, "N": str, "BOOL": bool}


@cache
def apply() -> None:
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
    """Whether the value is one text, number or truth value, in the form that it is sent in."""
    if type(value) is not dict or len(value) != 1:
        return False
    ((kind, held),) = value.items()
    return kind in _PLAIN and type(held) is _PLAIN[kind]
