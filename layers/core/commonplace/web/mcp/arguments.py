"""Lenient reading of arguments: names and values are corrected where only one meaning is possible, with notes.

Declared names match in other cases, in singular and plural, and by synonyms. What has two meanings is refused; of a
tool that writes, so is whatever is not named exactly.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from commonplace.kernel.errors import InvalidInput
from commonplace.web import argument_names
from commonplace.web.argument_names import MAX_NAME_CHARACTERS, QUESTIONS, closest, plain, singular
from commonplace.web.faults import words
from commonplace.web.mcp.declaration import Arguments

MAX_SHAPE_DEPTH = 8
"""The depth of nested models; beyond it anything goes, and the model itself decides."""

WEAK = frozenset(["word", "name", "concept", "title", "entry", "heading", "uri", "url", "link", "path", "document"])
"""They stand for another name where that is missing; beside it, they only describe the same thing once more."""

POSITIONS = frozenset(("offset", "page", "pagenumber", "skip", "startindex"))
"""Ways of paging that are not there. Left out, they would give the same page for ever: they are refused."""

WRAPPERS = frozenset(("filter", "filters", "where", "option", "options", "params", "parameters", "arguments", "args"))
"""Objects that models put arguments into which are meant at the top."""

MAX_JSON_CHARACTERS = 16_384
"""The most of a text that stands for a list or an object."""
MAX_VALUES = 2_000
"""Values in one call, nested ones included."""
MAX_VALUE_DEPTH = 12
"""The nesting of values in one call."""
MAX_SHOWN = 60
"""Characters of a value of the caller's in a message."""
MAX_NAMED = 5
"""Arguments or faults named in one message."""
MAX_NOTES = 8
"""Notes on one call."""

_TRUE, _FALSE = ("true", "yes", "1", "on"), ("false", "no", "0", "off")
_NOTHING = ("null", "none", "undefined", "")

Model = TypeVar("Model", bound=Arguments)


@dataclass(frozen=True, slots=True)
class Shape:
    """The form of one value. Without kinds, it is anything."""

    kinds: frozenset[str] = frozenset()
    """`string`, `integer`, `number`, `boolean`, `array`, `object`."""
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    items: "Shape | None" = None
    fields: "Mapping[str, Shape]" = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    free: bool = False
    """An object that takes whatever names."""
    filled: bool = False
    """Text of one character or more: where something is written, an empty one is refused, and not left out."""

    def only(self, *kinds: str) -> bool:
        return bool(self.kinds) and self.kinds <= set(kinds)


@lru_cache(maxsize=256)
def shape_of(model: type[BaseModel]) -> Shape:
    """Return the shape of a model. Names are those of the outside, in the order of the model."""
    schema = model.model_json_schema(by_alias=True)
    return _shape(schema, schema.get("$defs", {}), 0)


def _shape(node: Any, definitions: Mapping[str, Any], depth: int) -> Shape:
    if not isinstance(node, Mapping) or depth > MAX_SHAPE_DEPTH:
        return Shape()
    if (reference := node.get("$ref")) is not None:
        return _shape(definitions.get(reference.rpartition("/")[2]), definitions, depth + 1)
    options = [one for key in ("anyOf", "oneOf", "allOf") for one in node.get(key, ())]
    if options:
        return _joined([_shape(one, definitions, depth + 1) for one in options if one.get("type") != "null"])
    kind = node.get("type")
    properties = node.get("properties", {})
    values = node.get("enum", [node["const"]] if "const" in node else [])
    return Shape(
        kinds=frozenset([kind] if isinstance(kind, str) else []),
        # Choices of another type than text are the model's to check.
        choices=tuple(values) if all(isinstance(one, str) for one in values) else (),
        minimum=node.get("minimum", node.get("exclusiveMinimum")),
        maximum=node.get("maximum", node.get("exclusiveMaximum")),
        items=_shape(node["items"], definitions, depth + 1) if "items" in node else None,
        fields={name: _shape(one, definitions, depth + 1) for name, one in properties.items()},
        required=frozenset(node.get("required", ())),
        free=kind == "object" and node.get("additionalProperties", not properties) is not False,
        filled=node.get("minLength", 0) > 0,
    )


