"""Fields of a story: labelled lines that tell when, by whom and to what end, and are no lessons."""

import re
from collections.abc import Iterator

from local.memory.dates import Dated, first_date
from local.memory.markdown import Line

_DATES = re.compile(
    r"(?:story |lesson )?(?:date|completed|finished|closed|when|learned|recorded|added|merged)\b.*", re.I
)
_TAGS = re.compile(r"(?:tags?|labels?|keywords?)", re.I)
_FIELD = re.compile(
    r"(?:last )?(?:updated|status|type|authors?|agents?|owners?|reviewers?|phase|severity|priority|story(?: id)?|epic"
    r"|sprint|team|version|branch|commits?|prs?|pull request|issues?|ticket|area|component|scope|project|module|effort"
    r"|(?:story )?points|duration|estimate|actual|source|related(?: .*)?|follow-up stories|id|env(?:ironment)?"
    r"|deciders?|participants|attendees|(?:retrospective )?facilitator|next retrospective"
    r"|category|confidence|frequency|period|dates?)",
    re.I,
)
_BACKGROUND = re.compile(r"(?:context|background|(?:sprint )?goal|purpose|summary|overview|objective)\b.{0,30}", re.I)
_BETWEEN_FIELDS = re.compile(r"\s+[|·•]\s+(?=[\w ]{2,30}:)")
_MAX_FIELD = 120
_NOTHING = re.compile(
    r"(?:(?:fast-fail|final verification)[\w ]{0,20}:\s*)?"
    r"(?:none|n/?a|reserved? for .{3,200}|nothing(?: new)?|tbd|-+|—|–"
    r"|no (?:\w+ )?(?:blockers?|issues?|failures?|surprises?))"
    r"(?: (?:found|hit|identified|encountered|needed|applicable|to report|noted|so far))?"
    r"[\s.!]*(?:[:;,(\[—–.-].{0,240})?[\s.!]*",
    re.IGNORECASE | re.DOTALL,
)
_STORY_COLUMN = re.compile(
    r"(?:story|ticket|issue|task|lesson)?\s?(?:id|#|no\.?)?|stor(?:y|ies)|(?:ticket|issue|task|pr)s?", re.I
)


def is_field(line: Line) -> bool:
    """Whether it is a field, or nothing but a date."""
    if not line.label:
        date = first_date(line.text)
        return date is not None and not re.search(r"\w", line.text[: date.begin] + line.text[date.end :])
    known = _DATES.fullmatch(line.label) or _TAGS.fullmatch(line.label) or _FIELD.fullmatch(line.label)
    return known is not None and len(line.rest) <= _MAX_FIELD


def is_nothing(text: str) -> bool:
    """`None`, `N/A`, `None found: …`, a dash."""
    return _NOTHING.fullmatch(text) is not None


def is_background(label: str) -> bool:
    return _BACKGROUND.fullmatch(label) is not None


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


def tags_of(label: str, value: str) -> list[str]:
    return re.split(r"[,;\s]+", value.replace("#", " ").replace("`", " ")) if _TAGS.fullmatch(label) else []
