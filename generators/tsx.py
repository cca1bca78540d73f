"""TypeScript with JSX as a syntax tree: what is declared, what is said beside it, which texts are known.

tree-sitter reads it; a source that is broken in places gives a tree with errors in it, never an exception.
"""

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
}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}


@dataclass(frozen=True, slots=True)
class Comment:
    first_row: int
    last_row: int
    text: str
    alone: bool
    """Whether no code stands before it on its line."""


@dataclass(slots=True)
class Source:
    """A parsed source. Rows are 0-based, as tree-sitter counts."""

    root: "Node"
    declared: dict[str, list[tuple[Any, Any]]] = field(default_factory=dict)
    """Name -> (scope, value) of each declaration of it."""
    comments: dict[int, Comment] = field(default_factory=dict)
    """By the row on which they end."""
    errors: tuple[int, ...] = ()
    """Rows where the source is no TypeScript."""

    def value(self, name: str, at: "Node") -> "Node | None":
        """What a name was declared as, in the innermost scope round a place."""
        fitting = [
            (scope.end_byte - scope.start_byte, value)
            for scope, value in self.declared.get(name, ())
            if scope.start_byte <= at.start_byte and at.end_byte <= scope.end_byte
        ]
        return min(fitting, key=lambda found: found[0])[1] if fitting else None

    def function(self, name: str, at: "Node") -> "Node | None":
        found = self.value(name, at)
        return found if found is not None and found.type in FUNCTIONS else None

    def above(self, node: "Node") -> str:
        """The comment that ends on the line above a node, or stands on lines that join it."""
        rows: list[str] = []
        row = node.start_point[0] - 1
        while (comment := self.comments.get(row)) and comment.alone:
            rows.insert(0, comment.text)
            row = comment.first_row - 1
        return "\n".join(rows)


def parse(raw: bytes) -> Source:
    """Raises TooLarge for more than `MAX_BYTES`."""
    if len(raw) > MAX_BYTES:
        raise TooLarge(f"The source has {len(raw):,} bytes.", hint=f"At most {MAX_BYTES:,} are read.")
    source = Source(_parser().parse(raw).root_node)
    errors = []
    for node in walk(source.root):
        if node.type == "comment":
            _keep_comment(source, node, raw)
        elif node.is_error or node.is_missing:
            errors.append(node.start_point[0])
        else:
            _keep_declaration(source, node)
    source.errors = tuple(sorted(set(errors)))
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


def arguments(call: "Node") -> "list[Node]":
    given = call.child_by_field_name("arguments")
    return [one for one in given.named_children if one.type != "comment"] if given and given.type == "arguments" else []


def literal(node: "Node") -> str | None:
    """What a plain string, or a template without substitutions, says."""
    if node.type not in {"string", "template_string"}:
        return None
    if any(child.type == "template_substitution" for child in node.named_children):
        return None
    return "".join(fragment(child) for child in node.named_children)


def fragment(node: "Node") -> str:
    """A part of a string."""
    said = text(node)
    return _unescaped(said) if node.type == "escape_sequence" else said


def _unescaped(escape: str) -> str:
    body = escape[1:]
    if body[:1] in {"u", "x"} and len(body) > 1:
        digits = body[1:].strip("{}")
        number = int(digits, 16) if all(sign in "0123456789abcdefABCDEF" for sign in digits) and digits else 0xFFFD
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
    return _ESCAPES.get(body, body)


def _keep_comment(source: Source, node: "Node", raw: bytes) -> None:
    before = raw[raw.rfind(b"\n", 0, node.start_byte) + 1 : node.start_byte]
    row, last = node.start_point[0], node.end_point[0]
    source.comments[last] = Comment(row, last, text(node), not before.strip(b" \t{"))


def _keep_declaration(source: Source, node: "Node") -> None:
    if node.type in {"variable_declarator", "function_declaration", "generator_function_declaration"}:
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value") if node.type == "variable_declarator" else node
        if name is not None and value is not None and name.type == "identifier":
            declared = source.declared.setdefault(text(name), [])
            if len(declared) < MAX_DECLARATIONS:
                declared.append((_scope(node), _unwrapped(value)))
    elif node.type in {"method_definition", "public_field_definition"} and node.parent is not None:
        name = node.child_by_field_name("name")
        value = node if node.type == "method_definition" else node.child_by_field_name("value")
        if name is not None and value is not None and node.parent.type == "class_body":
            source.declared.setdefault(f"this.{text(name)}", []).append((node.parent, _unwrapped(value)))


def _unwrapped(value: "Node") -> "Node":
    """`useCallback(async () => {...}, [])` and the like are the function in them."""
    value = bare(value)
    called = value.child_by_field_name("function") if value.type == "call_expression" else None
    if called is not None and text(called).rpartition(".")[2] in {"useCallback", "useEvent", "useEffectEvent", "memo"}:
        given = arguments(value)
        return given[0] if given and given[0].type in FUNCTIONS else value
    return value


def _scope(node: "Node") -> "Node":
    outer = node.parent
    while outer is not None and outer.parent is not None and outer.type not in {"statement_block", "switch_body"}:
        outer = outer.parent
    return outer if outer is not None else node
