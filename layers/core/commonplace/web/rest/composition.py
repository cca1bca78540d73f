"""The REST API, built from settings. What verifies tokens is loaded with the first."""

from __future__ import annotations

import time
from collections.abc import Sequence

from fastapi import FastAPI
from starlette.middleware import Middleware

from commonplace.identity.composition import token_principals, visitors
from commonplace.identity.resources import Resources
from commonplace.identity.settings import SessionSettings
from commonplace.kernel.environment import SettingsError
from commonplace.kernel.limit_store import counters_of
from commonplace.kernel.limits import Limiter
from commonplace.web.challenges import Accounts, Challenges
from commonplace.web.private import Private
from commonplace.web.rest.account import MONITORED, UNGUARDED, readers
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
    identity: SessionSettings | None,
    routes: Sequence[Routes],
    served: tuple[str, ...],
) -> FastAPI:
    """`served` are the names of all toolsets that scopes are granted for; without `identity` nobody signs in."""
    accounts: Accounts | None = None
    if identity is not None:
        resources = Resources(identity.issuer, served, served)
        principals = token_principals(identity, settings.activity_table, names=True)
        accounts = Accounts(principals, Challenges(resources), resources.api)
    private = _private(settings, identity, accounts)
    limiter = Limiter(counters_of(settings), time.time, secret=settings.counter_secret)
    return create_app(routes, site(settings), limiter, accounts=accounts, private=private)


def _private(settings: RestSettings, identity: SessionSettings | None, accounts: Accounts | None) -> Middleware | None:
    if settings.site_tier == "public":
        return None
    if identity is None or accounts is None:
        raise SettingsError("SITE_TIER is set. It must be public where IDENTITY_TABLE is not set: nobody can sign in.")
    find = readers(accounts, visitors(identity))
    return Middleware(Private, tier=settings.site_tier, find=find, unguarded=UNGUARDED, monitored=MONITORED)
