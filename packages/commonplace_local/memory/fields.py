"""Fields of a story: labelled lines that say when, by whom and to what end, and are no lessons."""

import re
from collections.abc import Iterator, Sequence

from commonplace.memory.lesson_words import patterns
from commonplace_local.memory.dates import Dated, first_date, is_date
from commonplace_local.memory.headings import ids
from commonplace_local.memory.markdown import Line

_WORDS = patterns("fields")
_MAX_FIELD = 120
_MIN_RECORD, _MIN_KNOWN = 3, 2
"""Fields of a record, and those among them that only records have."""
_MAX_DATE_FIELD = 600
"""The bound of a field that begins with a date and goes on about that day."""


def is_field(line: Line) -> bool:
    """Return whether it is a field, or nothing but a date."""
    if not line.label:
        return is_date(line.text)
    date = first_date(line.rest) if _WORDS["dates"].fullmatch(line.label) else None
    if date is not None and date.begin == 0 and len(line.rest) <= _MAX_DATE_FIELD:
        return True
    known = (
        _WORDS["dates"].fullmatch(line.label)
        or _WORDS["tags"].fullmatch(line.label)
        or _WORDS["field"].fullmatch(line.label)
    )
    return known is not None and 0 < len(line.rest) <= _MAX_FIELD


def is_title(line: Line) -> bool:
    """Return whether it is in bold to its end, without a colon: a title, and no label of what follows."""
    after = line.text.removeprefix(line.label).lstrip()
    return line.bold and not after.startswith(":") and (not line.rest or is_date(line.rest))


def is_state(title: str, text: str) -> bool:
    """Return whether a section of this title, such as `Status`, holds a field."""
    return _WORDS["state"].fullmatch(title) is not None and len(text) <= _MAX_FIELD


def tells_of_file(text: str) -> bool:
    """`Last updated: …`, `Document owner: …`: the foot of a file, wherever it stands."""
    return _WORDS["file"].match(text) is not None


def tells_of_lesson(line: Line) -> bool:
    """Return whether a heading right above this line names a lesson: its date, or the problem, or what solved it."""
    dated = is_field(line) and any(date_of(*one) for one in told_by(line))
    return dated or (line.bold and _WORDS["lesson"].fullmatch(line.label) is not None)


def is_nothing(text: str) -> bool:
    """`None`, `N/A`, `None (smooth)`, `None: …`, a dash."""
    return _WORDS["nothing"].fullmatch(text) is not None or _WORDS["none"].match(text) is not None


def names_stories(column: str) -> bool:
    """Return whether a column of this name holds ids of stories."""
    return _WORDS["story_column"].fullmatch(column) is not None


def told_by(line: Line) -> Iterator[tuple[str, str]]:
    """Yield the fields of a line, which may hold several between bars: label, empty of a mere date, and value."""
    first, *others = _WORDS["between"].split(line.rest or line.text)
    yield line.label, first
    for one in others:
        label, _, value = one.partition(":")
        yield label.strip(), value.strip()


def date_of(label: str, value: str) -> Dated | None:
    """Return the date of a story, where this field gives it."""
    return first_date(value) if not label or _WORDS["dates"].fullmatch(label) else None


def two_days(value: str) -> str:
    """Return why a date is not taken."""
    return f"`{value}` may be two days; write it as 2026-01-24"


def is_status(label: str) -> bool:
    return _WORDS["status"].fullmatch(label) is not None


def is_dropped(value: str) -> bool:
    """Return whether a status says that it is not in force any more."""
    return _WORDS["dropped"].fullmatch(value) is not None


def replacement(label: str, value: str) -> str:
    """Return the id of what replaces a story, where this field names it: `ADR-9` also for `[9. Nets](9-nets.md)`."""
    found = _WORDS["replaced"].fullmatch(value) if is_status(label) else None
    text = found["by"] if found else value if _WORDS["replacement"].fullmatch(label) else ""
    named = ids(text)
    number = re.match(r"\W*0*(\d{1,4})\b", text)
    return named[0] if named else f"ADR-{number[1]}" if number else ""


def is_record(items: Sequence[Line]) -> bool:
    """Return whether these items are the fields of one record: `- first_seen: …` below `- id: …`."""
    labels = [one.label for one in items if re.fullmatch(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*", one.label)]
    known = sum(_WORDS["record"].fullmatch(one) is not None for one in labels)
    return len(labels) == len(items) >= _MIN_RECORD and known >= _MIN_KNOWN


def is_bookkeeping(label: str) -> bool:
    """Return whether a field of a record says when and how often, and not what was learned."""
    return _WORDS["record"].fullmatch(label) is not None and _WORDS["kept"].fullmatch(label) is None


def tags_of(label: str, value: str) -> list[str]:
    return re.split(r"[,;\s]+", value.replace("#", " ").replace("`", " ")) if _WORDS["tags"].fullmatch(label) else []
