"""A walk over every route of every function of a private deployment: no answer to a stranger holds a canary.

The routes are those of the applications that the handlers compose, so a route that is added is walked too.
"""

import importlib
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from fastapi.routing import iter_route_contexts
from starlette.routing import Route, Router
from starlette.types import ASGIApp

from commonplace.identity import keyring
from commonplace.identity.accounts import Profile
from commonplace.identity.bearer_auth import TokenPrincipals
from commonplace.identity.principals import CATALOGUE, Principal, Tier
from commonplace.identity.sessions import Visitor, Visitors
from commonplace.kernel import aws
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.limits import Allowance, Limiter, Quota
from commonplace.kernel.s3 import S3ObjectStore
from commonplace.web import gateway, stack
from tests.aws_fixture import BUCKET, TABLE, create_table
from tests.canaries import Canaries
from tests.fakes.access_tokens import ROSA
from tests.fakes.lambda_context import CONTEXT
from tests.fakes.library import FakeLibrary, make
from tests.unit.documents.rest.events import payload_2

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_secretsmanager import SecretsManagerClient

ROOT = Path(__file__).parents[3]
TEMPLATE = ROOT / "packages" / "commonplace_local" / "template.json"
BASE = "https://kb.example.org"
HTML = "text/html,application/xhtml+xml"
COMMIT = "c0ffee5eedc0ffee5eedc0ffee5eedc0ffee5eed"
REPOSITORY = "zanzibarite/quagmirelore"
TITLE, ID, TYPE, GROUP, TAG, ASSET = (
    "Xanthippian Ledger",
    "wobblefern",
    "tangleroot",
    "mirkwhistle",
    "grumblesprout",
    "snorkwhale",
)
CANARIES = Canaries({COMMIT, COMMIT[:7], *REPOSITORY.split("/"), TITLE, ID, TYPE, GROUP, TAG, ASSET})
NEAR = f"{ID[:-1]}m"
"""A name that is not there, for which "Did you mean" names the one that is."""

METHODS = ("HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW")
STRANGERS: tuple[Mapping[str, str], ...] = (
    {"accept": "*/*"},
    {"accept": HTML},
    {"accept": HTML, "authorization": "Bearer nobody", "cookie": "__Host-session=nobody", "if-none-match": "*"},
    {"origin": "https://elsewhere.example", "range": "bytes=0-9", "x-forwarded-host": "elsewhere.example"},
)
CALLS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}),
    ("server/discover", {}),
    *((f"{kind}/list", {}) for kind in ("tools", "prompts", "resources", "resources/templates")),
    ("tools/call", {"name": "search_knowledge", "arguments": {"query": NEAR}}),
    ("resources/read", {"uri": f"knowledge://{TYPE[:-1]}/{NEAR}"}),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "x", "value": NEAR[:3]}}),
    ("ping", {}),
)


