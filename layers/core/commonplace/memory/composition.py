"""The memory, built from settings: stores, index and models, and the parts that tools and the index function share.

Importing this loads the clients of AWS: it is for the first call that needs the memory.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from commonplace.kernel import aws
from commonplace.memory.entries import Memory
from commonplace.memory.job_store import DynamoJobs, DynamoQueryCounts
from commonplace.memory.personal_data import EntryRedaction
from commonplace.memory.search import SEED_FUSION, MemorySearch
from commonplace.memory.store import DynamoEntries
from commonplace.memory.usage import DynamoUsage
from commonplace.redaction.client import redactor
from commonplace.redaction.model import Policy
from commonplace.redaction.settings import RedactionSettings
from commonplace.search import providers
from commonplace.search.fusion import Fusion
from commonplace.search.store import DynamoVectorCaches

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commonplace.kernel.objects import ObjectStore
    from commonplace.memory.settings import MemoryToolSettings
    from commonplace.search.settings import RetrievalSettings

COUNT_SECONDS = 0.5
"""How long a search waits for the count of queries."""


def now() -> datetime:
    return datetime.now(UTC)


def new_id() -> str:
    return str(uuid.uuid4())


def memory(own: MemoryToolSettings, settings: RetrievalSettings, objects: ObjectStore) -> Memory:
    """Return the memory that calls work with. `objects` is the store of an embedded index."""
    settings = settings.collection("memory")
    models = providers.embedding_providers(settings, read_seconds=providers.MEMORY_READ_SECONDS)
    client = aws.dynamodb(read_timeout_seconds=5)
    store = DynamoEntries(client, own.records_table, own.activity_table)
    engine = providers.search_engine(settings, objects, next(iter(models), None), read_only=True, fresh=True)
    # Whoever searches does not wait for the count, so nothing of it is tried twice; whoever reads the counts waits.
    hasty = aws.dynamodb(read_timeout_seconds=COUNT_SECONDS, connect_timeout_seconds=COUNT_SECONDS, attempts=1)
    fusion = Fusion.parse(own.fusion) if own.fusion else SEED_FUSION
    return Memory(
        store=store,
        jobs=DynamoJobs(client, own.records_table, own.activity_table),
        counts=DynamoQueryCounts(client, own.records_table, hasty=hasty),
        usage=DynamoUsage(client, own.records_table, own.activity_table, hasty=hasty),
        caches=DynamoVectorCaches(client, own.cache_table),
        search_index=MemorySearch(engine, models, store, fusion=fusion),
        embedder=next(iter(models), None),
        clock=now,
        new_id=new_id,
        batch=own.batch,
    )


def entry_redaction(own: MemoryToolSettings, environ: Mapping[str, str]) -> EntryRedaction:
    """Raises SettingsError where there is no function that redacts."""
    redaction = RedactionSettings.from_environ(environ)
    policy = Policy(keep_public_identities=redaction.keep_public_identities)
    return EntryRedaction(redactor(redaction), "mask" if own.redaction == "mask" else "refuse", policy)
