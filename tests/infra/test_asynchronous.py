"""What is called without anybody waiting for the answer: its failures are set aside, and somebody is told."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.infra.templates import Template, as_list

SYNCHRONOUS = {"apigateway.amazonaws.com", "secretsmanager.amazonaws.com"}
"""Services that wait for the function's answer. Source: the AWS Lambda developer guide; each step of a rotation is a
synchronous call ("Using Lambda with AWS Secrets Manager"), which Secrets Manager makes again."""

STACKS = ["template", "opensearch"]


@pytest.fixture(params=STACKS)
def stack(request: pytest.FixtureRequest) -> Template:
    found: Template = request.getfixturevalue(request.param)
    return found


def called(stack: Template) -> set[tuple[str, str]]:
    """Logical id of each function that is called asynchronously, and the alias that is called."""
    return {qualified(stack, target) for target in targets(stack)}


def targets(stack: Template) -> Iterator[Any]:
    """What rules call, what services may call that wait for no answer, and what CloudFormation itself calls."""
    for rule in stack.properties("AWS::Events::Rule"):
        yield from (target["Arn"] for target in rule["Targets"])
    for permission in stack.properties("AWS::Lambda::Permission"):
        if permission["Principal"] not in SYNCHRONOUS:
            yield permission["FunctionName"]
    for custom in stack.properties("AWS::CloudFormation::CustomResource"):
        yield custom["ServiceToken"]


def qualified(stack: Template, target: Any) -> tuple[str, str]:
    alias = stack.body["Resources"][target["Ref"]]
    assert alias["Type"] == "AWS::Lambda::Alias", "a function is called by its alias"
    return alias["Properties"]["FunctionName"]["Ref"], alias["Properties"]["Name"]


def configured(stack: Template) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (each["Properties"]["FunctionName"]["Ref"], each["Properties"]["Qualifier"]): each
        for each in stack.of("AWS::Lambda::EventInvokeConfig").values()
    }


def queue_of(config: dict[str, Any]) -> str:
    return str(config["Properties"]["DestinationConfig"]["OnFailure"]["Destination"]["Fn::GetAtt"][0])


def test_there_is_something_to_say_of_this(stack: Template) -> None:
    names = {stack.body["Resources"][function]["Properties"]["FunctionName"] for function, _ in called(stack)}
    assert {"commonplace-dev-webhook", "commonplace-dev-index"} <= names
    bootstraps = bool(stack.of("AWS::CloudFormation::CustomResource"))
    assert ("commonplace-dev-bootstrap" in names) == bootstraps


def test_what_is_called_asynchronously_sets_its_failures_aside(stack: Template) -> None:
    found = configured(stack)
    assert found.keys() == called(stack)
    for config in found.values():
        assert stack.body["Resources"][queue_of(config)]["Type"] == "AWS::SQS::Queue"
        assert config["Properties"]["MaximumRetryAttempts"] == 2
        assert config["Properties"]["MaximumEventAgeInSeconds"] == 3_600


def test_an_alarm_watches_every_queue_of_failures_and_those_that_did_not_even_get_there(stack: Template) -> None:
    watched: set[str] = set()
    lost: set[str] = set()
    for alarm in stack.properties("AWS::CloudWatch::Alarm"):
        if alarm.get("MetricName") == "ApproximateNumberOfMessagesVisible" and alarm["Threshold"] == 1:
            watched |= {dimension["Value"]["Fn::GetAtt"][0] for dimension in alarm["Dimensions"]}
        for metric in (each["MetricStat"]["Metric"] for each in alarm.get("Metrics", []) if "MetricStat" in each):
            if metric["MetricName"] == "DestinationDeliveryFailures":
                lost |= {dimension["Value"]["Ref"] for dimension in metric["Dimensions"]}
    assert {queue_of(config) for config in configured(stack).values()} <= watched
    assert {function for function, _ in called(stack)} == lost


def test_a_function_may_send_its_failures_to_that_queue_and_do_nothing_else_with_it(stack: Template) -> None:
    for (function, _), config in configured(stack).items():
        role = stack.body["Resources"][function]["Properties"]["Role"]["Fn::GetAtt"][0]
        queue = {"Fn::GetAtt": [queue_of(config), "Arn"]}
        statements = [each for each in stack.statements(role) if queue in as_list(each["Resource"])]
        assert [(each["Action"], each["Resource"]) for each in statements] == [("sqs:SendMessage", queue)]


def test_the_destination_waits_for_the_alias_and_for_the_right_to_send(stack: Template) -> None:
    """Lambda refuses a destination to which the role may not send yet."""
    for (function, _), config in configured(stack).items():
        needed = {stack.body["Resources"][name]["Type"]: name for name in config["DependsOn"]}
        assert {"AWS::IAM::Policy", "AWS::Lambda::Alias"} <= needed.keys()
        role = stack.body["Resources"][function]["Properties"]["Role"]["Fn::GetAtt"][0]
        (bound,) = stack.body["Resources"][needed["AWS::IAM::Policy"]]["Properties"]["Roles"]
        assert bound == {"Ref": role}


def test_a_call_that_never_reached_its_function_is_set_aside_as_well(stack: Template) -> None:
    for rule in stack.properties("AWS::Events::Rule"):
        for target in rule["Targets"]:
            assert target["DeadLetterConfig"]["Arn"]["Fn::GetAtt"][0] in map(queue_of, configured(stack).values())
