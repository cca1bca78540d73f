"""`save_link` and `create_draft`: what a model gets back, and what becomes of a request."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from commonplace.documents.content.document import Document
from commonplace.documents.content.library import Library
from commonplace.documents.content.reader import Unpublished, judge
from commonplace.documents.tools import proposals as proposal_tools
from commonplace.documents.tools.services import KnowledgeServices
from commonplace.identity.principals import Principal
from commonplace.kernel.errors import Conflict, InvalidInput, Unavailable
from commonplace.web.mcp.declaration import Answer, Call, Caller, Tool
from tests.fakes.library import FakeLibrary, garden, make
from tests.fakes.proposals import FakeProposals

MEMBER = Principal(subject="0xabc", tier="member", display_name="rosa.eth")
OTHER = Principal(subject="0xdef", tier="vibecoder")
LINK: dict[str, Any] = {"url": "https://example.org/handbook", "title": "The handbook"}
DRAFT: dict[str, Any] = {"contentType": "pattern", "title": "Rotating stewardship", "content": "Take turns."}


TYPES = ("pattern", "study", "guide")


class Nothing:
    """No tool of this module may look into the index."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} is not for proposals")


@pytest.fixture
def proposals() -> FakeProposals:
    return FakeProposals({"data/links/tide-tables.md": ""})


def tools(proposals: FakeProposals | None, documents: Sequence[Document] = (), **how: Any) -> dict[str, Tool]:
    library = Library(FakeLibrary(documents))
    clock = lambda: datetime(2026, 3, 4, 23, 59, tzinfo=UTC)  # noqa: E731
    nothing: Any = Nothing()
    using = KnowledgeServices(library=library, search=nothing, proposals=proposals, clock=clock, **how)
    return {tool.name: tool for tool in proposal_tools.tools(using)}


def call(tool: Tool, principal: Principal = MEMBER, **arguments: Any) -> Answer:
    answer = tool.run(Call(Caller(principal)), tool.arguments.model_validate(arguments))
    assert isinstance(answer, Answer)
    return answer


def data(answer: Answer) -> dict[str, Any]:
    return answer.data.model_dump(by_alias=True, exclude_none=True)


def test_the_tools_write_and_say_so() -> None:
    declared = tools(None)
    assert {name: (tool.tier, tool.level, tool.cost) for name, tool in declared.items()} == {
        "save_link": ("member", "write", "write"),
        "create_draft": ("vibecoder", "write", "write"),
    }
    for tool in declared.values():
        assert (tool.read_only, tool.destructive, tool.idempotent, tool.open_world) == (False, False, True, True)


def test_a_saved_link_is_a_pull_request_with_a_handle_and_a_next_step(proposals: FakeProposals) -> None:
    answer = call(tools(proposals)["save_link"], **LINK)
    told = data(answer)
    assert told["url"] == "https://github.com/reef/garden/pull/1"
    assert (told["number"], told["path"], told["created"]) == (1, "data/links/the-handbook.md", True)
    assert told["handle"] in proposals.opened
    assert "merge" in told["nextStep"]


def test_on_a_laptop_the_next_step_names_the_command_and_no_merge(proposals: FakeProposals) -> None:
    told = data(answer := call(tools(proposals, laptop=True)["save_link"], **LINK))
    assert "`commonplace proposals apply 1`" in told["nextStep"]
    assert "merge" not in told["nextStep"]
    assert answer.text.startswith("Proposal 1 was opened")


def test_the_text_says_everything_that_the_data_says(proposals: FakeProposals) -> None:
    answer = call(tools(proposals)["save_link"], **LINK)
    told = data(answer)
    for name in ("url", "path", "handle", "nextStep"):
        assert told[name] in answer.text
    assert f"#{told['number']}" in answer.text


def test_a_draft_is_proposed_unpublished_with_today_as_its_date(proposals: FakeProposals) -> None:
    answer = call(tools(proposals)["create_draft"], **DRAFT, tags=["governance"], description="In short.")
    text = proposals.opened[data(answer)["handle"]].proposal.text
    assert isinstance(judge(text.encode()), Unpublished)
    for line in ("date: 2026-03-04", 'tags: ["governance"]', 'description: "In short."', "publish: false"):
        assert f"\n{line}\n" in text


@pytest.mark.parametrize("key", [None, "monday"])
def test_the_same_request_again_finds_what_is_there(proposals: FakeProposals, key: str | None) -> None:
    tool = tools(proposals)["save_link"]
    first, again = data(call(tool, **LINK, key=key)), call(tool, **LINK, key=key)
    assert data(again) | {"created": True} == first | {"nextStep": data(again)["nextStep"]}
    assert "was there already" in again.text
    assert len(proposals.opened) == 1


def test_a_key_used_for_something_else_is_a_conflict(proposals: FakeProposals) -> None:
    tool = tools(proposals)["save_link"]
    call(tool, **LINK, key="monday")
    with pytest.raises(Conflict):
        call(tool, **(LINK | {"title": "Another"}), key="monday")


def test_another_callers_key_is_another_proposal(proposals: FakeProposals) -> None:
    tool = tools(proposals)["save_link"]
    first = data(call(tool, **LINK, key="monday"))
    second = data(call(tool, OTHER, **(LINK | {"title": "Another"}), key="monday"))
    assert second["created"]
    assert first["number"] != second["number"]


def test_a_file_that_is_there_is_a_conflict(proposals: FakeProposals) -> None:
    with pytest.raises(Conflict):
        call(tools(proposals)["save_link"], url="https://example.org", title="Tide Tables")


