"""OpenAPI descriptions of endpoints: answers with examples, and shared errors."""

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from textwrap import fill
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from commonplace import __version__
from commonplace.web.representations import JSON
from commonplace.web.rest.declaration import Routes, Site
from commonplace.web.rest.models import Answer, Error

DESCRIPTION = """\
* **Lists come without bodies**, are paged by `limit` and `offset`, and name their neighbours in `Link` headers.
* **Caching**: answers carry an `ETag`; send it back in `If-None-Match` and get 304 when nothing changed. `HEAD` works
  everywhere.
* **Limits**: calls are counted by address and minute; `RateLimit-*` headers tell what is left. 429 and 503 come with
  `Retry-After`.
* **Errors** have one shape: `{"error": {"code", "message", "details"}}`. Program against `code`; `details` names what
  is valid, or the nearest that is. The gateway in front has bodies of its own for what never reaches this
  application (`{"message": "..."}`): requests over 10 MB, and its own throttling.
"""
"""The text for every answer, after what capabilities say of theirs."""

TAGS = (
    {"name": "For machines", "description": "Feeds, text for language models, and everything at once."},
    {"name": "Account", "description": "Who calls, for those who have signed in."},
    {"name": "State", "description": "How fresh the library is, and whether its parts answer."},
)
"""Sections of every deployment, after those of capabilities."""

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
"""On an operation that answers without the key, and more with it."""

Responses = dict[int | str, dict[str, Any]]
ErrorExample = tuple[str, dict[str, Any]]
"""The case in which it comes, and a body."""


def error_body(code: str, message: str, **details: Any) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "details": details}}


ERRORS: dict[int, ErrorExample] = {
    400: ("The request is malformed.", error_body("BAD_REQUEST", "The request is malformed.")),
    401: (
        "A credential is needed, and no valid one came.",
        error_body("UNAUTHORIZED", "Sign-in is required.", hint="Sign in, and try again."),
    ),
    403: (
        "Nobody may do this here.",
        error_body("FORBIDDEN", "Sign-in is disabled in this deployment.", hint="Everything else here is public."),
    ),
    404: ("Nothing answers to this name.", error_body("NOT_FOUND", "There is nothing at this address.")),
    413: (
        "The answer would exceed 5 MB, or the request's body 256 KB.",
        error_body("TOO_LARGE", "This answer would be too large.", sizeBytes=5_200_000, maxBytes=4_600_000),
    ),
    422: (
        "A parameter is outside its bounds, or there is no such parameter; `fields` says which and what is valid.",
        error_body(
            "INVALID_INPUT",
            "limit: must be at most 100",
            fields=[{"in": "query", "field": "limit", "message": "must be at most 100"}],
        ),
    ),
    429: (
        "Too many calls from this address; `Retry-After` says when to come back.",
        error_body("RATE_LIMITED", "More than 600 reads in 60 seconds came from this address.", retryAfterSeconds=17),
    ),
    500: ("A defect. Nothing of it is told here.", error_body("INTERNAL_ERROR", "An unexpected error occurred.")),
    503: (
        "The store or the index does not answer; `Retry-After` says when to try again.",
        error_body("UNAVAILABLE", "The document store does not answer. Try again shortly.", retryAfterSeconds=5),
    ),
}


def answers(
    example: Any,
    *errors: int,
    description: str,
    media_type: str = JSON,
    conditional: bool = True,
    schema: Any = None,
    refusals: Mapping[int, ErrorExample] | None = None,
) -> Responses:
    """Return 200 with its example, 304 where entity tags are compared, and the errors; some errors are everybody's.

    `schema` is for answers that no model describes, `refusals` for errors that a capability explains better.
    """
    explained = ERRORS | dict(refusals or {})
    content = example_content(example) | ({} if schema is None else {"schema": schema})
    responses: Responses = {200: {"description": description, "content": {media_type: content}}}
    if conditional:
        responses[200]["headers"] = {"ETag": {"description": "For `If-None-Match`.", "schema": STRING}}
        responses[304] = {"description": "Nothing has changed since the answer with the `ETag` you sent."}
    for status in sorted({*errors, 422, 429, 500, 503}):
        when, body = explained[status]
        content = example_content(body) | {"schema": {"$ref": "#/components/schemas/Error"}}
        responses[status] = {"description": when, "content": {JSON: content}}
    return responses


def example_content(value: Any) -> dict[str, Any]:
    # As text, for the framework drops every null on its way; `build_openapi` reads it back.
    return {"example": value.to_json().decode() if isinstance(value, Answer) else json.dumps(value)}


def build_openapi(app: FastAPI, site: Site, declared: Sequence[Routes]) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of this deployment."""
    routes = [route for each in declared for router in each.root_routers for route in router.routes]
    paths = [route.path for route in routes if isinstance(route, APIRoute) and route.include_in_schema]
    *most, last = [f"`{path}`" for path in (*paths, "/openapi.json")]
    at_root_too = fill(f"{', '.join(most)} and {last} answer at the root of the host too.", 120)
    document = get_openapi(
        title=f"{site.name} API",
        version=__version__,
        summary="The published knowledge of one organisation.",
        description="".join([*(each.description for each in declared), DESCRIPTION, f"\n{at_root_too}\n"]),
        routes=app.routes,
        tags=[*(dict(tag) for each in declared for tag in each.tags), *TAGS],
        servers=[{"url": site.base_url or "/"}],
    )
    document["openapi"] = "3.1.0"
    # Named by reference only: a model would be filed under the media type of each route's success.
    error = Error.model_json_schema(ref_template="#/components/schemas/{model}")
    document["components"]["schemas"] |= error.pop("$defs") | {"Error": error}
    document["components"]["securitySchemes"] = {OPERATORS_KEY: OPERATORS, BEARER: TOKENS}
    for shape in document["components"]["schemas"].values():
        for member in shape.get("properties", {}).values():
            member.pop("title", None)
    for methods in document["paths"].values():
        for operation in methods.values():
            for parameter in operation.get("parameters", ()):
                # Without what a query cannot say (null) and what its name says already.
                schema = parameter["schema"]
                kinds = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
                rest = {name: one for name, one in schema.items() if name not in ("title", "description", "anyOf")}
                parameter["schema"] = ({"anyOf": kinds} if len(kinds) > 1 else kinds[0] if kinds else {}) | rest
            for answer in operation["responses"].values():
                for content in answer.get("content", {}).values():
                    content["example"] = json.loads(content["example"])
    return document


def with_examples(document: Mapping[str, Any], published: Mapping[str, str]) -> dict[str, Any]:
    """Return the document with these values as examples of parameters of their names, save choices without one."""
    changed: dict[str, Any] = deepcopy(dict(document))
    for methods in changed["paths"].values():
        for operation in methods.values():
            for parameter in operation.get("parameters", ()):
                schema, value = parameter["schema"], published.get(parameter["name"])
                if value is not None and ("examples" in schema or "enum" not in schema.get("items", schema)):
                    schema["examples"] = [[value] if schema.get("type") == "array" else value]
    return changed
