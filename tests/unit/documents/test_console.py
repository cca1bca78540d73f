"""The console's pages for editors, over what a real sync has left."""

import html
import re
from dataclasses import dataclass, field
from typing import Any, get_args

import pytest

from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.console.pages import VERDICTS, Editors, editors_pages
from commonplace.kernel.errors import Unavailable
from commonplace.search.model import Expectation, Explanation, HitTrace, RecordId, SearchRequest, SearchResults, Verdict
from tests import mistakes
from tests.console_app import Browser, Deployment
from tests.fakes.authority import ALICE, BOB, Accounts, standing
from tests.fakes.identity_stores import MemoryAudit
from tests.unit.documents.sync.drive import World, page


@dataclass
class Desk:
    """A console over the store of a world."""

    world: World = field(default_factory=World)
    answer: dict[str, Any] | Exception = field(default_factory=lambda: {"status": "started", "run": "reconcile-1"})
    asked: int = 0
    searched: list[SearchRequest] = field(default_factory=list)
    audit: MemoryAudit = field(default_factory=MemoryAudit)

    def __post_init__(self) -> None:
        editors = Editors(self.world.objects, self._ask, DocumentAddresses(None, ""), self._search)
        self.deployment = Deployment(
            lambda _: [editors_pages(editors)],
            standings=Accounts({ALICE: standing("member"), BOB: standing("public")}),
            audit=self.audit,
        )

    def _ask(self) -> dict[str, Any]:
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def _search(self, request: SearchRequest) -> SearchResults:
        self.searched.append(request)
        assert request.expect is not None
        sentence = "Rank 14 of 23 by words."
        trace = Explanation(
            engine="embedded",
            index=None,
            model=None,
            reranker=None,
            fusion="words alone",
            filters={},
            lexical_hits=23,
            vector_hits=0,
            named_hits=0,
            candidates=23,
            hits=(HitTrace(RecordId("file/index"), 1, 1.0, None, None, None, None),),
            timings_ms={},
            expectation=Expectation(request.expect, "below-limit", sentence, None),
        )
        return SearchResults(request.query, (), 23, fallback=False, reranked=False, took_ms=1, explanation=trace)

    def browser(self, subject: str = ALICE) -> Browser:
        return self.deployment.browser(subject)


@pytest.fixture(scope="module")
def synced() -> World:
    world = World()
    world.push(mistakes.tree())
    world.sync()
    return world


