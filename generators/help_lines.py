"""Help texts as lines: colours and boxes taken off, sections found, rows of two columns read.

Understood are the layouts of click, argparse, Typer (Rich's boxes), cobra, clap, commander and git.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

MAX_LINES = 20_000
_COLOUR = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_])")
_OVERSTRUCK = re.compile(r".\x08")
_TITLE = re.compile(r"\s*[╭┌┏+]\s*[─━-]+\s*(?P<title>[^─━╮┐┓+]*?)\s*[─━-]*\s*[╮┐┓+]\s*")
_EDGE = re.compile(r"\s*[╰└┗├][─━┴┼]*[╯┘┛┤]?\s*")
_GAP = re.compile(r"(?<=\S)(?:\s{2,}|\t+)(?=\S)")
OPTION = re.compile(r"-{1,2}[A-Za-z0-9?#]")
FAR = 8
"""An option that is indented so much further than the others begins a row; further still it is part of a sentence."""
_SIDES = "│┃"


@dataclass(slots=True)
class Section:
    """A heading, without its colon, and what stands below it."""

    heading: str
    lines: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of two columns, and the lines that go on in the second."""

    term: str
    said: str
    indent: int


def lines_of(text: str) -> list[str]:
    """Without colours, boxes and spaces at their ends."""
    plain = _OVERSTRUCK.sub("", _COLOUR.sub("", text)).replace("\r\n", "\n").replace("\r", "\n").expandtabs(4)
    return [said for line in plain.split("\n")[:MAX_LINES] if (said := _unboxed(line)) is not None]


def sections(lines: Sequence[str]) -> list[Section]:
    """What stands before the first heading has none."""
    found = [Section("")]
    for index, line in enumerate(lines):
        heading = _heading(lines, index)
        if heading is None:
            if _ends(found[-1], lines, index):
                found.append(Section(""))
            found[-1].lines.append(line)
            continue
        found.append(Section(heading[0], [heading[1]] if heading[1] else []))
    return found


def rows(section: Section) -> Iterator[Row]:
    """A line that is indented further than the one before it goes on with it, unless it begins with an option."""
    said = [line for line in section.lines if line.strip()]
    base = min((_indent(line) for line in said), default=0)
    term, parts, at = "", [""], base
    for line in said:
        columns, indent = _GAP.split(line.strip(), maxsplit=1), _indent(line)
        option = OPTION.match(columns[0]) is not None and indent <= base + FAR
        if not option and indent > base + 2 and not (len(columns) == 2 and indent <= base + 6):
            parts.append(line.strip())
            continue
        if term:
            yield Row(term, " ".join(parts).strip(), at)
        term, parts, at = columns[0], columns[1:], indent
    if term:
        yield Row(term, " ".join(parts).strip(), at)


def _ends(section: Section, lines: Sequence[str], index: int) -> bool:
    """Whether a section of indented lines is over: behind an empty line the text stands at the margin again."""
    if not section.heading or section.heading == "usage" or not lines[index].strip() or _indent(lines[index]):
        return False
    first = next((line for line in section.lines if line.strip()), "")
    return _indent(first) > 1 and not lines[index - 1].strip()


def columns(line: str) -> list[str]:
    """At most two."""
    return _GAP.split(line.strip(), maxsplit=1)


def _heading(lines: Sequence[str], index: int) -> tuple[str, str] | None:
    """A heading, and what stands behind its colon on the same line (`Usage: flask [OPTIONS]`)."""
    line = lines[index]
    said = line.strip()
    if not said or _indent(line) > 1:
        return None
    if said.casefold().startswith(("usage:", "usage ")) or said.casefold() == "usage":
        return "usage", said[5:].lstrip(": ")
    if said.endswith(":") and len(said) < 100:
        return said[:-1].strip(), ""
    if len(said) < 100 and said.isupper() and said.replace(" ", "").isalpha():
        return said, ""
    apart = index > 0 and not lines[index - 1].strip()
    following = lines[index + 1] if index + 1 < len(lines) else ""
    heads = apart and _indent(following) > 1 and len(said) < 100 and not said.endswith((".", ",", ";"))
    return (said, "") if heads else None


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


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
