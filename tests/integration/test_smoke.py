"""`commonplace smoke` and the lock of the front door, over the real functions: a stand-in of CloudFront before them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from commonplace.web.origin import ORIGIN_HEADER, VIEWER_HEADER
from commonplace_local.cli.smoke.checks import CHECKS, RENAMED
from commonplace_local.cli.smoke.site import Finding, Site, run
from commonplace_local.cloud.servers import Loopback, LoopbackHandler
from commonplace_local.dev.laptop import Laptop
from commonplace_local.dev.source import clone
from tests.integration.running_dev import commonplace, garden

pytestmark = pytest.mark.laptop

NAME = "commonplace/dev/origin"
SECRET_ARN = f"arn:aws:secretsmanager:us-east-1:123456789012:secret:{NAME}"
FIRST, SECOND = "a" * 64, "b" * 64
WAIT_SECONDS = 120
HOP = {"connection", "transfer-encoding", "content-length", "content-encoding", "date", "host", "server"}
"""Of one connection alone. Bodies are passed on as they were before compression."""


@dataclass(slots=True)
class Door:
    """What CloudFront would do: the public address, the value, the caller's address; with `renames` also what API
    Gateway may do to a challenge, and nobody gives it its name back."""

    value: str = FIRST
    viewer: str = "203.0.113.9"
    renames: bool = False
    behind: str = ""
    server: Loopback = field(init=False)

    def __post_init__(self) -> None:
        self.server = Loopback(_handler(self))

    @property
    def url(self) -> str:
        return self.server.url

    def pass_on(self, method: str, target: str, headers: dict[str, str], body: bytes) -> httpx.Response:
        sent = headers | {ORIGIN_HEADER: self.value, VIEWER_HEADER: self.viewer}
        return httpx.request(method, self.behind + target, headers=sent, content=body, timeout=60, trust_env=False)


def _handler(door: Door) -> type[LoopbackHandler]:
    class Handler(LoopbackHandler):
        pages = True
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None: ...

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            given = {name: value for name, value in self.headers.items() if name.lower() not in HOP}
            answer = door.pass_on(self.command, self.path, given, body)
            self.send_response(answer.status_code)
            for name, value in answer.headers.multi_items():
                told = RENAMED if door.renames and name == "www-authenticate" else name
                if name not in HOP:
                    self.send_header(told, value)
            self.send_header("content-length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        do_POST = do_GET

    return Handler


@dataclass(slots=True)
class Deployment:
    """A synced laptop cloud whose functions know the door."""

    door: Door
    laptop: Laptop

    def smoke(self, origin: str | None = None) -> dict[str, Finding]:
        return {each.name: each for each in run(Site(self.door.url, origin, 60), CHECKS)}


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    user = garden(tmp_path_factory.mktemp("user"))
    door = Door()
    environment = {"BASE_URL": door.url, "ORIGIN_SECRET_ARN": SECRET_ARN}
    with Laptop(clone(user.folder), tmp_path_factory.mktemp("data"), environment=environment) as laptop:
        value = json.dumps({"value": FIRST, "next": SECOND})
        laptop.cloud.client("secretsmanager").create_secret(Name=NAME, SecretString=value)
        door.behind = laptop.url
        door.server.start()
        try:
            laptop.workspace.refresh()
            laptop.poke()
            laptop.wait(WAIT_SECONDS)
            laptop.welcome_readers()
            yield Deployment(door, laptop)
        finally:
            door.server.stop()


@pytest.fixture(autouse=True)
def as_it_was(deployment: Deployment) -> Iterator[None]:
    yield
    deployment.door.value, deployment.door.renames = FIRST, False


def failed(findings: dict[str, Finding]) -> dict[str, str]:
    return {name: each.detail for name, each in findings.items() if each.outcome == "failed"}


def test_everything_is_kept_that_a_deployment_promises_and_the_api_itself_refuses(deployment: Deployment) -> None:
    findings = deployment.smoke(deployment.laptop.url)
    assert failed(findings) == {}
    assert findings["origin"].detail == "refused"
    assert {name for name, each in findings.items() if each.outcome == "skipped"} == {"tls"}


@pytest.mark.parametrize("path", ["/health", "/mcp", "/.well-known/oauth-authorization-server", "/webhooks/github"])
def test_every_function_refuses_what_goes_round_the_door(deployment: Deployment, path: str) -> None:
    for headers in ({}, {ORIGIN_HEADER: "guess"}, {ORIGIN_HEADER: f"{FIRST},guess"}):
        answer = httpx.post(deployment.laptop.url + path, headers=headers, content="{}", timeout=60, trust_env=False)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "FORBIDDEN")
        assert FIRST not in answer.text


def test_the_next_value_lets_the_door_in_before_anybody_reads_the_secret_again(deployment: Deployment) -> None:
    deployment.door.value = SECOND
    assert failed(deployment.smoke()) == {}


def test_a_door_with_a_value_of_its_own_is_noticed(deployment: Deployment) -> None:
    deployment.door.value = "c" * 64
    assert {"health", "search", "mcp", "resource", "server", "authorize"} <= failed(deployment.smoke()).keys()


def test_a_challenge_that_lost_its_name_is_noticed(deployment: Deployment) -> None:
    deployment.door.renames = True
    findings = deployment.smoke()
    assert failed(findings).keys() == {"challenge", "bad token"}
    assert "restoreChallenge" in findings["challenge"].hint


def test_an_address_that_is_not_the_public_one_is_noticed(deployment: Deployment) -> None:
    """The same deployment under another name, as CloudFront's own beside a domain would be."""
    other = Door(behind=deployment.laptop.url)
    other.server.start()
    try:
        findings = {each.name: each for each in run(Site(other.url, None, 60), CHECKS)}
    finally:
        other.server.stop()
    assert {"resource", "server"} <= failed(findings).keys()
    assert "publicUrl" in findings["server"].hint


def test_the_logs_tell_of_no_value(deployment: Deployment) -> None:
    assert FIRST not in deployment.laptop.logs()
    assert SECOND not in deployment.laptop.logs()


def test_the_command_says_the_same_and_ends_as_it_went(deployment: Deployment) -> None:
    done = commonplace("smoke", deployment.door.url, "--origin", deployment.laptop.url, "--seconds", "60")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "16 ok, 0 failed, 1 skipped"
    deployment.door.renames = True
    done = commonplace("smoke", deployment.door.url, "--seconds", "60")
    assert done.returncode == 1
    assert "FAIL  challenge" in done.stdout
