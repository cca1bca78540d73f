"""`completion/complete`: values for arguments of prompts and variables of templates, by what is typed so far."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CompleteRequestParams, PromptReference

from commonplace.kernel.terms import words
from commonplace.web.mcp.access import allowed, caller_of
from commonplace.web.mcp.budgets import estimate_tokens
from commonplace.web.mcp.declaration import Complete
from commonplace.web.mcp.offer import Offer
from commonplace.web.mcp.rendering import COMPLETE
from commonplace.web.mcp.replies import Reply
from commonplace.web.mcp.tools import in_thread
from commonplace.web.mcp.uri_templates import variables_of

_UNFIT = 3

MAX_VALUES = 100
"""Of one answer, as the protocol says."""
MAX_TYPED_CHARACTERS = 200
"""What is typed beyond this fits nothing."""

Context = ServerRequestContext[Any, Any]


def fitting(values: Iterable[str], typed: str) -> Sequence[str]:
    """Values that begin with what is typed, then those with a word that does, then those that contain it.

    Letter case never counts; of equals, the order stays.
    """
    known = list(dict.fromkeys(values))
    wanted = typed.strip().casefold()
    if not wanted:
        return known
    ranked = ((_rank(value.casefold(), wanted), at, value) for at, value in enumerate(known))
    return [value for rank, _, value in sorted(ranked) if rank < _UNFIT]


def choices(*values: str) -> Complete:
    """Completes to one of a few."""
    return lambda typed, _: fitting(values, typed)


def _rank(value: str, wanted: str) -> int:
    if value.startswith(wanted):
        return 0
    if any(word.startswith(wanted) for word in words(value)):
        return 1
    return 2 if wanted in value else _UNFIT


class Completions:
    """The completers of one path."""

    def __init__(self, offer: Offer) -> None:
        self._prompts = {
            name: (offer.needs["prompt", name], {argument.name: argument.complete for argument in one.arguments})
            for name, one in offer.prompts.items()
        }
        self._templates = {
            one.uri_template: (
                offer.needs["template", one.uri_template],
                {name: one.complete.get(name) for name in variables_of(one.uri_template)},
            )
            for one in offer.templates
        }

    def name(self, params: CompleteRequestParams) -> str:
        known = params.ref.name if isinstance(params.ref, PromptReference) else params.ref.uri
        return known if known in self._prompts or known in self._templates else "unknown"

    async def complete(self, ctx: Context, params: CompleteRequestParams) -> Reply:
        """Raises MCPError -32602 for a prompt, a template or an argument that is not there."""
        need, completers = self._target(params)
        if params.argument.name not in completers:
            raise MCPError(INVALID_PARAMS, f"Unknown argument: {params.argument.name[:64]}")
        completer, typed = completers[params.argument.name], params.argument.value
        if completer is None or len(typed) > MAX_TYPED_CHARACTERS or not allowed(need, caller_of(ctx.request)):
            return _completion([])
        given = dict((params.context.arguments if params.context else None) or {})
        return _completion(await in_thread(completer, typed, given))

    def _target(self, params: CompleteRequestParams) -> tuple[Any, Mapping[str, Complete | None]]:
        if isinstance(params.ref, PromptReference):
            found = self._prompts.get(params.ref.name)
        else:
            found = self._templates.get(params.ref.uri)
        if found is None:
            raise MCPError(INVALID_PARAMS, "Unknown prompt or resource template")
        return found


def _completion(values: Sequence[str]) -> Reply:
    every = list(dict.fromkeys(values))
    fitting = {"values": every[:MAX_VALUES], "total": len(every), "hasMore": len(every) > MAX_VALUES}
    return Reply(COMPLETE | {"completion": fitting}, estimate_tokens(" ".join(every[:MAX_VALUES])))
