"""What was learned in a story, and LEARNINGS.yaml, which tells what of it the memory has (seed 001, "Workflow
Integration").

An entry that the memory does not have yet goes by a name of its own, `pending-N`; its children name it so as their
parent. Whoever delivers the file later loses nothing: roles, tags, confidence and parents stand in it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from commonplace.kernel.errors import InvalidInput
from commonplace.memory.entry_files import Seed

PENDING = "pending-"
FILE_NAME = "LEARNINGS.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """One entry of the file. `id` is the memory's, or begins with `pending-`; so does that of its parent."""

    id: str
    seed: Seed
    parent: str | None = None
    category: str | None = None
    error: str | None = None
    """Why the memory has refused it."""

    @property
    def pending(self) -> bool:
        return self.id.startswith(PENDING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Learnings:
    """One LEARNINGS.yaml. Times are ISO 8601 in UTC."""

    story: str
    recorded_at: str
    entries: tuple[Learned, ...] = ()
    available: bool = False
    synced_at: str | None = None

    @property
    def pending(self) -> tuple[Learned, ...]:
        """In the order of delivery: as in the file, where a parent stands before its children."""
        return tuple(one for one in self.entries if one.pending)

    def imports(self) -> list[dict[str, Any]]:
        """What is to be delivered, as `kb_bulk_import` takes it."""
        told = []
        for one in self.pending:
            parent = one.parent or ""
            below = {"parent_ref": parent} if parent.startswith(PENDING) else {"parent_id": one.parent}
            told.append(replace(one.seed, ref=one.id, source_story=self.story, **below).as_import())
        return told

    def delivered(self, ids: Mapping[str, str], errors: Mapping[str, str], at: str) -> "Learnings":
        """With the ids that the memory has given, by pending name, and its reasons against the others."""
        entries = tuple(
            replace(
                one,
                id=ids.get(one.id, one.id),
                parent=ids.get(one.parent or "", one.parent),
                error=errors.get(one.id) if one.pending else None,
            )
            for one in self.entries
        )
        return replace(self, entries=entries, available=True, synced_at=at)

    def joined(self, earlier: "Learnings") -> "Learnings":
        """These, and what an earlier file of the same story knows: ids of what was delivered, and entries that are no
        longer among these."""
        known = {one.seed.hash: one for one in earlier.entries}
        names: dict[str, str] = {}
        entries: list[Learned] = []
        for one in self.entries:
            before = known.pop(one.seed.hash, None)
            kept = replace(before, error=None) if before is not None and not before.pending else one
            names[one.id] = kept.id
            if before is not None:
                names[f"earlier {before.id}"] = kept.id
            entries.append(kept if kept is not one else replace(one, parent=names.get(one.parent or "", one.parent)))
        left = [one for one in earlier.entries if one.seed.hash in known]
        taken = sum(one.pending for one in self.entries)
        for one in left:
            names[f"earlier {one.id}"] = f"{PENDING}{taken + len(names) + 1}" if one.pending else one.id
        entries += [
            replace(one, id=names[f"earlier {one.id}"], parent=names.get(f"earlier {one.parent}", one.parent))
            for one in left
        ]
        return replace(self, entries=tuple(entries), synced_at=earlier.synced_at)

    def as_mapping(self) -> dict[str, Any]:
        """As it stands in the file."""
        told: dict[str, Any] = {"story_id": self.story, "recorded_at": self.recorded_at}
        if self.synced_at:
            told["synced_at"] = self.synced_at
        told["kb_available"] = self.available
        if self.pending:
            told["pending_sync"] = True
        return told | {"entries": [_entry(one) for one in self.entries]}


def from_mapping(value: Any) -> Learnings:
    """What a file holds. Raises InvalidInput, which names the field."""
    if not isinstance(value, Mapping) or not isinstance(value.get("story_id"), str):
        raise InvalidInput(
            "This is no LEARNINGS.yaml: it has no `story_id`.", hint="`commonplace kb learn` writes one."
        )
    entries = value.get("entries")
    if not isinstance(entries, Sequence) or isinstance(entries, str):
        raise InvalidInput("`entries` has to be a list.", hint="`commonplace kb learn` writes one.")
    read = tuple(_learned(one, place) for place, one in enumerate(entries))
    names = {one.id for one in read}
    for place, one in enumerate(read):
        if one.parent and one.parent.startswith(PENDING) and one.parent not in names:
            raise InvalidInput(
                f"entries[{place}]: its parent {one.parent} is not in the file.", hint="Name one that is."
            )
    if len(names) < len(read):
        raise InvalidInput("Two entries have the same `id`.", hint="Give each a name of its own: pending-1, pending-2.")
    return Learnings(
        story=value["story_id"],
        recorded_at=str(value.get("recorded_at") or ""),
        entries=read,
        available=value.get("kb_available") is True,
        synced_at=str(value["synced_at"]) if value.get("synced_at") else None,
    )


def _entry(one: Learned) -> dict[str, Any]:
    seed = one.seed
    told: dict[str, Any] = {"id": one.id, "type": seed.entry_type}
    told |= {"category": one.category} if one.category else {}
    told["content"] = seed.content
    told |= {"parent_id": one.parent} if one.parent else {}
    told |= {"roles": list(seed.roles), "tags": list(seed.tags), "confidence": seed.confidence}
    told |= {"source_file": seed.source_file} if seed.source_file else {}
    told |= {"metadata": dict(seed.metadata)} if seed.metadata else {}
    return told | ({"error": one.error} if one.error else {})


def _learned(value: Any, place: int) -> Learned:
    wrong = f"entries[{place}]"
    if not isinstance(value, Mapping) or not isinstance(value.get("content"), str):
        raise InvalidInput(f"{wrong} has no `content`.", hint="Take the entry out, or say what was learned.")
    roles, tags = value.get("roles"), value.get("tags")
    metadata, confidence = value.get("metadata"), value.get("confidence", 1.0)
    if not isinstance(confidence, int | float):
        raise InvalidInput(f"{wrong}: `confidence` has to be a number from 0 to 1.", hint="1 is certain.")
    seed = Seed(
        content=value["content"],
        entry_type=value.get("type", "fact"),
        roles=tuple(roles) if isinstance(roles, list) else ("all",),
        tags=tuple(map(str, tags)) if isinstance(tags, list) else (),
        source_file=_text(value.get("source_file")),
        confidence=float(confidence),
        metadata=dict(metadata) if isinstance(metadata, Mapping) else {},
    )
    return Learned(
        id=_text(value.get("id")) or f"{PENDING}{place + 1}",
        seed=seed,
        parent=_text(value.get("parent_id")),
        category=_text(value.get("category")),
        error=_text(value.get("error")),
    )


def _text(value: Any) -> str | None:
    return str(value) if value is not None else None
