"""The hive's part of the OpenAPI document: a committed contract, complete, and true to what is answered."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import positive_data_acceptance
from schemathesis.specs.openapi.checks import ignored_auth

from tests.examples import examples
from tests.unit.hive.rest.desks import HIVE, LOCKS, Desk

SNAPSHOT = Path(__file__).with_name("openapi.json")
UPDATE = "UPDATE_SNAPSHOTS"
"""Set this variable to 1 to accept what the application says now."""

DESK = Desk()
REVIEWER = DESK.reviewer()
PENDING = REVIEWER.add("Sort the ids before you lock the rows they name.")
ITEM = REVIEWER.add(LOCKS)
REVIEWER.told("POST", f"/pending/{ITEM}/approve", {"public": True})


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    answered: dict[str, Any] = DESK.client.get("/api/v1/openapi.json").json()
    return answered


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if path.startswith(HIVE):
                yield f"{method.upper()} {path}", operation


def test_the_description_is_the_committed_one(document: dict[str, Any]) -> None:
    told = {path: methods for path, methods in document["paths"].items() if path.startswith(HIVE)}
    told = {"paths": told, "schemas": document["components"]["schemas"]}
    if os.environ.get(UPDATE) == "1":
        SNAPSHOT.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    assert json.loads(SNAPSHOT.read_text(encoding="utf-8")) == told, f"run with {UPDATE}=1 to accept the change"


def test_every_operation_is_described_with_its_parameters_and_takes_a_token(document: dict[str, Any]) -> None:
    told = list(operations(document))
    assert len({operation["operationId"] for _, operation in told}) == len(told) == 19
    for name, operation in told:
        assert operation["summary"], name
        assert operation["description"], name
        assert operation["security"] == [{"accessToken": []}], name
        assert all(one["description"] for one in operation.get("parameters", ())), name


def test_every_example_matches_its_schema(document: dict[str, Any]) -> None:
    checked = 0
    for name, operation in operations(document):
        shown = [
            (content, content["example"])
            for answer in operation["responses"].values()
            for content in answer["content"].values()
        ]
        for content in operation.get("requestBody", {}).get("content", {}).values():
            schema = document["components"]["schemas"][content["schema"]["$ref"].rpartition("/")[2]]
            given = content.get("examples") or content["schema"].get("examples") or schema.get("examples")
            assert given or "example" in content, name
        for content, example in shown:
            schema = {**content["schema"], "components": document["components"]}
            errors = [error.message for error in jsonschema_rs.validator_for(schema).iter_errors(example)]
            assert errors == [], name
            checked += 1
    assert checked > 120


schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", DESK.app()).include(path_regex=f"^{HIVE}")


@schema.parametrize()
@settings(max_examples=examples(8, soak=150), deadline=None, suppress_health_check=list(HealthCheck))
def test_the_application_keeps_to_its_description(case: schemathesis.Case[Any]) -> None:
    # What a schema cannot say: ids that are somebody's, cursors, text that is more than space, times, RE2. Who may call
    # is tried by tests of its own.
    unsaid = [positive_data_acceptance, ignored_auth]
    case.call_and_validate(headers={"authorization": f"Bearer {REVIEWER.token}"}, excluded_checks=unsaid)
