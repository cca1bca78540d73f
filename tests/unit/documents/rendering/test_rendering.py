"""Bodies become HTML as Obsidian and GitHub show them, with links that lead where the sync found that they lead."""

import re
from html import escape
from pathlib import Path

import pytest

import commonplace
from commonplace.documents.rendering.anchors import RESERVED
from commonplace.repository.headings import anchor
from tests.unit.documents.rendering.inert import deeds
from tests.unit.documents.rendering.published import html, rendered

OTHER = {"notes/other note.md": "Intro.\n\n# A part\n\nText.\n\n## Below\n\nMore.\n\n# Next\n\nLast.\n"}
PICTURE = {"files/pic one.png": b"\x89PNG\r\n"}
BROKEN = '<span class="broken-link" title="There is no published document or file of this name.">{}</span>'


def test_links_to_documents_lead_to_their_pages_however_they_are_written() -> None:
    body = "[a](other%20note.md) [b](notes/other note.md#A part) [[Other Note]] [[Other Note#A part|here]] "
    body += "[[notes/other note]]"
    assert html(body, OTHER) == (
        '<p dir="auto"><a href="/d/file/other-note">a</a> <a href="/d/file/other-note">b</a> '
        '<a href="/d/file/other-note">Other Note</a> <a href="/d/file/other-note#a-part">here</a> '
        '<a href="/d/file/other-note">A part</a></p>'
    ).replace('">b', '#a-part">b')


def test_a_link_to_an_unpublished_document_looks_like_one_to_none() -> None:
    hidden = {"notes/hidden.md": b"---\npublish: false\ntitle: CANARY\n---\nText\n"}
    shown = html("[a](hidden.md) [[hidden]] ![[hidden]]\n\n![[hidden]]\n\n![x](hidden.md)", hidden)
    assert shown == html("[a](hidden.md) [[hidden]] ![[hidden]]\n\n![[hidden]]\n\n![x](hidden.md)")
    assert BROKEN.format("a") in shown and "CANARY" not in shown and "href" not in shown


def test_images_of_the_repository_are_shown_with_their_size_and_text() -> None:
    shown = html("![[pic one.png|300]] ![A *fine* view|40x30](../files/pic%20one.png)", PICTURE)
    assert 'alt="pic one" width="300" loading="lazy"' in shown
    assert 'alt="A *fine* view" width="40" height="30"' in shown


def test_images_from_elsewhere_are_links_because_pages_load_nothing_from_other_hosts() -> None:
    shown = html("![a view](https://example.org/x.png)")
    rel = 'rel="noopener nofollow ugc"'
    assert shown == f'<p dir="auto"><a class="external-image" href="https://example.org/x.png" {rel}>a view</a></p>'


OUTSIDE = {
    *(
        "https://e.example/",
        "HTTPS://e.example",
        "//e.example",
        "https:e.example",
        "https:/e.example",
        "http:e.example",
    ),
    *("https:\\\\e.example", "https:/\\e.example", "/\\e.example", "https&colon;//e.example", "&#104;ttps://e.example"),
    *(
        f"{before}https://e.example/"
        for before in ("\n", "\t", "\r\n", " ", "\x01", "\x0c", "&#10;", "&NewLine;", "&Tab;")
    ),
    *(
        "ht\ntps://e.example",
        "ht&Tab;tps://e.example",
        "https:/\n/e.example",
        "https://e.example\t",
        "\x1f https://e.example",
    ),
}


def test_a_link_to_another_host_has_its_rel_however_it_is_written() -> None:
    for href in sorted(OUTSIDE):
        shown = html(f'<a href="{href}">text</a>')
        assert "href" not in shown or 'rel="noopener nofollow ugc"' in shown
        assert deeds(shown) == []


def test_a_link_that_leads_to_no_host_or_that_the_rendering_made_has_no_rel() -> None:
    shown = html('<a href="#x">a</a> <a href="mailto:a@b.example">b</a> [[Other Note]]', OTHER)
    assert shown.count("href") == 3 and "rel=" not in shown


@pytest.mark.parametrize(
    "written",
    [
        *(f'<{tag} cite="https://e.example/x">text</{tag}>' for tag in ("blockquote", "q", "del", "ins")),
        '<img longdesc="https://e.example/" src="x.png">',
        '<a ping="https://e.example/" href="#x">a</a>',
        '<table background="https://e.example/"><tr><td background="https://e.example/">a</td></tr></table>',
    ],
)
def test_an_address_that_is_no_link_is_dropped(written: str) -> None:
    assert "e.example" not in html(written)


