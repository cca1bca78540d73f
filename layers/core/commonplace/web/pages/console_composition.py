"""The console, built from settings."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from starlette.applications import Starlette

from commonplace.identity.authorization import Need
from commonplace.identity.composition import actions, denials, visitors
from commonplace.identity.principals import Tier, highest
from commonplace.identity.settings import SessionSettings
from commonplace.kernel.deferred import deferred
from commonplace.kernel.limits import CounterStore, Limiter
from commonplace.web.limits import Limits
from commonplace.web.pages.console import Console, create_console
from commonplace.web.pages.declaration import ConsolePage, ConsolePages
from commonplace.web.pages.frame import Frame
from commonplace.web.pages.settings import SiteSettings


def application(
    settings: SiteSettings, identity: SessionSettings, declared: Sequence[ConsolePages], frame: Frame
) -> Starlette:
    """`frame` is the one that the pages were built with.

    In a private deployment every page that needs a right needs the tier of readers as well: an account of a lower tier
    reads nothing of the knowledge base here either.
    """
    limiter = Limiter(deferred(lambda: _counters(settings)), time.time, secret=settings.counter_secret)
    return create_console(
        Console(
            frame=frame,
            declared=[
                replace(each, pages=[_for_readers(page, settings.site_tier) for page in each.pages])
                for each in declared
            ],
            visitors=visitors(identity),
            audit=actions(settings.activity_table),
            denials=denials(identity, settings.activity_table),
            limits=Limits(limiter, settings.reads_per_minute, settings.searches_per_minute),
            clock=time.time,
            origin=identity.issuer,
            organisation=identity.organisation,
            ways=lambda need: ways(identity, need),
        )
    )


def _for_readers(page: ConsolePage, tier: Tier) -> ConsolePage:
    return page if page.need is None else replace(page, need=replace(page.need, tier=highest((page.need.tier, tier))))


def ways(identity: SessionSettings, need: Need) -> list[str]:
    """By the role map; on a laptop by its accounts as well."""
    gives = identity.role_map
    local = [
        f"sign out, and sign in as the account {account.name} of this laptop"
        for account in identity.local_accounts
        if gives.gives(account.tier, need.tier, need.scope)
    ]
    return [*local, *gives.ways(need.tier, need.scope)]


def _counters(settings: SiteSettings) -> CounterStore:
    from commonplace.kernel.limit_store import counters_of

    return counters_of(settings)
