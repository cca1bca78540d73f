"""Follows what was typed through a console's code: comparisons, switches, handlers and tables of handlers.

Each place where certain words were typed becomes a branch, with what its code says, reads and calls.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from generators import tsx
from generators.console_words import (
    Evaluator,
    Flag,
    Known,
    Line,
    Table,
    Text,
    Value,
    Word,
    Words,
    alternatives,
)
from generators.generated import Unread

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_DEPTH = 40
MAX_STEPS = 600_000
MAX_PATHS = 60
Path = dict[int, str]
_LINE = re.compile(
    r"(?:raw|typed|user|full|trimmed)?_?(?:command|cmd|line|input|prompt|typed)(?:_?(?:line|text|str|string|input))?",
    re.I,
)
_TEXT = re.compile(r"(?:text|str|string|content|message|query|value|raw|said|msg)", re.I)
_ARGS = re.compile(r"(?:args|argv|params|parts|words|tokens|rest|restArgs|_args)", re.I)
_WORD = re.compile(r"(?:sub)?_?(?:command|cmd|action|verb|name)", re.I)
_RECORD = re.compile(r"command|cmd|handler|action", re.I)
RUNS = {
    "execute",
    "exec",
    "run",
    "runFn",
    "handler",
    "handle",
    "action",
    "callback",
    "fn",
    "func",
    "function",
    "process",
}
SIGILS = {"/", "!", ".", "$", "?", ">"}
_MEMBERS = {"member_expression", "subscript_expression"}
_VALUES = {"template_substitution", "arguments", "pair", "variable_declarator", "assignment_expression", "||", "??"}
_EXITS = {"return_statement", "throw_statement", "continue_statement", "break_statement"}


class TooMuchError(Exception):
    """Branches stand in one another without an end."""


@dataclass(slots=True)
class Branch:
    paths: list[Path]
    """The ways to type it, the first one first."""
    line: int
    comment: str = ""
    """What stands above it and at its top."""
    texts: dict[str, None] = field(default_factory=dict)
    options: dict[str, str | None] = field(default_factory=dict)
    """Name -> what stands for its value."""
    arguments: dict[int, str] = field(default_factory=dict)
    """Index of a word -> what the code calls it."""
    handlers: list["Node"] = field(default_factory=list)
    branches: list["Branch"] = field(default_factory=list)
    acts: bool = False
    """Whether its code does anything but set variables."""
    elsewhere: bool = False
    """Whether its words are given to a function of another source, which may read options."""
    depth: int = 0

    def below(self, paths: Iterable[Path], line: int, comment: str = "") -> "Branch":
        """Raises TooMuchError."""
        narrowed = _products([self.paths, list(paths)])
        if self.depth >= MAX_DEPTH:
            raise TooMuchError
        found = Branch(narrowed, line, comment, depth=self.depth + 1)
        self.branches.append(found)
        return found


class Walker:
    def __init__(self, source: tsx.Source) -> None:
        self.source = source
        self.evaluator = Evaluator(source)
        self.called: set[int] = set()
        self.tables: set[int] = set()
        self.unread: list[Unread] = []
        self.sigil = ""
        """What a line has to begin with: `/`."""
        self._steps = 0
        self._entered: list[int] = []

    def entrances(self, named: str) -> Iterator[tuple["Node", dict[str, Value]]]:
        """Functions that take what was typed, with what their parameters hold; `named` is the only one, if given."""
        for node in tsx.walk(self.source.root):
            if node.type not in tsx.FUNCTIONS:
                continue
            given = _parameters(node)
            names = [tsx.text(_name(one)) for one in given]
            if named:
                called = node.child_by_field_name("name") or (node.parent and node.parent.child_by_field_name("name"))
                if called is not None and tsx.text(called) == named and names:
                    yield node, {names[0]: Words(0) if "[]" in tsx.text(given[0]) else Line(0)}
                continue
            known = self._assumed(node, names)
            if known is not None:
                yield node, known

    def _assumed(self, function: "Node", names: list[str]) -> dict[str, Value] | None:
        for index, name in enumerate(names):
            if index + 1 < len(names) and _WORD.fullmatch(name) and _ARGS.fullmatch(names[index + 1]):
                return {name: Word(0), names[index + 1]: Words(1)}
            cut = re.search(rf"\b{re.escape(name)}\b[\w?.!()]*\.(?:split|startsWith|match|slice)\(", tsx.text(function))
            if _LINE.fullmatch(name) or (_TEXT.fullmatch(name) and cut):
                return {name: Line(0)}
            if _ARGS.fullmatch(name) and len(names) == 1:
                return {name: Words(0)}
        said = tsx.text(function)
        typed = "process.argv" in said or ".content" in said or ".commandName" in said
        return {} if typed and (not names or {"message", "msg", "m", "interaction"} & set(names)) else None

    def records(self) -> Iterator[tuple[str, "Node"]]:
        """Words and their handlers in tables that no code of this source looks up."""
        for node in tsx.walk(self.source.root):
            owner = node.parent
            while owner is not None and owner.type in {
                "as_expression",
                "satisfies_expression",
                "parenthesized_expression",
            }:
                owner = owner.parent
            if node.type != "object" or node.id in self.tables or owner is None:
                continue
            name, kind = owner.child_by_field_name("name"), owner.child_by_field_name("type")
            if name is None or not _RECORD.search(tsx.text(name) + (tsx.text(kind) if kind is not None else "")):
                continue
            handlers = {key: self.handler(value) for key, value in tsx.pairs(node).items()}
            if len(handlers) > 1 and all(one is not None for one in handlers.values()):
                yield from ((key, one) for key, one in handlers.items() if one is not None)

    def handler(self, value: "Node") -> "Node | None":
        """The function of a table's value: the value itself, or what its `execute` is."""
        value = tsx.bare(value)
        if value.type == "object":
            runs = tsx.pairs(value)
            return next((self.handler(one) for name, one in runs.items() if name in RUNS), None)
        return value if value.type in tsx.FUNCTIONS else self.source.function(value)

    def enter(self, function: "Node", known: Mapping[str, Value], branch: Branch) -> None:
        """Raises TooMuchError."""
        if self._entered.count(function.id):
            raise TooMuchError
        branch.handlers.append(function)
        self._entered.append(function.id)
        body = function.child_by_field_name("body")
        if body is not None:
            self._visit(body, dict(known), branch)
            branch.acts = branch.acts or body.type != "statement_block"
        self._entered.pop()

    def carry_out(self, function: "Node", count: int, branch: Branch) -> None:
        """Enters a handler whose command has so many words; it is handed those that follow."""
        known: dict[str, Value] = {}
        for one in _parameters(function):
            name = tsx.text(_name(one)).removeprefix("...")
            if _ARGS.fullmatch(name) or "[]" in tsx.text(one):
                known[name] = Words(count)
            elif name.startswith("{"):
                self._bind(one, Words(count - 1, parsed=True), known)
        self.called.add(function.id)
        self.enter(function, known, branch)

    def table(self, table: Table, branch: Branch, given: "list[Node]", known: Known, line: int) -> None:
        """Each key of a table of handlers is a word."""
        if table.node is None:
            what = f"The commands of `{table.name}` are not in this source."
            self.unread.append(Unread(f"line {line}", what))
            return
        self.tables.add(table.node.id)
        for key, value in _entries(table.node):
            function = self.handler(value)
            below = branch.below([{table.at: key}], tsx.line(value), self.source.above(value))
            below.acts = True
            if function is None:
                below.elsewhere = True
                continue
            self.called.add(function.id)
            self.enter(function, self._bound_parameters(function, given, known), below)

    def _visit(self, node: "Node", known: dict[str, Value], branch: Branch) -> None:  # noqa: PLR0912
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise TooMuchError
        match node.type:
            case "statement_block" | "program" | "switch_case" | "switch_default":
                self._block(node.named_children, dict(known), branch)
            case "if_statement":
                self._if(node, known, branch)
            case "switch_statement":
                self._switch(node, known, branch)
            case "variable_declarator":
                held = self.evaluator.value(node.child_by_field_name("value"), known)
                if not isinstance(held, Word):
                    self._children(node, known, branch)
                self._bind(node.child_by_field_name("name"), held, known)
                self._shift(node, known)
            case "assignment_expression":
                self._children(node, known, branch)
                left = node.child_by_field_name("left")
                if left is not None and left.type == "identifier":
                    held = self.evaluator.value(node.child_by_field_name("right"), known)
                    branch.acts = branch.acts or not isinstance(held, Line | Words | Word)
                    if held is not None or tsx.text(left) in known:
                        known[tsx.text(left)] = held
            case "call_expression" | "new_expression":
                self._call(node, known, branch)
            case "string" | "template_string":
                said = (self.evaluator.said(node, known, path) for path in branch.paths or [{}])
                branch.texts.update(dict.fromkeys(one for one in said if one))
                self._children(node, known, branch)
            case "member_expression" | "subscript_expression" | "identifier" | "shorthand_property_identifier":
                self._reads(node, known, branch)
                self._children(node, known, branch)
            case "return_statement" | "throw_statement":
                branch.acts = True
                self._children(node, known, branch)
            case found if found in tsx.FUNCTIONS:
                inner = dict(known)
                for one in _parameters(node):
                    self._bind(one, None, inner)
                self._children(node, inner, branch)
            case "comment" | "regex" | "jsx_text":
                pass
            case _:
                self._children(node, known, branch)

    def _children(self, node: "Node", known: dict[str, Value], branch: Branch) -> None:
        for child in node.named_children:
            self._visit(child, known, branch)

    def _block(self, nodes: "list[Node]", known: dict[str, Value], branch: Branch) -> None:
        """Statements one after another: a guard that leaves narrows what follows."""
        for index, node in enumerate(nodes):
            if node.type == "if_statement" and node.child_by_field_name("alternative") is None:
                _, otherwise = self._condition(node.child_by_field_name("condition"), known)
                consequence = node.child_by_field_name("consequence")
                if otherwise and otherwise != [{}] and consequence is not None and _exits(consequence):
                    self._visit(consequence, dict(known), branch)
                    rest = branch.below(otherwise, tsx.line(node))
                    self._block(nodes[index + 1 :], known, rest)
                    return
            self._visit(node, known, branch)
            self._shift(node, known)

    def _if(self, node: "Node", known: dict[str, Value], branch: Branch) -> None:
        condition, consequence = (node.child_by_field_name(name) for name in ("condition", "consequence"))
        alternative = node.child_by_field_name("alternative")
        paths, otherwise = self._condition(condition, known)
        self._reads(condition, known, branch)
        for body, narrowed in ((consequence, paths), (alternative, otherwise)):
            if body is None:
                continue
            if narrowed is None or narrowed == [{}]:
                self._visit(body, dict(known), branch)
            if not narrowed or narrowed == [{}]:
                continue
            outer = node.parent if node.parent is not None and node.parent.type == "else_clause" else node
            inside = branch.below(narrowed, tsx.line(node), self._beside(outer, body))
            self._visit(body, dict(known), inside)

    def _switch(self, node: "Node", known: dict[str, Value], branch: Branch) -> None:
        held = self.evaluator.value(node.child_by_field_name("value"), known)
        body = node.child_by_field_name("body")
        if body is None:
            return
        for labels, nodes in _cases(body):
            if not isinstance(held, Word | Line):
                said = [self.source.constant(one) for one in labels]
                if not isinstance(held, Text) or not labels or held.said in said:
                    self._block(nodes, dict(known), branch)
                continue
            paths = []
            for label in labels:
                said_label = self.source.constant(label)
                if said_label is None:
                    what = f"Which word the case `{tsx.text(label)[:80]}` stands for is not known."
                    self.unread.append(Unread(f"line {tsx.line(label)}", what))
                elif words := said_label.split():
                    paths.append({held.at + index: word for index, word in enumerate(words)})
            if paths or not labels:
                comment = (
                    self._beside(labels[0].parent or labels[0], nodes[0] if nodes else labels[0]) if labels else ""
                )
                inside = branch.below(paths, tsx.line(labels[0]), comment) if labels else branch
                self._block(nodes, dict(known), inside)

    def _beside(self, node: "Node", body: "Node") -> str:
        """What comments say of a branch: above it, on its own line, at the top of its body."""
        trailing = self.source.comments.get(node.start_point[0])
        inner = body
        while inner.type in {"statement_block", "else_clause"} and inner.named_children:
            inner = inner.named_children[0]
        top = []
        following: Node | None = inner
        while following is not None and following.type == "comment":
            top.append(tsx.text(following))
            following = following.next_named_sibling
        own = trailing[1] if trailing is not None and not trailing[2] else ""
        return self.source.above(node) or own or "\n".join(one for one in top if one.rstrip("*/ ").endswith("."))

    def _condition(self, node: "Node | None", known: Known) -> tuple[list[Path] | None, list[Path] | None]:
        """The ways to type it where a condition is true, and where it is false; None where it does not say."""
        if node is None:
            return None, None
        node = tsx.bare(node)
        if node.type == "unary_expression":
            true, false = self._condition(node.child_by_field_name("argument"), known)
            return (false, true) if tsx.text(node).startswith("!") else (None, None)
        if node.type == "call_expression":
            return self._asked(node, known), None
        if node.type != "binary_expression":
            return None, None
        left, right = (node.child_by_field_name(side) for side in ("left", "right"))
        operator = tsx.text(node.child_by_field_name("operator") or node)
        if operator in {"&&", "||"}:
            one, other = self._condition(left, known), self._condition(right, known)
            if operator == "&&":
                return _both(one[0], other[0]), _either(one[1], other[1])
            return _either(one[0], other[0], all_of=False), _both(one[1], other[1])
        if operator not in {"===", "==", "!==", "!="}:
            return None, None
        held = [self.evaluator.value(side, known) for side in (left, right)]
        if all(isinstance(one, Text) for one in held):
            same = (held[0] == held[1]) is not operator.startswith("!")
            return ([{}], []) if same else ([], [{}])
        word = next((one for one in held if isinstance(one, Word | Line)), None)
        said = next((one.said for one in held if isinstance(one, Text)), None)
        if word is None and said in SIGILS and _is_beginning(left, right):
            self.sigil = said or ""
        if word is None or said is None or not said.split() or said.startswith("-"):
            return None, None
        paths = [{word.at + index: one for index, one in enumerate(said.split())}]
        return (None, paths) if operator.startswith("!") else (paths, None)

    def _asked(self, node: "Node", known: Known) -> list[Path] | None:
        """`line.startsWith('pools ')`, `['list', 'ls'].includes(word)`, `/^examples?$/.test(line)`."""
        called, given = node.child_by_field_name("function"), tsx.arguments(node)
        if called is None or called.type != "member_expression" or not given:
            return None
        owner = tsx.bare(called.child_by_field_name("object") or called)
        method = tsx.text(called.child_by_field_name("property") or called)
        held, asked = self.evaluator.value(owner, known), self.evaluator.value(given[0], known)
        pattern = owner if owner.type == "regex" else tsx.bare(given[0])
        if method in {"test", "match"} and pattern.type == "regex":
            at = next((one.at for one in (held, asked) if isinstance(one, Line | Word)), None)
            found = alternatives(tsx.text(pattern.child_by_field_name("pattern") or pattern)) if at is not None else []
            if at is not None and not found:
                what = f"This pattern is more than a list of words: `{tsx.text(pattern)[:80]}`"
                self.unread.append(Unread(f"line {tsx.line(pattern)}", what))
            return [{at + index: word for index, word in enumerate(one)} for one in found] if at is not None else None
        if method == "startsWith" and isinstance(held, Line) and isinstance(asked, Text):
            self.sigil = asked.said if asked.said in SIGILS else self.sigil
            words = [word for word in asked.said.split() if any(sign.isalnum() for sign in word)]
            return [{held.at + index: word for index, word in enumerate(words)}] if words else None
        if method in {"includes", "has"} and isinstance(asked, Word):
            return [{asked.at: word} for word in self.evaluator.strings(owner) if len(word.split()) == 1] or None
        if method in {"includes", "has"} and isinstance(asked, Text) and (words := self.evaluator.strings(owner)):
            return [{}] if asked.said in words else []
        return None

    def _call(self, node: "Node", known: dict[str, Value], branch: Branch) -> None:
        called, given = node.child_by_field_name("function"), tsx.arguments(node)
        self._reads(node, known, branch)
        branch.acts = branch.acts or not tsx.text(node).endswith(".shift()")
        self._children(node, known, branch)
        if called is None:
            return
        table = self.evaluator.value(called, known)
        if table is None and called.type == "member_expression":
            table = self.evaluator.value(called.child_by_field_name("object"), known)
        if isinstance(table, Table):
            self.table(table, branch, given, known, tsx.line(node))
            return
        held = [self.evaluator.value(one, known) for one in given]
        typed = any(isinstance(one, Line | Words | Word) for one in held)
        function = self.source.function(called)
        if function is None:
            imported = called.type == "identifier" and not self.source.declared.get(tsx.text(called))
            if imported and any(isinstance(one, Words) and one.at is not None for one in held):
                branch.elsewhere = True
                what = f"`{tsx.text(called)}` is not in this source: what it reads of the command is not known."
                self.unread.append(Unread(f"line {tsx.line(node)}", what))
        elif typed and self.evaluator.value(node, known) is None and function.id not in self._entered:
            self.called.add(function.id)
            self.enter(function, self._bound_parameters(function, given, known), branch)
        elif typed and function.id in self._entered and any(isinstance(one, Words) for one in held):
            raise TooMuchError
        else:
            branch.handlers.append(function)

    def _bound_parameters(self, function: "Node", given: "list[Node]", known: Known) -> dict[str, Value]:
        bound: dict[str, Value] = {}
        for index, one in enumerate(_parameters(function)):
            held = self.evaluator.value(given[index], known) if index < len(given) else None
            self._bind(one, held, bound)
        return bound

    def _bind(self, pattern: "Node | None", held: Value, known: dict[str, Value]) -> None:
        """The names that a declaration or a parameter gives to what is handed to it: `action`, `[action, ...rest]`."""
        if pattern is None:
            return
        if pattern.type in {"required_parameter", "optional_parameter"}:
            self._bind(pattern.child_by_field_name("pattern"), held, known)
        elif pattern.type in {"assignment_pattern", "object_assignment_pattern"}:
            self._bind(pattern.child_by_field_name("left"), held, known)
        elif pattern.type in {"identifier", "shorthand_property_identifier_pattern"}:
            known[tsx.text(pattern)] = held
        elif pattern.type == "array_pattern":
            index = 0
            for child in pattern.children:
                rest = child.type == "rest_pattern" and child.named_children
                if rest:
                    self._bind(child.named_children[0], _rest(held, index), known)
                elif child.is_named and child.type != "comment":
                    self._bind(child, held.word(index) if isinstance(held, Words) else None, known)
                index += child.type == ","
        elif pattern.type == "object_pattern":
            for child in pattern.named_children:
                inner = child.child_by_field_name("value") or child
                name = tsx.text(child.child_by_field_name("key") or child.child_by_field_name("left") or child)
                self._bind(inner, self.evaluator.field(held, name), known)

    def _shift(self, node: "Node", known: dict[str, Value]) -> None:
        """Words that are taken away from the front of a list: `words.shift()`."""
        shifted = re.search(r"(?:^|[=(\s])([\w$]+)\.shift\(\)", tsx.text(node)) if len(node.text or b"") < 300 else None
        held = known.get(shifted[1]) if shifted else None
        if shifted and isinstance(held, Words) and node.type != "lexical_declaration":
            known[shifted[1]] = held.without(1)

    def _reads(self, node: "Node | None", known: Known, branch: Branch) -> None:
        """The options that an expression asks for, and the words that it takes."""
        for one in tsx.walk(node) if node is not None and node.type == "parenthesized_expression" else [node]:
            held = self.evaluator.value(one, known) if one is not None else None
            if isinstance(held, Flag) and one is not None:
                for said in [held.said] if "=" not in held.said else held.said.split(", "):
                    name, _, value = said.partition("=")
                    used = one.parent.type if one.parent is not None and one.type in _MEMBERS else ""
                    if used == "binary_expression" and one.parent is not None:
                        used = tsx.text(one.parent.child_by_field_name("operator") or one)
                    branch.options[name] = value or branch.options.get(name) or ("<value>" if used in _VALUES else None)
            elif (
                isinstance(held, Word)
                and node is not None
                and one is node
                and branch.arguments.get(held.at, "value") == "value"
            ):
                branch.arguments[held.at] = tsx.text(node) if "identifier" in node.type else "value"


