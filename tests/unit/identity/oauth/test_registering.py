"""Dynamic registration over HTTP (ids D of the negative tests)."""

import json
import logging
from typing import Any

import pytest

from commonplace.identity.oauth.errors import OAuthError
from commonplace.identity.oauth.registration import Registrar
from commonplace.identity.records import Client
from commonplace.identity.secrets import digest
from commonplace.kernel.limits import Limiter
from tests.fakes.authority import Counters
from tests.fakes.identity_clients import FakeClients
from tests.unit.identity.documented import Clock, text
from tests.unit.identity.oauth.world import REDIRECT, Answer, World
from tests.unit.identity.signing import ec, public

NOW = 1_800_000_000


@pytest.fixture
def world() -> World:
    return World(AUTH_RATE_LIMIT="0", AUTH_REGISTRATIONS_PER_DAY="0")


def registers(world: World, /, **metadata: Any) -> Answer:
    body = {name: value for name, value in ({"redirect_uris": [REDIRECT]} | metadata).items() if value is not None}
    return world.send("POST", "/register", json.dumps(body), content_type="application/json")


def is_refused(world: World, answer: Answer, error: str = "invalid_client_metadata", status: int = 400) -> None:
    """And nothing of it is kept, cached or said again."""
    assert (answer.status, answer.json()["error"]) == (status, error)
    assert answer.headers["cache-control"] == "no-store"
    assert list(world.store.clients()) == []


def the_client(world: World) -> Client:
    (client,) = world.store.clients()
    return client


def test_what_is_left_out_is_the_default_of_the_standard(world: World) -> None:
    answer = registers(world)
    told, client = answer.json(), the_client(world)

    assert (answer.status, answer.headers["cache-control"]) == (201, "no-store")
    assert told == {
        "client_id": client.id,
        "client_id_issued_at": NOW,
        "client_name": "app.example.net",
        "redirect_uris": [REDIRECT],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "client_secret_basic",
        "client_secret": told["client_secret"],
        "client_secret_expires_at": NOW + 90 * 86_400,
    }
    assert not client.method_given


def test_what_is_registered_is_told_and_kept(world: World) -> None:
    answer = registers(
        world,
        client_name="  My\tapp ",
        token_endpoint_auth_method="none",
        grant_types=["refresh_token", "authorization_code"],
        response_types=["code"],
        scope="knowledge:write unknown:read offline_access knowledge:read",
        client_uri="https://app.example.net/",
        application_type="native",
        contacts=["x"],
        software_id="y",
    )
    told, client = answer.json(), the_client(world)

    assert told == {
        "client_id": client.id,
        "client_id_issued_at": NOW,
        "client_name": "My app",
        "redirect_uris": [REDIRECT],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "client_uri": "https://app.example.net/",
        "application_type": "native",
    }
    assert client.scopes == ()  # what a client asks for first does not keep it from asking for more
    assert client.expires_at == NOW + 90 * 86_400


def test_client_that_signs_registers_its_keys(world: World) -> None:
    keys = public(ec("e"))
    told = registers(world, token_endpoint_auth_method="private_key_jwt", jwks=keys).json()

    assert told["jwks"]["keys"][0]["kid"] == "e"
    assert "client_secret" not in told
    assert the_client(world).jwks == told["jwks"]


@pytest.mark.parametrize(
    "uri",
    [
        *("javascript:alert(1)", "JavaScript:alert(1)", " javascript:alert(1)", "java\tscript:alert(1)"),
        *("java\nscript:alert(1)", "data:text/html,x", "DATA:x", "vbscript:x", "file:///etc/passwd", "blob:x"),
        *("about:blank", "https://app.example\\cb", "https://app.example/\u0000", "https://b\u00fccher.example/"),
    ],
)
def test_d2_dangerous_redirect_is_refused_even_beside_a_good_one(world: World, uri: str) -> None:
    is_refused(world, registers(world, redirect_uris=[REDIRECT, uri]), "invalid_redirect_uri")


