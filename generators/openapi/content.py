"""An operation as Markdown: what a caller needs first, within what an answer can hold."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from generators.openapi.operation_reader import Reader, listed, mappings
from generators.openapi.operations import Operation
from generators.openapi.outlines import Outline
from generators.openapi.schemas import label, limits
from generators.openapi.texts import code, line, paragraphs, sentences

MAX_CONTENT = 5_000
MAX_SUMMARY = 400
MAX_DESCRIPTION = 1_200
SHORT = 400
"""Characters of a description that goes before everything else; a longer one comes last."""
MAX_PARAMETERS = 25
MAX_READ = 200
MAX_RESPONSES = 12
MAX_MEDIA = 4
IGNORED = frozenset({"accept", "content-type", "authorization"})
"""Headers that are no parameters (OpenAPI, "Parameter Object")."""

_URL = re.compile(r"https?://[!-;=?-~]{1,300}\Z")
_PLACES = ("path", "query", "header", "cookie")


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    place: str
    required: bool
    schema: Any
    description: str
    deprecated: bool = False


def parameters(operation: Operation, reader: Reader) -> list[Parameter]:
    """Those of the path and the operation's own, which go before; required ones first, then by where they go."""
    found: dict[tuple[str, str], Parameter] = {}
    for owner in (operation.item, operation.body):
        given = owner.get("parameters")
        if given is not None and not isinstance(given, list):
            reader.tell("`parameters` is no list.")
        for one in listed(given)[:MAX_READ]:
            read = _parameter(reader.mapping(one, "A parameter"), reader)
            if read and not (read.place == "header" and read.name.lower() in IGNORED):
                found[(read.place, read.name)] = read
    return sorted(found.values(), key=lambda one: (not one.required, _PLACES.index(one.place)))


def _parameter(given: Mapping[str, Any], reader: Reader) -> Parameter | None:
    name, place = given.get("name"), given.get("in")
    if not given:
        return None
    if not isinstance(name, str) or not name.strip() or place not in _PLACES:
        reader.tell("A parameter has no name, or goes neither to path, query, header nor cookie.")
        return None
    content = next((one for _, one in media(given.get("content"))), {})
    schema = given.get("schema", content.get("schema", {}))
    required = given.get("required") is True or place == "path"
    return Parameter(
        line(name, 100),
        str(place),
        required,
        schema,
        line(given.get("description"), 200),
        given.get("deprecated") is True,
    )


def summary(operation: Operation, title: str) -> str:
    return (
        sentences(operation.body.get("description"), MAX_SUMMARY) or line(operation.body.get("summary"), 400) or title
    )


def markdown(operation: Operation, found: Sequence[Parameter], authentication: str, said: str, reader: Reader) -> str:
    """`said` is the summary, which is not said again."""
    description = paragraphs(operation.body.get("description"), MAX_DESCRIPTION)
    description = "" if line(description, MAX_SUMMARY + 1) == said else description
    parts = [
        code(f"{operation.method} {operation.template}", 500),
        "**Deprecated.**" if operation.body.get("deprecated") is True else "",
        description if len(description) <= SHORT else "",
        f"**Authentication:** {authentication}." if authentication else "",
        _table(found, reader),
        _request(operation, reader),
        _responses(operation, reader),
        description if len(description) > SHORT else "",
        _outside(operation.body.get("externalDocs")),
    ]
    return _within([one for one in parts if one], MAX_CONTENT)


def _within(parts: Sequence[str], most: int) -> str:
    """Whole parts, in order, as far as they have room; of the first that has not, whole lines."""
    told: list[str] = []
    for one in parts:
        if len(one) <= most:
            told.append(one)
            most -= len(one) + 2
            continue
        lines: list[str] = []
        for text in one.split("\n"):
            if len(text) + 1 > most - 2:
                break
            lines.append(text)
            most -= len(text) + 1
        if lines and "```" not in one:
            told.append("\n".join([*lines, "…"]))
        break
    return "\n\n".join(told)


