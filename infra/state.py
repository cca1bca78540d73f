"""State that is not content: the tables, on demand, restorable to any second of the last 35 days."""

from typing import cast

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_kms as kms
from constructs import Construct

from infra.configuration import Configuration


class State(Construct):
    """One table per consistency domain, all of one key shape: `pk`, `sk`, and `expiresAt` in epoch seconds."""

    def __init__(self, scope: Construct, construct_id: str, configuration: Configuration) -> None:
        super().__init__(scope, construct_id)
        self.activity = table(self, "Activity", configuration)
        self.cache = table(self, "Cache", configuration)
        self.records = table(self, "Records", configuration, tells=True)


def table(
    scope: Construct, name: str, configuration: Configuration, *, key: kms.Key | None = None, tells: bool = False
) -> dynamodb.TableV2:
    """Encrypted under the key, or without one under DynamoDB's own. One that `tells` has a stream of changed keys."""
    encryption = dynamodb.TableEncryptionV2
    made = dynamodb.TableV2(
        scope,
        name,
        partition_key=dynamodb.Attribute(name="pk", type=dynamodb.AttributeType.STRING),
        sort_key=dynamodb.Attribute(name="sk", type=dynamodb.AttributeType.STRING),
        time_to_live_attribute="expiresAt",
        billing=dynamodb.Billing.on_demand(),
        dynamo_stream=dynamodb.StreamViewType.KEYS_ONLY if tells else None,
        encryption=encryption.aws_managed_key() if key else encryption.dynamo_owned_key(),
        point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
            point_in_time_recovery_enabled=True
        ),
        deletion_protection=configuration.retains,
        removal_policy=RemovalPolicy.RETAIN if configuration.retains else RemovalPolicy.DESTROY,
    )
    if key:
        # CDK names a key of one's own only in stacks that know their region.
        resource = cast(dynamodb.CfnGlobalTable, made.node.default_child)
        resource.add_property_override("Replicas.0.SSESpecification", {"KMSMasterKeyId": key.key_arn})
    return made
