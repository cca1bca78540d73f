"""The plan of a run: which blobs to fetch, from tree, manifest and store, and which files are published. Pure."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from pydantic import Field

from commonplace.documents.content.document import Entry, Manifest
from commonplace.documents.content.keys import raw_key
from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.documents.content.paths import ID_RULE_VERSION, Exclusions, unstorable
from commonplace.documents.content.reader import PARSER_VERSION
from commonplace.documents.sync.report import SkippedFile
from commonplace.kernel.stored import Stored
from commonplace.repository.blobs import BlobSha
from commonplace.repository.outcomes import InvalidBlob, LostBlob, Outcome, PublishedBlob, UnpublishedBlob, Verdicts
from commonplace.repository.ports import TreeFile
from commonplace.repository.problems import Problem

DOCUMENT_VERSION = "2"  # Raise it when the stored document gains or changes a field

NEVER_FETCHED = "not fetched in this run"


class ReadPage(Stored):
    """What reading a published file has shown, beside its document."""

    problems: list[Problem] = Field(default_factory=list)
    tag_lines: dict[str, int] = Field(default_factory=dict)
    anchors: tuple[str, ...] | None = None  # Fragments that lead to a place in it


class Known(Stored):
    """What the last run learned. Only a cache: without it the next run fetches more."""

    commit_sha: str = ""
    head_etag: str | None = None
    parser: str = ""
    verdicts: list[Outcome] = Field(default_factory=list)
    """Unpublished and invalid blobs of the tree, and those that would be published elsewhere, by blob id: never a
    path."""
    pages: dict[str, ReadPage] = Field(default_factory=dict)  # By path of each published document

    def judged(self, parser: str) -> Verdicts:
        """Verdicts that this parser reached."""
        return {outcome.blob_sha: outcome for outcome in self.verdicts} if self.parser == parser else {}


@dataclass(frozen=True, slots=True)
class Holdings:
    """What is really in the store: object key -> ETag."""

    content: Mapping[str, str]
    raw: Mapping[str, str]
    attachments: Mapping[str, str]
    graphs: frozenset[str]
    staged: frozenset[BlobSha]

    @classmethod
    def nothing(cls) -> "Holdings":
        return cls({}, {}, {}, frozenset(), frozenset())

    def intact(self, entry: Entry) -> bool:
        """Return whether the document's object is the one the manifest speaks of."""
        return self.content.get(entry.key) == entry.etag

    def has_raw(self, entry: Entry) -> bool:
        """Return whether the file as it was is the one the manifest speaks of."""
        return self.raw.get(raw_key(entry.path)) == entry.raw_etag

    def agrees_with(self, manifest: Manifest) -> bool:
        """True when the store holds exactly what the manifest owns."""
        documents = manifest.documents
        return (
            self.content == {entry.key: entry.etag for entry in documents}
            and self.raw == {raw_key(entry.path): entry.raw_etag for entry in documents}
            and self.graphs == {manifest.graph_key}
            and not self.staged
            and self.attachments == {item.key: item.etag for item in manifest.attachments}
        )


def parser_version(*, everything: bool) -> str:
    """Return what verdicts on files depend on."""
    return f"{PARSER_VERSION}-everything" if everything else PARSER_VERSION


def pipeline_version(exclusions: Exclusions, logo: str | None = None, *, everything: bool = False) -> str:
    """Fingerprint of everything that decides what a file becomes; another one means every document is rewritten."""
    parts = (
        DOCUMENT_VERSION,
        parser_version(everything=everything),
        ID_RULE_VERSION,
        ONTOLOGY.fingerprint,
        exclusions.fingerprint,
        logo or "",
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def needed_blobs(
    content: Iterable[TreeFile],
    verdicts: Verdicts,
    manifest: Manifest | None,
    holdings: Holdings,
    misplaced: Iterable[TreeFile] = (),
) -> list[BlobSha]:
    """Blobs that nobody has judged yet or whose bytes are nowhere in the store, in tree order.

    A file that cannot be read, or may turn out so, stands for its last good version: that must be at hand, too. Of a
    `misplaced` one the verdict is enough.
    """
    entries = manifest.by_path if manifest else {}
    at_hand = holdings.staged | {entry.blob_sha for entry in entries.values() if holdings.has_raw(entry)}
    wanted: list[BlobSha] = []
    for file in content:
        verdict = verdicts.get(file.blob_sha)
        if isinstance(verdict, UnpublishedBlob):
            continue
        if not isinstance(verdict, InvalidBlob):
            wanted.append(file.blob_sha)
        if file.path in entries and file.blob_sha not in at_hand:
            wanted.append(entries[file.path].blob_sha)
    wanted += [file.blob_sha for file in misplaced if file.blob_sha not in verdicts]
    return list(dict.fromkeys(blob_sha for blob_sha in wanted if blob_sha not in at_hand))


@dataclass(frozen=True, slots=True)
class Member:
    """A file of the next publication. `entry` is set when its document can stay as it is."""

    path: str
    blob_sha: BlobSha
    entry: Entry | None


@dataclass(slots=True)
class Selection:
    members: list[Member] = field(default_factory=list)
    skipped: list[SkippedFile] = field(default_factory=list)
    pending: int = 0


def select(
    content: Iterable[TreeFile], verdicts: Verdicts, manifest: Manifest | None, holdings: Holdings, *, rewrite: bool
) -> Selection:
    """Return the next published set.

    A file that cannot be read keeps its last good version, one that could not be fetched too (and is pending).
    `rewrite` lets no document stay as it is (new pipeline, backfill).
    """
    entries: Mapping[str, Entry] = manifest.by_path if manifest else {}
    selection = Selection()

    def keep(path: str, blob_sha: BlobSha) -> None:
        entry = entries.get(path)
        stays = entry and entry.blob_sha == blob_sha and holdings.intact(entry) and holdings.has_raw(entry)
        selection.members.append(Member(path, blob_sha, entry if stays and not rewrite else None))

    def skip(path: str, reason: str, problem: Problem | None, kept: Entry | None = None) -> None:
        skipped = SkippedFile(path=path, reason=reason, problem=problem, kept_last_good=kept is not None)
        selection.skipped.append(skipped)

    available = set(holdings.staged) | {entry.blob_sha for entry in entries.values() if holdings.has_raw(entry)}
    for file in content:
        last_good = entries.get(file.path)
        verdict = verdicts.get(file.blob_sha)
        if verdict is None and file.blob_sha in available:
            verdict = PublishedBlob(blob_sha=file.blob_sha)
        match verdict:
            case PublishedBlob() if problem := unstorable(file.path):
                skip(file.path, problem.message, problem)
            case PublishedBlob():
                keep(file.path, file.blob_sha)
            case UnpublishedBlob(reason=reason, problem=problem):
                skip(file.path, reason, problem)
            case InvalidBlob(problem=problem):
                skip(file.path, problem.message, problem, last_good)
                if last_good:
                    keep(file.path, last_good.blob_sha)
            case LostBlob() | None:
                selection.pending += 1
                skip(file.path, verdict.reason if verdict else NEVER_FETCHED, None, last_good)
                if last_good:
                    keep(file.path, last_good.blob_sha)
            case never:
                assert_never(never)
    return selection
