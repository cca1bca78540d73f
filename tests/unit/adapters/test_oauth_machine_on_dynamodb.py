"""The same machine as over the stores in memory, over DynamoDB: its conditions are what holds, not a lock of ours."""

from itertools import count
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from commonplace.adapters.dynamodb_audit import DynamoAudit
from commonplace.adapters.dynamodb_grants import DynamoGrants
from commonplace.adapters.dynamodb_signins import DynamoSignIns
from tests.fakes.authority import Authority
from tests.fakes.identity_stores import Clock
from tests.unit.identity.oauth_machine import OAuthMachine

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def test_single_use_families_audience_and_scopes_hold_on_dynamodb(dynamodb: "DynamoDBClient") -> None:
    numbers = count()

    class Machine(OAuthMachine):
        check_every = 10

        def make(self) -> Authority:
            number, clock = next(numbers), Clock()
            self.tables = [_table(dynamodb, f"{kind}{number}") for kind in ("identity", "activity")]
            return Authority(
                clock=clock,
                grants=DynamoGrants(dynamodb, *self.tables, clock=clock, sleep=lambda _: None),
                signins=DynamoSignIns(dynamodb, self.tables[0], clock=clock),
                audit=DynamoAudit(dynamodb, self.tables[1]),
            )

        def dump(self) -> str:
            return repr([dynamodb.scan(TableName=table)["Items"] for table in self.tables])

    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=4, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


def _table(client: "DynamoDBClient", name: str) -> str:
    keys: Any = [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}]
    client.create_table(
        TableName=name,
        KeySchema=keys,
        AttributeDefinitions=[{"AttributeName": one, "AttributeType": "S"} for one in ("pk", "sk")],
        BillingMode="PAY_PER_REQUEST",
    )
    return name
