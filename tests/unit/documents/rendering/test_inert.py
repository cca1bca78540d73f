"""Whatever an author writes, what comes out can do nothing but be read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hostile_markdown import HOSTILE
from tests.unit.documents.rendering.inert import deeds
from tests.unit.documents.rendering.published import Published, html

PIECES = [
    *HOSTILE.values(),
    *(
        "[[page]]",
        "![[page#A]]",
        "![[pic.png|9x9]]",
        "> [!note]- t\n> ",
        "|a|\n|-|\n|",
        "```html\n",
        "$",
        "==",
        "%%",
        "`",
    ),
    *(
        "# A",
        "^[note]",
        "- [ ] ",
        "\n\n",
        "\n",
        "    ",
        "<",
        ">",
        '"',
        "'",
        "&lt;",
        "\\",
        "<b>",
        "</div>",
        "<div id=main>",
    ),
    *("<math>", "</math>", "<mtext>", "<mglyph>", "<malignmark>", "<svg>", "<table>", "<style>", "<!--"),
    *(
        "<annotation-xml encoding=text/html>",
        "<mi href=javascript:x style=x>",
        "<maction>",
        "<mi xlink:href=javascript:x>",
    ),
    *(r"$\text{</math><script>}$", r"$\href{javascript:x}y$", "$$\n\\frac", r"\left(", r"\begin{aligned}", "```math\n"),
    *("https://evil.example/", "javascript:", "data:", "www.a.b", "](", "[", ")", "![", "x ^b", "1. ", ": "),
]


def test_a_hostile_body_is_inert() -> None:
    for name in HOSTILE:
        assert deeds(html(HOSTILE[name])) == []


def test_a_hostile_body_is_inert_where_it_is_embedded() -> None:
    for name in HOSTILE:
        shown = html("before\n\n![[bad]]\n\n## After\n", {"notes/bad.md": HOSTILE[name]})
        assert deeds(shown) == []
        assert shown.startswith('<p dir="auto">before</p>') and '<h2 id="after" dir="auto">' in shown


@pytest.fixture(scope="module")
def published() -> Published:
    return Published({"notes/page.md": "text", "pic.png": b"\x89PNG", "notes/uses.md": "![[pic.png]] ![[page]]"})


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=12).map("".join))
def test_no_mixture_of_what_is_hostile_does_anything(published: Published, body: str) -> None:
    entry = published.library.manifest().by_path["notes/page.md"]
    shown = published.fresh().render(entry, body).html
    assert deeds(shown) == []


def test_more_html_than_people_write_is_shown_as_text(published: Published) -> None:
    entry = published.library.manifest().by_path["notes/page.md"]
    shown = published.fresh().render(entry, "<i>\n\n" + "<div>" * 12_000 + "\n\n> [!note]\n> x\n").html
    assert "&lt;div&gt;" in shown and "<div>" not in shown and 'class="callout' in shown


def test_a_body_longer_than_people_write_is_cut_and_says_so(published: Published) -> None:
    entry = published.library.manifest().by_path["notes/page.md"]
    shown = published.fresh().render(entry, "word " * 100_000)
    assert shown.truncated and 390_000 < len(shown.html) < 410_000


def test_the_checker_finds_what_is_not_inert() -> None:
    for bad in ("<script>", "<p onclick=x>", '<a href="javascript:x">', '<img src="https://a.b/c">', "<!--x-->"):
        assert deeds(bad), bad
    for bad in (
        "<svg>",
        "<mglyph>",
        "<annotation-xml>",
        "<maction>",
        '<mi href="javascript:x">',
        '<mi xlink:href="x">',
    ):
        assert deeds(bad), bad
    for bad in ('<p style="x">', '<p class="site-header">', '<a href="https://a.b/">', '<div id="main">', "<form>"):
        assert deeds(bad), bad
