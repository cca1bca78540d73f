"""The tool `search_knowledge`: a summary of what is found, and one item whole (seed 004, task 2)."""

from functools import partial
from typing import Any

from pydantic import Field, create_model

from commonplace.hive import faces
from commonplace.hive.inputs import item_id
from commonplace.hive.model import DEFAULT_LIMIT, MAX_LIMIT, MAX_QUERY_CHARACTERS, Category, Item
from commonplace.hive.operations import NOTICE, HiveServices, found_by
from commonplace.kernel.errors import InvalidInput
from commonplace.web.faces import derived
from commonplace.web.mcp.budgets import MAX_TOKENS, escaped, piece, shortened
from commonplace.web.mcp.declaration import Answer, Call, SnakeCaseArguments, SnakeCaseOutput, SnakeCasePart, Tool
from commonplace.web.mcp.rendering import cost
from commonplace.web.operations import Actor, cursor_of, fenced, position_of

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
    version: str | None = Field(None, max_length=100, description="Only about exactly this version")
    limit: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)
    cursor: str | None = Field(None, description="next_cursor of the answer before")
    as_of: str | None = Field(None, description="What was true then: ISO 8601")


ITEM = derived(faces.KnowledgeItem, SnakeCasePart, SnakeCasePart, nulls=False)
SUMMARY = derived(faces.Summary, SnakeCasePart, SnakeCasePart, nulls=False)

BUILD: Any = create_model
Knowledge = BUILD(
    "Knowledge",
    __base__=SnakeCaseOutput,
    __doc__="The results of a search, or the fields of one item.",
    results=(list[SUMMARY] | None, None),  # type: ignore[valid-type]
    total_found=(int | None, None),
    hints=(list[str] | None, None),
    **{
        name: (info.annotation | None, Field(None, description=info.description))
        for name, info in ITEM.model_fields.items()
    },
    next_cursor=(str | None, Field(None, description="Where the results, or the content, go on")),
    notice=(str, ...),
)


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


def search_knowledge(using: HiveServices, call: Call, given: SearchArguments) -> Answer:
    actor = Actor(call.caller.principal, call.caller.address)
    if given.id is not None and given.id.strip():
        return fetched(using.hive.fetch(actor.author, item_id(given.id)), given.cursor)
    if given.query is None or not given.query.strip():
        raise InvalidInput(NEITHER)
    found = found_by(using, actor, given)
    hints = [*([WORDS_ALONE] if found["fallback"] else []), *([found["hint"]] if found["hint"] else [])]
    data = Knowledge(
        results=[SUMMARY.of(one) for one in found["results"]],
        total_found=found["total_found"],
        hints=hints or None,
        next_cursor=found["next_cursor"],
        notice=NOTICE,
    )
    return Answer(summary_text(data), data)


def summary_text(data: Any) -> str:
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


def fetched(item: Item, cursor: str | None) -> Answer:
    """Return the item, or as much of a very long one as there is room for."""
    one = item.contribution
    question = f"hive fetch {one.id} {one.content_hash}"
    start = 0 if cursor is None else position_of(cursor, question, int)
    shown = ITEM.of(item)
    values = {name: getattr(shown, name) for name in ITEM.model_fields}

    def answer(content: str, onward: str | None) -> Answer:
        data = Knowledge(**values | {"content": content}, next_cursor=onward, notice=NOTICE)
        return Answer(_item_text(data, start, len(one.content)), data)

    share = max(MAX_TOKENS - MARGIN - cost(answer("", None)), 1)
    while True:
        part = piece(one.content, start, max_tokens=share, write=escaped)
        made = answer(part.text, None if part.complete else cursor_of(part.end, question))
        if share <= 1 or cost(made) <= MAX_TOKENS - MARGIN:
            return made
        share = share * 19 // 20


def _item_text(data: Any, start: int, whole: int) -> str:
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
