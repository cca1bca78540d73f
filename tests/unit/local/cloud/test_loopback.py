"""Which requests the servers of a laptop answer: those of programs of this run, under their own names."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, cast

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from commonplace_local.cloud.edge import Edge, edge_server
from commonplace_local.cloud.http_api import HttpApi, Route
from commonplace_local.cloud.lambda_host import LambdaHost
from commonplace_local.cloud.runtime import Call, Outcome, Worker, runtime_api
from commonplace_local.github.api import GitHubApi
from commonplace_local.github.git import GitRepository, git
from commonplace_local.github.server import GitHubServer

KEY, TOKEN = "LAPTOP0123456789", "token-of-the-run"
INVOKE = "/2015-03-31/functions/probe/invocations"
NEXT = "/2018-06-01/runtime/invocation/next"
HEAD = "/repos/reef/garden/commits/main"


class Functions:
    """In place of the Lambda host and of a worker: notes what was called."""

    def __init__(self) -> None:
        self.called: list[bytes] = []

    def invoke(self, _name: str, payload: bytes, _seconds: float = 0) -> Outcome:
        self.called.append(payload)
        return Outcome(b'{"ran": true}')

    def take(self, _gone: Callable[[], bool]) -> Call:
        self.called.append(b"taken")
        return Call(b"{}", "arn")

    def finish(self, _call: str, body: bytes, *, failed: bool) -> None:
        self.called.append(body)

    def init_failed(self, body: bytes) -> None:
        self.called.append(body)


@pytest.fixture(scope="module")
def functions() -> Functions:
    return Functions()


@pytest.fixture(scope="module")
def ports(functions: Functions, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, int]]:
    """Of each server that `dev` starts."""
    with ExitStack() as undo:
        edge = edge_server()
        edge.app = Edge(cast(LambdaHost, functions), KEY)
        runtime, front = runtime_api(cast(Worker, functions), KEY), HttpApi(functions.invoke)
        front.routes.append(Route("$default", "probe"))
        for server in (edge, runtime, front):
            server.start()
            undo.callback(server.stop)
        github = undo.enter_context(GitHubServer(_private(tmp_path_factory.mktemp("repository.git"))))
        yield {
            "aws": edge.server_port,
            "runtime": runtime.server_port,
            "front": front.port,
            "github": int(github.url.rpartition(":")[2]),
        }


def _private(folder: Path) -> GitHubApi:
    git("init", "--quiet", "--bare", str(folder))
    return GitHubApi(GitRepository(folder), "reef/garden", private=True, tokens=[TOKEN])


@pytest.fixture
def asking(ports: dict[str, int], functions: Functions) -> Iterator["Asking"]:
    functions.called.clear()
    yield Asking(ports)


class Asking:
    def __init__(self, ports: dict[str, int]) -> None:
        self._ports = ports

    def __call__(
        self, server: str, method: str = "GET", path: str = "/", *, host: str = "127.0.0.1:{}", **headers: str
    ) -> tuple[int, dict[str, str], str]:
        port = self._ports[server]
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        connection.putrequest(method, path, skip_host=True)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        for name, value in {"host": host.format(port), "content-length": "2", **named}.items():
            connection.putheader(name, value)
        connection.endheaders(b"{}")
        answer = connection.getresponse()
        told = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode()
        connection.close()
        return told


SERVERS = ("aws", "runtime", "front", "github")
PROGRAMS = ("aws", "runtime", "github")
"""Those that no page has business with."""

CREDENTIALS = {
    "aws": {"authorization": f"AWS4-HMAC-SHA256 Credential={KEY}/20260101/us-east-1/lambda/aws4_request, Signature=0"},
    "runtime": {"user_agent": f"aws-lambda-python/3 {KEY}"},
    "github": {"authorization": f"Bearer {TOKEN}"},
    "front": {},
}
PATHS = {"aws": INVOKE, "runtime": NEXT, "github": HEAD, "front": "/"}
RIGHT = {"aws": 200, "runtime": 200, "github": 422, "front": 200}
"""The empty repository has no such commit."""


def right(server: str) -> dict[str, Any]:
    """A request of a program of this run."""
    return {"method": "POST" if server == "aws" else "GET", "path": PATHS[server], **CREDENTIALS[server]}


@pytest.mark.parametrize("server", ["aws", "front", "github"])
def test_a_connection_takes_one_request_after_the_other(ports: dict[str, int], server: str) -> None:
    asked = right(server)
    headers = {name.replace("_", "-"): value for name, value in CREDENTIALS[server].items()}
    connection = HTTPConnection("127.0.0.1", ports[server], timeout=30)
    with closing(connection):
        connection.connect()
        opened = connection.sock
        for body in (b"{}", b"", b"[1]"):
            connection.request(asked["method"], asked["path"], body, headers)
            answer = connection.getresponse()
            answer.read()
            assert (answer.status, connection.sock) == (RIGHT[server], opened)


@pytest.mark.parametrize("host", ["127.0.0.1:{}", "localhost:{}", "LOCALHOST:{}"])
@pytest.mark.parametrize("server", SERVERS)
def test_a_program_of_the_run_is_answered(asking: Asking, server: str, host: str) -> None:
    assert asking(server, host=host, **right(server))[0] == RIGHT[server]


@pytest.mark.parametrize(
    "host",
    ["elsewhere.test:{}", "elsewhere.test", "127.0.0.1", "127.0.0.1:1", "localhost.elsewhere.test:{}", "", "::1"],
)
@pytest.mark.parametrize("server", SERVERS)
def test_under_another_name_nothing_is_answered_and_nothing_runs(
    asking: Asking, functions: Functions, server: str, host: str
) -> None:
    status, headers, body = asking(server, host=host, **right(server))
    assert (status, functions.called) == (421, [])
    assert "This server answers at 127.0.0.1:" in json.loads(body)["message"]
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize(
    "page",
    [
        {"origin": "https://elsewhere.test"},
        {"origin": "null"},
        {"origin": "http://localhost:3000"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"sec_fetch_site": "none"},
    ],
)
@pytest.mark.parametrize("server", PROGRAMS)
def test_a_page_is_refused_whatever_it_brings(
    asking: Asking, functions: Functions, server: str, page: dict[str, str]
) -> None:
    status, headers, _ = asking(server, **right(server), **page)
    assert (status, functions.called) == (403, [])
    assert not [name for name in headers if name.startswith("access-control-")]


@pytest.mark.parametrize("server", PROGRAMS)
def test_a_preflight_is_refused(asking: Asking, functions: Functions, server: str) -> None:
    asked = {"access_control_request_method": "POST", "access_control_request_headers": "authorization"}
    status, headers, _ = asking(server, "OPTIONS", PATHS[server], origin="https://elsewhere.test", **asked)
    assert (status, functions.called) == (403, [])
    assert not [name for name in headers if name.startswith("access-control-")]


def test_the_front_leaves_pages_to_the_functions_as_it_is_where_they_are_deployed(
    asking: Asking, functions: Functions
) -> None:
    assert asking("front", "OPTIONS", origin="https://elsewhere.test", sec_fetch_site="cross-site")[0] == 200
    assert len(functions.called) == 1


@pytest.mark.parametrize(
    ("server", "method", "path", "headers"),
    [
        ("aws", "POST", INVOKE, {"content_type": "text/plain"}),
        ("aws", "GET", "/", {}),
        ("aws", "GET", "/moto-api/data.json", {}),
        ("aws", "POST", "/moto-api/reset", {}),
        ("aws", "POST", INVOKE, {"authorization": "AWS4-HMAC-SHA256 Credential=123456789012/20260101/us-east-1/s3/x"}),
        ("aws", "POST", INVOKE, {"authorization": f"AWS4-HMAC-SHA256 Credential={KEY}0/20260101/us-east-1/s3/x"}),
        ("aws", "POST", INVOKE, {"authorization": f"Bearer {KEY}"}),
        ("aws", "POST", f"{INVOKE}?X-Amz-Credential=x{KEY}/20260101/us-east-1/s3/x", {}),
        ("aws", "POST", INVOKE, {"authorization": "AWS4-HMAC-SHA256 Credential=ü/20260101/us-east-1/s3/x"}),
        ("runtime", "GET", NEXT, {"user_agent": "aws-lambda-python/3"}),
        ("runtime", "GET", NEXT, {}),
        ("runtime", "POST", "/2018-06-01/runtime/invocation/1/response", {"user_agent": f"x {KEY}0"}),
    ],
)
def test_without_the_key_of_the_run_nothing_is_answered_and_nothing_runs(
    asking: Asking, functions: Functions, server: str, method: str, path: str, headers: dict[str, str]
) -> None:
    status, _, body = asking(server, method, path, **headers)
    assert (status, functions.called) == (403, [])
    assert KEY not in body


def test_a_client_with_the_key_works_in_the_account_of_the_template(ports: dict[str, int]) -> None:
    queue = _client("sqs", ports["aws"], KEY).create_queue(QueueName="line")["QueueUrl"]
    assert queue == f"http://127.0.0.1:{ports['aws']}/123456789012/line"
    with pytest.raises(ClientError, match="not that of this run"):
        _client("sqs", ports["aws"], "another").list_queues()


def test_a_presigned_url_carries_the_key(asking: Asking, ports: dict[str, int]) -> None:
    client = _client("s3", ports["aws"], KEY)
    client.create_bucket(Bucket="shelf")
    client.put_object(Bucket="shelf", Key="a", Body=b"text")
    url = client.generate_presigned_url("get_object", Params={"Bucket": "shelf", "Key": "a"})
    path = url.removeprefix(f"http://127.0.0.1:{ports['aws']}")
    assert asking("aws", path=path)[::2] == (200, "text")
    assert asking("aws", path=path.replace(KEY, "another"))[0] == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [({}, 404), ({"authorization": "Bearer another"}, 401), ({"authorization": f"token {TOKEN}"}, 422)],
)
def test_a_private_repository_is_there_for_who_has_the_token_alone(
    asking: Asking, headers: dict[str, str], status: int
) -> None:
    assert asking("github", path=HEAD, **headers)[0] == status


def _client(service: str, port: int, key: str) -> Any:
    return boto3.session.Session(key, "x", region_name="us-east-1").client(
        cast(Any, service),
        endpoint_url=f"http://127.0.0.1:{port}",
        config=Config(
            proxies={}, signature_version="s3v4" if service == "s3" else None, retries={"total_max_attempts": 1}
        ),
    )
