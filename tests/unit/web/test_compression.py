"""Answers are compressed for who takes that, and say so to caches."""

import base64
import gzip
import json
from typing import Any, cast

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from commonplace.web.gateway import Gateway
from commonplace.web.middleware import HeadAsGet
from commonplace.web.representations import MAX_ANSWER_BYTES, Page
from commonplace.web.stack import MINIMUM_BYTES, Compression, takes_gzip
from tests.one_loop import one_loop
from tests.unit.documents.rest.events import payload_1, payload_2

__all__ = ["one_loop"]

LONG = ("Crabs walk sideways. " * 200).encode()
PAGES = {
    "long": Page.of(LONG, "text/plain; charset=utf-8"),
    "short": Page.of(b"x" * (MINIMUM_BYTES - 1), "text/plain; charset=utf-8"),
    "picture": Page.of(LONG, "image/png"),
    "drawing": Page.of(LONG, "image/svg+xml"),
    "paper": Page.of(LONG, "application/pdf"),
    "largest": Page.of(json.dumps("\u00e4\n" * 1_500_000, ensure_ascii=False).encode()[: MAX_ANSWER_BYTES - 1]),
}
TAG = f'"{PAGES["long"].etag}"'


async def answer(request: Request) -> Response:
    return PAGES[request.path_params["name"]].answer(request)


APP = Starlette(routes=[Route("/{name}", answer)], middleware=[Middleware(HeadAsGet), Middleware(Compression)])


@pytest.fixture
def client(one_loop: None) -> TestClient:
    return TestClient(APP, headers={"accept-encoding": "gzip"})


def test_who_takes_gzip_gets_it_with_a_tag_of_its_own(client: TestClient) -> None:
    found = client.get("/long")
    assert found.content == LONG
    assert (found.headers["content-encoding"], found.headers["vary"]) == ("gzip", "Accept-Encoding")
    assert found.headers["etag"] == f"W/{TAG}"
    assert int(found.headers["content-length"]) < len(LONG) / 20


@pytest.mark.parametrize(
    "accepted",
    [
        *(
            "",
            "identity",
            "br",
            "gzip;q=0",
            "gzip;q=0.0, br",
            "br, gzip ; q=0",
            "*;q=0",
            "*, gzip;q=0",
            "gzip; q=0.000",
        ),
        *("gzip;q=0.2, identity", "*;q=0.1, identity;q=0.5"),
    ],
)
def test_who_does_not_gets_the_bytes_as_they_are_and_caches_know(client: TestClient, accepted: str) -> None:
    found = client.get("/long", headers={"accept-encoding": accepted})
    assert "content-encoding" not in found.headers
    assert (found.headers["etag"], found.headers["vary"]) == (TAG, "Accept-Encoding")
    assert found.headers["content-length"] == str(len(LONG))


@pytest.mark.parametrize(
    "accepted",
    [
        *("gzip", "br, gzip", "GZIP;q=0.5", "gzip;q=0.001", "deflate,gzip;q=1.0,*;q=0", "*", "br;q=1, *;q=0.1"),
        *("gzip, identity", "gzip;q=0.8, identity;q=0.5", "gzip; q = 1"),
    ],
)
def test_a_weight_above_nothing_and_not_below_the_plain_text_is_a_yes(client: TestClient, accepted: str) -> None:
    assert takes_gzip(accepted)
    assert client.get("/long", headers={"accept-encoding": accepted}).headers["content-encoding"] == "gzip"


def test_the_cdn_compresses_by_itself(client: TestClient) -> None:
    found = client.get("/long", headers={"via": "2.0 0123abcd.cloudfront.net (CloudFront)"})
    assert "content-encoding" not in found.headers
    assert found.headers["etag"] == TAG


@pytest.mark.parametrize("name", ["short", "picture", "paper"])
def test_what_is_short_or_dense_already_stays_as_it_is(client: TestClient, name: str) -> None:
    found = client.get(f"/{name}")
    assert "content-encoding" not in found.headers
    assert found.headers["etag"] == f'"{PAGES[name].etag}"'


def test_a_drawing_is_text(client: TestClient) -> None:
    assert client.get("/drawing").headers["content-encoding"] == "gzip"


@pytest.mark.parametrize("known", [f"W/{TAG}", TAG, f'"other", W/{TAG}', "*"])
@pytest.mark.parametrize("accepted", ["gzip", "identity"])
def test_what_has_not_changed_is_not_sent_again_in_either_form(client: TestClient, known: str, accepted: str) -> None:
    found = client.get("/long", headers={"if-none-match": known, "accept-encoding": accepted})
    assert (found.status_code, found.content) == (304, b"")
    assert found.headers["etag"] == (f"W/{TAG}" if "W/" in known else TAG)
    assert found.headers["vary"] == "Accept-Encoding"


def test_head_tells_what_get_would(client: TestClient) -> None:
    head, get = client.head("/long"), client.get("/long")
    assert head.content == b""
    assert dict(head.headers) == dict(get.headers)


@pytest.mark.parametrize("event", [payload_1, payload_2])
@pytest.mark.parametrize("name", ["long", "largest"])
def test_through_a_gateway_it_travels_as_base64_and_fits(event: Any, name: str) -> None:
    gateway = Gateway(APP)
    told = gateway(event(f"/{name}", **{"accept-encoding": "gzip, br"}), cast(Any, None))
    assert told["isBase64Encoded"] is True
    assert gzip.decompress(base64.b64decode(told["body"])) == PAGES[name].body
    assert len(json.dumps(told)) < 6 * 1024 * 1024
