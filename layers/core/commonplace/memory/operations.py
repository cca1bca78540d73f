"""What agents and people can do with the memory (seed 001, "Tools"): each declared once, for tools, REST and console.

Names, arguments, answers, defaults and bounds of tools are those of the seed. The models here declare them for clients;
`memory.validation` decides. The organisation comes from the actor's verified principal and in no other way.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from pydantic import Field, create_model

from commonplace.identity.authorization import Need
from commonplace.kernel.errors import Forbidden, InvalidInput
from commonplace.kernel.telemetry import count
from commonplace.memory import validation
from commonplace.memory.answers import (
    EXAMPLE,
    ID,
    NEW,
    AddedEntry,
    DeletedEntry,
    EntryFace,
    Figures,
    FoundEntry,
    ImportProgress,
    Listed,
    NearEntry,
    Rated,
    RebuildProgress,
    RelatedEntries,
    RelatedEntry,
    RelevancePart,
    Searched,
    Shown,
    UpdatedEntry,
    Version,
    WholeEntry,
    entry_text,
    facts,
    figures_text,
    fitted,
    metrics_of,
    recurrence,
    recurrence_line,
    whole,
)
from commonplace.memory.model import (
    BATCH,
    DEFAULT_LIMIT,
    DEFAULT_LISTED,
    DEFAULT_MIN_CONFIDENCE,
    DEFAULT_RELATED,
    MAX_CONTENT_BYTES,
    MAX_IMPORT,
    MAX_LIMIT,
    MAX_LISTED,
    MAX_OFFSET,
    MAX_RELATED,
    MAX_RELEVANCE,
    MAX_TAGS,
    ROLES,
    Asked,
    Direction,
    Entry,
    EntryType,
    Found,
    Import,
    Imported,
    Mean,
    Order,
    Phase,
    Rebuilt,
    Role,
)
from commonplace.memory.personal_data import refuse_secrets, without_secrets
from commonplace.memory.search import beginning
from commonplace.search.list_questions import Names, read
from commonplace.web.mcp import budgets
from commonplace.web.mcp.budgets import MAX_TOKENS, escaped, estimate_tokens, piece
from commonplace.web.mcp.declaration import Answer
from commonplace.web.mcp.rendering import compact, cost
from commonplace.web.operations import Actor, Input, Operation, RestName, operation

if TYPE_CHECKING:
    from commonplace.memory.entries import Memory
    from commonplace.memory.personal_data import EntryRedaction

logger = logging.getLogger(__name__)

WORK_SECONDS = 15.0
"""How long a call works at what may take longer; the rest goes on by itself."""
MAX_DUPLICATES = 5
"""Ids of entries with nearly the same text that are listed for one."""
GET, LIST_NAME = "kb_get", "kb_list"
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
MAX_VALUES = 200_000
"""Values in the arguments of an import: more than a request's body can hold."""
MAX_TOLD_RECURRENCES = 100
MAX_TOLD_ERRORS = 30
MAX_TOLD_IDS = 100
"""Beyond these an answer only counts."""
MAX_ID_TOKENS = 12_000
"""The tokens of all ids as data: a name may have 200 characters."""
MAX_READ_IDS = 20
"""In the text, which is for readers: whoever imported more is a program, and reads the data."""

FALLBACK = "The model that compares meaning does not answer just now: only words were compared."
NOTHING = (
    "Try other words, fewer conditions (role, tags, entry_type) or a lower min_confidence. Or nobody noted it yet."
)
LIST = "This asks for a list, and these are only the best of a search: `kb_list` with {} gives all."
METADATA_IS_DATA = "Its metadata is in the structured answer."
WORDS_ONLY = "Its vectors follow; until then it is found by its words."
IDS_ARE_DATA = "The ids of all of them are in the structured answer."

RESTORE = Need("member", "memory:admin")

LISTED: Names = {
    **dict.fromkeys(("facts", "lessons", "learnings"), ("T", ("fact",))),
    **dict.fromkeys(("fact", "lesson", "learning"), ("S", ("fact",))),
    "summaries": ("T", ("summary",)),
    "templates": ("T", ("template",)),
    "for": ("b", ()),
    **{f"@{role}{more}": ("A", (role,)) for role in ROLES for more in ("", " role")},
    **dict.fromkeys(("learned", "learnt", "noted"), ("w", ())),
}
"""Words of questions for lists of entries, beside those of `search.list_questions`."""

