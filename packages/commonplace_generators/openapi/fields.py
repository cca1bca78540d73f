"""Everything that a request takes, in lines: parameters, and the fields of its body with those within them."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from commonplace.reference.model import PLACES, Parameter, Place
from commonplace.reference.source.bounds import MAX_PARAMETER, MAX_PARAMETER_DESCRIPTION, MAX_PARAMETERS
from commonplace_generators.openapi.documents import Node
from commonplace_generators.openapi.operations import Operation
from commonplace_generators.openapi.schemas import (
    Member,
    Source,
    composed,
    either,
    label,
    limits,
    members,
    near,
    types,
    variants,
    written,
)
from commonplace_generators.openapi.texts import code, line

MAX_FIELDS = 700
"""Of one operation. What is nearer to the top goes before what is further within."""
MAX_DESCRIPTION = 300
IGNORED = frozenset({"accept", "content-type", "authorization"})
"""Headers that are no parameters (OpenAPI, "Parameter Object")."""


@dataclass(slots=True)
class Line:
    """One parameter or field, and those within it."""

    name: str
    member: Member
    place: Place
    needed: bool
    """Whether no request is right without it."""
    form: str = "{}.{}"
    """How a field within it is called."""
    description: str = ""
    notes: list[str] = field(default_factory=list)
    below: "list[Line]" = field(default_factory=list)
    shown: bool = True


def parameters(operation: Operation, secrets: frozenset[str]) -> list[Parameter]:
    """Those of path, query, header and cookie, then the body; the required ones of each first."""
    lines = [*_declared(operation), *_body(operation)]
    _grow(lines)
    lines.sort(key=lambda one: PLACES.index(one.place))
    found = [_parameter(one, secrets) for top in lines for one in _flat(top) if one.shown]
    if len(found) > MAX_PARAMETERS:
        operation.node.document.tell(f"{len(found) - MAX_PARAMETERS:,} parameters are too many for one entry.")
    return found[:MAX_PARAMETERS]


def _declared(operation: Operation) -> list[Line]:
    """The operation's own go before those of its path; what the path alone names is there as well."""
    found: dict[tuple[Place, str], Line] = {}
    for owner in (operation.item, operation.node):
        if owner.has("parameters") and not isinstance(owner.get("parameters").value, list):
            operation.node.document.tell("`parameters` is not a list.")
        for one in owner.elements("parameters", needed=True):
            if read := _line(one):
                found[read.place, read.name] = read
    for name in operation.placeholders:
        found.setdefault(("path", name), Line(name, Member(required=True), "path", needed=True))
    for name, value in operation.fixed:
        note = f"always {code(value)}"
        found["query", name] = Line(name, Member(required=True, notes=[note]), "query", needed=True)
    return sorted(found.values(), key=lambda one: (not one.needed, one.name))


def _line(node: Node) -> Line | None:
    place = {"querystring": "query"}.get(node.text("in"), node.text("in"))
    name = line(node.text("name"), 100)
    known = next((one for one in PLACES[2:-1] if one == place), None)
    if not name or known is None:
        if isinstance(node.value, dict) or not node.ref:
            told = "A parameter has no name, or goes neither to path, query, header nor cookie."
            node.document.tell(told, severity="error")
        return None
    if known == "header" and name.lower() in IGNORED:
        return None
    content = next((one for _, one in media(node.get("content"))), node)
    needed = node.get("required").value is True or known == "path"
    read = Line(name, Member([Source(content.get("schema"))], needed), known, needed)
    read.description = line(node.text("description"), MAX_DESCRIPTION)
    read.notes += ["deprecated"] if node.get("deprecated").value is True else []
    if node.text("style") == "deepObject":
        read.form = "{}[{}]"
    elif known == "query" and not node.has("content") and node.get("explode").value is not False:
        read.form = "{1}"
    return read


def media(content: Node) -> list[tuple[str, Node]]:
    """Media types with what is said of them, JSON first."""
    value, base = content.layers[-1]
    given = sorted(value.items()) if isinstance(value, dict) else []
    found = [(line(name, 100), content.document.follow(one, base)) for name, one in given]
    found = [(name, one) for name, one in found if isinstance(one.value, dict)]
    return sorted(found, key=lambda one: (not one[0].split(";")[0].endswith("json"), one[0] != "application/json"))


