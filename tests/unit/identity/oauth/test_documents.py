"""Clients with a metadata document, over HTTP (ids C of the negative tests)."""

import logging
from html import unescape
from typing import Any
from urllib.parse import urlencode

import pytest

from commonplace.kernel.fetch import Fetched
from tests.unit.identity.documented import (
    CHATGPT,
    CHATGPT_URL,
    CLAUDE,
    CLAUDE_URL,
    document,
    text,
)
from tests.unit.identity.oauth.test_client_authentication import asserted
from tests.unit.identity.oauth.test_redirects import goes, is_asked, is_local
from tests.unit.identity.oauth.world import BASE, REDIRECT, Answer, World
from tests.unit.identity.signing import claims, ec, public, signed

URL = "https://app.example.net/client.json"


@pytest.fixture
def world() -> World:
    return World(AUTH_RATE_LIMIT="0")


def publish(world: World, url: str = URL, **changed: Any) -> None:
    world.web.pages[url] = text(document(url, **{"redirect_uris": [REDIRECT]} | changed))


def is_no_client(world: World, url: str) -> None:
    """Neither a person nor a program learns more than that."""
    is_local(goes(world, url, REDIRECT))
    answer = world.post("/token", {"grant_type": "refresh_token", "refresh_token": "x", "client_id": url})
    assert (answer.status, answer.json()["error"]) == (401, "invalid_client")
    assert "www-authenticate" not in answer.headers


def test_client_with_a_document_needs_no_registration(world: World) -> None:
    publish(world)

    is_asked(goes(world, URL, REDIRECT))
    assert world.tokens(URL)["token_type"] == "Bearer"
    assert world.web.asked == [URL]
    assert list(world.store.clients()) == []


@pytest.mark.parametrize(
    "url",
    [
        "http://app.example.net/client.json",
        "https://app.example.net",
        "https://user@app.example.net/client.json",
        "https://app.example.net:8443/client.json",
        "https://app.example.net/client.json#x",
        "https://app.example.net/../client.json",
        "https://app.example.net/%2e%2e/client.json",
        "https://app.example.net?x=/client.json",
        "https://app.example.net/client.json\n",
        "https://127.0.0.1/client.json",
        "https://0x7f.1/client.json",
        "https://[::1]/client.json",
        "http://127.0.0.1:9001/2018-06-01/runtime/invocation/next",
        "http://localhost/client.json",
    ],
)
def test_c1_c2_url_that_could_mislead_is_refused_without_a_fetch(world: World, url: str) -> None:
    publish(world, url)

    is_no_client(world, url)
    assert world.web.asked == []


@pytest.mark.parametrize(
    "page",
    [
        *("status_302", "status_404", "status_500", "other_media_type", "too_large", "too_slow", "address_not_public"),
        *("certificate_not_valid", "connection_failed", b"", b"[]", b"\xff", text(document(URL + "x"))),
        text(document(URL, client_name=None)),
        text(document(URL, redirect_uris=[])),
        text(document(URL, redirect_uris=[REDIRECT, "javascript:alert(1)"])),
        text(document(URL, client_secret="x")),
        text(document(URL, token_endpoint_auth_method="client_secret_post")),
        text(document(URL, jwks={"keys": [{"kty": "oct", "k": "AA"}]})),
    ],
)
def test_c3_c4_c5_c6_c10_bad_document_is_an_unknown_client_and_the_reason_is_in_the_log(
    world: World, page: str | bytes, caplog: pytest.LogCaptureFixture
) -> None:
    world.web.pages[URL] = page

    with caplog.at_level(logging.INFO):
        is_no_client(world, URL)
    assert len(world.web.asked) == 1  # the second time it is known to have failed
    assert any("metadata document" in record.message for record in caplog.records)


def test_c11_documents_of_chatgpt_and_claude_are_taken(world: World) -> None:
    world.web.pages |= {CHATGPT_URL: text(CHATGPT), CLAUDE_URL: text(CLAUDE)}

    is_asked(goes(world, CHATGPT_URL, str(CHATGPT["redirect_uris"][0])))
    is_asked(goes(world, CLAUDE_URL, CLAUDE["redirect_uris"][1]))


def test_c11_c12_chatgpt_gets_tokens_by_its_signature_and_not_without(world: World) -> None:
    redirect = CHATGPT["redirect_uris"][0]
    keys = str(CHATGPT["jwks_uri"])
    world.web.pages |= {CHATGPT_URL: text(CHATGPT), keys: text(public(ec("e")))}
    code = world.code(CHATGPT_URL, redirect=redirect)

    bare = world.exchange(CHATGPT_URL, code, redirect_uri=redirect)
    assert (bare.status, bare.json()["error"]) == (401, "invalid_client")
    proof = asserted(signed(ec("e"), claims(CHATGPT_URL, aud=f"{BASE}/token")))
    assert world.exchange(CHATGPT_URL, code, redirect_uri=redirect, **proof).status == 200


def test_c14_document_is_asked_for_again_when_its_time_is_over(world: World) -> None:
    publish(world)
    page = world.web.pages[URL]
    assert isinstance(page, bytes)
    world.web.pages[URL] = Fetched(page, "max-age=120")
    is_asked(goes(world, URL, REDIRECT))
    world.clock.forward(119)
    is_asked(goes(world, URL, REDIRECT))
    publish(world, redirect_uris=["https://app.example.net/new"])
    world.clock.forward(1)

    is_local(goes(world, URL, REDIRECT))
    is_asked(goes(world, URL, "https://app.example.net/new"))
    assert world.web.asked == [URL, URL]


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


def test_c16_name_of_a_megabyte_is_never_read(world: World) -> None:
    publish(world, client_name="A" * 1_000_000)

    is_no_client(world, URL)


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
