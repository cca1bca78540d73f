"""The four steps of a rotation, over a Secrets Manager in memory and, for keys that sign, a table of moto."""

import json
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.identity import keyring
from commonplace.identity.signing_rotation import PUBLIC_KEYS, SigningRotation
from commonplace.kernel.rotation import Rotation, RotationRefused
from commonplace.kernel.table import serialize
from tests.aws_fixture import TABLE
from tests.fakes.vault import Vault

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ARN = "arn:aws:secretsmanager:us-east-1:123456789012:secret:signing-AbCdEf"
STEPS = ("createSecret", "setSecret", "testSecret", "finishSecret")
NOW = 1_800_000_000


class Counted:
    """A secret whose next value is one more."""

    def __init__(self) -> None:
        self.published: list[str] = []
        self.good = True

    def following(self, current: str) -> str:
        return json.dumps({"n": str(int(json.loads(current)["n"]) + 1)})

    def publish(self, pending: str) -> None:
        self.published.append(pending)

    def check(self, pending: str) -> None:
        if not self.good:
            raise RotationRefused("It does not work.")


class Rotating:
    """A rotation with its secret, which Secrets Manager has announced under `token`."""

    def __init__(self) -> None:
        self.vault = Vault(current={"n": "1"})
        self.counted = Counted()
        client: Any = self.vault
        self.rotation = Rotation(client, ARN, self.counted)
        self.vault.begin("token")

    def step(self, name: str, **other: str) -> None:
        self.rotation.step({"Step": name, "SecretId": ARN, "ClientRequestToken": "token", **other})


@pytest.fixture
def rotating() -> Rotating:
    return Rotating()


def test_a_rotation_publishes_the_next_value_before_it_is_current(rotating: Rotating) -> None:
    for name in STEPS[:3]:
        rotating.step(name)
    assert rotating.counted.published == ['{"n": "2"}']
    assert rotating.vault.values("AWSCURRENT") == {"n": "1"}
    rotating.step(STEPS[3])
    assert (rotating.vault.values("AWSCURRENT"), rotating.vault.values("AWSPREVIOUS")) == ({"n": "2"}, {"n": "1"})


def test_every_step_may_come_twice(rotating: Rotating) -> None:
    for name in STEPS:
        rotating.step(name)
        rotating.step(name)
    assert rotating.vault.values("AWSCURRENT") == {"n": "2"}


def test_a_value_that_does_not_work_never_becomes_current(rotating: Rotating) -> None:
    rotating.counted.good = False
    rotating.step("createSecret")
    rotating.step("setSecret")
    with pytest.raises(RotationRefused, match="does not work"):
        rotating.step("testSecret")
    assert rotating.vault.values("AWSCURRENT") == {"n": "1"}


@pytest.mark.parametrize(
    "event",
    [
        {"SecretId": ARN.replace("signing", "identity")},
        {"ClientRequestToken": "another"},
        {"ClientRequestToken": None},
        {"Step": "deleteSecret"},
        {"Step": None},
    ],
)
def test_what_is_no_step_of_this_rotation_is_refused(rotating: Rotating, event: dict[str, Any]) -> None:
    rotating.step("createSecret")
    with pytest.raises(RotationRefused):
        rotating.rotation.step({"Step": "finishSecret", "SecretId": ARN, "ClientRequestToken": "token", **event})
    assert rotating.vault.values("AWSCURRENT") == {"n": "1"}


class Clock:
    def __init__(self) -> None:
        self.now: float = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def keys(dynamodb: "DynamoDBClient", clock: Clock) -> SigningRotation:
    return SigningRotation(dynamodb, TABLE, clock)


def published(client: "DynamoDBClient") -> list[str]:
    item = client.get_item(TableName=TABLE, Key=serialize(PUBLIC_KEYS))["Item"]
    jwks = json.loads(item["jwks"]["S"])
    assert all("d" not in key for key in jwks["keys"])
    return [key["kid"] for key in jwks["keys"]]


def test_the_first_key_signs_at_once(keys: SigningRotation) -> None:
    ring = keyring.from_json(keys.following('{"keys": []}'))
    assert [key.signs_from for key in ring] == [NOW]


def test_a_later_key_is_published_long_before_it_signs(
    keys: SigningRotation, clock: Clock, dynamodb: "DynamoDBClient"
) -> None:
    first = keys.following('{"keys": []}')
    clock.now += 30 * 86_400
    second = keys.following(first)
    keys.publish(second)
    keys.check(second)
    ring = keyring.from_json(second)
    (old,) = keyring.from_json(first)
    assert published(dynamodb) == [ring[0].kid, old.kid]
    signs = keyring.signer(ring, clock.now)
    assert signs is not None
    assert signs.kid == old.kid
    assert ring[0].signs_from - clock.now >= 600


def test_a_key_that_is_not_published_is_refused(keys: SigningRotation) -> None:
    with pytest.raises(RotationRefused):
        keys.check(keys.following('{"keys": []}'))


def test_a_key_whose_halves_do_not_fit_is_refused(keys: SigningRotation) -> None:
    ring, other = (json.loads(keys.following('{"keys": []}')) for _ in range(2))
    ring["keys"][0]["jwk"]["d"] = other["keys"][0]["jwk"]["d"]
    mixed = json.dumps(ring)
    keys.publish(mixed)
    with pytest.raises(RotationRefused):
        keys.check(mixed)


def test_a_ring_without_a_key_is_refused(keys: SigningRotation) -> None:
    with pytest.raises(RotationRefused):
        keys.check('{"keys": []}')


def test_after_a_leak_one_new_key_is_all_there_is(keys: SigningRotation, dynamodb: "DynamoDBClient") -> None:
    leaked = keys.following('{"keys": []}')
    keys.publish(leaked)
    ring = keys.at_once()
    keys.publish(ring)
    (new,) = keyring.from_json(ring)
    assert new.signs_from == NOW
    assert published(dynamodb) == [new.kid]
    assert new.kid not in leaked
