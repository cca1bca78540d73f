"""Values of the hive: contributions, what is asked of them, and what reviewers decide.

Source: seed 004. A contribution waits as `pending` until a person, or a rule of a person, approves or rejects it;
approved it is an item, which its organisation finds, and everybody once it is published. Texts here are stripped: what
an agent sent is nowhere.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Literal, NewType, get_args

from pydantic import Field

AN_ID = "`hv_` and a ULID."
TIMES = "ISO 8601, UTC."

ItemId = NewType("ItemId", str)
"""`hv_{ULID}`: text order is the order of time. A contribution keeps it when it is approved; never used again."""

Category = Literal[
    "bug_fix",
    "config",
    "domain_expertise",
    "workaround",
    "pricing_data",
    "regulatory_rule",
    "tooling",
    "reasoning_trace",
    "failed_approach",
    "version_workaround",
    "general",
]
CATEGORIES: tuple[Category, ...] = get_args(Category)

Status = Literal["pending", "approved", "rejected"]
Outcome = Literal["solved", "did_not_help"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

MIN_CONTENT, MAX_CONTENT = 10, 20_000
"""Characters of what is sent, in the compatibility form that rules and models read."""
MAX_TAGS, MAX_TAG_CHARACTERS = 20, 64
MAX_LABEL_CHARACTERS = 100
"""Of framework, language and version."""
MAX_RUN_CHARACTERS = 200
MAX_REASON_CHARACTERS = 500
MAX_QUERY_CHARACTERS = 1_000
DEFAULT_CONFIDENCE = 0.8
DEFAULT_LIMIT, MAX_LIMIT = 10, 50
"""Of a search."""
DEFAULT_LISTED, MAX_LISTED = 20, 100
MAX_SHARE = 0.5
"""Of placeholders among the words of the stripped text: what has more is worth nothing."""
TITLE_CHARACTERS = 80

REJECTED = (
    "Rejected: too much content was identified as sensitive and redacted (>50%). "
    "The contribution cannot be meaningfully preserved."
)
QUEUED = "Knowledge contribution queued for review."
"""Both in the words of seed 004."""

REASONS = (
    "Of no use to others",
    "Known already",
    "Wrong, or out of date",
    "Too vague to act on",
    "Still says who or where",
    "Contains instructions to agents",
)
"""Of a rejection, for reviewers to choose from."""
AT_ONCE = "Approved at once, by a rule of your organisation: search_knowledge finds it."
WAITS_ALREADY = "The same text was contributed before, and is pending under this id. Nothing was added."
THERE_ALREADY = "The same text is known already, under this id. Nothing was added."


def stamp(time: datetime) -> str:
    """Return a time as contributions have it."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def content_hash(content: str) -> str:
    """SHA-256 of the stripped text in UTF-8, 64 hex digits: an organisation has no text twice."""
    return hashlib.sha256(content.encode("utf-8")).hexdigest()


