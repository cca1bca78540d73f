"""Conversations, runs and budgets on DynamoDB Local, beside the store of pydantic-ai that keeps them in memory."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import ConversationConflict, ConversationStore, InMemoryConversationStore
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart

from commonplace.chat.agent.conversations import Conversations
from commonplace.chat.model import LEASE_SECONDS, Owner
from commonplace.chat.store import ChatStore
from commonplace.kernel.audit import AuditRecord, Lost
from commonplace.kernel.errors import Conflict, NotFound, RateLimited, Unavailable
from tests.dynamodb_fixture import dump, new_table
from tests.fakes.identity_stores import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

pytestmark = pytest.mark.real

ADA, BOB = Owner("garden", "account-ada"), Owner("garden", "account-bob")
ID, DAY = "conversation-1", 86_400
RECORD = AuditRecord(event="turn", outcome="ok", at=1.0, organisation="garden")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(dynamodb_local: DynamoDBClient, clock: Clock) -> ChatStore:
    return ChatStore(dynamodb_local, new_table(dynamodb_local, "r"), new_table(dynamodb_local, "a"), 30, clock)


def conversations(store: ChatStore, owner: Owner = ADA) -> Conversations:
    return Conversations(store, owner, ID, "Reeds", lambda: RECORD)


def turn(number: int) -> list[Any]:
    """Return a question and its answer. An answer of 60 kB has to be stored, too."""
    text = "word " * (12_000 if number % 5 == 0 else 3)
    return [
        ModelRequest(parts=[UserPromptPart(f"question {number}")]),
        ModelResponse(parts=[TextPart(f"answer {number} {text}")]),
    ]


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Return what each call of several at once returns or raises."""

    def one(call: Callable[[], Any]) -> Any:
        try:
            return call()
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(one, calls))


@pytest.mark.parametrize("seed", range(3))
def test_turns_at_random_are_kept_as_in_the_library_s_own_store(store: ChatStore, seed: int) -> None:
    pick = random.Random(seed)
    stores: list[ConversationStore] = [conversations(store), InMemoryConversationStore()]

    async def seen(one: ConversationStore) -> Any:
        found = await one.load(ID, scope="ada")
        return found and ([message.parts[0] for message in found.messages], found.usage)

    async def scenario() -> None:
        loaded: list[list[Conversation | None]] = []
        for number in range(20):
            loaded.append([await one.load(ID, scope="ada") for one in stores])
            before = loaded[-1] if pick.random() < 0.7 else pick.choice(loaded)
            outcomes, said = [], turn(number)
            for one, own in zip(stores, before, strict=True):
                messages = [*(own.messages if own else []), *said]
                changed = Conversation(messages=messages, conversation_id=ID, revision=own.revision if own else None)
                changed.usage.requests = number
                try:
                    await one.save(changed, scope="ada")
                    outcomes.append("saved")
                except ConversationConflict:
                    outcomes.append("conflict")
            assert outcomes[0] == outcomes[1]
            assert await seen(stores[0]) == await seen(stores[1])
            assert await stores[0].load(ID, scope="bob") is None
            assert await stores[0].load("conversation-2") is None

    asyncio.run(scenario())


def test_of_eight_turns_saved_at_once_one_is_stored_and_the_others_conflict(store: ChatStore) -> None:
    def saved(number: int) -> None:
        asyncio.run(conversations(store).save(Conversation(messages=turn(number), conversation_id=ID), scope="ada"))

    outcomes = at_once(*(partial(saved, number) for number in range(8)))
    assert [type(one) for one in outcomes if one is not None] == [ConversationConflict] * 7
    stored = store.conversation(ADA, ID)
    assert stored is not None
    assert len(stored.messages) == 2


def test_a_turn_whose_audit_cannot_be_written_is_not_stored(store: ChatStore, clock: Clock) -> None:
    audited = ChatStore(store._table._client, store._table.name, "nowhere", 30, clock)
    with pytest.raises(Unavailable):
        asyncio.run(conversations(audited).save(Conversation(messages=turn(1), conversation_id=ID), scope="ada"))
    assert store.conversation(ADA, ID) is None
    assert store.rows(ADA) == []