@pytest.mark.parametrize(
    "query", ["code=x", "a=1&state", "iss=https://evil.example", "%65rror=", "error_uri=x", "response=x"]
)
def test_d3_redirect_whose_query_could_be_taken_for_the_answer_is_refused(world: World, query: str) -> None:
    answer = registers(world, redirect_uris=[REDIRECT, f"{REDIRECT}?{query}"])

    is_refused(world, answer, "invalid_redirect_uri")
    assert "code, error, error_description, error_uri, iss, response, state" in answer.json()["error_description"]
    assert "added by the answer" in answer.json()["error_description"]


def test_d4_scheme_of_an_application_beside_https_is_accepted(world: World) -> None:
    uris = ["cursor://anysphere.cursor-mcp/oauth/callback", REDIRECT, "http://localhost:1/cb", "com.example.app:/cb"]

    assert registers(world, redirect_uris=uris).json()["redirect_uris"] == uris


def test_d4_odd_scheme_is_left_out_and_fails_nothing_but_itself(world: World) -> None:
    assert registers(world, redirect_uris=["myapp://cb", REDIRECT, REDIRECT]).json()["redirect_uris"] == [REDIRECT]
    world.store.remove_client(the_client(world).id)
    is_refused(world, registers(world, redirect_uris=["myapp://cb"]), "invalid_redirect_uri")


@pytest.mark.parametrize(
    "uris", [None, [], {}, REDIRECT, 5, [5], [None], [[REDIRECT]], [REDIRECT + f"?{n}" for n in range(11)]]
)
def test_d5_redirects_are_a_list_of_one_to_ten_texts(world: World, uris: Any) -> None:
    is_refused(world, registers(world, redirect_uris=uris), "invalid_redirect_uri")


def test_d5_redirect_of_2001_characters_is_refused(world: World) -> None:
    long = REDIRECT + "?" + "x" * (2_000 - len(REDIRECT))

    assert len(long) == 2_001
    is_refused(world, registers(world, redirect_uris=[long]), "invalid_redirect_uri")
    assert registers(world, redirect_uris=[long[:-1]]).status == 201


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b"[" * 10_000, b"9" * 10_000])
def test_d5_body_that_is_no_json_object_is_refused(world: World, body: bytes) -> None:
    is_refused(world, world.send("POST", "/register", body, content_type="application/json"))


@pytest.mark.parametrize(
    "changed",
    [
        {"token_endpoint_auth_method": "client_secret_jwt"},
        {"token_endpoint_auth_method": ""},
        {"token_endpoint_auth_method": 5},
        {"token_endpoint_auth_method": ["none"]},
        {"grant_types": ["password"]},
        {"grant_types": ["authorization_code", "implicit"]},
        {"grant_types": ["authorization_code", "client_credentials"]},
        {"grant_types": ["client_credentials"]},
        {"grant_types": ["refresh_token"]},
        {"grant_types": "authorization_code"},
        {"grant_types": [5]},
        {"response_types": ["token"]},
        {"response_types": ["code", "token"]},
        {"response_types": ["code token"]},
        {"response_types": "code"},
        {"grant_types": ["refresh_token"], "response_types": ["code"]},
        {"scope": 5},
        {"scope": ["knowledge:read"]},
        {"scope": 'know"ledge'},
        {"application_type": "toaster"},
        {"application_type": ["web"]},
        {"client_name": 5},
        {"client_name#ja": 5},
        {"token_endpoint_auth_method": "private_key_jwt"},
        {"token_endpoint_auth_method": "private_key_jwt", "jwks_uri": "https://127.0.0.1/keys"},
        {"token_endpoint_auth_method": "private_key_jwt", "jwks_uri": "http://app.example/keys"},
        {"jwks": public(ec("e")), "jwks_uri": "https://app.example/keys"},
        {"jwks": {"keys": [{"kty": "oct", "k": "AA"}]}},
        {"jwks": "x"},
    ],
)
def test_d6_what_is_not_supported_or_contradicts_itself_is_refused_before_anything_is_kept(
    world: World, changed: dict[str, Any]
) -> None:
    is_refused(world, registers(world, **changed))


