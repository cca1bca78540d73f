"""One page of help, read: how the command is typed, what it does, its options and arguments, the commands below it.

Understood are the layouts of click, argparse, Typer (Rich's boxes), cobra, clap, commander, yargs, git, npm and GNU.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from commonplace.reference.model import Example, Parameter
from commonplace_generators.program_text import examples_in
from commonplace_generators.usages import option

MAX_LINES = 20_000
MAX_USAGES = 100
MAX_ARGUMENT_WORDS = 4
FAR = 8
"""An option that is indented so much further than the others begins a row; further still it is part of a sentence."""
_COLOUR = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_])")
_DASHES = str.maketrans("‐‑−", "---")
_OVERSTRUCK = re.compile(r".\x08")
_TITLE = re.compile(r"\s*[╭┌┏+]\s*[─━-]+\s*(?P<title>[^─━╮┐┓+]*?)\s*[─━-]*\s*[╮┐┓+]\s*")
_EDGE = re.compile(r"\s*[╰└┗├][─━┴┼]*[╯┘┛┤]?\s*")
_SIDES = "│┃"
_GAP = re.compile(r"(?<=\S)\s{2,}(?=\S)")
_DASH = re.compile(r"(?<=[\w\])>]) - (?=\S)")
_OPTION = re.compile(r"-{1,2}[\[A-Za-z0-9?#]")
_SENTENCE = re.compile(r"\S+(?: [a-z']+){6}")
_ARGUMENTS = re.compile(r"(?:[\w-]+ ){0,2}(?:arguments?|positionals?|parameters?)")
_REFUSED = re.compile(
    r".*\b(?:unknown|invalid|unrecogni[sz]ed|illegal|no such) (?:option|argument|flag)", re.IGNORECASE
)
_NAME = re.compile(r"[A-Za-z](?:[\w.:+-]*[\w+])?|\d+[A-Za-z]\w*")
_BELOW = re.compile(rf"(?P<name>{_NAME.pattern})(?P<others>(?:\s*[,|]\s*(?:{_NAME.pattern}))*)(?P<rest>.*)")
_REST = re.compile(r"\s*(?:$|[<\[({.]|[A-Z][A-Z0-9_|.=-]*(?:\s|$)).*")
_IN_BRACKETS = re.compile(r"\s*\((?:aliases?:\s*)?([^)]*)\)")
_ALIASES = re.compile(r"\[alias(?:es)?:\s*([^\]]*)\]", re.IGNORECASE)
_ALIAS_LINE = re.compile(r"alias(?:es)?:\s*(\S.*)", re.IGNORECASE)
_NAMES_COMMANDS = re.compile(r"[<\[{(]?\b(?:sub)?commands?\b|\{[^}]*,[^}]*\}", re.IGNORECASE)
_COLUMN = re.compile(r"(?P<part>-[A-Za-z0-9]|--[\w-]+|<[^>]*>|[A-Z][A-Z0-9_|:]+)(?:\s{2,}|$)(?P<said>.*)", re.DOTALL)
_USAGE = re.compile(r"usage(?=[:\s]|$)|(?:syntax|synopsis)(?=:|$)", re.IGNORECASE)
_SHOWN = re.compile(r"\s{0,6}(?:[o•*] )?[a-z][\w-]*(?:$|:\s|\s{2,}|,|\s[<\[(])")
_CALLED = re.compile(rf"(?P<name>{_NAME.pattern}): (?P<said>\S.*)")
"""`auth: Authenticate`, as gh writes it."""
_WORDS = re.compile(r"[a-z][a-z0-9-]*(?: [a-z][a-z0-9-]*){1,2}")
"""`cache clear`, in a list of all commands."""
_NO_COMMANDS = (
    "option", "flag", "argument", "environment", "variable", "example", "learn", "see also", "topic", "note",
    "config", "exit", "usage", "alias", "file", "default", "author", "version", "more help", "concept", "guide",
)  # fmt: skip


@dataclass(slots=True)
class Section:
    """A heading, without its colon, and what stands below it."""

    heading: str
    lines: list[str] = field(default_factory=list)

    @property
    def about(self) -> str:
        return self.heading.casefold().partition("(")[0].strip()


@dataclass(slots=True)
class Row:
    """A line of two columns, and the lines that go on in the second."""

    term: str
    said: str
    indent: int


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
    notes: Mapping[str, str] = field(default_factory=dict)
    """What is said of a usage behind it: `npm test    run the tests`."""
    text: str = ""
    parameters: tuple[Parameter, ...] = ()
    """Of its lists: arguments and options."""
    synopsis: str = ""
    """Options in brackets, of which some are listed."""
    commands: tuple[Below, ...] = ()
    aliases: tuple[str, ...] = ()
    """Other names of the command, with or without the words before it."""
    examples: tuple[Example, ...] = ()
    partial: frozenset[str] = frozenset()
    """What it says to list a part of: `options`, `commands`."""
    manual: bool = False
    """Whether it is of the manual, not of `--help`."""
    shown: int = 0
    """How many lines begin as those of a list of commands do, understood or not."""


def page(text: str, words: Sequence[str] = (), *, listing: bool = False) -> Page:
    """`words` are those of the command whose page it is; a listing has nothing but commands. Any text gives a page.

    A script, such as one that completes, is printed in place of help, and says nothing.
    """
    lines = lines_of(text)
    found = sections(lines if listing or not text.lstrip().startswith("#") else [])
    written = [one for section in found if section.about == "usage" for one in _usages(section)][:MAX_USAGES]
    usages = tuple(_of_one_name(one, words) for one, _ in written) or _unnamed_usage(found, words)
    told = [(one, list(rows(one))) for one in found if one.about != "usage" and "example" not in one.about]
    commands = [below for one, lines in _listing(told, usages, all_of_it=listing) for below in _listed(lines, words)]
    prose = _prose(found, usages)
    examples = [line for one in found if "example" in one.about for line in ("Examples:", *one.lines)]
    return Page(
        usages=usages,
        notes={one: said for one, said in written if said},
        text=prose,
        parameters=(*_arguments(told, commands), *(one for _, lines in told for one in options_in(lines))),
        synopsis=" ".join(line.strip() for one, _ in told for line in one.lines if line.startswith("[-")),
        commands=tuple({one.name: one for one in reversed(commands)}.values())[::-1],
        aliases=tuple(_aliases(found)),
        examples=examples_in("\n".join([prose, *examples]), tuple(words), ""),
        shown=sum(_SHOWN.match(line) is not None for one in found if "command" in one.about for line in one.lines),
    )


def lines_of(text: str) -> list[str]:
    """Without colours, boxes and spaces at their ends; tabs are of eight, and two spaces at least behind a word."""
    plain = _OVERSTRUCK.sub("", _COLOUR.sub("", text)).replace("\r\n", "\n").replace("\r", "\n").translate(_DASHES)
    plain = re.sub(r"(?<=\S)\t", " \t", plain).expandtabs(8)
    return [said for line in plain.split("\n")[:MAX_LINES] if (said := _unboxed(line)) is not None]


def _unboxed(line: str) -> str | None:
    """None for the edge of a box."""
    if line.strip().startswith(("╭", "┌", "┏")) and (found := _TITLE.fullmatch(line)):
        return f"{found['title'].strip()}:" if found["title"].strip() else None
    if _EDGE.fullmatch(line):
        return None
    stripped = line.strip()
    if len(stripped) > 1 and stripped[0] in _SIDES and stripped[-1] in _SIDES:
        return "  " + stripped[1:-1].rstrip()
    return line.rstrip()


def sections(lines: Sequence[str]) -> list[Section]:
    """Return what stands before the first heading has none, nor what follows the usage or a list at the margin."""
    found = [Section("")]
    for index, line in enumerate(lines):
        heading = _heading(lines, index)
        if heading is not None:
            found.append(Section(heading[0], [heading[1]] if heading[1] else []))
            continue
        if _ends(found[-1], lines, index):
            found.append(Section(""))
        found[-1].lines.append(line)
    return found


def _heading(lines: Sequence[str], index: int) -> tuple[str, str] | None:
    """A heading, and what stands behind its colon on the same line (`Usage: flask [OPTIONS]`)."""
    line = lines[index]
    said = line.strip()
    if not said or _indent(line) > 1:
        return None
    if found := _USAGE.match(said):
        return "usage", said[found.end() :].lstrip(": ")
    if len(said) >= 100 or _OPTION.match(said):
        return None
    if said.endswith(":") or (said.isupper() and said.replace(" ", "").isalpha()):
        return said.rstrip(":").strip(), ""
    apart = not lines[index - 1].strip() if index else "commands" in said.casefold()
    following = lines[index + 1] if index + 1 < len(lines) else ""
    columns = _GAP.split(following.strip())
    if apart and "commands" in said.casefold() and len(columns) > 2 and all(map(_NAME.fullmatch, columns)):
        return said, ""
    return (said, "") if apart and _indent(following) > 1 and not said.endswith((".", ",", ";")) else None


def _ends(section: Section, lines: Sequence[str], index: int) -> bool:
    """Whether a section is over: the text stands at the margin again, or behind an empty line what is no usage."""
    line = lines[index]
    first = next((one for one in section.lines if one.strip()), "")
    if not section.heading or not first or not line.strip():
        return False
    if section.heading == "usage":
        again = line.split()[0] in (first.split()[0], "or", "or:") and not _SENTENCE.match(line.strip())
        listed = _OPTION.match(line.strip()) and (", -" in line or _GAP.search(line.strip()))
        return bool(listed) or (not again and (not lines[index - 1].strip() or not _indent(line)))
    return not _indent(line) and not lines[index - 1].strip() and _indent(first) > 1


def rows(section: Section) -> Iterator[Row]:
    """A line that is indented further than the row before it goes on with it, unless it begins with an option."""
    said = [line for line in section.lines if line.strip()]
    base = min((_indent(line) for line in said), default=0)
    second = Counter(gap.end() for line in said if (gap := _GAP.search(line))).most_common(1)
    row: Row | None = None
    for line in said:
        text, indent = line.strip(), _indent(line)
        starred = text.startswith("* ") and _OPTION.match(text[2:].strip())  # Typer marks what is required
        begins = _OPTION.match(text) is not None and indent <= base + FAR
        inner = row is not None and text.startswith(f"{row.term} ") and _GAP.search(text)  # `cache clear` below `cache`
        if row and not (begins or starred or inner) and indent > row.indent and not row.term.startswith("{"):
            row.said = f"{row.said} {text}".strip()
            continue
        if row:
            yield row
        text = text[2:].strip() + ("" if "required]" in text else " [required]") if starred else text
        columns = _GAP.split(text, maxsplit=1)
        columns = columns if len(columns) > 1 or begins else _DASH.split(text, maxsplit=1)
        if len(columns) == 1 and second and _beside(line, second[0][0]):
            columns = [line[: second[0][0]].strip(), line[second[0][0] :].strip()]
        if len(columns) == 1 and "command" in section.about and (called := _CALLED.fullmatch(text)):
            columns = [called["name"], called["said"]]
        row = Row(columns[0], " ".join(columns[1:]), indent)
    if row:
        yield row


def _beside(line: str, at: int) -> bool:
    """Return whether a term is as wide as the first column, so that one space alone is behind it."""
    term = line[:at].strip()
    named = _OPTION.match(term) or ((found := _BELOW.fullmatch(term)) and _REST.fullmatch(found["rest"]))
    return bool(named) and " " in line[at - 1 : at + 1] and bool(line[at : at + 2].strip())


def _usages(section: Section) -> Iterator[tuple[str, str]]:
    """Each with what is said behind it. Lines that begin otherwise than the first go on with the one before them."""
    found: list[tuple[str, str]] = []
    for line in section.lines:
        parts = _GAP.split(line.strip(), maxsplit=1)
        described = len(parts) == 2 and re.match(r"[a-z]+[ '][a-z]", parts[1])  # `npm test    run the tests`
        text = re.sub(r"^or:? ", "", " ".join((parts[0] if described else line).split()))
        if found:  # `command | rg PATTERN`
            text = re.sub(rf"^.* \| (?={re.escape(found[0][0].split()[0])} )", "", text)
        if not text or re.fullmatch(r"\([a-z][\w ,-]*\)", text):
            continue
        if found and re.match(r"[a-z]+ [a-z]+", text) and text.split()[0] != found[0][0].split()[0]:
            found[-1] = found[-1][0], f"{found[-1][1]} {text}".strip()
        elif found and text.split()[0] != found[0][0].split()[0]:
            found[-1] = f"{found[-1][0]} {text}", found[-1][1]
        else:
            found.append((text, parts[1] if described else ""))
    yield from found


def _of_one_name(usage: str, words: Sequence[str]) -> str:
    """`tool package|pack [version]` of commander names a command and its alias: whoever types both makes a pipe."""
    name = " ".join(words)
    if len(words) > 1 and usage.split()[:1] == [words[-1]] != [words[0]]:  # openssl: `req [options]`
        return f"{' '.join(words[:-1])} {usage}"
    return re.sub(rf"^{re.escape(name)}\|[\w|-]+", name, usage) if words else usage


def _unnamed_usage(found: Sequence[Section], words: Sequence[str]) -> tuple[str, ...]:
    """The first line, where it shows how the command is typed without saying so; yargs calls it by its file's name."""
    first = next((line.strip() for line in found[0].lines if line.strip()), "")
    program, *rest = first.split() or [""]
    file = words and rest[: len(words) - 1] == list(words[1:]) and re.fullmatch(rf"{re.escape(words[0])}\.\w+", program)
    own = [program, *rest][: len(words)] == list(words) and re.search(r" [<\[A-Z]", first)
    return (first,) if words and (file or own) else ()


