"""An index is built beside the one that answers, checked against the store, and takes over in one step."""

import itertools
import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from commonplace.documents.content.keys import content_key
from commonplace.documents.index_source import StoredDocuments
from commonplace.kernel.errors import InvalidInput
from commonplace.search.indexer import Indexer
from commonplace.search.migration import Migration, Refused, Swapped, Target
from commonplace.search.model import (
    REBUILD_HINT,
    EmbeddingProvider,
    IndexMismatch,
    RecordId,
    SearchRequest,
    Tombstone,
    VectorMemory,
)
from commonplace.search.service import SearchService
from commonplace.search.verification import Work
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.generations import FakeCluster, FakeGenerations
from tests.fakes.store import Crash, FakeObjectStore
from tests.unit.search.records import document, indexed, message, publish, record, versions

OLD, NEW = FakeEmbeddings("1"), FakeEmbeddings("2")


@pytest.fixture
def store() -> FakeObjectStore:
    store = FakeObjectStore()
    bodies = ["rain on the roof", "wind over the reef", "snow in the yard", "fog along the quay", "hail at noon"]
    publish(
        store, [document(f"note/n{at}", body, title=f"Weather {at}") for at, body in enumerate(bodies)], generation=1
    )
    return store


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[FakeCluster]:
    cluster = FakeCluster(tmp_path)
    yield cluster
    cluster.close()


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    yield
    for provider in (OLD, NEW):
        provider.asked.clear()
        provider.failing = False


def target(
    cluster: FakeCluster, provider: EmbeddingProvider | None, mapping: str = "m1", memory: VectorMemory | None = None
) -> Target:
    return Target(FakeGenerations(cluster, provider, mapping), provider, lambda _: memory)


def writer(
    store: FakeObjectStore, cluster: FakeCluster, provider: EmbeddingProvider | None, mapping: str = "m1"
) -> Indexer:
    """The index function with this model."""
    return Indexer(
        StoredDocuments(store), FakeGenerations(cluster, provider, mapping).shared_engine(), provider, rebuilds=False
    )


def migration(store: FakeObjectStore, *targets: Target, records_per_write: int = 2) -> Migration:
    return Migration(
        StoredDocuments(store), targets, clock=itertools.count().__next__, records_per_write=records_per_write
    )


@pytest.fixture
def served(store: FakeObjectStore, cluster: FakeCluster) -> Indexer:
    """The writer of a current index of the old model that holds what is published."""
    indexer = writer(store, cluster, OLD)
    indexer.reconcile()
    OLD.asked.clear()
    return indexer


@pytest.fixture
def both(store: FakeObjectStore, cluster: FakeCluster, served: Indexer) -> Migration:
    """A change of model, both models at hand."""
    return migration(store, target(cluster, OLD), target(cluster, NEW))


def after(writes: int) -> Callable[[], bool]:
    """Enough after so many writes."""
    asked = itertools.count(1)
    return lambda: next(asked) >= writes


def current(cluster: FakeCluster) -> dict[RecordId, int]:
    return versions(cluster.engine(cluster.roles["current"], None))


PUBLISHED = {f"note/n{at}": 1 for at in range(5)}


def test_a_change_of_model_goes_from_plan_to_swap(both: Migration, cluster: FakeCluster) -> None:
    plan = both.plan()
    assert plan.changes == {"model": ("fake@1/64", "fake@2/64")}
    assert (plan.work, plan.step, plan.warnings) == (Work(5, 5, 5), "build", ())

    built = both.build()
    assert (built.done, built.remaining, built.complete) == (5, 0, True)
    assert cluster.settled == [built.index]
    assert both.plan().step == "swap"
    assert cluster.roles["current"] != built.index

    swapped = both.swap()
    assert isinstance(swapped, Swapped)
    assert (swapped.new, cluster.roles["previous"]) == (built.index, swapped.old)
    assert current(cluster) == PUBLISHED
    assert both.plan().step is None


