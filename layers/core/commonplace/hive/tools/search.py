"""The tool `search_knowledge`: a summary of what is found, and one item whole (seed 004, task 2)."""

from functools import partial
from typing import Any

from pydantic import Field

from commonplace.hive.cursors import encode_cursor
from commonplace.hive.inputs import item_id, search_request
from commonplace.hive.model import (
    DEFAULT_LIMIT,
    MAX_LIMIT,
    MAX_QUERY_CHARACTERS,
    Category,
    Found,
    Item,
    SearchAnswer,
)
from commonplace.hive.tools.services import NOTICE, HiveServices, fenced
from commonplace.kernel.errors import InvalidInput
from commonplace.web.mcp import budgets
from commonplace.web.mcp.budgets import MAX_TOKENS, escaped, piece, shortened
from commonplace.web.mcp.declaration import Answer, Call, SnakeCaseArguments, SnakeCaseOutput, SnakeCasePart, Tool
from commonplace.web.mcp.rendering import cost

SEARCH = "search_knowledge"
NEITHER = "Provide either 'query' for search or 'id' to fetch a specific item."
"""In the words of seed 004."""
WORDS_ALONE = "The model that compares meaning does not answer just now: only words were compared."
COLUMNS = "id, category, confidence, relevance and quality in percent, organisation: title"
LINE_TITLE = 48
"""Characters of a title in the text; the data has all of it."""
MARGIN = 200
"""Tokens for the handle of a long item, and for notes of the frame."""


class SearchArguments(SnakeCaseArguments):
    query: str | None = Field(
        None, max_length=MAX_QUERY_CHARACTERS, description="The problem or the error, in your own words"
    )
    id: str | None = Field(None, description="One item, whole, in place of a search")
    category: Category | None = None
    limit: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)
    cursor: str | None = Field(None, description="next_cursor of the answer before")
    as_of: str | None = Field(None, description="What was true then: ISO 8601")


class Summary(SnakeCasePart):
    id: str
    title: str
    category: Category
    confidence: float
    org_attribution: str
    relevance_score: float
    quality: float = Field(description="0 to 1")


class QualityNumbers(SnakeCasePart):
    outcomes: float = Field(description="Whether it helped")
    freshness: float
    confidence: float


class Knowledge(SnakeCaseOutput):
    """Of a search `results` and `total_found`; of a fetch the item's fields."""

    results: list[Summary] | None = None
    total_found: int | None = None
    hints: list[str] | None = None
    id: str | None = None
    content: str | None = None
    category: Category | None = None
    confidence: float | None = None
    framework: str | None = None
    language: str | None = None
    version: str | None = None
    tags: list[str] | None = None
    org_attribution: str | None = None
    agent: str | None = Field(None, description="Of your own organisation's items")
    contributed_at: str | None = None
    valid_at: str | None = None
    invalid_at: str | None = None
    expired_at: str | None = None
    quality: QualityNumbers | None = None
    is_public: bool | None = None
    next_cursor: str | None = Field(None, description="Where the results, or the content, go on")
    notice: str


def tools(using: HiveServices) -> tuple[Tool, ...]:
    return (
        Tool(
            name=SEARCH,
            title="Search contributed knowledge",
            description="Finds what agents of your organisation, and others, learned: by meaning and words, in short "
            "lines; with id, one item whole. Use it before you solve a problem, and on an error you meet.",
            arguments=SearchArguments,
            output=Knowledge,
            run=partial(search_knowledge, using),
            tier="member",
            cost="search",
        ),
    )


def search_knowledge(using: HiveServices, call: Call, asked: SearchArguments) -> Answer:
    if asked.id is not None and asked.id.strip():
        return _fetched(using.hive.fetch(call.author, item_id(asked.id)), asked.cursor)
    if asked.query is None or not asked.query.strip():
        raise InvalidInput(NEITHER)
    wanted = search_request(
        asked.query,
        category=asked.category,
        limit=asked.limit,
        cursor=asked.cursor,
        as_of=asked.as_of,
        as_of_name="as_of",
    )
    answer = using.hive.search(call.author, wanted)
    data = Knowledge(
        results=[summarised(found) for found in answer.results],
        total_found=answer.total,
        hints=hints_of(answer) or None,
        next_cursor=None if answer.next_offset is None else encode_cursor(answer.next_offset),
        notice=NOTICE,
    )
    return Answer(summary_text(data), data)


