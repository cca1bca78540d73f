"""Forms made from input models: fields with labels, help and bounds, the values that were sent, and what is wrong.

The JSON Schema of a model says everything: it has what types, constraints and `json_schema_extra` declare.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from pydantic import BaseModel

from commonplace.kernel.errors import CommonplaceError, Conflict
from commonplace.web.browsers import one

Kind = Literal[
    "text", "long", "number", "tick", "choice", "choices", "lines", "date", "datetime-local", "search", "hidden"
]

LONG_CHARACTERS = 300
"""A text that may be longer than this gets an area of several lines."""
ROWS = 4
"""Lines of an area."""

BOUNDS = {
    "minLength": "minlength",
    "maxLength": "maxlength",
    "minimum": "min",
    "maximum": "max",
    "pattern": "pattern",
}
"""Keywords of JSON Schema, and the attributes of HTML that say the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a form, as the template shows it."""

    name: str
    id: str
    label: str
    kind: Kind
    help: str = ""
    value: Any = ""
    """The text of the field; the chosen values of `choices`; whether a `tick` is set."""
    choices: Sequence[str] = ()
    words: Mapping[str, str] = field(default_factory=dict)
    """What people read in place of a choice."""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    """Attributes of the element, bounds and references to help and error included."""
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """The fields of a model that a form has, and how they differ from what the model says."""

    model: type[BaseModel]
    names: tuple[str, ...]
    id: str
    """The beginning of the ids of elements, unique on the page."""
    labels: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    """Fields that the form cannot leave empty, although the model can be made without them."""
    offered: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Choices that the model cannot name, such as members, and what people read, by field."""

    def kind(self, name: str) -> Kind:
        if name in self.kinds:
            return self.kinds[name]
        if name in self.offered:
            return "choice"
        shape = shape_of(self.model, name)
        match shape.get("type"):
            case "boolean":
                return "tick"
            case "integer" | "number":
                return "number"
            case "array":
                return "choices" if "enum" in shape["items"] else "lines"
        if "enum" in shape:
            return "choice"
        return "long" if shape.get("maxLength", 0) > LONG_CHARACTERS else "text"

    def read(self, sent: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """Return the values of a form that was sent, as the model takes them; what was left empty is absent."""
        found: dict[str, Any] = {}
        for name in self.names:
            kind, shape = self.kind(name), shape_of(self.model, name)
            if kind == "tick":
                found[name] = bool(one(sent, name))
            elif kind == "choices":
                found[name] = list(sent.get(name, ()))
            elif kind == "lines" and name in sent:
                found[name] = [text for line in one(sent, name).splitlines() if (text := line.strip())]
            elif text := one(sent, name).replace("\r\n", "\n"):
                found[name] = text
            elif name in self.required and name in sent:
                found[name] = ""
            elif self.model.model_fields[name].is_required():
                found[name] = None if shape.get("nullable") else ""
        return found

    def shown(
        self,
        values: Any,
        sent: Mapping[str, Sequence[str]] | None = None,
        problem: CommonplaceError | None = None,
    ) -> list[Field]:
        """Return the fields with the present values, attributes or members of `values`.

        After a refusal they hold what was sent, and what is wrong with it. Hidden fields, such as a version, hold
        present values again after a conflict alone: before, nobody has been shown what others changed.
        """
        wrong = errors_of(problem) if problem and sent is not None else {}
        typed = self.read(sent) if sent is not None else {}
        found = []
        for name in self.names:
            kind = self.kind(name)
            present = values.get(name) if isinstance(values, Mapping) else getattr(values, name, None)
            present = self._default(name) if present is None else present
            anew = kind == "hidden" and (isinstance(problem, Conflict) or name in wrong)
            value = present if sent is None or anew else typed.get(name)
            found.append(self._field(name, kind, value, wrong.get(name, "")))
        return found

    def filters(self, sent: Mapping[str, Sequence[str]], problem: CommonplaceError | None) -> list[Field]:
        """Return the fields as the query of an address fills them: what it does not name has its default."""
        present = {name: one for name, one in self.read(sent).items() if name in sent}
        wrong = errors_of(problem) if problem else {}
        return [
            self._field(name, self.kind(name), present.get(name, self._default(name)), wrong.get(name, ""))
            for name in self.names
        ]

    def _default(self, name: str) -> Any:
        info = self.model.model_fields[name]
        return None if info.is_required() else info.get_default(call_default_factory=True)

    def _field(self, name: str, kind: Kind, value: Any, error: str) -> Field:
        shape, id = shape_of(self.model, name), f"{self.id}-{name.replace('_', '-')}"
        help = self.model.model_fields[name].description or ""
        described = " ".join([*([f"{id}-error"] if error else []), *([f"{id}-help"] if help else [])])
        optional = name not in self.required and (shape.get("nullable") or name not in shape["required"])
        attributes: dict[str, Any] = {"aria-describedby": described or None}
        if kind != "choices":
            attributes |= {
                "required": None if optional or kind == "tick" else True,
                "aria-invalid": "true" if error else None,
            }
        if kind == "number":
            attributes["step"] = 1 if shape["type"] == "integer" else "any"
        if kind in ("text", "long", "number", "search"):
            attributes |= {html: shape.get(keyword) for keyword, html in BOUNDS.items()}
        if kind == "long":
            attributes |= {"pattern": None, "rows": ROWS}  # an area has no pattern
        if kind == "lines":
            attributes["rows"] = ROWS
            value = "\n".join(map(str, value or ()))
        elif kind == "choices":
            value = list(value or ())
        elif kind != "tick":
            value = "" if value is None else str(value)
        words = self.offered.get(name, {})
        choices = [str(one) for one in (shape["items"] if kind == "choices" else shape).get("enum", words) if one]
        if kind == "choice" and (words or optional) and shape.get("default") is None:
            choices.insert(0, "")
        return Field(
            name=name,
            id=id,
            label=self.labels.get(name) or name.replace("_", " ").capitalize(),
            kind=kind,
            help=help,
            value=value,
            choices=choices,
            words=words,
            attributes=attributes,
            error=error,
        )


@cache
def _properties(model: type[BaseModel]) -> dict[str, Any]:
    schema: dict[str, Any] = model.model_json_schema()
    return {
        name: {**_plain(shape, schema.get("$defs", {})), "required": schema.get("required", ())}
        for name, shape in schema["properties"].items()
    }


def shape_of(model: type[BaseModel], name: str) -> Mapping[str, Any]:
    """Return the JSON Schema of a field without references; what may be null is `nullable`, without the null."""
    shape: Mapping[str, Any] = _properties(model)[name]
    return shape


def _plain(shape: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(shape)
    if reference := found.pop("$ref", None):
        found = definitions[reference.rpartition("/")[2]] | found
    if "anyOf" in found:
        ways = found.pop("anyOf")
        others = [one for one in ways if one.get("type") != "null"]
        found = _plain(others[0], definitions) | found | {"nullable": len(others) < len(ways)}
    if "const" in found:
        found["enum"] = [found["const"]]
    if isinstance(found.get("items"), Mapping):
        found["items"] = _plain(found["items"], definitions)
    return found


def errors_of(problem: CommonplaceError) -> dict[str, str]:
    """Return what is wrong, by the field that a refusal names."""
    details = problem.details
    if isinstance(name := details.get("field"), str):
        return {name: problem.message}
    return {one["field"].partition(".")[0]: one["message"] for one in reversed(details.get("fields", ()))}
