"""Drafts: which files of a folder belong to a catalogue, and the fields each holds, unchecked but for their form."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

from commonplace.kernel.yaml import Parsed, Place, YamlError
from commonplace.kernel.yaml import read as read_yaml
from commonplace.reference.model import SETTINGS_FILE, EntryType
from commonplace.reference.source import bounds
from commonplace.reference.source.fields import Fields, fields_of, snake
from commonplace.reference.source.findings import At, Findings
from commonplace.reference.source.values import JsonError, sentence
from commonplace.reference.source.values import read as read_json
from commonplace.repository import markdown
from commonplace.repository.comments import visible
from commonplace.repository.problems import Problem as FileProblem
from commonplace.repository.slugs import slug, without_suffix

Kind = Literal["settings", "json", "yaml", "markdown"]

SOURCES = "sources"
"""Folder of what entries are generated from."""
SUFFIXES: dict[str, Kind] = {".json": "json", ".yaml": "yaml", ".yml": "yaml", ".md": "markdown"}

SCHEMAS = "schemas"
"""Beside `entries`: lists of parameters by name, which entries have as `{"schema": NAME}` among theirs."""

FOLDERS: dict[str, EntryType] = {
    "commands": "command",
    "command": "command",
    "cli": "command",
    "api": "api",
    "api-endpoints": "api",
    "endpoints": "api",
    "guides": "guide",
    "guide": "guide",
    "features": "feature",
    "feature": "feature",
    "troubleshooting": "troubleshooting",
    "settings": "setting",
    "setting": "setting",
}
"""Names of files and folders that say of which type the entries in them are, where these do not say it themselves."""

_TELLING = {"id", "type", "title", "category", "summary", "content", "name"}
"""A mapping with none of these is something else than an entry."""
_OTHER = "Write the fields of an entry; begin the file's name with `_` if it is something else."
_HINT = "Write a list of entries, or `entries:` with a list, or the fields of one entry."


def kind_of(path: str) -> Kind | None:
    """Return what is to be read of a path inside the catalogue's folder; None for what is left out, or is not known."""
    if path == SETTINGS_FILE:
        return "settings"
    return None if left_out(path) else SUFFIXES.get(PurePosixPath(path).suffix.lower())


def is_read(path: str) -> bool:
    """Return whether a sync has to fetch this file."""
    return kind_of(path) is not None


def left_out(path: str) -> bool:
    """README.md, what generators read, and what is hidden or set aside by a dot or an underscore before its name."""
    parts = PurePosixPath(path).parts
    if not parts:
        return True
    hidden = any(part.startswith((".", "_")) for part in parts)
    return hidden or parts[0] == SOURCES or parts[-1].lower() == "readme.md"


@dataclass(frozen=True, slots=True)
class Draft:
    """An entry as it is written."""

    fields: Fields
    type: EntryType | None
    """What its file's name or its folder says."""
    body: str | None = None
    """The text of a Markdown file, which is an entry's content."""
    body_line: int = 1
    id: str | None = None
    """Of a Markdown file: what its path says."""
    category: str | None = None
    """The folder inside the type's folder."""


def drafts(path: str, kind: Kind, raw: bytes, findings: Findings) -> Iterator[Draft]:
    """Return what a file says. Never raises: what cannot be read is reported."""
    at = At(path)
    if len(raw) > bounds.MAX_FILE_BYTES:
        size = f"{bounds.MAX_FILE_BYTES // 1_000_000} MB"
        findings.error("too-large", f"The file is larger than {size}.", "Split it into several files.", at)
    elif kind == "markdown":
        yield from _markdown(path, raw, findings, at)
    elif (parsed := _parsed(kind, raw, findings, at)) is not None:
        yield from _listed(path, parsed, findings, at)


def _parsed(kind: Kind, raw: bytes, findings: Findings, at: At) -> Parsed | None:
    try:
        text = raw.decode("utf-8-sig")
        if kind == "json":
            return read_json(text)
        return read_yaml(text, max_depth=bounds.MAX_DEPTH, max_values=bounds.MAX_VALUES, lines_to_depth=3)
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        findings.error("malformed-file", "The file is not UTF-8.", "Save it in the encoding UTF-8.", at.on(line))
    except JsonError as error:
        message = f"The file is not valid JSON: {error.message}."
        findings.error("malformed-file", message, "Mend this place; it may begin a line earlier.", at.on(error.line))
    except YamlError as error:
        message = f"The file cannot be read as YAML. {sentence(error.reason)}"
        hint = "Write plain lists and mappings; put quotes around values with special characters."
        findings.error("malformed-file", message, hint, at.on(error.line))
    return None


