"""Transactions of moto 5.2.5 without a copy of every table that they touch.

moto copies whole tables before each transaction, in case it fails: with some thousand items in a table, a transaction
takes a second. Here only the items that are written are kept, and put back when it fails.
"""

import copy
from functools import cache
from typing import Any, NamedTuple


class _Before(NamedTuple):
    """An item as it was before a transaction; None for one that was not there."""

    table: Any
    hash_key: Any
    range_key: Any
    item: Any

    def restore(self) -> None:
        if self.item is not None:
            self.table.items[self.hash_key][self.range_key] = self.item
        else:
            self.table.items[self.hash_key].pop(self.range_key, None)


class _Copying:
    """What moto's module of tables knows as `copy`: tables are not copied."""

    @staticmethod
    def deepcopy(value: Any) -> Any:
        from moto.dynamodb.models.table import Table

        return value if isinstance(value, Table) else copy.deepcopy(value)


@cache
def patch_transactions() -> None:
    """Patch moto, once in this process. For tables with two keys, as all of ours are."""
    from moto.dynamodb import models

    plain = models.DynamoDBBackend.transact_write_items

    def transact_write_items(self: Any, transact_items: list[dict[str, Any]]) -> None:
        tables = {table.name: table for _, table, _ in _written(self, transact_items)}
        if any(table.range_key_attr is None for table in tables.values()):
            raise NotImplementedError("a transaction on a table without a sort key")
        before = [_before(table, key) for _, table, key in _written(self, transact_items)]
        told = {name: len(table.stream_shard.items) for name, table in tables.items() if table.stream_shard}
        try:
            plain(self, transact_items)
        except BaseException:
            for one in before:
                one.restore()
            for name, length in told.items():
                del tables[name].stream_shard.items[length:]
            raise

    vars(models)["copy"] = _Copying
    models.DynamoDBBackend.transact_write_items = transact_write_items  # type: ignore[method-assign]


def _written(backend: Any, transact_items: list[dict[str, Any]]) -> list[tuple[str, Any, dict[str, Any]]]:
    """Kind, table and key of each part that moto will find a table for."""
    parts = [part for item in transact_items for part in item.items()]
    found = [(kind, backend.tables.get(told.get("TableName")), told) for kind, told in parts]
    return [(kind, table, told["Item" if kind == "Put" else "Key"]) for kind, table, told in found if table is not None]


def _before(table: Any, key: dict[str, Any]) -> _Before:
    from moto.dynamodb.models.dynamo_type import DynamoType

    hash_key, range_key = DynamoType(key[table.hash_key_attr]), DynamoType(key[table.range_key_attr])
    return _Before(table, hash_key, range_key, copy.deepcopy(table.get_item(hash_key, range_key)))
