"""The search of the hive over every engine: who finds what, in which order, and page by page."""

import json
from collections.abc import Sequence
from itertools import count
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.hive.index_source import StoredItems, record_id
from commonplace.hive.model import Contribution, Counts, HiveQuery, ItemId, SearchAnswer
from commonplace.hive.search import NOTHING_KNOWN, NOTHING_NARROWED, HiveSearch
from commonplace.hive.store import DynamoContributions
from commonplace.kernel.errors import Unavailable
from commonplace.search.indexer import Indexer, Message
from commonplace.search.model import Engine, Tombstone
from commonplace.search.source import FOR_EVER
from tests.examples import examples
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.hive_items import FakeItems, item

NOW, LATER = "2026-11-20T12:00:00.000000Z", "2026-11-20T12:00:01.000000Z"
SUBJECT = "gateway"


class Hive:
    """Items, an index that is brought up only when it is told to, and searches of it."""

    def __init__(self, engine: Engine, provider: FakeEmbeddings) -> None:
        self.items = FakeItems()
        store = cast(DynamoContributions, self.items)
        self.engine, self.provider = engine, provider
        self._indexer = Indexer(StoredItems(store), engine, provider)
        self._search = HiveSearch(engine, [provider], store, {"globex": "Globex DAO"})

    def add(self, *items: Contribution) -> None:
        self.items.put(*items)
        self.index(*(one.id for one in items))

    def index(self, *ids: str, owner: str = "") -> None:
        """As the queue has it: a message for each of these."""
        owners = {id: owner or self.items.kept[ItemId(id)].organisation for id in ids}
        bodies = [{"table": "records", "pk": f"{owners[id]}#hive#items", "sk": id} for id in ids]
        assert self._indexer.take([Message(str(at), json.dumps(body)) for at, body in enumerate(bodies)]) == []

    def ask(self, organisation: str, query: str = SUBJECT, now: str = NOW, **told: Any) -> SearchAnswer:
        return self._search.search(organisation, HiveQuery(query=query, **told), now)

    def ids(self, organisation: str, query: str = SUBJECT, **told: Any) -> list[str]:
        return [found.item.contribution.id for found in self.ask(organisation, query, **told).results]

    def walk(self, organisation: str, query: str = SUBJECT, limit: int = 10, **told: Any) -> list[str]:
        """The ids of all pages."""
        found: list[str] = []
        offset: int | None = 0
        while offset is not None:
            answer = self.ask(organisation, query, limit=limit, offset=offset, **told)
            assert len(answer.results) <= limit
            found += [one.item.contribution.id for one in answer.results]
            assert answer.next_offset in (None, offset + limit)
            offset = answer.next_offset
        assert answer.total == len(found)
        return found

    def similar(self, organisation: str, text: str, limit: int = 5) -> Sequence[tuple[str, float]]:
        return self._search.similar(organisation, text, limit)


@pytest.fixture
def hive(engine: Engine, provider: FakeEmbeddings) -> Hive:
    return Hive(engine, provider)


def spelt(number: int) -> str:
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def test_an_organisation_finds_its_own_items_and_those_of_others_that_are_public(hive: Hive) -> None:
    hive.add(
        item("acme", "hv_1", "The gateway throttles after a minute."),
        item("globex", "hv_2", "The gateway drops long headers.", is_public=True),
        item("globex", "hv_3", "The gateway needs a warm start."),
    )

    assert set(hive.ids("acme")) == {"hv_1", "hv_2"}
    assert set(hive.ids("globex")) == {"hv_2", "hv_3"}
    assert hive.ids("initech") == ["hv_2"]
    (found,) = hive.ask("initech").results
    assert (found.item.attribution, found.item.own) == ("Globex DAO", False)


def test_a_category_narrows_the_search(hive: Hive) -> None:
    hive.add(
        item("acme", "hv_1", "The gateway throttles after a minute.", category="bug_fix"),
        item("acme", "hv_2", "The gateway drops long headers.", category="config"),
    )

    assert hive.ids("acme", category="config") == ["hv_2"]
    assert hive.ask("acme", category="tooling").hint == NOTHING_NARROWED


def test_what_nobody_knows_is_asked_for(hive: Hive) -> None:
    answer = hive.ask("acme")

    assert (answer.results, answer.total, answer.next_offset, answer.hint) == ((), 0, None, NOTHING_KNOWN)


@pytest.mark.parametrize("query", ["", " ", "\u200b", "???", "the", '"', "AND", "x" * 1_000, "\x00", "\ud800", "🦀"])
def test_any_text_is_a_query(hive: Hive, query: str) -> None:
    hive.add(item("acme", "hv_1", "The gateway throttles."))

    assert set(hive.ids("acme", query)) <= {"hv_1"}


