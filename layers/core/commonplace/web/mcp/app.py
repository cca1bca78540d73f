"""The MCP application: one path for the deployment's toolsets, one for each toolset, one for all of them."""

from collections.abc import Callable, Mapping, Sequence
from inspect import iscoroutinefunction
from typing import Any

from mcp.server.lowlevel.server import Server
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.types import ASGIApp

from commonplace.identity.principals import Everybody, Principals, Tier
from commonplace.kernel.deferred import Deferred
from commonplace.kernel.limits import Slots
from commonplace.search.source import ChangeFeed
from commonplace.web.challenges import Challenges
from commonplace.web.mcp.declaration import Toolset
from commonplace.web.mcp.edge import METHODS, Endpoint, RequestFilter, Shield
from commonplace.web.mcp.errors import render, rendering
from commonplace.web.mcp.guard import Guard
from commonplace.web.mcp.limits import Throttle
from commonplace.web.mcp.offer import offer_of
from commonplace.web.mcp.server import build_server
from commonplace.web.mcp.surface import Surface
from commonplace.web.middleware import (
    CORS,
    Errors,
    HeadAsGet,
    RateLimits,
    SecurityHeaders,
    TrustedHosts,
    exception_handlers,
    origin_pattern,
)

EXPOSED = (
    *("WWW-Authenticate", "Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "Retry-After"),
    *("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Policy"),
)
SENT = (
    *("Authorization", "Content-Type", "Accept", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Session-Id"),
    *("Last-Event-ID", "X-MCP-Readonly"),
)
"""What a browser may send without having said so."""

ROOT = "/mcp"
ALL = "all"

Build = Callable[..., Server[Any]]
"""As `build_server`."""


def create_app(
    toolsets: Sequence[Toolset],
    surface: Surface,
    *,
    throttle: Throttle,
    default: Sequence[str] = (),
    origins: Sequence[str] = (),
    read_only: bool = False,
    principals: Principals | None = None,
    challenges: Challenges | None = None,
    feed: ChangeFeed | None = None,
    slots: Slots | None = None,
    tier: Tier = "public",
    build: Build = build_server,
) -> Starlette:
    """`default` names what `/mcp` serves: everything, if nothing is named. Raises ValueError for an unknown name.

    `challenges` are given where people can sign in; refusals then say how to get access.
    `tier` is that of whom anything is answered to.
    `surface.spend` is to be the throttle's, or a deployment of its own: the edge counts what is no call of a tool.
    """
    by_name = {toolset.name: toolset for toolset in toolsets}
    paths = _paths(by_name, default)
    served = {
        names: _Served([by_name[name] for name in names], surface, feed, slots, build) for names in set(paths.values())
    }
    routes: list[Route] = []
    for path, names in paths.items():
        guard = Guard(
            served[names].endpoint,
            principals=principals or Everybody(),
            resource=f"{surface.base_url}{path}",
            throttle=throttle,
            offer=served[names].offer,
            read_only=read_only,
            challenges=challenges,
            tier=tier,
        )
        counted = RateLimits(Errors(guard, render=render, quoted=True))
        verbatim = {name for name, one in served[names].offer.tools.items() if one.tool.verbatim}
        answering = RequestFilter(Shield(counted, verbatim))
        # Instances, which take every method, at both forms of the path: a redirect may lose a body.
        routes += [Route(path, answering), Route(f"{path}/", answering)]
    rendered = rendering(list(paths))
    app = Starlette(
        routes=routes,
        middleware=[
            Middleware(HeadAsGet),
            Middleware(
                SecurityHeaders,
                headers={"x-content-type-options": "nosniff"},
                uncached={"cache-control": "no-store"},
            ),
            Middleware(Errors, render=rendered, quoted=True),
            Middleware(TrustedHosts, base_url=surface.base_url),
            Middleware(
                CORS,
                allow_origins=origins,
                allow_origin_regex=origin_pattern(surface.base_url, origins),
                allow_methods=METHODS,
                # Tools may have parameters that travel as headers of their own: what is requested is allowed.
                allow_headers=["*", *SENT],
                expose_headers=EXPOSED,
                max_age=7_200,
                refuse_others=True,
            ),
        ],
        exception_handlers=exception_handlers(rendered),
    )
    # Such a redirect would be made of the request's Host.
    app.router.redirect_slashes = False
    return app


class _Served:
    """Toolsets that are served together: one server, built at the first request."""

    def __init__(
        self,
        toolsets: Sequence[Toolset],
        surface: Surface,
        feed: ChangeFeed | None,
        slots: Slots | None,
        build: Build,
    ) -> None:
        several = len(toolsets) > 1
        self.offer = offer_of(toolsets, prefix_shared=several)
        server = Deferred(lambda: build(toolsets, surface, feed, slots, prefix_shared=several))
        talking = {name for name, offered in self.offer.tools.items() if iscoroutinefunction(offered.tool.run)}
        self.endpoint: ASGIApp = Endpoint(server, frozenset(talking))


def _paths(toolsets: Mapping[str, Toolset], default: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """What each path serves, by name."""
    unknown = [name for name in default if name not in toolsets]
    if unknown:
        raise ValueError(f"There is no toolset {', '.join(unknown)}. It must be among: {', '.join(toolsets)}.")
    everything = tuple(toolsets)
    each = {f"{ROOT}/{name}": (name,) for name in everything}
    return {ROOT: tuple(dict.fromkeys(default)) or everything, **each, f"{ROOT}/{ALL}": everything}
