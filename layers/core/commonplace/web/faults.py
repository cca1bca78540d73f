"""What is wrong with an input, in words: the faults that pydantic finds, as people and models read them.

Each sentence says what would be valid, and follows the name of a field: "limit: must be at most 100". A value never
stands in one: it may be anything.
"""

from collections.abc import Mapping
from typing import Any

MAX_CHARACTERS = 240

KINDS = {
    "string": "a text",
    "bytes": "bytes",
    "int": "a whole number",
    "float": "a number",
    "decimal": "a number",
    "finite": "a finite number",
    "bool": "true or false",
    "list": "a list",
    "tuple": "a list",
    "set": "a list",
    "frozen": "a list",
    "dict": "an object",
    "model": "an object",
    "mapping": "an object",
    "date": "a date, such as 2026-03-06",
    "datetime": "a date and time, such as 2026-03-06T14:05:00Z",
    "url": "a URL",
    "uuid": "a UUID",
    "none": "null",
}
"""The beginning of a fault's type, and what would be valid."""


SENTENCES = {
    "missing": "is missing",
    "extra_forbidden": "is not known here",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "greater_than": "must be more than {gt}",
    "less_than": "must be less than {lt}",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "string_pattern_mismatch": "must match {pattern}",
    "json_invalid": "is not valid JSON",
}


def words(fault: Mapping[str, Any]) -> str:
    """Return what a value has to be, for a fault as `ValidationError.errors()` has it, with its context."""
    kind, bounds = str(fault["type"]), fault.get("ctx") or {}
    if (sentence := SENTENCES.get(kind)) is not None:
        whole = {name: int(one) if isinstance(one, float) and one.is_integer() else one for name, one in bounds.items()}
        text = sentence.format(**whole)
    elif kind in ("string_too_short", "too_short"):
        text = f"must have at least {_counted(bounds['min_length'], kind)}"
    elif kind in ("string_too_long", "too_long"):
        text = f"must have at most {_counted(bounds['max_length'], kind)}"
    elif (valid := KINDS.get(kind.partition("_")[0])) is not None:
        text = f"must be {valid}"
    else:
        text = str(fault["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, ").rstrip(".")
    return text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 1]}…"


def _counted(number: int, kind: str) -> str:
    one, many = ("character", "characters") if kind.startswith("string") else ("entry", "entries")
    return f"{number:,} {one if number == 1 else many}"