def test_of_eight_runs_begun_at_once_one_goes_on(store: ChatStore) -> None:
    outcomes = at_once(*(partial(store.begin, ADA, ID, f"run-{number}", "") for number in range(8)))
    assert sorted(type(one).__name__ for one in outcomes) == ["Conflict"] * 7 + ["NoneType"]
    live = store.live(ADA, ID)
    assert live is not None
    assert live.run == f"run-{outcomes.index(None)}"


def test_a_run_without_its_lease_gives_way_to_one_and_can_say_no_more(store: ChatStore, clock: Clock) -> None:
    store.begin(ADA, ID, "first", '{"said": 1}')
    clock.now += LEASE_SECONDS / 2
    assert store.extend(ADA, ID, "first")
    clock.now += LEASE_SECONDS + 1
    outcomes = at_once(*(partial(store.begin, ADA, ID, f"run-{number}", "") for number in range(4)))
    left = [one for one in outcomes if one is not None and not isinstance(one, Conflict)]
    assert [(one.run, one.prompt) for one in left] == [("first", '{"said": 1}')]
    assert not store.extend(ADA, ID, "first")
    store.end(ADA, ID, "first", "failed")
    live = store.live(ADA, ID)
    assert live is not None
    assert live.state == "running"


def test_a_budget_is_never_overdrawn_by_runs_that_reserve_at_once(store: ChatStore, clock: Clock) -> None:
    outcomes = at_once(*(partial(store.reserve, ADA, 10_000, 4_000) for _ in range(8)))
    taken = [one for one in outcomes if not isinstance(one, Exception)]
    assert sorted(one.tokens for one in taken) == [2_000, 4_000, 4_000]
    assert {type(one) for one in outcomes if isinstance(one, Exception)} == {RateLimited}
    at_once(*(partial(store.settle, one, 1_000) for one in taken))
    assert store.reserve(ADA, 10_000, 50_000).tokens == 7_000
    assert store.reserve(BOB, 10_000, 4_000).tokens == 4_000
    clock.now += DAY
    assert store.reserve(ADA, 10_000, 4_000).tokens == 4_000


def test_nothing_of_a_deleted_conversation_stays_but_that_it_was_deleted(store: ChatStore) -> None:
    for owner in (ADA, BOB):
        asyncio.run(conversations(store, owner).save(Conversation(messages=turn(5), conversation_id=ID)))
        store.begin(owner, ID, f"run-{owner.account}", "")
        for number in range(1, 40):
            store.write(owner, ID, f"run-{owner.account}", number, "data: {}\n\n")
        store.end(owner, ID, f"run-{owner.account}", "done")
    outcomes = at_once(*(partial(store.delete, ADA, ID, RECORD) for _ in range(3)))
    assert [type(one) for one in outcomes if one is not None] == [NotFound] * 2
    left = dump(store._table._client, store._table.name)
    assert "account-ada" not in left
    assert store.conversation(BOB, ID) is not None
    assert len(list(store.journal(BOB, ID, "run-account-bob"))) == 39


def test_what_has_expired_is_absent_before_it_is_removed(store: ChatStore, clock: Clock) -> None:
    asyncio.run(conversations(store).save(Conversation(messages=turn(1), conversation_id=ID)))
    assert [row.title for row in store.rows(ADA)] == ["Reeds"]
    clock.now += 30 * DAY + 1
    assert store.rows(ADA) == []
    assert store.conversation(ADA, ID) is None
    asyncio.run(conversations(store).save(Conversation(messages=turn(2), conversation_id=ID)))
    stored = store.conversation(ADA, ID)
    assert stored is not None
    assert len(stored.messages) == 2


def test_a_revision_that_was_overtaken_is_lost(store: ChatStore) -> None:
    save = partial(store.save, ADA, ID, record='{"head_id": null}', entries={}, title="t", audit=RECORD)
    save(revision="1", expected=None)
    save(revision="2", expected="1")
    with pytest.raises(Lost):
        save(revision="3", expected="1")
