"""What write-content.md shows of Markdown, and docs/agents/rest-api.md of HTML, is what the sample's files become."""

import re
from functools import cache

from commonplace.documents.rendering.callouts import KINDS
from tests.unit.docs.pages import ROOT, section
from tests.unit.documents.content.files import markdown
from tests.unit.documents.rendering.published import Published

PAGE = ROOT / "docs" / "write" / "write-content.md"
SAMPLE = ROOT / "samples" / "knowledge-base"
SHOWN = [
    *(
        "<table>",
        '<td class="align-right" dir="auto">31</td>',
        'aria-label="Done"',
        'aria-label="Not done"',
        "<s>Struck</s>",
    ),
    *(
        "<mark>marked</mark>",
        'href="https://example.org"',
        '<li id="fn1"',
        '<dt dir="auto">Low water</dt>',
        '<h2 id="what-we-saw" dir="auto">',
    ),
    *('<div class="callout callout-warning"', '<details class="callout callout-tip">', 'width="300"', 'class="embed"'),
    *(
        '<p dir="auto" id="^low-water">',
        '<code class="language-python">',
        "<math><mi>h</mi><mo>=</mo><msub><mi>h</mi><mn>0</mn></msub>",
    ),
]


def described() -> str:
    return "\n\n".join(token.content for token in section(PAGE, "What Markdown does") if token.info == "markdown")


@cache
def published() -> Published:
    files = {path.relative_to(SAMPLE).as_posix(): path.read_bytes() for path in SAMPLE.rglob("*") if path.is_file()}
    return Published({**files, "notes/described.md": markdown(described(), title="Described")})


def test_everything_that_the_page_writes_is_shown() -> None:
    html = published().render("notes/described.md").html
    assert [part for part in SHOWN if part not in html] == []
    assert "broken-link" not in html and "Ines" not in html


def test_the_kinds_of_callouts_are_the_real_ones() -> None:
    text = " ".join(token.content for token in section(PAGE, "What Markdown does"))
    assert set(re.findall(r"`(\w+)`", text)) >= KINDS


def test_the_document_that_the_api_page_asks_for_is_rendered() -> None:
    page = (ROOT / "docs" / "agents" / "rest-api.md").read_text(encoding="utf-8")
    (ref,) = re.findall(r"/entries/(\S+)\?format=html", page)
    (entry,) = [one for one in published().library.manifest().documents if one.ref == ref]
    rendered = published().render(entry.path)
    assert 'class="callout callout-warning"' in rendered.html and "broken-link" not in rendered.html


def test_every_document_of_the_sample_is_rendered_whole() -> None:
    for entry in published().library.manifest().documents:
        html = published().render(entry.path).html
        assert "[[" not in re.sub(r"<(pre|code).*?</\1>", "", html, flags=re.DOTALL), entry.path
        assert "<h1" not in html
