import pytest

from tests.acceptance.reading import Page, links_of, unexplained

FILES = frozenset({"attachments/pixel.png", "attachments/report.pdf"})


def page(body: str = "", **more: tuple[str, ...]) -> Page:
    return Page("published", body, "Some Title", **more)


def edges(body: str, source: str = "docs/a.md") -> set[tuple[str, str]]:
    others = {"docs/b.md": page(), "index.md": page(), "data/c (1).md": page(), "docs/deep/index.md": page()}
    return set(links_of({source: page(body)} | others, FILES).edges)


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("docs/b.md", "docs/b.md"),
        ("/docs/b.md", "docs/b.md"),
        ("b.md#part", "docs/b.md"),
        ("./b", "docs/b.md"),
        ("../index.md", "index.md"),
        ("data/c%20(1).md", "data/c (1).md"),
        ("docs/deep/", "docs/deep/index.md"),
    ],
)
def test_a_link_leads_where_it_says(target: str, path: str) -> None:
    assert edges(f"See [it]({target}).") == {("docs/a.md", path)}


@pytest.mark.parametrize(
    "body",
    [
        "`[b](docs/b.md)`",
        "```\n[b](docs/b.md)\n```",
        "    [b](docs/b.md)",
        "<!-- [b](docs/b.md) -->",
        "[b](https://example.org/docs/b.md)",
        "[a](docs/a.md)",
        "[gone](docs/gone.md)",
        r"\[b](docs/b.md)",
    ],
)
def test_what_is_no_link_to_another_page_is_no_edge(body: str) -> None:
    assert edges(body) == set()


def test_embedded_and_linked_files_are_found_in_body_and_frontmatter() -> None:
    body = "![Pixel](attachments/pixel.png)"
    assert links_of({"a.md": page(body)}, FILES).files == {"attachments/pixel.png"}
    assert links_of({"a.md": page(values=("![[attachments/report.pdf]]",))}, FILES).files == {"attachments/report.pdf"}


def test_an_edge_whose_target_is_nowhere_named_is_unexplained() -> None:
    pages = {"a.md": page("[b](docs/b.md)"), "docs/b.md": page(), "docs/c.md": Page("published", title="Other")}
    assert unexplained([("a.md", "docs/b.md"), ("a.md", "docs/c.md")], pages) == ["a.md -> docs/c.md"]
