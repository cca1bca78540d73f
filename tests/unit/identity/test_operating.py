"""Clients that an operator makes, and clients found by their id."""

from typing import Any

import pytest

from commonplace.identity.oauth.client_documents import Documents
from commonplace.identity.oauth.clients import Clients, UnknownClient
from commonplace.identity.oauth.registration import BadClient, OperatorClients
from commonplace.identity.records import REGISTRATION_SECONDS, Client
from commonplace.identity.secrets import digest
from commonplace.kernel.errors import Unavailable
from tests.fakes.identity_clients import FakeClients
from tests.unit.identity.documented import Clock, World


class Store(FakeClients):
    """One whose renewals can fail."""

    down = False

    def renew_client(self, client_id: str, expires_at: int) -> None:
        if self.down:
            raise Unavailable("The table does not answer.")
        super().renew_client(client_id, expires_at)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(clock: Clock) -> Store:
    return Store(clock)


@pytest.fixture
def operating(store: Store, clock: Clock) -> OperatorClients:
    return OperatorClients(store, clock)


def found(store: Store, clock: Clock, client_id: str) -> Client:
    return Clients(store, Documents(store, World().web, World().limiter, clock), clock).find(client_id)


def test_agent_gets_credentials_for_its_organisation_and_scopes(
    operating: OperatorClients, store: Store, clock: Clock
) -> None:
    client, secret = operating.add_agent(
        "importer", organisation="acme", scopes=["memory:write", "knowledge:read"], tier="member", name="The importer"
    )

    assert found(store, clock, client.id) == client
    assert client.grant_types == ("client_credentials",)
    assert (client.organisation, client.agent, client.tier) == ("acme", "importer", "member")
    assert client.scopes == ("knowledge:read", "memory:write")
    assert (client.auth_method, client.method_given) == ("client_secret_basic", False)
    assert client.secret_hash == digest(secret)
    assert client.redirect_uris == () and client.expires_at is None
    assert secret not in repr(client) + repr(store.audit)


@pytest.mark.parametrize(
    "changed",
    [
        {"agent": ""},
        {"agent": "Importer"},
        {"agent": "a b"},
        {"agent": "x" * 65},
        {"organisation": ""},
        {"organisation": "a#b"},
        {"organisation": "\u00e4"},
        {"scopes": []},
        {"scopes": ["knowledge:read", "knowledge:everything"]},
        {"tier": "root"},
    ],
)
def test_agent_that_cannot_be_is_refused_with_what_would_be_valid(
    operating: OperatorClients, store: Store, changed: dict[str, Any]
) -> None:
    values = {"agent": "importer", "organisation": "acme", "scopes": ["knowledge:read"]} | changed

    with pytest.raises(BadClient, match="must be"):
        operating.add_agent(values.pop("agent"), **values)
    assert list(store.clients()) == []


def test_application_is_known_beforehand_with_or_without_a_secret(operating: OperatorClients) -> None:
    bare, none = operating.add_client("Desk", ["https://desk.example/cb"])
    safe, secret = operating.add_client(
        "Desk", ["https://desk.example/cb"], scopes=["knowledge:read"], confidential=True
    )

    assert (bare.auth_method, none, bare.scopes) == ("none", None, ())
    assert safe.auth_method == "client_secret_basic" and safe.secret_hash == digest(secret or "")
    assert safe.scopes == ("knowledge:read",)


@pytest.mark.parametrize(
    ("name", "uris"),
    [
        ("", ["https://desk.example/cb"]),
        ("\u202e", ["https://desk.example/cb"]),
        ("Desk", []),
        ("Desk", ["http://desk.example/cb"]),
        ("Desk", ["javascript:alert(1)"]),
        ("Desk", ["https://desk.example/cb", "myapp://cb"]),
        ("Desk", ["https://desk.example/cb?code=x"]),
    ],
)
def test_application_without_a_name_or_with_a_bad_redirect_is_refused(
    operating: OperatorClients, store: Store, name: str, uris: list[str]
) -> None:
    with pytest.raises(BadClient):
        operating.add_client(name, uris)
    assert list(store.clients()) == []


def test_clients_are_listed_the_newest_first_and_removed_for_good(
    operating: OperatorClients, store: Store, clock: Clock
) -> None:
    first, _ = operating.add_client("One", ["https://one.example/cb"])
    clock.now += 1
    second, _ = operating.add_client("Two", ["https://two.example/cb"])

    assert operating.clients() == [second, first]
    assert [operating.remove(first.id), operating.remove(first.id)] == [True, False]
    with pytest.raises(UnknownClient):
        found(store, clock, first.id)
    assert [record.event for record in store.audit] == ["client_added", "client_added", "client_removed"]


@pytest.mark.parametrize("client_id", ["cpi_" + "x" * 300, "a b", "cpi_#", "cpi_1\x00", "../x", "client", ""])
def test_id_that_was_never_given_is_unknown(store: Store, clock: Clock, client_id: str) -> None:
    with pytest.raises(UnknownClient):
        found(store, clock, client_id)


def test_registration_that_cannot_be_renewed_just_now_is_still_used(store: Store, clock: Clock) -> None:
    client = Client(id="cpi_1", name="x", source="registered", expires_at=int(clock.now) + 5)
    store.add_client(client)
    clients = Clients(store, Documents(store, World().web, World().limiter, clock), clock)
    store.down = True
    clients.used(client)
    store.down = False
    clients.used(client)

    assert clients.find("cpi_1").expires_at == int(clock.now) + REGISTRATION_SECONDS


def test_client_of_an_operator_is_never_given_an_end(operating: OperatorClients, store: Store, clock: Clock) -> None:
    client, _ = operating.add_client("One", ["https://one.example/cb"])
    Clients(store, Documents(store, World().web, World().limiter, clock), clock).used(client)

    assert found(store, clock, client.id).expires_at is None
