"""Metrics of OpenSearch and of models, for alarms and for the dashboard."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as sfn

from infra.functions import PythonFunction
from infra.search_alarms import SearchAlarm

FALLBACKS = (
    "the query could not be embedded, searching words only",
    "reranking failed, keeping the fused order",
    "embedding failed, indexing words only",
    "entries are kept without vectors",
)
"""What functions log when a model does not answer and they go on without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedSearch:
    """The parts of a stack with OpenSearch that alarms and the dashboard are about."""

    machine: sfn.StateMachine
    namespace: str = ""
    dimensions: tuple[tuple[str, str], ...] = ()
    alarms: Sequence[SearchAlarm] = ()
    """Empty for a domain that is not of the stack: whoever runs it watches it."""
    storage_mib: float = 0

    def metric(self, name: str, statistic: str, minutes: int = 5) -> cloudwatch.Metric:
        return cloudwatch.Metric(
            namespace=self.namespace,
            metric_name=name,
            dimensions_map=dict(self.dimensions),
            statistic=statistic,
            period=Duration.minutes(minutes),
        )

    def threshold(self, alarm: SearchAlarm) -> float:
        return alarm.threshold * self.storage_mib if alarm.of_storage else alarm.threshold


def fallback_metric(stage: str, functions: Sequence[PythonFunction]) -> cloudwatch.Metric:
    """How often something was done without a model that should have helped, counted in the functions' logs."""
    conditions = " || ".join(f'($.message = "{message}")' for message in FALLBACKS)
    namespace, name = f"Commonplace/{stage}", "ModelFallbacks"
    for function in functions:
        logs.MetricFilter(
            function,
            "Fallbacks",
            log_group=cast(logs.ILogGroup, function.logs),
            filter_pattern=logs.FilterPattern.literal(f"{{ {conditions} }}"),
            metric_namespace=namespace,
            metric_name=name,
            metric_value="1",
        )
    return cloudwatch.Metric(namespace=namespace, metric_name=name, statistic="Sum", period=Duration.minutes(15))
