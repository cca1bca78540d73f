"""What the memory keeps: entries (seed 001, "Database Schema" and "Knowledge Entry Types")."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NewType, get_args

EntryId = NewType("EntryId", str)
"""A UUID (RFC 9562) in its usual form. Never used again, not even for the same content."""

EntryType = Literal["fact", "summary", "template"]
ENTRY_TYPES: tuple[EntryType, ...] = get_args(EntryType)

Role = Literal["pm", "dev", "qa", "all"]
ROLES: tuple[Role, ...] = get_args(Role)
"""An entry with role `all` is meant for every role; a query for `all` asks for every entry."""

Phase = Literal["pm", "elab", "dev", "review", "qa"]
PHASES: tuple[Phase, ...] = get_args(Phase)
"""Of a story's life (seed 001, "Workflow Integration"): queries are counted by phase and role."""

MAX_CONTENT_BYTES = 32_768
"""In UTF-8: what one answer can still show whole."""
MAX_TAGS = 30
MAX_TAG_CHARACTERS = 64
MAX_SOURCE_CHARACTERS = 500
MAX_METADATA_BYTES = 8_192
"""As compact JSON."""
MAX_METADATA_DEPTH = 5


def content_hash(content: str) -> str:
    """SHA-256 of the content in UTF-8, 64 hex digits: two entries of an organisation never share it."""
    return hashlib.sha256(content.encode("utf-8")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """On whose behalf something is done. Comes from the verified principal alone."""

    organisation: str
    account: str = ""
    """The account's name in records, which tells nothing of it."""
    client: str = ""
    grant: str = ""
    network: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEntry:
    """An entry that is to be. Checked and normalised by `memory.checking`, and by nothing else."""

    content: str
    entry_type: EntryType
    roles: tuple[Role, ...]
    tags: tuple[str, ...] = ()
    source_file: str | None = None
    source_story: str | None = None
    parent_id: EntryId | None = None
    confidence: float = 1.0
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What an update changes; None leaves a field as it is. In `metadata` a null removes its key."""

    content: str | None = None
    roles: tuple[Role, ...] | None = None
    tags: tuple[str, ...] | None = None
    confidence: float | None = None
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry, as it is kept. Times are ISO 8601, UTC, with microseconds and `Z`: text order is time order."""

    organisation: str
    id: EntryId
    content: str
    content_hash: str
    entry_type: EntryType
    roles: tuple[Role, ...]
    tags: tuple[str, ...]
    confidence: float
    created_at: str
    updated_at: str
    version: int = 1
    """Grows with each change that somebody asks for."""
    revision: int = 1
    """Orders writes of the index: grows with each change, and when vectors are made anew."""
    parent_id: EntryId | None = None
    source_file: str | None = None
    source_story: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def card(self) -> "Card":
        """What lists, relations and figures need of it."""
        return Card(
            id=self.id,
            content_hash=self.content_hash,
            entry_type=self.entry_type,
            roles=self.roles,
            tags=self.tags,
            confidence=self.confidence,
            created_at=self.created_at,
            updated_at=self.updated_at,
            version=self.version,
            revision=self.revision,
            parent_id=self.parent_id,
            source_story=self.source_story,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """An entry without its text: a few hundred bytes, kept beside it and written with it."""

    id: EntryId
    content_hash: str
    entry_type: EntryType
    roles: tuple[Role, ...]
    tags: tuple[str, ...]
    confidence: float
    created_at: str
    updated_at: str
    version: int
    revision: int
    parent_id: EntryId | None = None
    source_story: str | None = None
