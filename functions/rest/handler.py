"""The REST API on Lambda: settings, clients, and the application over them.

What judges tokens is loaded with the first, and whatever a capability's endpoints need when a request needs it.
"""

from __future__ import annotations

import os
import time

from commonplace.capabilities import CAPABILITIES, served_toolsets
from commonplace.identity.composition import token_principals
from commonplace.identity.resources import Resources
from commonplace.identity.settings import GuardSettings
from commonplace.kernel import aws
from commonplace.kernel.capability import built
from commonplace.kernel.limit_store import DynamoCounters
from commonplace.kernel.limits import Limiter
from commonplace.kernel.s3 import S3ObjectStore
from commonplace.kernel.settings import RestSettings
from commonplace.kernel.telemetry import instrument
from commonplace.web.challenges import Accounts, Challenges
from commonplace.web.gateway import Gateway
from commonplace.web.origin import origin_values
from commonplace.web.rest.app import create_app
from commonplace.web.rest.declaration import RestContext
from commonplace.web.rest.services import Site

SETTINGS = RestSettings.from_environ(os.environ)
IDENTITY = GuardSettings.from_environ(os.environ)
OBJECTS = S3ObjectStore(aws.s3(read_timeout_seconds=5), SETTINGS.content_bucket)
COUNTERS = DynamoCounters(aws.dynamodb(read_timeout_seconds=0.5, attempts=1), SETTINGS.activity_table)
SITE = Site(
    name=SETTINGS.site_name,
    base_url=SETTINGS.base_url or "",
    reads_per_minute=SETTINGS.reads_per_minute,
    searches_per_minute=SETTINGS.searches_per_minute,
)
CONTEXT = RestContext(os.environ, SETTINGS, SITE, OBJECTS)


def _accounts(settings: GuardSettings) -> Accounts:
    toolsets = served_toolsets(os.environ)
    resources = Resources(settings.issuer, toolsets, toolsets)
    principals = token_principals(settings, SETTINGS.activity_table, names=True)
    return Accounts(principals, Challenges(resources), resources.api)


APP = create_app(
    list(built(CAPABILITIES, "routes", CONTEXT)),
    SITE,
    Limiter(COUNTERS, time.time, secret=f"{SETTINGS.stage}/{SETTINGS.activity_table}".encode()),
    pages=list(built(CAPABILITIES, "pages", CONTEXT)),
    accounts=_accounts(IDENTITY) if IDENTITY is not None else None,
)
handler = instrument(Gateway(APP, origin=origin_values(os.environ)), os.environ)
