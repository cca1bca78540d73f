"""Calls of partners over HTTP on this machine: requests counted in each era, and each way to behave badly."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial

import pytest

from commonplace.federation.client import transport
from commonplace.federation.client.connection import Connections
from commonplace.federation.client.transport import MAX_ANSWER_BYTES, GuardedTransport, PublicAddresses
from commonplace.federation.model import VIA, Contact, PartnerFailed, hits_of
from commonplace.kernel.fetch import FetchFailed
from tests.fakes.partners import BAD, DISCOVER, HITS, MODERN, bad, partner, serving

CALL = "POST tools/call"
SECONDS = 1.0


@pytest.fixture(scope="module")
def connections() -> Iterator[Connections]:
    with closing(Connections(partial(GuardedTransport, loopback=True))) as made:
        yield made


@pytest.fixture
def deployed() -> Iterator[Connections]:
    """Connections as a deployment has them."""
    with closing(Connections()) as made:
        yield made


def search(connections: Connections, contact: Contact, seconds: float = 10) -> Contact:
    said, known = connections.run(
        connections.call(contact, "search_knowledge", {"query": "nets"}, ("garden.example",), seconds)
    )
    assert [hit.title for hit in hits_of("partner", said.structured, said.text)] == [hit["title"] for hit in HITS]
    assert not said.is_error
    return known


def test_a_modern_partner_is_asked_once(connections: Connections) -> None:
    with partner() as (url, seen):
        known = search(connections, Contact(url))
        assert seen.methods == [f"POST {DISCOVER}", CALL]
        assert known.era == MODERN
        seen.methods.clear()
        assert search(connections, known) == known
        assert seen.methods == [CALL]
        assert b"garden.example" in seen.raw[-1]
        assert VIA.encode() in seen.raw[-1]


@pytest.mark.parametrize(
    ("stateless", "expected"),
    [
        (True, ["POST initialize", "POST notifications/initialized", CALL]),
        (False, ["DELETE", "GET", "POST initialize", "POST notifications/initialized", CALL]),
    ],
)
def test_a_legacy_partner_takes_its_handshake(connections: Connections, stateless: bool, expected: list[str]) -> None:
    with partner(legacy=True, stateless=stateless) as (url, seen):
        known = search(connections, Contact(url))
        assert (known.era, known.discovered) == ("legacy", "")
        seen.methods.clear()
        assert search(connections, known) == known
        assert sorted(one for one in seen.methods if not (stateless and one == "GET")) == expected


def test_a_partner_that_has_changed_its_era_is_found_out_once(connections: Connections) -> None:
    with partner() as (url, _):
        modern = search(connections, Contact(url))
    with partner(legacy=True) as (url, seen):
        known = search(connections, Contact(url, modern.era, modern.discovered))
        assert known.era == "legacy"
        assert seen.methods.count(CALL) == 2
    with partner() as (url, seen):
        assert search(connections, Contact(url, "legacy")).era in ("legacy", MODERN)


def test_tools_are_listed_as_the_partner_writes_them(connections: Connections) -> None:
    with partner() as (url, _):
        tools, _ = connections.run(connections.tools(Contact(url)))
    assert [tool["name"] for tool in tools] == ["search_knowledge", "add", "read"]
    assert tools[0]["annotations"] == {"readOnlyHint": True}


REASONS = {
    "slow": {"too_slow"},
    "drip": {"too_slow"},
    "flood": {"too_large"},
    "flood of events": {"too_large", "too_slow", "refused"},
    "redirect": {"refused", "unreachable", "malformed"},
    "page": {"refused", "malformed"},
    "garbage": {"refused", "malformed"},
    "deep": {"refused", "malformed"},
    "megabytes": {"too_large"},
    "no result": {"refused", "malformed"},
    "error": {"refused"},
}


@pytest.mark.parametrize("how", BAD)
@pytest.mark.parametrize("era", ["", MODERN, "legacy"])
def test_a_partner_that_behaves_badly_fails_alone_and_in_time(connections: Connections, how: str, era: str) -> None:
    with serving(bad(how)) as url:
        began = time.monotonic()
        with pytest.raises(PartnerFailed) as failed:
            connections.run(connections.call(Contact(url, era), "search_knowledge", {"query": "x"}, (), SECONDS))
    assert failed.value.reason in REASONS[how]
    assert time.monotonic() - began < SECONDS + 5


def test_a_port_that_is_closed_is_unreachable(connections: Connections) -> None:
    with serving(bad("slow")) as url:
        pass
    with pytest.raises(PartnerFailed, match="unreachable"):
        connections.run(connections.call(Contact(url), "search_knowledge", {}, (), SECONDS))


@pytest.mark.parametrize(
    "url",
    [
        *("http://partner.example/mcp", "https://127.0.0.1/mcp", "https://localhost/mcp", "https://[::1]/mcp"),
        *("http://127.0.0.1:1/mcp", "https://0x7f.1/mcp", "https://u:p@partner.example/mcp", "file:///etc/passwd"),
        *("https://partner.example:8443/mcp", "https://169.254.169.254/mcp"),
    ],
)
def test_no_address_of_another_kind_is_asked(deployed: Connections, url: str) -> None:
    with pytest.raises(PartnerFailed, match="url_not_allowed"):
        deployed.run(deployed.tools(Contact(url), SECONDS))


@pytest.mark.parametrize("addresses", [["127.0.0.1"], ["10.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["::ffff:127.0.0.1"], []])
def test_a_name_with_an_address_that_is_not_public_is_not_asked(
    monkeypatch: pytest.MonkeyPatch, deployed: Connections, addresses: list[str]
) -> None:
    async def found(_: str, __: int) -> list[str]:
        return addresses

    monkeypatch.setattr(transport, "look_up", found)
    with pytest.raises(PartnerFailed, match="address_not_public" if addresses else "name_unknown"):
        deployed.run(deployed.tools(Contact("https://partner.example/mcp"), SECONDS))


def test_the_connection_goes_to_an_address_that_was_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([["8.8.8.8"], ["127.0.0.1"]])
    asked: list[str] = []

    async def rebound(_: str, __: int) -> list[str]:
        return next(answers)

    async def connect(_: object, host: str, *__: object) -> object:
        asked.append(host)
        raise ConnectionRefusedError

    monkeypatch.setattr(transport, "look_up", rebound)
    monkeypatch.setattr("httpcore2.AnyIOBackend.connect_tcp", connect)

    async def story() -> None:
        with pytest.raises(ConnectionError):
            await PublicAddresses(lambda address: address == "8.8.8.8").connect_tcp("partner.example", 443)
        with pytest.raises(FetchFailed, match="address_not_public"):
            await PublicAddresses(lambda address: address == "8.8.8.8").connect_tcp("partner.example", 443)

    asyncio.run(story())
    assert asked == ["8.8.8.8"]


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with partner() as (url, seen), serving(bad("error")) as proxy:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy)
        with closing(Connections(partial(GuardedTransport, loopback=True))) as fresh:
            search(fresh, Contact(url))
        assert seen.methods


def test_the_pool_that_is_replaced_is_the_one_that_the_library_uses() -> None:
    made = GuardedTransport(tls=ssl.create_default_context())
    assert made._pool._network_backend.__class__ is PublicAddresses


def test_no_more_is_read_than_a_partner_may_say() -> None:
    assert MAX_ANSWER_BYTES == 1024 * 1024