def _is_beginning(*sides: "Node | None") -> bool:
    """Whether the first letter of something is compared: `input[0] === '/'`."""
    return any(re.fullmatch(r"[\w.]+(?:\[0\]|\.charAt\(0\))", tsx.text(one)) for one in sides if one is not None)


def _rest(held: Value, index: int) -> Value:
    return held.without(index) if isinstance(held, Words) else None


def _parameters(function: "Node") -> "list[Node]":
    """Without `this`, which TypeScript lets a function declare."""
    alone = function.child_by_field_name("parameter")
    given = function.child_by_field_name("parameters")
    named = [alone] if alone is not None else given.named_children if given is not None else []
    return [one for one in named if one.type != "comment" and tsx.text(one).partition(":")[0].strip() != "this"]


def _name(parameter: "Node") -> "Node":
    pattern = parameter.child_by_field_name("pattern") or parameter
    return pattern.child_by_field_name("left") or pattern


def _entries(table: "Node") -> "Iterator[tuple[str, Node]]":
    """Of an object, and of `new Map([['list', list]])`."""
    if table.type == "object":
        yield from tsx.pairs(table).items()
        return
    for given in tsx.arguments(table):
        for one in given.named_children if given.type == "array" else []:
            if one.type == "array" and len(one.named_children) == 2:
                yield tsx.key_text(one.named_children[0]), one.named_children[1]


