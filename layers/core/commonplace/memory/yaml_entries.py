"""Entries written as YAML: a list of them, or `entries:` with a list. Read with the care of `content.yaml_values`."""

from typing import Any

from commonplace.kernel.errors import CommonplaceError, InvalidInput, TooLarge
from commonplace.kernel.yaml import Reason, YamlError
from commonplace.kernel.yaml import read as read_values
from commonplace.memory.model import MAX_IMPORT

MAX_BYTES = 4_000_000
MAX_DEPTH = 9
"""Of a whole text: the list, an entry, and what its metadata may hold."""
MAX_VALUES = 500_000
"""Keys and values, nested ones included: what ten thousand entries with all their fields and tags need, and more."""

_EXAMPLE = "Write a list of entries, each beginning with `- content:`."
_REFUSED: dict[Reason, str] = {
    "syntax": "The YAML cannot be read",
    "documents": "The YAML holds more than one document",
    "reference": "The YAML has an anchor, an alias or a tag, which are not read",
    "depth": f"The YAML is nested deeper than {MAX_DEPTH} levels",
    "duplicate": "The YAML gives a field of an entry twice",
    "key": "The YAML has a list or a mapping for a field's name",
}


def read(text: str) -> list[Any]:
    """The entries as they are written, unchecked. Raises InvalidInput, and TooLarge for more than is read."""
    root = document(text)
    entries = root.get("entries") if isinstance(root, dict) else root
    if not isinstance(entries, list):
        raise InvalidInput("The YAML is no list of entries.", hint=_EXAMPLE)
    if len(entries) > MAX_IMPORT:
        raise TooLarge(f"The YAML has more than {MAX_IMPORT:,} entries.", hint="Import it in several parts.")
    return entries


def document(text: str, *, max_bytes: int = MAX_BYTES, max_values: int = MAX_VALUES) -> Any:
    """Whatever one document holds, read with the same care. Raises InvalidInput and TooLarge."""
    if len(text) > max_bytes or len(text.encode("utf-8", "replace")) > max_bytes:
        raise TooLarge(f"The YAML is larger than {max_bytes:,} bytes.", hint="Import it in several parts.")
    try:
        return read_values(text, max_depth=MAX_DEPTH, max_values=max_values).value
    except YamlError as error:
        raise _refused(error) from None


def _refused(error: YamlError) -> CommonplaceError:
    """The place is told and never the text."""
    if error.reason == "values":
        return TooLarge("The YAML holds too many values.", hint="Import it in several parts.")
    if error.reason == "half-character":
        return InvalidInput("The YAML holds half a character.", hint="Send whole Unicode characters.")
    where = f" (line {error.line})" if error.line is not None else ""
    return InvalidInput(f"{_REFUSED[error.reason]}{where}.", hint=_EXAMPLE)
