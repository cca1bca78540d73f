"""Tools of operations, and their resource templates."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from pydantic import create_model
from pydantic.alias_generators import to_camel

from commonplace.kernel.errors import InvalidInput
from commonplace.web.faces import derived
from commonplace.web.forms import shape_of
from commonplace.web.mcp.budgets import MAX_TOKENS
from commonplace.web.mcp.completions import choices
from commonplace.web.mcp.declaration import (
    Answer,
    Call,
    Caller,
    Complete,
    Part,
    SnakeCaseOutput,
    SnakeCasePart,
    Template,
    Tool,
)
from commonplace.web.mcp.offer import QUERY
from commonplace.web.mcp.rendering import compact
from commonplace.web.operations import Actor, Listing, Operation

JSON = "application/json"
HEAD_TOKENS = 200
"""Tokens of an answer that are left for what stands around the rows of a list."""


def tools_of(operations: Iterable[Operation], service: Any) -> tuple[Tool, ...]:
    """Return the tools of those operations that are tools, in their order, over a service."""
    return tuple(_tool(one, service) for one in operations if one.tool)


def _tool(one: Operation, service: Any) -> Tool:
    output: Any = one.output_as(SnakeCaseOutput, SnakeCasePart, nulls=False)
    if isinstance(one, Listing) and one.notice:
        build: Any = create_model
        output = build(output.__name__, __base__=output, notice=(str, ...))

    row = derived(one.row, SnakeCasePart, SnakeCasePart, nulls=False) if isinstance(one, Listing) else None

    def run(call: Call, given: Any) -> Answer:
        actor = Actor(call.caller.principal, call.caller.address, call.base_url)
        if not isinstance(one, Listing):
            result = one.run(service, actor, given)
            return Answer(one.words(result), output.of(result))
        page = one.page(service, actor, given, row=row, tokens=MAX_TOKENS - HEAD_TOKENS)
        return Answer(one.words(page), output.of(page | ({"notice": one.notice} if one.notice else {})))

    return Tool(
        name=one.name,
        title=one.title,
        description=one.description,
        arguments=one.input,
        output=output,
        run=run,
        tier=one.tier,
        level=one.level,
        kind=one.kind,
        cost=one.cost or ("write" if one.writes else "read"),
        read_only=not one.writes,
        destructive=one.destructive,
        exact=one.exact,
        input_schema=one.input_schema,
        max_values=one.max_values,
    )


def templates_of(operations: Iterable[Operation], service: Any) -> tuple[Template, ...]:
    """Return the resource templates of the operations that have an address."""
    return tuple(_template(one, service) for one in operations if one.address)


def _template(one: Operation, service: Any) -> Template:
    """Return the template of an operation. A page has the address of the next, as long as there is one."""
    if one.writes:
        raise ValueError(f"{one.name} has an address, and takes more than reading")
    place, _, names = one.address.partition("{?")
    fields = {to_camel(name): name for name in one.input.model_fields}
    parameters = names.removesuffix("}").split(",")
    output: Any = one.output_as(Part, Part, nulls=False)

    def read(call: Call, given: Mapping[str, str]) -> tuple[str, str]:
        path = {name: value for name, value in given.items() if name != QUERY}
        query = parse_qsl(given.get(QUERY, ""), keep_blank_values=True)
        if unknown := [name for name, _ in query if name not in parameters]:
            raise InvalidInput(f"There is no parameter {unknown[0][:64]}.", hint=f"Known: {', '.join(parameters)}.")
        if twice := [name for name, number in Counter(name for name, _ in query).items() if number > 1]:
            raise InvalidInput(f"The parameter {twice[0]} came more than once.", field=twice[0])
        asked = one.accepted({fields[name]: value for name, value in (path | dict(query)).items()})
        actor = Actor(call.caller.principal, call.caller.address, call.base_url)
        if not isinstance(one, Listing):
            return compact(_written(output.of(one.run(service, actor, asked)))), JSON
        try:
            row = derived(one.row, Part, Part, nulls=False)
            page = one.page(service, actor, asked, row=row, tokens=MAX_TOKENS - HEAD_TOKENS)
        except InvalidInput as error:
            if error.details.get("field") != "cursor":
                raise
            hint = "Read the address that `next` of a page gave, or omit the cursor to start again."
            raise InvalidInput(error.message, hint=hint, field="cursor") from None
        cursor = page.pop("next_cursor")
        here = re.sub(r"{(\w+)}", lambda found: quote(path[found[1]], safe=""), place)
        onward = f"{here}?{urlencode({**dict(query), 'cursor': cursor})}" if cursor else None
        written = _written(output.of(page | {"next_cursor": None}))
        return compact(written | ({"next": onward} if onward else {})), JSON

    return Template(
        uri_template=one.address,
        name=one.name,
        title=one.title,
        description=one.description,
        mime_type=JSON,
        read=read,
        tier=one.tier,
        kind=one.kind,
        complete={name: _completion(one, field) for name, field in fields.items()},
    )


def _written(shown: Part) -> dict[str, Any]:
    return shown.model_dump(mode="json", by_alias=True, exclude_none=True)


def _completion(one: Operation, name: str) -> Complete:
    """Return a completion to the values that a field of an input can have, where they are few."""

    def complete(caller: Caller, typed: str, given: Mapping[str, str]) -> Sequence[str]:
        shape = shape_of(one.input, name)
        values = ("true", "false") if shape.get("type") == "boolean" else shape.get("enum", ())
        return choices(*values)(caller, typed, given)

    return complete
