"""The client of a memory server: imports in calls of bounded size, retries, delivery of learnings, exports.

Imports send parents first and may be repeated without harm. Retries follow `Retry-After` and bridge a short outage.
Pure logic over the port `MemoryServer`: `commonplace.client` reaches a real one, and a test brings its own.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from commonplace.kernel.errors import Conflict, InvalidInput, NotFound, TooLarge, Unavailable
from commonplace.memory.client.learnings import Address, Learned, Learnings
from commonplace.memory.client.replacement import Comparison, Replaced, changes, compare, sources
from commonplace.memory.model import BATCH, FORMER, MAX_LISTED

MAX_CALL_BYTES = 700_000
"""The bound of the entries of one call, as JSON: a message to the server has at most a mebibyte."""
LOOK_SECONDS = 1.0
"""The pause between two looks at an import that goes on by itself."""
MAX_LOOKS = 900

_FAULT = re.compile(r"entries\[(\d+)\]:\s*(.*)", re.DOTALL)

Entry = Mapping[str, Any]
"""An entry as `kb_bulk_import` takes it, unchecked."""
Told = Callable[[int], object]
"""Called with how many entries are done."""

UNNAMED = "It was refused; the answer names the first reasons only."

Gate = Literal["PASS", "CONCERNS", "FAIL", "WAIVED"]
CONFIDENCE_AFTER: Mapping[Gate, float] = {"PASS": 1.0, "CONCERNS": 0.6, "FAIL": 0.3}
"""The confidence of a failure's explanation, by the gate's result.

After FAIL it is below what a search gives by default, after CONCERNS below what a briefing does. A gate that was waived
says nothing of it.
"""
FAILURE = "failure"
EXPORTED = (
    *("id", "content", "entry_type", "roles", "tags", "confidence", "source_file", "source_story", "parent_id"),
    *("metadata", *FORMER[1:]),
)


class MemoryServer(Protocol):
    """The tools of the toolset `memory`, wherever they are."""

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the structured answer.

        Raises CommonplaceError: Unavailable when nobody answers, RateLimited, Unauthorized and Forbidden for the
        token, and what the tool refuses.
        """
        ...


@dataclass(slots=True)
class Planted:
    """The outcome of an import. Places count from 0."""

    total: int
    imported: int = 0
    skipped: int = 0
    errors: dict[int, str] = field(default_factory=dict)
    ids: dict[int, str] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)
    """The story that learned an entry before, by the entry's id; empty where that is not known."""

    @property
    def done(self) -> int:
        return self.imported + self.skipped + len(self.errors)


def plant(
    server: MemoryServer,
    entries: Sequence[Any],
    *,
    told: Told = lambda _done: None,
    sleep: Callable[[float], object] = time.sleep,
) -> Planted:
    """Import all of it; what is there already is skipped. Raises what the server raises, and may be run again."""
    planted = Planted(len(entries))
    fit: dict[int, Entry] = {}
    places: dict[str, int] = {}
    for place, one in enumerate(entries):
        ref = one.get("ref") if isinstance(one, Mapping) else None
        if not isinstance(one, Mapping):
            planted.errors[place] = "This is not an entry: it has no fields, such as `content`."
        elif ref is not None and str(ref) in places:
            planted.errors[place] = "Its `ref` is that of another entry."
        else:
            fit[place] = one
            places |= {str(ref): place} if ref is not None else {}
    for batch in _cut(fit, parents_first(fit, places)):
        sent = _related(fit, batch, places, planted)
        if sent:
            _send(server, sent, planted, told, sleep)
        told(planted.done)
    planted.errors |= _supersede(server, fit, places, planted.ids)
    return planted