def test_a_note_is_embedded_with_a_link_to_it() -> None:
    shown = html("![[Other Note]]", OTHER)
    assert '<p class="embed-title" dir="auto"><a href="/d/file/other-note">A part</a></p>' in shown
    assert '<p dir="auto">Intro.</p>' in shown and '<p dir="auto">Last.</p>' in shown


def test_a_section_is_embedded_without_what_follows_it() -> None:
    shown = html("## Here\n\n![[Other Note#A part]]", OTHER)
    assert '<h3 dir="auto">A part</h3>' in shown and '<h4 dir="auto">Below</h4>' in shown
    assert "Intro" not in shown and "Last" not in shown


def test_a_block_is_embedded_by_its_name() -> None:
    other = {"notes/b.md": "One.\n\nTwo words. ^two\n\nThree.\n"}
    shown = html("![[b#^two]]", other)
    assert '<p dir="auto">Two words.</p>' in shown and "One" not in shown and "^two</p>" not in shown


def test_documents_that_embed_each_other_end() -> None:
    shown = html("![[b]]", {"notes/b.md": "B ends.\n\n![[page]]\n\n![[b]]\n"})
    assert shown.count("B ends.") == 1
    assert '<p class="embed-title" dir="auto"><a href="/d/file/page">The page</a></p>' in shown


def test_a_heading_that_repeats_the_title_is_left_to_the_page() -> None:
    page = rendered("# The Page\n\nText.\n\n## Part\n\n#### Deep\n\n# Top\n")
    assert "<h1" not in page.html and "The Page" not in page.html
    assert [(each.level, each.id, each.text) for each in page.headings] == [
        (2, "part", "Part"),
        (3, "deep", "Deep"),
        (2, "top", "Top"),
    ]


def test_what_has_no_text_is_neither_an_empty_link_nor_a_row_of_the_contents() -> None:
    page = rendered("[](https://example.org/x) [](gone.md)\n\n## \n\n## Part\n")
    assert ">https://example.org/x</a>" in page.html
    assert BROKEN.format("gone.md") in page.html
    assert [each.text for each in page.headings] == ["Part"]


def test_ids_of_headings_are_those_of_github_and_never_those_of_the_page() -> None:
    page = rendered("# Who we `are`, *really*?\n\n# Search\n\n# Search\n\n# Über_uns 2\n\n# 🌱\n")
    assert [each.id for each in page.headings] == ["who-we-are-really", "search-1", "search-2", "über_uns-2", "section"]


def test_links_within_a_document_lead_to_its_headings_however_they_are_written() -> None:
    shown = html("[a](#The%20part) [b](#the-part) [[#The part]]\n\n# The part\n")
    assert shown.count('href="#the-part"') == 4


def test_callouts_have_a_title_and_fold() -> None:
    shown = html("> [!warning]- Mind *this*\n> Body.\n\n> [!hint]\n> Short.\n\n> [!made-up]\n\n> A quote.\n")
    folded = '<summary class="callout-title" dir="auto">Mind <em>this</em></summary>'
    assert f'<details class="callout callout-warning">{folded}' in shown and '<p dir="auto">Body.</p>' in shown
    assert '<div class="callout callout-tip" role="note"><p class="callout-title" dir="auto">Hint</p>' in shown
    assert '<div class="callout callout-note" role="note"><p class="callout-title" dir="auto">Made up</p>' in shown
    assert '<blockquote dir="auto">\n<p dir="auto">A quote.</p>' in shown


def test_comments_are_not_shown_and_code_keeps_its_percent_signs() -> None:
    shown = html("A %%secret%% b.\n\n%%\nsecret\n\nsecret\n%%\n\n`%%kept%%` 100%% sure\n\n```\n%%kept%%\n```\n")
    assert "secret" not in shown and shown.count("%%kept%%") == 2 and "100%% sure" in shown


