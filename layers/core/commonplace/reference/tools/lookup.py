"""The tools `get_command` and `get_api_endpoint`: one entry by its exact name, or suggestions."""

import re
from collections.abc import Sequence
from functools import partial
from typing import cast

from pydantic import Field

from commonplace.kernel.errors import InvalidInput, NotFound
from commonplace.reference.model import MAX_QUERY_CHARACTERS, METHODS, CommandAnswer, EndpointAnswer, Hit, Method
from commonplace.reference.tools.answers import ROOM, Told, code, either, fit_many, fit_one, resource_of
from commonplace.reference.tools.services import ReferenceServices, may_report, stated
from commonplace.web.mcp.arguments import shown as repeated
from commonplace.web.mcp.declaration import Answer, Arguments, Call, Output, Tool

MAX_BEGINNING = 10
"""Commands of a group that are named."""
HEAD_TOKENS = 60

LIST_THEM = "list_commands shows every command there is."
SEARCH_THEM = "search_knowledge with type api finds endpoints by what they do."
REPORT = "If it should be there, report_gap tells the maintainers."
NEVER = "Do not use a name that is not in the reference."

AS_ENDPOINT = "An endpoint of the API is asked for with get_api_endpoint."

_METHOD = re.compile(rf"\s*({'|'.join(METHODS)})\s+(?=\S)", re.IGNORECASE)
_ENDPOINT = re.compile(rf"\s*(?:(?:{'|'.join(METHODS)})\s+)?(?:/|https?:)", re.IGNORECASE)


class CommandArguments(Arguments):
    command: str = Field(
        min_length=1, max_length=MAX_QUERY_CHARACTERS, description="The command as it is typed, arguments or not"
    )


class EndpointArguments(Arguments):
    path: str = Field(
        min_length=1,
        max_length=MAX_QUERY_CHARACTERS,
        description='API path, e.g. "/api/v1/users"; concrete values match parameters',
    )
    method: Method | None = Field(None, description="All methods of the path if left out")


class Command(Output, Told):
    """A command."""


class Endpoints(Output):
    endpoints: list[Told]
    hints: list[str] | None = None


def tools(using: ReferenceServices) -> tuple[Tool, ...]:
    return (
        Tool(
            name="get_command",
            title="Get a command",
            description="The exact syntax of one command, with its options and examples. Use it before you recommend "
            "a command.",
            arguments=CommandArguments,
            output=Command,
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
    )


def get_command(using: ReferenceServices, call: Call, asked: CommandArguments) -> Answer:
    answer = using.reference.command(stated("command", asked.command))
    if answer.hit is None:
        raise _no_command(asked.command, answer, may_report(using, call))
    told, text = fit_one(answer.hit)
    links = (resource_of(answer.hit),) if told.truncated else ()
    return Answer(text, Command(**dict(told)), links)


def get_api_endpoint(using: ReferenceServices, call: Call, asked: EndpointArguments) -> Answer:
    path, method = _split(asked)
    stated("path", path)
    answer = using.reference.endpoint(path, method)
    if not answer.hits:
        raise _no_endpoint(path, method, answer, may_report(using, call))
    return _endpoints(answer.hits)


def _endpoints(hits: Sequence[Hit]) -> Answer:
    if len(hits) == 1:
        shown, hints = [fit_one(hits[0], ROOM - HEAD_TOKENS // 2)], []
    else:
        shown = fit_many(hits, ROOM - HEAD_TOKENS)
        hints = ["Give a method to read one of them whole."] if any(told.truncated for told, _ in shown) else []
    if left := len(hits) - len(shown):
        hints.append(f"{left} more have no room here: give a method.")
    data = Endpoints(endpoints=[told for told, _ in shown], hints=hints or None)
    head = [" ".join([f"{len(hits)} methods of this path.", *hints])] if len(hits) > 1 else []
    links = tuple(resource_of(hit) for hit, (told, _) in zip(hits, shown, strict=False) if told.truncated)
    return Answer("\n\n".join([*head, *(text for _, text in shown)]), data, links)


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
            f"“{repeated(name)}” is no command: {len(names)} commands begin so.",
            hint=f"They are {', '.join(names[:MAX_BEGINNING])}{more}. {LIST_THEM}",
        )
    onward = f"{AS_ENDPOINT} {LIST_THEM}" if _ENDPOINT.match(name) else LIST_THEM
    return NotFound(f"There is no command “{repeated(name)}”.", hint=_hint(answer.suggestions, onward, reports))


def _no_endpoint(path: str, method: Method | None, answer: EndpointAnswer, reports: bool) -> NotFound:
    if answer.methods:
        return NotFound(f"This path has no method {method}.", hint=f"It has {', '.join(answer.methods)}. {NEVER}")
    return NotFound(f"There is no endpoint “{repeated(path)}”.", hint=_hint(answer.suggestions, SEARCH_THEM, reports))


def _hint(suggestions: Sequence[str], onward: str, reports: bool) -> str:
    meant = [f"Did you mean {either(suggestions)}?"] if suggestions else []
    return " ".join([*meant, onward, *([REPORT] if reports else []), NEVER])