def test_grant_type_of_an_extension_is_left_out(world: World) -> None:
    grants = ["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"]

    assert registers(world, grant_types=grants).json()["grant_types"] == ["authorization_code", "refresh_token"]


@pytest.mark.parametrize("field", ["client_uri", "logo_uri", "tos_uri", "policy_uri", "jwks_uri"])
@pytest.mark.parametrize("localized", ["", "#ja", "#x#y"])
@pytest.mark.parametrize("uri", ["javascript:alert(1)", "data:text/html,x", "//x.example", "https://x y/", "http://["])
def test_d7_address_that_is_not_of_the_web_is_refused_in_any_language(
    world: World, field: str, localized: str, uri: str
) -> None:
    is_refused(world, registers(world, **{field + localized: uri}))


@pytest.mark.parametrize("field", ["client_uri", "logo_uri#ja", "tos_uri", "policy_uri#de"])
def test_d7_addresses_of_the_web_are_accepted(world: World, field: str) -> None:
    assert registers(world, **{field: "http://app.example/"}).status == 201


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_d8_secret_is_always_ours_and_is_kept_by_its_hash(world: World, method: str) -> None:
    chosen = registers(world, token_endpoint_auth_method=method, client_secret="chosen by me", client_id="mine").json()
    secret = chosen["client_secret"]

    assert chosen["client_id"] != "mine"
    assert secret.startswith("cps_") and len(secret) == 4 + 43
    assert chosen["client_secret_expires_at"] == NOW + 90 * 86_400
    assert the_client(world).secret_hash == digest(secret)
    assert secret not in repr(the_client(world))


def test_d8_a_secret_that_is_not_used_ends_when_the_answer_said(world: World) -> None:
    told = registers(world).json()
    form = {"client_id": told["client_id"], "client_secret": told["client_secret"], "grant_type": "authorization_code"}
    world.clock.now = told["client_secret_expires_at"]
    assert world.post("/token", form).json()["error"] == "invalid_client"


def test_d8_a_secret_that_is_used_lasts_longer_than_the_answer_said(world: World) -> None:
    told = registers(world).json()
    form = {"client_id": told["client_id"], "client_secret": told["client_secret"], "grant_type": "authorization_code"}
    for _ in range(2):
        world.clock.forward(89 * 86_400)
        assert world.post("/token", form).json()["error"] == "invalid_request", "the code is missing"


@pytest.mark.parametrize("scope", ["knowledge:read", "knowledge:read knowledge:write x:y", ""])
def test_a_registration_tells_of_no_scope_because_it_bounds_none(world: World, scope: str) -> None:
    told = registers(world, scope=scope, token_endpoint_auth_method="none").json()
    assert "scope" not in told
    assert world.exchange(told["client_id"], world.code(told["client_id"])).json()["scope"] == (
        "knowledge:read knowledge:write"
    )


def test_d8_client_without_a_secret_is_told_of_none(world: World) -> None:
    told = registers(world, token_endpoint_auth_method="none", client_secret="x").json()

    assert not {"client_secret", "client_secret_expires_at"} & told.keys()
    assert the_client(world).secret_hash is None


def test_d9_no_management_of_the_registration_is_offered_and_nothing_is_cached(world: World) -> None:
    good, bad = registers(world), registers(world, redirect_uris=[])

    assert not {"registration_client_uri", "registration_access_token"} & good.json().keys()
    for answer in (good, bad):
        assert (answer.headers["cache-control"], answer.headers["pragma"]) == ("no-store", "no-cache")


