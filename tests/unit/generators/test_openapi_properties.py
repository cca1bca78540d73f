"""Whatever a small API document says: the same entries in any order of its keys, each of them valid."""

import json
import random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.kernel.errors import InvalidInput
from commonplace.reference.source.reader import read_catalogue
from commonplace_generators.catalogue_file import dated, written
from commonplace_generators.plan import generate
from tests.examples import examples
from tests.unit.generators.test_openapi import TIDES

NAMES = st.sampled_from(["a", "b", "Pool", "sea water", "getVisits", "list_pools", "über", "password", "a/b", "a~b"])
TEXTS = st.text(max_size=40) | st.sampled_from(
    ["See [here](../x.md).", "Use `x`.\n\n```\ncode\n```", "a | b", "<b>x</b>"]
)
SCHEMA_NAMES = ["S0", "S1", "S2"]
REFS = st.sampled_from(
    [{"$ref": f"#/components/schemas/{one}"} for one in SCHEMA_NAMES]
    + [{"$ref": "#/nowhere"}, {"$ref": "https://10.0.0.1/x"}, {"$ref": 5}]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 500) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


def objects(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


LEAVES = REFS | objects(
    type=st.sampled_from(["string", "integer", "object", "array", ["string", "null"], "odd"]),
    format=st.sampled_from(["date", "uuid", "x"]),
    enum=st.lists(JSON, max_size=3),
    default=JSON,
    example=JSON,
    description=TEXTS,
    nullable=st.booleans(),
    minimum=st.integers(0, 9),
)
SCHEMAS = st.recursive(
    LEAVES | st.booleans(),
    lambda inner: objects(
        type=st.sampled_from(["object", "array"]),
        properties=st.dictionaries(NAMES, inner, max_size=3),
        required=st.lists(NAMES, max_size=2),
        items=inner,
        allOf=st.lists(inner, max_size=2),
        oneOf=st.lists(inner, max_size=2),
        additionalProperties=inner,
    ),
    max_leaves=5,
)
CONTENT = st.dictionaries(
    st.sampled_from(["application/json", "text/plain", "multipart/form-data"]),
    objects(schema=SCHEMAS, example=JSON, examples=st.dictionaries(NAMES, objects(value=JSON), max_size=2)),
    max_size=2,
)
PARAMETERS = st.lists(
    objects(name=NAMES, schema=SCHEMAS, required=st.booleans(), description=TEXTS)
    .map(lambda one: {"in": "query", **one})
    .flatmap(lambda one: st.sampled_from(["query", "path", "header", "moon"]).map(lambda place: {**one, "in": place})),
    max_size=3,
)
OPERATIONS = objects(
    operationId=NAMES,
    summary=TEXTS,
    description=TEXTS,
    tags=st.lists(NAMES, max_size=2),
    deprecated=st.booleans(),
    parameters=PARAMETERS,
    requestBody=objects(content=CONTENT, required=st.booleans(), description=TEXTS) | REFS,
    responses=st.dictionaries(
        st.sampled_from(["200", "404", "default"]), objects(description=TEXTS, content=CONTENT) | REFS, max_size=2
    ),
    security=st.lists(
        st.dictionaries(st.sampled_from(["k", "o"]), st.lists(TEXTS, max_size=1), max_size=2), max_size=2
    ),
)
PATHS = st.dictionaries(
    st.sampled_from(["/a", "/a/{id}", "/a/{other}", "/b c", "/ä/{x}", "no-slash", "/q?x=1", "x-odd"]),
    st.dictionaries(st.sampled_from(["get", "post", "delete", "summary"]), OPERATIONS | TEXTS, max_size=3) | REFS,
    max_size=4,
)
DOCUMENTS = st.fixed_dictionaries(
    {"openapi": st.sampled_from(["3.0.3", "3.1.0"]), "paths": PATHS},
    optional={
        "components": st.fixed_dictionaries(
            {
                "schemas": st.fixed_dictionaries(dict.fromkeys(SCHEMA_NAMES, SCHEMAS)),
                "securitySchemes": st.just(
                    {"k": {"type": "apiKey", "in": "header", "name": "K"}, "o": {"type": "oauth2"}}
                ),
            }
        ),
        "servers": st.lists(
            objects(url=st.sampled_from(["/v1", "https://x.example/v2/", "https://{h}/", "::"])), max_size=1
        ),
    },
)


def shuffled(value: Any, order: random.Random) -> Any:
    if isinstance(value, dict):
        names = list(value)
        order.shuffle(names)
        return {name: shuffled(value[name], order) for name in names}
    return [shuffled(one, order) for one in value] if isinstance(value, list) else value


def made(document: Any) -> tuple[bytes, tuple[Any, ...]]:
    found = generate("openapi", json.dumps(document).encode(), source="x", options={})
    same = {"source_hash": None}
    return written(one.model_copy(update=same) for one in found.entries), found.unread


@settings(max_examples=examples(15, soak=600), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(DOCUMENTS, st.randoms(use_true_random=False))
def test_the_order_of_keys_changes_nothing(document: Any, order: random.Random) -> None:
    assert made(shuffled(document, order)) == made(document)


@settings(max_examples=examples(15, soak=600), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(DOCUMENTS)
def test_what_is_made_of_any_document_is_a_valid_catalogue(document: Any) -> None:
    found = generate("openapi", json.dumps(document).encode(), source="x", options={})
    raw = written(dated(found.entries, None, "2026-03-01T00:00:00Z"))
    problems = [one for one in read_catalogue({"api.json": raw}, "x").problems if one.severity == "error"]
    assert {one.code for one in problems} <= {"empty-entry"}
    assert not problems or any(one.severity == "error" for one in found.unread)


REFERENCES: list[Any] = [{"$ref": "#/paths"}, {"$ref": "#"}, {"$ref": []}]
SCHEMAS_OF_NONE: list[Any] = [{"type": [None]}, {"enum": {}}, {"properties": []}, {"required": "a"}, {"allOf": {}}]
PLAIN: list[Any] = [None, True, 0, -1, 10**30, "", "\ud800\x1b[31m", [], [1], [None], {}, {"a": 1}]
ODD = st.sampled_from([*PLAIN, *REFERENCES, *SCHEMAS_OF_NONE])


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every collection with each of its keys or indexes."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, one in list(inner) for place in [(value, key), *places(one)]]


@settings(max_examples=examples(20, soak=1_000), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.data())
def test_a_document_with_an_odd_value_anywhere_is_refused_or_makes_a_valid_catalogue(data: st.DataObject) -> None:
    document = json.loads(json.dumps(TIDES))
    for _ in range(data.draw(st.integers(1, 4))):
        inside, key = data.draw(st.sampled_from(places(document) or [({}, "openapi")]))
        inside[key] = json.loads(json.dumps(data.draw(ODD)))
    try:
        found = generate("openapi", json.dumps(document).encode(), source="x", options={})
    except InvalidInput:
        return
    raw = written(dated(found.entries, None, "2026-03-01T00:00:00Z"))
    assert {one.code for one in read_catalogue({"api.json": raw}, "x").errors} <= {"empty-entry"}
    assert all((one.where + one.what).isprintable() for one in found.unread)
