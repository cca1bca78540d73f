"""`tools/list`, `resources/list`, `resources/templates/list`, `prompts/list` and `server/discover`, page by page.

Rows are plain dicts in the wire's own shape, deterministic, with `_meta` only where a client has a use for it; schemas
are 2020-12 without anything that costs a model tokens for no use. What only a deployment changes is built once for each
view of it; a list of tools also once for the values in use that it names. Those values are operators' data: only slugs
pass, up to a limit, and a store that does not respond costs the values, never the list. A cursor is opaque, good for
the same list and view, and gives no authority.
"""

import json
import logging
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from mcp_types.methods import validate_client_request
from pydantic import BaseModel

from commonplace.kernel.errors import CommonplaceError
from commonplace.web.mcp.access import caller_of, shown, tools_for, view_of
from commonplace.web.mcp.budgets import MAX_CHARACTERS
from commonplace.web.mcp.declaration import Caller, Listed, Prompt, Resource, Template, Tool
from commonplace.web.mcp.edge import VERSIONS
from commonplace.web.mcp.offer import Offer, Offered
from commonplace.web.mcp.rendering import CACHED
from commonplace.web.mcp.replies import protocol_error
from commonplace.web.mcp.surface import Surface
from commonplace.web.mcp.tools import in_thread
from commonplace.web.sealed import opened, sealed

logger = logging.getLogger(__name__)

_DEFINITIONS = "#/$defs/"
_NAMED = ("properties", "$defs", "patternProperties", "dependentSchemas")
"""Keywords whose value maps names to schemas: a name is not a keyword, even if it reads `title`."""

MAX_CURSOR_CHARACTERS = 4_096

_PURPOSE = b"mcp-list"

RowT = TypeVar("RowT")

MAX_VALUES = 30
"""Of one argument."""

_SLUG = re.compile(r"[a-z0-9][a-z0-9.-]{0,59}")
"""Versions have dots."""

InUse = tuple[tuple[str, str, tuple[str, ...]], ...]
"""`(tool, argument, values)`, the same for the same values."""

Row = dict[str, Any]

Context = ServerRequestContext[Any, Any]
Paged = types.PaginatedRequestParams

LASTING = frozenset(("tools/list", "prompts/list", "resources/templates/list", "server/discover"))
"""Methods whose answers only a deployment changes."""
MAX_VIEWS = 300
"""Answers to send again: by method, version, and what a caller may ever use."""


class Lists:
    """The lists of one path."""

    def __init__(self, offer: Offer, surface: Surface) -> None:
        self._offer = offer
        self._size = surface.page_size
        self._path = ",".join(one.name for one in offer.toolsets)

    def install(self, server: Server[Any]) -> None:
        server.add_request_handler("tools/list", Paged, self.tools)
        server.add_request_handler("prompts/list", Paged, self.prompts)
        server.add_request_handler("resources/list", Paged, self.resources)
        server.add_request_handler("resources/templates/list", Paged, self.templates)

    async def tools(self, ctx: Context, params: Paged) -> dict[str, Any]:
        rows = tool_rows(self._offer, caller_of(ctx.request), await values_of(self._offer))
        return self._paged(ctx, params, "tools", rows, "name")

    async def prompts(self, ctx: Context, params: Paged) -> dict[str, Any]:
        return self._paged(ctx, params, "prompts", prompt_rows(self._offer, caller_of(ctx.request)), "name")

    async def templates(self, ctx: Context, params: Paged) -> dict[str, Any]:
        rows = template_rows(self._offer, caller_of(ctx.request))
        return self._paged(ctx, params, "resourceTemplates", rows, "uriTemplate")

    async def resources(self, ctx: Context, params: Paged) -> dict[str, Any]:
        """Those with an address of their own, then documents. Raises MCPError when the store does not answer."""
        try:
            rows = await in_thread(self._resources, ctx)
        except Exception as error:
            raise protocol_error(error) from error
        found, onward = page(rows, params.cursor, self._question(ctx), self._size, lambda row: row.uri)
        return _answer("resources", [resource_row(row) for row in found], onward)

    def _resources(self, ctx: Context) -> Sequence[Resource | Listed]:
        caller = caller_of(ctx.request)
        needs = self._offer.needs
        rows: list[Resource | Listed] = [
            one for uri, one in self._offer.resources.items() if one.listed and shown(needs["resource", uri], caller)
        ]
        for toolset in self._offer.toolsets:
            if toolset.documents is not None and shown(toolset.documents_need, caller):
                rows.extend(toolset.documents())
        return rows

    def _paged(self, ctx: Context, params: Paged, name: str, rows: list[Any], key: str) -> dict[str, Any]:
        found, onward = page(rows, params.cursor, self._question(ctx), self._size, lambda row: row[key])
        return _answer(name, found, onward)

    def _question(self, ctx: Context) -> str:
        return f"{ctx.method} {self._path} {view_of(caller_of(ctx.request))}"


