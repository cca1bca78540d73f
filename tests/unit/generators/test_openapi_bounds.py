"""API documents that were made to hurt: refused, or read within bounds."""

import json
from typing import Any

import pytest

from commonplace.kernel import yaml
from commonplace.kernel.errors import CommonplaceError, InvalidInput, TooLarge
from commonplace_generators.openapi import documents
from tests.unit.generators.openapi_documents import document, entry, made, operation

HEAD = "openapi: 3.0.0\ninfo: {title: x, version: '1'}\n"


def bomb(levels: int = 12) -> str:
    """Every level is nine of the one before."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return HEAD + "paths: {}\n" + "\n".join(lines)


def test_a_bomb_of_aliases_is_refused() -> None:
    with pytest.raises(TooLarge) as caught:
        made(bomb().encode())
    assert "aliases" in caught.value.message


def test_an_alias_of_what_it_stands_in_is_refused() -> None:
    with pytest.raises(InvalidInput):
        made(f"{HEAD}paths: &p\n  /a: *p\n".encode())


def test_aliases_and_merged_keys_of_an_honest_document_are_understood() -> None:
    text = HEAD + (
        "x-shared: &shared\n  responses: {'200': {description: Fine}}\n  tags: [Pools]\n"
        "paths:\n  /a:\n    get: &get\n      <<: *shared\n      summary: Look\n      tags: [Own]\n    head: *get\n"
    )
    found = made(text.encode()).entries
    assert [(one.called, one.title, one.category) for one in found] == [
        ("GET /a", "Look", "own"),
        ("HEAD /a", "Look", "own"),
    ]


@pytest.mark.parametrize(
    "raw",
    [
        HEAD.encode() + b"paths: " + b"[" * 5_000 + b"]" * 5_000,
        HEAD.encode() + b"paths: " + b"{a: " * 5_000 + b"}" * 5_000,
        b'{"openapi": "3.0.0", "paths": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"openapi": "3.0.0", "paths": ' + b'{"a":' * 900 + b"1" + b"}" * 900 + b"}",
    ],
)
def test_deep_nesting_is_refused(raw: bytes) -> None:
    with pytest.raises(InvalidInput) as caught:
        made(raw)
    assert "deeper than 200 levels" in caught.value.message


def test_too_large_a_document_is_refused_unread() -> None:
    with pytest.raises(TooLarge):
        made(b" " * (documents.MAX_BYTES + 1))


def test_too_many_values_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MAX_VALUES", 500)
    with pytest.raises(TooLarge):
        made(b"x: [" + b"1," * 1_000 + b"1]")


@pytest.mark.parametrize(
    "text",
    [
        "a: !!python/object/apply:os.system [id]",
        "a: 1\na: 2",
        "? [a]\n: b",
        "*nothing",
        "a: *nothing",
        "--- 1\n--- 2",
        "a: \ud800",
    ],
)
def test_yaml_that_is_no_plain_value_is_refused_or_read_as_text(text: str) -> None:
    try:
        found = yaml.read(text, max_depth=20, max_values=1_000, follow_aliases=True).value
    except yaml.YamlError as error:
        assert "id" not in str(error).split()
    else:
        assert found == {"a": ["id"]}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("2026-01-01", "2026-01-01"),
        ("'5'", "5"),
        ("5", 5),
        ("1.5", 1.5),
        ("~", None),
        ("true", True),
        ("0755", "0755"),
    ],
)
def test_scalars_are_those_of_yaml_1_2(text: str, value: object) -> None:
    assert yaml.read(text, max_depth=5, max_values=5, follow_aliases=True).value == value


@pytest.mark.parametrize("text", ["NaN", "Infinity", "1" * 5_000])
def test_what_is_no_number_is_read_as_text_or_refused(text: str) -> None:
    raw = json.dumps(operation({"x-odd": 1})).replace('"x-odd": 1', f'"x-odd": {text}').encode()
    try:
        assert len(made(raw).entries) == 1
    except CommonplaceError as error:
        assert error.hint


def test_a_key_that_is_there_twice_is_refused_before_it_hides_an_operation() -> None:
    with pytest.raises(InvalidInput) as caught:
        made(b'{"openapi": "3.0.0", "paths": {"/a": {}, "/a": {"get": {}}}}')
    assert "“/a” twice" in caught.value.message


def test_a_wide_operation_has_a_short_entry() -> None:
    wide = {f"property_{n}": {"type": "string", "enum": [str(one) for one in range(200)]} for n in range(3_000)}
    given = {
        "description": "word " * 50_000,
        "tags": [f"tag {n}" for n in range(5_000)],
        "parameters": [{"name": f"p{n}", "in": "query", "required": True, "schema": {}} for n in range(3_000)],
        "requestBody": {"content": {f"application/x-{n}+json": {"schema": {"properties": wide}} for n in range(2)}},
        "responses": {str(200 + n): {"description": "x" * 5_000} for n in range(300)},
        "security": [{f"scheme{n}": []} for n in range(500)],
    }
    found = entry(operation(given, method="post"))
    assert len(found.content) <= 8_000
    assert len(found.parameters or ()) <= 1_000
    assert len(found.summary) <= 500
    assert len(found.keywords) <= 50
    assert all(len(one.code) <= 8_000 for one in found.examples)
    assert "- and 280 more" in found.content


def test_too_many_operations_are_refused() -> None:
    paths: dict[str, Any] = {f"/p{n}": {"get": {"summary": "Look"}} for n in range(20_001)}
    with pytest.raises(TooLarge):
        made(document(paths))


@pytest.mark.parametrize("form", ["oneOf", "anyOf"])
def test_alternatives_of_alternatives_are_followed_so_far_and_told(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MAX_STEPS", 1_000)

    def pair(level: int) -> list[dict[str, str]]:
        return [{"$ref": f"#/components/schemas/S{level}{side}"} for side in "ab"]

    sides = [(level, side) for level in range(40) for side in "ab"]
    schemas = {f"S{n}{side}": {form: pair(n + 1), "properties": {f"p{n}{side}": {}}} for n, side in sides}
    body = {"content": {"application/json": {"schema": {form: pair(0)}}}}
    found = made(operation({"requestBody": body}, method="post", components={"schemas": schemas}))
    assert "Its schemas have too many alternatives." in {one.what for one in found.unread}
    assert [one.called for one in found.entries] == ["POST /visits"]


@pytest.mark.parametrize("form", ["oneOf", "allOf", "items", "additionalProperties", "properties"])
def test_a_chain_of_thousands_of_schemas_ends(form: str) -> None:
    def holding(level: int) -> Any:
        ref = {"$ref": f"#/components/schemas/S{level + 1}"}
        if form in ("oneOf", "allOf"):
            return {form: [ref], "properties": {f"p{level}": {}}}
        return {form: {"p": ref} if form == "properties" else ref}

    schemas = {f"S{level}": holding(level) for level in range(3_000)} | {"S3000": {"type": "string"}}
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}}
    found = made(operation({"requestBody": body}, method="post", components={"schemas": schemas}))
    assert [one.called for one in found.entries] == ["POST /visits"]


def test_an_object_that_is_one_of_its_own_alternatives_ends() -> None:
    to_a = {"$ref": "#/components/schemas/A"}
    schema = {"properties": {"p": {}}, "oneOf": [to_a, {"properties": {"q": {}}}]}
    body = {"content": {"application/json": {"schema": to_a}}}
    found = entry(operation({"requestBody": body}, method="post", components={"schemas": {"A": schema}}))
    assert [one.name for one in found.parameters or ()] == ["p", "q"]
