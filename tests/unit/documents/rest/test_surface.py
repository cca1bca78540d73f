"""What holds for every answer: errors in one envelope, CORS, caching, sizes, methods, limits."""

import logging

import pytest
from starlette.testclient import TestClient

from commonplace.web.representations import MAX_ANSWER_BYTES
from commonplace.web.rest.declaration import Site
from tests.fakes.library import make
from tests.unit.documents.rest.conftest import World

SEEDS_CACHE = "public, max-age=300, stale-while-revalidate=3600"


@pytest.mark.parametrize(
    "path",
    [
        *("/api/v1/entries", "/api/v1/entries/tag/governance", "/api/v1/search?q=x", "/api/v1/graph", "/api/v1/tags"),
        *("/api/v1/manifest", "/feed.json", "/llms.txt", "/openapi.json", "/api/v1/ontology"),
    ],
)
def test_answers_carry_cors_cache_and_sniffing_headers(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    assert headers["access-control-allow-origin"] == "*"
    assert "RateLimit-Remaining" in headers["access-control-expose-headers"]
    assert headers["cache-control"] == SEEDS_CACHE
    assert headers["x-content-type-options"] == "nosniff"


def test_preflight_is_answered_for_every_address(client: TestClient) -> None:
    answer = client.options("/api/v1/entries", headers={"origin": "https://example.com"})
    assert answer.status_code == 204
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["access-control-allow-methods"] == "GET, HEAD, POST, PUT, DELETE, OPTIONS"
    assert answer.headers["access-control-max-age"] == "86400"


@pytest.mark.parametrize(
    "path", ["/nowhere", "/api/v1", "/api/v1/entries/", "/api/v2/entries", "/api/v1/entries/a/b/c/d"]
)
def test_unknown_address_is_404_in_the_envelope(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert set(answer.json()["error"]) == {"code", "message", "details"}
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "TRACE"])
def test_other_methods_are_405_and_say_which_are_allowed(client: TestClient, method: str) -> None:
    answer = client.request(method, "/api/v1/entries")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, HEAD, OPTIONS"
    assert answer.json()["error"]["code"] == "METHOD_NOT_ALLOWED"


def test_defect_is_500_without_internals(world: World, caplog: pytest.LogCaptureFixture) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret detail")

    world.search.search = broken  # type: ignore[assignment]
    with caplog.at_level(logging.ERROR):
        answer = world.client().get("/api/v1/search?q=x")
    assert answer.status_code == 500
    assert answer.json() == {
        "error": {"code": "INTERNAL_ERROR", "message": "An unexpected error occurred.", "details": {}}
    }
    assert "secret detail" not in answer.text
    assert [record.getMessage() for record in caplog.records] == ["request failed"]


def test_answer_over_the_limit_is_refused_and_head_agrees(world: World, client: TestClient) -> None:
    world.store.publish([make("file", "long", "long.md", content="x" * MAX_ANSWER_BYTES)])
    answer = client.get("/api/v1/entries/file/long")
    assert answer.status_code == 413
    assert answer.json()["error"]["details"]["maxBytes"] == MAX_ANSWER_BYTES
    head = client.head("/api/v1/entries/file/long")
    assert (head.status_code, head.content) == (413, b"")


def test_list_with_huge_summaries_is_cut_and_goes_on_on_the_next_page(world: World) -> None:
    documents = [make("file", f"wide-{number}", f"wide-{number}.md", description="ä" * 700_000) for number in range(6)]
    world.store.publish(documents)
    client = world.client()
    first = client.get("/api/v1/entries")
    second = client.get(first.links["next"]["url"])
    assert len(first.content) < 5_000_000
    assert [entry["id"] for entry in first.json()["entries"] + second.json()["entries"]] == [
        f"wide-{number}" for number in range(6)
    ][: len(first.json()["entries"]) + len(second.json()["entries"])]
    assert 0 < len(first.json()["entries"]) < 6 == first.json()["total"]


def test_request_with_a_large_body_is_413(client: TestClient) -> None:
    answer = client.request("GET", "/api/v1/entries", content=b"x" * 262_145)
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "TOO_LARGE")


def test_limits_are_told_on_every_answer(world: World) -> None:
    client = world.client(Site(reads_per_minute=600, searches_per_minute=60))
    first, second = client.get("/api/v1/entries"), client.get("/api/v1/entries/tag/none")
    assert (first.headers["ratelimit-limit"], first.headers["ratelimit-remaining"]) == ("600", "599")
    assert (second.status_code, second.headers["ratelimit-remaining"]) == (404, "598")
    assert first.headers["ratelimit-reset"] == "60"
    assert first.headers["ratelimit-policy"] == '"reads";q=600;w=60'


def test_spent_window_is_429_with_retry_after_and_health_still_answers(world: World) -> None:
    client = world.client(Site(reads_per_minute=3, searches_per_minute=1))
    statuses = [client.get("/api/v1/tags").status_code for _ in range(4)]
    assert statuses == [200, 200, 200, 429]
    refused = client.get("/api/v1/tags")
    assert refused.json()["error"]["code"] == "RATE_LIMITED"
    assert refused.headers["retry-after"] == refused.headers["ratelimit-reset"] == "60"
    assert refused.headers["ratelimit-remaining"] == "0"
    assert refused.headers["cache-control"] == "no-store"
    assert client.get("/health").status_code == 200


def test_searches_have_a_quota_of_their_own(world: World) -> None:
    client = world.client(Site(reads_per_minute=600, searches_per_minute=1))
    assert [client.get("/api/v1/search?q=x").status_code for _ in range(2)] == [200, 429]
    assert client.get("/api/v1/entries").status_code == 200


def test_limits_of_zero_are_silent(client: TestClient) -> None:
    assert "ratelimit-limit" not in client.get("/api/v1/entries").headers


def test_forwarded_headers_do_not_buy_a_new_quota(world: World) -> None:
    client = world.client(Site(reads_per_minute=1, searches_per_minute=1))
    statuses = [
        client.get("/api/v1/tags", headers={"x-forwarded-for": f"192.0.2.{number}"}).status_code for number in range(2)
    ]
    assert statuses == [200, 429]
