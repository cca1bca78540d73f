"""`kb_get_related`, `kb_list` and `kb_stats`: what is there, without a search."""

from functools import partial
from typing import Any

from pydantic import Field

from commonplace.memory import checking
from commonplace.memory.entries import EntryType, Role
from commonplace.memory.model import (
    DEFAULT_LISTED,
    DEFAULT_RELATED,
    MAX_LISTED,
    MAX_RELATED,
    Direction,
    Order,
    Related,
)
from commonplace.memory.tools.answers import fitted
from commonplace.memory.tools.entries import RelatedEntry, Told, facts, told
from commonplace.memory.tools.services import MemoryArguments, MemoryOutput, MemoryServices, author_of
from commonplace.web.mcp.declaration import Answer, Call, NoArguments, Tool


class RelatedArguments(MemoryArguments):
    entry_id: str = Field(description="UUID of the entry")
    limit: int = Field(DEFAULT_RELATED, ge=1, le=MAX_RELATED)


class ListArguments(MemoryArguments):
    role: Role | None = Field(None, description="Entries for this role, and for all; `all` is no filter")
    tags: list[str] | None = Field(None, description="Entries with all of them")
    entry_type: EntryType | None = None
    limit: int = Field(DEFAULT_LISTED, ge=1, le=MAX_LISTED)
    offset: int = Field(0, ge=0, le=checking.MAX_OFFSET)
    order_by: Order = "created_at"
    order: Direction = "desc"


class RelatedEntries(MemoryOutput):
    entries: list[RelatedEntry]


class Listed(MemoryOutput):
    entries: list[Told]
    total: int
    next_offset: int | None = Field(None, description="Where the list goes on")


class Figures(MemoryOutput):
    total_entries: int
    by_type: dict[str, int]
    by_role: dict[str, int]
    avg_confidence: float
    last_updated: str | None = None
    cache_size: int = Field(description="Vectors kept")
    queries: dict[str, dict[str, int]] = Field(description="Searches by phase and role")


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
            name="kb_list",
            title="List entries",
            description="Entries by role, tags and type, in order, without a search.",
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
            arguments=NoArguments,
            output=Figures,
            run=partial(kb_stats, using),
            tier="member",
        ),
    )


def kb_get_related(using: MemoryServices, call: Call, asked: RelatedArguments) -> Answer:
    id = checking.entry_id(asked.entry_id, "entry_id")
    related = using.memory.related(author_of(call), id, checking.related_limit(asked.limit))
    shown = fitted(related, lambda one: (one.entry.content,) * 2, _related, _related_line, usual=DEFAULT_RELATED)
    head = f"{len(shown.rows)} related to `{id}`:" if related else f"Nothing is related to `{id}`."
    return Answer("\n\n".join([head, *shown.text]), RelatedEntries(entries=shown.rows))


def kb_list(using: MemoryServices, call: Call, asked: ListArguments) -> Answer:
    listing = checking.listing(
        role=asked.role,
        tags=asked.tags,
        entry_type=asked.entry_type,
        limit=asked.limit,
        offset=asked.offset,
        order_by=asked.order_by,
        order=asked.order,
    )
    answer = using.memory.list(author_of(call), listing)
    shown = fitted(
        answer.entries,
        lambda entry: (entry.content,) * 2,
        lambda entry, content: Told(**facts(entry, content)),
        lambda number, one: told(one, head=f"{asked.offset + number}. "),
        usual=DEFAULT_LISTED,
    )
    end = asked.offset + len(shown.rows)
    further = end if shown.rows and end < answer.total else None
    head = f"{answer.total} in all" + (f", here {asked.offset + 1} to {end}" if shown.rows else "") + "."
    head += f" More: offset {further}." if further else ""
    data = Listed(entries=shown.rows, total=answer.total, next_offset=further)
    return Answer("\n\n".join([head, *shown.text]), data)


def kb_stats(using: MemoryServices, call: Call, _: NoArguments) -> Answer:
    stats = using.memory.stats(author_of(call))
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
        )
    )
