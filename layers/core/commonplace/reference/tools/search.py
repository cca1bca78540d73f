"""The tool `search_knowledge`: by name if the query has one, else by words and meaning."""

import logging
from collections.abc import Sequence
from functools import partial
from typing import Literal

from pydantic import Field

from commonplace.reference.model import (
    DEFAULT_LIMIT,
    MAX_LIMIT,
    MAX_QUERY_CHARACTERS,
    Asked,
    EntryType,
    Hit,
    SearchAnswer,
)
from commonplace.reference.tools import services
from commonplace.reference.tools.answers import EntryData, OpenOutput, Shown
from commonplace.reference.tools.markdown import code, either, line
from commonplace.reference.tools.pages import ROOM, fit_many, fit_names, name_cost
from commonplace.reference.tools.services import ReferenceServices, may_report, stated
from commonplace.web.mcp.budgets import estimate_tokens
from commonplace.web.mcp.declaration import Answer, Call, Part, Tool

logger = logging.getLogger(__name__)

SEARCH = "search_knowledge"
SEARCHED = "reference query"
"""Message of the line that says a search was made. It says what kind of answer there was, never the query."""
SHARE_OF_NAMES = 0.3
"""Of an answer, for names of what has no room but for them."""
HEAD_TOKENS = 70
"""For what is said of an answer as a whole, but for its sources."""

Type = Literal["all", EntryType]

FALLBACK = "The model that compares meaning does not answer just now: only words were compared."
SHAPED = "No command and no endpoint is called so. Names are never guessed."
NOTHING = "Nothing in the reference answers to that."
TRY_LIST = "Try list_commands, which shows every command there is."
TRY_REPORT = "If it should be here, report_gap tells the maintainers."
SAY_SO = "If it is not there either, say that you have no information about it."


class SearchArguments(services.Filtered):
    query: str = Field(
        min_length=1,
        max_length=MAX_QUERY_CHARACTERS,
        description='What you want to find, e.g. "list users command", "create group API"',
    )
    type: Type = "all"
    category: str | None = Field(None, description="Or subcategory")
    module: str | None = Field(None, description="Optional part of the product")
    limit: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)


class Source(Part):
    """Where entries of a catalogue come from, at one commit."""

    catalogue: str
    commit: str
    url: str | None = None


class Found(OpenOutput):
    results: list[EntryData]
    more: list[str] | None = None
    """Names of further results."""
    suggestions: list[str] | None = None
    """Names that exist, if nothing was found."""
    hints: list[str] | None = None
    sources: list[Source] | None = None


def tools(using: ReferenceServices) -> tuple[Tool, ...]:
    return (
        Tool(
            name=SEARCH,
            title="Search the product reference",
            description="Searches the product's commands, API endpoints, guides, features, troubleshooting and "
            "settings. ALWAYS use this before you answer a question about how to do something. No result means that "
            "there is no such thing: do not make one up.",
            arguments=SearchArguments,
            output=Found,
            run=partial(search_knowledge, using),
            cost="search",
            in_use=services.in_use(using, "category", "module", "catalogue", "version"),
        ),
    )


def search_knowledge(using: ReferenceServices, call: Call, given: SearchArguments) -> Answer:
    asked = Asked(
        query=stated("query", given.query),
        type=None if given.type == "all" else given.type,
        category=services.filtered(given.category),
        module=services.filtered(given.module),
        limit=given.limit,
        within=given.within,
    )
    answer = using.reference.search(asked)
    matched_by = answer.hits[0].matched_by if answer.hits else "nothing"
    told = {"matchedBy": matched_by, "found": len(answer.hits), "shaped": answer.shaped, "fallback": answer.fallback}
    logger.info(SEARCHED, extra=told | {"suggested": len(answer.suggestions)})
    if not answer.hits:
        return _nothing(using, call, asked, answer)
    catalogues = {hit.catalogue.name: hit.catalogue for hit in answer.hits}
    every = [Source(catalogue=name, commit=one.commit_sha, url=one.tree_url) for name, one in catalogues.items()]
    room = ROOM - HEAD_TOKENS - estimate_tokens(_written(every))
    shown, more = _shown(answer.hits, room, using.several)
    entries = [entry for entry, _ in shown]
    # An entry that is shown whole names its place.
    sources = every if any(entry.commit is None for entry in entries) else []
    hints = [FALLBACK] if answer.fallback else []
    if left := len(answer.hits) - len(shown):
        hints.append(f"{left} more were found than are told here: narrow it with type or category.")
    data = Found(results=entries, more=more or None, hints=hints or None, sources=sources or None)
    head = f"{len(shown)} results, the best first." if len(shown) > 1 else "One result."
    also = f"Also: {', '.join(map(code, more))}" if more else ""
    parts = [" ".join([head, *hints]), *(text for _, text in shown), also, _written(sources)]
    return Answer("\n\n".join(part for part in parts if part), data)


def _shown(hits: Sequence[Hit], room: int, several: bool) -> tuple[list[Shown], list[str]]:
    """Entries, and names of those that have no room among them."""
    shown = fit_many(hits, room, several)
    if len(shown) == len(hits):
        return shown, []
    for first in range(min(len(shown), DEFAULT_LIMIT), 0, -1):
        more = fit_names(hits[first:], int(room * SHARE_OF_NAMES))
        fewer = fit_many(hits[:first], room - sum(map(name_cost, more)), several)
        if len(fewer) == first:
            return fewer, more
    return shown, []


def _nothing(using: ReferenceServices, call: Call, asked: Asked, answer: SearchAnswer) -> Answer:
    """No error: that nothing is there is what was to be found out."""
    suggestions = [f"Did you mean '{line(name, 150)}'?" for name in answer.suggestions]
    hints = [*services.unknown(using, asked.category, asked.module, asked.within), TRY_LIST]
    hints += [TRY_REPORT] if may_report(using, call) else []
    hints += [FALLBACK] if answer.fallback else []
    data = Found(results=[], suggestions=suggestions, hints=[*hints, SAY_SO])
    meant = [f"Did you mean {either(answer.suggestions)}?"] if answer.suggestions else []
    return Answer(" ".join([SHAPED if answer.shaped else NOTHING, *meant, *hints, SAY_SO]), data)


def _written(sources: Sequence[Source]) -> str:
    return (
        "Source: " + ", ".join(f"{one.url or f'commit {one.commit}'} ({one.catalogue})" for one in sources)
        if sources
        else ""
    )
