"""A memory server in memory: the tools that the client uses, with what can go wrong on the way to them."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from commonplace.kernel.errors import CommonplaceError, Conflict, NotFound, Unavailable
from commonplace.memory.model import content_hash
from commonplace.memory.validation import Refused, imports


class FakeMemoryServer:
    """`memory.patience.MemoryServer`. Ids count up, so that two servers with the same history are equal."""

    def __init__(self) -> None:
        self.kept: dict[str, dict[str, Any]] = {}
        self.calls: list[tuple[str, Mapping[str, Any]]] = []
        self.errors: list[CommonplaceError] = []
        """Raised one after the other, before anything is done."""
        self.first = 1
        """Number of the id that the first entry gets."""
        self.down = False
        self.lose_answers = 0
        """So many calls are done, and their answers do not arrive."""
        self.carry_on = False
        """Whether imports go on by themselves, under a handle."""
        self.page = 100
        self.told_errors = 1_000
        self.cut: int | None = None
        """Characters of a content that one answer shows."""
        self._jobs: dict[str, dict[str, Any]] = {}

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        self.calls.append((tool, arguments))
        if self.down:
            raise Unavailable("Nobody answers.", retry_after_seconds=1)
        if self.errors:
            raise self.errors.pop(0)
        answer: dict[str, Any] = getattr(self, f"_{tool}")(**arguments)
        if self.lose_answers:
            self.lose_answers -= 1
            raise Unavailable("The answer was lost.", retry_after_seconds=1)
        return answer

    def delete(self, id: str) -> None:
        del self.kept[id]
        self.first += 1  # no id comes twice

    def contents(self) -> list[dict[str, Any]]:
        """Everything but the ids, parents by their content: what two memories have in common."""
        by_id = {id: one["content"] for id, one in self.kept.items()}
        return [
            {name: value for name, value in one.items() if name != "id"}
            | {"parent_id": by_id.get(one.get("parent_id", ""))}
            for one in self.kept.values()
        ]

    def _kb_bulk_import(
        self, entries: Any = None, skip_existing: bool = True, handle: str | None = None
    ) -> dict[str, Any]:
        if handle is not None:
            return self._jobs[handle]
        holders = {one["content_hash"]: id for id, one in self.kept.items()}
        answer: dict[str, Any] = {"imported": 0, "skipped": 0, "errors": [], "status": "complete", "ids": {}}
        for place, (raw, taken) in enumerate(zip(entries, imports(entries), strict=True)):
            name = raw.get("ref") or str(place)
            if isinstance(taken, Refused):
                answer["errors"].append(f"entries[{place}]: {taken.sentence}")
                continue
            parent = raw.get("parent_id") or answer["ids"].get(raw.get("parent_ref"))
            if (raw.get("parent_ref") or raw.get("parent_id")) and parent not in self.kept:
                answer["errors"].append(f"entries[{place}]: Its parent is not there.")
                continue
            hash = content_hash(taken.entry.content)
            answer["imported" if hash not in holders else "skipped"] += 1
            if hash not in holders:
                holders[hash] = str(uuid.UUID(int=self.first + len(self.kept)))
                told = {key: value for key, value in raw.items() if key not in ("ref", "parent_ref")}
                self.kept[holders[hash]] = told | {
                    "id": holders[hash],
                    "content_hash": hash,
                    "parent_id": parent,
                    "version": 1,
                }
            answer["ids"][name] = holders[hash]
        answer |= {"total": len(entries), "processed": len(entries)}
        if (more := len(answer["errors"]) - self.told_errors) > 0:
            answer["errors"] = [*answer["errors"][: self.told_errors], f"… and {more} more."]
        if self.carry_on and answer["imported"]:
            self._jobs["work"] = {key: value for key, value in answer.items() if key != "ids"}
            return {"imported": 0, "skipped": 0, "errors": [], "status": "in_progress", "handle": "work"}
        return answer

    def _kb_list(
        self,
        limit: int,
        offset: int = 0,
        cursor: str = "",
        tags: list[str] | None = None,
        source_story: str | None = None,
        source_file: str | None = None,
        **_order: str,
    ) -> dict[str, Any]:
        stories = {source_story} if source_story else {one.get("source_story") for one in self.kept.values()}
        found = [
            one
            for one in self.kept.values()
            if set(tags or ()) <= set(one["tags"]) and one.get("source_story") in stories
            if source_file in (None, one.get("source_file"))
        ]
        rest = [one for one in found if one["id"] > cursor][offset:]
        shown = [self._part(one, 0) for one in rest[: min(limit, self.page)]]
        further = {"next_cursor": shown[-1]["id"]} if len(rest) > len(shown) else {}
        return {"entries": shown, "total": len(found)} | further

    def _kb_get(self, id: str, cursor: str = "0") -> dict[str, Any]:
        return self._part(self._found(id), int(cursor))

    def _part(self, entry: dict[str, Any], start: int) -> dict[str, Any]:
        if self.cut is None or len(entry["content"]) <= self.cut:
            return dict(entry)
        end = start + self.cut
        told = entry | {"content": entry["content"][start:end], "truncated": True}
        return told | ({"next_cursor": str(end)} if end < len(entry["content"]) else {})

    def _kb_update(
        self,
        id: str,
        metadata: Mapping[str, Any] | None = None,
        expected_version: int | None = None,
        remove: Sequence[str] = (),
        **changes: Any,
    ) -> dict[str, Any]:
        entry = self._found(id)
        if expected_version not in (None, entry["version"]):
            raise Conflict("The entry is in another version.")
        if "content" in changes:
            changes["content_hash"] = content_hash(changes["content"])
            if any(one["content_hash"] == changes["content_hash"] for one in self.kept.values()):
                raise Conflict("Another entry has this content.")
        entry |= changes | dict.fromkeys(remove) | {"version": entry["version"] + 1}
        if metadata:
            entry["metadata"] = {**entry.get("metadata", {}), **metadata}
        return {"success": True, "re_embedded": False, "version": entry["version"]}

    def _found(self, id: str) -> dict[str, Any]:
        if id not in self.kept:
            raise NotFound("There is no such entry.")
        return self.kept[id]
