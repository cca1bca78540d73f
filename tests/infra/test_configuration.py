import json
from dataclasses import fields
from typing import Any

import pytest

from infra.configuration import _READERS, Configuration, ConfigurationError, from_context
from infra.requirements import ROOT

PROD = {"stage": "prod", "repository": "example/knowledge-base", "branch": "main"}


def test_nothing_needs_to_be_configured_to_try_it() -> None:
    assert from_context({}) == Configuration()


def test_the_context_that_is_committed_is_valid() -> None:
    assert from_context(json.loads((ROOT / "cdk.json").read_text())["context"]).stage == "dev"


def test_keys_of_cdk_itself_are_left_alone() -> None:
    flags = {"@aws-cdk/core:explicitStackTags": True, "aws:cdk:bundling-stacks": [], "availability-zones:account=1": []}
    assert from_context(flags) == Configuration()


def test_an_unknown_key_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match=r"unknown context brnach; known are .*branch.*repository"):
        from_context({"brnach": "main"})


def test_every_field_can_be_configured_and_nothing_else() -> None:
    camel = {
        "".join(word.capitalize() if n else word for n, word in enumerate(f.name.split("_")))
        for f in fields(Configuration)
    }
    assert camel == set(_READERS)


def test_numbers_may_come_as_text_from_the_command_line() -> None:
    assert from_context({"reconcileMinutes": "15"}).reconcile_minutes == 15


def test_patterns_may_come_as_text_from_the_command_line() -> None:
    assert from_context({"exclude": '["drafts/", "tools/"]'}).exclude == ("drafts/", "tools/")


def test_an_empty_value_means_the_default() -> None:
    assert from_context({"alarmEmail": "", "domain": None}) == Configuration()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("stage", "Dev"),
        ("stage", "a-name-that-is-too-long"),
        ("repository", "no-owner"),
        ("repository", "owner/.."),
        ("branch", "two words"),
        ("branch", "a..b"),
        ("domain", "https://example.org"),
        ("certificateArn", "arn:aws:iam::123456789012:role/x"),
        ("engine", "opensearch"),
        ("embeddingProvider", "bedrock"),
        ("removalPolicy", "snapshot"),
        ("region", "Frankfurt"),
        ("account", "12345"),
        (
            "siteName",
            """ line
break """,
        ),
        ("githubApiUrl", "http://github.example.org"),
        ("githubApiUrl", "https://github.example.org/api/"),
        ("alarmEmail", "nobody"),
        ("logRetentionDays", 31),
        ("reconcileMinutes", "4"),
        ("reconcileMinutes", "1441"),
        ("reconcileMinutes", True),
        ("indexReconcileHours", 0),
        ("rateLimitReads", "-1"),
        ("rateLimitSearches", "many"),
        ("throttleRate", 0),
        ("throttleBurst", 5001),
        ("exclude", "drafts/"),
        ("exclude", '["drafts/", 3]'),
    ],
)
def test_a_value_out_of_bounds_is_refused_by_name(key: str, value: Any) -> None:
    with pytest.raises(ConfigurationError, match=key):
        from_context({key: value})


def test_prod_says_what_it_serves() -> None:
    committed: dict[str, object] = json.loads((ROOT / "cdk.json").read_text())["context"]
    nothing: dict[str, object] = {}
    for context in (nothing, committed):
        with pytest.raises(ConfigurationError, match="stage prod needs repository and branch"):
            from_context({**context, "stage": "prod"})


def test_prod_keeps_its_data_unless_told_and_cannot_be_told() -> None:
    assert from_context(PROD).retains
    with pytest.raises(ConfigurationError, match="can only be retain"):
        from_context({**PROD, "removalPolicy": "destroy"})


def test_other_stages_may_keep_their_data_too() -> None:
    assert not from_context({"stage": "dev"}).retains
    assert from_context({"stage": "staging", "removalPolicy": "retain"}).retains


def test_a_domain_and_its_certificate_come_together() -> None:
    arn = "arn:aws:acm:eu-central-1:123456789012:certificate/00000000-0000-0000-0000-000000000000"
    with pytest.raises(ConfigurationError, match="certificateArn"):
        from_context({"domain": "knowledge.example.org"})
    with pytest.raises(ConfigurationError, match="domain"):
        from_context({"certificateArn": arn})
    configured = from_context({"domain": "knowledge.example.org", "certificateArn": arn})
    assert configured.base_url == "https://knowledge.example.org"
