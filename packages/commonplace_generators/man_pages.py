"""Manual pages, read as help pages are: how a command is typed, what it does, its options, the commands below it.

Understood is what man, git, cargo, aws and mandoc print: headings at the margin, terms above or beside what is said of
them. Where several pages are about one command, what they say is joined.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from commonplace_generators.help_pages import (
    MAX_USAGES,
    Below,
    Page,
    Row,
    Section,
    below_of,
    lines_of,
    names_commands,
    options_in,
    page,
)
from commonplace_generators.program_text import examples_in
from commonplace_generators.usages import merged, taken

MAX_TEXT = 4_000
"""Characters of a description; the manual has the rest."""
_HEADING = re.compile(r"[A-Z][A-Z0-9 ,/&()'-]*")
_ABOUT = re.compile(r"(?P<names>[\w.,:+\[ -]+?) +(?:-{1,2}|[—–]) *(?P<said>.*)", re.DOTALL)
_PIECE = re.compile(r"-{1,2}(?:\[no-?\])?[\w?#@.:+-]+(?:(?: ?=? ?|\[=?)[^\s,|]+){0,4}")
_PROSE = re.compile(
    r"(?<![\w-])(?:is|are|the|an?|and|or|with|for|can|will|may|must|to|of|if|in|on|that|this|options?|implies|was|has|does|flags?)(?![\w-])"
)
_WHERE = re.compile(
    r"example|environment|^files|see also|history|bugs|author|exit|diagnostic|configuration|copyright|name|synopsis"
)
_COMMANDS = re.compile(r"^.*\bcommands\b[^.\n]*:$", re.IGNORECASE | re.MULTILINE)
_REFERENCE = re.compile(r"\(\d\w*\)$")
_BULLET = re.compile(r"(?:[o•*·]|\+o) +")
_POINTERS = [
    (kind, re.compile(pattern, re.IGNORECASE))
    for line in Path(__file__).with_name("pointers.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
    for kind, _, pattern in [line.partition(": ")]
]


def any_page(text: str, words: Sequence[str] = (), *, listing: bool = False) -> Page:
    """Return what a page says, be it of the help or of the manual, and what it is known to list a part of."""
    lines = lines_of(text)
    found = sections_of(lines)
    names = {one.heading for one in found}
    if not listing and "NAME" in names and {"SYNOPSIS", "DESCRIPTION"} & names:
        return _manual(found, words)
    read = page(text, words, listing=listing)
    told = (one for one in read.text.split("\n\n") if not _leads_on(one))
    return replace(read, text="\n\n".join(told), partial=frozenset(partial(lines)))


def _leads_on(said: str) -> bool:
    """Return whether a paragraph does nothing but say where more is: `Run 'go help bug' for details.`"""
    sentences = re.split(r"(?<=[.!?])\s+", " ".join(said.split()))
    return all(any(pattern.search(one) for _, pattern in _POINTERS) for one in sentences)


def partial(lines: Iterable[str], also: str = "") -> Iterator[str]:
    """Yield what a page says to be elsewhere: `options`, `commands`. What it says of every command is no such thing."""
    text = re.sub(r"\n\s*\n", ".\n\n", "\n".join(lines))
    lists = _COMMANDS.findall(text)
    if len(lists) > 1:  # the common ones, and others below
        text = _COMMANDS.sub("", text)
    for said in re.split(r"(?<=[.!?:])\s+(?=[A-Z\"'`(\n])|\n\s*\n", text):
        sentence = " ".join(said.split())
        if not any(kind == "every" and pattern.search(sentence) for kind, pattern in _POINTERS):
            yield from (kind for kind, pattern in _POINTERS if kind not in ("every", also) and pattern.search(sentence))


def joined(pages: Sequence[Page]) -> Page:
    """Return what pages of one command say together. A list is a part where every page that has one says so."""
    first, *others = pages
    if not others:
        return first
    having = [one for one in pages if any(it.place == "option" for it in one.parameters)] or pages
    listing = [one for one in pages if one.commands] or pages
    commands = {one.name: one for it in reversed(pages) for one in it.commands}
    return Page(
        usages=next((one.usages for one in pages if one.usages), ()),
        notes=first.notes,
        text=next((one.text for one in (*(it for it in pages if it.manual), *pages) if one.text), ""),
        parameters=tuple(merged(it for one in pages for it in one.parameters)),
        synopsis=" ".join(one.synopsis for one in pages).strip(),
        commands=tuple(commands.values()),
        aliases=tuple(dict.fromkeys(it for one in pages for it in one.aliases)),
        examples=tuple(it for one in pages for it in one.examples),
        partial=frozenset("any" for one in pages if "any" in one.partial)
        | frozenset(
            kind
            for kind, those in (("options", having), ("commands", listing))
            if all(kind in one.partial for one in those)
            or (kind == "options" and any("any" in it.partial for it in pages))
        ),
    )


def sections_of(lines: Sequence[str]) -> list[Section]:
    """Return the sections of a manual; a heading of the second level is part of one: `COMMANDS: Unit Commands`."""
    found = [Section("")]
    top = ""
    for index, line in enumerate(lines):
        said, indent = line.strip(), len(line) - len(line.lstrip())
        after = next((one for one in lines[index + 1 : index + 3] if one.strip()), "")
        deeper = len(after) - len(after.lstrip()) > indent
        if not indent and said and _HEADING.fullmatch(said):
            top = said
            found.append(Section(said))
        elif 0 < indent < 5 and top and deeper and len(said) < 80 and not said.endswith((".", ",")) and said[0] != "-":
            found.append(Section(said.upper() if top == "NAME" else f"{top}: {said}"))  # npm has all of it below NAME
        else:
            found[-1].lines.append(line)
    return found


def _manual(found: Sequence[Section], words: Sequence[str]) -> Page:
    of = {one.heading: one.lines for one in reversed(found)}
    name = _ABOUT.fullmatch(" ".join(" ".join(of["NAME"]).split()))
    usages = _usages([line for one in found if one.heading.startswith("SYNOPSIS") for line in one.lines], words)
    told = [one for one in found if one.heading and not _WHERE.search(one.heading.casefold())]
    described = "\n".join(line.strip() for line in of.get("DESCRIPTION", ()))
    takes = any(_takes_command(one, words) for one in usages) or not usages
    lists = [one for one in told if takes and re.search(r"command|available services", one.heading.casefold())]
    rows = [(one, row) for one in lists for row in _rows(one, commands=True)]
    examples = "\n".join(["Examples:", *(line for one in found if "EXAMPLE" in one.heading for line in one.lines)])
    return Page(
        usages=usages,
        manual=True,
        text=f"{name['said'].strip()}\n\n{described.strip()}"[:MAX_TEXT].strip() if name else described[:MAX_TEXT],
        parameters=tuple(merged(it for one in told for it in options_in(list(_rows(one))))),
        commands=tuple(below for _, row in rows if (below := _command(row, words)) is not None),
        examples=examples_in(examples, tuple(words), ""),
        partial=frozenset(partial((line for one in found for line in one.lines), also="options")),
    )


def _takes_command(usage: str, words: Sequence[str]) -> bool:
    """Return whether a usage takes a command, without an option: `tool [-q] COMMAND`, but not `cmake -E <command>`."""
    for one in taken(usage, words, {}):
        if one.place == "option" and one.required:
            return False
        if one.place == "argument" and names_commands(one.name):
            return True
    return False


def _usages(lines: Sequence[str], words: Sequence[str]) -> tuple[str, ...]:
    """Each usage on one line: it begins with the program's name, or as the first one does."""
    said = [line.strip() for line in lines if line.strip()]
    first = said[0].split()[0] if said else ""
    begins = {first, "-".join(words)} | set(words[:1])
    found: list[str] = []
    for line in said:
        if line.split()[0] in begins or not found:
            found.append(line)
        else:
            found[-1] = f"{found[-1]} {line}"
    dashed = "-".join(words)
    named = (re.sub(rf"^{re.escape(dashed)}(?= |$)", " ".join(words), one) if dashed else one for one in found)
    piped = (re.sub(rf" \| {re.escape(words[0])} .*", "", one) if words else one for one in named)
    return tuple(re.sub(r"\s+", " ", one) for one in piped)[:MAX_USAGES]


