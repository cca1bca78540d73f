"""Imports of any size, cut into calls that the server takes: parents first, to be repeated without harm."""

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from commonplace.kernel.errors import Unavailable
from commonplace.memory.client.patience import MemoryServer
from commonplace.memory.model import BATCH

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

UNNAMED = "It was refused; the answer names the first reasons only."


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
    entries: Sequence[Any],
    *,
    told: Told = lambda _done: None,
    sleep: Callable[[float], object] = time.sleep,
) -> Planted:
    """Imports all of it; what is there already is skipped. Raises what the server raises, and may be run again."""
    planted = Planted(len(entries))
    fit, places = _named(entries, planted)
    for batch in _cut(fit, parents_first(fit, places)):
        sent = _related(fit, batch, places, planted)
        if sent:
            _send(server, sent, planted, told, sleep)
        told(_done(planted))
    return planted


def _named(entries: Sequence[Any], planted: Planted) -> tuple[dict[int, Entry], dict[str, int]]:
    """The entries by place, and the places by name; what no server has to see is refused here."""
    fit: dict[int, Entry] = {}
    places: dict[str, int] = {}
    for place, one in enumerate(entries):
        ref = one.get("ref") if isinstance(one, Mapping) else None
        if not isinstance(one, Mapping):
            planted.errors[place] = "This is no entry: it has no fields, such as `content`."
        elif ref is not None and str(ref) in places:
            planted.errors[place] = "Its `ref` is that of another entry."
        else:
            fit[place] = one
            places |= {str(ref): place} if ref is not None else {}
    return fit, places


def parents_first(entries: Mapping[int, Entry], places: Mapping[str, int]) -> list[int]:
    """Places of the entries in an order that has parents before children, else that of the file."""
    depths: dict[int, int] = {}
    for place in entries:
        above: list[int] = []
        at: int | None = place
        while at is not None and at not in depths and at not in above:
            above.append(at)
            at = places.get(str(entries[at].get("parent_ref") or ""))
        depth = depths.get(at, -1) if at is not None else -1
        for one in reversed(above):
            depths[one] = depth = depth + 1
    return sorted(entries, key=lambda place: depths[place])


def _cut(entries: Mapping[int, Entry], order: Sequence[int]) -> list[list[int]]:
    batches: list[list[int]] = []
    size = 0
    for place in order:
        more = len(json.dumps(dict(entries[place]), ensure_ascii=False, default=str).encode("utf-8", "replace")) + 20
        if not batches or len(batches[-1]) >= BATCH or size + more > MAX_CALL_BYTES:
            batches.append([])
            size = 0
        batches[-1].append(place)
        size += more
    return batches


def _related(
    entries: Mapping[int, Entry], batch: Sequence[int], places: Mapping[str, int], planted: Planted
) -> dict[int, Entry]:
    """What to send: names as short as can be, and parents of earlier calls by their ids.

    A child whose parent was refused before is refused here.
    """
    inside = set(batch)
    sent: dict[int, Entry] = {}
    for place in batch:
        entry = dict(entries[place])
        if entry.pop("ref", None) is not None:
            entry["ref"] = _name(place)
        parent = places.get(str(entry.get("parent_ref") or ""))
        if parent in inside:
            entry["parent_ref"] = _name(parent)
        elif parent in planted.ids:
            del entry["parent_ref"]
            entry["parent_id"] = planted.ids[parent]
        elif parent is not None:
            planted.errors[place] = "Its parent was not imported. Mend that one first."
            continue
        sent[place] = entry
    return sent


def _name(place: int) -> str:
    """As nobody calls an entry of a file: a parent that is not there must not find one by accident."""
    return f"~{place}"


def _send(
    server: MemoryServer,
    sent: Mapping[int, Entry],
    planted: Planted,
    told: Told,
    sleep: Callable[[float], object],
) -> None:
    arguments = {"entries": list(sent.values()), "skip_existing": True}
    answer = server.call("kb_bulk_import", arguments)
    counted = answer
    while answer.get("status") == "in_progress":
        counted = _followed(server, str(answer.get("handle")), _done(planted), told, sleep)
        # What was carried on does not tell the ids: the same call, repeated, imports nothing and does.
        answer = server.call("kb_bulk_import", arguments)
    places = list(sent)
    for sentence in answer.get("errors") or ():
        found = _FAULT.match(str(sentence))
        if found and int(found[1]) < len(places):
            planted.errors[places[int(found[1])]] = found[2]
    ids = answer.get("ids") or {}
    for number, place in enumerate(places):
        id = ids.get(str(sent[place].get("ref") or number))
        if id and place not in planted.errors:
            planted.ids[place] = str(id)
        else:
            planted.errors.setdefault(place, UNNAMED)
    planted.imported += int(counted.get("imported", 0))
    planted.skipped += int(counted.get("skipped", 0))


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
