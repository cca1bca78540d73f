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
from operator import itemgetter
from typing import Any, TypeVar

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from mcp_types.methods import validate_client_request
from pydantic import BaseModel

from commonplace.kernel.errors import CommonplaceError
from commonplace.web.mcp.budgets import MAX_CHARACTERS
from commonplace.web.mcp.calls import VERSIONS, Context, Surface, in_thread, only, protocol_error
from commonplace.web.mcp.declaration import Caller, Listed, Resource, Tool
from commonplace.web.mcp.offer import Offer, Offered, caller_of, exists, shown, tools_for, view_of
from commonplace.web.mcp.rendering import CACHED
from commonplace.web.sealed import opened, sealed

logger = logging.getLogger(__name__)

MAX_CURSOR_CHARACTERS = 4_096
MAX_VALUES = 30
"""Values in use that a list names for one argument."""
LASTING = frozenset(("tools/list", "prompts/list", "resources/templates/list", "server/discover"))
"""Methods whose answers only a deployment changes."""
MAX_VIEWS = 300
"""Answers to send again: by method, version, and what a caller may ever use."""

_PURPOSE = b"mcp-list"
_DEFINITIONS = "#/$defs/"
_NAMED = ("properties", "$defs", "patternProperties", "dependentSchemas")
"""Keywords whose value maps names to schemas: a name is not a keyword, even if it reads `title`."""
_SLUG = re.compile(r"[a-z0-9][a-z0-9.-]{0,59}")
"""Versions have dots."""
_LARGE = {"anthropic/maxResultSizeChars": MAX_CHARACTERS}
"""Whoever requests more of such a tool gets it in the answer: Claude Code would put it in a file from 50,000 on."""

RowT = TypeVar("RowT")
Row = dict[str, Any]
Paged = types.PaginatedRequestParams

InUse = tuple[tuple[str, str, tuple[str, ...]], ...]
"""`(tool, argument, values)`, the same for the same values."""


