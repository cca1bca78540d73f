"""Examples of an operation: the call as `curl` makes it, with placeholders where the caller's own values go."""

import json
import re
from collections.abc import Sequence
from typing import Any

from commonplace.reference.model import Example, Parameter
from commonplace_generators.openapi.credentials import masked, placeholder, secret
from commonplace_generators.openapi.documents import Node
from commonplace_generators.openapi.fields import media
from commonplace_generators.openapi.operations import Operation
from commonplace_generators.openapi.schemas import Source, composed, members, types, values, written
from commonplace_generators.openapi.security import Need
from commonplace_generators.openapi.texts import line

MAX_EXAMPLES = 3
MAX_CODE = 7_000
MAX_BODY = 4_000
ONE_LINE = 100
MAX_DEPTH = 6
MAX_VALUES = 80
MAX_OPTIONAL = 4
"""Properties that nothing requires, where nothing is required."""
UNNAMED = ("", "default", "example", "response", "request")

_PARAMETER = re.compile(r"\{([^{}]*)\}")
_FORMATS = {"date-time": "2026-01-31T12:00:00Z", "date": "2026-01-31", "email": "user@example.com"} | {
    "uuid": "00000000-0000-4000-8000-000000000000",
    "uri": "https://example.com",
}


def examples(
    operation: Operation,
    parameters: Sequence[Parameter],
    alternatives: Sequence[Sequence[Need]] | None,
    secrets: frozenset[str],
) -> list[Example]:
    """The first is the call; others differ in their body."""
    needed = next((one for one in alternatives or [] if one), [])
    told: list[Example] = []
    for name, words in _bodies(operation, secrets)[:MAX_EXAMPLES]:
        description = f"Call with curl: {line(name, 120)}" if name.lower() not in UNNAMED else "Call with curl"
        call = "".join(
            one for one in _command(operation, parameters, needed, words) if one.isprintable() or one == "\n"
        )
        told.append(Example(description=description, code=call.encode("utf-8", "ignore").decode()))
    return [one for one in told if len(one.code) <= MAX_CODE]


def _command(operation: Operation, parameters: Sequence[Parameter], needed: Sequence[Need], body: Sequence[str]) -> str:
    def given(place: str) -> list[tuple[str, str]]:
        """Required parameters of a place and the credential that goes there."""
        held = [(one.scheme.name, one.scheme.value) for one in needed if one.scheme.place == place]
        taken = {name.lower() for name, _ in held} | {name.lower() for name, _ in operation.fixed}
        own = [one.name for one in parameters if one.required and one.place == place and one.name.lower() not in taken]
        return [*((name, placeholder(name)) for name in own if place != "query" or "." not in name), *held]

    method, url = operation.method, operation.server + operation.template
    url = _PARAMETER.sub(lambda one: placeholder(one[1]), url)
    if query := "&".join(f"{name}={value}" for name, value in given("query")):
        url += f"{'&' if '?' in url else '?'}{query}"
    words = {"GET": "curl", "HEAD": "curl -I"}.get(method, f"curl -X {method}")
    options = [f"-H {quoted(f'{name}: {value}')}" for name, value in given("header")]
    places = {one.scheme.place for one in needed}
    options += ["-u '<user>:<password>'"] if "basic" in places else []
    options += ["--cert '<certificate>' --key '<key>'"] if "certificate" in places else []
    if cookies := "; ".join(f"{name}={value}" for name, value in given("cookie")):
        options.append(f"-b {quoted(cookies)}")
    return " \\\n  ".join([f"{words} {quoted(url)}", *options, *body])


def quoted(text: str) -> str:
    """For a POSIX shell: nothing within is anything but itself."""
    return "'" + text.replace("'", "'\\''") + "'"


def _bodies(operation: Operation, secrets: frozenset[str]) -> list[tuple[str, list[str]]]:
    """Names and words for the shell; one without words for an operation that takes no body."""
    kinds = media(operation.node.get("requestBody").get("content"))
    if not kinds:
        return [("", [])]
    name, first = kinds[0]
    schema = first.get("schema")
    made = Sample(secrets).of(schema)
    needed = [each for each, one in members([Source(schema)], "readOnly").items() if one.required]
    samples = [(said, _completed(value, made, needed)) for said, value in _given(first)] or [("", made)]
    return [(said, _body_words(name, value)) for said, value in samples]


def _completed(value: Any, made: Any, needed: Sequence[str]) -> Any:
    """The document's own example, with what it lacks and every request has to have."""
    if not isinstance(value, dict) or not isinstance(made, dict):
        return value
    return {**value, **{name: made[name] for name in needed if name not in value and name in made}}


