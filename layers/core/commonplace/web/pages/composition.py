"""The site, built from settings."""

from __future__ import annotations

import time
from collections.abc import Sequence

from starlette.applications import Starlette

from commonplace.kernel import aws
from commonplace.kernel.capability import Capability
from commonplace.kernel.limit_store import DynamoCounters
from commonplace.kernel.limits import Limiter
from commonplace.kernel.settings import Appearance
from commonplace.web.pages.app import create_app
from commonplace.web.pages.declaration import Pages
from commonplace.web.pages.frame import ASSETS_PATH, Frame
from commonplace.web.pages.settings import SiteSettings


def frame_of(
    settings: Appearance, capabilities: Sequence[Capability], base_url: str | None, assets_path: str = ASSETS_PATH
) -> Frame:
    """For every function that shows pages; each names the links of all capabilities.

    `assets_path` as of `Frame`.
    """
    links = [link for capability in capabilities for link in capability.links]
    return Frame(
        settings.site_name,
        settings.site_description,
        settings.site_accent,
        base_url or "",
        links,
        assets_path=assets_path,
    )


def application(settings: SiteSettings, declared: Sequence[Pages], frame: Frame) -> Starlette:
    """`frame` is the one that the pages were built with."""
    counters = DynamoCounters(aws.dynamodb(read_timeout_seconds=0.5, attempts=1), settings.activity_table)
    limiter = Limiter(counters, time.time, secret=settings.counter_secret)
    reads, searches = settings.reads_per_minute, settings.searches_per_minute
    return create_app(declared, frame, limiter, reads=reads, searches=searches)
