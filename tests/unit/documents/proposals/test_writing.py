"""A proposed file says what was asked for, to our own reader too, and is never published."""

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.documents.content.fields import plain_text
from commonplace.documents.content.findings import types_of
from commonplace.documents.content.normalise import normalise
from commonplace.documents.content.reader import Unpublished, judge, parse
from commonplace.documents.content.validate import validate_tree
from commonplace.documents.proposals.proposal import (
    Proposal,
    ProposalContext,
    document_proposal,
    link_proposal,
    proposable,
)
from commonplace.kernel.errors import CommonplaceError, InvalidInput, TooLarge
from commonplace.repository.markdown import ParsedFile

TODAY = date(2026, 3, 4)
URL = "https://example.org/handbook"
NASTY = [
    *("---", "--- x", "publish: true", '"', "\\", "'", ": ", " #", "\n---\npublish: true\n---\n", "{", "[", "&a"),
    "*a",
]
NASTY += [
    *("!!str", "|", ">", "%", "@", "`", "\u2028", "\u0085", "\x00", "\x7f", "\ufeff", "\ufffe", "🙂", "\u202e"),
    "\t",
]
text = st.lists(st.one_of(st.text(max_size=12), st.sampled_from(NASTY)), max_size=6).map("".join)


def asking(**changes: Any) -> ProposalContext:
    usual: dict[str, Any] = {"tool": "create_draft", "day": TODAY, "subject": "0xabc"}
    return ProposalContext(**(usual | changes))


def draft(who: ProposalContext | None = None, **changes: Any) -> Proposal:
    usual: dict[str, Any] = {"content_type": "pattern", "title": "Rotating stewardship", "content": "Take turns.\n"}
    return document_proposal(who or asking(), **(usual | changes))


def link(who: ProposalContext | None = None, **changes: Any) -> Proposal:
    usual: dict[str, Any] = {"url": URL, "title": "The handbook"}
    return link_proposal(who or asking(tool="save_link"), **(usual | changes))


def read(proposal: Proposal) -> ParsedFile:
    file = parse(proposal.text.encode())
    assert isinstance(file, ParsedFile)
    return file


def test_a_draft_as_it_stands_in_the_repository() -> None:
    proposal = draft(description="How a circle\npasses things on.", tags=["Governance", "shared ownership"])
    assert proposal.path == "data/resources/patterns/rotating-stewardship.md"
    assert proposal.text == (
        '---\ntitle: "Rotating stewardship"\ndescription: "How a circle passes things on."\ndate: 2026-03-04\n'
        'tags: ["governance", "shared-ownership"]\npublish: false\n---\n\nTake turns.\n'
    )
    assert proposal.title == "Draft pattern: Rotating stewardship"
    assert proposal.branch.startswith("commonplace/draft-rotating-stewardship-")


def test_a_link_as_it_stands_in_the_repository() -> None:
    proposal = link(url="HTTPS://Example.org/handbook", description="Worth reading.")
    assert proposal.path == "data/links/the-handbook.md"
    assert proposal.text == (
        '---\ntitle: "The handbook"\ndescription: "Worth reading."\nurl: "https://example.org/handbook"\n'
        "date: 2026-03-04\npublish: false\n---\n"
    )
    assert proposal.title == "Link: The handbook"


@given(title=text, description=text, content=text, tags=st.lists(text, max_size=3))
def test_whatever_is_said_the_file_says_the_same_and_stays_private(
    title: str, description: str, content: str, tags: list[str]
) -> None:
    try:
        proposal = draft(title=title, description=description, content=content, tags=tags)
    except CommonplaceError:
        return
    assert isinstance(judge(proposal.text.encode()), Unpublished)
    file = read(proposal)
    assert file.frontmatter["publish"] is False
    assert set(file.frontmatter) <= {"title", "description", "date", "tags", "publish"}
    said = normalise(proposal.path, file)
    assert (said.title, said.description or "") == (plain_text(title), plain_text(description))
    assert (said.content_type, said.date) == ("pattern", "2026-03-04")
    assert file.body.strip("\n \t\ufeff") in content.replace("\r\n", "\n").replace("\r", "\n")
    assert {problem.code for problem in said.problems} <= {"missing-description"}


@given(title=text, description=text, address=text)
def test_whatever_a_link_says_its_file_says_the_same_and_stays_private(
    title: str, description: str, address: str
) -> None:
    try:
        proposal = link(title=title, description=description, url=f"https://example.org/{address}")
    except CommonplaceError:
        return
    assert isinstance(judge(proposal.text.encode()), Unpublished)
    said = normalise(proposal.path, read(proposal))
    assert (said.content_type, said.title) == ("link", plain_text(title))
    assert said.url == f"https://example.org/{address}".strip()
    assert {problem.code for problem in said.problems} <= {"missing-description"}


