"""Links are found where Obsidian and CommonMark find them, with their lines."""

from hypothesis import given
from hypothesis import strategies as st

from commonplace.documents.content.reader import contents_of
from commonplace.repository.link import Link
from commonplace.repository.markdown import ParsedFile
from tests.unit.documents.content.files import markdown, published


def links(body: str) -> list[Link]:
    return list(contents_of(ParsedFile({}, body, 1)).links)


def targets(body: str) -> list[str]:
    return [link.target for link in links(body)]


def test_a_link_has_target_fragment_text_and_line() -> None:
    body = '# Top\n\nFirst line\nand a [*fine* `link`](data/concepts/care.md#Why%20so "title").\n'
    assert links(body) == [Link("data/concepts/care.md", "Why so", "link", "fine link", 4)]


def test_lines_count_from_the_top_of_the_file() -> None:
    file = published(markdown("\n> quote\n> [a](a.md)\n\n- one\n- two [b](b.md)\n  more [c](c.md)\n", title="A"))
    assert [(link.target, link.line - file.body_line) for link in contents_of(file).links] == [
        ("a.md", 2),
        ("b.md", 5),
        ("c.md", 6),
    ]


def test_line_ends_of_windows_do_not_move_lines() -> None:
    assert links("One\r\n\r\nTwo\r\n[a](a.md)\r\n")[0].line == 4


def test_targets_are_decoded_once() -> None:
    assert targets("[a](my%20page.md) [b](100%25.md) [c](caf%C3%A9.md) [d](a%2520b.md)") == [
        "my page.md",
        "100%.md",
        "café.md",
        "a%20b.md",
    ]


def test_an_encoded_hash_belongs_to_the_name() -> None:
    assert links("[a](no%231.md#part)") == [Link("no#1.md", "part", "link", "a", 1)]


def test_addresses_on_the_web_and_pure_anchors_are_left_out() -> None:
    body = "[a](https://example.org/a.md) [b](mailto:a@b.c) [c](//example.org) [d](#here) [e]() [f](%20) <https://example.org>"
    assert (
        links(body + " ![f](data:image/png;base64,xx) [[https://example.org]] [[#Heading]] [g](obsidian://open)") == []
    )


def test_reference_links_and_images_are_links() -> None:
    body = "[text][ref] and [ref] and ![alt](pic.png)\n\n[ref]: notes/a.md\n"
    assert [(link.kind, link.target) for link in links(body)] == [
        ("link", "notes/a.md"),
        ("link", "notes/a.md"),
        ("image", "pic.png"),
    ]


def test_an_image_inside_a_link_is_two_references() -> None:
    assert sorted((link.kind, link.target) for link in links("[![alt](pic.png)](page.md)")) == [
        ("image", "pic.png"),
        ("link", "page.md"),
    ]


def test_wiki_links_and_embeds() -> None:
    assert links("See [[Care Work#Why|care]], [[tags/dao.md]], ![[map.png|300]] and ![[Care Work]].") == [
        Link("Care Work", "Why", "wiki", "care", 1),
        Link("tags/dao.md", None, "wiki", "tags/dao.md", 1),
        Link("map.png", None, "embed", "300", 1),
        Link("Care Work", None, "embed", "Care Work", 1),
    ]


def test_a_bar_in_a_table_is_escaped() -> None:
    assert targets("| a | b |\n|---|---|\n| [[Care\\|c]] | [d](d.md) |\n") == ["Care", "d.md"]


def test_a_colon_in_a_wiki_name_is_no_scheme() -> None:
    assert targets("[[Note: how we meet]]") == ["Note: how we meet"]


def test_brackets_in_the_text_of_a_link_are_no_wiki_link() -> None:
    assert targets("[[1]](https://example.org) and [[2]](notes/two.md)") == ["notes/two.md"]


def test_nothing_inside_code_or_escaped_is_a_link() -> None:
    body = "`[a](a.md) [[b]]` \\[c](c.md) \\[[d]]\n\n```\n[e](e.md) ![[f]]\n```\n"
    body += "\n    [[g]] [h](h i.md)\n\n<!-- [i](i.md) -->\n"
    assert targets(body) == []


def test_targets_with_raw_spaces_are_followed_as_obsidian_does() -> None:
    body = '[a](docs/my page.md#The part) ![b](maps/old map (1).png "title") [c](<other page.md>)'
    assert [(link.kind, link.target, link.fragment) for link in links(body)] == [
        ("link", "docs/my page.md", "The part"),
        ("image", "maps/old map (1).png", None),
        ("link", "other page.md", None),
    ]


def test_words_in_parentheses_after_brackets_are_no_link() -> None:
    assert targets("a note [sic] (see below) and [more](as we said before) or [x](unclosed page.md\n)") == []


def test_frontmatter_embeds_and_wiki_links_are_links() -> None:
    file = published(
        markdown(
            banner="![[attachments/a.png]]",
            logo="attachments/logo%20one.svg",
            image="https://example.org/x.png",
            author=["[[Rosa Lind|Rosa]]", "Ivo"],
            title="Not a [[link]]",
        )
    )
    assert [(link.kind, link.target, link.line) for link in contents_of(file).links] == [
        ("embed", "attachments/a.png", 3),
        ("image", "attachments/logo one.svg", 4),
        ("wiki", "Rosa Lind", 6),
    ]


def test_text_without_an_end_is_left_alone_where_it_would_take_too_long() -> None:
    assert targets("[](" * 100_000 + "\n\n[a](a.md)") == ["a.md"]


LINKISH = st.text(alphabet="[]()!<>`\\|#*_ \n\r\tab/.:%-&;\"'\x00\u2028é🌱", max_size=120)


@given(LINKISH)
def test_no_text_makes_finding_links_raise_or_lose_its_place(body: str) -> None:
    for link in links(body):
        assert link.target
        assert 1 <= link.line <= 1 + body.count("\n") + body.count("\r")


@given(st.text(alphabet="[]()!*_| \nab/.:%&;\"'\u2028é🌱", max_size=120))
def test_a_link_in_a_paragraph_of_its_own_is_found_whatever_stands_before_it(body: str) -> None:
    unindented = "\n".join(line.strip(" ") for line in body.split("\n"))
    assert links(unindented + "\n\n[a](care.md)\n")[-1].target == "care.md"


def test_links_and_images_in_html_are_links_unless_they_are_commented_out() -> None:
    body = "<p>\n<img width=9 src='a b.png'>\n<a title=x href=\"c&amp;d.md#e\">\n</p>\n\n"
    body += "x <img src=f.png> <A HREF=g.md>\n\n<!--\n<img src=h.png>\n-->\n\n`<img src=i.png>`"
    body += " <img src=https://example.org/j.png> <imgsrc=k.png>\n"
    assert [(link.kind, link.target, link.fragment, link.line) for link in links(body)] == [
        ("image", "a b.png", None, 2),
        ("link", "c&d.md", "e", 3),
        ("image", "f.png", None, 6),
        ("link", "g.md", None, 6),
    ]
