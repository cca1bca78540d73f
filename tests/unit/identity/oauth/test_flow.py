"""The whole way of a client, through the gateway: registration, code, tokens, refresh, revocation, introspection."""

import json
import logging
from base64 import urlsafe_b64decode
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet

from commonplace.identity.accounts import Standing
from commonplace.identity.secrets import digest
from tests.unit.identity.oauth.world import ALICE, BASE, MCP, World, basic

INACTIVE = {"active": False}


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def client(world: World) -> str:
    return str(world.register()["client_id"])


def uncached(headers: Any) -> None:
    assert headers["cache-control"] == "no-store"
    assert headers["pragma"] == "no-cache"


def asked(world: World, token: str, **hint: str) -> dict[str, Any]:
    """What an operator's resource server learns of a token."""
    if "resource-server" not in {known.id for known in world.store.clients()}:
        world.operators_client()
    answer = world.post(
        "/introspect", {"token": token} | hint, authorization=basic("resource-server", "cps_" + "s" * 43)
    )
    assert answer.status == 200, answer.body
    uncached(answer.headers)
    return dict(answer.json())


def test_client_goes_the_whole_way(world: World, client: str) -> None:
    first = world.exchange(client, world.code(client))
    assert first.status == 200, first.body
    uncached(first.headers)
    told = first.json()
    assert set(told) == {"access_token", "token_type", "expires_in", "refresh_token", "scope"}
    assert (told["token_type"], told["expires_in"]) == ("Bearer", 3_600)
    assert told["scope"] == "knowledge:read knowledge:write"
    second = world.refresh(client, told["refresh_token"])
    assert second.status == 200
    uncached(second.headers)
    assert second.json()["refresh_token"] != told["refresh_token"]
    ended = world.post("/revoke", {"client_id": client, "token": second.json()["refresh_token"]})
    assert (ended.status, ended.body) == (200, "")
    uncached(ended.headers)
    for token in (told["access_token"], second.json()["access_token"]):
        assert asked(world, token) == INACTIVE
    assert world.refresh(client, second.json()["refresh_token"]).json()["error"] == "invalid_grant"


def test_what_introspection_tells_follows_the_accounts_roles(world: World, client: str) -> None:
    token = world.tokens(client)["access_token"]
    assert asked(world, token)["scope"] == "knowledge:read knowledge:write"
    world.roles.standing = Standing(scopes=frozenset({"knowledge:read"}), organisation="default")
    told = asked(world, token)
    assert (told["active"], told["scope"], told["tier"], told["roles"]) == (True, "knowledge:read", "public", [])
    world.roles.down = True
    form = {"token": token}
    answer = world.post("/introspect", form, authorization=basic("resource-server", "cps_" + "s" * 43))
    assert (answer.status, answer.json()["error"]) == (503, "temporarily_unavailable")
    assert answer.headers["retry-after"]


def test_access_token_is_verified_with_the_published_keys(world: World, client: str) -> None:
    token = world.tokens(client)["access_token"]
    keys = KeySet.import_key_set(world.send("GET", "/.well-known/jwks.json").json())
    decoded = jwt.decode(token, keys, algorithms=["ES256"])
    assert decoded.header["typ"] == "at+jwt"
    told = decoded.claims
    assert (told["iss"], told["aud"], told["sub"], told["client_id"]) == (BASE, MCP, ALICE, client)
    assert told["exp"] - told["iat"] == 3_600
    assert told["iat"] == int(world.clock.now)


@pytest.mark.parametrize("resource", [MCP, f"{BASE}/mcp/knowledge", f"{BASE}/mcp/all", f"{BASE}/api"])
def test_token_is_for_the_resource_that_was_asked_for_alone(world: World, client: str, resource: str) -> None:
    code = world.code(client, resource=resource)
    answer = world.exchange(client, code, resource=resource)
    assert answer.status == 200
    payload = answer.json()["access_token"].split(".")[1]
    assert json.loads(urlsafe_b64decode(payload + "==="))["aud"] == resource


def test_f13_store_that_does_not_answer_leaves_the_token_usable(world: World, client: str) -> None:
    first = world.tokens(client)
    world.grants.down = True
    answer = world.refresh(client, first["refresh_token"])
    assert (answer.status, answer.json()["error"]) == (503, "temporarily_unavailable")
    assert int(answer.headers["retry-after"]) > 0
    uncached(answer.headers)
    world.grants.down = False
    assert world.refresh(client, first["refresh_token"]).status == 200


def test_chain_that_does_not_answer_leaves_the_token_usable(world: World, client: str) -> None:
    first = world.tokens(client)
    world.roles.down = True
    answer = world.refresh(client, first["refresh_token"])
    assert (answer.status, answer.headers["retry-after"]) == (503, "30")
    world.roles.down = False
    assert world.refresh(client, first["refresh_token"]).status == 200


@pytest.mark.parametrize("hint", ["access_token", "refresh_token", "nonsense"])
@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_v3_wrong_hint_still_finds_the_token(world: World, client: str, kind: str, hint: str) -> None:
    told = world.tokens(client)
    world.post("/revoke", {"client_id": client, "token": told[kind], "token_type_hint": hint})
    assert asked(world, told["access_token"]) == INACTIVE


