"""The REST API on Lambda: settings, clients, and the application over them.

What only a search needs (index, vectors, models) is loaded at the first search; what judges tokens, with the first.
"""

from __future__ import annotations

import logging
import os
import time
from typing import TYPE_CHECKING

from commonplace.adapters import clients
from commonplace.adapters.counters import DynamoCounters
from commonplace.adapters.origin_secret import origin_values
from commonplace.adapters.s3 import S3ObjectStore
from commonplace.auth_settings import GuardSettings
from commonplace.content.library import Library
from commonplace.identity.guarding import TokenPrincipals
from commonplace.identity.resources import Resources
from commonplace.identity.verifying import AccessTokens, RememberedKeys
from commonplace.interfaces.challenges import Challenges
from commonplace.interfaces.gateway import Gateway
from commonplace.interfaces.rest.app import create_app
from commonplace.interfaces.rest.guarding import Accounts
from commonplace.interfaces.rest.services import Site
from commonplace.kernel.deferred import deferred
from commonplace.limits.quota import Limiter
from commonplace.reference_settings import served
from commonplace.search.deferred import DeferredSearch
from commonplace.search.fusion import Fusion
from commonplace.search.service import SearchService
from commonplace.settings import RestSettings

if TYPE_CHECKING:
    from commonplace.adapters.dynamodb_guard import DynamoGuard
    from commonplace.identity.accounts import Standings
    from commonplace.identity.denials import Denials

logging.getLogger("mangum").setLevel(logging.WARNING)  # the gateway writes the access log

SETTINGS = RestSettings.from_environ(os.environ)
IDENTITY = GuardSettings.from_environ(os.environ)
OBJECTS = S3ObjectStore(clients.s3(read_timeout_seconds=5), SETTINGS.content_bucket)
COUNTERS = DynamoCounters(clients.dynamodb(read_timeout_seconds=0.5, attempts=1), SETTINGS.activity_table)
LIBRARY = Library(OBJECTS)
FUSION = Fusion.parse(SETTINGS.fusion) if SETTINGS.fusion else None


def _search() -> SearchService:
    from commonplace.adapters import wiring

    models = wiring.embedding_providers(SETTINGS)
    engine = wiring.search_engine(SETTINGS, OBJECTS, next(iter(models), None), read_only=True)
    return SearchService(
        engine,
        models,
        wiring.reranker(SETTINGS),
        rerank_cache=wiring.rerank_cache(SETTINGS),
        fusion=FUSION,
        documents=LIBRARY,
        publication=LIBRARY,
    )


def _accounts(settings: GuardSettings) -> Accounts:
    def guard() -> DynamoGuard:
        from commonplace.adapters import identity_wiring

        return identity_wiring.guard(settings)

    def standings() -> Standings:
        from commonplace.adapters import identity_wiring

        return identity_wiring.standings(settings)

    def denials() -> Denials:
        from commonplace.adapters import identity_wiring

        return identity_wiring.denials(SETTINGS.activity_table, settings.organisation)

    toolsets = served(os.environ)
    store, resources = deferred(guard), Resources(settings.issuer, toolsets, toolsets)
    tokens = AccessTokens(settings.issuer, RememberedKeys(store, time.time))
    principals = TokenPrincipals(tokens, store, deferred(standings), time.time, names=True, denials=deferred(denials))
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