def _supersede(
    server: MemoryServer, entries: Mapping[int, Any], places: Mapping[str, int], ids: Mapping[int, str]
) -> dict[int, str]:
    """Note on entries that are there what replaces them, where their file says so; return those that failed.

    Entries that were there before are noted as well, and a note that is there already changes nothing.
    """
    errors: dict[int, str] = {}
    for place, entry in entries.items():
        ref = entry.get("superseded_by_ref") if isinstance(entry, Mapping) else None
        if ref is None or place not in ids:
            continue
        if (by := ids.get(places.get(str(ref), -1))) in (None, ids[place]):
            errors[place] = "It was imported, but `superseded_by_ref` names no other entry that was."
            continue
        try:
            server.call("kb_update", {"id": ids[place], "superseded_by": by})
        except (Conflict, InvalidInput, NotFound) as error:
            errors[place] = f"It was imported, but not marked as superseded: {error.message}"
    return errors


def parents_first(entries: Mapping[int, Entry], places: Mapping[str, int]) -> list[int]:
    """Return places of the entries in an order that has parents before children, else that of the file."""
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
    """Return what to send: names as short as can be, and parents of earlier calls by their ids.

    A child whose parent was refused before is refused here.
    """
    inside = set(batch)
    sent: dict[int, Entry] = {}
    for place in batch:
        entry = dict(entries[place])
        entry.pop("superseded_by_ref", None)
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
    """Return a name that no entry of a file has: a parent that is not there must not find one by accident."""
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
        counted = _followed(server, str(answer.get("handle")), planted.done, told, sleep)
        # A continued import does not return the ids: the same call, repeated, imports nothing and does.
        answer = server.call("kb_bulk_import", arguments)
    places = list(sent)
    for sentence in answer.get("errors") or ():
        found = _FAULT.match(str(sentence))
        if found and int(found[1]) < len(places):
            planted.errors[places[int(found[1])]] = found[2]
    planted.first |= {str(one["id"]): str(one.get("first_story") or "") for one in answer.get("recurrences") or ()}
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
    raise Unavailable("The import does not finish.", hint="Run it again: what is there is skipped.")


@dataclass(frozen=True, slots=True)
class Validated:
    """The learnings after a quality gate, how many failures it concerned, and which of them are no longer there."""

    learnings: Learnings
    confirmed: int
    gone: tuple[str, ...] = ()


