"""JSON Schemas (2020-12) of frontmatter, for editors: completion, hover texts, and a red line under what is wrong.

They say how frontmatter should look; the sync is more forgiving (`normalise`). Generated from the ontology.
"""

from typing import Any

from commonplace.documents.content.ontology import ONTOLOGY, FieldKind, FieldSpec, Ontology
from commonplace.kernel.errors import NotFound

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_TEXT = {"type": "string", "minLength": 1}
_LIST = {"type": "array", "items": _TEXT, "uniqueItems": True}

_SHAPES: dict[FieldKind, dict[str, Any]] = {
    "line": _TEXT,
    "text": _TEXT,
    "slug": _TEXT,
    "embed": _TEXT,
    "list": _LIST,
    "terms": _LIST,
    "tags": {
        "type": "array",
        "items": {"type": "string", "pattern": "^#?[a-z0-9]+([-/_][a-z0-9]+)*$"},
        "uniqueItems": True,
    },
    "date": {"type": "string", "format": "date", "pattern": r"^\d{4}-\d{2}-\d{2}"},
    "url": {"type": "string", "format": "uri", "pattern": "^https?://"},
    "email": {"type": "string", "format": "email"},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "coordinates": {
        "type": "object",
        "properties": {
            "lat": {"type": "number", "minimum": -90, "maximum": 90},
            "lng": {"type": "number", "minimum": -180, "maximum": 180},
        },
        "required": ["lat", "lng"],
        "additionalProperties": False,
    },
}


def json_schema(content_type: str, *, base_url: str = "", ontology: Ontology = ONTOLOGY) -> dict[str, Any]:
    """The schema of a type's frontmatter, to be served at `{base_url}/api/v1/schemas/{content_type}.json`.

    Raises NotFound, naming the types there are.
    """
    spec = ontology.types.get(content_type)
    if spec is None:
        raise NotFound("there is no such content type", hint=f"types: {', '.join(ontology.types)}")
    return {
        "$schema": DIALECT,
        "$id": f"{base_url}/api/v1/schemas/{content_type}.json",
        "title": content_type,
        "description": spec.description,
        "type": "object",
        "properties": {
            name: _type_property(content_type, ontology) if field.kind == "type" else _property(field)
            for name, field in spec.fields.items()
        },
        "required": [name for name, field in spec.fields.items() if field.required],
        "additionalProperties": True,
    }


def _property(field: FieldSpec) -> dict[str, Any]:
    schema = {**_SHAPES[field.kind], "description": field.description}
    if field.enum:
        schema["enum"] = list(field.enum)
    if field.examples:
        schema["examples"] = list(field.examples)
    return schema


def _type_property(content_type: str, ontology: Ontology) -> dict[str, Any]:
    others = [alias for alias, target in ontology.aliases.items() if target == content_type]
    spec = ontology.fields["type"]
    return {"enum": [content_type, *others], "description": spec.description, "examples": [content_type]}
