"""The site, built from settings."""

from __future__ import annotations

import time
from collections.abc import Sequence

from starlette.applications import Starlette

from commonplace.kernel import aws
from commonplace.kernel.limit_store import DynamoCounters
from commonplace.kernel.limits import Limiter
from commonplace.web.pages.app import create_app
from commonplace.web.pages.declaration import Pages
from commonplace.web.pages.frame import Frame
from commonplace.web.pages.settings import SiteSettings


def application(settings: SiteSettings, declared: Sequence[Pages], frame: Frame) -> Starlette:
    """`frame` is the one that the pages were built with."""
    counters = DynamoCounters(aws.dynamodb(read_timeout_seconds=0.5, attempts=1), settings.activity_table)
    limiter = Limiter(counters, time.time, secret=settings.counter_secret)
    reads, searches = settings.reads_per_minute, settings.searches_per_minute
    return create_app(declared, frame, limiter, reads=reads, searches=searches)
