"""Lenient reading of arguments: names and values are corrected where only one meaning is possible, with notes.

Declared names match in other cases, in singular and plural, and by synonyms. What has two meanings is refused; of a
tool that writes, so is whatever is not named exactly.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from commonplace.kernel.errors import InvalidInput
from commonplace.web import argument_names
from commonplace.web.argument_names import MAX_NAME_CHARACTERS, QUESTIONS, closest, plain, singular
from commonplace.web.mcp.declaration import Arguments

MAX_SHAPE_DEPTH = 8
"""Of nested models; beyond it anything goes, and the model itself decides."""

WEAK = frozenset(["word", "name", "concept", "title", "entry", "heading", "uri", "url", "link", "path", "document"])
"""They stand for another name where that is missing; beside it, they only describe the same thing once more."""

POSITIONS = frozenset(("offset", "page", "pagenumber", "skip", "startindex"))
"""Ways of paging that are not there. Left out, they would give the same page for ever: they are refused."""

WRAPPERS = frozenset(("filter", "filters", "where", "option", "options", "params", "parameters", "arguments", "args"))
"""Objects that models put arguments into which are meant at the top."""

MAX_JSON_CHARACTERS = 16_384
"""Of text that stands for a list or an object."""
MAX_VALUES = 2_000
"""Values in one call, nested ones included."""
MAX_VALUE_DEPTH = 12
"""Of nesting in one call."""
MAX_SHOWN = 60
"""Characters of a value of the caller's in a message."""

_TRUE, _FALSE = ("true", "yes", "1", "on"), ("false", "no", "0", "off")
_NOTHING = ("null", "none", "undefined", "")

MAX_NAMED = 5
"""Arguments or faults named in one message."""

MAX_NOTES = 8
"""On one call."""

Model = TypeVar("Model", bound=Arguments)


@dataclass(frozen=True, slots=True)
class Shape:
    """One value. No kinds: anything."""

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

    def only(self, *kinds: str) -> bool:
        return bool(self.kinds) and self.kinds <= set(kinds)


@lru_cache(maxsize=256)
def shape_of(model: type[BaseModel]) -> Shape:
    """Names are those of the outside, in the order of the model."""
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
    return Shape(
        kinds=frozenset([kind] if isinstance(kind, str) else []),
        choices=_choices(node),
        minimum=node.get("minimum", node.get("exclusiveMinimum")),
        maximum=node.get("maximum", node.get("exclusiveMaximum")),
        items=_shape(node["items"], definitions, depth + 1) if "items" in node else None,
        fields={name: _shape(one, definitions, depth + 1) for name, one in properties.items()},
        required=frozenset(node.get("required", ())),
        free=kind == "object" and node.get("additionalProperties", not properties) is not False,
    )


def _choices(node: Mapping[str, Any]) -> tuple[str, ...]:
    """The valid texts; choices of another type are the model's to check."""
    values = node.get("enum", [node["const"]] if "const" in node else [])
    return tuple(values) if all(isinstance(one, str) for one in values) else ()


def _joined(shapes: list[Shape]) -> Shape:
    """Any of them: an open one makes all open."""
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
    )


@dataclass(frozen=True, slots=True)
class Forgiven:
    """The arguments under declared names, and notes for the caller."""

    values: dict[str, Any]
    notes: tuple[str, ...] = ()


def understand(
    raw: Mapping[str, Any],
    model: type[Model],
    *,
    lenient: bool = True,
    clamp: bool | None = None,
    max_values: int = MAX_VALUES,
) -> tuple[Model, tuple[str, ...]]:
    """The arguments, checked. Raises InvalidInput in a model's words, never pydantic's."""
    if _simple(raw, shape_of(model)):
        try:
            return model.model_validate(raw), ()
        except ValidationError:
            pass  # The long way finds what was meant, or says what is wrong.
    forgiven = forgive(raw, model, lenient=lenient, clamp=clamp, max_values=max_values)
    try:
        return model.model_validate(forgiven.values), forgiven.notes
    except ValidationError as error:
        raise InvalidInput(" ".join((_faults(error), *forgiven.notes)), hint=_names_here(shape_of(model))) from None


