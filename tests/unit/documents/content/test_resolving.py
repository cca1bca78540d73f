"""Where links lead, among what is published."""

import pytest

from commonplace.documents.content.graph import Broken, LinkResolver, ToDocument, ToFile, names_of
from commonplace.repository.link import Link, LinkKind

DOCUMENTS = [
    "index.md",
    "data/concepts/care.md",
    "data/concepts/Mutual Aid.md",
    "docs/rpp/index.md",
    "docs/rpp/rota.md",
    "docs/rpp/deep/rota.md",
    "docs/garden/index.md",
    "docs/cafe\u0301.md",
    "docs/trailing .md",
]
FILES = ["attachments/map.png", "attachments/plan.pdf", "docs/rpp/map.png", "tools/x.js"]
NAMES = {"Mutual aid": "data/concepts/Mutual Aid.md", "#solidarity": "data/concepts/Mutual Aid.md"}


def resolve(target: str, kind: LinkKind = "link", source: str = "docs/rpp/rota.md") -> object:
    return LinkResolver(DOCUMENTS, FILES, NAMES).resolve(source, Link(target, None, kind, "", 1))


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("data/concepts/care.md", "data/concepts/care.md"),
        ("/data/concepts/care.md", "data/concepts/care.md"),
        ("data/concepts/care", "data/concepts/care.md"),
        ("../../data/concepts/care.md", "data/concepts/care.md"),
        ("./index.md", "docs/rpp/index.md"),
        ("deep/rota.md", "docs/rpp/deep/rota.md"),
        ("index.md", "docs/rpp/index.md"),
        ("..", None),
        ("../..", "index.md"),
        ("/", "index.md"),
        ("docs/garden", "docs/garden/index.md"),
        ("docs/garden/", "docs/garden/index.md"),
        ("./../garden/./index.md", "docs/garden/index.md"),
        ("docs/caf\u00e9.md", "docs/cafe\u0301.md"),
        ("docs/trailing .md", "docs/trailing .md"),
        (" data/concepts/care.md ", "data/concepts/care.md"),
        ("data/concepts/care.md?plain=1", "data/concepts/care.md"),
    ],
)
def test_paths_resolve_from_the_root_and_from_the_source(target: str, path: str | None) -> None:
    assert resolve(target) == (ToDocument(path) if path else Broken())


@pytest.mark.parametrize("readme", ["README.md", "readme.md", "Readme.md", "README.MD", "readme.markdown"])
@pytest.mark.parametrize(
    ("target", "kind", "source"),
    [
        ("garden/", "link", "docs/a.md"),
        ("garden", "link", "docs/a.md"),
        ("./garden/", "link", "docs/a.md"),
        ("/docs/garden", "link", "a.md"),
        ("docs/garden/", "link", "notes/a.md"),
        ("./", "link", "docs/garden/a.md"),
        (".", "link", "docs/garden/a.md"),
        ("..", "link", "docs/garden/deep/a.md"),
        ("garden", "wiki", "docs/a.md"),
        ("docs/garden", "wiki", "notes/a.md"),
        ("docs/garden", "embed", "notes/a.md"),
    ],
)
def test_a_folder_is_found_by_its_readme_as_by_its_index(readme: str, target: str, kind: LinkKind, source: str) -> None:
    def at(*pages: str) -> object:
        paths = [f"docs/garden/{page}" for page in pages]
        return LinkResolver([*paths, source], []).resolve(source, Link(target, None, kind, "", 1))

    assert at(readme) == ToDocument(f"docs/garden/{readme}")
    assert at(readme, "index.md") == at("index.md", "Index.md") == ToDocument("docs/garden/index.md")
    assert isinstance(at("readme-first.md", "other.md"), Broken)


def test_the_readme_of_the_repository_stands_for_its_top() -> None:
    resolver = LinkResolver(["README.md", "docs/a.md"], [])
    for target in ("/", "..", "../"):
        assert resolver.resolve("docs/a.md", Link(target, None, "link", "", 1)) == ToDocument("README.md")


def test_a_path_that_leaves_the_repository_leads_nowhere() -> None:
    assert isinstance(resolve("../../../data/concepts/care.md"), Broken)


def test_paths_are_case_sensitive_but_suggested() -> None:
    assert resolve("Data/Concepts/Care.md") == Broken(suggestion="data/concepts/care.md")


def test_a_bare_name_is_looked_for_beside_the_source_first() -> None:
    assert resolve("rota.md", source="docs/rpp/deep/a.md") == ToDocument("docs/rpp/deep/rota.md")
    assert resolve("index.md", source="data/concepts/care.md") == ToDocument("index.md")


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("care", "data/concepts/care.md"),
        ("Care", "data/concepts/care.md"),
        ("care.md", "data/concepts/care.md"),
        ("mutual aid", "data/concepts/Mutual Aid.md"),
        ("Solidarity", "data/concepts/Mutual Aid.md"),
        ("concepts/care", "data/concepts/care.md"),
        ("rota", "docs/rpp/rota.md"),
        ("deep/rota", "docs/rpp/deep/rota.md"),
        ("nobody", None),
    ],
)
def test_wiki_links_resolve_by_name(target: str, path: str | None) -> None:
    assert resolve(target, "wiki") == (ToDocument(path) if path else Broken())


def test_the_nearest_of_several_names_wins() -> None:
    assert resolve("rota", "wiki", "docs/rpp/deep/x.md") == ToDocument("docs/rpp/deep/rota.md")
    assert resolve("rota", "wiki", "index.md") == ToDocument("docs/rpp/rota.md")


def test_files_resolve_by_path_and_embeds_by_name() -> None:
    assert resolve("attachments/plan.pdf") == ToFile("attachments/plan.pdf")
    assert resolve("plan.pdf", "embed") == ToFile("attachments/plan.pdf")
    assert resolve("map.png", "image", "docs/rpp/rota.md") == ToFile("docs/rpp/map.png")
    assert resolve("PLAN.pdf", "image") == ToFile("attachments/plan.pdf")
    assert resolve("care", "embed") == ToDocument("data/concepts/care.md")
    assert isinstance(resolve("plan.pdf", "link"), Broken), "a plain link is a path"


@pytest.mark.parametrize(
    ("target", "suggestion"),
    [
        ("tags/care.md", "data/concepts/care.md"),
        ("tags/Mutual-Aid.md", "data/concepts/Mutual Aid.md"),
        ("old/rpp/index.md", "docs/rpp/index.md"),
        ("old/index.md", None),
        ("old/deep/rota.md", "docs/rpp/deep/rota.md"),
        ("nothing/like/it.md", None),
        ("🌱.md", None),
    ],
)
def test_a_suggestion_is_the_one_published_document_of_a_like_name(target: str, suggestion: str | None) -> None:
    assert resolve(target) == Broken(suggestion=suggestion)


def test_titles_win_over_aliases_and_earlier_over_later() -> None:
    documents = [("a.md", "Care", ["Aid"]), ("b.md", "Aid", ["Care"]), ("c.md", "Aid", [])]
    assert names_of(documents) == {"Care": "a.md", "Aid": "b.md"}
