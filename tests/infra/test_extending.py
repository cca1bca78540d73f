"""What the capability of docs/inside/extending.md adds to AWS: its alarm, its permissions, and nothing else."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from infra.snapshot import normalised
from tests.extended import extended
from tests.infra.templates import Template, reaches
from tests.unit.docs.pages import ROOT

SYNTHESIZE = """
import sys
from pathlib import Path
from infra.stack import WITHOUT_BUNDLES, application

app, stack = application(Path(sys.argv[1]), {**WITHOUT_BUNDLES, "engine": "embedded", "thingsTitle": "Garden tools"})
app.synth()
print(stack.template_file)
"""


@pytest.fixture(scope="module")
def more(template: Template, tmp_path_factory: pytest.TempPathFactory) -> Template:
    """The template of the extended project; `template` provides Node.js."""
    folder = tmp_path_factory.mktemp("extended")
    library = extended(folder / "project") / "layers" / "core"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(library), str(ROOT)])}
    command = [sys.executable, "-c", SYNTHESIZE, str(folder / "cdk")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    body = json.loads((folder / "cdk" / done.stdout.split()[-1]).read_text())
    return Template(body, template.report, folder)


def kinds(template: Template) -> dict[str, str]:
    """By logical id, without what changes with the code of a function."""
    resources = json.loads(normalised(template.body))["Resources"]
    return {name: resource["Type"] for name, resource in resources.items()}


def functions_that_reach(template: Template, prefix: str) -> set[str]:
    """Of those that the example may have been granted to, by the beginning of their roles' names."""
    return {
        name
        for name in ("Rest", "Mcp", "Index", "Sync", "Webhook", "Auth", "Console", "Site")
        if any(reaches(statement, prefix) for statement in template.statements(name))
    }


def test_the_alarm_is_the_only_resource_that_is_added(template: Template, more: Template) -> None:
    added = {name: kind for name, kind in kinds(more).items() if name not in kinds(template)}
    ((name, kind),) = added.items()
    alarm: dict[str, Any] = more.body["Resources"][name]["Properties"]
    assert (kind, alarm["AlarmName"]) == ("AWS::CloudWatch::Alarm", "commonplace-dev-unreadable-things")
    assert (alarm["Namespace"], alarm["MetricName"], alarm["Threshold"]) == ("Commonplace/dev", "UnreadableThings", 1)
    assert alarm["AlarmDescription"] == "The record of a thing is broken: nobody finds the thing."


def test_only_the_functions_that_are_named_may_read_the_records(template: Template, more: Template) -> None:
    assert functions_that_reach(more, "things/") == {"Rest", "Mcp", "Console"}
    assert functions_that_reach(template, "things/") == set()


def test_only_the_function_whose_part_reads_a_setting_is_told_it(more: Template) -> None:
    told = {name: more.environment(more.function(name)) for name in ("mcp", "rest", "index", "webhook", "auth")}
    assert {name: each["THINGS_TITLE"] for name, each in told.items() if "THINGS_TITLE" in each} == {
        "mcp": "Garden tools"
    }
