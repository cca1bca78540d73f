import json

import pytest
from botocore.exceptions import EndpointConnectionError

from commonplace.kernel.secrets import FRESH_SECONDS, KEPT_SECONDS
from commonplace.repository.github_secrets import (
    GitHubSecret,
    GitHubSecrets,
    GitHubWriter,
    GitHubWriterSecrets,
    MalformedSecret,
)


class Vault:
    """Secrets Manager, as far as it is asked."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.asked = 0

    def get_secret_value(self, *, SecretId: str, VersionStage: str) -> dict[str, str]:
        assert (SecretId, VersionStage) == ("arn", "AWSCURRENT")
        self.asked += 1
        if not self.texts:
            raise EndpointConnectionError(endpoint_url="https://secretsmanager")
        return {"SecretString": self.texts.pop(0)}


def text(**values: object) -> str:
    return json.dumps({"webhookSecret": "whs"} | values)


def test_a_secret_is_read_once_in_five_minutes() -> None:
    vault, now = Vault(text(token="one"), text(token="two")), [0.0]
    secrets = GitHubSecrets(vault, "arn", monotonic=lambda: now[0])  # type: ignore[arg-type]

    tokens = []
    for now[0] in (0.0, 1.0, FRESH_SECONDS - 0.1, FRESH_SECONDS, FRESH_SECONDS + 1.0):
        tokens.append(secrets.current().token)

    assert tokens == ["one", "one", "one", "two", "two"]
    assert vault.asked == 2


def test_a_secret_serves_for_an_hour_while_another_cannot_be_read() -> None:
    vault, now = Vault(text(token="one"), "in-clear"), [0.0]
    secrets = GitHubSecrets(vault, "arn", monotonic=lambda: now[0])  # type: ignore[arg-type]
    for now[0] in (0.0, FRESH_SECONDS, FRESH_SECONDS + 1.0, KEPT_SECONDS - 1.0):
        assert secrets.current().token == "one"
    assert vault.asked == 3

    now[0] = KEPT_SECONDS
    with pytest.raises(EndpointConnectionError):
        secrets.current()


def test_a_secret_that_is_malformed_from_the_start_says_what_it_must_be() -> None:
    secrets = GitHubSecrets(Vault("in-clear"), "arn")  # type: ignore[arg-type]
    for _ in range(2):
        with pytest.raises(MalformedSecret, match='a JSON object with "webhookSecret"'):
            secrets.current()


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ({}, GitHubSecret("whs")),
        ({"token": ""}, GitHubSecret("whs")),
        ({"token": None}, GitHubSecret("whs")),
        ({"token": "t", "other": 1}, GitHubSecret("whs", token="t")),
        (
            {"appId": 42, "installationId": 77, "privateKey": "pem\n"},
            GitHubSecret("whs", app_id="42", installation_id="77", private_key="pem"),
        ),
    ],
)
def test_both_kinds_of_credentials_are_read(values: dict[str, object], wanted: GitHubSecret) -> None:
    assert GitHubSecret.from_json(text(**values)) == wanted


@pytest.mark.parametrize(
    "malformed",
    [
        "",
        "whs-in-clear",
        "[]",
        "{}",
        '{"webhookSecret": ""}',
        '{"webhookSecret": {"a": 1}}',
        '{"webhookSecret": "whs-in-clear", "appId": 42}',
        '{"webhookSecret": "whs-in-clear", "appId": 42, "installationId": 7, "privateKey": ""}',
    ],
)
def test_a_malformed_secret_says_what_it_must_be_and_quotes_nothing(malformed: str) -> None:
    with pytest.raises(MalformedSecret, match='a JSON object with "webhookSecret"') as caught:
        GitHubSecret.from_json(malformed)
    assert "whs-in-clear" not in str(caught.value)


def test_a_secret_never_shows() -> None:
    secret = GitHubSecret("whs", "token", "app", "installation", "key")

    assert repr(secret) == str(secret) == "GitHubSecret()"


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ({"token": "t"}, GitHubWriter("t")),
        ({"token": ""}, GitHubWriter()),
        ({"token": "t", "webhookSecret": "whs"}, GitHubWriter("t")),
        (
            {"appId": 42, "installationId": "77", "privateKey": "pem"},
            GitHubWriter(app_id="42", installation_id="77", private_key="pem"),
        ),
    ],
)
def test_a_writers_secret_needs_no_webhook(values: dict[str, object], wanted: GitHubWriter) -> None:
    vault = Vault(json.dumps(values))
    assert GitHubWriterSecrets(vault, "arn").current() == wanted  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "malformed", ["", "token-in-clear", "[]", "{}", '{"webhookSecret": "whs"}', '{"appId": 1, "privateKey": "pem"}']
)
def test_a_malformed_writers_secret_says_what_it_must_be_and_quotes_nothing(malformed: str) -> None:
    with pytest.raises(MalformedSecret, match='a JSON object with "token"') as caught:
        GitHubWriter.from_json(malformed)
    assert "in-clear" not in str(caught.value)


def test_a_writers_secret_never_shows() -> None:
    assert repr(GitHubWriter("token", "app", "installation", "key")) == "GitHubWriter()"


def test_the_webhooks_secret_is_not_satisfied_with_a_writers() -> None:
    with pytest.raises(MalformedSecret):
        GitHubSecret.from_json('{"token": "t"}')
