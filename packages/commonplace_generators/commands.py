"""Commands as all generators read them, and the entries that are made of them.

Title and content have the shape of seed 003, "Command Entry Example".
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from commonplace.kernel.errors import InvalidInput
from commonplace.reference.forms import command_form
from commonplace.reference.model import Confidence, Entry, Example, Parameter, Partial
from commonplace.reference.source.bounds import MAX_PARAMETER_DESCRIPTION, MAX_PARAMETERS
from commonplace.reference.source.checks import NOT_DESCRIBED
from commonplace.repository.slugs import slug
from commonplace_generators.generated import Generated, Unread

MAX_CONTENT = 60_000
MAX_TITLE = 120
MAX_COMMANDS = 20_000
MAX_UNREAD = 1_000
NEIGHBOURS = 7
Groups = Mapping[tuple[str, ...], Sequence[str]]
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'(])")
_WORD = re.compile(r"[a-z0-9][a-z0-9.-]*")
_OPTIONAL = re.compile(r"(?:\s+\[-(?:[^\[\]]|\[[^\[\]]*\])*\])+")
_PLAIN = frozenset("a an and at by for from in into is it its of on or the to with".split())  # noqa: SIM905


def title(one: "Command") -> str:
    """Return what is said, else the first sentence of the summary, else the name."""
    said = sentence(one.summary).rstrip(".!: ")
    return shortened(one.title or f"{said[:1].upper()}{said[1:]}" or one.name, MAX_TITLE)


def sentence(text: str) -> str:
    """Return the first sentence, on one line."""
    return _SENTENCE_END.split(" ".join(text.split()), maxsplit=1)[0]


def content(one: "Command") -> str:
    """Return what a command does, and its output, as Markdown."""
    said, summary = one.description.strip(), one.summary.strip()
    instead = f" Use `{one.replaced_by}`." if one.replaced_by else ""
    parts = [
        said if said.startswith(summary.rstrip(". …")) else f"{summary}\n\n{said}".strip(),
        f"**Deprecated.**{instead}" if one.deprecated else "",
        f"**Output:** {one.output.strip()}" if one.output else "",
    ]
    return "\n\n".join(part for part in parts if part)[:MAX_CONTENT]


def before_command(option: Parameter, words: Sequence[str]) -> Parameter:
    """An option of a group, which stands between the group's words and the command."""
    said = f"{option.description.rstrip('.')}. " if option.description else ""
    return option.model_copy(update={"description": f"{said}Given to `{' '.join(words)}`, before the command."})


def shortened(text: str, characters: int) -> str:
    """Return the text on one line, cut at a word where it is too long."""
    line = " ".join(text.split())
    if len(line) <= characters:
        return line
    return f"{line[: characters - 1].rsplit(' ', 1)[0]}…"[:characters]


@dataclass(frozen=True, slots=True)
class Command:
    """One thing that can be typed."""

    words: tuple[str, ...]
    summary: str = ""
    description: str = ""
    """Markdown; what there is to say beyond the summary."""
    title: str | None = None
    syntax: str | None = None
    usages: tuple[str, ...] = ()
    """Further ways to write it."""
    parameters: tuple[Parameter, ...] | None = None
    """None where they are not known."""
    confidence: Confidence = "exact"
    output: str | None = None
    examples: tuple[Example, ...] = ()
    aliases: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    partial: tuple[Partial, ...] = ()
    related: tuple[str, ...] = ()
    """Names of other commands."""
    deprecated: bool = False
    replaced_by: str | None = None
    """Name of the command to use instead."""
    subcategory: str | None = None
    module: str | None = None

    @property
    def name(self) -> str:
        return " ".join(self.words)


class CommandOptions(BaseModel):
    """The options of a catalogue about generated commands. The mappings are by the first words of commands."""

    model_config = ConfigDict(frozen=True)

    category: str
    root: str = ""
    """The program's name: no part of an id."""
    subcategory: str | None = None
    module: str | None = None
    subcategories: Mapping[str, str] = {}
    modules: Mapping[str, str] = {}
    id_prefix: str = "cmd"
    aliases: Mapping[str, tuple[str, ...]] = {}
    """Further aliases by the whole names of commands. The same for `keywords`."""
    keywords: Mapping[str, tuple[str, ...]] = {}

    @field_validator("subcategories", "modules", "aliases", "keywords", mode="before")
    @classmethod
    def _names(cls, given: Any) -> Any:
        return {" ".join(str(key).split()): value for key, value in given.items()} if isinstance(given, dict) else given

    @classmethod
    def read(cls, given: Mapping[str, Any], category: str) -> Self:
        """`category` is the default. Raises InvalidInput for a value of another kind."""
        said = {name: given[name] for name in cls.model_fields if given.get(name) not in (None, "", [], {})}
        try:
            return cls.model_validate({"category": category} | said)
        except ValidationError as error:
            name = str(error.errors(include_url=False)[0]["loc"][0])
        if name in ("subcategories", "modules"):
            hint = "Such as {helios gw: google-workspace}."
            raise InvalidInput(f"`{name}` has to map the first words of commands to slugs.", hint=hint)
        if name in ("aliases", "keywords"):
            raise InvalidInput(f"`{name}` has to map names of commands to lists of texts.")
        raise InvalidInput(f"`{name}` has to be text.")


