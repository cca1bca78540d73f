"""What readers and GitHub reach: one HTTP API, the webhook's route, and everything else for the REST function."""

import json
from typing import cast

from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from commonplace.content.store import ATTACHMENTS_PREFIX, CONTENT_PREFIX, METADATA_PREFIX, RAW_PREFIX
from infra.configuration import Configuration
from infra.functions import Platform, PythonFunction
from infra.log_groups import log_group
from infra.models import (
    allow_embedding,
    allow_rankings,
    allow_reranking,
    embedding_environment,
    ranking_environment,
)
from infra.nag import accept
from infra.opensearch import SearchEngine
from infra.providers import memory_mb
from infra.state import State
from infra.store import Store

WEBHOOK_PATH = "/webhooks/github"

READ_PREFIXES = (CONTENT_PREFIX, RAW_PREFIX, ATTACHMENTS_PREFIX, METADATA_PREFIX)
"""Everything readers may see. Plans, staged files and reports of the operators are not among it."""

COUNTERS = "counter#*"
"""Partitions of the rate limit's counters (`commonplace.adapters.dynamodb`)."""

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


class Rest(Construct):
    """The REST function, and the HTTP API in front of it and of the webhook."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        platform: Platform,
        *,
        store: Store,
        state: State,
        engine: SearchEngine,
        webhook: PythonFunction,
    ) -> None:
        super().__init__(scope, construct_id)
        configuration = platform.configuration
        self.function = PythonFunction(
            self,
            "Rest",
            platform,
            name="rest",
            description="Serves documents, lists, the graph and search",
            source="functions/rest",
            memory_mb=memory_mb(configuration.providers, 1024),
            timeout_seconds=29,
            environment={
                "CONTENT_BUCKET": store.bucket.bucket_name,
                "ACTIVITY_TABLE": state.activity.table_name,
                **_site(configuration),
                **engine.environment,
                **embedding_environment(configuration),
                **ranking_environment(configuration),
                **({"CACHE_TABLE": state.cache.table_name} if configuration.rerank_provider != "none" else {}),
            },
        )
        self.function.allow_objects(store.bucket, ["s3:GetObject"], READ_PREFIXES)
        self.function.allow_listing(store.bucket, READ_PREFIXES)
        self.function.allow_items(state.activity, ["UpdateItem"], COUNTERS)
        engine.admit_reader(self.function)
        allow_embedding(self.function, configuration)
        allow_reranking(self.function, configuration)
        if configuration.rerank_provider != "none":
            allow_rankings(self.function, state.cache)
        self.api = self._api(configuration)
        self._base_url = configuration.base_url
        self.domain = _domain(self, configuration) if configuration.domain else None
        self._stage(configuration)
        self._route("Webhook", WEBHOOK_PATH, apigateway.HttpMethod.POST, webhook)

    @property
    def base_url(self) -> str:
        """Where readers go, without a slash at its end."""
        return self._base_url or self.api.api_endpoint

    def _api(self, configuration: Configuration) -> apigateway.HttpApi:
        """CORS is the application's, which knows what is public."""
        api = apigateway.HttpApi(
            self,
            "Api",
            api_name=f"commonplace-{configuration.stage}",
            create_default_stage=False,
            disable_execute_api_endpoint=configuration.domain is not None,
            default_integration=integrations.HttpLambdaIntegration("Rest", cast(lambda_.IFunction, self.function.live)),
        )
        accept(
            api,
            "Published documents are public; the webhook's function checks GitHub's signature over the raw body.",
            "APIG4",
        )
        return api

    def _route(self, name: str, path: str, method: apigateway.HttpMethod, function: PythonFunction) -> None:
        integration = integrations.HttpLambdaIntegration(name, cast(lambda_.IFunction, function.live))
        self.api.add_routes(path=path, methods=[method], integration=cast(apigateway.HttpRouteIntegration, integration))

    def _stage(self, configuration: Configuration) -> None:
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


def _site(configuration: Configuration) -> dict[str, str]:
    site = {
        "GITHUB_REPOSITORY": configuration.repository,
        "GITHUB_BRANCH": configuration.branch,
        "SITE_NAME": configuration.site_name,
        "RATE_LIMIT_READS": str(configuration.rate_limit_reads),
        "RATE_LIMIT_SEARCHES": str(configuration.rate_limit_searches),
    }
    return site | ({"BASE_URL": configuration.base_url} if configuration.base_url else {})


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
