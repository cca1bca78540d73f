"""How a command or an endpoint is written where it is used, as its entry says it or lets it be seen."""

import re
from dataclasses import dataclass

from commonplace.reference.entries import METHODS, EntryType, Method
from commonplace.reference.source import bounds
from commonplace.reference.source.deriving import name_of, named_endpoint, syntax_in
from commonplace.reference.source.fields import Fields


@dataclass(frozen=True, slots=True)
class Called:
    """How a command or an endpoint is written where it is used."""

    name: str | None = None
    syntax: str | None = None
    method: Method | None = None
    path_template: str | None = None


def called_of(fields: Fields, type: EntryType | None, content: str) -> Called:
    if type == "command":
        return _command(fields, content)
    if type == "api":
        return _endpoint(fields)
    for name in ("name", "syntax", "method", "path_template"):
        if not fields.absent(name):
            hint = "Only commands have name and syntax, only endpoints method and pathTemplate."
            message = f"`{fields.called(name)}` means nothing for this type; it is left out."
            fields.findings.warning("unknown-field", message, hint, fields.where(name))
    return Called()


def _command(fields: Fields, content: str) -> Called:
    name, syntax = fields.text("name", bounds.MAX_NAME), fields.text("syntax", bounds.MAX_NAME)
    syntax = syntax or syntax_in(content)
    name = name or (name_of(syntax) if syntax else None)
    if not name and not (fields.values.get("name") or fields.values.get("syntax")):
        fields.missing("name", "Write what is typed, without arguments: `helios gw users list`.")
    return Called(name=name or None, syntax=syntax or name or None)


def _endpoint(fields: Fields) -> Called:
    said = named_endpoint(str(fields.values.get("name") or "")) or named_endpoint(str(fields.values.get("title") or ""))
    method = fields.one_of("method", METHODS, _method)
    path = fields.text("path_template", bounds.MAX_NAME)
    if fields.absent("method") and said:
        method = said[0]
    if fields.absent("path_template") and said:
        path = said[1]
    if method is None and fields.absent("method"):
        fields.missing("method", f"Write one of {', '.join(METHODS)}.")
    if path is None and fields.absent("path_template"):
        fields.missing("pathTemplate", "Write the path with its parameters in braces: `/api/v1/users/{id}`.")
    if path and (not path.startswith("/") or re.search(r"[\s?#]", path)):
        fields.invalid("path_template", "is no path", "Write `/api/v1/users/{id}`: no host, no query, no spaces.")
    return Called(method=method, path_template=path)


def _method(text: str) -> Method | None:
    return next((one for one in METHODS if one == text.upper()), None)
