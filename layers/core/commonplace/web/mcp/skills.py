"""The skills extension (SEP-2640) on a server: what there is to learn here, without reading all of it first.

The files themselves are ordinary resources (`skill_files.skill_resources`). An extension of 2026-07-28 only: clients of
older versions read the same files as resources, and are answered here as for a method that does not exist.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import wraps
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND, PaginatedRequestParams, RequestParams
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from commonplace.web.mcp.declaration import Skill
from commonplace.web.mcp.rendering import CACHED
from commonplace.web.mcp.skill_files import skill_directories, skill_entries

EXTENSION = "io.modelcontextprotocol/skills"

Context = ServerRequestContext[Any, Any]
Answer = dict[str, Any]


class SkillParams(RequestParams):
    """Of `skills/get`: the address of a skill's `SKILL.md`."""

    uri: str


class DirectoryParams(PaginatedRequestParams):
    """Of `resources/directory/read`: the address of a folder."""

    uri: str


def install_skills(server: Server[Any], skills: Sequence[Skill]) -> None:
    """Serves these skills; does nothing where there are none. Raises ValueError for a skill that is malformed."""
    if not skills:
        return
    shelf = _Shelf(skills)
    server.extensions[EXTENSION] = {"directoryRead": True}
    server.add_request_handler("skills/list", PaginatedRequestParams, _modern(shelf.list))
    server.add_request_handler("skills/get", SkillParams, _modern(shelf.get))
    server.add_request_handler("resources/directory/read", DirectoryParams, _modern(shelf.directory))


class _Shelf:
    """Few skills, all known when the server is built: every list is one page."""

    def __init__(self, skills: Sequence[Skill]) -> None:
        self._entries = {entry["uri"]: entry for entry in skill_entries(skills)}
        self._directories = skill_directories(skills)

    async def list(self, ctx: Context, params: PaginatedRequestParams) -> Answer:  # noqa: ARG002 - a handler's shape
        _refuse_cursor(params)
        return CACHED | {"skills": [*self._entries.values()]}

    async def get(self, ctx: Context, params: SkillParams) -> Answer:  # noqa: ARG002
        if (entry := self._entries.get(params.uri)) is None:
            raise _unknown("skill", params.uri)
        return CACHED | {"skill": entry}

    async def directory(self, ctx: Context, params: DirectoryParams) -> Answer:  # noqa: ARG002
        _refuse_cursor(params)
        if (rows := self._directories.get(params.uri.removesuffix("/"))) is None:
            raise _unknown("directory", params.uri)
        return CACHED | {"resources": rows}


def _modern(handler: Callable[[Context, Any], Awaitable[Answer]]) -> Callable[[Context, Any], Awaitable[Answer]]:
    @wraps(handler)
    async def gated(ctx: Context, params: Any) -> Answer:
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            raise MCPError(METHOD_NOT_FOUND, "Method not found", ctx.method)
        return await handler(ctx, params)

    return gated


def _refuse_cursor(params: PaginatedRequestParams) -> None:
    """No list here has a second page, so no cursor is one of ours."""
    if params.cursor is not None:
        raise MCPError(INVALID_PARAMS, "Invalid cursor")


def _unknown(thing: str, uri: str) -> MCPError:
    return MCPError(INVALID_PARAMS, f"Unknown {thing}", {"uri": uri[:256]})