class Lists:
    """The lists of one path; as a middleware of the server, it sends again what a list said the first time.

    To validate and dump 40 kB costs 5 ms each time.
    """

    def __init__(self, offer: Offer, surface: Surface) -> None:
        self._offer = offer
        self._size = surface.page_size
        self._path = ",".join(one.name for one in offer.toolsets)
        self._sent: OrderedDict[tuple[Any, ...], Mapping[str, Any]] = OrderedDict()

    def install(self, server: Server[Any]) -> None:
        """Serve the lists. Discovery names every version that is served: the SDK's own names the newest alone."""

        async def discover(ctx: Context, params: types.RequestParams) -> types.DiscoverResult:  # noqa: ARG001
            return types.DiscoverResult(
                supported_versions=VERSIONS,
                capabilities=server.get_capabilities(protocol_version=ctx.protocol_version),
                instructions=server.instructions,
                ttl_ms=CACHED["ttlMs"],
                cache_scope="private",
            )

        server.add_request_handler("tools/list", Paged, self.tools)
        server.add_request_handler("prompts/list", Paged, self.prompts)
        server.add_request_handler("resources/list", Paged, self.resources)
        server.add_request_handler("resources/templates/list", Paged, self.templates)
        server.add_request_handler("server/discover", types.RequestParams, discover)
        # In place of the SDK's spans, which no exporter here takes: calls are counted by `surface.record`.
        server.middleware[:] = [only(LASTING, self.again)]

    async def again(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        if ctx.request_id is None or (ctx.params or {}).get("cursor") is not None:
            return await call_next(ctx)
        caller, lists_tools = caller_of(ctx.request), ctx.method == "tools/list"
        if lists_tools and self._offer.further is not None:
            return await call_next(ctx)  # tools that come and go
        in_use = await self._values(caller) if lists_tools else ()
        key = (ctx.method, ctx.protocol_version, view_of(caller), in_use)
        if (sent := self._sent.get(key)) is not None:
            try:  # as the SDK does for a request that it handles
                validate_client_request(ctx.method, ctx.protocol_version, ctx.params)
            except KeyError:
                raise MCPError(types.METHOD_NOT_FOUND, "Method not found", ctx.method) from None
            return dict(sent)
        result = await call_next(ctx)
        # Values that changed meanwhile would be remembered as those from before.
        if isinstance(result, dict) and in_use == (await self._values(caller) if lists_tools else ()):
            self._sent[key] = result
            if len(self._sent) > MAX_VIEWS:
                self._sent.popitem(last=False)
        return result

    async def tools(self, ctx: Context, params: Paged) -> dict[str, Any]:
        caller = caller_of(ctx.request)
        in_use = await self._values(caller)
        # Without icons: the server has one, and the same one on every tool would be 5% of the list.
        rows = [_tool(one, in_use) for one in tools_for(self._offer, caller)]
        rows += [_tool(one, ()) for one in await in_thread(self._further, caller)]
        return self._paged(ctx, params, "tools", rows, itemgetter("name"))

    def _further(self, caller: Caller) -> list[Offered]:
        """Return the tools that a caller has besides. A store that does not answer costs them, not the list."""
        offer = self._offer
        if offer.further is None or caller.principal.anonymous or not shown(offer.further_need, caller):
            return []
        try:
            return [one for one in offer.further_tools(caller) if exists(one, caller)]
        except CommonplaceError as error:
            logger.warning("a list goes without further tools", extra={"error": error.code})
            return []

    async def prompts(self, ctx: Context, params: Paged) -> dict[str, Any]:
        caller = caller_of(ctx.request)
        rows: list[Row] = []
        for name, prompt in self._offer.prompts.items():
            if shown(self._offer.needs["prompt", name], caller):
                arguments = [
                    {"name": one.name, "description": one.description, "required": one.required}
                    for one in prompt.arguments
                ]
                row = {"name": name, "title": prompt.title, "description": prompt.description}
                rows.append(row | {"arguments": arguments})
        return self._paged(ctx, params, "prompts", rows, itemgetter("name"))

    async def templates(self, ctx: Context, params: Paged) -> dict[str, Any]:
        caller = caller_of(ctx.request)
        rows: list[Row] = []
        for one in self._offer.templates:
            if one.listed and shown(self._offer.needs["template", one.uri_template], caller):
                row = {"uriTemplate": one.uri_template, "name": one.name, "title": one.title}
                row |= {"description": one.description}
                rows.append(row | ({"mimeType": one.mime_type} if one.mime_type else {}))
        return self._paged(ctx, params, "resourceTemplates", rows, itemgetter("uriTemplate"))

    async def resources(self, ctx: Context, params: Paged) -> dict[str, Any]:
        """List those with an address of their own, then documents. Raises MCPError when the store does not answer."""
        caller, offer = caller_of(ctx.request), self._offer

        def listed() -> list[Resource | Listed]:
            rows: list[Resource | Listed] = [
                one
                for uri, one in offer.resources.items()
                if one.listed and shown(offer.needs["resource", uri], caller)
            ]
            for toolset in offer.toolsets:
                if toolset.documents is not None and shown(toolset.need_of(None), caller):
                    rows.extend(toolset.documents(caller))
            return rows

        try:
            rows = await in_thread(listed)
        except Exception as error:
            raise protocol_error(error) from error
        answer = self._paged(ctx, params, "resources", rows, lambda row: row.uri)
        written: list[Row] = []
        for one in answer["resources"]:
            row: Row = {"uri": one.uri, "name": one.name, "title": one.title}
            if isinstance(one, Resource):
                row |= {"description": one.description, "mimeType": one.mime_type}
            else:
                row |= {"mimeType": one.mime_type} | ({"description": one.description} if one.description else {})
                row |= {"size": one.size} if one.size is not None else {}
                row |= {"annotations": {"lastModified": one.updated_at}} if one.updated_at else {}
            written.append(row)
        return answer | {"resources": written}

    async def _values(self, caller: Caller) -> InUse:
        """Return what arguments can be at the moment for this caller, where tools say so. Never raises."""
        if not any(one.tool.in_use for one in self._offer.tools.values()):
            return ()

        def read(tool: str, values: Callable[[Caller], Sequence[str]]) -> tuple[str, ...]:
            try:
                known = dict.fromkeys(value for value in values(caller) if _SLUG.fullmatch(value))
            except CommonplaceError as error:
                logger.warning("a list goes without values", extra={"tool": tool, "error": error.code})
                return ()
            except Exception:
                logger.exception("a list goes without values", extra={"tool": tool})
                return ()
            return tuple(known)[:MAX_VALUES]

        def read_all() -> InUse:
            return tuple(
                (name, argument, read(name, values))
                for name, one in self._offer.tools.items()
                for argument, values in one.tool.in_use.items()
            )

        return await in_thread(read_all)

    def _paged(
        self, ctx: Context, params: Paged, name: str, rows: list[Any], key: Callable[[Any], str]
    ) -> dict[str, Any]:
        question = f"{ctx.method} {self._path} {view_of(caller_of(ctx.request))}"
        found, onward = page(rows, params.cursor, question, self._size, key)
        return CACHED | {name: list(found)} | ({"nextCursor": onward} if onward is not None else {})


def _tool(offered: Offered, in_use: InUse) -> Row:
    tool, schema = offered.tool, input_schema(offered.tool)
    if tool.in_use:
        properties = dict(schema["properties"])
        for name, argument, values in in_use:
            if name == offered.name and values:
                texts = (properties[argument].get("description", "").rstrip("."), f"In use: {', '.join(values)}")
                properties[argument] = properties[argument] | {"description": ". ".join(filter(None, texts))}
        schema = schema | {"properties": properties}
    row: Row = {"name": offered.name, "title": tool.title, "description": tool.description, "inputSchema": schema}
    if (written := output_schema(tool)) is not None:
        row["outputSchema"] = written
    hints = {"title": tool.title, "readOnlyHint": tool.read_only, "destructiveHint": tool.destructive}
    # Whether a call may be repeated says something of tools that write alone (the specification, on hints).
    hints |= {} if tool.read_only else {"idempotentHint": tool.idempotent}
    row["annotations"] = hints | {"openWorldHint": tool.open_world}
    if "max_tokens" in tool.arguments.model_fields:
        row["_meta"] = _LARGE
    return row


def input_schema(tool: Tool) -> dict[str, Any]:
    """Return what a call may hold. Models see it with every conversation, so notes on parsing stay out of it."""
    if tool.raw:
        return dict(tool.input_schema or {"type": "object"})
    schema = dict(_schema_of(tool.arguments) if tool.input_schema is None else tool.input_schema)
    for key, value in (("type", "object"), ("properties", {}), ("additionalProperties", False)):
        schema.setdefault(key, value)
    return schema


def output_schema(tool: Tool) -> dict[str, Any] | None:
    """Return what `structuredContent` holds; absent values are left out, so nothing with a default is required.

    The frame's `notes` may stand beside it: said of every tool, they would be a twentieth of the list.
    """
    if tool.output is None:
        return None
    schema = dict(_schema_of(tool.output))
    schema["properties"] = {name: one for name, one in schema["properties"].items() if name != "notes"}
    return schema


@cache
def _schema_of(model: type[BaseModel]) -> Mapping[str, Any]:
    """Return a schema, made once: it takes milliseconds, and a client lists every tool's whenever it connects."""
    return compact_schema(model.model_json_schema(by_alias=True, mode="validation"))


def compact_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return it without titles, docstrings of models, null defaults; definitions inlined where that is shorter."""
    definitions = {name: _bare(one) for name, one in schema.get("$defs", {}).items()}
    bare: dict[str, Any] = _bare({key: value for key, value in schema.items() if key != "$defs"})

    def better_inline(name: str) -> bool:
        body = definitions[name]
        if any(_references(body, other) for other in definitions):
            return False
        uses = _references(bare, name) + sum(_references(one, name) for one in definitions.values())
        size, reference = len(json.dumps(body)), len(json.dumps({"$ref": _DEFINITIONS + name}))
        return uses * size <= uses * reference + size + len(name) + 6

    while chosen := next((name for name in definitions if better_inline(name)), None):
        body = definitions.pop(chosen)
        bare = _inlined(bare, chosen, body)
        definitions = {name: _inlined(one, chosen, body) for name, one in definitions.items()}
    return bare | ({"$defs": definitions} if definitions else {})


def _bare(schema: Mapping[str, Any]) -> Any:
    """Drop a model's own description: it is its docstring, written for who reads the code. Those of fields stay."""
    return _plain({key: value for key, value in schema.items() if key != "description"})


def _plain(node: Any) -> Any:
    if isinstance(node, list):
        return [_plain(one) for one in node]
    if not isinstance(node, dict):
        return node
    kept: dict[str, Any] = {}
    for key, value in node.items():
        if key in _NAMED and isinstance(value, dict):
            kept[key] = {name: _plain(one) for name, one in value.items()}
        elif key in ("const", "enum", "examples", "default"):
            kept |= {} if key == "default" and value in (None, [], {}, "") else {key: value}
        elif not (key == "title" and isinstance(value, str)):
            kept[key] = _plain(value)
    # `X or null` is X: absence says null here, and null is taken for absence.
    options = kept.get("anyOf")
    if not isinstance(options, list) or {"type": "null"} not in options:
        return kept
    rest = [one for one in options if one != {"type": "null"}]
    del kept["anyOf"]
    return (rest[0] if len(rest) == 1 else {"anyOf": rest}) | kept


def _references(node: Any, name: str) -> int:
    return json.dumps(node).count(json.dumps(_DEFINITIONS + name))


def _inlined(node: Any, name: str, body: Any) -> Any:
    if isinstance(node, list):
        return [_inlined(one, name, body) for one in node]
    if not isinstance(node, dict):
        return node
    rest = {key: _inlined(one, name, body) for key, one in node.items() if key != "$ref"}
    if "$ref" not in node:
        return rest
    return {**body, **rest} if node["$ref"] == _DEFINITIONS + name else {"$ref": node["$ref"], **rest}


def page(
    rows: Sequence[RowT], cursor: str | None, question: str, size: int, key: Callable[[RowT], str]
) -> tuple[Sequence[RowT], str | None]:
    """Return the rows of one page, and the cursor of the next. Raises MCPError -32602 for an unknown cursor.

    A cursor holds the last row's key beside its place, so that rows which come and go meanwhile are neither shown
    twice nor skipped. An empty cursor is a cursor: only its absence begins at the beginning.
    """
    start = 0
    if cursor is not None:
        try:
            if len(cursor) > MAX_CURSOR_CHARACTERS:
                raise ValueError("longer than any cursor")
            start, last = json.loads(opened(cursor, question, purpose=_PURPOSE))
            if not isinstance(start, int) or not isinstance(last, str) or start < 1:
                raise ValueError("not a cursor")
        except ValueError:
            raise MCPError(INVALID_PARAMS, "Invalid cursor") from None
        if start > len(rows) or key(rows[start - 1]) != last:
            start = next((at + 1 for at, row in enumerate(rows) if key(row) == last), min(start, len(rows)))
    end = start + size
    if end >= len(rows):
        return rows[start:], None
    position = json.dumps([end, key(rows[end - 1])]).encode()
    return rows[start:end], sealed(position, question, purpose=_PURPOSE)
