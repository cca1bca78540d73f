"""Names that a declaration or a parameter gives to what is handed to it: `action`, `[action, ...rest]`."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from generators import tsx
from generators.console_values import Value, Words

if TYPE_CHECKING:
    from tree_sitter import Node


def bound(pattern: "Node", held: Value, evaluated: "Callable[[Node], Value]") -> dict[str, Value]:
    """Name -> what it holds; every name of the pattern is there, so that none of an outer place shows through."""
    pattern, default = _without_default(pattern)
    if held is None and default is not None:
        held = evaluated(default)
    if pattern.type in {"identifier", "shorthand_property_identifier_pattern"}:
        return {tsx.text(pattern): held}
    if pattern.type == "rest_pattern":
        return bound(pattern.named_children[0], None, evaluated) if pattern.named_children else {}
    if pattern.type != "array_pattern":
        names = [tsx.text(one) for one in tsx.walk(pattern) if one.type.endswith("identifier_pattern")]
        return dict.fromkeys(names)
    return _of_list(pattern, held, evaluated)


def parameters_of(function: "Node") -> "list[Node]":
    """Without `this`, which TypeScript lets a function declare."""
    alone = function.child_by_field_name("parameter")
    if alone is not None:
        return [alone]
    given = function.child_by_field_name("parameters")
    named = given.named_children if given is not None else []
    return [one for one in named if one.type != "comment" and tsx.text(one).partition(":")[0].strip() != "this"]


def _of_list(pattern: "Node", held: Value, evaluated: "Callable[[Node], Value]") -> dict[str, Value]:
    names: dict[str, Value] = {}
    index = 0
    words = held if isinstance(held, Words) else None
    for child in pattern.children:
        if child.type == ",":
            index += 1
        elif child.type == "rest_pattern" and child.named_children:
            names.update(bound(child.named_children[0], words.without(index) if words else None, evaluated))
        elif child.is_named and child.type != "comment":
            names.update(bound(child, words.word(index) if words else None, evaluated))
    return names


def _without_default(pattern: "Node") -> "tuple[Node, Node | None]":
    if pattern.type in {"assignment_pattern", "object_assignment_pattern"}:
        left, right = pattern.child_by_field_name("left"), pattern.child_by_field_name("right")
        return (left, right) if left is not None else (pattern, None)
    if pattern.type in {"required_parameter", "optional_parameter"}:
        return pattern.child_by_field_name("pattern") or pattern, pattern.child_by_field_name("value")
    return pattern, None
