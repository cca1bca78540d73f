"""Values as models write them, as the values they mean. What is unclear stays as it is, for the model to refuse."""

import json
import math
from collections.abc import Mapping
from typing import Any

from commonplace.kernel.errors import InvalidInput
from commonplace.web.mcp.naming import choice, closest
from commonplace.web.mcp.shapes import Shape

MAX_JSON_CHARACTERS = 16_384
"""Of text that stands for a list or an object."""
MAX_VALUES = 2_000
"""Values in one call, nested ones included."""
MAX_DEPTH = 12
"""Of nesting in one call."""
MAX_SHOWN = 60
"""Characters of a value of the caller's in a message."""

_TRUE, _FALSE = ("true", "yes", "1", "on"), ("false", "no", "0", "off")
_NOTHING = ("null", "none", "undefined", "")


def absent(value: Any, shape: Shape, required: bool) -> bool:
    """Null is absence everywhere; so is empty text where something optional is meant, or something that is not text."""
    if value is None:
        return True
    if not isinstance(value, str) or (required and "string" in shape.kinds):
        return False
    text = value.strip().casefold()
    return not text or (text in _NOTHING and not (shape.only("string") and not shape.choices))


def scalar(value: Any, shape: Shape, name: str, notes: list[str], *, clamp: bool) -> Any:
    """A text, number or truth value. Raises InvalidInput for a number that is none and a value that is not a choice."""
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidInput(f"{name} has to be a finite number.", hint="Give digits, or leave it out.")
    if shape.choices and isinstance(value, str | int | float):
        return _chosen(str(value), shape, name)
    if shape.only("boolean"):
        return _truth(value)
    if shape.only("integer", "number"):
        return _bounded(_number(value, shape), shape, name, notes) if clamp else _number(value, shape)
    if isinstance(value, list) and shape.only("string", "integer", "number", "boolean"):
        raise InvalidInput(f"{name} takes one value, and {len(value)} came.", hint="Call once for each of them.")
    if shape.only("string") and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value


def alone(value: Any, shape: Shape) -> Any:
    """The one value of a list, where no list is meant."""
    while isinstance(value, list) and len(value) == 1 and shape.kinds and "array" not in shape.kinds:
        value = value[0]
    return value


def listed(value: Any, shape: Shape) -> Any:
    """A list where one is meant: JSON text, text with commas, or one value."""
    if isinstance(value, list) or "string" in shape.kinds:
        return value
    if isinstance(value, str):
        decoded = from_json(value, "[")
        if isinstance(decoded, list):
            return decoded
        return [part for one in value.split(",") if (part := one.strip())]
    return [value]


def from_json(value: str, opening: str) -> Any:
    """What text that looks like JSON holds; the text itself if it is none. Raises InvalidInput for too much of it."""
    text = value.strip()
    if not text.startswith(opening) or len(text) > MAX_JSON_CHARACTERS:
        return value
    try:
        decoded = json.loads(text, parse_constant=_no_number)
        # Escapes can spell half a character, which no answer could repeat.
        json.dumps(decoded, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return value
    check_size(decoded)
    return decoded


def check_size(value: Any, max_values: int = MAX_VALUES) -> None:
    """Raises InvalidInput for what is nested too deeply or holds too much."""
    level: list[Any] = [value]
    count = depth = 0
    while level:
        depth, count = depth + 1, count + len(level)
        if depth > MAX_DEPTH or count > max_values:
            raise InvalidInput(
                "The arguments are nested too deeply or hold too many values.",
                hint=f"At most {max_values} values, {MAX_DEPTH} levels deep.",
            )
        held = (one.values() if isinstance(one, Mapping) else one for one in level if isinstance(one, Mapping | list))
        level = [inner for values in held for inner in values]


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


def shown(value: Any) -> str:
    """A value of the caller's, safe to repeat: one line, short."""
    text = "".join(letter if letter.isprintable() else " " for letter in str(value)[: MAX_SHOWN + 1])
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"


def _chosen(value: str, shape: Shape, name: str) -> str:
    found = choice(value.strip(), shape.choices)
    if found is not None:
        return found
    near = (
        list(shape.choices) if len(shape.choices) <= 12 else closest(value, shape.choices) or list(shape.choices[:12])
    )
    label = "Valid values" if len(near) == len(shape.choices) else f"Nearest of {len(shape.choices)} valid values"
    raise InvalidInput(f"{name} cannot be “{shown(value)}”.", hint=f"{label}: {', '.join(near)}.")


def _truth(value: Any) -> Any:
    text = str(value).strip().casefold() if isinstance(value, str | int | float) else ""
    return True if text in _TRUE else False if text in _FALSE else value


def _number(value: Any, shape: Shape) -> Any:
    if isinstance(value, str) and len(value) <= 40:
        try:
            read = int(value) if "integer" in shape.kinds and value.strip("+- ").isdigit() else float(value)
        except ValueError:
            return value
        value = read if math.isfinite(read) else value
    if isinstance(value, float) and value.is_integer() and "integer" in shape.kinds:
        return int(value)
    return value


def _bounded(value: Any, shape: Shape, name: str, notes: list[str]) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    low, high = shape.minimum, shape.maximum
    taken = low if low is not None and value < low else high if high is not None and value > high else value
    if taken != value:
        notes.append(f"{name} was taken as {taken}, the {'least' if taken == low else 'most'} there is.")
    return taken
