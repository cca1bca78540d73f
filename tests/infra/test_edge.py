"""The second stack, before the API: what it caches, what it refuses, and how the first stack knows it."""

import json
import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any

import pytest
from starlette.routing import Route

from commonplace.web.origin import ORIGIN_HEADER
from infra.configuration import ConfigurationError, from_context
from infra.edge import FIELDS, REPLICATE
from infra.edge_distribution import PUBLIC_PATHS
from infra.edge_waf import AUTH_PATHS, LARGE_BODIES
from tests.infra.conftest import PROD
from tests.infra.templates import Template, as_list, lint_findings
from tests.site_app import site_app
from tests.unit.docs.test_costs import prices, shown, table, usage

CERTIFICATE = "arn:aws:acm:us-east-1:123456789012:certificate/00000000-0000-0000-0000-000000000000"
HOME = "eu-central-1"
FIRST = {"engine": "embedded", "edge": "true", "region": HOME}
DOMAIN = {"domain": "knowledge.example.org", "certificateArn": CERTIFICATE}
WHOLE = {**PROD, **FIRST, **DOMAIN, "edgeLogs": "true", "alarmEmail": "operators@example.org"}
SMALL = {
    **FIRST,
    "waf": "false",
    "restoreChallenge": "false",
    "hstsDays": "0",
    "publicUrl": "https://d1.cloudfront.net",
}
CACHING_DISABLED = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"
ALL_VIEWER_EXCEPT_HOST_HEADER = "b689b0a8-53d0-40ab-baf2-68738e2966ac"

Synthesize = Callable[..., Template]


def second(first: Template) -> Template:
    """The other template of the same synthesis."""
    (file,) = first.folder.glob("*-edge.template.json")
    return Template(json.loads(file.read_text()), first.report, first.folder)


@pytest.fixture(scope="session")
def core(synthesized: Synthesize) -> Template:
    """Stage prod with a domain, and everything at the edge switched on."""
    return synthesized(**WHOLE)


@pytest.fixture(scope="session")
def edge(core: Template) -> Template:
    return second(core)


@pytest.fixture(scope="session")
def small_core(synthesized: Synthesize) -> Template:
    """Stage dev at CloudFront's own name, with nothing at the edge that can be left out."""
    return synthesized(**SMALL)


@pytest.fixture(scope="session")
def small(small_core: Template) -> Template:
    return second(small_core)


@pytest.fixture(scope="session")
def first_core(synthesized: Synthesize) -> Template:
    """The first deployment without a domain: nobody knows the distribution's name yet."""
    return synthesized(**FIRST)


def distribution(template: Template) -> dict[str, Any]:
    (found,) = template.properties("AWS::CloudFront::Distribution")
    config: dict[str, Any] = found["DistributionConfig"]
    return config


def behaviors(template: Template) -> dict[str, dict[str, Any]]:
    config = distribution(template)
    return {"*": config["DefaultCacheBehavior"], **{each["PathPattern"]: each for each in config["CacheBehaviors"]}}


def text(value: Any) -> str:
    return json.dumps(value)


# ---- both stacks


@pytest.mark.parametrize("stage", ["core", "small_core", "first_core"])
def test_cdk_nag_finds_nothing_that_was_not_accepted(stage: str, request: pytest.FixtureRequest) -> None:
    reports = {each["pluginName"]: each for each in request.getfixturevalue(stage).report["pluginReports"]}
    assert (reports["AwsSolutions"]["conclusion"], reports["AwsSolutions"]["violations"]) == ("success", [])
    for finding in reports["AwsSolutions"]["suppressedViolations"]:
        assert len(finding["reason"].split()) >= 6, finding
        assert finding["reason"].endswith("."), finding


@pytest.mark.parametrize("stage", ["core", "small_core"])
def test_cfn_lint_finds_nothing(stage: str, request: pytest.FixtureRequest) -> None:
    files = [*request.getfixturevalue(stage).folder.glob("*.template.json")]
    assert len(files) == 2
    assert [lint_findings(file.read_text()) for file in files] == [[], []]