class Lasting:
    """Middleware: sends again what a list said the first time. Validating and dumping 40 kB costs 5 ms each time."""

    def __init__(self, offer: Offer) -> None:
        self._offer = offer
        self._values_in_use: OrderedDict[tuple[Any, ...], Mapping[str, Any]] = OrderedDict()

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        if ctx.method not in LASTING or ctx.request_id is None or (ctx.params or {}).get("cursor") is not None:
            return await call_next(ctx)
        in_use = await self._in_use(ctx)
        asked = (ctx.method, ctx.protocol_version, view_of(caller_of(ctx.request)), in_use)
        told = self._values_in_use.get(asked)
        if told is None:
            result = await call_next(ctx)
            # Values that changed meanwhile would be remembered as those from before.
            if isinstance(result, dict) and in_use == await self._in_use(ctx):
                self._remember(asked, result)
            return result
        _validate(ctx)
        return dict(told)

    async def _in_use(self, ctx: Context) -> InUse:
        return await values_of(self._offer) if ctx.method == "tools/list" else ()

    def _remember(self, asked: tuple[Any, ...], told: Mapping[str, Any]) -> None:
        self._values_in_use[asked] = told
        if len(self._values_in_use) > MAX_VIEWS:
            self._values_in_use.popitem(last=False)


async def values_of(offer: Offer) -> InUse:
    """What arguments can be at the moment, where tools say so. Never raises."""
    return await in_thread(values_in_use, offer) if asks(offer) else ()


def discovery(server: Server[Any]) -> Any:
    """The handler of `server/discover`. It names every version that is served: the SDK's own names the newest alone."""

    async def discover(ctx: Context, params: types.RequestParams) -> types.DiscoverResult:  # noqa: ARG001
        return types.DiscoverResult(
            supported_versions=VERSIONS,
            capabilities=server.get_capabilities(protocol_version=ctx.protocol_version),
            instructions=server.instructions,
            ttl_ms=CACHED["ttlMs"],
            cache_scope="private",
        )

    return discover


def _validate(ctx: Context) -> None:
    """As the SDK does for a request that it handles."""
    try:
        validate_client_request(ctx.method, ctx.protocol_version, ctx.params)
    except KeyError:
        raise MCPError(types.METHOD_NOT_FOUND, "Method not found", ctx.method) from None


def _answer(name: str, rows: Sequence[Any], onward: str | None) -> dict[str, Any]:
    return CACHED | {name: list(rows)} | ({"nextCursor": onward} if onward is not None else {})


def input_schema(tool: Tool) -> dict[str, Any]:
    """What a call may hold. Models see it with every conversation, so notes on parsing stay out of it."""
    given = tool.input_schema
    schema = dict(given if given is not None else _of(tool.arguments))
    schema.setdefault("type", "object")
    schema.setdefault("properties", {})
    schema.setdefault("additionalProperties", False)
    return schema


def output_schema(tool: Tool) -> dict[str, Any] | None:
    """What `structuredContent` holds; absent values are left out, so nothing with a default is required.

    The frame's `notes` may stand beside it: said of every tool, they would be a twentieth of the list.
    """
    if tool.output is None:
        return None
    schema = dict(_of(tool.output))
    schema["properties"] = {name: one for name, one in schema["properties"].items() if name != "notes"}
    return schema


@cache
def _of(model: type[BaseModel]) -> Mapping[str, Any]:
    """Made once: it takes milliseconds, and a client asks for every tool's whenever it connects."""
    return compact_schema(model.model_json_schema(by_alias=True, mode="validation"))


