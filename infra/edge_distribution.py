"""The CloudFront distribution: one host for everything, a cache for what may be cached, the rest passed on."""

from collections.abc import Mapping
from typing import Any, cast

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_cloudfront as cloudfront
from aws_cdk import aws_cloudfront_origins as origins
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from commonplace.web.origin import ORIGIN_HEADER
from infra.configuration import Configuration
from infra.functions import accept
from infra.requirements import ROOT
from infra.streaming_functions import STAGE

FUNCTIONS = ROOT / "infra/edge_functions"

PUBLIC_PATHS = (
    *(
        "/api/*",
        "/llms*",
        "/feed.*",
        "/openapi.json",
        "/server.json",
        "/icon.png",
        "/logo",
        "/favicon.ico",
        "/robots.txt",
    ),
    *("/", "/search", "/d/*", "/t", "/t/*", "/types*", "/groups*", "/releases*", "/map", "/sitemap.xml"),
    *("/docs*", "/connect*", "/assets/*"),
)
"""Whose answers say themselves how long they may be kept, and are private where they depend on who asks."""

ORIGIN_SECONDS = 35
"""Longer than the gateway waits for a function, so that its answer is what a caller gets."""
STREAM_SECONDS = 60
"""Between two packets of a stream, which is never silent for so long."""

NEVER_KEPT = (400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504)
"""By itself CloudFront keeps an error for ten seconds and gives it to everybody."""


