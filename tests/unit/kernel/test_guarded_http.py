"""Fetching what strangers have named, against a real TLS server on loopback."""

import itertools
import json
import socket
import ssl
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from commonplace.kernel.fetch import FetchFailed
from commonplace.kernel.guarded_http import GuardedHttp, Network
from commonplace.kernel.public_addresses import is_public
from tests.unit.kernel.tls_server import (
    HOST,
    Server,
    Talk,
    answer,
    saying,
    serving,
    stalling,
    trickling,
    trusting,
)

URL = f"https://{HOST}/client.json"
BODY = b'{"client_id": "x"}'


def fetcher(server: Server, **network: Any) -> GuardedHttp:
    told: dict[str, Any] = {
        "look_up": lambda host, port: ["127.0.0.1"],
        "public": lambda address: True,
        "port": server.port,
        "context": trusting,
    }
    return GuardedHttp(network=Network(**told | network))


def fails(http: GuardedHttp, url: str = URL, *, max_bytes: int = 5_120, seconds: float = 60) -> str:
    """The reason why."""
    with pytest.raises(FetchFailed) as failed:
        http.get(url, max_bytes=max_bytes, seconds=seconds)
    return failed.value.reason


def fails_on(talk: Talk, folder: Path, **bounds: Any) -> str:
    with serving(talk, folder) as server:
        return fails(fetcher(server), **bounds)


def test_a_document_is_fetched_by_its_name_from_the_address_behind_it(tmp_path: Path) -> None:
    told = answer(BODY, headers=["Cache-Control: public", "Cache-Control: max-age=60"])
    with serving(saying(told), tmp_path) as server:
        fetched = fetcher(server).get(URL + "?v=1", max_bytes=5_120, seconds=60)

    assert (fetched.body, fetched.cache_control) == (BODY, "public, max-age=60")
    assert server.names == [HOST]
    lines = server.heads[0].decode().split("\r\n")
    assert lines[:2] == ["GET /client.json?v=1 HTTP/1.1", f"Host: {HOST}"]
    assert not {line.partition(":")[0].lower() for line in lines} & {"authorization", "cookie", "referer"}


