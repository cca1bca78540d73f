"""Entries out of API documents: what they say, what they are called, and what is told of what cannot be read."""

import json
from typing import Any

import pytest

from commonplace.kernel.errors import InvalidInput, TooLarge
from tests.unit.generators.openapi_documents import document, entry, fields, lines, made, operation, told

VISIT: dict[str, Any] = {
    "type": "object",
    "required": ["pool", "seen"],
    "properties": {
        "pool": {"type": "string", "description": "Name of the pool.", "maxLength": 40},
        "seen": {"type": "array", "items": {"$ref": "#/components/schemas/Sighting"}},
        "id": {"type": "string", "format": "uuid", "readOnly": True},
        "note": {"type": "string", "nullable": True},
    },
}
SIGHTING = {
    "type": "object",
    "required": ["species"],
    "properties": {
        "species": {"type": "string", "enum": ["limpet", "crab"]},
        "count": {"type": "integer", "minimum": 1},
    },
}
TO_VISIT = {"$ref": "#/components/schemas/Visit"}
TIDES = document(
    {
        "/visits": {
            "parameters": [{"name": "trace", "in": "header", "schema": {"type": "string"}}],
            "get": {
                "operationId": "listVisits",
                "summary": "List visits",
                "description": "Lists the visits of a pool. The newest come first.\n\nAt most a hundred.",
                "tags": ["Visits"],
                "parameters": [
                    {
                        "name": "limit",
                        "in": "query",
                        "description": "How many at most.",
                        "schema": {"type": "integer", "default": 20, "minimum": 1, "maximum": 100},
                    },
                    {"name": "pool", "in": "query", "required": True, "schema": {"type": "string"}},
                ],
                "responses": {
                    "200": {
                        "description": "The visits",
                        "content": {
                            "application/json": {
                                "schema": {"type": "array", "items": {"$ref": "#/components/schemas/Visit"}}
                            }
                        },
                    },
                    "default": {"$ref": "#/components/responses/Problem"},
                },
            },
            "post": {
                "operationId": "createVisit",
                "summary": "Record a visit",
                "tags": ["Visits"],
                "security": [{"login": ["visits:write"]}],
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Visit"}}},
                },
                "responses": {"201": {"description": "Recorded"}},
            },
        },
        "/visits/{id}": {
            "get": {"operationId": "getVisit", "tags": ["Visits"], "responses": {"200": {"description": "It"}}},
            "delete": {"deprecated": True, "tags": ["Visits"], "responses": {"204": {"description": "Gone"}}},
        },
    },
    servers=[{"url": "https://tides.example.com/api/v1"}],
    components={
        "schemas": {"Visit": VISIT, "Sighting": SIGHTING},
        "responses": {"Problem": {"description": "What went wrong"}},
        "securitySchemes": {
            "login": {
                "type": "oauth2",
                "flows": {"authorizationCode": {"authorizationUrl": "https://x.example", "scopes": {}}},
            }
        },
    },
)


def test_every_path_and_method_becomes_an_entry_called_by_its_operation() -> None:
    found = {one.id: one.called for one in made(TIDES).entries}
    assert found == {
        "api-list-visits": "GET /api/v1/visits",
        "api-create-visit": "POST /api/v1/visits",
        "api-get-visit": "GET /api/v1/visits/{id}",
        "api-delete-visits-id": "DELETE /api/v1/visits/{id}",
    }


def test_an_entry_says_what_a_caller_needs() -> None:
    first = made(TIDES).entries[0]
    assert (first.title, first.category, first.summary) == (
        "List visits",
        "visits",
        "List visits",
    )
    assert [one.line for one in first.parameters or ()] == [
        "- `pool` string (query, required)",
        "- `limit` integer (query): How many at most. (≥ 1; ≤ 100; default `20`)",
        "- `trace` string (header)",
    ]
    assert first.content.startswith("Lists the visits of a pool. The newest come first.\n\nAt most a hundred.")
    assert "- `200` (array of `Visit`): The visits" in first.content
    assert (
        "  Fields: `pool` string, `seen` array of `Sighting`, `id` string (uuid), `note` string or null"
        in first.content
    )
    assert "- `default`: What went wrong" in first.content
    assert first.aliases == ["listVisits", "GET /visits"]
    assert first.source == "auto-generated:openapi.json"


