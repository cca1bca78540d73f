"""When maintainers of a catalogue are told, besides by its commits' status: it was refused, and the last good one goes
on answering."""

from dataclasses import dataclass
from typing import cast

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs

from commonplace.reference.sync.plan import REFUSED
from infra.functions import PythonFunction

METRIC = "CataloguesRefused"


@dataclass(frozen=True, slots=True)
class WatchedCatalogues:
    """Counts as soon as it is made."""

    metric: cloudwatch.Metric

    def rows(self) -> list[list[cloudwatch.GraphWidget]]:
        """For the dashboard."""
        counted = cast(cloudwatch.IMetric, self.metric)
        return [[cloudwatch.GraphWidget(title="Catalogues that were refused", left=[counted], width=12)]]


def watch_catalogues(stage: str, publisher: PythonFunction) -> WatchedCatalogues:
    """Has the log of the function counted that publishes. Names of catalogues are no dimension: the log has them."""
    namespace = f"Commonplace/{stage}"
    logs.MetricFilter(
        publisher,
        METRIC,
        log_group=cast(logs.ILogGroup, publisher.logs),
        filter_pattern=logs.FilterPattern.literal(f'{{ $.message = "{REFUSED}" }}'),
        metric_namespace=namespace,
        metric_name=METRIC,
        metric_value="1",
        unit=cloudwatch.Unit.COUNT,
    )
    metric = cloudwatch.Metric(namespace=namespace, metric_name=METRIC, statistic="Sum", period=Duration.minutes(15))
    return WatchedCatalogues(metric)