IMPORT_SCHEMA: Mapping[str, Any] = json.loads(Path(__file__).with_name("import_schema.json").read_text("utf-8"))
"""What clients are shown. Each entry is checked by itself: one that is wrong costs the others nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryServices:
    """What operations work with."""

    memory: Memory
    default_limit: int = DEFAULT_LIMIT
    """Entries that a search gives by default."""
    min_confidence: float = DEFAULT_MIN_CONFIDENCE
    """The least confidence of what a search gives by default."""
    entry_redaction: EntryRedaction | None = None
    """What takes personal data out of entries, where a deployment wants that."""
    monotonic: Callable[[], float] = time.monotonic
    """Seconds, from any moment on."""

    def enough(self) -> Callable[[], bool]:
        """Return whether a call has worked for as long as it may, or would with one more batch."""
        last = self.monotonic()
        until = last + WORK_SECONDS

        def enough() -> bool:
            nonlocal last
            before, last = last, self.monotonic()
            return last + (last - before) >= until

        return enough


class SearchArguments(Input):
    query: Annotated[str, RestName("q")] = Field(description="A question or a task, in your own words")
    role: Role | None = Field(None, description="Entries for this role, and for all; `all` is not a filter")
    tags: list[str] | None = Field(None, description="Entries with any of them")
    entry_type: EntryType | None = None
    limit: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)
    min_confidence: float = Field(DEFAULT_MIN_CONFIDENCE, ge=0, le=1)
    phase: Phase | None = Field(None, description="Of the story you are in: only counted")
    story: str | None = Field(None, description="The story you are in: only counted")
    source_story: str | None = Field(None, description="Entries of this story")
    source_file: str | None = Field(None, description="Entries of this file")
    since: str | None = Field(None, description="Created at or after this ISO date or time")
    until: str | None = Field(None, description="Created up to this ISO date, its whole day, or time")
    collapse: bool = Field(True, description="false shows nearly equal entries one by one")


class GetArguments(Input):
    id: str = Field(description="UUID of the entry")
    cursor: str | None = Field(None, description="next_cursor of the previous part of a very long entry")
    as_of: str | None = Field(None, description="As it was then: ISO date, at its end, or time")
    history: bool = Field(False, description="With its former versions, the 20 last ones")


class RelatedArguments(Input):
    entry_id: Annotated[str, RestName("id")] = Field(description="UUID of the entry")
    limit: int = Field(DEFAULT_RELATED, ge=1, le=MAX_RELATED)


class ListArguments(Input):
    role: Role | None = Field(None, description="Entries for this role, and for all; `all` is not a filter")
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


class StatsArguments(Input):
    metrics: bool = Field(False, description="Also tokens, recurrence, relevance and adoption by story")


class RateArguments(Input):
    id: str = Field(description="UUID of an entry that kb_search found")
    relevance: int = Field(ge=0, le=MAX_RELEVANCE, description="0 useless, 5 exactly what was needed")
    story: str | None = Field(None, description="The story you are in: each has one vote of yours on an entry")


class AddArguments(Input):
    content: str = Field(description=f"What is worth knowing, to be read by itself; at most {MAX_CONTENT_BYTES} bytes")
    entry_type: EntryType = Field(description="fact: one thing learned; summary: of a story; template: a document")
    roles: list[Role] = Field(description="For whom")
    tags: list[str] | None = Field(None, description=f"Subjects, at most {MAX_TAGS}")
    source_file: str | None = None
    source_story: str | None = Field(None, description="Id of the story it comes from")
    parent_id: str | None = Field(None, description="The summary that a fact belongs to")
    confidence: float | None = Field(None, ge=0, le=1, description="Default 1; 0.8 until validated")
    metadata: dict[str, Any] | None = None
    supersedes: str | None = Field(None, description="Id of an entry that this one replaces, which is no longer found")
    idempotency_key: str | None = Field(None, description="Your key for this request: sent twice, it is executed once")
    recurs_of: str | None = Field(None, description="An entry that says it in other words: it is seen again")


class UpdateArguments(Input):
    id: str
    content: str | None = Field(None, min_length=1)
    entry_type: EntryType | None = None
    roles: list[Role] | None = None
    tags: list[str] | None = Field(None, description="Replace its tags")
    confidence: float | None = Field(None, ge=0, le=1)
    source_file: str | None = None
    source_story: str | None = None
    parent_id: str | None = None
    superseded_by: str | None = Field(None, description="Id of the entry that replaces it; it is no longer found")
    remove: list[Literal["source_file", "source_story", "parent_id", "superseded_by"]] | None = Field(
        None, description="Fields to remove"
    )
    metadata: dict[str, Any] | None = Field(None, description="Merged with its metadata; null removes a key")
    expected_version: int | None = Field(None, description="Fail if its version differs")


class OneEntry(Input):
    id: str


class DeleteArguments(OneEntry):
    undo: bool = Field(False, description="Bring it back, up to 30 days later")


class ImportArguments(Input):
    entries: list[Any] | str | None = None
    skip_existing: bool = Field(True, description="false: content that is there already is an error of its entry")
    handle: str | None = Field(None, description="Alone: progress of the import with this handle")


class RebuildArguments(Input):
    batch_size: int = Field(BATCH, ge=1, le=BATCH)
    clear_cache: bool = Field(True, description="Discard cached vectors")
    handle: str | None = Field(None, description="Alone: progress of the rebuild with this handle")


class Handle(Input):
    handle: str = Field(description="The handle that the first call returned")


class NewImport(Input):
    entries: list[Any] | str = Field(description=f"At most {MAX_IMPORT} entries, or YAML text of such a list")
    skip_existing: bool = Field(True, description="false: content that is there already is an error of its entry")


def _text(shown: Shown) -> str:
    return shown.text


READ, WRITE = {"text": _text, "tier": "member"}, {"text": _text, "tier": "member", "level": "write"}


@operation(
    "memory",
    **READ,
    title="Search the team's memory",
    input=SearchArguments,
    output=Searched,
    cost="search",
    exact=True,
    command="search",
    rest="GET /memory/search",
    operation_id="searchMemory",
    answer="The best first, as many as fit in one answer.",
    example=Searched(entries=[FoundEntry(**EXAMPLE, score=0.0163, fit="strong")], fallback=False),
)
def kb_search(using: MemoryServices, actor: Actor, given: SearchArguments) -> Shown:
    """Search what the team learned, by meaning and words: facts, story summaries, templates. Use it before a phase, a
    decision or an unfamiliar task, and on an error you meet."""
    question = validation.asked(**dict(given))
    answer = using.memory.search(actor.author, question)
    note_query(question, fallback=answer.fallback)

    def row(found: Found, content: str) -> FoundEntry:
        duplicates = list(map(str, found.duplicates[:MAX_DUPLICATES])) or None
        score = round(found.score, 6)
        return FoundEntry(**facts(found.entry, content), score=score, fit=found.fit, duplicates=duplicates)

    def line(number: int, one: FoundEntry) -> str:
        near = ", ".join(f"`{id}`" for id in one.duplicates or ())
        return entry_text(one, head=f"{number}. {'weak match ' if one.fit == 'weak' else ''}", nearly_the_same_as=near)

    shown = fitted(answer.found, lambda one: (one.entry.content, one.excerpt), row, line, usual=DEFAULT_LIMIT)
    hints = [FALLBACK] if answer.fallback else []
    hints += [NOTHING] if answer.hint or not answer.found else []
    hints += _list_of(given.query)
    if folded := sum(len(one.duplicates) for one in answer.found[: len(shown.rows)]):
        hints.append(f"{folded} nearly equal left out: kb_get shows one by its id, collapse=false all of them.")
    if left := len(answer.found) - len(shown.rows):
        hints.append(f"{left} more were found and left out for their size: ask for fewer, or more narrowly.")
    number = len(shown.rows)
    many = f"{number} {'entry' if number == 1 else 'entries'}, {'all weak, ' if answer.hint else ''}the best first."
    first = [answer.hint] if answer.hint else []
    text = "\n\n".join([" ".join([*first, many if number else "Nothing was found.", *hints]), *shown.text])
    hints = [*first, *hints]
    using.memory.served(actor.author, question.story, estimate_tokens(text))
    data = Searched(entries=shown.rows, fallback=answer.fallback, folded=folded or None, hints=hints or None)
    return Shown(text, data)


def _list_of(query: str) -> list[str]:
    """Return the call of `kb_list` that a question for a list means."""
    wanted, order = read(query, LISTED) or (None, "")
    if wanted is None or wanted.date_to or len(wanted.content_types) > 1 or len(wanted.authors) > 1:
        return []
    arguments = {"role": "".join(wanted.authors), "entry_type": "".join(wanted.content_types)}
    arguments["since"] = f"{wanted.date_from}-01-01"[:10] if wanted.date_from else ""
    arguments["order_by"] = "updated_at" if order == "changed" else "created_at"
    arguments["order"] = "asc" if order == "oldest" else "desc"
    return [LIST.format(", ".join(f'{name}="{value}"' for name, value in arguments.items() if value))]


def note_query(question: Asked, *, fallback: bool) -> None:
    """Log and count role and phase of a query, never its text."""
    phase, role = question.phase or "none", question.role or "all"
    # Five phases and none, four roles: 24 metrics at most.
    count("MemoryQueries", Phase=phase, Role=role)
    if fallback:
        count("MemoryFallbacks")
    logger.info("memory query", extra={"phase": phase, "role": role, "fallback": fallback})


@operation(
    "memory",
    **READ,
    title="Read an entry",
    input=GetArguments,
    output=WholeEntry,
    rest="GET /memory/entries/{id}",
    operation_id="getMemoryEntry",
    answer="The entry, with its versions where they are wanted.",
    example=WholeEntry(**EXAMPLE, content_hash="9f" * 32, relevance=RelevancePart(votes=2, mean=4.5)),
    errors=(404,),
)
def kb_get(using: MemoryServices, actor: Actor, given: GetArguments) -> Shown:
    """Show one entry of the team's memory."""
    id, moment = validation.entry_id(given.id), validation.moment(given.as_of)
    entry = using.memory.as_of(actor.author, id, moment) if moment else using.memory.get(actor.author, id)
    versions = versions_of(using.memory.history(actor.author, id)) if given.history else None
    rated = using.memory.relevance(actor.author, id)
    version = f"{entry.version} {entry.content_hash}"
    at = given.cursor and budgets.resume(given.cursor, tool=GET, question=entry.id, version=version)
    start = at if isinstance(at, int) else 0
    share = max(MAX_TOKENS - MARGIN - _cost(_whole(entry, "", None, start, rated=rated, versions=versions)), 1)
    while True:
        part = piece(entry.content, start, max_tokens=share, write=escaped)
        cursor = None if part.complete else budgets.handle(part.end, tool=GET, question=entry.id, version=version)
        shown = _whole(entry, part.text, cursor, start, rated=rated, versions=versions)
        if share <= 1 or _cost(shown) <= MAX_TOKENS - MARGIN:
            return shown
        share = share * 19 // 20


