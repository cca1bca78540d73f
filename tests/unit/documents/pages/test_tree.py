"""Folders beside a document, before and after it in its folder, and as pages of their own."""

import re
from collections.abc import Sequence

import pytest

from commonplace.documents.content.document import Document, Manifest
from commonplace.documents.content.document_index import Catalogue
from commonplace.documents.pages import tree
from tests.fakes.library import FakeLibrary, make
from tests.fakes.search import FakeSearch
from tests.unit.documents.pages.conftest import World


def catalogue(*paths: str) -> Catalogue:
    documents = [make("file", path.replace("/", "-").removesuffix(".md"), path) for path in paths]
    return published(documents)[1]


def published(documents: Sequence[Document]) -> tuple[FakeLibrary, Catalogue]:
    store = FakeLibrary()
    store.publish(documents)
    found = store.get("metadata/manifest.json")
    assert found is not None
    return store, Catalogue(Manifest.model_validate_json(found.body))


def test_a_folder_has_its_front_page_first_then_files_by_name_with_numbers_as_numbers() -> None:
    found = catalogue("docs/10 ten.md", "docs/README.md", "docs/2 two.md", "docs/b/c/deep.md", "top.md")
    docs = tree.folders(found)["docs"]
    assert [entry.path for entry in docs.entries] == ["docs/README.md", "docs/2 two.md", "docs/10 ten.md"]
    assert (docs.folders, docs.count, docs.front and docs.front.path) == (["docs/b"], 4, "docs/README.md")
    assert tree.folders(found)["docs/b"].entries == []
    assert [entry.path for entry in tree.folders(found)[""].entries] == ["top.md"]


def test_only_the_way_to_the_document_is_open() -> None:
    found = catalogue("a/one.md", "a/b/two.md", "a/c/three.md", "d/four.md")
    levels = tree.way(found, found.manifest.by_path["a/b/two.md"])
    assert [level.folder.path for level in levels] == ["", "a", "a/b"]
    assert [[one.path for one in level.folders] for level in levels] == [["a", "d"], ["a/b", "a/c"], []]
    assert [[one.path for one in level.entries] for level in levels] == [[], ["a/one.md"], ["a/b/two.md"]]


@pytest.mark.parametrize("at", [0, 250, 499])
def test_the_tree_of_a_large_folder_is_what_is_near_the_document(at: int) -> None:
    found = catalogue(*(f"many/{number}.md" for number in range(500)))
    (_, level) = tree.way(found, found.manifest.by_path[f"many/{at}.md"])
    assert len(level.entries) == tree.MOST_SHOWN
    assert f"many/{at}.md" in {entry.path for entry in level.entries}
    assert level.left_out == 500 - tree.MOST_SHOWN


def test_documents_have_neighbours_in_their_own_folder_alone() -> None:
    found = catalogue("a/1.md", "a/2.md", "a/3.md", "b/4.md")

    def beside(path: str) -> list[str | None]:
        return [one.path if one else None for one in tree.neighbours(found, found.manifest.by_path[path])]

    assert beside("a/1.md") == [None, "a/2.md"]
    assert beside("a/2.md") == ["a/1.md", "a/3.md"]
    assert beside("b/4.md") == [None, None]


def test_a_document_that_has_gone_meanwhile_breaks_nothing() -> None:
    entry = catalogue("gone/one.md").manifest.by_path["gone/one.md"]
    found = catalogue("a/1.md")
    assert tree.neighbours(found, entry) == (None, None)
    assert [level.folder.path for level in tree.way(found, entry)] == [""]


def test_a_folder_has_a_page_with_its_folders_and_documents() -> None:
    store, _ = published([make("file", "one", "a/b c/one.md", title="One"), make("file", "two", "a/b c/d/two.md")])
    client = World(store, FakeSearch()).client()
    page = client.get("/types?folder=a/b%20c").text
    assert '<h1 dir="auto">b c</h1>' in page
    assert 'href="/d/file/one"' in page
    assert 'href="/types?folder=a/b+c/d"' in page
    assert 'href="/types?folder=a"' in page
    assert client.get("/a/b%20c/").headers["location"] == "/types?folder=a/b+c"
    missing = client.get("/types?folder=a/b")
    assert missing.status_code == 404
    assert re.search(r"There is no such folder. Near it are .*a/b c", missing.text)


def test_the_folders_of_nothing_are_none() -> None:
    assert World(FakeLibrary(), FakeSearch()).client().get("/types?folder=a").status_code == 404
    assert World(FakeLibrary(), FakeSearch()).client().get("/types").status_code == 200


@pytest.mark.parametrize(
    ("path", "leads"),
    [("/type/pattern", "/types/pattern"), ("/type/Patterns/", "/types/pattern"), ("/types/patterns", "/types/pattern")],
)
def test_other_ways_to_write_a_type_lead_to_its_page(world: World, path: str, leads: str) -> None:
    answer = world.client().get(path)
    assert (answer.status_code, answer.headers["location"]) == (301, leads)


def test_an_unknown_type_is_answered_with_those_that_there_are(world: World) -> None:
    answer = world.client().get("/type/patern")
    assert answer.status_code == 404
    assert "The types are article, " in answer.text
    assert '<a href="/types/pattern">Pattern</a>' in answer.text
