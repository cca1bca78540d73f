"""The gate of a laptop that shows everything: what says nothing is published, what says no is not."""

import pytest

from commonplace.documents.content.normalise import normalise
from commonplace.documents.content.reader import Invalid, Published, Unpublished, Verdict, judge
from commonplace.repository.blobs import MAX_POINTER_BYTES

LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 12\n"


def judged(text: str | bytes) -> Verdict:
    return judge(text.encode() if isinstance(text, str) else text, everything=True)


@pytest.mark.parametrize(
    "text",
    [
        "# Herons\n\nThey wait.\n",
        "They wait.\n",
        "---\ntags: birds\n---\nThey wait.\n",
        "---\n---\nThey wait.\n",
        "---\npublish: true\n---\nThey wait.\n",
        "---\ndraft: false\n---\nThey wait.\n",
        "---\npublished: 2024-05-01\n---\nThey wait.\n",
        "---\nprivate: false\n---\nThey wait.\n",
        "---\nA sentence between two rules.\n---\nThey wait.\n",
        "+++\ntitle = 'Herons'\n+++\nA draft of a public page.\n",
        '{"title": "Herons", "more": {}}\nA draft of a public page.\n',
        "\n---\ntitle: Herons\n---\nA draft of a public page.\n",
        "Drafts are private.\n\npublish: false\n",
    ],
)
def test_a_file_that_says_nothing_about_publishing_is_shown(text: str) -> None:
    assert isinstance(judged(text), Published)
    says_so = "publish: true" in text
    assert isinstance(judge(text.encode()), Published) is says_so, "only with everything"


@pytest.mark.parametrize(
    "field",
    [
        "publish: false",
        "Publish: false",
        "publish:",
        "publish: no",
        "publish: 'true'",
        "publish: [true]",
        "published: false",
        "public: no",
        "draft: true",
        "Draft: yes",
        "private: true",
    ],
)
def test_what_says_that_it_is_private_or_a_draft_stays_so(field: str) -> None:
    verdict = judged(f"---\ntags: birds\n{field}\n---\nThey wait.\n")
    assert isinstance(verdict, Unpublished), field


def test_frontmatter_that_cannot_be_read_is_passed_over_and_reported() -> None:
    verdict = judged("---\ntitle: Week 3: harvest\n---\n# Week three\n\nBeans.\n")
    assert isinstance(verdict, Published)
    fields = normalise("garden/Week 3.md", verdict.file)
    assert fields.title == "Week three"
    assert verdict.file.body == "# Week three\n\nBeans.\n"
    assert verdict.file.body_line == 4
    assert fields.problems[0].code == "malformed-frontmatter"
    never_closed = judged("---\ntitle: Beans\ntags: [a\n\nBeans.\n")
    assert isinstance(never_closed, Published)
    assert never_closed.file.body.startswith("---\ntitle: Beans")


@pytest.mark.parametrize("field", ["publish: false", "\tpublish: false", "published = no", "draft: yes", "Private: 1"])
def test_unreadable_frontmatter_with_a_word_about_publishing_is_not_shown(field: str) -> None:
    verdict = judged(f"---\ntitle: Week 3: harvest\n{field}\n---\nBeans.\n")
    assert isinstance(verdict, Unpublished | Invalid)


@pytest.mark.parametrize("before", ["", "\n", " ", "\ufeff\n", "\u200b", "\r\n \r\n"])
@pytest.mark.parametrize(
    "head",
    [
        "---\npublish: false\n---",
        "---\nPrivate: true\nSome words that are not fields.\n---",
        "+++\ndraft = true\n+++",
        ';;;\n{"publish": false}\n;;;',
        '{\n"a": {"b": 1\n}\n, "draft": true\n}',
        '{"draft": true}',
        "```yaml\npublish: false\n```",
        "<!-- publish: false -->",
        "——\npublish: false\n——",
        "publish: false",
        "title: Herons\npublish: false",
        "---" + " " * 2_000 + "\ntitle: a: b\npublish: false\n---",
    ],
)
def test_frontmatter_that_is_not_read_and_has_a_word_about_publishing_is_not_shown(before: str, head: str) -> None:
    verdict = judged(f"{before}{head}\nThey wait.\n")
    assert isinstance(verdict, Unpublished | Invalid)
    assert verdict.problem.hint


@pytest.mark.parametrize("raw", [b"", b" \n", LFS, b"caf\xe9\n", b"x" * 5_000_001])
def test_what_is_no_text_is_never_shown(raw: bytes) -> None:
    assert len(LFS) < MAX_POINTER_BYTES
    assert isinstance(judged(raw), Unpublished | Invalid)


def test_a_page_without_title_is_called_as_its_file() -> None:
    verdict = judged("They wait.\n")
    assert isinstance(verdict, Published)
    assert normalise("birds/Grey heron.md", verdict.file).title == "Grey heron"
