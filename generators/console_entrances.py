"""Where a console takes what was typed: functions that cut a line into words, or compare it with commands."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from generators import tsx
from generators.console_binding import parameters_of
from generators.console_evaluating import Evaluator
from generators.console_values import Line, Text, Value, Words

if TYPE_CHECKING:
    from tree_sitter import Node

LINES = {"command", "cmd", "input", "line", "typed", "argv", "commandline", "prompt"}
"""Words that names of a typed line are made of."""
FEW = 3
"""A function that compares a line so often with a text is taken to take commands."""
_PARTS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_VERBS = {"execute", "exec", "run", "handle", "process", "dispatch", "eval", "evaluate", "on", "submit", "do"}
_CUTTING = ("token", "split", "parse")


def entrances(source: tsx.Source, evaluator: Evaluator, wanted: str) -> "Iterator[tuple[Node, dict[str, Value]]]":
    """With what is known in each; only the function of that name where one is wanted."""
    for node in tsx.walk(source.root):
        if node.type not in tsx.FUNCTIONS:
            continue
        name = name_of(node)
        if wanted and name != wanted:
            continue
        known = _known(node, bool(wanted) or _takes_lines(name))
        cutter = any(part in name.casefold() for part in _CUTTING) and not wanted
        if known and not cutter and (wanted or _takes(node, evaluator, known)):
            yield node, known


def name_of(function: "Node") -> str:
    named = function.child_by_field_name("name")
    outer = function.parent
    while named is None and outer is not None and outer.type in {"arguments", "call_expression", "variable_declarator"}:
        named = outer.child_by_field_name("name")
        outer = outer.parent
    return tsx.text(named) if named is not None else ""


def _takes_lines(name: str) -> bool:
    """`executeCommand`, `handleInput`: what it is given first is the line, or its words."""
    parts = {part.casefold() for part in _PARTS.findall(name)}
    return bool(parts & LINES) and bool(parts & _VERBS)


def _known(function: "Node", first: bool) -> dict[str, Value]:
    """Its parameter that is called like a typed line, or the first one of a function that is called so; else such a
    name that it uses without declaring it: the state of a component."""
    for index, parameter in enumerate(parameters_of(function)):
        pattern = parameter.child_by_field_name("pattern") or parameter
        if pattern.type == "identifier" and (_is_line(tsx.text(pattern)) or (first and index == 0)):
            kind = parameter.child_by_field_name("type")
            words = kind is not None and tsx.text(kind).replace(" ", "") in {":string[]", ":Array<string>"}
            return {tsx.text(pattern): Words(0) if words else Line(0)}
    used = (tsx.text(one) for one in _own(function) if one.type == "identifier")
    return {name: Line(0) for name in dict.fromkeys(used) if _is_line(name)}


def _takes(function: "Node", evaluator: Evaluator, known: dict[str, Value]) -> bool:
    inner, compared = dict(known), 0
    for node in _own(function):
        if node.type == "variable_declarator":
            name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            held = evaluator.value(value, inner)
            if isinstance(held, Words) and value is not None:
                return _apart(value)
            if isinstance(held, Line) and name is not None:
                inner[tsx.text(name)] = held
        elif node.type == "switch_statement":
            if isinstance(evaluator.value(node.child_by_field_name("value"), inner), Line | Words):
                return True
        elif node.type == "binary_expression":
            sides = [evaluator.value(node.child_by_field_name(side), inner) for side in ("left", "right")]
            compared += any(isinstance(one, Line) for one in sides) and any(isinstance(one, Text) for one in sides)
    return compared >= FEW


def _apart(value: "Node") -> bool:
    """Whether a line is cut at spaces, and not at commas or at line ends."""
    for call in tsx.walk(value):
        called = call.child_by_field_name("function") if call.type == "call_expression" else None
        if called is None or not tsx.text(called).endswith(".split"):
            continue
        given = tsx.arguments(call)
        said = tsx.text(given[0]) if given else ""
        return said.strip("'\"`") == " " or "\\s" in said or "/ " in said
    return True


def _own(function: "Node") -> "Iterator[Node]":
    """What stands in a function, without the functions in it."""
    waiting = list(reversed(function.named_children))
    while waiting:
        node = waiting.pop()
        yield node
        if node.type not in tsx.FUNCTIONS:
            waiting.extend(reversed(node.named_children))


def _is_line(name: str) -> bool:
    return any(part.casefold() in LINES for part in _PARTS.findall(name))
