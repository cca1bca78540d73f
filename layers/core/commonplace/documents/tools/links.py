"""The tool `get_related`: links of a document in both directions, and documents that share its tags."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Literal

from pydantic import Field

from commonplace.documents.content.document import DocumentRef, Entry
from commonplace.documents.content.document_index import Catalogue, Selection
from commonplace.documents.content.graph import Graph
from commonplace.documents.tools.names import locate
from commonplace.documents.tools.services import KnowledgeServices, link
from commonplace.search.filters import Filters
from commonplace.web.mcp.budgets import shortened
from commonplace.web.mcp.declaration import Answer, Arguments, Call, Output, Part, Tool

DESCRIPTION_CHARACTERS = 120
MAX_BY_TAGS = 5  # Documents that are near by their tags alone

LINKED = 5  # Resources an answer points to

Relation = Literal["out", "back", "both", "near", "tags"]

SAID: Mapping[Relation, str] = {
    "both": "Link each other",
    "out": "It links to",
    "back": "Link to it",
    "near": "Two links away",
    "tags": "Share tags with it",
}
"""In the order of the answer."""


class RelatedArguments(Arguments):
    content_type: str | None = Field(None, description="pattern, tag, article ...")
    id: str = Field(description="Id, type/id, title or path")
    depth: int = Field(1, ge=1, le=2, description="Links away")
    limit: int = Field(20, ge=1, le=50)


class RelatedDocument(Part):
    relation: Relation
    content_type: str
    id: str
    title: str
    document_url: str
    description: str | None = None
    shared_tags: list[str] | None = None


class Related(Output):
    content_type: str
    id: str
    title: str
    total: int
    truncated: bool
    broken_links: int = Field(description="Of its own")
    related: list[RelatedDocument]


def tools(using: KnowledgeServices) -> tuple[Tool, ...]:
    return (
        Tool(
            name="get_related",
            title="Get related documents",
            description="Documents that a document links to, that link to it, or that share its rarest tags.",
            arguments=RelatedArguments,
            output=Related,
            run=partial(get_related, using),
        ),
    )


def get_related(using: KnowledgeServices, call: Call, asked: RelatedArguments) -> Answer:  # noqa: ARG001 - a tool's shape
    catalogue = using.catalogue()
    entry = locate(catalogue, using.addresses, asked.content_type, asked.id).entry
    graph = using.library.graph()
    by_ref = catalogue.manifest.by_ref
    relations = {ref: said for ref, said in _linked(graph, entry.ref, asked.depth) if ref in by_ref}
    tags = _by_tags(catalogue, entry, relations)
    near = [*relations.items(), *((ref, "tags") for ref in tags)]
    shown = [(by_ref[ref], said) for ref, said in near[: asked.limit]]
    data = Related(
        content_type=entry.content_type,
        id=entry.id,
        title=entry.title,
        total=len(near),
        truncated=len(shown) < len(near),
        broken_links=len(graph.broken_of(entry.ref)),
        related=[
            RelatedDocument(
                relation=said,
                content_type=other.content_type,
                id=other.id,
                title=other.title,
                document_url=using.addresses.of(other),
                description=shortened(other.description, DESCRIPTION_CHARACTERS) if other.description else None,
                shared_tags=tags.get(other.ref),
            )
            for other, said in shown
        ],
    )
    links = tuple(link(using, other.ref, other.title) for other, _ in shown[:LINKED])
    lines = [f"**{data.title}** (`{data.content_type}/{data.id}`): {data.total} related documents."]
    if data.truncated:
        lines.append(f"The first {len(data.related)} are here; a higher limit shows more.")
    if data.broken_links:
        lines.append(f"{data.broken_links} of its links lead nowhere.")
    for relation, said in SAID.items():
        if found := [one for one in data.related if one.relation == relation]:
            lines += ["", f"{said}:"]
            for one in found:
                line = f"- {one.title} (`{one.content_type}/{one.id}`, <{one.document_url}>)"
                line += f": {one.description}" if one.description else ""
                lines.append(line + (f" [{', '.join(one.shared_tags)}]" if one.shared_tags else ""))
    return Answer("\n".join(lines), data, links)


def _linked(graph: Graph, ref: DocumentRef, depth: int) -> Iterator[tuple[DocumentRef, Relation]]:
    """Neighbours, those that link each other first; then theirs."""
    out = [node.ref for node in graph.out(ref)]
    back = [node.ref for node in graph.back(ref)]
    mutual = set(out).intersection(back)
    yield from ((other, "both") for other in out if other in mutual)
    yield from ((other, "out") for other in out if other not in mutual)
    yield from ((other, "back") for other in back if other not in mutual)
    if depth > 1:
        passed = {ref, *out, *back}
        yield from ((node.ref, "near") for node in graph.neighbourhood(ref, 2).nodes if node.ref not in passed)


def _by_tags(catalogue: Catalogue, entry: Entry, known: Mapping[DocumentRef, Relation]) -> dict[DocumentRef, list[str]]:
    """Return documents that share the rarest tags, each with the tags it shares."""
    own = set(entry.tags)
    if not own:
        return {}
    sharing = catalogue.select(Selection(Filters(tags_any=tuple(sorted(own)))))
    bearing = Counter(tag for other in sharing for tag in own.intersection(other.tag_branches))
    total = len(catalogue.entries)
    scored = []
    for other in sharing:
        if other.ref != entry.ref and other.ref not in known:
            shared = sorted(own.intersection(other.tag_branches))
            scored.append((-sum(math.log(1 + total / bearing[tag]) for tag in shared), other.ref, shared))
    return {ref: shared for _, ref, shared in sorted(scored)[:MAX_BY_TAGS]}
