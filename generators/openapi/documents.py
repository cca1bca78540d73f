"""The bytes of an API document as a value: JSON or YAML, bounded in size, depth and number of values."""

import json
from collections import Counter
from typing import Any

from commonplace.kernel import yaml
from commonplace.kernel.errors import CommonplaceError, InvalidInput, TooLarge
from generators.openapi.texts import line

MAX_BYTES = 40_000_000
MAX_DEPTH = 200
MAX_VALUES = 6_000_000

_HINT = "A document of OpenAPI 3.x begins with `openapi: 3.0.3` or the like."


def read(raw: bytes) -> dict[str, Any]:
    """The document of an API, of OpenAPI 3.x. Raises InvalidInput and TooLarge."""
    if len(raw) > MAX_BYTES:
        raise TooLarge(f"The document is larger than {MAX_BYTES:,} bytes.", hint="Cut it into several documents.")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput("The document is not UTF-8.", hint="Save it as UTF-8.") from None
    value = _json(text) if text.lstrip()[:1] in ("{", "[") else None
    if value is None:
        try:
            value = yaml.read(text, max_depth=MAX_DEPTH, max_values=MAX_VALUES, follow_aliases=True).value
        except yaml.YamlError as error:
            raise _refused(error) from None
    return _checked(value)


_REFUSED: dict[yaml.Reason, str] = {
    "syntax": "The YAML cannot be read",
    "documents": "The YAML holds more than one document",
    "reference": "The YAML has an alias of nothing, or of what it stands in",
    "depth": f"The YAML is nested deeper than {MAX_DEPTH} levels",
    "duplicate": "The YAML gives a key twice",
    "key": "The YAML has a collection or an alias for a key",
    "half-character": "The YAML holds half a character",
}


def _refused(error: yaml.YamlError) -> CommonplaceError:
    """The place is told and never the text."""
    if error.reason == "values":
        return TooLarge(
            f"The YAML holds more than {MAX_VALUES:,} keys and values, its aliases written out.",
            hint="Take out aliases of aliases, or cut the document into several.",
        )
    where = f" (line {error.line})" if error.line is not None else ""
    return InvalidInput(f"{_REFUSED[error.reason]}{where}.", hint="Mend the document, or write it as JSON.")


def _checked(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidInput("The document is no mapping.", hint=_HINT)
    if "swagger" in value:
        told = f"The document is of Swagger {_short(value['swagger'])}, which is not read."
        raise InvalidInput(told, hint="Convert it to OpenAPI 3.0 first; the editors of such documents do that.")
    version = _short(value.get("openapi"))
    if not version.startswith("3."):
        said = f"says `openapi: {version}`" if "openapi" in value else "does not say its version"
        raise InvalidInput(f"The document {said}, which is not 3.x.", hint=_HINT)
    if not isinstance(value.get("paths", {}), dict):
        raise InvalidInput("`paths` of the document is no mapping.", hint="It maps each path to its operations.")
    return value


def _short(version: Any) -> str:
    """What a document says of its version, as far as it is one."""
    text = str(version) if isinstance(version, str | int | float) else "?"
    return text if len(text) <= 20 and text.isprintable() else "?"


def _json(text: str) -> Any:
    """None for what is no JSON: YAML may begin with a brace as well."""
    try:
        value = json.loads(text, parse_constant=_no_number, object_pairs_hook=_once)
    except RecursionError:
        raise _too_deep() from None
    except ValueError:
        return None
    _bounded(value)
    return value


def _no_number(_: str) -> None:
    """NaN and Infinity are no JSON."""
    raise ValueError


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        told = f"The document gives the key “{line(twice, 100)}” twice in one object."
        raise InvalidInput(told, hint="Keep one of them.")
    return found


def _bounded(value: Any) -> None:
    """Raises InvalidInput for what is nested too deeply, level by level instead of by recursion."""
    level, values = [value], 0
    for _ in range(MAX_DEPTH):
        values += len(level)
        if values > MAX_VALUES:
            raise TooLarge(f"The document holds more than {MAX_VALUES:,} values.", hint="Cut it into several.")
        level = [inner for one in level for inner in _inside(one)]
        if not level:
            return
    raise _too_deep()


def _inside(value: Any) -> Any:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _too_deep() -> InvalidInput:
    return InvalidInput(
        f"The document is nested deeper than {MAX_DEPTH} levels.", hint="Name schemas and refer to them by `$ref`."
    )