def _joined(shapes: list[Shape]) -> Shape:
    """Return the shape of any of them: an open one makes all open."""
    if len(shapes) == 1:
        return shapes[0]
    if any(not one.kinds for one in shapes):
        return Shape()
    return Shape(
        kinds=frozenset().union(*(one.kinds for one in shapes)),
        choices=tuple(choice for one in shapes for choice in one.choices) if all(one.choices for one in shapes) else (),
        minimum=next((one.minimum for one in shapes if one.minimum is not None), None),
        maximum=next((one.maximum for one in shapes if one.maximum is not None), None),
        items=next((one.items for one in shapes if one.items is not None), None),
        fields=next((one.fields for one in shapes if one.fields), {}),
        required=next((one.required for one in shapes if one.fields), frozenset()),
        free=any(one.free for one in shapes),
        filled=any(one.filled for one in shapes),
    )


def understand(
    raw: Mapping[str, Any],
    model: type[Model],
    *,
    lenient: bool = True,
    clamp: bool | None = None,
    max_values: int = MAX_VALUES,
) -> tuple[Model, tuple[str, ...]]:
    """Return the arguments, checked. Raises InvalidInput in a model's words, never pydantic's."""
    shape = shape_of(model)
    # Named as declared, with values that a model can take or refuse as they are.
    if all(name in shape.fields and type(one) in (str, int, bool) and one != "" for name, one in raw.items()):
        try:
            return model.model_validate(raw), ()
        except ValidationError:
            pass  # The long way finds what was meant, or says what is wrong.
    values, notes = forgive(raw, model, lenient=lenient, clamp=clamp, max_values=max_values)
    try:
        return model.model_validate(values), notes
    except ValidationError as error:
        faults = []
        for fault in error.errors(include_url=False, include_input=False)[:MAX_NAMED]:
            name = ".".join(str(part) for part in fault["loc"]) or "The arguments"
            faults.append(f"{name} is missing" if fault["type"] == "missing" else f"{name}: {words(fault)}")
        more = error.error_count() - len(faults)
        message = "; ".join(faults) + (f"; and {more} more." if more > 0 else ".")
        raise InvalidInput(" ".join((message, *notes)), hint=_names_here(shape)) from None


def bounded(raw: Mapping[str, Any], max_values: int = MAX_VALUES) -> Mapping[str, Any]:
    """Return the arguments as they are. Raises InvalidInput for too many, or too deep ones."""
    left, count = [(raw, 0)], 0
    while left:
        value, depth = left.pop()
        count += 1
        if count > max_values or depth > MAX_VALUE_DEPTH:
            raise InvalidInput(f"A call has at most {max_values:,} values, {MAX_VALUE_DEPTH} levels deep.")
        inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
        left += [(one, depth + 1) for one in inner]
    return raw