@pytest.mark.parametrize(
    ("content_type", "hint"), [("resource", "pattern"), ("link", "save_link"), ("patern", "pattern")]
)
def test_a_type_that_cannot_be_is_refused_with_those_that_can(
    proposals: FakeProposals, content_type: str, hint: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        call(tools(proposals)["create_draft"], **(DRAFT | {"contentType": content_type}))
    assert hint in (caught.value.hint or "")
    assert not proposals.opened


@pytest.mark.parametrize("url", ["javascript:alert(1)", "https://user:pw@example.org", "not an address"])
def test_an_address_that_is_none_is_refused(proposals: FakeProposals, url: str) -> None:
    with pytest.raises(InvalidInput):
        call(tools(proposals)["save_link"], url=url, title="x")
    assert not proposals.opened


@pytest.mark.parametrize(
    "url",
    [
        "http://www.example.org/atlas/",
        "https://example.org/atlas?utm_source=letter&fbclid=1#maps",
        "HTTPS://EXAMPLE.ORG:443/%61tlas",
    ],
)
def test_a_link_that_the_library_has_is_named_and_not_proposed(proposals: FakeProposals, url: str) -> None:
    with pytest.raises(
        Conflict, match="in the library already: `link/seed-atlas`, “Seed atlas”, /d/link/seed-atlas"
    ) as told:
        call(tools(proposals, garden())["save_link"], url=url, title="An atlas of seeds")
    assert "get_document" in (told.value.hint or "") and "links/seed-atlas.md" in (told.value.hint or "")
    assert not proposals.opened


@pytest.mark.parametrize(
    "url", ["https://example.org/atlas?page=2", "https://maps.example.org/atlas", "https://example.org/atlas#/north"]
)
def test_another_page_of_the_same_site_is_another_link(proposals: FakeProposals, url: str) -> None:
    assert data(call(tools(proposals, garden())["save_link"], url=url, title="Another page"))["created"]


@pytest.mark.parametrize("title", ["Rotating Stewardship", "rotating-stewardship", "Stewardship rota"])
def test_a_draft_of_a_taken_title_id_or_alias_is_told_of_what_has_it_and_what_to_do(
    proposals: FakeProposals, title: str
) -> None:
    with pytest.raises(
        Conflict, match="There is a pattern of this name already: `pattern/rotating-stewardship`"
    ) as told:
        call(tools(proposals, garden())["create_draft"], **(DRAFT | {"title": title}))
    hint = told.value.hint or ""
    assert "get_document" in hint and "another title" in hint and "artifacts/patterns/rotating-stewardship.md" in hint
    assert not proposals.opened


def test_a_draft_of_another_type_may_have_the_same_title(proposals: FakeProposals) -> None:
    told = data(call(tools(proposals, garden())["create_draft"], **(DRAFT | {"contentType": "guide"})))
    assert told["created"]


def test_a_draft_lands_where_this_repository_keeps_its_type(proposals: FakeProposals) -> None:
    kept = [make("pattern", f"p{number}", f"handbook/patterns/p{number}.md") for number in range(3)]
    beside = [make("study", f"s{number}", f"projects/reef/s{number}.md") for number in range(3)]
    mixed = [make("article", f"a{number}", f"projects/reef/a{number}.md") for number in range(3)]
    using = tools(proposals, [*kept, *beside, *mixed])
    paths = {kind: data(call(using["create_draft"], **(DRAFT | {"contentType": kind})))["path"] for kind in TYPES}
    assert paths == {
        "pattern": "handbook/patterns/rotating-stewardship.md",
        "study": "data/stories/studies/rotating-stewardship.md",
        "guide": "data/stories/guides/rotating-stewardship.md",
    }
    text = next(one.proposal.text for one in proposals.opened.values() if "handbook" in one.proposal.path)
    assert 'type: "pattern"' in text, "the folder does not say it"


def test_nobody_is_named_unless_the_deployment_says_so(proposals: FakeProposals) -> None:
    handle = data(call(tools(proposals)["save_link"], **LINK))["handle"]
    proposal = proposals.opened[handle].proposal
    for secret in ("0xabc", "rosa"):
        assert secret not in f"{proposal}"


@pytest.mark.parametrize(("principal", "name"), [(MEMBER, "rosa.eth"), (OTHER, "0xdef")])
def test_an_author_is_named_where_the_deployment_says_so(
    proposals: FakeProposals, principal: Principal, name: str
) -> None:
    handle = data(call(tools(proposals, names_authors=True)["save_link"], principal, **LINK))["handle"]
    proposal = proposals.opened[handle].proposal
    assert f'author: ["{name}"]' in proposal.text
    assert f"Proposed by: {name}" in proposal.body


@pytest.mark.parametrize(("name", "arguments"), [("save_link", LINK), ("create_draft", DRAFT)])
def test_a_deployment_that_takes_no_proposals_says_so(name: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(Unavailable, match="does not accept proposals") as caught:
        call(tools(None)[name], **arguments)
    assert "GitHub" in (caught.value.hint or "")
    assert caught.value.retry_after_seconds >= 3600


def test_an_outage_reaches_the_caller_as_it_is(proposals: FakeProposals) -> None:
    proposals.failures.append(Unavailable("GitHub does not answer now.", retry_after_seconds=7))
    tool = tools(proposals)["save_link"]
    with pytest.raises(Unavailable) as caught:
        call(tool, **LINK)
    assert caught.value.retry_after_seconds == 7
    assert data(call(tool, **LINK))["created"]
