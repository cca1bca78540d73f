"""Models of the answers about documents. Those of whole documents and of the last sync describe what is stored."""

import dataclasses
import inspect
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self
from urllib.parse import quote

from pydantic import BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from commonplace.documents.addresses import DocumentAddresses, Named
from commonplace.documents.content import document
from commonplace.repository.link import LinkKind
from commonplace.search import model as search
from commonplace.search.model import Fit
from commonplace.web.faces import Face, derived, face
from commonplace.web.representations import API
from commonplace.web.rest.models import Answer

SOURCE_URL = "The file on GitHub, at the commit it was read at; null where it came from no repository there."

EVERYTHING = "True on a laptop that also shows files that say nothing about publishing; never where it is deployed."


def entry_url(entry: document.Entry) -> str:
    return f"{API}/entries/{quote(entry.content_type)}/{quote(entry.id)}"


class Addressed(Answer):
    """What is said of a document: where people read it, beside what is stored."""

    document_url: str = Field(
        description="Where people read it, and where citations lead: `documentUrl` of the deployment, or its own site."
    )

    @classmethod
    def at(cls, addresses: DocumentAddresses, stored: Named) -> Self:
        return cls.model_validate(vars(stored) | {"document_url": addresses.of(stored)})


class Pointer(Addressed):
    """A document, shortly."""

    id: str
    content_type: str
    title: str
    description: str | None
    path: str


class EntrySummary(Addressed):
    """A document without its body."""

    id: str = Field(description="Unique within its type, and lasting: a document that moves keeps answering to it.")
    content_type: str
    title: str
    description: str | None
    path: str = Field(description="The source file in the repository.")
    group: str | None
    release: str | None
    status: str | None
    tags: list[str]
    date: str | None = Field(description="The date its author gave it, or null. Never guessed.")
    updated_at: datetime | None = Field(description="When its file last changed, as Git tells it.")
    author: list[str] = Field(description="Names.")
    aliases: list[str] = Field(description="Other names of the same thing.")
    link_type: str | None = Field(description="Of a link: what kind of thing it leads to, such as `study` or `book`.")
    banner: str | None = Field(description="The image above it, as its author named it.")
    banner_url: str | None = Field(description="Where to fetch that image; null where there is none that is served.")
    url: str | None = Field(description="Where the described thing lives, if the document is about one.")
    source_url: str | None = Field(description=SOURCE_URL)
    commit_sha: str
    synced_at: datetime


class Entry(EntrySummary):
    """A document. `content` is Markdown as authored (GFM, callouts, raw HTML): sanitise what you render from it."""

    permalink: str | None
    metadata: dict[str, Any] = Field(description="The frontmatter, normalised: names and shapes of the ontology.")
    frontmatter: dict[str, Any] = Field(description="The frontmatter as authored.")
    content: str = Field(description="The body exactly as in the file, line endings included. Not sanitised.")
    blob_sha: str = Field(description="Git's id of the file.")
    generation: int = Field(description="The publication that wrote this document.")


class Heading(Answer):
    level: int = Field(description="From 2: a page's own title is level 1.")
    id: str = Field(description="The fragment that leads to it, as GitHub makes it.")
    text: str


