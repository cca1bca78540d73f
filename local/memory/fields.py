"""Fields of a story: labelled lines that tell when, by whom and to what end, and are no lessons."""

import re
from collections.abc import Iterator

from local.memory.dates import Dated, first_date, is_date
from local.memory.markdown import Line

_DATES = re.compile(
    r"(?:story |lesson )?(?:date|completed|finished|closed|when|learned|recorded|added|merged|shipped|released)\b.*"
    r"|.*(?:datum|fecha|日期|날짜|дата)",
    re.I,
)
_TAGS = re.compile(r"(?:tags?|labels?|keywords?)", re.I)
_FIELD = re.compile(
    r"(?:last )?(?:updated|status|type|authors?|agents?|owners?|reviewers?|phases?|severity|priority|story(?: id)?|epic"
    r"|sprint|team|version|branch|commits?|prs?|pull request|issues?|ticket|area|component|scope|project|module|effort"
    r"|(?:story )?points|duration|estimate|actual|source|related(?: .*)?|(?:cross-)?references?|see also|id"
    r"|env(?:ironment)?|deciders?|participants|attendees|(?:retrospective )?facilitator|next retrospective"
    r"|follow-up stories|upstream issue|impact|affects|category|confidence|frequency|period|dates?|reported by|plans)",
    re.I,
)
_BETWEEN_FIELDS = re.compile(r"\s+[|·•]\s+(?=[\w ]{2,30}:)")
_MAX_FIELD = 120
_MAX_DATE_FIELD = 600
"""Of one that begins with a date and goes on about that day."""
_NOTHING = re.compile(
    r"(?:(?:fast-fail|final verification)[\w ]{0,20}:\s*)?"
    r"(?:none|n/?a|reserved? for .{3,200}|nothing(?: new)?|tbd|-+|—|–"
    r"|no (?:\w+ )?(?:blockers?|issues?|failures?|surprises?))"
    r"(?: (?:found|hit|identified|encountered|needed|applicable|to report|noted|so far))?"
    r"[\s.!]*(?:[(\[—–-].{0,60})?[\s.!]*",
    re.IGNORECASE | re.DOTALL,
)
_STATE = re.compile(r"status|date|deciders?|authors?|tags?|owners?", re.IGNORECASE)
_FILE = re.compile(
    r"this (?:document|file|log|retrospective) (?:should|is a living|serves|captures|contains|tracks|records)\b"
    r"|(?:document|file) (?:created|updated|version|owner|maintained|status)\b"
    r"|(?:last|next) (?:updated?|review(?:ed)?|modified|revised)\b|(?:maintained|generated|compiled) (?:by|on)\b",
    re.IGNORECASE,
)
_LESSON = re.compile(
    r"(?:the )?(?:problem|issue|symptoms?|(?:root )?causes?|solution|fix|lesson(?: learned)?|prevention|finding"
    r"|(?:key )?takeaway|(?:practical )?rule|what happened|mistake|gotcha)(?: \d+)?",
    re.IGNORECASE,
)
_NONE = re.compile(r"(?:none(?: identified| found)?|n/a)\s*[:.]\s", re.IGNORECASE)
_STORY_COLUMN = re.compile(
    r"(?:story|ticket|issue|task|lesson)?\s?(?:id|#|no\.?)?|stor(?:y|ies)|(?:ticket|issue|task|pr)s?", re.I
)


def is_field(line: Line) -> bool:
    """Whether it is a field, or nothing but a date."""
    if not line.label:
        return is_date(line.text)
    date = first_date(line.rest) if _DATES.fullmatch(line.label) else None
    if date is not None and date.begin == 0 and len(line.rest) <= _MAX_DATE_FIELD:
        return True
    known = _DATES.fullmatch(line.label) or _TAGS.fullmatch(line.label) or _FIELD.fullmatch(line.label)
    return known is not None and 0 < len(line.rest) <= _MAX_FIELD


def is_title(line: Line) -> bool:
    """Whether it is in bold to its end, without a colon: a title, and no label of what follows."""
    after = line.text.removeprefix(line.label).lstrip()
    return line.bold and not after.startswith(":") and (not line.rest or is_date(line.rest))


def is_state(title: str, text: str) -> bool:
    """Whether a section of this title, such as `Status`, holds a field."""
    return _STATE.fullmatch(title) is not None and len(text) <= _MAX_FIELD


def tells_of_file(text: str) -> bool:
    """`Last updated: …`, `Document owner: …`: the foot of a file, wherever it stands."""
    return _FILE.match(text) is not None


def tells_of_lesson(line: Line) -> bool:
    """Whether a heading with this line right below it names a lesson: its date, or the problem, or what solved it."""
    dated = is_field(line) and any(date_of(*one) for one in told_by(line))
    return dated or (line.bold and _LESSON.fullmatch(line.label) is not None)


def is_nothing(text: str) -> bool:
    """`None`, `N/A`, `None (smooth)`, `None: …`, a dash."""
    return _NOTHING.fullmatch(text) is not None or _NONE.match(text) is not None


def names_stories(column: str) -> bool:
    """Whether a column of this name holds ids of stories."""
    return _STORY_COLUMN.fullmatch(column) is not None


def told_by(line: Line) -> Iterator[tuple[str, str]]:
    """The fields of a line, which may hold several between bars: label and value, the label of a mere date empty."""
    first, *others = _BETWEEN_FIELDS.split(line.rest or line.text)
    yield line.label, first
    for one in others:
        label, _, value = one.partition(":")
        yield label.strip(), value.strip()


def date_of(label: str, value: str) -> Dated | None:
    """The date of a story, where this field gives it."""
    return first_date(value) if not label or _DATES.fullmatch(label) else None


def two_days(value: str) -> str:
    """Why a date is not taken."""
    return f"`{value}` may be two days; write it as 2026-01-24"


def tags_of(label: str, value: str) -> list[str]:
    return re.split(r"[,;\s]+", value.replace("#", " ").replace("`", " ")) if _TAGS.fullmatch(label) else []