@pytest.mark.parametrize(
    "title", ["2024", "true", "null", "~", "1.10", "0x1F", "2026-01-01", "yes", "- a", "? b", "''"]
)
def test_titles_that_look_like_other_values_stay_titles(title: str) -> None:
    assert read(draft(title=title)).frontmatter["title"] == title


@pytest.mark.parametrize("content_type", proposable())
def test_once_reviewed_our_validator_has_nothing_to_say(content_type: str) -> None:
    proposal = draft(content_type=content_type, description="Said in short.")
    reviewed = proposal.text.replace("publish: false", "publish: true")
    report = validate_tree([proposal.path], lambda _: reviewed.encode())
    assert types_of(report.published.values()) == {content_type: 1}
    assert [finding.problem.code for finding in report.findings] == []


@pytest.mark.parametrize(
    "content",
    [
        "---\npublish: true\n---\nText",
        "\n \n---\npublish: true\n---\nText",
        "\ufeff---\r\ntitle: x\r\n---\r\nText",
        "---\nnever closed",
        "---   \n",
    ],
)
def test_frontmatter_in_the_content_is_refused_with_what_to_do(content: str) -> None:
    with pytest.raises(InvalidInput, match="frontmatter") as caught:
        draft(content=content)
    assert "arguments" in (caught.value.hint or "")


def test_rules_further_down_stay_in_the_body() -> None:
    proposal = draft(content="One\n\n---\npublish: true\n---\nTwo")
    assert isinstance(judge(proposal.text.encode()), Unpublished)
    assert read(proposal).body == "\nOne\n\n---\npublish: true\n---\nTwo\n"


@pytest.mark.parametrize(
    "wrong",
    [
        {"title": ""},
        {"title": " \n"},
        {"title": "\u200b"},
        {"title": "x" * 201},
        {"title": "half \ud800"},
        {"description": "x" * 2001},
        {"content": ""},
        {"content": " \n\n"},
        {"content": "bell \x07"},
        {"content": "half \udfff"},
        {"tags": ["x"] * 21},
        {"tags": ["x" * 61]},
        {"tags": ["c++!"]},
        {"content_type": "resource"},
        {"content_type": "nonsense"},
        {"content_type": "index"},
    ],
)
def test_what_is_out_of_bounds_is_refused_with_a_hint(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        draft(**wrong)
    assert caught.value.hint


def test_a_key_out_of_bounds_is_refused() -> None:
    with pytest.raises(InvalidInput):
        draft(asking(key="x" * 201))


def test_content_over_its_bound_is_too_large() -> None:
    assert draft(content="x" * 199_999).text.endswith("x\n")
    with pytest.raises(TooLarge):
        draft(content="é" * 100_001)


def test_a_link_is_no_draft() -> None:
    with pytest.raises(InvalidInput) as caught:
        draft(content_type="link")
    assert "save_link" in (caught.value.hint or "")


def test_the_same_request_is_the_same_proposal_on_any_day() -> None:
    first, later = draft(), draft(asking(day=date(2026, 5, 6)))
    assert (first.branch, first.fingerprint) == (later.branch, later.fingerprint)
    assert first.text != later.text


@pytest.mark.parametrize(
    "other",
    [
        asking(subject="0xdef", key="k"),
        asking(subject=None, key="k"),
        asking(organisation="reef", key="k"),
        asking(tool="save_link", key="k"),
        asking(key="another"),
        asking(),
    ],
)
def test_a_key_is_its_callers_alone(other: ProposalContext) -> None:
    assert draft(asking(key="k")).branch != draft(other).branch


def test_one_key_is_one_branch_whatever_it_is_used_for() -> None:
    first, other = draft(asking(key="k")), draft(asking(key="k"), title="Something else")
    assert first.branch == other.branch
    assert first.fingerprint != other.fingerprint


@pytest.mark.parametrize(
    "change", [{"content": "Another text."}, {"description": "More"}, {"tags": ["x"]}, {"content_type": "practice"}]
)
def test_without_a_key_what_is_asked_for_names_the_proposal(change: dict[str, Any]) -> None:
    assert draft().branch != draft(**change).branch


def test_an_author_is_named_only_when_given() -> None:
    named = draft(asking(author="rosa.eth"))
    assert read(named).frontmatter["author"] == ["rosa.eth"]
    assert "Proposed by: rosa.eth" in named.body
    assert "0xabc" not in named.text + named.body
    assert "author" not in read(draft()).frontmatter
    assert "Proposed by" not in draft().body