class RenderedEntry(Answer):
    """A document with `html`, `headings` and `truncated` in place of `content`: with `format=html`."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [
                {
                    "documentUrl": "https://knowledge.example.org/d/pattern/rotating-stewardship",
                    "id": "rotating-stewardship",
                    "contentType": "pattern",
                    "title": "Rotating stewardship",
                    "html": '<p>Every season the circle asks who carries what.</p>\n<h2 id="why">Why</h2>\n',
                    "headings": [{"level": 2, "id": "why", "text": "Why"}],
                    "truncated": False,
                }
            ]
        },
    )

    id: str
    content_type: str
    title: str
    document_url: str
    html: str = Field(
        description="The body as sanitised HTML without its title: links and embeds lead where they lead on the site."
    )
    headings: list[Heading] = Field(description="Its table of contents.")
    truncated: bool = Field(description="True when the body is longer than 400,000 characters: the rest is missing.")


class ListedEntry(EntrySummary):
    """A document of a list: a summary, or what `fields` names of it."""

    model_config = ConfigDict(json_schema_extra=lambda schema: schema.pop("required", None))

    content: str | None = Field(
        None, description="With `include=body`: the body exactly as in the file. Null when it has just gone."
    )


HINTS = "Where a value of a filter is one that no document has: a sentence on each, with the nearest that some have."


class EntryList(Answer):
    entries: list[ListedEntry]
    total: int = Field(description="Documents that match, on all pages.")
    limit: int
    offset: int
    hints: list[str] | None = Field(None, description=HINTS)


class BrokenLink(Answer):
    target: str = Field(description="As authored.")
    line: int | None = Field(description="Line of the source file.")
    suggestion: str | None = Field(description="`contentType/id` of a published document that may be meant.")


class WrittenLink(Answer):
    """One link of a document, and where it leads."""

    written: str = Field(description="As its author wrote it: the address in `[…](…)`, or the whole of `[[…]]`.")
    kind: LinkKind
    text: str = Field(description="What it shows; of an embedded picture its size, if it has one.")
    line: int = Field(description="Line of the source file.")
    field: str | None = Field(description="Of the frontmatter, if it stands there.")
    ref: str | None = Field(description="`contentType/id` of the document it leads to.")
    attachment: str | None = Field(description="Name of the file it leads to.")
    url: str | None = Field(description="Where people find what it leads to; null when that is nothing published.")


class EntryLinks(Answer):
    ref: str = Field(description="`contentType/id`.")
    links: list[WrittenLink] = Field(description="Every link inside the repository, in the order of the file.")
    out: list[Pointer] = Field(description="Documents it links to.")
    back: list[Pointer] = Field(description="Documents that link to it.")
    broken: list[BrokenLink] = Field(description="Links inside the repository that lead to nothing published.")
    truncated: bool


class GraphNode(Addressed):
    ref: str
    id: str
    content_type: str
    title: str
    path: str
    tags: list[str]


class GraphLink(Answer):
    source: str = Field(description="`ref` of the document that links.")
    target: str = Field(description="`ref` of the document linked to.")


class GraphTotal(Answer):
    nodes: int
    links: int


class Graph(Answer):
    nodes: list[GraphNode]
    links: list[GraphLink]
    total: GraphTotal
    truncated: bool = Field(description="True when cut to stay under 4 MB; ask `around` a document then.")


class Group(Answer):
    id: str
    title: str
    description: str | None
    status: str | None
    count: int = Field(description="Documents of this group.")
    page: Pointer | None = Field(description="The group's own document, or the index page of its folder.")


class GroupList(Answer):
    groups: list[Group]
    total: int
    limit: int
    offset: int


class Release(Answer):
    id: str
    title: str
    description: str | None
    count: int = Field(description="Documents of this release.")
    page: Pointer | None = Field(description="The document that the release is named after.")


class ReleaseList(Answer):
    releases: list[Release]
    total: int
    limit: int
    offset: int


class Tag(Answer):
    tag: str
    count: int = Field(description="Documents with this tag.")
    entry: Pointer | None = Field(description="The lexicon document that defines it.")


class TagList(Answer):
    tags: list[Tag]
    total: int
    limit: int
    offset: int


class ManifestDocument(Answer):
    ref: str
    id: str
    content_type: str
    path: str
    key: str = Field(description="Key of the document in the canonical store.")
    etag: str = Field(description="Changes when the document does; also the `ETag` of its address.")
    blob_sha: str
    updated_at: datetime | None
    url: str = Field(description="Where to fetch it.")
    document_url: str = Field(description="Where people read it.")


class ManifestAttachment(Answer):
    name: str
    path: str
    media_type: str
    size: int
    width: int | None = Field(description="Pixels, of a picture whose file says so.")
    height: int | None
    blob_sha: str
    url: str = Field(description="Where to fetch it; names this very version, so it may be kept for ever.")


class Manifest(Answer):
    """Everything published at one commit."""

    schema_version: int
    repository: str | None
    branch: str | None
    commit_sha: str | None
    synced_at: datetime | None
    everything: bool = Field(description=EVERYTHING)
    documents: list[ManifestDocument]
    total: int = Field(description="Documents on all pages.")
    attachments: list[ManifestAttachment]
    attachments_total: int
    limit: int
    offset: int
    truncated: bool = Field(description="True when more documents or attachments exist than are shown here.")


class SyncProblem(Answer):
    model_config = ConfigDict(extra="allow")

    code: str
    message: str


class SyncNote(Answer):
    ref: str = Field(description="`contentType/id` of the document.")
    path: str
    problem: SyncProblem = Field(description="What its authors could mend, and how.")


class SyncSummary(Answer):
    """The last run. It speaks of published documents only."""

    model_config = ConfigDict(extra="allow")

    status: Literal["succeeded", "failed"]
    error: str | None = Field(description="What ended a failed run; the rest is then of the last good one.")
    checked_at: datetime | None = Field(description="When a run last looked at the repository.")
    commit_sha: str | None
    started_at: datetime | None
    finished_at: datetime | None
    counts: dict[str, int]
    notes: list[SyncNote]


class Part(Answer):
    status: Literal["ok", "unavailable"]


class Health(Answer):
    """In a private deployment `status` is all that a caller without a token gets."""

    status: Literal["ok", "degraded", "unavailable"] = Field(
        description="`degraded`: documents answer, search does not. `unavailable`: the store does not answer."
    )
    store: Part | None = None
    index: Part | None = None
    commit_sha: str | None = Field(None, description="The commit that is served.")
    synced_at: datetime | None = None
    lag_seconds: int | None = Field(None, description="Seconds since something was last published.")
    documents: int | None = None
    everything: bool | None = Field(None, description=EVERYTHING)
    version: str | None = None


class FeedAuthor(Answer):
    name: str


class FeedItem(Answer):
    id: str
    url: str
    external_url: str | None = Field(None, alias="external_url")
    title: str
    summary: str | None = None
    content_text: str = Field(alias="content_text", description="The Markdown body as authored.")
    date_published: str | None = Field(None, alias="date_published")
    date_modified: str | None = Field(None, alias="date_modified")
    authors: list[FeedAuthor] | None = None
    tags: list[str] | None = None


class FeedNotes(Answer):
    hints: list[str] = Field(description=HINTS)


class JsonFeed(Answer):
    """JSON Feed 1.1."""

    version: str
    title: str
    home_page_url: str = Field(alias="home_page_url")
    feed_url: str = Field(alias="feed_url")
    description: str
    next_url: str | None = Field(None, alias="next_url")
    items: list[FeedItem]
    commonplace: FeedNotes | None = Field(None, alias="_commonplace", description="What JSON Feed has no name for.")


class SchemaLink(Answer):
    content_type: str
    parent: str | None
    description: str
    url: str


class SchemaList(Answer):
    schemas: list[SchemaLink]


class OntologyType(Answer):
    model_config = ConfigDict(extra="allow")

    name: str
    parent: str | None
    description: str


class Ontology(Answer):
    """Types, fields, aliases and folders, as the table that everything else is generated from says it."""

    model_config = ConfigDict(extra="allow")

    types: list[OntologyType]


class SearchHit(Addressed):
    id: str
    content_type: str
    title: str
    description: str | None
    snippet: str = Field(description="The passage that matched, as plain text.")
    heading: str | None = Field(description="Where in the document the passage is.")
    score: float = Field(description="From 0 to 1. In a list, where nothing is compared, 1 for each.")
    rerank_score: float | None
    url: str | None
    source_url: str | None = Field(description=SOURCE_URL)
    path: str
    group: str | None
    tags: list[str]
    date: str | None
    fit: Fit = Field(description="How well it fits the query. Where nothing fits, `hints` says so and all are weak.")
    duplicates: list[str] = Field(description="`contentType/id` of documents with nearly the same text, left out.")
    highlight: str | None = Field(
        None, description="With `highlight`: the snippet as HTML, escaped, with `<mark>` round what was found."
    )
    document: Entry | None = Field(
        None, description="With `include=documents`: the whole document; null when it has gone, or did not fit."
    )


def _camel(told: Mapping[str, Any]) -> dict[str, Any]:
    return {to_camel(name): value for name, value in told.items()}


def _shown(kind: type, **nested: Any) -> type[Face]:
    """Return the face of a part of an explanation: all of its fields."""
    names = " ".join(field.name for field in dataclasses.fields(kind))
    described = "" if kind is search.LegShare else inspect.getdoc(kind) or ""
    return face(kind.__name__, kind, names, description=described, **nested)


_SHARE: Any = _shown(search.LegShare)
_TRACE: Any = _shown(search.HitTrace, lexical=_SHARE | None, vector=_SHARE | None)
_STANDING: Any = _shown(search.Standing)
_EXPECTED: Any = _shown(search.Expectation, standing=_STANDING | None)
_EXPLAINED = _shown(
    search.Explanation,
    filters=Annotated[dict[str, Any], BeforeValidator(_camel)],
    hits=list[_TRACE],
    timings_ms=Annotated[dict[str, float], BeforeValidator(_camel)],
    expectation=_EXPECTED | None,
)
if TYPE_CHECKING:
    Explanation = Answer
else:
    Explanation = derived(_EXPLAINED, Answer, Answer, nulls=True)


class SearchAnswer(Answer):
    query: str
    results: list[SearchHit]
    total: int = Field(description="How many were found: see `totalRelation`.")
    total_relation: Literal["exact", "candidates"] = Field(
        description="`exact`: `total` counts every document that matches. `candidates`: it counts those that were "
        "compared in words and in meaning; the ranking ends there."
    )
    next_cursor: str | None = Field(
        description="With `mode=lexical` or in a list: where the next page begins; null on the last."
    )
    suggestion: str | None = Field(description="Did you mean: `q` with misspelt words put right; it finds something.")
    fallback: bool = Field(description="True when meaning could not be compared and only words were.")
    reranked: bool
    took_ms: int
    hints: list[str] | None = Field(None, description=f"{HINTS} Also what was listed, or that nothing fits.")
    explanation: Explanation | None = Field(None, description="With `explain`.")
    documents_left_out: list[str] | None = Field(
        None, description="With `include=documents`: `contentType/id` of those that did not fit into the answer."
    )
