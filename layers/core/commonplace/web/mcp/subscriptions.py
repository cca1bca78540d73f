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
from collections.abc import Awaitable, Callable, Mapping, Sequence
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

from commonplace.identity.principals import counted_as
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.limits import Slots
from commonplace.search.source import Change, ChangeFeed
from commonplace.web.mcp.access import allowed, caller_of
from commonplace.web.mcp.declaration import Caller, Snapshot, Toolset
from commonplace.web.mcp.tools import in_thread

logger = logging.getLogger(__name__)

MAX_URIS = 50

NOT_HELD = "commonplace/listen"
"""Key in the `_meta` of a result that came at once, because nobody was waited for."""

READ_AGAIN_SECONDS = 60
"""For whoever is never waited for: as long as a list may be kept."""

Context = ServerRequestContext[Any, Any]


@dataclass(frozen=True, slots=True)
class Happened:
    """The notifications to send. Addresses are those of the request, in its order."""

    updated: tuple[str, ...] = ()
    listed: bool = False
    """Documents came or went."""

    def __bool__(self) -> bool:
        return self.listed or bool(self.updated)


class Waiting:
    """The changes that one caller waits for, from its creation on. Methods block on stores: not for an event loop."""

    def __init__(
        self, toolsets: Sequence[Toolset], feed: ChangeFeed, caller: Caller, uris: Sequence[str], *, lists: bool
    ) -> None:
        """Of `uris`, those wait that name a document which this caller may read. Raises Unavailable."""
        # The feed's end is read before the documents, so that what happens in between is not missed.
        self._feed = feed
        self._position = self._end_of_feed()
        self._sources = [one.snapshot for one in toolsets if one.snapshot is not None]
        self._before = [look(True) for look in self._sources]
        readable = [allowed(one.documents_need, caller) for one in toolsets if one.snapshot is not None]
        self._watched = _found(uris, self._before, readable)
        self._lists = lists and bool(self._sources)
        self._unseen: set[Change] = set()

    @property
    def uris(self) -> list[str]:
        """The addresses that are waited for."""
        return list(self._watched)

    @property
    def lists(self) -> bool:
        """Whether documents that come or go are waited for."""
        return self._lists

    def look(self) -> Happened:
        """What has happened by now. A store that does not answer has nothing to say yet."""
        self._unseen |= set(self._heard())
        try:
            now = [look(bool(self._unseen)) for look in self._sources]
        except Unavailable as error:
            logger.warning("a look for changes failed", extra={"reason": error.message})
            return Happened()
        self._unseen = {change for change in self._unseen if not any(_shows(one, change) for one in now)}
        return Happened(self._updated(now), self._lists and self._differ(now))

    def _updated(self, now: Sequence[Snapshot]) -> tuple[str, ...]:
        return tuple(
            uri for uri, (at, name) in self._watched.items() if now[at].version(name) != self._before[at].version(name)
        )

    def _differ(self, now: Sequence[Snapshot]) -> bool:
        pairs = zip(self._before, now, strict=True)
        return any(one != other and one.names() != other.names() for one, other in pairs)

    def _heard(self) -> list[Change]:
        """Changes that concern this caller. Once the feed fails, documents are looked at as often as for a reader."""
        if self._position is None:
            return []
        try:
            changes, self._position = self._feed.since(self._position)
        except Unavailable as error:
            logger.warning("a caller waits without the change feed", extra={"reason": error.message})
            self._position, changes = None, []
        names = {name for _, name in self._watched.values()}
        return [change for change in changes if change.record in names or (self._lists and change.added is not False)]

    def _end_of_feed(self) -> str | None:
        try:
            return self._feed.position()
        except Unavailable as error:
            logger.warning("a caller waits without the change feed", extra={"reason": error.message})
            return None


def _found(
    uris: Sequence[str], snapshots: Sequence[Snapshot], readable: Sequence[bool]
) -> Mapping[str, tuple[int, str]]:
    """By address: which snapshot has it, and the document's name there."""
    found: dict[str, tuple[int, str]] = {}
    for uri in uris:
        for at, snapshot in enumerate(snapshots):
            if readable[at] and uri not in found and (name := snapshot.find(uri)) is not None:
                found[uri] = (at, name)
    return found


def _shows(snapshot: Snapshot, change: Change) -> bool:
    """Whether readers see the change, or something newer."""
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
        account = counted_as(caller.principal)[1]
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
