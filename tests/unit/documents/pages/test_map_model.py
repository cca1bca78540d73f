"""What the map shows, and where."""

import random
from collections.abc import Sequence
from itertools import combinations, pairwise, product
from math import hypot

import pytest

from commonplace.documents.content.document import DocumentRef, Summary
from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.documents.pages.map_model import (
    GAP,
    LABEL_LINE,
    LETTER,
    MAX_DOCUMENTS,
    MAX_LABEL,
    MAX_LISTED_LINKS,
    OUTLINES,
    PROMINENT,
    ZOOM_LEVELS,
    around,
    draw,
    kinds_of,
    lay_out,
)
from tests.unit.documents.content.entries import summary
from tests.unit.documents.pages.webs import edge, web


def test_equal_input_in_any_order_gives_an_equal_map() -> None:
    documents, edges = web(40)
    first = draw(documents, edges)
    random.Random(1).shuffle(documents)
    random.Random(2).shuffle(edges)
    assert draw(documents, edges) == first


@pytest.mark.parametrize("count", [1, 2, 3, 60, MAX_DOCUMENTS])
def test_every_document_is_inside_the_box_and_none_covers_another(count: int) -> None:
    documents, edges = web(count)
    drawn = draw(documents, edges)
    assert len(drawn.nodes) == count
    assert all(0 < node.x < drawn.width and 0 < node.y < drawn.height for node in drawn.nodes)
    for one, other in combinations(drawn.nodes, 2):
        assert hypot(one.x - other.x, one.y - other.y) >= max(24, 10 * (one.scale + other.scale)), (one, other)


def test_documents_that_link_to_one_another_are_nearer_than_others() -> None:
    clusters = [[summary(f"{name}/page-{name}{number}.md") for number in range(8)] for name in "ab"]
    edges = [edge(one, other) for cluster in clusters for one, other in combinations(cluster, 2)]
    edges.append(edge(clusters[0][0], clusters[1][0]))
    drawn = draw([document for cluster in clusters for document in cluster], edges)
    place = {node.document.ref: (node.x, node.y) for node in drawn.nodes}

    def distance(one: Summary, other: Summary) -> float:
        return hypot(*(a - b for a, b in zip(place[one.ref], place[other.ref], strict=True)))

    def mean(distances: Sequence[float]) -> float:
        return sum(distances) / len(distances)

    within = mean([distance(one, other) for cluster in clusters for one, other in combinations(cluster, 2)])
    across = mean([distance(one, other) for one in clusters[0] for other in clusters[1]])
    assert across > 1.5 * within


def test_a_document_that_others_link_to_is_larger() -> None:
    hub, *others = [summary(f"page-{number}.md") for number in range(6)]
    drawn = draw([hub, *others], [edge(other, hub) for other in others])
    largest, *rest = sorted(drawn.nodes, key=lambda node: -node.scale)
    assert (largest.document, largest.back) == (hub, 5)
    assert all(node.scale < largest.scale and node.back == 0 for node in rest)


def test_of_many_documents_those_are_shown_that_most_others_link_to() -> None:
    documents, edges = web(MAX_DOCUMENTS + 200)
    drawn = draw(documents, edges)
    back = {document.ref: sum(edge.target == document.ref for edge in edges) for document in documents}
    shown = {node.document.ref for node in drawn.nodes}
    assert (len(shown), drawn.left_out) == (MAX_DOCUMENTS, 200)
    assert min(back[ref] for ref in shown) >= max(back[ref] for ref in back.keys() - shown)
    assert all(node.back == back[node.document.ref] for node in drawn.nodes), "counted among all, not among the shown"


def test_lines_run_between_the_centres_of_documents_once_for_two_that_link_to_each_other() -> None:
    documents = [summary("a.md"), summary("b.md"), summary("c.md")]
    a, b, c = documents
    drawn = draw(documents, [edge(a, b), edge(b, a), edge(b, c)])
    place = {node.document.id: f"{node.x} {node.y}" for node in drawn.nodes}
    lines = {frozenset(line.split("L")) for line in drawn.lines.split("M")[1:]}
    assert lines == {frozenset((place["a"], place["b"])), frozenset((place["b"], place["c"]))}
    assert drawn.links == 3