def test_without_edge_there_is_no_second_stack(template: Template) -> None:
    assert [file.name for file in template.folder.glob("*.template.json")] == ["Commonplace-dev.template.json"]
    assert "ORIGIN_SECRET_ARN" not in text(template.body)


def test_the_second_stack_stands_in_us_east_1_and_comes_after_the_first(core: Template) -> None:
    artifacts = json.loads((core.folder / "manifest.json").read_text())["artifacts"]
    assert artifacts["Commonplace-prod"]["environment"].endswith(f"/{HOME}")
    stack = artifacts["Commonplace-prod-edge"]
    assert stack["environment"].endswith("/us-east-1")
    assert "Commonplace-prod" in stack["dependencies"]
    assert stack["properties"]["terminationProtection"] is True


@pytest.mark.parametrize("stage", ["edge", "small"])
def test_no_role_of_the_edge_may_do_everything(stage: str, request: pytest.FixtureRequest) -> None:
    template: Template = request.getfixturevalue(stage)
    for statement in template.statements():
        assert {action for action in as_list(statement["Action"]) if "*" in action} <= {REPLICATE}, statement
        wide = "*" in as_list(statement["Resource"])
        assert wide == all(action.startswith("xray:") for action in as_list(statement["Action"])), statement
    assert all("ManagedPolicyArns" not in role for role in template.properties("AWS::IAM::Role"))


# ---- the lock


def test_the_functions_that_answer_requests_are_told_the_replica_of_their_own_region(core: Template) -> None:
    told = {
        each["FunctionName"].rpartition("-")[2]: text(each["Environment"]["Variables"]["ORIGIN_SECRET_ARN"])
        for each in core.properties("AWS::Lambda::Function")
        if "ORIGIN_SECRET_ARN" in each["Environment"]["Variables"]
    }
    assert told.keys() == {"webhook", "site", "rest", "mcp", "console", "auth"}
    assert all(
        f"secretsmanager:{HOME}:" in each and ":secret:commonplace/prod/origin" in each for each in told.values()
    )


def test_they_may_read_that_secret_and_no_other_by_that_pattern(core: Template) -> None:
    patterns = [text(each["Resource"]) for each in core.statements() if "-??????" in text(each["Resource"])]
    assert len(patterns) == 6
    assert all("secret:commonplace/prod/origin-??????" in each for each in patterns)


def test_the_secret_is_made_in_us_east_1_under_that_name_and_copied_home(edge: Template) -> None:
    (secret,) = edge.properties("AWS::SecretsManager::Secret")
    assert secret["Name"] == "commonplace/prod/origin"
    assert secret["ReplicaRegions"] == [{"Region": HOME}]


def test_a_deployment_that_is_in_us_east_1_needs_no_copy(synthesized: Synthesize) -> None:
    (secret,) = second(synthesized(**FIRST | {"region": "us-east-1"})).properties("AWS::SecretsManager::Secret")
    assert "ReplicaRegions" not in secret


def test_the_value_is_in_no_template(edge: Template) -> None:
    (origin,) = distribution(edge)["Origins"]
    (header,) = origin["OriginCustomHeaders"]
    assert header["HeaderName"] == ORIGIN_HEADER
    parts = header["HeaderValue"]["Fn::Join"][1]
    assert (parts[0], parts[-1]) == ("{{resolve:secretsmanager:", ":SecretString:value::}}")
    (secret,) = edge.properties("AWS::SecretsManager::Secret")
    assert "SecretString" not in secret


@pytest.mark.parametrize(
    ("context", "locked"),
    [
        (FIRST, False),
        (SMALL, True),
        ({**FIRST, **DOMAIN}, True),
        ({**FIRST, **DOMAIN, "originLock": "false"}, False),
    ],
)
def test_the_lock_closes_when_it_is_known_where_the_door_is(context: dict[str, str], locked: bool) -> None:
    assert from_context(context).locks_origin is locked


