"""Metrics and alarms of the memory: what waits on the way into the index, and what the memory is asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sqs as sqs

from commonplace.memory.tools.search import QUERIED
from infra.functions import PythonFunction

LATE, PIPE = "records-late", "records-pipe"

LAG = Duration.minutes(5)
PIPE_MINUTES = 5

QUERIES, FALLBACKS = "MemoryQueries", "MemoryFallbacks"
DIMENSIONS = {"Phase": "$.phase", "Role": "$.role"}
"""Five phases and none, four roles: 24 metrics at most. What was asked for is in no log."""

ANY_QUERY = f'$.message = "{QUERIED}"'
BY_WORDS_ALONE = f"({ANY_QUERY}) && ($.fallback IS TRUE)"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryAlarm:
    """When an operator is told."""

    name: str
    description: str
    metric: cloudwatch.IMetric
    threshold: float
    periods: int


@dataclass(frozen=True, slots=True)
class WatchedMemory:
    """Counts as soon as it is made."""

    namespace: str
    queue: sqs.Queue
    pipe_name: str

    def alarms(self) -> Sequence[MemoryAlarm]:
        age = self.queue.metric_approximate_age_of_oldest_message(period=Duration.minutes(1), statistic="Maximum")
        return (
            MemoryAlarm(
                name=LATE,
                description=f"What is remembered has waited for the index for {LAG.to_minutes():.0f} minutes.",
                metric=cast(cloudwatch.IMetric, age),
                threshold=LAG.to_seconds(),
                periods=2,
            ),
            MemoryAlarm(
                name=PIPE,
                description="Changes of what is remembered could not be queued for the index.",
                metric=cast(cloudwatch.IMetric, self._pipe("ExecutionFailed")),
                threshold=1,
                periods=2,
            ),
        )

    def rows(self) -> list[list[cloudwatch.GraphWidget]]:
        """For the dashboard: what is asked by whom in which phase, and how soon searches know what is new."""
        schema = ",".join([self.namespace, *DIMENSIONS])
        asked = cloudwatch.MathExpression(
            expression=f"SEARCH('{{{schema}}} MetricName=\"{QUERIES}\"', 'Sum', 300)", label="", using_metrics={}
        )
        fallbacks = cloudwatch.Metric(namespace=self.namespace, metric_name=FALLBACKS, statistic="Sum")
        waiting = [
            self.queue.metric_approximate_number_of_messages_visible(),
            self.queue.metric_approximate_age_of_oldest_message(),
            self._pipe("ExecutionFailed"),
        ]
        return [
            [
                _graph("Searches of the memory, by phase and role", [cast(cloudwatch.IMetric, asked)]),
                _graph("Searches of the memory by words alone", [cast(cloudwatch.IMetric, fallbacks)]),
            ],
            [
                _graph(
                    "What is remembered and waits to be indexed", [cast(cloudwatch.IMetric, each) for each in waiting]
                )
            ],
        ]

    def _pipe(self, name: str) -> cloudwatch.Metric:
        return cloudwatch.Metric(
            namespace="AWS/EventBridge/Pipes",
            metric_name=name,
            dimensions_map={"PipeName": self.pipe_name},
            statistic="Sum",
            period=Duration.minutes(PIPE_MINUTES),
        )


def watch_memory(stage: str, agents: PythonFunction, queue: sqs.Queue, pipe_name: str) -> WatchedMemory:
    """Has the log of the function counted that answers agents."""
    watched = WatchedMemory(f"Commonplace/{stage}", queue, pipe_name)
    _count(agents, watched.namespace, QUERIES, ANY_QUERY, DIMENSIONS)
    _count(agents, watched.namespace, FALLBACKS, BY_WORDS_ALONE, None)
    return watched


def _count(
    function: PythonFunction, namespace: str, metric: str, condition: str, dimensions: dict[str, str] | None
) -> None:
    logs.MetricFilter(
        function,
        metric,
        log_group=cast(logs.ILogGroup, function.logs),
        filter_pattern=logs.FilterPattern.literal(f"{{ {condition} }}"),
        metric_namespace=namespace,
        metric_name=metric,
        metric_value="1",
        dimensions=dimensions,
        unit=cloudwatch.Unit.COUNT,
    )


def _graph(title: str, metrics: Sequence[cloudwatch.IMetric]) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, left=list(metrics), width=12)
