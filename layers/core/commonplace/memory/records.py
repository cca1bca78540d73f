"""Items of the memory in the table `records`, and the writes of each kind of change.

Every key begins with the organisation, so no id, hash, key or handle of one reaches an item of another. Metadata is
JSON text: DynamoDB's numbers have other bounds than JSON's, and it would not return `1.0` as such.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from commonplace.kernel.environment import is_organisation
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.items import Item, decoded, encode, key
from commonplace.kernel.table import Table
from commonplace.memory.model import Entry, EntryId

if TYPE_CHECKING:
    from commonplace.kernel.table import Write
    from commonplace.memory.ports import Once

MAX_VERSIONS = 20
"""Former versions that are kept of an entry: with them, its deletion is one transaction."""
ORGANISATIONS, NAME_PREFIX = "organisations", "memory#"
MAX_ID_CHARACTERS = 100


def room(organisation: str, name: str) -> str:
    """The partition of one kind of records. Raises ValueError for what cannot name an organisation."""
    if not is_organisation(organisation):
        raise ValueError("no organisation, no memory")
    return f"{organisation}#memory#{name}"


def is_id(text: str) -> bool:
    """Whether this may be a name that we gave: anything else is not there, and perhaps no key at all."""
    return 0 < len(text) <= MAX_ID_CHARACTERS and text.isascii() and text.isprintable() and "#" not in text


def entry_key(organisation: str, id: str) -> Item:
    return key(room(organisation, "entries"), id)


def card_key(organisation: str, id: str) -> Item:
    return key(room(organisation, "cards"), id)


def hash_key(organisation: str, content_hash: str) -> Item:
    return key(room(organisation, "hashes"), content_hash)


def version_key(organisation: str, id: str, version: int) -> Item:
    """Of an entry as it was before it was changed."""
    return key(room(organisation, f"versions#{id}"), f"{version:08d}")


def deleted_key(organisation: str, id: str) -> Item:
    return key(room(organisation, "deleted"), id)


def once_key(organisation: str, hashed: str) -> Item:
    return key(room(organisation, "once"), hashed)


def job_key(organisation: str, id: str) -> Item:
    return key(room(organisation, "jobs"), id)


def piece_key(organisation: str, id: str, number: int) -> Item:
    return key(room(organisation, f"pieces#{id}"), f"{number:05d}")


def entry_item(entry: Entry) -> Item:
    text = json.dumps(dict(entry.metadata), separators=(",", ":"))
    return encode(replace(entry, metadata={})) | {"metadata": text}


def read_entry(organisation: str, item: Mapping[str, Any] | None) -> Entry | None:
    """None for an item that is not there, that is no entry, or that is not this organisation's."""
    bare = {name: value for name, value in (item or {}).items() if name != "metadata"}
    entry = decoded(Entry, bare)
    if item is None or entry is None or entry.organisation != organisation:
        return None
    metadata = json.loads(item.get("metadata", "{}"))
    return replace(entry, metadata=metadata)


class EntryTable(Table):
    """Conditions say what must still be so; who meets one that fails reads again."""

    def added(self, organisation: str, entry: Entry) -> list[Write]:
        return [
            self.new(entry_key(organisation, entry.id), entry_item(replace(entry, organisation=organisation))),
            self.put(card_key(organisation, entry.id), encode(entry.card)),
            self.new(hash_key(organisation, entry.content_hash), _holder(entry.id)),
        ]

    def replaced(self, organisation: str, entry: Entry, was: Entry) -> list[Write]:
        item = entry_item(replace(entry, organisation=organisation))
        kept = self.put(entry_key(organisation, was.id), item, "#revision = :revision", revision=was.revision)
        writes = [kept, self.put(card_key(organisation, was.id), encode(entry.card))]
        if entry.version != was.version:
            writes.append(self.put(version_key(organisation, was.id, was.version), entry_item(was)))
        if entry.version - MAX_VERSIONS > 1:
            writes.append(self.delete(version_key(organisation, was.id, entry.version - MAX_VERSIONS - 1)))
        if entry.content_hash == was.content_hash:
            return writes
        return [
            *writes,
            self.new(hash_key(organisation, entry.content_hash), _holder(entry.id)),
            self._free(organisation, was),
        ]

    def deleted(self, organisation: str, entry: Entry, versions: Sequence[Entry], until: int) -> list[Write]:
        """`until`, in epoch seconds, is how long the entry and its former `versions` are kept."""
        gone = self.delete(entry_key(organisation, entry.id), "#revision = :revision", revision=entry.revision)
        kept = self.put(deleted_key(organisation, entry.id), entry_item(entry) | {"expiresAt": until})
        writes = [gone, self.delete(card_key(organisation, entry.id)), self._free(organisation, entry), kept]
        return writes + self._of_versions(organisation, versions, "SET #expiresAt = :until", until=until)

    def restored(
        self, organisation: str, entry: Entry, was: Entry, versions: Sequence[Entry], now: float
    ) -> list[Write]:
        kept = "#revision = :revision AND #expiresAt > :now"
        back = self.delete(deleted_key(organisation, was.id), kept, revision=was.revision, now=int(now))
        writes = [*self.added(organisation, entry), back]
        return writes + self._of_versions(organisation, versions, "REMOVE #expiresAt")

    def _of_versions(self, organisation: str, versions: Sequence[Entry], change: str, **values: Any) -> list[Write]:
        places = [version_key(organisation, one.id, one.version) for one in versions]
        return [self.update(where, change, "attribute_exists(pk)", **values) for where in places]

    def changed(
        self, organisation: str, id: EntryId, change: str, condition: str, values: Mapping[str, Any]
    ) -> list[Write]:
        """The same update of an entry and its card."""
        places = entry_key(organisation, id), card_key(organisation, id)
        return [self.update(where, change, condition, **values) for where in places]

    def unchanged(self, organisation: str, entry: Entry) -> Write:
        return self.check(entry_key(organisation, entry.id), "#revision = :revision", revision=entry.revision)

    def absent(self, organisation: str, id: str) -> Write:
        return self.check(entry_key(organisation, id), "attribute_not_exists(pk)")

    def once(self, organisation: str, once: Once, id: EntryId, now: int) -> Write:
        item = encode(replace(once, key="")) | _holder(id)
        free = "attribute_not_exists(pk) OR #expiresAt <= :now"
        return self.put(once_key(organisation, once.key), item, free, now=now)

    def still_held(self, organisation: str, content_hash: str, holder: EntryId) -> Write:
        return self.check(hash_key(organisation, content_hash), "#id = :id", id=holder)

    def named(self, organisation: str) -> Write:
        """Raises ValueError for what cannot name an organisation."""
        room(organisation, "")
        return self.new(key(ORGANISATIONS, f"{NAME_PREFIX}{organisation}"), {})

    def _free(self, organisation: str, entry: Entry) -> Write:
        where = hash_key(organisation, entry.content_hash)
        return self.delete(where, "attribute_not_exists(pk) OR #id = :id", id=entry.id)


def _holder(id: EntryId) -> Item:
    return {"id": id}


def contended() -> Unavailable:
    """After all rounds of a write that others were faster than."""
    return Unavailable("Others keep writing the same entries just now.", retry_after_seconds=1)
