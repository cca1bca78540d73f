"""The MCP application: one path for the deployment's toolsets, one for each toolset, one for all of them.

It is built from settings; what calls AWS is loaded by the first call that needs it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from mcp.server.lowlevel.server import Server
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Scope

from commonplace.identity.composition import token_principals
from commonplace.identity.principals import ANONYMOUS, APART, Everybody, Principal, Principals, Tier, levels, scope
from commonplace.identity.resources import Resources
from commonplace.kernel.deferred import deferred
from commonplace.kernel.limits import CounterStore, Limiter, Slots
from commonplace.search.source import ChangeFeed
from commonplace.web.challenges import Challenges
from commonplace.web.mcp.calls import Surface, record
from commonplace.web.mcp.declaration import Toolset
from commonplace.web.mcp.edge import METHODS, Path, render, rpc_error
from commonplace.web.mcp.guard import Guard
from commonplace.web.mcp.offer import offer_of
from commonplace.web.mcp.server import build_server
from commonplace.web.mcp.throttle import Throttle
from commonplace.web.middleware import (
    CORS,
    Errors,
    HeadAsGet,
    Render,
    SecurityHeaders,
    TrustedHosts,
    exception_handlers,
    origin_pattern,
)

if TYPE_CHECKING:
    from commonplace.identity.memberships import Memberships
    from commonplace.identity.settings import GuardSettings
    from commonplace.kernel.limit_store import DynamoSlots
    from commonplace.kernel.objects import ObjectStore
    from commonplace.search.store import DynamoChanges
    from commonplace.web.mcp.settings import McpSettings

EXPOSED = (
    *("WWW-Authenticate", "Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "Retry-After"),
    *("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Policy"),
)
SENT = (
    *("Authorization", "Content-Type", "Accept", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Session-Id"),
    *("Last-Event-ID", "X-MCP-Readonly"),
)
"""Headers that a browser may send without having said so."""

ROOT = "/mcp"
ALL = "all"


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
    apart: Collection[str] = APART,
    build: Callable[..., Server[Any]] = build_server,
) -> Starlette:
    """`default` names what `/mcp` serves: everything, if nothing is named. Raises ValueError for an unknown name.

    `challenges` are given where people can sign in; refusals then say how to get access.
    `tier` is that of whom anything is answered to; toolsets `apart` are served at their own paths alone.
    `surface.spend` is to be the throttle's, or a deployment of its own: the edge counts what is no call of a tool.
    `build` is to be as `build_server`.
    """
    by_name = {toolset.name: toolset for toolset in toolsets}
    if unknown := [name for name in default if name not in by_name]:
        raise ValueError(f"There is no toolset {', '.join(unknown)}. Known: {', '.join(by_name)}.")
    if alone := [name for name in default if name in apart]:
        raise ValueError(f"{', '.join(alone)} is served at its own path alone.")
    together = tuple(name for name in by_name if name not in apart)
    each = {f"{ROOT}/{name}": (name,) for name in by_name}
    paths = {ROOT: tuple(dict.fromkeys(default)) or together, **each, f"{ROOT}/{ALL}": together}
    offers = {
        names: offer_of([by_name[name] for name in names], prefix_shared=len(names) > 1)
        for names in set(paths.values())
    }
    # Paths that serve the same share a server, which is built at the first request.
    servers = {names: cache(partial(build, offer, surface, feed, slots)) for names, offer in offers.items()}
    routes: list[Route] = []
    for path, names in paths.items():
        guard = Guard(
            principals=principals or Everybody(),
            resource=f"{surface.base_url}{path}",
            throttle=throttle,
            offer=offers[names],
            read_only=read_only,
            challenges=challenges,
            tier=tier,
        )
        answering = Path(guard, offers[names], servers[names])
        # Instances, which take every method, at both forms of the path: a redirect may lose a body.
        routes += [Route(path, answering), Route(f"{path}/", answering)]
    nowhere = f"There is no toolset here. MCP is served at: {', '.join(paths)}."

    def rendered(scope: Scope, error: Exception) -> Response:
        if isinstance(error, HTTPException) and error.status_code == 404:
            return rpc_error(404, 404, nowhere, data={"paths": list(paths)})
        return render(scope, error)

    app = Starlette(
        routes=routes,
        middleware=layers(surface.base_url, origins, rendered),
        exception_handlers=exception_handlers(rendered),
    )
    # Such a redirect would be made of the request's Host.
    app.router.redirect_slashes = False
    return app


def layers(base_url: str, origins: Sequence[str], rendered: Render) -> list[Middleware]:
    """Return what holds for every path, outermost first."""
    return [
        Middleware(HeadAsGet),
        Middleware(
            SecurityHeaders, headers={"x-content-type-options": "nosniff"}, uncached={"cache-control": "no-store"}
        ),
        Middleware(Errors, render=rendered, quoted=True),
        Middleware(TrustedHosts, base_url=base_url),
        Middleware(
            CORS,
            allow_origins=origins,
            allow_origin_regex=origin_pattern(base_url, origins),
            allow_methods=METHODS,
            # Tools may have parameters that travel as headers of their own: what is requested is allowed.
            allow_headers=["*", *SENT],
            expose_headers=EXPOSED,
            max_age=7_200,
            refuse_others=True,
        ),
    ]


def application(
    settings: McpSettings,
    identity: GuardSettings | None,
    toolsets: Sequence[Toolset],
    served: tuple[str, ...],
    memberships: Memberships | None = None,
) -> ASGIApp:
    """`served` are the names of all toolsets that scopes are granted for; without `identity` nobody signs in."""

    def counters() -> CounterStore:
        from commonplace.kernel import aws
        from commonplace.kernel.limit_store import DynamoCounters

        return DynamoCounters(aws.dynamodb(read_timeout_seconds=0.5, attempts=1), settings.activity_table)

    def slots() -> DynamoSlots:
        from commonplace.kernel import aws
        from commonplace.kernel.limit_store import DynamoSlots

        return DynamoSlots(aws.dynamodb(read_timeout_seconds=0.5, attempts=1), settings.activity_table)

    def changes() -> DynamoChanges:
        from commonplace.kernel import aws
        from commonplace.search.store import DynamoChanges

        # Without the feed listeners learn of changes as well, only later: it is not worth waiting for.
        return DynamoChanges(aws.dynamodb(read_timeout_seconds=1, attempts=1), settings.activity_table)

    throttle = Throttle.of(settings, Limiter(deferred(counters), time.time, secret=settings.counter_secret))
    surface = Surface(
        title=settings.site_name,
        base_url=settings.base_url,
        website_url=f"{settings.base_url}/connect",
        icons=("/icon.png",),
        spend=throttle.spend,
        record=record,
    )
    each, together = settings.listens_per_account, settings.listens
    return create_app(
        toolsets,
        surface,
        throttle=throttle,
        default=settings.toolsets,
        origins=settings.origins,
        read_only=settings.read_only,
        principals=principals(settings, identity, served, memberships),
        challenges=Challenges(Resources(identity.issuer, settings.toolsets, served)) if identity is not None else None,
        feed=deferred(changes),
        slots=Slots(deferred(slots), time.time, each=each, together=together, secret=settings.counter_secret),
        tier=settings.site_tier,
    )


def objects(settings: McpSettings) -> ObjectStore:
    def build() -> ObjectStore:
        from commonplace.kernel import aws
        from commonplace.kernel.s3 import S3ObjectStore

        return S3ObjectStore(aws.s3(read_timeout_seconds=5), settings.content_bucket)

    return deferred(build)


def principals(
    settings: McpSettings, identity: GuardSettings | None, served: tuple[str, ...], memberships: Memberships | None
) -> Principals:
    """A laptop may take callers without a token for members, or for more; a token counts, or is refused."""
    otherwise = ANONYMOUS
    if settings.assumed_tier is not None:
        everything = settings.assumed_tier == "vibecoder"
        otherwise = Principal(
            subject="laptop",
            organisation=settings.organisation,
            display_name="this laptop",
            tier=settings.assumed_tier,
            scopes=frozenset(scope(name, levels(name)[-1] if everything else "write") for name in served),
        )
    if identity is None:
        return Everybody(otherwise)
    names = settings.names_authors
    return token_principals(identity, settings.activity_table, memberships, names=names, otherwise=otherwise)