def _cases(body: "Node") -> "Iterator[tuple[list[Node], list[Node]]]":
    """The labels that share statements, with these. A `default` has no label of its own."""
    labels: list[Node] = []
    for case in body.named_children:
        label = case.child_by_field_name("value")
        labels += [label] if label is not None else []
        inside = [one for one in case.named_children if label is None or one.id != label.id]
        if case.type == "switch_default":
            yield [], inside
            labels = []
        elif any(one.type != "comment" for one in inside):
            yield labels, inside
            labels = []
    if labels:
        yield labels, []


def _exits(node: "Node") -> bool:
    """Whether nothing after a statement runs once it has run."""
    while node.type == "statement_block":
        inside = [one for one in node.named_children if one.type != "comment"]
        if not inside:
            return False
        node = inside[-1]
    return node.type in _EXITS


def _both(one: list[Path] | None, other: list[Path] | None) -> list[Path] | None:
    return _products([one, other]) if one is not None and other is not None else other if one is None else one


def _either(one: list[Path] | None, other: list[Path] | None, *, all_of: bool = True) -> list[Path] | None:
    """`all_of`: nothing is known where one side says nothing; else `!word || word === 'list'` is `list`."""
    if one is not None and other is not None:
        return [*one, *other]
    return None if all_of else one or other or None


def _products(paths: list[list[Path]]) -> list[Path]:
    """Each way of one with each of the other, as far as they do not contradict one another."""
    first, second = paths
    joined = [{**a, **b} for a in first for b in second if all(b.get(at, word) == word for at, word in a.items())]
    return joined[:MAX_PATHS]
