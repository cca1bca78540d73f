"""The tools `get_command`, `get_api_endpoint` and `get_guide`: an entry by its name, page by page, or suggestions."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

from pydantic import Field

from commonplace.kernel.errors import InvalidInput, NotFound
from commonplace.reference.model import (
    ENTRY_TYPES,
    MAX_QUERY_CHARACTERS,
    METHODS,
    SUGGESTIONS,
    Asked,
    Catalogue,
    CommandAnswer,
    Hit,
    Method,
)
from commonplace.reference.spelling import spelling
from commonplace.reference.tools import services
from commonplace.reference.tools.answers import ANSWER_TOKENS, EntryData, OpenOutput, placed_of
from commonplace.reference.tools.markdown import code, either
from commonplace.reference.tools.pages import LEAST_TOKENS, MOST_TOKENS, NOTES_TOKENS, TOOL_OF, fit_many, page_of
from commonplace.reference.tools.services import ReferenceServices, checked, may_report, stated
from commonplace.web.mcp.arguments import shown as repeated
from commonplace.web.mcp.declaration import Answer, Call, Tool

MAX_BEGINNING = 10
"""Commands of a group that are named."""
MAX_HOSTS = 5
MAX_OTHERS = 5
"""Catalogues that have a command of the same name."""
HEAD_TOKENS = 60

LIST_THEM = "list_commands shows every command there is."
SEARCH_THEM = "search_knowledge with type api finds endpoints by what they do."
SEARCH_GUIDES = "search_knowledge finds guides by what they are about."
REPORT = "If it should be there, report_gap tells the maintainers."
NEVER = "Do not use a name that is not in the reference."

AS_ENDPOINT = "An endpoint of the API is asked for with get_api_endpoint."

_METHOD = re.compile(rf"\s*({'|'.join(METHODS)})\s+(?=\S)", re.IGNORECASE)
_ENDPOINT = re.compile(rf"\s*(?:(?:{'|'.join(METHODS)})\s+)?(?:/|https?:)", re.IGNORECASE)


class Paged(services.Filtered):
    page: int = 1
    max_tokens: int = Field(ANSWER_TOKENS, ge=LEAST_TOKENS, le=MOST_TOKENS)

    @property
    def room(self) -> int:
        return self.max_tokens - NOTES_TOKENS


class CommandArguments(Paged):
    command: str = Field(min_length=1, max_length=MAX_QUERY_CHARACTERS, description="As it is typed, arguments or not")


class EndpointArguments(Paged):
    path: str = Field(
        min_length=1,
        max_length=MAX_QUERY_CHARACTERS,
        description='API path, e.g. "/api/v1/users"; concrete values match parameters',
    )
    method: Method | None = Field(None, description="All if left out")


class GuideArguments(Paged):
    guide: str = Field(min_length=1, max_length=MAX_QUERY_CHARACTERS, description="Its id or title")


class OneEntry(OpenOutput, EntryData):
    """A command, a guide."""

    others: list[str] | None = None
    """Catalogues that have a command of this name too."""


class Endpoints(OpenOutput):
    endpoints: list[EntryData]
    hints: list[str] | None = None


def tools(using: ReferenceServices) -> tuple[Tool, ...]:
    return (
        Tool(
            name="get_command",
            title="Get a command",
            description="The exact syntax of one command, with its options and examples. Use it before you recommend "
            "a command.",
            arguments=CommandArguments,
            output=OneEntry,
            run=partial(get_command, using),
        ),
        Tool(
            name="get_api_endpoint",
            title="Get an API endpoint",
            description="One API endpoint, with its parameters, bodies, responses and authentication.",
            arguments=EndpointArguments,
            output=Endpoints,
            run=partial(get_api_endpoint, using),
        ),
        Tool(
            name="get_guide",
            title="Get a guide",
            description="A whole guide, feature, troubleshooting or setting, page by page.",
            arguments=GuideArguments,
            output=OneEntry,
            run=partial(get_guide, using),
        ),
    )


def get_command(using: ReferenceServices, call: Call, asked: CommandArguments) -> Answer:
    answer = using.reference.command(stated("command", asked.command), checked(using, asked.within))
    if answer.hit is None:
        raise _no_command(asked.command, answer, may_report(using, call))
    return _page(using, answer.hit, asked, [hit.catalogue.name for hit in answer.others[:MAX_OTHERS]])


def get_api_endpoint(using: ReferenceServices, call: Call, asked: EndpointArguments) -> Answer:
    path, method = _split(asked)
    answer = using.reference.endpoint(stated("path", path), method, checked(using, asked.within))
    if not answer.hits:
        if answer.methods:
            raise NotFound(f"This path has no method {method}.", hint=f"It has {', '.join(answer.methods)}. {NEVER}")
        servers = f"Servers are {', '.join(answer.hosts[:MAX_HOSTS])}. " if answer.hosts else ""
        hint = _hint(answer.suggestions, servers + SEARCH_THEM, may_report(using, call))
        raise NotFound(f"There is no endpoint “{repeated(path)}”.", hint=hint)
    if len(answer.hits) == 1:
        entry, text = page_of(answer.hits[0], asked.page, asked.room - HEAD_TOKENS // 2, using.several)
        return Answer(text, Endpoints(endpoints=[entry]))
    if asked.page > 1:  # each method has pages of its own
        methods = ", ".join(hit.entry.method or "" for hit in answer.hits)
        raise InvalidInput("Pages are those of one method.", hint=f"Give a method: {methods}.")
    shown = fit_many(answer.hits, asked.room - HEAD_TOKENS, using.several, evenly=True)
    shortened = any(one.continued_by or not one.commit for one, _ in shown)
    hints = ["Give a method to read one of them whole."] if shortened else []
    if left := len(answer.hits) - len(shown):
        hints.append(f"{left} more have no room here: give a method.")
    data = Endpoints(endpoints=[one for one, _ in shown], hints=hints or None)
    products = list(dict.fromkeys(hit.catalogue.name for hit in answer.hits))
    of = f" in {len(products)} catalogues: give catalogue for one of {either(products)}" if len(products) > 1 else ""
    head = " ".join([f"{len(answer.hits)} methods of this path{of}.", *hints])
    return Answer("\n\n".join([head, *(text for _, text in shown)]), data)


def get_guide(using: ReferenceServices, call: Call, asked: GuideArguments) -> Answer:
    """Raises NotFound, with the titles that come nearest, and InvalidInput where several products have one."""
    name, within = stated("guide", asked.guide).strip(), checked(using, asked.within)
    catalogues = [one for one in using.reference.catalogues() if within.admits(one)]
    by_id = [hit for one in catalogues if (hit := using.reference.entry(one.name, name))]
    found = [hit for hit in by_id if hit.entry.type not in TOOL_OF] or list(_titled(catalogues, name))
    products = list(dict.fromkeys(hit.catalogue.name for hit in found))
    if len(products) > 1:
        raise InvalidInput("Several products have a guide of this name.", hint=f"Give catalogue: {either(products)}.")
    if found:
        hit = found[0]
        new = placed_of(hit.catalogue, hit.entry.replaced_by or "") if hit.entry.deprecated else None
        return _page(using, replace(hit, placed=new, instead_of=hit.entry) if new else hit, asked)
    if by_id:
        entry = by_id[0].entry
        raise NotFound(f"{code(name)} is not a guide.", hint=f"{TOOL_OF[entry.type]} gives {code(entry.called)}.")
    # What a search for it finds, of each type the best; else titles that are spelt like it.
    types = [one for one in ENTRY_TYPES if one not in TOOL_OF]
    answers = [using.reference.search(Asked(name, one, limit=2, within=within)) for one in types]
    hits = sorted((hit for answer in answers for hit in answer.hits), key=lambda hit: -hit.score)
    spelt = (name for answer in answers for name in answer.suggestions)
    near = list(dict.fromkeys([*(hit.entry.title for hit in hits), *spelt]))[:SUGGESTIONS]
    hint = _hint(near, SEARCH_GUIDES, may_report(using, call))
    raise NotFound(f"There is no guide “{repeated(asked.guide)}”.", hint=hint)


def _page(using: ReferenceServices, hit: Hit, asked: Paged, others: Sequence[str] = ()) -> Answer:
    data, text = page_of(hit, asked.page, asked.room, using.several)
    also = [f"This is of {code(hit.catalogue.name)}. Give catalogue for that of {either(others)}."] if others else []
    return Answer("\n\n".join([*also, text]), OneEntry(**dict(data), others=list(others) or None))


def _titled(catalogues: Sequence[Catalogue], title: str) -> Iterator[Hit]:
    """Those with this title or alias, however it is spelt."""
    folded = spelling(title)
    for catalogue in catalogues:
        for placed in catalogue.entries:
            entry = placed.entry
            if entry.type not in TOOL_OF and folded in map(spelling, (entry.title, *entry.aliases)):
                yield Hit(catalogue, placed, matched_by="name", score=1.0)


def _split(asked: EndpointArguments) -> tuple[str, Method | None]:
    """A method may stand before the path. Raises InvalidInput if another one is given beside it."""
    found = _METHOD.match(asked.path)
    if found is None:
        return asked.path, asked.method
    method = cast(Method, found[1].upper())
    if asked.method not in (None, method):
        raise InvalidInput(
            f"The path says {method}, and the method says {asked.method}.", hint="Give the path alone, and one method."
        )
    return asked.path[found.end() :], method


def _no_command(name: str, answer: CommandAnswer, reports: bool) -> NotFound:
    if answer.beginning:
        names = [code(hit.entry.called, 120) for hit in answer.beginning]
        more = f" and {len(names) - MAX_BEGINNING} more" if len(names) > MAX_BEGINNING else ""
        return NotFound(
            f"“{repeated(name)}” is not a command: {len(names)} commands begin so.",
            hint=f"They are {', '.join(names[:MAX_BEGINNING])}{more}. {LIST_THEM}",
        )
    onward = f"{AS_ENDPOINT} {LIST_THEM}" if _ENDPOINT.match(name) else LIST_THEM
    return NotFound(f"There is no command “{repeated(name)}”.", hint=_hint(answer.suggestions, onward, reports))


def _hint(suggestions: Sequence[str], onward: str, reports: bool) -> str:
    meant = [f"Did you mean {either(suggestions)}?"] if suggestions else []
    return " ".join([*meant, onward, *([REPORT] if reports else []), NEVER])
