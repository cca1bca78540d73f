"""Where the memory's records stand in the table `records`, and entries as items.

Every key begins with the organisation, so no id, hash, key or handle of one reaches an item of another. Metadata is
JSON text: DynamoDB's numbers have other bounds than JSON's, and it would not give `1.0` back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from commonplace.identity.roles import is_organisation
from commonplace.kernel.items import Item, decoded, encode, key
from commonplace.memory.entries import Card, Entry

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


def once_key(organisation: str, hashed: str) -> Item:
    return key(room(organisation, "once"), hashed)


def job_key(organisation: str, id: str) -> Item:
    return key(room(organisation, "jobs"), id)


def piece_key(organisation: str, id: str, number: int) -> Item:
    return key(room(organisation, f"pieces#{id}"), f"{number:05d}")


def entry_item(entry: Entry) -> Item:
    text = json.dumps(dict(entry.metadata), separators=(",", ":"))
    return encode(replace(entry, metadata={})) | {"metadata": {"S": text}}


def read_entry(organisation: str, item: Mapping[str, Any] | None) -> Entry | None:
    """None for an item that is not there, that is no entry, or that is not this organisation's."""
    bare = {name: value for name, value in (item or {}).items() if name != "metadata"}
    entry = decoded(Entry, bare)
    if item is None or entry is None or entry.organisation != organisation:
        return None
    metadata = json.loads(item.get("metadata", {}).get("S", "{}"))
    return replace(entry, metadata=metadata)


def card_item(card: Card) -> Item:
    return encode(card)


def read_card(item: Mapping[str, Any]) -> Card | None:
    return decoded(Card, item)
