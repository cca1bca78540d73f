"""Who reaches which conversation, and how: tokens, sessions, other accounts, guessed ids, budgets, slots."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.function import AgentInfo

from commonplace.chat.model import Owner
from commonplace.kernel.errors import RateLimited
from tests.fakes.chats import BASE, ID, ChatWorld, Person, Said, asked, frames, says, words

QUESTION = "Who carries the stewardship of a season?"
PATHS = [("POST", ""), ("GET", ""), ("GET", f"/{ID}"), ("DELETE", f"/{ID}"), ("GET", f"/{ID}/stream")]
PATHS += [("POST", f"/{ID}/stop")]


@pytest.mark.parametrize(("method", "path"), PATHS)
def test_strangers_are_sent_to_sign_in_and_others_learn_what_they_lack(
    method: str, path: str, world: ChatWorld
) -> None:
    nobody = Person(world, {}, world.person().principal)
    answer = nobody.now("send", method, path, asked("Hi") if method == "POST" else None)
    assert answer.status_code == 401
    assert "resource_metadata=" in answer.headers["www-authenticate"]
    public = world.person("pia", tier="public").now("send", method, path, asked("Hi") if method == "POST" else None)
    assert (public.status_code, public.json()["error"]["code"]) == (403, "FORBIDDEN")
    unreadable = world.person("uma", uncertain=True)
    assert unreadable.now("send", method, path, asked("Hi") if method == "POST" else None).status_code == 503
    homeless = world.person("hal", organisation=None)
    assert homeless.now("send", method, path, asked("Hi") if method == "POST" else None).status_code == 403


@pytest.mark.parametrize(
    "changed",
    [
        {"x-csrf-token": "wrong"},
        {"x-csrf-token": ""},
        {"origin": "https://evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
@pytest.mark.parametrize(("method", "path"), [one for one in PATHS if one[0] != "GET"])
def test_a_page_of_another_site_does_nothing_with_a_session(
    changed: dict[str, str], method: str, path: str, world: ChatWorld
) -> None:
    ada = world.browser()
    ada.now("ask", QUESTION)
    answer = ada.now("send", method, path, asked("Hi", message="m-2") if method == "POST" else None, **changed)
    assert answer.status_code == 403
    assert len(world.audit()) == 1
    assert ada.now("send", "GET", f"/{ID}").status_code == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_a_body_that_a_form_could_send_is_refused(kind: str, world: ChatWorld) -> None:
    answer = world.browser().now("send", "POST", "", asked("Hi"), **{"content-type": kind})
    assert answer.status_code == 422
    assert "Content-Type application/json" in answer.json()["error"]["message"]


def test_pages_of_other_origins_read_nothing_by_cookie(world: ChatWorld) -> None:
    answer = world.browser().now("ask", QUESTION)
    assert "access-control-allow-credentials" not in answer.headers
    assert answer.headers["access-control-allow-origin"] == "*"


def test_a_wrong_token_is_not_replaced_by_a_session(world: ChatWorld) -> None:
    ada = world.browser()
    answer = ada.now("send", "GET", "", None, authorization="Bearer forged")
    assert answer.status_code == 401


def test_what_a_person_deletes_is_gone(world: ChatWorld) -> None:
    ada = world.browser()
    ada.now("ask", QUESTION)
    assert ada.now("send", "DELETE", f"/{ID}").status_code == 204
    assert ada.now("send", "GET", f"/{ID}").status_code == 404
    assert ada.now("send", "DELETE", f"/{ID}").status_code == 404
    assert ada.now("send", "GET", "").json() == {"conversations": []}
    left = [item for item in world.client.scan(TableName=world.table)["Items"] if "chatbudget" not in item["pk"]["S"]]
    assert left == []
    assert sorted(one["event"] for one in world.audit()) == ["deletion", "turn"]


def test_what_has_expired_is_gone_before_it_is_removed(world: ChatWorld) -> None:
    ada = world.browser()
    ada.now("ask", QUESTION)
    world.now += 20 * 86_400
    world.script = says("Later.")
    ada.now("ask", "And now?", message="message-2")
    world.now += 11 * 86_400
    told = [part.get("text") for one in ada.now("send", "GET", f"/{ID}").json()["messages"] for part in one["parts"]]
    assert QUESTION not in told
    assert "Later." in told
    world.script = says("Still here.")
    assert "Still here." in words(ada.now("ask", "Once more", message="message-3"))
    world.now += 40 * 86_400
    assert ada.now("send", "GET", f"/{ID}").status_code == 404
    assert ada.now("send", "GET", "").json() == {"conversations": []}
    assert "Still here." in words(ada.now("ask", "Anew", message="message-4"))


def test_two_answers_an_account_and_six_together_are_written_at_once(world: ChatWorld) -> None:
    async def story() -> None:
        go, full, going = asyncio.Event(), asyncio.Event(), 0

        async def waits(_: list[ModelMessage], __: AgentInfo) -> AsyncIterator[Said]:
            nonlocal going
            going += 1
            if going == world.together:
                full.set()
            yield "Wait"
            await go.wait()

        world.script = waits
        people = [world.person(f"p{number}") for number in range(10)]
        first = [asyncio.create_task(people[0].ask(QUESTION, f"conversation-{each}")) for each in range(3)]
        others = [asyncio.create_task(one.ask(QUESTION)) for one in people[1:]]
        done: set[Any] = set()
        while len(done) < len(first) + len(others) - world.together:
            done, _ = await asyncio.wait([*first, *others], return_when=asyncio.FIRST_COMPLETED, timeout=20)
        refused = [task.result() for task in done]
        assert {one.status_code for one in refused} == {429}
        assert {one.headers["retry-after"] for one in refused} == {"10"}
        assert "At most 2 for one account" in refused[0].json()["error"]["details"]["hint"]
        await asyncio.wait_for(full.wait(), 20)
        go.set()
        answers = await asyncio.gather(*first, *others)
        assert sorted(one.status_code for one in answers) == [200] * 6 + [429] * 6
        assert sum(one.result().status_code == 200 for one in first) <= 2
        assert world.slots.slots == []

    asyncio.run(story())


def test_a_spent_budget_says_when_it_is_full_again(world: ChatWorld) -> None:
    ada = world.person()
    world.chat.runs.tokens_per_day = 1_500
    ada.now("ask", QUESTION)
    world.store.settle(world.store.reserve(ada.owner, 1_500, 1_500), 1_400)
    answer = ada.now("ask", QUESTION, message="message-2")
    assert (answer.status_code, answer.json()["error"]["code"]) == (429, "RATE_LIMITED")
    assert answer.json()["error"]["message"] == "Your 1,500 tokens of this day are used up."
    assert int(answer.headers["retry-after"]) == 86_400 - int(world.now) % 86_400
    assert world.slots.slots == []
    world.now += int(answer.headers["retry-after"])
    assert ada.now("ask", QUESTION, message="message-3").status_code == 200
    assert world.person("vi").now("ask", QUESTION).status_code == 200


class ManyPeople(RuleBasedStateMachine):
    """Accounts of two organisations talk, guess one another's ids, delete, and spend at once. A model of what each has
    said is compared with what each can read after every step."""

    world: ChatWorld

    @initialize()
    def begin(self) -> None:
        self.world.now += 400 * 86_400
        self.round = getattr(type(self), "round", 0) + 1
        type(self).round = self.round
        self.people = {
            (name, organisation): self.world.person(
                f"{name}{self.round}", organisation=organisation, account=f"account-{name}{self.round}"
            )
            for name in ("ada", "bob")
            for organisation in ("garden", "reef")
        }
        self.said: dict[tuple[str, str], dict[str, list[str]]] = {who: {} for who in self.people}
        self.used: dict[tuple[str, str], int] = dict.fromkeys(self.people, 0)
        self.number = 0

    who = st.sampled_from([(name, organisation) for name in ("ada", "bob") for organisation in ("garden", "reef")])
    ids = st.sampled_from(["conversation-1", "conversation-2"])

    @rule(who=who, id=ids)
    def ask(self, who: tuple[str, str], id: str) -> None:
        self.number += 1
        text = f"Word {self.number} of {' '.join(who)}"
        self.world.script = says("Yes.")
        answer = self.people[who].now("ask", text, id, message=f"message-{self.number}")
        assert answer.status_code == 200, answer.text
        self.said[who].setdefault(id, []).append(text)

    @rule(who=who, id=ids)
    def delete(self, who: tuple[str, str], id: str) -> None:
        answer = self.people[who].now("send", "DELETE", f"/{id}")
        assert answer.status_code == (204 if id in self.said[who] else 404)
        self.said[who].pop(id, None)

    @rule(who=who, wanted=st.lists(st.integers(1, 4_000), min_size=1, max_size=4), spent=st.floats(0, 1.2))
    def spend_at_once(self, who: tuple[str, str], wanted: list[int], spent: float) -> None:
        owner, limit = self.people[who].owner, 10_000
        taken = []
        for one in wanted:
            try:
                taken.append(self.world.store.reserve(owner, limit, one))
            except RateLimited:
                continue
        assert sum(each.tokens for each in taken) <= limit
        for each in taken:
            self.world.store.settle(each, int(each.tokens * min(spent, 1)))

    @precondition(lambda self: self.number)
    @rule(who=who)
    def everything_of_a_key_begins_with_its_organisation(self, who: tuple[str, str]) -> None:
        owner = self.people[who].owner
        for item in self.world.client.scan(TableName=self.world.table)["Items"]:
            key = item["pk"]["S"]
            assert key.split("#")[0] in ("garden", "reef")
            if owner.account in key:
                assert key.startswith((f"garden#chat#{owner.account}", f"reef#chat#{owner.account}")) or "budget" in key

    @invariant()
    def each_reads_their_own_and_nothing_else(self) -> None:
        for who, person in getattr(self, "people", {}).items():
            listed = person.now("send", "GET", "").json()["conversations"]
            assert {one["id"] for one in listed} == self.said[who].keys()
            for id in ("conversation-1", "conversation-2"):
                answer = person.now("send", "GET", f"/{id}")
                assert answer.status_code == (200 if id in self.said[who] else 404)
                if answer.status_code == 200:
                    users = [one for one in answer.json()["messages"] if one["role"] == "user"]
                    assert [one["parts"][0]["text"] for one in users] == self.said[who][id]
                for method, path in (("GET", f"/{id}/stream"), ("POST", f"/{id}/stop")):
                    answer = person.now("send", method, path, {} if method == "POST" else None)
                    assert answer.status_code == (204 if method == "GET" else 404)


def test_nobody_reaches_what_is_anothers(world: ChatWorld) -> None:
    class Machine(ManyPeople):
        pass

    Machine.world = world
    few = settings(max_examples=6, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(Machine, settings=few)


def test_parallel_runs_reserve_no_more_than_there_is(world: ChatWorld) -> None:
    from concurrent.futures import ThreadPoolExecutor

    owner = Owner("garden", "account-ada")

    def reserve(_: int) -> int:
        try:
            return world.store.reserve(owner, 10_000, 3_000).tokens
        except RateLimited:
            return 0

    with ThreadPoolExecutor(8) as threads:
        taken = list(threads.map(reserve, range(8)))
    assert sum(taken) == 10_000
    assert sorted(taken)[-4:] == [1_000, 3_000, 3_000, 3_000]


def test_a_poisoned_conversation_id_is_no_key(world: ChatWorld) -> None:
    ada = world.person()
    for id in ("..", "a%23b%23c%23d", "x" * 65, "short", "record%00000"):
        assert ada.now("send", "GET", f"/{id}").status_code == 404, id


def test_an_answer_is_sealed_from_caches_and_sniffing(world: ChatWorld) -> None:
    ada = world.person()
    for method, path in PATHS[1:]:
        answer = ada.now("send", method, path)
        assert "no-store" in answer.headers["cache-control"], (method, path)
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert json.loads(ada.now("send", "GET", "/conversation-9").text)["error"]["details"]["hint"].startswith("GET /api")
    assert BASE not in ada.now("send", "GET", "").text
    assert frames(ada.now("ask", QUESTION))
