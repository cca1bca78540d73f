"""The hive, built from settings, for the functions that answer agents and people.

Importing this loads the clients of AWS: it is for the first call that needs the hive.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ulid import ULID

from commonplace.hive.deployment import DeploymentConfiguration
from commonplace.hive.model import ItemId
from commonplace.hive.operations import HiveServices
from commonplace.hive.review import Reviews
from commonplace.hive.search import HiveSearch
from commonplace.hive.service import Hive, Parts, stamp
from commonplace.hive.settings import HiveServiceSettings
from commonplace.hive.store import DynamoContributions
from commonplace.kernel import aws
from commonplace.kernel.limit_store import DynamoCounters
from commonplace.kernel.limits import Limiter
from commonplace.kernel.parallel import Threads
from commonplace.redaction.client import redactor
from commonplace.redaction.model import Policy
from commonplace.redaction.settings import RedactionSettings
from commonplace.search import providers

if TYPE_CHECKING:
    from commonplace.kernel.objects import ObjectStore
    from commonplace.search.settings import RetrievalSettings

COUNT_SECONDS = 0.5
"""How long a call waits until it is counted."""

READERS = 8
"""Bands of a signature that are asked for at the same time."""


def services(environ: Mapping[str, str], settings: RetrievalSettings, objects: ObjectStore) -> HiveServices:
    """`settings` are those of the function that asks, `objects` is the store of an embedded index.

    Raises SettingsError where there is no table of records, or no function that redacts.
    """
    told, redaction = HiveServiceSettings.from_environ(environ), RedactionSettings.from_environ(environ)
    settings = settings.collection("contributions")
    client = aws.dynamodb(read_timeout_seconds=5)
    hasty = aws.dynamodb(read_timeout_seconds=COUNT_SECONDS, connect_timeout_seconds=COUNT_SECONDS, attempts=1)
    store = DynamoContributions(client, told.records_table, told.activity_table, hasty=hasty, parallel=Threads(READERS))
    models = providers.embedding_providers(settings)
    engine = providers.search_engine(settings, objects, next(iter(models), None), read_only=True, fresh=True)
    deployment = DeploymentConfiguration(client, told.records_table, lambda: stamp(now()))

    def kept() -> tuple[str, bool]:
        model = deployment.read()
        return (model.model, model.changed) if model else ("", False)

    strip = redactor(redaction)
    parts = Parts(
        store=store,
        redactor=strip,
        invalid_patterns=strip.invalid_patterns,
        search=HiveSearch(engine, models, store, told.names),
        limiter=Limiter(DynamoCounters(hasty, told.activity_table), time.time, secret=told.counter_secret),
        clock=now,
        new_id=new_id,
        names=told.names,
        kept_model=kept,
        policy=Policy(keep_public_identities=redaction.keep_public_identities),
        per_hour=told.contributions_per_hour,
        max_pending=told.max_pending,
    )
    return HiveServices(Hive(parts), Reviews(parts))


def now() -> datetime:
    return datetime.now(UTC)


def new_id() -> ItemId:
    return ItemId(f"hv_{ULID()}")
