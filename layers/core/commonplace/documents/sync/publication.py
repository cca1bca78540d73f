"""Publication of judged files: documents, manifest entries, attachments, graph and manifest, last the deletions.

Reading and composing are pure; `Publication` writes.
"""

import dataclasses
import hashlib
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from io import BytesIO
from mimetypes import MimeTypes
from pathlib import PurePosixPath
from types import MappingProxyType
from urllib.parse import quote

from commonplace.documents.content.document import (
    LFS_POINTER_TYPE,
    MANIFEST_KEY,
    Attachment,
    Document,
    DocumentRef,
    Entry,
    Manifest,
    reference,
)
from commonplace.documents.content.graph import Graph, build_graph
from commonplace.documents.content.keys import ATTACHMENTS_PREFIX, METADATA_PREFIX, content_key, raw_key
from commonplace.documents.content.normalise import Normalised, normalise
from commonplace.documents.content.paths import assign_ids, assign_names, is_servable
from commonplace.documents.content.reader import Published, judge
from commonplace.documents.sync.keys import STAGED_PREFIX, staged_key
from commonplace.documents.sync.plan import Holdings, Known, Member, ReadPage, Selection
from commonplace.documents.sync.report import SkippedFile
from commonplace.kernel.markdown_budget import OutOfTime, time_limit
from commonplace.kernel.objects import ObjectStore, PreconditionFailed
from commonplace.kernel.parallel import Parallel
from commonplace.repository.blobs import BlobSha, git_blob_sha, is_lfs_pointer
from commonplace.repository.link import Link
from commonplace.repository.markdown import ParsedFile
from commonplace.repository.plan import Plan
from commonplace.repository.ports import BlobNotFound, LeaseHeld, Repository, RepositoryRefused, TreeFile
from commonplace.repository.problems import Problem

_OF_ONE_FILE = (ValueError, TypeError, LookupError, RecursionError)
"""Errors that have their cause in one file, NotStorable among them; those of the store and of GitHub end the run."""

PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif")
"""Of fixed dimensions, which stand in the first bytes of the file."""

FILE_SECONDS = 60  # One file may be read for so long: the last resort, for the parser's budget ends earlier
READING_SECONDS = 300
"""All files of a run, in half of the function's time. What is not read by then is pending, and the next run goes on."""

logger = logging.getLogger(__name__)

_TYPES = MimeTypes()  # the library's own table: the machine's would make answers differ between machines
for _suffix, _type in (
    (".webp", "image/webp"),
    (".avif", "image/avif"),
    (".md", "text/markdown"),
    (".base", "text/yaml"),
):
    _TYPES.add_type(_type, _suffix)

GRAPH_PREFIX = f"{METADATA_PREFIX}graph/"


@dataclass(frozen=True, slots=True)
class Wanted:
    """An attachment of the next publication; `before` is set when its object can stay."""

    name: str
    path: str
    blob_sha: BlobSha
    size: int
    before: Attachment | None

    @property
    def key(self) -> str:
        return f"{ATTACHMENTS_PREFIX}{self.blob_sha}"


def wanted(
    linked: Iterable[str], files: Mapping[str, TreeFile], before: Iterable[Attachment], held: Mapping[str, str]
) -> list[Wanted]:
    """Return the attachments to serve, by path. `held` is the store's object key -> ETag."""
    paths = sorted(path for path in linked if path in files and is_servable(path, files[path].size))
    names = assign_names(paths)
    owned = {item.path: item for item in before}

    def kept(path: str) -> Attachment | None:
        item = owned.get(path)
        if item is None or item.blob_sha != files[path].blob_sha or held.get(item.key) != item.etag:
            return None
        return item.model_copy(update={"name": names[path]})

    return [Wanted(names[path], path, files[path].blob_sha, files[path].size, kept(path)) for path in paths]


def media_type(path: str) -> str:
    """By the file name's suffix; what is unknown is bytes."""
    return _TYPES.guess_type(PurePosixPath(path).name)[0] or "application/octet-stream"


def dimensions(kind: str, body: bytes) -> tuple[int, int] | tuple[None, None]:
    """Width and height of a picture in pixels, as it is shown, if its file says so."""
    if kind not in PICTURES:
        return None, None
    import imagesize

    try:
        width, height = imagesize.get(BytesIO(body))
    except Exception as error:  # noqa: BLE001 - a picture that cannot be read is served all the same
        logger.info("the size of a picture cannot be read", extra={"error": type(error).__name__})
        return None, None
    return (int(width), int(height)) if width > 0 and height > 0 else (None, None)