def forgive(
    raw: Mapping[str, Any],
    model: type[Arguments],
    *,
    lenient: bool = True,
    clamp: bool | None = None,
    max_values: int = MAX_VALUES,
) -> Forgiven:
    """Not lenient, for tools that write: what is unknown is refused, and numbers stay as they are.

    `clamp` says otherwise of the numbers. Raises InvalidInput for what has more than one meaning, or is too much.
    """
    check_size(raw, max_values)
    shape = shape_of(model)
    taken = _Taken(shape, lenient, clamp=lenient if clamp is None else clamp)
    for name, value in raw.items():
        taken.take(name, value)
    return Forgiven(taken.values, tuple(taken.all_notes()[:MAX_NOTES]))


class _Taken:
    """Arguments of one object as they are understood, one after the other."""

    def __init__(self, shape: Shape, lenient: bool, path: str = "", *, clamp: bool) -> None:
        self.values: dict[str, Any] = {}
        self.notes: list[str] = []
        self._shape = shape
        self._lenient = lenient
        self._clamp = clamp
        self._path = path
        self._written: dict[str, str] = {}
        self._unknown: list[str] = []
        self._inside: dict[str, _Taken] = {}

    def take(self, name: str, value: Any) -> None:
        field = meant(name, self._shape)
        if field is not None:
            self._put(field, name, value)
        elif value is not None and not (self._descend(name, value) or self._lift(name, value)):
            self._leave_out(name)

    def all_notes(self) -> list[str]:
        """Each thing once, what was left out last."""
        notes = self.notes + [note for inside in self._inside.values() for note in inside.all_notes()]
        if self._unknown:
            notes.append(f"Left out, for there is no such argument: {_few(self._unknown)}. {_names_here(self._shape)}")
        return list(dict.fromkeys(notes))

    def _put(self, field: str, name: str, value: Any) -> None:
        shape = self._shape.fields[field]
        value = alone(value, shape)
        if absent(value, shape, field in self._shape.required):
            return
        if shape.fields and isinstance(value := self._object(value), Mapping):
            inside = self._nested(field)
            for inner, one in value.items():
                inside.take(inner, one)
            return
        if isinstance(value, list) and shape.only("string") and plain(field) in QUESTIONS:
            # Words of one question, given one by one.
            value = " ".join(value) if _texts(value) else value
        coerced = self._coerced(value, shape, self._path + field)
        if field in self.values and self.values[field] != coerced and not self._prevails(field, name):
            return
        self.values[field] = coerced
        self._written[field] = name

    def _prevails(self, field: str, name: str) -> bool:
        """Whether a second name for a field counts more than the first. Raises InvalidInput when neither does."""
        before = self._written.get(field, field)
        weak = plain(name) in WEAK
        if not self._lenient or weak == (plain(before) in WEAK):
            raise _twice(field, before, name)
        self._unknown.append(self._path + shown(name if weak else before))
        return not weak

    def _coerced(self, value: Any, shape: Shape, name: str) -> Any:
        if "array" in shape.kinds and isinstance(value := listed(value, shape), list):
            items = shape.items or Shape()
            inner = (alone(one, items) for one in value)
            return [self._coerced(one, items, name) for one in inner if one is not None]
        if "object" in shape.kinds:
            value = self._object(value)
            return self._whole(value, shape, name) if shape.fields and isinstance(value, Mapping) else value
        return scalar(value, shape, name, self.notes, clamp=self._clamp)

    def _whole(self, value: Mapping[str, Any], shape: Shape, name: str) -> dict[str, Any]:
        """An object in a list."""
        taken = _Taken(shape, self._lenient, f"{name}.", clamp=self._clamp)
        for inner, one in value.items():
            taken.take(inner, one)
        self.notes.extend(taken.all_notes())
        return taken.values

    @staticmethod
    def _object(value: Any) -> Any:
        return from_json(value, "{") if isinstance(value, str) else value

    def _nested(self, field: str) -> "_Taken":
        if field not in self._inside:
            if field in self.values:
                raise _twice(field, self._written[field], f"{field}.…")
            inside = self._inside[field] = _Taken(
                self._shape.fields[field], self._lenient, f"{self._path}{field}.", clamp=self._clamp
            )
            self.values[field] = inside.values
        return self._inside[field]

    def _descend(self, name: str, value: Any) -> bool:
        """Given here, meant one object further in: by its own name, or as `object.name`."""
        head, dot, tail = name.replace("[", ".").replace("]", "").partition(".")
        if dot and (field := meant(head, self._shape)) is not None and self._shape.fields[field].fields:
            self._nested(field).take(tail, value)
            return True
        inner = [one for one, shape in self._shape.fields.items() if shape.fields and meant(name, shape) is not None]
        if len(inner) == 1:
            self._nested(inner[0]).take(name, value)
        return len(inner) == 1

    def _lift(self, name: str, value: Any) -> bool:
        """Given in an object that is not there, meant here."""
        value = self._object(value)
        if plain(name) not in WRAPPERS or not isinstance(value, Mapping):
            return False
        for inner, one in value.items():
            self.take(inner, one)
        return True

    def _leave_out(self, name: str) -> None:
        if not self._lenient or plain(name) in POSITIONS:
            raise InvalidInput(f"There is no argument {self._path}{shown(name)}.", hint=_names_here(self._shape))
        self._unknown.append(self._path + shown(name))


