"""HTTP over kept connections, against a server that closes them, keeps silent, or is not there."""

import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from urllib3 import HTTPConnectionPool, Timeout

from commonplace.kernel.errors import Unavailable
from commonplace.kernel.retry import RetryBudget
from commonplace.search.opensearch.client import (
    CONNECT_SECONDS,
    SEARCH_SECONDS,
    WRITE_SECONDS,
    OpenSearchClient,
    Refused,
    connect,
)
from tests.unit.kernel import tls_server

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"

Serve = Callable[[socket.socket], None]


def one_answer(client: socket.socket) -> None:
    """Answers once and closes, without having said so."""
    if client.recv(65_536):
        client.sendall(ANSWER)


def answers(client: socket.socket) -> None:
    """Answers as long as it is asked."""
    while client.recv(65_536):
        client.sendall(ANSWER)


@contextmanager
def server(serve: Serve) -> Iterator[tuple[int, list[int]]]:
    """A port, and a number for each connection that was taken there."""
    taken: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor(8) as pool:

        def handle(client: socket.socket) -> None:
            with client:
                serve(client)

        def accept() -> None:
            while True:
                try:
                    client, _ = listening.accept()
                except OSError:
                    return
                taken.append(len(taken))
                pool.submit(handle, client)

        accepting = Thread(target=accept)
        accepting.start()
        yield listening.getsockname()[1], taken
        listening.shutdown(socket.SHUT_RDWR)
        accepting.join()


def reached(port: int, **told: Any) -> OpenSearchClient:
    """A client of this port that tries nothing again."""
    client = connect(f"http://127.0.0.1:{port}", "none", **told)
    client.transport.budget = RetryBudget(ratio=0, burst=0)
    return client


def test_a_connection_is_kept_for_the_next_request() -> None:
    with server(answers) as (port, taken):
        client = reached(port)

        assert [client.info() for _ in range(3)] == [{}] * 3
        client.close()

    assert len(taken) == 1


def test_a_kept_connection_that_the_host_has_closed_costs_no_request() -> None:
    with server(one_answer) as (port, taken):
        client = connect(f"http://127.0.0.1:{port}", "none")

        assert [client.info() for _ in range(3)] == [{}] * 3
        client.close()

    assert len(taken) == 3


def test_a_closed_client_opens_a_connection_again() -> None:
    with server(answers) as (port, taken):
        client = reached(port)
        for _ in range(2):
            assert client.info() == {}
            client.close()

    assert len(taken) == 2


def test_a_host_that_closes_without_a_word_does_not_answer() -> None:
    with server(lambda client: None) as (port, _), pytest.raises(Unavailable, match="does not answer"):
        reached(port).info()


def test_a_host_that_says_nothing_is_given_up_in_time() -> None:
    done = Event()

    def silently(client: socket.socket) -> None:
        client.recv(65_536)
        done.wait(30)

    with server(silently) as (port, taken):
        with pytest.raises(Unavailable, match="timed out"):
            connect(f"http://127.0.0.1:{port}", "none").info(request_timeout=0.05)
        done.set()

    assert len(taken) == 1


def test_a_connection_is_waited_for_less_long_than_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[Timeout] = []
    send = HTTPConnectionPool.urlopen

    def noting(pool: HTTPConnectionPool, *request: Any, **given: Any) -> Any:
        waits.append(given["timeout"])
        return send(pool, *request, **given)

    monkeypatch.setattr(HTTPConnectionPool, "urlopen", noting)
    with server(answers) as (port, _):
        client = reached(port)
        client.info()
        client.bulk(body=[{}], request_timeout=WRITE_SECONDS)
        client.close()

    assert [(wait.connect_timeout, wait.read_timeout) for wait in waits] == [
        (CONNECT_SECONDS, SEARCH_SECONDS),
        (CONNECT_SECONDS, WRITE_SECONDS),
    ]


def test_no_more_connections_are_made_than_allowed() -> None:
    with server(answers) as (port, taken):
        client = reached(port, connections=2)

        with ThreadPoolExecutor(8) as pool:
            told = list(pool.map(lambda _: client.info(), range(40)))
        client.close()

    assert told == [{}] * 40
    assert len(taken) <= 2


def test_who_waits_too_long_for_a_connection_is_told() -> None:
    asked, done = Event(), Event()

    def slowly(client: socket.socket) -> None:
        if client.recv(65_536):
            asked.set()
            done.wait(30)
            client.sendall(ANSWER)

    with server(slowly) as (port, _):
        client = reached(port, connections=1)
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(client.info)
            assert asked.wait(30)
            with pytest.raises(Unavailable, match="timed out"):
                client.info(request_timeout=0.01)
            done.set()
            assert first.result() == {}
        client.close()


def test_nobody_there_is_told_at_once() -> None:
    with server(answers) as (port, _):
        pass

    with pytest.raises(Unavailable, match="does not answer"):
        reached(port).info()


def test_a_redirect_is_not_followed() -> None:
    moved = b"HTTP/1.1 302 Found\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n"
    heads: list[bytes] = []

    def redirects(client: socket.socket) -> None:
        while head := client.recv(65_536):
            heads.append(head)
            client.sendall(moved)

    with server(redirects) as (port, _):
        client = reached(port)
        with pytest.raises(Refused) as refused:
            client.info()
        client.close()

    assert (refused.value.status_code, len(heads)) == (302, 1)


def test_no_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with server(lambda client: None) as (proxy, asked), server(answers) as (port, _):
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy}")
        client = reached(port)
        assert client.info() == {}
        client.close()

    assert asked == []


def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    with tls_server.serving(tls_server.saying(tls_server.answer(b"{}")), tmp_path) as stranger:
        client = connect(f"https://localhost:{stranger.port}", "none")
        with pytest.raises(Unavailable, match="does not answer"):
            client.info()
        client.close()

    assert stranger.connections
    assert stranger.heads in ([], [b""])


def test_what_is_signed_is_the_whole_url_and_the_body() -> None:
    signed: list[tuple[str, str, bytes | None]] = []

    def sign(method: str, url: str, body: bytes | None) -> dict[str, str]:
        signed.append((method, url, body))
        return {"authorization": "signed"}

    with server(answers) as (port, _):
        client = OpenSearchClient({"host": "127.0.0.1", "port": port, "url_prefix": "/behind/"}, http_auth=sign)
        client.search(index="docs", body={}, filter_path="b,c")
        client.close()

    assert signed == [("POST", f"http://127.0.0.1:{port}/behind/docs/_search?filter_path=b%2Cc", b"{}")]
