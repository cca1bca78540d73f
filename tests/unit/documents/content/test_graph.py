"""The graph of published documents."""

import random

from commonplace.documents.content.document import DocumentRef
from commonplace.documents.content.graph import Graph, build_graph
from commonplace.repository.link import Link
from tests.unit.documents.content.entries import summary

ENTRIES = [
    summary("notes/a.md", tags=["x"]),
    summary("notes/b.md"),
    summary("notes/c.md"),
    summary("data/concepts/care.md", "tag", title="Care"),
]


def link(target: str, line: int = 1) -> Link:
    return Link(target, None, "link", "text", line)


AUTHORED = {
    "notes/a.md": [link("notes/b.md"), link("b.md", 2), link("notes/a.md"), link("gone.md", 3), link("p/map.png")],
    "notes/b.md": [link("c.md"), link("tags/care.md", 7), link("p/map.png")],
    "data/concepts/care.md": [Link("A", None, "wiki", "A", 4)],
    "notes/unpublished.md": [link("notes/a.md")],
}


def built() -> Graph:
    return build_graph(ENTRIES, AUTHORED, ["p/map.png", "p/unused.png"])[0]


def ref(name: str) -> DocumentRef:
    return DocumentRef(name)


def test_edges_are_unique_and_lead_from_published_to_published() -> None:
    assert [(edge.source, edge.target) for edge in built().edges] == [
        ("tag/care", "file/a"),
        ("file/a", "file/b"),
        ("file/b", "file/c"),
    ]


def test_broken_links_stay_as_authored_and_suggest_published_documents() -> None:
    assert [(found.source, found.target, found.line, found.suggestion) for found in built().broken] == [
        ("file/a", "gone.md", 3, None),
        ("file/b", "tags/care.md", 7, "tag/care"),
    ]


def test_attachments_know_the_documents_that_use_them() -> None:
    assert build_graph(ENTRIES, AUTHORED, ["p/map.png", "p/unused.png"])[1] == {
        "p/map.png": {"notes/a.md", "notes/b.md"}
    }


def test_a_graph_can_be_walked() -> None:
    graph = built()
    assert [node.path for node in graph.out(ref("file/a"))] == ["notes/b.md"]
    assert [node.ref for node in graph.back(ref("file/a"))] == ["tag/care"]
    assert [found.target for found in graph.broken_of(ref("file/b"))] == ["tags/care.md"]
    unknown = ref("file/zzz")
    assert [*graph.out(unknown), *graph.back(unknown), *graph.broken_of(unknown)] == []


def test_a_neighbourhood_grows_with_its_steps() -> None:
    graph = built()
    near = graph.neighbourhood(ref("file/a"))
    assert {node.ref for node in near.nodes} == {"file/a", "file/b", "tag/care"}
    assert len(near.edges) == 2
    assert {node.ref for node in graph.neighbourhood(ref("file/a"), 2).nodes} == graph.by_ref.keys()
    assert graph.neighbourhood(ref("file/zzz")).nodes == []


def test_the_order_of_the_input_does_not_matter() -> None:
    shuffled = random.Random(3).sample(ENTRIES, len(ENTRIES))
    other, _ = build_graph(shuffled, dict(reversed(AUTHORED.items())), ["p/unused.png", "p/map.png"])
    assert other.to_json() == built().to_json()


def test_a_graph_survives_storage_and_links_can_be_resolved_again() -> None:
    stored = Graph.model_validate_json(built().to_json())
    authored = {path: [found.link() for found in links] for path, links in stored.authored.items()}
    again, _ = build_graph([*ENTRIES, summary("notes/gone.md")], authored, [])
    assert ("file/a", "file/gone") in {(edge.source, edge.target) for edge in again.edges}
    assert "notes/unpublished.md" not in stored.authored


def test_links_resolve_by_alias_where_entries_have_them() -> None:
    named = ENTRIES[1].model_copy(update={"aliases": ["Bee"]})
    graph, _ = build_graph([ENTRIES[0], named], {"notes/a.md": [Link("bee", None, "wiki", "", 1)]}, [])
    assert [(edge.source, edge.target) for edge in graph.edges] == [("file/a", "file/b")]
