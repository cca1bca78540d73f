"""Whatever is sent, nothing breaks: no 5xx, no cache, no secret in the answer."""

import json
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.unit.identity.oauth.world import FORM, REDIRECT, VERIFIER, World, basic

NAMES = (
    *("grant_type", "client_id", "client_secret", "code", "redirect_uri", "code_verifier", "refresh_token", "scope"),
    *("resource", "token", "token_type_hint", "client_assertion", "client_assertion_type", "state"),
)
VALUES = (
    *("authorization_code", "refresh_token", "client_credentials", "", "cpc_" + "a" * 43, "cpr_" + "a" * 43, REDIRECT),
    *(VERIFIER, "https://kb.example.org/mcp", "knowledge:read", "https://client.example.net/doc.json", "e30.e30.e30"),
    "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
)
texts = st.text(max_size=40) | st.sampled_from(VALUES)
forms = st.lists(st.tuples(st.sampled_from(NAMES) | st.text(max_size=12), texts), max_size=12)
bodies = st.binary(max_size=200) | forms.map(lambda pairs: urlencode(pairs, errors="surrogatepass").encode())
jsons = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
METADATA = (
    *("redirect_uris", "client_name", "token_endpoint_auth_method", "grant_types", "response_types", "scope", "jwks"),
    *("jwks_uri", "client_uri", "logo_uri", "application_type", "client_name#ja", "software_id", "contacts"),
)
registrations = st.dictionaries(st.sampled_from(METADATA) | st.text(max_size=8), jsons, max_size=8)
headers = st.fixed_dictionaries(
    {},
    optional={
        "authorization": st.sampled_from(
            ["Basic", "Basic !", "basic YTpi", "Bearer x", basic("a%ZZ", "b"), basic("", "")]
        )
        | st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=30),
        "content_type": st.sampled_from([FORM, f"{FORM}; charset=utf-8", "application/json", "text/plain", ""]),
        "content_length": st.sampled_from(["0", "-1", "x", "99999999999999999999"]),
        "cookie": st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=30),
    },
)

unhurried = settings(
    max_examples=examples(30, soak=1_500), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    # No limits: they would answer in place of what is tested.
    yield World(AUTH_RATE_LIMIT="0", AUTH_REGISTRATIONS_PER_DAY="0")


@unhurried
@given(
    path=st.sampled_from(["/token", "/revoke", "/introspect", "/register"]),
    body=bodies,
    more=headers,
    method=st.sampled_from(["POST", "POST", "POST", "GET", "OPTIONS", "PUT"]),
)
def test_any_bytes_are_answered(world: World, path: str, body: bytes, more: dict[str, str], method: str) -> None:
    answer = world.send(method, path, body, **({"content_type": FORM} | more))
    assert answer.status < 500, answer.body
    assert answer.headers["cache-control"] == "no-store"


@unhurried
@given(path=st.sampled_from(["/token", "/revoke", "/introspect"]), pairs=forms, confidential=st.booleans())
def test_any_form_of_a_known_client_is_answered(
    world: World, path: str, pairs: list[tuple[str, str]], confidential: bool
) -> None:
    method = "client_secret_basic" if confidential else "none"
    client = world.register(token_endpoint_auth_method=method)
    own = [("client_id", client["client_id"])]
    form = urlencode([*own, *(pair for pair in dict(pairs).items() if pair[0] != "client_id")], errors="surrogatepass")
    proof = {"authorization": basic(client["client_id"], client["client_secret"])} if confidential else {}
    answer = world.send("POST", path, form, content_type=FORM, **proof)
    assert answer.status < 500, answer.body
    assert client.get("client_secret", "-") not in answer.body


@unhurried
@given(metadata=registrations)
def test_any_registration_is_answered(world: World, metadata: dict[str, object]) -> None:
    answer = world.send("POST", "/register", json.dumps(metadata), content_type="application/json")
    assert answer.status in (201, 400), answer.body


@unhurried
@given(
    path=st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=40),
    method=st.sampled_from(["GET", "HEAD"]),
)
def test_any_suffix_of_metadata_is_answered(world: World, path: str, method: str) -> None:
    for root in ("oauth-protected-resource", "oauth-authorization-server"):
        assert world.send(method, f"/.well-known/{root}/{path}").status in (200, 404)
