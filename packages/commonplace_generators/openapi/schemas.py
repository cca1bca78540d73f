"""Schemas: their type in a few words, what bounds a value, and the properties of an object in all its alternatives."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from commonplace_generators.openapi.credentials import masked, secret
from commonplace_generators.openapi.documents import Node
from commonplace_generators.openapi.texts import code, line

MAX_DEPTH = 3
MAX_VARIANTS = 6
MAX_ENUM = 40
MAX_ENUM_CHARACTERS = 400
MAX_COMPOSED = 50
"""Schemas that are looked into for the properties of one."""
MAX_ABOVE = 60
MAX_LAYERS = 8
"""Schemas of one property, of which each says more of it."""

_LIMITS = (
    ("minimum", "≥ {}"),
    ("exclusiveMinimum", "> {}"),
    ("maximum", "≤ {}"),
    ("exclusiveMaximum", "< {}"),
    ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"),
    ("minItems", "at least {} items"),
    ("maxItems", "at most {} items"),
    ("multipleOf", "multiple of {}"),
)
_TYPES: dict[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array"} | {
    type(None): "null"
}


@dataclass(frozen=True, slots=True)
class Source:
    """A schema where it is used."""

    node: Node
    label: str = ""
    """Of the alternative that it belongs to."""
    above: frozenset[str] = frozenset()
    """Addresses of the schemas that it stands in: a circle ends where one comes again."""

    def below(self, node: Node, label: str = "") -> "Source":
        return Source(node, label or self.label, self.above | {self.node.ref} if self.node.ref else self.above)

    @property
    def circular(self) -> bool:
        """Also of what stands in too many others to be followed."""
        return self.node.ref in self.above or len(self.above) > MAX_ABOVE


@dataclass(slots=True)
class Member:
    """A property with every schema that it has: that of each alternative."""

    sources: list[Source] = field(default_factory=list)
    required: bool = False
    notes: list[str] = field(default_factory=list)


def composed(node: Node) -> Iterator[Node]:
    """The schema and everything in its `allOf`; circles are cut."""
    seen, waiting, count = {node.ref}, [node], 0
    while waiting:
        one = waiting.pop(0)
        count += 1
        if count > MAX_COMPOSED:
            node.document.tell(f"A schema is composed of more than {MAX_COMPOSED} others; some were skipped.")
            return
        yield one
        for part in one.parts():
            inner = [each for each in part.elements("allOf") if not each.ref or each.ref not in seen]
            seen |= {each.ref for each in inner}
            waiting += inner


def near(node: Node) -> list[Node]:
    """The schema and what its `allOf` holds at once: where a type, a bound, a description are."""
    return [node, *node.elements("allOf")]


def members(sources: Sequence[Source], hidden: str) -> dict[str, Member]:
    """Properties by name, the required ones first; one that is required and nowhere described is left out. Of several
    schemas each is an alternative. `hidden`: `readOnly` of what is sent, `writeOnly` of what comes back."""
    found: dict[str, Member] = {}
    if len(sources) == 1:
        found = _own(sources[0], hidden)
    else:
        _alternatives(found, sources, hidden)
    told = {name: member for name, member in found.items() if member.sources}
    return dict(sorted(told.items(), key=lambda one: (not one[1].required, one[0])))


@dataclass(slots=True)
class Shape:
    """An object with everything that it is composed of."""

    properties: dict[str, Node] = field(default_factory=dict)
    required: dict[str, None] = field(default_factory=dict)
    groups: list[tuple[Node, str]] = field(default_factory=list)
    """Parts that have alternatives, with the key of these."""


def _shape(node: Node, hidden: str) -> Shape:
    """Made once of a schema with a name."""
    key = (node.ref, hidden) if node.ref and len(node.layers) == 1 else None
    known: Shape | None = node.document.cache.get(key)
    if key and known:
        return known
    found, dropped = Shape(), set[str]()
    for part in (part for one in composed(node) for part in one.parts()):
        for name, schema in part.members("properties"):
            if schema.value is False or any(each.get(hidden).value is True for each in near(schema)):
                dropped.add(name)
            first = found.properties.setdefault(name, schema)
            if first is not schema and len(first.layers) < MAX_LAYERS:
                found.properties[name] = first.joined(schema)
        if part.text("type") != "array":
            found.required |= dict.fromkeys(part.texts("required"))
        found.groups += [(part, each) for each in ("oneOf", "anyOf") if part.has(each)]
    for name in dropped:
        del found.properties[name]
        found.required.pop(name, None)
    if key:
        node.document.cache[key] = found
    return found


def _own(source: Source, hidden: str) -> dict[str, Member]:
    if not source.node.document.may_go_on():
        return {}
    shape = _shape(source.node, hidden)
    found = {name: Member([source.below(schema)]) for name, schema in shape.properties.items()}
    for name in shape.required:
        found.setdefault(name, Member()).required = True
    for part, key in shape.groups:
        _alternatives(found, [one for one in variants(source, part, key) if not one.circular], hidden)
    return found


def variants(source: Source, node: Node, key: str) -> list[Source]:
    """Those of `oneOf` or `anyOf`, without `null`; each by its name, its constant property, or its number."""
    given = [one for one in node.elements(key) if types(one) != ["null"]]
    kinds = [label(one) for one in given]
    return [
        source.below(one, _called(one) or (kind if kinds.count(kind) == 1 else f"variant {place}"))
        for place, (one, kind) in enumerate(zip(given, kinds, strict=True), 1)
    ]


def _called(node: Node) -> str:
    if said := node.name or line(node.text("title"), 60):
        return code(said, 60)
    for name, schema in node.members("properties"):
        if len(allowed := values(schema)) == 1 and isinstance(allowed[0], str):
            return f"{code(name, 60)}: {code(allowed[0], 60)}"
    return ""


def _alternatives(found: dict[str, Member], group: Sequence[Source], hidden: str) -> None:
    """Joins what the alternatives have with what there is, and notes what belongs to some of them only."""
    every = [(one.label, _own(one, hidden)) for one in group]
    bare = not any(member.sources for _, own in every for member in own.values())
    for name in dict.fromkeys(name for _, own in every for name in own):
        holders = [(label, own[name]) for label, own in every if name in own]
        needed = [label for label, one in holders if one.required]
        member = found.setdefault(name, Member())
        known = bool(member.sources) or member.required
        alone = "" if known or len(holders) == len(every) else f"only with {either(label for label, _ in holders)}"
        if len(needed) == len(every):
            member.required = True
        elif bare and needed and not member.required:
            others = [" and ".join(map(code, own)) for _, own in every if name not in own]
            member.notes.append(f"required unless {' or '.join(others[:MAX_VARIANTS])}")
        elif needed and not member.required:
            same = alone and len(needed) == len(holders)
            alone += ", required there" if same else ""
            member.notes += [] if same else [f"required with {either(needed)}"]
        member.notes[:0] = [alone] if alone else []
        for label, one in holders:
            member.sources += [Source(each.node, label if label else each.label, each.above) for each in one.sources]
            member.notes += one.notes if len(holders) == 1 else []


def label(node: Node, depth: int = 0) -> str:
    """The type in a few words: `array of User`, `string (date-time) or null`."""
    if not isinstance(node.value, dict):
        return "nothing" if node.value is False else "any"
    if depth > MAX_DEPTH:
        return code(node.name, 60) if node.name else "object"
    null = ["null"] if node.get("nullable").value is True else []
    choices = [] if node.has("properties") else node.elements("oneOf") or node.elements("anyOf")
    more = [f"{len(choices) - MAX_VARIANTS} more"] if len(choices) > MAX_VARIANTS else []
    if choices:
        return either([*(label(one, depth + 1) for one in choices[:MAX_VARIANTS]), *more, *null])
    return either([*(_kind(one, node, depth) for one in types(node)), *null])


def _kind(kind: str, node: Node, depth: int) -> str:
    if kind == "array":
        return f"array of {label(node.get('items'), depth + 1)}"
    if kind != "object":
        told = line(node.text("format"), 30)
        return f"{kind} ({told})" if told else kind
    inner, parts = node.get("additionalProperties"), node.elements("allOf")
    if isinstance(inner.value, dict) and inner.value and not node.has("properties"):
        return f"map of {label(inner, depth + 1)}"
    if len(parts) == 1 and not node.has("properties") and not node.name:
        return label(parts[0], depth + 1)
    return code(node.name, 60) if node.name else "object"


def types(node: Node, depth: int = 0) -> list[str]:
    """Said or to be seen. `any` for a schema that says nothing."""
    given = node.get("type").value
    if said := [one for one in (given if isinstance(given, list) else [given]) if isinstance(one, str)]:
        return [line(one, 30) or "any" for one in said]
    if any(node.get(key).value for key in ("properties", "additionalProperties")):
        return ["object"]
    if node.has("items"):
        return ["array"]
    if (parts := node.elements("allOf")) and depth <= MAX_DEPTH:
        return [next((kind for one in parts for kind in types(one, depth + 1) if kind != "any"), "object")]
    return list(dict.fromkeys(_TYPES.get(type(one), "object") for one in values(node))) or ["any"]


def either(labels: Iterable[str]) -> str:
    return " or ".join(dict.fromkeys(part for one in labels for part in one.split(" or "))) or "any"


def values(node: Node) -> list[Any]:
    """All that are allowed, where they are counted."""
    given = node.get("enum").value
    return [node.get("const").value] if node.has("const") else given if isinstance(given, list) else []


def limits(sources: Sequence[Source], name: str, secrets: frozenset[str] = frozenset()) -> list[str]:
    """Return what bounds a value, and its default: `one of …`, `≤ 100`, `default 20`. Never of a credential."""
    if secret(name) or name.lower() in secrets or not sources:
        return []
    nodes = [one for source in sources for one in near(source.node)]
    found = _allowed([one for each in nodes for one in values(each)], "")
    found = found or _allowed([one for each in nodes for one in values(each.get("items"))], "items: ")
    for key, text in (*_LIMITS, ("pattern", "pattern `{}`"), ("default", "default `{}`")):
        value = next((one.get(key).value for one in nodes if one.has(key)), None)
        numeric = isinstance(value, int | float) and not isinstance(value, bool)
        if numeric if (key, text) in _LIMITS else value not in (None, "", [], {}):
            told = written(masked(value, name))
            found.append(text.format(told) if numeric and (key, text) in _LIMITS else text.format(code(told, 60)[1:-1]))
    return found


def _allowed(given: Sequence[Any], of: str) -> list[str]:
    told = list(dict.fromkeys(code(written(masked(one)), 60) for one in given if one is not None))
    if not told:
        return []
    if len(told) == 1:
        return [f"{of}always {told[0]}"]
    shown = [
        one for place, one in enumerate(told[:MAX_ENUM]) if len(", ".join(told[: place + 1])) < MAX_ENUM_CHARACTERS
    ]
    more = f" and {len(told) - len(shown)} more" if len(told) > len(shown) else ""
    return [f"{of}one of {', '.join(shown)}{more}"]


def written(value: Any) -> str:
    """A value of JSON in one line; the same whatever the order of its keys."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
