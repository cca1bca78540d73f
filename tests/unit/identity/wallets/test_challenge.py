"""A challenge is good once, for five minutes, in one browser: whatever came of it, it is spent."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING

import boto3
import pytest
from moto import mock_aws

from commonplace.identity.accounts import Profile
from commonplace.identity.store.sign_ins import DynamoSignIns
from commonplace.kernel.errors import Forbidden
from tests.fakes.ethereum import signed
from tests.fakes.one_at_a_time import OneAtATime
from tests.unit.identity.wallets.world import COOKIE, OTHER, Wallets

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def test_an_unknown_id_is_refused(world: Wallets) -> None:
    asked = world.asked()
    for unknown in ("0" * 32, "", "x" * 32, asked["id"][:-1], asked["id"].upper() + "0", 7, ["x"], {"$ne": ""}):
        assert world.verify({"id": unknown, "signature": signed(asked["message"])}).status == 403
    assert len(world.sign_ins.challenges) == 1


def test_an_id_works_once(world: Wallets) -> None:
    asked = world.asked()
    body = {"id": asked["id"], "signature": signed(asked["message"])}
    assert [world.verify(body).status for _ in range(3)] == [200, 403, 403]


def test_a_failed_try_spends_the_id(world: Wallets) -> None:
    asked = world.asked()
    assert world.verify({"id": asked["id"], "signature": signed(asked["message"], OTHER)}).status == 403
    assert world.verify({"id": asked["id"], "signature": signed(asked["message"])}).status == 403
    assert world.refusals() == [("denied", "not_signed"), ("denied", "challenge_unknown")]


def test_a_try_while_the_chain_is_down_spends_the_id(world: Wallets) -> None:
    asked = world.asked()
    body = {"id": asked["id"], "signature": signed(asked["message"])}
    world.hats.down = True
    assert world.verify(body).status == 503
    world.hats.down = False
    assert world.verify(body).status == 403


def test_the_nonce_of_another_challenge_does_not_pass(world: Wallets) -> None:
    one, other = world.asked(), world.asked()
    assert world.verify({"id": one["id"], "signature": signed(other["message"])}).status == 403


def test_a_challenge_is_over_after_five_minutes(world: Wallets) -> None:
    asked = world.asked()
    world.clock.forward(300)
    assert world.verify({"id": asked["id"], "signature": signed(asked["message"])}).status == 403
    asked = world.asked()
    world.clock.forward(299)
    assert world.verify({"id": asked["id"], "signature": signed(asked["message"])}).status == 200


def test_a_challenge_that_is_over_but_not_yet_deleted_is_refused(world: Wallets) -> None:
    asked = world.asked()
    kept = dict(world.sign_ins.challenges)
    world.clock.forward(301)
    world.sign_ins.take_challenge = kept.pop  # type: ignore[method-assign, assignment]
    assert world.verify({"id": asked["id"], "signature": signed(asked["message"])}).status == 403
    assert world.refusals() == [("denied", "challenge_expired")]


def test_without_the_browsers_cookie_it_is_refused(world: Wallets) -> None:
    asked = world.asked()
    assert world.verify({"id": asked["id"], "signature": signed(asked["message"])}, cookie=None).status == 403
    assert world.refusals() == [("denied", "other_browser")]


def test_the_cookie_of_another_browser_is_refused_and_spends_it(world: Wallets) -> None:
    asked = world.asked()
    body = {"id": asked["id"], "signature": signed(asked["message"])}
    assert [world.verify(body, cookie="c" * 43).status, world.verify(body).status] == [403, 403]


def test_a_malformed_cookie_gets_no_challenge(world: Wallets) -> None:
    with pytest.raises(Exception, match="cookie"):
        world.sign_in.challenge(None, None, "short", "192.0.2.1")


def test_the_cookie_is_for_this_host_and_for_scripts_of_no_page(world: Wallets) -> None:
    from starlette.testclient import TestClient

    from commonplace.identity.oauth.server.app import create_app

    with TestClient(create_app(world.services), base_url="https://kb.example.org") as browser:
        told = browser.get("/siwe/nonce").headers["set-cookie"]
    words = [word.strip().lower() for word in told.split(";")]
    assert words[0].startswith("__host-cp_challenge=")
    assert {"httponly", "secure", "path=/", "samesite=strict", "max-age=300"} <= set(words)
    assert not any(word.startswith("domain") for word in words)


def test_what_is_stored_reveals_no_cookie_and_no_handle(world: Wallets) -> None:
    world.sign_in.challenge(None, "cph_secret-handle", COOKIE, "192.0.2.1")
    assert COOKIE not in world.sign_ins.dump()
    assert "cph_secret-handle" not in world.sign_ins.dump()


@pytest.fixture
def table() -> Iterator["DynamoDBClient"]:
    with mock_aws():
        client = boto3.session.Session("123456789012", "x", region_name="us-east-1").client("dynamodb")
        client.create_table(
            TableName="identity",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            AttributeDefinitions=[
                {"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "sk", "AttributeType": "S"},
            ],
            BillingMode="PAY_PER_REQUEST",
        )
        yield client


def test_of_concurrent_answers_to_one_challenge_exactly_one_wins(world: Wallets, table: "DynamoDBClient") -> None:
    world.sign_in.store = DynamoSignIns(OneAtATime(table), "identity", clock=world.clock)  # type: ignore[arg-type]
    asked = world.asked()
    body = {"id": asked["id"], "signature": signed(asked["message"])}
    start = Barrier(8)

    def verify() -> Profile | None:
        start.wait(60)
        try:
            return world.sign_in.verify(body, COOKIE, "192.0.2.1")
        except Forbidden:
            return None

    with ThreadPoolExecutor(8) as pool:
        won = [done for done in pool.map(lambda _: verify(), range(8)) if done]
    assert len(won) == 1
