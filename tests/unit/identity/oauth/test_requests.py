"""How requests are read and refused before any logic is asked (ids P, D5, D9 and L of the list of negative tests)."""

import json
import logging
from typing import Any, cast
from urllib.parse import urlencode

import pytest
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Mount
from starlette.types import Receive, Scope, Send

from commonplace.identity.oauth.errors import OAuthError
from commonplace.identity.oauth.server.app import LAYERS
from commonplace.kernel.errors import Unavailable
from commonplace.web.gateway import Gateway
from tests.unit.identity.oauth.world import FORM, REDIRECT, VERIFIER, Answer, World, answered, basic, payload

JSON = "application/json"
FORMS = ["/token", "/revoke", "/introspect"]
ENDPOINTS = [*FORMS, "/register"]


@pytest.fixture
def world() -> World:
    return World()


def refused(answer: Answer, status: int, error: str) -> None:
    """As every refusal has to be."""
    assert answer.status == status, answer.body
    told = answer.json()
    assert set(told) == {"error", "error_description"}
    assert told["error"] == error
    uncached(answer)


def uncached(answer: Answer) -> None:
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["pragma"] == "no-cache"


@pytest.mark.parametrize("path", FORMS)
def test_p1_parameter_that_comes_twice_is_refused(world: World, path: str) -> None:
    body = urlencode([("client_id", "a"), ("token", "t"), ("client_id", "a")])
    refused(world.send("POST", path, body, content_type=FORM), 400, "invalid_request")


@pytest.mark.parametrize("path", FORMS)
@pytest.mark.parametrize("kind", [JSON, "text/plain", f"{JSON}, {FORM}", f"{FORM}, {JSON}", "", "multipart/form-data"])
def test_p2_other_media_types_are_refused(world: World, path: str, kind: str) -> None:
    refused(world.send("POST", path, "grant_type=authorization_code", content_type=kind), 400, "invalid_request")


@pytest.mark.parametrize("path", FORMS)
def test_p2_missing_media_type_is_refused(world: World, path: str) -> None:
    refused(world.send("POST", path, "grant_type=authorization_code"), 400, "invalid_request")


@pytest.mark.parametrize("kind", [f"{FORM}; charset=utf-8", f"{FORM};charset=UTF-8", FORM.upper()])
def test_p3_parameters_of_the_media_type_are_accepted(world: World, kind: str) -> None:
    refused(world.send("POST", "/token", "grant_type=x&client_id=nobody", content_type=kind), 401, "invalid_client")


@pytest.mark.parametrize("path", FORMS)
@pytest.mark.parametrize("body", [b"token=\xff\xfe", b"token=%ff%fe", b"%c3=1"])
def test_p3_what_is_no_utf_8_is_refused(world: World, path: str, body: bytes) -> None:
    refused(world.send("POST", path, body, content_type=FORM), 400, "invalid_request")


@pytest.mark.parametrize("path", FORMS)
@pytest.mark.parametrize("body", ["token=" + "x" * 16_384, "&".join(f"p{number}=1" for number in range(51))])
def test_p3_oversize_is_refused(world: World, path: str, body: str) -> None:
    refused(world.send("POST", path, body, content_type=FORM), 400, "invalid_request")


def test_p3_announced_oversize_is_refused_unread(world: World) -> None:
    answer = world.send("POST", "/token", "a=1", content_type=FORM, content_length="99999999999")
    refused(answer, 400, "invalid_request")


@pytest.mark.parametrize(
    ("form", "error"),
    [
        ({}, "invalid_request"),
        ({"grant_type": ""}, "invalid_request"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"grant_type": "implicit"}, "unsupported_grant_type"),
        ({"grant_type": "urn:ietf:params:oauth:grant-type:token-exchange"}, "invalid_request"),
        ({"grant_type": "urn:ietf:params:oauth:grant-type:device_code"}, "unsupported_grant_type"),
        ({"grant_type": "client_credentials"}, "unauthorized_client"),
    ],
)
def test_p10_grant_type_must_be_known_and_the_clients(world: World, form: dict[str, str], error: str) -> None:
    client = world.register()
    refused(world.post("/token", {"client_id": client["client_id"]} | form), 400, error)


def test_p10_client_for_credentials_alone_has_no_codes(world: World) -> None:
    client, secret = world.operators_client()
    answer = world.post("/token", {"grant_type": "authorization_code"}, authorization=basic(client, secret))
    refused(answer, 400, "unauthorized_client")


@pytest.mark.parametrize("path", ENDPOINTS)
@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH"])
def test_p11_other_methods_are_told_which_one_serves(world: World, path: str, method: str) -> None:
    answer = world.send(method, path)
    assert answer.status == 405
    assert answer.headers["allow"] == ("POST" if path == "/introspect" else "POST, OPTIONS")
    uncached(answer)


def test_p11_query_string_is_never_read(world: World) -> None:
    client = world.register()
    query = urlencode({"grant_type": "refresh_token", "client_id": client["client_id"], "refresh_token": "x"})
    answer = world.send("POST", "/token", "", query=query, content_type=FORM)
    refused(answer, 401, "invalid_client")


@pytest.mark.parametrize("kind", ["text/plain", FORM, f"{JSON}, text/plain", ""])
def test_d5_registration_is_json(world: World, kind: str) -> None:
    body = json.dumps({"redirect_uris": [REDIRECT]})
    refused(world.send("POST", "/register", body, content_type=kind), 400, "invalid_client_metadata")


