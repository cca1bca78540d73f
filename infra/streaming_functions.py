"""Functions that capabilities bring and that stream: each with a REST API of its own, which can, and paths at the HTTP
API, where the same answers come whole."""

import json
from collections.abc import Sequence
from typing import Any, cast

from aws_cdk import Duration
from aws_cdk import aws_apigateway as rest
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from commonplace.kernel.capability import StreamingFunction
from infra.access import COUNTERS, present
from infra.configuration import Configuration
from infra.front import ANY, Front, reader
from infra.functions import Platform, accept, log_group
from infra.identity import IdentityState, let_guard, let_visit
from infra.models import OpenAi, allow_answering
from infra.requirements import OPENAI
from infra.search_engine import SearchEngine
from infra.secrets import Secrets
from infra.store import State

STAGE = "live"
ACCESS_LOG = {
    "requestId": "$context.requestId",
    "time": "$context.requestTime",
    "ip": "$context.identity.sourceIp",
    "method": "$context.httpMethod",
    "path": "$context.path",
    "status": "$context.status",
    "latencyMs": "$context.responseLatency",
}
RETRY_SECONDS = "'10'"
"""The gateway tells callers to wait so long when all environments are busy."""


class Streaming(Construct):
    """One function that streams."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        platform: Platform,
        said: StreamingFunction,
        front: Front,
        *,
        state: State,
        engine: SearchEngine,
        identity: IdentityState,
        secrets: Secrets,
    ) -> None:
        super().__init__(scope, construct_id)
        configuration = platform.configuration
        self.said = said
        self.key: OpenAi | None = None
        model: str = getattr(configuration, said.model) if said.model else ""
        if model.startswith("openai:"):
            self.key = OpenAi(self, "Model", configuration, "key of the service whose model answers in the chat")
            platform.wire(**{f"{said.variable}_SECRET_ARN": self.key.secret.secret_arn})
        self.function = function = reader(
            self,
            "Function",
            platform,
            said.description,
            state=state,
            engine=engine,
            memory=said.memory_mb,
            withheld="" if secrets.github_writer else "GITHUB_API_URL",
            name=said.name,
            timeout_seconds=said.timeout_seconds,
            snap_start=False,  # the loop of its own takes no snapshot
            reserved=getattr(configuration, said.environments),
            source=said.folder,
            packages=(OPENAI,) if self.key else (),
        )
        function.function.add_environment("AWS_LAMBDA_EXEC_WRAPPER", "/var/task/stream")
        let_guard(function, identity, state)
        let_visit(function, identity, state)
        function.allow_items(state.activity, ["UpdateItem"], COUNTERS)
        if said.proposes and secrets.github_writer:
            function.allow(["secretsmanager:GetSecretValue"], [secrets.github_writer.secret_arn])
        if self.key:
            function.allow(["secretsmanager:GetSecretValue"], [self.key.secret.secret_arn])
        if model.startswith("bedrock:"):
            allow_answering(function, configuration, model.removeprefix("bedrock:"))
        front.route(said.name.capitalize(), function, ANY, *_below(said.paths))
        self.api = self._api(configuration)

    @property
    def outputs(self) -> dict[str, str | None]:
        """Operators look here for the function, and for the secret with the key of its model."""
        name = self.said.variable.capitalize()
        secret = self.key.secret.secret_arn if self.key else None
        return {f"{name}Function": self.function.live.function_arn, f"{name}SecretArn": secret}

    def _api(self, configuration: Configuration) -> rest.RestApi:
        name, function = self.said.name, self.function
        api = rest.RestApi(
            self,
            "Api",
            rest_api_name=f"commonplace-{configuration.stage}-{name}",
            endpoint_types=[rest.EndpointType.REGIONAL],
            cloud_watch_role=False,
            deploy=False,
        )
        group = log_group(self, f"/commonplace/{configuration.stage}/{name}-access", configuration, construct_id="Log")
        integration = rest.LambdaIntegration(
            cast(lambda_.IFunction, function.live),
            response_transfer_mode=rest.ResponseTransferMode.STREAM,
            timeout=Duration.seconds(self.said.timeout_seconds),
        )
        for path in _below(self.said.paths):
            api.root.resource_for_path(path).add_method("ANY", cast(rest.Integration, integration))
        headers = {"Retry-After": RETRY_SECONDS}
        for kind in (rest.ResponseType.THROTTLED, rest.ResponseType.INTEGRATION_FAILURE):
            api.add_gateway_response(kind.response_type.title().replace("_", ""), type=kind, response_headers=headers)
        stage = rest.Stage(
            self,
            "Stage",
            deployment=rest.Deployment(self, "Deployment", api=cast(rest.IRestApi, api)),
            stage_name=STAGE,
            access_log_destination=cast(rest.IAccessLogDestination, rest.LogGroupLogDestination(group)),
            access_log_format=rest.AccessLogFormat.custom(json.dumps(ACCESS_LOG)),
            throttling_rate_limit=configuration.throttle_rate,
            throttling_burst_limit=configuration.throttle_burst,
        )
        api.deployment_stage = stage
        accept(api, "The function reads and checks every request itself.", "APIG2", "APIG4", "COG4")
        accept(stage, "WAF stands before the front door, which alone leads here.", "APIG3", "APIG6")
        return api


def streaming(
    scope: Construct, platform: Platform, configuration: Configuration, front: Front, **parts: Any
) -> Sequence[Streaming]:
    """Return the functions that stream, of the capabilities that the deployment has."""
    found = [one for each in present(configuration) for one in each.functions if isinstance(one, StreamingFunction)]
    return [Streaming(scope, said.name.capitalize(), platform, said, front, **parts) for said in found]


def _below(paths: Sequence[str]) -> list[str]:
    return [one for path in paths for one in (path, f"{path}/{{proxy+}}")]
