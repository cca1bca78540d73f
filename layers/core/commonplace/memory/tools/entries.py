"""Entries as tools tell them: for a reader, and the same as data. Never whose they are, never their vectors."""

from typing import Any

from pydantic import Field

from commonplace.memory.entries import Entry, EntryType, Role
from commonplace.memory.tools.services import MemoryPart
from commonplace.web.mcp.rendering import compact

MAX_LISTED_METADATA = 300
"""Characters of JSON: more of it is told by kb_get alone."""


class Told(MemoryPart):
    """One entry among others."""

    id: str
    content: str
    truncated: bool | None = Field(None, description="There is more: ask kb_get")
    entry_type: EntryType
    roles: list[Role]
    tags: list[str]
    confidence: float
    source_file: str | None = None
    source_story: str | None = None
    parent_id: str | None = None
    metadata: dict[str, Any] | None = None
    created_at: str
    updated_at: str
    version: int


class FoundEntry(Told):
    score: float
    duplicates: list[str] | None = Field(None, description="Ids of entries with nearly the same text")


class RelatedEntry(Told):
    relation: str = Field(description="sibling, parent, child or tags")
    shared_tags: list[str]


def facts(entry: Entry, content: str) -> dict[str, Any]:
    """What is told of an entry in a list, with as much of its content as there is room for."""
    metadata = dict(entry.metadata)
    shown = metadata if len(compact(metadata)) <= MAX_LISTED_METADATA else {}
    return whole(entry, content) | {
        "metadata": shown or None,
        "truncated": True if content != entry.content or shown != metadata else None,
    }


def whole(entry: Entry, content: str) -> dict[str, Any]:
    """Everything of an entry but its hash."""
    return {
        "id": entry.id,
        "content": content,
        "entry_type": entry.entry_type,
        "roles": list(entry.roles),
        "tags": list(entry.tags),
        "confidence": entry.confidence,
        "source_file": entry.source_file,
        "source_story": entry.source_story,
        "parent_id": entry.parent_id,
        "metadata": dict(entry.metadata) or None,
        "created_at": entry.created_at,
        "updated_at": entry.updated_at,
        "version": entry.version,
    }


def told(one: Told, *, head: str = "", **more: str | None) -> str:
    """One entry for a reader: what it is in one line, then its text."""
    described = (
        f"{head}`{one.id}`",
        one.entry_type,
        f"for {', '.join(one.roles)}",
        f"confidence {one.confidence:g}",
        *(f"{name.replace('_', ' ')} {value}" for name, value in more.items() if value),
        f"tags: {', '.join(one.tags)}" if one.tags else None,
        one.source_story,
        one.source_file,
        f"parent `{one.parent_id}`" if one.parent_id else None,
        f"metadata {compact(one.metadata)}" if one.metadata else None,
        f"version {one.version} of {one.updated_at[:10]}",
    )
    line = " · ".join(part for part in described if part)
    rest = "\n(There is more of it: kb_get.)" if one.truncated else ""
    return f"{line}\n{one.content}{rest}"
