"""The memory, built from settings: stores, index and models, and the parts that tools and the index function share.

Importing this loads the clients of AWS: it is for the first call that needs the memory.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from commonplace.kernel import aws
from commonplace.memory.job_store import DynamoJobs, DynamoQueryCounts
from commonplace.memory.personal_data import EntryRedaction
from commonplace.memory.search import SEED_FUSION, MemorySearch
from commonplace.memory.service import Memory
from commonplace.memory.store import DynamoEntries
from commonplace.memory.usage_store import DynamoUsage
from commonplace.redaction.client import redactor
from commonplace.redaction.model import Policy
from commonplace.redaction.settings import RedactionSettings
from commonplace.search import providers
from commonplace.search.fusion import Fusion
from commonplace.search.store import DynamoVectorCaches

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_dynamodb import DynamoDBClient

    from commonplace.kernel.objects import ObjectStore
    from commonplace.memory.settings import MemoryToolSettings
    from commonplace.search.settings import RetrievalSettings

COUNT_SECONDS = 0.5
"""How long a search waits for the count of queries."""


def now() -> datetime:
    return datetime.now(UTC)


def new_id() -> str:
    return str(uuid.uuid4())


def memory(told: MemoryToolSettings, settings: RetrievalSettings, objects: ObjectStore) -> Memory:
    """For the function that answers agents. `objects` is the store of an embedded index."""
    settings = settings.collection("memory")
    models = providers.embedding_providers(settings, read_seconds=providers.MEMORY_READ_SECONDS)
    client = aws.dynamodb(read_timeout_seconds=5)
    store = DynamoEntries(client, told.records_table, told.activity_table)
    engine = providers.search_engine(settings, objects, next(iter(models), None), read_only=True, fresh=True)
    hasty = _hasty()
    fusion = Fusion.parse(told.fusion) if told.fusion else SEED_FUSION
    return Memory(
        store=store,
        jobs=DynamoJobs(client, told.records_table, told.activity_table),
        counts=DynamoQueryCounts(client, told.records_table, hasty=hasty),
        usage=DynamoUsage(client, told.records_table, told.activity_table, hasty=hasty),
        caches=DynamoVectorCaches(client, told.cache_table),
        search=MemorySearch(engine, models, store, fusion=fusion),
        embedder=next(iter(models), None),
        clock=now,
        new_id=new_id,
        batch=told.batch,
    )


def entry_redaction(told: MemoryToolSettings, environ: Mapping[str, str]) -> EntryRedaction:
    """Raises SettingsError where there is no function that redacts."""
    redaction = RedactionSettings.from_environ(environ)
    policy = Policy(keep_public_identities=redaction.keep_public_identities)
    return EntryRedaction(redactor(redaction), "mask" if told.redaction == "mask" else "refuse", policy)


def _hasty() -> DynamoDBClient:
    """Whoever searches does not wait for the count, so nothing of it is tried twice; whoever reads the counts waits."""
    return aws.dynamodb(read_timeout_seconds=COUNT_SECONDS, connect_timeout_seconds=COUNT_SECONDS, attempts=1)
