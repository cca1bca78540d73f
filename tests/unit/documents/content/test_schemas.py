"""Editor schemas and models say the same as the ontology."""

from datetime import date
from typing import Any

import jsonschema_rs
import pytest
from pydantic import ValidationError

from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.documents.content.schemas import CONTENT_MODELS, DIALECT, content_adapter, json_schema
from commonplace.kernel.errors import NotFound


def valid(content_type: str, **fields: Any) -> bool:
    schema = json_schema(content_type)
    return jsonschema_rs.is_valid(schema, {"title": "A", **fields}, validate_formats=True)


def test_every_type_has_a_schema_of_the_dialect() -> None:
    for content_type in ONTOLOGY.types:
        schema = json_schema(content_type, base_url="https://kb.example.org")
        jsonschema_rs.meta.validate(schema)
        assert schema["$schema"] == DIALECT
        assert schema["$id"] == f"https://kb.example.org/api/v1/schemas/{content_type}.json"
        assert schema["properties"].keys() == ONTOLOGY.types[content_type].fields.keys()
        assert all(prop["description"] for prop in schema["properties"].values())


def test_the_examples_of_a_schema_are_valid() -> None:
    for content_type in ONTOLOGY.types:
        for prop in json_schema(content_type)["properties"].values():
            for example in prop.get("examples", []):
                assert jsonschema_rs.is_valid({"$schema": DIALECT, **prop}, example, validate_formats=True)


def test_a_schema_marks_what_the_sync_would_have_to_mend() -> None:
    assert valid("pattern", type="pattern", tags=["a-b"], date="2024-05-01", author=["A"], own_field={"x": 1})
    assert not valid("pattern", type="tag")
    assert valid("tag", type="concept")
    assert valid("pattern", tags="a, b", author="A", aliases="B", relatedPatterns="c")
    assert valid("pattern", tags=["3.10", "größe", "野草"])
    assert not valid("pattern", tags=["A b"])
    assert not valid("pattern", tags=[1])
    assert not valid("pattern", date="01-05-2024")
    assert not valid("pattern", description=None)
    assert not valid("link", url="javascript:alert(1)")
    assert not valid("link"), "a link needs its url"
    assert not valid("question", status="someday")
    assert valid("place", coordinates={"lat": 1, "lng": 2})
    assert not valid("place", coordinates={"lat": 100, "lng": 2})


def test_an_unknown_type_has_no_schema() -> None:
    with pytest.raises(NotFound) as raised:
        json_schema("patern")
    assert raised.value.hint is not None
    assert "pattern" in raised.value.hint


def test_models_carry_the_fields_of_their_type() -> None:
    assert CONTENT_MODELS.keys() == ONTOLOGY.types.keys()
    for name, model in CONTENT_MODELS.items():
        assert model.model_fields.keys() == ONTOLOGY.types[name].fields.keys()


def test_the_union_tells_types_apart() -> None:
    gathering = content_adapter.validate_python({"type": "gathering", "title": "A", "eventDate": "2024-05-01", "x": 1})
    assert type(gathering) is CONTENT_MODELS["gathering"]
    assert gathering.model_dump()["eventDate"] == date(2024, 5, 1)
    assert gathering.model_dump()["x"] == 1
    with pytest.raises(ValidationError):
        content_adapter.validate_python({"type": "activity", "title": "A"})
    with pytest.raises(ValidationError):
        content_adapter.validate_python({"type": "tag", "title": ""})
