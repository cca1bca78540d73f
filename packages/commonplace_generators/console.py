"""Commands out of a console's source in TypeScript (seed 003, "Command Generator").

Which commands exist is said by code: comparisons and switches over the typed words, and tables of handlers. How they
are written is said by what people are told: usage lines, then help tables. What code alone says is `inferred`.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from commonplace.kernel.errors import InvalidInput
from commonplace.reference.model import Example
from commonplace_generators import tsx
from commonplace_generators.commands import Command, CommandOptions, generated
from commonplace_generators.console_branches import Branch, TooMuchError, Walker
from commonplace_generators.console_commands import MAX_WORDS, Composition, Found, Index, Leaf, Name, Written
from commonplace_generators.console_help import Note, Told, note, told
from commonplace_generators.console_words import Path
from commonplace_generators.generated import Generated, Unread
from commonplace_generators.tsx import Node
from commonplace_generators.usages import name_of

CATEGORY = "developer-console"
MANY = 2
"""A function that more commands call carries out none of them in particular."""
_ARGUMENT = re.compile(r"<(?!(?:sub-?)?(?:command|cmd|action|resource|verb|operation|args?)\b)[^|]*$")


def generate(raw: bytes, *, source: str, options: Mapping[str, Any]) -> Generated:
    """`entry` names the function that takes what is typed. Raises TooLarge, and InvalidInput where no command is."""
    wanted = CommandOptions.read(options, CATEGORY)
    parsed = tsx.parse(raw)
    reader = Reader(parsed, wanted)
    reader.follow(str(options.get("entry") or ""))
    found = reader.commands()
    if not found:
        raise InvalidInput(
            f"No command was found in {source}.",
            hint="Searched for: a function that takes the input (`command`, `line`, `args`) and compares its words, a"
            " table of handlers, and objects of `command` and `description`. Name the function: `entry: runCommand`.",
        )
    broken = (Unread(f"line {line}", "This is not TypeScript; it was skipped.") for line in parsed.errors)
    return generated(found, sorted(dict.fromkeys([*broken, *reader.unread]), key=_place), wanted)


def _place(one: Unread) -> tuple[int, str, str]:
    number = one.where.removeprefix("line ")
    return (int(number) if number.isdigit() else 0, one.where, one.what)


class Reader:
    def __init__(self, source: tsx.Source, options: CommandOptions) -> None:
        self._source = source
        self._walker = Walker(source)
        self._root = tuple(options.root.split())
        self._told: list[Told] = []
        self._top: list[tuple[int, Branch]] = []
        self.unread = self._walker.unread

    def follow(self, entry: str) -> None:
        """Walks through the code from where it takes what was typed, and collects what people are told."""
        for one in told(self._source):
            if isinstance(one, Told):
                self._told.append(one)
            else:
                self.unread.append(one)
        walker = self._walker
        for one in self._told if not entry else ():
            if one.handler is not None and (words := name_of(one.way.text)):
                self._enter(one.handler, dict(enumerate(words)), partial(walker.carry_out, one.handler, len(words)))
        for function, known in list(walker.entrances(entry)):
            if function.id not in walker.called:
                self._enter(function, {}, partial(walker.enter, function, known))
        for key, function in list(walker.records()) if not entry else ():
            self._enter(function, {0: key}, partial(walker.carry_out, function, 1))

    def _enter(self, node: Node, path: Path, walk: Callable[[Branch], None]) -> None:
        branch = Branch([path], node.line, self._source.above(node), acts=bool(path))
        self._top.append((node.id, branch))
        try:
            walk(branch)
        except (TooMuchError, RecursionError):
            self.unread.append(Unread(f"line {node.line}", "It branches too deeply."))

    def commands(self) -> list[Command]:
        called = self._walker.called
        leaves = [one for id_, top in self._top if top.paths != [{}] or id_ not in called for one in self._leaves(top)]
        commands = {name for branch, names, leaf in leaves for name in names if leaf and not branch.alone}
        leaves = [  # `run a.js`, compared with somewhere else, is a use of `run`
            (branch, [name for name in names if not any(name[:n] in commands for n in range(1, len(name)))], leaf)
            for branch, names, leaf in leaves
        ]
        index = Index((name for _, names, _ in leaves for name in names), self._root, self._told, self.unread)
        written = list(index.written(leaves) if leaves else index.believed())
        found = self._found(leaves, written)
        rows = {way.told.line for _, way in written if way.told.row}
        for one in self._told:
            match = index.match(one.way.tokens) if one.shown and one.line not in rows else None
            if match is not None and match[0] in found:
                found[match[0]].shown.append(Example(description=one.shown, code=one.way.text))
        sigils = Counter(way.sigil for one in found.values() for way in one.written)
        sigil = (sigils.most_common(1)[0][0] if sigils else "") or self._walker.sigil
        shows = frozenset(way.told.text for _, way in written if way.parameters and not way.told.way.usage)
        names = {name: " ".join((sigil + name[0].removeprefix(sigil), *name[1:])) for name in found}
        composition = Composition(names, index, shows, len(self._root))
        made = [composition.command(name, one) for name, one in found.items()]
        for name, command in zip(found, made, strict=True):
            if not command.summary:
                line = min((branch.line for branch in found[name].branches), default=0)
                what = f"Nothing says what `{command.name}` does."
                self.unread.append(Unread(f"line {line}", what, "Describe it in a comment above it."))
        return made

    def _found(self, leaves: Sequence[Leaf], written: Sequence[tuple[Name, Written]]) -> dict[Name, Found]:
        documented = {name for name, one in written if one.told.row or (one.told.way.usage and one.parameters)}
        tabled = {name for name, one in written if one.told.row or (one.rest and _ARGUMENT.match(one.rest[0]))}
        handlers = Counter(id_ for one, _, leaf in leaves if leaf for id_ in {handler.id for handler in one.handlers})
        found: dict[Name, Found] = {}
        for branch, names, leaf in leaves:
            for name, aliases in _split([name for name in names if leaf or name in tabled], documented):
                one = found.setdefault(name, Found())
                one.branches.append(branch)
                one.aliases.update(dict.fromkeys(aliases))
        for name, way in written:
            if name in found or not leaves:
                found.setdefault(name, Found()).written.append(way)
        for one in found.values():
            one.noted = self._note(one, {id_ for id_, count in handlers.items() if count <= MANY})
        return found

    def _leaves(self, branch: Branch) -> list[Leaf]:
        """Branches with their names, and whether nothing further is asked for in them."""
        below = [leaf for one in branch.branches for leaf in self._leaves(one)]
        names = [name for path in branch.paths if (name := self._name(path, branch.line))]
        further = {name for _, others, _ in below for name in others} - set(names)
        return [
            *([(branch, list(dict.fromkeys(names)), branch.alone or not further)] if names and branch.acts else []),
            *below,
        ]

    def _name(self, path: Path, line: int) -> Name | None:
        if not path:
            return None
        whole = {**self._walker.evaluator.assumed, **path}
        if min(whole) > 0 and len(self._root) == min(whole):
            whole.update(enumerate(self._root))
        words = tuple(whole[index] for index in sorted(whole))
        if sorted(whole) == list(range(len(whole))) and len(whole) <= MAX_WORDS:
            return words
        said = f"These are not the words of a command, one after another: {' '.join(words)}"
        self.unread.append(Unread(f"line {line}", said[:300]))
        return None

    def _note(self, found: Found, own: set[int]) -> Note:
        """Return what comments say: above the branch, or above the function that carries out this command alone."""
        handlers = [one for branch in found.branches for one in branch.handlers if one.id in own]
        above = [self._source.above(tsx.statement(one)) for one in handlers]
        comments = [*(one.comment for one in found.branches), *(one for one in above if one.startswith("/**"))]
        return next((one for comment in comments if (one := note(comment)).summary or one.tags), Note())


def _split(names: Sequence[Name], documented: set[Name]) -> Iterator[tuple[Name, list[Name]]]:
    """Those that are documented each for itself; the others are further ways to type the first."""
    own: dict[Name, list[Name]] = {name: [] for name in [one for one in names if one in documented] or names[:1]}
    for name in names:
        if name not in own:
            nearest = max(own, key=lambda one: sum(a == b for a, b in zip(one, name, strict=False)))
            own[nearest].append(name)
    yield from own.items()