def test_d11_oversize_registration_is_refused(world: World) -> None:
    body = json.dumps({"redirect_uris": [REDIRECT], "client_name": "x" * 16_384})
    refused(world.send("POST", "/register", body, content_type=JSON), 413, "invalid_client_metadata")


@pytest.mark.parametrize("path", ENDPOINTS)
def test_l6_requests_of_a_network_are_limited(path: str) -> None:
    world = World(AUTH_RATE_LIMIT="1")
    answers = [world.send("POST", path, "x") for _ in range(6)]
    assert [answer.status for answer in answers][:5] == [400] * 5
    refused(answers[5], 429, "temporarily_unavailable")
    assert 0 < int(answers[5].headers["retry-after"]) <= 60
    assert world.send("POST", path, "x", source="198.51.100.7").status == 400
    world.clock.forward(60)
    assert world.send("POST", path, "x").status == 400


def test_l6_requests_of_a_client_are_limited_apart_from_those_of_others() -> None:
    world = World(AUTH_RATE_LIMIT="2")
    one, other = world.register()["client_id"], world.register()["client_id"]
    statuses = [world.post("/revoke", {"client_id": one, "token": "t"}).status for _ in range(3)]
    assert statuses == [200, 200, 429]
    assert world.post("/revoke", {"client_id": other, "token": "t"}).status == 200


def test_l6_counters_that_do_not_answer_let_the_process_count_alone(world: World) -> None:
    class Dead:
        def add(self, key: str, amount: int, expires_at: int) -> int:
            raise Unavailable("The counters do not answer.")

    world.limiter._counters = Dead()
    assert world.register()["client_id"]


class Breaks:
    """Stands for a part that raises whatever is asked of it."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Any:
        raise self._error


def broken(world: World, error: Exception) -> World:
    for part in ("registrar", "authentication", "token_endpoint", "keys"):
        object.__setattr__(world.services, part, Breaks(error))
    return world


def everywhere(world: World) -> list[Answer]:
    form = {"grant_type": "authorization_code", "client_id": "a", "token": "s3cret", "code_verifier": VERIFIER}
    answers = [world.post(path, form) for path in FORMS]
    answers.append(world.send("POST", "/register", '{"client_name": "s3cret"}', content_type=JSON))
    return [*answers, world.send("GET", "/.well-known/jwks.json")]


def test_l9_defect_is_told_as_server_error_and_shows_nothing(world: World, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        for answer in everywhere(broken(world, RuntimeError("s3cret of somebody"))):
            refused(answer, 500, "server_error")
            assert "s3cret" not in answer.body
            assert "Traceback" not in answer.body
    errors = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert {record.__dict__["error"] for record in errors} == {"RuntimeError"}
    assert "s3cret" not in str([record.__dict__ for record in caplog.records])


def test_part_that_does_not_answer_is_told_with_when_to_come_back(world: World) -> None:
    for answer in everywhere(broken(world, Unavailable("The table does not answer.", retry_after_seconds=7))):
        refused(answer, 503, "temporarily_unavailable")
        assert answer.headers["retry-after"] == "7"


def test_description_has_no_character_that_breaks_a_header_or_a_client(world: World) -> None:
    error = OAuthError("invalid_request", 'A "quoted" \\ word\nand a line, and an é.')
    answer = everywhere(broken(world, error))[0]
    assert answer.json()["error_description"] == "A 'quoted' ' word'and a line, and an '."


@pytest.mark.parametrize("path", [*ENDPOINTS, "/.well-known/jwks.json", "/nowhere", "/token/", "/well-known"])
def test_l7_only_metadata_may_be_cached(world: World, path: str) -> None:
    answer = world.send("POST", path, "x", content_type="text/plain")
    assert answer.status >= 400
    assert answer.headers["cache-control"] == "no-store"


def test_unknown_address_is_told_in_our_envelope(world: World) -> None:
    answer = world.send("GET", "/nowhere")
    assert (answer.status, answer.json()["error"]["code"]) == (404, "NOT_FOUND")


def test_errors_reach_pages_that_may_call(world: World) -> None:
    answer = world.post("/token", {}, origin="https://app.example.net")
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "WWW-Authenticate" in answer.headers["access-control-expose-headers"]
    assert "access-control-allow-credentials" not in answer.headers


def test_what_happened_is_told_to_metrics_without_any_name(world: World, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "commonplace.identity.telemetry"):
        client = world.register()
        world.post("/token", {"grant_type": "password", "client_id": client["client_id"]})
        world.post("/revoke", {"client_id": client["client_id"], "token": "t"})
    told = [
        tuple(record.__dict__[name] for name in ("message", "event", "outcome", "reason"))
        for record in caplog.records
        if record.name == "commonplace.identity.telemetry"
    ]
    assert told == [
        ("auth event", "register", "ok", ""),
        ("auth event", "token", "denied", "unsupported_grant_type"),
        ("auth event", "revoke", "ok", ""),
    ]


def test_answer_that_says_nothing_of_caches_is_kept_by_none() -> None:
    async def silent(scope: Scope, receive: Receive, send: Send) -> None:
        await Response("text")(scope, receive, send)

    told = answered(
        Gateway(Starlette(routes=[Mount("/", silent)], middleware=LAYERS))(payload("GET", "/"), cast(Any, None))
    )
    assert (told.status, told.body) == (200, "text")
    uncached(told)
    assert told.headers["x-content-type-options"] == "nosniff"
