"""What every store of clients does: DynamoDB and the fake that stands for it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.identity.ports import ClientStore
from commonplace.identity.records import Client
from commonplace.identity.store.clients import DynamoClients
from commonplace.kernel.audit import AuditRecord, Lost
from commonplace.kernel.errors import Unavailable
from tests.aws_fixture import TABLE
from tests.fakes.identity_clients import FakeClients

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

URL = "https://app.example/client.json"
KEYS = {"keys": [{"kty": "EC", "kid": "1", "crv": "P-256", "x": "AA", "y": "BB", "key_ops": ["verify"]}]}


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["DynamoDB", "fake"])
def store(request: pytest.FixtureRequest, clock: Clock) -> ClientStore:
    if request.param == "fake":
        return FakeClients(clock)
    client = request.getfixturevalue("dynamodb")
    return DynamoClients(client, TABLE, TABLE, clock=clock, sleep=lambda _: None)


def a_client(**values: Any) -> Client:
    base: dict[str, Any] = {"id": "cpi_1", "name": "An app", "source": "registered", "created_at": 5}
    return Client(**base | values)


WHOLE = a_client(
    redirect_uris=("https://app.example/cb", "cursor://x/y"),
    auth_method="private_key_jwt",
    method_given=False,
    secret_hash="0" * 64,
    grant_types=("client_credentials",),
    scopes=("knowledge:read",),
    organisation="acme",
    agent="bot",
    tier="member",
    jwks=KEYS,
    uri="https://app.example/",
    application_type="native",
    expires_at=1_000_500,
)


@pytest.mark.parametrize("client", [a_client(), WHOLE], ids=["bare", "whole"])
def test_a_client_comes_back_as_it_was_added(store: ClientStore, client: Client) -> None:
    store.add_client(client)

    assert store.client(client.id) == client


def test_nobody_is_known_by_an_id_that_was_never_given(store: ClientStore) -> None:
    assert store.client("cpi_2") is None
    assert store.client("x" * 5_000) is None


def test_the_same_id_cannot_be_added_twice(store: ClientStore) -> None:
    store.add_client(a_client())

    with pytest.raises(Lost):
        store.add_client(a_client(name="Another"))
    assert store.client("cpi_1") == a_client()


def test_an_expired_client_is_gone_though_it_is_still_stored(store: ClientStore, clock: Clock) -> None:
    store.add_client(a_client(expires_at=1_000_500))

    clock.now = 1_000_500
    assert store.client("cpi_1") is None
    assert list(store.clients()) == []


def test_renewing_lengthens_a_registration_and_never_shortens_it(store: ClientStore) -> None:
    store.add_client(a_client(expires_at=1_000_500))

    store.renew_client("cpi_1", 1_000_400)
    assert store.client("cpi_1") == a_client(expires_at=1_000_500)
    store.renew_client("cpi_1", 1_000_900)
    assert store.client("cpi_1") == a_client(expires_at=1_000_900)


def test_renewing_brings_nobody_back(store: ClientStore, clock: Clock) -> None:
    store.add_client(a_client(expires_at=1_000_500))
    store.renew_client("cpi_9", 1_000_900)
    clock.now = 1_000_600

    store.renew_client("cpi_1", 1_000_900)
    assert store.client("cpi_1") is None
    assert store.client("cpi_9") is None


def test_a_client_that_lasts_stays_without_an_end_when_it_is_renewed(store: ClientStore) -> None:
    store.add_client(a_client())

    store.renew_client("cpi_1", 1_000_900)
    assert store.client("cpi_1") == a_client()


def test_removing_tells_whether_there_was_one(store: ClientStore) -> None:
    store.add_client(a_client())

    assert [store.remove_client("cpi_1"), store.remove_client("cpi_1")] == [True, False]
    assert store.client("cpi_1") is None


def test_operators_see_every_client_and_no_document(store: ClientStore) -> None:
    store.add_client(a_client(id="cpi_1"))
    store.add_client(WHOLE if WHOLE.id != "cpi_1" else a_client(id="cpi_2"))
    store.keep_document(URL, a_client(id=URL, source="document"), 1_000_500)

    assert sorted(client.id for client in store.clients()) == ["cpi_1", "cpi_2"]


def test_a_document_is_kept_until_it_expires(store: ClientStore, clock: Clock) -> None:
    client = a_client(id=URL, source="document")
    store.keep_document(URL, client, 1_000_500)

    assert store.document(URL) == (client, 1_000_500)
    clock.now = 1_000_500
    assert store.document(URL) is None


def test_a_failed_document_is_remembered_as_failed(store: ClientStore) -> None:
    store.keep_document(URL, None, 1_000_060)

    assert store.document(URL) == (None, 1_000_060)
    store.keep_document(URL, a_client(id=URL, source="document"), 1_000_500)
    assert store.document(URL) == (a_client(id=URL, source="document"), 1_000_500)


def test_a_document_can_be_forgotten(store: ClientStore) -> None:
    store.keep_document(URL, None, 1_000_060)
    store.forget_document(URL)

    assert store.document(URL) is None
    assert store.document(URL + "?") is None


def test_a_value_is_good_once_for_its_kind_until_it_expires(store: ClientStore, clock: Clock) -> None:
    assert store.once("jti", "a", 1_000_500)
    assert not store.once("jti", "a", 1_000_900)
    assert store.once("jti", "b", 1_000_500)
    assert store.once("nonce", "a", 1_000_500)

    clock.now = 1_000_500
    assert store.once("jti", "a", 1_000_900)


def test_of_many_that_use_a_value_at_once_one_is_first(store: ClientStore) -> None:
    with ThreadPoolExecutor(4) as pool:
        firsts = list(pool.map(lambda _: store.once("jti", "a", 1_000_500), range(8)))

    assert firsts.count(True) == 1


def record(event: str) -> AuditRecord:
    return AuditRecord(event=event, outcome="ok", at=1_000_000.0, client="cpi_1")


def told(client: "DynamoDBClient") -> list[str]:
    return [item["event"]["S"] for item in client.scan(TableName=TABLE)["Items"] if "event" in item]


def test_what_happened_is_recorded_in_the_same_transaction(dynamodb: "DynamoDBClient", clock: Clock) -> None:
    store = DynamoClients(dynamodb, TABLE, TABLE, clock=clock)
    store.add_client(a_client(), [record("register")])
    with pytest.raises(Lost):
        store.add_client(a_client(), [record("twice")])
    store.remove_client("cpi_9", [record("removed nobody")])

    assert told(dynamodb) == ["register"]


def test_an_item_that_is_no_client_counts_as_absent(dynamodb: "DynamoDBClient", clock: Clock) -> None:
    store = DynamoClients(dynamodb, TABLE, TABLE, clock=clock)
    store.add_client(a_client())
    store.keep_document(URL, a_client(id=URL, source="document"), 1_000_500)
    for item in dynamodb.scan(TableName=TABLE)["Items"]:
        dynamodb.put_item(TableName=TABLE, Item=dict(item) | {"authMethod": {"S": "of a later version"}})

    assert (store.client("cpi_1"), store.document(URL), list(store.clients())) == (None, None, [])


@pytest.mark.parametrize(
    "call",
    [
        lambda store: store.client("a"),
        lambda store: store.add_client(a_client()),
        lambda store: store.renew_client("a", 1),
        lambda store: store.remove_client("a"),
        lambda store: list(store.clients()),
        lambda store: store.document(URL),
        lambda store: store.keep_document(URL, None, 1),
        lambda store: store.forget_document(URL),
        lambda store: store.once("jti", "a", 1),
    ],
)
def test_a_table_that_does_not_answer_is_unavailable(
    dynamodb: "DynamoDBClient", call: Callable[[ClientStore], object]
) -> None:
    store = DynamoClients(dynamodb, "elsewhere", "elsewhere", sleep=lambda _: None)

    with pytest.raises(Unavailable):
        call(store)