def test_a_body_is_told_by_its_properties_without_those_that_are_never_sent() -> None:
    assert [one.line for one in made(TIDES).entries[1].parameters or ()] == [
        "- `trace` string (header)",
        "- `pool` string (body, required): Name of the pool. (at most 40 characters)",
        "- `seen` array of `Sighting` (body, required)",
        "- `seen[].species` string (body, required): (one of `limpet`, `crab`)",
        "- `seen[].count` integer (body): (≥ 1)",
        "- `note` string or null (body)",
    ]


def test_authentication_is_told_by_kind_and_scope() -> None:
    assert made(TIDES).entries[1].authentication == (
        "An OAuth 2.0 access token (authorization code) in the header `Authorization`, with scope `visits:write`."
    )


def test_a_call_has_placeholders_where_the_callers_own_values_go() -> None:
    listing, creating, getting, _ = made(TIDES).entries[0], *made(TIDES).entries[1:]
    assert listing.examples[0].code == "curl 'https://tides.example.com/api/v1/visits?pool=<pool>'"
    assert "-H 'Authorization: Bearer <token>'" in creating.examples[0].code
    assert '{"pool": "<pool>", "seen": [{"species": "limpet"}]}' in creating.examples[0].code
    assert "'https://tides.example.com/api/v1/visits/<id>'" in made(TIDES).entries[3].examples[0].code
    assert getting.examples


def test_operations_of_one_resource_know_each_other() -> None:
    related = {one.id: one.related_ids for one in made(TIDES).entries}
    assert related["api-list-visits"] == ["api-create-visit", "api-get-visit", "api-delete-visits-id"]
    assert related["api-get-visit"] == ["api-delete-visits-id", "api-list-visits", "api-create-visit"]


def test_a_deprecated_operation_says_so() -> None:
    gone = made(TIDES).entries[3]
    assert gone.deprecated


def test_a_document_in_yaml_makes_the_same_entries_as_in_json() -> None:
    import yaml

    other = made(yaml.safe_dump(TIDES).encode())
    same = {"source_hash": None}
    assert [one.model_copy(update=same) for one in other.entries] == [
        one.model_copy(update=same) for one in made(TIDES).entries
    ]


def test_operations_with_one_id_get_theirs_from_method_and_path() -> None:
    same = {"operationId": "doIt", "responses": {}}
    found = made(
        document({"/a": {"get": same}, "/b": {"get": same, "post": {"operationId": "other", "responses": {}}}})
    )
    assert [one.id for one in found.entries] == ["api-get-a", "api-get-b", "api-other"]


def test_ids_are_unique_whatever_the_operations_are_called() -> None:
    odd = {f"/{'é' * n}": {"get": {"operationId": "日本語", "responses": {}}} for n in range(1, 5)}
    found = [one.id for one in made(document(odd)).entries]
    assert len(set(found)) == 4
    assert all(one.startswith("api-") for one in found)


@pytest.mark.parametrize(
    ("spelt", "id_"),
    [
        ("getAPIs", "get-apis"),
        ("list_user_ids", "list-user-ids"),
        ("repos/get-content", "repos-get-content"),
        ("OAuth2Token.Get", "oauth2-token-get"),
        ("HTTPServer", "http-server"),
    ],
)
def test_an_id_is_readable(spelt: str, id_: str) -> None:
    found = entry(operation({"operationId": spelt})).id
    assert found.replace("o-auth2", "oauth2") == f"api-{id_}"


def test_options_choose_category_module_prefix_path_and_server() -> None:
    found = made(
        TIDES,
        category="api",
        module="tides",
        id_prefix="tide",
        base_path="",
        server="https://other.example",
        keywords=["sea"],
    ).entries[0]
    assert (found.id, found.category, found.subcategory, found.module) == ("tide-list-visits", "api", "visits", "tides")
    assert found.path_template == "/visits"
    assert found.examples[0].code.startswith("curl 'https://other.example/visits?")
    assert found.keywords[0] == "sea"


def test_only_operations_with_the_tags_that_are_asked_for_are_taken() -> None:
    paths = {"/a": {"get": {"tags": ["A"], "responses": {}}}, "/b": {"get": {"tags": ["B"], "responses": {}}}}
    assert [one.path_template for one in made(document(paths), tags=["B"]).entries] == ["/b"]