def _cost(shown: Shown) -> int:
    return cost(Answer(shown.text, cast(Any, shown.data)))


def versions_of(history: Sequence[Entry]) -> list[Version]:
    """Return the versions with what changed in each, the newest first."""
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


def _whole(
    entry: Entry, content: str, cursor: str | None, start: int, *, rated: Mean, versions: Sequence[Version] | None
) -> Shown:
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
    times += f", relevance {rated.mean:g} of {_votes(rated.n)}" if rated.mean is not None else ""
    long = len(compact(data.metadata)) > MAX_READ_METADATA
    read = data.model_copy(update={"truncated": None} | ({"metadata": None} if long else {}))
    rest = [*([part] if data.truncated else []), *([METADATA_IS_DATA] if long else []), times]
    lines = []
    for one in versions or ():
        changed = f", changed {', '.join(one.changed)}" if one.changed else ""
        lines.append(f"- version {one.version} of {one.updated_at}{changed}: {one.content}")
    rest += ["\n".join(lines)] if lines else []
    return Shown("\n\n".join([entry_text(read), *rest]), data)


def _votes(n: int) -> str:
    return f"{n} vote{'' if n == 1 else 's'}"


@operation(
    "memory",
    **READ,
    title="Related entries",
    input=RelatedArguments,
    output=RelatedEntries,
    exact=True,
    rest="GET /memory/entries/{id}/related",
    operation_id="listRelatedMemoryEntries",
    answer="The nearest first.",
    example=RelatedEntries(entries=[RelatedEntry(**EXAMPLE, relation="sibling", shared_tags=["database"])]),
    errors=(404,),
)
def kb_get_related(using: MemoryServices, actor: Actor, given: RelatedArguments) -> Shown:
    """Find related entries: others of the same story summary, its parent and children, then entries that share two
    tags or more."""
    id = validation.entry_id(given.entry_id, "entry_id")
    related = using.memory.related(actor.author, id, given.limit)
    shown = fitted(
        related,
        lambda one: (one.entry.content,) * 2,
        lambda one, content: RelatedEntry(
            **facts(one.entry, content), relation=one.relation, shared_tags=list(one.shared)
        ),
        lambda number, one: entry_text(one, head=f"{number}. {one.relation} ", shares=", ".join(one.shared_tags)),
        usual=DEFAULT_RELATED,
    )
    head = f"{len(shown.rows)} related to `{id}`:" if related else f"Nothing is related to `{id}`."
    return Shown("\n\n".join([head, *shown.text]), RelatedEntries(entries=shown.rows))


