"""Where a code may go, over HTTP (ids U of the negative tests)."""

from html import unescape
from urllib.parse import urlencode

import pytest

from tests.unit.identity.oauth.world import Answer, World, challenge


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