@pytest.mark.parametrize(
    "options",
    [
        {"colour": "red"},
        {"category": "Not A Slug"},
        {"server": "file:///etc/passwd"},
        {"server": "https://u:p@x.example"},
        {"base_path": "no-slash"},
        {"tags": [1]},
        {"module": 3},
    ],
)
def test_an_option_that_is_not_understood_is_refused_with_what_would_be(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        made(TIDES, **options)
    assert caught.value.hint


def test_a_path_without_a_tag_has_its_first_word_for_a_category() -> None:
    assert entry(operation({}, path="/api/v2/{org}/Tide-Pools/{id}")).category == "tide-pools"


def test_a_tag_with_a_slash_gives_category_and_subcategory() -> None:
    found = entry(operation({"tags": ["Admin / Users"]}))
    assert (found.category, found.subcategory) == ("admin", "users")


def test_servers_of_an_operation_go_before_those_of_the_path_and_the_document() -> None:
    found = entry(
        operation(
            {"servers": [{"url": "https://{region}.example.com/up", "variables": {"region": {"default": "eu"}}}]},
            servers=[{"url": "https://example.com/api"}],
        )
    )
    assert found.path_template == "/up/visits"
    assert "https://eu.example.com/up/visits" in found.examples[0].code


@pytest.mark.parametrize("url", ["/api", "https://user:hunter2pass@/x", "", "http://[broken", None, 7])
def test_a_server_that_says_no_host_leaves_it_to_the_caller(url: object) -> None:
    found = entry(operation({}, servers=[{"url": url}]))
    assert "https://<host>" in found.examples[0].code
    assert "hunter2" not in str(found)


def test_parameters_of_an_operation_go_before_those_of_its_path() -> None:
    shared = [{"name": "page", "in": "query", "schema": {"type": "integer"}}]
    own = [{"name": "page", "in": "query", "required": True, "schema": {"type": "string"}}]
    paths = {"/a": {"parameters": shared, "get": {"parameters": own, "responses": {}}}}
    assert lines(document(paths)) == ["- `page` string (query, required)"]


def test_types_of_3_1_are_told() -> None:
    schema = {
        "type": ["object", "null"],
        "properties": {
            "a": {"type": ["string", "null"]},
            "b": {"const": "fixed"},
            "c": {"oneOf": [{"type": "integer"}, {"type": "null"}]},
            "d": {"type": "integer", "exclusiveMinimum": 3},
            "e": True,
            "f": False,
        },
    }
    found = {name: (one.type, one.description) for name, one in fields(schema, version="3.1.0").items()}
    assert found == {
        "a": ("string or null", ""),
        "b": ("string", "(always `fixed`)"),
        "c": ("integer or null", ""),
        "d": ("integer", "(> 3)"),
        "e": ("any", ""),
    }


@pytest.mark.parametrize(
    ("media", "words"),
    [
        ("multipart/form-data", "-F 'pool=<pool>'"),
        ("application/x-www-form-urlencoded", "--data-urlencode 'pool=<pool>'"),
        ("application/octet-stream", "--data-binary '@<file>'"),
        ("application/vnd.tides+json", '-d \'{"pool": "<pool>"'),
    ],
)
def test_a_body_is_given_as_its_media_type_asks(media: str, words: str) -> None:
    schema = {"type": "object", "required": ["pool"], "properties": {"pool": {"type": "string"}}}
    found = entry(operation({"requestBody": {"content": {media: {"schema": schema}}}}, method="post"))
    assert words in found.examples[0].code


def test_json_goes_before_other_media_types() -> None:
    content = {"application/xml": {"schema": {"type": "string"}}, "application/json": {"schema": {"type": "integer"}}}
    found = entry(operation({"requestBody": {"content": content}}, method="post"))
    assert "Content-Type: application/json" in found.examples[0].code
    assert lines(operation({"requestBody": {"content": content}}, method="post")) == [
        "- `body` integer or string (body)"
    ]


def test_examples_of_the_document_are_used_by_name() -> None:
    content = {
        "application/json": {
            "schema": {"type": "object"},
            "examples": {
                "crab": {"summary": "A crab", "value": {"kind": "crab"}},
                "fish": {"$ref": "#/components/examples/Fish"},
            },
        }
    }
    components = {"examples": {"Fish": {"value": {"kind": "fish"}}}}
    found = entry(operation({"requestBody": {"content": content}}, method="post", components=components))
    assert [one.description for one in found.examples] == ["Call with curl: A crab", "Call with curl: fish"]
    assert '{"kind": "fish"}' in found.examples[1].code


def test_a_quote_in_a_document_stays_a_quote_in_a_shell() -> None:
    found = entry(
        operation(
            {"requestBody": {"content": {"application/json": {"example": {"a": "it's'; rm -rf / #"}}}}}, method="post"
        )
    )
    assert "it'\\''s'\\''; rm -rf / #" in found.examples[0].code


def test_text_of_a_document_cannot_break_a_line_or_a_terminal() -> None:
    given = [{"name": "a|b\nc", "in": "query", "description": "one | two\n\nthree \x1b[31m\u202e", "schema": {}}]
    assert lines(operation({"parameters": given})) == ["- `a|b c` any (query): one | two three [31m"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"swagger": "1.2", "paths": {}}, "Swagger 1.2, which is not read"),
        ({"openapi": "4.0.0", "paths": {}}, "`openapi: 4.0.0`"),
        ({"paths": {}}, "does not say its version"),
        ([], "not a mapping"),
        ({"openapi": "3.0.0", "paths": []}, "`paths` of the document is not a mapping"),
    ],
)
def test_what_is_no_document_of_3_0_or_3_1_is_refused_in_a_sentence(given: object, sentence: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        made(json.dumps(given).encode())
    assert sentence in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff\xfe", b"openapi: [", b"a: 1\n--- \nb: 2\n", b'{"a": 1, "a": 2}'])
def test_what_cannot_be_read_at_all_is_refused(raw: bytes) -> None:
    with pytest.raises((InvalidInput, TooLarge)):
        made(raw)


def test_a_malformed_operation_is_told_and_the_others_go_on() -> None:
    paths = {
        "/a": {"get": "nothing", "post": {"responses": {"200": {"description": "Fine"}}}},
        "/b": ["no", "object"],
        "/c": {"get": {"parameters": "none", "requestBody": 5, "responses": [], "tags": {"x": 1}, "security": "all"}},
        "/d": {
            "get": {"parameters": [{"in": "query"}, 7, None, {"name": "x", "in": "moon"}], "responses": {"200": "Fine"}}
        },
        "/e f": {"get": {"responses": {}}},
    }
    found = made(document(paths))
    assert [one.called for one in found.entries] == ["GET /a", "POST /a", "GET /c", "GET /d"]
    assert {one.where for one in found.unread} == {"GET /a", "/b", "GET /c", "GET /d", "'/e f'"}
    assert {one.where for one in found.unread if one.severity == "error"} == {"GET /a", "/b", "GET /c", "GET /d"}


def test_two_operations_that_answer_to_the_same_calls_are_told() -> None:
    paths: dict[str, Any] = {f"/a/{{{name}}}": {"get": {"summary": "Gives it."}} for name in "xy"}
    found = made(document(paths))
    assert [one.called for one in found.entries] == ["GET /a/{x}"]
    assert told(document(paths)) == ["GET /a/{y}: It matches the same calls as GET /a/{x}, which is used."]


def test_webhooks_are_told_and_become_no_entries() -> None:
    found = made({"openapi": "3.1.0", "info": {}, "webhooks": {"newVisit": {"post": {}}}})
    assert found.entries == ()
    assert [one.where for one in found.unread] == ["webhooks"]


def test_a_long_description_is_cut_between_paragraphs_and_never_within_code() -> None:
    text = "First. " + "word " * 100 + "\n\n```\n" + "code\n\n" * 300 + "```\n\nLast."
    content = entry(operation({"description": text})).content
    assert content.count("```") % 2 == 0
    assert len(content) < 4_000


def test_methods_that_no_entry_can_have_are_told() -> None:
    fine = {"responses": {"200": {"description": "Fine"}}}
    paths = {"/a": {"query": fine, "additionalOperations": {"COPY": fine}, "get": fine}}
    found = made(document(paths, version="3.2.0"))
    assert [one.called for one in found.entries] == ["GET /a"]
    assert ["query" in one.what for one in found.unread] == [True, False]


def test_an_operation_without_name_and_summary_is_called_by_a_short_description() -> None:
    assert entry(operation({"description": "Counts crabs."})).title == "Counts crabs"
    assert entry(operation({"description": "Counts crabs, " + "and crabs " * 20})).title == "GET /visits"
