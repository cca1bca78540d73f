"""What is shown of entries, as text and as data: as many as fit, and as much of each. Never organisations or vectors.

Room that short entries leave goes to the long ones.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import Field

from commonplace.memory.model import Entry, EntryType, Metrics, Recurrence, Role, Status
from commonplace.search.model import Fit
from commonplace.web.faces import Face
from commonplace.web.mcp.budgets import MAX_TOKENS, escaped, estimate_tokens, fitting, piece
from commonplace.web.mcp.rendering import compact

MAX_LISTED_METADATA = 300
"""Characters of JSON: more of it is returned by kb_get alone."""

LIST_TOKENS = 2_700
"""The tokens of an answer with entries by default: about 8 KB, for ids, names and times weigh more than prose."""
HEAD_TOKENS = 120
"""For what is said of the answer as a whole, and for notes of the frame."""
LEAST_CONTENT = 40
"""Tokens of an entry's content for which there is always room."""

ID = "0b5f7c9e-3c1d-4f0a-9a58-2f1f6a7c1d20"
AT = "2026-11-23T08:00:00.000000Z"
NEW: dict[str, Any] = {
    "content": "Lock rows in one order: sort the ids before SELECT FOR UPDATE, or two transactions block each other.",
    "entryType": "fact",
    "roles": ["dev"],
    "tags": ["database", "locks"],
    "sourceStory": "STORY-12",
}
EXAMPLE: dict[str, Any] = {
    "id": ID,
    "content": NEW["content"],
    "entry_type": "fact",
    "roles": ["dev"],
    "tags": NEW["tags"],
    "confidence": 1.0,
    "source_story": "STORY-12",
    "created_at": AT,
    "updated_at": AT,
    "version": 1,
}
"""One entry, as documents show it."""

Item = TypeVar("Item")


class EntryFace(Face):
    id: str
    content: str
    truncated: bool | None = Field(None, description="There is more: use kb_get")
    entry_type: EntryType
    roles: list[Role]
    tags: list[str]
    confidence: float
    source_file: str | None = None
    source_story: str | None = None
    parent_id: str | None = None
    metadata: dict[str, Any] | None = None
    supersedes: str | None = None
    superseded_by: str | None = None
    seen: int | None = Field(None, description="How many further stories learned it again")
    seen_in: list[str] | None = None
    created_at: str
    updated_at: str
    version: int


SHOWN = tuple(name for name in EntryFace.model_fields if name != "truncated")
ABSENT_WHEN_EMPTY = ("metadata", "seen", "seen_in")


class FoundEntry(EntryFace):
    score: float
    fit: Fit
    duplicates: list[str] | None = Field(None, description="Ids of entries with nearly the same text")


class RelatedEntry(EntryFace):
    relation: str = Field(description="sibling, parent, child or tags")
    shared_tags: list[str]


class Version(Face):
    version: int
    updated_at: str
    changed: list[str] = Field(description="What differs from the version before")
    content: str = Field(description="Its beginning; as_of gives it whole")


class RelevancePart(Face):
    votes: int
    mean: float


class WholeEntry(EntryFace):
    content_hash: str = Field(description="SHA-256 of the content, folded")
    next_cursor: str | None = Field(None, description="Where the content continues")
    relevance: RelevancePart | None = Field(None, description="As kb_rate has it, 0 to 5")
    history: list[Version] | None = Field(None, description="Versions, the newest first")


class RecurrencePart(Face):
    """A lesson that a further story learned again."""

    id: str
    first_story: str | None = None
    seen: int = Field(description="How many further stories had learned it, with this one")


class Searched(Face):
    entries: list[FoundEntry]
    fallback: bool = Field(description="Only words were compared")
    folded: int | None = Field(None, description="Entries that are nearly equal to these and left out")
    hints: list[str] | None = None


class RelatedEntries(Face):
    entries: list[RelatedEntry]


