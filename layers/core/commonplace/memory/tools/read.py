"""The tools `kb_get`, `kb_get_related`, `kb_list` and `kb_stats`, which read without a search."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from pydantic import Field

from commonplace.memory import validation
from commonplace.memory.model import (
    DEFAULT_LISTED,
    DEFAULT_RELATED,
    MAX_LISTED,
    MAX_OFFSET,
    MAX_RELATED,
    MAX_RELEVANCE,
    Direction,
    Entry,
    EntryType,
    Mean,
    Metrics,
    Order,
    Related,
    Role,
)
from commonplace.memory.search import beginning
from commonplace.memory.tools.answers import RelatedEntry, Told, facts, fitted, told, whole
from commonplace.memory.tools.services import MemoryServices
from commonplace.web.mcp import budgets
from commonplace.web.mcp.budgets import MAX_TOKENS, escaped, piece
from commonplace.web.mcp.declaration import (
    Answer,
    Call,
    SnakeCaseArguments,
    SnakeCaseOutput,
    SnakeCasePart,
    Tool,
)
from commonplace.web.mcp.rendering import compact, cost

GET, LIST = "kb_get", "kb_list"
MORE = "+"
"""After a total that is not all."""
MARGIN = 200
"""Tokens for the handle of a long entry, and for notes of the frame."""
MAX_READ_METADATA = 3_000
"""Characters of JSON in the text: with more of them, some entries would leave no room for their content."""
MAX_VERSION_CHARACTERS = 160
COMPARED = (
    *("content", "entry_type", "roles", "tags", "confidence", "source_file", "source_story", "parent_id"),
    *("superseded_by", "metadata"),
)
METADATA_IS_DATA = "Its metadata is in the structured answer."


class GetArguments(SnakeCaseArguments):
    id: str = Field(description="UUID of the entry")
    cursor: str | None = Field(None, description="next_cursor of the part before, of a very long entry")
    as_of: str | None = Field(None, description="As it was then: ISO date, at its end, or time")
    history: bool = Field(False, description="With its former versions, the 20 last ones")


class Version(SnakeCasePart):
    version: int
    updated_at: str
    changed: list[str] = Field(description="What differs from the version before")
    content: str = Field(description="Its beginning; as_of gives it whole")


class RelevancePart(SnakeCasePart):
    votes: int
    mean: float


class WholeEntry(SnakeCaseOutput, Told):
    content_hash: str = Field(description="SHA-256 of the content, folded")
    next_cursor: str | None = Field(None, description="Where the content goes on")
    relevance: RelevancePart | None = Field(None, description="As kb_rate has it, 0 to 5")
    history: list[Version] | None = Field(None, description="Versions, the newest first")


def get_tools(using: MemoryServices) -> tuple[Tool, ...]:
    return (
        Tool(
            name=GET,
            title="Read an entry",
            description="One entry of the team's memory, whole.",
            arguments=GetArguments,
            output=WholeEntry,
            run=partial(kb_get, using),
            tier="member",
        ),
    )


def kb_get(using: MemoryServices, call: Call, asked: GetArguments) -> Answer:
    id, moment = validation.entry_id(asked.id), validation.moment(asked.as_of)
    entry = using.memory.as_of(call.author, id, moment) if moment else using.memory.get(call.author, id)
    versions = _versions(using.memory.history(call.author, id)) if asked.history else None
    rated = using.memory.relevance(call.author, id)
    start = _position(entry, asked.cursor)
    share = max(MAX_TOKENS - MARGIN - cost(_whole(entry, "", None, start, rated=rated, versions=versions)), 1)
    while True:
        part = piece(entry.content, start, max_tokens=share, write=escaped)
        cursor = None if part.complete else budgets.handle(part.end, tool=GET, question=entry.id, version=_of(entry))
        answer = _whole(entry, part.text, cursor, start, rated=rated, versions=versions)
        if share <= 1 or cost(answer) <= MAX_TOKENS - MARGIN:
            return answer
        share = share * 19 // 20


def _position(entry: Entry, cursor: str | None) -> int:
    if cursor is None:
        return 0
    found = budgets.resume(cursor, tool=GET, question=entry.id, version=_of(entry))
    return found if isinstance(found, int) else 0


def _of(entry: Entry) -> str:
    return f"{entry.version} {entry.content_hash}"


def _versions(history: Sequence[Entry]) -> list[Version]:
    """The newest first."""
    before: tuple[Entry | None, ...] = (None, *history)
    found = [
        Version(
            version=now.version,
            updated_at=now.updated_at,
            changed=[name for name in COMPARED if was and getattr(now, name) != getattr(was, name)],
            content=beginning(now.content, MAX_VERSION_CHARACTERS),
        )
        for was, now in zip(before, history, strict=False)
    ]
    return found[::-1]


def _version_told(one: Version) -> str:
    changed = f", changed {', '.join(one.changed)}" if one.changed else ""
    return f"- version {one.version} of {one.updated_at}{changed}: {one.content}"


def _whole(
    entry: Entry, content: str, cursor: str | None, start: int, *, rated: Mean, versions: Sequence[Version] | None
) -> Answer:
    data = WholeEntry(
        **whole(entry, content),
        content_hash=entry.content_hash,
        next_cursor=cursor,
        truncated=True if cursor or start else None,
        relevance=None if rated.mean is None else RelevancePart(votes=rated.n, mean=rated.mean),
        history=versions,
    )
    of = f"characters {start + 1:,} to {start + len(content):,} of {len(entry.content):,}"
    part = f"This is a part: {of}." + (f" {GET} goes on with cursor `{cursor}`." if cursor else "")
    times = f"Created {entry.created_at}, changed {entry.updated_at}, SHA-256 {entry.content_hash}"
    times += f", relevance {rated.mean:g} of {counted_votes(rated.n)}" if rated.mean is not None else ""
    long = len(compact(data.metadata)) > MAX_READ_METADATA
    read = data.model_copy(update={"truncated": None} | ({"metadata": None} if long else {}))
    rest = [*([part] if data.truncated else []), *([METADATA_IS_DATA] if long else []), times]
    rest += ["\n".join(map(_version_told, versions))] if versions else []
    return Answer("\n\n".join([told(read), *rest]), data)


class RelatedArguments(SnakeCaseArguments):
    entry_id: str = Field(description="UUID of the entry")
    limit: int = Field(DEFAULT_RELATED, ge=1, le=MAX_RELATED)


class ListArguments(SnakeCaseArguments):
    role: Role | None = Field(None, description="Entries for this role, and for all; `all` is no filter")
    tags: list[str] | None = Field(None, description="Entries with all of them")
    entry_type: EntryType | None = None
    limit: int = Field(DEFAULT_LISTED, ge=1, le=MAX_LISTED)
    offset: int = Field(0, ge=0, le=MAX_OFFSET)
    order_by: Order = "created_at"
    order: Direction = "desc"
    source_story: str | None = Field(None, description="Entries of this story")
    source_file: str | None = Field(None, description="Entries of this file")
    since: str | None = Field(None, description="Created at or after this ISO date or time")
    until: str | None = Field(None, description="Created up to this ISO date, its whole day, or time")
    cursor: str | None = Field(None, description="next_cursor of the part before: sooner than a high offset")


class StatsArguments(SnakeCaseArguments):
    metrics: bool = Field(False, description="Also tokens, recurrence, relevance and adoption by story")


class RateArguments(SnakeCaseArguments):
    id: str = Field(description="UUID of an entry that kb_search found")
    relevance: int = Field(ge=0, le=MAX_RELEVANCE, description="0 useless, 5 exactly what was needed")
    story: str | None = Field(None, description="The story you are in: each has one vote of yours on an entry")


class Rated(SnakeCaseOutput):
    success: bool
    votes: int = Field(description="How many the entry has")
    mean: float


class RelatedEntries(SnakeCaseOutput):
    entries: list[RelatedEntry]


class Listed(SnakeCaseOutput):
    entries: list[Told]
    total: int
    total_is_least: bool | None = Field(None, description="There may be more: not all were counted")
    next_offset: int | None = Field(None, description="Where the list goes on")
    next_cursor: str | None = Field(None, description="The same, for `cursor`, with the other arguments as they are")


class Figures(SnakeCaseOutput):
    total_entries: int
    by_type: dict[str, int]
    by_role: dict[str, int]
    avg_confidence: float
    last_updated: str | None = None
    cache_size: int = Field(description="Vectors kept")
    queries: dict[str, dict[str, int]] = Field(description="Searches by phase and role")
    recurrences: int = Field(description="How often a story learned again what another had")
    metrics: dict[str, Any] | None = None


def tools(using: MemoryServices) -> tuple[Tool, ...]:
    return (
        Tool(
            name="kb_get_related",
            title="Related entries",
            description="What belongs to an entry: others of the same story summary, its parent and children, then "
            "entries that share two tags or more.",
            arguments=RelatedArguments,
            output=RelatedEntries,
            run=partial(kb_get_related, using),
            tier="member",
            exact=True,
        ),
        Tool(
            name=LIST,
            title="List entries",
            description="Entries by role, tags, type, source and time, in order, without a search.",
            arguments=ListArguments,
            output=Listed,
            run=partial(kb_list, using),
            tier="member",
            exact=True,
        ),
        Tool(
            name="kb_stats",
            title="Figures of the memory",
            description="How many entries there are, for whom, how sure, and how often the memory is asked.",
            arguments=StatsArguments,
            output=Figures,
            run=partial(kb_stats, using),
            tier="member",
        ),
        Tool(
            name="kb_rate",
            title="Rate a hit",
            description="Says how relevant an entry was that a search found, 0 to 5. Again replaces your vote of the "
            "same story. It changes figures, not entries.",
            arguments=RateArguments,
            output=Rated,
            run=partial(kb_rate, using),
            tier="member",
            level="write",
            cost="write",
            read_only=False,
        ),
    )


def kb_get_related(using: MemoryServices, call: Call, asked: RelatedArguments) -> Answer:
    id = validation.entry_id(asked.entry_id, "entry_id")
    related = using.memory.related(call.author, id, asked.limit)
    shown = fitted(related, lambda one: (one.entry.content,) * 2, _related, _related_line, usual=DEFAULT_RELATED)
    head = f"{len(shown.rows)} related to `{id}`:" if related else f"Nothing is related to `{id}`."
    return Answer("\n\n".join([head, *shown.text]), RelatedEntries(entries=shown.rows))


def kb_list(using: MemoryServices, call: Call, asked: ListArguments) -> Answer:
    given = dict(asked)
    question = compact({name: one for name, one in given.items() if name not in ("limit", "offset", "cursor")})
    at, counted, after = _list_position(given.pop("cursor"), question)
    known = int(counted.removesuffix(MORE)) if counted else None
    listing = replace(validation.listing(**given), after=after, total=known, whole=not counted.endswith(MORE))
    begin = at + listing.offset
    answer = using.memory.list(call.author, listing)
    shown = fitted(
        answer.entries,
        lambda entry: (entry.content,) * 2,
        lambda entry, content: Told(**facts(entry, content)),
        lambda number, one: told(one, head=f"{begin + number}. "),
        usual=DEFAULT_LISTED,
    )
    end = begin + len(shown.rows)
    further, cursor = None, None
    total = answer.total if answer.whole else max(answer.total, end)
    head = (
        f"{total} {'in all' if answer.whole else 'or more'}"
        + (f", here {begin + 1} to {end}" if shown.rows else "")
        + "."
    )
    cut = len(shown.rows) < len(answer.entries)
    if cut or answer.more:
        last = answer.places[len(shown.rows) - 1] if cut else answer.last
        further = end
        counted = f"{total}{'' if answer.whole else MORE}"
        cursor = budgets.handle(f"{end} {counted} {last}", tool=LIST, question=question, version="")
        head += " An answer holds no more." if cut else ""
        head += f" More: cursor `{cursor}`, the soonest, or offset {further} without it."
    least = None if answer.whole else True
    data = Listed(entries=shown.rows, total=total, total_is_least=least, next_offset=further, next_cursor=cursor)
    return Answer("\n\n".join([head, *shown.text]), data)


def _list_position(cursor: str | None, question: str) -> tuple[int, str, str]:
    """How many entries were before, how many there are in all, and the position of the last one before."""
    if cursor is None:
        return 0, "", ""
    number, total, last = str(budgets.resume(cursor, tool=LIST, question=question, version="")).split(" ", 2)
    return int(number), total, last


def kb_rate(using: MemoryServices, call: Call, asked: RateArguments) -> Answer:
    rated = using.memory.rate(
        call.author, validation.entry_id(asked.id), asked.relevance, validation.story(asked.story)
    )
    data = Rated(success=True, votes=rated.n, mean=rated.mean or 0)
    return Answer(f"Kept {asked.relevance} for `{asked.id}`: mean {data.mean:g} of {counted_votes(data.votes)}.", data)


def counted_votes(n: int) -> str:
    return f"{n} vote{'' if n == 1 else 's'}"


def kb_stats(using: MemoryServices, call: Call, asked: StatsArguments) -> Answer:
    stats = using.memory.stats(call.author)
    queries: dict[str, dict[str, int]] = {}
    for (phase, role), count in sorted(stats.queries.items()):
        queries.setdefault(phase, {})[role] = count
    data = Figures(
        total_entries=stats.total_entries,
        by_type={str(name): count for name, count in stats.by_type.items()},
        by_role={str(name): count for name, count in stats.by_role.items()},
        avg_confidence=round(stats.avg_confidence, 4),
        last_updated=stats.last_updated,
        cache_size=stats.cache_size,
        queries=queries,
        recurrences=stats.recurrences,
        metrics=metrics_of(using.memory.metrics(call.author)) if asked.metrics else None,
    )
    return Answer(_figures_told(data), data)


def _related(one: Related, content: str) -> RelatedEntry:
    return RelatedEntry(**facts(one.entry, content), relation=one.relation, shared_tags=list(one.shared))


def _related_line(number: int, one: RelatedEntry) -> str:
    return told(one, head=f"{number}. {one.relation} ", shares=", ".join(one.shared_tags))


def _figures_told(data: Figures) -> str:
    def listed(counts: dict[str, Any]) -> str:
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
