"""Reads that are signed here: as the client signs them, and left to it whenever anything is out of the ordinary."""

import json
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast
from zlib import crc32

import boto3
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from commonplace.identity.store.items_read import CONTENT_TYPE, PAUSE_SECONDS, TARGET, QuickReads, signed

KEY = {"pk": {"S": "grant#one"}, "sk": {"S": "grant"}}
ITEM = {"pk": {"S": "grant#one"}, "scopes": {"L": [{"S": "knowledge:read"}]}, "n": {"N": "7"}}
RAW = b"\x00\xff sealed"
OURS = Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "a/session+token==")


class Table:
    """Answers as it is told, and remembers what it was sent."""

    def __init__(self) -> None:
        self.asked: list[dict[str, str]] = []
        self.answer: Callable[[], tuple[int, dict[str, str], bytes]] = lambda: (200, {}, b"{}")

    def says(self, values: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        body = values if isinstance(values, bytes) else json.dumps(values).encode()
        self.answer = lambda: (status, headers or {}, body)


@contextmanager
def listening(table: Table) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version, wbufsize = "HTTP/1.1", -1

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["content-length"]))
            table.asked.append({**{name.lower(): value for name, value in self.headers.items()}, "": sent.decode()})
            table.asked[-1]["port"] = str(self.client_address[1])
            status, headers, body = table.answer()
            self.send_response(status)
            for name, value in (headers | {"content-length": str(len(body))}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Client:
    """The client of AWS, as far as it is asked."""

    def __init__(self, url: str) -> None:
        self.asked: list[dict[str, Any]] = []
        self.meta = type("Meta", (), {"endpoint_url": url, "region_name": "eu-central-1"})()

    def get_item(self, **parameters: Any) -> dict[str, Any]:
        self.asked.append(parameters)
        return {"Item": {"from": {"S": "the client"}}}


class Clock:
    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def table() -> Table:
    return Table()


@pytest.fixture
def place(table: Table) -> Iterator[tuple[QuickReads, Client, Clock]]:
    with listening(table) as url:
        client, clock = Client(url), Clock()
        reads = QuickReads(cast(Any, client), "identity", lambda: OURS, clock=clock)
        yield reads, client, clock
        reads.close()


@pytest.mark.parametrize("token", [None, "a/session+token=="])
@pytest.mark.parametrize("url", ["https://dynamodb.eu-central-1.amazonaws.com/", "http://127.0.0.1:4566/"])
def test_the_signature_is_the_one_that_the_client_makes(
    token: str | None, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    credentials = Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", token)
    body = json.dumps({"TableName": "identity", "Key": KEY}).encode()
    headers = {"content-type": CONTENT_TYPE, "x-amz-target": TARGET}
    request = AWSRequest("POST", url, headers=headers, data=body)
    SigV4Auth(credentials, "dynamodb", "eu-central-1").add_auth(request)
    from calendar import timegm
    from time import strptime

    now = timegm(strptime(request.context["timestamp"], "%Y%m%dT%H%M%SZ"))
    ours = signed(body, url, "eu-central-1", credentials.get_frozen_credentials(), now)
    assert ours["authorization"] == request.headers["authorization"]
    assert ours.get("x-amz-security-token") == token


def test_an_item_is_read_as_the_client_reads_it(table: Table, place: tuple[QuickReads, Client, Clock]) -> None:
    reads, client, _ = place
    table.says({"Item": ITEM | {"sealed": {"B": b64encode(RAW).decode()}}})
    assert reads.get(KEY) == ITEM | {"sealed": {"B": RAW}}
    (asked,) = table.asked
    assert json.loads(asked[""]) == {"TableName": "identity", "Key": KEY, "ConsistentRead": True}
    assert (asked["x-amz-target"], asked["content-type"]) == (TARGET, CONTENT_TYPE)
    assert client.asked == []


def test_an_item_that_is_not_there_is_none(table: Table, place: tuple[QuickReads, Client, Clock]) -> None:
    reads, client, _ = place
    table.says({})
    assert reads.get(KEY) is None
    assert client.asked == []


@pytest.mark.parametrize(
    ("answer", "status", "headers"),
    [
        ({"__type": "ThrottlingException"}, 400, {}),
        ({"message": "down"}, 500, {}),
        (b"", 301, {"location": "http://127.0.0.1:1/"}),
        (b"nonsense", 200, {}),
        ([], 200, {}),
        ({"Item": ITEM}, 200, {"x-amz-crc32": "1"}),
    ],
)
def test_whatever_is_out_of_the_ordinary_is_left_to_the_client(
    table: Table, place: tuple[QuickReads, Client, Clock], answer: Any, status: int, headers: dict[str, str]
) -> None:
    reads, client, _ = place
    table.says(answer, status, headers)
    assert reads.get(KEY) == {"from": {"S": "the client"}}
    assert client.asked == [{"TableName": "identity", "Key": KEY, "ConsistentRead": True}]


def test_a_body_that_is_whole_says_so(table: Table, place: tuple[QuickReads, Client, Clock]) -> None:
    reads, client, _ = place
    body = json.dumps({"Item": ITEM}).encode()
    table.says(body, headers={"x-amz-crc32": str(crc32(body))})
    assert (reads.get(KEY), client.asked) == (ITEM, [])


def test_after_two_failures_the_client_does_everything_for_a_while(
    table: Table, place: tuple[QuickReads, Client, Clock]
) -> None:
    reads, client, clock = place
    table.says({}, 500)
    for _ in range(5):
        reads.get(KEY)
    assert (len(table.asked), len(client.asked)) == (2, 5)
    table.says({"Item": ITEM})
    clock.now += PAUSE_SECONDS
    assert reads.get(KEY) == ITEM
    assert len(client.asked) == 5


def test_a_connection_is_used_again_and_one_that_was_closed_is_made_anew(
    table: Table, place: tuple[QuickReads, Client, Clock]
) -> None:
    reads, client, _ = place
    ports = []
    for closing in ({}, {}, {"connection": "close"}, {}):
        table.says({"Item": ITEM}, headers=closing)
        reads.get(KEY)
        ports.append(table.asked[-1]["port"])
    assert ports[0] == ports[1] == ports[2] != ports[3]
    assert client.asked == []


def test_a_connection_that_ended_while_nobody_asked_costs_one_question_of_the_client(
    table: Table, place: tuple[QuickReads, Client, Clock]
) -> None:
    reads, client, _ = place
    table.says({"Item": ITEM})
    reads.get(KEY)
    reads._idle[0].sock.shutdown(2)
    assert [reads.get(KEY), reads.get(KEY)] == [{"from": {"S": "the client"}}, ITEM]
    assert len(client.asked) == 1


def test_without_credentials_and_without_a_listener_the_client_is_asked(table: Table) -> None:
    with listening(table) as url:
        client: Any = Client(url)
        assert QuickReads(client, "identity", lambda: None).get(KEY) == {"from": {"S": "the client"}}
    assert QuickReads(client, "identity", lambda: OURS).get(KEY) == {"from": {"S": "the client"}}
    assert table.asked == []


def test_the_client_of_aws_says_where_its_table_is() -> None:
    client = boto3.client(
        "dynamodb", region_name="eu-central-1", aws_access_key_id="none", aws_secret_access_key="none"
    )
    assert client.meta.endpoint_url == "https://dynamodb.eu-central-1.amazonaws.com"
