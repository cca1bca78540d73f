"""Every field of a request is kept, on a line each: nested ones, those of alternatives and media types, maps."""

from typing import Any

import pytest

from commonplace_generators.openapi import fields as module
from tests.unit.generators.openapi_documents import document, entry, fields, lines, made, operation, parameters

TEXT = {"type": "string"}


def shown(schema: Any, **more: Any) -> list[str]:
    return [one.line for one in fields(schema, **more).values()]


def thing(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": properties}


def test_nested_fields_have_lines_of_their_own_and_say_where_they_are_required() -> None:
    address = thing("city", city=TEXT, street=TEXT)
    items = {"type": "array", "items": thing("sku", sku=TEXT)}
    assert shown(thing("items", address=address, items=items)) == [
        "- `items` array of object (body, required)",
        "- `items[].sku` string (body, required)",
        "- `address` object (body)",
        "- `address.city` string (body): (required in `address`)",
        "- `address.street` string (body)",
    ]


def test_fields_of_a_body_that_may_be_left_out_are_required_in_the_body() -> None:
    body = {"content": {"application/json": {"schema": thing("pool", pool=TEXT)}}}
    assert lines(operation({"requestBody": body}, method="post")) == ["- `pool` string (body): (required in the body)"]


def test_maps_and_lists_of_lists_are_named() -> None:
    schema = thing(
        labels={"type": "object", "additionalProperties": TEXT},
        pools={"additionalProperties": thing("depth", depth={"type": "integer"})},
        grid={"type": "array", "items": {"type": "array", "items": thing(x=TEXT)}},
        free={"type": "object", "additionalProperties": True},
    )
    found = fields(schema)
    assert {name: one.type for name, one in found.items()} == {
        "free": "object",
        "grid": "array of array of object",
        "grid[][].x": "string",
        "labels": "map of string",
        "pools": "map of object",
        "pools.*.depth": "integer",
    }
    assert found["pools.*.depth"].description == "(required in `pools.*`)"


def test_a_body_that_is_a_list_or_a_map_has_fields_as_well() -> None:
    assert list(fields({"type": "array", "items": thing(sku=TEXT)})) == ["body", "[].sku"]
    assert list(fields({"additionalProperties": thing(sku=TEXT)})) == ["body", "*.sku"]


def test_what_is_only_read_is_no_part_of_a_request_however_it_says_so() -> None:
    hidden = {
        "id": {**TEXT, "readOnly": True},
        "at": {"allOf": [{"$ref": "#/components/schemas/At"}, {"readOnly": True}]},
    }
    schema = thing("id", "at", "name", name=TEXT, secret={**TEXT, "writeOnly": True}, **hidden)
    assert list(fields(schema, components={"schemas": {"At": TEXT}})) == ["name", "secret"]


@pytest.mark.parametrize("form", ["oneOf", "anyOf"])
def test_fields_of_alternatives_say_to_which_they_belong(form: str) -> None:
    components = {
        "schemas": {
            "Crab": thing("kind", "claws", kind={"const": "crab"}, claws={"type": "integer"}),
            "Fish": thing("kind", kind={"const": "fish"}, fins={"type": "integer"}),
        }
    }
    schema = {**thing("pool", pool=TEXT), form: [{"$ref": f"#/components/schemas/{one}"} for one in ("Crab", "Fish")]}
    assert shown(schema, components=components) == [
        "- `kind` string (body, required): (one of `crab`, `fish`)",
        "- `pool` string (body, required)",
        "- `claws` integer (body): (only with `Crab`, required there)",
        "- `fins` integer (body): (only with `Fish`)",
    ]


def test_alternatives_without_a_name_are_called_by_title_constant_type_or_number() -> None:
    titled = {"title": "By hand", **thing(a=TEXT)}
    constant = thing(kind={"enum": ["net"]}, b=TEXT)
    schema = {"oneOf": [titled, constant, thing(c=TEXT), {"type": "string"}]}
    found = fields(thing(how=schema))
    assert {name: one.description for name, one in found.items() if name != "how"} == {
        "how.a": "(only with `By hand`)",
        "how.b": "(only with `kind`: `net`)",
        "how.c": "(only with variant 3)",
        "how.kind": "(only with `kind`: `net`; always `net`)",
    }
    assert list(fields(thing(how={"anyOf": [TEXT, thing(c=TEXT)]}))["how.c"].description.split("\n")) == [
        "(only with object)"
    ]


def test_fields_of_a_list_in_one_alternative_are_there() -> None:
    schema = thing(labels={"oneOf": [TEXT, {"type": "array", "items": thing("name", name=TEXT)}]})
    assert shown(schema) == [
        "- `labels` string or array of object (body)",
        "- `labels[].name` string (body): (required in `labels[]`)",
    ]


def test_that_one_of_several_fields_is_needed_is_said() -> None:
    schema = {**thing(name=TEXT, names=TEXT), "anyOf": [{"required": ["name"]}, {"required": ["names"]}]}
    assert shown(schema) == [
        "- `name` string (body): (required unless `names`)",
        "- `names` string (body): (required unless `name`)",
    ]


def test_what_is_required_and_nowhere_described_is_not_made_up() -> None:
    assert list(fields(thing("pool", "ghost", pool=TEXT))) == ["pool"]


def test_every_media_type_is_told_with_the_fields_that_it_alone_has() -> None:
    content = {
        "application/json": {"schema": thing("url", url=TEXT, name=TEXT)},
        "multipart/form-data": {"schema": thing("file", file={**TEXT, "format": "binary"}, name=TEXT)},
        "text/plain": {"schema": TEXT},
    }
    found = lines(operation({"requestBody": {"required": True, "content": content}}, method="post"))
    assert found == [
        "- `body` object or string (body, required)",
        "- `file` string (binary) (body): (only with `multipart/form-data`, required there)",
        "- `name` string (body): (only with `application/json` or `multipart/form-data`)",
        "- `url` string (body): (only with `application/json`, required there)",
    ]


def test_media_types_with_one_schema_are_told_once() -> None:
    schema = {"$ref": "#/components/schemas/Visit"}
    content = {name: {"schema": schema} for name in ("application/json", "application/x-www-form-urlencoded")}
    given = operation(
        {"requestBody": {"content": content}}, method="post", components={"schemas": {"Visit": thing(pool=TEXT)}}
    )
    assert lines(given) == ["- `pool` string (body)"]


def test_one_property_in_several_parts_of_a_schema_has_the_fields_of_all() -> None:
    schema = {"allOf": [thing(size=thing(width=TEXT)), thing("size", size=thing("depth", depth=TEXT))]}
    assert shown(schema) == [
        "- `size` object (body, required)",
        "- `size.depth` string (body, required)",
        "- `size.width` string (body)",
    ]


def test_values_bounds_and_defaults_are_in_the_description() -> None:
    schema = thing(
        a={"type": "string", "enum": ["x", "y"], "default": "x", "description": "Which."},
        b={"type": "array", "minItems": 1, "items": {"enum": [1, 2]}},
        c={"type": "string", "format": "date", "pattern": "^2", "maxLength": 10, "deprecated": True},
    )
    assert shown(schema) == [
        "- `a` string (body): Which. (one of `x`, `y`; default `x`)",
        "- `b` array of integer (body): (items: one of `1`, `2`; at least 1 items)",
        "- `c` string (date) (body): (at most 10 characters; pattern `^2`; deprecated)",
    ]


def test_a_query_parameter_that_is_an_object_has_its_fields_as_they_are_sent() -> None:
    given = [
        {"name": "filter", "in": "query", "style": "deepObject", "schema": thing(pool=TEXT, at=thing(hour=TEXT))},
        {"name": "sort", "in": "query", "schema": thing(by=TEXT)},
    ]
    found = [one.name for one in entry(operation({"parameters": given})).parameters or ()]
    assert found == ["filter", "filter[at]", "filter[at][hour]", "filter[pool]", "sort", "by"]


def test_a_parameter_that_the_path_alone_names_is_there() -> None:
    found = lines(operation({"summary": "Look"}, path="/pools/{pool}"))
    assert found == ["- `pool` any (path, required)"]


def test_a_query_that_is_part_of_the_path_makes_an_operation_of_its_own() -> None:
    fine = {"summary": "Look", "responses": {"200": {"description": "Fine"}}}
    found = made(document({"/pools": {"get": fine}, "/pools?beta=true": {"get": fine}}))
    assert [one.called for one in found.entries] == ["GET /pools", "GET /pools?beta=true"]
    assert [one.line for one in found.entries[1].parameters or ()] == [
        "- `beta` any (query, required): (always `true`)"
    ]
    assert "'https://<host>/pools?beta=true'" in found.entries[1].examples[0].code
    assert found.unread == ()


def test_more_fields_than_there_may_be_are_counted_where_they_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_FIELDS", 5)
    found = fields(thing(a=thing(b=TEXT, c=TEXT), e=thing(f=TEXT)))
    assert list(found) == ["a", "a.b", "a.c", "e"]
    assert found["e"].description == "(fields within it are not listed: they are too many)"
    found = fields(thing(a=thing(b=TEXT, c=TEXT, d=TEXT), g=TEXT))
    assert list(found) == ["a", "a.b", "a.c", "g"]
    assert found["a"].description == "(1 more fields within it are not listed)"


def test_parameters_are_required_first_and_of_the_place_where_they_go() -> None:
    given = [
        {"name": "b", "in": "query", "schema": TEXT},
        {"name": "a", "in": "query", "required": True, "schema": TEXT},
        {"name": "X-Trace", "in": "header", "schema": TEXT},
        {"name": "Accept", "in": "header", "schema": TEXT},
        {"name": "session", "in": "cookie", "schema": TEXT},
        {"name": "all", "in": "querystring", "content": {"application/json": {"schema": TEXT}}},
    ]
    found = parameters(operation({"parameters": given}, version="3.2.0"))
    assert [(one.name, one.place, one.required) for one in found.values()] == [
        ("a", "query", True),
        ("all", "query", False),
        ("b", "query", False),
        ("X-Trace", "header", False),
        ("session", "cookie", False),
    ]