@operation(
    "memory",
    **READ,
    title="List entries",
    input=ListArguments,
    output=Listed,
    exact=True,
    rest="GET /memory/entries",
    operation_id="listMemoryEntries",
    answer="A page of entries, as many as fit in one answer.",
    example=Listed(entries=[EntryFace(**EXAMPLE)], total=1),
)
def kb_list(using: MemoryServices, actor: Actor, given: ListArguments) -> Shown:
    """List entries by role, tags, type, source and time, in order, without a search."""
    filters = {name: one for name, one in given if name != "cursor"}
    question = compact({name: one for name, one in filters.items() if name not in ("limit", "offset")})
    at, counted, after, known = 0, "", "", None
    if given.cursor is not None:
        # How many entries were before, how many there are in all, and the position of the last one before.
        position = str(budgets.resume(given.cursor, tool=LIST_NAME, question=question, version=""))
        try:
            number, counted, after = position.split(" ", 2)
            at, known = int(number), int(counted.removesuffix(MORE))
        except ValueError:
            # Whoever knows the rule can seal anything.
            hint = "Start again without the cursor."
            raise InvalidInput("This cursor does not continue this list.", hint=hint, field="cursor") from None
    listing = replace(validation.listing(**filters), after=after, total=known, whole=not counted.endswith(MORE))
    begin = at + listing.offset
    answer = using.memory.list(actor.author, listing)
    shown = fitted(
        answer.entries,
        lambda entry: (entry.content,) * 2,
        lambda entry, content: EntryFace(**facts(entry, content)),
        lambda number, one: entry_text(one, head=f"{begin + number}. "),
        usual=DEFAULT_LISTED,
    )
    end = begin + len(shown.rows)
    total = answer.total if answer.whole else max(answer.total, end)
    here = f", here {begin + 1} to {end}" if shown.rows else ""
    head = f"{total} {'in all' if answer.whole else 'or more'}{here}."
    further, cursor = None, None
    cut = len(shown.rows) < len(answer.entries)
    if cut or answer.more:
        last = answer.places[len(shown.rows) - 1] if cut else answer.last
        further = end
        counted = f"{total}{'' if answer.whole else MORE}"
        cursor = budgets.handle(f"{end} {counted} {last}", tool=LIST_NAME, question=question, version="")
        head += " An answer holds no more." if cut else ""
        head += f" More: cursor `{cursor}`, the soonest, or offset {further} without it."
    least = None if answer.whole else True
    data = Listed(entries=shown.rows, total=total, total_is_least=least, next_offset=further, next_cursor=cursor)
    return Shown("\n\n".join([head, *shown.text]), data)


