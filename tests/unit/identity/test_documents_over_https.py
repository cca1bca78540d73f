"""Metadata documents over a real TLS connection: from a URL to a client, and what stands in between (ids C)."""

from pathlib import Path
from typing import Any

import pytest

from commonplace.identity.oauth.client_documents import BadDocument, Documents
from commonplace.kernel.guarded_http import GuardedHttp, Network
from commonplace.kernel.limits import Limiter
from commonplace.kernel.public_addresses import is_public
from tests.fakes.authority import Counters
from tests.fakes.identity_clients import FakeClients
from tests.unit.identity.documented import Clock, document, text
from tests.unit.kernel.tls_server import HOST, Server, Talk, answer, saying, serving, stalling, trusting

URL = f"https://{HOST}/client.json"
DOCUMENT = text(document(URL))


def documents(server: Server, **network: Any) -> tuple[Documents, FakeClients]:
    told: dict[str, Any] = {
        "look_up": lambda host, port: ["127.0.0.1"],
        "public": lambda address: True,
        "port": server.port,
        "context": trusting,
    }
    clock = Clock()
    store = FakeClients(clock)
    fetcher = GuardedHttp(network=Network(**told | network))
    return Documents(store, fetcher, Limiter(Counters(), clock), clock), store


def test_client_is_known_by_its_document_for_as_long_as_that_says(tmp_path: Path) -> None:
    with serving(saying(answer(DOCUMENT, headers=["Cache-Control: max-age=7200"])), tmp_path) as server:
        found, store = documents(server)
        client = found.find(URL)
        again = found.find(URL)

    assert (client.id, client.host, again) == (URL, HOST, client)
    assert server.connections == 1
    assert store.document(URL) == (client, 1_800_007_200)


@pytest.mark.parametrize(
    ("talk", "reason"),
    [
        (saying(answer(DOCUMENT, status="302 Found", headers=[f"Location: {URL}?x"])), "status_302"),
        (saying(answer(DOCUMENT, media_type="text/html")), "other_media_type"),
        (saying(answer(DOCUMENT + b" " * 5_120)), "too_large"),
        (saying(answer(text(document(URL + "?x")))), "document_not_valid"),
        (saying(answer(b"<html>")), "document_not_valid"),
        (saying(b""), "connection_failed"),
    ],
)
def test_c3_c4_c5_c6_what_is_no_document_is_kept_as_a_failure(talk: Talk, reason: str, tmp_path: Path) -> None:
    with serving(talk, tmp_path) as server:
        found, store = documents(server)
        for expected in (reason, "failed_lately"):
            with pytest.raises(BadDocument) as bad:
                found.find(URL)
            assert bad.value.reason == expected

    assert server.connections == 1
    assert store.document(URL) == (None, 1_800_000_060)


@pytest.mark.parametrize("address", ["127.0.0.1", "169.254.169.254", "::ffff:10.0.0.1", "64:ff9b::a9fe:a9fe"])
def test_c7_name_that_leads_inside_is_never_connected_to(address: str, tmp_path: Path) -> None:
    with serving(stalling(), tmp_path) as server:
        found, _ = documents(server, look_up=lambda *_: [address], public=is_public)
        with pytest.raises(BadDocument) as bad:
            found.find(URL)

    assert (bad.value.reason, server.connections) == ("address_not_public", 0)
