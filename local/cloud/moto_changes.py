"""Which items of moto's tables were written since somebody asked: so a save need not read all the others again.

Noted where moto 5.2.5 writes: `Table.put_item`, `Table.delete_item`, `DynamoDBBackend.update_item`. An item that was
written back as it was, as after a transaction that failed, counts as written.
"""

import json
import threading
from functools import cache
from typing import Any

Key = dict[str, Any]

_lock = threading.Lock()
_changed: dict[str, dict[str, Key]] = {}


@cache
def patch_writes() -> None:
    """Patch moto, once in this process."""
    from moto.dynamodb.models import DynamoDBBackend
    from moto.dynamodb.models.table import Table

    plain_put, plain_delete, plain_update = Table.put_item, Table.delete_item, DynamoDBBackend.update_item

    def put_item(self: Any, item_attrs: Any, *rest: Any, **named: Any) -> Any:
        try:
            return plain_put(self, item_attrs, *rest, **named)
        finally:
            note_writes(self.name, {name: item_attrs[name] for name in _names(self) if name in item_attrs})

    def delete_item(self: Any, hash_key: Any, range_key: Any) -> Any:
        try:
            return plain_delete(self, hash_key, range_key)
        finally:
            values = [value.to_json() for value in (hash_key, range_key) if value is not None]
            note_writes(self.name, dict(zip(_names(self), values, strict=True)))

    def update_item(self: Any, table_name: str, key: Key, *rest: Any, **named: Any) -> Any:
        try:
            return plain_update(self, table_name, key, *rest, **named)
        finally:
            note_writes(self.get_table(table_name).name, key)

    Table.put_item = put_item  # type: ignore[method-assign]
    Table.delete_item = delete_item  # type: ignore[method-assign]
    DynamoDBBackend.update_item = update_item  # type: ignore[method-assign]


def note_writes(table: str, *keys: Key) -> None:
    """A table's name, and keys as DynamoDB writes them."""
    with _lock:
        _changed.setdefault(table, {}).update({key_text(key): key for key in keys})


def take_writes(table: str) -> list[Key]:
    """The keys that were written since this was asked last. They are noted after the write: who reads now, reads it."""
    with _lock:
        return list(_changed.pop(table, {}).values())


def key_text(key: Key) -> str:
    """A key as text, the same for equal ones."""
    return json.dumps(key, sort_keys=True)


def forget_writes() -> None:
    with _lock:
        _changed.clear()


def _names(table: Any) -> list[str]:
    return [name for name in (table.hash_key_attr, table.range_key_attr) if name is not None]
