"""A place of a console where certain words were typed, and what can be told from the code that stands there."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from generators import tsx
from generators.console_notes import Note, note
from generators.console_values import Path, TooMuchError

if TYPE_CHECKING:
    from tree_sitter import Node


MAX_DEPTH = 60


@dataclass(slots=True)
class Branch:
    paths: list[dict[int, str]]
    """The ways to type it, the first one first."""
    line: int
    note: Note = field(default_factory=Note)
    options: dict[str, None] = field(default_factory=dict)
    texts: dict[str, None] = field(default_factory=dict)
    """What its code prints, where a usage may be among it."""
    arguments: dict[int, str] = field(default_factory=dict)
    """Index of a word -> what the code calls it."""
    handlers: list["Node"] = field(default_factory=list)
    branches: list["Branch"] = field(default_factory=list)
    elsewhere: bool = False
    """Whether its words are given to a function of another source, which may read options."""
    depth: int = 0

    def below(self, paths: Iterable[Path], line: int, said: Note) -> "Branch":
        """Raises TooMuchError where branches stand in one another without an end."""
        if self.depth >= MAX_DEPTH:
            raise TooMuchError
        found = Branch([dict(one) for one in paths], line, said, depth=self.depth + 1)
        self.branches.append(found)
        return found


def beside(source: tsx.Source, node: "Node", body: "Iterable[Node]", *, first: bool = True) -> Note:
    """What comments say of a branch: above it, on its own line, at the top of its body."""
    above = note(source.above(node)) if first else Note()
    trailing = source.comments.get(node.start_point[0])
    here = note(trailing.text) if trailing is not None and not trailing.alone else Note()
    return above or here or note("\n".join(_leading(body)))


def _leading(body: "Iterable[Node]") -> list[str]:
    """Comments before the first statement."""
    said: list[str] = []
    for node in body:
        if node.type == "statement_block" and not said:
            return _leading(node.children[1:])
        if node.type != "comment":
            break
        said.append(tsx.text(node))
    return said


def exits(node: "Node") -> bool:
    """Whether nothing after a statement runs once it has run."""
    while node.type == "statement_block":
        inside = [one for one in node.named_children if one.type != "comment"]
        if not inside:
            return False
        node = inside[-1]
    return node.type in {"return_statement", "throw_statement", "continue_statement", "break_statement"}


def cases(body: "Node") -> "list[tuple[list[Node], list[Node]]]":
    """The labels that share statements, with these. A `default` has no label of its own."""
    found: list[tuple[list[Node], list[Node]]] = []
    labels: list[Node] = []
    for case in body.named_children:
        if case.type not in {"switch_case", "switch_default"}:
            continue
        label = case.child_by_field_name("value")
        labels += [label] if label is not None else []
        inside = [one for one in case.named_children if label is None or one.id != label.id]
        if any(one.type != "comment" for one in inside):
            found.append((labels, inside))
            labels = []
    return [*found, (labels, [])] if labels else found
