"""Clients that are known by a document at their id (ids C of the negative tests)."""

import json
import logging
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.identity.oauth.client_documents import PER_NETWORK, client_of, lifetime
from commonplace.identity.oauth.client_metadata import BadMetadata
from commonplace.identity.oauth.clients import UnknownClient
from commonplace.identity.records import Client
from commonplace.kernel.errors import RateLimited
from commonplace.kernel.fetch import Fetched
from tests.unit.identity.documented import (
    CHATGPT,
    CHATGPT_URL,
    CLAUDE,
    CLAUDE_URL,
    REDIRECT,
    URL,
    World,
    document,
    text,
)

KEY = {"kty": "EC", "kid": "1", "crv": "P-256", "x": "AA", "y": "BB"}


@pytest.fixture
def world() -> World:
    return World()


def refusal(world: World, url: str = URL) -> str:
    """The reason, which only the log has."""
    with pytest.raises(UnknownClient) as unknown:
        world.find(url)
    return unknown.value.reason


def test_client_is_what_its_document_says(world: World) -> None:
    world.publish(client_uri="https://app.example/", application_type="web", unknown_member={"x": 1})

    assert world.find() == Client(
        id=URL,
        name="An app",
        source="document",
        redirect_uris=(REDIRECT,),
        auth_method="none",
        uri="https://app.example/",
        application_type="web",
        created_at=1_800_000_000,
    )
    assert world.find().host == "app.example"


@pytest.mark.parametrize(
    "url",
    [
        "http://app.example/client.json",
        "https://app.example",
        "https://app.example?x=/client.json",
        "https://user@app.example/client.json",
        "https://app.example:8443/client.json",
        "https://app.example/client.json#x",
        "https://app.example/../client.json",
        "https://app.example/%2e%2e/client.json",
        "https://127.0.0.1/client.json",
        "https://[::1]/client.json",
        "ftp://app.example/client.json",
        "javascript://app.example/client.json",
    ],
)
def test_c1_c2_url_that_could_mislead_is_refused_without_a_fetch(world: World, url: str) -> None:
    world.web.pages[url] = text(document(url))

    assert refusal(world, url) == "url_not_allowed"
    assert world.web.asked == []


@pytest.mark.parametrize(
    "url", [URL + "\n", URL + " ", "\ud800", "", URL + "\u00e9", "https://app.example/" + "x" * 3_000]
)
def test_c2_id_with_other_characters_is_refused_without_a_fetch(world: World, url: str) -> None:
    assert refusal(world, url) == "id_malformed"
    assert world.web.asked == []


@pytest.mark.parametrize(
    "changed",
    [
        {"client_id": URL + "/"},
        {"client_id": URL.replace("client", "Client")},
        {"client_id": None},
        {"client_id": 1},
        {"client_name": None},
        {"client_name": ""},
        {"client_name": " \t\u202e\u200b"},
        {"client_name": ["An app"]},
        {"redirect_uris": None},
        {"redirect_uris": []},
        {"redirect_uris": REDIRECT},
        {"redirect_uris": [1]},
        {"redirect_uris": ["myapp://cb"]},
        {"redirect_uris": [REDIRECT, "javascript:alert(1)"]},
        {"redirect_uris": [REDIRECT, "http://evil.example/cb"]},
        {"redirect_uris": [REDIRECT + "#x"]},
        {"redirect_uris": [REDIRECT + "?state=x"]},
        {"redirect_uris": [REDIRECT, REDIRECT + "?a=1&%69ss=https://evil.example"]},
    ],
)
def test_c3_document_that_names_another_client_or_lacks_name_or_redirects_is_refused(
    world: World, changed: dict[str, Any]
) -> None:
    world.publish(**changed)

    assert refusal(world) == "document_not_valid"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"x"', b"null", b"\xff", b"[" * 5_000, b"<html>"])
def test_c4_what_is_no_json_object_is_refused(world: World, body: bytes) -> None:
    world.web.pages[URL] = body

    assert refusal(world) == "document_not_valid"