def test_d10_quota_is_for_each_network_and_day_and_says_when_to_come_back() -> None:
    world = World(AUTH_RATE_LIMIT="0", AUTH_REGISTRATIONS_PER_DAY="2")

    def again(source: str) -> Answer:
        body = json.dumps({"redirect_uris": [REDIRECT]})
        return world.send("POST", "/register", body, source=source, content_type="application/json")

    assert [again("192.0.2.1").status for _ in range(3)] == [201, 201, 429]
    limited = again("192.0.2.1")
    assert 0 < int(limited.headers["retry-after"]) <= 86_400
    assert len(list(world.store.clients())) == 2
    assert again("192.0.2.2").status == 201
    assert [again(f"2001:db8::{n}").status for n in range(3)] == [201, 201, 429]  # one subscriber, whichever address
    world.clock.forward(86_400)
    assert again("192.0.2.1").status == 201


def test_d10_registrations_that_are_refused_are_not_counted() -> None:
    world = World(AUTH_RATE_LIMIT="0", AUTH_REGISTRATIONS_PER_DAY="1")
    for _ in range(3):
        is_refused(world, registers(world, redirect_uris=[]), "invalid_redirect_uri")

    assert registers(world).status == 201


def registrar(policy: Any) -> tuple[Registrar, FakeClients]:
    clock = Clock()
    store = FakeClients(clock)
    return Registrar(store, Limiter(Counters(), clock), clock, per_day=0, policy=policy), store


def test_d11_policy_that_fails_is_a_server_error_and_nothing_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    def policy(client: Client) -> None:
        raise RuntimeError("secret of the policy")

    subject, store = registrar(policy)
    with caplog.at_level(logging.ERROR), pytest.raises(OAuthError) as refused:
        subject.register(text({"redirect_uris": [REDIRECT]}))

    assert (refused.value.status, refused.value.code) == (500, "server_error")
    assert list(store.clients()) == []
    assert "secret of the policy" not in caplog.text


def test_d11_policy_refuses_in_its_own_words() -> None:
    def policy(client: Client) -> None:
        raise OAuthError("invalid_client_metadata", "Only applications of our own are registered here.")

    subject, store = registrar(policy)
    with pytest.raises(OAuthError) as refused:
        subject.register(text({"redirect_uris": [REDIRECT]}))

    assert (refused.value.status, refused.value.description[:4]) == (400, "Only")
    assert list(store.clients()) == []


def test_d11_body_over_sixteen_kibibytes_is_refused(world: World) -> None:
    is_refused(world, registers(world, contacts=["x" * 16_384]), status=413)


def test_d11_body_over_its_bound_is_refused_by_the_logic_as_well() -> None:
    subject, store = registrar(None)
    body = text({"redirect_uris": [REDIRECT]})

    with pytest.raises(OAuthError) as refused:
        subject.register(body + b" " * (16_385 - len(body)))
    assert (refused.value.status, list(store.clients())) == (413, [])
    assert subject.register(body + b" " * (16_384 - len(body))).client.id


def test_registration_is_recorded_without_anything_secret(world: World) -> None:
    told = registers(world).json()
    (record,) = world.store.audit

    assert (record.event, record.outcome, record.client) == ("register", "ok", told["client_id"])
    assert record.network == "192.0.2.1"
    assert told["client_secret"] not in repr(record)


def test_error_never_repeats_what_was_sent(world: World) -> None:
    for changed in ({"redirect_uris": ['x"\\<evil>']}, {"grant_types": ['x"\\<evil>']}, {"scope": "\\<evil>"}):
        assert "evil" not in registers(world, **changed).body


def test_l5_ids_are_many_and_tell_nothing(world: World) -> None:
    ids = {registers(world).json()["client_id"] for _ in range(50)}

    assert len(ids) == 50
    assert all(one.startswith("cpi_") and len(one) == 47 for one in ids)
