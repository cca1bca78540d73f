"""Observability: alarms to one topic, and one dashboard."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from aws_cdk import Duration, Fn, RemovalPolicy, Stack
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from infra.access import present
from infra.configuration import Configuration
from infra.functions import PythonFunction
from infra.metrics import (
    AGE_LIMIT,
    Row,
    WatchedSearch,
    call_panel,
    capability_panel,
    fallback_metric,
    graph,
    identity_panel,
    record_panel,
)
from infra.search_alarms import MIGRATION_FAILED, MODEL_FALLBACKS
from infra.store import Records

RECONCILES_MISSED = 3
"""So many periods of the schedule without a finished run, and an hour at least, mean that the store is out of date."""

_COMPARISONS = {
    ">=": cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    "<=": cloudwatch.ComparisonOperator.LESS_THAN_OR_EQUAL_TO_THRESHOLD,
}


def alarm_topic(scope: Construct, configuration: Configuration) -> sns.Topic:
    """Encrypted; CloudWatch alone may publish. Alarms reach topics of their own region only."""
    key = kms.Key(
        scope,
        "TopicKey",
        description=f"Commonplace {configuration.stage}: alarms at rest",
        enable_key_rotation=True,
        removal_policy=RemovalPolicy.DESTROY,
    )
    # The key that SNS has by itself cannot be used by CloudWatch, so alarms would be lost without a word.
    alarms = cast(iam.IPrincipal, iam.ServicePrincipal("cloudwatch.amazonaws.com"))
    key.add_to_resource_policy(
        iam.PolicyStatement(
            principals=[alarms],
            actions=["kms:Decrypt", "kms:GenerateDataKey"],
            resources=["*"],
            conditions={"StringEquals": {"aws:SourceAccount": Stack.of(scope).account}},
        )
    )
    topic = sns.Topic(
        scope, "Alarms", display_name=f"Commonplace {configuration.stage}", master_key=key, enforce_ssl=True
    )
    topic.add_to_resource_policy(
        iam.PolicyStatement(
            principals=[alarms],
            actions=["sns:Publish"],
            resources=[topic.topic_arn],
            conditions={"StringEquals": {"aws:SourceAccount": Stack.of(scope).account}},
        )
    )
    if configuration.alarm_email:
        topic.add_subscription(cast(sns.ITopicSubscription, subscriptions.EmailSubscription(configuration.alarm_email)))
    return topic


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """The parts of the stack that alarms and the dashboard are about."""

    functions: Sequence[PythonFunction]
    dead_letters: dict[str, sqs.Queue]
    index_queue: sqs.Queue
    records: Records
    machine: sfn.StateMachine
    api: apigateway.HttpApi
    search: WatchedSearch | None = None
    """With OpenSearch."""
    foreign_models: bool = False
    """Whether a model may fail to answer; functions then go on without it."""


class Observability(Construct):
    """Every alarm goes to `topic`; `docs/operate/operate.md` leads from its name to a runbook."""

    def __init__(self, scope: Construct, construct_id: str, configuration: Configuration, watched: Watched) -> None:
        super().__init__(scope, construct_id)
        self._stage = configuration.stage
        self.topic = alarm_topic(self, configuration)
        for function in watched.functions:
            self._function_alarms(function)
        for name, queue in watched.dead_letters.items():
            self._alarm(
                f"{name}-dead-letters",
                "Messages could not be dealt with and wait in the dead-letter queue.",
                queue.metric_approximate_number_of_messages_visible(period=Duration.minutes(1), statistic="Maximum"),
                threshold=1,
            )
        self._lost_alarm([function for function in watched.functions if function.asynchronous])
        self._sync_alarms(configuration, watched.machine)
        self._alarm(
            "index-late",
            f"A change has waited to be indexed for {AGE_LIMIT.to_minutes():.0f} minutes or longer.",
            watched.index_queue.metric_approximate_age_of_oldest_message(
                period=Duration.minutes(1), statistic="Maximum"
            ),
            threshold=AGE_LIMIT.to_seconds(),
            periods=2,
        )
        self._alarm(
            "api-errors",
            "Readers were answered with 5xx five times or more within 5 minutes.",
            watched.api.metric_server_error(period=Duration.minutes(5)),
            threshold=5,
        )
        if watched.search:
            self._search_alarms(watched.search)
        if watched.foreign_models:
            self._alarm(
                MODEL_FALLBACKS,
                "A model did not answer ten times or more within 15 minutes; everything goes on without it, less well.",
                fallback_metric(self._stage),
                threshold=10,
            )
        panels = [
            call_panel(self._stage),
            identity_panel(self._stage),
            capability_panel(self._stage, present(configuration)),
            record_panel(watched.records),
        ]
        for alarm in (each for panel in panels for each in panel.alarms):
            self._alarm(alarm.name, alarm.description, alarm.metric, threshold=alarm.threshold, periods=alarm.periods)
        self.dashboard = self._dashboard(watched, [row for panel in panels for row in panel.rows])

    @property
    def dashboard_url(self) -> str:
        region = Stack.of(self).region
        name = self.dashboard.dashboard_name
        return Fn.sub(
            "https://${Region}.console.aws.amazon.com/cloudwatch/home?region=${Region}#dashboards:name=${Name}",
            {"Region": region, "Name": name},
        )

    def _function_alarms(self, function: PythonFunction) -> None:
        name = function.name
        self._alarm(
            f"{name}-errors",
            f"The {name} function failed {function.error_threshold} times or more within 15 minutes.",
            function.function.metric_errors(period=Duration.minutes(15)),
            threshold=function.error_threshold,
        )
        self._alarm(
            f"{name}-throttled",
            f"The {name} function was refused for want of concurrency.",
            function.function.metric_throttles(period=Duration.minutes(5)),
            threshold=1,
        )

    def _lost_alarm(self, functions: Sequence[PythonFunction]) -> None:
        """Watch what the alarm of the dead letters cannot see: failures that Lambda could not put there."""
        period = Duration.minutes(5)
        lost = {
            f"lost{number}": function.function.metric("DestinationDeliveryFailures", statistic="Sum", period=period)
            for number, function in enumerate(functions)
        }
        self._alarm(
            "invocations-lost",
            "Calls that nobody waited for failed, and could not be set aside in the dead-letter queue either.",
            cloudwatch.MathExpression(
                expression="SUM(METRICS())", label="Failures that were lost", period=period, using_metrics=lost
            ),
            threshold=1,
        )

    def _sync_alarms(self, configuration: Configuration, machine: sfn.StateMachine) -> None:
        self._alarm("sync-failed", "A run failed, timed out or was stopped.", _unsuccessful(machine), threshold=1)
        # A run retries for a quarter of an hour while GitHub is away; a short period must not raise the alarm for that.
        periods = max(RECONCILES_MISSED, 60 // configuration.reconcile_minutes)
        self._alarm(
            "sync-late",
            f"No run has succeeded in {periods} periods of the schedule.",
            machine.metric_succeeded(period=Duration.minutes(configuration.reconcile_minutes)),
            threshold=1,
            periods=periods,
            comparison=cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
            missing=cloudwatch.TreatMissingData.BREACHING,
        )

    def _search_alarms(self, search: WatchedSearch) -> None:
        for alarm in search.alarms:
            self._alarm(
                alarm.name,
                alarm.description,
                search.metric(alarm.metric, alarm.statistic, alarm.minutes),
                threshold=search.threshold(alarm),
                periods=alarm.periods,
                comparison=_COMPARISONS[alarm.comparison],
            )
        self._alarm(
            MIGRATION_FAILED,
            "An index could not be built anew; the one before goes on answering.",
            _unsuccessful(search.machine),
            threshold=1,
        )

    def _alarm(
        self,
        name: str,
        description: str,
        metric: cloudwatch.IMetric,
        *,
        threshold: float,
        periods: int = 1,
        comparison: cloudwatch.ComparisonOperator = cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        missing: cloudwatch.TreatMissingData = cloudwatch.TreatMissingData.NOT_BREACHING,
    ) -> None:
        alarm = cloudwatch.Alarm(
            self,
            "".join(word.capitalize() for word in name.split("-")),
            alarm_name=f"commonplace-{self._stage}-{name}",
            alarm_description=description,
            metric=metric,
            threshold=threshold,
            evaluation_periods=periods,
            comparison_operator=comparison,
            treat_missing_data=missing,
        )
        action = cast(cloudwatch.IAlarmAction, actions.SnsAction(self.topic))
        alarm.add_alarm_action(action)
        alarm.add_ok_action(action)

    def _dashboard(self, watched: Watched, more: Sequence[Row]) -> cloudwatch.Dashboard:
        functions = [function.function for function in watched.functions]
        api, machine, queue = watched.api, watched.machine, watched.index_queue
        rows = [
            [
                graph("Runs", machine.metric_succeeded(), machine.metric_failed(), machine.metric_timed_out()),
                graph("Length of runs", machine.metric_time(statistic="p50"), machine.metric_time(statistic="max")),
            ],
            [
                graph(
                    "Waiting to be indexed",
                    queue.metric_approximate_number_of_messages_visible(),
                    queue.metric_approximate_age_of_oldest_message(),
                ),
                graph(
                    "Dead letters",
                    *(dead.metric_approximate_number_of_messages_visible() for dead in watched.dead_letters.values()),
                ),
            ],
            [
                graph("Requests", api.metric_count(), api.metric_client_error(), api.metric_server_error()),
                graph("Latency", *(api.metric_latency(statistic=each) for each in ("p50", "p95", "p99"))),
            ],
            [
                graph("Function errors", *(function.metric_errors() for function in functions)),
                graph("Function duration, p95", *(function.metric_duration(statistic="p95") for function in functions)),
            ],
        ]
        rows += more
        if search := watched.search:
            # One graph for each alarm, two in a row, then the builds.
            graphs = [graph(alarm.metric, search.metric(alarm.metric, alarm.statistic)) for alarm in search.alarms]
            builds = search.machine.metric_succeeded(), search.machine.metric_failed()
            graphs.append(graph("Builds of the index", *builds))
            rows += [graphs[start : start + 2] for start in range(0, len(graphs), 2)]
        return cloudwatch.Dashboard(
            self,
            "Dashboard",
            dashboard_name=f"Commonplace-{self._stage}",
            widgets=[[cast(cloudwatch.IWidget, widget) for widget in row] for row in rows],
        )


def _unsuccessful(machine: sfn.StateMachine) -> cloudwatch.MathExpression:
    period = Duration.minutes(5)
    return cloudwatch.MathExpression(
        expression="FILL(failed, 0) + FILL(late, 0) + FILL(stopped, 0)",
        label="Runs that did not succeed",
        period=period,
        using_metrics={
            "failed": machine.metric_failed(period=period),
            "late": machine.metric_timed_out(period=period),
            "stopped": machine.metric_aborted(period=period),
        },
    )