def test_the_verification_looks_at_every_document_and_searches_for_a_sample(both: Migration) -> None:
    both.build()

    verification = both.verify()

    assert (verification.passed, verification.documents, verification.sampled) == (True, 5, 5)
    assert verification.overlap is None, "the models differ"


def test_a_build_goes_on_where_time_ran_out(both: Migration, cluster: FakeCluster) -> None:
    told: list[tuple[int, int]] = []

    first = both.build(after(1), told=lambda done, left: told.append((done, left)))
    assert (first.done, first.remaining, first.complete) == (2, 3, False)
    assert both.plan().work == Work(3, 3, 5)
    second = both.build(after(1))
    third = both.build()

    assert (second.done, third.done, third.complete) == (2, 1, True)
    assert (told, len(NEW.asked), sum(records for _, records in cluster.writes[1:])) == ([(2, 3)], 5, 5)


@pytest.mark.parametrize("writes", range(4))
def test_a_build_that_crashed_goes_on_and_writes_nothing_twice(
    both: Migration, cluster: FakeCluster, writes: int
) -> None:
    cluster.crash_after = writes
    with pytest.raises(Crash):
        both.build()
    before = len(cluster.writes)

    assert both.build().complete

    wrote = [records for _, records in cluster.writes[before:]]
    assert sum(wrote) == 5 - 2 * max(0, writes - 1)
    assert isinstance(both.swap(), Swapped)
    assert current(cluster) == PUBLISHED


def test_vectors_that_are_remembered_are_not_computed_again(
    store: FakeObjectStore, cluster: FakeCluster, served: Indexer
) -> None:
    memory = cluster.engine(cluster.roles["current"], OLD)
    changed = migration(store, target(cluster, OLD), target(cluster, OLD, "m2", memory))
    assert changed.plan().work == Work(5, 0, 5)

    changed.build()
    assert isinstance(changed.swap(), Swapped)

    assert OLD.asked == []


def test_next_takes_the_writes_made_meanwhile(store: FakeObjectStore, cluster: FakeCluster, both: Migration) -> None:
    both.build(after(1))
    publish(store, [document("note/n0", "thaw", generation=2), document("note/new", "dew", generation=2)], generation=2)
    names = ["note/n0", "note/new", "note/n1", "note/n2", "note/n3", "note/n4"]
    messages = [message(str(at), name) for at, name in enumerate(names)]

    for provider in (OLD, NEW):
        assert writer(store, cluster, provider).take(messages) == []
    both.build()

    assert isinstance(both.swap(), Swapped)
    wanted = {"note/n0": 2, "note/new": 2}
    assert current(cluster) == wanted
    assert versions(cluster.engine(cluster.roles["previous"], OLD)) == wanted


def test_the_swap_catches_up_with_what_no_writer_brought(
    store: FakeObjectStore, cluster: FakeCluster, both: Migration
) -> None:
    both.build()
    publish(store, [document("note/late", "thaw", generation=2)], generation=2)

    assert isinstance(both.swap(), Swapped)

    assert current(cluster) == {"note/late": 2}


def test_a_swap_is_refused_while_the_model_fails(both: Migration, cluster: FakeCluster) -> None:
    NEW.failing = True
    built = both.build()
    assert (built.complete, built.remaining) == (False, 5)

    refused = both.swap()

    assert isinstance(refused, Refused)
    assert (refused.counts, refused.step) == ({"incomplete": 5}, "build")
    assert cluster.roles["next"] == refused.index

    NEW.failing = False
    assert both.build().complete
    assert isinstance(both.swap(), Swapped)


def test_a_document_that_cannot_be_read_refuses_the_swap_by_name(
    store: FakeObjectStore, both: Migration, cluster: FakeCluster
) -> None:
    store.put(content_key("note", "n3"), b"{")
    assert both.build().unreadable == 1

    refused = both.swap()

    assert isinstance(refused, Refused)
    assert [(each.kind, each.record) for each in refused.differences] == [("unreadable", "note/n3")]
    assert current(cluster) == PUBLISHED


