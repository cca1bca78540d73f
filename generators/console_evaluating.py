"""What expressions of a console hold, as far as it can be known without running it."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from generators import tsx
from generators.console_values import Flag, Known, Line, Path, Table, Text, Value, Word, Words

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_DEPTH = 24
MAX_TEXT = 20_000
_SAME = {"trim", "toLowerCase", "toUpperCase", "toString", "normalize", "trimStart", "trimEnd", "toLocaleLowerCase"}
_SAME_WORDS = {"filter", "map", "flatMap"}
_ASKING = {"includes", "some", "find", "indexOf", "findIndex", "has"}
_CUTTING = ("token", "split", "parse", "words", "argv", "shell")
_ASKING_NAMES = ("has", "is", "contains", "includes", "remove", "without", "strip")


class Evaluator:
    def __init__(self, source: tsx.Source) -> None:
        self.source = source
        self.assumed: dict[int, str] = {}
        """Words at the beginning of the line that are cut off without being asked for again."""
        self._constants: dict[int, Value] = {}

    def value(self, node: "Node | None", known: Known, depth: int = 0) -> Value:
        if node is None or depth > MAX_DEPTH:
            return None
        node = tsx.bare(node)
        match node.type:
            case "identifier" | "shorthand_property_identifier":
                return self._named(node, known, depth)
            case "string" | "template_string":
                return self._string(node, known, depth)
            case "binary_expression":
                return self._binary(node, known, depth)
            case "subscript_expression":
                return self._indexed(node, known, depth)
            case "call_expression":
                return self._call(node, known, depth)
            case "array":
                return self._array(node, known, depth)
            case "ternary_expression":
                one = self.value(node.child_by_field_name("consequence"), known, depth + 1)
                return one or self.value(node.child_by_field_name("alternative"), known, depth + 1)
        return None

    def said(
        self, node: "Node | None", known: Known, path: Path, *, placeholders: bool = False, depth: int = 0
    ) -> str | None:
        """The text that an expression is where the typed words are those of a path."""
        if node is None or depth > MAX_DEPTH:
            return None
        node = tsx.bare(node)
        if (plain := tsx.literal(node)) is not None:
            return plain
        parts: Iterable[Any]
        if node.type == "template_string":
            parts = _pieces(node)
        elif node.type == "binary_expression" and _operator(node) == "+":
            parts = [node.child_by_field_name("left"), node.child_by_field_name("right")]
        else:
            return self._one_said(node, known, path, placeholders)
        said = [
            one if isinstance(one, str) else self.said(one, known, path, placeholders=placeholders, depth=depth + 1)
            for one in parts
        ]
        return "".join(one for one in said if one is not None) if None not in said else None

    def strings(self, node: "Node", known: Known) -> list[str]:
        """The elements of a list of texts, written in place or declared; those that are not known are left out."""
        node = tsx.bare(node)
        if node.type == "identifier":
            declared = self.source.value(tsx.text(node), node)
            node = tsx.bare(declared) if declared is not None else node
        if node.type == "new_expression":
            node = next(iter(tsx.arguments(node)), node)
        if node.type != "array":
            return []
        said = [self.value(one, known) for one in node.named_children]
        return [one.said for one in said if isinstance(one, Text)]

    def _one_said(self, node: "Node", known: Known, path: Path, placeholders: bool) -> str | None:
        match self.value(node, known):
            case Text(said):
                return said
            case Word(at) if at in path:
                return path[at]
        if placeholders and node.type in {"identifier", "member_expression", "subscript_expression"}:
            return f"<{tsx.text(node).rpartition('.')[2]}>"
        return None

    def _named(self, node: "Node", known: Known, depth: int) -> Value:
        name = tsx.text(node)
        if name in known:
            return known[name]
        declared = self.source.value(name, node)
        if declared is None or declared.type not in {"string", "template_string", "binary_expression", "identifier"}:
            return None
        if declared.id not in self._constants:
            self._constants[declared.id] = None  # while it is read: one that names itself holds nothing
            found = self.value(declared, {}, depth + 1)
            self._constants[declared.id] = found if isinstance(found, Text) and len(found.said) < MAX_TEXT else None
        return self._constants[declared.id]

    def _string(self, node: "Node", known: Known, depth: int) -> Value:
        plain = tsx.literal(node)
        if plain is not None:
            return Text(plain)
        pieces = [Text(one) if isinstance(one, str) else self.value(one, known, depth + 1) for one in _pieces(node)]
        return _concatenated(pieces)

    def _binary(self, node: "Node", known: Known, depth: int) -> Value:
        left = self.value(node.child_by_field_name("left"), known, depth + 1)
        right = self.value(node.child_by_field_name("right"), known, depth + 1)
        match _operator(node):
            case "+":
                return _concatenated([left, right])
            case "??" | "||":
                return left if left is not None else right
            case "===" | "==" | "!==" | "!=" | "&&":
                return next((one for one in (left, right) if isinstance(one, Flag)), None)
        return None

    def _indexed(self, node: "Node", known: Known, depth: int) -> Value:
        subject, index = node.child_by_field_name("object"), node.child_by_field_name("index")
        if subject is None or index is None:
            return None
        value = self.value(subject, known, depth + 1)
        if isinstance(value, Words):
            return value.word(int(tsx.text(index))) if index.type == "number" and tsx.text(index).isdigit() else None
        return self._looked_up(subject, self.value(index, known, depth + 1))

    def _looked_up(self, subject: "Node", index: Value) -> Value:
        if not isinstance(index, Word):
            return None
        declared = self.source.value(tsx.text(subject), subject) if subject.type == "identifier" else subject
        readable = declared is not None and declared.type == "object"
        return Table(tsx.text(subject), index.at, declared if readable else None)

    def _call(self, node: "Node", known: Known, depth: int) -> Value:
        called, given = node.child_by_field_name("function"), tsx.arguments(node)
        if called is None:
            return None
        if called.type == "member_expression":
            return self._method(called, given, known, depth)
        values = [self.value(one, known, depth + 1) for one in given]
        name = tsx.text(called)
        flags = [one.said for one in values if isinstance(one, Text) and _is_flag(one.said)]
        if flags and any(isinstance(one, Words) for one in values):
            asks = name.startswith(_ASKING_NAMES)
            return Flag(flags[0] if asks or flags[0].endswith("=") else f"{flags[0]}=<value>")
        cut = next((one for one in values if isinstance(one, Line)), None)
        return Words(cut.at) if cut and any(part in name.casefold() for part in _CUTTING) else None

    def _method(self, called: "Node", given: "list[Node]", known: Known, depth: int) -> Value:
        subject = called.child_by_field_name("object")
        method = tsx.text(called.child_by_field_name("property") or called)
        value = self.value(subject, known, depth + 1)
        first = given[0] if given else None
        match value:
            case Line(at):
                return self._of_line(at, method, first, known, depth)
            case Words() if method in _SAME_WORDS:
                return value
            case Words() if method == "slice":
                count = tsx.text(first) if first is not None else "0"
                return value.without(int(count)) if count.isdigit() else None
            case Words() if method in {"shift", "at"}:
                index = tsx.text(first) if first is not None else "0"
                return value.word(int(index)) if index.isdigit() else None
            case Words() if method == "join":
                return Line(value.at) if value.at is not None and not value.known else None
            case Words() if method in _ASKING:
                return self._flag(given, known)
            case Word() if method in _SAME:
                return value
            case None if method == "get" and subject is not None and first is not None:
                return self._looked_up(subject, self.value(first, known, depth + 1))
        return None

    def _of_line(self, at: int, method: str, first: "Node | None", known: Known, depth: int) -> Value:
        if method in _SAME:
            return Line(at)
        if method == "split":
            return Words(at)
        if method in {"replace", "slice", "substring", "substr"} and first is not None:
            return self._cut(at, first, known, depth)
        return None

    def _cut(self, at: int, first: "Node", known: Known, depth: int) -> Value:
        """The line without words at its beginning: `replace('helios ', '')`, `slice('helios '.length)`."""
        from generators.console_patterns import accepted

        first = tsx.bare(first)
        said: str | None = None
        if first.type == "regex":
            pattern = first.child_by_field_name("pattern")
            found = accepted(tsx.text(pattern)) if pattern is not None else None
            if found is None:
                return Line(at)
            said = " ".join(found.words[0])
        elif first.type == "member_expression" and tsx.text(first.child_by_field_name("property") or first) == "length":
            inner = self.value(first.child_by_field_name("object"), known, depth + 1)
            said = inner.said if isinstance(inner, Text) else None
        else:
            inner = self.value(first, known, depth + 1)
            said = inner.said if isinstance(inner, Text) else None
        if said is None:
            return None
        words = said.split()
        self.assumed.update({at + index: word for index, word in enumerate(words)})
        return Line(at + len(words))

    def _flag(self, given: "list[Node]", known: Known) -> Value:
        """The options that an element is compared with."""
        found = [
            value.said
            for one in given
            for node in tsx.walk(one)
            if node.type in {"string", "template_string", "identifier"}
            and isinstance(value := self.value(node, known), Text)
            and _is_flag(value.said)
        ]
        names = list(dict.fromkeys(name + "<value>" if name.endswith("=") else name for name in found))
        return Flag(", ".join(names)) if names else None

    def _array(self, node: "Node", known: Known, depth: int) -> Value:
        words: list[str] = []
        for one in node.named_children:
            if one.type == "spread_element":
                rest = self.value(one.named_children[0], known, depth + 1) if one.named_children else None
                return Words(rest.at, (*words, *rest.known)) if isinstance(rest, Words) else None
            value = self.value(one, known, depth + 1)
            if not isinstance(value, Text):
                return None
            words.append(value.said)
        return Words(None, tuple(words)) if words else None


def _is_flag(said: str) -> bool:
    return len(said) > 1 and said.startswith("-") and not said.isspace() and " " not in said and said.strip("-") != ""


def _pieces(template: "Node") -> "Iterator[str | Node]":
    for child in template.named_children:
        if child.type == "template_substitution":
            yield child.named_children[0] if child.named_children else ""
        else:
            yield tsx.fragment(child)


def _operator(node: "Node") -> str:
    operator = node.child_by_field_name("operator")
    return tsx.text(operator) if operator is not None else ""


def _concatenated(pieces: Iterable[Value]) -> Value:
    """Text, or words that follow one another with a space between them."""
    found = list(pieces)
    if all(isinstance(one, Text) for one in found):
        return Text("".join(one.said for one in found if isinstance(one, Text)))
    words = [one for one in found if not (isinstance(one, Text) and not one.said.strip())]
    first = words[0] if words else None
    if isinstance(first, Word) and all(one == Word(first.at + index) for index, one in enumerate(words)):
        return Line(first.at)
    return None
