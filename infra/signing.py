"""The keys that sign tokens: made by the first deployment, and changed every thirty days."""

from aws_cdk import Stack
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from infra.functions import Platform, PythonFunction
from infra.guarding import PUBLIC_KEYS
from infra.identity_state import WRITE, IdentityState

DAYS = 30


class Signing(PythonFunction):
    """Rotates the key ring. It alone writes public keys."""

    def __init__(self, scope: Construct, construct_id: str, platform: Platform, *, identity: IdentityState) -> None:
        super().__init__(
            scope,
            construct_id,
            platform,
            name="rotate",
            description="Rotates the keys that sign access tokens",
            source="functions/rotate",
            memory_mb=512,
            timeout_seconds=30,
            environment={
                "IDENTITY_TABLE": identity.table.table_name,
                "SIGNING_SECRET_ARN": identity.signing.secret_arn,
            },
            error_threshold=1,
        )
        identity.let_rotate(self, identity.signing)
        identity.let_use_table(self, WRITE)
        self.allow_items(identity.table, ["GetItem", "PutItem"], PUBLIC_KEYS)
        self._schedule(identity.signing)

    def _schedule(self, secret: secretsmanager.Secret) -> None:
        """At once, and then every month: a deployment without a key could give no token."""
        permission = lambda_.CfnPermission(
            self,
            "Invoked",
            action="lambda:InvokeFunction",
            function_name=self.live.function_arn,
            principal="secretsmanager.amazonaws.com",
            source_account=Stack.of(self).account,
        )
        schedule = secretsmanager.CfnRotationSchedule(
            self,
            "Schedule",
            secret_id=secret.secret_arn,
            rotation_lambda_arn=self.live.function_arn,
            rotate_immediately_on_update=True,
            rotation_rules=secretsmanager.CfnRotationSchedule.RotationRulesProperty(automatically_after_days=DAYS),
        )
        schedule.add_resource_dependency(permission)
        if policy := self.role.node.try_find_child("DefaultPolicy"):
            schedule.node.add_dependency(policy)  # the first rotation comes with the schedule
