"""The function that changes signing keys, as deployed, over moto."""

import importlib
import json
import os
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.kernel import aws
from commonplace.kernel.environment import SettingsError
from commonplace.kernel.rotation import RotationRefused
from tests.aws_fixture import create_table
from tests.fakes.lambda_context import CONTEXT

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_secretsmanager import SecretsManagerClient

STEPS = ("createSecret", "setSecret", "testSecret", "finishSecret")
ENVIRONMENT = {
    "STAGE": "dev",
    "IDENTITY_TABLE": "identity",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "123456789012",
    "AWS_SECRET_ACCESS_KEY": "x",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
}


class Deployed:
    """The function with its secret and its table."""

    def __init__(self, handler: Any, secrets: Any, dynamodb: Any, arn: str) -> None:
        self.handler, self._secrets, self._dynamodb, self.arn = handler, secrets, dynamodb, arn

    def rotate(self) -> None:
        """As Secrets Manager does."""
        token = str(uuid.uuid4())
        for step in STEPS:
            self.handler({"Step": step, "SecretId": self.arn, "ClientRequestToken": token}, CONTEXT)

    def kids(self) -> list[str]:
        answer = self._secrets.get_secret_value(SecretId=self.arn, VersionStage="AWSCURRENT")
        return [key["kid"] for key in json.loads(answer["SecretString"])["keys"]]

    def published(self) -> list[str]:
        item = self._dynamodb.get_item(TableName="identity", Key={"pk": {"S": "keys"}, "sk": {"S": "public"}})["Item"]
        return [key["kid"] for key in json.loads(item["jwks"]["S"])["keys"]]


@pytest.fixture
def deployed(
    monkeypatch: pytest.MonkeyPatch, dynamodb: "DynamoDBClient", secrets_client: "SecretsManagerClient"
) -> Iterator[Deployed]:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    aws._session.cache_clear()
    create_table(dynamodb, "identity")
    arn = secrets_client.create_secret(Name="signing", SecretString='{"keys": []}')["ARN"]
    monkeypatch.setenv("SIGNING_SECRET_ARN", arn)
    module = importlib.reload(importlib.import_module("functions.rotate.handler"))
    yield Deployed(module.handler, secrets_client, dynamodb, arn)
    aws._session.cache_clear()


def test_two_rotations_leave_two_keys_of_which_all_are_published(deployed: Deployed) -> None:
    deployed.rotate()
    first = deployed.kids()
    deployed.rotate()
    assert len(first) == 1
    assert deployed.kids()[1:] == first
    assert deployed.published() == deployed.kids()


def test_an_operator_replaces_every_key_at_once(deployed: Deployed) -> None:
    deployed.handler({"source": "commonplace.operator", "atOnce": True}, CONTEXT)
    before = deployed.kids()
    deployed.handler({"source": "commonplace.operator", "atOnce": True}, CONTEXT)
    assert len(deployed.kids()) == 1
    assert deployed.kids() == deployed.published() != before


@pytest.mark.parametrize("event", [{}, {"source": "commonplace.operator"}, {"source": "aws.events", "atOnce": True}])
def test_any_other_event_is_refused(deployed: Deployed, event: dict[str, Any]) -> None:
    with pytest.raises(RotationRefused):
        deployed.handler(event, CONTEXT)
    assert deployed.kids() == []


def test_the_function_does_not_start_without_its_secret(deployed: Deployed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SIGNING_SECRET_ARN")
    with pytest.raises(SettingsError, match="SIGNING_SECRET_ARN"):
        importlib.reload(importlib.import_module("functions.rotate.handler"))