class Listed(Face):
    entries: list[EntryFace]
    total: int
    total_is_least: bool | None = Field(None, description="There may be more: not all were counted")
    next_offset: int | None = Field(None, description="Where the list continues")
    next_cursor: str | None = Field(None, description="The same, for `cursor`, with the other arguments as they are")


class Figures(Face):
    total_entries: int
    by_type: dict[str, int]
    by_role: dict[str, int]
    avg_confidence: float
    last_updated: str | None = None
    cache_size: int = Field(description="Cached vectors")
    queries: dict[str, dict[str, int]] = Field(description="Searches by phase and role")
    recurrences: int = Field(description="How often a story learned again what another had")
    metrics: dict[str, Any] | None = None


class Rated(Face):
    success: bool
    votes: int = Field(description="How many the entry has")
    mean: float


class NearEntry(Face):
    id: str
    similarity: float
    excerpt: str


class AddedEntry(Face):
    id: str
    success: bool
    duplicate: bool = Field(description="It was there already, as id")
    embedded: bool | None = Field(None, description="False while only its words are found")
    nearest: list[NearEntry] | None = Field(None, description="Entries that come near it")
    recurrence: RecurrencePart | None = Field(None, description="Another story learned it before")


class UpdatedEntry(Face):
    success: bool
    re_embedded: bool
    version: int


class DeletedEntry(Face):
    success: bool


class ImportProgress(Face):
    imported: int
    skipped: int
    errors: list[str] = Field(description="Each begins with the entry's place")
    total: int
    processed: int
    status: Status
    handle: str | None = None
    ids: dict[str, str] | None = Field(None, description="By ref or place; of small imports")
    recurrences: list[RecurrencePart] | None = Field(None, description="What other stories learned before")