def test_a_lock_that_is_not_closed_leaves_the_first_stack_as_it_was(first_core: Template) -> None:
    assert "ORIGIN_SECRET_ARN" not in text(first_core.body)


def test_the_rotation_may_change_this_distribution_and_this_secret_alone(edge: Template) -> None:
    allowed = {action: each["Resource"] for each in edge.statements() for action in as_list(each["Action"])}
    (distribution_id,) = edge.of("AWS::CloudFront::Distribution")
    (secret_id,) = edge.of("AWS::SecretsManager::Secret")
    assert text(allowed["cloudfront:UpdateDistribution"]).count(distribution_id) == 1
    assert allowed["secretsmanager:PutSecretValue"] == {"Ref": secret_id}
    assert "secretsmanager:ListSecrets" not in allowed
    (schedule,) = edge.properties("AWS::SecretsManager::RotationSchedule")
    assert schedule["RotationRules"] == {"AutomaticallyAfterDays": 30}
    (permission,) = edge.properties("AWS::Lambda::Permission")
    assert permission["Principal"] == "secretsmanager.amazonaws.com"
    assert permission["SourceAccount"] == {"Ref": "AWS::AccountId"}


def test_what_rotates_reads_what_it_is_told(edge: Template) -> None:
    (function,) = [each for each in edge.properties("AWS::Lambda::Function") if "FunctionName" in each]
    assert function["FunctionName"] == "commonplace-prod-origin-secret"
    assert function["Environment"]["Variables"].keys() == {"STAGE", "ORIGIN_SECRET_ARN", "DISTRIBUTION_ID"}
    assert (function["Timeout"], function["Runtime"], function["Architectures"]) == (900, "python3.13", ["arm64"])


def test_a_rotation_that_does_not_end_is_an_alarm(edge: Template) -> None:
    (alarm,) = edge.properties("AWS::CloudWatch::Alarm")
    assert alarm["AlarmName"] == "commonplace-prod-origin-secret-stuck"
    (subscription,) = edge.properties("AWS::SNS::Subscription")
    assert subscription["Endpoint"] == "operators@example.org"


# ---- addresses


def test_the_domain_is_the_distributions_and_the_api_has_none(core: Template, edge: Template) -> None:
    assert core.of("AWS::ApiGatewayV2::DomainName") == {}
    assert "DomainTarget" not in core.body["Outputs"]
    (api,) = core.properties("AWS::ApiGatewayV2::Api")
    assert not api.get("DisableExecuteApiEndpoint")
    config = distribution(edge)
    assert config["Aliases"] == ["knowledge.example.org"]
    assert config["ViewerCertificate"]["AcmCertificateArn"] == CERTIFICATE
    assert config["ViewerCertificate"]["MinimumProtocolVersion"] == "TLSv1.2_2021"


@pytest.mark.parametrize(
    ("stage", "public"), [("core", "https://knowledge.example.org"), ("small_core", "https://d1.cloudfront.net")]
)
def test_the_functions_are_told_the_public_address(stage: str, public: str, request: pytest.FixtureRequest) -> None:
    template: Template = request.getfixturevalue(stage)
    for name in ("mcp", "site", "rest", "console", "auth"):
        assert template.function(name)["Environment"]["Variables"]["BASE_URL"] == public
    assert template.body["Outputs"]["BaseUrl"]["Value"] == public


def test_the_origin_is_the_api_over_tls(edge: Template) -> None:
    (origin,) = distribution(edge)["Origins"]
    assert f".execute-api.{HOME}." in text(origin["DomainName"])
    assert origin["CustomOriginConfig"]["OriginProtocolPolicy"] == "https-only"
    assert origin["CustomOriginConfig"]["OriginSSLProtocols"] == ["TLSv1.2"]
    assert origin["CustomOriginConfig"]["OriginReadTimeout"] > 30