class Deployment:
    """The functions that a gateway calls, composed from one environment, and the application of each."""

    def __init__(self) -> None:
        self.modules: dict[str, ModuleType] = {}
        self.apps: dict[str, ASGIApp] = {}

    def ask(self, name: str, method: str, path: str, body: str | None = None, **headers: str) -> dict[str, Any]:
        event = payload_2(path, method=method, **headers) | {"body": body}
        answer: dict[str, Any] = self.modules[name].handler(event, CONTEXT)
        return answer

    def walk(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every path of every route, by every method and stranger: what was asked, and the answer."""
        for name, app in self.apps.items():
            for path in sorted({filled for route in routes(app) for filled in paths(route)} | {f"/assets/{NEAR}"}):
                asked = [*(("GET", one) for one in STRANGERS), *((method, STRANGERS[0]) for method in METHODS)]
                for method, stranger in asked:
                    yield f"{name}: {method} {path} {stranger}", self.ask(name, method, path, **stranger)
        for path in ("/mcp", "/mcp/knowledge", "/mcp/all", f"/mcp/{NEAR}"):
            for called, params in CALLS:
                message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": called, "params": params})
                sent = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
                yield f"mcp: {called} {path}", self.ask("mcp", "POST", path, message, **sent)
        for body in ("", "{}", json.dumps({"repository": {"full_name": "x/y"}, "ref": "refs/heads/main"})):
            for event in ("push", "ping"):
                signed = {"x-github-event": event, "x-hub-signature-256": "sha256=0"}
                yield f"webhook: {event} {body}", self.ask("webhook", "POST", "/webhooks/github", body, **signed)


def routes(app: Any) -> set[str]:
    """The path of every route, those of routers that FastAPI includes among them."""
    found = {context.path for context in iter_route_contexts(app.routes) if context.path is not None}
    assert len(found) >= len({route.path for route in app.routes if isinstance(route, Route)})
    return found


def paths(path: str) -> Iterator[str]:
    """The path with names that are nearly those of what is published, itself and below."""
    kinds = {"content_type": TYPE[:-1], "contentType": TYPE[:-1], "type": TYPE[:-1]}
    filled = re.sub(r"\{(\w+)[^}]*\}", lambda found: kinds.get(found[1], NEAR), path)
    yield from (filled or "/", f"{filled.rstrip('/')}/{NEAR}")


@pytest.fixture
def deployment(
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    s3: "S3Client",
    dynamodb: "DynamoDBClient",
    secrets_client: "SecretsManagerClient",
) -> Iterator[Deployment]:
    """For members, or for the tier that is the fixture's parameter."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "MCP_", "OIDC_"))]:
        monkeypatch.delenv(name)
    for table in ("identity", "cache", "records"):
        create_table(dynamodb, table)
    secrets = {
        "IDENTITY": '{"key": "%s"}' % ("k" * 64),
        "RPC": "{}",
        "SIGNING": keyring.as_json(keyring.next_ring((), 1_700_000_000)),
        "GITHUB": '{"webhookSecret": "a secret of the webhook", "token": ""}',
    }
    arns = {
        f"{name}_SECRET_ARN": secrets_client.create_secret(Name=name.lower(), SecretString=value)["ARN"]
        for name, value in secrets.items()
    }
    environment = arns | {
        "STAGE": "dev",
        "BASE_URL": BASE,
        "SITE_TIER": getattr(request, "param", "member"),
        "CONTENT_BUCKET": BUCKET,
        "ACTIVITY_TABLE": TABLE,
        "IDENTITY_TABLE": "identity",
        "ROLE_CACHE_TABLE": "cache",
        "CACHE_TABLE": "cache",
        "RECORDS_TABLE": "records",
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_BRANCH": "main",
        "SYNC_MACHINE_ARN": "arn:aws:states:us-east-1:123456789012:stateMachine:commonplace-dev-sync",
        "WEBHOOK_FUNCTION": "arn:aws:lambda:us-east-1:123456789012:function:commonplace-dev-webhook",
        "INDEX_LOCATION": "file:///nowhere/index.sqlite",
        "CHAT_MODEL": "none",
        "RATE_LIMIT_READS": "0",
        "RATE_LIMIT_SEARCHES": "0",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "123456789012",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    library = FakeLibrary()
    library.attach(f"{ASSET}.png", "image/png", b"\x89PNG\r\n\x1a\n")
    path = f"data/{TYPE}/{ID}.md"
    source = f"https://github.com/{REPOSITORY}/blob/{COMMIT}/{path}"
    written = make(TYPE, ID, path, title=TITLE, group=GROUP, tags=[TAG], commit_sha=COMMIT, source_url=source)
    library.publish([written], repository=REPOSITORY, commit_sha=COMMIT)
    for key, stored in library.objects.items():
        s3.put_object(Bucket=BUCKET, Key=key, Body=stored.body)
    aws._session.cache_clear()
    made = Deployment()

    class Recorded(gateway.StreamingGateway):
        def __init__(self, app: ASGIApp, **options: Any) -> None:
            super().__init__(app, **options)
            made.apps[loading] = app

    for each in ("Gateway", "StreamingGateway"):
        monkeypatch.setattr(gateway, each, Recorded)
    for loading in called_by_the_gateway():
        sys.modules.pop(f"functions.{loading}.handler", None)
        made.modules[loading] = importlib.import_module(f"functions.{loading}.handler")
    yield made
    for loading in made.modules:
        sys.modules.pop(f"functions.{loading}.handler", None)
    aws._session.cache_clear()


def called_by_the_gateway() -> set[str]:
    """Names of the functions behind the routes of the template."""
    resources = json.loads(TEMPLATE.read_text())["Resources"].values()
    found = (each for each in resources if each["Type"] == "AWS::ApiGatewayV2::Integration")
    uris = {json.dumps(each["Properties"]["IntegrationUri"]) for each in found}
    return {match[1].lower() for uri in uris if (match := re.search(r'"Ref": "(\w+?)FunctionAlias', uri))}


def shown(answer: Mapping[str, Any]) -> set[str]:
    """The canaries in an answer, headers included."""
    return CANARIES.in_text(json.dumps(answer, ensure_ascii=False))


def leaks(deployment: Deployment) -> tuple[dict[str, set[str]], dict[int, int]]:
    """The canaries by request, and how many answers had each status."""
    found: dict[str, set[str]] = {}
    statuses: dict[int, int] = {}
    for asked, answer in deployment.walk():
        statuses[answer["statusCode"]] = statuses.get(answer["statusCode"], 0) + 1
        if told := shown(answer):
            found[asked] = told
    return found, statuses


def member(*_: object) -> Principal:
    return Principal(subject="x", tier="member")


def test_the_walk_reaches_every_function_and_would_find_a_canary(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert deployment.modules.keys() == {"auth", "chat", "console", "mcp", "rest", "site", "webhook"}
    assert deployment.apps.keys() == deployment.modules.keys() - {"webhook"}
    assert {name for name, app in deployment.apps.items() if len(routes(app)) < 4} == set()
    assert {"/health", "/api/v1/manifest", "/llms.txt"} <= routes(deployment.apps["rest"])
    monkeypatch.setattr(stack.Private, "__init__", admitting(stack.Private.__init__))
    for name in ("site", "rest"):
        sys.modules.pop(f"functions.{name}.handler")
        deployment.modules[name] = importlib.import_module(f"functions.{name}.handler")
    assert shown(deployment.ask("site", "GET", f"/d/{TYPE}/{NEAR}")) >= {TITLE, ID, TYPE, COMMIT[:7]}
    assert shown(deployment.ask("site", "GET", "/")) >= {TITLE, GROUP, TAG, *REPOSITORY.split("/")}
    assert shown(deployment.ask("rest", "GET", "/api/v1/manifest")) >= {COMMIT, ASSET}


def admitting(build: Any) -> Any:
    """The guard, to which everybody is a member."""

    def built(self: stack.Private, app: ASGIApp, **options: Any) -> None:
        build(self, app, **options | {"find": member})

    return built


def test_no_answer_to_a_stranger_holds_a_canary(deployment: Deployment) -> None:
    found, statuses = leaks(deployment)
    assert found == {}
    assert {200, 303, 401, 404, 405} <= statuses.keys()


def test_no_refusal_by_a_limit_holds_a_canary(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: Limiter, quota: Quota, __: str) -> Allowance:
        return Allowance(Quota(quota.name, 1), allowed=False, remaining=0, reset_seconds=9)

    monkeypatch.setattr(Limiter, "take", refused)
    found, statuses = leaks(deployment)
    assert found == {}
    assert statuses[429] > 200


def test_no_page_of_a_defect_holds_a_canary(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError(f"{TITLE} of {REPOSITORY}")

    monkeypatch.setattr(Router, "__call__", broken)
    found, statuses = leaks(deployment)
    assert found == {}
    assert statuses[500] > 200


def test_nothing_holds_a_canary_while_the_store_is_away(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise Unavailable(f"{BUCKET} of {REPOSITORY} is away")

    monkeypatch.setattr(S3ObjectStore, "get", away)
    monkeypatch.setattr(S3ObjectStore, "get_if_changed", away)
    found, statuses = leaks(deployment)
    assert found == {}
    assert statuses[503] > 1


@pytest.mark.parametrize(
    ("deployment", "tier"), [("member", "public"), ("vibecoder", "member")], indirect=["deployment"]
)
def test_no_answer_to_an_account_of_a_lower_tier_holds_a_canary(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, tier: Tier
) -> None:
    rights = frozenset(CATALOGUE)
    guest = Principal(subject=ROSA, organisation="default", tier=tier, scopes=rights, attainable=rights, account="rosa")
    visitor = Visitor(Profile(subject=ROSA, kind="wallet", address=ROSA), guest)
    monkeypatch.setattr(Visitors, "find", lambda *_: visitor)
    monkeypatch.setattr(TokenPrincipals, "identify", lambda *_: guest)
    found, statuses = leaks(deployment)
    assert found == {}
    assert statuses[403] > 200