@pytest.mark.parametrize("reason", ["status_404", "status_500", "status_302", "other_media_type", "connection_failed"])
def test_c4_c5_failed_fetch_is_refused_and_the_reason_is_in_the_log_alone(
    world: World, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    world.web.pages[URL] = reason

    with caplog.at_level(logging.INFO):
        assert refusal(world) == reason
    assert [record.__dict__["reason"] for record in caplog.records] == [reason]


def test_c6_document_over_five_kibibytes_is_refused(world: World) -> None:
    world.publish(unknown_member="x" * 5_120)

    assert refusal(world) == "too_large"


@pytest.mark.parametrize(
    "changed",
    [
        {"client_secret": "x"},
        {"client_secret": ""},
        {"client_secret_expires_at": 0},
        {"token_endpoint_auth_method": "client_secret_basic"},
        {"token_endpoint_auth_method": "client_secret_post"},
        {"token_endpoint_auth_method": "client_secret_jwt"},
        {"token_endpoint_auth_method": "tls_client_auth"},
        {"token_endpoint_auth_method": ["none"]},
        {"token_endpoint_auth_methods_supported": ["client_secret_basic"]},
        {"token_endpoint_auth_methods_supported": []},
        {"token_endpoint_auth_methods_supported": "none"},
        {"jwks": {"keys": [KEY | {"d": "CC"}]}},
        {"jwks": {"keys": [{"kty": "oct", "k": "AA"}]}},
        {"jwks": {"keys": [{"kty": "RSA", "n": "AA", "e": "AQAB", "p": "BB"}]}},
        {"jwks": {"keys": ["x"]}},
        {"jwks": {"keys": [{}]}},
        {"jwks": {"keys": [KEY | {"kid": 1}]}},
        {"jwks": {"keys": [KEY | {"key_ops": 5}]}},
        {"jwks": {"keys": [KEY] * 11}},
        {"jwks": []},
        {"jwks": {}},
    ],
)
def test_c10_secrets_private_keys_and_methods_that_need_them_are_refused(world: World, changed: dict[str, Any]) -> None:
    world.publish(**changed)

    assert refusal(world) == "document_not_valid"


@pytest.mark.parametrize(
    "changed",
    [
        {"token_endpoint_auth_method": "private_key_jwt"},
        {"token_endpoint_auth_method": "private_key_jwt", "jwks": {"keys": [KEY]}, "jwks_uri": "https://a.example/k"},
        {"token_endpoint_auth_method": "private_key_jwt", "jwks_uri": "http://a.example/k"},
        {"token_endpoint_auth_method": "private_key_jwt", "jwks_uri": "https://127.0.0.1/k"},
        {"token_endpoint_auth_method": "private_key_jwt", "jwks_uri": "https://a.example:8443/k"},
        {"jwks": {"keys": [KEY]}, "jwks_uri": "https://a.example/k"},
    ],
)
def test_client_that_signs_has_its_keys_in_exactly_one_place(world: World, changed: dict[str, Any]) -> None:
    world.publish(**changed)

    assert refusal(world) == "document_not_valid"


@pytest.mark.parametrize("field", ["client_uri", "logo_uri", "tos_uri", "policy_uri", "jwks_uri"])
@pytest.mark.parametrize("localized", ["", "#ja"])
@pytest.mark.parametrize("uri", ["javascript:alert(1)", "data:text/html,x", "ftp://a.example/", "//a.example", 5])
def test_d7_addresses_are_of_the_web_in_documents_as_well(world: World, field: str, localized: str, uri: Any) -> None:
    world.publish(**{field + localized: uri})

    assert refusal(world) == "document_not_valid"


def test_c11_document_of_chatgpt_is_taken_with_the_method_it_prefers(world: World) -> None:
    world.web.pages[CHATGPT_URL] = text(CHATGPT)
    client = world.find(CHATGPT_URL)

    assert (client.auth_method, client.jwks_uri) == ("private_key_jwt", "https://chatgpt.com/oauth/jwks.json")
    assert (client.name, client.host) == ("ChatGPT", "chatgpt.com")


def test_c11_two_methods_in_a_list_alone_are_taken_as_the_better_one(world: World) -> None:
    world.web.pages[CHATGPT_URL] = text({**CHATGPT, "token_endpoint_auth_method": None})

    assert world.find(CHATGPT_URL).auth_method == "private_key_jwt"


def test_c11_method_that_is_not_supported_gives_way_to_one_of_the_list_that_is(world: World) -> None:
    world.publish(
        token_endpoint_auth_method="tls_client_auth", token_endpoint_auth_methods_supported=["tls_client_auth", "none"]
    )

    assert world.find().auth_method == "none"


def test_c11_document_of_claude_is_taken_and_grants_that_we_lack_are_left_out(world: World) -> None:
    world.web.pages[CLAUDE_URL] = text(CLAUDE)
    client = world.find(CLAUDE_URL)

    assert client.grant_types == ("authorization_code", "refresh_token")
    assert (client.auth_method, len(client.redirect_uris)) == ("none", 2)


@pytest.mark.parametrize("changed", [{"grant_types": ["client_credentials"]}, {"response_types": ["token"]}])
def test_client_that_does_not_use_codes_is_refused(world: World, changed: dict[str, Any]) -> None:
    world.publish(**changed)

    assert refusal(world) == "document_not_valid"


def test_d4_odd_scheme_beside_others_is_left_out(world: World) -> None:
    world.publish(redirect_uris=["myapp://cb", "cursor://x/cb", REDIRECT])

    assert world.find().redirect_uris == ("cursor://x/cb", REDIRECT)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("Bank\u202emocv.elgoog", "Bankmocv.elgoog"),
        ("A\nB\r\n\tC\u2028D\x00E", "A B C D E"),
        ("Zero\u200bwidth\ufeff", "Zerowidth"),
        ("x" * 4_000, "x" * 100),
        ("e\u0301", "\u00e9"),
        ("\ud800Half", "Half"),
    ],
)
def test_c16_name_is_cut_and_loses_what_could_deceive_a_reader(world: World, given: str, shown: str) -> None:
    world.publish(client_name=given)

    assert world.find().name == shown