def test_formulas_are_mathml_and_sums_of_money_are_text() -> None:
    shown = html("$a_1 * b$ costs $5 or $6, $10 in all.\n\n$$\nx_1 < y_2\n$$\n\nGitHub's: $`z`$\n\n```math\nw\n```\n")
    assert '<p dir="auto"><math><msub><mi>a</mi><mn>1</mn></msub>' in shown
    assert "</math> costs $5 or $6, $10 in all.</p>" in shown
    block = '<div class="math-block" role="group" aria-label="Formula" tabindex="0"><math display="block">'
    assert (
        f"{block}<msub><mi>x</mi><mn>1</mn></msub><mo>&lt;</mo><msub><mi>y</mi><mn>2</mn></msub></math></div>" in shown
    )
    assert "GitHub's: <math><mi>z</mi></math>" in shown and f"{block}<mi>w</mi></math></div>" in shown


def test_equations_are_aligned_by_classes_alone() -> None:
    aligned = html("$$\n\\begin{aligned}a&=b\\\\&=c\\end{aligned}\n$$\n")
    assert '<mtd class="align-right"><mi>a</mi></mtd><mtd class="align-left"><mo>=</mo><mi>b</mi></mtd>' in aligned
    cases = html("$\\begin{cases}1&x\\\\2&y\\end{cases}$")
    assert '<mtd class="align-left"><mn>1</mn></mtd><mtd class="align-left math-gap"><mi>x</mi></mtd>' in cases


@pytest.mark.parametrize(
    "bad",
    [
        *(r"\frac{1", r"\nosuch{x}", r"\href{javascript:alert(1)}{x}", r"\style{color:red}{x}", "^", r"x &"),
        *(r"\def\a{\a\a}\a", r"\newcommand{\a}{x}\a", "x^{" * 400 + "}" * 400, "[" * 1_999 + r"\no"),
        *("x" + "+x" * 1_000, r"\sqrt{" * 285 + "}" * 285, "{x" * 600 + "}" * 600, r"\int_" * 399 + "x"),
    ],
)
def test_a_formula_that_cannot_be_shown_is_its_source(bad: str) -> None:
    assert f'<code class="math" dir="ltr">{escape(bad)}</code>' in html(f"so ${bad}$ is")
    assert f'<pre class="math-block" tabindex="0" dir="ltr"><code>{escape(bad)}</code></pre>' in html(f"$$\n{bad}\n$$")


def test_a_text_is_not_pulled_over_others_by_a_formula() -> None:
    assert "40em" not in html(r"$x \hspace{-40em} y$") and "400em" not in html(r"$x \hspace{400em} y$")


@pytest.mark.parametrize(
    "tag",
    [
        *('<mpadded voffset="5em">', '<mpadded height="0em">', '<mpadded depth="0">', '<mpadded lspace="5em">'),
        *('<mspace width="99em">', '<mspace height="9em">', '<mo minsize="10em">', '<mo rspace="-1em">'),
        *('<mo lspace="50%">', '<mo maxsize="99">', '<mpadded width="+9em">'),
    ],
)
def test_mathml_of_an_author_has_no_position_and_no_great_length(tag: str) -> None:
    name = tag[1:].partition(" ")[0]
    assert f"<math><{name}>" in html(f"<math>{tag}</{name}></math>")


def test_spaces_and_sizes_of_formulas_are_kept() -> None:
    shown = html(r"$a \quad \Bigl( b \vphantom{x} \hspace{2em}$")
    for part in ('<mspace width="1em">', 'minsize="1.', '<mpadded width="0"><mphantom>', '<mspace width="2em">'):
        assert part in shown


def test_brackets_that_nothing_closes_take_no_time() -> None:
    assert html(f"${'[(' * 900}x$").count("<mo") == 1_800


def test_formulas_of_one_body_are_bounded() -> None:
    shown = html("$x+x+x+x+x+x+x+x+x+x$ and\n\n" * 4_000)
    assert 2_000 < shown.count("<math>") < 4_000 and shown.count("<math>") + shown.count('<code class="math"') == 4_000


def test_what_github_adds_is_shown() -> None:
    shown = html(
        "- [x] done\n\n~~no~~ ==yes== www.example.org [^1]\n\n|a|b|\n|-|-:|\n|[[x\\|y]]|2|\n\nT\n: D\n\n[^1]: Note.\n"
    )
    for part in ('aria-label="Done">☑</span> done', "<s>no</s> <mark>yes</mark>", 'href="http://www.example.org"'):
        assert part in shown
    assert '<td class="align-right" dir="auto">2</td>' in shown
    for part in ('<dt dir="auto">T</dt>\n<dd dir="auto">D</dd>', '<li id="fn1"', 'href="#fnref1"'):
        assert part in shown


