"""Why a file is not published: line, what is written, cure."""

import pytest

from commonplace.documents.content.reader import Published, judge
from commonplace.repository.problems import Problem


def problem(raw: bytes | str) -> Problem:
    verdict = judge(raw.encode() if isinstance(raw, str) else raw)
    assert not isinstance(verdict, Published), raw
    return verdict.problem


def page(line: str, body: str = "Text.\n") -> str:
    return f"---\ntitle: A\n{line}\n---\n{body}"


@pytest.mark.parametrize(
    ("line", "written", "message"),
    [
        ("publish: yes", "publish: yes", "`publish` is not the value `true`, and no other word publishes"),
        ("publish: 1", "publish: 1", "`publish` is not the value `true`, and no other word publishes"),
        ("publish: 'true'", "publish: 'true'", "`true` stands in quotes, which makes it a text"),
        ("publish: ”true”", "publish: ”true”", "`true` stands in typographic quotes, which makes it a text"),
        (
            "publish: true\u00a0",
            "publish: true<U+00A0>",
            "an invisible character stands beside `true`, which makes it a text",
        ),
        ("publish: [true]", "publish: [true]", "`publish` is a list, not the value `true`"),
        ("publish:", "publish:", "`publish` is empty"),
    ],
)
def test_a_value_that_is_not_true_is_named_with_what_is_written(line: str, written: str, message: str) -> None:
    found = problem(page(line))
    assert (found.code, found.line, found.written, found.message, found.hint) == (
        "publish-not-true",
        3,
        written,
        message,
        "write `publish: true`",
    )


def test_a_template_in_the_place_of_true_is_told_what_to_write() -> None:
    found = problem(page("publish: {{publish}}"))
    assert (found.code, found.line) == ("unreadable-and-private", 3)
    assert found.message.startswith("the frontmatter is not valid here")
    assert found.hint == "write `publish: true`, or `publish: false`"


@pytest.mark.parametrize("name", ["Publish", "PUBLISH", "published", "pubish", "publsih", "is_published", "public"])
def test_a_field_that_looks_like_publish_is_named(name: str) -> None:
    found = problem(page(f"{name}: true"))
    assert (found.code, found.line, found.severity) == ("publish-misspelt", 3, "warning")


@pytest.mark.parametrize("line", ["publish: false", "publish: no", "published: false", "Publish: False", "public: no"])
def test_a_page_that_says_it_is_private_is_no_near_miss(line: str) -> None:
    assert problem(page(line)).severity == "hint"


@pytest.mark.parametrize(
    ("above", "message"),
    [
        ("\n\n", "2 empty lines stand before the frontmatter"),
        ("\r\n", "1 empty line stands before the frontmatter"),
        ("\ufeff\n", "an invisible character and 1 empty line stands before the frontmatter"),
        ("\ufeff\ufeff", "an invisible character precedes the frontmatter"),
        ("\u200b", "an invisible character precedes the frontmatter"),
        ("# Heading\n", "text precedes the frontmatter"),
        ("<!-- made by a tool -->\n\n", "text precedes the frontmatter"),
    ],
)
def test_what_stands_before_the_frontmatter_is_named(above: str, message: str) -> None:
    found = problem(above + page("publish: true"))
    assert (found.code, found.line, found.message) == ("frontmatter-not-first", 1, message)


def test_a_byte_order_mark_alone_hinders_nothing() -> None:
    assert isinstance(judge(b"\xef\xbb\xbf" + page("publish: true").encode()), Published)


def test_a_fence_that_is_none_is_named() -> None:
    for fence in ["———", "–––", "--", "----", " ---", "***", "+++", "```yaml", "<!--", "___"]:
        found = problem(page("publish: true").replace("---", fence))
        assert (found.code, found.line, found.written) == ("frontmatter-fence", 1, fence)
        assert "three hyphens" in (found.hint or "")


@pytest.mark.parametrize("fence", ["———", "----", "--", " ---", "…".replace("…", "–––")])
def test_a_closing_line_that_closes_nothing_is_named(fence: str) -> None:
    found = problem(f"---\ntitle: A\npublish: true\n{fence}\nText.\n")
    assert (found.code, found.line, found.written) == ("unclosed-frontmatter", 4, fence)


@pytest.mark.parametrize("line", ["publish:true", "publish = true", "publish：true", "publish=true"])
def test_a_colon_without_a_space_is_named(line: str) -> None:
    found = problem(page(line))
    assert (found.severity, found.line, found.written, found.hint) == ("error", 3, line, "write `publish: true`")


def test_a_publish_that_stands_elsewhere_is_named_where_it_stands() -> None:
    indented = problem("---\nmeta:\n  publish: true\n---\n")
    below = problem("---\ntitle: A\n---\n\npublish: true\n")
    second = problem("---\ncreated: 2020\n---\n---\ntitle: A\npublish: true\n---\n")
    bare = problem("title: A\npublish: true\n\nText.\n")
    assert [(one.code, one.line) for one in (indented, below, second, bare)] == [
        ("publish-outside", 3),
        ("publish-outside", 5),
        ("publish-outside", 6),
        ("publish-outside", 2),
    ]


