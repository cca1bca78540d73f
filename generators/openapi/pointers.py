"""Local references of a document (RFC 6901 pointers in `$ref`), followed within bounds. Nothing is ever fetched."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

MAX_HOPS = 32
MAX_REF = 1_000

ANNOTATIONS = frozenset(
    {"summary", "description", "title", "default", "example", "examples", "deprecated", "nullable", "readOnly"}
    | {"writeOnly"}
)
"""What stands beside a `$ref` and goes before what it leads to (OpenAPI 3.1, "Reference Object")."""

_BAD_ESCAPE = re.compile(r"~(?![01])")


@dataclass(frozen=True, slots=True)
class Followed:
    """Where a reference leads. `problem`, a sentence, says why it leads nowhere."""

    value: Any
    ref: str | None = None
    """The last one that was followed; None for what is no reference."""
    problem: str | None = None

    @property
    def name(self) -> str | None:
        """What the document calls it: the last part of the pointer."""
        return _parts(self.ref)[-1] if self.ref and self.ref != "#" else None


class Pointers:
    """References within one document, each followed once."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._known: dict[str, Followed] = {}

    def follow(self, value: Any) -> Followed:
        """The value itself, or what its `$ref` leads to, with the annotations that stand beside it."""
        if not isinstance(value, dict) or "$ref" not in value:
            return Followed(value)
        ref = value["$ref"]
        if not isinstance(ref, str) or len(ref) > MAX_REF:
            return Followed(None, problem="A `$ref` is no text, or far too long.")
        found = self._known.get(ref)
        if found is None:
            found = self._known[ref] = self._chain(ref)
        return _annotated(found, value)

    def _chain(self, ref: str) -> Followed:
        seen: list[str] = []
        while True:
            if ref in seen or len(seen) >= MAX_HOPS:
                return Followed(None, problem=f"`$ref: {shown(ref)}` leads in a circle.")
            seen.append(ref)
            if not ref.startswith("#"):
                told = f"`$ref: {shown(ref)}` leads to another document, which is not fetched."
                return Followed(None, problem=told)
            found, value = self._at(ref)
            if not found:
                return Followed(None, problem=f"`$ref: {shown(ref)}` leads nowhere in the document.")
            if not isinstance(value, dict) or not isinstance(value.get("$ref"), str):
                return Followed(value, ref)
            ref = value["$ref"][: MAX_REF + 1]

    def _at(self, ref: str) -> tuple[bool, Any]:
        if ref == "#":
            return True, self._root
        if not ref.startswith("#/"):
            return False, None
        value: Any = self._root
        for part in _parts(ref):
            if isinstance(value, dict) and part in value:
                value = value[part]
            elif isinstance(value, list) and re.fullmatch(r"0|[1-9][0-9]{0,8}", part) and int(part) < len(value):
                value = value[int(part)]
            else:
                return False, None
        return True, value


def shown(ref: str) -> str:
    """A reference as a report may say it: short, in one line, without user name, password and query."""
    told = re.sub(r"//[^/@]*@", "//", ref.split("?", 1)[0])
    told = "".join(one for one in told if one.isprintable())
    return told if len(told) <= 120 else f"{told[:119]}…"


def escaped(part: str) -> str:
    """A key as part of a pointer."""
    return part.replace("~", "~0").replace("/", "~1")


def _parts(ref: str) -> list[str]:
    decoded = [unquote(one) for one in ref[2:].split("/")]
    return [one if _BAD_ESCAPE.search(one) else one.replace("~1", "/").replace("~0", "~") for one in decoded]


def _annotated(found: Followed, beside: Mapping[str, Any]) -> Followed:
    if len(beside) == 1 or not isinstance(found.value, dict):
        return found
    said = {key: value for key, value in beside.items() if key in ANNOTATIONS}
    return Followed({**found.value, **said}, found.ref) if said else found
