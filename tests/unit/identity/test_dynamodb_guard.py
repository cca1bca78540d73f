"""What a guard reads of grants as their store keeps them, and how little it writes."""

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from commonplace.identity.records import Grant
from commonplace.identity.store.grants import DynamoGrants
from commonplace.identity.store.guard import OF_LAST_USE, DynamoGuard
from commonplace.kernel.errors import Unavailable
from tests.aws_fixture import TABLE
from tests.fakes.identity_stores import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

IDENTITY = "identity"
START = 1_800_000_000
GRANT = Grant(
    id="f" * 64,
    kind="person",
    subject_hash="a" * 32,
    client_id="https://app.example/client.json",
    client_name="An app",
    resource="https://kb.example.org/mcp",
    scopes=("knowledge:read", "knowledge:write"),
    created_at=START,
    expires_at=START + 86_400,
    redirect_uri="https://app.example/cb",
    resource_scopes=("documents",),
    organisation="default",
    sealed_profile=b"\x00\xff",
    last_used_at=START,
    last_used_from="192.0.2.1",
    revoked_tokens={"jti": START + 60},
)


@pytest.fixture
def table(dynamodb: "DynamoDBClient") -> "DynamoDBClient":
    dynamodb.create_table(
        TableName=IDENTITY,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
        BillingMode="PAY_PER_REQUEST",
    )
    return dynamodb


class Watched:
    """Remembers what was asked; `failing` is raised in place of an answer."""

    def __init__(self, client: Any, failing: Exception | None = None) -> None:
        self._client, self._failing = client, failing
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        def ask(**parameters: Any) -> Any:
            self.asked.append((name, parameters))
            if self._failing is not None:
                raise self._failing
            return getattr(self._client, name)(**parameters)

        return ask


def stored(client: Any) -> dict[str, Any]:
    key = {"pk": {"S": f"grant#{GRANT.id}"}, "sk": {"S": "grant"}}
    found: dict[str, Any] = client.get_item(TableName=IDENTITY, Key=key, ConsistentRead=True).get("Item", {})
    return found


def test_a_grant_is_read_whole_by_one_consistent_read(table: "DynamoDBClient") -> None:
    DynamoGrants(table, IDENTITY, TABLE, clock=Clock(START)).open(GRANT)
    client: Any = Watched(table)
    assert DynamoGuard(client, IDENTITY).grant(GRANT.id) == GRANT
    assert [(name, asked["ConsistentRead"]) for name, asked in client.asked] == [("get_item", True)]
    assert DynamoGuard(table, IDENTITY).grant("0" * 64) is None


def test_a_revocation_is_read_at_once(table: "DynamoDBClient") -> None:
    grants = DynamoGrants(table, IDENTITY, TABLE, clock=Clock(START))
    grants.open(GRANT)
    guard = DynamoGuard(table, IDENTITY)
    grants.revoke_token(GRANT.id, "another", START + 100)
    grants.revoke(GRANT.id, "by its owner", START + 5)
    found = guard.grant(GRANT.id)
    assert found is not None
    assert (found.revoked_at, "another" in found.revoked_tokens) == (START + 5, True)


@pytest.mark.parametrize("name", ["scopes", "resource", "clientId", "expiresAt", "kind"])
def test_half_a_grant_is_none(table: "DynamoDBClient", name: str) -> None:
    DynamoGrants(table, IDENTITY, TABLE, clock=Clock(START)).open(GRANT)
    item = stored(table)
    item.pop(name)
    table.put_item(TableName=IDENTITY, Item=item)
    assert DynamoGuard(table, IDENTITY).grant(GRANT.id) is None


def test_a_use_changes_two_attributes_and_names_no_other(table: "DynamoDBClient") -> None:
    DynamoGrants(table, IDENTITY, TABLE, clock=Clock(START)).open(GRANT)
    client: Any = Watched(table)
    guard = DynamoGuard(client, IDENTITY)
    guard.touch(GRANT.id, START + 301, "203.0.113.7")
    assert guard.grant(GRANT.id) == replace(GRANT, last_used_at=START + 301, last_used_from="203.0.113.7")
    (_, asked) = client.asked[0]
    assert set(asked["ExpressionAttributeNames"].values()) <= set(OF_LAST_USE)
    said = f"{asked['UpdateExpression']} {asked['ConditionExpression']}"
    assert set(re.findall(r"#(\w+)", said)) == set(asked["ExpressionAttributeNames"].values())


@pytest.mark.parametrize("at", [START - 10, START, START + 299])
def test_a_use_that_was_noted_is_not_noted_again_nor_set_back(table: "DynamoDBClient", at: int) -> None:
    DynamoGrants(table, IDENTITY, TABLE, clock=Clock(START)).open(GRANT)
    DynamoGuard(table, IDENTITY).touch(GRANT.id, at, "203.0.113.7")
    assert DynamoGuard(table, IDENTITY).grant(GRANT.id) == GRANT


def test_a_use_of_a_grant_that_is_gone_makes_nothing(table: "DynamoDBClient") -> None:
    DynamoGuard(table, IDENTITY).touch(GRANT.id, START, "203.0.113.7")
    assert stored(table) == {}


def test_public_keys_are_text_as_the_rotation_leaves_it(table: "DynamoDBClient") -> None:
    guard = DynamoGuard(table, IDENTITY)
    assert guard.jwks() is None
    key = {"pk": {"S": "keys"}, "sk": {"S": "public"}}
    table.put_item(TableName=IDENTITY, Item={**key, "jwks": {"S": '{"keys": []}'}})
    assert guard.jwks() == '{"keys": []}'


@pytest.mark.parametrize(
    "failing",
    [
        EndpointConnectionError(endpoint_url="https://dynamodb.example"),
        ClientError({"Error": {"Code": "ProvisionedThroughputExceededException", "Message": ""}}, "GetItem"),
        ClientError({"Error": {"Code": "AccessDeniedException", "Message": "on table identity"}}, "GetItem"),
    ],
)
def test_a_table_that_does_not_answer_is_unavailable_and_says_nothing_of_itself(failing: Exception) -> None:
    guard = DynamoGuard(Watched(None, failing), IDENTITY)  # type: ignore[arg-type]
    for ask in (lambda: guard.grant("x"), guard.jwks, lambda: guard.touch("x", 1, "192.0.2.1")):
        with pytest.raises(Unavailable) as told:
            ask()
        assert IDENTITY not in str(told.value.envelope())
