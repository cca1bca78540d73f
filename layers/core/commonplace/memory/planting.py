"""Imports of any size, cut into calls that the server takes: parents first, to be repeated without harm."""

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from commonplace.errors import Unavailable
from commonplace.memory.patience import MemoryServer
from commonplace.memory.results import BATCH

MAX_CALL_BYTES = 700_000
"""Of the entries of one call, as JSON: a message to the server has at most a mebibyte."""
LOOK_SECONDS = 1.0
"""Between two questions how far an import is that goes on by itself."""
MAX_LOOKS = 900

_FAULT = re.compile(r"entries\[(\d+)\]:\s*(.*)", re.DOTALL)

Entry = Mapping[str, Any]
"""One of `kb_bulk_import`'s, unchecked."""
Told = Callable[[int], object]
"""Is told how many entries are done."""


@dataclass(slots=True)
class Planted:
    """What became of an import. Places count from 0."""

    total: int
    imported: int = 0
    skipped: int = 0
    errors: dict[int, str] = field(default_factory=dict)
    ids: dict[int, str] = field(default_factory=dict)


def plant(
    server: MemoryServer,
    entries: Sequence[Entry],
    *,
    told: Told = lambda _done: None,
    sleep: Callable[[float], object] = time.sleep,
) -> Planted:
    """Imports all of it; what is there already is skipped. Raises what the server raises, and may be run again."""
    planted = Planted(len(entries))
    places = {str(one["ref"]): place for place, one in reversed(list(enumerate(entries))) if one.get("ref")}
    for batch in _cut(entries, parents_first(entries, places)):
        sent = _related(entries, batch, places, planted)
        if sent:
            _send(server, sent, planted, told, sleep)
        told(_done(planted))
    return planted


def parents_first(entries: Sequence[Entry], places: Mapping[str, int]) -> list[int]:
    """Places of the entries in an order that has parents before children, else that of the file."""
    depths: dict[int, int] = {}
    for place in range(len(entries)):
        above: list[int] = []
        at: int | None = place
        while at is not None and at not in depths and at not in above:
            above.append(at)
            at = places.get(str(entries[at].get("parent_ref") or ""))
        depth = depths.get(at, -1) if at is not None else -1
        for one in reversed(above):
            depths[one] = depth = depth + 1
    return sorted(range(len(entries)), key=lambda place: depths[place])


def _cut(entries: Sequence[Entry], order: Sequence[int]) -> list[list[int]]:
    batches: list[list[int]] = []
    size = 0
    for place in order:
        more = len(json.dumps(dict(entries[place]), ensure_ascii=False, default=str).encode("utf-8", "replace")) + 1
        if not batches or len(batches[-1]) >= BATCH or size + more > MAX_CALL_BYTES:
            batches.append([])
            size = 0
        batches[-1].append(place)
        size += more
    return batches


def _related(
    entries: Sequence[Entry], batch: Sequence[int], places: Mapping[str, int], planted: Planted
) -> dict[int, Entry]:
    """What to send: parents of earlier calls by their ids. A child whose parent was refused is refused here."""
    inside = set(batch)
    sent: dict[int, Entry] = {}
    for place in batch:
        entry = dict(entries[place])
        parent = places.get(str(entry.get("parent_ref") or ""))
        if parent is not None and parent not in inside:
            if parent not in planted.ids:
                planted.errors[place] = "Its parent was not imported. Mend that one first."
                continue
            del entry["parent_ref"]
            entry["parent_id"] = planted.ids[parent]
        sent[place] = entry
    return sent


def _send(
    server: MemoryServer,
    sent: Mapping[int, Entry],
    planted: Planted,
    told: Told,
    sleep: Callable[[float], object],
) -> None:
    places = list(sent)
    arguments = {"entries": list(sent.values()), "skip_existing": True}
    answer = server.call("kb_bulk_import", arguments)
    counted = answer
    while answer.get("status") == "in_progress":
        counted = _followed(server, str(answer.get("handle")), _done(planted), told, sleep)
        # What was carried on does not tell the ids: the same call, repeated, imports nothing and does.
        answer = server.call("kb_bulk_import", arguments)
    planted.imported += int(counted.get("imported", 0))
    planted.skipped += int(counted.get("skipped", 0))
    for sentence in answer.get("errors") or ():
        found = _FAULT.match(str(sentence))
        place = int(found[1]) if found else 0
        planted.errors[places[place] if place < len(places) else places[0]] = found[2] if found else str(sentence)
    ids = answer.get("ids") or {}
    for number, place in enumerate(places):
        known = ids.get(str(sent[place].get("ref") or number))
        if known and place not in planted.errors:
            planted.ids[place] = str(known)


def _followed(
    server: MemoryServer, handle: str, before: int, told: Told, sleep: Callable[[float], object]
) -> dict[str, Any]:
    for _ in range(MAX_LOOKS):
        sleep(LOOK_SECONDS)
        answer = server.call("kb_bulk_import", {"handle": handle})
        if answer.get("status") != "in_progress":
            return answer
        told(before + int(answer.get("processed", 0)))
    raise Unavailable("The import does not come to an end.", hint="Run it again: what is there is skipped.")


def _done(planted: Planted) -> int:
    return planted.imported + planted.skipped + len(planted.errors)
