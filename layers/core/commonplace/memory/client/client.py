"""A client of the memory for the flow of work: delivers what was learned, reads everything, confirms failures.

Pure logic over `MemoryServer`: `adapters.memory_server` reaches a real one, and a test brings its own.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from commonplace.kernel.errors import NotFound, Unavailable
from commonplace.memory.client.learnings import Learned, Learnings
from commonplace.memory.client.patience import MemoryServer
from commonplace.memory.client.planting import Planted, Told, plant

Gate = Literal["PASS", "FAIL"]
FAILURE = "failure"
PAGE = 100


def _silently(done: int, total: int) -> None:
    """Tells nobody."""


@dataclass(frozen=True, slots=True)
class Validated:
    """The learnings after a quality gate, how many failures it concerned, and which of them are no longer there."""

    learnings: Learnings
    confirmed: int
    gone: tuple[str, ...] = ()


class MemoryClient:
    """What the command line and agents' own programs do with a memory. Every method may be repeated without harm."""

    def __init__(self, server: MemoryServer, *, sleep: Callable[[float], object] = time.sleep) -> None:
        self._server = server
        self._sleep = sleep

    def deliver(self, learnings: Learnings, at: str) -> Learnings:
        """Imports what is pending, in one call where it fits, parents before children.

        What the memory has already, from a delivery whose answer was lost, is not added again: its id is taken over.
        Raises what the server raises; then nothing is known to be delivered, and the same call may be made later.
        """
        pending = learnings.pending
        if not pending:
            return replace(learnings, available=True)
        planted = plant(self._server, learnings.imports(), sleep=self._sleep)
        ids = {pending[place].id: id for place, id in planted.ids.items()}
        errors = {pending[place].id: sentence for place, sentence in planted.errors.items()}
        return learnings.delivered(ids, errors, at)

    def seed(self, entries: Sequence[Any], told: Told) -> Planted:
        """Imports the entries of a file, unchecked."""
        return plant(self._server, entries, told=told, sleep=self._sleep)

    def validated(self, learnings: Learnings, gate: Gate, at: str) -> Validated:
        """Notes the result of a quality gate on each failure of the story; one that is passed raises them to 1.0.

        What is still pending is changed in the learnings alone, and delivered so.
        """
        metadata = {"validated_at": at, "gate_result": gate}
        entries: list[Learned] = []
        gone: list[str] = []
        for one in learnings.entries:
            if one.category != FAILURE:
                entries.append(one)
                continue
            if not one.pending and not self._confirm(one.id, gate, metadata):
                gone.append(one.id)
            confidence = 1.0 if gate == "PASS" else one.seed.confidence
            seed = replace(one.seed, confidence=confidence, metadata={**one.seed.metadata, **metadata})
            entries.append(replace(one, seed=seed))
        failures = sum(one.category == FAILURE for one in entries)
        return Validated(replace(learnings, entries=tuple(entries)), failures - len(gone), tuple(gone))

    def failures_of(self, story: str) -> list[dict[str, Any]]:
        """The failures that the memory has of a story."""
        return [one for one in self.entries(tags=[FAILURE]) if one.get("source_story") == story]

    def confirm(self, id: str, gate: Gate, at: str) -> bool:
        """As `validated`, of one entry; False if it is gone."""
        return self._confirm(id, gate, {"validated_at": at, "gate_result": gate})

    def search(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The answer of `kb_search`."""
        return self._server.call("kb_search", {name: one for name, one in arguments.items() if one not in (None, [])})

    def stats(self) -> dict[str, Any]:
        """The answer of `kb_stats`."""
        return self._server.call("kb_stats", {})

    def entries(self, told: Callable[[int, int], object] = _silently, **filters: Any) -> Iterator[dict[str, Any]]:
        """Every entry, whole, the oldest first. `told` hears how many have been read, and of how many.

        Entries that are added meanwhile come at the end; each comes once.
        """
        seen: set[str] = set()
        offset, total = 0, 1
        while offset < total:
            asked = {"limit": PAGE, "offset": offset, "order_by": "created_at", "order": "asc", **filters}
            answer = self._server.call("kb_list", asked)
            page, total = answer.get("entries") or [], int(answer.get("total", 0))
            if not page and offset < total:
                raise Unavailable("The list ends before its end.", hint="Try again.")
            for one in page:
                if one["id"] not in seen and (entry := self._whole(one)) is not None:
                    yield entry
                seen.add(one["id"])
            offset += len(page)
            told(min(offset, total), total)

    def _whole(self, entry: dict[str, Any]) -> dict[str, Any] | None:
        """A list cuts long entries, and a very long one comes in parts; None when this one was deleted meanwhile."""
        if not entry.get("truncated"):
            return entry
        try:
            told = self._server.call("kb_get", {"id": entry["id"]})
            content = [str(told["content"])]
            part = told
            while cursor := part.get("next_cursor"):
                part = self._server.call("kb_get", {"id": entry["id"], "cursor": cursor})
                content.append(str(part["content"]))
        except NotFound:
            return None
        return told | {"content": "".join(content)}

    def _confirm(self, id: str, gate: Gate, metadata: Mapping[str, Any]) -> bool:
        changes: dict[str, Any] = {"id": id, "metadata": dict(metadata)}
        if gate == "PASS":
            changes["confidence"] = 1.0
        try:
            self._server.call("kb_update", changes)
        except NotFound:
            return False
        return True


def as_imports(entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What was read, in the form in which it can be imported anywhere: ids become names, parents name them."""
    parents = {one.get("parent_id") for one in entries} & {one["id"] for one in entries}
    return [_import(one, parents) for one in entries]


def _import(entry: Mapping[str, Any], parents: set[Any]) -> dict[str, Any]:
    names = ("content", "entry_type", "roles", "tags", "confidence", "source_file", "source_story")
    told: dict[str, Any] = {"ref": entry["id"]} if entry["id"] in parents else {}
    told |= {name: entry[name] for name in names if entry.get(name) is not None}
    told |= {"parent_ref": entry["parent_id"]} if entry.get("parent_id") in parents else {}
    return told | ({"metadata": entry["metadata"]} if entry.get("metadata") else {})
