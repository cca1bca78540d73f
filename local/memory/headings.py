"""What a heading of a lessons file stands for: a story, a kind of lesson, or something about the file itself."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from local.memory.dates import Dated, first_date

_KEY = r"(?P<key>[A-Z][A-Z0-9]{0,15}(?:[-_][A-Z][A-Z0-9]*)*(?:-\d+(?:[.-]\d+)*[a-z]?|_\d{2,}|-[A-Z]?\d+[A-Za-z]?))"
_KIND = (
    r"story|stories|ticket|issue|task|epic|bug|feature|defect|incident|sprint|iteration|milestone|lesson|learning|ll"
    r"|adr|rfc|decision|retro(?:spective)?|post-?mortem|pr|mr|us|chore|spike|wave|phase|cycle|session|week|day"
    r"|batch|round|version|release|experiment|attempt|problem|mistake|gotcha|pitfall|insight|takeaway|finding|rule"
)
_NUMBERED = (
    rf"(?P<kind>(?i:{_KIND}))\s*(?:#|no\.?\s*|[-–:]?\s?)(?P<number>\d+(?:\.\d+)*[A-Za-z]?(?:\s?[-–]\s?\d+[A-Za-z]?)?)"
)
_VERSION = r"(?P<version>[vV](?:\d+(?:\.\d+)+|\d{3,})(?:[-+.]\w+)*|\[(?:[vV]\d|\d+\.\d)[\d.]*(?:[-+.]\w+)*\])"
_PADDED = r"(?P<padded>0\d{2,3})"
_NAMES = re.compile(
    rf"(?<![\w`.-])(?<!\D/)(?:{_KEY}|{_NUMBERED}|{_VERSION}|{_PADDED}|(?P<hash>#\d+))(?![\w`]|-\w|\.\d|/[^\dA-Z])"
)
_BETWEEN = re.compile(
    r"(?:(?i:story|stories|ticket|issue|lessons?|learned|learnt|learnings?|from|of|for|and|in|during|after|the|key|new"
    r"|milestone|release|version|retro(?:spective)?|post-?mortem|incident)\b|[^\w`\"'“])*"
)
_SERIES = re.compile(
    r"\W*(?:\[[^\]]*\]\W*)?(?P<id>(?P<kind>[^\W\d_]{3,20}\s|[^\W\d_])#?\d+(?:\.\d+)*(?:\s?[-–]\s?\d+)?)"
    r"(?=\s*(?:[:–—|·(（：]|\.(?!\d)|-\s|\Z))"
)
"""`Fase 2: …`, `M2 · …`: any word or letter and a number, before a title."""
_LABEL = re.compile(r"\W*(?P<kind>[^\W\d_]{3,20}:)\s+\S")
_MIN_LABELLED = 3
_PARTS = {"step", "part", "level", "option", "figure", "table", "section", "volume", "tier", "layer", "question"}
_PARTS |= {"approach", "solution", "reason", "cause", "goal", "requirement"}
"""What is numbered within a story, and none itself."""
_CLOSED = re.compile(r"\s*(?:[:–—|([,\].（：-]|\Z)")
"""What follows an id that a title is written after, and not a sentence that mentions it."""
_TITLED = re.compile(
    r"\W*(?:post-?mortem|incident(?: report)?|outage|retro(?:spective)?|lesson(?: learned)?|gotcha|pitfall|mistake|bug)"
    r"\s*[:–—]\s*\w",
    re.IGNORECASE,
)
_TIME = re.compile(r"\b\d{1,2}:\d{2}(?::\d{2})?(?:\s?(?:[AaPp][Mm]|UTC|Z))?(?!\w)")
_MENTIONS = re.compile(r"\b(?:of|on|at|in|until|till|since|to|by|from|before|after)\s+\Z", re.IGNORECASE)
_TAIL = re.compile(r"(?:[(\[]|\s[-–—|/]\s)\W*\Z")

_TECHNICAL = re.compile(
    r"UTF|SHA|MD|AES|RSA|ISO|RFC|GPT|HTTP|TLS|SSL|ES|CVE|COVID|IPV|MP|CP|H|P|S|X|UTC|GMT|ARM|BASE|WCAG|EC|PEP|CWE|LLAMA"
    r"|CLAUDE|OAUTH|WIN|ASCII|PCI|SOC|TOP|STEP|LEVEL|PART"
)
"""What stands before a number and is no tracker's prefix: `UTF-8`, `SHA-256`."""

_ABOUT = re.compile(
    r"how to (?:use|read|add|update|maintain|contribute)\b.*|(?:.*\bid ranges|(?:table of )?contents)\b.*"
    r"|toc|(?:\w+ )?index(?: by .*)?|navigation"
    r"|about(?: this (?:file|document|log))?|(?:file |document |entry |lesson )?(?:format|template|legend)|usage"
    r"|maintenance|purpose(?: of this (?:file|document))?|(?:document |revision |version )?history|change ?log"
    r"|meta ?(?:data|information)|references?|related (?:documents?|documentation|files|links|resources)|see also|links"
    r"|resources|glossary|contributing|document (?:information|control)|when to (?:use|update|add)\b.*",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"plan (?:vs|versus|and)|planned (?:vs|versus)|plan accuracy|token (?:usage|costs?|summary|log)"
    r"|(?:story )?token costs|surprise files|configuration files"
    r"|(?:files?|tests?|infrastructure|documentation)(?:[ /]\w+)? (?:touched|created|modified|changed|added|delivered)"
    r"|(?:\w+ ){0,2}metrics\Z|velocity|(?:delivered|completed|shipped) (?:features|items|work)|celebrat\w+"
    r"|references?\Z|related (?:files|documents?|documentation|links|resources|stories)|sources? |see also|sources?\Z"
)
_ORNAMENT = re.compile(r"\A[^\w`#(\[\"'“*]+|\A\d+(?:\.\d+)*[.)]?\s+(?=\D)")


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
    """A heading's words, without numbering and ornaments before them, in lower case."""
    return _ORNAMENT.sub("", text).casefold().strip(": ")