def compact_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Without titles, docstrings of models, null defaults and alternatives; definitions inlined where it is shorter."""
    definitions = {name: _model(one) for name, one in schema.get("$defs", {}).items()}
    bare: dict[str, Any] = _model({key: value for key, value in schema.items() if key != "$defs"})
    while chosen := next((name for name in definitions if _better_inline(name, bare, definitions)), None):
        body = definitions.pop(chosen)
        bare = _inlined(bare, chosen, body)
        definitions = {name: _inlined(one, chosen, body) for name, one in definitions.items()}
    return bare | ({"$defs": definitions} if definitions else {})


def _model(schema: Mapping[str, Any]) -> Any:
    """A model's own description is its docstring, written for who reads the code; those of its fields stay."""
    return _plain({key: value for key, value in schema.items() if key != "description"})


def _plain(node: Any) -> Any:
    if isinstance(node, list):
        return [_plain(one) for one in node]
    if not isinstance(node, dict):
        return node
    kept = {}
    for key, value in node.items():
        if key in _NAMED and isinstance(value, dict):
            kept[key] = {name: _plain(one) for name, one in value.items()}
        elif key in ("const", "enum", "examples", "default"):
            kept |= {} if key == "default" and value in (None, [], {}, "") else {key: value}
        elif not (key == "title" and isinstance(value, str)):
            kept[key] = _plain(value)
    return _without_null(kept)


def _without_null(node: dict[str, Any]) -> dict[str, Any]:
    """`X or null` is X: absence says null here, and null is taken for absence."""
    options = node.get("anyOf")
    if not isinstance(options, list) or {"type": "null"} not in options:
        return node
    rest = [one for one in options if one != {"type": "null"}]
    outside = {key: value for key, value in node.items() if key != "anyOf"}
    return {**rest[0], **outside} if len(rest) == 1 else {"anyOf": rest, **outside}


def _references(node: Any, name: str) -> int:
    if isinstance(node, list):
        return sum(_references(one, name) for one in node)
    if not isinstance(node, dict):
        return 0
    return (node.get("$ref") == _DEFINITIONS + name) + sum(_references(one, name) for one in node.values())


def _better_inline(name: str, bare: Any, definitions: Mapping[str, Any]) -> bool:
    body = definitions[name]
    if any(_references(body, other) for other in definitions):
        return False
    uses = _references(bare, name) + sum(_references(one, name) for one in definitions.values())
    size, reference = len(json.dumps(body)), len(json.dumps({"$ref": _DEFINITIONS + name}))
    return uses * size <= uses * reference + size + len(name) + 6


def _inlined(node: Any, name: str, body: Any) -> Any:
    if isinstance(node, list):
        return [_inlined(one, name, body) for one in node]
    if not isinstance(node, dict):
        return node
    told = {key: _inlined(one, name, body) for key, one in node.items() if key != "$ref"}
    if "$ref" not in node:
        return told
    return {**body, **told} if node["$ref"] == _DEFINITIONS + name else {"$ref": node["$ref"], **told}


def page(
    rows: Sequence[RowT], cursor: str | None, question: str, size: int, key: Callable[[RowT], str]
) -> tuple[Sequence[RowT], str | None]:
    """The rows of one page, and the cursor of the next. Raises MCPError -32602 for a cursor that is none of ours.

    A cursor holds the last row's key beside its place, so that rows which come and go meanwhile are neither shown
    twice nor skipped. An empty cursor is a cursor: only its absence begins at the beginning.
    """
    start = 0 if cursor is None else _start(rows, *_position(cursor, question), key)
    end = start + size
    if end >= len(rows):
        return rows[start:], None
    told = json.dumps([end, key(rows[end - 1])]).encode()
    return rows[start:end], sealed(told, question, purpose=_PURPOSE)


def _position(cursor: str, question: str) -> tuple[int, str]:
    try:
        if len(cursor) > MAX_CURSOR_CHARACTERS:
            raise ValueError("longer than any cursor")
        place, last = json.loads(opened(cursor, question, purpose=_PURPOSE))
    except ValueError:
        raise MCPError(INVALID_PARAMS, "Invalid cursor") from None
    if not isinstance(place, int) or not isinstance(last, str) or place < 1:
        raise MCPError(INVALID_PARAMS, "Invalid cursor")
    return place, last


def _start(rows: Sequence[RowT], place: int, last: str, key: Callable[[RowT], str]) -> int:
    if place <= len(rows) and key(rows[place - 1]) == last:
        return place
    return next((at + 1 for at, row in enumerate(rows) if key(row) == last), min(place, len(rows)))