def _listing(
    told: Sequence[tuple[Section, list[Row]]], usages: Sequence[str], *, all_of_it: bool
) -> Sequence[tuple[Section, list[Row]]]:
    """Lists of commands: those that say so, else those of names alone where the usage takes a command."""
    told, shown = [one for one in told if one[1]], " ".join(usages)
    named = [
        one
        for one in told
        if ("command" in one[0].about and not re.search("option|flag", one[0].about))
        or all(row.said and row.term.startswith(f"{one[0].about} ") for row in one[1])  # `cache clear` below `cache`
    ]
    chosen = [one for one in told if any(row.term[:1] == "{" and row.term.rstrip(". ") in shown for row in one[1])]
    if (named or chosen) and not all_of_it:
        return named or chosen
    if not all_of_it and not any(names_commands(re.sub(r"^.*\| ", "", one)) for one in usages):
        return ()
    free = [one for one in told if one[0].heading and not any(no in one[0].about for no in _NO_COMMANDS)]
    return [one for one in free if one in named or all(_NAME.fullmatch(row.term) and row.said for row in one[1])]


def names_commands(usage: str) -> bool:
    """Return whether a usage says that a command stands in it: `<command>`, `{add,remove}`."""
    return _NAMES_COMMANDS.search(usage) is not None