def test_tags_framework_and_category_are_searched_too(hive: Hive) -> None:
    hive.add(
        item("acme", "hv_1", "Pin the resolver before the upgrade.", framework="django", tags=("packaging",)),
        item("acme", "hv_2", "Ask the registry for its index first.", category="regulatory_rule"),
    )

    assert [hive.ids("acme", word)[0] for word in ("django", "packaging", "regulatory")] == ["hv_1", "hv_1", "hv_2"]


def test_the_index_may_be_late_and_nothing_shows_that_is_not_so_any_more(hive: Hive) -> None:
    texts = ("drops headers", "throttles", "needs a warm start", "breaks on Sundays", "is slow", "lies")
    hive.add(*(item("globex", f"hv_{at}", f"The gateway {text}.", is_public=True) for at, text in enumerate(texts)))
    assert len(hive.ids("acme")) == 6

    hive.items.change("hv_0", is_public=False)
    hive.items.change("hv_1", invalid_at=NOW)
    hive.items.change("hv_2", status="rejected")
    hive.items.change("hv_3", content="The gateway is somebody else's now.")
    del hive.items.kept[ItemId("hv_4")]

    assert hive.walk("acme") == ["hv_5"]
    assert set(hive.walk("globex")) == {"hv_0", "hv_5"}


def test_a_deleted_item_leaves_the_index(hive: Hive) -> None:
    hive.add(item("globex", "hv_1", "The gateway throttles.", is_public=True))
    del hive.items.kept[ItemId("hv_1")]
    hive.index("hv_1", owner="globex")

    assert dict(hive.engine.versions()) == {}


def test_an_invalidated_item_is_found_only_as_of_before(hive: Hive) -> None:
    hive.add(item("acme", "hv_1", "The gateway costs four cents.", invalid_at=NOW))

    assert hive.ids("acme", now=NOW) == hive.ids("acme", now=LATER) == []
    assert hive.ids("acme", as_of="2026-11-20T11:59:59.999999Z", now=LATER) == ["hv_1"]
    assert hive.ids("acme", as_of="2026-10-01T00:00:00.000000Z") == []


@pytest.mark.parametrize("words", [1, 60])
def test_the_same_text_is_shown_once_and_ones_own_before_that_of_others(hive: Hive, words: int) -> None:
    text = "The gateway throttles: " + " ".join(f"fact {spelt(at)}" for at in range(words))
    hive.add(
        item("globex", "hv_1", text, is_public=True),
        item("initech", "hv_2", text, is_public=True),
        item("acme", "hv_3", text),
    )

    assert hive.walk("acme") == ["hv_3"]
    assert hive.walk("globex") == ["hv_1"]
    assert len(hive.walk("nobody")) == 1


def test_a_near_duplicate_takes_the_place_of_one_that_is_gone(hive: Hive) -> None:
    text = "The gateway throttles: " + " ".join(f"fact {spelt(at)}" for at in range(100))
    hive.add(item("globex", "hv_1", text, is_public=True), item("initech", "hv_2", text + " indeed", is_public=True))
    (shown,) = hive.walk("acme")

    hive.items.change(shown, is_public=False)

    assert hive.walk("acme") == [{"hv_1": "hv_2", "hv_2": "hv_1"}[shown]]


def test_quality_breaks_a_near_tie_and_never_beats_relevance(hive: Hive) -> None:
    hive.add(
        item("acme", "hv_1", "The gateway throttles in winter."),
        item("acme", "hv_2", "The gateway throttles in summer."),
        item("acme", "hv_3", "Somewhere far away, among many other things of no concern here, there is a gateway too."),
    )
    assert hive.ids("acme", "gateway throttles")[2] == "hv_3"

    for best, other in (("hv_1", "hv_2"), ("hv_2", "hv_1")):
        hive.items.counted = {ItemId(best): Counts(helpful=20), ItemId(other): Counts(not_helpful=20)}
        assert hive.ids("acme", "gateway throttles")[0] == best
    hive.items.counted = {ItemId("hv_1"): Counts(not_helpful=50), ItemId("hv_3"): Counts(helpful=50)}
    assert hive.ids("acme", "gateway throttles")[2] == "hv_3"


def test_relevance_is_from_0_to_1_with_four_decimals(hive: Hive) -> None:
    hive.add(*(item("acme", f"hv_{at}", f"The gateway of {spelt(at)} throttles {spelt(7 * at)}.") for at in range(9)))

    scores = [found.relevance for found in hive.ask("acme", "gateway throttles").results]

    assert all(0 < score <= 1 and score == round(score, 4) for score in scores)


@pytest.mark.parametrize("limit", [1, 7, 50])
def test_all_pages_together_show_every_item_once_in_the_order_of_all_of_them(hive: Hive, limit: int) -> None:
    many = 120
    for at in range(many):
        # The longer a text, the less one word of it says: relevance falls little by little.
        text = "The gateway throttles " + " ".join(spelt(1_000 * at + word) for word in range(at))
        hive.items.put(item("acme", f"hv_{at:03}", text, confidence=1.0 if at % 10 == 9 else 0.0))
        hive.items.counted[ItemId(f"hv_{at:03}")] = Counts(helpful=90)
    hive.index(*hive.items.kept)

    walked = hive.walk("acme", limit=limit)

    assert len(walked) == len(set(walked)) == many
    assert walked == hive.ids("acme", limit=2 * many)
    assert walked != sorted(walked)


