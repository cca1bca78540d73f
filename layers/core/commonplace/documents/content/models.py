"""Pydantic models of the content types, generated from the ontology (seed 000, sections 3.6 and 3.7).

They hold normalised metadata: what `normalise` returns always fits. Fields nobody declared are kept.
"""

from datetime import date
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, create_model

from commonplace.documents.content.ontology import ONTOLOGY, FieldKind, FieldSpec, Ontology, TypeSpec


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
