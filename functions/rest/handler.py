"""The REST API on Lambda: settings, clients, and the application over them.

What only a search needs (index, vectors, models) is loaded at the first search; what judges tokens, with the first.
"""

from __future__ import annotations

import logging
import os
import time
from typing import TYPE_CHECKING

from commonplace.documents.content.library import Library
from commonplace.identity.composition import token_principals
from commonplace.identity.resources import Resources
from commonplace.identity.settings import GuardSettings
from commonplace.kernel import aws
from commonplace.kernel.limit_store import DynamoCounters
from commonplace.kernel.limits import Limiter
from commonplace.kernel.s3 import S3ObjectStore
from commonplace.kernel.settings import RestSettings
from commonplace.reference.settings import served
from commonplace.search.deferred import DeferredSearch
from commonplace.search.fusion import Fusion
from commonplace.web.challenges import Accounts, Challenges
from commonplace.web.gateway import Gateway
from commonplace.web.origin import origin_values
from commonplace.web.rest.app import create_app
from commonplace.web.rest.services import Site

if TYPE_CHECKING:
    from commonplace.search.service import SearchService

logging.getLogger("mangum").setLevel(logging.WARNING)  # the gateway writes the access log

SETTINGS = RestSettings.from_environ(os.environ)
IDENTITY = GuardSettings.from_environ(os.environ)
OBJECTS = S3ObjectStore(aws.s3(read_timeout_seconds=5), SETTINGS.content_bucket)
COUNTERS = DynamoCounters(aws.dynamodb(read_timeout_seconds=0.5, attempts=1), SETTINGS.activity_table)
LIBRARY = Library(OBJECTS)
FUSION = Fusion.parse(SETTINGS.fusion) if SETTINGS.fusion else None


def _search() -> SearchService:
    from commonplace.documents import wiring

    return wiring.search_service(SETTINGS, FUSION, OBJECTS, LIBRARY)


def _accounts(settings: GuardSettings) -> Accounts:
    toolsets = served(os.environ)
    resources = Resources(settings.issuer, toolsets, toolsets)
    principals = token_principals(settings, SETTINGS.activity_table, names=True)
    return Accounts(principals, Challenges(resources), resources.api)


APP = create_app(
    LIBRARY,
    DeferredSearch(_search),
    Site(
        name=SETTINGS.site_name,
        base_url=SETTINGS.base_url or "",
        reads_per_minute=SETTINGS.reads_per_minute,
        searches_per_minute=SETTINGS.searches_per_minute,
        explain=SETTINGS.explain,
        operator_key_hash=SETTINGS.operator_key_hash,
    ),
    Limiter(COUNTERS, time.time, secret=f"{SETTINGS.stage}/{SETTINGS.activity_table}".encode()),
    accounts=_accounts(IDENTITY) if IDENTITY is not None else None,
)
handler = Gateway(APP, origin=origin_values(os.environ))