class Distribution(Construct):
    """`secret_value` is what the origin is sent, as a reference that CloudFormation resolves."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        configuration: Configuration,
        *,
        origin: str,
        secret_value: str,
        web_acl: str | None,
        streams: Mapping[str, str],
    ) -> None:
        """`streams` are hosts by path, of what answers there as it comes."""
        super().__init__(scope, construct_id)
        self._configuration = configuration
        self._restoring = _restoring_challenge(self, configuration) if configuration.restore_challenge else None
        # What an application says for itself stands: its referrer policy, its content security policy.
        hsts = cloudfront.ResponseHeadersStrictTransportSecurity(
            access_control_max_age=Duration.days(configuration.hsts_days), include_subdomains=False, override=True
        )
        self._headers = cloudfront.ResponseHeadersPolicy(
            self,
            "SecurityHeaders",
            response_headers_policy_name=f"commonplace-{configuration.stage}-security",
            security_headers_behavior=cloudfront.ResponseSecurityHeadersBehavior(
                content_type_options=cloudfront.ResponseHeadersContentTypeOptions(override=True),
                referrer_policy=cloudfront.ResponseHeadersReferrerPolicy(
                    referrer_policy=cloudfront.HeadersReferrerPolicy.STRICT_ORIGIN_WHEN_CROSS_ORIGIN, override=False
                ),
                strict_transport_security=hsts if configuration.hsts_days else None,
            ),
        )
        self._viewer = cloudfront.Function(
            self,
            "TellViewer",
            function_name=f"commonplace-{configuration.stage}-tell-viewer",
            code=cloudfront.FunctionCode.from_inline((FUNCTIONS / "tell_viewer.js").read_text(encoding="utf-8")),
            runtime=cloudfront.FunctionRuntime.JS_2_0,
            comment="Says who calls",
        )
        own = {"custom_headers": {ORIGIN_HEADER: secret_value}}
        self._origin = _origin(origin, ORIGIN_SECONDS, **own)
        self._streams = {
            path: _origin(host, STREAM_SECONDS, origin_path=f"/{STAGE}", **own) for path, host in streams.items()
        }
        self.distribution = self._distribution(web_acl)

    @property
    def restoring_arn(self) -> str | None:
        """The version of the function at the edge, which whoever updates the distribution has to be allowed to use."""
        return self._restoring.edge_arn if self._restoring else None

    @property
    def arn(self) -> str:
        return Stack.of(self).format_arn(
            service="cloudfront",
            region="",
            resource="distribution",
            resource_name=self.distribution.distribution_id,
        )

    def _distribution(self, web_acl: str | None) -> cloudfront.Distribution:
        configuration = self._configuration
        kept, briefly = _policy(self, "Kept", configuration, keyed=True), _policy(self, "Brief", configuration)
        never = cloudfront.CachePolicy.CACHING_DISABLED
        distribution = cloudfront.Distribution(
            self,
            "Distribution",
            comment=f"Commonplace {configuration.stage}",
            default_behavior=self._behavior(never),
            additional_behaviors={
                "/mcp*": self._behavior(never, compress=False),
                **{
                    path: self._behavior(never, compress=False, origin=origin) for path, origin in self._streams.items()
                },
                "/.well-known/*": self._behavior(briefly, challenges=False),
                **{path: self._behavior(never if configuration.private else kept) for path in PUBLIC_PATHS},
            },
            domain_names=[configuration.domain] if configuration.domain else None,
            certificate=(
                None
                if not configuration.certificate_arn
                else acm.Certificate.from_certificate_arn(self, "Certificate", configuration.certificate_arn)
            ),
            minimum_protocol_version=cloudfront.SecurityPolicyProtocol.TLS_V1_2_2021 if configuration.domain else None,
            http_version=cloudfront.HttpVersion.HTTP2_AND_3,
            error_responses=[
                cloudfront.ErrorResponse(http_status=status, ttl=Duration.seconds(0)) for status in NEVER_KEPT
            ],
            web_acl_id=web_acl,
        )
        accept(distribution, "Published knowledge is for every country; an operator may say otherwise.", "CFR1")
        accept(
            distribution,
            "Requests are logged by choice (edgeLogs), by a way that leaves out query strings and cookies.",
            "CFR3",
        )
        if not web_acl:
            accept(distribution, "An operator has left WAF out (waf), for what it costs each month.", "CFR2")
        if not configuration.domain:
            accept(distribution, "CloudFront's own name comes with its own certificate and its own TLS policy.", "CFR4")
        return distribution

    def _behavior(
        self,
        policy: cloudfront.ICachePolicy,
        *,
        compress: bool = True,
        challenges: bool = True,
        origin: cloudfront.IOrigin | None = None,
    ) -> cloudfront.BehaviorOptions:
        restore = [
            cloudfront.EdgeLambda(
                event_type=cloudfront.LambdaEdgeEventType.ORIGIN_RESPONSE,
                function_version=cast(lambda_.IVersion, self._restoring),
            )
        ]
        return cloudfront.BehaviorOptions(
            origin=origin or self._origin,
            allowed_methods=cloudfront.AllowedMethods.ALLOW_ALL,
            viewer_protocol_policy=cloudfront.ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
            cache_policy=policy,
            # The gateway answers to its own host name alone.
            origin_request_policy=cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
            response_headers_policy=cast(cloudfront.IResponseHeadersPolicy, self._headers),
            compress=compress,
            function_associations=[
                cloudfront.FunctionAssociation(
                    function=cast(cloudfront.IFunction, self._viewer),
                    event_type=cloudfront.FunctionEventType.VIEWER_REQUEST,
                )
            ],
            edge_lambdas=restore if self._restoring and challenges else None,
        )


def _origin(host: str, seconds: int, **options: Any) -> cloudfront.IOrigin:
    made = origins.HttpOrigin(
        host,
        protocol_policy=cloudfront.OriginProtocolPolicy.HTTPS_ONLY,
        origin_ssl_protocols=[cloudfront.OriginSslPolicy.TLS_V1_2],
        read_timeout=Duration.seconds(seconds),
        **options,
    )
    return cast(cloudfront.IOrigin, made)


def _policy(
    scope: Construct, name: str, configuration: Configuration, *, keyed: bool = False
) -> cloudfront.ICachePolicy:
    """As long as an answer itself says, at most five minutes; what says nothing is not kept.

    `keyed`: one copy for each token and query. Without, a path has one answer for everybody.
    """
    behavior = cloudfront.CacheHeaderBehavior
    policy = cloudfront.CachePolicy(
        scope,
        name,
        cache_policy_name=f"commonplace-{configuration.stage}-{name.lower()}",
        min_ttl=Duration.seconds(0),
        default_ttl=Duration.seconds(0),
        max_ttl=Duration.minutes(5),
        header_behavior=behavior.allow_list("Authorization") if keyed else behavior.none(),
        query_string_behavior=cloudfront.CacheQueryStringBehavior.all()
        if keyed
        else cloudfront.CacheQueryStringBehavior.none(),
        cookie_behavior=cloudfront.CacheCookieBehavior.none(),
        enable_accept_encoding_gzip=True,
        enable_accept_encoding_brotli=True,
    )
    return cast(cloudfront.ICachePolicy, policy)


def _restoring_challenge(scope: Construct, configuration: Configuration) -> lambda_.Version:
    """Outlives the stack: while CloudFront holds copies of it, for hours, it cannot be deleted.

    It writes no log and may not: its logs would be in whichever region a caller is near.
    """
    scope = Construct(scope, "Challenge")
    scope.node.set_context("@aws-cdk/aws-lambda:useCdkManagedLogGroup", False)
    role = iam.Role(
        scope,
        "Role",
        description=f"Commonplace {configuration.stage}: a function at the edge, which may do nothing",
        assumed_by=cast(
            iam.IPrincipal,
            iam.CompositePrincipal(
                iam.ServicePrincipal("lambda.amazonaws.com"), iam.ServicePrincipal("edgelambda.amazonaws.com")
            ),
        ),
    )
    function = lambda_.Function(
        scope,
        "Restore",
        description="Gives WWW-Authenticate its name back",
        runtime=lambda_.Runtime.NODEJS_24_X,
        architecture=lambda_.Architecture.X86_64,
        handler="index.handler",
        code=lambda_.Code.from_inline((FUNCTIONS / "restore_challenge.js").read_text(encoding="utf-8")),
        memory_size=128,
        timeout=Duration.seconds(5),
        role=cast(iam.IRole, role),
    )
    version = function.current_version
    for kept in (function, version):
        kept.apply_removal_policy(RemovalPolicy.RETAIN)
    return version
