"""Fields of a story: labelled lines that say when, by whom and to what end, and are no lessons."""

import re
from collections.abc import Iterator

from commonplace.memory.lesson_words import patterns
from commonplace_local.memory.dates import Dated, first_date, is_date
from commonplace_local.memory.markdown import Line

_WORDS = patterns("fields")
_MAX_FIELD = 120
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


def tags_of(label: str, value: str) -> list[str]:
    return re.split(r"[,;\s]+", value.replace("#", " ").replace("`", " ")) if _WORDS["tags"].fullmatch(label) else []
