"""Through the handlers of a console, from the line that was typed to the places where a command is known.

Nothing is run. A function is walked with what is known of its arguments: `handleUsers(args.slice(1))` is walked with
the words from the next one on.
"""

from typing import TYPE_CHECKING

from generators import tsx
from generators.console_binding import bound, parameters_of
from generators.console_branches import Branch, beside, cases, exits
from generators.console_conditions import Conditions, Holds
from generators.console_evaluating import Evaluator
from generators.console_handlers import Handlers
from generators.console_notes import Note
from generators.console_values import Flag, Known, Line, Table, Text, TooMuchError, Value, Word, Words, each_joined
from generators.generated import Unread

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_STEPS = 200_000
MAX_NESTING = 60
_RUNNING = ("handle", "run", "exec", "dispatch", "process", "invoke", "perform", "command")
_BLOCKS = {
    "statement_block", "try_statement", "catch_clause", "finally_clause", "for_statement", "for_in_statement",
    "while_statement", "do_statement", "labeled_statement", "else_clause", "export_statement",
}  # fmt: skip


class Walker:
    def __init__(self, source: tsx.Source) -> None:
        self._source = source
        self.evaluator = Evaluator(source)
        self._conditions = Conditions(self.evaluator)
        self._handlers = Handlers(source, self.evaluator)
        self._unread: list[Unread] = []
        self._steps = 0
        self._nesting = 0
        self._walked: set[object] = set()
        self.called: set[int] = set()
        """Ids of the functions that were walked because they are called."""

    @property
    def unread(self) -> list[Unread]:
        return [*self._conditions.unread, *self._unread]

    def enter(self, function: "Node", known: Known, branch: Branch) -> None:
        """From where a line is typed. Raises TooMuchError."""
        self._nesting = 0
        self.function(function, known, branch)

    def function(self, node: "Node", known: Known, branch: Branch) -> None:
        body = node.child_by_field_name("body")
        if body is None:
            return
        if body.type == "statement_block":
            self._statements(body.named_children, dict(known), branch)
        else:
            self._stated(body, known, branch)

    def _statements(self, nodes: "list[Node]", known: dict[str, Value], branch: Branch) -> None:
        for node in nodes:
            self._step()
            match node.type:
                case "lexical_declaration" | "variable_declaration":
                    self._declared(node, known, branch)
                case "if_statement":
                    rest = self._if(node, known, branch)
                    branch = rest or branch
                case "switch_statement":
                    self._switch(node, known, branch)
                case "return_statement" | "expression_statement" | "throw_statement":
                    for one in node.named_children[:1]:
                        self._shifted(one, known)
                        self._stated(one, known, branch)
                case found if found in _BLOCKS:
                    self._nested(node.named_children, known, branch)

    def _nested(self, nodes: "list[Node]", known: dict[str, Value], branch: Branch) -> None:
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise TooMuchError
        self._statements(nodes, known, branch)
        self._nesting -= 1

    def _declared(self, node: "Node", known: dict[str, Value], branch: Branch) -> None:
        for one in node.named_children:
            name, value = one.child_by_field_name("name"), one.child_by_field_name("value")
            if one.type != "variable_declarator" or name is None or value is None:
                continue
            held = self.evaluator.value(value, known)
            if held is None and tsx.bare(value).type not in tsx.FUNCTIONS:
                self._expression(value, known, branch)
            known.update(bound(name, held, lambda node: self.evaluator.value(node, known)))
            self._shifted(value, known)

    def _shifted(self, node: "Node", known: dict[str, Value]) -> bool:
        """`parts.shift()` takes a word away, `parts = parts.slice(1)` as well."""
        node = tsx.bare(node)
        if node.type == "assignment_expression":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            held = self.evaluator.value(right, known)
            if left is not None and left.type == "identifier" and held is not None:
                known[tsx.text(left)] = held
            return isinstance(held, Words | Line)
        called = node.child_by_field_name("function") if node.type == "call_expression" else None
        if called is None or called.type != "member_expression" or not tsx.text(called).endswith(".shift"):
            return False
        name = tsx.text(called.child_by_field_name("object") or called)
        words = known.get(name)
        known[name] = words.without(1) if isinstance(words, Words) else words
        return isinstance(words, Words)

    def _root_dropped(self, held: Holds, body: "Node", known: dict[str, Value]) -> bool:
        """`if (parts[0] === 'helios') parts.shift()`: the program's name may be typed or not, and is known."""
        inside = body.named_children if body.type == "statement_block" else [body]
        statements = [one for one in inside if one.type != "comment"]
        if not isinstance(held, list) or len(statements) != 1 or statements[0].type != "expression_statement":
            return False
        if not self._shifted(statements[0].named_children[0], known):
            return False
        self.evaluator.assumed.update(held[0])
        return True

    def _if(self, node: "Node", known: dict[str, Value], branch: Branch) -> Branch | None:
        """What follows belongs to the branch that it returns, where only certain words lead on."""
        first, rest = True, None
        while True:
            condition, body = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
            if condition is None or body is None:
                return rest
            self._expression(condition, known, branch)
            held, failed = self._conditions.holds(condition, known), self._conditions.fails(condition, known)
            if self._root_dropped(held, body, known):
                return rest
            if isinstance(held, list):
                said = beside(self._source, node, [body], first=first)
                self._below(held, [body], known, branch, (tsx.line(condition), said))
            elif held is not False:
                self._nested([body], known, branch)
            if isinstance(failed, list):
                narrowed = branch.below(each_joined(branch.paths, failed), tsx.line(node), Note())
                rest, branch = (narrowed if exits(body) else rest), narrowed
            otherwise = node.child_by_field_name("alternative")
            following = otherwise.named_children[-1] if otherwise is not None and otherwise.named_children else None
            if following is None or held is True:
                return rest
            if following.type != "if_statement":
                self._nested([following], dict(known), branch)
                return rest
            node, first = following, False
            self._step()

    def _switch(self, node: "Node", known: dict[str, Value], branch: Branch) -> None:
        subject, body = node.child_by_field_name("value"), node.child_by_field_name("body")
        if subject is None or body is None:
            return
        value = self.evaluator.value(subject, known)
        self._expression(subject, known, branch)
        groups = cases(body)
        if isinstance(value, Text):
            groups = [one for one in groups if self._chosen(value, one[0], known)][:1] or groups[-1:]
        for labels, statements in groups:
            if isinstance(value, Word | Line) and labels:
                self._case(value, labels, statements, known, branch)
            else:
                self._nested(statements, dict(known), branch)

    def _chosen(self, value: Value, labels: "list[Node]", known: Known) -> bool:
        return any(self._conditions.label(value, label, known) is True for label in labels)

    def _case(
        self, value: Value, labels: "list[Node]", statements: "list[Node]", known: dict[str, Value], branch: Branch
    ) -> None:
        held: list[dict[int, str]] = []
        for label in labels:
            found = self._conditions.label(value, label, known)
            if isinstance(found, list):
                held += found
            else:
                self._cannot(label, f"What this case is for is not known here: `{tsx.text(label)[:80]}`.")
        notes = [beside(self._source, label, []) for label in labels]
        said = next((one for one in notes if one), None) or beside(self._source, labels[0], statements, first=False)
        self._below(held, statements, known, branch, (tsx.line(labels[0]), said))

    def _below(
        self,
        held: list[dict[int, str]],
        statements: "list[Node]",
        known: Known,
        branch: Branch,
        beside: tuple[int, Note],
    ) -> None:
        paths = each_joined(branch.paths, held)
        if paths:
            self._nested(statements, dict(known), branch.below(paths, *beside))

    def _stated(self, node: "Node", known: Known, branch: Branch) -> None:
        """An expression that stands for itself: what it calls is what the branch does."""
        node = tsx.bare(node)
        called = node.child_by_field_name("function") if node.type == "call_expression" else None
        handler = self._handlers.function(called) if called is not None else None
        if handler is not None:
            branch.handlers.append(handler)
        if node.type == "ternary_expression":
            self._nesting += 1
            self._chosen_by(node, known, branch)
            self._nesting -= 1
            return
        if node.type == "binary_expression" and tsx.text(node.child_by_field_name("operator") or node) == "&&":
            held = self._conditions.holds(node.child_by_field_name("left"), known)
            right = node.child_by_field_name("right")
            if isinstance(held, list) and right is not None:
                self._stated(right, known, branch.below(each_joined(branch.paths, held), tsx.line(node), Note()))
                return
        self._expression(node, known, branch, stated=True)

    def _chosen_by(self, node: "Node", known: Known, branch: Branch) -> None:
        if self._nesting > MAX_NESTING:
            raise TooMuchError
        condition = node.child_by_field_name("condition")
        held = self._conditions.holds(condition, known)
        one, other = node.child_by_field_name("consequence"), node.child_by_field_name("alternative")
        if condition is not None:
            self._expression(condition, known, branch)
        if one is not None and held is not False:
            paths = each_joined(branch.paths, held) if isinstance(held, list) else None
            self._stated(one, known, branch.below(paths, tsx.line(one), Note()) if paths else branch)
        if other is not None and held is not True:
            self._stated(other, known, branch)

    def _expression(self, node: "Node", known: Known, branch: Branch, *, stated: bool = False) -> None:
        waiting = [(node, stated)]
        while waiting:
            one, direct = waiting.pop()
            self._step()
            if one.type in tsx.FUNCTIONS:
                self._inline(one, known, branch)
                continue
            self._fact(one, known, branch)
            if one.type == "call_expression":
                self._call(one, known, branch, direct)
            waiting.extend((child, False) for child in reversed(one.named_children))

    def _inline(self, node: "Node", known: Known, branch: Branch) -> None:
        """A function that is handed to another one is taken to be called."""
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise TooMuchError
        self.function(node, known, branch)
        self._nesting -= 1

    def _fact(self, node: "Node", known: Known, branch: Branch) -> None:
        match node.type:
            case "identifier" | "shorthand_property_identifier" | "call_expression" | "subscript_expression":
                self._told(node, self.evaluator.value(node, known), branch)
            case "string" | "template_string":
                for path in branch.paths:
                    said = self.evaluator.said(node, known, path, placeholders=True)
                    if said and " " in said.strip():
                        branch.texts[said] = None

    def _told(self, node: "Node", value: Value, branch: Branch) -> None:
        if isinstance(value, Flag):
            branch.options[value.called] = None
        if isinstance(value, Word) and node.type == "identifier":
            branch.arguments.setdefault(value.at, tsx.text(node))

    def _call(self, node: "Node", known: Known, branch: Branch, stated: bool) -> None:
        called = node.child_by_field_name("function")
        if called is None:
            return
        given: list[Value] = []
        for one in tsx.arguments(node):
            given.append(self.evaluator.value(one, known))
        table = self._handlers.table(called, known)
        if table is not None:
            self._looked_up(table, called, given, known, branch)
            return
        function = self._handlers.function(called)
        about_words = any(isinstance(one, Words | Line | Word) for one in given)
        if function is not None and (about_words or stated):
            self._enter(function, given, known, branch)
        elif function is None and called.type == "identifier" and any(isinstance(one, Words | Line) for one in given):
            self._elsewhere(called, node, branch)

    def _elsewhere(self, called: "Node", node: "Node", branch: Branch) -> None:
        name = tsx.text(called)
        branch.elsewhere = True
        if name.casefold().startswith(_RUNNING) and not isinstance(self.evaluator.value(node, {}), Flag):
            self._cannot(node, f"`{name}` is not in this source: what it makes of the words is not known.")

    def _looked_up(self, table: Table, called: "Node", given: list[Value], known: Known, branch: Branch) -> None:
        if table.node is None:
            self._cannot(called, f"The commands in `{table.name}` are not known here.")
            return
        for pair in table.node.named_children:
            word, function = self._handlers.pair(pair)
            if function is None or word is None:
                if pair.type != "comment":
                    self._cannot(pair, f"No command can be read here: `{tsx.text(pair).split(chr(10))[0][:80]}`.")
                continue
            paths = each_joined(branch.paths, [{table.at: word}])
            if paths:
                below = branch.below(paths, tsx.line(pair), beside(self._source, pair, []))
                below.handlers.append(function)
                self._enter(function, given, known, below)

    def _enter(self, function: "Node", given: list[Value], known: Known, branch: Branch) -> None:
        key = (function.id, tuple(map(str, given)), str(branch.paths), id(branch))
        if key in self._walked:
            return
        self._walked.add(key)
        self.called.add(function.id)
        inner: dict[str, Value] = dict(known) if _around(function, known) else {}
        for index, pattern in enumerate(parameters_of(function)):
            held = given[index] if index < len(given) else None
            inner.update(bound(pattern, held, lambda node: self.evaluator.value(node, inner)))
        self._inline(function, inner, branch)

    def _cannot(self, node: "Node", what: str) -> None:
        self._unread.append(Unread(f"line {tsx.line(node)}", what))

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise TooMuchError


def _around(function: "Node", known: Known) -> bool:
    """Whether a function is written in place and so sees what its caller knows."""
    return bool(known) and function.parent is not None and function.parent.type in {"pair", "object"}
