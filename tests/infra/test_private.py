"""A deployment for members alone: who is told what it takes to know them, and what no cache keeps."""

import json
from typing import Any

import pytest

from infra.configuration import ConfigurationError, from_context
from infra.snapshot import CONTEXT, normalised
from tests.infra.templates import Template, as_list, lint_findings
from tests.infra.test_edge import CACHING_DISABLED, behaviors, second
from tests.members_template import for_members, told_functions

NEW = ("IDENTITY_TABLE", "IDENTITY_SECRET_ARN", "RPC_SECRET_ARN", "ROLE_CACHE_TABLE", "OIDC_CLAIMS_HOURS")


def partitions(template: Template, role: str) -> set[str]:
    """Of the tables that the role may do anything with."""
    found: set[str] = set()
    for each in template.statements(role):
        keys = each.get("Condition", {}).get("ForAllValues:StringLike", {}).get("dynamodb:LeadingKeys", [])
        found.update(as_list(keys))
    return found


def test_every_function_that_answers_readers_is_told(private: Template) -> None:
    for name in ("site", "rest", "mcp"):
        assert private.environment(private.function(name))["SITE_TIER"] == "member"


def test_site_and_rest_know_who_is_behind_a_session(private: Template) -> None:
    for name in ("site", "rest"):
        assert set(NEW) <= private.environment(private.function(name)).keys()
    for role in ("Site", "Rest"):
        assert {"session#*", "provider#*", "roles#*"} <= partitions(private, role)


def test_a_laptop_for_members_tells_its_functions_the_same(synthesized: Any) -> None:
    template = synthesized(**CONTEXT, siteTier="member")
    assert told_functions(json.loads(normalised(for_members()))) == told_functions(
        json.loads(normalised(template.body))
    )


def test_nobody_opens_or_ends_a_session_but_who_did_before(private: Template) -> None:
    writing = {"dynamodb:PutItem", "dynamodb:DeleteItem", "dynamodb:UpdateItem"}
    for role in ("Site", "Rest"):
        for each in private.statements(role):
            keys = each.get("Condition", {}).get("ForAllValues:StringLike", {}).get("dynamodb:LeadingKeys", [])
            if {"session#*", "provider#*"} & set(as_list(keys)):
                assert not writing & set(as_list(each["Action"]))


def test_a_public_site_knows_nobody(synthesized: Any) -> None:
    public = synthesized(engine="embedded")
    told = public.environment(public.function("site"))
    assert told["SITE_TIER"] == "public"
    assert not set(NEW) & told.keys()
    assert not {"session#*", "roles#*"} & partitions(public, "Site")


def test_the_distribution_keeps_nothing_but_what_clients_discover(private: Template) -> None:
    kept = {path for path, each in behaviors(second(private)).items() if each["CachePolicyId"] != CACHING_DISABLED}
    assert kept == {"/.well-known/*"}


def test_the_template_is_valid(private: Template) -> None:
    assert lint_findings(json.dumps(private.body)) == []


@pytest.mark.parametrize("tier", ["everybody", "members"])
def test_a_tier_that_is_none_is_refused(tier: str) -> None:
    with pytest.raises(ConfigurationError, match="siteTier is one of: public, member, vibecoder"):
        from_context({"siteTier": tier})
