"""What was found in a console, put together: one command for each place where its words are known."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from commonplace.reference.model import Example
from generators import tsx
from generators.commands import Command, CommandOptions, Option
from generators.console_branches import Branch
from generators.console_evaluating import Evaluator
from generators.console_notes import Note, note
from generators.console_tables import Told, examples, told
from generators.console_usage import Usage, longest, options_in, usages
from generators.generated import Unread

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_WORDS = 12
MANY = 4
"""A function that so many commands call carries out none of them in particular."""
Name = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Leaf:
    branch: Branch
    names: tuple[Name, ...]


class Reader:
    def __init__(self, source: tsx.Source, evaluator: Evaluator, options: CommandOptions) -> None:
        self._source = source
        self._assumed = evaluator.assumed
        self._root = tuple(options.root.split())
        self._usages = list(self._lines(evaluator))
        tables = list(told(source, evaluator))
        said = [one.command.words for one in tables] + [one.words for one in self._usages]
        self._said = {words for words in said if self._root and words[: len(self._root)] == self._root}
        self._table: dict[Name, Told] = {}
        for one in tables:
            self._table.setdefault(self._rooted(one.command.words), one)
        self._examples = list(examples(source, evaluator))
        self._shown: dict[Name, list[Example]] = {}
        self._printed: dict[Name, list[Usage]] = {}
        for usage in self._usages:
            self._printed.setdefault(usage.words, []).append(usage)
        self._handlers: Counter[int] = Counter()
        self.unread: list[Unread] = []

    def commands(self, branches: "Sequence[Branch]") -> list[Command]:
        leaves = [leaf for branch in branches for leaf in self._leaves(branch)]
        self._handlers.update(id_ for leaf in leaves for id_ in {one.id for one in leaf.branch.handlers})
        self._show(name for leaf in leaves for name in leaf.names)
        found: dict[Name, Command] = {}
        for leaf in leaves:
            for words, aliases in self._split(leaf.names):
                made = self._command(words, aliases, leaf.branch)
                found[words] = _merged(found[words], made) if words in found else made
        typed = {alias for one in found.values() for alias in one.aliases}
        for words, made in self._documented(set(found), typed):
            found[words] = made
        return [self._replaced(one, found) for one in found.values()]

    def _leaves(self, branch: Branch) -> list[_Leaf]:
        """Where nothing further is asked for, or where a help table says that this is a command as well."""
        below = [leaf for one in branch.branches for leaf in self._leaves(one)]
        names = [name for path in branch.paths if (name := self._name(path, branch.line))]
        if below:
            names = [name for name in names if name in self._table]
        return [*([_Leaf(branch, tuple(dict.fromkeys(names)))] if names else []), *below]

    def _name(self, path: dict[int, str], line: int) -> Name | None:
        if not path:
            return None
        whole = {**self._assumed, **path}
        if min(whole) > 0 and len(self._root) == min(whole):
            whole.update(enumerate(self._root))
        words = tuple(whole[index] for index in sorted(whole))
        if sorted(whole) != list(range(len(whole))) or len(whole) > MAX_WORDS:
            said = f"These are not the words of a command, one after another: {' '.join(words)}"
            self.unread.append(Unread(f"line {line}", said[:300]))
            return None
        return self._rooted(words)

    def _rooted(self, words: Name) -> Name:
        """A help table may leave the program's name out (`gw users list`), and so may the code."""
        rooted = (*self._root, *words)
        return rooted if words not in self._said and rooted in self._said else words

    def _split(self, names: Sequence[Name]) -> Iterator[tuple[Name, list[Name]]]:
        """Those that are documented each for itself; the others are further ways to type the first."""
        documented = [name for name in names if name in self._table or self._usage(name)]
        own: dict[Name, list[Name]] = {name: [] for name in documented or names[:1]}
        for name in names:
            if name not in own:
                nearest = max(own, key=lambda one: sum(a == b for a, b in zip(one, name, strict=False)))
                own[nearest].append(name)
        yield from own.items()

    def _command(self, words: Name, aliases: Iterable[Name], branch: Branch) -> Command:
        name = " ".join(words)
        line = f"line {branch.line}"
        said = self._table.get(words)
        table = said.command if said else Command(words)
        noted, usage = self._note(branch), self._usage(words, branch)
        summary = table.summary or noted.summary or (usage.summary if usage else "")
        if not summary:
            self.unread.append(Unread(line, f"Nothing says what `{name}` does.", "Describe it in a comment above it."))
        flags = list(branch.options)
        syntax = table.syntax or noted.usage or (usage.syntax if usage else None) or _built(words, branch)
        shown = [Example(description=summary or name, code=one) for one in noted.examples]
        replaced_by = table.replaced_by or noted.replaced_by or branch.note.replaced_by
        return replace(
            table,
            words=words,
            summary=summary,
            description=table.description or (noted.text if noted.summary == summary else ""),
            syntax=syntax,
            options=_options(table.options or (), [*options_in(syntax), *flags]) or (None if branch.elsewhere else ()),
            output=table.output or noted.output,
            examples=(*table.examples, *shown, *self._shown.get(words, ())),
            aliases=(*(" ".join(alias) for alias in aliases), *table.aliases),
            deprecated=table.deprecated or noted.deprecated or branch.note.deprecated,
            replaced_by=replaced_by,
        )

    def _note(self, branch: Branch) -> Note:
        """Of the function that carries it out, else beside the branch."""
        own = (self._above(one) for one in branch.handlers if self._handlers[one.id] < MANY)
        found = next((one for one in own if one.summary or one.usage), None)
        return found or branch.note

    def _above(self, function: "Node") -> Note:
        node = function
        while node.parent is not None and node.parent.type in {
            "variable_declarator", "lexical_declaration", "variable_declaration", "export_statement", "pair",
            "arguments", "call_expression", "public_field_definition",
        }:  # fmt: skip
            node = node.parent
        return note(self._source.above(node))

    def _usage(self, words: Name, branch: Branch | None = None) -> Usage | None:
        own = [one for text in branch.texts for one in usages(text)] if branch else []
        short = words[len(self._root) :]
        said = [*self._printed.get(words, ()), *(self._printed.get(short, ()) if short != words else ())]
        fitting = [one for one in (*own, *said) if one.plain and one.words in {words, short}]
        best: Usage | None = max(fitting, key=lambda one: (bool(one.summary), len(one.syntax)), default=None)
        if best is None or best.words == words:
            return best
        return replace(best, words=words, syntax=" ".join([*self._root, best.syntax]))

    def _show(self, names: Iterable[Name]) -> None:
        """Examples belong to the longest name that they begin with."""
        known = {*self._table, *names}
        for one in self._examples:
            words = longest(tuple(one.code.split()), known)
            if words is not None:
                self._shown.setdefault(words, []).append(one)

    def _lines(self, evaluator: Evaluator) -> Iterator[Usage]:
        """Usage lines in the texts of the source."""
        for node in tsx.walk(self._source.root):
            if node.type in {"string", "template_string", "jsx_text"}:
                said = tsx.text(node) if node.type == "jsx_text" else evaluator.said(node, {}, {})
                yield from usages(said or "")

    def _documented(self, found: set[Name], typed: set[str]) -> Iterator[tuple[Name, Command]]:
        """What help says, though nothing was found that reads it."""
        known = [one for one in self._usages if one.summary and one.plain and len(one.words) > 1]
        lines = {one.words: one for one in known if self._begins(one.words, found)}
        listed = {words: Told(Command(words, one.summary, syntax=one.syntax), 0, False) for words, one in lines.items()}
        for words, one in {**listed, **self._table}.items():
            if words in found or " ".join(words) in typed or not self._believed(words, one, found):
                continue
            if not one.handled:
                said = f"Help documents `{' '.join(words)}`, but no code that reads it was found."
                self.unread.append(Unread(f"line {one.line}" if one.line else "help", said))
            options = _options(one.command.options or (), options_in(one.command.syntax or ""))
            yield words, replace(one.command, words=words, options=options or None, examples=(*one.command.examples,))

    def _believed(self, words: Name, one: Told, found: set[Name]) -> bool:
        if not self._root and not found:
            return one.named
        return self._begins(words, found) if one.named else one.handled and self._begins(words, found)

    def _begins(self, words: Name, found: set[Name]) -> bool:
        """Whether the words are those of this program; a single word of a console without one is not asked further."""
        roots = {self._root[0]} if self._root else {name[0] for name in found if len(name) > 1}
        return words[0] in roots

    def _replaced(self, one: Command, names: Mapping[Name, Command]) -> Command:
        """`use helios users export` names a command."""
        said = (one.replaced_by or "").replace("`", " ").replace('"', " ").replace(".", " ").split()
        found = (longest(tuple(said[index:]), names) for index in range(len(said)))
        named = next((name for name in found if name is not None), None)
        named = named or next((name for name in names if said and tuple(said) == name[len(self._root) :]), None)
        return replace(one, replaced_by=" ".join(named) if named and named != one.words else None)


def _merged(one: Command, other: Command) -> Command:
    """The same words in two places."""
    return replace(
        one,
        summary=one.summary or other.summary,
        options=_options(one.options or (), [option.called for option in other.options or ()]),
        aliases=tuple(dict.fromkeys((*one.aliases, *other.aliases))),
    )


def _options(told: Sequence[Option], flags: Iterable[str]) -> tuple[Option, ...]:
    """Those that are described, then those that are only read."""
    known = {_flag(one.called): one for one in told}
    for flag in flags:
        known.setdefault(_flag(flag), Option(flag))
    return tuple(known.values())


def _flag(called: str) -> str:
    return called.replace(",", " ").split("=")[0].split()[0] if called.strip() else ""


def _built(words: Name, branch: Branch) -> str:
    """The words, with what the code calls the next ones and the options that it reads."""
    following: list[str] = []
    while len(words) + len(following) in branch.arguments:
        following.append(f"<{branch.arguments[len(words) + len(following)]}>")
    flags = [f"[{flag.split(',')[0]}]" for flag in branch.options]
    return " ".join([*words, *following, *flags])
