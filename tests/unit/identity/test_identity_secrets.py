"""Secrets of identity over moto's Secrets Manager: kept, read again, relied on for a while when they cannot be."""

import json
import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from moto import mock_aws

from commonplace.identity import keyring
from commonplace.identity.secret_values import (
    KeptSecret,
    SecretSigningKeys,
    client_secret,
    pseudonym_key,
    rpc_urls,
)
from commonplace.kernel.errors import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

NOW = 1_800_000_000
KEY = "k" * 64


class Time:
    """Passes when it is told to."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def secrets(monkeypatch: pytest.MonkeyPatch) -> Iterator["SecretsManagerClient"]:
    with mock_aws():
        yield boto3.client("secretsmanager", "us-east-1", aws_access_key_id="x", aws_secret_access_key="x")


def stored(client: "SecretsManagerClient", value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return client.create_secret(Name="identity", SecretString=text)["ARN"]


def test_secret_is_read_once_and_again_after_five_minutes(secrets: "SecretsManagerClient") -> None:
    time = Time()
    arn = stored(secrets, {"key": KEY})
    key = KeptSecret(secrets, arn, pseudonym_key, monotonic=time)
    assert key.current() == KEY.encode()
    secrets.put_secret_value(SecretId=arn, SecretString=json.dumps({"key": "n" * 64}))
    time.seconds += 299
    assert key.current() == KEY.encode()
    time.seconds += 1
    assert key.current() == b"n" * 64


def test_secret_that_cannot_be_read_again_serves_for_an_hour(secrets: "SecretsManagerClient") -> None:
    time = Time()
    arn = stored(secrets, {"key": KEY})
    key = KeptSecret(secrets, arn, pseudonym_key, monotonic=time)
    key.current()
    secrets.delete_secret(SecretId=arn, ForceDeleteWithoutRecovery=True)
    time.seconds += 3_599
    assert key.current() == KEY.encode()
    time.seconds += 1
    with pytest.raises(Unavailable):
        key.current()


def test_failed_attempt_is_not_repeated_at_once(secrets: "SecretsManagerClient") -> None:
    time = Time()
    arn = "arn:aws:secretsmanager:us-east-1:123456789012:secret:identity"
    key = KeptSecret(secrets, arn, pseudonym_key, monotonic=time)
    with pytest.raises(Unavailable) as caught:
        key.current()
    assert caught.value.retry_after_seconds == 30
    secrets.create_secret(Name="identity", SecretString=json.dumps({"key": KEY}))
    with pytest.raises(Unavailable):
        key.current()


@pytest.mark.parametrize("value", ["", "nonsense", [], {}, {"key": "sh0rt"}, {"key": 7}])
def test_what_is_no_key_is_refused_and_not_quoted(
    secrets: "SecretsManagerClient", value: Any, caplog: pytest.LogCaptureFixture
) -> None:
    arn = stored(secrets, value) if value != "" else "arn:aws:secretsmanager:us-east-1:123456789012:secret:none"
    with caplog.at_level(logging.DEBUG, "commonplace"), pytest.raises(Unavailable):
        KeptSecret(secrets, arn, pseudonym_key).current()
    assert "sh0rt" not in caplog.text + str([record.__dict__ for record in caplog.records])


def test_nodes_are_told_by_chain_and_a_chain_may_have_none(secrets: "SecretsManagerClient") -> None:
    given = {"optimism": ["https://a.example/k", "https://b.example"], "mainnet": []}
    urls = KeptSecret(secrets, stored(secrets, given), rpc_urls).current()
    assert urls["optimism"] == ("https://a.example/k", "https://b.example")
    assert urls["mainnet"] == ()


@pytest.mark.parametrize("value", [{"optimism": "https://a.example"}, {"optimism": [7]}])
def test_what_is_no_list_of_nodes_is_refused(secrets: "SecretsManagerClient", value: Any) -> None:
    with pytest.raises(Unavailable):
        KeptSecret(secrets, stored(secrets, value), rpc_urls).current()


def test_client_secret_is_a_text(secrets: "SecretsManagerClient") -> None:
    assert KeptSecret(secrets, stored(secrets, {"clientSecret": "s"}), client_secret).current() == "s"


def test_empty_client_secret_is_none(secrets: "SecretsManagerClient") -> None:
    with pytest.raises(Unavailable):
        KeptSecret(secrets, stored(secrets, {"clientSecret": ""}), client_secret).current()


def test_newest_key_signs_and_every_valid_one_is_published(secrets: "SecretsManagerClient") -> None:
    ring = keyring.next_ring(keyring.next_ring((), NOW - 86_400), NOW)
    keys = SecretSigningKeys(secrets, stored(secrets, keyring.as_json(ring)))
    assert keys.signing(NOW).kid == ring[1].kid
    assert keys.signing(NOW + keyring.LEAD_SECONDS).kid == ring[0].kid
    assert [key["kid"] for key in keys.published(NOW)] == [ring[0].kid, ring[1].kid]


def test_empty_ring_signs_nothing(secrets: "SecretsManagerClient") -> None:
    keys = SecretSigningKeys(secrets, stored(secrets, '{"keys": []}'))
    assert keys.published(NOW) == ()
    with pytest.raises(Unavailable):
        keys.signing(NOW)
