"""The REST API on Lambda: settings, clients, and the application over them.

What only a search needs (index, vectors, models) is loaded at the first search.
"""

import logging
import os
import time

from commonplace.adapters import clients
from commonplace.adapters.dynamodb import DynamoCounters
from commonplace.adapters.origin_secret import origin_values
from commonplace.adapters.s3 import S3ObjectStore
from commonplace.content.library import Library
from commonplace.interfaces.deferred import DeferredSearch
from commonplace.interfaces.gateway import Gateway
from commonplace.interfaces.rest.app import create_app
from commonplace.interfaces.rest.services import Site
from commonplace.limits.quota import Limiter
from commonplace.search.fusion import Fusion
from commonplace.search.service import SearchService
from commonplace.settings import RestSettings

logging.getLogger("mangum").setLevel(logging.WARNING)  # the gateway writes the access log

SETTINGS = RestSettings.from_environ(os.environ)
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


APP = create_app(
    LIBRARY,
    DeferredSearch(_search),
    Site(
        name=SETTINGS.site_name,
        base_url=SETTINGS.base_url,
        reads_per_minute=SETTINGS.reads_per_minute,
        searches_per_minute=SETTINGS.searches_per_minute,
        explain=SETTINGS.explain,
        operator_key_hash=SETTINGS.operator_key_hash,
    ),
    Limiter(COUNTERS, time.time, secret=f"{SETTINGS.stage}/{SETTINGS.activity_table}".encode()),
)
handler = Gateway(APP, origin=origin_values(os.environ))