@operation(
    "memory",
    **READ,
    title="Figures of the memory",
    input=StatsArguments,
    output=Figures,
    command="stats",
    rest="GET /memory/stats",
    operation_id="getMemoryStats",
    answer="The figures, with the four metrics where they are wanted.",
    example=Figures(
        total_entries=1,
        by_type={"fact": 1, "summary": 0, "template": 0},
        by_role={"pm": 0, "dev": 1, "qa": 0, "all": 0},
        avg_confidence=1.0,
        last_updated=EXAMPLE["updated_at"],
        cache_size=1,
        queries={"dev": {"dev": 3}},
        recurrences=0,
    ),
)
def kb_stats(using: MemoryServices, actor: Actor, given: StatsArguments) -> Shown:
    """Show counts of entries by role, their confidence, and the number of searches."""
    stats = using.memory.stats(actor.author)
    queries: dict[str, dict[str, int]] = {}
    for (phase, role), number in sorted(stats.queries.items()):
        queries.setdefault(phase, {})[role] = number
    data = Figures(
        total_entries=stats.total_entries,
        by_type={str(name): number for name, number in stats.by_type.items()},
        by_role={str(name): number for name, number in stats.by_role.items()},
        avg_confidence=round(stats.avg_confidence, 4),
        last_updated=stats.last_updated,
        cache_size=stats.cache_size,
        queries=queries,
        recurrences=stats.recurrences,
        metrics=metrics_of(using.memory.metrics(actor.author)) if given.metrics else None,
    )
    return Shown(figures_text(data), data)