class Meddled:
    """The next index, damaged behind the back of its verification each time it is settled."""

    def __init__(self, generations: FakeGenerations, damage: Callable[[str], None]) -> None:
        self._generations, self._damage = generations, damage

    def settle(self, name: str) -> None:
        self._damage(name)
        self._generations.settle(name)

    def __getattr__(self, name: str) -> object:
        return getattr(self._generations, name)


def meddled(store: FakeObjectStore, cluster: FakeCluster, damage: Callable[[str], None], mapping: str) -> Migration:
    generations = Meddled(FakeGenerations(cluster, OLD, mapping), damage)
    return migration(store, target(cluster, OLD), Target(generations, OLD))  # type: ignore[arg-type]


def test_an_index_that_answers_from_other_texts_is_not_taken(
    store: FakeObjectStore, cluster: FakeCluster, served: Indexer
) -> None:
    def damage(name: str) -> None:
        empty = [record(f"note/n{at}", "nothing", title="Nothing", generation=1) for at in range(5)]
        cluster.engine(name, OLD).replace(indexed(OLD, *empty))

    changing = meddled(store, cluster, damage, "m2")
    changing.build()
    refused = changing.swap()

    assert isinstance(refused, Refused)
    assert {"not-found-by-title", "not-found-by-words", "not-found-by-meaning"} <= refused.counts.keys()
    assert current(cluster) == PUBLISHED


def test_a_record_newer_than_anything_published_is_a_difference_and_a_foreign_one_is_buried(
    store: FakeObjectStore, cluster: FakeCluster, served: Indexer
) -> None:
    ever_newer = itertools.count(9, 10)

    def damage(name: str) -> None:
        generation = next(ever_newer)
        strangers = [record(f"note/{each}", "sleet", generation=generation) for each in ("stranger", "n1")]
        cluster.engine(name, OLD).write(indexed(OLD, *strangers), ())

    changing = meddled(store, cluster, damage, "m2")
    changing.build()
    refused = changing.swap()

    assert isinstance(refused, Refused)
    assert [(each.kind, each.record) for each in refused.differences] == [("ahead", "note/n1")]
    assert "note/stranger" not in versions(cluster.engine(refused.index, OLD))


def test_what_a_publication_under_way_has_written_is_no_difference(
    store: FakeObjectStore, cluster: FakeCluster, both: Migration
) -> None:
    both.build()
    late = document("note/arriving", "dew", generation=2)
    store.put(content_key("note", "arriving"), late.to_json())
    for provider in (OLD, NEW):
        writer(store, cluster, provider).take([message("m", "note/arriving")])

    assert isinstance(both.swap(), Swapped)
    assert current(cluster) == PUBLISHED | {"note/arriving": 2}


def test_a_document_brought_back_over_its_tombstone_is_no_difference(
    store: FakeObjectStore, cluster: FakeCluster, both: Migration
) -> None:
    name = both.begin().name
    cluster.engine(name, NEW).write((), [Tombstone(RecordId("note/n0"), 4)])
    documents = [document(f"note/n{at}", "rain", title=f"Weather {at}") for at in range(5)]
    publish(store, documents, generation=5)

    assert isinstance(both.swap(), Swapped)
    assert current(cluster)[RecordId("note/n0")] == 5


def test_the_same_model_must_rank_much_as_before(store: FakeObjectStore, cluster: FakeCluster, served: Indexer) -> None:
    changed = migration(store, target(cluster, OLD), target(cluster, OLD, "m2"))
    changed.build()

    verification = changed.verify()

    assert (verification.passed, verification.overlap) == (True, 1.0)


