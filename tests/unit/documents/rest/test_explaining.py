"""Explanations are for operators: who may have one, what it holds, and that nobody else sees a difference."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from commonplace.documents.rest import models
from commonplace.documents.rest.services import Explanations
from commonplace.kernel.operator_key import fresh_key, key_hash
from commonplace.web.rest.declaration import Site
from tests.fakes.library import FakeLibrary, garden
from tests.fakes.search import hit
from tests.unit.documents.rest.conftest import World
from tests.unit.documents.rest.told import ToldSearch

SEARCH = "/api/v1/search"
KEY = fresh_key()
ASKED = {"q": "x", "explain": "true"}


@pytest.fixture
def world() -> World:
    return World(FakeLibrary(garden()), ToldSearch(hit("pattern", "rotating-stewardship")))


def client(world: World, **told: Any) -> TestClient:
    return world.client(Site(reads_per_minute=0, searches_per_minute=0), Explanations(**told))


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_operators_key_opens_an_explanation(world: World, scheme: str) -> None:
    asking = client(world, operator_key_hash=key_hash(KEY))
    answer = asking.get(SEARCH, params=ASKED, headers={"authorization": f"{scheme} {KEY}"})
    assert answer.status_code == 200
    assert answer.json()["explanation"]["lexicalHits"] == 2
    assert world.search.asked[0].explain


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": ""},
        {"authorization": "Bearer"},
        {"authorization": "Bearer "},
        {"authorization": KEY},
        {"authorization": f"Basic {KEY}"},
        bearer(KEY[:-1]),
        bearer(KEY + "x"),
        bearer(KEY.upper()),
        bearer(key_hash(KEY)),
        bearer("None"),
    ],
)
def test_without_the_key_nothing_is_explained_or_even_searched(world: World, headers: dict[str, str]) -> None:
    answer = client(world, operator_key_hash=key_hash(KEY)).get(SEARCH, params=ASKED, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "UNAUTHORIZED")
    assert answer.json()["error"]["details"]["hint"]
    assert answer.headers["www-authenticate"] == "Bearer"
    assert KEY not in answer.text
    assert world.search.asked == []


@pytest.mark.parametrize("headers", [{}, bearer(KEY), bearer(""), bearer("None"), bearer(key_hash(""))])
def test_where_no_key_is_configured_nobody_has_one(world: World, headers: dict[str, str]) -> None:
    answer = client(world).get(SEARCH, params=ASKED, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "FORBIDDEN")
    assert "operatorKeyHash" in answer.json()["error"]["details"]["hint"]
    assert world.search.asked == []


def test_a_laptop_explains_to_anyone(world: World) -> None:
    assert "explanation" in client(world, audience="anyone").get(SEARCH, params=ASKED).json()


@pytest.mark.parametrize(
    ("site", "headers", "more", "status"),
    [
        ({"operator_key_hash": key_hash(KEY)}, bearer(KEY), {}, 200),
        ({"audience": "anyone"}, {}, {}, 200),
        ({"operator_key_hash": key_hash(KEY)}, {}, {}, 401),
        ({}, bearer(KEY), {}, 403),
        ({"audience": "anyone"}, {}, {"limit": "21"}, 422),
        ({"audience": "anyone"}, {}, {"mode": "lexical", "cursor": "AAAA"}, 400),
    ],
)
def test_no_cache_keeps_what_depends_on_who_asks(
    world: World, site: dict[str, Any], headers: dict[str, str], more: dict[str, str], status: int
) -> None:
    answer = client(world, **site).get(SEARCH, params=ASKED | more, headers=headers)
    assert answer.status_code == status
    assert answer.headers["cache-control"] == "private, no-store"
    assert answer.headers["vary"].split(", ")[0] == "Authorization"


def test_an_index_that_does_not_answer_an_operator_says_when_to_come_back(world: World) -> None:
    world.search.unreachable = True
    answer = client(world, audience="anyone").get(SEARCH, params=ASKED)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "7")
    assert answer.headers["cache-control"] == "private, no-store"


def test_what_is_explained_is_what_is_shown_and_no_spare(world: World) -> None:
    client(world, audience="anyone").get(SEARCH, params=ASKED | {"limit": "3"})
    assert world.search.asked[0].limit == 3


def test_nobody_else_sees_a_difference(world: World) -> None:
    answers = [
        client(world, **site).get(SEARCH, params={"q": "x"}, headers=headers)
        for site in ({}, {"operator_key_hash": key_hash(KEY)}, {"audience": "anyone"})
        for headers in ({}, bearer(KEY), bearer("wrong"))
    ]
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
    assert len({frozenset(answer.headers.items()) for answer in answers}) == 1
    assert "explanation" not in answers[0].json()


def test_an_explanation_speaks_in_the_names_of_the_interface(world: World) -> None:
    asked = ASKED | {"expect": "tag/governance"}
    told = client(world, audience="anyone").get(SEARCH, params=asked).json()["explanation"]
    assert told["filters"] == {"tagsAll": ["roles"], "dateFrom": None}
    assert told["hits"][0]["lexical"] == {"rank": 1, "score": 3.5, "share": 1.0}
    assert told["timingsMs"] == {"embed": 0.5, "candidates": 1.25, "whole": 2.5}
    assert told["expectation"] == {
        "id": "tag/governance",
        "verdict": "below-limit",
        "sentence": "tag/governance is number 31.",
        "standing": {"lexical": [31, 0.25], "vector": None, "belowFloor": 0.125, "held": 4, "admitted": True},
    }
    assert world.search.asked[0].expect == "tag/governance"


def test_an_explanation_keeps_to_its_description(world: World) -> None:
    asked = ASKED | {"expect": "tag/governance"}
    answer = client(world, audience="anyone").get(SEARCH, params=asked)
    assert models.SearchAnswer.model_validate_json(answer.content).to_json() == answer.content
