"""Two organisations and public knowledge: an agent is answered what is its organisation's own, or public right then.

Whatever has happened before, and whether or not the index has followed, three things hold for every tool: no id and no
word of an answer is of what the caller may not see; an id of another organisation's private item answers as one that
is nobody's, by the same requests to the tables; and nothing of another organisation changes but what its own agents do.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from moto import mock_aws
from ulid import ULID

from commonplace.hive.model import ItemId
from commonplace.hive.tools.toolset import hive_toolset
from commonplace.identity.principals import Principal
from commonplace.kernel.audit import Author
from commonplace.kernel.errors import Conflict, NotFound
from commonplace.kernel.limits import Limiter
from commonplace.web.gateway import Gateway
from commonplace.web.mcp.app import create_app
from commonplace.web.mcp.calls import Surface
from commonplace.web.mcp.throttle import Throttle
from commonplace_local.cloud import moto_patches
from tests.examples import examples
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.redaction import WordRedactor
from tests.hive_world import World, embedded
from tests.unit.web.mcp.world import BASE_URL, NO_LIMITS, ByToken, Clock, Context, Counters, body_of, call, modern

ORGANISATIONS = ("acme", "other")
AGENTS = ("one", "two")
PEOPLE = [(organisation, agent) for organisation in ORGANISATIONS for agent in AGENTS]
PATH = "/mcp/hive"
SHARED = ("Lock rows in one order, or two transactions wait for each other.", "Specific routes come first.")
"""Texts that agents of both organisations contribute."""
WORDS = ("amber", "basalt", "cobalt", "dolomite", "emerald", "feldspar", "granite", "hematite", "jasper", "kyanite")
QUERIES = (*SHARED, "order of rows and routes", "mineral")

Person = tuple[str, str]


class Recording:
    """A client that notes the kind and the size of each request."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.requests: list[tuple[str, int]] = []

    def get_paginator(self, name: str) -> Any:
        return self._client.get_paginator(name)

    def __getattr__(self, name: str) -> Any:
        ask = getattr(self._client, name)

        def noted(**arguments: Any) -> Any:
            keys = [len(one["Keys"]) for one in arguments.get("RequestItems", {}).values() if "Keys" in one]
            self.requests.append((name, sum(keys) or len(arguments.get("TransactItems", ()))))
            return ask(**arguments)

        return noted


@dataclass
class Known:
    """What a test knows of a contribution."""

    id: ItemId
    organisation: str
    agent: str
    text: str
    status: str = "pending"
    public: bool = False
    seen: set[Person] = field(default_factory=set)
    """Who was given its id, as that of the same text."""


class _Now:
    """Stands for the hive of the deployment of the moment."""

    world: World | None = None

    def __getattr__(self, name: str) -> Any:
        assert self.world is not None
        return getattr(self.world, name)()


NOW = _Now()


def account(person: Person) -> str:
    return f"{PEOPLE.index(person) + 1:032x}"


def author(person: Person) -> Author:
    return Author(organisation=person[0], account=account(person), name=f"agent:{person[1]}-of-{person[0]}")


def principal(person: Person) -> Principal:
    return Principal(
        subject=f"agent:{person[1]}-of-{person[0]}",
        organisation=person[0],
        tier="vibecoder",
        scopes=frozenset({"hive:admin"}),
        account=account(person),
    )


def application() -> Gateway:
    throttle = Throttle(Limiter(Counters(), Clock()), NO_LIMITS)
    app = create_app(
        [hive_toolset(cast(Any, NOW))],
        Surface(base_url=BASE_URL, spend=throttle.spend),
        throttle=throttle,
        principals=ByToken({f"token-of-{'-'.join(person)}": principal(person) for person in PEOPLE}),
    )
    return Gateway(app)


GATEWAY = application()


def asked(world: World, person: Person, tool: str, **arguments: Any) -> dict[str, Any]:
    """The result of a call, or the error of the protocol."""
    NOW.world = world
    other = next(name for name in ORGANISATIONS if name != person[0])
    headers = {"authorization": f"Bearer token-of-{'-'.join(person)}", "x-organisation": other}
    event = modern("tools/call", call(tool, **arguments), headers, path=PATH)
    body: dict[str, Any] = body_of(GATEWAY(event, cast(Any, Context())))
    result: dict[str, Any] = body.get("result") or body["error"]
    return result


people = st.sampled_from(PEOPLE)
places = st.integers(0, 11)


