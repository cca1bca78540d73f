"""A search that is asked for on the command line, of a running REST API."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from commonplace.documents.rest.services import Explanations
from commonplace.kernel.operator_key import fresh_key, key_hash
from commonplace.web.rest.declaration import Site
from commonplace_local.cli.operators import KEY_VARIABLE
from commonplace_local.cli.search import Question, ask_deployment
from commonplace_local.errors import CommandError
from tests.fakes.library import FakeLibrary, garden
from tests.fakes.search import hit
from tests.unit.documents.rest.conftest import World
from tests.unit.documents.rest.told import ToldSearch

ADDRESS = "https://garden.example.org"
KEY = fresh_key()


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    yield


@pytest.fixture
def world() -> World:
    return World(FakeLibrary(garden()), ToldSearch(hit("pattern", "rotating-stewardship"), hit("tag", "governance")))


class Served(httpx.BaseTransport):
    """Hands requests to the application, and keeps them."""

    def __init__(self, world: World, **told: Any) -> None:
        self.client = world.client(Site(reads_per_minute=0, searches_per_minute=0), Explanations(**told))
        self.requests: list[httpx.Request] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        kept = {name: value for name, value in request.headers.items() if name == "authorization"}
        answer = self.client.get(str(request.url), headers=kept)
        return httpx.Response(answer.status_code, content=answer.content)


def test_what_is_asked_for_reaches_the_search(world: World) -> None:
    asked = Question(
        "who decides",
        content_type=["story", "tag"],
        group=["Seed Library", "kitchen"],
        release=["first-harvest"],
        status=["paused"],
        author=["rosa lind"],
        tag=["roles", "seeds"],
        limit=2,
        mode="lexical",
        documents=True,
        explain=True,
        expect="tag/governance",
        rerank=False,
        collapse=False,
    )
    answer = ask_deployment(ADDRESS, asked, Served(world, audience="anyone"))
    (request,) = world.search.asked
    assert (request.query, request.limit, request.mode, request.documents) == ("who decides", 2, "lexical", True)
    assert (request.explain, request.expect, request.rerank, request.collapse) == (True, "tag/governance", False, False)
    assert {"article", "tag"} <= set(request.filters.content_types)
    assert (request.filters.groups, request.filters.tags_all) == (("seed-library", "kitchen"), ("roles", "seeds"))
    assert (request.filters.releases, request.filters.statuses) == (("first-harvest",), ("paused",))
    assert request.filters.authors == ("Rosa Lind",)
    assert [one["document"]["id"] for one in answer["results"]] == ["rotating-stewardship", "governance"]
    assert answer["explanation"]["expectation"]["verdict"] == "below-limit"


def test_a_plain_question_says_nothing_that_is_the_default_anyway() -> None:
    assert Question("x").parameters() == {"q": "x", "limit": 5, "mode": "hybrid"}


def test_the_key_comes_from_the_environment_and_goes_with_explanations_only(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, f" {KEY}\n")
    served = Served(world, operator_key_hash=key_hash(KEY))
    assert "explanation" in ask_deployment(ADDRESS, Question("x", explain=True), served)
    ask_deployment(ADDRESS, Question("x"), served)
    assert ["authorization" in request.headers for request in served.requests] == [True, False]


def test_the_key_is_sent_to_nobody_where_others_could_read_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    served = Served(world, operator_key_hash=key_hash(KEY))
    with pytest.raises(CommandError, match="is not https"):
        ask_deployment("http://garden.example.org", Question("x", explain=True), served)
    assert served.requests == []


def test_a_missing_key_is_said_with_the_name_of_its_variable(world: World) -> None:
    with pytest.raises(CommandError) as refused:
        ask_deployment(ADDRESS, Question("x", explain=True), Served(world, operator_key_hash=key_hash(KEY)))
    assert refused.value.message == "Explanations are for operators."
    assert KEY_VARIABLE in refused.value.hint


@pytest.mark.parametrize(
    ("question", "message", "hint"),
    [
        (Question("x", explain=True), "disabled here", "operatorKeyHash"),
        (Question("x", limit=21), "limit: must be at most 20", "openapi.json"),
    ],
)
def test_a_refusal_is_told_in_its_own_words(world: World, question: Question, message: str, hint: str) -> None:
    with pytest.raises(CommandError) as refused:
        ask_deployment(ADDRESS, question, Served(world))
    assert message in refused.value.message
    assert hint in refused.value.hint


def test_an_index_that_does_not_answer_is_told_in_its_own_words(world: World) -> None:
    world.search.unreachable = True
    with pytest.raises(CommandError, match="The index does not answer"):
        ask_deployment(ADDRESS, Question("x"), Served(world))


def test_an_address_where_nobody_answers_is_said_in_a_sentence() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("no route", request=request)

    with pytest.raises(CommandError, match=rf"{ADDRESS} does not answer: ConnectError"):
        ask_deployment(ADDRESS, Question("x"), httpx.MockTransport(refuse))


def test_an_answer_of_something_else_is_said_in_a_sentence() -> None:
    page = httpx.MockTransport(lambda _: httpx.Response(502, text="<html>"))
    with pytest.raises(CommandError, match="answered 502 without JSON"):
        ask_deployment(ADDRESS, Question("x"), page)
