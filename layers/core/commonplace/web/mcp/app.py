"""The MCP application: a path for the deployment's toolsets, one for each toolset, one for all of them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from inspect import iscoroutinefunction
from typing import Any

from mcp.server.lowlevel.server import Server
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from commonplace.identity.principals import Everybody, Principals
from commonplace.kernel.deferred import Deferred
from commonplace.kernel.limits import Slots
from commonplace.search.source import ChangeFeed
from commonplace.web.challenges import Challenges
from commonplace.web.mcp.cors import Admission, Doorway
from commonplace.web.mcp.declaration import Toolset
from commonplace.web.mcp.edge import Endpoint, Reception, Shield
from commonplace.web.mcp.errors import internal, rpc_error
from commonplace.web.mcp.guard import Guard
from commonplace.web.mcp.limits import Throttle
from commonplace.web.mcp.offer import offer_of
from commonplace.web.mcp.server import build_server
from commonplace.web.mcp.surface import Surface

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
    build: Build = build_server,
) -> Starlette:
    """`default` names what `/mcp` serves: everything, if nothing is named. Raises ValueError for an unknown name.

    `challenges` are there where people can sign in: then who is not allowed something is told how to be.
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
        )
        answering = Reception(Shield(guard))
        # Instances, which take every method, at both forms of the path: a redirect may lose a body.
        routes += [Route(path, answering), Route(f"{path}/", answering)]
    app = Starlette(
        routes=routes,
        middleware=[Middleware(Doorway, admission=Admission(surface.base_url, origins))],
        exception_handlers={404: _elsewhere(list(paths)), 500: _failed},
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


def _elsewhere(paths: Sequence[str]) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Where no toolset is: names the paths that there are."""
    message = f"There is no toolset here. MCP is served at: {', '.join(paths)}."

    async def refused(_: Request, __: Exception) -> Response:
        # HTTP's number serves as JSON-RPC's as well: it is outside the range that is reserved.
        return rpc_error(404, 404, message, data={"paths": list(paths)})

    return refused


def _paths(toolsets: Mapping[str, Toolset], default: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """What each path serves, by name."""
    unknown = [name for name in default if name not in toolsets]
    if unknown:
        raise ValueError(f"There is no toolset {', '.join(unknown)}. It must be among: {', '.join(toolsets)}.")
    everything = tuple(toolsets)
    each = {f"{ROOT}/{name}": (name,) for name in everything}
    return {ROOT: tuple(dict.fromkeys(default)) or everything, **each, f"{ROOT}/{ALL}": everything}


async def _failed(_: Request, __: Exception) -> Response:
    return internal(None)