def _listed(path: str, parsed: Parsed, findings: Findings, at: At) -> Iterator[Draft]:
    value, place, schemas = parsed.value, tuple[str | int, ...](), None
    if isinstance(value, dict) and "entries" in value:
        value, place, schemas = value["entries"], ("entries",), value.get(SCHEMAS)
    elif isinstance(value, dict):
        if not _TELLING & {snake(key) for key in value}:
            findings.error("malformed-file", "The file contains no entry.", _OTHER, at.on(1))
            return
        yield Draft(fields_of(value, (), parsed, at.on(1), findings), type_of(path), category=category_of(path))
        return
    if value is None:
        findings.warning("empty-file", "The file is empty.", _HINT, at)
        return
    if not isinstance(value, list):
        findings.error("malformed-file", "The file is not a list of entries.", _HINT, at.on(1))
        return
    count = 0
    for index, one in enumerate(value):
        here = at.on(parsed.lines.get((*place, index)))
        if isinstance(one, dict):
            given, one = one, with_schemas(one, schemas)  # noqa: PLW2901 - the same with its parameters
            count += len(one["parameters"]) if one is not given else 0
            if count > bounds.MAX_VALUES:
                findings.error("too-large", "Its schemas are too many parameters.", "Split it into several files.", at)
                return
            fields = fields_of(one, (*place, index), parsed, here, findings)
            yield Draft(fields, type_of(path), category=category_of(path))
        else:
            findings.error("malformed-file", f"Entry {index + 1} of the file is not a mapping of fields.", _HINT, here)


def with_schemas(entry: dict[str, Any], schemas: Any) -> dict[str, Any]:
    """Return an entry with the parameters that its file stores once for several; itself where it has none of them."""
    given = entry.get("parameters")
    if not isinstance(schemas, dict) or not isinstance(given, list):
        return entry
    found: list[Any] = []
    for one in given:
        name = one["schema"] if isinstance(one, dict) and one.keys() == {"schema"} else None
        shared = schemas.get(name) if isinstance(name, str) else None
        found += shared if isinstance(shared, list) else [one]
    return {**entry, "parameters": found} if found != given else entry


def type_of(path: str) -> EntryType | None:
    """Return the type that the file's name says, else the innermost folder that says one."""
    parts = PurePosixPath(path)
    names = (parts.stem, *reversed(parts.parent.parts))
    return next((FOLDERS[name.lower()] for name in names if name.lower() in FOLDERS), None)


def category_of(path: str) -> str | None:
    """`guides/google-workspace/first.md`: the folder below that of the type."""
    folders = PurePosixPath(path).parent.parts
    below = next((place + 1 for place, name in enumerate(folders) if name.lower() in FOLDERS), len(folders))
    return slug(folders[below]) or None if below < len(folders) else None


def _markdown(path: str, raw: bytes, findings: Findings, at: At) -> Iterator[Draft]:
    parsed = markdown.parse(raw)
    if isinstance(parsed, FileProblem):
        code = "too-large" if parsed.code in ("too-large", "frontmatter-too-large") else "malformed-file"
        message = f"{parsed.message[:1].upper()}{parsed.message[1:]}."
        hint = f"{parsed.hint[:1].upper()}{parsed.hint[1:]}." if parsed.hint else None
        findings.error(code, message, hint, at.on(parsed.line))
        return
    if parsed is None:
        parsed = markdown.ParsedFile({}, raw.decode("utf-8-sig"), 1)
    lines: dict[Place, int] = {(key,): line for key, line in parsed.lines.items()}
    authored: dict[Place, str] = {(key,): text for key, text in parsed.authored.items() if isinstance(text, str)}
    fields = fields_of(parsed.frontmatter, (), Parsed(parsed.frontmatter, lines, authored), at.on(1), findings)
    draft, publish = fields.values.get("draft"), fields.values.get("publish")
    if not ((draft is not None and draft is not False) or (publish is not None and publish is not True)):
        name, body = slug(without_suffix(path)) or None, visible(parsed.body)
        yield Draft(fields, type_of(path), body, parsed.body_line, name, category_of(path))
