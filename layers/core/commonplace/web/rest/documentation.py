"""How endpoints are described: what they answer, with an example of each, and which errors they share."""

import json
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from commonplace.documents.rest import examples
from commonplace.documents.rest.shapes import Error
from commonplace.web.rest.pages import JSON
from commonplace.web.rest.services import Site

API_VERSION = "1.0.0"

DESCRIPTION = """\
The published knowledge of one organisation, for web sites, feeds, static builds and AI agents to read.

Everything here comes from Markdown files in a Git repository whose authors have marked them as published. A push to
the repository shows here within seconds. Nothing can be written here, and nobody has to sign in to read.

* **A document** has a type and an id: `/entries/{contentType}/{id}`. Both last: a document that is moved or renamed
  keeps answering to the name it had; the answer's `Content-Location` says the present one.
* **Bodies are Markdown as authored**, down to the line endings: GitHub's dialect, callouts, raw HTML. They are not
  sanitised. Whoever renders them must do so.
* **Lists come without bodies**, are paged by `limit` and `offset`, and name their neighbours in `Link` headers.
* **Caching**: answers carry an `ETag`; send it back in `If-None-Match` and get 304 when nothing changed. `HEAD` works
  everywhere.
* **Limits**: calls are counted by address and minute; `RateLimit-*` headers tell what is left. 429 and 503 come with
  `Retry-After`.
* **Errors** have one shape: `{"error": {"code", "message", "details"}}`. Program against `code`; `details` names what
  is valid, or the nearest that is. The gateway in front has bodies of its own for what never reaches this
  application (`{"message": "..."}`): requests over 10 MB, and its own throttling.

`/health`, `/llms.txt`, `/llms-full.txt`, `/feed.json`, `/openapi.json` and `/docs` answer at the root of the host too.
"""

TAGS = [
    {"name": "Documents", "description": "Lists of documents, and documents by type and id or by source path."},
    {"name": "Search", "description": "By words and by meaning."},
    {"name": "Connections", "description": "Links between documents, groups, releases, tags, attachments."},
    {"name": "Vocabulary", "description": "Types and fields of documents, as data."},
    {"name": "For machines", "description": "Feeds, text for language models, and everything at once."},
    {"name": "Account", "description": "Who calls, for those who have signed in."},
    {"name": "State", "description": "How fresh the library is, and whether its parts answer."},
]

STRING = {"type": "string"}

OPERATORS_KEY = "operatorsKey"
OPERATORS = {"type": "http", "scheme": "bearer", "description": "The operators' key. Only explanations need it."}
BEARER = "accessToken"
TOKENS = {
    "type": "http",
    "scheme": "bearer",
    "bearerFormat": "JWT",
    "description": "An access token for this API, `{origin}/api`. `WWW-Authenticate` of a 401 says where to get one.",
}
TOKEN_MUST_COME: dict[str, Any] = {"security": [{BEARER: []}]}
KEY_MAY_COME: dict[str, Any] = {"security": [{}, {OPERATORS_KEY: []}]}
"""Of an operation that answers without the key, and more with it."""

Responses = dict[int | str, dict[str, Any]]


def answers(
    example: Any, *errors: int, description: str, media_type: str = JSON, conditional: bool = True, schema: Any = None
) -> Responses:
    """200 with its example, 304 where entity tags are compared, and the errors; some errors are everybody's.

    `schema` is for answers that no model describes.
    """
    content = example_content(example) | ({} if schema is None else {"schema": schema})
    told: Responses = {200: {"description": description, "content": {media_type: content}}}
    if conditional:
        told[200]["headers"] = {"ETag": {"description": "For `If-None-Match`.", "schema": STRING}}
        told[304] = {"description": "Nothing has changed since the answer with the `ETag` you sent."}
    return told | {status: error_answer(status) for status in sorted({*errors, 429, 500, 503})}


def error_answer(status: int) -> dict[str, Any]:
    description, example = examples.ERRORS[status]
    schema = {"$ref": "#/components/schemas/Error"}
    return {"description": description, "content": {JSON: example_content(example) | {"schema": schema}}}


def example_content(value: Any) -> dict[str, Any]:
    # As text, for the framework drops every null on its way; `build_openapi` reads it back.
    return {"example": json.dumps(value)}


def build_openapi(app: FastAPI, site: Site) -> dict[str, Any]:
    """The OpenAPI 3.1 document of this deployment."""
    document = get_openapi(
        title=f"{site.name} API",
        version=API_VERSION,
        summary="The published knowledge of one organisation.",
        description=DESCRIPTION,
        routes=app.routes,
        tags=TAGS,
        servers=[{"url": site.base_url or "/"}],
    )
    document["openapi"] = "3.1.0"
    # Named by reference only: a model would be filed under the media type of each route's success.
    error = Error.model_json_schema(ref_template="#/components/schemas/{model}")
    document["components"]["schemas"] |= error.pop("$defs") | {"Error": error}
    document["components"]["securitySchemes"] = {OPERATORS_KEY: OPERATORS, BEARER: TOKENS}
    for shape in document["components"]["schemas"].values():
        for member in shape["properties"].values():
            member.pop("title", None)
    for methods in document["paths"].values():
        for operation in methods.values():
            for parameter in operation.get("parameters", ()):
                parameter["schema"] = _plain(parameter["schema"])
            for answer in operation["responses"].values():
                for content in answer.get("content", {}).values():
                    content["example"] = json.loads(content["example"])
    return document


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter's schema without what a query cannot say (null) and what its name says already."""
    told = {name: value for name, value in schema.items() if name not in ("title", "description", "anyOf")}
    alternatives: list[dict[str, Any]] = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    if len(alternatives) > 1:
        return {"anyOf": alternatives} | told
    return (alternatives[0] if alternatives else {}) | told
