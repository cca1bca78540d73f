"""The tools `search_knowledge` and `search_with_documents`.

Filters are accepted in the spelling of models; hits are the same as those of REST, a page at a time.
"""

import re
from calendar import monthrange
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import Any
from urllib.parse import urlencode

from pydantic import Field

from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.content.document import DocumentRef, Entry, reference
from commonplace.documents.content.document_index import Catalogue
from commonplace.documents.content.filter_values import resolved, shown, sound, unknown
from commonplace.documents.content.lexicon import lexicon_of
from commonplace.documents.findings import MAX_HITS, Findings, find, intent, published, settle, with_spares
from commonplace.documents.tools import pagination
from commonplace.documents.tools.extracts import Extract, Extracts
from commonplace.documents.tools.services import KnowledgeServices, link, title
from commonplace.kernel.errors import InvalidInput
from commonplace.repository.comments import visible
from commonplace.search.filters import Filters
from commonplace.search.model import Fit, Hit, SearchRequest
from commonplace.search.query import Query
from commonplace.web.mcp import budgets
from commonplace.web.mcp.budgets import MAX_TOKENS, shortened
from commonplace.web.mcp.declaration import Answer, Arguments, Call, Link, Output, Part, Tool
from commonplace.web.mcp.rendering import cost

_DAY = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[T ].*)?)?)?")

NEAREST_TERMS = 3

BY_WORDS = "Meaning could not be compared: these were found by their words alone."
ELSEWHERE = "Other words, or fewer filters, may find more."
ENDS = "The ranking ends here. Filters show what lies further down."

KNOWLEDGE = "search_knowledge"
DOCUMENTS = "search_with_documents"

NOT_ALL = "Not every text is whole: get_document has all of it; a larger maxTokens or a smaller limit makes room."

DESCRIPTION_CHARACTERS = 200
MAX_AUTHORS = 5
ABOUT_CHARACTERS = 160  # Of the knowledge base's own description in a tool's

ATTEMPTS = 5  # At an answer that is as large as it may be
SLACK = 0.03  # The share of a budget that may be left


class FilterArguments(Arguments):
    content_type: list[str] = Field(
        [], description="Any of: pattern, tag ...; resource, story, reference, data include their kinds"
    )
    group: str | None = Field(None, description="As in list_groups")
    release: str | None = None
    status: str | None = None
    author: str | None = None
    tags: list[str] = Field([], description="Documents with all of these")
    date_from: str | None = Field(None, description="YYYY-MM-DD")
    date_to: str | None = None
    limit: int = Field(5, ge=1, le=MAX_HITS)


def filters(catalogue: Catalogue, asked: FilterArguments) -> Filters:
    """Return the exact conditions. Raises InvalidInput for a type or a day that cannot be."""
    wanted = Filters(
        content_types=tuple(name for value in asked.content_type for name in value.split(",") if name.strip()),
        groups=(asked.group,) if asked.group else (),
        releases=(asked.release,) if asked.release else (),
        statuses=(asked.status,) if asked.status else (),
        authors=(asked.author,) if asked.author else (),
        tags_all=tuple(asked.tags),
        date_from=_day("dateFrom", asked.date_from, last=False),
        date_to=_day("dateTo", asked.date_to, last=True),
    )
    return resolved(catalogue, wanted)


def _day(field: str, text: str | None, *, last: bool) -> str | None:
    """Return a whole day; of a month or a year, the first or the last one."""
    if text is None or not text.strip():
        return None
    found = _DAY.fullmatch(text.strip())
    year, month, day = (int(part) if part else 0 for part in (found.groups() if found else (0, 0, 0)))
    month = month or (12 if last else 1)
    try:
        return date(year, month, day or (monthrange(year, month)[1] if last else 1)).isoformat()
    except ValueError:
        hint = "Write it as YYYY-MM-DD, for example 2025-03-21."
        raise InvalidInput(f"{field} is not a day.", hint=hint) from None


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """The outcome of a search."""

    query: str
    findings: Findings
    known: Mapping[DocumentRef, Entry]  # What is published
    cursor: str | None  # Continues the ranking
    hints: tuple[str, ...]  # What a reader should know of it, in sentences
    listed: bool = False

    def pairs(self) -> Iterator[tuple[Hit, Entry]]:
        """Return what was found, and what is published of it now."""
        return ((hit, self.known[reference(hit.content_type, hit.id)]) for hit in self.findings.hits)

    @property
    def truncated(self) -> bool:
        return self.findings.passed + len(self.findings.hits) < self.findings.total