def test_rolling_back_puts_the_previous_index_back_up_to_date(
    store: FakeObjectStore, cluster: FakeCluster, both: Migration
) -> None:
    before = cluster.roles["current"]
    both.build()
    both.swap()
    publish(store, [document("note/n0", "thaw", generation=2)], generation=2)
    for provider in (OLD, NEW):
        writer(store, cluster, provider).take([message("m", "note/n0")])

    back = both.rollback()

    assert isinstance(back, Swapped)
    assert (back.new, cluster.roles["next"]) == (before, back.old)
    assert current(cluster) == {"note/n0": 2}


def test_rolling_back_catches_up_first_when_the_model_is_at_hand(
    store: FakeObjectStore, cluster: FakeCluster, both: Migration
) -> None:
    both.build()
    both.swap()
    publish(store, [document("note/n0", "thaw", generation=2)], generation=2)

    assert isinstance(both.rollback(), Swapped)
    assert current(cluster) == {"note/n0": 2}


def test_rolling_back_to_what_was_unpublished_is_refused_without_its_model(
    store: FakeObjectStore, cluster: FakeCluster, both: Migration
) -> None:
    both.build()
    both.swap()
    promoted = migration(store, target(cluster, NEW))
    publish(store, [document("note/n0", "thaw", generation=2)], generation=2)

    refused = promoted.rollback()

    assert isinstance(refused, Refused)
    assert refused.counts == {"foreign": 4, "outdated": 1}
    assert "EMBEDDING_PROVIDER_NEXT" in (refused.hint or "")
    assert cluster.roles["previous"] == refused.index


def test_rolling_back_to_what_is_still_right_needs_no_model(
    store: FakeObjectStore, cluster: FakeCluster, both: Migration
) -> None:
    both.build()
    both.swap()

    assert isinstance(migration(store, target(cluster, NEW)).rollback(), Swapped)
    assert current(cluster) == PUBLISHED


def test_there_is_nothing_to_build_go_back_to_or_verify_and_each_refusal_names_a_step(
    store: FakeObjectStore, cluster: FakeCluster, served: Indexer
) -> None:
    settled = migration(store, target(cluster, OLD))

    steps: dict[Callable[[], object], str] = {
        settled.build: "build-anew",
        settled.verify: "build",
        settled.swap: "build",
        settled.rollback: "status",
    }
    for refused, step in steps.items():
        with pytest.raises(InvalidInput) as error:
            refused()
        assert error.value.details["step"] == step
    assert settled.plan().step is None


def test_the_same_index_is_built_again_when_asked_to(
    store: FakeObjectStore, cluster: FakeCluster, served: Indexer
) -> None:
    settled = migration(store, target(cluster, OLD))

    first = settled.build(after(1), anew=True)
    assert settled.build().complete
    assert isinstance(settled.swap(), Swapped)

    assert cluster.roles["current"] == first.index


def test_a_first_build_needs_no_current_index(store: FakeObjectStore, cluster: FakeCluster) -> None:
    first = migration(store, target(cluster, NEW))
    assert (first.plan().step, first.plan().work) == ("build", Work(5, 5, 5))

    assert first.build().complete
    swapped = first.swap()

    assert isinstance(swapped, Swapped)
    assert (swapped.old, current(cluster)) == (None, PUBLISHED)


def test_a_store_in_which_nothing_is_published_lets_no_empty_index_take_over(
    cluster: FakeCluster, served: Indexer
) -> None:
    wrong = migration(FakeObjectStore(), target(cluster, OLD), target(cluster, NEW))
    wrong.build()

    refused = wrong.swap()

    assert isinstance(refused, Refused)
    assert refused.counts == {"unpublished": 1}


def test_an_index_begun_under_other_settings_gives_way(
    store: FakeObjectStore, cluster: FakeCluster, both: Migration
) -> None:
    begun = both.build(after(1)).index
    other = migration(store, target(cluster, OLD), target(cluster, NEW, "m2"))

    plan = other.plan()
    assert any(begun in warning for warning in plan.warnings)
    with pytest.raises(InvalidInput, match="other settings"):
        other.verify()
    assert other.build().complete

    assert begun not in cluster.indexes
    assert isinstance(other.swap(), Swapped)


