"""Who calls over REST: the same tokens, the same judgement, an audience of its own."""

from typing import Any

import pytest
from httpx2 import Response
from starlette.testclient import TestClient

from commonplace.documents.content.library import Library
from commonplace.identity.resources import Resources
from commonplace.kernel.limits import Limiter
from commonplace.web.challenges import Accounts, Challenges
from commonplace.web.rest.declaration import Site
from tests.fakes.access_tokens import ISSUER, ROSA, Realm, standing
from tests.rest_app import rest_app
from tests.unit.documents.rest.conftest import World

API = f"{ISSUER}/api"
METADATA = f'resource_metadata="{ISSUER}/.well-known/oauth-protected-resource/api"'
ME = "/api/v1/me"
SERVED = ("knowledge",)


@pytest.fixture
def realm() -> Realm:
    return Realm(names=True)


@pytest.fixture
def client(world: World, realm: Realm) -> TestClient:
    return limited(world, realm, reads_per_minute=0)


def limited(world: World, realm: Realm, *, reads_per_minute: int) -> TestClient:
    resources = Resources(ISSUER, SERVED, SERVED)
    app = rest_app(
        Library(world.store, clock=world.clock),
        world.search,
        Site(reads_per_minute=reads_per_minute, searches_per_minute=0),
        Limiter(world.counters, world.clock),
        accounts=Accounts(realm.principals, Challenges(resources), resources.api),
    )
    return TestClient(app, base_url=ISSUER, follow_redirects=False)


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def test_who_has_signed_in_learns_who_that_is(client: TestClient, realm: Realm) -> None:
    realm.account("member")
    claims = realm.granted(API, "knowledge:write")
    answer = client.get(ME, headers=bearer(realm.sign(claims.as_claims())))
    assert answer.status_code == 200
    assert (answer.headers["cache-control"], answer.headers["vary"]) == ("private, no-store", "Authorization")
    assert answer.json() == {
        "subject": ROSA,
        "name": "rosa.eth",
        "tier": "member",
        "roles": ["member"],
        "uncertain": False,
        "organisation": "default",
        "member": "mem_rosa",
        "scopes": ["knowledge:write"],
        "attainable": sorted(standing("member").scopes, key=answer.json()["attainable"].index),
        "permission": "action",
        "resourceScopes": None,
        "client": "client",
        "grant": realm.grant_of(claims).id,
    }
    assert claims.grant not in answer.text and claims.jti not in answer.text


@pytest.mark.parametrize("header", [None, "", "Bearer", "Basic cm9zYTpyb3Nl"])
def test_r1_without_a_token_it_says_where_to_get_one(client: TestClient, header: str | None) -> None:
    answer = client.get(ME, headers={} if header is None else {"authorization": header})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == f'Bearer scope="knowledge:read", {METADATA}'
    assert answer.headers["cache-control"] == "no-store"
    assert answer.json()["error"]["code"] == "UNAUTHORIZED"


def test_r8_roles_that_cannot_be_read_are_said_to_be_uncertain(client: TestClient, realm: Realm) -> None:
    realm.account("vibecoder")
    headers = bearer(realm.token(API, "knowledge:write"))
    realm.accounts.down = True
    told = client.get(ME, headers=headers).json()
    assert (told["uncertain"], told["tier"], told["scopes"], told["organisation"]) == (True, "public", [], None)


def test_r9_no_word_of_the_request_stands_in_a_challenge(client: TestClient) -> None:
    sent = {"host": "evil.example", "x-forwarded-host": "evil.example", **bearer('evil"')}
    assert "evil" not in client.get(ME, headers=sent).headers["www-authenticate"]


def test_a_store_that_does_not_answer_is_503(client: TestClient, realm: Realm) -> None:
    headers = bearer(realm.token(API, "knowledge:read"))
    realm.grants.down = True
    answer = client.get(ME, headers=headers)
    assert (answer.status_code, "www-authenticate" in answer.headers) == (503, False)


def test_reading_takes_no_token_and_looks_at_none(client: TestClient) -> None:
    answers: list[Any] = [client.get("/api/v1/entries", headers=headers) for headers in ({}, bearer("garbage"))]
    assert [answer.status_code for answer in answers] == [200, 200]


def test_a_page_of_another_origin_may_send_a_token_and_read_the_challenge(client: TestClient) -> None:
    preflight = client.options(ME, headers={"origin": "https://app.example"})
    assert "Authorization" in preflight.headers["access-control-allow-headers"]
    answer = client.get(ME, headers={"origin": "https://app.example"})
    assert "WWW-Authenticate" in answer.headers["access-control-expose-headers"]
    assert "access-control-allow-credentials" not in answer.headers


def test_where_nobody_can_sign_in_it_says_so(world: World) -> None:
    answer = world.client().get(ME, headers=bearer("x"))
    assert (answer.status_code, "www-authenticate" in answer.headers) == (403, False)


def test_forty_tokens_of_one_account_read_no_more_than_the_account_may(world: World, realm: Realm) -> None:
    realm.account("member", "0xGreedy")
    realm.account("member", "0xModest", "orchard")
    app = limited(world, realm, reads_per_minute=10).app

    def ask(number: int, subject: str) -> Response:
        """With a new token, from an address of its own."""
        client = TestClient(app, base_url=ISSUER, client=(f"192.0.2.{number}", 0))
        return client.get(ME, headers=bearer(realm.token(API, "knowledge:read", subject=subject)))

    answers = [ask(number, "0xGreedy") for number in range(40)]

    assert [answer.status_code for answer in answers] == [200] * 10 + [429] * 30
    assert answers[-1].json()["error"]["code"] == "RATE_LIMITED"
    assert answers[-1].headers["retry-after"] == "60"
    assert answers[-1].headers["ratelimit-policy"] == '"reads-account";q=10;w=60'
    assert answers[8].headers["ratelimit-remaining"] == "1"
    assert ask(39, "0xModest").status_code == 200
    assert not [key for key in world.counters.totals if "0xGreedy" in key]