@operation(
    "memory",
    **WRITE,
    title="Rate a hit",
    input=RateArguments,
    output=Rated,
    command="rate",
    rest="POST /memory/entries/{id}/ratings",
    operation_id="rateMemoryEntry",
    answer="The mean of all votes on the entry.",
    example=Rated(success=True, votes=2, mean=4.5),
    example_input={"relevance": 5, "story": "STORY-12"},
    errors=(404,),
)
def kb_rate(using: MemoryServices, actor: Actor, given: RateArguments) -> Shown:
    """Rate how relevant an entry of a search was, 0 to 5. A second vote in the same story replaces the first.
    It changes figures, not entries."""
    story = validation.story(given.story)
    rated = using.memory.rate(actor.author, validation.entry_id(given.id), given.relevance, story)
    data = Rated(success=True, votes=rated.n, mean=rated.mean or 0)
    return Shown(f"Kept {given.relevance} for `{given.id}`: mean {data.mean:g} of {_votes(data.votes)}.", data)


@operation(
    "memory",
    **WRITE,
    title="Add an entry",
    input=AddArguments,
    output=AddedEntry,
    rest="POST /memory/entries",
    operation_id="addMemoryEntry",
    answer="It is there, new or already.",
    example=AddedEntry(id=ID, success=True, duplicate=False),
    example_input=NEW,
    errors=(409,),
)
def kb_add(using: MemoryServices, actor: Actor, given: AddArguments) -> Shown:
    """Store one thing that the team should know later. A duplicate is not added again: the answer has the id of the
    existing entry."""
    fields = dict(given)
    key = validation.idempotency_key(fields.pop("idempotency_key"))
    recurs_of = fields.pop("recurs_of")
    again = validation.entry_id(recurs_of, "recurs_of") if recurs_of else None
    if using.entry_redaction is None:
        refuse_secrets(fields)
    new = validation.new_entry(**fields)
    if using.entry_redaction:
        new = using.entry_redaction.new(new)
    added = using.memory.add(actor.author, new, idempotency_key=key, recurs_of=again)
    nearest = [NearEntry(id=one.id, similarity=round(one.similarity, 4), excerpt=one.excerpt) for one in added.nearest]
    data = AddedEntry(
        id=added.id,
        success=True,
        duplicate=added.duplicate,
        embedded=None if added.duplicate or added.embedded else False,
        nearest=nearest or None,
        recurrence=recurrence(added.recurrence) if added.recurrence else None,
    )
    seen = recurrence_line(data.recurrence) if data.recurrence else ""
    if data.duplicate:
        text = f"Nothing was added: the same content is there already, as `{data.id}`. {seen}".rstrip()
        return Shown(text, data)
    lines = [f"Added as `{data.id}`." + ("" if data.embedded is not False else f" {WORDS_ONLY}")]
    if data.nearest:
        lines.append("Entries that come near it. If one says the same, change that one and delete this;")
        lines.append("if another story learned the same, send this again with recurs_of:")
        lines += [f"- `{one.id}` (similarity {one.similarity:g}) {one.excerpt}" for one in data.nearest]
    return Shown("\n".join([*lines, *([seen] if seen else [])]), data)


@operation(
    "memory",
    **WRITE,
    title="Change an entry",
    input=UpdateArguments,
    output=UpdatedEntry,
    destructive=True,
    rest="PATCH /memory/entries/{id}",
    operation_id="updateMemoryEntry",
    answer="Its version now.",
    example=UpdatedEntry(success=True, re_embedded=False, version=2),
    example_input={"tags": ["database", "locks"], "expectedVersion": 1},
    errors=(404, 409),
)
def kb_update(using: MemoryServices, actor: Actor, given: UpdateArguments) -> Shown:
    """Change the given fields of an entry."""
    fields = dict(given)
    removed: list[str] = fields.pop("remove") or []
    if both := [name for name in removed if fields[name] is not None]:
        raise InvalidInput(f"`{both[0]}` is both given and in `remove`.", hint="Give it, or remove it.")
    fields |= dict.fromkeys(removed, "")
    id = validation.entry_id(fields.pop("id"))
    expected = validation.expected_version(fields.pop("expected_version"))
    if using.entry_redaction is None:
        refuse_secrets(fields)
    changes = validation.changes(**fields)
    if using.entry_redaction:
        changes = using.entry_redaction.changes(changes)
    updated = using.memory.update(actor.author, id, changes, expected_version=expected)
    data = UpdatedEntry(success=True, re_embedded=updated.re_embedded, version=updated.entry.version)
    anew = " Its content is new, so its vectors are computed again." if data.re_embedded else ""
    return Shown(f"Changed `{id}`, now version {data.version}.{anew}", data)


