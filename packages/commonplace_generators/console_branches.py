"""Follows what was typed through a console's code: comparisons, switches, handlers and tables of handlers.

Each place where certain words were typed becomes a branch, with what its code says, reads and calls.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile

from commonplace_generators import tsx
from commonplace_generators.console_words import (
    MESSAGES,
    Conditions,
    Evaluator,
    Flag,
    Known,
    Line,
    Path,
    Table,
    Text,
    Value,
    Word,
    Words,
    path_of,
    products,
)
from commonplace_generators.generated import Unread
from commonplace_generators.tsx import Node

MAX_DEPTH = 40
MAX_STEPS = 600_000
MAX_SPREAD = 6
_LINE = re.compile(
    r"(?:raw|typed|user|trimmed)?_?(?:command|cmd|line|input|prompt|typed|answer)_?(?:line|text|str|string)?", re.I
)
_TEXT = re.compile(r"text|str|string|content|message|query|value|raw|said|msg", re.I)
_ARGS = re.compile(r"args|argv|params|parts|words|tokens|rest|restArgs|_args", re.I)
_WORD = re.compile(r"(?:sub)?_?(?:command|cmd|action|verb|name)", re.I)
_RECORD = re.compile(r"command|cmd|handler|action", re.I)
_REFUSES = re.compile(r"unknown|usage|invalid|missing|not found|unrecogni|unsupported|expected", re.I)
RUNS = {
    *("execute", "exec", "run", "runFn", "handler", "handle", "action", "callback"),
    *("fn", "func", "function", "process"),
}
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
    handlers: list[Node] = field(default_factory=list)
    branches: list["Branch"] = field(default_factory=list)
    acts: bool = False
    """Whether its code does anything but set variables."""
    alone: bool = False
    """Whether it does something where none of the words below it were typed."""
    elsewhere: bool = False
    """Whether its words are given to a function of another source, which may read options."""
    depth: int = 0

    def below(self, paths: list[Path], line: int, comment: str = "") -> "Branch":
        """Raises TooMuchError."""
        if self.depth >= MAX_DEPTH:
            raise TooMuchError
        self.branches.append(Branch(products(self.paths, paths), line, comment, depth=self.depth + 1))
        return self.branches[-1]


class Walker:
    def __init__(self, source: tsx.Source) -> None:
        self.source = source
        self.evaluator = Evaluator(source)
        self.called: set[int] = set()
        """Functions that others enter."""
        self.unread: list[Unread] = []
        self._conditions = Conditions(self.evaluator, self._miss)
        self._tables: set[int] = set()
        self._entered: list[int] = []
        self._steps = 0

    @property
    def sigil(self) -> str:
        """Return what a line has to begin with: `/`."""
        return self._conditions.sigil

    def entrances(self, named: str) -> Iterator[tuple[Node, Known]]:
        """Functions that take what was typed, with what their parameters hold; `named` is the only one, if given."""
        for node in self.source.root.walk():
            if node.type not in tsx.FUNCTIONS:
                continue
            given = _parameters(node)
            if not named:
                known = _assumed(node, [_name(one) for one in given])
            elif given and named in {node["name"].text, node.parent["name"].text}:
                known = {_name(given[0]): Words(0) if "[]" in given[0].text else Line(0)}
            else:
                continue
            if known is not None:
                yield node, known

    def records(self) -> Iterator[tuple[str, Node]]:
        """Words and their handlers in tables that no code of this source looks up."""
        for node in self.source.root.walk():
            if node.type != "object" or node.id in self._tables:
                continue
            owner = node.parent if node.parent["name"] else node.parent.parent
            handlers = {key: self.handler(value) for key, value in node.pairs.items()}
            named = _RECORD.search(owner["name"].text + owner["type"].text)
            if named and owner["value"].bare.id == node.id and len(handlers) > 1 and all(handlers.values()):
                yield from handlers.items()

    def handler(self, value: Node) -> Node:
        """The function of a table's value: the value itself, or what its `execute` is."""
        value = value.bare
        if value.type == "object":
            return next((self.handler(one) for name, one in value.pairs.items() if name in RUNS), Node(None))
        return value if value.type in tsx.FUNCTIONS else self.source.function(value)

    def enter(self, function: Node, known: Known, branch: Branch) -> None:
        """Raises TooMuchError."""
        if function.id in self._entered:
            raise TooMuchError
        branch.handlers.append(function)
        self._entered.append(function.id)
        try:
            self._visit(function["body"], dict(known), branch)
        finally:
            self._entered.pop()
        branch.acts = branch.acts or function["body"].type != "statement_block"

    def carry_out(self, function: Node, count: int, branch: Branch) -> None:
        """Enters a handler whose command has so many words; it is handed those that follow."""
        known: dict[str, Value] = {}
        for one in _parameters(function):
            name = _name(one).removeprefix("...")
            if _ARGS.fullmatch(name) or "[]" in one.text:
                known[name] = Words(count)
            elif name.startswith("{"):
                self._bind(one, Words(count - 1, parsed=True), known)
        self.called.add(function.id)
        self.enter(function, known, branch)

    def _visit(self, node: Node, known: dict[str, Value], branch: Branch) -> None:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise TooMuchError
        match node.type:
            case "statement_block":
                self._block(node.parts, dict(known), branch)
                return
            case "if_statement":
                self._if(node, known, branch)
                return
            case "switch_statement":
                self._switch(node, known, branch)
                return
            case "variable_declarator" | "assignment_expression":
                self._set(node, known, branch)
                return
            case "call_expression" | "new_expression":
                branch.acts = branch.acts or not node.text.endswith(".shift()")
                self._reads(node, known, branch)
                self._call(node, known, branch)
            case "string" | "template_string":
                branch.texts.update((said, None) for path in branch.paths if (said := self._said(node, known, path)))
            case "return_statement" | "throw_statement":
                branch.acts = True
            case found if found in tsx.FUNCTIONS:
                known = dict(known)
                for one in _parameters(node):
                    self._bind(one, None, known)
            case found if found.endswith(("identifier", "member_expression", "subscript_expression")):
                self._reads(node, known, branch)
        for child in node.parts:
            self._visit(child, known, branch)

    def _said(self, node: Node, known: Known, path: Path) -> str | None:
        """Return what a text is where the typed words are those of a path; NUL stands for what is not known."""
        plain = self.source.constant(node)
        if plain is not None or node.type != "template_string":
            return plain
        values = [self.evaluator.piece(one, known) for one in node.parts]
        said = [
            one.said if isinstance(one, Text) else path.get(one.at) if isinstance(one, Word) else None for one in values
        ]
        return "".join("\0" if one is None else one for one in said)

    def _set(self, node: Node, known: dict[str, Value], branch: Branch) -> None:
        """Record what a name holds after a declaration or an assignment."""
        value = node["value"] or node["right"]
        held = self.evaluator.value(value, known)
        if not isinstance(held, Word):
            self._visit(value, known, branch)
        if node["name"]:
            self._bind(node["name"], held, known)
        else:
            branch.acts = branch.acts or not isinstance(held, Line | Words | Word)
            if node["left"].type == "identifier" and (held is not None or node["left"].text in known):
                known[node["left"].text] = held
        self._shift(node, known)

    def _block(self, nodes: list[Node], known: dict[str, Value], branch: Branch) -> None:
        """Statements one after another: a guard that leaves narrows what follows."""
        for index, node in enumerate(nodes):
            if node.type == "if_statement" and not node["alternative"] and _exits(node["consequence"]):
                _, otherwise = self._conditions.of(node["condition"], known)
                checks = len(otherwise or ()) > 1 and not any(0 in path for path in otherwise or ())
                if otherwise and otherwise != [{}] and not checks:  # one of several values is no further word
                    self._visit(node["consequence"], dict(known), branch)
                    self._block(nodes[index + 1 :], known, branch.below(otherwise, node.line))
                    return
            self._visit(node, known, branch)
            if node.type in {"expression_statement", "if_statement"}:
                self._shift(node, known)

    def _if(self, node: Node, known: dict[str, Value], branch: Branch) -> None:
        paths, otherwise = self._conditions.of(node["condition"], known)
        for one in node["condition"].walk():
            self._reads(one, known, branch, words=False)
        outer = node.parent if node.parent.type == "else_clause" else node
        last = node["alternative"]
        while last.parts and last.parts[0].type == "if_statement":
            last = last.parts[0]["alternative"]
        branch.alone = branch.alone or bool(paths and "(" in last.text and not _REFUSES.search(last.text))
        for body, narrowed in ((node["consequence"], paths), (node["alternative"], otherwise)):
            if narrowed is None or narrowed == [{}]:
                self._visit(body, dict(known), branch)
            elif narrowed and body:
                self._visit(body, dict(known), branch.below(narrowed, node.line, self._beside(outer, body)))

    def _switch(self, node: Node, known: dict[str, Value], branch: Branch) -> None:
        held = self.evaluator.value(node["value"], known)
        for labels, nodes in _cases(node["body"]):
            said = [self.source.constant(one) for one in labels]
            if not labels or not isinstance(held, Word | Line):
                if not labels or not isinstance(held, Text) or held.said in said:
                    self._block(nodes, dict(known), branch)
                continue
            for label, one in zip(labels, said, strict=True):
                if one is None:
                    self._miss(label, f"The value of the case `{label.text[:80]}` is unknown.")
            if paths := [path_of(held.at, one.split()) for one in said if one and one.split()]:
                comment = self._beside(labels[0].parent, labels[-1].parent)
                self._block(nodes, dict(known), branch.below(paths, labels[0].line, comment))

    def _miss(self, node: Node, what: str) -> None:
        self.unread.append(Unread(f"line {node.line}", what))

    def _beside(self, node: Node, body: Node) -> str:
        """Return what comments say of a branch: above it, on its own line, at the top of its body."""
        _, said, alone = self.source.comments.get(node.rows[0], (0, "", True))
        inside = next((one for one in body.parts if one.type == "statement_block"), body)
        label = body["value"].id
        parts = (one for one in inside.all if one.type == "comment" or (one.parts and one.id != label))
        top = "\n".join(one.text for one in takewhile(lambda one: one.type == "comment", parts))
        return self.source.above(node) or ("" if alone else said) or (top if top.rstrip("*/ ").endswith(".") else "")

    def _call(self, node: Node, known: Known, branch: Branch) -> None:
        called, given = node["function"], node.arguments
        table = self.evaluator.value(called, known) or self.evaluator.value(called["object"], known)
        spread = bool(given and given[-1].type == "spread_element" and given[-1].parts)
        given = [*given[:-1], given[-1].parts[0]] if spread else given
        held = [self.evaluator.value(one, known) for one in given]
        if spread and isinstance(rest := held.pop(), Words):
            held += [rest.word(index) for index in range(MAX_SPREAD)]
        if isinstance(table, Table):
            self._table(table, branch, held, node)
            return
        typed = [one for one in held if isinstance(one, Line | Words | Word)]
        function = self.source.function(called)
        if not function:
            imported = called.type == "identifier" and called.text not in self.source.declared
            if imported and any(isinstance(one, Words) and one.at is not None for one in typed):
                branch.elsewhere = True
                self._miss(node, f"`{called.text}` is not in this source; what it reads of the command is unknown.")
        elif typed and (self.evaluator.value(node, known) is None or _is_statement(node)):
            if function.id in self._entered and not any(isinstance(one, Words) for one in typed):
                return
            self.called.add(function.id)
            self.enter(function, self._bound(function, held), branch)
        else:
            branch.handlers.append(function)

    def _table(self, table: Table, branch: Branch, held: list[Value], node: Node) -> None:
        """Each key of a table of handlers is a word."""
        if not table.node:
            self._miss(node, f"The commands of `{table.name}` are not in this source.")
        self._tables.add(table.node.id)
        lists = (one for given in table.node.arguments for one in given.parts if len(one.parts) == 2)
        entries = {self.source.constant(one.parts[0]) or "": one.parts[1] for one in lists}
        entries |= table.node.pairs if table.node.type == "object" else {}
        for key, value in entries.items():
            function = self.handler(value)
            below = branch.below([{table.at: key}], value.line, self.source.above(value))
            below.acts, below.elsewhere = True, not function
            if function:
                self.called.add(function.id)
                self.enter(function, self._bound(function, held), below)

    def _bound(self, function: Node, held: list[Value]) -> dict[str, Value]:
        bound: dict[str, Value] = {}
        for index, one in enumerate(_parameters(function)):
            value = held[index] if index < len(held) else None
            rest = _name(one).startswith("...") and isinstance(value, Word)
            self._bind(one, Words(value.at) if rest and isinstance(value, Word) else value, bound)
        return bound

    def _bind(self, pattern: Node, held: Value, known: dict[str, Value]) -> None:
        """The names that a declaration or a parameter gives to what is handed to it: `action`, `[action, ...rest]`."""
        pattern = pattern["pattern"] or pattern["left"] or pattern
        pattern = pattern["left"] or (pattern.parts[0] if pattern.type == "rest_pattern" else pattern)
        if "identifier" in pattern.type:
            known[pattern.text] = held
        elif pattern.type == "array_pattern":
            index = 0
            for child in pattern.all:
                if child.type == "rest_pattern" and child.parts:
                    self._bind(child.parts[0], held.without(index) if isinstance(held, Words) else None, known)
                elif child.type not in {"[", "]", ",", "comment"}:
                    self._bind(child, held.word(index) if isinstance(held, Words) else None, known)
                index += child.type == ","
        elif pattern.type == "object_pattern":
            for child in pattern.parts:
                name = (child["key"] or child["left"] or child).text
                self._bind(child["value"] or child, self.evaluator.field(held, name), known)

    def _shift(self, node: Node, known: dict[str, Value]) -> None:
        """Words that are taken away from the front of a list: `words.shift()`."""
        shifted = re.search(r"(?:^|[=(\s])([\w$]+)\.shift\(\)", node.text[:300])
        if shifted and isinstance(held := known.get(shifted[1]), Words):
            known[shifted[1]] = held.without(1)

    def _reads(self, node: Node, known: Known, branch: Branch, *, words: bool = True) -> None:
        """The option that an expression asks for, or the word that it takes."""
        held = self.evaluator.value(node, known)
        compared = self.source.constant(node["right"]) or "" if "==" in node["operator"].text else ""
        if isinstance(held, Word | Line) and re.fullmatch(r"-{1,2}\w[\w-]*", compared):
            held = Flag(compared)
        if isinstance(held, Flag):
            for said in held.said.split(", ") if "=" in held.said else [held.said]:
                name, _, value = said.partition("=")
                used = node.parent["operator"].text or node.parent.type
                taken = used in _VALUES and node.type in {"member_expression", "subscript_expression"}
                branch.options[name] = value or branch.options.get(name) or ("<value>" if taken else None)
        elif isinstance(held, Word | Line) and words and branch.arguments.get(held.at, "value") == "value":
            branch.arguments[held.at] = node.text if "identifier" in node.type else "value"


