"""The skills extension (SEP-2640): skills as resources, and methods that list their files with sizes and digests.

`skill://{name}/SKILL.md` is the entry point, its references lie beside it. Entries carry size and digest, so a host can
verify what it fetches. The extension is one of 2026-07-28: clients of older versions read the same files as ordinary
resources (`skill_resources`), and get "method not found" here.
"""

import hashlib
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial, wraps
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND, PaginatedRequestParams, RequestParams
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from commonplace.web.mcp.declaration import Call, Resource, Skill
from commonplace.web.mcp.rendering import CACHED

MANIFEST = "SKILL.md"
DIRECTORY = "inode/directory"

_MEDIA_TYPES = {".md": "text/markdown", ".json": "application/json", ".csv": "text/csv", ".py": "text/x-python"}
_NAME = re.compile(r"(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
_PATH = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(?:/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")
_HEAD = re.compile(r"---\n(?P<fields>(?:[a-z-]+: [^\n]+\n)+)---\n")

EXTENSION = "io.modelcontextprotocol/skills"

Context = ServerRequestContext[Any, Any]
Answer = dict[str, Any]


def frontmatter(skill: Skill) -> dict[str, str]:
    """The fields above the text, each one line of plain YAML: so much is enough for ours, and needs no parser.

    Raises ValueError for a skill that is not written so, or lacks what every skill must say of itself.
    """
    head = _HEAD.match(skill.files.get(MANIFEST, ""))
    fields = dict(line.split(": ", 1) for line in head["fields"].splitlines()) if head else {}
    if not all(map(_is_plain, fields.values())) or not fields.get("description"):
        raise ValueError(f"{MANIFEST} of the skill {skill.name!r} needs frontmatter of plain lines, with a description")
    if fields.get("name") != skill.name or _NAME.fullmatch(skill.name) is None:
        raise ValueError(f"the skill {skill.name!r} has to be called so in its frontmatter, in lower case with hyphens")
    return fields


def _is_plain(value: str) -> bool:
    """Whether YAML takes it for this very text as it stands."""
    constant = value.casefold() in ("null", "true", "false")
    ends_well = value == value.strip() and not value.endswith(":")
    return value[:1].isalpha() and value.isprintable() and ends_well and not constant and not re.search(": | #", value)


def skill_resources(skills: Iterable[Skill]) -> tuple[Resource, ...]:
    """Every file of every skill, to be listed and read like any other resource. Raises ValueError."""
    return tuple(_resource(skill, path) for skill in skills for path in _paths(skill))


def skill_entries(skills: Iterable[Skill]) -> list[dict[str, Any]]:
    """What `skills/list` says of each, in the wire's own shape."""
    return [
        {
            "uri": _uri(skill, MANIFEST),
            "frontmatter": frontmatter(skill),
            "resources": [_file(skill, path) for path in _paths(skill)],
        }
        for skill in skills
    ]


def skill_directories(skills: Iterable[Skill]) -> Mapping[str, list[dict[str, Any]]]:
    """By address without a slash at its end: what lies directly in each folder, files and folders."""
    folders: dict[str, dict[str, dict[str, Any]]] = {}
    for skill in skills:
        for path in map(PurePosixPath, _paths(skill)):
            lines = [path, *path.parents]
            for child, folder in pairwise(lines):
                row = _row(skill, path) if child == path else _folder_row(skill, child)
                folders.setdefault(_directory(skill, folder), {})[row["uri"]] = row
    return {uri: list(rows.values()) for uri, rows in folders.items()}


def _paths(skill: Skill) -> list[str]:
    """The skill's own text first. Raises ValueError for a path that does not lie in the skill's folder."""
    if bad := [path for path in skill.files if _PATH.fullmatch(path) is None]:
        raise ValueError(f"the skill {skill.name!r} has files at paths that are no plain relative ones: {bad}")
    return sorted(skill.files, key=lambda path: (path != MANIFEST, path))


def _resource(skill: Skill, path: str) -> Resource:
    fields = frontmatter(skill)
    own = path == MANIFEST
    return Resource(
        uri=_uri(skill, path),
        name=skill.name if own else path,
        title=fields.get("title", f"Skill: {skill.name}") if own else f"{path} of the skill {skill.name}",
        description=fields["description"] if own else f"Part of the skill {skill.name}, which says when to read it.",
        mime_type=_media_type(path),
        read=partial(_text, skill.files[path]),
    )


def _text(text: str, call: Call) -> str:  # noqa: ARG001 - the shape of a resource
    return text


def _file(skill: Skill, path: str) -> dict[str, Any]:
    raw = skill.files[path].encode()
    return {"uri": _uri(skill, path), "digest": f"sha256:{hashlib.sha256(raw).hexdigest()}", "size": len(raw)}


def _row(skill: Skill, path: PurePosixPath) -> dict[str, Any]:
    name = skill.name if str(path) == MANIFEST else path.name
    size = len(skill.files[str(path)].encode())
    return {"uri": _uri(skill, str(path)), "name": name, "mimeType": _media_type(str(path)), "size": size}


def _folder_row(skill: Skill, folder: PurePosixPath) -> dict[str, Any]:
    return {"uri": _directory(skill, folder), "name": folder.name, "mimeType": DIRECTORY}


def _directory(skill: Skill, folder: PurePosixPath) -> str:
    return f"skill://{skill.name}" if folder == PurePosixPath() else _uri(skill, str(folder))


def _uri(skill: Skill, path: str) -> str:
    return f"skill://{skill.name}/{path}"


def _media_type(path: str) -> str:
    return _MEDIA_TYPES.get(PurePosixPath(path).suffix, "text/plain")


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