def _rows(section: Section, *, commands: bool = False) -> Iterator[Row]:
    """A term begins a paragraph, or stands below another one, and what is said of it is indented further."""
    lines = section.lines
    base = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    terms: list[str] = []
    row: Row | None = None
    for index, line in enumerate(lines):
        said, indent = line.strip(), len(line) - len(line.lstrip())
        begins = (not index or not lines[index - 1].strip() or bool(terms)) and not (commands and indent > base)
        term, *beside = re.split(r"\s{2,}", _BULLET.sub("", said), maxsplit=1)
        after = next((one for one in lines[index + 1 : index + 3] if one.strip()), "")
        deeper = len(after) - len(after.lstrip()) > indent
        bullet = commands and said != term and not beside
        if (
            said
            and begins
            and (commands or _is_term(term))
            and (beside or deeper or bullet or (said[0] == "-" and (terms or _is_term(after.strip()))))
        ):
            if row is not None and (not terms or beside):
                yield row
            terms = [] if beside else [*terms, term]
            row = Row(term if beside else ", ".join(terms), beside[0] if beside else "", indent)
        elif row is not None and said and indent > row.indent:
            row.said, terms = f"{row.said} {said}".strip() if len(row.said) < 1_000 else row.said, []
        elif said:
            if row is not None:
                yield row
            row, terms = None, []
    if row is not None:
        yield row


def _is_term(text: str) -> bool:
    """`-o, --output FILE`, and no sentence that begins with an option."""
    return text.startswith("-") and len(text) < 200 and not text.endswith((".", ":")) and not _PROSE.search(text)


def _command(row: Row, words: Sequence[str]) -> Below | None:
    """A command of a list: `git-add(1)`, `list-units [PATTERN...]`."""
    term = _REFERENCE.sub("", row.term)
    dashed = "-".join(words) + "-"
    term = term.removeprefix(dashed) if words else term
    if _PROSE.search(term.casefold()) or row.said.startswith("#"):
        return None
    return below_of(Row(term, row.said, row.indent), words)