def test_a_page_reads_no_more_of_the_store_than_its_order_needs(hive: Hive) -> None:
    hive.add(*(item("acme", f"hv_{at:03}", f"The gateway of {spelt(at)} throttles.") for at in range(150)))
    hive.items.reads.clear()

    hive.ask("acme", f"gateway {spelt(3)} throttles")

    assert sum(hive.items.reads) < 150


def test_without_a_model_words_are_compared_and_the_answer_says_so(hive: Hive) -> None:
    hive.add(item("acme", "hv_1", "The gateway throttles."))
    hive.provider.failing = True

    answer = hive.ask("acme", "gateway throttles")

    assert (answer.fallback, answer.total) == (True, 1)


def test_without_the_store_nothing_is_shown(hive: Hive) -> None:
    hive.add(item("acme", "hv_1", "The gateway throttles."))
    hive.items.failing = True

    with pytest.raises(Unavailable):
        hive.ask("acme")


def test_what_is_similar_in_meaning_is_ones_own_or_public(hive: Hive) -> None:
    hive.add(
        item("acme", "hv_1", "The gateway throttles after a minute."),
        item("globex", "hv_2", "The gateway throttles after an hour.", is_public=True),
        item("globex", "hv_3", "The gateway throttles after a day."),
    )

    similar = dict(hive.similar("acme", "The gateway throttles after a minute."))

    assert similar.keys() == {"hv_1", "hv_2"}
    assert similar["hv_1"] == pytest.approx(1.0, abs=1e-3)
    assert hive.similar("acme", "The gateway throttles after a minute.", 1) == [("hv_1", similar["hv_1"])]


ORGANISATIONS = ["acme", "globex"]
TEXTS = ["The gateway throttles.", "The gateway drops headers.", "A gateway needs a warm start.", "Gateway, again."]
TIMES = [NOW, LATER]
EXAMPLES = count()
"""An id is never used again."""

BEGUN = st.lists(
    st.tuples(st.sampled_from(ORGANISATIONS), st.sampled_from(TEXTS), st.booleans()), min_size=2, max_size=5
)
"""Whose, what, and whether it is public."""
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["publish", "withdraw", "delete", "invalidate", "restore", "index"]),
        st.integers(0, 4),
        st.sampled_from(TIMES),
        st.booleans(),
    ),
    min_size=1,
    max_size=8,
)
"""What is done to which item, and whether the index hears of it."""


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(BEGUN, STEPS)
def test_whatever_the_index_says_late_nobody_is_shown_what_is_not_theirs(
    engine: Engine,
    provider: FakeEmbeddings,
    begun: list[tuple[str, str, bool]],
    steps: list[tuple[str, int, str, bool]],
) -> None:
    hive, example = Hive(engine, provider), next(EXAMPLES)
    made = [item(owner, f"hv_{example}_{at}", text, is_public=public) for at, (owner, text, public) in enumerate(begun)]
    hive.add(*made)
    for step, which, moment, heard in steps:
        one = made[which % len(made)]
        _take(hive, one.id, step, moment)
        if heard or step == "index":
            hive.index(one.id, owner=one.organisation)
    _check(hive, caught_up=False)
    for one in made:
        hive.index(one.id, owner=one.organisation)
    _check(hive, caught_up=True)
    engine.write((), [Tombstone(record_id(one.organisation, one.id), FOR_EVER) for one in made])


def _check(hive: Hive, *, caught_up: bool) -> None:
    for organisation in (*ORGANISATIONS, "nobody"):
        for moment in TIMES:
            shown = [hive.items.kept[ItemId(one)] for one in hive.walk(organisation, limit=3, now=moment)]
            allowed = [one for one in hive.items.kept.values() if _may(organisation, one, moment)]
            assert all(one in allowed for one in shown)
            assert len({one.content for one in shown}) == len(shown)
            if caught_up:
                assert {one.content for one in shown} == {one.content for one in allowed}
                own = {one.content for one in allowed if one.organisation == organisation}
                assert all(one.organisation == organisation or one.content not in own for one in shown)


def _take(hive: Hive, id: str, step: str, moment: str) -> None:
    if ItemId(id) not in hive.items.kept or step == "index":
        return
    if step == "delete":
        del hive.items.kept[ItemId(id)]
    elif step in ("publish", "withdraw"):
        hive.items.change(id, is_public=step == "publish")
    else:
        hive.items.change(id, invalid_at=moment if step == "invalidate" else None)


def _may(organisation: str, one: Contribution, moment: str) -> bool:
    """The rule itself."""
    return (one.is_public or one.organisation == organisation) and (one.invalid_at is None or moment < one.invalid_at)
