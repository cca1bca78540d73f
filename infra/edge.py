"""The second stack, in us-east-1: CloudFront and WAF before the API, the origin secret with its rotation, and logs.

The first stack works without it; a laptop has none.
"""

from collections.abc import Sequence
from typing import Any, cast

from aws_cdk import App, Aws, CfnOutput, Duration, Environment, Fn, RemovalPolicy, Stack
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_logs as logs
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_wafv2 as waf
from constructs import Construct

from infra.configuration import EDGE_REGION, Configuration
from infra.edge_distribution import Distribution
from infra.edge_waf import WebAcl
from infra.functions import Platform, PythonFunction, accept, log_group
from infra.observability import alarm_topic
from infra.search_alarms import ROTATION_STUCK
from infra.secrets import rotate, secret, secret_name
from infra.streaming_functions import Streaming

REPLICATE = "lambda:EnableReplication*"
"""Source: "Set up IAM permissions and roles for Lambda@Edge" in the CloudFront developer guide: the star is needed."""

FIELDS = (
    *("date", "time", "x-edge-location", "c-ip", "cs-method", "cs-uri-stem", "sc-status", "sc-bytes", "time-taken"),
    *("x-edge-result-type", "x-edge-request-id", "cs-protocol", "ssl-protocol", "cs(User-Agent)"),
)
"""No query string, no cookie, no referrer: codes of a sign-in travel there, and what people search for is theirs."""

SECRET_FIELDS = ("authorization", "cookie", "x-commonplace-origin")


def origin_secret(scope: Construct, configuration: Configuration) -> secretsmanager.Secret:
    """The secret in the distribution's region, for template and rotation; functions read its replica."""
    elsewhere = configuration.region if configuration.region != EDGE_REGION else None
    return secret(
        scope,
        "OriginSecret",
        configuration,
        "by which the functions know their front door",
        {},
        generated="value",
        secret_name=secret_name(configuration),
        replica_regions=[secretsmanager.ReplicaRegion(region=elsewhere)] if elsewhere else None,
        removal_policy=RemovalPolicy.DESTROY,
    )


def rotation_function(
    scope: Construct,
    platform: Platform,
    *,
    secret: secretsmanager.Secret,
    front: Distribution,
    web_acl: str | None,
) -> PythonFunction:
    """Writes the next value into the distribution, and waits until every edge location sends it."""
    platform.wire(ORIGIN_SECRET_ARN=secret.secret_arn, DISTRIBUTION_ID=front.distribution.distribution_id)
    function = PythonFunction(
        scope,
        "Rotation",
        platform,
        name="origin-secret",
        description="Rotates the value between the front door and the functions",
        source="functions/origin_secret",
        memory_mb=256,
        timeout_seconds=900,
    )
    function.allow(
        [
            f"secretsmanager:{action}"
            for action in ("DescribeSecret", "GetSecretValue", "PutSecretValue", "UpdateSecretVersionStage")
        ],
        [secret.secret_arn],
    )
    function.allow(
        [f"cloudfront:{action}" for action in ("GetDistribution", "GetDistributionConfig", "UpdateDistribution")],
        [front.arn],
    )
    # CloudFront asks whether who updates a distribution may use what is attached to it, changed or not.
    if web_acl:
        function.allow(["wafv2:GetWebACL"], [web_acl])
    if front.restoring_arn:
        function.allow(["lambda:GetFunction", REPLICATE], [front.restoring_arn])
        accept(function.role, "AWS wants this one action written with a star.", f"IAM5[Action::{REPLICATE}]")
    # The first one makes the next value, and leaves the distribution as it is.
    rotate(function, secret, platform.configuration.origin_secret_rotation_days, front.distribution)
    # A failed step is tried again by itself; three of them within a day are one rotation that does not end.
    alarm = cloudwatch.Alarm(
        function,
        "Stuck",
        alarm_name=f"commonplace-{platform.configuration.stage}-{ROTATION_STUCK}",
        alarm_description="The value between front door and functions could not be changed.",
        metric=function.function.metric_errors(period=Duration.days(1)),
        threshold=3,
        evaluation_periods=1,
        comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
    )
    alarm.add_alarm_action(
        cast(cloudwatch.IAlarmAction, actions.SnsAction(alarm_topic(function, platform.configuration)))
    )
    return function


