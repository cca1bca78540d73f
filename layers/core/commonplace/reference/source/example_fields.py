"""The examples of an entry."""

from typing import Any

from commonplace.reference.entries import Example
from commonplace.reference.source import bounds
from commonplace.reference.source.drafts import fields_of
from commonplace.reference.source.fields import Fields

_HINT = "Write description, code and, if you like, output."


def examples_of(fields: Fields, title: str) -> list[Example]:
    given = fields.values.get("examples")
    if given is None:
        return []
    if not isinstance(given, list) or len(given) > bounds.MAX_EXAMPLES:
        fields.invalid("examples", f"is no list of at most {bounds.MAX_EXAMPLES} examples", _HINT)
        return []
    return [example for one in given if (example := _example(fields, one, title)) is not None]


def _example(fields: Fields, given: Any, title: str) -> Example | None:
    if isinstance(given, str):
        given = {"code": given}
    if not isinstance(given, dict):
        fields.invalid("examples", "holds what is no example", _HINT)
        return None
    one = fields_of(given, (), {}, fields.where("examples"), fields.findings)
    code, output = one.block("code", bounds.MAX_EXAMPLE_BYTES), one.block("output", bounds.MAX_EXAMPLE_BYTES)
    description = one.text("description", bounds.MAX_SUMMARY) or title
    if one.absent("code"):
        one.missing("code", _HINT)
    if code is None or not code.strip():
        return None
    return Example(description=description, code=code.strip("\r\n"), output=output.strip("\r\n") if output else None)