def test_a_writer_of_another_model_is_refused_with_the_command(
    store: FakeObjectStore, cluster: FakeCluster, served: Indexer
) -> None:
    stranger = writer(store, cluster, NEW)

    for refused in (stranger.reconcile, lambda: stranger.take([message("m", "note/n0")])):
        with pytest.raises(IndexMismatch) as error:
            refused()
        assert error.value.hint == REBUILD_HINT
        assert "fake@1/64" in error.value.message
    assert current(cluster) == PUBLISHED


def test_a_writer_of_another_mapping_is_refused_until_next_is_begun(
    store: FakeObjectStore, cluster: FakeCluster, served: Indexer
) -> None:
    changed = migration(store, target(cluster, OLD, "m2"))
    stranger = writer(store, cluster, OLD, "m2")
    with pytest.raises(IndexMismatch, match="mapping 'm1' instead of 'm2'"):
        stranger.take([message("m", "note/n0")])
    assert len(changed.plan().warnings) == 1

    changed.begin()

    assert stranger.take([message("m", "note/n0")]) == []


def test_the_schedule_keeps_current_and_previous_alike(
    store: FakeObjectStore, cluster: FakeCluster, both: Migration
) -> None:
    both.build()
    both.swap()
    publish(store, [document("note/n0", "thaw", generation=2)], generation=2)

    both.keep_up()

    for role in ("current", "previous"):
        assert versions(cluster.engine(cluster.roles[role], None)) == {"note/n0": 2}


def test_the_schedule_tells_of_a_current_index_that_nobody_writes(
    store: FakeObjectStore, cluster: FakeCluster, served: Indexer
) -> None:
    with pytest.raises(IndexMismatch, match="model"):
        migration(store, target(cluster, NEW)).keep_up()


def test_only_what_does_not_answer_can_be_dropped(cluster: FakeCluster, both: Migration) -> None:
    both.build()
    both.swap()
    both.build(anew=True)
    both.swap()
    assert both.cleanup() == ["documents-1"]

    with pytest.raises(InvalidInput):
        both.drop(cluster.roles["current"])
    with pytest.raises(InvalidInput, match="There is no index other"):
        both.drop("other")
    both.drop(cluster.roles["previous"])

    assert list(cluster.indexes) == [cluster.roles["current"]]


def test_two_builders_at_once_end_as_one(both: Migration, cluster: FakeCluster) -> None:
    others: list[bool] = []

    def other() -> bool:
        if not others:
            others.append(True)
            others.append(both.build().complete)
        return False

    assert both.build(other).complete
    assert isinstance(both.swap(), Swapped)
    assert current(cluster) == PUBLISHED


def test_what_is_published_and_unpublished_while_the_verification_looks_is_no_difference(
    store: FakeObjectStore, cluster: FakeCluster, served: Indexer
) -> None:
    def meanwhile(_name: str) -> None:
        documents = [document(f"note/n{at}", "thaw", generation=2, title=f"Weather {at}") for at in (1, 2, 7)]
        publish(store, documents, generation=2)

    changing = meddled(store, cluster, meanwhile, "m2")
    changing.begin()

    assert isinstance(changing.swap(), Swapped)
    assert current(cluster) == {"note/n1": 2, "note/n2": 2, "note/n7": 2}


def test_a_reader_of_another_model_searches_words_and_its_log_names_the_command_once(
    cluster: FakeCluster, served: Indexer, caplog: pytest.LogCaptureFixture
) -> None:
    reader = SearchService(FakeGenerations(cluster, NEW).shared_engine(), NEW)

    answers = [reader.search(SearchRequest(f"weather {at}")) for at in range(3)]

    assert all(answer.fallback and answer.results for answer in answers)
    told = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert [record.__dict__["hint"] for record in told] == [REBUILD_HINT]
