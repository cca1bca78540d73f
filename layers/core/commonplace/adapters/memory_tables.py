"""What answers calls about the memory and what indexes it have in common: tables, the time, and ids.

Importing this loads the clients of AWS.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from commonplace.adapters import clients
from commonplace.adapters.dynamodb_entries import DynamoEntries
from commonplace.adapters.dynamodb_jobs import DynamoJobs
from commonplace.adapters.dynamodb_vectors import DynamoVectorCaches

if TYPE_CHECKING:
    from commonplace.memory_settings import MemorySettings


def entries(told: MemorySettings) -> DynamoEntries:
    return DynamoEntries(clients.dynamodb(read_timeout_seconds=5), told.records_table, told.activity_table)


def jobs(told: MemorySettings) -> DynamoJobs:
    return DynamoJobs(clients.dynamodb(read_timeout_seconds=5), told.records_table, told.activity_table)


def caches(told: MemorySettings) -> DynamoVectorCaches:
    return DynamoVectorCaches(clients.dynamodb(read_timeout_seconds=5), told.cache_table)


def now() -> datetime:
    return datetime.now(UTC)


def new_id() -> str:
    return str(uuid.uuid4())
