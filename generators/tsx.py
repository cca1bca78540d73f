"""TypeScript with JSX as a syntax tree: what is declared, what is said beside it, which texts are known.

tree-sitter reads it; a source that is broken in places gives a tree with errors in it, never an exception.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from commonplace.kernel.errors import TooLarge

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MAX_BYTES = 2_000_000
MAX_DECLARATIONS = 400
"""Of one name; further ones are not looked up."""
MAX_TEXT = 20_000
FUNCTIONS = {
    "arrow_function",
    "function_declaration",
    "function_expression",
    "generator_function",
    "generator_function_declaration",
    "method_definition",
}
_WRAPPINGS = {
    "parenthesized_expression",
    "as_expression",
    "satisfies_expression",
    "non_null_expression",
    "await_expression",
    "type_assertion",
    "expression_statement",
}
_HOOKS = {"useCallback", "useEvent", "useEffectEvent", "useMemo", "memo", "freeze"}
_COLOURS = {"chalk", "pc", "picocolors", "colors", "kleur", "ansis"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(slots=True)
class Source:
    """A parsed source. Rows are 0-based, as tree-sitter counts."""

    root: "Node"
    declared: dict[str, list[tuple[Any, Any]]] = field(default_factory=dict)
    """Name -> (scope, value) of each declaration of it; `this.name` of what a class has."""
    comments: dict[int, tuple[int, str, bool]] = field(default_factory=dict)
    """By the row on which they end: first row, text, whether no code stands before it."""
    errors: tuple[int, ...] = ()
    """Rows where the source is no TypeScript."""
    constants: dict[int, str | None] = field(default_factory=dict)

    def value(self, name: str, at: "Node") -> "Node | None":
        """What a name was declared as, in the innermost scope round a place."""
        fitting = [
            (scope.end_byte - scope.start_byte, value)
            for scope, value in self.declared.get(name, ())
            if scope.start_byte <= at.start_byte and at.end_byte <= scope.end_byte
        ]
        return min(fitting, key=lambda found: found[0])[1] if fitting else None

    def resolved(self, node: "Node | None") -> "Node | None":
        """The value that a name stands for; what is no name, itself."""
        if node is None:
            return None
        node = bare(node)
        named = node.type == "identifier" or text(node).startswith("this.")
        return self.value(text(node), node) if named else node

    def function(self, node: "Node | None") -> "Node | None":
        found = self.resolved(node)
        return found if found is not None and found.type in FUNCTIONS else None

    def above(self, node: "Node") -> str:
        """The comment that ends on the line above a node, or stands on lines that join it."""
        rows: list[str] = []
        row = node.start_point[0] - 1
        while (comment := self.comments.get(row)) and comment[2]:
            rows.insert(0, comment[1])
            row = comment[0] - 1
        return "\n".join(rows)

    def constant(self, node: "Node | None") -> str | None:
        """The text that an expression is, wherever it is known without running it. Terminal colours are left out."""
        if node is None:
            return None
        node = bare(node)
        if node.id not in self.constants:
            self.constants[node.id] = None  # while it is read: one that names itself says nothing
            said = self._constant(node)
            self.constants[node.id] = _ANSI.sub("", said)[:MAX_TEXT] if said is not None else None
        return self.constants[node.id]

    def _constant(self, node: "Node") -> str | None:
        match node.type:
            case "string" | "template_string":
                parts = [_fragment(one, self) for one in node.named_children]
                return None if None in parts else "".join(part or "" for part in parts)
            case "binary_expression" if _operator(node) == "+":
                left, right = (self.constant(node.child_by_field_name(side)) for side in ("left", "right"))
                return left + right if left is not None and right is not None else None
            case "identifier":
                return self.constant(self.value(text(node), node))
            case "member_expression":
                return self.constant(self.member(node))
            case "call_expression":
                called = node.child_by_field_name("function")
                owner = called.child_by_field_name("object") if called is not None else None
                method, given = text(called).rpartition(".")[2] if called is not None else "", arguments(node)
                if owner is not None and method == "join" and (array := self.resolved(owner)) is not None:
                    texts = [self.constant(one) for one in array.named_children] if array.type == "array" else [None]
                    between = (self.constant(given[0]) if given else ",") or ""
                    return None if None in texts else between.join(one or "" for one in texts)
                if owner is not None and method in {"trim", "trimEnd", "trimStart"}:
                    return self.constant(owner)
                coloured = called is not None and text(called).partition(".")[0] in _COLOURS and len(given) == 1
                return self.constant(given[0]) if coloured else None
        return None

    def member(self, node: "Node") -> "Node | None":
        """What `COLORS.reset` is, of an object that is declared here."""
        owner = self.resolved(node.child_by_field_name("object"))
        name = text(node.child_by_field_name("property") or node)
        return pairs(owner).get(name) if owner is not None and owner.type == "object" else None


def parse(raw: bytes) -> Source:
    """Raises TooLarge for more than `MAX_BYTES`."""
    if len(raw) > MAX_BYTES:
        raise TooLarge(f"The source has {len(raw):,} bytes.", hint=f"At most {MAX_BYTES:,} are read.")
    source = Source(_parser().parse(raw).root_node)
    errors = set()
    for node in walk(source.root):
        if node.type == "comment":
            before = raw[raw.rfind(b"\n", 0, node.start_byte) + 1 : node.start_byte]
            alone = not before.strip(b" \t{")
            source.comments[node.end_point[0]] = (node.start_point[0], text(node), alone)
        elif node.is_error or node.is_missing:
            errors.add(node.start_point[0])
        else:
            _keep_declaration(source, node)
    source.errors = tuple(sorted(errors))
    return source


@lru_cache(maxsize=1)
def _parser() -> "Parser":
    import tree_sitter_typescript
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_typescript.language_tsx()))


def walk(node: "Node") -> "Iterator[Node]":
    """A node and everything below it, in the order of the source. Not recursive: sources nest deeply."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        waiting.extend(reversed(one.children))


