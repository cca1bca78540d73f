"""The layers that every HTTP surface composes: what each of them holds, whatever the surface."""

import logging
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from commonplace.kernel.errors import CommonplaceError, NotFound, Unauthorized
from commonplace.web.middleware import (
    CORS,
    Errors,
    HeadAsGet,
    RateLimits,
    SecurityHeaders,
    TrustedHosts,
    error_headers,
    origin_pattern,
)

BASE = "https://kb.example.org"
FOREIGN = "https://evil.example"
PARAMETERS: dict[str, Any] = {"allow_headers": ["*", "X-Own"], "expose_headers": ["ETag"], "max_age": 60}
ANYBODY = Middleware(CORS, allow_origins="*", allow_methods=["GET", "OPTIONS"], **PARAMETERS)
OURS = Middleware(
    CORS, allow_origin_regex=origin_pattern(BASE), allow_methods=["POST"], refuse_others=True, **PARAMETERS
)


def render(_: Scope, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        return PlainTextResponse(error.detail, error.status_code)
    assert isinstance(error, CommonplaceError)
    return PlainTextResponse(error.message, error.status)


async def hello(_: Request) -> Response:
    return PlainTextResponse("hello")


async def missing(_: Request) -> Response:
    raise NotFound("Not here.")


async def broken(_: Request) -> Response:
    raise RuntimeError("swordfish")


async def cut_off(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    raise RuntimeError("swordfish")


class CutOff:
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await cut_off(scope, receive, send)


def client(*layers: Middleware, base_url: str = BASE) -> TestClient:
    routes = [Route("/", hello), Route("/missing", missing), Route("/broken", broken), Route("/cut", CutOff())]
    return TestClient(Starlette(routes=routes, middleware=layers), base_url=base_url)


@pytest.mark.parametrize("origin", [None, FOREIGN])
def test_an_answer_for_every_origin_is_the_same_for_a_cache_that_does_not_look_at_origins(origin: str | None) -> None:
    answer = client(ANYBODY).get("/", headers={"origin": origin} if origin else {})
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["access-control-expose-headers"] == "ETag"
    assert "vary" not in answer.headers
    assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_a_preflight_is_204_and_leaves_the_verdict_on_methods_to_the_browser(method: str) -> None:
    asked = {"origin": FOREIGN, "access-control-request-method": method, "access-control-request-headers": "x-a, x-b"}
    answer = client(ANYBODY).options("/", headers=asked)
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["access-control-allow-methods"] == answer.headers["allow"] == "GET, OPTIONS"
    assert answer.headers["access-control-allow-headers"] == "x-a, x-b"


@pytest.mark.parametrize("asked", ["a: b", "*", "", "x" * 65, ",".join(["x"] * 51)])
def test_what_is_no_list_of_header_names_is_not_echoed(asked: str) -> None:
    headers = {"origin": FOREIGN, "access-control-request-method": "GET", "access-control-request-headers": asked}
    assert client(ANYBODY).options("/", headers=headers).headers["access-control-allow-headers"] == "X-Own"


@pytest.mark.parametrize("method", ["GET", "OPTIONS", "POST"])
@pytest.mark.parametrize("origin", [FOREIGN, "null", "http://kb.example.org", f"{BASE}.evil.example", f"{BASE}:8443"])
def test_another_origin_is_refused_before_anything_is_done_for_it(method: str, origin: str) -> None:
    answer = client(Middleware(Errors, render=render), OURS).request(method, "/", headers={"origin": origin})
    assert answer.status_code == 403
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_two_origins_are_none_of_ours() -> None:
    answer = client(Middleware(Errors, render=render), OURS).get("/", headers=[("origin", BASE), ("origin", FOREIGN)])
    assert answer.status_code == 403


@pytest.mark.parametrize("origin", [BASE, "https://KB.example.org", f"{BASE}:443"])
def test_an_origin_of_ours_is_named_in_the_answer(origin: str) -> None:
    answer = client(Middleware(Errors, render=render), OURS).get("/", headers={"origin": origin})
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, origin)
    assert answer.headers["vary"] == "Origin"


@pytest.mark.parametrize("base_url", ["", BASE])
@pytest.mark.parametrize("host", ["evil.example", ":None", "kb.example.org:8443", "kb.example.org.evil.example"])
def test_another_host_is_421(base_url: str, host: str) -> None:
    layers = (Middleware(Errors, render=render), Middleware(TrustedHosts, base_url=base_url))
    assert client(*layers).get("/", headers={"host": host}).status_code == 421


def test_a_defect_is_answered_without_a_word_of_it(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        answer = client(Middleware(Errors, render=render)).get("/broken")
    assert (answer.status_code, answer.text) == (500, "An unexpected error occurred.")
    (record,) = caplog.records
    assert record.__dict__["error"] == "RuntimeError"
    assert "swordfish" not in str(record.__dict__)


def test_the_text_of_a_defect_is_logged_where_nothing_of_a_caller_is_in_it(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        client(Middleware(Errors, render=render, quoted=True)).get("/broken")
    assert "swordfish" in caplog.text


def test_an_error_of_ours_is_rendered_and_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        answer = client(Middleware(Errors, render=render)).get("/missing")
    assert (answer.status_code, answer.text, caplog.records) == (404, "Not here.", [])


def test_a_defect_in_the_middle_of_an_answer_is_not_answered_twice() -> None:
    with pytest.raises(RuntimeError, match="swordfish"):
        client(Middleware(Errors, render=render)).get("/cut")


def test_head_is_get_without_a_body() -> None:
    answer = client(Middleware(HeadAsGet)).head("/")
    assert (answer.status_code, answer.content, answer.headers["content-length"]) == (200, b"", "5")


def test_what_says_nothing_of_caches_is_told_by_its_status() -> None:
    layer = Middleware(
        SecurityHeaders,
        headers={"x-content-type-options": "nosniff"},
        cached={"cache-control": "public"},
        uncached={"cache-control": "no-store"},
    )
    here = client(layer)
    answers = [here.get(path).headers for path in ("/", "/nowhere")]
    assert [headers["cache-control"] for headers in answers] == ["public", "no-store"]
    assert {headers["x-content-type-options"] for headers in answers} == {"nosniff"}


def test_layers_let_a_servers_start_and_end_pass() -> None:
    def count(scope: Scope) -> None:
        assert scope["path"] == "/"

    layers = (
        Middleware(HeadAsGet),
        Middleware(SecurityHeaders, headers={}),
        Middleware(TrustedHosts, base_url=BASE),
        ANYBODY,
        Middleware(RateLimits, count=count, render=render),
        Middleware(Errors, render=render),
    )
    with client(*layers) as here:
        assert here.get("/").text == "hello"


def test_a_challenge_is_the_errors_own_or_the_scheme_of_the_surface() -> None:
    named = Unauthorized("No.")
    named.challenge = 'Bearer scope="a"'  # type: ignore[attr-defined]
    assert error_headers(named, "Bearer") == {"www-authenticate": 'Bearer scope="a"'}
    assert error_headers(Unauthorized("No."), "Bearer") == {"www-authenticate": "Bearer"}
    assert error_headers(Unauthorized("No.")) == error_headers(NotFound("No."), "Bearer") == {}
