"""Clients with a metadata document, over HTTP (ids C of the negative tests)."""

from html import unescape
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.unit.identity.documented import document, text
from tests.unit.identity.oauth.test_redirects import goes, is_asked
from tests.unit.identity.oauth.world import REDIRECT, Answer, World

URL = "https://app.example.net/client.json"


@pytest.fixture
def world() -> World:
    return World(AUTH_RATE_LIMIT="0")


def publish(world: World, url: str = URL, **changed: Any) -> None:
    world.web.pages[url] = text(document(url, **{"redirect_uris": [REDIRECT]} | changed))


def test_client_with_a_document_needs_no_registration(world: World) -> None:
    publish(world)

    is_asked(goes(world, URL, REDIRECT))
    assert world.tokens(URL)["token_type"] == "Bearer"
    assert world.web.asked == [URL]
    assert list(world.store.clients()) == []


def test_c15_one_installation_that_signs_in_again_or_out_leaves_the_others_alone(world: World) -> None:
    publish(world)
    first, second, third = (world.tokens(URL)["refresh_token"] for _ in range(3))

    assert world.post("/revoke", {"token": first, "client_id": URL}).status == 200
    assert world.refresh(URL, first).json()["error"] == "invalid_grant"
    assert [world.refresh(URL, token).status for token in (second, third)] == [200, 200]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ('"><img src=x onerror=alert(1)>', '"><img src=x onerror=alert(1)>'),
        ("{{ 7 * 7 }}{% raw %}", "{{ 7 * 7 }}{% raw %}"),
        ("Bank\u202egro.evil\u202c", "Bankgro.evil"),
        ("A" * 4_000, "A" * 40),
    ],
)
def test_c16_malicious_name_is_escaped_and_cut_on_the_page(world: World, name: str, shown: str) -> None:
    publish(world, client_name=name)
    answer = goes(world, URL, REDIRECT)

    is_asked(answer)
    assert shown in unescape(answer.body)
    assert "<script>alert" not in answer.body and "<img src=x" not in answer.body
    assert "\u202e" not in unescape(answer.body) and "A" * 101 not in answer.body


def asks(world: World, url: str, source: str) -> Answer:
    form = urlencode({"token": "t", "client_id": url})
    return world.send("POST", "/revoke", form, source=source, content_type="application/x-www-form-urlencoded")


def test_l6_one_network_that_names_many_documents_is_told_to_wait(world: World) -> None:
    publish(world)
    statuses = [asks(world, f"https://a{n}.example/c", "192.0.2.1").status for n in range(21)]

    assert statuses == [401] * 20 + [429]
    limited = asks(world, URL, "192.0.2.1")
    assert limited.status == 429 and 0 < int(limited.headers["retry-after"]) <= 60
    assert asks(world, URL, "192.0.2.2").status == 200
    assert asks(world, URL, "192.0.2.1").status == 200  # it is kept now
