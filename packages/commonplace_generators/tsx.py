"""TypeScript with JSX as a syntax tree: what is declared, what is said beside it, which texts are known.

tree-sitter reads it; a source that is broken in places gives a tree with errors in it, never an exception.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from commonplace.kernel.errors import TooLarge

MAX_BYTES = 2_000_000
MAX_DECLARATIONS = 400
"""Of one name; further ones are not looked up."""
MAX_TEXT = 20_000
FUNCTIONS = {
    *("arrow_function", "function_declaration", "function_expression", "method_definition"),
    *("generator_function", "generator_function_declaration"),
}
_WRAPPINGS = {
    *("parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression"),
    *("await_expression", "type_assertion", "expression_statement"),
}
_HOOKS = {"useCallback", "useEvent", "useEffectEvent", "useMemo", "memo", "freeze"}
_COLOURS = {"chalk", "pc", "picocolors", "colors", "kleur", "ansis"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


class Node:
    """A node of the tree. One that is not there is false, and has no type, no text and no parts."""

    __slots__ = ("_raw",)

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def __bool__(self) -> bool:
        return self._raw is not None

    def __getitem__(self, field: str) -> "Node":
        return Node(self._raw.child_by_field_name(field) if self._raw else None)

    @property
    def type(self) -> str:
        return str(self._raw.type) if self._raw else ""

    @property
    def id(self) -> int:
        return int(self._raw.id) if self._raw else 0

    @property
    def text(self) -> str:
        return (self._raw.text or b"").decode("utf-8", "replace") if self._raw else ""

    @property
    def rows(self) -> tuple[int, int]:
        """The first and the last, 0-based."""
        return (self._raw.start_point[0], self._raw.end_point[0]) if self._raw else (0, 0)

    @property
    def line(self) -> int:
        """1-based."""
        return self.rows[0] + 1

    @property
    def span(self) -> tuple[int, int]:
        """In bytes."""
        return (self._raw.start_byte, self._raw.end_byte) if self._raw else (0, 0)

    @property
    def parent(self) -> "Node":
        return Node(self._raw.parent if self._raw else None)

    @property
    def parts(self) -> "list[Node]":
        """Return what stands in it, without comments and signs."""
        return [Node(one) for one in self._raw.named_children if one.type != "comment"] if self._raw else []

    @property
    def all(self) -> "list[Node]":
        return [Node(one) for one in self._raw.children] if self._raw else []

    @property
    def broken(self) -> bool:
        return bool(self._raw and (self._raw.is_error or self._raw.is_missing))

    @property
    def bare(self) -> "Node":
        """Without parentheses, casts, `!` and `await` round it."""
        node = self
        while node.type in _WRAPPINGS and node.parts:
            node = node.parts[0]
        return node

    @property
    def arguments(self) -> "list[Node]":
        """Of a call."""
        return self["arguments"].parts if self["arguments"].type == "arguments" else []

    @property
    def pairs(self) -> "dict[str, Node]":
        """Key -> value of an object that is written out; a method and a name alone stand for themselves."""
        keys = ((one["key"] or one["name"] or one, one) for one in self.parts if "spread" not in one.type)
        return {_key(key): one["value"] if one.type == "pair" else one for key, one in keys}

    def walk(self) -> "Iterator[Node]":
        """Itself and everything below it, in the order of the source. Not recursive: sources nest deeply."""
        waiting = [self]
        while waiting:
            one = waiting.pop()
            yield one
            waiting.extend(reversed(one.all))


@dataclass(slots=True)
class Source:
    """A parsed source."""

    root: Node
    declared: dict[str, list[tuple[tuple[int, int], Node]]] = field(default_factory=dict)
    """Name -> where it holds and value, of each declaration of it; `this.name` of what a class has."""
    comments: dict[int, tuple[int, str, bool]] = field(default_factory=dict)
    """By the row on which they end: first row, text, whether no code stands before it."""
    errors: tuple[int, ...] = ()
    """Lines where the source is no TypeScript."""
    constants: dict[int, str | None] = field(default_factory=dict)

    def resolved(self, node: Node) -> Node:
        """The value that a name stands for, in the innermost scope round it; what is no name, itself."""
        node = node.bare
        if node.type != "identifier" and not node.text.startswith("this."):
            return node
        start, end = node.span
        fitting = [
            (last - first, at)
            for at, ((first, last), _) in enumerate(self.declared.get(node.text, ()))
            if first <= start and end <= last
        ]
        return self.declared[node.text][min(fitting)[1]][1] if fitting else Node(None)

    def function(self, node: Node) -> Node:
        found = self.resolved(node)
        return found if found.type in FUNCTIONS else Node(None)

    def above(self, node: Node) -> str:
        """The comment that ends on the line above a node, or stands on lines that join it."""
        rows: list[str] = []
        row = node.rows[0] - 1
        while (comment := self.comments.get(row)) and comment[2]:
            rows.insert(0, comment[1])
            row = comment[0] - 1
        return "\n".join(rows)

    def constant(self, node: Node) -> str | None:
        """The text that an expression is, wherever it is known without running it. Terminal colours are left out."""
        node = node.bare
        if node.id not in self.constants:
            self.constants[node.id] = None  # while it is read: one that names itself says nothing
            said = self._constant(node)
            self.constants[node.id] = _ANSI.sub("", said)[:MAX_TEXT] if said is not None else None
        return self.constants[node.id]

    def _constant(self, node: Node) -> str | None:
        match node.type:
            case "string" | "template_string":
                return _concatenated(
                    [
                        self.constant(one.parts[0])
                        if one.type == "template_substitution" and one.parts
                        else fragment(one)
                        for one in node.parts
                    ]
                )
            case "binary_expression" if node["operator"].text == "+":
                return _concatenated([self.constant(node["left"]), self.constant(node["right"])])
            case "identifier":
                return self.constant(self.resolved(node))
            case "member_expression":
                owner = self.resolved(node["object"])
                return self.constant(owner.pairs.get(node["property"].text, Node(None)))
            case "call_expression":
                owner, method = node["function"]["object"], node["function"]["property"].text
                if method == "join" and self.resolved(owner).type == "array":
                    between = self.constant(node.arguments[0]) if node.arguments else ","
                    return _concatenated([self.constant(one) for one in self.resolved(owner).parts], between or "")
                if method in {"trim", "trimEnd", "trimStart"}:
                    return self.constant(owner)
                coloured = node["function"].text.partition(".")[0] in _COLOURS and len(node.arguments) == 1
                return self.constant(node.arguments[0]) if coloured else None
        return None


def parse(raw: bytes) -> Source:
    """Raises TooLarge for more than `MAX_BYTES`."""
    if len(raw) > MAX_BYTES:
        raise TooLarge(f"The source has {len(raw):,} bytes.", hint=f"At most {MAX_BYTES:,} are read.")
    source = Source(Node(_parser().parse(raw).root_node))
    errors = set()
    for node in source.root.walk():
        if node.type == "comment":
            start = node.span[0]
            before = raw[raw.rfind(b"\n", 0, start) + 1 : start]
            source.comments[node.rows[1]] = (node.rows[0], node.text, not before.strip(b" \t{"))
        elif node.broken:
            errors.add(node.line)
        elif node["name"]:
            _keep_declaration(source, node)
    source.errors = tuple(sorted(errors))
    return source


@lru_cache(maxsize=1)
def _parser() -> Any:
    import tree_sitter_typescript
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_typescript.language_tsx()))


def statement(node: Node) -> Node:
    """The statement, or the member of a class, that a function is declared by: comments stand above it."""
    while node.parent and node.parent.type not in {"program", "statement_block", "class_body", "object"}:
        node = node.parent
    return node


def fragment(node: Node) -> str:
    """A part of a string."""
    body = node.text[1:] if node.type == "escape_sequence" else ""
    if body[:1] in {"u", "x"} and (digits := re.fullmatch(r"[ux]\{?([0-9a-fA-F]+)\}?", body)):
        number = int(digits[1], 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
    return _ESCAPES.get(body, body) if body else node.text


def _concatenated(said: list[str | None], between: str = "") -> str | None:
    known = [one for one in said if one is not None]
    return between.join(known) if len(known) == len(said) else None


def _key(key: Node) -> str:
    return "".join(fragment(one) for one in key.parts) if key.type == "string" else key.text


def _keep_declaration(source: Source, node: Node) -> None:
    if node.type == "variable_declarator" or node.type.endswith("function_declaration"):
        scope, name = node.parent, node["name"].text
        while scope.parent and scope.type not in {"statement_block", "switch_body"}:
            scope = scope.parent
    elif node.parent.type == "class_body":
        scope, name = node.parent, f"this.{node['name'].text}"
    else:
        return
    value = node if node.type in FUNCTIONS else _unwrapped(node["value"].bare)
    declared = source.declared.setdefault(name, [])
    if value and len(declared) < MAX_DECLARATIONS:
        declared.append((scope.span, value))


def _unwrapped(value: Node) -> Node:
    """`useCallback(async () => {...}, [])`, `useMemo(() => ({...}), [])` and the like are what is in them."""
    hook = value["function"].text.rpartition(".")[2]
    if value.type != "call_expression" or hook not in _HOOKS or not value.arguments:
        return value
    inner = value.arguments[0]
    made = inner["body"].bare if hook == "useMemo" else inner
    return made if made and made.type != "statement_block" else inner
