"""The guard: principal, rate limit, access and restrictions of a request, before any server is called. Pure ASGI.

What a message needs is read from its body alone: headers that repeat it may lie. A client that has to sign in or to
request more scopes gets a challenge over HTTP, in both eras of the protocol. An account that no consent can help is
answered by the server, for the model to read: a challenge would send the client round in a circle.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from commonplace.identity.authorization import Need, Verdict, judge
from commonplace.identity.principals import Principals, Tier
from commonplace.kernel.errors import CommonplaceError, Unauthorized
from commonplace.web.challenges import Challenges, NotValid, SignIn
from commonplace.web.mcp.access import exists
from commonplace.web.mcp.arguments import understand
from commonplace.web.mcp.declaration import Caller
from commonplace.web.mcp.edge import tool_called
from commonplace.web.mcp.errors import MESSAGE
from commonplace.web.mcp.limits import Metered, Throttle
from commonplace.web.mcp.offer import Offer
from commonplace.web.mcp.surface import CALLER
from commonplace.web.mcp.tools import in_thread
from commonplace.web.mcp.uri_templates import match, pattern_of
from commonplace.web.middleware import MET, client_address, header_map
from commonplace.web.private import admit

READ_ONLY_HEADER = "x-mcp-readonly"

DENIALS = frozenset((Verdict.TIER, Verdict.SCOPE, Verdict.KIND, Verdict.CONSENT))
"""Verdicts on an account that is known: each is worth a record."""

_FALSE = ("false", "0", "no", "off")
_CREDENTIALS = (b"authorization", b"cookie", b"proxy-authorization")


class Needs:
    """Of the operations of one path."""

    def __init__(self, offer: Offer) -> None:
        self._offer = offer

    def of(self, message: Mapping[str, Any], caller: Caller) -> Need | None:
        """None for what is not there, what is malformed, and what everybody may: the server answers those."""
        params = message.get("params")
        if not isinstance(params, Mapping):
            return None
        match message.get("method"):
            case "tools/call":
                return self._tool(params.get("name"), caller)
            case "resources/read":
                return self._resource(params.get("uri"))
            case "prompts/get":
                return self._named("prompt", params.get("name"))
        return None

    def page(self, message: Mapping[str, Any]) -> str | None:
        """The page of a public deployment where anybody reads what a refused message is about. It reads the store."""
        params = message["params"]
        try:
            if message["method"] == "tools/call":
                tool, given = self._offer.tools[params["name"]].tool, params.get("arguments")
                if tool.page is not None and isinstance(given, Mapping):
                    return tool.page(understand(given, tool.arguments, max_values=tool.max_values)[0])
            elif message["method"] == "resources/read":
                for one in self._offer.templates:
                    variables = match(pattern_of(one.uri_template), params["uri"])
                    if one.page is not None and variables is not None:
                        return one.page(variables)
        except CommonplaceError:
            pass  # what was named is not there, or cannot be read now: the refusal stands without a page
        return None

    def _tool(self, name: Any, caller: Caller) -> Need | None:
        offered = self._offer.tools.get(name) if isinstance(name, str) else None
        return offered.need if offered is not None and exists(offered, caller) else None

    def _resource(self, uri: Any) -> Need | None:
        if (fixed := self._named("resource", uri)) is not None or not isinstance(uri, str):
            return fixed
        found = (template for pattern, template in self._patterns if match(pattern, uri) is not None)
        return self._named("template", next(found, None))

    def _named(self, kind: str, name: Any) -> Need | None:
        return self._offer.needs.get((kind, name)) if isinstance(name, str) else None

    @cached_property
    def _patterns(self) -> list[tuple[re.Pattern[str], str]]:
        return [(pattern_of(one.uri_template), one.uri_template) for one in self._offer.templates]


class Guard:
    """Leaves a `Caller` in the scope. A call of a tool is counted where it runs, everything else here.

    Principals and counters are read on the loop, where no deadline interrupts them: both bound their own waits.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        principals: Principals,
        resource: str = "",
        throttle: Throttle,
        offer: Offer,
        read_only: bool = False,
        challenges: Challenges | None = None,
        tier: Tier = "public",
    ) -> None:
        """`resource` is the canonical URL of this path. Without challenges nobody can sign in. `tier` is that of whom
        anything is answered to.
        """
        self._app = app
        self._resource = resource
        self._principals = principals
        self._throttle = throttle
        self._offer = offer
        self._needs = Needs(offer)
        self._read_only = read_only
        self._challenges = challenges
        self._tier = tier

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises what the client itself has to act on, and Unavailable."""
        headers = header_map(scope)
        stranger = Metered(
            address=client_address(scope),
            read_only=self._read_only or asks_for_reading(headers.get(READ_ONLY_HEADER)),
            met=scope[MET],
        )
        caller = self._identified(stranger, headers)
        try:
            self._admit(scope, caller)
        except SignIn as refused:
            page = await in_thread(self._needs.page, scope[MESSAGE]) if self._tier == "public" else None
            raise SignIn(refused.challenge, page) from None
        await self._app(_without_credentials(scope) | {CALLER: caller}, receive, send)

    def _identified(self, stranger: Metered, headers: Mapping[str, str]) -> Metered:
        try:
            principal = self._principals.identify(headers, self._resource)
        except Unauthorized as bad:
            # Whoever guesses tokens is somebody unknown, and may try as often as anybody unknown may ask.
            self._throttle.spend(stranger, "read")
            if self._challenges is None:
                raise
            raise NotValid(bad, self._challenges.invalid_token(self._resource)) from None
        self._principals.used(principal, stranger.address)
        return replace(stranger, principal=principal)

    def _admit(self, scope: Scope, caller: Metered) -> None:
        """Counts the request, and raises what its client itself has to act on: RateLimited, SignIn, Consent."""
        tool = self._offer.tools.get(tool_called(scope) or "")
        if tool is None:
            self._throttle.spend(caller, "read")
        try:
            self._keep_out(caller)
            self._judge(self._needs.of(scope[MESSAGE], caller), caller)
        except CommonplaceError:
            if tool is not None:
                self._throttle.spend(caller, tool.tool.cost, tool.toolset.name)
            raise

    def _keep_out(self, caller: Metered) -> None:
        """In a private deployment strangers learn nothing. Raises SignIn, Unauthorized, Unavailable, Forbidden."""
        if self._tier == "public":
            return
        if not caller.principal.anonymous:
            admit(caller.principal, self._tier)
        elif self._challenges is not None:
            raise SignIn(self._challenges.sign_in(self._resource))
        else:
            raise Unauthorized("This is for people who have signed in.")

    def _judge(self, need: Need | None, caller: Metered) -> None:
        if need is None or self._challenges is None:
            return
        verdict = judge(caller.principal, need)
        if verdict in DENIALS:
            self._principals.denied(caller.principal, verdict.value, need.scope, caller.address)
        self._challenges.admit(verdict, need, self._resource)


def asks_for_reading(value: str | None) -> bool:
    """Whether the header narrows a request: anything does that does not plainly say no."""
    return value is not None and value.strip().lower() not in _FALSE


def _without_credentials(scope: Scope) -> dict[str, Any]:
    """What goes on to tools: none of them can hand a token to anybody else (RFC 9700; the specification forbids it)."""
    kept = [(name, value) for name, value in scope["headers"] if name.lower() not in _CREDENTIALS]
    return {name: value for name, value in scope.items() if name != "aws.event"} | {"headers": kept}
