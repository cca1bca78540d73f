"""Bytes of published files -> documents and manifest entries. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from commonplace.documents.content.document import Document, DocumentRef, reference
from commonplace.documents.content.keys import content_key
from commonplace.documents.content.manifest import Entry, Manifest
from commonplace.documents.content.normalise import Normalised, normalise
from commonplace.documents.content.paths import assign_ids
from commonplace.documents.content.reader import Published, extract_links, judge
from commonplace.documents.sync.selection import Member
from commonplace.repository.blobs import BlobSha
from commonplace.repository.link import Link
from commonplace.repository.markdown import ParsedFile


@dataclass(frozen=True, slots=True)
class Reading:
    """A published file, read."""

    path: str
    blob_sha: BlobSha
    raw: bytes
    file: ParsedFile
    fields: Normalised
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """Where the documents come from: what they say of themselves."""

    repository: str
    commit_sha: str
    synced_at: datetime
    generation: int


def read(path: str, blob_sha: BlobSha, raw: bytes) -> Reading | None:
    """The file as content, or None when its gate is shut (a changed pipeline may judge old bytes anew)."""
    match judge(raw):
        case Published(file):
            return Reading(path, blob_sha, raw, file, normalise(path, file), extract_links(file))
        case _:
            return None


@dataclass(frozen=True, slots=True)
class Naming:
    """Ids over the whole published set, and what must be read to write it."""

    refs: Mapping[str, DocumentRef]
    unread: tuple[Member, ...]
    """Members whose document could stay but whose id changed."""


def name_all(members: Sequence[Member], readings: Mapping[str, Reading]) -> Naming:
    """Ids depend on the published set alone, so one new file may rename others."""
    types: dict[str, str] = {}
    for member in members:
        if member.path in readings:
            types[member.path] = readings[member.path].fields.content_type
        elif member.entry:
            types[member.path] = member.entry.content_type
    ids = assign_ids(types)
    refs = {path: reference(types[path], document_id) for path, document_id in ids.items()}
    unread = tuple(
        member
        for member in members
        if member.path not in readings and member.entry and member.entry.ref != refs[member.path]
    )
    return Naming(refs, unread)


def compose(reading: Reading, ref: DocumentRef, source: Source, updated_at: datetime | None) -> Document:
    """The document as it will be stored."""
    fields = reading.fields
    return Document(
        id=ref.split("/", 1)[1],
        content_type=fields.content_type,
        title=fields.title,
        description=fields.description,
        path=reading.path,
        group=fields.group,
        release=fields.release,
        status=fields.status,
        tags=list(fields.tags),
        date=fields.date,
        updated_at=updated_at,
        url=fields.url,
        source_url=f"https://github.com/{source.repository}/blob/{source.commit_sha}/{quote(reading.path)}",
        commit_sha=source.commit_sha,
        synced_at=source.synced_at,
        aliases=list(fields.aliases),
        permalink=fields.permalink,
        metadata=fields.metadata,
        frontmatter=reading.file.frontmatter,
        content=reading.file.body,
        blob_sha=reading.blob_sha,
        generation=source.generation,
    )


def entry_of(document: Document, *, etag: str, raw_etag: str, size: int) -> Entry:
    """The manifest's row for a document that has been written."""
    shared = {name: getattr(document, name) for name in Entry.model_fields if name in Document.model_fields}
    return Entry(**shared, key=content_key(document.content_type, document.id), etag=etag, raw_etag=raw_etag, size=size)


def former_refs(
    before: Manifest | None, refs: Mapping[str, DocumentRef], blobs: Mapping[str, BlobSha]
) -> dict[DocumentRef, str]:
    """Names that documents answered to earlier: of files that stay, and of files that moved with the same bytes."""
    if before is None:
        return {}
    arrivals: dict[BlobSha, list[str]] = {}
    for path, blob_sha in blobs.items():
        if path not in before.by_path:
            arrivals.setdefault(blob_sha, []).append(path)

    def path_now(path: str) -> str | None:
        if path in refs:
            return path
        gone = before.by_path.get(path)
        candidates = arrivals.get(gone.blob_sha, []) if gone else []
        return candidates[0] if len(candidates) == 1 else None

    live = set(refs.values())
    past = [*before.former_refs.items(), *((entry.ref, entry.path) for entry in before.documents)]
    return {ref: now for ref, then in past if ref not in live and (now := path_now(then))}