def _twice(field: str, name: str, other: str) -> InvalidInput:
    return InvalidInput(
        f"{shown(name)} and {shown(other)} mean the same argument and differ.", hint=f"Give {field} once."
    )


def _texts(values: list[Any]) -> bool:
    return all(isinstance(one, str) for one in values)


def _simple(raw: Mapping[str, Any], shape: Shape) -> bool:
    """Named as declared, with values that a model can take or refuse as they are."""
    return all(name in shape.fields and type(value) in (str, int, bool) and value != "" for name, value in raw.items())


def _faults(error: ValidationError) -> str:
    told = []
    for fault in error.errors(include_url=False, include_input=False, include_context=False)[:MAX_NAMED]:
        name = ".".join(str(part) for part in fault["loc"]) or "The arguments"
        message = fault["msg"].removeprefix("Value error, ").removeprefix("Input ").rstrip(".")
        told.append(f"{name} is missing" if fault["type"] == "missing" else f"{name}: {shown_message(message)}")
    more = error.error_count() - len(told)
    return "; ".join(told) + (f"; and {more} more." if more > 0 else ".")


def shown_message(message: str) -> str:
    return message if len(message) <= 240 else message[:239] + "…"


def _names_here(shape: Shape) -> str:
    names = [f"{name} (required)" if name in shape.required else name for name in shape.fields]
    return f"Arguments here: {', '.join(names[:30])}." if names else "There are no arguments here."


def _few(names: list[str]) -> str:
    more = len(names) - MAX_NAMED
    return ", ".join(names[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def meant(name: str, shape: Shape) -> str | None:
    return argument_names.meant(name, shape.fields, shape.required)


def choice(value: str, choices: tuple[str, ...]) -> str | None:
    """The valid value that is meant, whatever its case or number."""
    if value in choices:
        return value
    key = plain(value) if len(value) <= MAX_NAME_CHARACTERS else ""
    written: Mapping[str, str] = {plain(one): one for one in reversed(choices)}
    if key in written:
        return written[key]
    return next((one for one in choices if singular(plain(one)) == singular(key)), None)


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
        if depth > MAX_VALUE_DEPTH or count > max_values:
            raise InvalidInput(
                "The arguments are nested too deeply or hold too many values.",
                hint=f"At most {max_values} values, {MAX_VALUE_DEPTH} levels deep.",
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