@dataclass(frozen=True, slots=True)
class Reading:
    """A published file, read."""

    path: str
    blob_sha: BlobSha
    raw: bytes
    file: ParsedFile
    fields: Normalised


@dataclass(frozen=True, slots=True)
class Source:
    """The origin of documents: repository and commit, with time and generation of the sync."""

    repository: str
    web_url: str | None  # Where people see the repository
    commit_sha: str
    synced_at: datetime
    generation: int


def read(path: str, blob_sha: BlobSha, raw: bytes, *, everything: bool = False) -> Reading | None:
    """Return the file as content, or None when its gate is shut (a changed pipeline may judge old bytes anew)."""
    match judge(raw, everything=everything):
        case Published(file):
            return Reading(path, blob_sha, raw, file, normalise(path, file))
        case _:
            return None


@dataclass(frozen=True, slots=True)
class Naming:
    """Ids over the whole published set, and what must be read to write it."""

    refs: Mapping[str, DocumentRef]
    unread: tuple[Member, ...]  # Members whose document could stay but whose id changed


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
    """Return the document as it will be stored."""
    told_by_file = {one.name: getattr(reading.fields, one.name) for one in dataclasses.fields(reading.fields)}
    return Document(
        **{name: value for name, value in told_by_file.items() if name in Document.model_fields},
        id=ref.split("/", 1)[1],
        path=reading.path,
        updated_at=updated_at,
        source_url=f"{source.web_url}/blob/{source.commit_sha}/{quote(reading.path)}" if source.web_url else None,
        commit_sha=source.commit_sha,
        synced_at=source.synced_at,
        frontmatter=reading.file.frontmatter,
        content=reading.file.body,
        blob_sha=reading.blob_sha,
        generation=source.generation,
    )


def entry_of(document: Document, *, etag: str, raw_etag: str, size: int) -> Entry:
    """Return the manifest's row for a document that has been written."""
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


class Unread(StrEnum):
    """Why a file that was selected cannot be published."""

    UNREAD = "it could not be read in the time there is"

    LOST = "its bytes are not at hand any more"
    SHUT = "today's rules do not publish it"


@dataclass(frozen=True, slots=True)
class Before:
    """The state that the last publication left in the store."""

    manifest: Manifest | None
    manifest_etag: str | None
    graph: Graph | None
    known: Known


@dataclass(slots=True)
class Publication:
    """The result of a publication, for the manifest, the report and the next run."""

    entries: list[Entry] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    graph: Graph = field(default_factory=Graph)
    stored: list[DocumentRef] = field(default_factory=list)
    removed: list[DocumentRef] = field(default_factory=list)
    skipped: list[SkippedFile] = field(default_factory=list)
    read: dict[str, ReadPage] = field(default_factory=dict)
    """Path of each published document -> what reading its file has shown."""
    links: Mapping[str, Sequence[Link]] = field(default_factory=dict)
    pending: int = 0


