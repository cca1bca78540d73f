"""The MCP server on Lambda: settings, deferred parts, toolsets, and the application over them.

Importing this loads the SDK and what declares the tools, nothing that a call may not need: clients of AWS, the index,
models and GitHub are loaded by the first call that asks them something.
"""

from __future__ import annotations

import gc

# What is imported stays. To look through it for garbage again and again is a tenth of a cold start.
gc.disable()

import os
import time
from typing import TYPE_CHECKING

from commonplace.capabilities import CAPABILITIES, served_toolsets
from commonplace.identity.composition import token_principals
from commonplace.identity.principals import ANONYMOUS, Everybody, Level, Principal, Principals, scope
from commonplace.identity.resources import Resources
from commonplace.identity.settings import GuardSettings
from commonplace.kernel.capability import built
from commonplace.kernel.deferred import deferred
from commonplace.kernel.limits import CounterStore, Limiter, Slots
from commonplace.kernel.settings import McpSettings
from commonplace.kernel.telemetry import instrument
from commonplace.web.challenges import Challenges
from commonplace.web.gateway import Gateway
from commonplace.web.mcp.app import create_app
from commonplace.web.mcp.context import ToolsetContext
from commonplace.web.mcp.limits import Throttle
from commonplace.web.mcp.surface import Surface, record
from commonplace.web.origin import origin_values

if TYPE_CHECKING:
    from commonplace.kernel.limit_store import DynamoSlots
    from commonplace.kernel.objects import ObjectStore
    from commonplace.search.store import DynamoChanges

gc.freeze()
gc.enable()

SETTINGS = McpSettings.from_environ(os.environ)
IDENTITY = GuardSettings.from_environ(os.environ) if SETTINGS.assumed_tier is None else None


def _objects() -> ObjectStore:
    from commonplace.kernel import aws
    from commonplace.kernel.s3 import S3ObjectStore

    return S3ObjectStore(aws.s3(read_timeout_seconds=5), SETTINGS.content_bucket)


def _counters() -> CounterStore:
    from commonplace.kernel import aws
    from commonplace.kernel.limit_store import DynamoCounters

    return DynamoCounters(aws.dynamodb(read_timeout_seconds=0.5, attempts=1), SETTINGS.activity_table)


def _changes() -> DynamoChanges:
    from commonplace.kernel import aws
    from commonplace.search.store import DynamoChanges

    # Whoever listens is told without the feed as well, only later: it is not worth waiting for.
    return DynamoChanges(aws.dynamodb(read_timeout_seconds=1, attempts=1), SETTINGS.activity_table)


def _slots() -> DynamoSlots:
    from commonplace.kernel import aws
    from commonplace.kernel.limit_store import DynamoSlots

    return DynamoSlots(aws.dynamodb(read_timeout_seconds=0.5, attempts=1), SETTINGS.activity_table)


def _principals() -> Principals:
    """Without identity nobody signs in. A laptop may take everybody for a member, or for more."""
    if IDENTITY is not None:
        return token_principals(IDENTITY, SETTINGS.activity_table, names=SETTINGS.names_authors)
    if SETTINGS.assumed_tier is None:
        return Everybody(ANONYMOUS)
    highest: Level = "admin" if SETTINGS.assumed_tier == "vibecoder" else "write"
    return Everybody(
        Principal(
            subject="laptop",
            organisation=SETTINGS.organisation,
            display_name="this laptop",
            tier=SETTINGS.assumed_tier,
            scopes=frozenset(scope(name, highest) for name in served_toolsets(os.environ)),
        )
    )


OBJECTS = deferred(_objects)
COUNTING_SECRET = f"{SETTINGS.stage}/{SETTINGS.activity_table}".encode()
THROTTLE = Throttle(
    Limiter(deferred(_counters), time.time, secret=COUNTING_SECRET),
    {
        "read": SETTINGS.reads_per_minute,
        "search": SETTINGS.searches_per_minute,
        "write": SETTINGS.writes_per_minute,
    },
    toolsets=SETTINGS.rate_limits,
    service_factor=SETTINGS.service_rate_factor,
    account_factor=SETTINGS.account_rate_factor,
)
APP = create_app(
    list(built(CAPABILITIES, "toolset", ToolsetContext(os.environ, SETTINGS, OBJECTS))),
    Surface(
        title=SETTINGS.site_name,
        base_url=SETTINGS.base_url,
        website_url=f"{SETTINGS.base_url}/connect",
        icons=("/icon.png",),
        spend=THROTTLE.spend,
        record=record,
    ),
    throttle=THROTTLE,
    default=SETTINGS.toolsets,
    origins=SETTINGS.allowed_origins,
    read_only=SETTINGS.read_only,
    principals=_principals(),
    challenges=Challenges(Resources(IDENTITY.issuer, SETTINGS.toolsets, served_toolsets(os.environ)))
    if IDENTITY is not None
    else None,
    feed=deferred(_changes),
    slots=Slots(
        deferred(_slots),
        time.time,
        each=SETTINGS.listens_per_account,
        together=SETTINGS.listens,
        secret=COUNTING_SECRET,
    ),
)
handler = instrument(Gateway(APP, origin=origin_values(os.environ)), os.environ)
