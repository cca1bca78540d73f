"""The same machine as over the stores in memory, over DynamoDB: its conditions are what holds, not a lock of ours."""

from typing import TYPE_CHECKING

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from commonplace.identity.store.grants import DynamoGrants
from commonplace.identity.store.sign_ins import DynamoSignIns
from commonplace.kernel.audit_store import DynamoAudit
from tests.dynamodb_fixture import dump, new_table
from tests.examples import examples
from tests.fakes.authority import Authority
from tests.fakes.identity_stores import Clock
from tests.unit.identity.oauth_machine import OAuthMachine

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def machine_over(client: "DynamoDBClient") -> type[OAuthMachine]:
    class Machine(OAuthMachine):
        check_every = 10

        def make(self) -> Authority:
            clock = Clock()
            self.tables = [new_table(client, kind) for kind in ("identity", "activity")]
            return Authority(
                clock=clock,
                grants=DynamoGrants(client, *self.tables, clock=clock, sleep=lambda _: None),
                signins=DynamoSignIns(client, self.tables[0], clock=clock),
                audit=DynamoAudit(client, self.tables[1]),
            )

        def dump(self) -> str:
            return "".join(dump(client, table) for table in self.tables)

    return Machine


def run(machine: type[OAuthMachine], count: int, steps: int) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=count,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_single_use_families_audience_and_scopes_hold_on_dynamodb(dynamodb: "DynamoDBClient") -> None:
    run(machine_over(dynamodb), examples(4), 15)


def test_single_use_families_audience_and_scopes_hold_on_dynamodb_local(dynamodb_local: "DynamoDBClient") -> None:
    run(machine_over(dynamodb_local), examples(10, soak=500), 40)
