"""Examples of an operation: the call, with what it answers, then calls with the document's own bodies."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from commonplace.reference.model import Example
from generators.openapi import curl
from generators.openapi.content import Parameter, media, responses, succeeds
from generators.openapi.operation_reader import Reader
from generators.openapi.operations import Operation
from generators.openapi.samples import Sample, given
from generators.openapi.security import Need
from generators.openapi.texts import line

MAX_EXAMPLES = 3
MAX_OUTPUT = 1_200
MAX_CODE = 7_000
UNNAMED = ("", "default", "example", "response", "request")

_SHORTER = ((8, 40), (3, 40), (2, 30), (1, 30), (1, 10))
"""How deep, and how many members of each object, are tried in turn."""


def examples(
    operation: Operation, found: Sequence[Parameter], alternatives: list[list[Need]] | None, reader: Reader
) -> list[Example]:
    """The first is the call; others differ in their body."""
    needed = next((one for one in alternatives or [] if one), [])
    output, said = _output(operation, reader)
    told: list[Example] = []
    for name, words in _bodies(operation, reader)[:MAX_EXAMPLES]:
        call = curl.command(
            operation.method,
            operation.server + operation.template,
            query=_names(found, "query", needed),
            headers=_names(found, "header", needed),
            cookies=_names(found, "cookie", needed),
            needed=needed,
            body=words,
        )
        description = _described(name, said if not told else "")
        told.append(Example(description=description, code=clean_code(call), output=output if not told else None))
    return [one for one in told if len(one.code) <= MAX_CODE]


def _names(found: Sequence[Parameter], place: str, needed: Sequence[Need]) -> list[str]:
    """Required parameters of a place, those aside that the credential goes into."""
    taken = {one.scheme.name.lower() for one in needed if one.scheme.place == place}
    return [one.name for one in found if one.required and one.place == place and one.name.lower() not in taken]


def _described(name: str, answer: str) -> str:
    call = f"Call with curl: {line(name, 120)}" if name.lower() not in UNNAMED else "Call with curl"
    return f"{call}; {answer}" if answer else call


def _bodies(operation: Operation, reader: Reader) -> list[tuple[str, list[str]]]:
    """Names and words for the shell; one without words for an operation that takes no body."""
    body = operation.body.get("requestBody")
    kinds = media(reader.mapping(body, "The request body").get("content")) if body is not None else []
    if not kinds:
        return [("", [])]
    name, first = kinds[0]
    samples = given(first, reader) or [("", Sample(reader, hidden="readOnly").of(first.get("schema", {})))]
    return [(said, curl.body_words(name, value)) for said, value in samples]


def _output(operation: Operation, reader: Reader) -> tuple[str | None, str]:
    """What a good call answers, and how that is known."""
    for status, one in responses(operation):
        if not succeeds(status):
            continue
        kinds = media(reader.mapping(one, f"The response {status[:20]}").get("content"))
        if not kinds or not _json(kinds[0][0]):
            continue
        documented = given(kinds[0][1], reader)
        if documented and (text := shortened(documented[0][1])):
            return text, f"answers {status}"
        if text := shortened(_made(kinds[0][1], reader)):
            return text, f"answers {status}, of this form"
    return None, ""


def _made(kind: Mapping[str, Any], reader: Reader) -> Any:
    return Sample(reader, hidden="writeOnly").of(kind["schema"]) if "schema" in kind else None


def _json(media_type: str) -> bool:
    return media_type.split(";", maxsplit=1)[0].strip().lower().endswith("json") or "*" in media_type


def shortened(value: Any) -> str | None:
    """JSON that is short enough to be shown: of a longer value the first elements and members."""
    if value in (None, {}, [], ""):
        return None
    for depth, members in _SHORTER:
        text = _dumped(_less(value, depth, members))
        if len(text) <= MAX_OUTPUT:
            return text
    return None


def _less(value: Any, depth: int, members: int) -> Any:
    if isinstance(value, list):
        return [_less(one, depth - 1, members) for one in value[:2]] if depth or not value else "…"
    if isinstance(value, dict):
        inner = sorted(value)[:members]
        return {key: _less(value[key], depth - 1, members) for key in inner} if depth or not value else "…"
    return value[:200] if isinstance(value, str) else value


def _dumped(value: Any) -> str:
    return clean_code(json.dumps(value, ensure_ascii=False, sort_keys=True, default=str, indent=2))


def clean_code(text: str) -> str:
    """Nothing that no terminal should be shown, and no half characters."""
    return "".join(one for one in text if one.isprintable() or one == "\n").encode("utf-8", "ignore").decode()
