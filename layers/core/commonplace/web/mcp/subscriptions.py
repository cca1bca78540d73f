"""`subscriptions/listen` (2026-07-28) where an answer travels only when it is whole: a long poll.

The client is told what is granted, then what has changed, in one answer: as soon as something has, else after twenty
seconds; and listens again. There is no replay. Who listens again reads again what it depends on; and another process
may show for up to five seconds what was published before.

One listen that waits is one running call of the function, so only accounts that are known wait, and only as many as
there are slots (`limits.slots`). Whoever gets none is answered at once: nothing is granted, and the result says in its
`_meta`, under `commonplace/listen`, when to read again.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import (
    SUBSCRIPTION_ID_META_KEY,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    event_to_notification,
)

from commonplace.kernel.errors import Unavailable
from commonplace.kernel.slots import Slots
from commonplace.search.changes import ChangeFeed
from commonplace.web.mcp.access import caller_of
from commonplace.web.mcp.declaration import Caller, Toolset
from commonplace.web.mcp.limits import account_of
from commonplace.web.mcp.threads import in_thread
from commonplace.web.mcp.watching import Happened, Waiting

MAX_URIS = 50

NOT_HELD = "commonplace/listen"
"""Key in the `_meta` of a result that came at once, because nobody was waited for."""

READ_AGAIN_SECONDS = 60
"""For whoever is never waited for: as long as a list may be kept."""

Context = ServerRequestContext[Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How long a listen lasts, in seconds, and how often it looks."""

    longest: float = 20.0
    between_looks: float = 0.5
    margin: float = 2.0
    """Left of the function's time for the answer."""
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep


def install_subscriptions(
    server: Server[Any], toolsets: Sequence[Toolset], feed: ChangeFeed, slots: Slots, pace: Pace | None = None
) -> None:
    """Serves subscriptions to the documents of these toolsets; does nothing where no toolset has any."""
    if not any(one.snapshot for one in toolsets):
        return
    listening = _Listening(toolsets, feed, slots, pace or Pace())
    server.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, listening.listen)
    _promise_only_what_happens(server)


class _Listening:
    def __init__(self, toolsets: Sequence[Toolset], feed: ChangeFeed, slots: Slots, pace: Pace) -> None:
        self._toolsets = tuple(toolsets)
        self._feed = feed
        self._slots = slots
        self._pace = pace

    async def listen(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Raises MCPError: -32602 for too many addresses, -32603 when the documents cannot be looked at."""
        uris = list(dict.fromkeys(params.notifications.resource_subscriptions or ()))
        if len(uris) > MAX_URIS:
            raise MCPError(types.INVALID_PARAMS, f"One subscription is for at most {MAX_URIS} resources.")
        caller = caller_of(ctx.request)
        account = account_of(caller.principal)
        if account is None:
            hint = f"Sign in to listen, or read again in {READ_AGAIN_SECONDS} seconds."
            return await _answer_at_once(ctx, "Nobody unknown is waited for.", hint, READ_AGAIN_SECONDS)
        seconds = min(self._pace.longest, _remaining_seconds(ctx) - self._pace.margin)
        end = self._pace.clock() + seconds
        waiting = await self._begin(caller, uris, lists=params.notifications.resources_list_changed is True)
        if not waiting.lists and not waiting.uris:
            return await _acknowledge(ctx, types.SubscriptionFilter())
        slot = await in_thread(self._slots.take, account, max(0.0, seconds))
        if slot is None:
            later = int(self._pace.longest)
            hint = f"Read again, or listen again, in {later} seconds."
            return await _answer_at_once(ctx, "As many listen as there is room for.", hint, later)
        try:
            granted = types.SubscriptionFilter(
                resources_list_changed=waiting.lists or None, resource_subscriptions=waiting.uris or None
            )
            result = await _acknowledge(ctx, granted)
            for event in _events(await self._wait(waiting, end)):
                await _send(ctx, event_to_notification(event, _meta(ctx)))
            return result
        finally:
            with anyio.CancelScope(shield=True):
                await in_thread(self._slots.release, slot)

    async def _begin(self, caller: Caller, uris: Sequence[str], *, lists: bool) -> Waiting:
        def begin() -> Waiting:
            return Waiting(self._toolsets, self._feed, caller, uris, lists=lists)

        try:
            return await in_thread(begin)
        except Unavailable as error:
            raise MCPError(types.INTERNAL_ERROR, error.message) from None

    async def _wait(self, waiting: Waiting, end: float) -> Happened:
        """What has happened first, all of it that shows by then; nothing when the time is up."""
        while True:
            happened = await in_thread(waiting.look)
            if happened or (left := end - self._pace.clock()) <= 0:
                return happened
            await self._pace.sleep(min(self._pace.between_looks, left))


def _events(happened: Happened) -> list[ServerEvent]:
    listed: list[ServerEvent] = [ResourcesListChanged()] if happened.listed else []
    return listed + [ResourceUpdated(uri=uri) for uri in happened.updated]


async def _acknowledge(ctx: Context, granted: types.SubscriptionFilter, **told: Any) -> types.SubscriptionsListenResult:
    """Sends what is granted; gives the result that ends the subscription."""
    ack = types.SubscriptionsAcknowledgedNotificationParams(notifications=granted, _meta=_meta(ctx))
    await _send(ctx, types.SubscriptionsAcknowledgedNotification(params=ack))
    return types.SubscriptionsListenResult(_meta=_meta(ctx) | told)


async def _answer_at_once(ctx: Context, message: str, hint: str, seconds: int) -> types.SubscriptionsListenResult:
    told = {"message": message, "hint": hint, "retryAfterSeconds": seconds}
    return await _acknowledge(ctx, types.SubscriptionFilter(), **{NOT_HELD: told})


def _meta(ctx: Context) -> dict[str, Any]:
    """What every message of a subscription carries."""
    return {SUBSCRIPTION_ID_META_KEY: ctx.request_id}


async def _send(ctx: Context, notification: types.ServerNotification) -> None:
    await ctx.session.send_notification(notification, related_request_id=ctx.request_id)


def _remaining_seconds(ctx: Context) -> float:
    """What Lambda leaves for this call; without end outside of it."""
    scope = ctx.request.scope if ctx.request is not None else {}
    ask = getattr(scope.get("aws.context"), "get_remaining_time_in_millis", None)
    return ask() / 1_000 if ask else float("inf")


def _promise_only_what_happens(server: Server[Any]) -> None:
    """No changes of lists, though the SDK promises them all wherever there is a listen.

    Tools and prompts change with a deployment alone, and nobody can be told of that. Changes of resources are told to
    whoever asks, and not promised: clients that find the promise listen while they connect (TypeScript SDK 2, the
    Inspector), and would wait for the acknowledgement as long as the poll lasts.
    """
    discovery = server.get_request_handler("server/discover")
    if discovery is None:
        return

    async def discover(ctx: Context, params: types.RequestParams) -> Any:
        found = await discovery.handler(ctx, params)
        if not isinstance(found, types.DiscoverResult):
            return found
        for part in (found.capabilities.tools, found.capabilities.prompts, found.capabilities.resources):
            if part is not None:
                part.list_changed = False
        return found

    server.add_request_handler("server/discover", types.RequestParams, discover)
