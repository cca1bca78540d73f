"""What the edge writes down when an operator wants it: requests without their query strings, and refusals of WAF."""

from typing import cast

from aws_cdk import Fn, RemovalPolicy
from aws_cdk import aws_logs as logs
from aws_cdk import aws_wafv2 as waf
from constructs import Construct

from infra.configuration import Configuration
from infra.edge_distribution import Distribution
from infra.edge_waf import WebAcl

FIELDS = (
    *("date", "time", "x-edge-location", "c-ip", "cs-method", "cs-uri-stem", "sc-status", "sc-bytes", "time-taken"),
    *("x-edge-result-type", "x-edge-request-id", "cs-protocol", "ssl-protocol", "cs(User-Agent)"),
)
"""No query string, no cookie, no referrer: codes of a sign-in travel there, and what people search for is theirs."""

SECRET_FIELDS = ("authorization", "cookie", "x-commonplace-origin")


class EdgeLogs(Construct):
    """Both kept as long as all logs are."""

    def __init__(
        self, scope: Construct, construct_id: str, configuration: Configuration, front: Distribution, acl: WebAcl | None
    ) -> None:
        super().__init__(scope, construct_id)
        stage = configuration.stage
        requests = self._group("Requests", f"/commonplace/{stage}/edge", configuration)
        self._requests(f"commonplace-{stage}-edge", requests, front)
        if acl:
            # WAF writes to groups of such names alone.
            self._refusals(self._group("Refusals", f"aws-waf-logs-commonplace-{stage}", configuration), acl)

    def _group(self, construct_id: str, name: str, configuration: Configuration) -> logs.LogGroup:
        group = logs.LogGroup(self, construct_id, log_group_name=name, removal_policy=RemovalPolicy.DESTROY)
        cast(logs.CfnLogGroup, group.node.default_child).retention_in_days = configuration.log_retention_days
        return group

    def _requests(self, name: str, group: logs.LogGroup, front: Distribution) -> None:
        source = logs.CfnDeliverySource(self, "Source", name=name, log_type="ACCESS_LOGS", resource_arn=front.arn)
        destination = logs.CfnDeliveryDestination(
            self,
            "Destination",
            name=name,
            output_format="json",
            destination_resource_arn=_without_star(group.log_group_arn),
        )
        delivery = logs.CfnDelivery(
            self,
            "Delivery",
            delivery_source_name=source.ref,
            delivery_destination_arn=destination.attr_arn,
            record_fields=list(FIELDS),
        )
        delivery.add_resource_dependency(source)

    def _refusals(self, group: logs.LogGroup, acl: WebAcl) -> None:
        blocked = {
            "DefaultBehavior": "DROP",
            "Filters": [
                {
                    "Behavior": "KEEP",
                    "Requirement": "MEETS_ANY",
                    "Conditions": [{"ActionCondition": {"Action": "BLOCK"}}],
                }
            ],
        }
        waf.CfnLoggingConfiguration(
            self,
            "WafLogs",
            resource_arn=acl.attr_arn,
            log_destination_configs=[_without_star(group.log_group_arn)],
            logging_filter=blocked,
            redacted_fields=[
                waf.CfnLoggingConfiguration.FieldToMatchProperty(query_string={}),
                *(
                    waf.CfnLoggingConfiguration.FieldToMatchProperty(single_header={"Name": name})
                    for name in SECRET_FIELDS
                ),
            ],
        )


def _without_star(arn: str) -> str:
    """A log group's ARN ends in `:*`, which these services do not take."""
    return Fn.select(0, Fn.split(":*", arn))
