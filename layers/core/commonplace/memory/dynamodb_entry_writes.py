"""What becomes of an entry, as parts of a transaction on the table `records`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from commonplace.kernel.items import Item, encode, key
from commonplace.kernel.table import Writes
from commonplace.memory.dynamodb_memory_items import (
    NAME_PREFIX,
    ORGANISATIONS,
    card_item,
    card_key,
    entry_item,
    entry_key,
    hash_key,
    once_key,
    room,
)

if TYPE_CHECKING:
    from commonplace.memory.entries import Entry, EntryId
    from commonplace.memory.ports import Once

ITEMS_AN_ENTRY = 3
ITEMS_OF_A_CHANGE = 2


class EntryWrites(Writes):
    """Conditions say what must still be so; who meets one that fails reads again."""

    def added(self, organisation: str, entry: Entry) -> list[Item]:
        return [
            self.new(entry_key(organisation, entry.id), entry_item(replace(entry, organisation=organisation))),
            self._put(card_key(organisation, entry.id), card_item(entry.card)),
            self.new(hash_key(organisation, entry.content_hash), _holder(entry.id)),
        ]

    def replaced(self, organisation: str, entry: Entry, was: Entry) -> list[Item]:
        item = entry_item(replace(entry, organisation=organisation))
        kept = self.put(entry_key(organisation, was.id), item, "#revision = :revision", revision=was.revision)
        writes = [kept, self._put(card_key(organisation, was.id), card_item(entry.card))]
        if entry.content_hash == was.content_hash:
            return writes
        return [
            *writes,
            self.new(hash_key(organisation, entry.content_hash), _holder(entry.id)),
            self._free(organisation, was),
        ]

    def deleted(self, organisation: str, entry: Entry) -> list[Item]:
        gone = self.delete(entry_key(organisation, entry.id), "#revision = :revision", revision=entry.revision)
        return [gone, self.delete(card_key(organisation, entry.id)), self._free(organisation, entry)]

    def changed(
        self, organisation: str, id: EntryId, change: str, condition: str, values: Mapping[str, Any]
    ) -> list[Item]:
        """The same update of an entry and its card."""
        places = entry_key(organisation, id), card_key(organisation, id)
        return [self.update(where, change, condition, **values) for where in places]

    def once(self, organisation: str, once: Once, id: EntryId, now: int) -> Item:
        item = encode(replace(once, key="")) | _holder(id)
        free = "attribute_not_exists(pk) OR #expiresAt <= :now"
        return self.put(once_key(organisation, once.key), item, free, now=now)

    def still_held(self, organisation: str, content_hash: str, holder: EntryId) -> Item:
        return self.check(hash_key(organisation, content_hash), "#id = :id", id=holder)

    def named(self, organisation: str) -> Item:
        """Raises ValueError for what cannot name an organisation."""
        room(organisation, "")
        return self.new(key(ORGANISATIONS, f"{NAME_PREFIX}{organisation}"), {})

    def _free(self, organisation: str, entry: Entry) -> Item:
        where = hash_key(organisation, entry.content_hash)
        return self.delete(where, "attribute_not_exists(pk) OR #id = :id", id=entry.id)

    def _put(self, where: Item, item: Item) -> Item:
        return {"Put": {"TableName": self.table, "Item": item | where}}


def _holder(id: EntryId) -> Item:
    return {"id": {"S": id}}
