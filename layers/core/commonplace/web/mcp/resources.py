"""The methods `resources/read`, `prompts/get` and `completion/complete`."""

from collections.abc import Mapping

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CompleteRequestParams,
    GetPromptRequestParams,
    PromptReference,
    ReadResourceRequestParams,
)

from commonplace.identity.authorization import Need, Verdict
from commonplace.kernel.errors import NotFound, TooLarge
from commonplace.web.mcp.budgets import estimate_tokens
from commonplace.web.mcp.calls import ACCESS_DENIED, Context, Reply, Surface, in_thread
from commonplace.web.mcp.completions import MAX_VALUES
from commonplace.web.mcp.declaration import Call, Caller, Complete, Text
from commonplace.web.mcp.offer import Offer, caller_of, denial, variables_of
from commonplace.web.mcp.rendering import CACHED, COMPLETE, contents

MAX_RESOURCE_BYTES = 3_500_000
"""A function's response holds 6 MB, and base64 makes a third more of a file."""
MEMBER_MILLISECONDS = 5_000
"""For how long a client keeps what it read for a member of an organisation."""
MAX_TYPED_CHARACTERS = 200
"""The longest text that is completed; longer ones fit nothing."""


class Reading:
    """The resources, prompts and completions of one path."""

    def __init__(self, offer: Offer, surface: Surface) -> None:
        self._offer = offer
        self._surface = surface
        prompts = {name: {one.name: one.complete for one in prompt.arguments} for name, prompt in offer.prompts.items()}
        templates = {
            one.uri_template: {name: one.complete.get(name) for name in variables_of(one.uri_template)}
            for one in offer.templates
        }
        self._completers: dict[tuple[str, str], Mapping[str, Complete | None]] = {
            **{("prompt", name): completers for name, completers in prompts.items()},
            **{("template", uri): completers for uri, completers in templates.items()},
        }

    def resource_name(self, params: ReadResourceRequestParams) -> str:
        """Return the address of a fixed resource, or the template that fits."""
        uri = str(params.uri)
        if uri in self._offer.resources:
            return uri
        found = self._offer.template_at(uri)
        return found[0].uri_template if found else "unknown"

    def prompt_name(self, params: GetPromptRequestParams) -> str:
        return params.name if params.name in self._offer.prompts else "unknown"

    def completed_name(self, params: CompleteRequestParams) -> str:
        known = _referred(params)
        return known[1] if known in self._completers else "unknown"

    async def read(self, ctx: Context, params: ReadResourceRequestParams) -> Reply:
        """Raises MCPError: -32602 with `data.uri` for what is not there, 403 for what this account may not read."""
        uri, caller = str(params.uri), caller_of(ctx.request)
        fixed = self._offer.resources.get(uri)
        found = self._offer.template_at(uri) if fixed is None else None
        call = Call(caller, self._surface.base_url, ctx)
        body: Text
        try:
            # In threads, since reading a store would block other requests.
            if fixed is not None:
                _admit("resource", self._offer.needs["resource", uri], caller)
                body, mime_type = await in_thread(fixed.read, call), fixed.mime_type
            elif found is not None:
                template, variables = found
                _admit("resource", self._offer.needs["template", template.uri_template], caller)
                body, mime_type = await in_thread(template.read, call, variables)
            else:
                raise NotFound("There is no such resource.")
        except NotFound as error:
            hint = {"hint": error.hint} if error.hint else {}
            raise MCPError(INVALID_PARAMS, "Resource not found", {"uri": uri[:256]} | hint) from None
        size = len(body) if isinstance(body, bytes) else len(body.encode("utf-8", "replace"))
        if size > MAX_RESOURCE_BYTES:
            raise TooLarge("This resource is too large to be read here.", sizeBytes=size)
        tokens = size // 2 if isinstance(body, bytes) else estimate_tokens(body)
        # What a member reads ends with a role or a grant: no client may show it for long afterwards.
        brief = {} if caller.principal.membership is None else {"ttlMs": MEMBER_MILLISECONDS}
        return Reply(CACHED | brief | {"contents": [contents(uri, mime_type, body)]}, tokens)

    async def prompt(self, ctx: Context, params: GetPromptRequestParams) -> Reply:
        """Raises MCPError -32602 for an unknown prompt or a missing argument."""
        caller, prompt = caller_of(ctx.request), self._offer.prompts.get(params.name)
        if prompt is None:
            raise MCPError(INVALID_PARAMS, f"Unknown prompt: {params.name[:64]}")
        _admit("prompt", self._offer.needs["prompt", params.name], caller)
        given = {name: value for name, value in (params.arguments or {}).items() if value.strip()}
        if missing := [one.name for one in prompt.arguments if one.required and one.name not in given]:
            raise MCPError(INVALID_PARAMS, "Missing arguments: " + ", ".join(missing))
        known = {one.name: given[one.name] for one in prompt.arguments if one.name in given}
        text = await in_thread(prompt.render, Call(caller, self._surface.base_url, ctx), known)
        message = {"role": "user", "content": {"type": "text", "text": text}}
        return Reply(COMPLETE | {"description": prompt.description, "messages": [message]}, estimate_tokens(text))

    async def complete(self, ctx: Context, params: CompleteRequestParams) -> Reply:
        """Raises MCPError -32602 for a prompt, a template or an argument that is not there."""
        known, argument, caller = _referred(params), params.argument, caller_of(ctx.request)
        completers = self._completers.get(known)
        if completers is None:
            raise MCPError(INVALID_PARAMS, "Unknown prompt or resource template")
        if argument.name not in completers:
            raise MCPError(INVALID_PARAMS, f"Unknown argument: {argument.name[:64]}")
        completer, values = completers[argument.name], list[str]()
        allowed = caller.verdict(self._offer.needs[known]) is Verdict.ALLOWED
        if completer is not None and allowed and len(argument.value) <= MAX_TYPED_CHARACTERS:
            given = dict((params.context.arguments if params.context else None) or {})
            values = list(dict.fromkeys(await in_thread(completer, caller, argument.value, given)))
        first = values[:MAX_VALUES]
        answer = {"values": first, "total": len(values), "hasMore": len(values) > MAX_VALUES}
        return Reply(COMPLETE | {"completion": answer}, estimate_tokens(" ".join(first)))


def _referred(params: CompleteRequestParams) -> tuple[str, str]:
    if isinstance(params.ref, PromptReference):
        return "prompt", params.ref.name
    return "template", params.ref.uri


def _admit(thing: str, need: Need, caller: Caller) -> None:
    if (verdict := caller.verdict(need)) is not Verdict.ALLOWED:
        raise MCPError(ACCESS_DENIED, denial(thing, need, verdict))
