"""Metrics and alarms of identity, counted in the logs of whoever signs in, gives tokens, or judges them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast, get_args

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs

from commonplace.identity.oauth.server.log import MESSAGE, Event, Outcome
from infra.functions import PythonFunction

EVENTS = "AuthEvents"
DIMENSIONS = {"Event": "$.event", "Outcome": "$.outcome"}
"""Both are ours and few; a reason would make a metric of its own for each code."""

MINUTES = 15
RATE_OF = {"auth-sign-ins": 20, "auth-tokens": 50}
"""Attempts within the period below which a rate tells nothing."""

OURS = ("signin", "token", "refresh", "register")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthAlarm:
    """When an operator is told."""

    name: str
    description: str
    metric: cloudwatch.IMetric
    threshold: float


@dataclass(frozen=True, slots=True)
class WatchedAuth:
    """Counts as soon as it is made."""

    namespace: str

    def alarms(self) -> Sequence[AuthAlarm]:
        return (
            AuthAlarm(
                name="auth-sign-ins",
                description="Half of twenty or more sign-ins, or more, came to nothing within 15 minutes.",
                metric=self._rate("auth-sign-ins", "signin"),
                threshold=50,
            ),
            AuthAlarm(
                name="auth-tokens",
                description="Half of fifty or more requests for tokens, or more, were refused within 15 minutes.",
                metric=self._rate("auth-tokens", "token", "refresh"),
                threshold=50,
            ),
            AuthAlarm(
                name="auth-failures",
                description="Sign-ins or tokens failed for a reason of ours five times or more within 15 minutes.",
                metric=self._sum("Failed for a reason of ours", [(event, "failed") for event in OURS]),
                threshold=5,
            ),
            AuthAlarm(
                name="auth-denied",
                description="Callers without a right to it tried something 500 times or more within 15 minutes.",
                metric=self._sum("Denied", [("denied", "denied")]),
                threshold=500,
            ),
            AuthAlarm(
                name="token-reuse",
                description="A code or a refresh token was used again after it was spent; the grant is revoked.",
                metric=self._sum("Spent secrets used again", [("reuse", outcome) for outcome in get_args(Outcome)]),
                threshold=1,
            ),
            AuthAlarm(
                name="rpc-down",
                description="No endpoint of a chain answered five times or more within 15 minutes.",
                metric=self._sum("Chains that could not be read", [("rpc", "failed")]),
                threshold=5,
            ),
        )

    def rows(self) -> list[list[cloudwatch.GraphWidget]]:
        """For the dashboard: what happens, how it ends, what share is refused."""
        schema = ",".join([self.namespace, *DIMENSIONS])
        events = cloudwatch.MathExpression(
            expression=f"SEARCH('{{{schema}}} MetricName=\"{EVENTS}\"', 'Sum', 300)", label="", using_metrics={}
        )
        rates = [alarm.metric for alarm in self.alarms() if alarm.name in RATE_OF]
        return [
            [
                _graph("Sign-ins and tokens, by outcome", [cast(cloudwatch.IMetric, events)]),
                _graph("Sign-ins and tokens that are refused, percent", rates),
            ]
        ]

    def _sum(self, label: str, counted: Sequence[tuple[str, str]]) -> cloudwatch.IMetric:
        metrics = {f"m{number}": self._count(*each) for number, each in enumerate(counted)}
        added = " + ".join(f"FILL({name}, 0)" for name in metrics)
        return self._expression(label, added, metrics)

    def _rate(self, name: str, *events: Event) -> cloudwatch.IMetric:
        """Percent of what was tried; nothing while too few try."""
        metrics = {
            f"{outcome}{event}": self._count(event, outcome) for event in events for outcome in get_args(Outcome)
        }
        tried = " + ".join(f"FILL({each}, 0)" for each in metrics)
        refused = " + ".join(f"FILL({each}, 0)" for each in metrics if not each.startswith("ok"))
        rate = f"IF({tried} >= {RATE_OF[name]}, 100 * ({refused}) / ({tried}), 0)"
        return self._expression(f"{' and '.join(events)}, refused", rate, metrics)

    def _expression(self, label: str, expression: str, metrics: dict[str, cloudwatch.IMetric]) -> cloudwatch.IMetric:
        period = Duration.minutes(MINUTES)
        made = cloudwatch.MathExpression(expression=expression, label=label, period=period, using_metrics=metrics)
        return cast(cloudwatch.IMetric, made)

    def _count(self, event: str, outcome: str) -> cloudwatch.IMetric:
        metric = cloudwatch.Metric(
            namespace=self.namespace,
            metric_name=EVENTS,
            dimensions_map={"Event": event, "Outcome": outcome},
            statistic="Sum",
            period=Duration.minutes(MINUTES),
        )
        return cast(cloudwatch.IMetric, metric)


def watch_auth(stage: str, functions: Sequence[PythonFunction]) -> WatchedAuth:
    """Has the functions' logs counted."""
    watched = WatchedAuth(f"Commonplace/{stage}")
    for function in functions:
        logs.MetricFilter(
            function,
            EVENTS,
            log_group=cast(logs.ILogGroup, function.logs),
            filter_pattern=logs.FilterPattern.literal(f'{{ $.message = "{MESSAGE}" }}'),
            metric_namespace=watched.namespace,
            metric_name=EVENTS,
            metric_value="1",
            dimensions=DIMENSIONS,
            unit=cloudwatch.Unit.COUNT,
        )
    return watched


def _graph(title: str, metrics: Sequence[cloudwatch.IMetric]) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, left=list(metrics), width=12)
