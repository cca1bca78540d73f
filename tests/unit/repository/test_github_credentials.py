from datetime import timedelta

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey

from commonplace.repository.github_credentials import SecretCredentials
from commonplace.repository.github_secrets import GitHubSecret, MalformedSecret
from commonplace.repository.ports import RepositoryRefused, RepositoryUnavailable
from tests.unit.repository.github_answers import NOW, GitHub, answer, refuse

TOKENS = "POST /app/installations/77/access_tokens"


@pytest.fixture(scope="module")
def key() -> RSAKey:
    return RSAKey.generate_key(2048)


@pytest.fixture
def secret(key: RSAKey) -> GitHubSecret:
    return GitHubSecret("s", app_id="42", installation_id="77", private_key=key.as_pem(private=True).decode())


@pytest.fixture
def github() -> GitHub:
    github = GitHub()
    given = iter(range(1, 100))

    def token(_: httpx.Request) -> httpx.Response:
        expires = github.now + timedelta(hours=1)
        return answer({"token": f"ghs_{next(given)}", "expires_at": f"{expires:%Y-%m-%dT%H:%M:%SZ}"}, 201)

    github.on(TOKENS, token)
    return github


def test_an_app_signs_itself_in_and_gets_a_token(github: GitHub, secret: GitHubSecret, key: RSAKey) -> None:
    assert SecretCredentials(lambda: secret).authorization(github.client()) == "Bearer ghs_1"
    claim = github.requests[0].headers["authorization"].removeprefix("Bearer ")
    decoded = jwt.decode(claim, key, algorithms=["RS256"])
    assert decoded.header["alg"] == "RS256"
    assert decoded.claims["iss"] == "42"
    assert decoded.claims["iat"] <= NOW.timestamp() < decoded.claims["exp"] <= NOW.timestamp() + 600


def test_the_token_is_kept_until_five_minutes_before_its_end(github: GitHub, secret: GitHubSecret) -> None:
    credentials, client = SecretCredentials(lambda: secret), github.client()

    def after(minutes: int) -> str | None:
        github.now = NOW + timedelta(minutes=minutes)
        return credentials.authorization(client)

    assert [after(0), after(54), after(55), after(56)] == [
        "Bearer ghs_1",
        "Bearer ghs_1",
        "Bearer ghs_2",
        "Bearer ghs_2",
    ]
    assert client.calls == 2


def test_a_rotated_secret_is_taken_up(github: GitHub, secret: GitHubSecret) -> None:
    current = [GitHubSecret("s", token="ghp_old")]
    credentials, client = SecretCredentials(lambda: current[-1]), github.client()
    assert credentials.authorization(client) == "Bearer ghp_old"
    current.append(secret)
    assert credentials.authorization(client) == "Bearer ghs_1"
    current.append(GitHubSecret("s"))
    assert credentials.authorization(client) is None


@pytest.mark.parametrize("body", [{}, {"token": "x"}, {"token": "x", "expires_at": "soon"}, [], "text"])
def test_an_answer_without_a_token_is_asked_for_again(github: GitHub, secret: GitHubSecret, body: object) -> None:
    github.on(TOKENS, answer(body, 201))
    with pytest.raises(RepositoryUnavailable):
        SecretCredentials(lambda: secret).authorization(github.client())


def test_an_app_that_is_not_installed_is_refused(github: GitHub, secret: GitHubSecret) -> None:
    github.on(TOKENS, refuse(404, "Not Found"))
    with pytest.raises(RepositoryRefused):
        SecretCredentials(lambda: secret).authorization(github.client())


def test_a_key_that_is_none_is_named_and_not_quoted(github: GitHub) -> None:
    secret = GitHubSecret("s", app_id="42", installation_id="77", private_key="not a key")
    with pytest.raises(MalformedSecret, match="privateKey must be an RSA key") as caught:
        SecretCredentials(lambda: secret).authorization(github.client())
    assert "not a key" not in str(caught.value)
