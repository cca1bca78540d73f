"""The HTTP API with its stage and domain name, and the functions behind it that read what is published."""

import json
from typing import Any, cast

from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.configuration import Configuration
from infra.functions import Platform, PythonFunction, accept, log_group
from infra.identity import ACTIONS, REFUSALS, SESSIONS, WRITE, IdentityState, let_guard, let_visit
from infra.models import let_search
from infra.providers import memory_mb
from infra.search_engine import SearchEngine
from infra.secrets import Secrets
from infra.store import State

ANY = apigateway.HttpMethod.ANY
POST = apigateway.HttpMethod.POST

ACCESS_LOG = {
    "requestId": "$context.requestId",
    "time": "$context.requestTime",
    "ip": "$context.identity.sourceIp",
    "method": "$context.httpMethod",
    "path": "$context.path",
    "route": "$context.routeKey",
    "status": "$context.status",
    "bytes": "$context.responseLength",
    "latencyMs": "$context.responseLatency",
    "functionMs": "$context.integrationLatency",
    "error": "$context.integrationErrorMessage",
    "userAgent": "$context.identity.userAgent",
}
"""No query string: what people search for is theirs."""

MCP_PATHS = ("/mcp", "/mcp/{proxy+}")

REST_PATHS = (
    *("/api/{proxy+}", "/openapi.json"),
    *("/llms.txt", "/llms-full.txt", "/feed.json", "/health", "/docs"),
)
"""For programs, and what describes them to people; whatever is named nowhere is the site's."""


class Front(Construct):
    """Made before the functions behind it: some need its address.

    Its id in the stack has to stay `Rest`, as it began: another one would make another API, at another address.
    """

    def __init__(self, scope: Construct, construct_id: str, configuration: Configuration) -> None:
        super().__init__(scope, construct_id)
        # CORS is the applications', which know what is public.
        api = apigateway.HttpApi(
            self,
            "Api",
            api_name=f"commonplace-{configuration.stage}",
            create_default_stage=False,
            disable_execute_api_endpoint=configuration.regional_domain is not None,
        )
        accept(
            api,
            "Published documents are public; functions check GitHub's signature and agents' tokens themselves.",
            "APIG4",
        )
        self.api = api
        self._base_url = configuration.base_url
        self.domain = _domain(self, configuration) if configuration.regional_domain else None
        stage = apigateway.HttpStage(
            self,
            "Stage",
            http_api=cast(apigateway.IHttpApi, self.api),
            stage_name="$default",
            auto_deploy=True,
            throttle=apigateway.ThrottleSettings(
                rate_limit=configuration.throttle_rate, burst_limit=configuration.throttle_burst
            ),
            domain_mapping=apigateway.DomainMappingOptions(domain_name=self.domain) if self.domain else None,
        )
        group = log_group(stage, f"/commonplace/{configuration.stage}/access", configuration)
        cast(
            apigateway.CfnStage, stage.node.default_child
        ).access_log_settings = apigateway.CfnStage.AccessLogSettingsProperty(
            destination_arn=group.log_group_arn, format=json.dumps(ACCESS_LOG)
        )

    @property
    def base_url(self) -> str:
        """Return where everybody goes, without a slash at its end."""
        return self._base_url or self.api.api_endpoint

    def route(self, name: str, function: PythonFunction, method: apigateway.HttpMethod, *paths: str) -> None:
        """Sends requests for these paths to the function; a path may end in `{proxy+}` for all that is below it."""
        integration = _integration(name, function)
        for path in paths:
            self.api.add_routes(path=path, methods=[method], integration=integration)

    def rest_of_the_paths(self, name: str, function: PythonFunction) -> None:
        """Sends to the function what no other route is for."""
        apigateway.HttpRoute(
            self.api,
            "DefaultRoute",
            http_api=cast(apigateway.IHttpApi, self.api),
            integration=_integration(name, function),
            route_key=apigateway.HttpRouteKey.DEFAULT,
        )


def _integration(name: str, function: PythonFunction) -> apigateway.HttpRouteIntegration:
    integration = integrations.HttpLambdaIntegration(name, cast(lambda_.IFunction, function.live))
    return cast(apigateway.HttpRouteIntegration, integration)