class Publisher:
    """Writes one publication. Every write may be the last one before a crash: the next run heals what is left."""

    def __init__(
        self,
        objects: ObjectStore,
        repository: Repository,
        *,
        plan: Plan,
        before: Before,
        holdings: Holdings,
        source: Source,
        parallel: Parallel,
        logo: str | None = None,
        everything: bool = False,
        fetched: Mapping[BlobSha, bytes] = MappingProxyType({}),
    ) -> None:
        """`fetched` is what the run has at hand of the files."""
        self.objects = objects
        self.repository = repository
        self.plan = plan
        self.before = before
        self.holdings = holdings
        self.source = source
        self.parallel = parallel
        self.logo = logo
        self.everything = everything
        self.fetched = fetched
        self._read_until = time.monotonic() + READING_SECONDS
        self.files = {file.path: file for file in plan.files}
        self._raw_of = {
            entry.blob_sha: raw_key(entry.path)
            for entry in (before.manifest.documents if before.manifest else ())
            if holdings.has_raw(entry)
        }

    def prepare(self, selection: Selection) -> "Prepared":
        """Reads what must be written and names everything. Asks GitHub for dates, writes nothing."""
        publication = Publication(skipped=list(selection.skipped), pending=selection.pending)
        members = {member.path: member for member in selection.members}
        readings: dict[str, Reading] = {}
        unread = [member for member in selection.members if member.entry is None]
        while True:
            for member, reading in zip(unread, self.parallel.map(self._read, unread), strict=True):
                if isinstance(reading, Reading):
                    readings[member.path] = reading
                    continue
                members.pop(member.path)
                # The document of a file whose bytes are lost stays, unless it would have to be written anew.
                earlier = self._earlier(member.path) if reading is not Unread.SHUT and not member.entry else None
                kept = earlier is not None and self.holdings.intact(earlier)
                if kept:
                    members[member.path] = Member(member.path, member.blob_sha, earlier)
                publication.pending += reading is not Unread.SHUT
                skipped = SkippedFile(path=member.path, reason=reading.value, kept_last_good=kept)
                publication.skipped.append(skipped)
            naming = name_all(list(members.values()), readings)
            if not naming.unread:
                break
            unread = list(naming.unread)
        changed = []
        for path, read_now in readings.items():
            earlier = self._earlier(path)
            if earlier is None or earlier.blob_sha != read_now.blob_sha or earlier.updated_at is None:
                changed.append(path)
        dates = self.repository.last_changed(self.plan.commit_sha, sorted(changed)) if changed else {}
        return Prepared(publication, members, readings, naming, dates)

    def write(self, prepared: "Prepared") -> Publication:
        """Puts files, documents, attachments and graph; readers see none of it before the manifest names it."""
        publication, readings = prepared.publication, prepared.readings
        written: list[Entry] = []
        kept = {path: member.entry for path, member in prepared.members.items() if member.entry}
        paths = sorted(readings)
        for path, stored in zip(paths, self.parallel.map(lambda path: self._store(prepared, path), paths), strict=True):
            if stored:
                written.append(stored)
                continue
            before = self._earlier(path)
            if before and self.holdings.intact(before) and before.ref == prepared.naming.refs[path]:
                kept[path] = before
            problem = Problem("not-stored", "the file could not be stored", "the next run tries again")
            publication.skipped.append(
                SkippedFile(path=path, reason=problem.message, problem=problem, kept_last_good=path in kept)
            )
            publication.pending += 1
        fresh = {entry.path: entry for entry in written}
        publication.entries = sorted((kept | fresh).values(), key=lambda entry: entry.path)
        publication.stored = [entry.ref for entry in written]
        live = {entry.ref for entry in publication.entries}
        earlier = self.before.manifest.documents if self.before.manifest else []
        publication.removed = [entry.ref for entry in earlier if entry.ref not in live]
        publication.read = {
            path: ReadPage(
                problems=list(readings[path].fields.problems),
                tag_lines=readings[path].fields.tag_lines,
                anchors=readings[path].fields.anchors,
            )
            if path in readings
            else self.before.known.pages.get(path, ReadPage())
            for path in prepared.members
        }
        graph = self.before.graph
        written_before = graph.authored if graph else {}
        publication.links = {
            path: prepared.readings[path].fields.links
            if path in prepared.readings
            else [link.link() for link in written_before.get(path, ())]
            for path in prepared.members
        }
        publication.graph, linked = build_graph(publication.entries, publication.links, self.plan.others)
        attached_before = self.before.manifest.attachments if self.before.manifest else []
        items = wanted(
            {self.logo: (), **linked} if self.logo else linked, self.files, attached_before, self.holdings.attachments
        )
        for item, result in zip(items, self.parallel.map(self._store_attachment, items), strict=True):
            if result:
                publication.attachments.append(result)
            else:
                publication.pending += 1
                publication.skipped.append(SkippedFile(path=item.path, reason="the attachment could not be fetched"))
        return publication

    def switch(self, publication: Publication, pipeline: str, refs: Mapping[str, DocumentRef]) -> None:
        """Replaces the manifest under `If-Match`, then removes what it does not own."""
        graph = publication.graph.to_json()
        graph_key = f"{GRAPH_PREFIX}{hashlib.sha256(graph).hexdigest()[:32]}.json"
        if graph_key not in self.holdings.graphs:
            self.objects.put(graph_key, graph)
        blobs = {entry.path: entry.blob_sha for entry in publication.entries}
        manifest = Manifest(
            pipeline=pipeline,
            repository=self.source.repository,
            branch=self.repository.branch,
            commit_sha=self.source.commit_sha,
            generation=self.source.generation,
            synced_at=self.source.synced_at,
            documents=publication.entries,
            attachments=publication.attachments,
            former_refs=former_refs(self.before.manifest, refs, blobs),
            graph_key=graph_key,
            everything=self.everything,
            working_copy=self.plan.working_copy,
            pending=publication.pending,
        )
        self._put(MANIFEST_KEY, manifest.to_json(), self.before.manifest_etag)
        # Every object that the manifest does not own goes, and so do the staged bytes.
        owned = {entry.key for entry in manifest.documents} | {raw_key(entry.path) for entry in manifest.documents}
        owned |= {item.key for item in manifest.attachments} | {manifest.graph_key or ""}
        held = {*self.holdings.content, *self.holdings.raw, *self.holdings.attachments, *self.holdings.graphs}
        staged = {f"{STAGED_PREFIX}{blob_sha}" for blob_sha in self.holdings.staged}
        if stale := sorted((held - owned) | staged):
            self.objects.delete(stale)

    def _read(self, member: Member) -> Reading | Unread:
        raw = self._bytes(member.blob_sha)
        if raw is None:
            return Unread.LOST
        if time.monotonic() > self._read_until:
            return Unread.UNREAD
        try:
            with time_limit(FILE_SECONDS):
                return read(member.path, member.blob_sha, raw, everything=self.everything) or Unread.SHUT
        except (OutOfTime, *_OF_ONE_FILE) as error:
            logger.warning("a file could not be read", extra={"error": type(error).__name__})
            return Unread.UNREAD

    def _bytes(self, blob_sha: BlobSha) -> bytes | None:
        """At hand, else from the stage or the raw copy of a file with the same bytes, checked against the id."""
        if (raw := self.fetched.get(blob_sha)) is not None:
            return raw
        keys = [staged_key(blob_sha)] if blob_sha in self.holdings.staged else []
        if blob_sha in self._raw_of:
            keys.append(self._raw_of[blob_sha])
        for key in keys:
            found = self.objects.get(key)
            if found and git_blob_sha(found.body) == blob_sha:
                return found.body
        return None

    def _earlier(self, path: str) -> Entry | None:
        return self.before.manifest.by_path.get(path) if self.before.manifest else None

    def _store(self, prepared: "Prepared", path: str) -> Entry | None:
        """Return the entry of the document that was written; None for one that cannot be."""
        try:
            reading = prepared.readings[path]
            ref = prepared.naming.refs[path]
            earlier = self._earlier(path)
            same = earlier and earlier.blob_sha == reading.blob_sha
            updated_at = prepared.dates.get(path, earlier.updated_at if earlier and same else None)
            document = compose(reading, ref, self.source, updated_at)
            key = content_key(document.content_type, document.id)
            raw_etag = self.objects.put(raw_key(path), reading.raw, media_type="text/markdown; charset=utf-8")
            etag = self._put(key, document.to_json(), self.holdings.content.get(key))
            return entry_of(document, etag=etag, raw_etag=raw_etag, size=len(reading.raw))
        except _OF_ONE_FILE as error:
            logger.warning("a file could not be stored", extra={"error": type(error).__name__})
            return None
        except Exception as error:
            error.add_note(path)
            raise

    def _put(self, key: str, body: bytes, expected_etag: str | None) -> str:
        """Fenced: an overtaken run stops here instead of undoing a newer one."""
        try:
            return self.objects.put(key, body, if_match=expected_etag, if_absent=expected_etag is None)
        except PreconditionFailed as error:
            raise LeaseHeld("another run is publishing") from error

    def _store_attachment(self, item: Wanted) -> Attachment | None:
        if item.before:
            return item.before
        body = self._bytes(item.blob_sha)
        if body is None:
            try:
                body = self.repository.blob(item.blob_sha)
            except (BlobNotFound, RepositoryRefused):
                return None
        kind = LFS_POINTER_TYPE if is_lfs_pointer(body) else media_type(item.path)
        etag = self.objects.put(item.key, body, media_type=kind)
        width, height = dimensions(kind, body)
        same = {name: getattr(item, name) for name in ("name", "path", "key", "blob_sha")}
        return Attachment(**same, etag=etag, media_type=kind, size=len(body), width=width, height=height)


@dataclass(frozen=True, slots=True)
class Prepared:
    """Everything known before the first write."""

    publication: Publication
    members: Mapping[str, Member]
    readings: Mapping[str, Reading]
    naming: Naming
    dates: Mapping[str, datetime]