def _body(operation: Operation) -> list[Line]:
    body = operation.node.get("requestBody", needed=True)
    if not isinstance(body.value, dict):
        return []
    alike: dict[object, tuple[Node, list[str]]] = {}
    for name, kind in media(body.get("content")):
        schema = kind.get("schema", needed=True) if kind.has("schema") else kind.get("itemSchema", needed=True)
        alike.setdefault(schema.ref or written(schema.value), (schema, []))[1].append(code(name))
    alone = len(alike) == 1
    sources = [Source(schema, "" if alone else " or ".join(names)) for schema, names in alike.values()]
    needed = body.get("required").value is True
    plain = [one.label for one in sources if not _is_object(one.node)]
    top = Line("", Member(sources, needed), "body", needed, shown=bool(plain) or not sources)
    top.description = line(body.text("description"), MAX_DESCRIPTION)
    kinds = [name for names in alike.values() for name in names[1]]
    top.notes += [f"sent as {' or '.join(kinds[:8])}"] if alone and kinds != ["`application/json`"] else []
    return [top] if sources else []


def _is_object(node: Node, depth: int = 0) -> bool:
    choices = [*node.elements("oneOf"), *node.elements("anyOf")][:20] if depth < 3 else []
    own = bool(members([Source(node)], "readOnly"))
    return own and all(_is_object(one, depth + 1) or types(one) == ["any"] for one in choices)


def _grow(lines: Sequence[Line]) -> None:
    """Puts fields below those that hold them, level by level, as many as there may be."""
    waiting, count = deque(lines), len(lines)
    while waiting:
        one = waiting.popleft()
        inside: dict[str, list[Source]] = {}
        if count >= MAX_FIELDS:
            if any(_holds(source.node) for source in one.member.sources):
                one.notes.append("fields within it are not listed: they are too many")
            continue
        for source in one.member.sources:
            one.notes += [f"holds {name} again" for name in sorted(set(_inside(source, "", inside, top=True)))]
        for suffix, sources in inside.items():
            found = list(members(sources, "readOnly").items())
            for name, member in found[: MAX_FIELDS - count]:
                below = _field(one, suffix, name, member)
                one.below.append(below)
                waiting.append(below)
            if len(found) > MAX_FIELDS - count:
                one.notes.append(f"{len(found) - MAX_FIELDS + count} more fields within it are not listed")
            count += min(len(found), MAX_FIELDS - count)


def _field(one: Line, suffix: str, name: str, member: Member) -> Line:
    """A line for a field of another's value."""
    owner = f"{one.name}{suffix}" if one.name else suffix.lstrip(".")
    form = one.form if not suffix else "{}.{}"
    called = form.format(owner, name) if owner else name
    below = Line(called[:MAX_PARAMETER], member, one.place, one.needed and member.required)
    below.form = "{}[{}]" if form == "{}[{}]" else "{}.{}"
    if member.required and not one.needed:
        below.notes.append(f"required in {code(owner) if owner else 'the body'}")
    return below


def _holds(node: Node, depth: int = 0) -> bool:
    """Return whether a value may have fields."""
    keys = ("properties", "allOf", "oneOf", "anyOf")
    inner = [node.get(key) for key in ("items", "additionalProperties") if node.has(key)]
    return any(node.has(key) for key in keys) or (depth < 4 and any(_holds(one, depth + 1) for one in inner))


def _inside(source: Source, suffix: str, found: dict[str, list[Source]], *, top: bool) -> Iterator[str]:
    """Gathers objects of a value by how they are reached, `[]` for elements, `.*` for the members of a map; gives the
    names of those that come again. `top`: what an alternative of an object adds is the object's own."""
    if source.circular:
        yield code(source.node.name, 60)
        return
    if not source.node.document.may_go_on():
        return
    if top:
        found.setdefault(suffix, []).append(source)
    for one in composed(source.node):
        for part in one.parts():
            for key, sign in (("items", "[]"), ("additionalProperties", ".*")):
                if isinstance(part.get(key).value, dict):
                    yield from _inside(source.below(part.get(key)), suffix + sign, found, top=True)
            for each in [*variants(source, part, "oneOf"), *variants(source, part, "anyOf")]:
                yield from _inside(each, suffix, found, top=False)


def _flat(top: Line) -> Iterator[Line]:
    yield top
    for one in top.below:
        yield from _flat(one)


def _parameter(one: Line, secrets: frozenset[str]) -> Parameter:
    nodes = [source.node for source in one.member.sources]
    said = one.description or next((told for node in nodes if (told := _described(node))), "")
    marks = [*one.notes, *one.member.notes, *limits(one.member.sources, one.name.rpartition(".")[2], secrets)]
    if any(node.get("deprecated").value is True for node in nodes):
        marks.append("deprecated")
    facts = f"({'; '.join(dict.fromkeys(marks))})" if marks else ""
    told = f"{said} {facts}".strip()
    return Parameter(
        name=one.name or "body",
        place=one.place,
        type=line(either(label(node) for node in nodes), MAX_PARAMETER),
        required=one.needed,
        description=told if len(told) <= MAX_PARAMETER_DESCRIPTION else line(told, MAX_PARAMETER_DESCRIPTION),
    )


def _described(node: Node) -> str:
    return next((told for one in near(node) if (told := line(one.text("description"), MAX_DESCRIPTION))), "")
