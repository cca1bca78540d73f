"""The Lambda handler of the fixture profile: the product's frame, edge and gateway over the suite's tools."""

import logging
import os
import time
from typing import Any

import mcp.types as T
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity

from commonplace.kernel.limits import Limiter
from commonplace.web.gateway import Gateway
from commonplace.web.mcp.app import create_app
from commonplace.web.mcp.calls import Surface
from commonplace.web.mcp.declaration import Toolset
from commonplace.web.mcp.offer import caller_of
from commonplace.web.mcp.server import build_server
from commonplace.web.mcp.throttle import Throttle
from tests.conformance.mcp.profile import asking, plain, reading

Context = ServerRequestContext[Any, Any]

KEY = b"every environment opens what another one has sealed"
TOOLSET = Toolset(
    name="fixtures",
    title="Fixtures",
    instructions="Fixtures of the conformance suite.",
    tools=(*plain.TOOLS, *asking.TOOLS),
    resources=reading.RESOURCES,
    templates=reading.TEMPLATES,
    documents=reading.listed,
    prompts=reading.PROMPTS,
)


class NoCounters:
    """Nothing is limited here."""

    def add(self, key: str, amount: int, expires_at: int) -> int:
        return amount


async def _accept(_: Context, __: Any) -> T.EmptyResult:
    """On the legacy wire: taken, and nothing comes of it, for there is no way back to the client."""
    return T.EmptyResult()


def _subject(ctx: Context) -> str | None:
    return caller_of(ctx.request).principal.subject


def _with_fixtures(*arguments: Any, **options: Any) -> Server[Any]:
    """The product's server, and what no toolset can declare: raw prompts, sealed states, methods of the legacy wire."""
    server = build_server(*arguments, **options)
    security = RequestStateSecurity(keys=[KEY], audience="fixtures", bind_principal=_subject)
    server.middleware += [RequestStateBoundary(security, default_audience=None), reading.raw_prompts]
    server.add_request_handler("resources/subscribe", T.SubscribeRequestParams, _accept)
    server.add_request_handler("resources/unsubscribe", T.UnsubscribeRequestParams, _accept)
    server.add_request_handler("logging/setLevel", T.SetLevelRequestParams, _accept)
    return server


logging.getLogger("mcp").setLevel(logging.ERROR)  # the suite provokes warnings
handler = Gateway(
    create_app(
        [TOOLSET],
        Surface(name="fixtures", base_url=os.environ["BASE_URL"]),
        throttle=Throttle(Limiter(NoCounters(), time.time), {"read": 0, "search": 0, "write": 0}),
        build=_with_fixtures,
    )
)
