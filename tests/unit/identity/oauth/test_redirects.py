"""Where a code may go, over HTTP (ids U of the negative tests)."""

from dataclasses import replace
from html import unescape
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from commonplace.identity.oauth.authorization_request import understand
from commonplace.identity.oauth.server.browsers import request_cookie
from tests.unit.identity.oauth.world import REDIRECT, Answer, World, challenge

LOOPBACK = "http://127.0.0.1:33418/callback?x=1"


@pytest.fixture
def world() -> World:
    return World(AUTH_RATE_LIMIT="0", AUTH_REGISTRATIONS_PER_DAY="0")


def query(client_id: str | None, redirect_uri: str | None, **changed: str) -> dict[str, str]:
    whole = {"client_id": client_id, "redirect_uri": redirect_uri, "response_type": "code", "state": "st"}
    whole |= {"code_challenge": challenge(), "code_challenge_method": "S256"} | changed
    return {name: value for name, value in whole.items() if value is not None}


def goes(world: World, client_id: str | None, redirect_uri: str | None, **changed: str) -> Answer:
    return world.send("GET", "/authorize", query=urlencode(query(client_id, redirect_uri, **changed)))


def is_local(answer: Answer) -> None:
    """A page of ours that leads nowhere: no redirect, and no link to what was asked for."""
    assert answer.status == 400
    assert answer.headers["content-type"].startswith("text/html")
    assert "location" not in answer.headers
    assert "evil" not in unescape(answer.body)
    assert answer.headers["cache-control"] == "no-store"


def is_asked(answer: Answer) -> None:
    """The page where a person says who they are, or what they consent to."""
    assert answer.status == 200, answer.body


EVIL = [
    "https://evil.example/callback",
    "https://app.example.net.evil.example/callback",
    "https://app.example.net@evil.example/callback",
    "https://evil.example\\@app.example.net/callback",
    "https://app.example.net:8443/callback",
    "https://app.example.net/callback/",
    "https://app.example.net/callback?next=evil",
    "https://app.example.net/callback/../evil",
    "https://app.example.net/Callback?evil",
    "https://APP.example.net/callback?evil",
    "http://app.example.net/callback?evil",
    "http://127.0.0.1.evil.example/callback",
    "http://127.1/callback?evil",
    "javascript:alert('evil')",
    "data:text/html,evil",
    "//evil.example/callback",
    "https://app.example.net/callback#evil",
    "https://app.example.net/callback\r\nLocation: https://evil.example/",
]


@pytest.mark.parametrize("uri", EVIL)
def test_u1_u4_unregistered_redirect_is_a_page_of_ours_and_no_redirect(world: World, uri: str) -> None:
    client_id = world.register()["client_id"]

    is_local(goes(world, client_id, uri))
    is_local(goes(world, client_id, uri, response_type="evil", code_challenge="evil"))


@pytest.mark.parametrize("client_id", ["nobody", "https://evil.example/c.json", "https://127.0.0.1/evil", "", None])
@pytest.mark.parametrize("uri", [REDIRECT, "https://evil.example/", "javascript:evil", None])
def test_u2_unknown_client_is_a_page_of_ours_whatever_the_redirect(
    world: World, client_id: str | None, uri: str | None
) -> None:
    is_local(goes(world, client_id, uri))


def test_a11_client_or_redirect_that_comes_twice_is_a_page_of_ours(world: World) -> None:
    known = query(world.register()["client_id"], REDIRECT)
    for name, value in (("client_id", known["client_id"]), ("redirect_uri", "https://evil.example/")):
        is_local(world.send("GET", "/authorize", query=urlencode([*known.items(), (name, value)])))


@pytest.mark.parametrize("port", [":1", ":65535", ""])
def test_u3_loopback_redirect_may_use_another_port(world: World, port: str) -> None:
    client_id = world.register(redirect_uris=[LOOPBACK])["client_id"]

    is_asked(goes(world, client_id, f"http://127.0.0.1{port}/callback?x=1"))


