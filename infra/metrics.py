"""Metrics of functions and services, their alarms, and their panels of the dashboard."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast, get_args

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_stepfunctions as sfn

from commonplace.identity.telemetry import Event, Outcome
from commonplace.kernel.capability import Capability
from commonplace.kernel.telemetry import namespace
from infra.search_alarms import SearchAlarm
from infra.store import Records

Row = list[cloudwatch.GraphWidget]

AGE_LIMIT = Duration.minutes(5)
"""How long a change may wait for the index before an alarm."""

AUTH_EVENTS = "AuthEvents"

AUTH_MINUTES = 15
ATTEMPTS = {"auth-sign-ins": 20, "auth-tokens": 50}
"""Alarm -> attempts within the period below which a rate means nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricAlarm:
    """When the alarm is raised: the threshold is reached in so many periods."""

    name: str
    description: str
    metric: cloudwatch.IMetric
    threshold: float
    periods: int = 1


@dataclass(frozen=True, slots=True)
class Panel:
    """Alarms and graphs of one concern."""

    alarms: Sequence[MetricAlarm]
    rows: Sequence[Row]


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


def graph(
    title: str, *metrics: cloudwatch.IMetric | cloudwatch.Metric | cloudwatch.MathExpression
) -> cloudwatch.GraphWidget:
    """Half a row of the dashboard."""
    return cloudwatch.GraphWidget(title=title, left=list(metrics), width=12)


def fallback_metric(stage: str) -> cloudwatch.Metric:
    """Return how often something was done without a model that should have helped."""
    return _sum(stage, "ModelFallbacks", minutes=15)


def capability_panel(stage: str, capabilities: Sequence[Capability]) -> Panel:
    """The metrics and alarms that capabilities declare; a row for each that has any."""
    rows: list[Row] = []
    alarms: list[MetricAlarm] = []
    for capability in capabilities:
        row = []
        for each in capability.metrics:
            dimensions = each.dimensions
            shown = _search(stage, each.name, *dimensions) if dimensions else _sum(stage, each.name, each.minutes)
            row.append(graph(each.title, shown))
        rows += [row] if row else []
        for alarm in capability.alarms:
            metric = cloudwatch.Metric(
                namespace=alarm.namespace or namespace(stage),
                metric_name=alarm.metric,
                dimensions_map=dict(alarm.dimensions) or None,
                statistic=alarm.statistic,
                period=Duration.minutes(alarm.minutes),
            )
            alarms.append(
                MetricAlarm(
                    name=alarm.name,
                    description=alarm.description,
                    metric=cast(cloudwatch.IMetric, metric),
                    threshold=alarm.threshold,
                    periods=alarm.periods,
                )
            )
    return Panel(alarms, rows)


def record_panel(records: Records) -> Panel:
    """Return what waits on the way of records into the index."""
    queue = records.queue
    age = queue.metric_approximate_age_of_oldest_message(period=Duration.minutes(1), statistic="Maximum")
    failed = cloudwatch.Metric(
        namespace="AWS/EventBridge/Pipes",
        metric_name="ExecutionFailed",
        dimensions_map={"PipeName": records.pipe_name},
        statistic="Sum",
        period=Duration.minutes(5),
    )
    alarms = (
        MetricAlarm(
            name="records-late",
            description=f"What is remembered has waited for the index for {AGE_LIMIT.to_minutes():.0f} minutes.",
            metric=cast(cloudwatch.IMetric, age),
            threshold=AGE_LIMIT.to_seconds(),
            periods=2,
        ),
        MetricAlarm(
            name="records-pipe",
            description="Changes of what is remembered could not be queued for the index.",
            metric=cast(cloudwatch.IMetric, failed),
            threshold=1,
            periods=2,
        ),
    )
    waiting = graph(
        "What is remembered and waits to be indexed",
        queue.metric_approximate_number_of_messages_visible(),
        queue.metric_approximate_age_of_oldest_message(),
        failed,
    )
    return Panel(alarms, [[waiting]])


def call_panel(stage: str) -> Panel:
    """Agents' calls: how often what is called, how it ends, how long it takes."""
    failures = _sum(stage, "McpFailures", minutes=15)
    alarm = MetricAlarm(
        name="mcp-failures",
        description="Agents' calls ended in an error nobody expected five times or more within 15 minutes.",
        metric=cast(cloudwatch.IMetric, failures),
        threshold=5,
    )
    rows = [
        [
            graph("Calls of tools", _search(stage, "McpToolCalls", "Tool", "Outcome")),
            graph("Calls of tools, milliseconds, p95", _search(stage, "McpToolMilliseconds", "Tool", statistic="p95")),
        ],
        [
            graph("Agents' calls by method", _search(stage, "McpCalls", "Method", "Outcome")),
            graph("Agents' calls that failed", failures),
        ],
    ]
    return Panel([alarm], rows)


