"""Values of the memory: entries, categories, jobs, requests and answers.

Sources: seed 001, "Database Schema", "Knowledge Entry Types", "Seed Strategy" and "Workflow Integration". Jobs are what
takes longer than one call: large imports, and new vectors for all entries.
"""

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Literal, NewType, get_args

from commonplace.search.model import Fit

EntryId = NewType("EntryId", str)
"""A UUID (RFC 9562) in its usual form. Never used again, not even for the same content."""

EntryType = Literal["fact", "summary", "template"]
ENTRY_TYPES: tuple[EntryType, ...] = get_args(EntryType)

Role = Literal["pm", "dev", "qa", "all"]
ROLES: tuple[Role, ...] = get_args(Role)
"""An entry with role `all` is meant for every role; a query for `all` asks for every entry."""

Phase = Literal["pm", "elab", "dev", "review", "qa"]
PHASES: tuple[Phase, ...] = get_args(Phase)
"""Of a story's life (seed 001, "Workflow Integration"): queries are counted by phase and role."""

MAX_CONTENT_BYTES = 32_768
"""In UTF-8: what one answer can still show whole."""
MAX_TAGS = 30
MAX_TAG_CHARACTERS = 64
MAX_SOURCE_CHARACTERS = 500
MAX_METADATA_BYTES = 8_192
"""As compact JSON."""
MAX_METADATA_DEPTH = 5
MAX_SEEN_IN = 10
MAX_RELEVANCE = 5
"""A vote on a hit is 0 (useless) to 5 (exactly what was needed); seed 001, "Success Metrics"."""

CAPTURED = 0.8
"""Confidence in the explanation of a failure, until a quality gate has passed."""

Kind = Literal["import", "rebuild"]
Status = Literal["in_progress", "complete", "failed"]

DEFAULT_LIMIT, MAX_LIMIT = 10, 50
"""Of a search."""
DEFAULT_RELATED, MAX_RELATED = 5, 50
DEFAULT_LISTED, MAX_LISTED = 20, 100
DEFAULT_MIN_CONFIDENCE = 0.5
BATCH = 100
"""Entries that are embedded and written together."""
MAX_IMPORT = 10_000
"""Entries of one import."""

_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
_BLANK = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")
_BLANKS_AT_END = re.compile(r"[ \t]+\n")

Order = Literal["created_at", "updated_at", "confidence"]
Direction = Literal["asc", "desc"]
Relation = Literal["sibling", "parent", "child", "tags"]


