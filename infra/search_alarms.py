"""Alarms about OpenSearch. Plain data: the documentation's tests read it as well."""

from dataclasses import dataclass
from typing import Literal

from commonplace.capabilities import CAPABILITIES

Comparison = Literal[">=", "<="]

MIGRATION_FAILED = "index-build-failed"

MODEL_FALLBACKS = "model-fallbacks"

ROTATION_STUCK = "origin-secret-stuck"
"""Of the stack before the API."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAlarm:
    """One metric of the service and when it is bad. `share` scales the threshold by what the domain was given."""

    name: str
    description: str
    metric: str
    statistic: Literal["Maximum", "Minimum", "Average", "Sum"]
    threshold: float
    comparison: Comparison = ">="
    minutes: int = 1
    periods: int = 1
    of_storage: bool = False
    """The threshold is a share of the storage of a node, which the metric gives in MiB."""


DOMAIN_ALARMS = (
    SearchAlarm(
        name="search-cluster-red",
        description="A primary shard is nowhere: searches and writes fail.",
        metric="ClusterStatus.red",
        statistic="Maximum",
        threshold=1,
    ),
    SearchAlarm(
        name="search-cluster-yellow",
        description="A replica has been nowhere for ten minutes: all works, and one more lost node would end it.",
        metric="ClusterStatus.yellow",
        statistic="Maximum",
        threshold=1,
        periods=10,
    ),
    SearchAlarm(
        name="search-storage-low",
        description="Less than a quarter of a node's storage is free; writes are blocked when nearly all is used.",
        metric="FreeStorageSpace",
        statistic="Minimum",
        threshold=0.25,
        comparison="<=",
        periods=5,
        of_storage=True,
    ),
    SearchAlarm(
        name="search-memory-pressure",
        description="The heap of a node is over 85 % full for a quarter of an hour.",
        metric="JVMMemoryPressure",
        statistic="Maximum",
        threshold=85,
        minutes=5,
        periods=3,
    ),
    SearchAlarm(
        name="search-latency",
        description="The domain itself takes more than a second for a search, on the average of a quarter of an hour.",
        metric="SearchLatency",
        statistic="Average",
        threshold=1_000,
        minutes=5,
        periods=3,
    ),
    SearchAlarm(
        name="search-errors",
        description="The domain answered requests with 5xx five times or more within five minutes.",
        metric="5xx",
        statistic="Sum",
        threshold=5,
        minutes=5,
    ),
    SearchAlarm(
        name="search-writes-blocked",
        description="The domain refuses every write, for want of storage or memory.",
        metric="ClusterIndexWritesBlocked",
        statistic="Maximum",
        threshold=1,
        minutes=5,
    ),
)
"""Of a managed domain; thresholds near those that the service recommends."""

COLLECTION_ALARMS = (
    SearchAlarm(
        name="search-latency",
        description="The collection takes more than a second for a search, on the average of a quarter of an hour.",
        metric="SearchRequestLatency",
        statistic="Average",
        threshold=1_000,
        minutes=5,
        periods=3,
    ),
    SearchAlarm(
        name="search-errors",
        description="The collection answered requests with 5xx five times or more within five minutes.",
        metric="5xx",
        statistic="Sum",
        threshold=5,
        minutes=5,
    ),
)
"""Of a serverless collection, which looks after nodes and storage itself."""


OPTIONAL_ALARMS = (
    *dict.fromkeys(alarm.name for alarm in (*DOMAIN_ALARMS, *COLLECTION_ALARMS)),
    MIGRATION_FAILED,
    MODEL_FALLBACKS,
    ROTATION_STUCK,
    *(alarm.name for capability in CAPABILITIES if capability.requires for alarm in capability.alarms),
)
"""Every name that OpenSearch, models that are not the stack's own, a distribution before the API, or capabilities that
require a setting may add."""
