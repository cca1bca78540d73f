"""AWS WAF before the distribution: rate limits by address, lists of known attackers, a bound on bodies."""

import json
from collections.abc import Sequence

from aws_cdk import aws_wafv2 as waf
from constructs import Construct

from infra.configuration import Configuration

AUTH_PATHS = ("/authorize", "/token", "/register", "/siwe/", "/oidc/")
"""Where guessing would pay, and where each request costs more than others."""

LARGE_BODIES = ("/mcp", "/webhooks/", "/api/")
"""Documents travel here; the applications have bounds of their own."""

MAX_BODY_BYTES = 16_384
"""Elsewhere; also as much as WAF looks at, by itself, before a distribution."""

RATE_SECONDS = 300

_TEXTS = {
    "tooMany": {
        "error": {
            "code": "RATE_LIMITED",
            "message": "Too many requests from this address.",
            "details": {"retryAfterSeconds": RATE_SECONDS},
        }
    },
    "tooManySignIns": {
        "error": "temporarily_unavailable",
        "error_description": "Too many requests from this address. Try again in five minutes.",
    },
    "tooLarge": {"error": {"code": "TOO_LARGE", "message": "The request's body is too large.", "details": {}}},
}

BODY_RULES = ("JavaDeserializationRCE_BODY", "Log4JRCE_BODY", "ReactJSRCE_BODY")


class WebAcl(waf.CfnWebACL):
    """Whatever no rule is about passes."""

    def __init__(self, scope: Construct, construct_id: str, configuration: Configuration) -> None:
        name = f"commonplace-{configuration.stage}-edge"
        # A body of which WAF sees only the beginning counts as too large, not as small.
        large = waf.CfnWebACL.StatementProperty(
            size_constraint_statement=waf.CfnWebACL.SizeConstraintStatementProperty(
                comparison_operator="GT",
                size=MAX_BODY_BYTES,
                field_to_match=waf.CfnWebACL.FieldToMatchProperty(
                    body=waf.CfnWebACL.BodyProperty(oversize_handling="MATCH")
                ),
                text_transformations=[waf.CfnWebACL.TextTransformationProperty(priority=0, type="NONE")],
            )
        )
        elsewhere = waf.CfnWebACL.StatementProperty(
            not_statement=waf.CfnWebACL.NotStatementProperty(statement=_starts(LARGE_BODIES))
        )
        both = waf.CfnWebACL.AndStatementProperty(statements=[large, elsewhere])
        rules = [
            _rate("AuthRate", configuration.waf_auth_rate_limit, "tooManySignIns", _starts(AUTH_PATHS)),
            _rate("Rate", configuration.waf_rate_limit, "tooMany", None),
            _managed("IpReputation", "AWSManagedRulesAmazonIpReputationList"),
            # Text about an attack is not one: knowledge bases hold such texts, and agents send them.
            _managed("KnownBadInputs", "AWSManagedRulesKnownBadInputsRuleSet", counted=BODY_RULES),
            {
                "name": "BodySize",
                "statement": waf.CfnWebACL.StatementProperty(and_statement=both),
                "action": _refusal(413, "tooLarge"),
            },
        ]
        super().__init__(
            scope,
            construct_id,
            name=name,
            scope="CLOUDFRONT",
            description=f"Commonplace {configuration.stage}",
            default_action=waf.CfnWebACL.DefaultActionProperty(allow=waf.CfnWebACL.AllowActionProperty()),
            custom_response_bodies={
                key: waf.CfnWebACL.CustomResponseBodyProperty(content=json.dumps(text), content_type="APPLICATION_JSON")
                for key, text in _TEXTS.items()
            },
            rules=[
                waf.CfnWebACL.RuleProperty(
                    priority=priority,
                    visibility_config=_visible(str(rule["name"])),
                    **rule,  # type: ignore[arg-type]
                )
                for priority, rule in enumerate(rules)
            ],
            visibility_config=_visible(name),
        )


def _rate(name: str, limit: int, body: str, scope_down: waf.CfnWebACL.StatementProperty | None) -> dict[str, object]:
    statement = waf.CfnWebACL.RateBasedStatementProperty(
        aggregate_key_type="IP",
        limit=limit,
        evaluation_window_sec=RATE_SECONDS,
        scope_down_statement=scope_down,
    )
    return {
        "name": name,
        "statement": waf.CfnWebACL.StatementProperty(rate_based_statement=statement),
        "action": _refusal(429, body, retry_after=RATE_SECONDS),
    }


def _managed(name: str, group: str, counted: Sequence[str] = ()) -> dict[str, object]:
    count = waf.CfnWebACL.RuleActionProperty(count=waf.CfnWebACL.CountActionProperty())
    statement = waf.CfnWebACL.ManagedRuleGroupStatementProperty(
        vendor_name="AWS",
        name=group,
        rule_action_overrides=[
            waf.CfnWebACL.RuleActionOverrideProperty(name=each, action_to_use=count) for each in counted
        ]
        or None,
    )
    return {
        "name": name,
        "statement": waf.CfnWebACL.StatementProperty(managed_rule_group_statement=statement),
        "override_action": waf.CfnWebACL.OverrideActionProperty(none={}),
    }


def _starts(paths: Sequence[str]) -> waf.CfnWebACL.StatementProperty:
    """Paths that begin so, whatever the case or the encoding that an attacker gives them."""
    plain = [
        waf.CfnWebACL.TextTransformationProperty(priority=priority, type=kind)
        for priority, kind in enumerate(("URL_DECODE", "NORMALIZE_PATH", "LOWERCASE"))
    ]
    matches = [
        waf.CfnWebACL.ByteMatchStatementProperty(
            field_to_match=waf.CfnWebACL.FieldToMatchProperty(uri_path={}),
            positional_constraint="STARTS_WITH",
            search_string=path,
            text_transformations=plain,
        )
        for path in paths
    ]
    statements = [waf.CfnWebACL.StatementProperty(byte_match_statement=match) for match in matches]
    return waf.CfnWebACL.StatementProperty(or_statement=waf.CfnWebACL.OrStatementProperty(statements=statements))


def _refusal(status: int, body: str, retry_after: int | None = None) -> waf.CfnWebACL.RuleActionProperty:
    headers = [waf.CfnWebACL.CustomHTTPHeaderProperty(name="Retry-After", value=str(retry_after))]
    response = waf.CfnWebACL.CustomResponseProperty(
        response_code=status, custom_response_body_key=body, response_headers=headers if retry_after else None
    )
    return waf.CfnWebACL.RuleActionProperty(block=waf.CfnWebACL.BlockActionProperty(custom_response=response))


def _visible(name: str) -> waf.CfnWebACL.VisibilityConfigProperty:
    """Metrics only: sampled requests would show what people search for."""
    return waf.CfnWebACL.VisibilityConfigProperty(
        cloud_watch_metrics_enabled=True, metric_name=name, sampled_requests_enabled=False
    )
