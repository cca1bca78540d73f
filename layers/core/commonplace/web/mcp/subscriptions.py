"""`subscriptions/listen` (2026-07-28) as a long poll, for deployments whose answers travel only when they are complete.

One answer carries what is granted, then what has changed: as soon as something has, else after twenty seconds. There
is no replay: who listens again reads again what it depends on, and another process may show for up to five seconds what
was published before.

The change feed only triggers a look. A change is the difference between two snapshots of what is published, so no
client hears of a change before a read would show it, and a feed that fails or lags costs time, not truth.

A waiting listen is one running call of the function, so only known accounts wait, and only as many as there are slots
(`kernel.limits.Slots`). Others are answered at once: nothing is granted, and `_meta` says under `commonplace/listen`
when to read again.
"""

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import anyio
import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import (
    SUBSCRIPTION_ID_META_KEY,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    event_to_notification,
)

from commonplace.identity.authorization import Verdict
from commonplace.identity.principals import counted_as
from commonplace.kernel.errors import InvalidInput, Unavailable
from commonplace.kernel.limits import Slots
from commonplace.search.source import Change, ChangeFeed
from commonplace.web.mcp.calls import Context, in_thread
from commonplace.web.mcp.declaration import Caller, Happened, Snapshot, Toolset
from commonplace.web.mcp.offer import caller_of

logger = logging.getLogger(__name__)

T = TypeVar("T")

MAX_URIS = 50

NOT_HELD = "commonplace/listen"
"""Key in the `_meta` of a result that came at once, because nobody was waited for."""

READ_AGAIN_SECONDS = 60
"""The interval for whoever is never waited for: as long as a list may be cached."""


class Waiting:
    """The changes that one caller waits for, from its creation on. Methods block on stores: not for an event loop."""

    def __init__(
        self, toolsets: Sequence[Toolset], feed: ChangeFeed, caller: Caller, uris: Sequence[str], *, lists: bool
    ) -> None:
        """Those `uris` are waited for that name what this caller may read. Raises InvalidInput and Unavailable."""
        sources = [(one, one.snapshot) for one in toolsets if one.snapshot is not None]
        # The feed's end is read before the documents, so that what happens in between is not missed.
        self._feed = feed
        self._position = self._without_feed(feed.position) if sources else None
        self._sources = [partial(snapshot, caller) for _, snapshot in sources]
        self._before = [look(True) for look in self._sources]
        readable = [caller.verdict(one.need_of(None)) is Verdict.ALLOWED for one, _ in sources]
        self._watched: dict[str, tuple[int, str]] = {}
        """The snapshot that has it and the document's name there, by address."""
        for uri in uris:
            for at, snapshot in enumerate(self._before):
                if readable[at] and uri not in self._watched and (name := snapshot.find(uri)) is not None:
                    self._watched[uri] = (at, name)
        rest = [uri for uri in uris if uri not in self._watched]
        self._watches = [one.watch(caller, rest, lists) for one in toolsets if one.watch is not None]
        granted = {*self._watched, *(uri for watch in self._watches for uri in watch.uris)}
        self.uris = [uri for uri in uris if uri in granted]
        self._documents = lists and bool(sources)
        self.lists = self._documents or any(watch.lists for watch in self._watches)
        """Resources that come or go are waited for."""
        self._unseen: set[Change] = set()

    def look(self) -> Happened:
        """Return what has happened by now. A store that does not answer has nothing to say yet."""
        if self._position is not None:
            position = self._position
            changes, self._position = self._without_feed(lambda: self._feed.since(position)) or ([], None)
            names = {name for _, name in self._watched.values()}
            self._unseen |= {
                one for one in changes if one.record in names or (self._documents and one.added is not False)
            }
        try:
            now = [look(bool(self._unseen)) for look in self._sources]
            others = [watch.look() for watch in self._watches]
        except Unavailable as error:
            logger.warning("a look for changes failed", extra={"reason": error.message})
            return Happened()
        self._unseen = {change for change in self._unseen if not any(_shows(one, change) for one in now)}
        watched, pairs = self._watched.items(), zip(self._before, now, strict=True)
        updated = {uri for uri, (at, name) in watched if now[at].version(name) != self._before[at].version(name)}
        updated |= {uri for other in others for uri in other.updated}
        listed = self._documents and any(one != other and one.names() != other.names() for one, other in pairs)
        return Happened(
            tuple(uri for uri in self.uris if uri in updated), listed or any(other.listed for other in others)
        )

    @staticmethod
    def _without_feed(read: Callable[[], T]) -> T | None:
        """Return None once the feed fails: documents are then looked at as often as for a reader."""
        try:
            return read()
        except Unavailable as error:
            logger.warning("a caller waits without the change feed", extra={"reason": error.message})
            return None


def _shows(snapshot: Snapshot, change: Change) -> bool:
    """Return whether readers see the change, or something newer."""
    version = snapshot.version(change.record)
    return change.kind == "removed" if version is None else version >= change.version


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The duration of a listen and the interval of its looks, in seconds."""

    longest: float = 20.0
    between_looks: float = 0.5
    margin: float = 2.0
    """Left of the function's time for the answer."""
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep


