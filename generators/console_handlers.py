"""Which function of a console a call goes to: by its name, or by a table of handlers."""

from typing import TYPE_CHECKING

from generators import tsx
from generators.console_evaluating import Evaluator
from generators.console_values import Known, Table, Text

if TYPE_CHECKING:
    from tree_sitter import Node


class Handlers:
    def __init__(self, source: tsx.Source, evaluator: Evaluator) -> None:
        self._source = source
        self._evaluator = evaluator

    def table(self, called: "Node", known: Known) -> Table | None:
        """The table of handlers that a call goes to: `table[word](...)`, `handler?.run(...)`."""
        held = self._evaluator.value(called, known)
        if held is None and called.type == "member_expression":
            held = self._evaluator.value(called.child_by_field_name("object"), known)
        return held if isinstance(held, Table) else None

    def pair(self, pair: "Node") -> "tuple[str | None, Node | None]":
        if pair.type == "method_definition":
            return _key(pair.child_by_field_name("name"), self._evaluator), pair
        if pair.type == "shorthand_property_identifier":
            return tsx.text(pair), self._source.function(tsx.text(pair), pair)
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        function = tsx.bare(value) if value is not None else None
        if function is not None and function.type == "object":
            inner = (self.pair(one)[1] for one in function.named_children if one.type != "comment")
            function = next((one for one in inner if one is not None), None)
        elif function is not None and function.type not in tsx.FUNCTIONS:
            function = self.function(function)
        return _key(key, self._evaluator), function

    def function(self, called: "Node") -> "Node | None":
        if called.type == "identifier" or (called.type == "member_expression" and tsx.text(called).startswith("this.")):
            return self._source.function(tsx.text(called), called)
        return None


def _key(key: "Node | None", evaluator: Evaluator) -> str | None:
    if key is None:
        return None
    if key.type == "property_identifier":
        return tsx.text(key)
    value = evaluator.value(key.named_children[0] if key.type == "computed_property_name" else key, {})
    return value.said if isinstance(value, Text) and len(value.said.split()) == 1 else None
