"""What every store of grants, sign-ins and audit records does: DynamoDB and the fakes that stand for it."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from botocore.exceptions import EndpointConnectionError

from commonplace.identity.ports import GrantStore, SignInStore
from commonplace.identity.records import (
    AuthorizationRequest,
    Challenge,
    Code,
    Grant,
    PendingRequest,
    ProviderSession,
    Refresh,
    Remembered,
    Session,
)
from commonplace.identity.store.grants import DynamoGrants
from commonplace.identity.store.sign_ins import DynamoSignIns
from commonplace.kernel.audit import AuditLog, AuditRecord, Lost
from commonplace.kernel.audit_store import DynamoAudit, position
from commonplace.kernel.errors import Unavailable
from tests.aws_fixture import TABLE
from tests.dynamodb_fixture import new_table
from tests.fakes.authority import APP, Authority
from tests.fakes.failing import CANCELED, Failing, refusal
from tests.fakes.identity_stores import Clock, MemoryAudit, MemoryGrants, MemorySignIns

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

START = 1_800_000_000

ASKED = AuthorizationRequest(
    client_id="client",
    redirect_uri="https://app.example/back",
    redirect_given=True,
    resource="https://kb.example/mcp",
    scopes=("knowledge:read",),
    challenge="c" * 43,
    state="a b\udcff",
)


class Tables(NamedTuple):
    client: "DynamoDBClient"
    identity: str
    activity: str


@dataclass
class Stores:
    clock: Clock
    grants: GrantStore
    signins: SignInStore
    audit: AuditLog


@pytest.fixture
def identity_table(dynamodb: "DynamoDBClient") -> Tables:
    return Tables(dynamodb, new_table(dynamodb, "identity"), TABLE)


@pytest.fixture(params=["DynamoDB", "fake", pytest.param("DynamoDB Local", marks=pytest.mark.real)])
def stores(request: pytest.FixtureRequest) -> Stores:
    clock = Clock(START)
    if request.param == "fake":
        grants = MemoryGrants(clock)
        return Stores(clock, grants, MemorySignIns(clock), grants.audit)
    if request.param == "DynamoDB":
        return over(request.getfixturevalue("identity_table"), clock)
    client = request.getfixturevalue("dynamodb_local")
    return over(Tables(client, new_table(client, "identity"), new_table(client, "activity")), clock)


def over(tables: Tables, clock: Clock) -> Stores:
    client, identity, activity = tables
    return Stores(
        clock,
        DynamoGrants(client, identity, activity, clock=clock, sleep=lambda _: None),
        DynamoSignIns(client, identity, clock=clock),
        DynamoAudit(client, activity),
    )


def a_grant(name: str = "g1", **changes: Any) -> Grant:
    values: dict[str, Any] = {
        "id": name,
        "kind": "person",
        "subject_hash": "alice",
        "client_id": "client",
        "client_name": "An app",
        "resource": ASKED.resource,
        "scopes": ("knowledge:read", "knowledge:write"),
        "created_at": START,
        "expires_at": START + 1_000,
        "sealed_profile": b"\x00sealed",
    }
    return Grant(**values | changes)


def a_code(grant: str = "g1", name: str = "c1") -> Code:
    return Code(
        hash=name,
        grant_id=grant,
        client_id="client",
        redirect_uri=ASKED.redirect_uri,
        redirect_given=True,
        challenge=ASKED.challenge,
        resource=ASKED.resource,
        scopes=ASKED.scopes,
        sealed_grant=b"sealed",
        expires_at=START + 60,
    )


def a_token(name: str = "r1", grant: str = "g1", expires_at: int = START + 500) -> Refresh:
    return Refresh(hash=name, grant_id=grant, client_id="client", sealed_grant=b"sealed", expires_at=expires_at)


def spent(token: Refresh, heir: Refresh) -> Refresh:
    return replace(token, phase="spent", heir=heir.hash, salt="salt", spent_at=START)


def told(event: str) -> list[AuditRecord]:
    return [AuditRecord(event=event, outcome="ok", at=START, organisation="default", details={"scopes": "a b"})]


def events(stores: Stores) -> set[str]:
    return {record.event for record in stores.audit.read("default")}


def test_what_is_opened_is_found_as_it_was(stores: Stores) -> None:
    grant = a_grant(resource_scopes=("documents",), organisation="default", last_used_from="192.0.2.1")
    stores.grants.open(grant, a_code(), a_token(), told("grant"))

    assert stores.grants.grant("g1") == grant
    assert stores.grants.code("c1") == a_code()
    assert stores.grants.refresh("r1") == a_token()
    assert list(stores.audit.read("default")) == told("grant") or events(stores) == {"grant"}


def test_what_was_never_there_is_not_found(stores: Stores) -> None:
    assert (stores.grants.grant("x"), stores.grants.code("x"), stores.grants.refresh("x")) == (None, None, None)
    assert not stores.grants.revoke("x", "user", START)
    assert list(stores.grants.of_subject("x")) == []


def test_a_grant_is_opened_once(stores: Stores) -> None:
    stores.grants.open(a_grant(), a_code())
    with pytest.raises(Lost):
        stores.grants.open(a_grant(), a_code("g1", "c2"))
    with pytest.raises(Lost):
        stores.grants.open(a_grant("g2"), a_code("g2", "c1"))

    assert stores.grants.code("c2") is None
    assert stores.grants.grant("g2") is None


def test_a_code_is_redeemed_once(stores: Stores) -> None:
    stores.grants.open(a_grant(), a_code())
    stores.grants.redeem(a_code(), a_token(), START + 5, told("grant"))
    with pytest.raises(Lost):
        stores.grants.redeem(a_code(), a_token("r2"), START + 6, told("twice"))

    code, grant = stores.grants.code("c1"), stores.grants.grant("g1")
    assert code is not None and code.used_at == START + 5
    assert grant is not None and grant.last_used_at == START + 5
    assert stores.grants.refresh("r1") == a_token()
    assert stores.grants.refresh("r2") is None
    assert events(stores) == {"grant"}


def test_a_code_of_a_revoked_grant_is_not_redeemed(stores: Stores) -> None:
    stores.grants.open(a_grant(), a_code())
    assert stores.grants.revoke("g1", "user", START + 1)
    with pytest.raises(Lost):
        stores.grants.redeem(a_code(), a_token(), START + 2)

    assert stores.grants.refresh("r1") is None


def test_a_code_is_known_until_its_grant_ends(stores: Stores) -> None:
    stores.grants.open(a_grant(), a_code())
    stores.clock.forward(999)
    assert stores.grants.code("c1") == a_code()

    stores.clock.forward(1)
    assert stores.grants.code("c1") is None


def test_l3_what_has_expired_is_gone_though_it_is_still_there(stores: Stores) -> None:
    stores.grants.open(a_grant(), None, a_token())
    stores.clock.forward(500)
    assert stores.grants.refresh("r1") is None

    stores.clock.forward(500)
    assert stores.grants.grant("g1") is None
    assert list(stores.grants.of_subject("alice")) == []
    assert list(stores.grants.all()) == []
    assert not stores.grants.revoke("g1", "user", START + 1_000)


def test_a_token_is_spent_for_one_heir(stores: Stores) -> None:
    first, heir, other = a_token(), a_token("r2"), a_token("r3")
    stores.grants.open(a_grant(), None, first)
    stores.grants.rotate(spent(first, heir), heir, None, START + 1, told("refresh"))
    with pytest.raises(Lost):
        stores.grants.rotate(spent(first, other), other, None, START + 2, told("twice"))

    found = stores.grants.refresh("r1")
    assert found == replace(first, phase="spent", heir="r2", salt="salt", spent_at=START + 1)
    assert stores.grants.refresh("r2") == heir
    assert stores.grants.refresh("r3") is None
    assert events(stores) == {"refresh"}


def test_an_unused_heir_is_voided_for_another(stores: Stores) -> None:
    first, heir, other = a_token(), a_token("r2"), a_token("r3")
    stores.grants.open(a_grant(), None, first)
    stores.grants.rotate(spent(first, heir), heir, None, START)
    stores.grants.rotate(spent(first, other), other, heir, START + 100)

    found = stores.grants.refresh("r1")
    assert found is not None and (found.heir, found.spent_at) == ("r3", START + 100)
    assert stores.grants.refresh("r2") == replace(heir, phase="void")
    with pytest.raises(Lost):
        stores.grants.rotate(spent(first, heir), a_token("r4"), heir, START + 200)


def test_an_heir_that_was_used_is_not_voided(stores: Stores) -> None:
    first, heir, third = a_token(), a_token("r2"), a_token("r3")
    stores.grants.open(a_grant(), None, first)
    stores.grants.rotate(spent(first, heir), heir, None, START)
    stores.grants.rotate(spent(heir, third), third, None, START)
    with pytest.raises(Lost):
        stores.grants.rotate(spent(first, a_token("r4")), a_token("r4"), heir, START)
    with pytest.raises(Lost):
        stores.grants.retried(first, heir, START)

    assert stores.grants.refresh("r4") is None


def test_the_same_heir_is_given_again_while_it_is_unused(stores: Stores) -> None:
    first, heir = a_token(), a_token("r2")
    stores.grants.open(a_grant(), None, first)
    stores.grants.rotate(spent(first, heir), heir, None, START)
    stores.grants.retried(spent(first, heir), heir, START + 7, told("again"))

    grant = stores.grants.grant("g1")
    assert grant is not None and grant.last_used_at == START + 7
    assert events(stores) == {"again"}


def test_f9_nothing_rotates_in_a_revoked_grant(stores: Stores) -> None:
    first, heir = a_token(), a_token("r2")
    stores.grants.open(a_grant(), None, first)
    stores.grants.revoke("g1", "user", START)
    with pytest.raises(Lost):
        stores.grants.rotate(spent(first, heir), heir, None, START)
    with pytest.raises(Lost):
        stores.grants.retried(spent(first, heir), first, START)

    assert stores.grants.refresh("r2") is None


def test_v5_a_grant_ends_once(stores: Stores) -> None:
    stores.grants.open(a_grant(), a_code())
    assert stores.grants.revoke("g1", "user", START + 3, told("revoke"))
    assert not stores.grants.revoke("g1", "again", START + 4, told("twice"))

    grant = stores.grants.grant("g1")
    assert grant is not None and (grant.revoked_at, grant.revoked_because) == (START + 3, "user")
    assert list(stores.grants.of_subject("alice")) == []
    assert events(stores) == {"revoke"}


def test_one_access_token_ends_alone(stores: Stores) -> None:
    stores.grants.open(a_grant())
    stores.grants.revoke_token("g1", "one", START + 100, told("revoke"))
    stores.grants.revoke_token("g1", "one", START + 100)
    stores.grants.revoke_token("g1", "two", START + 200)
    stores.grants.revoke_token("absent", "two", START + 200)

    grant = stores.grants.grant("g1")
    assert grant is not None and grant.revoked_tokens == {"one": START + 100, "two": START + 200}


def test_revoked_tokens_that_have_expired_are_dropped(stores: Stores) -> None:
    stores.grants.open(a_grant())
    stores.grants.revoke_token("g1", "one", START + 100)
    stores.clock.forward(100)
    stores.grants.revoke_token("g1", "two", START + 200)

    grant = stores.grants.grant("g1")
    assert grant is not None and grant.revoked_tokens == {"two": START + 200}


def test_l5_a_grant_whose_tokens_are_revoked_by_the_dozen_ends(stores: Stores) -> None:
    stores.grants.open(a_grant())
    for number in range(51):
        stores.grants.revoke_token("g1", str(number), START + 100)

    grant = stores.grants.grant("g1")
    assert grant is not None and grant.revoked_at is not None
    assert len(grant.revoked_tokens) == 50


def test_a_use_is_noted_every_five_minutes(stores: Stores) -> None:
    stores.grants.open(a_grant())
    stores.grants.touch("g1", START, "192.0.2.1")
    stores.grants.touch("g1", START + 299, "192.0.2.2")
    stores.grants.touch("absent", START, "192.0.2.2")
    grant = stores.grants.grant("g1")
    assert grant is not None and (grant.last_used_at, grant.last_used_from) == (START, "192.0.2.1")
    assert stores.grants.grant("absent") is None

    stores.grants.touch("g1", START + 300, "192.0.2.2")
    grant = stores.grants.grant("g1")
    assert grant is not None and (grant.last_used_at, grant.last_used_from) == (START + 300, "192.0.2.2")


def test_l4_a_person_sees_their_own_grants_newest_first(stores: Stores) -> None:
    stores.grants.open(a_grant("g1"))
    stores.grants.open(a_grant("g2", created_at=START + 1, client_id="other"))
    stores.grants.open(a_grant("g3", subject_hash="bob"))
    stores.grants.open(a_grant("g4", created_at=START + 2))
    stores.grants.revoke("g4", "user", START + 3)

    assert [grant.id for grant in stores.grants.of_subject("alice")] == ["g2", "g1"]
    assert [grant.id for grant in stores.grants.of_subject("bob")] == ["g3"]
    assert {grant.id for grant in stores.grants.all()} == {"g1", "g2", "g3"}


def test_l5_the_oldest_grants_make_room(stores: Stores) -> None:
    stores.grants.open(a_grant("other client", client_id="other"))
    stores.grants.open(a_grant("other person", subject_hash="bob"))
    for number in range(12):
        stores.grants.open(a_grant(f"g{number:02}", created_at=START + number, organisation="default"))

    mine = [grant for grant in stores.grants.of_subject("alice") if grant.client_id == "client"]
    assert [grant.id for grant in mine] == [f"g{number:02}" for number in range(11, 1, -1)]
    assert stores.grants.revoke("other client", "user", START)
    assert stores.grants.revoke("other person", "user", START)
    assert events(stores) == {"revoke"}


def test_agents_are_not_ended_by_their_number(stores: Stores) -> None:
    for number in range(12):
        stores.grants.open(a_grant(f"g{number:02}", kind="agent", organisation="default"))

    assert len(list(stores.grants.all())) == 12


def test_l2_a_request_waits_and_is_taken_once(stores: Stores) -> None:
    pending = PendingRequest(request=ASKED, browser_hash="b", csrf_hash="c", expires_at=START + 600)
    stores.signins.put_pending("h", pending)

    assert stores.signins.pending("h") == pending
    assert stores.signins.take_pending("h") == pending
    assert stores.signins.take_pending("h") is None
    assert stores.signins.pending("h") is None


def test_a_request_waits_ten_minutes(stores: Stores) -> None:
    pending = PendingRequest(request=ASKED, browser_hash="b", csrf_hash="c", expires_at=START + 600)
    stores.signins.put_pending("h", pending)
    stores.clock.forward(600)

    assert stores.signins.pending("h") is None
    assert stores.signins.take_pending("h") is None


def test_a_challenge_is_taken_once_and_in_time(stores: Stores) -> None:
    """L2"""
    challenge = Challenge(id="id", sealed=b"\x00sealed", browser_hash="b", handle_hash="", expires_at=START + 300)
    stores.signins.put_challenge(challenge)
    assert stores.signins.take_challenge("id") == challenge
    assert stores.signins.take_challenge("id") is None

    stores.signins.put_challenge(challenge)
    stores.clock.forward(300)
    assert stores.signins.take_challenge("id") is None


@pytest.mark.parametrize("odd", ["", "x" * 5_000, "\udcff", "ü"])
def test_a_challenge_with_an_impossible_name_is_not_there(stores: Stores, odd: str) -> None:
    assert stores.signins.take_challenge(odd) is None


def test_a_session_lasts_until_it_ends(stores: Stores) -> None:
    session = Session(hash="s", subject_hash="alice", sealed_profile=b"x", created_at=START, expires_at=START + 100)
    stores.signins.put_session(session)
    assert stores.signins.session("s") == session
    stores.signins.end_session("s")
    assert stores.signins.session("s") is None

    stores.signins.put_session(session)
    stores.clock.forward(100)
    assert stores.signins.session("s") is None


def test_what_a_provider_gave_is_replaced_version_by_version_until_it_ends(stores: Stores) -> None:
    first = ProviderSession(id="p", sealed=b"one", read_at=START, expires_at=START + 100)
    stores.signins.put_provider_session(first)
    assert stores.signins.provider_session("p") == first
    second = replace(first, sealed=b"two", busy_until=START + 30, version=1)
    stores.signins.replace_provider_session(second)
    for late in (first, second, replace(first, version=3)):
        with pytest.raises(Lost):
            stores.signins.replace_provider_session(late)
    assert stores.signins.provider_session("p") == second

    stores.clock.forward(100)
    assert stores.signins.provider_session("p") is None
    stores.signins.end_provider_session("p")
    with pytest.raises(Lost):
        stores.signins.replace_provider_session(replace(second, version=2))


def test_s6_a_consent_is_remembered_for_one_person_client_redirect_and_resource(stores: Stores) -> None:
    """L4"""
    consent = Remembered(
        subject_hash="alice",
        client_id="client",
        redirect_uri="https://a",
        resource="r",
        scopes=("knowledge:read",),
        resource_scopes=None,
        expires_at=START + 100,
    )
    stores.signins.remember(consent)

    assert stores.signins.remembered("alice", "client", "https://a", "r") == consent
    for other in (("bob", "client", "https://a", "r"), ("alice", "x", "https://a", "r")):
        assert stores.signins.remembered(*other) is None
    assert stores.signins.remembered("alice", "client", "https://b", "r") is None
    assert stores.signins.remembered("alice", "client", "https://a", "q") is None
    stores.clock.forward(100)
    assert stores.signins.remembered("alice", "client", "https://a", "r") is None


def test_consents_are_forgotten_by_client_or_all(stores: Stores) -> None:
    def consent(person: str, client: str) -> Remembered:
        return Remembered(
            subject_hash=person,
            client_id=client,
            redirect_uri="https://a",
            resource="r",
            scopes=(),
            resource_scopes=("documents",),
            expires_at=START + 100,
        )

    for person, client in (("alice", "one"), ("alice", "two"), ("bob", "one")):
        stores.signins.remember(consent(person, client))

    stores.signins.forget("alice", "one")
    assert stores.signins.remembered("alice", "one", "https://a", "r") is None
    assert stores.signins.remembered("alice", "two", "https://a", "r") == consent("alice", "two")
    stores.signins.forget("alice")
    assert stores.signins.remembered("alice", "two", "https://a", "r") is None
    assert stores.signins.remembered("bob", "one", "https://a", "r") == consent("bob", "one")


def test_records_are_read_newest_first_and_page_by_page(stores: Stores) -> None:
    written = [
        AuditRecord(event="signin", outcome="ok", at=START + number, organisation="default", subject=str(number))
        for number in range(5)
    ]
    for record in written:
        stores.audit.write(record)
    stores.audit.write(AuditRecord(event="signin", outcome="ok", at=START, organisation="other"))

    assert list(stores.audit.read("default")) == written[::-1]
    assert list(stores.audit.read("default", limit=2)) == written[:2:-1]
    assert list(stores.audit.read("default", limit=2, before=position(written[3]))) == [written[2], written[1]]
    assert len(list(stores.audit.read("other"))) == 1


def test_records_are_cut_to_their_bounds(identity_table: Tables) -> None:
    audit = over(identity_table, Clock(START)).audit
    audit.write(
        AuditRecord(
            event="e", outcome="ok", at=START, details={str(n): "x" * 900 for n in range(30)}, client="y" * 9_000
        )
    )

    (record,) = audit.read("-")
    assert len(record.details) == 20
    assert {len(value) for value in record.details.values()} == {500}
    assert len(record.client) == 500


@pytest.mark.parametrize("harm", ["REMOVE scopes", "SET scopes = :x", "REMOVE expiresAt", "SET #kind = :x"])
def test_x10_a_record_that_cannot_be_read_counts_as_absent(identity_table: Tables, harm: str) -> None:
    grants = over(identity_table, Clock(START)).grants
    grants.open(a_grant())
    more: Any = {"ExpressionAttributeValues": {":x": {"S": "nonsense"}}} if ":x" in harm else {}
    if "#kind" in harm:
        more["ExpressionAttributeNames"] = {"#kind": "kind"}
    identity_table.client.update_item(
        TableName=identity_table.identity,
        Key={"pk": {"S": "grant#g1"}, "sk": {"S": "grant"}},
        UpdateExpression=harm,
        **more,
    )

    assert grants.grant("g1") is None


@pytest.mark.parametrize(
    "error",
    [
        refusal("ThrottlingException"),
        refusal("ProvisionedThroughputExceededException"),
        refusal("InternalServerError"),
        refusal(CANCELED, "None", "ThrottlingError"),
        refusal(CANCELED, "ValidationError"),
        refusal(CANCELED, "TransactionConflict", "None"),
        refusal(CANCELED),
        refusal("TransactionInProgressException"),
        EndpointConnectionError(endpoint_url="https://dynamodb.example"),
    ],
    ids=lambda error: f"{error!r:.60}",
)
def test_f13_a_store_that_does_not_answer_says_so(identity_table: Tables, error: Exception) -> None:
    failing: Any = Failing(identity_table.client, error)
    stores = over(identity_table._replace(client=failing), Clock(START))
    grants, signins, audit = stores.grants, stores.signins, stores.audit
    calls: list[Any] = [
        lambda: grants.open(a_grant()),
        lambda: grants.grant("g1"),
        lambda: list(grants.all()),
        lambda: grants.of_subject("alice"),
        lambda: grants.redeem(a_code(), None, START),
        lambda: signins.pending("h"),
        lambda: signins.take_pending("h"),
        lambda: signins.end_session("h"),
        lambda: list(audit.read("default")),
        lambda: audit.write(told("x")[0]),
    ]
    for call in calls:
        with pytest.raises(Unavailable):
            call()
    grants.touch("g1", START, "")


def test_a_transaction_in_others_way_is_tried_again(identity_table: Tables) -> None:
    failing: Any = Failing(identity_table.client, refusal(CANCELED, "TransactionConflict", "None"), times=3)
    grants = over(identity_table._replace(client=failing), Clock(START)).grants
    grants.open(a_grant())

    assert grants.grant("g1") == a_grant()


def test_a_transaction_that_lost_is_not_tried_again(identity_table: Tables) -> None:
    failing: Any = Failing(
        identity_table.client, refusal(CANCELED, "ConditionalCheckFailed", "TransactionConflict"), times=1
    )
    grants = over(identity_table._replace(client=failing), Clock(START)).grants
    with pytest.raises(Lost):
        grants.open(a_grant())

    assert grants.grant("g1") is None


def test_the_fake_log_is_the_one_that_grants_write(stores: Stores) -> None:
    stores.grants.open(a_grant(), audit=told("grant"))

    assert events(stores) == {"grant"}
    assert isinstance(stores.audit, MemoryAudit | DynamoAudit)


class Recording:
    """A client that remembers what it was asked."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.asked.append(name)
        return getattr(self._client, name)


def test_l5_however_many_grants_there_are_a_token_is_found_by_its_key_alone(identity_table: Tables) -> None:
    recording: Any = Recording(identity_table.client)
    stores = over(identity_table._replace(client=recording), Clock(START))
    authority = Authority(clock=stores.clock, grants=stores.grants, signins=stores.signins, audit=stores.audit)
    code = authority.code()
    assert set(recording.asked) == {"put_item", "get_item", "delete_item", "transact_write_items", "query"}

    recording.asked.clear()
    answer = authority.exchange(code)
    heir = authority.refresh(answer["refresh_token"])
    authority.token_endpoint.introspect(answer["access_token"], APP)
    authority.token_endpoint.revoke(heir["access_token"], APP)
    authority.token_endpoint.revoke(heir["refresh_token"], APP)
    assert set(recording.asked) == {"get_item", "transact_write_items"}
    assert len(recording.asked) <= 20
