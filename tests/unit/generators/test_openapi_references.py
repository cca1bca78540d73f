"""References of API documents: within the document and its folder they are followed; nothing is ever fetched."""

import json
import socket
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import quote

import pytest

from commonplace_generators.openapi.documents import Document, Node, files_of, fingerprint
from commonplace_generators.plan import generate
from tests.unit.generators.openapi_documents import document, entry, fields, made, operation, told

FINE = {"200": {"description": "Fine"}}


class Listener:
    """A server that notices whoever comes."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        asked = self.asked

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                self.send_error(404)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def listener() -> Iterator[Listener]:
    found = Listener()
    thread = Thread(target=found.server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield found
    found.server.shutdown()
    thread.join()
    found.server.server_close()


@pytest.fixture
def no_connections(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    tried: list[object] = []

    def refused(*given: object) -> None:
        tried.append(given)
        raise AssertionError("nothing is fetched")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    return tried


def test_a_reference_to_another_document_is_told_and_never_fetched(
    listener: Listener, no_connections: list[object]
) -> None:
    outside = f"{listener.url}/other.yaml#/Visit"
    paths = {
        "/item": {"$ref": f"{listener.url}/paths.yaml#/item"},
        "/private": {"get": {"parameters": [{"$ref": "http://169.254.169.254/latest/meta-data"}], "responses": FINE}},
        "/schema": {
            "post": {
                "requestBody": {"content": {"application/json": {"schema": {"$ref": outside}}}},
                "responses": {"200": {"$ref": "http://10.0.0.1/responses.yaml"}, "400": {"description": "No"}},
            }
        },
        "/example": {
            "get": {
                "responses": {
                    "200": {
                        "description": "Fine",
                        "content": {
                            "application/json": {"examples": {"a": {"externalValue": f"{listener.url}/a.json"}}}
                        },
                    }
                }
            }
        },
        "/file": {"get": {"parameters": [{"$ref": "file:///etc/passwd"}], "responses": FINE}},
        "/beside": {"get": {"parameters": [{"$ref": "./parameters.yaml#/page"}], "responses": FINE}},
    }
    found = made(document(paths))
    assert [one.called for one in found.entries] == [
        "GET /beside",
        "GET /example",
        "GET /file",
        "GET /private",
        "POST /schema",
    ]
    assert {one.where for one in found.unread} == {"/item", "GET /private", "POST /schema", "GET /file", "GET /beside"}
    assert all("is not fetched" in one.what or "to nothing in its folder" in one.what for one in found.unread)
    assert all(one.hint for one in found.unread)
    assert "- `400`: No" in found.entries[-1].content
    assert no_connections == []
    assert listener.asked == []


def test_a_report_shows_no_password_of_a_reference() -> None:
    given = {"parameters": [{"$ref": "https://me:hunter2@example.com/x.yaml?token=abc#/a"}]}
    (line,) = told(operation(given))
    assert "`$ref: https://example.com/x.yaml`" in line


def test_a_schema_that_refers_to_itself_is_cut_once_and_named() -> None:
    node = {"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#/components/schemas/Node"}}}
    found = fields({"$ref": "#/components/schemas/Node"}, components={"schemas": {"Node": node}})
    assert [one.line for one in found.values()] == ["- `next` `Node` (body, required): (holds `Node` again)"]


@pytest.mark.parametrize(
    "schemas",
    [
        {"A": {"$ref": "#/components/schemas/B"}, "B": {"$ref": "#/components/schemas/A"}},
        {"A": {"$ref": "#/components/schemas/A"}},
    ],
)
def test_references_in_a_circle_are_told(schemas: dict[str, Any]) -> None:
    given = {"parameters": [{"name": "a", "in": "query", "schema": {"$ref": "#/components/schemas/A"}}]}
    found = told(operation(given, components={"schemas": schemas}))
    assert found == ["GET /visits: `$ref: #/components/schemas/A` leads in a circle."]


@pytest.mark.parametrize("form", ["allOf", "oneOf", "anyOf", "items", "additionalProperties"])
def test_a_composition_in_a_circle_ends(form: str) -> None:
    to_a = {"$ref": "#/components/schemas/A"}
    inner: Any = to_a if form in ("items", "additionalProperties") else [to_a, to_a]
    body = {"requestBody": {"content": {"application/json": {"schema": to_a}}}}
    found = entry(operation(body, method="post", components={"schemas": {"A": {form: inner}}}))
    assert len(found.content) < 2_000
    assert all(len(one.code) < 2_000 for one in found.examples)


def test_parameters_responses_bodies_and_paths_may_be_references() -> None:
    components = {
        "parameters": {"Page": {"name": "page", "in": "query", "schema": {"type": "integer"}}},
        "responses": {"Fine": {"description": "All is well"}},
        "requestBodies": {"Visit": {"content": {"application/json": {"schema": {"type": "string"}}}}},
        "pathItems": {
            "Visits": {
                "post": {
                    "parameters": [{"$ref": "#/components/parameters/Page"}],
                    "requestBody": {"$ref": "#/components/requestBodies/Visit"},
                    "responses": {"200": {"$ref": "#/components/responses/Fine"}},
                }
            }
        },
    }
    paths = {"/visits": {"$ref": "#/components/pathItems/Visits"}, "/again": {"$ref": "#/paths/~1visits"}}
    found = made(document(paths, version="3.1.0", components=components))
    assert [one.called for one in found.entries] == ["POST /again", "POST /visits"]
    assert [one.line for one in found.entries[0].parameters or ()] == [
        "- `page` integer (query)",
        "- `body` string (body)",
    ]
    assert "- `200`: All is well" in found.entries[0].content
    assert found.unread == ()


def followed(held: dict[str, Any], ref: str, **beside: Any) -> Node:
    read = Document(json.dumps({**document({}), "x-held": held}).encode(), lambda _: None)
    return read.follow({"$ref": ref, **beside}, read.root.layers[0][1])


@pytest.mark.parametrize("key", ["plain", "with/slash", "with~tilde", "with space", "100%", "ü~1/x", "a~0b", ""])
def test_a_pointer_finds_any_key(key: str) -> None:
    escaped = quote(key.replace("~", "~0").replace("/", "~1"))
    found = followed({key: {"type": "string"}}, f"#/x-held/{escaped}")
    assert found.value == {"type": "string"}
    assert found.name == key


@pytest.mark.parametrize(
    "ref",
    [
        "#/nowhere",
        "#/x-held/list/7",
        "#/x-held/list/9999999999999",
        "#anchor",
        "#/x-held/text/a",
        "#/x-held/a~2b",
        "//[",
    ],
)
def test_a_pointer_that_leads_nowhere_is_a_problem(ref: str) -> None:
    found = followed({"list": [1], "text": "abc"}, ref)
    assert found.value is None
    assert found.document.unread


def test_what_stands_beside_a_reference_goes_before_what_it_leads_to() -> None:
    found = followed({"a": {"type": "string", "description": "Theirs"}}, "#/x-held/a", description="Ours")
    assert (found.text("description"), found.text("type")) == ("Ours", "string")


def test_operations_beside_the_reference_of_a_path_are_there_as_well() -> None:
    shared = {"get": {"summary": "Theirs", "responses": FINE}, "delete": {"responses": FINE}}
    paths = {"/a": {"$ref": "#/components/pathItems/A", "get": {"summary": "Ours", "responses": FINE}}}
    found = made(document(paths, version="3.1.0", components={"pathItems": {"A": shared}})).entries
    assert [(one.called, one.title) for one in found] == [("GET /a", "Ours"), ("DELETE /a", "DELETE /a")]


def test_operations_beside_a_reference_to_another_document_go_on() -> None:
    found = made(document({"/a": {"$ref": "https://10.0.0.1/a", "get": {"responses": FINE}}}))
    assert [one.called for one in found.entries] == ["GET /a"]
    assert [one.where for one in found.unread] == ["/a"]


def test_properties_beside_a_reference_are_joined_with_its_own() -> None:
    base = {"type": "object", "properties": {"theirs": {"type": "string"}}}
    both = {"$ref": "#/components/schemas/Base", "properties": {"ours": {"type": "string"}}, "required": ["ours"]}
    body = {"content": {"application/json": {"schema": both}}}
    paths = {
        "/both": {"post": {"requestBody": body, "responses": FINE}},
        "/base": {
            "post": {
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Base"}}}},
                "responses": FINE,
            }
        },
    }
    alone, joined = made(document(paths, version="3.1.0", components={"schemas": {"Base": base}})).entries
    assert [one.name for one in joined.parameters or ()] == ["ours", "theirs"]
    assert [one.name for one in alone.parameters or ()] == ["theirs"]


def test_parts_that_cannot_be_read_are_counted_where_they_are_too_many_to_tell() -> None:
    given = {"parameters": [{"$ref": f"#/nowhere/{n}"} for n in range(50)]}
    found = told(operation(given))
    assert len(found) == 21
    assert found[-1] == "GET /visits: 30 more parts cannot be read."


MANY: dict[str, Any] = {
    "resources/visits.yml": b"""