def title_of(content: str) -> str:
    """The first 80 characters of the stripped text (seed 004, task 2), on one line."""
    line = " ".join(content.split())
    return line[:TITLE_CHARACTERS] + ("..." if len(line) > TITLE_CHARACTERS else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What an agent sent, not stripped yet: it is passed to the redaction and nowhere else, and has no `repr`."""

    content: str = field(repr=False)
    category: str
    confidence: float = DEFAULT_CONFIDENCE
    framework: str | None = field(default=None, repr=False)
    language: str | None = field(default=None, repr=False)
    version: str | None = field(default=None, repr=False)
    tags: tuple[str, ...] = field(default=(), repr=False)
    run_id: str | None = field(default=None, repr=False)
    replaces: str | None = None
    """Id of a contribution of the same account that this one corrects."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Text that contains instructions to agents (`hive.orders`): characters `start` to `end` of the content."""

    code: str
    """Stable: `override`, `hidden-text`, `exfiltration`."""
    sentence: str
    """For the reviewer."""
    start: Annotated[int, Field(description="First character of the content.")]
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """One contribution, as it is kept. Times are ISO 8601, UTC, with microseconds and `Z`: text order is time order."""

    organisation: str
    id: Annotated[ItemId, Field(description=AN_ID)]
    status: Status
    content: Annotated[str, Field(description="Stripped; empty of what is rejected.")]
    content_hash: str
    category: Category
    confidence: float
    contributed_at: Annotated[str, Field(description=TIMES)]
    valid_at: str
    """Since when it is true in the world; when it was contributed, unless a reviewer knows better."""
    account: str
    """The pseudonym of the account that contributed it."""
    agent: str
    """Its name, for its own organisation alone (`Author.name`)."""
    framework: str | None = None
    language: str | None = None
    version: str | None = None
    tags: tuple[str, ...] = ()
    run_id: str | None = None
    replaces: Annotated[ItemId | None, Field(description="The item that this one takes the place of.")] = None
    signature: str = ""
    """What near duplicates share (`hive.minhash`), in hex."""
    near: Annotated[tuple[ItemId, ...], Field(description="Ids of near duplicates when it came.")] = ()
    marks: Annotated[tuple[str, ...], Field(description="Codes of what in it gives instructions to agents.")] = ()
    """What has any is never approved by a rule."""
    redactions: Annotated[Mapping[str, int], Field(description="Placeholders of each kind.")] = field(
        default_factory=dict
    )
    sensitive: bool = False
    """A reviewer requests a second review."""
    decided_at: str | None = None
    decided_by: Annotated[str | None, Field(description="A reviewer, or `rule:{id}`.")] = None
    reason: Annotated[str | None, Field(description="Why it was rejected, or is not valid any more.")] = None
    is_public: bool = False
    published_at: str | None = None
    invalid_at: Annotated[str | None, Field(description="Since when it is not true any more.")] = None
    expired_at: Annotated[str | None, Field(description="When that was recorded.")] = None
    revision: int = 1
    """Grows with every change: orders writes, and those of the index."""

    @property
    def title(self) -> Annotated[str, Field(description="The first 80 characters.")]:
        return title_of(self.content)

    @property
    def intact(self) -> bool:
        """Whether the text is the one that was contributed."""
        return content_hash(self.content) == self.content_hash


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of an item."""

    helpful: int = 0
    not_helpful: int = 0
    retrieved: int = 0
    """How often it was fetched."""


@dataclass(frozen=True, slots=True)
class Quality:
    """The published quality of an item: three numbers from 0 to 1, and their product (`hive.quality`)."""

    outcomes: float
    freshness: float
    confidence: float

    @property
    def score(self) -> float:
        return round(self.outcomes * self.freshness * self.confidence, 4)


@dataclass(frozen=True, slots=True)
class Contributed:
    """`duplicate`: the same text was there already, and `id` and `status` are its own."""

    id: Annotated[ItemId, Field(description=AN_ID)]
    status: Status
    category: Category
    duplicate: bool = False

    @property
    def answer_status(
        self,
    ) -> Annotated[Literal["queued", "approved"], Field(description="queued is pending: a reviewer decides")]:
        """The status in the words of seed 004."""
        return "queued" if self.status == "pending" else "approved"

    @property
    def message(self) -> Annotated[str, Field(description="What became of it, in a sentence.")]:
        if self.status == "pending":
            return WAITS_ALREADY if self.duplicate else QUEUED
        return THERE_ALREADY if self.duplicate else AT_ONCE


@dataclass(frozen=True, slots=True, kw_only=True)
class HiveQuery:
    """A search of one's own items and of public knowledge."""

    query: str
    category: Category | None = None
    limit: int = DEFAULT_LIMIT
    offset: int = 0
    version: str | None = None
    """Only items about exactly this version."""
    as_of: str | None = None
    """What was true in the world at this time (as `Contribution.valid_at`); None is now."""


@dataclass(frozen=True, slots=True)
class Item:
    """An approved contribution as somebody may see it."""

    contribution: Contribution
    counts: Counts
    quality: Quality
    attribution: Annotated[str, Field(description="Public name of the organisation that contributed it.")]
    own: bool
    """Whether it belongs to the caller's organisation."""

    @property
    def agent(
        self,
    ) -> Annotated[str | None, Field(description="Who contributed it; null for other organisations.")]:
        return self.contribution.agent if self.own else None


@dataclass(frozen=True, slots=True)
class Found:
    item: Item
    relevance: float
    """From 0 to 1, with four decimals."""


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """A page of results. `fallback` is true when no embedding could be had, and words alone were compared."""

    results: tuple[Found, ...]
    total: int
    next_offset: int | None
    fallback: bool = False
    hint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What an agent says became of an item."""

    item: Contribution
    organisation: str
    """Of the agent, which need not be the item's."""
    key: str
    """SHA-256 of account and run: one report for each."""
    outcome: Outcome
    day: str
    """`2026-11-23`: for each organisation and outcome one report counts in a day."""


@dataclass(frozen=True, slots=True)
class Reported:
    """`counted` is false for an outcome that was recorded, but not counted: its organisation reported one today."""

    id: ItemId
    outcome: Outcome
    counted: Annotated[bool, Field(description="False where your organisation reported the same of the item today.")]
    repeated: Annotated[
        bool, Field(description="True where you reported on it in this task before: that report stands.")
    ] = False
    counts: Counts = field(default_factory=Counts)

    @property
    def message(self) -> str:
        if self.repeated:
            return "You have reported on this item in this task before: that report stands."
        if not self.counted:
            return "Recorded, not counted: your organisation reported this of the item today."
        return "Counted."


@dataclass(frozen=True, slots=True)
class Near:
    """What resembles a contribution. `similarity` is of words or of meaning, from 0 to 1."""

    contribution: Contribution
    similarity: float
    by: Literal["words", "meaning"]
    own: Annotated[bool, Field(description="False is public knowledge of another organisation.")] = True


@dataclass(frozen=True, slots=True)
class Review:
    """What to know of a contribution before deciding."""

    contribution: Contribution
    marks: tuple[Mark, ...]
    near: tuple[Near, ...]
    item: Item | None = None
    """Counts and quality of what is approved."""

    @property
    def counts(self) -> Counts:
        return self.item.counts if self.item else Counts()

    @property
    def quality(self) -> Annotated[Quality | None, Field(description="Of what is approved.")]:
        return self.item.quality if self.item else None


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoApproval:
    """A rule of an organisation: what passes all of its conditions, and has neither marks nor near duplicates, is
    approved as it comes."""

    id: str
    category: Category | None = None
    """None is every category; a rule names a category, an agent or both."""
    agent: str | None = None
    """`Author.name` of whoever contributes."""
    min_confidence: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What an organisation has decided for its hive."""

    approvals: tuple[AutoApproval, ...] = ()
    patterns: tuple[str, ...] = ()
    """Regular expressions (RE2) of what is masked besides."""
    allowed: tuple[str, ...] = ()
    """Texts that are never masked."""
    revision: int = 0


MAX_RULES, MAX_PATTERNS, MAX_ALLOWED = 50, 50, 500
MAX_PATTERN_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Contributor:
    """Pending contributions by contributor: a flood is seen here."""

    agent: str
    pending: int
    refused: Annotated[int, Field(description="Over its limits, within the last day.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Figures of one organisation."""

    pending: int
    approved: int
    rejected: int
    """Ever, but for those that were deleted; their records go after 180 days."""
    contributed: int
    """All that were ever queued."""
    published: int
    retrieved: Annotated[int, Field(description="Fetches of others' items by your agents.")]
    served: Annotated[int, Field(description="Fetches of your items by anybody.")]
    oldest_pending: str | None
    by_category: Mapping[Category, int]
    """Of items."""
    contributors: tuple[Contributor, ...] = ()
    model: Annotated[str, Field(description="Whose vectors are searched, as stored at the first start.")] = ""
    model_changed: Annotated[bool, Field(description="Another one is configured than was stored.")] = False
