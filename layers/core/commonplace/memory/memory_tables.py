"""What answers calls about the memory and what indexes it have in common: tables, the time, and ids.

Importing this loads the clients of AWS.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from commonplace.kernel import aws
from commonplace.memory.job_store import DynamoJobs
from commonplace.memory.store import DynamoEntries
from commonplace.search.store import DynamoVectorCaches

if TYPE_CHECKING:
    from commonplace.memory.settings import MemorySettings


def entries(told: MemorySettings) -> DynamoEntries:
    return DynamoEntries(aws.dynamodb(read_timeout_seconds=5), told.records_table, told.activity_table)


def jobs(told: MemorySettings) -> DynamoJobs:
    return DynamoJobs(aws.dynamodb(read_timeout_seconds=5), told.records_table, told.activity_table)


def caches(told: MemorySettings) -> DynamoVectorCaches:
    return DynamoVectorCaches(aws.dynamodb(read_timeout_seconds=5), told.cache_table)


def now() -> datetime:
    return datetime.now(UTC)


def new_id() -> str:
    return str(uuid.uuid4())
