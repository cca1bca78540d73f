"""Commands out of a console's source in TypeScript (seed 003, "Command Generator").

Which commands exist is said by code: comparisons and switches over the typed words, and tables of handlers. How they
are written is said by what people are told: usage lines, then help tables. What code alone says is `inferred`.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any

from commonplace.kernel.errors import InvalidInput
from commonplace.reference.model import Example, Parameter
from commonplace.repository.slugs import slug
from generators import tsx
from generators.commands import Command, CommandOptions, generated
from generators.console_branches import Branch, Path, TooMuchError, Walker
from generators.console_help import DESCRIPTIONS, Note, Told, note, text_of, texts_of, told
from generators.console_usage import Way, options_in, parameters, ways
from generators.generated import Generated, Unread
from generators.tsx import Node
from generators.usages import merged, name_of, option

CATEGORY = "developer-console"
MAX_WORDS = 12
MANY = 2
"""A function that more commands call carries out none of them in particular."""
_SENTENCE = re.compile(r"(?!(?:Use|Try|See|Note|Required|Examples?|Options|Type)\b)[A-Z][\w'-]*(?: [^\0:\"]+){2,}")
_FAILED = re.compile(r"(?:Error: )?(?:Failed|Unable|Could not|Cannot) (?:to )?([\w][^:\0]+)")
_DONE = re.compile(
    r"(?:\[\w+\])?((?!Failed|Error|Unknown|Missing|Invalid|Usage|No |Unable|Could|Cannot|Required)"
    r"[A-Z][^\n\"/]* [^\n\"/]+)"
)
_ARGUMENT = re.compile(r"<(?!(?:sub-?)?(?:command|cmd|action|resource|verb|operation|args?)\b)[^|]*$")
_PROSE = re.compile("[A-Z][a-z]")
Name = tuple[str, ...]
Leaf = tuple[Branch, list[Name], bool]
"""A branch with its names, and whether it is a command of its own."""


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
            hint="Looked for: a function that takes what is typed (`command`, `line`, `args`) and compares its words, a"
            " table of handlers, and objects of `command` and `description`. Name the function: `entry: runCommand`.",
        )
    broken = (Unread(f"line {line}", "This is no TypeScript: it was left out.") for line in parsed.errors)
    return generated(found, sorted(dict.fromkeys([*broken, *reader.unread]), key=_place), wanted)


def _place(one: Unread) -> tuple[int, str, str]:
    number = one.where.removeprefix("line ")
    return (int(number) if number.isdigit() else 0, one.where, one.what)


@dataclass(frozen=True, slots=True)
class Written:
    """A way to type a command that people are told."""

    told: Told
    rest: Sequence[str]
    """What stands behind the name."""
    parameters: Sequence[Parameter]
    sigil: str = ""
    """What stands before the name: `/`."""
    rootless: bool = False

    @property
    def arguments(self) -> int:
        return sum(one.place == "argument" and one.required for one in self.parameters)

    @property
    def needed(self) -> frozenset[str]:
        return frozenset(one.name for one in self.parameters if one.place == "option" and one.required)


@dataclass(slots=True)
class Found:
    """A command, and what was found of it."""

    branches: list[Branch] = field(default_factory=list)
    aliases: dict[Name, None] = field(default_factory=dict)
    written: list[Written] = field(default_factory=list)
    shown: list[Example] = field(default_factory=list)


class Reader:
    def __init__(self, source: tsx.Source, options: CommandOptions) -> None:
        self._source = source
        self._walker = Walker(source)
        self._root = tuple(options.root.split())
        self._told: list[Told] = []
        self._top: list[tuple[int, Branch]] = []
        self._index: dict[Name, Name] = {}
        self._handlers: Counter[int] = Counter()
        self._shows: set[int] = set()
        """Texts that say what is typed behind a name."""
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
            self.unread.append(Unread(f"line {node.line}", "It branches further than is followed."))

    def commands(self) -> list[Command]:
        called = self._walker.called
        leaves = [one for id_, top in self._top if top.paths != [{}] or id_ not in called for one in self._leaves(top)]
        self._handlers.update(
            id_ for one, _, leaf in leaves if leaf for id_ in {handler.id for handler in one.handlers}
        )
        for _, names, _ in leaves:
            self._index.update((_folded(name), name) for name in names)
        for name in list(self._index.values()):
            if self._root and name[: len(self._root)] == self._root != name:
                self._index.setdefault(_folded(name[len(self._root) :]), name)
        commands = {name for branch, names, leaf in leaves for name in names if leaf and not branch.alone}
        leaves = [  # `run a.js`, compared with somewhere else, is a use of `run`
            (branch, [name for name in names if not any(name[:n] in commands for n in range(1, len(name)))], leaf)
            for branch, names, leaf in leaves
        ]
        written = list(self._written(leaves) if leaves else self._believed())
        self._shows = {one.told.text for _, one in written if one.parameters and not one.told.way.usage}
        documented = {name for name, one in written if one.told.row or (one.told.way.usage and one.parameters)}
        tabled = {name for name, one in written if one.told.row or (one.rest and _ARGUMENT.match(one.rest[0]))}
        found: dict[Name, Found] = {}
        for branch, names, leaf in leaves:
            for name, aliases in _split([name for name in names if leaf or name in tabled], documented):
                one = found.setdefault(name, Found())
                one.branches.append(branch)
                one.aliases.update(dict.fromkeys(aliases))
        for name, way in written:
            if name in found or not leaves:
                found.setdefault(name, Found()).written.append(way)
        rows = {way.told.line for _, way in written if way.told.row}
        for example in self._told:
            match = self._match(example.way.tokens) if example.shown and example.line not in rows else None
            if match is not None and match[0] in found:
                found[match[0]].shown.append(Example(description=example.shown, code=example.way.text))
        sigils = Counter(way.sigil for one in found.values() for way in one.written)
        sigil = (sigils.most_common(1)[0][0] if sigils else "") or self._walker.sigil
        called_by = {name: " ".join((sigil + name[0], *name[1:])) for name in found}
        return [self._command(name, one, called_by) for name, one in found.items()]

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

    def _believed(self) -> Iterator[tuple[Name, Written]]:
        """Where no code reads any command: tables, usages, and lists of three lines and more."""
        lines = Counter(one.line for one in self._told if one.way.summary and not one.way.colon)
        for one in self._told:
            name = name_of(one.way.text)
            found, plain = parameters(one.way.tokens[len(name) :])
            prose = plain or one.row or one.way.colon or not one.way.summary or _PROSE.match(one.way.text)
            if name and not one.shown and (one.fields or one.way.usage or (lines[one.line] > 2 and not prose)):
                yield name, Written(one, one.way.tokens[len(name) :], found)
        if self._told:
            what = "What help says was believed: no code that reads it was found."
            self.unread.append(Unread(f"line {self._told[0].line}", what))

    def _written(self, leaves: Sequence[Leaf]) -> Iterator[tuple[Name, Written]]:
        """What people are told of the commands that code reads."""
        lines = Counter(one.line for one in self._told if one.way.colon and self._match(one.way.tokens))
        scoped = [
            (
                Told(way, branch.line, text=hash(text)),
                [name[:count] for name in names for count in range(len(name), 0, -1)],
                not leaf,
            )
            for branch, names, leaf in leaves
            for text in branch.texts
            for way in self._ways(text, branch)
        ]
        seen, inner = set(), set()
        for one, scopes, group in [*scoped, *((one, [], False) for one in self._told if not one.shown)]:
            match = self._match(one.way.tokens, scopes)
            within = match is not None and any(match[0][: len(scope)] == scope for scope in scopes)
            if not scopes and one.way in inner:
                continue  # `clear` in the help of `todo`
            if within or (group and not one.way.usage):
                inner.add(one.way)
            if match is None:
                found, plain = parameters(one.way.tokens)
                if one.row and (one.fields or found) and not plain:
                    what = f"`{one.way.text[:100]}` stands in a help table, and no code that reads it was found."
                    self.unread.append(Unread(f"line {one.line}", what))
                continue
            found, plain = parameters(match[1])
            deeper = within and match[0] not in scopes
            said = one.way.summary and (deeper or not one.way.colon or lines[one.line] > 1)
            says = one.way.usage or (not plain and (one.row or said or found) and (within or one.way not in inner))
            key = (match[0], tuple(match[1]), one.way.usage, bool(one.way.summary))
            if says and (key not in seen or one.fields):
                seen.add(key)
                yield match[0], Written(one, match[1], found, match[2], match[3])

    def _ways(self, text: str, branch: Branch) -> Iterator[Way]:
        found = [one for one in ways(text) if isinstance(one, Way)]
        listed = sum(one.colon for one in found) > 1  # `Status: pending` alone is no help
        for way in found:
            if "\0" not in way.text and (way.usage or not way.colon or (listed and "\0" not in way.summary)):
                yield replace(way, summary=way.summary.replace("\0", "…"))
            elif way.usage:
                said = way.text.replace("\0", "…")[:200]
                self.unread.append(Unread(f"line {branch.line}", f"A part of this usage is not known: `{said}`"))

    def _match(
        self, tokens: Sequence[str], scopes: Iterable[Name] = ()
    ) -> tuple[Name, Sequence[str], str, bool] | None:
        """The command that a way begins with, what stands behind its name, the sign before it, whether without root."""
        folded = _folded(tokens)
        sigil = folded[0][:1] if folded and folded[0][:1] in "/!." and len(folded[0]) > 1 else ""
        for count in range(min(len(folded), MAX_WORDS), 0, -1):
            head = folded[:count]
            bare = (head[0].removeprefix(sigil), *head[1:])
            for sign, words in (*(("", (*_folded(scope), *head)) for scope in scopes), ("", head), (sigil, bare)):
                if name := self._index.get(words):
                    return name, tokens[count:], sign, words != _folded(name)
        return None

    def _command(self, name: Name, found: Found, names: Mapping[Name, str]) -> Command:
        called, line = names[name], min((one.line for one in found.branches), default=0)
        branches = found.branches
        flags = [f"{flag}={value}" if value else flag for one in branches for flag, value in one.options.items()]
        taken = branches[0].arguments if branches else {}
        inferred = [f"<{taken.get(at, 'value')}>" for at in range(len(name), max(taken, default=0) + 1)]
        first, others = _chosen(
            [one for one in found.written if one.rest or one.told.way.usage or self._tells(one, inferred)]
        )
        read = bool(flags or inferred or any(one.elsewhere for one in branches))
        told_rows = [one for one in found.written if one.told.row]
        fields: Mapping[str, Any] = next((one.told.fields for one in told_rows if one.told.fields), {})
        noted = self._note(found)
        if first is not None:
            exact = True
            syntax = " ".join((called, *first.rest))
        else:
            exact = bool(found.written and branches and not read)
            syntax = " ".join((called, *inferred, *(f"[{flag.partition(',')[0]}]" for flag in flags)))
            if usage := noted.tags.get("usage") or noted.tags.get("syntax"):
                exact, syntax = True, usage[0]
        own = parameters(syntax.split()[len(name) :])[0] if first is None else first.parameters
        said = [one for branch in branches for text in branch.texts for one in options_in(text.replace("\0", "…"))]
        further = [one for way in others for one in way.parameters if one.place == "option"]
        further += [one for flag in flags if (one := option(flag))]
        takes = merged(
            [*own, *said, *_options(fields), *(one.model_copy(update={"required": False}) for one in further)]
        )
        known = bool(takes) or (bool(branches) and not any(one.elsewhere for one in branches))
        summary = next((one.told.way.summary for one in found.written if one.told.way.summary), "") or noted.summary
        summary = text_of(fields, *DESCRIPTIONS) or summary or self._printed(name, found)
        if not summary:
            what = f"Nothing says what `{called}` does."
            self.unread.append(Unread(f"line {line}", what, "Describe it in a comment above it."))
        deprecated = fields.get("deprecated")
        replaced = text_of(fields, "replacedBy", "replaced_by", "useInstead") or next(
            iter(noted.tags.get("deprecated", ())), deprecated if isinstance(deprecated, str) else ""
        )
        rootless = any(way.rootless for way in found.written) and len(name) > len(self._root)
        sigil = called.removesuffix(" ".join(name))
        aliases = [sigil + " ".join(one) for one in (*found.aliases, *([name[len(self._root) :]] if rootless else []))]
        return Command(
            words=tuple(called.split()),
            title=text_of(fields, "title", "label"),
            summary=summary,
            description=text_of(fields, "details", "longDescription", "long", "notes")
            or (noted.text if noted.summary == summary else ""),
            syntax=syntax,
            usages=tuple(" ".join((called, *one.rest)) for one in others),
            parameters=tuple(takes) if known else None,
            confidence="exact" if exact else "inferred",
            output=text_of(fields, "output", "returns", "prints") or next(iter(noted.tags.get("output", ())), None),
            examples=(
                *found.shown,
                *_examples(fields, summary or called),
                *(Example(description=summary or called, code=one) for one in noted.tags.get("example", ()) if one),
            ),
            aliases=tuple(
                one for one in (*texts_of(fields, "aliases", "alias"), *aliases) if not self._begins(one, name)
            ),
            keywords=tuple(texts_of(fields, "keywords", "tags")),
            related=tuple(texts_of(fields, "seeAlso", "related")),
            deprecated=bool(deprecated or replaced or "deprecated" in noted.tags),
            replaced_by=self._replaced(replaced, names) if replaced else None,
            subcategory=slug(text_of(fields, "subcategory") or "") or None,
            module=slug(text_of(fields, "module") or "") or None,
        )

    def _tells(self, one: Written, inferred: Sequence[str]) -> bool:
        """Whether a name alone says that nothing is typed behind it: others beside it say what is."""
        return one.told.text in self._shows and not one.told.fields and (one.told.row or not inferred)

    def _begins(self, alias: str, name: Name) -> bool:
        """Whether other commands begin with it: an alias that is a verb alone would answer for all of them."""
        words = _folded(alias.split())
        return any(one[: len(words)] == words != one and own != name for one, own in self._index.items())

    def _note(self, found: Found) -> Note:
        """What comments say: above the branch, or above the function that carries out this command alone."""
        comments = [one.comment for one in found.branches]
        comments += [
            comment
            for branch in found.branches
            for handler in branch.handlers
            if self._handlers[handler.id] <= MANY
            and (comment := self._source.above(tsx.statement(handler))).startswith("/**")
        ]
        return next((one for comment in comments if (one := note(comment)).summary or one.tags), Note())

    def _printed(self, name: Name, found: Found) -> str:
        """What the command prints of itself: the sentence after its usage, what it failed to do, what it has done."""
        stems = {word[:4].casefold() for word in name[-1].split("-")}
        texts = [one.strip(" \n.") for branch in found.branches for one in branch.texts if " " in one]
        for usage, next_ in pairwise(texts):
            if "usage:" in usage.casefold() and _SENTENCE.fullmatch(next_):
                return next_
        own = [one for one in reversed(texts) if stems & {word[:4] for word in re.findall(r"\w+", one.casefold())}]
        if failed := next((one[1] for text in own if (one := _FAILED.match(text)) and " " in one[1].strip()), None):
            return f"{failed[:1].upper()}{failed[1:].strip()}"
        done = (said[1] for one in own if (said := _DONE.fullmatch(one.replace("\0", "…"))))
        return next((f"Says “{one}”." for one in done), "")

    def _replaced(self, said: str, names: Mapping[Name, str]) -> str | None:
        words = said.replace("`", " ").split()
        matches = (self._match(words[index:]) for index in range(len(words)))
        return next((names[match[0]] for match in matches if match and match[0] in names), None)


def _folded(words: Iterable[str]) -> Name:
    return tuple(word.casefold() for word in words)


def _split(names: Sequence[Name], documented: set[Name]) -> Iterator[tuple[Name, list[Name]]]:
    """Those that are documented each for itself; the others are further ways to type the first."""
    own: dict[Name, list[Name]] = {name: [] for name in [one for one in names if one in documented] or names[:1]}
    for name in names:
        if name not in own:
            nearest = max(own, key=lambda one: sum(a == b for a, b in zip(one, name, strict=False)))
            own[nearest].append(name)
    yield from own.items()


def _chosen(written: Sequence[Written]) -> tuple[Written | None, list[Written]]:
    """The way to tell first, and others that say more: one of many (`delete --filter=...`) comes after one of one."""
    most = max((one.arguments for one in written), default=0)
    single = [one for one in written if one.arguments == most or not one.needed]
    usages = [one for one in single if one.told.way.usage]
    pool = [one for one in single if one.rest or one.told.way.usage or not usages]
    if not pool:
        return None, []
    count = min(pool, key=lambda one: not one.told.row).arguments
    same = [one for one in usages if one.arguments == count]
    first = min(same, key=lambda one: (len(one.needed), -len(one.parameters))) if same else pool[0]
    if not same:
        first = min(pool, key=lambda one: not one.told.row)
    shapes = {(first.arguments, frozenset(one.name for one in first.parameters if one.place == "option"))}
    others = []
    for one in written:
        shape = (one.arguments, frozenset(each.name for each in one.parameters if each.place == "option"))
        if one is not first and not any(shape[0] == other[0] and shape[1] <= other[1] for other in shapes):
            shapes.add(shape)
            others.append(one)
    return first, others


def _options(fields: Mapping[str, Any]) -> Iterator[Parameter]:
    """`[{flag, description}]`, `{'--flag': 'what it does'}`, `['--flag']`."""
    value = fields.get("options") or fields.get("flags") or ()
    for name, one in value.items() if isinstance(value, dict) else ((None, one) for one in value):
        if isinstance(one, dict):
            called, summary = text_of(one, "flag", "flags", "name", "option") or name, text_of(one, *DESCRIPTIONS) or ""
        else:
            called, summary = (name, one if isinstance(one, str) else "") if name else (one, "")
        if isinstance(called, str) and (found := option(called, summary)):
            yield found


def _examples(fields: Mapping[str, Any], summary: str) -> Iterator[Example]:
    value = fields.get("examples") or fields.get("example")
    for one in value if isinstance(value, list) else [value]:
        fits = {"code": one} if isinstance(one, str) else one if isinstance(one, dict) else {}
        if code := text_of(fits, "code", "command", "example"):
            described = text_of(fits, "description", "desc", "title") or summary
            yield Example(description=described, code=code, output=text_of(fits, "output"))
