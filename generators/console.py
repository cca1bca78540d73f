"""Commands out of a console's source in TypeScript (seed 003, "Command Generator").

The source is parsed by tree-sitter and followed from where a line is cut into words: comparisons, switches, handlers
and tables of handlers say which words there are; help tables, comments and usage texts say what they do. What follows
another pattern is told with its line.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from generators import tsx
from generators.commands import CommandOptions, generated
from generators.console_branches import Branch
from generators.console_commands import Reader
from generators.console_entrances import entrances
from generators.console_values import TooMuchError
from generators.console_walking import Walker
from generators.generated import Generated, Unread

if TYPE_CHECKING:
    from tree_sitter import Node

CATEGORY = "developer-console"


def generate(raw: bytes, *, source: str, options: Mapping[str, Any]) -> Generated:
    """Raises TooLarge, and InvalidInput for options. `entry` names the function that takes the typed line."""
    wanted = CommandOptions.read(options, CATEGORY)
    parsed = tsx.parse(raw)
    walker = Walker(parsed)
    unread = [
        Unread(f"line {row + 1}", "This is no TypeScript: what stands here was left out.") for row in parsed.errors
    ]
    branches: list[tuple[Node, Branch]] = []
    for function, known in entrances(parsed, walker.evaluator, str(options.get("entry") or "")):
        root = Branch([{}], tsx.line(function))
        branches.append((function, root))
        try:
            walker.enter(function, known, root)
        except (TooMuchError, RecursionError):
            unread.append(Unread(f"line {tsx.line(function)}", "It branches further than is followed."))
    reader = Reader(parsed, walker.evaluator, wanted)
    found = reader.commands(list(_below(branches, walker.called)))
    if not found:
        said = "No command was found in it."
        hint = "Name the function that takes the typed line: `entry: executeCommand`."
        unread.append(Unread(source, said, hint))
    return generated(found, _unique([*unread, *walker.unread, *reader.unread]), wanted)


def _below(branches: "list[tuple[Node, Branch]]", called: set[int]) -> Iterator[Branch]:
    """Of functions that no other one calls: the others were walked with what is known of their words."""
    for function, root in branches:
        if function.id not in called:
            yield from root.branches


def _unique(unread: list[Unread]) -> list[Unread]:
    return sorted(dict.fromkeys(unread), key=_place)


def _place(one: Unread) -> tuple[int, str, str]:
    number = one.where.removeprefix("line ")
    return (int(number) if number.isdigit() else 0, one.where, one.what)
