"""The schedule by which Secrets Manager has a function rotate a secret."""

from aws_cdk import Stack
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import IDependable

from infra.functions import PythonFunction


def rotate(function: PythonFunction, secret: secretsmanager.Secret, days: int, *after: IDependable) -> None:
    """At once, and then every so many days. Asked for when the function may do all that it has to: the first rotation
    comes with the schedule, so that waits for the function's permissions, and for whatever else is named."""
    permission = lambda_.CfnPermission(
        function,
        "Invoked",
        action="lambda:InvokeFunction",
        function_name=function.live.function_arn,
        principal="secretsmanager.amazonaws.com",
        source_account=Stack.of(function).account,
    )
    schedule = secretsmanager.CfnRotationSchedule(
        function,
        "Schedule",
        secret_id=secret.secret_arn,
        rotation_lambda_arn=function.live.function_arn,
        rotate_immediately_on_update=True,
        rotation_rules=secretsmanager.CfnRotationSchedule.RotationRulesProperty(automatically_after_days=days),
    )
    schedule.add_resource_dependency(permission)
    policy = function.role.node.try_find_child("DefaultPolicy")
    for needed in (*after, *([policy] if policy else [])):
        schedule.node.add_dependency(needed)