def content_hash(content: str) -> str:
    """SHA-256 of the folded content in UTF-8, 64 hex digits: two entries of an organisation never share it.

    Folded are the form of Unicode (NFC), characters that take no room, kinds of blanks and line ends, blanks at the
    ends of lines and before the first word. The content itself stays as it was written.
    """
    text = _INVISIBLE.sub("", unicodedata.normalize("NFC", content))
    folded = _BLANKS_AT_END.sub("\n", _BLANK.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n"))).strip()
    return hashlib.sha256(folded.encode("utf-8")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEntry:
    """An entry that is to be. Checked and normalised by `memory.validation`, and by nothing else."""

    content: str
    entry_type: EntryType
    roles: tuple[Role, ...]
    tags: tuple[str, ...] = ()
    source_file: str | None = None
    source_story: str | None = None
    parent_id: EntryId | None = None
    confidence: float = 1.0
    supersedes: EntryId | None = None
    """An entry in whose place it stands."""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The changes of an update; None leaves a field as it is, an empty text removes parent, file or story.

    In `metadata` a null removes its key.
    """

    content: str | None = None
    entry_type: EntryType | None = None
    roles: tuple[Role, ...] | None = None
    tags: tuple[str, ...] | None = None
    confidence: float | None = None
    source_file: str | None = None
    source_story: str | None = None
    parent_id: EntryId | None = None
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry, as it is kept. Times are ISO 8601, UTC, with microseconds and `Z`: text order is time order."""

    organisation: str
    id: EntryId
    content: str
    content_hash: str
    entry_type: EntryType
    roles: tuple[Role, ...]
    tags: tuple[str, ...]
    confidence: float
    created_at: str
    updated_at: str
    version: int = 1
    """Grows with each change that somebody asks for."""
    revision: int = 1
    """Orders writes of the index: grows with each change, and when vectors are made anew."""
    parent_id: EntryId | None = None
    source_file: str | None = None
    source_story: str | None = None
    supersedes: EntryId | None = None
    superseded_by: EntryId | None = None
    """The entry that stands in its place: searches do not find this one."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    seen: int = 0
    """How many stories learned it again after the first."""
    seen_in: tuple[str, ...] = ()
    """Those stories, the newest last, at most `MAX_SEEN_IN`."""

    @property
    def card(self) -> "Card":
        """What lists, relations and figures need of it."""
        return Card(
            id=self.id,
            content_hash=self.content_hash,
            entry_type=self.entry_type,
            roles=self.roles,
            tags=self.tags,
            confidence=self.confidence,
            created_at=self.created_at,
            updated_at=self.updated_at,
            version=self.version,
            revision=self.revision,
            parent_id=self.parent_id,
            source_file=self.source_file,
            source_story=self.source_story,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """An entry without its text: a few hundred bytes, kept beside it and written with it."""

    id: EntryId
    content_hash: str
    entry_type: EntryType
    roles: tuple[Role, ...]
    tags: tuple[str, ...]
    confidence: float
    created_at: str
    updated_at: str
    version: int
    revision: int
    parent_id: EntryId | None = None
    source_file: str | None = None
    source_story: str | None = None


@dataclass(frozen=True, slots=True)
class Category:
    """`key` is its list in a story's file; `category` names it in LEARNINGS.yaml."""

    category: str
    key: str
    title: str
    tags: tuple[str, ...]
    roles: tuple[Role, ...]
    headings: re.Pattern[str]
    """What the section is called in a LESSONS-LEARNED.md, in lower case."""
    confidence: float = 1.0


def _category(
    category: str,
    title: str,
    tags: str,
    roles: tuple[Role, ...],
    headings: str,
    *,
    key: str = "",
    confidence: float = 1.0,
) -> Category:
    pattern = re.compile(rf"(?:{headings})\b")
    return Category(
        category, key or f"{category.replace('-', '_')}s", title, tuple(tags.split()), roles, pattern, confidence
    )


CATEGORIES = (
    _category("reuse", "Reuse", "reuse pattern", ("dev",), r"re-?us\w*|(?<!\w )discover(?:y|ies)\Z", key="reuse"),
    _category("blocker", "Blockers", "blocker", ("dev", "pm"), r"block\w*|impediments?"),
    _category("time-sink", "Time sinks", "time-sink", ("dev", "pm"), r"time[ -]?sinks?|what took"),
    _category("verification", "Verification", "verification", ("qa", "dev"), r"verif\w*|fast-fail", key="verification"),
    _category("recommendation", "Recommendations", "recommendation", ("dev",), r"recommend\w*"),
    _category(
        "high-cost",
        "High cost",
        "high-cost tokens optimization",
        ("dev", "qa"),
        r"high[ -]cost|expensive|token (?:optimi[sz]ation|usage analysis)",
        key="high_cost_operations",
    ),
    _category(
        "failure",
        "Failures",
        "failure",
        ("dev",),
        r"failures?|what failed|(?:failed|attempted) (?:fixes|attempts|approaches)|what (?:did not|didn['’]t) work",
        confidence=CAPTURED,
    ),
)


_BEFORE = re.compile(
    r"(?:(?:key|main|major|top|qa|final|other|general|critical|important|notable|technical|future|known|biggest|process"
    r"|testing|test|code|pattern|our|lessons?|and|&)\s+){0,3}"
)
_LAST = re.compile(r"(?:[\w-]+\s+){1,3}(recommendations|blockers|time[ -]?sinks|verification notes|reuse discoveries)")


def of_heading(text: str) -> Category | None:
    """The kind of section that this heading begins, however it goes on; None if it is none of them.

    Words that only qualify may stand before it: `Key Recommendations`, `QA Verification Notes`.
    """
    words = re.sub(r"\A[^\w]+|\A\d+[.)]\s+", "", text.casefold()).strip(": ")
    last = _LAST.fullmatch(words)
    begins = {0, before.end() if (before := _BEFORE.match(words)) else 0, last.start(1) if last else 0}
    return next((one for at in sorted(begins) for one in CATEGORIES if one.headings.match(words, at)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One piece of such work and how far it has come. Finished ones are kept for a week."""

    organisation: str
    id: str
    kind: Kind
    created_at: str
    updated_at: str
    status: Status = "in_progress"
    total: int = 0
    processed: int = 0
    step: int = 0
    """Grows with each write: two workers never both go on from the same one."""
    position: str = ""
    """Where to go on: of an import the number of the piece, of a rebuild the last id done."""
    batch_size: int = 100
    skip_existing: bool = True
    imported: int = 0
    skipped: int = 0
    errors: tuple[str, ...] = field(default=())
    account: str = ""
    client: str = ""
    grant: str = ""
    network: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A search: what passes every condition, ranked by words and meaning."""

    query: str
    role: Role | None = None
    """Entries of this role, and those of role `all`; `all` is no condition."""
    tags: tuple[str, ...] = ()
    """Entries with any of them."""
    entry_type: EntryType | None = None
    limit: int = DEFAULT_LIMIT
    min_confidence: float = DEFAULT_MIN_CONFIDENCE
    phase: Phase | None = None
    """Only counted."""
    story: str | None = None
    """Only counted."""
    source_story: str | None = None
    source_file: str | None = None
    since: str | None = None
    until: str | None = None
    """Bounds of `created_at`: a day, meant whole, or a time as entries have it."""
    collapse: bool = True
    """Shows one of several entries that are nearly equal."""


@dataclass(frozen=True, slots=True)
class Found:
    """One entry that was found. `excerpt` is its part nearest to the query, the whole of a short one."""

    entry: Entry
    score: float
    excerpt: str
    fit: Fit
    duplicates: tuple[EntryId, ...] = ()
    """Entries with nearly the same text, which this one stands for."""


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """`fallback` is true when no embedding could be had, and words alone were compared. `hint` says that nothing fits;
    then all that was found is weak.
    """

    found: tuple[Found, ...]
    fallback: bool
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Related:
    """An entry beside another. `shared` are the tags that both have."""

    entry: Entry
    relation: Relation
    shared: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A list without a search. `tags`: entries with all of them. A role as in `Asked`."""

    role: Role | None = None
    tags: tuple[str, ...] = ()
    entry_type: EntryType | None = None
    limit: int = DEFAULT_LISTED
    offset: int = 0
    order_by: Order = "created_at"
    order: Direction = "desc"
    source_story: str | None = None
    source_file: str | None = None
    since: str | None = None
    until: str | None = None
    """Of `created_at`, both included; the beginning of a time, such as a day, is that whole stretch."""
    after: str = ""
    """A position (`memory.facets`): the list goes on behind it, and `offset` counts from there."""
    total: int | None = None
    """How many pass the filters, by the page before: they are not counted again where that takes reading them."""
    whole: bool = True
    """Whether these are all."""


@dataclass(frozen=True, slots=True)
class ListAnswer:
    entries: tuple[Entry, ...]
    total: int
    whole: bool = True
    """False: more may pass than `total`."""
    places: tuple[str, ...] = ()
    """The position of each entry, by which it was found."""
    last: str = ""
    """The position behind which the list goes on: also where the entries there were deleted meanwhile."""
    more: bool = False


@dataclass(frozen=True, slots=True)
class Near:
    """An entry that resembles another text, with its cosine similarity."""

    id: EntryId
    similarity: float
    excerpt: str


@dataclass(frozen=True, slots=True)
class Recurrence:
    """A lesson that a further story learned again. `first` learned it first, `seen` says how often it was since."""

    id: EntryId
    first: str
    story: str
    at: str
    seen: int


@dataclass(frozen=True, slots=True)
class Added:
    """`duplicate`: an entry with this content was there already, and `id` is its own. `replayed`: the same request,
    with the same key, was answered before."""

    id: EntryId
    duplicate: bool = False
    replayed: bool = False
    embedded: bool = True
    """False when the text waits for its vectors: it is found by its words meanwhile."""
    recurrence: "Recurrence | None" = None
    """Where another story learned it before; also when that is noted already."""
    nearest: tuple[Near, ...] = ()


@dataclass(frozen=True, slots=True)
class Updated:
    entry: Entry
    re_embedded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Former:
    """What an entry had that is brought back as it was."""

    id: EntryId
    created_at: str
    updated_at: str
    version: int
    supersedes: EntryId | None = None
    superseded_by: EntryId | None = None
    seen: int = 0
    seen_in: tuple[str, ...] = ()


FORMER = tuple(one.name for one in fields(Former))
FORMER_NEEDED = tuple(one.name for one in fields(Former) if one.default is MISSING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One entry of an import. `ref` names it within the import, and `parent_ref` names its parent there."""

    entry: NewEntry
    former: Former | None = None
    ref: str | None = None
    parent_ref: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The progress of an import. `handle` is there while it goes on, for further calls."""

    total: int
    processed: int
    imported: int
    skipped: int
    errors: tuple[str, ...] = ()
    """Each begins with `entries[N]: `, its place in the import from 0."""
    status: Status = "complete"
    handle: str | None = None
    ids: Mapping[str, EntryId] | None = None
    """By `ref`, or by place as text where an entry has none; None for an import that was carried on by a handle."""
    recurrences: tuple[Recurrence, ...] = ()
    """Those of this call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """The progress of new vectors for all entries. `handle` as in `Imported`."""

    total: int
    processed: int
    status: Status
    handle: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Figures of one organisation's memory."""

    total_entries: int
    by_type: Mapping[EntryType, int]
    by_role: Mapping[Role, int]
    avg_confidence: float
    """0 when there are no entries."""
    last_updated: str | None
    cache_size: int
    """Vectors kept of this organisation's texts."""
    queries: Mapping[tuple[str, Role], int]
    """Searches by (phase, or `none`, and role)."""
    recurrences: int = 0
    """How often a story learned again what another had learned."""


@dataclass(frozen=True, slots=True)
class StoryUse:
    """What is known of one story: searches made for it, tokens of their answers, and what the whole story took."""

    story: str
    searches: int = 0
    answer_tokens: int = 0
    tokens_used: int | None = None


@dataclass(frozen=True, slots=True)
class Rating:
    """All votes on one entry."""

    id: EntryId
    votes: int = 0
    total: int = 0

    @property
    def mean(self) -> "Mean":
        return Mean.of(self.votes, self.total)


@dataclass(frozen=True, slots=True)
class Vote:
    """How relevant an entry was that a search of a story found; `story` may be empty."""

    id: EntryId
    story: str
    voter: str
    relevance: int


@dataclass(frozen=True, slots=True)
class Mean:
    """None of none."""

    n: int
    mean: float | None

    @classmethod
    def of(cls, n: int, total: int) -> "Mean":
        return cls(n, round(total / n, 2) if n else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """The four of seed 001, "Success Metrics"."""

    tokens_with_searches: Mean
    """Tokens that a story took, of those that searched the memory."""
    tokens_without: Mean
    answer_tokens: Mean
    """Of the memory's answers, by story that searched."""
    recurrences: int
    most: tuple[Recurrence, ...]
    """What was learned again most often, the last recurrence of each."""
    relevance: Mean
    votes: Mapping[int, int]
    """How many there are of each relevance."""
    lowest: tuple[Rating, ...]
    """The entries with the lowest mean."""
    searches: Mean
    """By story, of all that are known."""
    stories_that_searched: int
