"""Routes, events and answers of the HTTP API, without a network."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace_local.cloud.http_api import FAILED, Request, Route, event, find, response

ROUTES = [
    Route(key, key)
    for key in (
        "$default",
        "ANY /api/{proxy+}",
        "GET /api/items/new",
        "POST /api/{proxy+}",
        "GET /api/items/{proxy+}",
    )
]


@pytest.mark.parametrize(
    ("method", "path", "route", "parameters"),
    [
        ("GET", "/", "$default", {}),
        ("GET", "/api", "$default", {}),
        ("GET", "/api/", "ANY /api/{proxy+}", {"proxy": ""}),
        ("GET", "/api/x/y", "ANY /api/{proxy+}", {"proxy": "x/y"}),
        ("POST", "/api/x", "POST /api/{proxy+}", {"proxy": "x"}),
        ("GET", "/api/items/7", "GET /api/items/{proxy+}", {"proxy": "7"}),
        ("GET", "/api/items/new", "GET /api/items/new", {}),
        ("GET", "/api/items/7/parts", "GET /api/items/{proxy+}", {"proxy": "7/parts"}),
        ("PUT", "/api/items/new", "ANY /api/{proxy+}", {"proxy": "items/new"}),
    ],
)
def test_the_most_specific_route_answers(method: str, path: str, route: str, parameters: dict[str, str]) -> None:
    found = find(ROUTES, method, path)
    assert found is not None
    assert (found[0].key, found[1]) == (route, parameters)


def test_without_a_default_route_an_unknown_path_is_nobodys() -> None:
    assert find(ROUTES[1:], "GET", "/elsewhere") is None


@pytest.mark.parametrize("key", ["", "GET", "GET path", "default", "GET /items/{id}"])
def test_a_malformed_route_key_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="route key"):
        Route(key, "f")


def made(
    target: str = "/", headers: tuple[tuple[str, str], ...] = (), body: bytes = b"", method: str = "GET"
) -> dict[str, Any]:
    return event(Request(method, target, headers, body, "127.0.0.1"), ROUTES[0], {}, "api")


def test_duplicate_headers_are_joined_and_lower_case() -> None:
    assert made(headers=(("Accept", "a"), ("ACCEPT", "b")))["headers"]["accept"] == "a,b"


def test_the_callers_address_is_added_to_the_forwarded_ones() -> None:
    assert made(headers=(("X-Forwarded-For", "203.0.113.9"),))["headers"]["x-forwarded-for"] == "203.0.113.9, 127.0.0.1"


def test_what_is_absent_is_left_out() -> None:
    assert {"body", "cookies", "queryStringParameters", "pathParameters"}.isdisjoint(made())


def test_a_form_arrives_as_base64() -> None:
    form = made(headers=(("content-type", "application/x-www-form-urlencoded"),), body=b"a=1", method="POST")
    assert (form["isBase64Encoded"], base64.b64decode(form["body"])) == (True, b"a=1")


@given(st.binary(min_size=1), st.sampled_from(["application/json", "text/plain; charset=utf-8", "image/png", ""]))
def test_a_body_is_never_changed(body: bytes, content_type: str) -> None:
    headers = (("content-type", content_type),) if content_type else ()
    arrived = json.loads(json.dumps(made(headers=headers, body=body, method="POST")))
    text = arrived["body"]
    assert (base64.b64decode(text) if arrived["isBase64Encoded"] else text.encode()) == body


@given(st.text(st.characters(codec="utf-8"), max_size=30))
def test_an_event_is_json_whatever_the_path(path: str) -> None:
    assert json.loads(json.dumps(made("/" + path)))["version"] == "2.0"


@pytest.mark.parametrize(
    "answer",
    [
        {"statusCode": "x"},
        {"statusCode": 99},
        {"statusCode": None},
        {"statusCode": 200, "body": {"not": "text"}},
        {"statusCode": 200, "body": "***", "isBase64Encoded": True},
        {"statusCode": 200, "headers": ["no"]},
        {"statusCode": 200, "headers": {"location": "x\r\nset-cookie: y"}},
    ],
)
def test_a_malformed_answer_is_the_gateways_500(answer: object) -> None:
    assert response(json.dumps(answer).encode()) is FAILED


@pytest.mark.parametrize("payload", [b"null", b'"text"', b"[1]", b'{"a": 1}'])
def test_an_answer_without_a_status_is_json_with_200(payload: bytes) -> None:
    made = response(payload)
    assert (made.status, made.body, dict(made.headers)) == (200, payload, {"content-type": "application/json"})


def test_an_answer_keeps_its_headers_and_gets_a_type_if_it_has_none() -> None:
    made = response(b'{"statusCode": 404, "headers": {"X-A": 1, "X-B": true}, "body": "no"}')
    assert made.status == 404
    assert dict(made.headers) == {"X-A": "1", "X-B": "true", "content-type": "text/plain;charset=UTF-8"}
