"""Tools of operations."""

from collections.abc import Iterable
from typing import Any

from pydantic import create_model

from commonplace.web.faces import derived
from commonplace.web.mcp.budgets import MAX_TOKENS
from commonplace.web.mcp.declaration import Answer, Call, SnakeCaseOutput, SnakeCasePart, Tool
from commonplace.web.operations import Actor, Listing, Operation

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