@pytest.mark.parametrize(
    "talk",
    [
        pytest.param(
            saying(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n",
                BODY[:9],
                b"\r\n9\r\n" + BODY[9:] + b"\r\n0\r\n\r\n",
            ),
            id="in chunks",
        ),
        pytest.param(saying(b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n", BODY), id="without length"),
        pytest.param(saying(b"HTTP/1.1 100 Continue\r\n\r\n" + answer(BODY)), id="after 100 Continue"),
        pytest.param(saying(answer(BODY, media_type="application/cimd+json; charset=utf-8")), id="+json"),
        pytest.param(saying(answer(BODY, media_type="Application/JSON")), id="mixed case"),
    ],
)
def test_a_document_is_read_however_it_is_framed(talk: Talk, tmp_path: Path) -> None:
    with serving(talk, tmp_path) as server:
        assert fetcher(server).get(URL, max_bytes=len(BODY), seconds=60).body == BODY


@pytest.mark.parametrize("status", ["201 Created", "204 No Content", "404 Not Found", "500 Oops", "304 Not Modified"])
def test_c4_any_status_but_200_is_a_failure(status: str, tmp_path: Path) -> None:
    assert fails_on(saying(answer(BODY, status=status)), tmp_path) == f"status_{status[:3]}"


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
def test_c5_a_redirect_is_a_failure_and_its_target_is_never_asked(status: str, tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    with serving(saying(answer(BODY)), tmp_path / "target") as target:
        location = f"Location: https://{HOST}:{target.port}/elsewhere"
        told = answer(b"", status=status, headers=[location])
        assert fails_on(saying(told), tmp_path) == f"status_{status[:3]}"

    assert target.connections == 0


@pytest.mark.parametrize(
    "media_type", ["text/html", "text/plain", "application/jsonp", "", "text/json", "model/x+json"]
)
def test_c4_another_media_type_is_a_failure(media_type: str, tmp_path: Path) -> None:
    assert fails_on(saying(answer(BODY, media_type=media_type)), tmp_path) == "other_media_type"


def test_an_encoded_body_is_not_unpacked(tmp_path: Path) -> None:
    assert fails_on(saying(answer(BODY, headers=["Content-Encoding: gzip"])), tmp_path) == "encoded"


@pytest.mark.parametrize("length", ["Content-Length: 101", "X-None: 1"], ids=["with length", "without"])
def test_c6_a_body_over_the_limit_is_a_failure(length: str, tmp_path: Path) -> None:
    told = f"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n{length}\r\n\r\n".encode() + b"x" * 101

    assert fails_on(saying(told), tmp_path, max_bytes=100) == "too_large"


def test_c6_a_body_without_end_is_read_no_further_than_the_limit(tmp_path: Path) -> None:
    start = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"

    assert fails_on(trickling(start, b"x" * 1_000), tmp_path, max_bytes=5_120) == "too_large"


def test_c6_headers_without_end_are_read_no_further_than_the_limit(tmp_path: Path) -> None:
    assert fails_on(trickling(b"HTTP/1.1 200 OK\r\n", b"X-A: " + b"b" * 9_000 + b"\r\n"), tmp_path) == "too_large"


@pytest.mark.parametrize(
    "start",
    [b"", b"HTTP/1.1 200", b"HTTP/1.1 200 OK\r\nContent-", answer(BODY)[:-1]],
    ids=["nothing", "half a status", "half a header", "half a body"],
)
def test_c6_a_server_that_stops_in_the_middle_is_waited_for_so_long_and_no_longer(start: bytes, tmp_path: Path) -> None:
    assert fails_on(stalling(start), tmp_path, seconds=0.2) == "too_slow"


@pytest.mark.parametrize(
    "start",
    [b"HTTP/1.1 200 OK\r\nX-Slow: ", b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"],
    ids=["headers", "body"],
)
def test_c6_the_time_is_for_all_of_it_so_that_a_byte_now_and_then_does_not_lengthen_it(
    start: bytes, tmp_path: Path
) -> None:
    ticks = itertools.count()
    with serving(trickling(start), tmp_path) as server:
        http = fetcher(server, monotonic=lambda: float(next(ticks)))

        assert fails(http, seconds=50) == "too_slow"
    assert next(ticks) < 60


def test_c6_a_name_server_that_does_not_answer_is_not_waited_for(tmp_path: Path) -> None:
    answered = Event()

    def look_up(host: str, port: int) -> Sequence[str]:
        answered.wait(60)
        return []

    try:
        assert fails(GuardedHttp(network=Network(look_up=look_up)), seconds=0.1) == "too_slow"
    finally:
        answered.set()


def test_c6_a_handshake_that_never_ends_is_not_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = Server(silent.getsockname()[1])

        assert fails(fetcher(server), seconds=0.2) == "too_slow"


def test_a_body_that_is_shorter_than_announced_is_a_failure(tmp_path: Path) -> None:
    assert fails_on(saying(answer(BODY)[:-1]), tmp_path) == "cut_short"


@pytest.mark.parametrize("told", [b"", b"SSH-2.0-x\r\n", b"HTTP/1.1 abc OK\r\n\r\n", b"HTTP/9.9\r\n\r\n", b"\x00" * 64])
def test_what_is_no_http_is_a_failure(told: bytes, tmp_path: Path) -> None:
    assert fails_on(saying(told), tmp_path) in ("connection_failed", "other_media_type")


def test_c9_the_certificate_of_another_host_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    with serving(saying(answer(BODY)), tmp_path) as server:
        assert fails(fetcher(server), "https://other.example/client.json") == "certificate_not_valid"

    assert server.heads == []


def test_c9_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    with serving(saying(answer(BODY)), tmp_path) as server:
        http = fetcher(server, context=ssl.create_default_context)

        assert fails(http) == "certificate_not_valid"


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["10.0.0.1"],
        ["169.254.169.254"],
        ["100.64.0.1"],
        ["224.0.0.1"],
        ["::1"],
        ["fd00:ec2::254"],
        ["::ffff:127.0.0.1"],
        ["2002:7f00:1::"],
        ["2001:0:53aa:64c:0:fb05:53d9:fbf7"],
        ["64:ff9b::7f00:1"],
        ["8.8.8.8", "127.0.0.1"],
        ["2606:4700:4700::1111", "10.0.0.1"],
    ],
)
def test_c7_c8_a_name_with_one_address_that_is_not_public_is_never_connected_to(
    addresses: list[str], tmp_path: Path
) -> None:
    with serving(saying(answer(BODY)), tmp_path) as server:
        assert fails(fetcher(server, look_up=lambda *_: addresses, public=is_public)) == "address_not_public"

    assert server.connections == 0


def test_c8_a_name_is_looked_up_once_and_the_checked_address_is_connected_to(tmp_path: Path) -> None:
    answers = iter([["127.0.0.1"], ["10.0.0.1"]])
    judged: list[str] = []

    def public(address: str) -> bool:
        judged.append(address)
        return address == "127.0.0.1"

    with serving(saying(answer(BODY)), tmp_path) as server:
        http = fetcher(server, look_up=lambda *_: next(answers), public=public)
        http.get(URL, max_bytes=5_120, seconds=60)

    assert (judged, next(answers)) == (["127.0.0.1"], ["10.0.0.1"])


def test_an_address_that_refuses_does_not_keep_the_next_from_being_tried(tmp_path: Path) -> None:
    with serving(saying(answer(BODY)), tmp_path) as server:
        http = fetcher(server, look_up=lambda *_: ["127.0.0.0", "127.0.0.1", "127.0.0.1"])

        assert http.get(URL, max_bytes=5_120, seconds=60).body == BODY


def test_a_name_that_does_not_exist_is_a_failure() -> None:
    def look_up(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror("no such name")

    assert fails(GuardedHttp(network=Network(look_up=look_up))) == "name_unknown"


def test_no_proxy_of_the_environment_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with serving(saying(answer(BODY)), tmp_path) as server:
        assert fetcher(server).get(URL, max_bytes=5_120, seconds=60).body == BODY


NOT_FETCHED = [
    "http://app.example/c",
    "https://app.example",
    "https://app.example:8443/c",
    "https://user@app.example/c",
    "https://127.0.0.1/c",
    "https://0x7f.1/c",
    "https://0177.0.0.1/c",
    "https://127.1/c",
    "https://2130706433/c",
    "https://[::1]/c",
    "https://localhost/c",
    "https://app.example/a/../c",
    "https://app.example/c#x",
    "file:///etc/passwd",
    "gopher://app.example/c",
    "http://127.0.0.1:9001/2018-06-01/runtime/invocation/next",
]


@pytest.mark.parametrize("url", NOT_FETCHED)
def test_c1_c9_what_is_no_public_https_url_is_refused_before_any_name_is_looked_up(url: str) -> None:
    asked: list[str] = []

    def look_up(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"]

    assert fails(GuardedHttp(network=Network(look_up=look_up)), url) == "url_not_allowed"
    assert asked == []


class _Document(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps({"path": self.path}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


@pytest.fixture
def local() -> Any:
    server = HTTPServer(("127.0.0.1", 0), _Document)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server.server_port
    server.shutdown()
    server.server_close()
    thread.join(60)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_documents_of_this_machine_are_fetched_where_that_is_switched_on(local: int, host: str) -> None:
    url = f"http://{host}:{local}/c.json"

    assert GuardedHttp(loopback=True).get(url, max_bytes=100, seconds=60).body == b'{"path": "/c.json"}'
    assert fails(GuardedHttp(), url) == "url_not_allowed"


def test_the_switch_for_this_machine_opens_no_way_to_other_private_addresses() -> None:
    http = GuardedHttp(loopback=True, network=Network(look_up=lambda *_: ["127.0.0.1"]))

    assert fails(http, "http://10.0.0.1/c.json") == "url_not_allowed"
    assert fails(http, "http://127.0.0.2/c.json") == "url_not_allowed"
    assert fails(http, URL) == "address_not_public"