def ask(
    using: KnowledgeServices,
    query: str,
    narrowing: FilterArguments | None = None,
    *,
    tool: str,
    cursor: str | None = None,
    documents: bool = False,
) -> SearchOutcome:
    """Return what the query finds, or the list it requests. Raises InvalidInput for what cannot be searched for, and
    Unavailable when the index does not answer."""
    query = sound(query)
    narrowing = narrowing or FilterArguments()
    catalogue = using.catalogue()
    wanted = filters(catalogue, narrowing)
    question = repr((query, wanted))
    resumed = budgets.resume(cursor, tool=tool, question=question, version="") if cursor else 0
    start = resumed if isinstance(resumed, int) else 0
    request = SearchRequest(query, wanted, with_spares(narrowing.limit, start), documents=documents)
    meant = intent(catalogue, request)
    found = find(using.search.search, using.library, request, meant, slice(start, start + narrowing.limit))
    known = published(using.library, found)
    settled = settle(found, request, known, limit=narrowing.limit, start=start)
    onward = None
    if settled.resume is not None:
        onward = budgets.handle(settled.resume, tool=tool, question=question, version="")
    asked = SearchOutcome(query, settled, known, onward, (), listed=found.passed is not None)
    hints = (*filter(None, [settled.hint]), *([BY_WORDS] if found.fallback else ()))
    if asked.listed:
        hints = (*hints, *filter(None, [found.hint]), *unknown(catalogue, wanted))
    elif settled.hint or not settled.hits:
        unmatched = unknown(catalogue, wanted)
        terms = [term.name for term in lexicon_of(catalogue).nearest(Query.of(query).subject, NEAREST_TERMS)]
        nearest = [f"Terms of the lexicon like it: {', '.join(terms)}."] if terms else []
        hints = (*hints, *unmatched, *nearest, ELSEWHERE)
    elif asked.truncated and onward is None:
        hints = (*hints, ENDS)
    return replace(asked, hints=hints)


class _Result(Part):
    content_type: str
    id: str
    title: str
    description: str | None = None
    snippet: str | None = None
    score: float
    fit: Fit
    date: str | None = None
    status: str | None = None
    author: list[str] | None = None
    path: str
    document_url: str = Field(description="To cite")
    link: str | None = Field(None, description="What it is about")


class FoundPassage(_Result):
    heading: str | None = None
    rerank_score: float | None = None
    duplicates: list[str] | None = None


class FoundDocument(_Result):
    content: str | None = Field(None, description="Whole, or the sections that match")
    characters: int | None = Field(None, description="Of the whole")
    truncated: bool | None = None


class _Found(Output):
    total: int
    total_relation: str = Field(description="exact or candidates")
    truncated: bool
    suggestion: str | None = Field(None, description="Did you mean")
    hints: list[str] | None = None


class Passages(_Found):
    next_cursor: str | None = None
    results: list[FoundPassage]


class Documents(_Found):
    results: list[FoundDocument]


def whole(found: SearchOutcome) -> dict[str, Any]:
    """Return the part of an answer that describes the search as a whole."""
    return {
        "total": found.findings.total,
        "total_relation": found.findings.relation,
        "truncated": found.truncated,
        "suggestion": found.findings.suggestion,
        "hints": list(found.hints) or None,
    }


def head(found: SearchOutcome) -> str:
    """First things first: how many there are, what was perhaps meant, what to know, how to go on."""
    asked = f' for "{shown(found.query)}"' if found.query.strip() else ""
    # A ranking ends at its candidates, and does not count what has the words.
    first, here, total = found.findings.passed + 1, len(found.findings.hits), found.findings.total
    place = f"Result {first}" if here == 1 else f"Results {first} to {first + here - 1}"
    if not here:
        place = "No results"
    elif found.findings.hint:
        place = f"No results, {here} weak {'match' if here == 1 else 'matches'}"
    elif found.listed:
        place += f" of {total}"
    elif found.findings.relation == "exact":
        place = f"{place} of the {total} documents that have its words" if total > 1 else "The one document with words"
    else:
        place = f"{place} of the {total} best candidates" if total > 1 else "The only candidate"
    told = [f"{place}{asked}{'; more were not shown' if found.truncated else ''}."]
    told += [f'Did you mean "{found.findings.suggestion}"?'] if found.findings.suggestion else []
    told += found.hints
    return "\n".join([*told, f"More: cursor `{found.cursor}`."] if found.cursor else told)


def passage_text(number: int, one: FoundPassage) -> str:
    heading = one.heading if one.heading != one.title else None
    lines = [*_lines(number, one, heading)]
    lines += [f"Nearly the same text: {', '.join(one.duplicates)}"] if one.duplicates else []
    return "\n".join(lines)


def document_text(number: int, one: FoundDocument, extract: Extract | None) -> str:
    lines = _lines(number, one)
    if one.content is None or extract is None:
        return "\n".join(lines)
    part = f"{extract.given:,} of {extract.whole:,} characters, what matches first; get_document has all"
    place = f"all {extract.whole:,} characters" if extract.complete else part
    return "\n".join([*lines, "", f"--- {place} ---", one.content.strip(), "--- end ---"])


def _lines(number: int, one: _Result, heading: str | None = None) -> list[str]:
    author = f"by {', '.join(one.author)}" if one.author else None
    fit = "weak match" if one.fit == "weak" else None
    place = ", ".join(fact for fact in (fit, f"`{one.content_type}/{one.id}`", one.date, one.status, author) if fact)
    about = f"About <{one.link}>" if one.link else None
    cite = f"<{one.document_url}> {one.path}"
    told = (f"{number}. **{one.title}** ({place})", one.description, heading, one.snippet, cite, about)
    return [line for line in told if line]