def test_v3_token_is_needed(world: World, client: str) -> None:
    answer = world.post("/revoke", {"client_id": client})
    assert (answer.status, answer.json()["error"]) == (400, "invalid_request")


def test_v4_wrong_secret_revokes_nothing(world: World) -> None:
    told = world.register(token_endpoint_auth_method="client_secret_basic")
    client, secret = told["client_id"], told["client_secret"]
    form = {"grant_type": "authorization_code", "code": world.code(client), "code_verifier": "v" * 43}
    form |= {"redirect_uri": "https://app.example.net/callback"}
    tokens = world.post("/token", form, authorization=basic(client, secret)).json()
    wrong = world.post("/revoke", {"token": tokens["refresh_token"]}, authorization=basic(client, "wrong"))
    by_form = world.post("/revoke", {"token": tokens["refresh_token"], "client_id": client, "client_secret": secret})
    without = world.post("/revoke", {"token": tokens["refresh_token"], "client_id": client})
    assert [answer.status for answer in (wrong, by_form, without)] == [401, 401, 401]
    assert asked(world, tokens["access_token"])["active"] is True


@pytest.mark.parametrize("token", ["", "nonsense", "a.b.c", "e30.e30.e30", "cpr_" + "a" * 43, "x" * 5_000])
def test_v6_malformed_token_is_inactive_and_nothing_else(world: World, token: str) -> None:
    world.operators_client()
    answer = world.post("/introspect", {"token": token}, authorization=basic("resource-server", "cps_" + "s" * 43))
    assert answer.json() == INACTIVE if token else answer.status == 400


def test_v6_nobody_asks_without_proof(world: World, client: str) -> None:
    token = world.tokens(client)["access_token"]
    nobody, public = (
        world.post("/introspect", {"token": token}),
        world.post("/introspect", {"token": token, "client_id": client}),
    )
    for answer in (nobody, public):
        assert (answer.status, answer.json()["error"]) == (401, "invalid_client")
        uncached(answer.headers)


def test_client_credentials_are_for_agents_that_an_operator_made(world: World) -> None:
    client, secret = world.operators_client(
        organisation="garden", agent="gardener", tier="member", scopes=("knowledge:read", "knowledge:write")
    )
    answer = world.post(
        "/token", {"grant_type": "client_credentials", "resource": MCP}, authorization=basic(client, secret)
    )
    assert answer.status == 200, answer.body
    assert "refresh_token" not in answer.json()
    told = asked(world, answer.json()["access_token"])
    assert (told["sub"], told["client_id"]) == ("agent:gardener", client)


def test_l8_no_secret_reaches_a_log_or_an_error(world: World, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        told = world.register(token_endpoint_auth_method="client_secret_post")
        client, secret = told["client_id"], told["client_secret"]
        code = world.code(client)
        form = {"grant_type": "authorization_code", "client_id": client, "client_secret": secret, "code": code}
        form |= {"redirect_uri": "https://app.example.net/callback"}
        answers = [world.post("/token", form | {"code_verifier": "w" * 43})]
        tokens = world.post("/token", form | {"code_verifier": "v" * 43}).json()
        again = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
        answers.append(world.post("/token", again | {"client_id": client, "client_secret": "wrong" + secret}))
        answers.append(world.post("/token", again | {"client_id": client, "client_secret": secret, "scope": "x y"}))
        answers.append(world.post("/introspect", {"token": tokens["access_token"], "client_id": client}))
    secrets = [secret, code, tokens["refresh_token"], tokens["access_token"], "v" * 43, "w" * 43]
    logged = str([record.__dict__ for record in caplog.records])
    answered = "".join(answer.body for answer in answers)
    assert [answer.status for answer in answers] == [400, 401, 400, 401]
    assert not [one for one in secrets if one in logged or one in answered]


def test_l1_no_usable_secret_is_kept(world: World) -> None:
    told = world.register(token_endpoint_auth_method="client_secret_post")
    client, secret = told["client_id"], told["client_secret"]
    code = world.code(client)
    form = {"grant_type": "authorization_code", "client_id": client, "client_secret": secret, "code": code}
    form |= {"redirect_uri": "https://app.example.net/callback", "code_verifier": "v" * 43}
    tokens = world.post("/token", form).json()
    kept = repr((world.grants, world.sign_ins.__dict__, world.store.__dict__, world.audit.records))
    for one in (secret, code, tokens["refresh_token"], tokens["access_token"], ALICE):
        assert one not in kept
    assert digest(code) in kept


def test_metrics_tell_refreshing_from_the_first_token(
    world: World, client: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "commonplace.identity.telemetry"):
        told = world.tokens(client)
        world.refresh(client, told["refresh_token"])
        world.refresh(client, "cpr_unknown")
        world.exchange(client, "cpc_unknown")
    events = [
        (record.__dict__["event"], record.__dict__["outcome"])
        for record in caplog.records
        if record.name.endswith(".telemetry")
    ]
    assert events == [("token", "ok"), ("refresh", "ok"), ("refresh", "denied"), ("token", "denied")]
