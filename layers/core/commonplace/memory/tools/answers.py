"""Entries in answers, as text and as data: as many as fit, and as much of each. Never their organisation or vectors.

Room that short entries leave goes to the long ones.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import Field

from commonplace.memory.model import Entry, EntryType, Recurrence, Role
from commonplace.search.model import Fit
from commonplace.web.mcp.budgets import MAX_TOKENS, escaped, estimate_tokens, fitting, piece
from commonplace.web.mcp.declaration import SnakeCasePart
from commonplace.web.mcp.rendering import compact

MAX_LISTED_METADATA = 300
"""Characters of JSON: more of it is returned by kb_get alone."""

LIST_TOKENS = 2_700
"""Of an answer with entries by default: about 8 KB, for ids, names and times weigh more than prose."""
HEAD_TOKENS = 120
"""For what is said of the answer as a whole, and for notes of the frame."""
LEAST_CONTENT = 40
"""Tokens of an entry's content for which there is always room."""

Item = TypeVar("Item")


class Told(SnakeCasePart):
    """One entry among others."""

    id: str
    content: str
    truncated: bool | None = Field(None, description="There is more: ask kb_get")
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


class FoundEntry(Told):
    score: float
    fit: Fit
    duplicates: list[str] | None = Field(None, description="Ids of entries with nearly the same text")


class RelatedEntry(Told):
    relation: str = Field(description="sibling, parent, child or tags")
    shared_tags: list[str]


class RecurrencePart(SnakeCasePart):
    """A lesson that a further story learned again."""

    id: str
    first_story: str | None = None
    seen: int = Field(description="How many further stories had learned it, with this one")


def recurrence(one: Recurrence) -> RecurrencePart:
    return RecurrencePart(id=one.id, first_story=one.first or None, seen=one.seen)


def recurrence_told(one: RecurrencePart) -> str:
    first = f" (first in {one.first_story})" if one.first_story else ""
    return f"`{one.id}` was learned before{first}, and is seen again: {one.seen}."


def facts(entry: Entry, content: str) -> dict[str, Any]:
    """An entry in a list, with as much of its content as there is room for."""
    metadata = dict(entry.metadata)
    shown = metadata if len(compact(metadata)) <= MAX_LISTED_METADATA else {}
    return whole(entry, content) | {
        "metadata": shown or None,
        "truncated": True if content != entry.content or shown != metadata else None,
    }


def whole(entry: Entry, content: str) -> dict[str, Any]:
    """Everything of an entry but its hash."""
    return {
        "id": entry.id,
        "content": content,
        "entry_type": entry.entry_type,
        "roles": list(entry.roles),
        "tags": list(entry.tags),
        "confidence": entry.confidence,
        "source_file": entry.source_file,
        "source_story": entry.source_story,
        "parent_id": entry.parent_id,
        "metadata": dict(entry.metadata) or None,
        "supersedes": entry.supersedes,
        "superseded_by": entry.superseded_by,
        "seen": entry.seen or None,
        "seen_in": list(entry.seen_in) or None,
        "created_at": entry.created_at,
        "updated_at": entry.updated_at,
        "version": entry.version,
    }


def told(one: Told, *, head: str = "", **more: str | None) -> str:
    """One entry for a reader: what it is in one line, then its text."""
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


Row = TypeVar("Row", bound=Told)


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
    """`contents` gives an item's whole content and its best part, `row` an item with some content, `line` its text.

    `usual` is the default number of items; a caller who wants more gets more tokens as well.
    """
    budget = _budget(len(items), usual) - HEAD_TOKENS
    bare = [_cost(row(item, ""), line) for item in items]
    shown = len(fitting(bare, lambda cost: cost + LEAST_CONTENT, budget))
    room = max(budget - sum(bare[:shown]), LEAST_CONTENT)
    texts = _shared([contents(item) for item in items[:shown]], room)
    rows = [row(item, text) for item, text in zip(items, texts, strict=False)]
    return Fitted(rows, [line(number, one) for number, one in enumerate(rows, 1)])


def _budget(items: int, usual: int) -> int:
    return min(MAX_TOKENS, max(LIST_TOKENS, LIST_TOKENS * items // usual))


def _cost(row: Row, line: Callable[[int, Row], str]) -> int:
    data = row.model_dump(mode="json", exclude_none=True)
    return max(estimate_tokens(line(100, row)), estimate_tokens(compact(data))) + 2


def _shared(contents: Sequence[tuple[str, str]], room: int) -> list[str]:
    """The smallest are served first, and nobody gets more than needed."""
    needs = [_weight(content) for content, _ in contents]
    texts = [""] * len(contents)
    waiting = sorted(range(len(contents)), key=lambda at: needs[at])
    for passed, at in enumerate(waiting):
        texts[at] = _within(*contents[at], room // (len(waiting) - passed))
        room -= min(_weight(texts[at]), room)
    return texts


def _within(content: str, best: str, tokens: int) -> str:
    if _weight(content) <= tokens:
        return content
    text = best if len(best) < len(content) else content
    return text if _weight(text) <= tokens else piece(text, max_tokens=tokens, write=escaped).text.rstrip()


def _weight(text: str) -> int:
    """Tokens of a text as data, where it costs most."""
    return estimate_tokens(escaped(text))
