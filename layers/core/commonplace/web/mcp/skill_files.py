"""The files of skills as resources, and what the skills extension lists of them: sizes and digests."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any

from commonplace.web.mcp.declaration import Resource, Skill

MANIFEST = "SKILL.md"
DIRECTORY = "inode/directory"

_MEDIA_TYPES = {".md": "text/markdown", ".json": "application/json", ".csv": "text/csv", ".py": "text/x-python"}
_NAME = re.compile(r"(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
_PATH = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(?:/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")
_HEAD = re.compile(r"---\n(?P<fields>(?:[a-z-]+: [^\n]+\n)+)---\n")


def frontmatter(skill: Skill) -> dict[str, str]:
    """Return the fields above the text, each one line of plain YAML: so much is enough, and needs no parser.

    Raises ValueError for a skill that is not written so, or lacks what every skill must say of itself.
    """
    head = _HEAD.match(skill.files.get(MANIFEST, ""))
    fields = dict(line.split(": ", 1) for line in head["fields"].splitlines()) if head else {}
    if not all(map(is_plain, fields.values())) or not fields.get("description"):
        raise ValueError(f"{MANIFEST} of the skill {skill.name!r} needs frontmatter of plain lines, with a description")
    if fields.get("name") != skill.name or _NAME.fullmatch(skill.name) is None:
        raise ValueError(f"the skill {skill.name!r} has to be called so in its frontmatter, in lower case with hyphens")
    return fields


def is_plain(value: str) -> bool:
    """Return whether YAML takes it for this very text as it stands."""
    constant = value.casefold() in ("null", "true", "false")
    ends_well = value == value.strip() and not value.endswith(":")
    return value[:1].isalpha() and value.isprintable() and ends_well and not constant and not re.search(": | #", value)


def skill_resources(skills: Iterable[Skill]) -> tuple[Resource, ...]:
    """Return every file of every skill, to be listed and read like any other resource. Raises ValueError."""
    found = []
    for skill in skills:
        fields = frontmatter(skill)
        for path in _paths(skill):
            own, title = path == MANIFEST, f"{path} of the skill {skill.name}"
            part = f"Part of the skill {skill.name}, which says when to read it."
            found.append(
                Resource(
                    uri=_uri(skill, path),
                    name=skill.name if own else path,
                    title=fields.get("title", f"Skill: {skill.name}") if own else title,
                    description=fields["description"] if own else part,
                    mime_type=_media_type(path),
                    read=lambda _, text=skill.files[path]: text,  # type: ignore[misc]
                )
            )
    return tuple(found)


def skill_entries(skills: Iterable[Skill]) -> list[dict[str, Any]]:
    """Return what `skills/list` says of each, in the wire's own shape."""
    entries = []
    for skill in skills:
        files = []
        for path in _paths(skill):
            raw = skill.files[path].encode()
            digest = f"sha256:{hashlib.sha256(raw).hexdigest()}"
            files.append({"uri": _uri(skill, path), "digest": digest, "size": len(raw)})
        entries.append({"uri": _uri(skill, MANIFEST), "frontmatter": frontmatter(skill), "resources": files})
    return entries


def skill_directories(skills: Iterable[Skill]) -> Mapping[str, list[dict[str, Any]]]:
    """Return what lies directly in each folder, files and folders, by its address without a slash at its end."""
    folders: dict[str, dict[str, dict[str, Any]]] = {}
    for skill in skills:
        for path in map(PurePosixPath, _paths(skill)):
            for child, folder in pairwise([path, *path.parents]):
                row: dict[str, Any] = {"uri": _uri(skill, str(child)), "name": child.name, "mimeType": DIRECTORY}
                if child == path:
                    size = len(skill.files[str(path)].encode())
                    row |= {"mimeType": _media_type(str(path)), "size": size}
                    row |= {"name": skill.name} if str(path) == MANIFEST else {}
                above = f"skill://{skill.name}" if folder == PurePosixPath() else _uri(skill, str(folder))
                folders.setdefault(above, {})[row["uri"]] = row
    return {uri: list(rows.values()) for uri, rows in folders.items()}


def _paths(skill: Skill) -> list[str]:
    """Return the skill's own text first. Raises ValueError for a path that does not lie in the skill's folder."""
    if bad := [path for path in skill.files if _PATH.fullmatch(path) is None]:
        raise ValueError(f"the skill {skill.name!r} has files at paths that are no plain relative ones: {bad}")
    return sorted(skill.files, key=lambda path: (path != MANIFEST, path))


def _uri(skill: Skill, path: str) -> str:
    return f"skill://{skill.name}/{path}"


def _media_type(path: str) -> str:
    return _MEDIA_TYPES.get(PurePosixPath(path).suffix, "text/plain")