def text(body: str) -> str:
    """As it is read, without marks."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", body)).split())


@pytest.mark.parametrize("path", [*mistakes.MISTAKES])
def test_each_mistake_is_named_with_line_and_cure_on_both_pages(synced: World, path: str) -> None:
    line, _, cure = mistakes.MISTAKES[path]
    cure = cure.replace("`", "")  # on a page it is code
    alice = Desk(synced).browser()
    listed = [text(one) for one in re.findall(r"<li>.*?</li>", alice.get("/console/sync").text, re.DOTALL)]
    (mine,) = [one for one in listed if one.startswith(f"{path}, line")]
    assert f"{path}, line {line}: " in mine and f"Fix: {cure}" in mine
    judged = text(alice.get(f"/console/why?q={path}").text)
    assert f"Fix: {cure}" in judged
    assert ("It is not published." in judged) is (path not in mistakes.PUBLISHED)


def test_the_count_is_that_of_every_other_surface(synced: World) -> None:
    assert mistakes.COUNT in text(Desk(synced).browser().get("/console/sync").text)


@pytest.mark.parametrize(
    "address",
    ["https://garden.example.org/d/file/publish-yes", "https://github.com/o/r/blob/main/notes/publish-yes.md"],
)
def test_an_address_is_understood(synced: World, address: str) -> None:
    answer = text(Desk(synced).browser().get(f"/console/why?q={address}").text)
    assert "notes/publish-yes.md It is not published." in answer
    assert "Written: publish: yes" in answer


def test_a_published_page_is_led_to(synced: World) -> None:
    assert '<a href="/d/file/notes-tea">' in Desk(synced).browser().get("/console/why?q=notes/tea.md").text


def test_what_the_sync_does_not_know_is_said_with_the_nearest(synced: World) -> None:
    answer = text(Desk(synced).browser().get("/console/why?q=notes/publish-yess.md").text)
    assert "there is no such file" in answer and "notes/publish-yes.md" in answer


def test_hostile_names_and_questions_stay_text() -> None:
    desk = Desk()
    desk.world.push({"<script>alert(1)</script>.md": b"---\npublish: <b>yes\n---\n", "a.md": page("A")})
    desk.world.sync()
    alice = desk.browser()
    for path in ("/console/sync", "/console/why?q=%3Cscript%3Ealert(1)%3C/script%3E.md", "/console/why?q=%3Cimg%3E"):
        answer = alice.get(path)
        assert answer.status_code == 200
        assert "<script>alert" not in answer.text and "<b>yes" not in answer.text and "<img>" not in answer.text


def test_a_run_is_asked_for_once_recorded_and_told(synced: World) -> None:
    desk = Desk(synced)
    alice = desk.browser()
    done = alice.post("/console/sync", {"action": "run"})
    assert (done.status_code, desk.asked) == (303, 1)
    assert "A run has started." in alice.get(done.headers["location"]).text
    assert [(one.outcome, one.details["action"]) for one in desk.audit.records] == [("ok", "run")]


def test_a_run_that_waits_for_another_says_so(synced: World) -> None:
    alice = Desk(synced, {"status": "queued", "run": "x"}).browser()
    done = alice.post("/console/sync", {"action": "run"})
    assert "A run is in progress" in alice.get(done.headers["location"]).text


def test_a_run_that_cannot_be_asked_for_is_an_error_with_a_record(synced: World) -> None:
    desk = Desk(synced, Unavailable("The webhook function failed: Timeout.", hint="See its log."))
    assert desk.browser().post("/console/sync", {"action": "run"}).status_code == 503
    assert [one.outcome for one in desk.audit.records] == ["ok", "failed"]


def test_without_the_token_of_the_session_nothing_is_asked(synced: World) -> None:
    desk = Desk(synced)
    assert desk.browser().post("/console/sync", {"action": "run", "csrf": "x"}).status_code == 403
    assert desk.asked == 0


@pytest.mark.parametrize("path", ["/console/sync", "/console/why?q=notes/publish-yes.md"])
def test_who_may_not_propose_pages_sees_no_path(synced: World, path: str) -> None:
    answer = Desk(synced).browser(BOB).get(path)
    assert answer.status_code == 403
    assert "knowledge:write" in answer.text and "publish-in-quotes" not in answer.text


def test_the_last_runs_stand_newest_first_failures_among_them() -> None:
    desk = Desk()
    desk.world.push({"a.md": page("A")})
    desk.world.sync()
    desk.world.steps.fail({"run": "x", "error": "RepositoryUnavailable"})
    shown = text(desk.browser().get("/console/sync").text)
    commit = desk.world.manifest().commit_sha[:12]
    assert shown.index("failed: RepositoryUnavailable") < shown.rindex(commit)
    assert "The last run failed: RepositoryUnavailable." in shown


def test_before_the_first_run_the_pages_say_what_to_do() -> None:
    alice = Desk().browser()
    assert "Nothing is published yet. Add a Markdown file" in text(alice.get("/console/sync").text)
    assert "There is no report of a run yet." in text(alice.get("/console/why?q=a.md").text)


def test_many_findings_of_a_kind_have_a_page_of_their_own() -> None:
    desk = Desk()
    desk.world.push({"a.md": page("A", "".join(f"[x]({number}.md)\n" for number in range(60)))})
    desk.world.sync()
    alice = desk.browser()
    short = alice.get("/console/sync").text
    assert short.count("there is no document or file") == 50
    assert "/console/sync?kind=broken-link" in short
    assert alice.get("/console/sync?kind=broken-link").text.count("there is no document or file") == 60


def test_a_search_that_did_not_find_a_page_is_explained(synced: World) -> None:
    desk = Desk(synced)
    shown = text(desk.browser().get("/console/why?q=notes/tea.md&search=hot+drinks").text)
    assert "It is found, further down. Rank 14 of 23 by words." in shown
    assert [(one.query, one.expect, one.explain) for one in desk.searched] == [("hot drinks", "file/notes-tea", True)]


def test_of_a_page_that_is_not_published_no_search_is_explained(synced: World) -> None:
    desk = Desk(synced)
    shown = text(desk.browser().get("/console/why?q=notes/publish-yes.md&search=yes").text)
    assert "Why did a search" not in shown and desk.searched == []


def test_every_verdict_of_a_search_has_its_words() -> None:
    assert set(VERDICTS) == set(get_args(Verdict))
