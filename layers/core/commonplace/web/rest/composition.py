"""The REST API, built from settings. What verifies tokens is loaded with the first."""

from __future__ import annotations

import time
from collections.abc import Sequence

from fastapi import FastAPI

from commonplace.identity.composition import token_principals
from commonplace.identity.resources import Resources
from commonplace.identity.settings import GuardSettings
from commonplace.kernel import aws
from commonplace.kernel.limit_store import DynamoCounters
from commonplace.kernel.limits import Limiter
from commonplace.web.challenges import Accounts, Challenges
from commonplace.web.rest.app import create_app
from commonplace.web.rest.declaration import Routes, Site
from commonplace.web.rest.settings import RestSettings


def site(settings: RestSettings) -> Site:
    return Site(
        name=settings.site_name,
        base_url=settings.base_url or "",
        reads_per_minute=settings.reads_per_minute,
        searches_per_minute=settings.searches_per_minute,
    )


def application(
    settings: RestSettings,
    identity: GuardSettings | None,
    routes: Sequence[Routes],
    served: tuple[str, ...],
) -> FastAPI:
    """`served` are the names of all toolsets that scopes are granted for; without `identity` nobody signs in."""
    accounts: Accounts | None = None
    if identity is not None:
        resources = Resources(identity.issuer, served, served)
        principals = token_principals(identity, settings.activity_table, names=True)
        accounts = Accounts(principals, Challenges(resources), resources.api)
    counters = DynamoCounters(aws.dynamodb(read_timeout_seconds=0.5, attempts=1), settings.activity_table)
    limiter = Limiter(counters, time.time, secret=settings.counter_secret)
    return create_app(routes, site(settings), limiter, accounts=accounts)