def install_subscriptions(
    server: Server[Any], toolsets: Sequence[Toolset], feed: ChangeFeed, slots: Slots, pace: Pace | None = None
) -> None:
    """Serve subscriptions to the resources of these toolsets; do nothing where no toolset has any."""
    if not any(one.snapshot or one.watch for one in toolsets):
        return
    listening = _Listening(tuple(toolsets), feed, slots, pace or Pace())
    server.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, listening.listen)
    discovery = server.get_request_handler("server/discover")
    if discovery is None:
        return

    async def discover(ctx: Context, params: types.RequestParams) -> Any:
        """Promise no changes of lists, though the SDK promises them all wherever there is a listen.

        Tools and prompts change with a deployment alone, and nobody can be notified of that. Changes of resources are
        sent to whoever listens, and not promised: clients that find the promise listen while they connect (TypeScript
        SDK 2, the Inspector), and would wait for the acknowledgement as long as the poll lasts.
        """
        found = await discovery.handler(ctx, params)
        if isinstance(found, types.DiscoverResult):
            for part in (found.capabilities.tools, found.capabilities.prompts, found.capabilities.resources):
                if part is not None:
                    part.list_changed = False
        return found

    server.add_request_handler("server/discover", types.RequestParams, discover)


@dataclass(frozen=True, slots=True)
class _Listening:
    toolsets: Sequence[Toolset]
    feed: ChangeFeed
    slots: Slots
    pace: Pace

    async def listen(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Raises MCPError: -32602 for too many addresses, -32603 when the documents cannot be looked at."""
        uris = list(dict.fromkeys(params.notifications.resource_subscriptions or ()))
        if len(uris) > MAX_URIS:
            raise MCPError(types.INVALID_PARAMS, f"One subscription is for at most {MAX_URIS} resources.")
        caller = caller_of(ctx.request)
        account = counted_as(caller.principal)[1]
        if account is None:
            hint = f"Sign in to listen, or read again in {READ_AGAIN_SECONDS} seconds."
            return await _answer_at_once(ctx, "Nobody unknown is waited for.", hint, READ_AGAIN_SECONDS)
        # What Lambda leaves for this call; without end outside of it.
        context = ctx.request.scope.get("aws.context") if ctx.request is not None else None
        left = getattr(context, "get_remaining_time_in_millis", lambda: float("inf"))() / 1_000
        seconds = min(self.pace.longest, left - self.pace.margin)
        end = self.pace.clock() + seconds
        lists = params.notifications.resources_list_changed is True
        try:
            waiting = await in_thread(partial(Waiting, self.toolsets, self.feed, caller, uris, lists=lists))
        except InvalidInput as error:
            raise MCPError(types.INVALID_PARAMS, error.message) from None
        except Unavailable as error:
            raise MCPError(types.INTERNAL_ERROR, error.message) from None
        if not waiting.lists and not waiting.uris:
            return await _acknowledge(ctx, types.SubscriptionFilter())
        slot = await in_thread(self.slots.take, account, max(0.0, seconds))
        if slot is None:
            later = int(self.pace.longest)
            hint = f"Read again, or listen again, in {later} seconds."
            return await _answer_at_once(ctx, "As many listen as there is room for.", hint, later)
        try:
            return await self._hold(ctx, waiting, end)
        finally:
            with anyio.CancelScope(shield=True):
                await in_thread(self.slots.release, slot)

    async def _hold(self, ctx: Context, waiting: Waiting, end: float) -> types.SubscriptionsListenResult:
        """Send what has happened first, all of it that shows by then; nothing when the time is up."""
        granted = types.SubscriptionFilter(
            resources_list_changed=waiting.lists or None, resource_subscriptions=waiting.uris or None
        )
        result = await _acknowledge(ctx, granted)
        happened = await in_thread(waiting.look)
        while not happened and (left := end - self.pace.clock()) > 0:
            await self.pace.sleep(min(self.pace.between_looks, left))
            happened = await in_thread(waiting.look)
        events: list[ServerEvent] = [ResourcesListChanged()] if happened.listed else []
        for event in (*events, *(ResourceUpdated(uri=uri) for uri in happened.updated)):
            await _send(ctx, event_to_notification(event, _meta(ctx)))
        return result


async def _acknowledge(ctx: Context, granted: types.SubscriptionFilter, **more: Any) -> types.SubscriptionsListenResult:
    """Send what is granted; return the result that ends the subscription."""
    ack = types.SubscriptionsAcknowledgedNotificationParams(notifications=granted, _meta=_meta(ctx))
    await _send(ctx, types.SubscriptionsAcknowledgedNotification(params=ack))
    return types.SubscriptionsListenResult(_meta=_meta(ctx) | more)


async def _answer_at_once(ctx: Context, message: str, hint: str, seconds: int) -> types.SubscriptionsListenResult:
    reason = {"message": message, "hint": hint, "retryAfterSeconds": seconds}
    return await _acknowledge(ctx, types.SubscriptionFilter(), **{NOT_HELD: reason})


def _meta(ctx: Context) -> dict[str, Any]:
    """Return what every message of a subscription carries."""
    return {SUBSCRIPTION_ID_META_KEY: ctx.request_id}


async def _send(ctx: Context, notification: types.ServerNotification) -> None:
    await ctx.session.send_notification(notification, related_request_id=ctx.request_id)