@pytest.mark.parametrize(
    ("context", "complaint"),
    [
        ({"edge": "true"}, "edge needs region"),
        ({**FIRST, **DOMAIN, "certificateArn": CERTIFICATE.replace("us-east-1", HOME)}, "us-east-1"),
        ({"publicUrl": "https://d1.cloudfront.net"}, "publicUrl without edge"),
        ({**FIRST, **DOMAIN, "publicUrl": "https://d1.cloudfront.net"}, "without a domain"),
        ({**FIRST, "publicUrl": "https://d1.cloudfront.net/"}, "publicUrl is"),
        ({**FIRST, "publicUrl": "http://d1.cloudfront.net"}, "publicUrl is"),
        ({**FIRST, "originSecretRotationDays": "0"}, "originSecretRotationDays"),
        ({**FIRST, "wafRateLimit": "9"}, "wafRateLimit"),
    ],
)
def test_what_cannot_stand_together_is_refused(context: dict[str, str], complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        from_context(context)


# ---- behaviours


def test_whatever_is_not_said_to_be_public_is_never_kept(edge: Template) -> None:
    kept = {path for path, each in behaviors(edge).items() if each["CachePolicyId"] != CACHING_DISABLED}
    assert kept == {
        *("/.well-known/*", "/api/*", "/llms*", "/feed.*", "/openapi.json", "/server.json", "/icon.png"),
        *(
            "/logo",
            "/favicon.ico",
            "/robots.txt",
            "/",
            "/search",
            "/d/*",
            "/t",
            "/t/*",
            "/types*",
            "/groups*",
            "/releases*",
        ),
        *("/map", "/sitemap.xml", "/docs*", "/connect*", "/assets/*"),
    }


def test_every_page_of_the_site_is_kept_at_the_edge() -> None:
    routes = [route.path for route in site_app().routes if isinstance(route, Route)]
    # One route only leads from addresses that no page has to those that have one.
    paths = [re.sub(r"{[^}]*}", "x", path) for path in routes if path != "/{path:path}"]
    assert len(paths) > 20
    assert [path for path in paths if not any(fnmatchcase(path, public) for public in PUBLIC_PATHS)] == []


def test_what_is_kept_is_kept_for_each_token_and_query_and_only_as_long_as_it_says(edge: Template) -> None:
    policies = {
        each["CachePolicyConfig"]["Name"].rpartition("-")[2]: each["CachePolicyConfig"]
        for each in edge.properties("AWS::CloudFront::CachePolicy")
    }
    for policy in policies.values():
        assert (policy["MinTTL"], policy["DefaultTTL"], policy["MaxTTL"]) == (0, 0, 300)
        assert policy["ParametersInCacheKeyAndForwardedToOrigin"]["CookiesConfig"] == {"CookieBehavior": "none"}
    kept = policies["kept"]["ParametersInCacheKeyAndForwardedToOrigin"]
    assert kept["HeadersConfig"] == {"HeaderBehavior": "whitelist", "Headers": ["Authorization"]}
    assert kept["QueryStringsConfig"] == {"QueryStringBehavior": "all"}
    assert policies["brief"]["ParametersInCacheKeyAndForwardedToOrigin"]["HeadersConfig"] == {"HeaderBehavior": "none"}


def test_every_path_takes_every_method_over_https_and_hands_on_everything_but_the_host(edge: Template) -> None:
    for path, each in behaviors(edge).items():
        assert each["ViewerProtocolPolicy"] == "redirect-to-https", path
        assert {"POST", "DELETE", "OPTIONS"} <= set(each["AllowedMethods"]), path
        assert each["OriginRequestPolicyId"] == ALL_VIEWER_EXCEPT_HOST_HEADER, path
        assert [each["EventType"] for each in each["FunctionAssociations"]] == ["viewer-request"], path


def test_answers_to_agents_are_not_compressed_on_the_way(edge: Template) -> None:
    assert behaviors(edge)["/mcp*"]["Compress"] is False


def test_challenges_get_their_name_back_wherever_there_may_be_one(edge: Template, small: Template) -> None:
    restored = {path for path, each in behaviors(edge).items() if each.get("LambdaFunctionAssociations")}
    assert restored == behaviors(edge).keys() - {"/.well-known/*"}
    (association,) = behaviors(edge)["/mcp*"]["LambdaFunctionAssociations"]
    assert association["EventType"] == "origin-response"
    assert not any(each.get("LambdaFunctionAssociations") for each in behaviors(small).values())


def test_the_function_at_the_edge_is_as_the_edge_demands_and_survives_the_stack(edge: Template) -> None:
    (function,) = [
        each for each in edge.of("AWS::Lambda::Function").values() if "ZipFile" in each["Properties"]["Code"]
    ]
    properties = function["Properties"]
    assert not {"Environment", "Layers", "TracingConfig", "VpcConfig"} & properties.keys()
    assert (properties["Architectures"], properties["Timeout"], properties["MemorySize"]) == (["x86_64"], 5, 128)
    assert len(properties["Code"]["ZipFile"]) <= 4096
    assert function["DeletionPolicy"] == "Retain"
    role = properties["Role"]["Fn::GetAtt"][0]
    principals = text(edge.of("AWS::IAM::Role")[role])
    assert "edgelambda.amazonaws.com" in principals
    assert list(edge.statements(role)) == []


def test_errors_are_told_to_nobody_but_who_has_made_them(edge: Template) -> None:
    kept = {each["ErrorCode"]: each["ErrorCachingMinTTL"] for each in distribution(edge)["CustomErrorResponses"]}
    assert set(kept.values()) == {0}
    assert {400, 403, 404, 500, 502, 503, 504} <= kept.keys()
    assert not any("ResponsePagePath" in each for each in distribution(edge)["CustomErrorResponses"])


def test_security_headers_are_added_and_the_applications_own_stand(edge: Template, small: Template) -> None:
    (policy,) = edge.properties("AWS::CloudFront::ResponseHeadersPolicy")
    headers = policy["ResponseHeadersPolicyConfig"]["SecurityHeadersConfig"]
    assert headers["StrictTransportSecurity"] == {
        "AccessControlMaxAgeSec": 365 * 86_400,
        "IncludeSubdomains": False,
        "Override": True,
    }
    assert headers["ContentTypeOptions"] == {"Override": True}
    assert headers["ReferrerPolicy"]["Override"] is False
    assert "ContentSecurityPolicy" not in headers
    (without,) = small.properties("AWS::CloudFront::ResponseHeadersPolicy")
    assert "StrictTransportSecurity" not in without["ResponseHeadersPolicyConfig"]["SecurityHeadersConfig"]


# ---- WAF and logs


def rules(template: Template) -> dict[str, dict[str, Any]]:
    (acl,) = template.properties("AWS::WAFv2::WebACL")
    assert acl["Scope"] == "CLOUDFRONT"
    assert acl["DefaultAction"] == {"Allow": {}}
    return {each["Name"]: each for each in acl["Rules"]}


def test_one_address_may_ask_so_often_and_sign_in_less_often(edge: Template) -> None:
    found = rules(edge)
    every, auth = (found[name]["Statement"]["RateBasedStatement"] for name in ("Rate", "AuthRate"))
    assert (every["Limit"], every["EvaluationWindowSec"], every["AggregateKeyType"]) == (2000, 300, "IP")
    assert "ScopeDownStatement" not in every
    paths = auth["ScopeDownStatement"]["OrStatement"]["Statements"]
    assert tuple(each["ByteMatchStatement"]["SearchString"] for each in paths) == AUTH_PATHS
    assert auth["Limit"] < every["Limit"]


def test_who_asks_too_often_is_told_when_to_come_back(edge: Template) -> None:
    (acl,) = edge.properties("AWS::WAFv2::WebACL")
    for name, code in (("Rate", "RATE_LIMITED"), ("AuthRate", "temporarily_unavailable")):
        answer = rules(edge)[name]["Action"]["Block"]["CustomResponse"]
        assert (answer["ResponseCode"], answer["ResponseHeaders"]) == (429, [{"Name": "Retry-After", "Value": "300"}])
        body = acl["CustomResponseBodies"][answer["CustomResponseBodyKey"]]
        assert body["ContentType"] == "APPLICATION_JSON"
        assert code in text(json.loads(body["Content"]))


def test_large_bodies_are_refused_but_where_documents_travel(edge: Template) -> None:
    size, elsewhere = rules(edge)["BodySize"]["Statement"]["AndStatement"]["Statements"]
    assert size["SizeConstraintStatement"]["FieldToMatch"]["Body"] == {"OversizeHandling": "MATCH"}
    spared = elsewhere["NotStatement"]["Statement"]["OrStatement"]["Statements"]
    assert tuple(each["ByteMatchStatement"]["SearchString"] for each in spared) == LARGE_BODIES
    assert {"/mcp", "/webhooks/"} <= set(LARGE_BODIES)


def test_text_about_an_attack_is_counted_and_not_refused(edge: Template) -> None:
    group = rules(edge)["KnownBadInputs"]["Statement"]["ManagedRuleGroupStatement"]
    assert all(
        each["Name"].endswith("_BODY") and "Count" in each["ActionToUse"] for each in group["RuleActionOverrides"]
    )
    assert rules(edge)["IpReputation"]["OverrideAction"] == {"None": {}}


def test_waf_stands_before_the_distribution_unless_it_is_left_out(edge: Template, small: Template) -> None:
    (acl,) = edge.of("AWS::WAFv2::WebACL")
    assert distribution(edge)["WebACLId"] == {"Fn::GetAtt": [acl, "Arn"]}
    assert small.of("AWS::WAFv2::WebACL") == {}
    assert "WebACLId" not in distribution(small)


def test_logs_say_neither_what_was_asked_nor_with_which_token(edge: Template, small: Template) -> None:
    (delivery,) = edge.properties("AWS::Logs::Delivery")
    assert tuple(delivery["RecordFields"]) == FIELDS
    assert not {"cs-uri-query", "cs(Cookie)", "cs(Referer)"} & set(FIELDS)
    (refusals,) = edge.properties("AWS::WAFv2::LoggingConfiguration")
    assert {"QueryString": {}} in refusals["RedactedFields"]
    assert {"SingleHeader": {"Name": "authorization"}} in refusals["RedactedFields"]
    assert small.of("AWS::Logs::Delivery") == {}
    groups = edge.properties("AWS::Logs::LogGroup")
    assert {each["RetentionInDays"] for each in groups} == {30}


def test_the_operator_is_told_where_to_point_the_name(edge: Template, small: Template) -> None:
    outputs = {"DistributionId", "DistributionHost", "PublicUrl", "OriginSecretArn", "OriginSecretFunction"}
    assert edge.body["Outputs"].keys() == small.body["Outputs"].keys() == outputs
    assert edge.body["Outputs"]["PublicUrl"]["Value"] == "https://knowledge.example.org"


# ---- what docs/operate/costs.md says of it


def test_the_front_door_costs_what_its_parts_do(edge: Template) -> None:
    price, month = prices(), table("The front door")
    counts = {kind: len(edge.of(kind)) for kind in ("AWS::CloudWatch::Alarm", "AWS::SecretsManager::Secret")}
    secrets = 2 * counts["AWS::SecretsManager::Secret"]  # and its copy
    always = price["key"] + secrets * price["secret"] + counts["AWS::CloudWatch::Alarm"] * price["alarm"]
    requests = [searches + calls for searches, calls in zip(usage("searches"), usage("calls of agents"), strict=True)]
    fixed = price["waf-acl"] + len(rules(edge)) * price["waf-rule"]
    assert set(month["key, secret and its copy, alarm"]) == {shown(always)}
    assert month["WAF (waf)"] == [shown(fixed + each / 1e6 * price["waf-request"]) for each in requests]
    assert month["requests"] == [shown(each / 1e6 * price["edge-request"]) for each in requests]
