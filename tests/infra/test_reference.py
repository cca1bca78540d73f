"""What functions are told of the catalogues, and what each may do with them: nothing where there is none."""

from typing import Any

import pytest

from commonplace.capabilities import served_toolsets
from commonplace.reference.library import REFERENCE_PREFIX
from commonplace.reference.settings import CatalogueSource, catalogue_sources
from commonplace.search.store import DynamoNote
from tests.infra.templates import Template, as_list, reaches

ROLES = ("Webhook", "SyncRun", "SyncStore", "IndexRole", "Migration", "Rest", "Mcp", "AuthRole", "Signing")
TOLD = ("webhook", "sync-run", "sync-store", "index", "index-build", "mcp")
TAKE_TOKENS = ("rest", "mcp", "auth")
SOURCES = (
    CatalogueSource("helios", "example/knowledge-base", "main", "reference"),
    CatalogueSource("api", "example/api", "main", ""),
)


def objects(template: Template) -> dict[str, set[str]]:
    """Role -> what it may do with objects of catalogues."""
    found: dict[str, set[str]] = {}
    for role in ROLES:
        for each in template.statements(role):
            if reaches(each, REFERENCE_PREFIX):
                found.setdefault(role, set()).update(as_list(each["Action"]))
    return found


def items(template: Template, table: str, ending: str) -> dict[str, dict[str, set[str]]]:
    """Role -> partition of the reference -> what it may do with items in it."""
    found: dict[str, dict[str, set[str]]] = {}
    for role in ROLES:
        for each in template.statements(role):
            if table not in str(each["Resource"]):
                continue
            keys = each.get("Condition", {}).get("ForAllValues:StringLike", {}).get("dynamodb:LeadingKeys", [])
            for key in as_list(keys):
                if ending in key:
                    actions = {action.removeprefix("dynamodb:") for action in as_list(each["Action"])}
                    found.setdefault(role, {}).setdefault(key, set()).update(actions)
    return found


@pytest.mark.parametrize("name", TOLD)
def test_a_function_that_works_on_catalogues_is_told_which_there_are(referenced: Template, name: str) -> None:
    assert catalogue_sources(referenced.environment(referenced.function(name))) == SOURCES


def test_nobody_else_is_told_and_by_default_nobody_is(referenced: Template, template: Template) -> None:
    def told(of: Template) -> set[str]:
        return {
            each["FunctionName"].removeprefix("commonplace-dev-")
            for each in of.properties("AWS::Lambda::Function")
            if "CATALOGUES" in each.get("Environment", {}).get("Variables", {})
        }

    assert (told(referenced), told(template)) == ({*TOLD, *TAKE_TOKENS}, set())
    assert referenced.body["Outputs"]["Catalogues"]["Value"].startswith('[{"name":"helios"')
    assert "Catalogues" not in template.body["Outputs"]


@pytest.mark.parametrize("name", TAKE_TOKENS)
def test_tokens_are_for_the_reference_where_there_is_one(referenced: Template, template: Template, name: str) -> None:
    def toolsets(of: Template) -> tuple[str, ...]:
        return served_toolsets(of.environment(of.function(name)))

    assert (toolsets(referenced), toolsets(template)) == (
        ("knowledge", "memory", "reference", "hive", "governance"),
        ("knowledge", "memory", "hive"),
    )


def test_catalogues_are_written_by_runs_and_read_by_the_index_and_by_agents(
    referenced: Template, template: Template
) -> None:
    reading = {"s3:GetObject", "s3:ListBucket"}
    assert objects(referenced) == {
        "SyncRun": reading | {"s3:PutObject", "s3:DeleteObject"},
        "IndexRole": reading,
        "Migration": reading,
        "Mcp": reading,
    }
    assert objects(template) == {}


def test_each_catalogue_has_run_state_of_its_own(referenced: Template, template: Template) -> None:
    state = {"GetItem", "UpdateItem"}
    keys = [f"sync#reference#{source.name}" for source in SOURCES]
    assert items(referenced, "StateActivity", "sync#reference") == {
        "Webhook": {key: state | {"PutItem"} for key in keys},
        "SyncRun": dict.fromkeys(keys, state),
    }
    assert items(template, "StateActivity", "sync#reference") == {}


def test_gaps_are_counted_and_listed_by_the_function_that_answers_agents(
    referenced: Template, template: Template
) -> None:
    assert items(referenced, "StateRecords", "reference") == {"Mcp": {"*#reference#gaps": {"UpdateItem", "Query"}}}
    assert items(template, "StateRecords", "reference") == {}


def test_that_entries_wait_is_noted_by_who_indexes_them(referenced: Template, template: Template) -> None:
    note = {"index#reference": {"PutItem"}}
    assert items(referenced, "StateActivity", "index#reference") == {
        "IndexRole": {"index#reference": {"PutItem", "GetItem", "DeleteItem"}},
        "Migration": note,
    }
    assert items(template, "StateActivity", "index#reference") == {}
    assert DynamoNote(None, "activity", "reference")._key["pk"] == "index#reference"  # type: ignore[arg-type]


def test_a_refused_catalogue_is_an_alarm(referenced: Template, template: Template) -> None:
    def found(of: Template) -> list[dict[str, Any]]:
        return [
            alarm
            for alarm in of.properties("AWS::CloudWatch::Alarm")
            if alarm["AlarmName"] == "commonplace-dev-catalogue-refused"
        ]

    (alarm,) = found(referenced)
    assert (alarm["Namespace"], alarm["MetricName"]) == ("Commonplace/dev", "CataloguesRefused")
    assert "Dimensions" not in alarm
    assert alarm["Threshold"] == 1
    assert found(template) == []
