"""Documents of Swagger 2.0: read as those of OpenAPI 3."""

import json
from typing import Any

import pytest

from commonplace.reference.source import bounds
from commonplace.reference.source.reader import read_catalogue
from commonplace_generators import catalogue_file
from tests.unit.generators.openapi_documents import entry, lines, made, told

DEFINITIONS = {
    "Visit": {
        "type": "object",
        "required": ["pool"],
        "properties": {"pool": {"type": "string", "description": "Which one."}, "low": {"type": "boolean"}},
    }
}


def swagger(operation: Any, *, method: str = "post", path: str = "/visits", **more: Any) -> dict[str, Any]:
    answers = {"200": {"description": "Fine", "schema": {"$ref": "#/definitions/Visit"}}}
    paths = {path: {method: {"responses": answers, **operation}}}
    return {"swagger": "2.0", "info": {"title": "Tides"}, "paths": paths, "definitions": DEFINITIONS, **more}


def test_host_and_base_path_are_the_server_and_https_goes_first() -> None:
    found = entry(swagger({}, host="tides.example", basePath="/v2", schemes=["http", "https"]))
    assert found.path_template == "/v2/visits"
    assert "https://tides.example/v2/visits" in found.examples[0].code


def test_a_body_and_a_shared_one_become_fields() -> None:
    body = {"name": "visit", "in": "body", "required": True, "schema": {"$ref": "#/definitions/Visit"}}
    for document in (
        swagger({"parameters": [body]}),
        swagger({"parameters": [{"$ref": "#/parameters/Visit"}]}, parameters={"Visit": body}),
    ):
        assert lines(document) == ["- `pool` string (body, required): Which one.", "- `low` boolean (body)"]
        assert told(document) == []


def test_fields_of_a_form_become_a_body_and_a_file_makes_it_one_of_several_parts() -> None:
    fields = [
        {"name": "note", "in": "formData", "type": "string", "description": "A word."},
        {"name": "chart", "in": "formData", "type": "file", "required": True},
    ]
    assert lines(swagger({"parameters": fields})) == [
        "- `chart` string (binary) (body, required)",
        "- `note` string (body): A word.",
    ]


def test_types_and_bounds_of_parameters_are_those_of_their_values_wherever_they_are_declared() -> None:
    kinds = {"name": "kind", "in": "query", "type": "array", "items": {"type": "string", "enum": ["low", "high"]}}
    document = swagger({"parameters": [kinds]}, method="get", path="/visits/{id}")
    shared = {"name": "id", "in": "path", "required": True, "type": "integer", "minimum": 1}
    document["paths"]["/visits/{id}"]["parameters"] = [shared]
    assert lines(document)[0] == "- `id` integer (path, required): (≥ 1)"
    assert "`kind` array of string" in lines(document)[1]


def test_kinds_of_credentials_are_told() -> None:
    schemes = {
        "user": {"type": "basic"},
        "key": {"type": "apiKey", "in": "header", "name": "X-Tide"},
        "grant": {"type": "oauth2", "flow": "accessCode", "scopes": {"read": "Reads"}},
    }
    said = {
        name: entry(swagger({"security": [{name: []}]}, securityDefinitions=schemes)).authentication for name in schemes
    }
    assert said["user"] == "User name and password (HTTP Basic) in the header `Authorization`."
    assert said["key"] == "An API key in the header `X-Tide`."
    assert "(authorization code)" in (said["grant"] or "")


def test_what_is_answered_is_described() -> None:
    shared = swagger({"responses": {"200": {"$ref": "#/responses/Fine"}}})
    shared["responses"] = {"Fine": {"description": "Fine", "schema": {"$ref": "#/definitions/Visit"}}}
    for document in (swagger({}), shared):
        assert "Fields: `pool` string, `low` boolean" in entry(document).content


def test_what_is_malformed_is_told_and_breaks_nothing() -> None:
    assert told(swagger({"parameters": "many"})) != []
    assert entry(swagger({"parameters": [3, {"in": "body"}]}, securityDefinitions={"x": 3})).method == "POST"


def _several() -> dict[str, Any]:
    schema = {"type": "object", "properties": {f"field{number}": {"type": "string"} for number in range(8)}}
    body = {"name": "visit", "in": "body", "required": True, "schema": schema}
    document = swagger({"parameters": [body]})
    for path in ("/pools/{id}", "/counts"):
        document["paths"][path] = {"put": {"parameters": [body], "responses": {}}}
    return document


def test_a_body_that_several_calls_take_is_stored_once_and_read_for_each() -> None:
    found = catalogue_file.dated(made(_several()).entries, None, "2026-01-01T00:00:00Z")
    raw = catalogue_file.written(found)
    assert raw.count(b'"field7"') < 3 * 2
    assert len(json.loads(raw)["schemas"]) == 1
    reading = read_catalogue({"api.json": raw}, "tides")
    assert not reading.errors
    assert {one.entry.id: one.entry.parameters for one in reading.entries} == {one.id: one.parameters for one in found}
    assert not catalogue_file.stale(found, raw)
    assert catalogue_file.changes(found, raw) == (0, 0, 0)


def test_schemas_that_grow_beyond_bounds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = catalogue_file.written(catalogue_file.dated(made(_several()).entries, None, "2026-01-01T00:00:00Z"))
    monkeypatch.setattr(bounds, "MAX_VALUES", 20)
    assert "too-large" in [one.code for one in read_catalogue({"api.json": raw}, "tides").errors]


def test_a_schema_that_is_not_there_is_an_error() -> None:
    raw = json.loads(catalogue_file.written(catalogue_file.dated(made(_several()).entries, None, "2026-01-01")))
    raw["schemas"] = {}
    assert read_catalogue({"api.json": json.dumps(raw).encode()}, "tides").errors
