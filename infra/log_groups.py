"""Log groups: one a speaker, named for people, kept for as long as configured."""

from typing import cast

from aws_cdk import RemovalPolicy
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.configuration import Configuration


def log_group(scope: Construct, name: str, configuration: Configuration) -> logs.LogGroup:
    """A group that goes with the stack: logs are for operating it, the record of what was done is in the store."""
    group = logs.LogGroup(scope, "Logs", log_group_name=name, removal_policy=RemovalPolicy.DESTROY)
    cast(logs.CfnLogGroup, group.node.default_child).retention_in_days = configuration.log_retention_days
    return group
