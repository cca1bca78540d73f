"""Frontmatter as it is written: every text in double quotes, so that none can end its line, its block or its type."""

from collections.abc import Mapping, Sequence
from datetime import date as Date

Value = str | bool | Date | Sequence[str]

_SHORT = {'"': '\\"', "\\": "\\\\"}


def frontmatter(fields: Mapping[str, Value]) -> str:
    """The block with both of its `---` lines. Names are constants of ours; values may hold anything but surrogates."""
    lines = (f"{name}: {_value(value)}\n" for name, value in fields.items())
    return f"---\n{''.join(lines)}---\n"


def _value(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Date):
        return value.isoformat()
    if isinstance(value, str):
        return _quoted(value)
    return f"[{', '.join(map(_quoted, value))}]"


def _quoted(text: str) -> str:
    """A double-quoted scalar on one line (YAML 1.2, section 5.7)."""
    return '"' + "".join(_SHORT.get(char) or (char if char.isprintable() else _escaped(char)) for char in text) + '"'


def _escaped(char: str) -> str:
    return f"\\u{ord(char):04X}" if ord(char) <= 0xFFFF else f"\\U{ord(char):08X}"
