"""The call of a command or an endpoint, out of an entry's fields: its name, usages and parameters."""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from commonplace.reference.model import METHODS, PLACES, EntryType, Method, Parameter, Place
from commonplace.reference.source import bounds
from commonplace.reference.source.fields import Fields

_ARGUMENT = re.compile(r"[<\[{(\"']|--?[A-Za-z]|\.\.\.|…")
_SYNTAX = re.compile(r"(?im)^[^\w\n]{0,10}(?:syntax|usage)\b[^\n]*\n+(?:```[^\n]*\n)(.+?)\n```", re.DOTALL)
_ENDPOINT = re.compile(rf"({'|'.join(METHODS)})\s+(/\S*)\s*\Z", re.IGNORECASE)
_SUMMED_UP = re.compile(r"(?i)[\[<](?:\w+[ _-])?(?:options|flags)\b")
"""`[OPTIONS]` stands for every option, required ones too."""
_TYPED = re.compile(r"[\s\[\](){}|,=]+")

_OF: dict[EntryType, frozenset[str]] = {
    "command": frozenset({"name", "syntax", "usages", "parameters"}),
    "api": frozenset({"name", "method", "path_template", "parameters", "authentication"}),
}
_PLACES: dict[EntryType, Sequence[Place]] = {"command": PLACES[:2], "api": PLACES[2:]}
_ONLY = "Only commands have name, syntax and usages, only endpoints method, pathTemplate and authentication."


def call_of(fields: Fields, type: EntryType | None, content: str) -> dict[str, Any]:
    """Fields of `Entry`. What is invalid is reported, and left out; so is what other types have."""
    if type is None:
        return {}
    for name in sorted(frozenset().union(*_OF.values()) - _OF.get(type, frozenset())):
        if not fields.absent(name):
            message = f"`{fields.called(name)}` means nothing for this type; it is left out."
            fields.findings.warning("unknown-field", message, _ONLY, fields.where(name))
    if type == "command":
        call = _command(fields, content)
    elif type == "api":
        said = _named(str(fields.values.get("name") or "")) or _named(str(fields.values.get("title") or ""))
        method = fields.one_of("method", METHODS, str.upper)
        path = fields.text("path_template", bounds.MAX_NAME)
        if fields.absent("method") and said:
            method = said[0]
        if fields.absent("path_template") and said:
            path = said[1]
        if method is None and fields.absent("method"):
            fields.missing("method", f"Write one of {', '.join(METHODS)}.")
        if path is None and fields.absent("path_template"):
            fields.missing("pathTemplate", "Write the path with its parameters in braces: `/api/v1/users/{id}`.")
        if path and (not path.startswith("/") or re.search(r"[\s#]|\?(?![^\s?#=&]+=[^?]*$)", path)):
            fields.invalid(
                "path_template",
                "is not a path",
                "Write `/api/v1/users/{id}`: no host, no spaces; a query (`?v=2`) only where it is part of every call.",
            )
        authentication = fields.text("authentication", bounds.MAX_AUTHENTICATION) or None
        call = {"method": method, "path_template": path, "authentication": authentication}
    else:
        return {}
    call["parameters"] = _parameters(fields, type)
    for message, hint in _odd(call):
        fields.findings.warning("odd-parameter", message, hint, fields.where("parameters"))
    return call


def _command(fields: Fields, content: str) -> dict[str, Any]:
    name, syntax = fields.text("name", bounds.MAX_NAME), fields.text("syntax", bounds.MAX_NAME)
    if not syntax and (found := _SYNTAX.search(content)):
        # The one line of the code under `**Syntax:**`, as in the seed's example.
        lines = [line.strip() for line in found[1].splitlines() if line.strip()]
        syntax = lines[0] if len(lines) == 1 else None
    if not name and syntax:
        # `helios gw users get <email> [--json]` is called `helios gw users get`.
        name = " ".join(takewhile(lambda word: not _ARGUMENT.match(word), syntax.removeprefix("$ ").split()))
    if not name and not (fields.values.get("name") or fields.values.get("syntax")):
        fields.missing("name", "Write what is typed, without arguments: `helios gw users list`.")
    usages = fields.texts("usages", bounds.MAX_USAGES, bounds.MAX_NAME)
    return {"name": name or None, "syntax": syntax or name or None, "usages": usages}


def _named(text: str) -> tuple[Method, str] | None:
    """`GET /api/v1/users` as a title or a name."""
    found = _ENDPOINT.match(text.strip())
    if not found:
        return None
    method = next(one for one in METHODS if one == found[1].upper())
    return method, found[2]


def _parameters(fields: Fields, type: EntryType) -> list[Parameter] | None:
    """None where they are not given."""
    if fields.values.get("parameters") is None:
        return None
    places = _PLACES[type]
    hint = f"Write name, place ({', '.join(places)}) and, if there are, aliases, type, required and description."
    found: list[Parameter] = []
    for one in fields.mappings("parameters", bounds.MAX_PARAMETERS, hint):
        for odd in sorted(one.values.keys() - Parameter.model_fields.keys()):
            message = f"`{one.called(odd)}` is not a field of a parameter; it is left out."
            one.findings.warning("unknown-field", message, hint, one.at)
        for needed in ("name", "place"):
            if one.absent(needed):
                one.missing(needed, hint)
        name, place = one.text("name", bounds.MAX_PARAMETER), one.one_of("place", places, str.lower)
        read = {
            "aliases": one.texts("aliases", bounds.MAX_ALIASES, bounds.MAX_PARAMETER),
            "type": one.text("type", bounds.MAX_PARAMETER) or None,
            "required": one.flag("required"),
            "description": one.text("description", bounds.MAX_PARAMETER_DESCRIPTION) or "",
        }
        if name and place:
            found.append(Parameter(name=name, place=place, **read))
    return found


def _odd(call: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Return what contradicts itself, with hints. Variants of a body, and of an option (`-L <range>`, `-L :<name>`),
    may share a name."""
    parameters: list[Parameter] = call["parameters"] or []
    seen: set[tuple[str, ...]] = set()
    for one in parameters:
        for name in (one.name, *one.aliases):
            key = (one.place, name, one.type or "", one.description if one.place == "body" else "")
            if key in seen:
                yield f"`parameters` has the {one.place} `{name}` twice.", "Keep one of them."
            seen.add(key)
    if path := call.get("path_template"):
        for one in parameters:
            if one.place == "path" and f"{{{one.name}}}" not in path:
                yield (
                    f"`parameters` has the path parameter `{one.name}`, and `{path}` does not.",
                    "Name it alike in both.",
                )
    elif (syntax := call.get("syntax")) and not _SUMMED_UP.search(syntax):
        typed = set(_TYPED.split(" ".join((syntax, *call["usages"]))))
        for one in parameters:
            if one.place == "option" and one.required and typed.isdisjoint((one.name, *one.aliases)):
                yield f"`{one.name}` is required, and `syntax` does not show it.", "Write it into the syntax."
