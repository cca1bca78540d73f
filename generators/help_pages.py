"""One page of help, read: how the command is typed, what it does, its options, the commands below it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from generators.commands import Option, sentence
from generators.console_usage import name_of
from generators.help_lines import OPTION, Row, Section, columns, lines_of, rows, sections

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+-]*")
_NAMES = re.compile(r"(?P<name>[A-Za-z0-9][\w.:+-]*)(?P<others>(?:\s*[,|]\s*[A-Za-z0-9][\w.:+-]*)*)(?P<rest>.*)")
_IN_BRACKETS = re.compile(r"\((?:aliases?:\s*)?([^)]*)\)")
_ALIASES = re.compile(r"\[alias(?:es)?:\s*([^\]]*)\]", re.IGNORECASE)
_TYPE = re.compile(r"(?P<type><[^>]*>|[A-Z][A-Z0-9_|:]+)\s{2,}(?P<said>.*)", re.DOTALL)
_SHORT = re.compile(r"(?P<short>-[A-Za-z0-9])\s{2,}(?P<said>.*)", re.DOTALL)
_GROUP = re.compile(r"[<\[{(]?\b(?:sub)?commands?\b|\{[^}]*,[^}]*\}|\bCOMMAND\b", re.IGNORECASE)
_NO_COMMANDS = (
    "option", "flag", "argument", "environment", "variable", "example", "learn", "see also", "topic", "note",
    "config", "exit", "usage", "alias", "file", "default", "author", "version", "more help", "concept",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Below:
    """A command as the page above it lists it."""

    name: str
    summary: str = ""
    aliases: tuple[str, ...] = ()
    rest: str = ""
    """Its arguments, where the list has them."""


@dataclass(frozen=True, slots=True)
class Page:
    usages: tuple[str, ...] = ()
    """Each on one line, without the word."""
    text: str = ""
    options: tuple[Option, ...] = ()
    arguments: tuple[Option, ...] = ()
    commands: tuple[Below, ...] = ()
    examples: str = ""


def page(text: str, words: Sequence[str] = ()) -> Page:
    """`words` are those of the command whose page it is. Any text gives a page, if an empty one."""
    found = sections(lines_of(text))
    usages = tuple(one for section in found if section.heading.casefold() == "usage" for one in _usages(section))
    grouped = any(_GROUP.search(one) for one in usages) or any("command" in one.heading.casefold() for one in found)
    listed = [(one, list(rows(one))) for one in found if one.heading]
    commands = [below for one, lines in listed for below in _commands(one, lines, words, grouped)]
    return Page(
        usages=usages,
        text=_text(found),
        options=tuple(option for _, lines in listed for option in _options(lines)),
        arguments=tuple(option for one, lines in listed for option in _arguments(one, lines, commands)),
        commands=tuple({one.name: one for one in reversed(commands)}.values())[::-1],
        examples="\n".join(line for one in found if "example" in one.heading.casefold() for line in one.lines),
    )


def _usages(section: Section) -> Iterator[str]:
    """Lines that begin further to the right go on with the one before them."""
    said: list[str] = []
    first = ""
    for line in section.lines:
        text = " ".join(columns(line)[0].split()) if _described(line) else " ".join(line.split())
        if not text:
            if said:
                break
            continue
        text = text.removeprefix("or: ").removeprefix("or ").strip() or text
        first = first or text.split()[0]
        if said and text.split()[0] != first:
            said[-1] = f"{said[-1]} {text}"
        elif text:
            said.append(text)
    yield from said[:100]


def _described(line: str) -> bool:
    """Whether what a usage does stands behind it: `npm test    run the tests`."""
    parts = columns(line)
    return len(parts) == 2 and parts[1][:1].isalpha()


def _commands(section: Section, lines: list[Row], words: Sequence[str], grouped: bool) -> Iterator[Below]:
    heading = section.heading.casefold().partition("(")[0]
    if heading == "usage":
        return
    if "command" in heading and "option" not in heading:
        yield from _listed(lines, words)
    elif any(row.term.startswith("{") for row in lines):
        yield from _chosen(lines, words)
    elif grouped and lines and not any(one in heading for one in _NO_COMMANDS):
        alike = all(_NAME.fullmatch(row.term) and row.said for row in lines)
        yield from _listed(lines, words) if alike else ()


def _listed(lines: list[Row], words: Sequence[str]) -> Iterator[Below]:
    whole = " ".join(f"{row.term} {row.said}".strip() for row in lines)
    names = [one.strip() for one in whole.strip(", ").split(",")]
    if len(names) > 2 and all(_NAME.fullmatch(one) for one in names):
        yield from (Below(one) for one in names)
        return
    if any(row.term.startswith("{") for row in lines):
        yield from _chosen(lines, words)
        return
    yield from (found for row in lines if (found := _below(row, words)) is not None)


def _chosen(lines: list[Row], words: Sequence[str]) -> Iterator[Below]:
    """argparse: `{add,drop}`, and below it a row for each that has a help."""
    for row in lines:
        if not row.term.startswith("{"):
            continue
        names = [one.strip() for one in row.term.strip("{}. ").split(",") if _NAME.fullmatch(one.strip())]
        told = {found.name: found for one in lines if one.indent > row.indent and (found := _below(one, words))}
        aliases = {alias for one in told.values() for alias in one.aliases}
        yield from (told.get(name, Below(name)) for name in names if name not in aliases)


def _below(row: Row, words: Sequence[str]) -> Below | None:
    term = row.term.strip().rstrip("*:")
    own = " ".join(words)
    term = term.removeprefix(own).strip() if own and term.startswith(f"{own} ") else term
    found = _NAMES.fullmatch(term)
    if found is None or (found["rest"].strip() and not found["rest"].strip().startswith(("<", "[", "(", "{", "."))):
        return None
    rest = found["rest"].strip()
    bracketed, said = _IN_BRACKETS.match(rest), _ALIASES.search(row.said)
    others = ",".join([found["others"], bracketed[1] if bracketed else "", said[1] if said else ""])
    aliases = tuple(one.strip() for one in re.split(r"[,|]", others) if _NAME.fullmatch(one.strip()))
    rest = rest[bracketed.end() :].strip() if bracketed else rest
    return Below(found["name"], _ALIASES.sub("", row.said).strip(), aliases, rest)


def _options(lines: list[Row]) -> Iterator[Option]:
    for row in lines:
        starred = row.term == "*" and row.said.startswith("-")  # Typer marks what is required
        term, _, said = row.said.partition("  ") if starred else (row.term, "", row.said)
        if OPTION.match(term) is None:
            continue
        short = _SHORT.fullmatch(said.strip())
        if short is not None:
            term, said = f"{term}, {short['short']}", short["said"]
        typed = _TYPE.fullmatch(said.strip())
        if typed is not None:
            term = term if typed["type"] == "<bool>" else f"{term} {typed['type']}"
            said = typed["said"]
        yield Option(" ".join(term.split()), said.strip())


def _arguments(section: Section, lines: list[Row], commands: list[Below]) -> Iterator[Option]:
    heading = section.heading.casefold()
    if "argument" not in heading and "positional" not in heading:
        return
    names = {one.name for one in commands}
    for row in lines:
        if not row.term.startswith(("-", "{")) and row.term.split()[0] not in names:
            yield Option(row.term, row.said)


def _text(found: list[Section]) -> str:
    """The prose: before the first heading, and behind the usage."""
    parts = ["\n".join(line.strip() for line in found[0].lines).strip()]
    for one in found[1:]:
        if one.heading.casefold() == "usage":
            parts.append(_behind(one))
        elif one.heading.casefold() in {"description", "about", "summary"}:
            parts.append("\n".join(line.strip() for line in one.lines).strip())
    return "\n\n".join(part for part in parts if part)


def _behind(usage: Section) -> str:
    """Up to the first line of two columns, or of an option."""
    lines = usage.lines
    start = next((index for index, line in enumerate(lines) if line.strip()), len(lines))
    blank = next((index for index in range(start, len(lines)) if not lines[index].strip()), len(lines))
    prose: list[str] = []
    for line in lines[blank:]:
        if OPTION.match(line.strip()) or len(columns(line)) == 2:
            break
        prose.append(line.strip())
    return "\n".join(prose).strip()


def summary_of(text: str) -> str:
    return sentence(text.partition("\n\n")[0])


def words_of(found: Page) -> tuple[str, ...]:
    """What a page's usage calls the command."""
    return name_of(found.usages[0]) if found.usages else ()
