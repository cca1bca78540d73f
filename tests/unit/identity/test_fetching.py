"""Which URLs may be fetched for strangers at all (ids C1, C2, C9)."""

from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from urllib3.util import parse_url

from commonplace.kernel.errors import RateLimited
from commonplace.kernel.fetch import PER_HOST, LimitedFetcher, fetchable, host_of
from commonplace.kernel.limits import Limiter
from tests.fakes.authority import Counters
from tests.fakes.identity_clients import FakeWeb

GOOD = [
    "https://app.example/client.json",
    "https://app.example/",
    "https://chatgpt.com/oauth/tU1UVEq8rRTK/client.json",
    "https://a-b.xn--bcher-kva.example/a/b.json?v=1&w=%20",
    "https://1.example/%2ejson",
    "https://app.example/a..b/.well-known/client",
]


@pytest.mark.parametrize("url", GOOD)
def test_https_url_of_a_name_and_a_path_may_be_fetched(url: str) -> None:
    assert fetchable(url)


BAD = [
    "",
    "app.example/c",
    "http://app.example/c",
    "HTTPS://app.example/c",
    "https://App.example/c",
    "https://app.example",
    "https://app.example?x=/",
    "https://app.example#/",
    "https://user@app.example/c",
    "https://user:secret@app.example/c",
    "https://app.example:443/c",
    "https://app.example:8443/c",
    "https://app.example:/c",
    "https://app.example/c#x",
    "https://app.example/c#",
    "https://app.example/./c",
    "https://app.example/../c",
    "https://app.example/a/..",
    "https://app.example/%2e%2e/c",
    "https://app.example/.%2E/c",
    "https://app.example/%2e/c",
    "https://app.example/c\n",
    "https://app.example/c d",
    "https://app.example/c\t",
    "https://app.example/\u00e9",
    "https://app.example/c\\d",
    "https://app.example\\@evil.example/c",
    "https://127.0.0.1/c",
    "https://127.1/c",
    "https://0177.0.0.1/c",
    "https://0x7f000001/c",
    "https://0x7f.0.0.1/c",
    "https://2130706433/c",
    "https://8.8.8.8/c",
    "https://[::1]/c",
    "https://[2606:4700::1]/c",
    "https://localhost/c",
    "https://app/c",
    "https://app.example./c",
    "https://.example/c",
    "https://app..example/c",
    "https://-app.example/c",
    "https://app-.example/c",
    "https://app.e/c",
    "https://app.123/c",
    "https://app.1e/c",
    "https://b\u00fccher.example/c",
    "https://app_x.example/c",
    "https://app.example%00.evil.example/c",
    "https://app.example/" + "x" * 2_048,
    "http://127.0.0.1/c",
    "http://localhost:1/c",
]


def test_c1_c2_c9_any_other_url_is_refused_as_text() -> None:
    for url in BAD:
        assert not fetchable(url)


@pytest.mark.parametrize("url", ["http://127.0.0.1/c", "http://127.0.0.1:8765/c.json", "http://localhost:1/c"])
def test_urls_of_this_machine_may_be_fetched_where_that_is_switched_on(url: str) -> None:
    assert fetchable(url, loopback=True)
    assert not fetchable(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1",
        "http://127.0.0.2/c",
        "http://127.0.0.1.evil.example/c",
        "http://localhost.evil.example/c",
        "http://user@localhost/c",
        "http://169.254.169.254/c",
        "http://localhost/../c",
        "http://[::1]/c",
        "https://localhost/c",
    ],
)
def test_the_switch_lets_nothing_else_through(url: str) -> None:
    assert not fetchable(url, loopback=True)


def test_one_host_is_not_asked_more_often_than_it_should_be() -> None:
    web = FakeWeb({"https://a.example/c": b"", "https://b.example/c": b""})
    fetcher = LimitedFetcher(web, Limiter(Counters(), lambda: 0.0))
    for _ in range(PER_HOST.calls):
        fetcher.get("https://a.example/c", max_bytes=1, seconds=1)

    with pytest.raises(RateLimited) as limited:
        fetcher.get("https://a.example/c", max_bytes=1, seconds=1)
    assert limited.value.retry_after_seconds == 60
    fetcher.get("https://b.example/c", max_bytes=1, seconds=1)
    assert len(web.asked) == PER_HOST.calls + 1


def test_host_has_its_port() -> None:
    assert host_of("http://localhost:1234/c") == "localhost:1234"


PIECES = st.sampled_from(
    [
        *(
            "https://",
            "HTTPS://",
            "http://",
            "//",
            "/",
            "\\",
            "@",
            ":",
            "#",
            "?",
            "%2e",
            "%2f",
            "..",
            ".",
            "%00",
            "\t",
            "\n",
        ),
        *(
            "app.example",
            "evil.example",
            "127.0.0.1",
            "[::1]",
            "localhost",
            "0x7f.1",
            ":443",
            ":80",
            "user",
            "x",
            "é",
            ";",
        ),
    ]
)


@settings(deadline=None)
@given(st.lists(PIECES, max_size=8).map("".join))
@example("https://app.example\\@evil.example/")
@example("https://app.example#@evil.example/")
@example("https://app.example?@evil.example/")
@example("https://app.example;@evil.example/")
@example("https://app.example/@evil.example")
def test_c1_every_reader_of_urls_sees_the_same_host_in_what_may_be_fetched(url: str) -> None:
    if fetchable(url):
        host = host_of(url)
        assert {urlsplit(url).netloc, urlsplit(url).hostname, parse_url(url).netloc, httpx.URL(url).host} == {host}
        assert parse_url(url).auth is None and parse_url(url).port is None
        assert parse_url(url).request_uri == url.removeprefix(f"https://{host}")
