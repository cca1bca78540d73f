"""Requests to a cluster that answers, refuses, is late, or is not there."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from botocore.credentials import Credentials

from commonplace.kernel.errors import Unavailable
from commonplace.kernel.retry import CircuitBreaker, RetryBudget
from commonplace.search.opensearch.client import OpenSearchClient, Refused, connect
from tests.unit.search.opensearch.scripted import Scripted, late, lost, scripted

NO = {"error": {"root_cause": [{"type": "parsing_exception", "reason": "unknown query"}], "type": "x"}, "status": 400}


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_an_answer_is_given_as_it_is() -> None:
    script = Scripted([(200, {"count": 3})])

    assert scripted(script).count(index="docs", body={"query": {}}) == {"count": 3}
    assert (script.asked[0].method, script.asked[0].path, script.asked[0].body) == (
        "POST",
        "/docs/_count",
        b'{"query":{}}',
    )


def test_a_no_is_told_with_its_root_cause_and_not_asked_again() -> None:
    script = Scripted([(400, NO)])

    with pytest.raises(Refused, match="400 parsing_exception: unknown query"):
        scripted(script).info()

    assert len(script.asked) == 1


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_an_overloaded_cluster_is_asked_once_more_after_a_moment(status: int) -> None:
    waits: list[float] = []

    answer = scripted(Scripted([(status, {}), (200, {"ok": 1})]), waits=waits).info()

    assert answer == {"ok": 1}
    assert len(waits) == 1


def test_who_stays_overloaded_is_unavailable_for_some_seconds() -> None:
    script = Scripted(otherwise=lambda asked: (429, {}))

    with pytest.raises(Unavailable) as refusal:
        scripted(script).info()

    assert refusal.value.retry_after_seconds == 5
    assert len(script.asked) == 2


def test_a_lost_connection_is_tried_again_at_once() -> None:
    assert scripted(Scripted([lost(), (200, {"ok": 1})])).info() == {"ok": 1}


def test_what_takes_too_long_is_not_tried_again() -> None:
    script = Scripted([late()])

    with pytest.raises(Unavailable, match="timed out"):
        scripted(script).info()

    assert len(script.asked) == 1


def test_retries_end_with_their_budget() -> None:
    script = Scripted(otherwise=lambda asked: (429, {}))
    tried = scripted(script, budget=RetryBudget(ratio=0, burst=1))

    for _ in range(3):
        with pytest.raises(Unavailable):
            tried.info()

    assert len(script.asked) == 4


def test_a_cluster_that_is_gone_is_left_alone_and_found_again() -> None:
    clock, script = Clock(), Scripted(otherwise=lambda asked: lost())
    breaker = CircuitBreaker("OpenSearch", failures=3, open_seconds=5, clock=clock)
    tried = scripted(script, breaker=breaker, budget=RetryBudget(ratio=0, burst=0))
    for _ in range(3):
        with pytest.raises(Unavailable):
            tried.info()

    with pytest.raises(Unavailable) as refusal:
        tried.info()
    assert (len(script.asked), refusal.value.retry_after_seconds) == (3, 5)

    clock.now = 5.0
    script.otherwise = lambda asked: (200, {"ok": 1})
    assert tried.info() == tried.info() == {"ok": 1}


def test_a_cluster_that_refuses_or_fails_is_there() -> None:
    script = Scripted(otherwise=lambda asked: (500, {"error": {"type": "boom"}}))
    tried = scripted(script)

    for _ in range(5):
        with pytest.raises(Unavailable, match=r"failed \(boom\)"):
            tried.info()

    assert len(script.asked) == 5


def test_who_is_not_let_in_is_told_what_to_look_at() -> None:
    script = Scripted([(403, {"Message": "User: anonymous is not authorized"})])

    with pytest.raises(Unavailable) as refusal:
        scripted(script).info()

    assert "docs/operate/deploy.md" in (refusal.value.hint or "")


def test_what_is_not_json_is_a_failure_of_the_cluster() -> None:
    page = "<html>Bad gateway</html>"
    client = scripted(Scripted([(502, page), (502, page), (200, page)]))

    for _ in ("of the gateway", "of somebody else"):
        with pytest.raises(Unavailable):
            client.info()


@contextmanager
def listener() -> Iterator[tuple[str, list[dict[str, str]]]]:
    """A server on loopback that keeps the headers of what it is asked."""
    heard: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            heard.append({name.lower(): value for name, value in self.headers.items()})
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", heard
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize("service", ["es", "aoss"])
def test_every_request_to_aws_is_signed_with_its_body(service: Any) -> None:
    credentials = Credentials("AKIDEXAMPLE", "secret", "token")

    with listener() as (url, heard):
        signed = connect(url, service, credentials=credentials, region="eu-central-1")
        for body in ({"a": 1}, {"a": 2}):
            signed.search(index="docs", body=body, filter_path="hits.hits.sort,took")
        signed.close()

    first, second = heard
    assert f"/eu-central-1/{service}/aws4_request" in first["authorization"]
    assert "x-amz-content-sha256" in first["authorization"]
    assert first["x-amz-security-token"] == "token"
    assert first["x-amz-content-sha256"] != second["x-amz-content-sha256"]
    assert "secret" not in str(heard)


def test_a_node_of_this_machine_is_asked_without_a_signature() -> None:
    with listener() as (url, heard):
        plain = connect(url, "none")
        plain.msearch(body=[{}, {}])
        plain.close()

    assert "authorization" not in heard[0]


def test_nobody_listening_is_unavailable() -> None:
    with listener() as (url, _):
        pass

    with pytest.raises(Unavailable, match="does not answer"):
        connect(url, "none").info()


def test_a_connection_knows_what_it_is_connected_to() -> None:
    def kind(told: OpenSearchClient) -> tuple[bool, bool]:
        return told.local, told.serverless

    credentials = Credentials("AKIDEXAMPLE", "secret")
    assert kind(connect("http://localhost:9200", "none")) == (True, False)
    assert kind(connect("https://search.example", "es", credentials=credentials, region="eu-central-1")) == (
        False,
        False,
    )
    assert kind(connect("https://c.example", "aoss", credentials=credentials, region="eu-central-1")) == (False, True)


@pytest.mark.parametrize("endpoint", ["", "search.example", "ftp://search.example"])
def test_an_endpoint_is_a_url(endpoint: str) -> None:
    with pytest.raises(ValueError, match="endpoint"):
        connect(endpoint, "none")


def test_a_signature_needs_credentials() -> None:
    with pytest.raises(ValueError, match="credentials"):
        connect("https://search.example", "es")


def test_a_no_that_nobody_expected_is_told_to_callers_without_its_reason() -> None:
    with pytest.raises(Unavailable) as refusal:
        scripted(Scripted([(400, NO)])).info()

    assert refusal.value.message == "The search index refused a request (parsing_exception)."