def _listed(lines: list[Row], words: Sequence[str]) -> Iterator[Below]:
    names = [one.strip() for one in " ".join(f"{row.term} {row.said}" for row in lines).strip(", ").split(",")]
    columns = [_GAP.split(f"{row.term}  {row.said}".strip()) for row in lines]
    if max(map(len, columns), default=0) > 2:  # openssl writes names in columns
        names = [one for row in columns for one in row]
    if len(names) > 2 and all(_NAME.fullmatch(one) for one in names):  # npm
        yield from (Below(one) for one in names)
        return
    chosen = next((row for row in lines if row.term.startswith("{")), None)
    below = [found for row in lines if row is not chosen and (found := below_of(row, words)) is not None]
    aliases = {alias for one in below for alias in one.aliases}
    for name in chosen.term.strip("{}. ").split(",") if chosen else ():  # argparse: also what has no row
        if _NAME.fullmatch(name) and name not in aliases and all(one.name != name for one in below):
            below.append(Below(name))
    yield from below


def below_of(row: Row, words: Sequence[str]) -> Below | None:
    own = " ".join(words)
    term = row.term.rstrip("*:").strip()
    if row.said and words and _WORDS.fullmatch(term) and not term.startswith(f"{own} "):
        return Below(term.removeprefix(f"{' '.join(words[1:])} "), row.said)
    found = _BELOW.fullmatch(term.removeprefix(f"{own} ") if own else term)
    if found is None or not _REST.fullmatch(found["rest"]) or term == own:
        return None
    bracketed, said = _IN_BRACKETS.match(found["rest"]), _ALIASES.search(row.said)
    others = ",".join([found["others"], bracketed[1] if bracketed else "", said[1] if said else ""])
    aliases = tuple(one.strip() for one in re.split(r"[,|]", others) if _NAME.fullmatch(one.strip()))
    rest = found["rest"][bracketed.end() if bracketed else 0 :].strip()
    return Below(found["name"], _ALIASES.sub("", row.said).strip(), aliases, rest)