def identity_panel(stage: str) -> Panel:
    """Sign-ins, tokens and refusals, counted by whoever signs in, gives tokens, or judges them."""
    rates = (
        MetricAlarm(
            name="auth-sign-ins",
            description="Half of twenty or more sign-ins, or more, came to nothing within 15 minutes.",
            metric=_rate(stage, "auth-sign-ins", "signin"),
            threshold=50,
        ),
        MetricAlarm(
            name="auth-tokens",
            description="Half of fifty or more requests for tokens, or more, were refused within 15 minutes.",
            metric=_rate(stage, "auth-tokens", "token", "refresh"),
            threshold=50,
        ),
    )
    ours = [(event, "failed") for event in ("signin", "token", "refresh", "register")]
    sums = (
        MetricAlarm(
            name="auth-failures",
            description="Sign-ins or tokens failed for a reason of ours five times or more within 15 minutes.",
            metric=_total(stage, "Failed for a reason of ours", ours),
            threshold=5,
        ),
        MetricAlarm(
            name="auth-denied",
            description="Callers without a right to it tried something 500 times or more within 15 minutes.",
            metric=_total(stage, "Denied", [("denied", "denied")]),
            threshold=500,
        ),
        MetricAlarm(
            name="token-reuse",
            description="A code or a refresh token was used again after it was spent; the grant is revoked.",
            metric=_total(stage, "Spent secrets used again", [("reuse", outcome) for outcome in get_args(Outcome)]),
            threshold=1,
        ),
        MetricAlarm(
            name="rpc-down",
            description="No endpoint of a chain answered five times or more within 15 minutes.",
            metric=_total(stage, "Chains that could not be read", [("rpc", "failed")]),
            threshold=5,
        ),
    )
    row = [
        graph("Sign-ins and tokens, by outcome", _search(stage, AUTH_EVENTS, "Event", "Outcome")),
        graph("Sign-ins and tokens that are refused, percent", *(each.metric for each in rates)),
    ]
    return Panel([*rates, *sums], [row])


def _total(stage: str, label: str, counted: Sequence[tuple[str, str]]) -> cloudwatch.IMetric:
    metrics = {f"m{number}": _events(stage, *each) for number, each in enumerate(counted)}
    return _expression(label, " + ".join(f"FILL({name}, 0)" for name in metrics), metrics)


def _rate(stage: str, name: str, *events: Event) -> cloudwatch.IMetric:
    """Percent of what was tried; nothing while too few try."""
    metrics = {f"{outcome}{event}": _events(stage, event, outcome) for event in events for outcome in get_args(Outcome)}
    tried = " + ".join(f"FILL({each}, 0)" for each in metrics)
    refused = " + ".join(f"FILL({each}, 0)" for each in metrics if not each.startswith("ok"))
    rate = f"IF({tried} >= {ATTEMPTS[name]}, 100 * ({refused}) / ({tried}), 0)"
    return _expression(f"{' and '.join(events)}, refused", rate, metrics)


def _expression(label: str, expression: str, metrics: Mapping[str, cloudwatch.IMetric]) -> cloudwatch.IMetric:
    period = Duration.minutes(AUTH_MINUTES)
    made = cloudwatch.MathExpression(expression=expression, label=label, period=period, using_metrics=metrics)
    return cast(cloudwatch.IMetric, made)


def _events(stage: str, event: str, outcome: str) -> cloudwatch.IMetric:
    metric = cloudwatch.Metric(
        namespace=namespace(stage),
        metric_name=AUTH_EVENTS,
        dimensions_map={"Event": event, "Outcome": outcome},
        statistic="Sum",
        period=Duration.minutes(AUTH_MINUTES),
    )
    return cast(cloudwatch.IMetric, metric)


def _sum(stage: str, name: str, minutes: int) -> cloudwatch.Metric:
    return cloudwatch.Metric(
        namespace=namespace(stage), metric_name=name, statistic="Sum", period=Duration.minutes(minutes)
    )


def _search(stage: str, metric: str, *dimensions: str, statistic: str = "Sum") -> cloudwatch.MathExpression:
    """Every combination of these dimensions: which there are is known from what was counted alone."""
    schema = ",".join([namespace(stage), *dimensions])
    return cloudwatch.MathExpression(
        expression=f"SEARCH('{{{schema}}} MetricName=\"{metric}\"', '{statistic}', 300)", label="", using_metrics={}
    )