def test_c14_valid_document_is_fetched_once_while_it_is_fresh(world: World) -> None:
    world.publish()
    clients = [world.find() for _ in range(3)]

    assert clients[0] == clients[1] == clients[2]
    assert world.web.asked == [URL]
    world.clock.now += 300
    world.find()
    assert world.web.asked == [URL, URL]


@pytest.mark.parametrize(
    ("cache_control", "seconds"),
    [
        ("", 300),
        ("public", 300),
        ("max-age=600", 600),
        ("public, MAX-AGE = 600", 600),
        ('max-age="600"', 600),
        ("s-maxage=600", 300),
        ("max-age=0", 60),
        ("max-age=59", 60),
        ("max-age=86401", 86_400),
        ("max-age=999999999999", 86_400),
        ("max-age=-1", 300),
        ("max-age=soon", 300),
        ("max-age=600, no-store", 60),
        ("no-cache", 60),
        ("private, max-age=600", 600),
    ],
)
def test_c14_lifetime_follows_cache_control_within_a_minute_and_a_day(cache_control: str, seconds: int) -> None:
    assert lifetime(Fetched(b"", cache_control)) == seconds


@pytest.mark.parametrize("page", ["status_500", b"[]", text(document(client_name=None))])
def test_c14_failure_is_remembered_for_a_minute_as_a_failure(world: World, page: str | bytes) -> None:
    world.web.pages[URL] = page
    first = refusal(world)
    world.publish()

    assert refusal(world) == "failed_lately" != first
    world.clock.now += 60
    assert world.find().id == URL
    assert world.web.asked == [URL, URL]


