"""Dates as people write them in headings and fields, as ISO 8601."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = (
    r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY, _YEAR = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?", r"(?P<year>(?:19|20)\d{2})"
_FORMS = tuple(
    re.compile(rf"(?<![\w.-]){form}(?!\w|[-/]\d)", re.IGNORECASE)
    for form in (
        rf"{_YEAR}(?P<by>[-/.])(?P<month>\d{{1,2}})(?P=by)(?P<day>\d{{1,2}})(?:/\d{{1,2}})?(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?",
        rf"{_YEAR}[年년]\s?(?P<month>\d{{1,2}})[月월]\s?(?P<day>\d{{1,2}})[日일]",
        rf"(?:(?:mon|tues?|wed(?:nes)?|thur?s?|fri|sat(?:ur)?|sun)(?:day)?,?\s+)?{_DAY}\.?(?:\s?[-–]\s?\d{{1,2}}(?:st|nd|rd|th)?)?\.?(?:\s+of)?[\s-]+{_MONTH},?[\s-]+{_YEAR}",
        rf"(?:(?:mon|tues?|wed(?:nes)?|thur?s?|fri|sat(?:ur)?|sun)(?:day)?,?\s+)?{_MONTH}\s+{_DAY}(?:\s?[-–]\s?\d{{1,2}}(?:st|nd|rd|th)?)?,?\s+{_YEAR}",
        rf"(?P<day>\d{{1,2}})\.\s?(?P<month>\d{{1,2}})\.\s?{_YEAR}",
        rf"(?P<first>\d{{1,2}})/(?P<second>\d{{1,2}})/{_YEAR}",
    )
)


@dataclass(frozen=True, slots=True)
class Dated:
    """A date within a text. `iso` is empty where the text may mean two days, such as `03/04/2026`."""

    iso: str
    begin: int
    end: int


def first_date(text: str) -> Dated | None:
    """The date that stands first. What is no day of the calendar is no date."""
    return min(_dates(text), key=lambda one: one.begin, default=None)


def is_date(text: str) -> bool:
    """Whether it is a date and nothing else, in brackets or not."""
    date = first_date(text)
    return date is not None and not re.search(r"\w", text[: date.begin] + text[date.end :])


def own_date(text: str) -> str:
    """The date of a lesson, at its begin or in brackets of its own, where it is one day."""
    for one in _dates(text):
        apart = text[: one.begin].endswith(tuple("([（")) and text[one.end :].startswith(tuple(")]）"))
        if one.begin <= 4 or apart:
            return one.iso
    return ""


def _dates(text: str) -> Iterator[Dated]:
    for form in _FORMS:
        for found in form.finditer(text):
            part = found.groupdict()
            iso: str | None
            if "first" in part:
                # Which number is the month is known only where the other cannot be.
                one, other = part["first"], part["second"]
                days = {_iso(part["year"], one, other), _iso(part["year"], other, one)} - {None}
                iso = days.pop() if len(days) == 1 else "" if days else None
            else:
                month = part["month"] if "month" in part else _MONTHS.index(part["name"][:3].lower()) + 1
                iso = _iso(part["year"], month, part["day"])
            if iso is not None:
                yield Dated(iso, found.start(), found.end())


def _iso(year: str, month: str | int, day: str) -> str | None:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None
