"""Files of contributions: JSON Lines, a YAML list, or Markdown, one contribution each."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commonplace.hive.model import DEFAULT_CONFIDENCE
from commonplace.memory.entry_files import document
from commonplace_local.cli.kb.files import MAX_FILE_BYTES, MAX_FILE_VALUES, in_file, read_document, read_text
from commonplace_local.errors import CommandError

TEXTS = {name: name for name in ("content", "category", "framework", "language", "version", "run_id")}
TEXTS |= {"runId": "run_id"}
FORMATS = "Supported: .jsonl, .yaml, .yml, .md, .markdown."


@dataclass(frozen=True, slots=True)
class Entry:
    """One contribution of a file, and where it stands: `notes.jsonl, line 3`."""

    where: str
    body: Mapping[str, Any]


def entries_of(file: Path, category: str) -> list[Entry]:
    """Return what a file holds; `category` is that of an entry which names none. Raises CommandError."""
    found: Iterator[tuple[str, Any]]
    match file.suffix.lower():
        case ".jsonl" | ".ndjson":
            found = _json_lines(file)
        case ".yaml" | ".yml":
            values = read_document(file)
            if not isinstance(values, list):
                raise CommandError(f"{file} does not contain a list.", "Begin each contribution with `- content:`.")
            found = ((f"{file}, entry {number}", value) for number, value in enumerate(values, start=1))
        case ".md" | ".markdown":
            found = _markdown(file)
        case _:
            raise CommandError(f"{file} has an unknown format.", FORMATS)
    return [Entry(where, _body(where, value, category)) for where, value in found]


def _json_lines(file: Path) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(read_text(file).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield f"{file}, line {number}", json.loads(line)
        except (ValueError, RecursionError) as error:
            raise CommandError(
                f"{file}, line {number} is not JSON: {error}.", "Write one object on each line."
            ) from None


def _markdown(file: Path) -> Iterator[tuple[str, Any]]:
    """Yield the one contribution of a Markdown file, whose frontmatter holds the fields beside the text."""
    text = read_text(file).replace("\r\n", "\n")
    fields: Any = {}
    if text.startswith("---\n"):
        head, fence, body = text[4:].partition("\n---\n")
        if fence:
            fields = in_file(file, lambda: document(head, max_bytes=MAX_FILE_BYTES, max_values=MAX_FILE_VALUES))
            text = body
    fields = fields or {}
    if not isinstance(fields, dict):
        raise CommandError(f"{file}: the frontmatter is not a mapping.", "Write it as `category: bug_fix`.")
    yield str(file), {**fields, "content": text.strip()}


def _body(where: str, value: Any, category: str) -> dict[str, Any]:
    """Return the arguments of `add_knowledge`. What an export says besides is left out: ids, times, who it was."""
    if not isinstance(value, dict) or not isinstance(value.get("content"), str):
        raise CommandError(f"{where} has no text.", "Each contribution has `content`, a text.")
    body: dict[str, Any] = {"category": category, "confidence": DEFAULT_CONFIDENCE}
    for name, sent in TEXTS.items():
        if value.get(name) is not None:
            body[sent] = str(value[name])
    if isinstance(value.get("confidence"), int | float):
        body["confidence"] = float(value["confidence"])
    tags = value.get("tags") or []
    if not isinstance(tags, list):
        raise CommandError(f"{where}: tags are not a list.", "Write them as a list of texts.")
    return body | {"tags": [str(tag) for tag in tags]}
