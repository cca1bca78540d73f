"""The skills extension (SEP-2640): skills as resources, and methods that list their files with sizes and digests.

`skill://{name}/SKILL.md` is the entry point, its references lie beside it. Entries carry size and digest, so a host can
verify what it fetches. The extension is one of 2026-07-28: clients of older versions read the same files as ordinary
resources (`skill_resources`), and get "method not found" here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
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
Handler = Callable[[Context, Any], Awaitable[dict[str, Any]]]


class SkillParams(RequestParams):
    """The parameter of `skills/get`: the address of a skill's `SKILL.md`."""

    uri: str


class DirectoryParams(PaginatedRequestParams):
    """The parameter of `resources/directory/read`: the address of a folder."""

    uri: str


def install_skills(server: Server[Any], skills: Sequence[Skill]) -> None:
    """Serve these skills, all known when the server is built, so that every list is one page.

    Does nothing where there are none. Raises ValueError for a skill that is malformed.
    """
    if not skills:
        return
    entries = {entry["uri"]: entry for entry in skill_entries(skills)}
    directories = skill_directories(skills)

    def skill_list(_: Any) -> dict[str, Any]:
        return {"skills": [*entries.values()]}

    def skill(params: SkillParams) -> dict[str, Any]:
        if (entry := entries.get(params.uri)) is None:
            raise MCPError(INVALID_PARAMS, "Unknown skill", {"uri": params.uri[:256]})
        return {"skill": entry}

    def directory(params: DirectoryParams) -> dict[str, Any]:
        if (rows := directories.get(params.uri.removesuffix("/"))) is None:
            raise MCPError(INVALID_PARAMS, "Unknown directory", {"uri": params.uri[:256]})
        return {"resources": rows}

    def modern(answer: Callable[[Any], dict[str, Any]]) -> Handler:
        async def handler(ctx: Context, params: Any) -> dict[str, Any]:
            if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
                raise MCPError(METHOD_NOT_FOUND, "Method not found", ctx.method)
            # No list here has a second page, so no cursor is one of ours.
            if getattr(params, "cursor", None) is not None:
                raise MCPError(INVALID_PARAMS, "Invalid cursor")
            return CACHED | answer(params)

        return handler

    server.extensions[EXTENSION] = {"directoryRead": True}
    server.add_request_handler("skills/list", PaginatedRequestParams, modern(skill_list))
    server.add_request_handler("skills/get", SkillParams, modern(skill))
    server.add_request_handler("resources/directory/read", DirectoryParams, modern(directory))
