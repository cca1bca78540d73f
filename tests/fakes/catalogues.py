"""Catalogues for tests, and their publication into an object store: the object first, then the manifest."""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from commonplace.kernel.objects import ObjectStore
from commonplace.reference.library import catalogue_key, manifest_key
from commonplace.reference.model import Catalogue, Entry, Manifest, Placed

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def entry(id: str, **told: Any) -> Entry:
    """A guide, unless it is told to be something else."""
    facts: dict[str, Any] = {
        "id": id,
        "type": "guide",
        "title": id.replace("-", " ").capitalize(),
        "category": "general",
        "summary": f"What there is to know of {id}.",
        "last_updated": "2026-01-01T00:00:00Z",
    }
    return Entry(**(facts | told))


def catalogue(name: str, *entries: Entry | Placed, generation: int = 1, **told: Any) -> Catalogue:
    """Entries that are not placed were changed by this very publication."""
    placed = [
        one if isinstance(one, Placed) else Placed(entry=one, path=f"{name}/{one.id}.md", generation=generation)
        for one in entries
    ]
    facts: dict[str, Any] = {
        "name": name,
        "title": name.capitalize(),
        "repository": "example/product",
        "branch": "main",
        "commit_sha": f"{generation:040x}",
        "generation": generation,
        "synced_at": NOON,
        "entries": sorted(placed, key=lambda each: each.entry.id),
    }
    return Catalogue(**(facts | told))


def manifest(made: Catalogue, key: str, *, files: Mapping[str, str] | None = None) -> Manifest:
    return Manifest(
        name=made.name,
        pipeline="1",
        repository=made.repository,
        branch=made.branch,
        folder="",
        commit_sha=made.commit_sha,
        generation=made.generation,
        synced_at=made.synced_at,
        files=dict(files or {}),
        catalogue_key=key,
        versions={placed.entry.id: placed.generation for placed in made.entries},
    )


def publish(store: ObjectStore, made: Catalogue) -> str:
    """The key of the catalogue's object. The one before stays where it is."""
    body = made.model_dump_json().encode()
    key = catalogue_key(made.name, hashlib.sha256(body).hexdigest())
    store.put(key, body)
    store.put(manifest_key(made.name), manifest(made, key).model_dump_json().encode())
    return key
