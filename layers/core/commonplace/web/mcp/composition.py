"""The MCP server, built from settings. What calls AWS is loaded by the first call that needs it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from starlette.types import ASGIApp

from commonplace.identity.composition import token_principals
from commonplace.identity.principals import ANONYMOUS, Everybody, Level, Principal, Principals, scope
from commonplace.identity.resources import Resources
from commonplace.kernel.deferred import deferred
from commonplace.kernel.limits import CounterStore, Limiter, Slots
from commonplace.web.challenges import Challenges
from commonplace.web.mcp.app import create_app
from commonplace.web.mcp.declaration import Toolset
from commonplace.web.mcp.limits import Throttle
from commonplace.web.mcp.surface import Surface, record

if TYPE_CHECKING:
    from commonplace.identity.settings import GuardSettings
    from commonplace.kernel.limit_store import DynamoSlots
    from commonplace.kernel.objects import ObjectStore
    from commonplace.search.store import DynamoChanges
    from commonplace.web.mcp.settings import McpSettings


def objects(settings: McpSettings) -> ObjectStore:
    def build() -> ObjectStore:
        from commonplace.kernel import aws
        from commonplace.kernel.s3 import S3ObjectStore

        return S3ObjectStore(aws.s3(read_timeout_seconds=5), settings.content_bucket)

    return deferred(build)


def application(
    settings: McpSettings, identity: GuardSettings | None, toolsets: Sequence[Toolset], served: tuple[str, ...]
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

    throttle = Throttle(
        Limiter(deferred(counters), time.time, secret=settings.counter_secret),
        {
            "read": settings.reads_per_minute,
            "search": settings.searches_per_minute,
            "write": settings.writes_per_minute,
        },
        toolsets=settings.rate_limits,
        service_factor=settings.service_rate_factor,
        account_factor=settings.account_rate_factor,
    )
    surface = Surface(
        title=settings.site_name,
        base_url=settings.base_url,
        website_url=f"{settings.base_url}/connect",
        icons=("/icon.png",),
        spend=throttle.spend,
        record=record,
    )
    return create_app(
        toolsets,
        surface,
        throttle=throttle,
        default=settings.toolsets,
        origins=settings.origins,
        read_only=settings.read_only,
        principals=principals(settings, identity, served),
        challenges=Challenges(Resources(identity.issuer, settings.toolsets, served)) if identity is not None else None,
        feed=deferred(changes),
        slots=Slots(
            deferred(slots),
            time.time,
            each=settings.listens_per_account,
            together=settings.listens,
            secret=settings.counter_secret,
        ),
        tier=settings.site_tier,
    )


def principals(settings: McpSettings, identity: GuardSettings | None, served: tuple[str, ...]) -> Principals:
    """A laptop may take callers without a token for members, or for more; a token counts, or is refused."""
    otherwise = ANONYMOUS
    if settings.assumed_tier is not None:
        highest: Level = "admin" if settings.assumed_tier == "vibecoder" else "write"
        otherwise = Principal(
            subject="laptop",
            organisation=settings.organisation,
            display_name="this laptop",
            tier=settings.assumed_tier,
            scopes=frozenset(scope(name, highest) for name in served),
        )
    if identity is None:
        return Everybody(otherwise)
    return token_principals(identity, settings.activity_table, names=settings.names_authors, otherwise=otherwise)