@operation("memory", **WRITE, title="Delete an entry", input=DeleteArguments, output=DeletedEntry, destructive=True)
def kb_delete(using: MemoryServices, actor: Actor, given: DeleteArguments) -> Shown:
    """Delete an entry; for 30 days `undo` restores it. Its children stay, without a parent."""
    shown: Shown = (restore_entry if given.undo else delete_entry).run(using, actor, given)
    return shown


@operation(
    "memory",
    **WRITE,
    tool=False,
    title="Delete an entry",
    input=OneEntry,
    output=DeletedEntry,
    destructive=True,
    rest="DELETE /memory/entries/{id}",
    operation_id="deleteMemoryEntry",
    answer="It is gone, and can be restored for 30 days.",
    example=DeletedEntry(success=True),
    errors=(404,),
)
def delete_entry(using: MemoryServices, actor: Actor, given: OneEntry) -> Shown:
    """Delete an entry. Its children stay, without a parent."""
    id = validation.entry_id(given.id)
    using.memory.delete(actor.author, id)
    return Shown(f"Deleted `{id}`.", DeletedEntry(success=True))


@operation(
    "memory",
    **WRITE,
    tool=False,
    title="Restore a deleted entry",
    input=OneEntry,
    output=DeletedEntry,
    rest="POST /memory/entries/{id}/restore",
    operation_id="restoreMemoryEntry",
    answer="It is there as it was.",
    example=DeletedEntry(success=True),
    errors=(404, 409),
)
def restore_entry(using: MemoryServices, actor: Actor, given: OneEntry) -> Shown:
    """Restore an entry that was deleted in the last 30 days."""
    id = validation.entry_id(given.id)
    entry = using.memory.undelete(actor.author, id)
    return Shown(f"Restored `{id}`, in version {entry.version}.", DeletedEntry(success=True))


@operation(
    "memory",
    **WRITE,
    title="Import entries",
    input=ImportArguments,
    output=ImportProgress,
    input_schema=IMPORT_SCHEMA,
    max_values=MAX_VALUES,
)
def kb_bulk_import(using: MemoryServices, actor: Actor, given: ImportArguments) -> Shown:
    """Import many entries at once. Existing entries are skipped. A large import continues in the background: call again
    with the handle for its progress."""
    if (given.entries is None) == (given.handle is None):
        raise InvalidInput("Give `entries` to import, or the `handle` of an import, and not both.")
    shown: Shown = (import_progress if given.handle is not None else import_entries).run(using, actor, given)
    return shown


@operation(
    "memory",
    **WRITE,
    tool=False,
    title="Import entries",
    input=NewImport,
    output=ImportProgress,
    rest="POST /memory/imports",
    operation_id="importMemoryEntries",
    answer="What was imported; a large import goes on under its handle.",
    example=ImportProgress(
        imported=1, skipped=0, errors=[], total=1, processed=1, status="complete", ids={"locks": ID}
    ),
    example_input={"entries": [{**NEW, "ref": "locks"}]},
    errors=(409,),
)
def import_entries(using: MemoryServices, actor: Actor, given: Any) -> Shown:
    """Import many entries at once, each with the fields of `kb_bulk_import`. Existing entries are skipped."""
    from commonplace.memory.jobs import LargeImports

    enough, entries = using.enough(), given.entries
    if isinstance(entries, str):
        from commonplace.memory import entry_files

        entries = entry_files.read(entries)
    items = validation.imports(entries)
    if any(isinstance(one, Import) and one.former for one in items) and not actor.may(RESTORE):
        # Whoever chooses ids and dates may pass for the author of what others wrote.
        hint = "Leave out id, created_at, updated_at and version, or use a token with that scope."
        raise Forbidden(f"Restoring entries requires the scope {RESTORE.scope}.", hint=hint)
    screened = using.entry_redaction.imports(items) if using.entry_redaction else without_secrets(items, entries)
    return _imported(LargeImports(using.memory).start(actor.author, screened, given.skip_existing, enough))


@operation(
    "memory",
    **WRITE,
    tool=False,
    title="Get how far an import has come",
    input=Handle,
    output=ImportProgress,
    rest="GET /memory/imports/{handle}",
    operation_id="getMemoryImport",
    answer="How far it has come.",
    example=ImportProgress(
        imported=300, skipped=0, errors=[], total=900, processed=300, status="in_progress", handle=ID
    ),
    errors=(404,),
)
def import_progress(using: MemoryServices, actor: Actor, given: Any) -> Shown:
    """Show the progress of a large import."""
    from commonplace.memory.jobs import LargeImports

    return _imported(LargeImports(using.memory).progress(actor.author, validation.handle(given.handle)))


