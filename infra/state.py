"""State that is not content: the tables, on demand, restorable to any second of the last 35 days."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct

from infra.configuration import Configuration


class State(Construct):
    """One table per consistency domain, all of one key shape: `pk`, `sk`, and `expiresAt` in epoch seconds."""

    def __init__(self, scope: Construct, construct_id: str, configuration: Configuration) -> None:
        super().__init__(scope, construct_id)
        self.activity = self._table("Activity", configuration)
        self.cache = self._table("Cache", configuration)

    def _table(self, name: str, configuration: Configuration) -> dynamodb.TableV2:
        return dynamodb.TableV2(
            self,
            name,
            partition_key=dynamodb.Attribute(name="pk", type=dynamodb.AttributeType.STRING),
            sort_key=dynamodb.Attribute(name="sk", type=dynamodb.AttributeType.STRING),
            time_to_live_attribute="expiresAt",
            billing=dynamodb.Billing.on_demand(),
            encryption=dynamodb.TableEncryptionV2.dynamo_owned_key(),
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            deletion_protection=configuration.retains,
            removal_policy=RemovalPolicy.RETAIN if configuration.retains else RemovalPolicy.DESTROY,
        )