class MemoryClient:
    """A memory as the command line and programs use it. Every method may be repeated without harm."""

    def __init__(
        self, server: MemoryServer, address: Address, *, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        self._server = server
        self._address = address
        self._sleep = sleep

    def deliver(self, learnings: Learnings, at: str) -> Learnings:
        """Import what is pending or no longer there, in one call where it fits, parents before children.

        What was delivered is looked up by its id, so another memory, or one that lost entries, gets what it lacks.
        What the memory has already, from a delivery whose answer was lost, is not added again: its id is taken over.
        Raises what the server raises; then nothing is known to be delivered, and the same call may be made later.
        """
        learnings = learnings.without(self._lost(learnings))
        pending = learnings.pending
        planted = plant(self._server, learnings.imports(), sleep=self._sleep)
        ids = {pending[place].id: id for place, id in planted.ids.items()}
        errors = {pending[place].id: sentence for place, sentence in planted.errors.items()}
        return learnings.delivered(ids, errors, planted.first, at, self._address)

    def seed(self, entries: Sequence[Any], told: Told) -> Planted:
        """Import the entries of a file, unchecked."""
        return plant(self._server, entries, told=told, sleep=self._sleep)

    def compare(self, entries: Sequence[Any]) -> Comparison:
        """Return which of the memory's entries those of a file are."""
        found = {str(one["id"]): one for filters in sources(entries) for one in self.entries(**filters)}
        return compare(entries, list(found.values()))

    def replace(self, entries: Sequence[Any], told: Told) -> Replaced:
        """Put the entries of a file in the place of what they were: what is new is added, what was edited is changed.

        What somebody changes meanwhile is left to him and reported. May be repeated, as `seed`.
        """
        compared = self.compare(entries)
        done = Replaced(len(entries), compared.gone)
        refs = {
            str(one["ref"]): place for place, one in enumerate(entries) if isinstance(one, Mapping) and "ref" in one
        }
        ids = {place: str(was["id"]) for place, was in compared.former.items()}
        new = [place for place in range(len(entries)) if place not in ids]
        planted = plant(
            self._server, [_below(entries[place], refs, ids) for place in new], told=told, sleep=self._sleep
        )
        done.imported, done.unchanged = planted.imported, planted.skipped
        done.errors = {new[place]: sentence for place, sentence in planted.errors.items()}
        ids |= {new[place]: id for place, id in planted.ids.items()}
        former = {place: entries[place] for place in compared.former}
        for count, place in enumerate(parents_first(former, refs), start=len(new) + 1):
            entry, was = _below(entries[place], refs, ids), compared.former[place]
            if "parent_ref" in entry:
                done.errors[place] = "`parent_ref` names no entry of this file, or one that was refused."
                continue
            try:
                wanted = changes(entry, was, entry.get("parent_id"))
                sent = {**wanted, "expected_version": was["version"]}
                changed = bool(wanted) and self.update(str(was["id"]), sent)["version"] > was["version"]
            except (Conflict, InvalidInput, NotFound, TooLarge) as error:
                done.errors[place] = f"{error.message} {error.hint or ''}".strip()
                continue
            done.changed += [str(was["id"])] if changed else []
            done.unchanged += not changed
            told(count)
        done.errors |= _supersede(self._server, dict(enumerate(entries)), refs, ids)
        return done

    def validated(self, learnings: Learnings, gate: Gate, at: str) -> Validated:
        """Note the result of a quality gate on each failure of the story, and how sure it leaves them.

        What is still pending is changed in the learnings alone, and delivered so.
        """
        metadata = {"validated_at": at, "gate_result": gate}
        entries: list[Learned] = []
        gone: list[str] = []
        for one in learnings.entries:
            if one.category != FAILURE:
                entries.append(one)
                continue
            if not one.pending and not self.confirm(one.id, gate, at):
                gone.append(one.id)
            confidence = CONFIDENCE_AFTER.get(gate, one.seed.confidence)
            seed = replace(one.seed, confidence=confidence, metadata={**one.seed.metadata, **metadata})
            entries.append(replace(one, seed=seed))
        failures = sum(one.category == FAILURE for one in entries)
        return Validated(replace(learnings, entries=tuple(entries)), failures - len(gone), tuple(gone))

    def failures_of(self, story: str) -> list[dict[str, Any]]:
        """Return the failures that the memory has of a story."""
        return list(self.entries(tags=[FAILURE], source_story=story))

    def confirm(self, id: str, gate: Gate, at: str) -> bool:
        """Note the result of a gate on one entry, and how sure it leaves it; return False if the entry is gone."""
        changes: dict[str, Any] = {"id": id, "metadata": {"validated_at": at, "gate_result": gate}}
        if gate in CONFIDENCE_AFTER:
            changes["confidence"] = CONFIDENCE_AFTER[gate]
        try:
            self._server.call("kb_update", changes)
        except NotFound:
            return False
        return True

    def answer(self, tool: str, /, **given: Any) -> dict[str, Any]:
        """Return the answer of a tool."""
        return self._server.call(tool, {name: one for name, one in given.items() if one is not None})

    def get(self, id: str, *, as_of: str | None = None, history: bool = False) -> dict[str, Any]:
        """Return an entry, whole, as it is or as it was, with its versions if that is wanted. Raises NotFound."""
        then = {"as_of": as_of} if as_of else {}
        told = self._server.call("kb_get", {"id": id, **then, **({"history": True} if history else {})})
        content = [str(told["content"])]
        part = told
        while cursor := part.get("next_cursor"):
            part = self._server.call("kb_get", {"id": id, **then, "cursor": cursor})
            content.append(str(part["content"]))
        return {name: value for name, value in told.items() if name not in ("next_cursor", "truncated")} | {
            "content": "".join(content)
        }

    def update(self, id: str, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer of `kb_update`. Raises NotFound, and Conflict for another version than the one expected."""
        return self._server.call("kb_update", {"id": id, **changes})

    def delete(self, id: str) -> bool:
        """Delete an entry; return False where it was gone already."""
        try:
            self._server.call("kb_delete", {"id": id})
        except NotFound:
            return False
        return True

    def entries(
        self,
        told: Callable[[int, int], object] = lambda done, total: None,  # noqa: ARG005 - says nothing
        **filters: Any,
    ) -> Iterator[dict[str, Any]]:
        """Yield every entry, whole, the oldest first. `told` is called with how many have been read, and of how many.

        Entries that are added meanwhile come at the end; each comes once. `filters` are arguments of `kb_list`.
        """
        seen: set[str] = set()
        for page, total in self._pages({"order_by": "created_at", "order": "asc", **filters}):
            for one in page:
                if one["id"] not in seen:
                    # A list cuts long entries, and one may be deleted meanwhile.
                    with suppress(NotFound):
                        yield self.get(one["id"]) if one.get("truncated") else one
                seen.add(one["id"])
            told(len(seen), max(len(seen), total))

    def _pages(self, asked: Mapping[str, Any]) -> Iterator[tuple[list[dict[str, Any]], int]]:
        """Yield the pages of a list, and how many entries it has: an offset would read what it passes over."""
        answer = self._server.call("kb_list", {"limit": MAX_LISTED, **asked})
        rest = {name: value for name, value in asked.items() if name != "offset"}
        while True:
            yield answer.get("entries") or [], int(answer.get("total", 0))
            if (cursor := answer.get("next_cursor")) is None:
                return
            answer = self._server.call("kb_list", {"limit": MAX_LISTED, **rest, "cursor": cursor})

    def _lost(self, learnings: Learnings) -> set[str]:
        """Return the ids of the record that the memory does not have.

        One list answers for most; an entry may have got another story since.
        """
        lost = {one.id for one in learnings.entries if not one.pending}
        for page, _ in self._pages({"source_story": learnings.story}) if lost else ():
            lost -= {str(one["id"]) for one in page}
            if not lost:
                break
        for id in [*lost]:
            with suppress(NotFound, InvalidInput):
                self._server.call("kb_get", {"id": id})
                lost.discard(id)
        return lost


def _below(entry: Any, refs: Mapping[str, int], ids: Mapping[int, str]) -> Any:
    """Return an entry with its parent's id, where that is known, in place of its name, and without a replacement."""
    if not isinstance(entry, Mapping):
        return entry
    entry = {name: value for name, value in entry.items() if name != "superseded_by_ref"}
    if not entry.get("parent_ref"):
        return entry
    id = ids.get(refs.get(str(entry["parent_ref"]), -1))
    rest = {name: value for name, value in entry.items() if name != "parent_ref"}
    return {**rest, "parent_id": id} if id else entry


def exported(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return everything of an entry that brings it back as it was."""
    return {name: entry[name] for name in EXPORTED if entry.get(name) not in (None, {})}


def importable(entries: Sequence[Any], *, as_they_were: bool = False) -> list[Any]:
    """Return the entries of a file, those of an export so that they can be imported anywhere: ids become names.

    With `as_they_were` they keep ids, dates and versions too, for which a token needs memory:admin.
    """
    ids = {one["id"] for one in entries if isinstance(one, Mapping) and "id" in one}
    found: list[Any] = []
    for entry in entries:
        if not isinstance(entry, Mapping) or "id" not in entry:
            found.append(entry)
            continue
        kept = {name: value for name, value in entry.items() if as_they_were or name not in FORMER}
        one = {"ref": entry["id"]} | kept
        if one.get("parent_id") in ids:
            one["parent_ref"] = one.pop("parent_id")
        if entry.get("superseded_by") in ids and not as_they_were:
            one["superseded_by_ref"] = entry["superseded_by"]
        found.append(one)
    return found
