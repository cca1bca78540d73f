"""Endpoints of the ontology and its JSON Schemas."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.documents.rest import models
from commonplace.documents.rest.examples import EXAMPLES, answers
from commonplace.documents.rest.parameters import CONTENT_TYPES, PathType
from commonplace.kernel.errors import InvalidInput, NotFound
from commonplace.web.representations import API, Page, encode

router = APIRouter(tags=["Vocabulary"])

SCHEMA_JSON = "application/schema+json"

_PAGES: dict[str, Page] = {}  # These answers change with the code only


@router.get(
    "/ontology",
    operation_id="getOntology",
    summary="Get the ontology",
    response_model=models.Ontology,
    responses=answers(EXAMPLES["ontology"], description="Types with their parents and fields, aliases, folders."),
)
async def get_ontology(request: Request) -> Response:
    """The table that types, filters, schemas and the validator are made from."""
    if "ontology" not in _PAGES:
        _PAGES["ontology"] = Page.of(encode(ONTOLOGY.describe()))
    return _PAGES["ontology"].answer(request)


@router.get(
    "/schemas",
    operation_id="listSchemas",
    summary="List schemas",
    response_model=models.SchemaList,
    responses=answers(EXAMPLES["schemas"], description="One JSON Schema per content type."),
)
async def list_schemas(request: Request) -> Response:
    """Where the JSON Schema of each content type is."""
    listed = [
        models.SchemaLink(
            content_type=spec.name,
            parent=spec.parent,
            description=spec.description,
            url=f"{API}/schemas/{spec.name}.json",
        )
        for spec in ONTOLOGY.types.values()
    ]
    return Page.of(models.SchemaList(schemas=listed).to_json()).answer(request)


@router.get(
    "/schemas/{contentType}.json",
    operation_id="getSchema",
    summary="Get a schema",
    response_class=Response,
    responses=answers(
        EXAMPLES["schema"],
        404,
        422,
        description="JSON Schema (2020-12) of the frontmatter of this type, for editors and validators.",
        media_type=SCHEMA_JSON,
        schema={"type": "object"},
    ),
)
async def get_schema(request: Request, content_type: PathType) -> Response:
    """What the frontmatter of a document of this type may hold."""
    try:
        name, *_ = ONTOLOGY.expand(content_type)
    except InvalidInput as error:
        raise NotFound("There is no such content type.", validTypes=CONTENT_TYPES, hint=error.hint) from None
    if name not in _PAGES:
        from commonplace.documents.content.schemas import json_schema

        _PAGES[name] = Page.of(encode(json_schema(name)), SCHEMA_JSON)
    return _PAGES[name].answer(request)