def _domain(scope: Construct, configuration: Configuration) -> apigateway.DomainName:
    """A name of one's own. Its DNS record is the operator's: an alias to the output `DomainTarget`."""
    assert configuration.domain and configuration.certificate_arn  # noqa: S101 - the configuration has checked it
    certificate = acm.Certificate.from_certificate_arn(scope, "Certificate", configuration.certificate_arn)
    return apigateway.DomainName(
        scope,
        "Domain",
        domain_name=configuration.domain,
        certificate=certificate,
        security_policy=apigateway.SecurityPolicy.TLS_1_2,
    )


def reader(
    scope: Construct,
    construct_id: str,
    platform: Platform,
    description: str,
    *,
    state: State,
    engine: SearchEngine,
    memory: int = 1024,
    **options: Any,
) -> PythonFunction:
    """A function that answers readers from the store and the index; `options` are those of PythonFunction."""
    configuration = platform.configuration
    usual: dict[str, Any] = {
        "name": construct_id.lower(),
        "timeout_seconds": 29,
        "snap_start": configuration.snap_start,
    }
    function = PythonFunction(
        scope,
        construct_id,
        platform,
        description=description,
        memory_mb=memory_mb(configuration.providers, memory),
        **(usual | options),
    )
    let_search(function, configuration, state, engine)
    return function


def site_function(
    scope: Construct, platform: Platform, *, state: State, engine: SearchEngine, identity: IdentityState
) -> PythonFunction:
    """Shows everybody the same pages, and a page where there is nothing. It knows nobody, unless it is private."""
    configuration = platform.configuration
    function = reader(
        scope,
        "Site",
        platform,
        "Shows documents, lists and search to people",
        state=state,
        engine=engine,
        # Without rankings the cache holds nothing that everybody may see.
        withheld="" if configuration.reranks else "CACHE_TABLE",
        reads="site (private)" if configuration.private else "site",
    )
    if configuration.private:
        let_visit(function, identity, state)
    return function


def rest_function(
    scope: Construct, platform: Platform, *, state: State, engine: SearchEngine, identity: IdentityState
) -> PythonFunction:
    """Serves documents, lists, the graph and search."""
    description = "Serves documents, lists, the graph and search"
    function = reader(scope, "Rest", platform, description, state=state, engine=engine)
    let_guard(function, identity, state)
    if platform.configuration.private:
        let_visit(function, identity, state)
    return function


def mcp_function(
    scope: Construct,
    platform: Platform,
    *,
    state: State,
    engine: SearchEngine,
    secrets: Secrets,
    identity: IdentityState,
) -> PythonFunction:
    """Answers each request by itself, so that any instance may answer the next. Reads what REST reads."""
    function = reader(
        scope,
        "Mcp",
        platform,
        "Answers agents over the Model Context Protocol",
        state=state,
        engine=engine,
        memory=1769,  # one whole processor: imports are what a start takes
        withheld="" if secrets.github_writer else "GITHUB_API_URL",  # nothing can be proposed there
    )
    let_guard(function, identity, state)
    if secrets.github_writer:
        function.allow(["secretsmanager:GetSecretValue"], [secrets.github_writer.secret_arn])
    return function


def console_function(
    scope: Construct,
    platform: Platform,
    *,
    state: State,
    engine: SearchEngine,
    identity: IdentityState,
    webhook: PythonFunction,
) -> PythonFunction:
    """Pages for people who are signed in. It opens no session, and makes no grant; it may ask for a run of the sync."""
    description = "Shows people who are signed in the pages that they may see"
    function = reader(scope, "Console", platform, description, state=state, engine=engine)
    let_visit(function, identity, state)
    function.allow_items(identity.table, ["DeleteItem"], SESSIONS)
    function.allow_items(state.activity, ["PutItem"], ACTIONS, REFUSALS)
    function.allow(["lambda:InvokeFunction"], [webhook.live.function_arn])
    identity.let_use_table(function, WRITE)
    return function