def hints_of(answer: SearchAnswer) -> list[str]:
    return [*([WORDS_ALONE] if answer.fallback else []), *([answer.hint] if answer.hint else [])]


def summarised(found: Found) -> Summary:
    contribution = found.item.contribution
    return Summary(
        id=contribution.id,
        title=contribution.title,
        category=contribution.category,
        confidence=contribution.confidence,
        org_attribution=found.item.attribution,
        relevance_score=found.relevance,
        quality=found.item.quality.score,
    )


def summary_text(data: Knowledge) -> str:
    """One line for each result, which costs a model 30 to 50 tokens."""
    hints = [*(data.hints or ())]
    if not data.results:
        return " ".join(["Nothing was found.", *hints])
    lines = [
        f"{one.id} {one.category} {one.confidence * 100:.0f} {one.relevance_score * 100:.0f} {one.quality * 100:.0f} "
        f"{one.org_attribution}: {shortened(one.title, LINE_TITLE)}"
        for one in data.results
    ]
    head = " ".join([f"{len(lines)} of {data.total_found} ({COLUMNS}).", *hints, NOTICE])
    more = f"\nMore: cursor `{data.next_cursor}`" if data.next_cursor else ""
    return f"{head}\n{fenced(chr(10).join(lines))}{more}"


def _fetched(item: Item, cursor: str | None) -> Answer:
    """The item, or as much of a very long one as there is room for."""
    one = item.contribution
    start = 0
    if cursor is not None:
        resumed = budgets.resume(cursor, tool=SEARCH, question=one.id, version=one.content_hash)
        start = resumed if isinstance(resumed, int) else 0
    share = max(MAX_TOKENS - MARGIN - cost(_item(item, "", start, None)), 1)
    while True:
        part = piece(one.content, start, max_tokens=share, write=escaped)
        onward = None
        if not part.complete:
            onward = budgets.handle(part.end, tool=SEARCH, question=one.id, version=one.content_hash)
        answer = _item(item, part.text, start, onward)
        if share <= 1 or cost(answer) <= MAX_TOKENS - MARGIN:
            return answer
        share = share * 19 // 20


def _item(item: Item, content: str, start: int, onward: str | None) -> Answer:
    one, quality = item.contribution, item.quality
    data = Knowledge(
        id=one.id,
        content=content,
        category=one.category,
        confidence=one.confidence,
        framework=one.framework,
        language=one.language,
        version=one.version,
        tags=list(one.tags),
        org_attribution=item.attribution,
        agent=one.agent if item.own else None,
        contributed_at=one.contributed_at,
        valid_at=one.valid_at,
        invalid_at=one.invalid_at,
        expired_at=one.expired_at,
        quality=QualityNumbers(outcomes=quality.outcomes, freshness=quality.freshness, confidence=quality.confidence),
        is_public=one.is_public,
        next_cursor=onward,
        notice=NOTICE,
    )
    return Answer(_item_text(data, start, len(one.content)), data)


def _item_text(data: Knowledge, start: int, whole: int) -> str:
    """What is known of it outside the fence, what its contributor wrote inside."""
    content, quality = data.content or "", data.quality
    described: tuple[Any, ...] = (
        f"`{data.id}`",
        data.category,
        f"contributed by {data.org_attribution}" + (f" ({data.agent})" if data.agent else ""),
        str(data.contributed_at)[:10],
        "public" if data.is_public else "your organisation's alone",
        f"confidence {data.confidence:g}, outcomes {quality.outcomes:g}, freshness {quality.freshness:g}"
        if quality
        else None,
        f"valid since {data.valid_at}" if data.valid_at != data.contributed_at else None,
        f"NOT VALID since {data.invalid_at}" if data.invalid_at else None,
    )
    lines = [" · ".join(part for part in described if part), NOTICE]
    if start or data.next_cursor:
        lines.append(f"This is a part: characters {start + 1:,} to {start + len(content):,} of {whole:,}.")
    labels = {"framework": data.framework, "language": data.language, "version": data.version}
    labels["tags"] = ", ".join(data.tags or ())
    written = [f"{name}: {' '.join(text.split())}" for name, text in labels.items() if text]
    lines.append(fenced("\n".join([*written, *([""] if written else []), content])))
    if data.next_cursor:
        lines.append(f"It goes on with cursor `{data.next_cursor}` and the same id.")
    else:
        lines.append(f'Say whether it helped: report_outcome with item_id "{data.id}".')
    return "\n".join(lines)