def options_in(lines: Sequence[Row]) -> Iterator[Parameter]:
    for row in lines:
        term, said = row.term, row.said
        while (more := _COLUMN.fullmatch(said.strip())) is not None:  # spellings and values in columns of their own
            term, said = (term if more["part"] == "<bool>" else f"{term} {more['part']}"), more["said"]
        found = option(term, said) if _OPTION.match(term) else None
        if found is not None:
            yield found


def _arguments(told: Sequence[tuple[Section, list[Row]]], commands: Sequence[Below]) -> Iterator[Parameter]:
    names = {one.name for one in commands}
    for section, lines in told:
        if _ARGUMENTS.fullmatch(section.about):
            for row in lines:
                prose = re.search(r"[a-z]\.$", row.term) or len(row.term.split()) > MAX_ARGUMENT_WORDS
                if not prose and not row.term.startswith(("-", "{")) and row.term.split()[0] not in names:
                    name = re.sub(r"^\[(.*)\]", r"\1", row.term)
                    yield Parameter(name=name[:300], place="argument", description=" ".join(row.said.split())[:1_000])


def _aliases(found: Sequence[Section]) -> Iterator[str]:
    for section in found:
        lines = section.lines if section.about == "aliases" else []
        lines = lines + [said[1] for line in section.lines if (said := _ALIAS_LINE.fullmatch(line.strip()))]
        for one in ",".join(lines).split(","):
            if one.strip() and all(_NAME.fullmatch(word) for word in one.split()):
                yield " ".join(one.split())


def _prose(found: Sequence[Section], usages: Sequence[str]) -> str:
    """Return what stands before the first list, without the usage, and what is headed as a description."""
    paragraphs: list[str] = []
    leading = True
    for section in found:
        if section.about in ("description", "about", "summary") or (leading and not section.heading):
            for paragraph in re.split(r"\n\s*\n", "\n".join(section.lines)):
                lines = [line.strip() for line in paragraph.splitlines()]
                leading = leading and not (section.heading == "" and any(_OPTION.match(line) for line in lines))
                said = "\n".join(line for line in lines if line and line not in usages)
                shows = _REFUSED.match(said) or (len(lines) == 1 and re.match(r"\S+ [<\[]", said))  # `npm <command>`
                if said and not shows and not any(_OPTION.match(line) or _ALIAS_LINE.fullmatch(line) for line in lines):
                    paragraphs.append(said)
        leading = leading and (not section.heading or section.about == "usage" or not any(section.lines))
    return "\n\n".join(paragraphs)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