parameters: [{$ref: ../parameters.yml#/trace}]
post:
  summary: {$ref: texts/summary.md}
  description:
    $ref: texts/all.yml#/create
  parameters: [{$ref: ../parameters.yml#/page}]
  requestBody: {$ref: "../bodies/visit.json"}
  responses:
    '201': {$ref: responses.yml}
get: {$ref: list.yml}
""",
    "resources/list.yml": b"summary: List visits\nresponses: {'200': {description: Fine}}\n",
    "resources/responses.yml": b"""
description: Recorded
content: {application/json: {schema: {$ref: ../models/visit.yml}}}
""",
    "resources/texts/summary.md": b"Record a visit\n",
    "resources/texts/all.yml": b"create: |\n  Records what was seen.\n\n  At once.\n",
    "parameters.yml": b"page: {name: page, in: query, schema: {type: integer}}\ntrace: {name: trace, in: header}\n",
    "bodies/visit.json": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {"$ref": "../models/visit.yml"},
                "examples": {"one": {"$ref": "../examples/one.json"}},
            }
        },
    },
    "models/visit.yml": b"""
type: object
required: [pool]
properties:
  pool: {type: string}
  seen: {type: array, items: {$ref: 'sighting.yml#/definitions/Sighting'}}
  again: {$ref: visit.yml}
""",
    "models/sighting.yml": b"definitions: {Sighting: {properties: {species: {type: string}}}}",
    "examples/one.json": {"value": {"pool": "North", "seen": []}},
}


def test_a_document_of_many_files_makes_the_same_as_one() -> None:
    found = made(document({"/visits": {"$ref": "resources/visits.yml"}}), MANY)
    assert found.unread == ()
    listing, creating = found.entries
    assert (listing.called, listing.summary) == ("GET /visits", "List visits")
    assert (creating.called, creating.summary) == ("POST /visits", "Record a visit")
    assert creating.content.startswith("Records what was seen.\n\nAt once.")
    assert "- `201` (`visit`): Recorded" in creating.content
    assert [one.line for one in creating.parameters or ()] == [
        "- `page` integer (query)",
        "- `trace` any (header)",
        "- `pool` string (body, required)",
        "- `again` `visit` (body): (holds `visit` again)",
        "- `seen` array of `Sighting` (body)",
        "- `seen[].species` string (body)",
    ]
    assert '{"pool": "North", "seen": []}' in creating.examples[0].code


def test_the_hash_of_a_source_covers_every_file_of_it() -> None:
    for path in sorted(MANY):
        root = document({"/visits": {"$ref": "resources/visits.yml"}})
        other = {**MANY, path: json.dumps({"changed": 1}).encode()}
        hashes = [{one.source_hash for one in made(root, files).entries} for files in (MANY, other)]
        assert hashes[0] != hashes[1]
        held = {name: one if isinstance(one, bytes) else json.dumps(one).encode() for name, one in MANY.items()}
        assert hashes[0] == {fingerprint(json.dumps(root).encode(), held)}


def at(folder: Path, **options: Any) -> list[str]:
    """Errors of the document of a folder."""
    raw = (folder / "openapi.json").read_bytes()
    found = generate("openapi", raw, source="openapi.json", options=options, read=files_of(folder))
    return [f"{one.where}: {one.what}" for one in found.unread if one.severity == "error"]


@pytest.mark.parametrize(
    "ref",
    [
        "../outside.json",
        "/etc/hostname",
        "file:///etc/hostname",
        "..%2foutside.json",
        "link.json",
        ".env",
        "linked/outside.json",
    ],
)
def test_a_file_out_of_the_folder_is_an_error_and_never_read(ref: str, tmp_path: Path) -> None:
    folder = tmp_path / "api"
    folder.mkdir()
    (tmp_path / "outside.json").write_text(json.dumps({"get": {"summary": "Outside", "responses": FINE}}))
    (folder / ".env").write_text(json.dumps({"get": {"summary": "Outside", "responses": FINE}}))
    (folder / "link.json").symlink_to(tmp_path / "outside.json")
    (folder / "linked").symlink_to(tmp_path)
    (folder / "openapi.json").write_text(json.dumps(document({"/a": {"$ref": ref}})))
    (problem,) = at(folder)
    assert problem.startswith("/a: `$ref: ")
    assert "folder" in problem


def test_files_of_another_folder_are_read_where_both_lie_in_the_one_that_may_be_read(tmp_path: Path) -> None:
    (tmp_path / "api").mkdir()
    (tmp_path / "shared.json").write_text(json.dumps({"get": {"summary": "Shared", "responses": FINE}}))
    raw = json.dumps(document({"/a": {"$ref": "../shared.json"}})).encode()
    found = generate("openapi", raw, source="x", options={}, read=files_of(tmp_path / "api", tmp_path))
    assert [one.summary for one in found.entries] == ["Shared"]


@pytest.mark.parametrize(
    ("item", "what"),
    [
        ({"get": {"$ref": "gone.yml"}}, "leads to nothing in its folder"),
        ({"get": {"$ref": "#/nowhere"}}, "has no target in the document"),
        ({"get": {}}, "Nothing but its name is known"),
        ({}, "The path has no method"),
        ({"$ref": "gone.yml"}, "leads to nothing in its folder"),
        ({"$ref": "broken.yml"}, "leads to nothing in its folder"),
        ({"get": {"parameters": [{"$ref": "gone.yml"}], "responses": FINE}}, "leads to nothing in its folder"),
        ({"post": {"requestBody": {"$ref": "gone.yml"}, "responses": FINE}}, "leads to nothing in its folder"),
    ],
)
def test_an_operation_that_comes_out_empty_is_an_error_with_a_reason(item: dict[str, Any], what: str) -> None:
    found = made(document({"/a": item}), {"broken.yml": b"a: ["})
    errors = [one for one in found.unread if one.severity == "error"]
    assert what in errors[0].what
    assert errors[0].hint or what == "has no target in the document"


def test_what_is_missing_of_an_answer_is_no_error() -> None:
    found = made(operation({"responses": {"200": {"$ref": "gone.yml"}}, "summary": "Look"}))
    assert [one.severity for one in found.unread] == ["warning"]
    assert [one.called for one in found.entries] == ["GET /visits"]


def test_a_file_that_cannot_be_read_is_told_with_its_name() -> None:
    found = made(document({"/a": {"$ref": "a.yml"}}), {"a.yml": b"get: ["})
    assert ("a.yml", "warning") in {(one.where, one.severity) for one in found.unread}