class RebuildProgress(Face):
    total: int
    processed: int
    status: Status
    handle: str | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """A result with its data as its face has it, and the text that a model reads."""

    text: str
    data: Face
    notes: ClassVar[None] = None
    """The frame adds its own."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.data, name)


def recurrence(one: Recurrence) -> RecurrencePart:
    return RecurrencePart(id=one.id, first_story=one.first or None, seen=one.seen)


def recurrence_line(one: RecurrencePart) -> str:
    first = f" (first in {one.first_story})" if one.first_story else ""
    return f"`{one.id}` was learned before{first}, and is seen again: {one.seen}."


def whole(entry: Entry, content: str) -> dict[str, Any]:
    """Return everything of an entry but its hash."""
    values = {name: getattr(entry, name) for name in SHOWN}
    absent = {name: None for name in ABSENT_WHEN_EMPTY if not values[name]}
    return values | absent | {"content": content}


def facts(entry: Entry, content: str) -> dict[str, Any]:
    """Return an entry in a list, with as much of its content as there is room for."""
    metadata = dict(entry.metadata)
    shown = metadata if len(compact(metadata)) <= MAX_LISTED_METADATA else {}
    return whole(entry, content) | {
        "metadata": shown or None,
        "truncated": True if content != entry.content or shown != metadata else None,
    }


def entry_text(one: EntryFace, *, head: str = "", **more: str | None) -> str:
    """Return one entry for a reader: what it is in one line, then its text."""
    described = (
        f"{head}`{one.id}`",
        one.entry_type,
        f"for {', '.join(one.roles)}",
        f"confidence {one.confidence:g}",
        *(f"{name.replace('_', ' ')} {value}" for name, value in more.items() if value),
        f"tags: {', '.join(one.tags)}" if one.tags else None,
        one.source_story,
        one.source_file,
        f"parent `{one.parent_id}`" if one.parent_id else None,
        f"seen again in {one.seen} more: {', '.join(one.seen_in or ())}" if one.seen else None,
        f"metadata {compact(one.metadata)}" if one.metadata else None,
        f"supersedes `{one.supersedes}`" if one.supersedes else None,
        f"superseded by `{one.superseded_by}`" if one.superseded_by else None,
        f"version {one.version} of {one.updated_at[:10]}",
    )
    line = " · ".join(part for part in described if part)
    rest = "\n(There is more of it: kb_get.)" if one.truncated else ""
    return f"{line}\n{one.content}{rest}"


def metrics_of(metrics: Metrics) -> dict[str, Any]:
    """Return the four metrics as answers have them."""
    return {
        "tokens_per_story": {
            "with_searches": asdict(metrics.tokens_with_searches),
            "without_searches": asdict(metrics.tokens_without),
            "of_answers": asdict(metrics.answer_tokens),
        },
        "recurrence": {
            "recurrences": metrics.recurrences,
            "most": [
                {"id": one.id, "seen": one.seen, "first_story": one.first, "last_story": one.story}
                for one in metrics.most
            ],
        },
        "relevance": {
            **asdict(metrics.relevance),
            "votes": {str(vote): n for vote, n in metrics.votes.items()},
            "lowest": [{"id": one.id, **asdict(one.mean)} for one in metrics.lowest],
        },
        "adoption": {**asdict(metrics.searches), "stories_that_searched": metrics.stories_that_searched},
    }


def figures_text(data: Figures) -> str:
    def listed(counts: Mapping[str, Any]) -> str:
        return ", ".join(f"{name} {count}" for name, count in counts.items()) or "none"

    return "\n".join(
        (
            f"{data.total_entries} entries, mean confidence {data.avg_confidence:g}, {data.cache_size} vectors kept.",
            f"By type: {listed(data.by_type)}.",
            f"By role: {listed(data.by_role)}.",
            f"Last changed: {data.last_updated or 'never'}.",
            *(f"Searches, phase {phase}: {listed(roles)}." for phase, roles in data.queries.items()),
            f"Lessons learned again: {data.recurrences}.",
            *([f"Metrics: {compact(data.metrics)}"] if data.metrics else []),
        )
    )


Row = TypeVar("Row", bound=EntryFace)


@dataclass(frozen=True, slots=True)
class Fitted(Generic[Row]):
    """The first items, as text and as data."""

    rows: list[Row]
    text: list[str]


def fitted(
    items: Sequence[Item],
    contents: Callable[[Item], tuple[str, str]],
    row: Callable[[Item, str], Row],
    line: Callable[[int, Row], str],
    *,
    usual: int,
) -> Fitted[Row]:
    """Return the items that fit, the smallest contents whole first: none gets more than it needs.

    `contents` gives an item's whole content and its best part, `row` an item with some content, `line` its text.
    `usual` is the default number of items; a caller who wants more gets more tokens as well.
    """
    budget = min(MAX_TOKENS, max(LIST_TOKENS, LIST_TOKENS * len(items) // usual)) - HEAD_TOKENS
    bare = []
    for item in items:
        empty = row(item, "")
        data = compact(empty.model_dump(mode="json", exclude_none=True))
        bare.append(max(estimate_tokens(line(100, empty)), estimate_tokens(data)) + 2)
    shown = len(fitting(bare, lambda cost: cost + LEAST_CONTENT, budget))
    room = max(budget - sum(bare[:shown]), LEAST_CONTENT)
    given = [contents(item) for item in items[:shown]]
    needs = [_weight(content) for content, _ in given]
    texts = [""] * shown
    for passed, at in enumerate(sorted(range(shown), key=lambda at: needs[at])):
        content, best = given[at]
        share = room // (shown - passed)
        if needs[at] > share:
            content = best if len(best) < len(content) else content
        if _weight(content) > share:
            content = piece(content, max_tokens=share, write=escaped).text.rstrip()
        texts[at] = content
        room -= min(_weight(content), room)
    rows = [row(item, text) for item, text in zip(items, texts, strict=False)]
    return Fitted(rows, [line(number, one) for number, one in enumerate(rows, 1)])


def _weight(text: str) -> int:
    """Tokens of a text as data, where it costs most."""
    return estimate_tokens(escaped(text))