def _table(found: Sequence[Parameter], reader: Reader) -> str:
    if not found:
        return ""
    rows = ["**Parameters**", "", "| name | in | type | required | notes |", "|---|---|---|---|---|"]
    for one in found[:MAX_PARAMETERS]:
        kind = label(one.schema, reader).replace("|", "\\|")
        need = "yes" if one.required else "no"
        rows.append(f"| {code(one.name)} | {one.place} | {kind} | {need} | {_notes(one, reader)} |")
    if len(found) > MAX_PARAMETERS:
        names = ", ".join(code(one.name) for one in found[MAX_PARAMETERS : 3 * MAX_PARAMETERS])
        rows += ["", f"And {len(found) - MAX_PARAMETERS} more: {names}."]
    return "\n".join(rows)


def _notes(parameter: Parameter, reader: Reader) -> str:
    told = ["deprecated"] if parameter.deprecated else []
    told += limits(parameter.schema, reader, parameter.name)
    told += [parameter.description] if parameter.description else []
    return "; ".join(told).replace("\\|", "|").replace("|", "\\|")


def _request(operation: Operation, reader: Reader) -> str:
    given = operation.body.get("requestBody")
    if given is None:
        return ""
    body = reader.mapping(given, "The request body")
    kinds = media(body.get("content"))
    if not kinds:
        return ""
    need = "required" if body.get("required") is True else "optional"
    said = line(body.get("description"), 200).rstrip(".")
    shown = ", ".join(code(name) for name, _ in kinds[:MAX_MEDIA])
    schema = kinds[0][1].get("schema")
    head = f"**Request body** ({need}, {shown}): {_typed(schema, reader)}" + (f" ({said})" if " " in said else "")
    outline = Outline(reader, hidden="readOnly").of(schema)
    return f"{head}\n\n{outline}" if outline else head


def media(content: Any) -> list[tuple[str, Mapping[str, Any]]]:
    """Media types with what is said of them, JSON first."""
    found = [(line(name, 100), one) for name, one in mappings(content) if isinstance(one, dict)]
    return sorted(found, key=lambda one: (not one[0].split(";")[0].endswith("json"), one[0] != "application/json"))


def _typed(schema: Any, reader: Reader) -> str:
    bounds = limits(schema, reader)
    return ", ".join([label(schema, reader), *bounds])


def responses(operation: Operation) -> list[tuple[str, Any]]:
    """By status, `default` last."""
    found = [one for one in mappings(operation.body.get("responses")) if not one[0].startswith("x-")]
    return sorted(found, key=lambda one: (one[0] == "default", one[0]))


def succeeds(status: str) -> bool:
    return status.startswith("2")


def _responses(operation: Operation, reader: Reader) -> str:
    found = responses(operation)
    if not found:
        return ""
    rows, outline = ["**Responses**", ""], ""
    for status, given in found[:MAX_RESPONSES]:
        response = reader.mapping(given, f"The response {status[:20]}")
        kinds = media(response.get("content"))
        schema = kinds[0][1].get("schema") if kinds else None
        kind = f" ({label(schema, reader)})" if schema is not None else ""
        rows.append(f"- {code(status, 20)}{kind}: {line(response.get('description'), 140) or 'no description'}")
        if succeeds(status) and schema is not None and not outline:
            outline = Outline(reader, hidden="writeOnly", most=20).of(schema)
            rows += [f"  {one}" for one in outline.split("\n") if one]
    if len(found) > MAX_RESPONSES:
        rows.append(f"- and {len(found) - MAX_RESPONSES} more")
    return "\n".join(rows)


def _outside(given: Any) -> str:
    url = given.get("url") if isinstance(given, dict) else None
    if (
        not isinstance(url, str)
        or not url.startswith("https://")
        or len(url) > 300
        or not url.isprintable()
        or " " in url
    ):
        return ""
    return f"See also <{line(url, 300)}>."
