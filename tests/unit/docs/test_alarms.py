"""Every alarm of the template leads to a runbook, and every runbook has an alarm."""

import json
from fnmatch import fnmatch

from infra.search_alarms import OPTIONAL_ALARMS
from tests.unit.docs.pages import ROOT, label, rows, section

DOCS = ROOT / "docs"
PREFIX = "commonplace-dev-"


def alarms() -> list[str]:
    """Those of the default stack, and those that other engines and models add."""
    template = json.loads((ROOT / "packages" / "commonplace_local" / "template.json").read_text(encoding="utf-8"))
    found = [item["Properties"] for item in template["Resources"].values() if item["Type"] == "AWS::CloudWatch::Alarm"]
    return [*(properties["AlarmName"].removeprefix(PREFIX) for properties in found), *OPTIONAL_ALARMS]


def documented() -> dict[str, str]:
    """Name or pattern of an alarm -> its runbook, as docs/operate/operate.md lists them."""
    table = rows(section(DOCS / "operate" / "operate.md", "Alarms"))
    return {alarm.strip("`"): runbook.split("](")[1].rstrip(")") for alarm, _, runbook in table}


def test_there_are_alarms() -> None:
    assert len(alarms()) > 10


def test_every_alarm_leads_to_a_runbook() -> None:
    patterns = documented()
    assert [alarm for alarm in alarms() if not any(fnmatch(alarm, pattern) for pattern in patterns)] == []


def test_every_documented_alarm_exists() -> None:
    names = alarms()
    assert [pattern for pattern in documented() if not any(fnmatch(name, pattern) for name in names)] == []


def test_every_runbook_belongs_to_an_alarm() -> None:
    runbooks = {label(path) for path in (DOCS / "operate" / "runbooks").glob("*.md") if path.name != "README.md"}
    assert {f"docs/operate/{runbook}" for runbook in documented().values()} == runbooks
