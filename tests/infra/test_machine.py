import json
import re
from collections.abc import Iterator
from typing import Any

from commonplace.repository.plan import items_key
from tests.infra.templates import Template, as_list, objects_under


def machine(template: Template) -> dict[str, Any]:
    (properties,) = template.properties("AWS::StepFunctions::StateMachine")
    return properties


def tasks(states: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for state in states.values():
        if state["Type"] == "Task":
            yield state
        if state["Type"] == "Map":
            yield from tasks(state["ItemProcessor"]["States"])


def test_every_placeholder_is_filled_and_every_filling_is_used(template: Template) -> None:
    properties = machine(template)
    placeholders = set(re.findall(r"\$\{(\w+)\}", properties["DefinitionString"]))
    assert placeholders == properties["DefinitionSubstitutions"].keys()


def test_the_machine_may_call_exactly_what_it_calls(template: Template) -> None:
    called = {reference["Ref"] for reference in machine(template)["DefinitionSubstitutions"].values()}
    allowed = [each for each in template.statements("SyncMachine") if each["Action"] == "lambda:InvokeFunction"]
    assert {reference["Ref"] for each in allowed for reference in as_list(each["Resource"])} == called


def test_the_machine_may_read_the_list_of_items_and_no_other_object(template: Template) -> None:
    reading = [each for each in template.statements("SyncMachine") if each["Action"] == "s3:GetObject"]
    (prefix,) = [prefix.strip("/*") for each in reading for prefix in objects_under(each)]
    assert items_key("run").startswith(f"{prefix}/")
    assert prefix == "operations/runs"


def test_no_task_gives_up_before_its_function_does(template: Template) -> None:
    properties = machine(template)
    seconds = {
        "${SyncRunArn}": template.function("sync-run")["Timeout"],
        "${SyncStoreArn}": template.function("sync-store")["Timeout"],
    }
    found = list(tasks(json.loads(properties["DefinitionString"])["States"]))
    assert {task["Parameters"]["FunctionName"] for task in found} == seconds.keys()
    for task in found:
        assert task["TimeoutSeconds"] > seconds[task["Parameters"]["FunctionName"]]


def test_executions_are_logged_and_traced_without_what_they_carry(template: Template) -> None:
    properties = machine(template)
    assert properties["LoggingConfiguration"]["Level"] == "ALL"
    assert properties["LoggingConfiguration"]["IncludeExecutionData"] is False
    assert properties["TracingConfiguration"] == {"Enabled": True}


def test_the_webhook_starts_this_machine_and_asks_after_its_executions_only(template: Template) -> None:
    name = machine(template)["StateMachineName"]
    (logical_id,) = template.of("AWS::StepFunctions::StateMachine")
    statements = {
        action: each["Resource"]
        for each in template.statements("Webhook")
        for action in as_list(each["Action"])
        if action.startswith("states:")
    }
    assert statements.keys() == {"states:StartExecution", "states:DescribeExecution"}
    assert statements["states:StartExecution"] == {"Ref": logical_id}
    assert statements["states:DescribeExecution"]["Fn::Join"][1][-1] == f":execution:{name}:*"
