"""The HTTP API from outside: what a function receives, what a client receives, and what the gateway says itself."""

import hashlib
import json
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from commonplace_local.cloud.cloud import Cloud

pytestmark = pytest.mark.laptop


@pytest.fixture(scope="module")
def http(cloud: Cloud) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=cloud.http_url, timeout=60) as client:
        yield client


def event(answer: httpx.Response) -> dict[str, Any]:
    assert answer.status_code == 200
    body: dict[str, Any] = answer.json()
    return body


def test_a_request_becomes_an_event_of_format_two(http: httpx.Client) -> None:
    answer = http.get("/v1/%C3%BC/a%20b?tag=x&tag=y&empty=&q=%26", headers={"X-Thing": "1", "Cookie": "a=1; b=2"})
    made = event(answer)
    assert (made["version"], made["routeKey"], made["rawPath"]) == ("2.0", "$default", "/v1/ü/a b")
    assert made["rawQueryString"] == "tag=x&tag=y&empty=&q=%26"
    assert made["queryStringParameters"] == {"tag": "x,y", "empty": "", "q": "&"}
    assert made["cookies"] == ["a=1", "b=2"]
    assert made["headers"]["x-thing"] == "1"
    assert "cookie" not in made["headers"]
    assert made["requestContext"]["http"]["method"] == "GET"
    assert "body" not in made


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"])
def test_every_method_reaches_the_function(http: httpx.Client, method: str) -> None:
    assert event(http.request(method, "/anything"))["requestContext"]["http"]["method"] == method


def test_head_has_no_body_and_keeps_the_connection_usable(http: httpx.Client) -> None:
    answer = http.head("/bytes")
    assert (answer.status_code, answer.content) == (200, b"")
    assert http.get("/bytes").content == b"\x00\xff\x01"


def test_text_arrives_byte_for_byte(http: httpx.Client) -> None:
    body = '{"a":  "ü\\u00e9",\r\n "b": 1}\n'.encode()
    made = event(http.post("/", content=body, headers={"content-type": "application/json; charset=utf-8"}))
    assert made["isBase64Encoded"] is False
    assert hashlib.sha256(made["body"].encode()).digest() == hashlib.sha256(body).digest()


def test_a_body_sent_in_chunks_arrives_whole(http: httpx.Client) -> None:
    made = event(http.post("/", content=iter([b'{"a"', b": 1}"]), headers={"content-type": "application/json"}))
    assert made["body"] == '{"a": 1}'


def test_bytes_go_both_ways_as_they_are(http: httpx.Client) -> None:
    made = event(http.post("/", content=b"\x00\xff", headers={"content-type": "application/octet-stream"}))
    assert (made["body"], made["isBase64Encoded"]) == ("AP8=", True)
    answer = http.get("/bytes")
    assert (answer.content, answer.headers["content-type"]) == (b"\x00\xff\x01", "image/x")


def test_cookies_become_headers_of_their_own(http: httpx.Client) -> None:
    answer = http.get("/cookies")
    assert (answer.status_code, answer.headers.get_list("set-cookie")) == (204, ["a=1; Path=/", "b=2"])


def test_an_answer_without_a_status_is_json(http: httpx.Client) -> None:
    answer = http.get("/plain")
    assert (answer.status_code, answer.json()) == (200, {"no": "status"})


@pytest.mark.parametrize("path", ["/broken", "/malformed"])
def test_a_failing_function_is_the_gateways_500(http: httpx.Client, path: str) -> None:
    answer = http.get(path)
    assert (answer.status_code, answer.json()) == (500, {"message": "Internal Server Error"})


def test_a_body_over_ten_megabytes_is_refused(http: httpx.Client) -> None:
    answer = http.post("/", content=b"x" * (10 * 1024 * 1024 + 1), headers={"content-type": "text/plain"})
    assert (answer.status_code, answer.json()) == (413, {"message": "Request Entity Too Large"})


def test_a_body_over_lambdas_limit_is_refused(http: httpx.Client) -> None:
    answer = http.post("/", content=b"x" * 5_000_000, headers={"content-type": "application/octet-stream"})
    assert answer.status_code == 413


def test_headers_over_the_limit_are_refused(http: httpx.Client) -> None:
    assert http.get("/", headers={"x-long": "x" * 11_000}).status_code == 431


def test_a_connection_serves_many_requests_and_a_wait_for_continue(cloud: Cloud) -> None:
    host = cloud.http_url.removeprefix("http://")
    head = (
        f"POST / HTTP/1.1\r\nHost: {host}\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n"
        "Expect: 100-continue\r\n\r\n"
    ).encode()
    with socket.create_connection(("127.0.0.1", int(host.rpartition(":")[2])), timeout=30) as connection:
        for _ in range(2):
            connection.sendall(head)
            assert connection.recv(1024).startswith(b"HTTP/1.1 100 ")
            connection.sendall(b"hi")
            answer = connection.recv(1 << 16)
            while b"\r\n\r\n" not in answer or not answer.endswith(b"}"):
                answer += connection.recv(1 << 16)
            assert answer.startswith(b"HTTP/1.1 200 ")
            assert json.loads(answer.partition(b"\r\n\r\n")[2])["body"] == "hi"