def test_links_to_documents_that_are_not_shown_are_left_out() -> None:
    here, there = summary("here.md"), summary("there.md")
    drawn = draw([here], [edge(here, there)])
    assert (drawn.lines, drawn.nodes[0].links) == ("", [])


def test_the_list_names_the_most_linked_of_many_links_and_counts_the_others() -> None:
    source = summary("source.md")
    targets = [summary(f"target-{number}.md") for number in range(MAX_LISTED_LINKS + 3)]
    edges = [edge(source, target) for target in targets] + [edge(targets[0], targets[-1])]
    node = next(node for node in draw([source, *targets], edges).nodes if node.document == source)
    assert (len(node.links), node.more_links) == (MAX_LISTED_LINKS, 3)
    assert node.links[0] == targets[-1]


def test_names_that_are_shown_at_once_cover_no_other_and_few_a_document() -> None:
    documents, edges = web(200)
    nodes = draw(documents, edges).nodes
    shapes = [(node.x - node.scale * 10, node.y - node.scale * 10, 20 * node.scale, 20 * node.scale) for node in nodes]
    for level, zoom in enumerate(ZOOM_LEVELS, 1):
        names = [
            (
                node.x - len(node.label) * LETTER / zoom / 2,
                node.y + (-node.scale * 10 - 1 - LABEL_LINE / zoom if node.above else node.scale * 10 + 1),
                len(node.label) * LETTER / zoom,
            )
            for node in nodes
            if node.level <= level
        ]
        boxes = [(x, y, width, LABEL_LINE / zoom) for x, y, width in names]
        assert len(names) > 20
        for one, other in [*combinations(boxes, 2), *product(boxes[round(len(nodes) * PROMINENT) :], shapes)]:
            apart = one[0] + one[2] <= other[0] or other[0] + other[2] <= one[0]
            assert apart or one[1] + one[3] <= other[1] or other[1] + other[3] <= one[1]


def test_every_name_shows_at_some_magnification_before_that_of_a_less_linked_neighbour() -> None:
    documents, edges = web(MAX_DOCUMENTS)
    by_size = sorted(draw(documents, edges).nodes, key=lambda node: -node.scale)
    assert by_size[0].level == 1
    assert {node.level for node in by_size} <= {1, 2, 3, 4, 5}


def test_a_long_title_is_cut_and_of_one_line() -> None:
    label = draw([summary("a.md", title="A very long\n title " * 9)], []).nodes[0].label
    assert len(label) <= MAX_LABEL
    assert label.endswith("…")
    assert "\n" not in label


def test_types_of_a_family_share_its_colour_and_differ_in_shape() -> None:
    kinds = kinds_of([summary(f"{name}.md", name) for name in ONTOLOGY.types])
    for one, other in combinations(kinds.values(), 2):
        assert (one.family, one.shape) != (other.family, other.shape)
    assert kinds["pattern"].family == kinds["protocol"].family == "resource"
    assert {kind.shape for kind in kinds.values()} <= OUTLINES.keys()


def test_a_type_looks_the_same_whichever_others_are_shown() -> None:
    all_kinds = kinds_of([summary(f"{name}.md", name) for name in ONTOLOGY.types])
    for name in ONTOLOGY.types:
        alone = kinds_of([summary("a.md", name)])[name]
        assert alone == all_kinds[name]


def test_a_type_that_the_ontology_does_not_know_is_drawn_all_the_same() -> None:
    assert kinds_of([summary("a.md", "scroll")])["scroll"].family == "file"


def test_around_a_document_are_those_that_it_links_to_and_that_link_to_it() -> None:
    documents = [summary(f"{name}.md") for name in "abcde"]
    edges = [edge(one, other) for one, other in pairwise(documents)]
    assert [document.id for document in around(documents[2].ref, documents, edges)] == ["b", "c", "d"]
    assert around(DocumentRef("file/unknown"), documents, edges) == []


def test_documents_without_links_have_places_too() -> None:
    layout = lay_out([], [5.0] * 30)
    assert len(set(layout.points)) == 30
    for one, other in combinations(layout.points, 2):
        assert hypot(one[0] - other[0], one[1] - other[1]) >= GAP - 3


def test_nothing_published_makes_an_empty_map() -> None:
    drawn = draw([], [])
    assert (drawn.nodes, drawn.lines, drawn.legend, drawn.left_out) == ([], "", [], 0)
    assert drawn.width > 0
