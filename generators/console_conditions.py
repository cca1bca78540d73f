"""What has to have been typed for a condition of a console to hold."""

from typing import TYPE_CHECKING

from generators import tsx
from generators.console_evaluating import Evaluator
from generators.console_patterns import accepted
from generators.console_values import Known, Line, Text, Value, Word, each_joined
from generators.generated import Unread

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_DEPTH = 40
Alternatives = list[dict[int, str]]
Holds = Alternatives | bool | None
"""Ways in which words make it hold; whether it holds in any case; None for a condition on something else."""


class Conditions:
    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self.unread: list[Unread] = []

    def holds(self, node: "Node | None", known: Known, depth: int = 0) -> Holds:
        if node is None or depth > MAX_DEPTH:
            return None
        node = tsx.bare(node)
        match node.type:
            case "binary_expression":
                return self._binary(node, known, depth)
            case "unary_expression" if tsx.text(node).startswith("!"):
                return self.fails(node.child_by_field_name("argument"), known, depth + 1)
            case "call_expression":
                return self._call(node, known)
            case "identifier" if tsx.text(node) not in known or known[tsx.text(node)] is None:
                declared = self._evaluator.source.value(tsx.text(node), node)
                named = declared is not None and declared.type in {"binary_expression", "call_expression"}
                return self.holds(declared, known, depth + 8) if named else None
        return None

    def fails(self, node: "Node | None", known: Known, depth: int = 0) -> Holds:
        """What has to have been typed for it not to hold: what follows `if (parts[0] !== 'helios') return`."""
        if node is None or depth > MAX_DEPTH:
            return None
        node = tsx.bare(node)
        if node.type == "unary_expression" and tsx.text(node).startswith("!"):
            return self.holds(node.child_by_field_name("argument"), known, depth + 1)
        if node.type != "binary_expression":
            held = self.holds(node, known, depth + 1)
            return not held if isinstance(held, bool) else None
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        match _operator(node):
            case "!==" | "!=":
                return self._equal(left, right, known)
            case "||":
                return _both(self.fails(left, known, depth + 1), self.fails(right, known, depth + 1))
            case "===" | "==":
                held = self._equal(left, right, known)
                return not held if isinstance(held, bool) else None
        return None

    def label(self, subject: Value, label: "Node", known: Known) -> Holds:
        """What has to have been typed for a `case` of a switch over a value."""
        return self._same(subject, self._evaluator.value(label, known), options=True)

    def _binary(self, node: "Node", known: Known, depth: int) -> Holds:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        match _operator(node):
            case "===" | "==":
                return self._equal(left, right, known)
            case "&&":
                return _both(self.holds(left, known, depth + 1), self.holds(right, known, depth + 1))
            case "||":
                return _either(self.holds(left, known, depth + 1), self.holds(right, known, depth + 1))
        return None

    def _equal(self, left: "Node | None", right: "Node | None", known: Known) -> Holds:
        one, other = self._evaluator.value(left, known), self._evaluator.value(right, known)
        held = self._same(one, other)
        if held is None and left is not None and right is not None and isinstance(one, Line | Word):
            self._note(left, right, other)
        return held

    def _note(self, left: "Node", right: "Node", other: Value) -> None:
        plain = tsx.bare(right).type in {"identifier", "member_expression", "call_expression"}
        if other is None and plain and tsx.text(right) not in {"undefined", "null"}:
            said = f"What `{tsx.text(left)}` is compared with is not known here: `{tsx.text(right)[:80]}`."
            self.unread.append(Unread(f"line {tsx.line(left)}", said))

    def _same(self, one: Value, other: Value, *, options: bool = False) -> Holds:
        if isinstance(one, Text):
            one, other = other, one
        if not isinstance(other, Text):
            return None
        match one:
            case Text(said):
                return said == other.said
            case Word(at) if options or not other.said.startswith("-"):
                words = other.said.split()
                return [{at: words[0]}] if len(words) == 1 else None
            case Line(at):
                return _line(at, other.said)
        return None

    def _call(self, node: "Node", known: Known) -> Holds:
        called, given = node.child_by_field_name("function"), tsx.arguments(node)
        if called is None or called.type != "member_expression" or not given:
            return None
        subject = called.child_by_field_name("object")
        method = tsx.text(called.child_by_field_name("property") or called)
        if subject is None:
            return None
        if method in {"test", "exec"}:
            return self._pattern(tsx.bare(subject), self._evaluator.value(given[0], known), node)
        value = self._evaluator.value(subject, known)
        if method in {"match", "search"} and isinstance(value, Line | Word):
            return self._pattern(tsx.bare(given[0]), value, node)
        if method in {"startsWith", "includes", "endsWith"} and isinstance(value, Line | Word):
            return self._beginning(value, self._evaluator.value(given[0], known), method, node)
        if method in {"includes", "has"} and isinstance(word := self._evaluator.value(given[0], known), Word | Line):
            return [
                one
                for said in self._evaluator.strings(subject, known)
                if isinstance(one := self._first(word, said), dict)
            ] or None
        return None

    def _first(self, word: Value, said: str) -> dict[int, str] | None:
        held = self._same(word, Text(said))
        return held[0] if isinstance(held, list) else None

    def _beginning(self, value: Line | Word, said: Value, method: str, node: "Node") -> Holds:
        if isinstance(said, Text) and said.said.startswith("-"):
            return None
        if isinstance(said, Text) and isinstance(value, Line) and said.said.strip() and method == "startsWith":
            return _line(value.at, said.said)
        self._unread(node, "A part of a word says no command.")
        return None

    def _pattern(self, regex: "Node", value: Value, node: "Node") -> Holds:
        if not isinstance(value, Line | Word):
            return None
        pattern = regex.child_by_field_name("pattern") if regex.type == "regex" else None
        found = accepted(tsx.text(pattern)) if pattern is not None else None
        if found is None:
            self._unread(node, "This regular expression is no list of words.")
            return None
        return [{value.at + index: word for index, word in enumerate(words)} for words in found.words]

    def _unread(self, node: "Node", what: str) -> None:
        self.unread.append(Unread(f"line {tsx.line(node)}", f"{what} `{' '.join(tsx.text(node).split())[:100]}`"))


def _line(at: int, said: str) -> Alternatives | None:
    words = said.split()
    return [{at + index: word for index, word in enumerate(words)}] if words else None


def _both(one: Holds, other: Holds) -> Holds:
    if one is False or other is False:
        return False
    if isinstance(one, list) and isinstance(other, list):
        return each_joined(one, other) or False
    if isinstance(one, list):
        return one
    return other if isinstance(other, list) else (True if one and other else None)


def _either(one: Holds, other: Holds) -> Holds:
    if one is True or other is True:
        return True
    if isinstance(one, list) and isinstance(other, list):
        return [*one, *other]
    return one if isinstance(one, list) else (other if isinstance(other, list) else None)


def _operator(node: "Node") -> str:
    operator = node.child_by_field_name("operator")
    return tsx.text(operator) if operator is not None else ""
