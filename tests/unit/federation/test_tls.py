"""Partners over TLS on this machine: whose certificate is believed, and a name that leads elsewhere later."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from mcp.server.transport_security import TransportSecuritySettings

from commonplace.federation.client.connection import Connections
from commonplace.federation.client.transport import GuardedTransport
from commonplace.federation.model import Contact, PartnerFailed
from tests.fakes.partners import Seen, server, serving, watched
from tests.unit.kernel.tls_server import HOST, bundle, trusting

OTHER = "other.example"


@pytest.fixture
def seen() -> Seen:
    return Seen()


@pytest.fixture
def port(seen: Seen, tmp_path: Path) -> Iterator[int]:
    """Of a partner with a certificate for HOST."""
    app = server().streamable_http_app(
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False)
    )
    with serving(watched(app, seen), ssl_certfile=bundle(tmp_path)) as url:
        yield urlsplit(url).port or 0


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that were looked up: each is at this machine the first time, and in a private network ever after."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def answer(host: Any, port: Any, *more: Any, **named: Any) -> Any:
        if host not in (HOST, OTHER):
            return real(host, port, *more, **named)
        asked.append(host)
        return real("10.0.0.1" if asked.count(host) > 1 else "127.0.0.1", port, *more, **named)

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    return asked


def tools(port: int, host: str, trusted: ssl.SSLContext | None) -> list[str]:
    """As a deployment asks, but for the port, whom it believes, and this machine, which counts as public."""
    transport = partial(GuardedTransport, public=lambda one: one == "127.0.0.1", tls=trusted, port=port)
    with closing(Connections(transport)) as connections:
        found, known = connections.run(connections.tools(Contact(f"https://{host}/mcp"), 10))
        again, _ = connections.run(connections.tools(known, 10))
    assert again == found
    return [tool["name"] for tool in found]


def test_a_name_is_looked_up_once_and_its_certificate_believed(port: int, looked_up: list[str], seen: Seen) -> None:
    assert tools(port, HOST, trusting()) == ["search_knowledge", "add", "read"]
    assert looked_up == [HOST]
    assert seen.methods == ["POST server/discover", "POST tools/list", "POST tools/list"]


@pytest.mark.parametrize("host", [OTHER, HOST], ids=["another name", "an unknown authority"])
def test_a_certificate_that_is_not_the_partners_is_refused(
    host: str, port: int, looked_up: list[str], seen: Seen
) -> None:
    with pytest.raises(PartnerFailed, match="unreachable"):
        tools(port, host, trusting() if host == OTHER else None)
    assert set(looked_up) == {host}
    assert seen.raw == []


def test_a_name_that_leads_elsewhere_later_is_not_followed(port: int, looked_up: list[str], seen: Seen) -> None:
    tools(port, HOST, trusting())
    seen.raw.clear()
    with pytest.raises(PartnerFailed, match="address_not_public"):
        tools(port, HOST, trusting())
    assert seen.raw == []