def forgive(
    raw: Mapping[str, Any],
    model: type[Arguments],
    *,
    lenient: bool = True,
    clamp: bool | None = None,
    max_values: int = MAX_VALUES,
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the arguments under declared names, and notes for the caller.

    Not lenient, for tools that write, refuses what is unknown, and leaves numbers as they are.

    `clamp` says otherwise of the numbers. Raises InvalidInput for what has more than one meaning, or is too much.
    """
    check_size(raw, max_values)
    taken = _Taken(shape_of(model), lenient, clamp=lenient if clamp is None else clamp)
    for name, value in raw.items():
        taken.take(name, value)
    return taken.values, tuple(taken.all_notes()[:MAX_NOTES])


class _Taken:
    """Arguments of one object as they are understood, one after the other."""

    def __init__(self, shape: Shape, lenient: bool, path: str = "", *, clamp: bool) -> None:
        self.values: dict[str, Any] = {}
        self._notes: list[str] = []
        self._shape = shape
        self._lenient = lenient
        self._clamp = clamp
        self._path = path
        self._written: dict[str, str] = {}
        self._unknown: list[str] = []
        self._inside: dict[str, _Taken] = {}

    def take(self, name: str, value: Any) -> None:
        field = self._meant(name)
        if field is not None:
            self._put(field, name, value)
        elif value is not None and not self._descend(name, value):
            inside = decoded_object(value) if plain(name) in WRAPPERS else None
            if isinstance(inside, Mapping):  # given in an object that is not there, and meant here
                for inner, one in inside.items():
                    self.take(inner, one)
            elif not self._lenient or plain(name) in POSITIONS:
                raise InvalidInput(f"There is no argument {self._path}{shown(name)}.", hint=_names_here(self._shape))
            else:
                self._unknown.append(self._path + shown(name))

    def all_notes(self) -> list[str]:
        """Return each note once, what was left out last."""
        notes = self._notes + [note for inside in self._inside.values() for note in inside.all_notes()]
        if self._unknown:
            more = len(self._unknown) - MAX_NAMED
            few = ", ".join(self._unknown[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
            notes.append(f"Left out, for there is no such argument: {few}. {_names_here(self._shape)}")
        return list(dict.fromkeys(notes))

    def _meant(self, name: str) -> str | None:
        return argument_names.meant(name, self._shape.fields, self._shape.required)

    def _put(self, field: str, name: str, value: Any) -> None:
        shape = self._shape.fields[field]
        value = alone(value, shape)
        if absent(value, shape, field in self._shape.required or (shape.filled and not self._lenient)):
            return
        if shape.fields and isinstance(value := decoded_object(value), Mapping):
            inside = self._nested(field)
            for inner, one in value.items():
                inside.take(inner, one)
            return
        if isinstance(value, list) and shape.only("string") and plain(field) in QUESTIONS:
            # Words of one question, given one by one.
            value = " ".join(value) if all(isinstance(one, str) for one in value) else value
        coerced = self._coerced(value, shape, self._path + field)
        if field in self.values and self.values[field] != coerced:
            # Of two names for a field, a weak one only describes. Where neither is, or both are, it is unclear.
            before, weak = self._written.get(field, field), plain(name) in WEAK
            if not self._lenient or weak == (plain(before) in WEAK):
                raise _twice(field, before, name)
            self._unknown.append(self._path + shown(name if weak else before))
            if weak:
                return
        self.values[field] = coerced
        self._written[field] = name

    def _coerced(self, value: Any, shape: Shape, name: str) -> Any:
        if "array" in shape.kinds and isinstance(value := listed(value, shape), list):
            items = shape.items or Shape()
            inner = (alone(one, items) for one in value)
            return [self._coerced(one, items, name) for one in inner if one is not None]
        if "object" not in shape.kinds:
            return scalar(value, shape, name, self._notes, clamp=self._clamp)
        value = decoded_object(value)
        if not shape.fields or not isinstance(value, Mapping):
            return value
        # An object in a list.
        taken = _Taken(shape, self._lenient, f"{name}.", clamp=self._clamp)
        for key, one in value.items():
            taken.take(key, one)
        self._notes.extend(taken.all_notes())
        return taken.values

    def _nested(self, field: str) -> "_Taken":
        if field not in self._inside:
            if field in self.values:
                raise _twice(field, self._written[field], f"{field}.…")
            path = f"{self._path}{field}."
            inside = _Taken(self._shape.fields[field], self._lenient, path, clamp=self._clamp)
            self._inside[field], self.values[field] = inside, inside.values
        return self._inside[field]

    def _descend(self, name: str, value: Any) -> bool:
        """Take what is given here and meant one object further in: by its own name, or as `object.name`."""
        head, dot, tail = name.replace("[", ".").replace("]", "").partition(".")
        if dot and (field := self._meant(head)) is not None and self._shape.fields[field].fields:
            self._nested(field).take(tail, value)
            return True
        objects = [(field, shape) for field, shape in self._shape.fields.items() if shape.fields]
        inner = [
            field for field, shape in objects if argument_names.meant(name, shape.fields, shape.required) is not None
        ]
        if len(inner) == 1:
            self._nested(inner[0]).take(name, value)
        return len(inner) == 1


def _twice(field: str, name: str, other: str) -> InvalidInput:
    return InvalidInput(
        f"{shown(name)} and {shown(other)} mean the same argument and differ.", hint=f"Give {field} once."
    )


def _names_here(shape: Shape) -> str:
    names = [f"{name} (required)" if name in shape.required else name for name in shape.fields]
    return f"Arguments here: {', '.join(names[:30])}." if names else "There are no arguments here."


def choice(value: str, choices: tuple[str, ...]) -> str | None:
    """Return the valid value that is meant, whatever its case or number."""
    if value in choices:
        return value
    key = plain(value) if len(value) <= MAX_NAME_CHARACTERS else ""
    written: Mapping[str, str] = {plain(one): one for one in reversed(choices)}
    if key in written:
        return written[key]
    return next((one for one in choices if singular(plain(one)) == singular(key)), None)


def absent(value: Any, shape: Shape, required: bool) -> bool:
    """Return whether it says nothing: null, and empty text where something optional is meant, or something not text."""
    if value is None:
        return True
    if not isinstance(value, str) or (required and "string" in shape.kinds):
        return False
    text = value.strip().casefold()
    return not text or (text in _NOTHING and not (shape.only("string") and not shape.choices))


def scalar(value: Any, shape: Shape, name: str, notes: list[str], *, clamp: bool) -> Any:
    """Return a text, number or truth value. Raises InvalidInput for no finite number and a value that is no choice."""
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidInput(f"{name} has to be a finite number.", hint="Give digits, or leave it out.")
    if shape.choices and isinstance(value, str | int | float):
        if (chosen := choice(str(value).strip(), shape.choices)) is not None:
            return chosen
        few = list(shape.choices[:12])
        near = few if len(shape.choices) <= 12 else closest(str(value), shape.choices) or few
        label = "Valid values" if len(near) == len(shape.choices) else f"Nearest of {len(shape.choices)} valid values"
        raise InvalidInput(f"{name} cannot be “{shown(str(value))}”.", hint=f"{label}: {', '.join(near)}.")
    if shape.only("boolean"):
        text = str(value).strip().casefold() if isinstance(value, str | int | float) else ""
        return True if text in _TRUE else False if text in _FALSE else value
    if shape.only("integer", "number"):
        return _number(value, shape, name, notes, clamp)
    if isinstance(value, list) and shape.only("string", "integer", "number", "boolean"):
        raise InvalidInput(f"{name} takes one value, and {len(value)} came.", hint="Call once for each of them.")
    if shape.only("string") and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value


def _number(value: Any, shape: Shape, name: str, notes: list[str], clamp: bool) -> Any:
    """Return the number that is meant, within its bounds where it is clamped; what is none as it is."""
    if isinstance(value, str) and len(value) <= 40:
        try:
            read = int(value) if "integer" in shape.kinds and value.strip("+- ").isdigit() else float(value)
        except ValueError:
            return value
        value = read if math.isfinite(read) else value
    if isinstance(value, float) and value.is_integer() and "integer" in shape.kinds:
        value = int(value)
    if not clamp or isinstance(value, bool) or not isinstance(value, int | float):
        return value
    low, high = shape.minimum, shape.maximum
    taken = low if low is not None and value < low else high if high is not None and value > high else value
    if taken != value:
        notes.append(f"{name} was taken as {taken}, the {'least' if taken == low else 'most'} there is.")
    return taken


def alone(value: Any, shape: Shape) -> Any:
    """Return the one value of a list, where no list is meant."""
    while isinstance(value, list) and len(value) == 1 and shape.kinds and "array" not in shape.kinds:
        value = value[0]
    return value


def listed(value: Any, shape: Shape) -> Any:
    """Return a list where one is meant: JSON text, text with commas, or one value."""
    if isinstance(value, list) or "string" in shape.kinds:
        return value
    if isinstance(value, str):
        decoded = from_json(value, "[")
        if isinstance(decoded, list):
            return decoded
        return [part for one in value.split(",") if (part := one.strip())]
    return [value]


def decoded_object(value: Any) -> Any:
    return from_json(value, "{") if isinstance(value, str) else value


def from_json(value: str, opening: str) -> Any:
    """Return what text that looks like JSON holds; the text itself if it is none. Raises InvalidInput for too much."""
    text = value.strip()
    if not text.startswith(opening) or len(text) > MAX_JSON_CHARACTERS:
        return value
    try:
        decoded = json.loads(text, parse_constant=no_number)
        # Escapes can spell half a character, which no answer could repeat.
        json.dumps(decoded, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return value
    check_size(decoded)
    return decoded


def no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def check_size(value: Any, max_values: int = MAX_VALUES) -> None:
    """Raises InvalidInput for what is nested too deeply or holds too much."""
    level: list[Any] = [value]
    count = depth = 0
    while level:
        depth, count = depth + 1, count + len(level)
        if depth > MAX_VALUE_DEPTH or count > max_values:
            raise InvalidInput(
                "The arguments are nested too deeply or contain too many values.",
                hint=f"At most {max_values} values, {MAX_VALUE_DEPTH} levels deep.",
            )
        held = (one.values() if isinstance(one, Mapping) else one for one in level if isinstance(one, Mapping | list))
        level = [inner for values in held for inner in values]


def shown(value: Any) -> str:
    """Return a value of the caller's, safe to repeat: one line, short."""
    text = "".join(letter if letter.isprintable() else " " for letter in str(value)[: MAX_SHOWN + 1])
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"
