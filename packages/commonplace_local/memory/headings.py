"""What a heading of a lessons file stands for: a story, a kind of lesson, or something about the file itself."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from commonplace.memory.lesson_words import patterns
from commonplace_local.memory.dates import Dated, first_date

_WORDS = patterns("headings")
_MIN_LABELLED = 3
_PARTS = {"step", "part", "level", "option", "figure", "table", "section", "volume", "tier", "layer", "question"}
_PARTS |= {"approach", "solution", "reason", "cause", "goal", "requirement"}
"""What is numbered within a story, and none itself."""


@dataclass(frozen=True, slots=True)
class Name:
    """A story as its heading names it. `id` is empty where only a date does; `others` are further ids there."""

    id: str
    title: str
    date: str = ""
    others: tuple[str, ...] = ()
    leads: bool = True
    """The id stands at the begin, and not at the end."""
    tracked: bool = False
    """It is a tracker's id (`STORY-003`, `#12`) or a story's number, and not that of a phase, a sprint or a lesson."""
    closed: bool = False
    """The title stands apart from the id, as in `Phase 3: Search`."""


def series(id: str) -> str:
    """`phase` of `Phase 3`: what ids of one kind begin with."""
    return re.sub(r"[\W_]*\d.*", "", id).casefold()


def plain(text: str) -> str:
    """Return a heading's words, without numbering and ornaments before them, in lower case."""
    return _WORDS["ornament"].sub("", text).casefold().strip(": ")


def about_file(text: str) -> bool:
    """Return whether the heading tells of the file and of no lesson."""
    return _WORDS["about"].fullmatch(_WORDS["ornament"].sub("", text).strip(": ")) is not None


def describes(text: str) -> bool:
    """Return whether such a heading says how the file is written: what has a date below it is no part of that."""
    return re.search(r"history|change ?log|references?|links", text, re.IGNORECASE) is None


def only_told(text: str) -> bool:
    """Return whether the section tells what was planned or spent: the summary mentions it, and it is no lesson."""
    return _WORDS["told"].match(plain(text)) is not None


def ids(text: str) -> list[str]:
    """Return the ids in a text, in order."""
    return [_id(one) for one in _found(text)]


def numbered(titles: Iterable[str]) -> frozenset[str]:
    """Return words that number two headings or more, in any language: `fase` of `Fase 1: …` and `Fase 2: …`.

    With a colon, words that three headings or more begin with: `pattern:` of `Pattern: one queue`.
    """
    titles = list(titles)
    found = {one["id"].casefold(): _kind(one) for title in titles if (one := _WORDS["series"].match(title))}
    labels = Counter(_kind(one) for title in titles if (one := _WORDS["label"].match(title)))
    kinds = {kind for kind, count in Counter(found.values()).items() if count > 1}
    return frozenset(kinds | {kind for kind, count in labels.items() if count >= _MIN_LABELLED}) - _PARTS


def name(text: str, kinds: frozenset[str] = frozenset()) -> Name | None:
    """Return the story that a heading names: by ids at its begin, by one at its end, or by a date.

    `kinds` are further words that number stories in this file.
    """
    dated = first_date(text)
    date = dated.iso if dated else ""
    bare = _without(dated, text) if dated and date else text
    found = _found(bare)
    leading: list[re.Match[str]] = []
    at = 0
    for one in found:
        if _WORDS["between"].fullmatch(bare, at, one.start()) is None:
            break
        leading.append(one)
        at = one.end()
    if leading:
        chosen = next((one for one in leading if one["key"]), None) or leading[0 if leading[0]["version"] else -1]
        others = tuple(_id(one) for one in leading if one is not chosen and (one["key"] or one["version"]))
        closed = _WORDS["closed"].match(bare, at) is not None
        return Name(_id(chosen), _title(bare[at:]), date, others, tracked=_is_tracked(chosen), closed=closed)
    counted = _WORDS["series"].match(bare)
    if counted and _kind(counted) in kinds:
        return Name(counted["id"], _title(bare[counted.end() :]), date, closed=True)
    if found and _is_name_at_end(bare, found[-1]):
        within = [one for one in found if one.start() > bare.rfind("(")] if bare.rstrip().endswith(")") else found[-1:]
        chosen, before = within[0], bare[: within[0].start()]
        title = _WORDS["tail"].sub("", before) if _WORDS["tail"].search(before) and len(within) == 1 else bare
        return Name(_id(chosen), _title(title), date, leads=False, tracked=_is_tracked(chosen))
    label = _WORDS["label"].match(bare)
    titled = _WORDS["titled"].match(bare) is not None or (label is not None and _kind(label) in kinds)
    return Name("", _title(bare), date) if dated or titled else None


def _without(dated: Dated, text: str) -> str:
    """Return the text with blanks for its date and time. Within a sentence a date stays where it is."""
    before, after = text[: dated.begin], text[dated.end :]
    timed = _WORDS["time"].sub(lambda time: " " * len(time[0]), after)
    begins, ends = re.search(r"\w", before) is None, re.search(r"\w", timed) is None
    closed = before.endswith(tuple("([（")) and timed.lstrip().startswith(tuple(")]）"))
    mentions = _WORDS["mentions"].search(before) or re.search(r"[(\[（]\s*\w[^)\]）]*\Z", before)
    if not (begins or closed or (ends and not mentions)):
        return text
    return before + " " * (dated.end - dated.begin) + timed


def _is_name_at_end(text: str, found: re.Match[str]) -> bool:
    """A number of no tracker in brackets, or a version, only says what the title is about."""
    before, after = text[: found.start()].rstrip(), text[found.end() :]
    if re.search(r"\w", after) or found["version"] or found["padded"]:
        return False
    return _is_tracked(found) or (_WORDS["tail"].search(before + " ") is not None and not after.startswith(")"))


def _found(text: str) -> list[re.Match[str]]:
    return [
        one
        for one in _WORDS["names"].finditer(text)
        if not (one["key"] and _WORDS["technical"].fullmatch(re.split(r"[-_]", one["key"])[0]))
    ]


def _kind(found: re.Match[str]) -> str:
    return found["kind"].casefold().strip()


def _id(found: re.Match[str]) -> str:
    return re.sub(r"\s+", " ", found[0]).strip("[] ")


def _is_tracked(found: re.Match[str]) -> bool:
    if found["kind"]:
        return found["kind"].lower() in ("story", "stories", "ticket", "us", "pr", "mr")
    return found["version"] is None


def _title(text: str) -> str:
    """Return a title without what joined it to an id or a date, and with all else that it says."""
    text = re.sub(r"[(\[（]\s*[)\]）]", "", text)
    text = re.sub(r"\s+", " ", text).strip(" \t:—–-|,·/")
    if text.startswith((")", "]")):
        text = text[1:].lstrip(" \t:—–-|,·/")
    return text.rstrip("([ ")
