"""Entries that are to be, as `kb_bulk_import` takes them: what parsers make, and what a story's learnings become."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from commonplace.kernel.errors import CommonplaceError
from commonplace.memory.entries import MAX_TAG_CHARACTERS, MAX_TAGS, EntryType, Role, content_hash
from commonplace.memory.validation import content_of

ALSO_IN = "also_in"
"""Key of an entry's metadata: other stories that say the very same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """One entry of an import. `ref` names it there, and `parent_ref` names its parent."""

    content: str
    entry_type: EntryType
    roles: tuple[Role, ...]
    tags: tuple[str, ...] = ()
    source_file: str | None = None
    source_story: str | None = None
    ref: str | None = None
    parent_ref: str | None = None
    parent_id: str | None = None
    confidence: float = 1.0
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def hash(self) -> str:
        """Of the content as the memory will keep it."""
        try:
            return content_hash(content_of(self.content))
        except CommonplaceError:
            return content_hash(self.content)

    def as_import(self) -> dict[str, Any]:
        """The fields of `kb_bulk_import`, those left out that say nothing."""
        told: dict[str, Any] = {
            "ref": self.ref,
            "content": self.content,
            "entry_type": self.entry_type,
            "roles": list(self.roles),
            "tags": list(self.tags),
            "confidence": self.confidence,
            "source_file": self.source_file,
            "source_story": self.source_story,
            "parent_id": self.parent_id,
            "parent_ref": self.parent_ref,
            "metadata": dict(self.metadata),
        }
        return {name: value for name, value in told.items() if value not in (None, {}) or name in ("roles", "tags")}


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a parser has made of a file, and what it wants to say about the rest."""

    seeds: tuple[Seed, ...]
    remarks: tuple[str, ...] = ()


def tag(text: str) -> str:
    """A tag of this text: lower case, words joined by `-`, at most as long as tags may be. Empty if no word is left."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("'", "").replace("’", "")
    words = re.sub(r"[^\w.@/+#]+|_+", "-", plain).strip("-./@")
    return words[:MAX_TAG_CHARACTERS].strip("-./@")


def tags(texts: Iterable[str]) -> tuple[str, ...]:
    """Tags of these texts, each once and in order, at most as many as an entry may have."""
    found = dict.fromkeys(one for one in map(tag, texts) if one)
    return tuple(found)[:MAX_TAGS]


def merged(seeds: Sequence[Seed]) -> tuple[Seed, ...]:
    """Without repetitions: two entries of an organisation never have the same content.

    The first stands for the others, takes their tags and roles, and names their stories.
    """
    kept: dict[str, Seed] = {}
    for seed in seeds:
        known = kept.get(seed.hash)
        kept[seed.hash] = seed if known is None else _joined(known, seed)
    return tuple(kept.values())


def combined(parts: Sequence[Parsed]) -> Parsed:
    """The seeds of several files as those of one: names are told apart, repetitions joined."""
    taken: set[str] = set()
    found: list[Seed] = []
    for part in parts:
        names: dict[str, str] = {}
        for ref in (seed.ref for seed in part.seeds if seed.ref):
            number = 1
            while (name := ref if number == 1 else f"{ref}#{number}") in taken:
                number += 1
            taken.add(name)
            names[ref] = name
        for seed in part.seeds:
            above = names.get(seed.parent_ref or "")
            found.append(replace(seed, ref=names.get(seed.ref or ""), parent_ref=above))
    return Parsed(merged(found), tuple(remark for part in parts for remark in part.remarks))


def _joined(first: Seed, other: Seed) -> Seed:
    stories = list(first.metadata.get(ALSO_IN, ()))
    if other.source_story and other.source_story != first.source_story and other.source_story not in stories:
        stories.append(other.source_story)
    roles: tuple[Role, ...] = tuple(dict.fromkeys((*first.roles, *other.roles)))
    return replace(
        first,
        tags=tags((*first.tags, *other.tags)),
        roles=("all",) if "all" in roles else roles,
        metadata=dict(first.metadata) | ({ALSO_IN: stories} if stories else {}),
    )
