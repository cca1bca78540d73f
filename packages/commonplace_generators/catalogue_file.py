"""Generated entries as a file: the same entries are the same bytes, and a date changes only with what it dates."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from commonplace.reference.model import Entry
from commonplace.reference.source.drafts import SCHEMAS, with_schemas

SHARED = 5
"""Fields of a body from which on it is stored once."""
DATE, SOURCE_HASH = "lastUpdated", "sourceHash"


def fields(entry: Entry) -> dict[str, Any]:
    """By their names in JSON, in order; what is absent or its default is left out."""
    told = entry.model_dump(by_alias=True, mode="json", exclude_defaults=True)
    return {name: value for name, value in told.items() if value != ""}


def written(entries: Iterable[Entry]) -> bytes:
    """The file of a catalogue that holds them. A body that several calls take is stored once, below `schemas`."""
    told = [fields(one) for one in entries]
    bodies = [[it for it in one.get("parameters", ()) if it["place"] == "body"] for one in told]
    names = [sha256(json.dumps(one).encode()).hexdigest()[:12] if len(one) >= SHARED else "" for one in bodies]
    counts = Counter(names)
    schemas = {}
    for one, body, name in zip(told, bodies, names, strict=True):
        if name and counts[name] > 1:
            schemas[name] = body
            one["parameters"] = [it for it in one["parameters"] if it["place"] != "body"] + [{"schema": name}]
    file = {"entries": told} | ({SCHEMAS: dict(sorted(schemas.items()))} if schemas else {})
    return (json.dumps(file, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def dated(entries: Iterable[Entry], before: bytes | None, today: str) -> tuple[Entry, ...]:
    """Each with the date that it has in the file of before, unless anything else of it than its source's changed."""
    known = _by_id(before)
    return tuple(one.model_copy(update={"last_updated": _date(one, known.get(one.id), today)}) for one in entries)


def stale(entries: Iterable[Entry], before: bytes | None) -> bool:
    """Return whether the file of before differs in anything but dates."""
    wanted = [{k: v for k, v in fields(one).items() if k != DATE} for one in entries]
    return wanted != [{k: v for k, v in one.items() if k != DATE} for one in _listed(before)]


def changes(entries: Iterable[Entry], before: bytes | None) -> tuple[int, int, int]:
    """Return how many entries are new, changed and gone since the file of before."""
    known, now = _by_id(before), {one.id: one for one in entries}
    changed = sum(not _same(one, known[id_]) for id_, one in now.items() if id_ in known)
    return len(now.keys() - known.keys()), changed, len(known.keys() - now.keys())


def _date(entry: Entry, known: Mapping[str, Any] | None, today: str) -> str:
    kept = known.get(DATE) if known and _same(entry, known) else None
    return kept if isinstance(kept, str) and kept else today


def _same(entry: Entry, known: Mapping[str, Any]) -> bool:
    ignored = (DATE, SOURCE_HASH)
    return {k: v for k, v in fields(entry).items() if k not in ignored} == {
        k: v for k, v in known.items() if k not in ignored
    }


def _by_id(raw: bytes | None) -> dict[str, dict[str, Any]]:
    return {str(one.get("id")): one for one in _listed(raw)}


def _listed(raw: bytes | None) -> list[dict[str, Any]]:
    """Return what is no such file counts as none: it is written anew."""
    try:
        value = json.loads(raw) if raw else None
    except (ValueError, RecursionError):
        return []
    found = value.get("entries") if isinstance(value, dict) else value
    schemas = value.get(SCHEMAS) if isinstance(value, dict) else None
    return [with_schemas(one, schemas) for one in found if isinstance(one, dict)] if isinstance(found, list) else []