def _facts(addresses: DocumentAddresses, hit: Hit, entry: Entry) -> dict[str, Any]:
    description = shortened(entry.description, DESCRIPTION_CHARACTERS) if entry.description else None
    return {
        "content_type": hit.content_type,
        "id": hit.id,
        "title": hit.title,
        "description": description,
        # Where no passage was found, the description stands in for one.
        "snippet": hit.snippet if hit.snippet != entry.description else None,
        "score": hit.score,
        "fit": hit.fit,
        "date": hit.date,
        "status": entry.status,
        "author": entry.author[:MAX_AUTHORS] or None,
        "path": entry.path,
        "document_url": addresses.of(hit),
        "link": hit.url,
    }


class SearchArguments(Arguments):
    query: str | None = Field(None, description="A question, words or a title; none lists the newest")
    filters: FilterArguments | None = None
    cursor: str | None = Field(None, description="nextCursor of the previous page")


class DocumentsArguments(Arguments):
    query: str
    filters: FilterArguments | None = None
    max_tokens: int | None = Field(None, ge=pagination.LEAST_TOKENS, le=MAX_TOKENS)


def tools(using: KnowledgeServices) -> tuple[Tool, ...]:
    about = " ".join(using.site_description.split()).rstrip(".")
    named = f'"{title(using)}"' + (f" ({shortened(about, ABOUT_CHARACTERS)})" if about else "")
    return (
        Tool(
            name=KNOWLEDGE,
            title="Search the knowledge base",
            description=f"Searches {named} by words and meaning. Returns the best passages with ids and citation "
            "URLs, not whole documents. Lists too: filters alone, or `all patterns`.",
            arguments=SearchArguments,
            output=Passages,
            run=partial(search_knowledge, using),
            cost="search",
        ),
        Tool(
            name=DOCUMENTS,
            title="Search with documents",
            description="Like search_knowledge, with the text of the documents as far as maxTokens reach: the sections "
            "that match first.",
            arguments=DocumentsArguments,
            output=Documents,
            run=partial(search_with_documents, using),
            tier=using.full_text_tier,
            page=lambda asked: f"{using.addresses.base_url}/search?{urlencode({'q': asked.query})}",
            cost="search",
        ),
    )


def search_knowledge(using: KnowledgeServices, _: Call, asked: SearchArguments) -> Answer:
    came = ask(using, asked.query or "", asked.filters, tool=KNOWLEDGE, cursor=asked.cursor)
    passages = [
        FoundPassage(
            **_facts(using.addresses, hit, entry),
            heading=hit.heading,
            rerank_score=hit.rerank_score,
            duplicates=list(hit.duplicates) or None,
        )
        for hit, entry in came.pairs()
    ]
    told = [passage_text(came.findings.passed + at, one) for at, one in enumerate(passages, 1)]
    data = Passages(**whole(came), next_cursor=came.cursor, results=passages)
    return Answer("\n\n".join([head(came), *told]), data, _links(using, came))


def search_with_documents(using: KnowledgeServices, _: Call, asked: DocumentsArguments) -> Answer:
    came = ask(using, asked.query, asked.filters, tool=DOCUMENTS, documents=True)
    # Its handle would continue a ranking of passages, and this tool has no use for it.
    came = replace(came, cursor=None)
    hits = came.findings.hits
    bodies = [visible(hit.document.content) if hit.document else None for hit in hits]
    budget = pagination.budget(asked.max_tokens or using.document_tokens)
    best = _with_documents(using, came, [None] * len(hits))
    room = budget - cost(best)
    extracts = Extracts(came.query, bodies, [hit.snippet for hit in hits])
    for _attempt in range(ATTEMPTS):
        given = extracts.within(room)
        answer = _with_documents(using, came, given)
        over = cost(answer) - budget
        if over <= 0:
            best = answer
        if -budget * SLACK <= over <= 0 or (over <= 0 and all(one and one.complete for one in given)):
            break
        # What stands around the texts is not known before.
        room -= over
    return best


def _with_documents(using: KnowledgeServices, came: SearchOutcome, given: Sequence[Extract | None]) -> Answer:
    if not all(one and one.complete for one in given):
        came = replace(came, hints=(*came.hints, NOT_ALL))
    pairs = zip(came.pairs(), given, strict=True)
    documents: list[FoundDocument] = []
    for (hit, entry), one in pairs:
        facts = _facts(using.addresses, hit, entry)
        if one:
            # The passage that was found stands in the text.
            facts |= {"snippet": None, "content": one.text, "characters": one.whole, "truncated": not one.complete}
        documents.append(FoundDocument(**facts))
    told = [document_text(at, one, given[at - 1]) for at, one in enumerate(documents, 1)]
    data = Documents(**whole(came), results=documents)
    return Answer("\n\n".join([head(came), *told]), data, _links(using, came))


def _links(using: KnowledgeServices, came: SearchOutcome) -> tuple[Link, ...]:
    return tuple(link(using, reference(hit.content_type, hit.id), hit.title) for hit in came.findings.hits)
