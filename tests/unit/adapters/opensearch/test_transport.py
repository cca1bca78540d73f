"""HTTP over kept connections, against a server that closes them, keeps silent, or is not there."""

import socket
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event, Thread

import pytest

from commonplace.search.opensearch.transport import HttpTransport, Lost

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


def ask(transport: HttpTransport, *, timeout: float = 10) -> tuple[int, bytes]:
    return transport.request("GET", "/", params=None, body=None, timeout=timeout)


def test_a_connection_is_kept_for_the_next_request() -> None:
    with server(answers) as (port, taken):
        transport = HttpTransport("127.0.0.1", port)

        assert [ask(transport) for _ in range(3)] == [(200, b"{}")] * 3
        transport.close()

    assert len(taken) == 1


def test_a_kept_connection_that_the_host_has_closed_costs_no_request() -> None:
    with server(one_answer) as (port, taken):
        transport = HttpTransport("127.0.0.1", port)

        assert [ask(transport) for _ in range(3)] == [(200, b"{}")] * 3
        transport.close()

    assert len(taken) == 3


def test_a_host_that_closes_without_a_word_is_lost() -> None:
    with server(lambda client: None) as (port, _):
        transport = HttpTransport("127.0.0.1", port)

        with pytest.raises(Lost) as lost:
            ask(transport)

    assert not lost.value.timed_out


def test_a_host_that_says_nothing_is_given_up_in_time() -> None:
    done = Event()

    def silently(client: socket.socket) -> None:
        client.recv(65_536)
        done.wait(30)

    with server(silently) as (port, _):
        transport = HttpTransport("127.0.0.1", port)

        with pytest.raises(Lost) as lost:
            ask(transport, timeout=0.05)
        done.set()

    assert lost.value.timed_out


def test_no_more_connections_are_made_than_allowed() -> None:
    with server(answers) as (port, taken):
        transport = HttpTransport("127.0.0.1", port, connections=2)

        with ThreadPoolExecutor(8) as pool:
            statuses = list(pool.map(lambda _: ask(transport)[0], range(40)))
        transport.close()

    assert statuses == [200] * 40
    assert len(taken) <= 2


def test_who_waits_too_long_for_a_connection_is_told() -> None:
    asked, done = Event(), Event()

    def slowly(client: socket.socket) -> None:
        if client.recv(65_536):
            asked.set()
            done.wait(30)
            client.sendall(ANSWER)

    with server(slowly) as (port, _):
        transport = HttpTransport("127.0.0.1", port, connections=1)
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(ask, transport)
            assert asked.wait(30)
            with pytest.raises(Lost) as lost:
                ask(transport, timeout=0.01)
            done.set()
            assert first.result() == (200, b"{}")
        transport.close()

    assert lost.value.timed_out


def test_nobody_there_is_lost_at_once() -> None:
    with server(answers) as (port, _):
        pass

    with pytest.raises(Lost) as lost:
        ask(HttpTransport("127.0.0.1", port))

    assert not lost.value.timed_out


def test_what_is_signed_is_the_whole_url_and_the_body() -> None:
    signed: list[tuple[str, str, bytes | None]] = []

    def sign(method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> dict[str, str]:
        signed.append((method, url, body))
        return {**headers, "authorization": "signed"}

    with server(answers) as (port, _):
        transport = HttpTransport("127.0.0.1", port, prefix="/behind/", sign=sign)
        transport.request("POST", "/docs/_search", params={"a": "b,c"}, body=b"{}", timeout=10)
        transport.close()

    assert signed == [("POST", f"http://127.0.0.1:{port}/behind/docs/_search?a=b%2Cc", b"{}")]
