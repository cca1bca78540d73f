"""The authorization server as deployed, over moto: what it loads, what it wires, what it refuses to start with."""

import importlib
import json
import logging
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet

from commonplace.identity import keyring
from commonplace.identity.accounts import Profile
from commonplace.identity.oauth.authorization_request import understand
from commonplace.kernel import aws
from commonplace.kernel.environment import SettingsError
from tests.aws_fixture import TABLE, create_table
from tests.fakes.lambda_context import CONTEXT
from tests.unit.identity.oauth.world import (
    ALICE,
    BASE,
    FORM,
    MCP,
    REDIRECT,
    VERIFIER,
    Answer,
    answered,
    challenge,
    payload,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_secretsmanager import SecretsManagerClient

ROOT = Path(__file__).parents[3]
ENVIRONMENT = {
    "STAGE": "dev",
    "BASE_URL": BASE,
    "IDENTITY_TABLE": "identity",
    "ROLE_CACHE_TABLE": "cache",
    "ACTIVITY_TABLE": TABLE,
    "IDENTITY_SECRET_ARN": "arn:aws:secretsmanager:us-east-1:123456789012:secret:identity-AbCdEf",
    "RPC_SECRET_ARN": "arn:aws:secretsmanager:us-east-1:123456789012:secret:rpc-AbCdEf",
    "SIGNING_SECRET_ARN": "arn:aws:secretsmanager:us-east-1:123456789012:secret:signing-AbCdEf",
    "ROLE_MAP": json.dumps({"hats": {}, "addresses": {ALICE: {"tier": "member"}}}),
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "123456789012",
    "AWS_SECRET_ACCESS_KEY": "x",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
}
HEAVY = (
    *("boto3", "botocore", "cryptography", "joserfc", "jinja2", "httpx", "requests", "aiohttp", "urllib3"),
    *("web3", "siwe", "ens", "eth_abi", "eth_account", "eth_utils", "coincurve", "fastapi", "mcp", "numpy", "moto"),
)
"""The bare package `botocore`, without anything in it, is Powertools' and half a millisecond."""
WALLETS = ("web3", "siwe", "ens", "eth_account", "coincurve", "jinja2", "httpx", "aiohttp")
"""What the token endpoint has no use for."""

Load = Callable[..., ModuleType]


@pytest.fixture
def load(
    monkeypatch: pytest.MonkeyPatch, dynamodb: "DynamoDBClient", secrets_client: "SecretsManagerClient"
) -> Iterator[Load]:
    """The handler, built anew from the environment as in a new process."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "MCP_", "OIDC_"))]:
        monkeypatch.delenv(name)
    levels = {name: logging.getLogger(name).level for name in ("commonplace", "mangum")}

    def built(**more: str) -> ModuleType:
        for name, value in (ENVIRONMENT | more).items():
            monkeypatch.setenv(name, value)
        sys.modules.pop("functions.auth.handler", None)
        return importlib.import_module("functions.auth.handler")

    for table in ("identity", "cache"):
        create_table(dynamodb, table)
    ring = keyring.as_json(keyring.next_ring((), int(time.time()) - 60))
    for name, value in (("identity", '{"key": "%s"}' % ("k" * 64)), ("rpc", "{}"), ("signing", ring)):
        arn = secrets_client.create_secret(Name=name, SecretString=value)["ARN"]
        monkeypatch.setitem(ENVIRONMENT, f"{name.upper()}_SECRET_ARN", arn)
    aws._session.cache_clear()
    yield built
    sys.modules.pop("functions.auth.handler", None)
    aws._session.cache_clear()
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


def ask(function: ModuleType, method: str, path: str, body: str | None = None, **more: Any) -> Answer:
    return answered(function.handler(payload(method, path, body, **more), CONTEXT))


def post(function: ModuleType, path: str, form: dict[str, str]) -> Answer:
    return ask(function, "POST", path, urlencode(form), headers={"content-type": FORM})


def registered(function: ModuleType) -> str:
    body = json.dumps({"redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none", "client_name": "App"})
    answer = ask(function, "POST", "/register", body, headers={"content-type": "application/json"})
    assert answer.status == 201, answer.body
    return str(answer.json()["client_id"])


def query(client: str) -> dict[str, str]:
    return {
        "client_id": client,
        "redirect_uri": REDIRECT,
        "response_type": "code",
        "code_challenge": challenge(),
        "code_challenge_method": "S256",
        "resource": MCP,
        "scope": "knowledge:read knowledge:write",
        "state": "st",
    }


def allowed(function: ModuleType, client: str) -> str:
    """The code that Alice lets the client have."""
    services = function.SERVICES
    asked = understand([*query(client).items()], services.clients, services.resources, issuer=BASE)
    begun = services.consents.begin(asked.request)
    url = services.consents.decide(
        begun.handle,
        begun.cookie,
        begun.csrf,
        profile=Profile(subject=ALICE, kind="wallet", address=ALICE),
        standing=services.standings.of(ALICE),
        allowed=asked.request.scopes,
    )
    return str(parse_qs(urlsplit(url).query)["code"][0])


def loaded_after(program: str) -> set[str]:
    """Names of packages that a new process has loaded once it has run this."""
    arn = "arn:aws:secretsmanager:us-east-1:123456789012:secret:x-AbCdEf"
    variables = ENVIRONMENT | {f"{name}_SECRET_ARN": arn for name in ("IDENTITY", "RPC", "SIGNING")}
    whole = (
        f"import sys, os, json; sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'layers' / 'core')!r}]\n"
        f"os.environ.update({variables!r})\n"
        f"{program}\n"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules if name != 'botocore'})))"
    )
    told = subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True, check=True, timeout=60)
    return set(json.loads(told.stdout.splitlines()[-1]))


def test_a_start_loads_nothing_that_a_request_may_not_need() -> None:
    loaded = loaded_after("import functions.auth.handler")
    assert "starlette" in loaded
    assert sorted(loaded.intersection(HEAVY)) == []


def test_a_token_is_given_without_what_wallets_and_pages_need() -> None:
    program = """
import time
import boto3
from moto import mock_aws
import tests.unit.functions.test_auth as own
with mock_aws():
    session = boto3.session.Session("123456789012", "x", region_name="us-east-1")
    dynamodb = session.client("dynamodb")
    for table in ("identity", "activity", "cache"):
        own.create_table(dynamodb, table)
    secrets = session.client("secretsmanager")
    ring = own.keyring.as_json(own.keyring.next_ring((), int(time.time()) - 60))
    for name, value in (("identity", '{"key": "%s"}' % ("k" * 64)), ("rpc", "{}"), ("signing", ring)):
        os.environ[name.upper() + "_SECRET_ARN"] = secrets.create_secret(Name=name, SecretString=value)["ARN"]
    from functions.auth import handler
    client = own.registered(handler)
    form = {"grant_type": "authorization_code", "client_id": client, "code": own.allowed(handler, client)}
    form |= {"redirect_uri": own.REDIRECT, "code_verifier": own.VERIFIER}
    answer = own.post(handler, "/token", form)
    assert answer.status == 200, answer.body
    again = {"grant_type": "refresh_token", "client_id": client, "refresh_token": answer.json()["refresh_token"]}
    assert own.post(handler, "/token", again).status == 200
assert "commonplace.identity.store.grants" in sys.modules
"""
    assert sorted(loaded_after(program).intersection(WALLETS)) == []


def test_a_client_goes_the_whole_way_over_the_tables(load: Load) -> None:
    function = load()
    client = registered(function)
    form = {"grant_type": "authorization_code", "client_id": client, "code": allowed(function, client)}
    form |= {"redirect_uri": REDIRECT, "code_verifier": VERIFIER}
    first = post(function, "/token", form)
    assert first.status == 200, first.body
    keys = KeySet.import_key_set(ask(function, "GET", "/.well-known/jwks.json").json())
    claims = jwt.decode(first.json()["access_token"], keys, algorithms=["ES256"]).claims
    assert (claims["aud"], claims["sub"], claims["tier"], claims["org"]) == (MCP, ALICE, "member", "default")
    refresh = {"grant_type": "refresh_token", "client_id": client}
    second = post(function, "/token", refresh | {"refresh_token": first.json()["refresh_token"]})
    assert second.status == 200, second.body
    ended = post(function, "/revoke", {"client_id": client, "token": second.json()["refresh_token"]})
    assert ended.status == 200
    over = post(function, "/token", refresh | {"refresh_token": second.json()["refresh_token"]})
    assert (over.status, over.json()["error"]) == (400, "invalid_grant")
    events = {record.event for record in function.SERVICES.audit.read("default")}
    assert {"grant", "refresh", "revoke"} <= events


def test_l1_the_tables_hold_no_secret_that_could_be_used(load: Load) -> None:
    function = load()
    client = registered(function)
    code = allowed(function, client)
    form = {"grant_type": "authorization_code", "client_id": client, "code": code}
    tokens = post(function, "/token", form | {"redirect_uri": REDIRECT, "code_verifier": VERIFIER}).json()
    dump = json.dumps([aws.dynamodb().scan(TableName=name)["Items"] for name in ("identity", "cache")], default=str)
    for one in (code, tokens["access_token"], tokens["refresh_token"], ALICE, ALICE.lower(), ALICE[2:]):
        assert one not in dump


def test_somebody_who_is_asked_to_sign_in_gets_a_page(load: Load) -> None:
    function = load()
    answer = ask(function, "GET", "/authorize", query=urlencode(query(registered(function))))
    assert answer.status == 200, answer.body
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["cache-control"] == "no-store"
    assert not [name for name in answer.headers if name.startswith("access-control")]
    for path in re.findall(r'(?:src|href)="(/auth/assets/[^"]+)"', answer.body):
        assert ask(function, "GET", path).status == 200


def test_metadata_needs_no_table_and_no_secret(load: Load) -> None:
    gone = "arn:aws:secretsmanager:us-east-1:123456789012:secret:none-AbCdEf"
    function = load(IDENTITY_TABLE="nowhere", ACTIVITY_TABLE="nowhere", SIGNING_SECRET_ARN=gone)
    assert ask(function, "GET", "/.well-known/oauth-authorization-server").status == 200
    keys = ask(function, "GET", "/.well-known/jwks.json")
    assert (keys.status, keys.json()["error"]) == (503, "temporarily_unavailable")
    assert int(keys.headers["retry-after"]) > 0


def test_when_the_table_is_away_a_client_is_told_to_come_back(load: Load) -> None:
    function = load(IDENTITY_TABLE="nowhere")
    answer = post(function, "/token", {"grant_type": "refresh_token", "client_id": "a", "refresh_token": "b"})
    assert (answer.status, answer.json()["error"]) == (503, "temporarily_unavailable")
    assert int(answer.headers["retry-after"]) > 0
    assert "nowhere" not in answer.body


def test_requests_are_counted_in_the_table_without_keeping_addresses(load: Load) -> None:
    registered(load())
    items = aws.dynamodb().scan(TableName="activity")["Items"]
    counted = [item["pk"]["S"] for item in items if "auth-register" in json.dumps(item, default=str)]
    assert len(counted) == 1
    assert "192.0.2.1" not in json.dumps([item for item in items if item["pk"]["S"] in counted], default=str)


def test_a_provider_that_signs_people_in_is_there_when_it_is_configured(load: Load) -> None:
    assert load().SERVICES.oidc is None
    function = load(OIDC_ISSUER="https://login.example.net", OIDC_CLIENT_ID="commonplace", OIDC_NAME="The guild")
    assert function.SERVICES.oidc.name == "The guild"


def test_documents_of_this_machine_are_for_laptops_alone(load: Load) -> None:
    assert load(CIMD_LOOPBACK="true", AWS_ENDPOINT_URL="http://127.0.0.1:9").SERVICES.settings.loopback_documents
    with pytest.raises(SettingsError, match="CIMD_LOOPBACK"):
        load(CIMD_LOOPBACK="true", AWS_ENDPOINT_URL="https://dynamodb.us-east-1.amazonaws.com")


def test_local_accounts_are_for_laptops_alone(load: Load) -> None:
    assert load().SERVICES.local is None
    accounts = {"LOCAL_ACCOUNTS": "Ada=member", "BASE_URL": "http://127.0.0.1:8787"}
    local = load(**accounts, AWS_ENDPOINT_URL="http://127.0.0.1:9").SERVICES.local
    assert [account.name for account in local.accounts] == ["Ada"]
    with pytest.raises(SettingsError, match="LOCAL_ACCOUNTS"):
        load(**accounts, AWS_ENDPOINT_URL="https://dynamodb.us-east-1.amazonaws.com")


@pytest.mark.parametrize("name", ["BASE_URL", "IDENTITY_TABLE", "SIGNING_SECRET_ARN", "ACTIVITY_TABLE", "STAGE"])
def test_a_deployment_that_is_told_too_little_does_not_start(load: Load, name: str) -> None:
    with pytest.raises(SettingsError, match=rf"^{name} is not set\."):
        load(**{name: ""})


def test_an_event_that_keeps_the_function_warm_is_answered(load: Load) -> None:
    assert load().handler({"source": "aws.events"}, CONTEXT) == {"ok": True}