def line(node: "Node") -> int:
    """1-based."""
    return node.start_point[0] + 1


def text(node: "Node") -> str:
    return (node.text or b"").decode("utf-8", "replace")


def bare(node: "Node") -> "Node":
    """Without parentheses, casts, `!` and `await` round it."""
    while node.type in _WRAPPINGS and node.named_children:
        node = next((child for child in node.named_children if child.type != "comment"), node.named_children[0])
    return node


def statement(node: "Node") -> "Node":
    """The statement, or the member of a class, that a function is declared by: comments stand above it."""
    while node.parent is not None and node.parent.type not in {"program", "statement_block", "class_body", "object"}:
        node = node.parent
    return node


def arguments(call: "Node") -> "list[Node]":
    given = call.child_by_field_name("arguments")
    return [one for one in given.named_children if one.type != "comment"] if given and given.type == "arguments" else []


def pairs(object_: "Node") -> "dict[str, Node]":
    """Key -> value of an object that is written out; a method and a name alone stand for themselves."""
    found: dict[str, Node] = {}
    for one in object_.named_children:
        key = one.child_by_field_name("key") or one.child_by_field_name("name")
        value = one.child_by_field_name("value") if one.type == "pair" else one
        if one.type == "shorthand_property_identifier":
            key = one
        if key is not None and value is not None:
            found[key_text(key)] = value
    return found


def key_text(key: "Node") -> str:
    if key.type == "string":
        return "".join(_fragment(one, None) or "" for one in key.named_children)
    return text(key)


def _fragment(node: "Node", source: Source | None) -> str | None:
    if node.type == "template_substitution":
        return source.constant(node.named_children[0]) if source is not None and node.named_children else None
    said = text(node)
    return _unescaped(said) if node.type == "escape_sequence" else said


def _unescaped(escape: str) -> str:
    body = escape[1:]
    if body[:1] in {"u", "x"} and len(body) > 1:
        digits = body[1:].strip("{}")
        number = int(digits, 16) if all(sign in "0123456789abcdefABCDEF" for sign in digits) and digits else 0xFFFD
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
    return _ESCAPES.get(body, body)


def _operator(node: "Node") -> str:
    operator = node.child_by_field_name("operator")
    return text(operator) if operator is not None else ""


def _keep_declaration(source: Source, node: "Node") -> None:
    name = node.child_by_field_name("name")
    if name is None:
        return
    if node.type == "variable_declarator":
        value, scope, said = node.child_by_field_name("value"), _scope(node), text(name)
    elif node.type in {"function_declaration", "generator_function_declaration"}:
        value, scope, said = node, _scope(node), text(name)
    elif node.parent is not None and node.parent.type == "class_body":
        value = node if node.type == "method_definition" else node.child_by_field_name("value")
        scope, said = node.parent, f"this.{text(name)}"
    else:
        return
    declared = source.declared.setdefault(said, [])
    if value is not None and len(declared) < MAX_DECLARATIONS:
        declared.append((scope, _unwrapped(value)))


def _unwrapped(value: "Node") -> "Node":
    """`useCallback(async () => {...}, [])`, `useMemo(() => ({...}), [])` and the like are what is in them."""
    value = bare(value)
    called = value.child_by_field_name("function") if value.type == "call_expression" else None
    if called is None or text(called).rpartition(".")[2] not in _HOOKS or not arguments(value):
        return value
    inner = arguments(value)[0]
    body = inner.child_by_field_name("body")
    made = bare(body) if body is not None and text(called).endswith("useMemo") else inner
    return made if made.type != "statement_block" else inner


def _scope(node: "Node") -> "Node":
    outer = node.parent
    while outer is not None and outer.parent is not None and outer.type not in {"statement_block", "switch_body"}:
        outer = outer.parent
    return outer if outer is not None else node
