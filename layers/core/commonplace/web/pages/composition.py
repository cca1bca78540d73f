"""The site, built from settings."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from starlette.applications import Starlette
from starlette.middleware import Middleware

from commonplace.kernel.limit_store import counters_of
from commonplace.kernel.limits import Limiter
from commonplace.web.pages.app import create_app
from commonplace.web.pages.declaration import Pages
from commonplace.web.pages.frame import Frame
from commonplace.web.pages.settings import SiteSettings


def application(
    settings: SiteSettings, declared: Sequence[Pages], frame: Frame, environ: Mapping[str, str]
) -> Starlette:
    """`frame` is the one that the pages were built with; `environ` says who signs in, where that is asked."""
    limiter = Limiter(counters_of(settings), time.time, secret=settings.counter_secret)
    reads, searches = settings.reads_per_minute, settings.searches_per_minute
    return create_app(declared, frame, limiter, reads=reads, searches=searches, private=_private(settings, environ))


def _private(settings: SiteSettings, environ: Mapping[str, str]) -> Middleware | None:
    """What knows people is loaded where somebody is kept out."""
    if settings.site_tier == "public":
        return None
    from commonplace.web.pages.members import members

    return members(settings.site_tier, environ)
