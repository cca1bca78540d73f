"""Secrets whose first value a function makes: at the start, once, and not when a step fails."""

import copy
from pathlib import Path
from typing import Any

import pytest

from commonplace_local.cloud.cloud import Cloud
from commonplace_local.cloud.template import TemplateError

pytestmark = pytest.mark.laptop

STEPS = ["createSecret", "setSecret", "testSecret", "finishSecret"]


@pytest.fixture
def rotated(template: dict[str, Any]) -> dict[str, Any]:
    """The template with a secret that has a schedule, and nothing else that runs."""
    kept = ("AWS::IAM::Role", "AWS::ApiGatewayV2::Api")
    resources = {name: each for name, each in template["Resources"].items() if each["Type"] in kept}
    resources |= {
        "Ring0000000A": {"Type": "AWS::SecretsManager::Secret", "Properties": {"SecretString": "x"}},
        "RotatorFunction0000000B": {
            "Type": "AWS::Lambda::Function",
            "Metadata": {"commonplace:source": "functions/rotator"},
            "Properties": {"FunctionName": "rotator", "Handler": "handler.handler", "Timeout": 10},
        },
        "Schedule0000000C": {
            "Type": "AWS::SecretsManager::RotationSchedule",
            "Properties": {
                "SecretId": {"Ref": "Ring0000000A"},
                "RotationLambdaARN": {"Fn::GetAtt": ["RotatorFunction0000000B", "Arn"]},
                "RotateImmediatelyOnUpdate": True,
                "RotationRules": {"AutomaticallyAfterDays": 30},
            },
        },
    }
    return {"Resources": resources}


def value(cloud: Cloud) -> str:
    return str(cloud.client("secretsmanager").get_secret_value(SecretId=cloud.secret("Ring"))["SecretString"])


def steps(cloud: Cloud) -> list[str]:
    return [line.removeprefix("step ") for line in cloud.function_logs("Rotator").splitlines() if "step " in line]


def test_a_secret_is_rotated_at_the_first_start_and_kept_at_the_next(
    rotated: dict[str, Any], stack: Path, tmp_path: Path
) -> None:
    with Cloud(rotated, stack, tmp_path) as cloud:
        cloud.wait_idle()
        assert (value(cloud), steps(cloud)) == ("xx", STEPS)
    with Cloud(rotated, stack, tmp_path) as cloud:
        cloud.wait_idle()
        assert (value(cloud), steps(cloud)) == ("xx", [])


def test_a_rotation_ends_at_the_step_that_fails(
    rotated: dict[str, Any], stack: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Cloud(rotated, stack, environment={"BREAK_AT": "testSecret"}) as cloud:
        cloud.wait_idle()
        assert (value(cloud), steps(cloud)) == ("x", STEPS[:3])
    assert "could not be rotated: RuntimeError" in caplog.text


def test_a_schedule_may_wait_for_its_day(rotated: dict[str, Any], stack: Path) -> None:
    later = copy.deepcopy(rotated)
    later["Resources"]["Schedule0000000C"]["Properties"]["RotateImmediatelyOnUpdate"] = False
    with Cloud(later, stack) as cloud:
        cloud.wait_idle()
        assert (value(cloud), steps(cloud)) == ("x", [])


def test_a_rotation_by_a_function_of_aws_is_refused(rotated: dict[str, Any], stack: Path) -> None:
    hosted = copy.deepcopy(rotated)
    hosted["Resources"]["Schedule0000000C"]["Properties"]["HostedRotationLambda"] = {"RotationType": "MySQLSingleUser"}
    with pytest.raises(TemplateError, match="HostedRotationLambda"):
        Cloud(hosted, stack).start()
