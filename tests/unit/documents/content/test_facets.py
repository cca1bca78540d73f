"""Groups, releases and tags: values, pages, counts."""

from collections.abc import Sequence

from commonplace.documents.content import facets
from commonplace.documents.content.document import Document
from commonplace.documents.content.document_index import Catalogue
from commonplace.documents.content.facets import Facet
from commonplace.documents.content.library import Library
from tests.fakes.library import FakeLibrary, garden, make


def catalogue(*told: Document) -> Catalogue:
    return Library(FakeLibrary(told)).edition().catalogue


def shown(found: Sequence[Facet]) -> list[tuple[str, int, str | None]]:
    return [(facet.name, facet.count, facet.page.path if facet.page else None) for facet in found]


def test_groups_come_from_values_pages_and_folders() -> None:
    assert shown(facets.groups(catalogue(*garden()))) == [
        ("kitchen", 1, "docs/kitchen/index.md"),
        ("seed-library", 2, "data/groups/seed-library.md"),
    ]


def test_release_is_shown_with_the_document_named_after_it() -> None:
    known = catalogue(
        make("file", "a", "notes/a.md", release="First Harvest"),
        make("article", "b", "artifacts/articles/b.md", title="First harvest"),
        make("index", "first-harvest", "docs/first-harvest/index.md", title="Welcome"),
        make("tag", "first-harvest", "tags/first-harvest.md"),
    )
    assert shown(facets.releases(known)) == [("First Harvest", 1, "docs/first-harvest/index.md")]


def test_release_without_a_document_of_that_name_is_only_counted() -> None:
    known = catalogue(make("file", "a", "notes/a.md", release="2025"), make("tag", "2025", "tags/2025.md"))
    assert shown(facets.releases(known)) == [("2025", 1, None)]


def test_release_documents_are_listed_even_if_no_document_bears_them() -> None:
    known = catalogue(
        make("release", "spring", "releases/spring.md", title="Spring almanac"),
        make("release", "autumn", "releases/autumn.md", title="Autumn almanac"),
        make("file", "a", "notes/a.md", release="spring-almanac"),
    )
    assert shown(facets.releases(known)) == [
        ("autumn", 0, "releases/autumn.md"),
        ("spring-almanac", 1, "releases/spring.md"),
    ]


def test_there_may_be_no_releases() -> None:
    assert facets.releases(catalogue(make("file", "a", "notes/a.md"))) == ()


def test_tags_are_shown_with_the_entry_that_defines_them_in_any_number_and_spelling() -> None:
    known = catalogue(
        make("file", "a", "notes/a.md", tags=["policy", "moon"]),
        make("file", "b", "notes/b.md", tags=["policy"]),
        make("tag", "policies", "tags/policies.md"),
    )
    assert shown(facets.tags(known)) == [("policy", 2, "tags/policies.md"), ("moon", 1, None)]


def test_tag_of_several_entries_is_shown_with_the_one_that_has_its_id() -> None:
    known = catalogue(
        make("file", "a", "notes/a.md", tags=["edge"]),
        make("tag", "border", "tags/border.md", title="Edge"),
        make("tag", "edge", "tags/edge.md", title="Brink"),
    )
    assert shown(facets.tags(known)) == [("edge", 1, "tags/edge.md")]