@pytest.mark.parametrize(
    "uri",
    [
        "http://127.0.0.1:1/evil?x=1",
        "http://127.0.0.1:1/callback?x=evil",
        "https://127.0.0.1:1/callback?x=1",
        "http://localhost:1/callback?x=1",
        "http://[::1]:1/callback?x=1",
        "http://127.0.0.2:1/callback?x=1",
        "http://127.0.0.1.evil.example:1/callback?x=1",
    ],
)
def test_u3_loopback_redirect_may_differ_in_nothing_else(world: World, uri: str) -> None:
    is_local(goes(world, world.register(redirect_uris=[LOOPBACK])["client_id"], uri))


@pytest.mark.parametrize("uri", ["https://evil.example/", REDIRECT + "/", "", None])
def test_u5_token_request_with_another_redirect_is_refused_and_the_code_still_works(
    world: World, uri: str | None
) -> None:
    client_id = world.register()["client_id"]
    code = world.code(client_id)
    form = {"grant_type": "authorization_code", "client_id": client_id, "code": code, "code_verifier": "v" * 43}
    wrong = world.post("/token", form | ({} if uri is None else {"redirect_uri": uri}))

    assert (wrong.status, wrong.json()["error"]) == (400, "invalid_grant")
    assert world.post("/token", form | {"redirect_uri": REDIRECT}).status == 200


def test_u5_loopback_port_may_not_change_between_authorize_and_token(world: World) -> None:
    client_id = world.register(redirect_uris=[LOOPBACK])["client_id"]
    used = LOOPBACK.replace("33418", "50000")
    code = world.code(client_id, redirect=used)

    for other in (LOOPBACK, LOOPBACK.replace("33418", "50001")):
        assert world.exchange(client_id, code, redirect_uri=other).json()["error"] == "invalid_grant"
    assert world.exchange(client_id, code, redirect_uri=used).status == 200


def begun(world: World, client_id: str) -> tuple[dict[str, str], str]:
    """The fields of a form that waits for its answer, and the cookie of its browser."""
    asked = understand(
        list(query(client_id, REDIRECT).items()), world.clients, world.resources, issuer=world.settings.issuer
    )
    form = world.services.consents.begin(asked.request)
    fields = {"handle": form.handle, "csrf": form.csrf, "decision": "deny"}
    return fields, f"{request_cookie(form.handle)}={form.cookie}"


def test_u6_redirect_that_is_posted_with_the_consent_has_no_effect(world: World) -> None:
    fields, cookie = begun(world, world.register()["client_id"])
    tampered = {"redirect_uri": "https://evil.example/", "client_id": "evil", "state": "evil"}
    answer = world.post("/authorize", fields | tampered, cookie=cookie)

    assert answer.status == 303
    target = urlsplit(answer.headers["location"])
    assert f"{target.scheme}://{target.netloc}{target.path}" == REDIRECT
    assert {name: values for name, values in parse_qs(target.query).items() if name != "error_description"} == {
        "error": ["access_denied"],
        "state": ["st"],
        "iss": [world.settings.issuer],
    }


@pytest.mark.parametrize("uris", [("https://evil.example/cb",), ()])
def test_u6_redirect_is_judged_again_when_the_consent_is_posted(world: World, uris: tuple[str, ...]) -> None:
    client_id = world.register()["client_id"]
    fields, cookie = begun(world, client_id)
    client = world.clients.find(client_id)
    world.store.remove_client(client_id)
    world.store.add_client(replace(client, redirect_uris=uris))
    answer = world.post("/authorize", fields, cookie=cookie)

    assert "location" not in answer.headers
    assert answer.status in (400, 403)


def test_u6_client_that_was_removed_meanwhile_gets_nothing(world: World) -> None:
    client_id = world.register()["client_id"]
    fields, cookie = begun(world, client_id)
    world.store.remove_client(client_id)
    answer = world.post("/authorize", fields, cookie=cookie)

    assert "location" not in answer.headers
    assert answer.status in (400, 403)


def test_u7_one_registered_redirect_need_not_be_named(world: World) -> None:
    is_asked(goes(world, world.register()["client_id"], None))


def test_u7_one_of_several_registered_redirects_has_to_be_named(world: World) -> None:
    client_id = world.register(redirect_uris=[REDIRECT, REDIRECT + "/other"])["client_id"]

    is_local(goes(world, client_id, None))
    is_asked(goes(world, client_id, REDIRECT + "/other"))
