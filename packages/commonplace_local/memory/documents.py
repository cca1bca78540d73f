"""Files that are one story, a retrospective, postmortem or decision, and what the sections of such a file are."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from commonplace.memory.lesson_words import of_heading, patterns, polarity
from commonplace_local.memory.dates import first_date
from commonplace_local.memory.headings import Name, name, plain, series
from commonplace_local.memory.markdown import Heading, Line

_WORDS = patterns("documents")
_ADR = re.compile(r"0*(\d+)[.:]\s+(.+)")
_NUMBER = re.compile(r"(?i)(?:adr[-_ ]?)?0*(\d{1,5})(?=\D)")
_MIN_SECTIONS, _MIN_RUNNING = 3, 3


@dataclass(frozen=True, slots=True)
class Forms:
    """What the headings of a file say about all of it."""

    whole: Name | None = None
    """The story that the whole file is."""
    line: int = 0
    """Line of that story's title; 0 where it has none."""
    running: frozenset[int] = frozenset()
    """Lines of headings whose ids run through the chapters of the file: each begins a story."""
    chapters: frozenset[int] = frozenset()
    """Lines of days, weeks and sessions above those: they begin none."""


def is_section(title: str) -> bool:
    """Return whether a heading names a part of a document, such as `Root cause`."""
    return _is_own(title) or _WORDS["other"].match(plain(title)) is not None or of_heading(title) is not None


def is_timeline(title: str) -> bool:
    return _WORDS["timeline"].fullmatch(plain(title)) is not None


def is_timed(columns: Sequence[str]) -> bool:
    """Return whether a table with these columns says what happened when, or which versions there were."""
    first, rest = "".join(columns[:1]), columns[1:]
    timed = _WORDS["timed"].fullmatch(first) and any(_WORDS["event"].fullmatch(one) for one in rest)
    return bool(timed or (_WORDS["versions"].fullmatch(first) and any(plain(one) == "date" for one in rest)))


def is_numbering(column: str, cell: str) -> bool:
    return _WORDS["numbering"].fullmatch(column) is not None and re.fullmatch(r"#?\d+[.)]?", cell) is not None


def are_lists(columns: Sequence[str]) -> bool:
    """Return whether each column is a list of its own, as `What went well` and `What did not` beside it."""
    found = [polarity(one) or of_heading(one) or _WORDS["lists"].fullmatch(one) for one in columns]
    return len(found) > 1 and all(found) and any(map(polarity, columns))


def is_meta(title: str) -> bool:
    """Return whether a section holds fields of a document."""
    return _WORDS["meta"].fullmatch(plain(title)) is not None


def signed(text: str) -> str:
    """Return the date of a sign-off, such as `Written by the pilot, 24 Jan 2026`."""
    found = first_date(text) if _WORDS["signed"].fullmatch(text) else None
    return found.iso if found else ""


def forms(
    headings: Sequence[Heading],
    kinds: frozenset[str],
    source_file: str | None,
    front: Sequence[Line],
    *,
    numbered: bool = False,
) -> Forms:
    """Return the forms of a file; where its lessons are `numbered`, its name alone makes it no single story."""
    below: dict[Heading | None, list[Heading]] = {None: []}
    above: dict[Heading, Heading | None] = {}
    path: list[Heading] = []
    for one in headings:
        path = [up for up in path if up.level < one.level]
        above[one] = path[-1] if path else None
        below.setdefault(above[one], []).append(one)
        path.append(one)
    if running := _running(above, kinds):
        chapters = [up for one, up in above.items() if one.line in running and up and _is_chapter(up.text)]
        return Forms(running=running, chapters=frozenset(one.line for one in chapters))
    many = sum(up is not None and not is_section(up.text) and _is_document(parts) for up, parts in below.items()) > 1
    file = PurePosixPath((source_file or "").replace("\\", "/"))
    title, tops = None, below[None]
    if len(tops) == 1 and (tops[0] in below or not is_section(tops[0].text)):
        title, tops = tops[0], below.get(tops[0], [])
    elif tops and tops[0] not in below and (_is_title(tops[0].text) or _is_document(tops[1:])):
        title, *tops = tops
    own = {plain(one.text) for one in tops if is_section(one.text)}
    stories = sum((found := name(one.text, kinds)) is not None and found.leads for one in tops) if tops else 0
    told = [title.text if title else "", file.stem, *(one.rest for one in front if one.label.casefold() == "type")]
    called = any(map(_WORDS["name"].search, told)) or any(map(_WORDS["folder"].fullmatch, file.parts[-2:-1]))
    few = stories < len(own) or 2 * stories < len(tops) or not tops
    if not few or not (_is_document(tops) or (called and not many and not numbered)):
        return Forms()
    return Forms(_named(title, kinds, file, front, own), title.line if title else 0)


def _is_title(text: str) -> bool:
    return _WORDS["name"].search(text) is not None or _ADR.fullmatch(text) is not None


def _is_own(title: str) -> bool:
    return _WORDS["section"].match(plain(title)) is not None or polarity(title) != ""


def _is_document(parts: Sequence[Heading]) -> bool:
    """Return whether these are the sections of one document, each once, and little else."""
    own = Counter(plain(one.text) for one in parts if _is_own(one.text))
    both = {polarity(one.text) for one in parts} >= {"went-well", "went-wrong"}
    known = sum(is_section(one.text) for one in parts)
    return (len(own) >= _MIN_SECTIONS or both) and max(own.values()) == 1 and 2 * known >= len(parts)


def _is_chapter(title: str) -> bool:
    found = name(title)
    return _WORDS["chapter"].match(title) is not None or (found is not None and not found.id)


def _running(above: dict[Heading, Heading | None], kinds: frozenset[str]) -> frozenset[int]:
    found: dict[tuple[int, str], list[tuple[str, Heading | None, int]]] = {}
    for one, up in above.items():
        if (named := name(one.text, kinds)) and named.id and named.leads and named.closed:
            found.setdefault((one.level, series(named.id)), []).append((named.id.casefold(), up, one.line))
    return frozenset(
        line
        for same in found.values()
        if len({id for id, _, _ in same}) == len(same) >= _MIN_RUNNING and len({up for _, up, _ in same}) > 1
        for _, _, line in same
    )


def _named(
    title: Heading | None, kinds: frozenset[str], file: PurePosixPath, front: Sequence[Line], own: set[str]
) -> Name:
    """Return the file's story by its title, else by its frontmatter, else by its name."""
    stem = re.sub(r"(?:(?<!\d)-|-(?!\d)|[_\s])+", " ", file.stem).strip()
    text = title.text if title else stem.capitalize() if stem.isupper() else stem
    if title is None or _WORDS["generic"].fullmatch(text):
        text = next((one.rest for one in front if one.label.casefold() == "title"), text)
    found = name(text, kinds) or Name("", text)
    decided = {"context", "decision"} <= own or any(map(_WORDS["decision"].search, file.parts[-2:]))
    if decided and not found.id and (numbered := _ADR.fullmatch(text)):
        found = replace(found, id=f"ADR-{numbered[1]}", title=numbered[2], tracked=True)
    elif decided and not found.id and (number := _NUMBER.match(file.stem)):
        found = replace(found, id=f"ADR-{number[1]}", tracked=True)
    dated = first_date(file.stem.replace("_", "-"))
    return replace(found, date=found.date or (dated.iso if dated else ""))
