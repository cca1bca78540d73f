"""docs/operate/costs.md counts what the templates of both engines have."""

from tests.infra.templates import Template
from tests.unit.docs.test_costs import alarm_metrics, table


def metrics_in_alarms(template: Template) -> int:
    """An alarm over an expression is paid for by each metric in it."""
    alarms = template.properties("AWS::CloudWatch::Alarm")
    return sum(len([each for each in alarm.get("Metrics", ()) if "MetricStat" in each]) or 1 for alarm in alarms)


def test_alarms_are_counted_by_their_metrics(template: Template, default: Template) -> None:
    (row,) = [name for name in table("Both engines") if "metrics of alarms" in name]
    assert alarm_metrics(row) == {"embedded": metrics_in_alarms(template), "OpenSearch": metrics_in_alarms(default)}


def test_keys_secrets_and_the_dashboard_are_as_many_on_either_engine(template: Template, default: Template) -> None:
    assert "two keys, five secrets, dashboard" in table("Both engines")
    for stack in (template, default):
        kinds = ("AWS::KMS::Key", "AWS::SecretsManager::Secret", "AWS::CloudWatch::Dashboard")
        assert [len(stack.of(kind)) for kind in kinds] == [2, 5, 1]
