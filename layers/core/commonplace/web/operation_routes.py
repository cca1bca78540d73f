"""Routes of operations, with their entries in the OpenAPI document."""

import inspect
import re
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Path, Query
from pydantic import BaseModel, ConfigDict, create_model
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo
from starlette.requests import Request
from starlette.responses import Response

from commonplace.identity.principals import ANONYMOUS
from commonplace.web.faces import derived
from commonplace.web.middleware import client_address
from commonplace.web.operations import Actor, Listing, Operation, Refusal, RestName
from commonplace.web.representations import Page
from commonplace.web.rest.account import Caller, permitted, private
from commonplace.web.rest.declaration import Routes
from commonplace.web.rest.documentation import TOKEN_MUST_COME, answers, error_body
from commonplace.web.rest.models import Answer


class Sent(BaseModel):
    """Base of what is sent: camelCase outside; what is unknown is refused."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", strict=True)


def routes_of(
    operations: Sequence[Operation],
    service: Any,
    *,
    tag: str,
    about: str,
    description: str = "",
    refusals: Mapping[int, Refusal] = MappingProxyType({}),
) -> Routes:
    """Return what a capability answers over REST: the operations that have an address, over a service.

    `about` describes the capability's section of the OpenAPI document, `description` is Markdown for its head, and
    `refusals` documents what errors mean here, by status.
    """
    router = APIRouter(tags=[tag])
    for one in operations:
        if one.rest:
            _add(router, one, service, refusals)
    searches = frozenset(one.rest.partition(" ")[2] for one in operations if one.cost == "search")
    return Routes(
        services=service,
        routers=(router,),
        tags=({"name": tag, "description": about},),
        description=description,
        searches=searches,
    )


def _add(router: APIRouter, one: Operation, service: Any, refusals: Mapping[int, Refusal]) -> None:
    """Add the route of an operation. What is public and only read takes no token, and caches may store it."""
    method, path = one.rest.split()
    output = one.output_as(Answer, Answer, nulls=True)
    places, body = parameters(one, method, path)
    public = one.need.open
    row = derived(one.row, Answer, Answer, nulls=True) if isinstance(one, Listing) else None
    run = partial(one.page, row=row) if isinstance(one, Listing) else one.run

    async def endpoint(request: Request, caller: Caller | None = None, **values: Any) -> Response:
        if (sent := values.pop("body", None)) is not None:
            values |= sent.model_dump()
        actor = Actor(caller.principal if caller else ANONYMOUS, client_address(request.scope))
        answer = output.of(run(service, actor, one.accepted(values)))
        return Page.of(answer.to_json()).answer(request) if public else private(answer)

    keyword = inspect.Parameter.KEYWORD_ONLY
    given = [inspect.Parameter("request", keyword, annotation=Request)]
    if not public:
        given.append(inspect.Parameter("caller", keyword, annotation=Annotated[Caller, Depends(permitted(one.need))]))
    endpoint.__signature__ = inspect.Signature([*given, *places, *body])  # type: ignore[attr-defined]
    errors = (*(() if public else (401, 403)), *one.errors, *((400, 413) if body else ()))
    router.add_api_route(
        path,
        endpoint,
        methods=[method],
        operation_id=one.rest_name,
        summary=one.title,
        description=one.description,
        response_model=output,
        responses=answers(
            output.of(one.example),
            *errors,
            description=one.answer or f"{one.title}.",
            conditional=public,
            refusals={
                status: (each.when, error_body(each.code, each.message, **each.details))
                for status, each in {**refusals, **one.refusals}.items()
            },
        ),
        openapi_extra=None if public else TOKEN_MUST_COME,
    )


def parameters(one: Operation, method: str, path: str) -> tuple[list[inspect.Parameter], list[inspect.Parameter]]:
    """Return the parameters of an endpoint: those in the address and the query, and the body if there is one."""
    in_path = set(re.findall(r"{(\w+)}", path))
    places: list[inspect.Parameter] = []
    sent: dict[str, Any] = {}
    for name, info in one.input.model_fields.items():
        outside = RestName.of(info)
        metadata = [each for each in info.metadata if not isinstance(each, RestName)]
        default = inspect.Parameter.empty if info.is_required() else info.get_default(call_default_factory=True)
        if (outside or name) in in_path:
            place: Any = Path(alias=outside or name, description=info.description, examples=info.examples)
        elif method in ("GET", "DELETE"):
            place = Query(alias=outside or to_camel(name), description=info.description)
        else:
            sent[name] = (info.annotation, FieldInfo.merge_field_infos(info, annotation=info.annotation))
            continue
        places.append(
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                annotation=Annotated[info.annotation, *metadata, place],
                default=default,
            )
        )
    if not sent:
        return places, []
    shape = create_model(one.input.__name__, __doc__=one.input.__doc__, **sent)
    model: Any = derived(shape, Sent, Sent, nulls=True)
    examples = [one.example_input] if one.example_input is not None else None
    return places, [
        inspect.Parameter("body", inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[model, Body(examples=examples)])
    ]
