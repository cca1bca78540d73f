"""The tool `kb_search`, and the log line from which queries are counted."""

import logging
from functools import partial
from typing import cast

from pydantic import Field, create_model

from commonplace.kernel.telemetry import count
from commonplace.memory import validation
from commonplace.memory.model import (
    DEFAULT_LIMIT,
    DEFAULT_MIN_CONFIDENCE,
    MAX_LIMIT,
    ROLES,
    Asked,
    EntryType,
    Found,
    Phase,
    Role,
)
from commonplace.memory.tools.answers import FoundEntry, facts, fitted, told
from commonplace.memory.tools.services import MemoryServices
from commonplace.search.list_questions import Names, read
from commonplace.web.mcp.budgets import estimate_tokens
from commonplace.web.mcp.declaration import Answer, Call, SnakeCaseArguments, SnakeCaseOutput, Tool

logger = logging.getLogger(__name__)

MAX_DUPLICATES = 5
"""Ids of entries with nearly the same text that are listed for one."""

FALLBACK = "The model that compares meaning does not answer just now: only words were compared."
NOTHING = (
    "Try other words, fewer conditions (role, tags, entry_type) or a lower min_confidence. Or nobody noted it yet."
)
LIST = "This asks for a list, and these are only the best of a search: `kb_list` with {} gives all."

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


class SearchArguments(SnakeCaseArguments):
    query: str = Field(description="A question or a task, in your own words")
    role: Role | None = Field(None, description="Entries for this role, and for all; `all` is no filter")
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


class Searched(SnakeCaseOutput):
    entries: list[FoundEntry]
    fallback: bool = Field(description="Only words were compared")
    folded: int | None = Field(None, description="Entries that are nearly equal to these and left out")
    hints: list[str] | None = None


def tools(using: MemoryServices) -> tuple[Tool, ...]:
    return (
        Tool(
            name="kb_search",
            title="Search the team's memory",
            description="Finds what the team learned, by meaning and words: facts, story summaries, templates. Use it "
            "before a phase, a decision or an unfamiliar task, and on an error you meet.",
            arguments=_arguments(using),
            output=Searched,
            run=partial(kb_search, using),
            tier="member",
            cost="search",
            exact=True,
        ),
    )


def kb_search(using: MemoryServices, call: Call, asked: SearchArguments) -> Answer:
    question = validation.asked(**dict(asked))
    answer = using.memory.search(call.author, question)
    note_query(question, fallback=answer.fallback)
    shown = fitted(answer.found, _contents, _row, _line, usual=DEFAULT_LIMIT)
    hints = [FALLBACK] if answer.fallback else []
    hints += [NOTHING] if answer.hint or not answer.found else []
    hints += _list_of(asked.query)
    if folded := sum(len(one.duplicates) for one in answer.found[: len(shown.rows)]):
        hints.append(f"{folded} nearly equal left out: kb_get shows one by its id, collapse=false all of them.")
    if left := len(answer.found) - len(shown.rows):
        hints.append(f"{left} more were found and left out for their size: ask for fewer, or more narrowly.")
    count = len(shown.rows)
    many = f"{count} {'entry' if count == 1 else 'entries'}, {'all weak, ' if answer.hint else ''}the best first."
    first = [answer.hint] if answer.hint else []
    text = "\n\n".join([" ".join([*first, many if count else "Nothing was found.", *hints]), *shown.text])
    hints = [*first, *hints]
    using.memory.served(call.author, question.story, estimate_tokens(text))
    return Answer(
        text, Searched(entries=shown.rows, fallback=answer.fallback, folded=folded or None, hints=hints or None)
    )


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
    """Logs and counts role and phase of a query, never its text."""
    phase, role = question.phase or "none", question.role or "all"
    # Five phases and none, four roles: 24 metrics at most.
    count("MemoryQueries", Phase=phase, Role=role)
    if fallback:
        count("MemoryFallbacks")
    logger.info("memory query", extra={"phase": phase, "role": role, "fallback": fallback})


def _arguments(using: MemoryServices) -> type[SearchArguments]:
    """With the defaults of this deployment."""
    if (using.default_limit, using.min_confidence) == (DEFAULT_LIMIT, DEFAULT_MIN_CONFIDENCE):
        return SearchArguments
    limit = Field(using.default_limit, ge=1, le=MAX_LIMIT)
    confidence = Field(using.min_confidence, ge=0, le=1)
    made = create_model(
        "SearchArguments", __base__=SearchArguments, limit=(int, limit), min_confidence=(float, confidence)
    )
    return cast(type[SearchArguments], made)


def _contents(found: Found) -> tuple[str, str]:
    return found.entry.content, found.excerpt


def _row(found: Found, content: str) -> FoundEntry:
    duplicates = list(map(str, found.duplicates[:MAX_DUPLICATES])) or None
    return FoundEntry(**facts(found.entry, content), score=round(found.score, 6), fit=found.fit, duplicates=duplicates)


def _line(number: int, one: FoundEntry) -> str:
    near = ", ".join(f"`{id}`" for id in one.duplicates or ())
    return told(one, head=f"{number}. {'weak match ' if one.fit == 'weak' else ''}", nearly_the_same_as=near)
