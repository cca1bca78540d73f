"""Metrics of agents' calls, counted in the log of the function that answers them."""

from dataclasses import dataclass
from typing import cast

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs
from mcp_types import INTERNAL_ERROR

from commonplace.web.mcp.surface import MESSAGE
from infra.functions import PythonFunction

TOOL_FAILURES = "mcp-failures"

CALLS, TOOL_CALLS, TOOL_MILLISECONDS, FAILURES = "McpCalls", "McpToolCalls", "McpToolMilliseconds", "McpFailures"

ANY_CALL = f'$.message = "{MESSAGE}"'
OF_A_TOOL = f'{ANY_CALL} && $.method = "tools/call"'
UNEXPECTED = f'{ANY_CALL} && ($.outcome = "INTERNAL_ERROR" || $.outcome = "{INTERNAL_ERROR}")'
"""The first of tools, the second, JSON-RPC's, of everything else."""

BY_METHOD = {"Method": "$.method", "Outcome": "$.outcome"}
BY_TOOL = {"Tool": "$.target"}
BY_TOOL_AND_OUTCOME = {**BY_TOOL, "Outcome": "$.outcome"}
"""Every value makes a metric that is paid for, so no caller may add to them: tools are those that are declared, and the
names of resources, which are as many as documents, are no dimension."""


@dataclass(frozen=True, slots=True)
class WatchedCalls:
    """Counts as soon as it is made."""

    namespace: str

    @property
    def failures(self) -> cloudwatch.Metric:
        """Calls that ended in an error nobody expected."""
        return cloudwatch.Metric(
            namespace=self.namespace, metric_name=FAILURES, statistic="Sum", period=Duration.minutes(15)
        )

    def rows(self) -> list[list[cloudwatch.GraphWidget]]:
        """For the dashboard: how often what is called, how it ends, how long it takes."""
        return [
            [
                self._graph("Calls of tools", TOOL_CALLS, BY_TOOL_AND_OUTCOME, "Sum"),
                self._graph("Calls of tools, milliseconds, p95", TOOL_MILLISECONDS, BY_TOOL, "p95"),
            ],
            [
                self._graph("Agents' calls by method", CALLS, BY_METHOD, "Sum"),
                cloudwatch.GraphWidget(title="Agents' calls that failed", left=[self.failures], width=12),
            ],
        ]

    def _graph(self, title: str, metric: str, dimensions: dict[str, str], statistic: str) -> cloudwatch.GraphWidget:
        """A search, since which names there are is known from the calls alone."""
        schema = ",".join([self.namespace, *dimensions])
        found = cloudwatch.MathExpression(
            expression=f"SEARCH('{{{schema}}} MetricName=\"{metric}\"', '{statistic}', 300)", label="", using_metrics={}
        )
        return cloudwatch.GraphWidget(title=title, left=[cast(cloudwatch.IMetric, found)], width=12)


def watch_calls(stage: str, function: PythonFunction) -> WatchedCalls:
    """Has the function's log counted."""
    watched = WatchedCalls(f"Commonplace/{stage}")
    _count(function, watched, CALLS, ANY_CALL, dimensions=BY_METHOD)
    _count(function, watched, TOOL_CALLS, OF_A_TOOL, dimensions=BY_TOOL_AND_OUTCOME)
    _count(function, watched, TOOL_MILLISECONDS, OF_A_TOOL, value="$.milliseconds", dimensions=BY_TOOL)
    _count(function, watched, FAILURES, UNEXPECTED)
    return watched


def _count(
    function: PythonFunction,
    watched: WatchedCalls,
    metric: str,
    condition: str,
    *,
    value: str = "1",
    dimensions: dict[str, str] | None = None,
) -> None:
    logs.MetricFilter(
        function,
        metric,
        log_group=cast(logs.ILogGroup, function.logs),
        filter_pattern=logs.FilterPattern.literal(f"{{ {condition} }}"),
        metric_namespace=watched.namespace,
        metric_name=metric,
        metric_value=value,
        dimensions=dimensions,
        unit=cloudwatch.Unit.MILLISECONDS if metric == TOOL_MILLISECONDS else cloudwatch.Unit.COUNT,
    )
