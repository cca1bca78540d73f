"""Store and index at the end of a replay, object by object."""

import json
from collections.abc import Iterator

from bench.acceptance.machine import Machine
from bench.acceptance.statements import Statement, all_of, equal, none, same
from bench.acceptance.truth import Truth, blob, servable, truth_at
from commonplace.documents.content.document import Document, Manifest
from commonplace.documents.content.keys import ATTACHMENTS_PREFIX, CONTENT_PREFIX, RAW_PREFIX
from commonplace.documents.content.paths import DEFAULT_EXCLUDES
from commonplace.search.chunks import chunk_body

NO_BLOB = "0" * 40


def settled(machine: Machine) -> Iterator[Statement]:
    """Call it when every run has ended and the index has been reconciled."""
    truth = truth_at(machine.branch.git_dir, machine.branch.head, DEFAULT_EXCLUDES)
    manifest = machine.manifest()
    if manifest is None:
        yield equal("there is a manifest", True, False)
        return
    keys = {
        prefix: [item.key for item in machine.objects.list(prefix)]
        for prefix in (CONTENT_PREFIX, RAW_PREFIX, ATTACHMENTS_PREFIX)
    }
    yield equal("the commit that is published is the head", machine.branch.head[:12], manifest.commit_sha[:12])
    yield same(
        "document objects, none without an owner", [item.key for item in manifest.documents], keys[CONTENT_PREFIX]
    )
    raw_keys = [f"{RAW_PREFIX}{item.path}" for item in manifest.documents]
    yield same("raw copies, none without an owner", raw_keys, keys[RAW_PREFIX])
    yield same(
        "attachments, none without an owner", [item.key for item in manifest.attachments], keys[ATTACHMENTS_PREFIX]
    )
    yield from _whole(machine, manifest, truth)
    yield from _indexed(machine, manifest)
    yield from machine.index.statements(truth, {str(entry.ref): entry.generation for entry in manifest.documents})


def _whole(machine: Machine, manifest: Manifest, truth: Truth) -> Iterator[Statement]:
    entries = [entry for entry in manifest.documents if entry.path in truth.published]
    stored = {entry.path: machine.objects.get(entry.key) for entry in entries}
    bodies = {path: json.loads(found.body)["content"] if found else None for path, found in stored.items()}
    yield all_of(
        "bodies, every byte",
        len(truth.published),
        [p for p, page in truth.published.items() if bodies.get(p) != page.body],
    )
    raw = {entry.path: machine.objects.get(f"{RAW_PREFIX}{entry.path}") for entry in entries}
    wrong = [path for path in truth.published if (found := raw.get(path)) is None or found.body != truth.raw[path]]
    yield all_of("raw copies, every byte", len(truth.published), wrong)
    bad = []
    for item in manifest.attachments:
        found = machine.objects.get(item.key)
        body = blob(machine.branch.git_dir, truth.tree.blobs.get(item.path, NO_BLOB))
        if found is None or found.body != body:
            bad.append(item.path)
    yield all_of("attachments, every byte", len(manifest.attachments), bad)
    wanted = servable(machine.branch.git_dir, truth)
    missing = sorted(wanted.keys() - {item.path for item in manifest.attachments})
    yield none("embedded or linked files that are not stored", missing)


def _indexed(machine: Machine, manifest: Manifest) -> Iterator[Statement]:
    versions = {str(ref): version for ref, version in machine.engine.versions()}
    yield same("documents in the index", [str(entry.ref) for entry in manifest.documents], versions)
    older = [entry.path for entry in manifest.documents if versions.get(str(entry.ref), -1) < entry.generation]
    yield all_of("index versions that are not older than the store's", len(manifest.documents), older)
    texts = machine.index.chunk_texts()
    other = []
    for entry in manifest.documents:
        found = machine.objects.get(entry.key)
        document = Document.model_validate_json(found.body) if found else None
        wanted = [chunk.text for chunk in chunk_body(document.content)] or [""] if document else None
        if texts.get(str(entry.ref)) != wanted:
            other.append(entry.path)
    yield all_of("documents whose text in the index is the store's", len(manifest.documents), other)