class Isolation(RuleBasedStateMachine):
    make: Any = None
    """Of the test that runs the machine: a world with empty tables."""

    @initialize()
    def begin(self) -> None:
        self.context = self.make()
        self.world: World = self.context.__enter__()
        self.known: dict[ItemId, Known] = {}
        self.numbers = count()
        self.client: Recording = self.world.client
        for place, person in enumerate(PEOPLE * 2):
            self.contribute(person, None, "general")
            if place < 6:
                self.approve(person, place, place % 2 == 0)
        self.the_index_follows()

    def teardown(self) -> None:
        if hasattr(self, "context"):
            self.context.__exit__(None, None, None)

    # what happens

    @rule(person=people, text=st.sampled_from(SHARED) | st.none(), category=st.sampled_from(["general", "config"]))
    def contribute(self, person: Person, text: str | None, category: str) -> None:
        number = next(self.numbers)
        text = text or f"Mineral {WORDS[number % len(WORDS)]}{number} keeps the order of rows and routes."
        result = self.call(person, "add_knowledge", content=text, category=category)
        id = ItemId(result["structuredContent"]["contribution_id"])
        known = self.known.get(id)
        if known is None:
            held = [one for one in self.known.values() if one.text == text and self.may_see(person, one)]
            waits = [one for one in self.known.values() if one.text == text and one.status == "pending"]
            assert not held, "the same text has an id already"
            assert not [one for one in waits if one.organisation == person[0]]
            self.known[id] = Known(id, *person, text)
            return
        assert known.text == text
        assert known.organisation == person[0] or known.public
        known.seen.add(person)

    @rule(person=people, place=places, public=st.booleans())
    def approve(self, person: Person, place: int, public: bool) -> None:
        known = self.at(place)
        if self.review(person, known, lambda reviews: reviews.approve(author(person), known.id, public=public)):
            known.status, known.public = "approved", public

    @rule(person=people, place=places)
    def reject(self, person: Person, place: int) -> None:
        known = self.at(place)
        if self.review(person, known, lambda reviews: reviews.reject(author(person), known.id, "No.")):
            known.status = "rejected"

    @rule(person=people, place=places, is_public=st.booleans())
    def publish(self, person: Person, place: int, is_public: bool) -> None:
        known = self.at(place)
        result = self.call(person, "publish_knowledge", id=known.id, is_public=is_public)
        if known.organisation != person[0]:
            assert result["isError"]
        elif not result.get("isError"):
            assert known.status == "approved"
            known.public = is_public

    @rule(person=people, place=places)
    def delete(self, person: Person, place: int) -> None:
        known = self.at(place)
        result = self.call(person, "delete_knowledge", id=known.id)
        if known.organisation != person[0]:
            assert result["isError"]
        elif not result.get("isError"):
            known.status, known.public = "deleted", False

    @rule(person=people, place=places, outcome=st.sampled_from(["solved", "did_not_help"]))
    def report(self, person: Person, place: int, outcome: str) -> None:
        known = self.at(place)
        result = self.call(person, "report_outcome", item_id=known.id, outcome=outcome)
        assert bool(result.get("isError")) == (not self.may_see(person, known))

    @rule(person=people, place=places)
    def invalidate(self, person: Person, place: int) -> None:
        known = self.at(place)
        try:
            self.world.reviews().invalidate(author(person), known.id, self.world.parts().now())
        except (NotFound, Conflict):
            assert known.organisation != person[0] or known.status != "approved"
        else:
            assert (known.organisation, known.status) == (person[0], "approved")

    @rule()
    def the_index_follows(self) -> None:
        self.world.settle()

    @rule(place=places)
    def withdraw_before_the_index_follows(self, place: int) -> None:
        public = [one for one in self.known.values() if one.public]
        if public:
            one = public[place % len(public)]
            self.publish((one.organisation, one.agent), [*self.known].index(one.id), is_public=False)
            other = next(person for person in PEOPLE if person[0] != one.organisation)
            self.search(other, QUERIES[2], 50)

    # what is asked

    @rule(person=people, query=st.sampled_from(QUERIES), limit=st.sampled_from([1, 50]))
    def search(self, person: Person, query: str, limit: int) -> None:
        result = self.call(person, "search_knowledge", query=query, limit=limit)
        for one in result["structuredContent"]["results"]:
            assert self.may_see(person, self.known[one["id"]])

    @rule(person=people, place=places)
    def fetch(self, person: Person, place: int) -> None:
        known = self.at(place)
        result = self.call(person, "search_knowledge", id=known.id)
        assert bool(result.get("isError")) == (not self.may_see(person, known))

    @rule(person=people, status=st.sampled_from(["all", "pending", "approved"]))
    def list(self, person: Person, status: str) -> None:
        result = self.call(person, "list_knowledge", status=status, limit=100)
        shown = {id for id in self.known if id in json.dumps(result["structuredContent"])}
        assert shown == {
            one.id
            for one in self.known.values()
            if (one.organisation, one.agent) == person and one.status != "deleted" and status in ("all", one.status)
        }

    @precondition(lambda self: self.known)
    @rule(person=people, place=places)
    def a_foreign_id_is_as_one_that_is_nobodys(self, person: Person, place: int) -> None:
        known = self.at(place)
        if self.may_see(person, known) or known.organisation == person[0]:
            return
        unknown = ItemId(f"hv_{ULID()}")
        for tool, name, more in (
            ("search_knowledge", "id", {}),
            ("delete_knowledge", "id", {}),
            ("publish_knowledge", "id", {"is_public": True}),
            ("publish_knowledge", "id", {"is_public": False}),
            ("report_outcome", "item_id", {"outcome": "solved"}),
        ):
            answers = []
            for id in (known.id, unknown):
                self.client.requests.clear()
                result = asked(self.world, person, tool, **{name: id, **more})
                assert result["isError"]
                answers.append((json.dumps(result).replace(id, "ID"), [*self.client.requests]))
            assert answers[0] == answers[1], tool

    @invariant()
    def public_knowledge_is_what_is_published(self) -> None:
        if not hasattr(self, "world"):
            return
        shown = {one.id for one in self.world.store.published()}
        assert shown == {one.id for one in self.known.values() if one.public}

    # how it is looked at

    def at(self, place: int) -> Known:
        """One of them; one that is nobody's where there is none."""
        every = [*self.known.values()]
        return every[place % len(every)] if every else Known(ItemId(f"hv_{ULID()}"), "nobody", "", "", "deleted")

    def may_see(self, person: Person, known: Known) -> bool:
        return known.status == "approved" and (known.organisation == person[0] or known.public)

    def review(self, person: Person, known: Known, decide: Any) -> bool:
        """Whether a decision was taken, which is so of one's own organisation's pending contributions alone."""
        may = (known.organisation, known.status) == (person[0], "pending")
        before = self.of_the_other(person)
        try:
            decide(self.world.reviews())
        except (NotFound, Conflict) as refusal:
            assert not may
            assert isinstance(refusal, NotFound) or known.organisation == person[0]
            return False
        assert may
        assert self.of_the_other(person) == before
        return True

    def call(self, person: Person, tool: str, **arguments: Any) -> dict[str, Any]:
        """The answer to a call that has left the other's things as they were, and tells nothing of them."""
        before = self.of_the_other(person)
        result = asked(self.world, person, tool, **arguments)
        after = self.of_the_other(person)
        if tool not in ("search_knowledge", "report_outcome"):
            assert after == before, tool
        answer, said = json.dumps(result), json.dumps(arguments)
        for one in self.known.values():
            own = one.organisation == person[0]
            if own and one.agent == person[1]:
                continue
            if self.may_see(person, one) or (own and tool == "add_knowledge"):
                if not own:
                    assert f"{one.agent}-of-{one.organisation}" not in answer
                    assert account((one.organisation, one.agent)) not in answer
                continue
            if one.status == "deleted" and one.public:
                continue
            assert one.id not in answer or one.id in said, (tool, one)
            word = next((word for word in one.text.split() if word[-1].isdigit()), None)
            assert word is None or word not in answer or word in said, (tool, one)
        return result

    def of_the_other(self, person: Person) -> str:
        """Everything that is kept of the other organisation, but what counts how often its public items were used."""
        other = next(name for name in ORGANISATIONS if name != person[0])
        items = self.world.client._client.scan(TableName=self.world.records, ConsistentRead=True)["Items"]
        own = [item for item in items if item["pk"]["S"].startswith(f"{other}#")]
        return repr(sorted(own, key=lambda item: (item["pk"]["S"], item["sk"]["S"])))


EXAMPLES = settings(
    max_examples=examples(4, soak=300),
    stateful_step_count=25,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def test_what_one_sees_is_ones_own_or_public(dynamodb_client: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    @contextmanager
    def make() -> Iterator[World]:
        moto_patches.patch_tables()
        with mock_aws():
            model = FakeEmbeddings()
            engine = embedded(tmp_path_factory.mktemp("index"), model)
            yield World(Recording(dynamodb_client), engine, model, WordRedactor())

    class Here(Isolation):
        pass

    Here.make = staticmethod(make)
    run_state_machine_as_test(Here, settings=EXAMPLES)