class EdgeLogs(Construct):
    """Logs that an operator may want: requests without their query strings, and refusals of WAF.

    Both are retained as long as all logs are.
    """

    def __init__(
        self, scope: Construct, construct_id: str, configuration: Configuration, front: Distribution, acl: WebAcl | None
    ) -> None:
        super().__init__(scope, construct_id)
        stage = configuration.stage
        requests = log_group(self, f"/commonplace/{stage}/edge", configuration, construct_id="Requests")
        name = f"commonplace-{stage}-edge"
        source = logs.CfnDeliverySource(self, "Source", name=name, log_type="ACCESS_LOGS", resource_arn=front.arn)
        destination = logs.CfnDeliveryDestination(
            self,
            "Destination",
            name=name,
            output_format="json",
            destination_resource_arn=_without_star(requests.log_group_arn),
        )
        delivery = logs.CfnDelivery(
            self,
            "Delivery",
            delivery_source_name=source.ref,
            delivery_destination_arn=destination.attr_arn,
            record_fields=list(FIELDS),
        )
        delivery.add_resource_dependency(source)
        if acl:
            # WAF writes to groups of such names alone.
            group = log_group(self, f"aws-waf-logs-commonplace-{stage}", configuration, construct_id="Refusals")
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


class EdgeStack(Stack):
    """Distribution, web ACL, the value by which functions know it, and what changes that value."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        configuration: Configuration,
        api: apigateway.HttpApi,
        streams: Sequence[Streaming],
        **options: Any,
    ) -> None:
        super().__init__(scope, construct_id, **options)
        origin = origin_secret(self, configuration)
        acl = WebAcl(self, "WebAcl", configuration) if configuration.waf else None
        web_acl = acl.attr_arn if acl else None
        front = Distribution(
            self,
            "Front",
            configuration,
            origin=_host(api.api_id, configuration),
            streams={
                f"{path}*": _host(one.api.rest_api_id, configuration) for one in streams for path in one.said.paths
            },
            # A reference that CloudFormation resolves when it deploys: the value is in no template.
            secret_value=origin.secret_value_from_json("value").unsafe_unwrap(),
            web_acl=web_acl,
        )
        platform = Platform(self, "Platform", configuration)
        rotation = rotation_function(self, platform, secret=origin, front=front, web_acl=web_acl)
        if configuration.edge_logs:
            EdgeLogs(self, "Logs", configuration, front, acl)
        host = front.distribution.distribution_domain_name
        outputs = {
            "DistributionId": front.distribution.distribution_id,
            "DistributionHost": host,
            "PublicUrl": configuration.base_url or f"https://{host}",
            "OriginSecretArn": origin.secret_arn,
            "OriginSecretFunction": rotation.live.function_arn,
        }
        for name, value in outputs.items():
            CfnOutput(self, name, value=value)


def _host(api_id: str, configuration: Configuration) -> str:
    return f"{api_id}.execute-api.{configuration.region}.{Aws.URL_SUFFIX}"


def build_edge(
    app: App, configuration: Configuration, api: apigateway.HttpApi, streams: Sequence[Streaming]
) -> EdgeStack:
    """Adds the front door of an API to the app, to be deployed after it."""
    stack = EdgeStack(
        app,
        f"Commonplace-{configuration.stage}-edge",
        configuration,
        api,
        streams,
        description=f"Commonplace ({configuration.stage}): the front door",
        env=Environment(account=configuration.account, region=EDGE_REGION),
        tags={"application": "commonplace", "stage": configuration.stage},
        termination_protection=configuration.retains,
    )
    stack.add_stack_dependency(Stack.of(api), "the distribution needs the address of the API")
    return stack