def test_c14_failure_does_not_bring_back_what_was_valid_before(world: World) -> None:
    world.publish()
    world.find()
    world.web.pages[URL] = "status_500"
    world.clock.now += 300

    assert refusal(world) == "status_500"
    assert refusal(world) == "failed_lately"


@pytest.mark.parametrize(
    "changed",
    [
        {"redirect_uris": ("javascript:alert(1)",)},
        {"redirect_uris": ()},
        {"id": "https://other.example/c"},
        {"auth_method": "client_secret_basic"},
        {"source": "operator"},
    ],
)
def test_c14_kept_document_that_no_longer_stands_is_evicted_and_fetched_once(
    world: World, changed: dict[str, Any]
) -> None:
    world.publish()
    good = world.find()
    world.store.keep_document(URL, replace(good, **changed), 1_800_009_999)

    assert world.find() == good
    assert world.web.asked == [URL, URL]
    assert world.find() == good
    assert world.web.asked == [URL, URL]


def test_c14_kept_document_that_no_longer_stands_is_gone_even_if_the_fetch_fails(world: World) -> None:
    world.publish()
    world.store.keep_document(URL, replace(world.find(), redirect_uris=("data:x",)), 1_800_009_999)
    world.web.pages[URL] = "status_500"

    assert refusal(world) == "status_500"
    assert world.store.document(URL) == (None, 1_800_000_060)


def test_l6_one_network_does_not_make_us_fetch_without_end(world: World) -> None:
    world.publish()
    world.find()
    for number in range(PER_NETWORK.calls - 1):
        refusal(world, f"https://app{number}.example/c.json")

    with pytest.raises(RateLimited):
        world.find("https://next.example/c.json")
    assert world.find().id == URL  # what is kept costs nothing
    with pytest.raises(UnknownClient):
        world.find("https://next.example/c.json", network="192.0.2.2")


def test_c14_kept_document_that_no_longer_stands_is_gone_even_if_nothing_may_be_fetched(world: World) -> None:
    world.publish()
    good = world.find()
    for number in range(PER_NETWORK.calls - 1):
        refusal(world, f"https://app{number}.example/c.json")
    world.store.keep_document(URL, replace(good, redirect_uris=("data:x",)), 1_800_009_999)

    with pytest.raises(RateLimited):
        world.find()
    assert world.store.document(URL) is None


def test_l6_limited_fetch_is_not_remembered_as_a_failure(world: World) -> None:
    for number in range(PER_NETWORK.calls):
        refusal(world, f"https://app{number}.example/c.json")
    world.publish()
    with pytest.raises(RateLimited):
        world.find()
    world.clock.now += 60

    assert world.find().id == URL


def test_documents_of_this_machine_are_taken_by_a_switch_alone() -> None:
    url = "http://localhost:8765/client.json"
    on, off = World(loopback=True), World()
    for world in (on, off):
        world.publish(url, redirect_uris=["http://localhost:8765/cb"])

    assert on.find(url).host == "localhost:8765"
    assert refusal(off, url) == "url_not_allowed"


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
MEMBERS = st.sampled_from(
    [
        *("client_name", "redirect_uris", "client_uri", "jwks", "jwks_uri", "grant_types", "response_types"),
        *("token_endpoint_auth_method", "token_endpoint_auth_methods_supported", "application_type", "logo_uri#ja"),
    ]
)


@settings(deadline=None)
@given(st.dictionaries(MEMBERS, JSON | st.sampled_from([["authorization_code"], ["none"], "none", {"keys": []}])))
def test_any_document_makes_a_client_or_is_refused(changed: dict[str, Any]) -> None:
    body = json.dumps(document() | changed).encode()
    try:
        client = client_of(URL, body, now=0)
    except BadMetadata:
        return
    assert client.id == URL and client.name and client.redirect_uris


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_refused(body: bytes) -> None:
    with pytest.raises(BadMetadata):
        client_of(URL, body, now=0)