def asks(offer: Offer) -> bool:
    """Whether any tool of this path has such an argument."""
    return any(one.tool.in_use for one in offer.tools.values())


def values_in_use(offer: Offer) -> InUse:
    """Asks stores, perhaps: not for an event loop. Never raises."""
    return tuple(
        (name, argument, _values_in_use(name, values))
        for name, one in offer.tools.items()
        for argument, values in one.tool.in_use.items()
    )


def described(schema: Mapping[str, Any], name: str, in_use: InUse) -> dict[str, Any]:
    """The input schema of this tool, with the values in its descriptions."""
    properties = dict(schema["properties"])
    for tool, argument, values in in_use:
        if tool == name and values:
            told = (properties[argument].get("description", "").rstrip("."), f"In use: {', '.join(values)}")
            properties[argument] = properties[argument] | {"description": ". ".join(filter(None, told))}
    return dict(schema) | {"properties": properties}


def _values_in_use(tool: str, values: Callable[[], Sequence[str]]) -> tuple[str, ...]:
    try:
        known = dict.fromkeys(value for value in values() if _SLUG.fullmatch(value))
    except CommonplaceError as error:
        logger.warning("a list goes without values", extra={"tool": tool, "error": error.code})
        return ()
    except Exception:
        logger.exception("a list goes without values", extra={"tool": tool})
        return ()
    return tuple(known)[:MAX_VALUES]


def tool_rows(offer: Offer, caller: Caller, in_use: InUse = ()) -> list[Row]:
    """Without icons: the server has one, and the same one on every tool would be 5% of the list."""
    return [_tool(one, in_use) for one in tools_for(offer, caller)]


def prompt_rows(offer: Offer, caller: Caller) -> list[Row]:
    return [_prompt(name, one) for name, one in offer.prompts.items() if shown(offer.needs["prompt", name], caller)]


def template_rows(offer: Offer, caller: Caller) -> list[Row]:
    shown_ones = (one for one in offer.templates if one.listed)
    return [_template(one) for one in shown_ones if shown(offer.needs["template", one.uri_template], caller)]


def resource_row(one: Resource | Listed) -> Row:
    return _resource(one) if isinstance(one, Resource) else _listed(one)


_LARGE = {"anthropic/maxResultSizeChars": MAX_CHARACTERS}
"""Whoever asks such a tool for more gets it in the answer: Claude Code would put it in a file from 50,000 on."""


def _tool(offered: Offered, in_use: InUse) -> Row:
    tool = offered.tool
    row: Row = {"name": offered.name, "title": tool.title, "description": tool.description}
    row["inputSchema"] = described(input_schema(tool), offered.name, in_use) if tool.in_use else input_schema(tool)
    if (schema := output_schema(tool)) is not None:
        row["outputSchema"] = schema
    row["annotations"] = _annotations(tool)
    if "max_tokens" in tool.arguments.model_fields:
        row["_meta"] = _LARGE
    return row


def _annotations(tool: Tool) -> Row:
    """Whether a call may be repeated says something of tools that write alone (the specification, on hints)."""
    told = {"title": tool.title, "readOnlyHint": tool.read_only, "destructiveHint": tool.destructive}
    told |= {} if tool.read_only else {"idempotentHint": tool.idempotent}
    return told | {"openWorldHint": tool.open_world}


def _prompt(name: str, prompt: Prompt) -> Row:
    arguments = [
        {"name": one.name, "description": one.description, "required": one.required} for one in prompt.arguments
    ]
    return {"name": name, "title": prompt.title, "description": prompt.description, "arguments": arguments}


def _resource(resource: Resource) -> Row:
    return {
        "uri": resource.uri,
        "name": resource.name,
        "title": resource.title,
        "description": resource.description,
        "mimeType": resource.mime_type,
    }


def _template(template: Template) -> Row:
    row = {
        "uriTemplate": template.uri_template,
        "name": template.name,
        "title": template.title,
        "description": template.description,
    }
    return row | ({"mimeType": template.mime_type} if template.mime_type else {})


def _listed(listed: Listed) -> Row:
    row: Row = {"uri": listed.uri, "name": listed.name, "title": listed.title, "mimeType": listed.mime_type}
    row |= {"description": listed.description} if listed.description else {}
    row |= {"size": listed.size} if listed.size is not None else {}
    return row | ({"annotations": {"lastModified": listed.updated_at}} if listed.updated_at else {})