def generated(commands: Iterable[Command], unread: Iterable[Unread], options: CommandOptions) -> Generated:
    """Entries by id. Source and date are left to what writes them."""
    named = sorted({one.name: one for one in commands if one.words}.values(), key=lambda one: one.words)
    kept, also = _apart(named)
    # Two names that differ in signs alone (`a-b c`, `a b-c`) get different ids.
    ids: dict[str, str] = {}
    taken: set[str] = set()
    root = tuple(options.root.split())
    for command in kept:
        words = command.words[len(root) :] if root and command.words[: len(root)] == root else command.words
        wanted = f"{options.id_prefix}-{slug(' '.join(words or command.words)) or _digest(command.name)}"[:190]
        ids[command.name] = f"{wanted}-{_digest(command.name)}" if wanted in taken else wanted
        taken.add(ids[command.name])
    ids.update({name: ids[other] for name, other in also.items()})
    # Names of commands that stand beside one another: `helios gw users` -> those that begin with it.
    groups: dict[tuple[str, ...], list[str]] = {}
    for one in kept:
        beside = groups.setdefault(one.words[:-1], [])
        if len(one.words) > 1 and not one.deprecated and len(beside) < NEIGHBOURS:
            beside.append(one.name)
    made = [_entry(one, groups, ids, options) for one in kept[:MAX_COMMANDS]]
    missed = list(unread)
    if len(missed) > MAX_UNREAD:
        more = Unread("the source", f"{len(missed) - MAX_UNREAD} further parts were not read.")
        missed = [*missed[:MAX_UNREAD], more]
    if len(kept) > MAX_COMMANDS:
        missed.insert(0, Unread("the program", f"It has more than {MAX_COMMANDS} commands."))
    return Generated(tuple(sorted(made, key=lambda entry: entry.id)), tuple(missed))


def _apart(commands: Sequence[Command]) -> tuple[list[Command], dict[str, str]]:
    """Commands that a catalogue tells apart, and the names of the others with those that they are ways to type.

    `env-show` and `env_show` are one command to whoever looks it up.
    """
    kept: dict[tuple[str, bool], Command] = {}
    also: dict[str, str] = {}
    for one in commands:
        first = kept.setdefault((command_form(one.name), one.deprecated), one)
        if first is not one:
            also[one.name] = first.name
    spelt = {first: [name for name, other in also.items() if other == first] for first in also.values()}
    return [replace(one, aliases=(*spelt.get(one.name, ()), *one.aliases)) for one in kept.values()], also


def _entry(one: Command, groups: Groups, ids: Mapping[str, str], options: CommandOptions) -> Entry:
    said = title(one)
    replaced_by = ids.get(one.replaced_by or "")
    aliases = (*one.aliases, *options.aliases.get(one.name, ()))
    # Those that are named, then others of its group.
    names = [name for name in (*one.related, *groups.get(one.words[:-1], ())) if name in ids and name != one.name]
    return Entry(
        id=ids[one.name],
        type="command",
        title=said,
        category=options.category,
        subcategory=one.subcategory or _by_prefix(one, options.subcategories) or options.subcategory,
        module=one.module or _by_prefix(one, options.modules) or options.module,
        name=shortened(one.name, 500),
        syntax=_typed(one.syntax or one.name),
        summary=shortened(one.summary or f"{one.name}{NOT_DESCRIBED}", 500),
        usages=[_typed(usage) for usage in _unique(one.usages)][:50],
        parameters=None if one.parameters is None else [_fitting(it) for it in one.parameters[:MAX_PARAMETERS]],
        confidence=one.confidence,
        partial=list(one.partial),
        content=content(one),
        keywords=_keywords(one, said, options.keywords.get(one.name, ())),
        aliases=[shortened(alias, 200) for alias in _unique(aliases) if _free(alias, one, ids)][:50],
        examples=[
            Example(
                description=shortened(example.description, 500),
                code=example.code[:8_000],
                output=example.output[:8_000] if example.output else None,
            )
            for example in list({example.code: example for example in reversed(one.examples)}.values())[::-1][:20]
        ],
        related_ids=_unique(ids[name] for name in names)[:50],
        deprecated=one.deprecated or replaced_by is not None,
        replaced_by=replaced_by,
        last_updated="",
    )


def _fitting(one: Parameter) -> Parameter:
    if len(one.description) <= MAX_PARAMETER_DESCRIPTION:
        return one
    return one.model_copy(update={"description": shortened(one.description, MAX_PARAMETER_DESCRIPTION)})


def _free(alias: str, one: Command, ids: Mapping[str, str]) -> bool:
    """Return whether it is no other command's name: that one answers then."""
    return alias != one.name and ids.get(alias, ids[one.name]) == ids[one.name]


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:6]


def _by_prefix(one: Command, mapping: Mapping[str, str]) -> str | None:
    """Return what is said of the longest beginning of the command's name."""
    beginnings = [" ".join(one.words[:count]) for count in range(len(one.words), 0, -1)]
    return next((mapping[beginning] for beginning in beginnings if beginning in mapping), None)


def _keywords(one: Command, said: str, more: Sequence[str]) -> list[str]:
    words = [word.strip(".-") for text in (*one.words[1:], said) for word in _WORD.findall(text.casefold())]
    kept = [word for word in _unique([*one.keywords, *more, *words]) if word not in _PLAIN and len(word) > 1]
    return [shortened(word, 200) for word in kept[:50]]


def _typed(usage: str) -> str:
    """A usage as it is; one that is too long without the names of its options, which parameters have, never cut."""
    return shortened(usage if len(usage) <= 500 else _OPTIONAL.sub(" [options]", usage), 500)


def _unique(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(value for value in values if value))