def _imported(done: Imported) -> Shown:
    errors = list(done.errors[:MAX_TOLD_ERRORS])
    if more := len(done.errors) - len(errors):
        errors.append(f"… and {more} more.")
    ids = {str(name): str(id) for name, id in (done.ids or {}).items()}
    all_ids = 0 < len(ids) <= MAX_TOLD_IDS and estimate_tokens(compact(ids)) <= MAX_ID_TOKENS
    data = ImportProgress(
        imported=done.imported,
        skipped=done.skipped,
        errors=errors,
        total=done.total,
        processed=done.processed,
        status=done.status,
        handle=done.handle,
        ids=ids if all_ids else None,
        recurrences=[recurrence(one) for one in done.recurrences[:MAX_TOLD_RECURRENCES]] or None,
    )
    counts = f"{data.imported} imported, {data.skipped} skipped, {len(done.errors)} refused"
    lines = [f"{counts}; {data.processed} of {data.total} entries done: {_state(done)}", *errors]
    lines += [recurrence_line(one) for one in data.recurrences or ()]
    shown = data.ids or {}
    lines += [f"- {name}: `{id}`" for name, id in shown.items()] if len(shown) <= MAX_READ_IDS else [IDS_ARE_DATA]
    return Shown("\n".join(lines), data)


@operation(
    "memory",
    text=_text,
    level="admin",
    title="Rebuild embeddings",
    input=RebuildArguments,
    output=RebuildProgress,
    rest="POST /memory/rebuilds",
    operation_id="rebuildMemoryVectors",
    answer="How far it has come; it goes on under its handle.",
    example=RebuildProgress(total=300, processed=300, status="complete"),
    example_input={"clearCache": True},
    errors=(409,),
)
def kb_rebuild_embeddings(using: MemoryServices, actor: Actor, given: RebuildArguments) -> Shown:
    """Embed every entry again, after a change of model. Searches keep working. Call again with the handle for its
    progress."""
    from commonplace.memory.jobs import Rebuilding

    if given.handle is not None:
        return _rebuilt(Rebuilding(using.memory).progress(actor.author, validation.handle(given.handle)))
    enough = using.enough()
    return _rebuilt(Rebuilding(using.memory).start(actor.author, given.batch_size, given.clear_cache, enough))


@operation(
    "memory",
    text=_text,
    level="admin",
    tool=False,
    title="Get how far new vectors have come",
    input=Handle,
    output=RebuildProgress,
    rest="GET /memory/rebuilds/{handle}",
    operation_id="getMemoryRebuild",
    answer="How far it has come.",
    example=RebuildProgress(total=900, processed=300, status="in_progress", handle=ID),
    errors=(404,),
)
def rebuild_progress(using: MemoryServices, actor: Actor, given: Any) -> Shown:
    """Show the progress of the rebuild of embeddings."""
    from commonplace.memory.jobs import Rebuilding

    return _rebuilt(Rebuilding(using.memory).progress(actor.author, validation.handle(given.handle)))


def _rebuilt(done: Rebuilt) -> Shown:
    data = RebuildProgress(total=done.total, processed=done.processed, status=done.status, handle=done.handle)
    return Shown(f"{done.processed} of {done.total} entries embedded again: {_state(done)}", data)


def _state(done: Imported | Rebuilt) -> str:
    match done.status:
        case "complete":
            return "complete."
        case "failed":
            return "failed. What was done stays; start it again, and it goes on with what is missing."
        case _:
            return f"goes on by itself. Handle: `{done.handle}`."


OPERATIONS = (
    *(kb_search, kb_get, kb_get_related, kb_list, kb_stats, kb_rate, kb_add, kb_update, kb_delete),
    *(delete_entry, restore_entry, kb_bulk_import, import_entries, import_progress),
    *(kb_rebuild_embeddings, rebuild_progress),
)
"""In the order of every list."""


def operations_of(limit: int, min_confidence: float) -> tuple[Operation, ...]:
    """Return the operations with a deployment's defaults of a search."""
    if (limit, min_confidence) == (DEFAULT_LIMIT, DEFAULT_MIN_CONFIDENCE):
        return OPERATIONS
    made = create_model(
        "SearchArguments",
        __base__=SearchArguments,
        limit=(int, Field(limit, ge=1, le=MAX_LIMIT)),
        min_confidence=(float, Field(min_confidence, ge=0, le=1)),
    )
    return (replace(kb_search, input=made), *OPERATIONS[1:])
