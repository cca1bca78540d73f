"""References of API documents: local ones are followed, circles are cut, and nothing is ever fetched."""

import socket
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest

from generators.openapi.pointers import Pointers, escaped
from tests.unit.generators.openapi_documents import document, entry, made, operation, told

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
    assert all("is not fetched" in one.what and one.hint for one in found.unread)
    assert "- `400`: No" in found.entries[-1].content
    assert no_connections == []
    assert listener.asked == []


def test_a_report_shows_no_password_of_a_reference() -> None:
    given = {"parameters": [{"$ref": "https://me:hunter2@example.com/x.yaml?token=abc#/a"}]}
    (line,) = told(operation(given))
    assert "`$ref: https://example.com/x.yaml`" in line


def test_a_schema_that_refers_to_itself_ends() -> None:
    node = {"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#/components/schemas/Node"}}}
    body = {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Node"}}}}}
    found = entry(operation(body, method="post", components={"schemas": {"Node": node}}))
    assert "- `next` `Node`, required" in found.content
    assert len(found.content) < 600


@pytest.mark.parametrize(
    "schemas",
    [
        {"A": {"$ref": "#/components/schemas/B"}, "B": {"$ref": "#/components/schemas/A"}},
        {"A": {"$ref": "#/components/schemas/A"}},
    ],
)
def test_references_in_a_circle_are_told(schemas: dict[str, Any]) -> None:
    given = {"parameters": [{"name": "a", "in": "query", "schema": {"$ref": "#/components/schemas/A"}}]}
    lines = told(operation(given, components={"schemas": schemas}))
    assert lines == ["GET /visits: `$ref: #/components/schemas/A` leads in a circle."]


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
    assert "`page` | query | integer" in found.entries[0].content
    assert "- `200`: All is well" in found.entries[0].content
    assert found.unread == ()


@pytest.mark.parametrize("key", ["plain", "with/slash", "with~tilde", "with space", "100%", "ü~1/x", "a~0b", ""])
def test_a_pointer_finds_any_key(key: str) -> None:
    from urllib.parse import quote

    root = {"schemas": {key: {"type": "string"}}}
    pointers = Pointers(root)
    assert pointers.follow({"$ref": f"#/schemas/{quote(escaped(key))}"}).value == {"type": "string"}
    assert pointers.follow({"$ref": f"#/schemas/{quote(escaped(key))}"}).name == key


@pytest.mark.parametrize(
    "ref",
    [
        "#/nowhere",
        "#/list/7",
        "#/list/-1",
        "#/list/01",
        "#/list/99999999999999999999",
        "#anchor",
        "#/text/a",
        "#/a~2b",
        "",
    ],
)
def test_a_pointer_that_leads_nowhere_is_a_problem(ref: str) -> None:
    found = Pointers({"list": [1], "text": "abc"}).follow({"$ref": ref})
    assert found.value is None
    assert found.problem


def test_what_stands_beside_a_reference_goes_before_what_it_leads_to() -> None:
    pointers = Pointers({"a": {"type": "string", "description": "Theirs"}})
    found = pointers.follow({"$ref": "#/a", "description": "Ours", "type": "integer"})
    assert found.value == {"type": "string", "description": "Ours"}


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
    assert "- `ours` string, required\n- `theirs` string" in joined.content
    assert "`ours`" not in alone.content


def test_parts_that_cannot_be_read_are_counted_where_they_are_too_many_to_tell() -> None:
    given = {"parameters": [{"$ref": f"#/nowhere/{n}"} for n in range(50)]}
    lines = told(operation(given))
    assert len(lines) == 21
    assert lines[-1] == "GET /visits: 30 more parts cannot be read."