def _body_words(media_type: str, sample: Any) -> list[str]:
    """Return how a body is given. A sample that is too long is left to the caller."""
    kind = media_type.split(";", maxsplit=1)[0].strip().lower()
    content = f"-H {quoted(f'Content-Type: {media_type}')}"
    pairs = sorted(sample.items()) if isinstance(sample, dict) else []
    if kind == "multipart/form-data":
        return [f"-F {quoted(f'{name}={written(value)}')}" for name, value in pairs] or ["-F 'file=@<file>'"]
    if kind == "application/x-www-form-urlencoded":
        return [f"--data-urlencode {quoted(f'{name}={written(value)}')}" for name, value in pairs]
    if kind.endswith("json") or "*" in kind:
        text = json.dumps(sample, ensure_ascii=False, sort_keys=True, default=str)
        if len(text) > ONE_LINE:
            text = json.dumps(sample, ensure_ascii=False, sort_keys=True, default=str, indent=2)
        content = "-H 'Content-Type: application/json'" if "*" in kind else content
        return [content, f"-d {quoted(text)}" if len(text) <= MAX_BODY else "-d '@<file.json>'"]
    if isinstance(sample, str) and kind.startswith("text/") and len(sample) <= MAX_BODY:
        return [content, f"--data-binary {quoted(sample)}"]
    return [content, "--data-binary '@<file>'"]


def _given(kind: Node) -> list[tuple[str, Any]]:
    """The examples that a document gives of a body, by name, credentials masked. The unnamed one is called ``."""
    if kind.has("example"):
        return [("", masked(kind.get("example").value))]
    found = []
    for name, one in kind.members("examples"):
        said = next((key for key in ("value", "dataValue") if one.has(key)), None)
        if said:
            found.append((one.text("summary") or name, masked(one.get(said).value)))
    return found


class Sample:
    """A value of a schema: what the document says for an example, else placeholders. Bounded, so that circles end."""

    def __init__(self, secrets: frozenset[str]) -> None:
        self._secrets = secrets
        self._left = MAX_VALUES

    def of(self, node: Node, name: str = "", depth: int = 0) -> Any:
        self._left -= 1
        hidden = (secret(name) or name.lower() in self._secrets) and {"string", "any"} & set(types(node))
        if not isinstance(node.value, dict) or hidden:
            return placeholder(name)
        said, example = _said(node)
        if said:
            return masked(example, name)
        if depth > MAX_DEPTH or self._left <= 0:
            return {} if "object" in types(node) else [] if "array" in types(node) else placeholder(name)
        choice = _chosen(node)
        if choice and not node.has("properties"):
            return self.of(choice, name, depth + 1)
        kind = next((one for one in types(node) if one != "null"), "null")
        if kind == "object":
            parts = node.elements("allOf")
            every = members([Source(node)], "readOnly")
            if not every and len(parts) == 1:
                return self.of(parts[0], "", depth + 1)
            choices = [choice for one in composed(node) if (choice := _chosen(one))]
            required = {name for top in (node, *choices) for one in composed(top) for name in one.texts("required")}
            wanted = [name for name in every if name in required] or list(every)[:MAX_OPTIONAL]
            held = {name: every[name].sources for name in wanted}
            return {
                name: self.of(sources[0].node, name, depth + 1) if sources else placeholder(name)
                for name, sources in held.items()
                if self._left > 0
            }
        if kind == "array":
            return [self.of(node.get("items"), name, depth + 1)]
        if kind in ("integer", "number"):
            least = node.get("minimum").value
            return least if isinstance(least, int | float) and not isinstance(least, bool) and least > 1 else 1
        if kind == "boolean":
            return True
        return None if kind == "null" else _FORMATS.get(node.text("format"), placeholder(name))


def _chosen(node: Node) -> Node | None:
    """The first alternative that is something."""
    choices = node.elements("oneOf") or node.elements("anyOf")
    return next((one for one in choices if types(one) != ["null"]), None)


def _said(node: Node) -> tuple[bool, Any]:
    """Return what the schema itself gives for an example."""
    if node.has("example"):
        return True, node.get("example").value
    given = node.get("examples").value
    if isinstance(given, list) and given:
        return True, given[0]
    default = node.get("default").value
    allowed = [one for one in values(node) if one is not None]
    return (True, default) if default is not None else (True, allowed[0]) if allowed else (False, None)
