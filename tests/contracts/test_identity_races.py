"""Many callers at the very same moment, against a store that is atomic of itself: DynamoDB Local.

What races come to is tested everywhere else by doing the one thing between the other's reading and its writing.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.identity.oauth.consent import Begun, RequestGone
from commonplace.identity.oauth.errors import OAuthError
from commonplace.identity.records import Challenge
from commonplace.identity.secrets import digest
from commonplace.identity.store.clients import DynamoClients
from commonplace.identity.store.grants import DynamoGrants
from commonplace.identity.store.sign_ins import DynamoSignIns
from commonplace.kernel.audit_store import DynamoAudit
from tests.dynamodb_fixture import new_table
from tests.fakes.authority import ALICE, APP, Authority, told
from tests.fakes.identity_stores import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

CALLERS = 16
ROUNDS = 5

Outcome = dict[str, Any] | str


@pytest.fixture
def authority(dynamodb_local: "DynamoDBClient") -> Authority:
    client, clock = dynamodb_local, Clock()
    identity, activity = new_table(client, "identity"), new_table(client, "activity")
    return Authority(
        clock=clock,
        grants=DynamoGrants(client, identity, activity, clock=clock),
        signins=DynamoSignIns(client, identity, clock=clock),
        audit=DynamoAudit(client, activity),
    )


def at_once(*calls: Callable[[], Any]) -> list[Outcome]:
    """What each came to: its answer ({} is none), or the code of its refusal."""
    barrier = Barrier(len(calls))

    def one(call: Callable[[], Any]) -> Outcome:
        barrier.wait(30)
        try:
            found: Outcome = call() or {}
        except OAuthError as error:
            return error.code
        except RequestGone as error:
            return error.reason
        return found

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(one, calls))


def answers(outcomes: list[Outcome]) -> list[dict[str, Any]]:
    return [outcome for outcome in outcomes if isinstance(outcome, dict)]


def test_l2_one_of_many_answers_to_a_request_counts(authority: Authority) -> None:
    for _ in range(ROUNDS):
        begun = authority.begin()
        outcomes = at_once(*[partial(_decided, authority, begun)] * CALLERS)

        assert len(answers(outcomes)) == 1
        assert {one for one in outcomes if isinstance(one, str)} <= {"request_used", "request_unknown"}
    assert len(authority.connections.of(ALICE)) == ROUNDS


def test_l2_one_of_many_takes_a_challenge(authority: Authority) -> None:
    for number in range(ROUNDS):
        challenge = Challenge(
            id=str(number),
            sealed=b"sealed",
            browser_hash="b",
            handle_hash="",
            expires_at=int(authority.clock.now) + 300,
        )
        authority.signins.put_challenge(challenge)
        outcomes = at_once(*[partial(_taken, authority, challenge.id)] * CALLERS)

        assert outcomes.count({"taken": challenge}) == 1
        assert outcomes.count({}) == CALLERS - 1


def test_l2_one_of_many_is_the_first_to_name_a_jti(dynamodb_local: "DynamoDBClient") -> None:
    client, clock = dynamodb_local, Clock()
    tables = new_table(client, "identity"), new_table(client, "activity")
    store = DynamoClients(client, *tables, clock=clock)
    for number in range(ROUNDS):
        name = partial(store.once, "jti", str(number), int(clock.now) + 60)
        outcomes = at_once(*[lambda name=name: {"first": True} if name() else {}] * CALLERS)

        assert outcomes.count({"first": True}) == 1


def test_x7_one_of_many_exchanges_wins_and_then_the_grant_ends(authority: Authority) -> None:
    for _ in range(ROUNDS):
        code = authority.code()
        outcomes = at_once(*[partial(authority.exchange, code)] * CALLERS)

        won = answers(outcomes)
        assert len(won) <= 1
        assert {one for one in outcomes if isinstance(one, str)} <= {"invalid_grant", "temporarily_unavailable"}
        # Whoever could not be judged in the crowd may come again; the code is good for nobody by then.
        with pytest.raises(OAuthError):
            authority.exchange(code)
        assert not any(authority.active(answer) for answer in won)
    assert list(authority.connections.of(ALICE)) == []


def test_f2_many_refreshes_at_once_share_one_heir(authority: Authority) -> None:
    for _ in range(ROUNDS):
        token = authority.tokens()["refresh_token"]
        outcomes = at_once(*[partial(authority.refresh, token)] * CALLERS)

        assert {one for one in outcomes if isinstance(one, str)} <= {"temporarily_unavailable"}
        heirs = {answer["refresh_token"] for answer in answers(outcomes)}
        assert len(heirs) == 1
        assert all(authority.active(answer) for answer in answers(outcomes))
        kept = authority.grants.refresh(digest(heirs.pop()))
        assert kept is not None and kept.phase == "current"


def test_f9_a_revocation_among_refreshes_wins(authority: Authority) -> None:
    for _ in range(ROUNDS):
        answer = authority.tokens()
        token = answer["refresh_token"]
        refreshes = [partial(authority.refresh, token)] * (CALLERS - 1)
        outcomes = at_once(*refreshes, partial(authority.token_endpoint.revoke, token, APP))
        if outcomes[-1] == "temporarily_unavailable":
            authority.token_endpoint.revoke(token, APP)

        given = [one for one in answers(outcomes) if "access_token" in one]
        assert not any(authority.active(one) for one in (answer, *given))
        for one in given:
            with pytest.raises(OAuthError):
                authority.refresh(one["refresh_token"])


def test_v5_many_revocations_at_once_end_a_grant_once(authority: Authority) -> None:
    answer = authority.tokens()
    at_once(*[partial(authority.token_endpoint.revoke, answer["refresh_token"], APP)] * CALLERS)
    authority.token_endpoint.revoke(answer["refresh_token"], APP)

    assert not authority.active(answer)
    ended = [record for record in authority.audit.read("default") if record.event == "revoke"]
    assert len(ended) == 1


def test_v2_access_tokens_revoked_at_once_are_all_remembered(authority: Authority) -> None:
    first = authority.tokens()
    given = [first]
    for _ in range(7):
        given.append(authority.refresh(given[-1]["refresh_token"]))
    *revoked, last = given
    outcomes = at_once(*[partial(authority.token_endpoint.revoke, one["access_token"], APP) for one in revoked])
    for one, outcome in zip(revoked, outcomes, strict=True):
        if outcome == "temporarily_unavailable":
            authority.token_endpoint.revoke(one["access_token"], APP)

    assert not any(authority.active(one) for one in revoked)
    assert authority.active(last)


def _taken(authority: Authority, challenge_id: str) -> dict[str, Any]:
    found = authority.signins.take_challenge(challenge_id)
    return {"taken": found} if found else {}


def _decided(authority: Authority, begun: Begun) -> dict[str, str]:
    return told(authority.decide(begun))