def test_a_draft_is_told_from_a_draft_that_is_not_understood() -> None:
    draft, unclear = problem(page("publish: true\ndraft: true")), problem(page("publish: true\ndraft: soon"))
    assert [(one.code, one.line, one.severity) for one in (draft, unclear)] == [
        ("draft", 4, "hint"),
        ("draft-not-understood", 4, "warning"),
    ]


def test_a_file_in_another_encoding_is_told_which() -> None:
    assert problem(page("publish: true").encode("utf-16")).message == "the file is UTF-16, not UTF-8"
    assert problem("---\ntitle: Café\npublish: true\n---\n".encode("latin-1")).code == "invalid-utf8"


def test_a_tab_is_named() -> None:
    assert problem("---\npublish: true\ntags:\n\t- a\n---\n").hint == "there is a tab in this line: indent with spaces"


PROSE = [
    "---\nPublished: in 1998 by the press of the town.\n\nMore prose.\n",
    "---\npublished: in 1998\n\nMore.\n",
    "---\r\nPublished: in 1998\r\nby the press.\r\n",
    "---\nPublish: what you know, and nothing else than that.\n",
    "---\nPublished: in 1998: a novel that all of us read.\n\n---\nMore.\n",
    "---\nNote: this page is old.\n\nSo it is, and stays.\n\n---\nThe end\n\n---\n",
    "---\n*Note: this page is old* and nobody reads it.\n\n---\nMore.\n",
    "---\nNote: this page is old.\nNote: this page is very old.\n\n---\nMore.\n",
    "---\nPublished: in 1998 by the press of the town.\n\n" + "More prose stands here.\n" * 4000 + "\n---\nMore.\n",
    "---\nA paragraph of prose stands here.\n\n---\nMore.\n",
    "---\nDate: 5 March\nFrom: Ines\n\nDear all\n",
    "Published: in 1998 by the press\n\nText.\n",
    "published: 1998\n\nText.\n",
    "publish: soon, we hope\n",
    "Published: yes, in three languages\n",
    "public: everybody may come\n",
    "# How to\n\n```yaml\npublish: true\n```\n",
    "# How to\n\n    publish: true\n",
]


def test_prose_that_begins_like_a_field_is_no_frontmatter() -> None:
    for raw in PROSE:
        found = problem(raw)
        assert (found.code, found.severity) == ("no-frontmatter", "hint")
        assert found.written is None


@pytest.mark.parametrize(
    "line",
    ["published: in 1998", "Published: 2024-03-05", "publisher: Faber", "publishing: Faber", "public: everybody"],
)
def test_a_field_that_is_not_about_this_page_is_no_near_miss(line: str) -> None:
    assert problem(page(line)).code == problem(page("description: B", f"{line}\n")).code == "no-publish"


@pytest.mark.parametrize(
    ("raw", "code", "line"),
    [
        ("---\ntitle: A\npublish: true\n\nText.\n", "unclosed-frontmatter", 1),
        ("---\npublish: true\nText.\n", "unclosed-frontmatter", 1),
        ("---\nfoo: x\n\ntags:\n  - a\npublish: true\n\nText.\n", "unclosed-frontmatter", 1),
        ("---\nPublished: true\nText.\n", "publish-outside", 2),
        ("---\ntitle: A novel of the town: part one\npublish: true\n---\n", "malformed-frontmatter", 2),
        ("---\n{title: A novel: of the old town, publish: true}\n---\n", "malformed-frontmatter", 2),
        ("publish: true, title: A\n", "publish-outside", 1),
        ("published: ture\n\nText.\n", "publish-outside", 1),
        ("publish: “true”\n\nText.\n", "publish-outside", 1),
        ("title: A\nlist:\n    - a\npublish: yes  # now\n", "publish-outside", 4),
        ("```yaml\npublish: true\n```\n", "frontmatter-fence", 1),
    ],
)
def test_frontmatter_that_went_wrong_is_still_told_from_prose(raw: str, code: str, line: int) -> None:
    found = problem(raw)
    assert (found.code, found.line) == (code, line)


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ("Text.\n", "no-frontmatter"),
        ("", "empty-file"),
        (page("description: B"), "no-publish"),
        ("# Notes\n\nWhat we publish: a list of crabs.\n", "no-frontmatter"),
        ("---\ntitle: A\n---\n```yaml\npublish: true\n```\n", "no-publish"),
        ("---\ntitle: A\n# publish: true\n---\n", "publish-false"),
    ],
)
def test_a_page_that_nobody_misses_is_a_hint_at_most(raw: str, code: str) -> None:
    found = problem(raw)
    assert (found.code, found.severity) == (code, "hint")
