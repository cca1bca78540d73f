"""Parameters: names that an address does not have are refused, and the one that was meant is named."""

import pytest
from starlette.testclient import TestClient


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("entries?type=pattern", "contentType"),
        ("entries?contenttype=pattern", "contentType"),
        ("entries?content_type=pattern", "contentType"),
        ("entries?contentTypes=pattern", "contentType"),
        ("entries?page=2", "offset"),
        ("entries?order=date", "sort"),
        ("entries?since=2026-01-01", "dateFrom"),
        ("entries?folder=docs", "pathPrefix"),
        ("entries?grop=kitchen", "group"),
        ("search?query=pools", "q"),
        ("search?q=pools&page=2", "cursor"),
        ("search?q=pools&per_page=2", "limit"),
        ("search?q=pools&from=2026-01-01", "dateFrom"),
        ("groups?page=2", "offset"),
        ("graph?arround=tag/governance", "around"),
        ("feed.json?count=3", "limit"),
    ],
)
def test_the_parameter_that_was_meant_is_named(client: TestClient, query: str, meant: str) -> None:
    answer = client.get(f"/api/v1/{query}")
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert error["details"]["nearest"] == [meant]
    assert f"did you mean {meant}?" in error["message"]
    assert answer.headers["cache-control"] == "no-store"


def test_an_address_without_parameters_says_so(client: TestClient) -> None:
    error = client.get("/health?fresh=1").json()["error"]
    assert error["details"]["hint"] == "This address takes no parameters."
    assert error["details"]["validParameters"] == []


def test_many_unknown_names_are_told_as_far_as_a_message_reaches(client: TestClient) -> None:
    error = client.get("/api/v1/tags?" + "&".join(f"\u202e{number}=1" for number in range(50))).json()["error"]
    assert [one["field"] for one in error["details"]["fields"]] == [f"?{number}" for number in range(10)]
    assert (
        client.get("/api/v1/tags?" + "x" * 5_000 + "=1").json()["error"]["details"]["fields"][0]["field"] == "x" * 100
    )


def test_head_is_refused_alike(client: TestClient) -> None:
    assert client.head("/api/v1/entries?type=pattern").status_code == 422


@pytest.mark.parametrize("sent", ["%00", "%0A", "%0C", "%1C", "%1F%20", "%C2%85", "%C2%A0", "%EF%BB%BF", ",", "%20%2C"])
def test_a_filter_of_nothing_visible_is_refused_and_never_ignored(client: TestClient, sent: str) -> None:
    for name in ("release", "group", "tags"):
        answer = client.get(f"/api/v1/entries?{name}={sent}")
        assert (answer.status_code, name in answer.text) == (422, True), name
