"""Pydantic models and JSON Schemas of the content types, generated from the ontology (seed 000, sections 3.6 and 3.7).

The models hold normalised metadata: what `normalise` returns always fits, and undeclared fields are kept. The schemas
(2020-12) are for editors and say how frontmatter should look; the sync itself is more lenient.
"""

from datetime import date
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, create_model

from commonplace.documents.content.ontology import ONTOLOGY, FieldKind, FieldSpec, Ontology, TypeSpec
from commonplace.kernel.errors import NotFound

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_TEXT = {"type": "string", "minLength": 1}
_TEXTS = {"type": "array", "items": _TEXT, "uniqueItems": True}
_LIST = {"oneOf": [_TEXT, _TEXTS]}

_SHAPES: dict[FieldKind, dict[str, Any]] = {
    "line": _TEXT,
    "text": _TEXT,
    "slug": _TEXT,
    "embed": _TEXT,
    "list": _LIST,
    "terms": _LIST,
    "tags": {"oneOf": [_TEXT, {**_TEXTS, "items": {"type": "string", "pattern": r"^[^\sA-Z]+$"}}]},
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


class Coordinates(BaseModel):
    """A point on the Earth, in degrees."""

    lat: float = Field(ge=-90, le=90)
    lng: float = Field(ge=-180, le=180)


class ContentModel(BaseModel):
    """Base of all content types: lenient, because a document is served as it is and its problems are reported."""

    model_config = ConfigDict(extra="allow", frozen=True)


_PYTHON_TYPES: dict[FieldKind, Any] = {
    "line": str,
    "text": str,
    "slug": str,
    "list": list[str],
    "tags": list[str],
    "terms": list[str],
    "date": date,
    "url": Annotated[str, Field(pattern=r"^https?://")],
    "email": str,
    "number": float,
    "flag": bool,
    "embed": str,
    "coordinates": Coordinates,
}


def _field(spec: FieldSpec) -> Any:
    annotation = _PYTHON_TYPES[spec.kind]
    if spec.name == "title":
        return Annotated[str, Field(min_length=1, description=spec.description)], ...
    return Annotated[annotation | None, Field(description=spec.description)], None


def content_models(ontology: Ontology = ONTOLOGY) -> dict[str, type[ContentModel]]:
    """One model per type, with every field that the type has or inherits."""
    return {name: _model(spec) for name, spec in ontology.types.items()}


def _model(spec: TypeSpec) -> type[ContentModel]:
    fields: dict[str, Any] = {name: _field(field) for name, field in spec.fields.items() if field.kind != "type"}
    fields["type"] = (Literal[spec.name], ...)
    return create_model(spec.name.capitalize(), __base__=ContentModel, __doc__=spec.description, **fields)


CONTENT_MODELS = content_models()

Content: Any = Annotated[reduce(or_, CONTENT_MODELS.values()), Field(discriminator="type")]
"""The discriminated union over `type`."""

content_adapter: TypeAdapter[ContentModel] = TypeAdapter(Content)


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
