"""Queries of moto 5.2.5 that look at one partition.

moto sorts every item of the table for each page of a query, and then leaves out those of other partitions: with some
thousand items a query takes seconds. Here it is shown only the items of the partition that it is asked for.
"""

import copy
from functools import cache
from typing import Any

INDEX_NAME = 6
"""Its place among the arguments behind the hash key."""


@cache
def patch_queries() -> None:
    """Patch moto, once in this process. Queries of an index, and scans, are as they were."""
    from moto.dynamodb.models.table import Table

    plain = Table.query

    def query(self: Any, hash_key: Any, *given: Any, **named: Any) -> Any:
        index = given[INDEX_NAME] if len(given) > INDEX_NAME else named.get("index_name")
        if index is not None or self.range_key_attr is None:
            return plain(self, hash_key, *given, **named)
        partition = copy.copy(self)
        partition.all_items = lambda: list(self.items.get(hash_key, {}).values())
        return plain(partition, hash_key, *given, **named)

    table: Any = Table
    table.query = query