def _assumed(function: Node, names: list[str]) -> Known | None:
    """Return what the parameters of a function hold by their names, if they may be what was typed."""
    body = function.text
    for name, following in zip(names, [*names[1:], ""], strict=False):
        if _WORD.fullmatch(name) and _ARGS.fullmatch(following):
            return {name: Word(0), following: Words(1)}
        cut = re.search(rf"\b{re.escape(name)}\b[\w?.!()]*\.(?:split|startsWith|match|slice)\(", body)
        if _LINE.fullmatch(name) or (_TEXT.fullmatch(name) and cut):
            return {name: Line(0)}
        if _ARGS.fullmatch(name) and len(names) == 1:
            return {name: Words(0)}
    typed = any(one in body for one in (".content", ".commandName")) and (not names or MESSAGES & set(names))
    return {} if typed or ".question(" in body or ("process.argv" in body and not names) else None


def _parameters(function: Node) -> list[Node]:
    """Return the parameters without `this`, which TypeScript lets a function declare."""
    named = [function["parameter"]] if function["parameter"] else function["parameters"].parts
    return [one for one in named if _name(one) != "this"]


def _name(parameter: Node) -> str:
    pattern = parameter["pattern"] or parameter
    return (pattern["left"] or pattern).text


def _is_statement(node: Node) -> bool:
    """Return whether nobody takes what a call gives: `handleTokens(args)` does not cut a line."""
    parent = node.parent.parent if node.parent.type == "await_expression" else node.parent
    return parent.type == "expression_statement"


def _cases(body: Node) -> Iterator[tuple[list[Node], list[Node]]]:
    """The labels that share statements, with these. A `default` has no label of its own."""
    labels: list[Node] = []
    for case in body.parts:
        label = case["value"]
        inside = [one for one in case.parts if one.id != label.id]
        labels += [label] if label else []
        if inside or not label:
            yield labels if label else [], inside
            labels = []
    if labels:
        yield labels, []


def _exits(node: Node) -> bool:
    """Return whether nothing after a statement runs once it has run."""
    while node.type == "statement_block" and node.parts:
        node = node.parts[-1]
    return node.type in _EXITS