def test_code_is_highlighted_by_classes_alone() -> None:
    shown = html("```python\ndef f(): ...\n```\n\n```no-such-language\n<b>\n```\n")
    assert '<span class="k">def</span>' in shown and "style" not in shown and "&lt;b&gt;" in shown


def test_a_picture_has_the_size_that_is_asked_for_and_else_its_own() -> None:
    header = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + (800).to_bytes(4) + (600).to_bytes(4) + b"\x08\x02\x00\x00\x00"
    files = {"wide.png": header, "odd.png": b"?"}
    shown = html("![[wide.png]] ![[wide.png|400]] ![[wide.png|40x40]] ![[odd.png]]", files)
    sizes = ('width="800" height="600"', 'width="400" height="300"', 'width="40" height="40"', 'alt="odd" loading')
    assert all(size in shown for size in sizes), shown


def test_no_id_of_the_document_page_can_be_that_of_a_heading() -> None:
    pages = Path(commonplace.__file__).parent
    templates = [pages / "web/pages/templates/base.html", pages / "documents/pages/templates/document.html"]
    ids = {name for page in templates for name in re.findall(r'\bid="([^"]+)"', page.read_text(encoding="utf-8"))}
    assert ids and not {name for name in ids if anchor(name) == name} - RESERVED


def test_links_and_images_in_html_are_led_as_those_in_markdown() -> None:
    body = "<p align=center><img alt='A \"view\"' src='../files/pic one.png' width=300>\n"
    body += "<a href=other%20note.md#a-part>x</a> <a href='gone.md'>gone</a></p>\n\n"
    body += "And <img src=https://example.org/x.png alt='far & away'> <!-- <img src=x.png> -->"
    shown = html(body, {**OTHER, **PICTURE})
    assert '<img alt="A &quot;view&quot;" src="/files/pic one.png" width="300">' in shown
    assert '<a href="/d/file/other-note#a-part">x</a>' in shown and "<a>gone</a>" in shown
    assert '<p dir="auto">And far &amp; away' in shown and "x.png" not in shown


def test_a_link_to_a_file_keeps_the_place_in_it_however_it_is_written() -> None:
    files = {"files/a b.pdf": b"%PDF", "files/talk.mp3": b"ID3", "files/pic.png": b"\x89PNG"}
    body = "[a](../files/a%20b.pdf#page=2) [[a b.pdf#page=2]] ![[a b.pdf#page=2]] [b](files/a b.pdf#page=2)\n"
    body += "<a href='../files/a%20b.pdf#page=2'>c</a> ![d](../files/a%20b.pdf#page=2)\n\n![[talk.mp3#t=30,60]]\n"
    shown = html(body + '\n[e](../files/talk.mp3#t=30) ![[pic.png#x&y]] [f](../files/a%20b.pdf#"><b>)', files)
    assert shown.count('href="/files/a b.pdf#page=2"') == 6
    assert 'href="/files/talk.mp3#t=30,60"' in shown and 'href="/files/talk.mp3#t=30"' in shown
    assert 'src="/files/pic.png#x&amp;y"' in shown and "<b>" not in shown


def test_tags_lead_to_their_documents_and_more_than_lists_hold_are_text() -> None:
    shown = html("A #Tag/In and `#code`.\n\n# Part #no\n\n> [!note] On #this\n> #that\n")
    assert '<a class="tag" href="/t/tag/in">#Tag/In</a>' in shown and "Part #no<a" in shown
    assert shown.count('class="tag"') == 3 and ">#code<" in shown
    many = html(" ".join(f"#t{number}" for number in range(300)))
    assert many.count('class="tag"') == 200 and many.endswith("#t299</p>")


def test_the_direction_that_an_author_gives_stays() -> None:
    shown = html('<p dir="rtl">x</p>\n\n<span dir="ltr">y</span> z\n\n- one\n\n  two\n\n```\ncode\n```\n')
    assert '<p dir="rtl">x</p>' in shown and '<p dir="auto"><span dir="ltr">y</span> z</p>' in shown
    assert '<li dir="auto">\n<p dir="auto">one</p>' in shown
    assert '<pre class="highlight" tabindex="0" dir="ltr"><code>code' in shown
