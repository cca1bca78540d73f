"""The second stack, in us-east-1: what stands before the API. The first works without it; a laptop has none."""

from typing import Any

from aws_cdk import App, Aws, CfnOutput, Environment, Stack
from aws_cdk import aws_apigatewayv2 as apigateway
from constructs import Construct

from infra.configuration import Configuration
from infra.edge_distribution import Distribution
from infra.edge_keys import EDGE_REGION
from infra.edge_logs import EdgeLogs
from infra.edge_secret import Rotation, origin_secret
from infra.edge_waf import WebAcl
from infra.functions import Platform


class EdgeStack(Stack):
    """Distribution, web ACL, the value by which functions know it, and what changes that value."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        configuration: Configuration,
        api: apigateway.HttpApi,
        **options: Any,
    ) -> None:
        super().__init__(scope, construct_id, **options)
        secret = origin_secret(self, configuration)
        acl = WebAcl(self, "WebAcl", configuration) if configuration.waf else None
        web_acl = acl.attr_arn if acl else None
        front = Distribution(
            self,
            "Front",
            configuration,
            origin=f"{api.api_id}.execute-api.{configuration.region}.{Aws.URL_SUFFIX}",
            # A reference that CloudFormation resolves when it deploys: the value is in no template.
            secret_value=secret.secret_value_from_json("value").unsafe_unwrap(),
            web_acl=web_acl,
        )
        platform = Platform(self, "Platform", configuration)
        rotation = Rotation(self, "Rotation", platform, secret=secret, front=front, web_acl=web_acl)
        if configuration.edge_logs:
            EdgeLogs(self, "Logs", configuration, front, acl)
        host = front.distribution.distribution_domain_name
        self._say(
            DistributionId=front.distribution.distribution_id,
            DistributionHost=host,
            PublicUrl=configuration.base_url or f"https://{host}",
            OriginSecretArn=secret.secret_arn,
            OriginSecretFunction=rotation.live.function_arn,
        )

    def _say(self, **outputs: str) -> None:
        for name, value in outputs.items():
            CfnOutput(self, name, value=value)


def build_edge(app: App, configuration: Configuration, api: apigateway.HttpApi) -> EdgeStack:
    """Adds the front door of an API to the app, to be deployed after it."""
    stack = EdgeStack(
        app,
        f"Commonplace-{configuration.stage}-edge",
        configuration,
        api,
        description=f"Commonplace ({configuration.stage}): the front door",
        env=Environment(account=configuration.account, region=EDGE_REGION),
        tags={"application": "commonplace", "stage": configuration.stage},
        termination_protection=configuration.retains,
    )
    stack.add_stack_dependency(Stack.of(api), "the distribution needs the address of the API")
    return stack