def about_file(text: str) -> bool:
    """Whether the heading tells of the file and of no lesson."""
    return _ABOUT.fullmatch(_ORNAMENT.sub("", text).strip(": ")) is not None


def describes(text: str) -> bool:
    """Whether such a heading says how the file is written, so that what has a date below it is no part of that."""
    return re.search(r"history|change ?log|references?|links", text, re.IGNORECASE) is None


def only_told(text: str) -> bool:
    """Whether the section tells what was planned or spent: the summary mentions it, and it is no lesson."""
    return _TOLD.match(plain(text)) is not None


def ids(text: str) -> list[str]:
    """The ids in a text, in order."""
    return [_id(one) for one in _found(text)]


def numbered(titles: Iterable[str]) -> frozenset[str]:
    """Words that number two headings or more, in any language: `fase` where there are `Fase 1: …` and `Fase 2: …`.

    With a colon, words that three headings or more begin with: `pattern:` of `Pattern: one queue`.
    """
    titles = list(titles)
    found = {one["id"].casefold(): _kind(one) for title in titles if (one := _SERIES.match(title))}
    labels = Counter(_kind(one) for title in titles if (one := _LABEL.match(title)))
    kinds = {kind for kind, count in Counter(found.values()).items() if count > 1}
    return frozenset(kinds | {kind for kind, count in labels.items() if count >= _MIN_LABELLED}) - _PARTS


def name(text: str, kinds: frozenset[str] = frozenset()) -> Name | None:
    """The story that a heading names: by ids at its begin, by one at its end, or by a date.

    `kinds` are further words that number stories in this file.
    """
    dated = first_date(text)
    date = dated.iso if dated else ""
    bare = _without(dated, text) if dated and date else text
    found = _found(bare)
    leading: list[re.Match[str]] = []
    at = 0
    for one in found:
        if _BETWEEN.fullmatch(bare, at, one.start()) is None:
            break
        leading.append(one)
        at = one.end()
    if leading:
        chosen = next((one for one in leading if one["key"]), None) or leading[0 if leading[0]["version"] else -1]
        others = tuple(_id(one) for one in leading if one is not chosen and (one["key"] or one["version"]))
        closed = _CLOSED.match(bare, at) is not None
        return Name(_id(chosen), _title(bare[at:]), date, others, tracked=_is_tracked(chosen), closed=closed)
    counted = _SERIES.match(bare)
    if counted and _kind(counted) in kinds:
        return Name(counted["id"], _title(bare[counted.end() :]), date, closed=True)
    if found and _is_name_at_end(bare, found[-1]):
        within = [one for one in found if one.start() > bare.rfind("(")] if bare.rstrip().endswith(")") else found[-1:]
        chosen, before = within[0], bare[: within[0].start()]
        title = _TAIL.sub("", before) if _TAIL.search(before) and len(within) == 1 else bare
        return Name(_id(chosen), _title(title), date, leads=False, tracked=_is_tracked(chosen))
    label = _LABEL.match(bare)
    titled = _TITLED.match(bare) is not None or (label is not None and _kind(label) in kinds)
    return Name("", _title(bare), date) if dated or titled else None


def _without(dated: Dated, text: str) -> str:
    """The text with blanks for its date and time. Within a sentence a date stays where it is."""
    before, after = text[: dated.begin], text[dated.end :]
    timed = _TIME.sub(lambda time: " " * len(time[0]), after)
    begins, ends = re.search(r"\w", before) is None, re.search(r"\w", timed) is None
    closed = before.endswith(tuple("([（")) and timed.lstrip().startswith(tuple(")]）"))
    mentions = _MENTIONS.search(before) is not None or re.search(r"[(\[（]\s*\w[^)\]）]*\Z", before) is not None
    if not (begins or closed or (ends and not mentions)):
        return text
    return before + " " * (dated.end - dated.begin) + timed


def _is_name_at_end(text: str, found: re.Match[str]) -> bool:
    """A number of no tracker in brackets, or a version, only says what the title is about."""
    before, after = text[: found.start()].rstrip(), text[found.end() :]
    if re.search(r"\w", after) or found["version"] or found["padded"]:
        return False
    return _is_tracked(found) or (_TAIL.search(before + " ") is not None and not after.startswith(")"))


def _found(text: str) -> list[re.Match[str]]:
    return [
        one
        for one in _NAMES.finditer(text)
        if not (one["key"] and _TECHNICAL.fullmatch(re.split(r"[-_]", one["key"])[0]))
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
    """Without what joined it to an id or a date, and with all else that it says."""
    text = re.sub(r"[(\[（]\s*[)\]）]", "", text)
    text = re.sub(r"\s+", " ", text).strip(" \t:—–-|,·/")
    if text.startswith((")", "]")):
        text = text[1:].lstrip(" \t:—–-|,·/")
    return text.rstrip("([ ")
