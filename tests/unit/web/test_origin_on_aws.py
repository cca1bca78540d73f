"""The rotation and the functions' reading over the real clients: every call is one that the services take (by moto)."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from commonplace.kernel.rotation import Rotation
from commonplace.web.origin import ORIGIN_HEADER, OriginValues
from commonplace.web.origin_rotation import Door, OriginRotation, RotationFailed


class Account:
    """A secret as the stack makes it, and a distribution that sends its value."""

    def __init__(self) -> None:
        session: Any = boto3.session.Session("example", "example", region_name="us-east-1")
        self.vault, self.cloudfront = session.client("secretsmanager"), session.client("cloudfront")
        secret = self.vault.create_secret(Name="commonplace/dev/origin", SecretString='{"value": "first"}')
        self.arn = secret["ARN"]
        made = self.cloudfront.create_distribution(DistributionConfig=config("first"))["Distribution"]
        self.distribution = made["Id"]
        door = Door(self.cloudfront, self.distribution, ORIGIN_HEADER)
        self.rotation = Rotation(self.vault, self.arn, OriginRotation(door, seconds=300, sleep=lambda _: None))

    @property
    def sent(self) -> str:
        told = self.cloudfront.get_distribution_config(Id=self.distribution)["DistributionConfig"]
        return str(told["Origins"]["Items"][0]["CustomHeaders"]["Items"][0]["HeaderValue"])

    def step(self, name: str, token: str) -> None:
        self.rotation.step({"Step": name, "SecretId": self.arn, "ClientRequestToken": token})

    def functions(self) -> OriginValues:
        return OriginValues(lambda: self.vault, self.arn)


def config(value: str) -> dict[str, Any]:
    header = {"HeaderName": ORIGIN_HEADER, "HeaderValue": value}
    origin = {
        "Id": "api",
        "DomainName": "abc.execute-api.eu-central-1.amazonaws.com",
        "CustomHeaders": {"Quantity": 1, "Items": [header]},
        "CustomOriginConfig": {"HTTPPort": 80, "HTTPSPort": 443, "OriginProtocolPolicy": "https-only"},
    }
    return {
        "CallerReference": "one",
        "Comment": "kept",
        "Enabled": True,
        "Origins": {"Quantity": 1, "Items": [origin]},
        "DefaultCacheBehavior": {"TargetOriginId": "api", "ViewerProtocolPolicy": "redirect-to-https"},
    }


@pytest.fixture
def account() -> Iterator[Account]:
    with mock_aws():
        yield Account()


def test_the_distribution_is_written_and_read_as_cloudfront_has_it(account: Account) -> None:
    door = Door(account.cloudfront, account.distribution, ORIGIN_HEADER)
    door.send("second")
    assert account.sent == "second"
    assert [door.sends("second") for _ in range(5)][-1] is True
    with pytest.raises(RotationFailed):
        door.sends("first")
    told = account.cloudfront.get_distribution_config(Id=account.distribution)["DistributionConfig"]
    assert (told["Comment"], told["CallerReference"]) == ("kept", "one")


def test_functions_read_current_pending_and_previous_versions_as_secrets_manager_has_them(account: Account) -> None:
    assert account.functions()("first")
    assert not account.functions()("second")
    account.vault.put_secret_value(SecretId=account.arn, SecretString='{"value": "second", "next": "third"}')
    assert [account.functions()(value) for value in ("second", "third", "first", "fourth")] == [True, True, True, False]


def test_the_secret_that_rotates_goes_through_its_four_steps(account: Account) -> None:
    account.vault.put_secret_value(SecretId=account.arn, SecretString='{"value": "first", "next": "second"}')
    token = "7c0fe0e8-0000-4000-8000-000000000001"
    pending = '{"value": "second", "next": "third"}'
    account.vault.put_secret_value(
        SecretId=account.arn, ClientRequestToken=token, SecretString=pending, VersionStages=["AWSPENDING"]
    )
    for step in ("createSecret", "setSecret", "testSecret", "finishSecret"):
        account.step(step, token)
        assert account.functions()(account.sent)
    assert account.sent == "second"
    assert account.vault.get_secret_value(SecretId=account.arn, VersionStage="AWSCURRENT")["SecretString"] == pending
    account.step("setSecret", token)  # comes once more, and finds everything done
