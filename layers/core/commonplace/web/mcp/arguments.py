"""Arguments as models send them, understood as far as there is one meaning, with notes on what was changed.

What has two meanings is refused, and so is whatever a tool that writes was not asked for by name.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError

from commonplace.kernel.errors import InvalidInput
from commonplace.web.mcp import coercing
from commonplace.web.mcp.coercing import shown
from commonplace.web.mcp.declaration import Arguments
from commonplace.web.mcp.naming import POSITIONS, QUESTIONS, WEAK, WRAPPERS, meant, plain
from commonplace.web.mcp.shapes import Shape, shape_of

MAX_NAMED = 5
"""Arguments or faults named in one message."""

MAX_NOTES = 8
"""On one call."""

Model = TypeVar("Model", bound=Arguments)


@dataclass(frozen=True, slots=True)
class Forgiven:
    """What was meant, under declared names, and what the caller should know of it."""

    values: dict[str, Any]
    notes: tuple[str, ...] = ()


def understand(
    raw: Mapping[str, Any],
    model: type[Model],
    *,
    lenient: bool = True,
    clamp: bool | None = None,
    max_values: int = coercing.MAX_VALUES,
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
    max_values: int = coercing.MAX_VALUES,
) -> Forgiven:
    """Not lenient, for tools that write: what is unknown is refused, and numbers stay as they are.

    `clamp` says otherwise of the numbers. Raises InvalidInput for what has more than one meaning, or is too much.
    """
    coercing.check_size(raw, max_values)
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
        value = coercing.alone(value, shape)
        if coercing.absent(value, shape, field in self._shape.required):
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
        if "array" in shape.kinds and isinstance(value := coercing.listed(value, shape), list):
            items = shape.items or Shape()
            inner = (coercing.alone(one, items) for one in value)
            return [self._coerced(one, items, name) for one in inner if one is not None]
        if "object" in shape.kinds:
            value = self._object(value)
            return self._whole(value, shape, name) if shape.fields and isinstance(value, Mapping) else value
        return coercing.scalar(value, shape, name, self.notes, clamp=self._clamp)

    def _whole(self, value: Mapping[str, Any], shape: Shape, name: str) -> dict[str, Any]:
        """An object in a list."""
        taken = _Taken(shape, self._lenient, f"{name}.", clamp=self._clamp)
        for inner, one in value.items():
            taken.take(inner, one)
        self.notes.extend(taken.all_notes())
        return taken.values

    @staticmethod
    def _object(value: Any) -> Any:
        return coercing.from_json(value, "{") if isinstance(value, str) else value

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
