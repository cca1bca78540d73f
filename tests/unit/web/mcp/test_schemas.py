"""Schemas of tools: complete for a validator, and without what a model pays for in vain."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from pydantic import BaseModel, Field

from commonplace.web.mcp.declaration import NoArguments, Part
from commonplace.web.mcp.lists import compact_schema, input_schema, output_schema
from tests.fakes.toolsets import Asked, Found, said, tides, tool

SEARCH = tides().tools[0]
KINDS = ["pattern", "practice", "tide-table"]


class Tree(Part):
    """A tree."""

    title: str
    branches: list["Tree"] = Field(default_factory=list)


class Big(Part):
    one: str = Field(description="A long description of this field, so that it is worth a name of its own.")
    two: str = Field(description="Another long description of that field, so that it is worth a name of its own.")


class Twice(BaseModel):
    left: Big
    right: Big
    maybe: Big | None = None


def test_a_schema_says_what_a_call_may_hold_and_no_more() -> None:
    assert input_schema(SEARCH) == {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "query": {"description": "What to look for.", "maxLength": 200, "minLength": 1, "type": "string"},
            "limit": {"default": 3, "maximum": 20, "minimum": 1, "type": "integer"},
            "filters": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "contentType": {
                        "items": {"enum": ["pattern", "practice", "tide-table"], "type": "string"},
                        "type": "array",
                    },
                    "groups": {"items": {"type": "string"}, "type": "array"},
                    "since": {"type": "string"},
                },
            },
            "whole": {"default": False, "type": "boolean"},
        },
        "required": ["query"],
    }


def test_a_field_called_title_is_not_taken_for_a_title() -> None:
    schema = output_schema(SEARCH)
    assert schema is not None
    assert schema["$defs"]["Hit"]["properties"]["title"] == {"type": "string"}


@pytest.mark.parametrize("model", [Asked, Found, Tree, Twice])
def test_a_compact_schema_is_a_schema_that_refers_to_itself_at_most(model: type[BaseModel]) -> None:
    schema = compact_schema(model.model_json_schema(by_alias=True))
    Draft202012Validator.check_schema(schema)
    assert all(one.startswith("#/") for one in references(schema))
    assert all(one.rpartition("/")[2] in schema["$defs"] for one in references(schema))


def test_what_is_used_once_stands_in_place_and_what_is_long_and_used_often_has_a_name() -> None:
    assert "$defs" not in compact_schema(Asked.model_json_schema(by_alias=True))
    twice = compact_schema(Twice.model_json_schema())
    assert list(twice["$defs"]) == ["Big"]
    assert len(references(twice)) == 3
    assert list(compact_schema(Tree.model_json_schema())["$defs"]) == ["Tree"]


@pytest.mark.parametrize(
    ("data", "valid"),
    [
        ({"hits": [{"id": "a"}]}, True),
        ({"hits": [{"id": "a", "title": "b"}], "best": {"id": "a"}, "notes": ["x"]}, True),
        ({"hits": [{"title": "b"}]}, False),
        ({"hits": "none"}, False),
        ({}, False),
    ],
)
def test_the_compact_schema_accepts_what_the_model_writes(data: dict[str, Any], valid: bool) -> None:
    schema = output_schema(SEARCH)
    assert schema is not None
    assert Draft202012Validator(schema).is_valid(data) is valid


def test_a_tool_without_arguments_takes_none() -> None:
    assert input_schema(tool(said("x"), "ping", arguments=NoArguments)) == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }


def test_a_schema_of_its_own_stands_in_place_of_the_models() -> None:
    given = {"type": "object", "properties": {"x": {"type": "integer"}}, "additionalProperties": True}
    assert input_schema(tool(said("x"), "odd", input_schema=given)) == given


def references(node: Any) -> list[str]:
    if isinstance(node, list):
        return [found for one in node for found in references(one)]
    if not isinstance(node, dict):
        return []
    own = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
    return own + [found for one in node.values() for found in references(one)]
