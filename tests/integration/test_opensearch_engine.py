"""The OpenSearch engine on a real node: what outlives a close, a crash, a swap and a race."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.kernel.errors import Unavailable
from commonplace.kernel.retry import CircuitBreaker
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.embeddings import model_fingerprint
from commonplace.search.filters import Filters
from commonplace.search.model import Engine, IndexedRecord, IndexMismatch, QueryVector, Record, RecordId, Tombstone
from commonplace.search.opensearch import search
from commonplace.search.opensearch.client import OpenSearchClient, connect
from commonplace.search.opensearch.engine import OpenSearchEngine, OpenSearchGenerations
from commonplace.search.opensearch.indices import Aliases
from commonplace.search.opensearch.settings import IndexParameters
from commonplace.search.query import Query
from tests.examples import examples
from tests.fakes.embeddings import FakeEmbeddings
from tests.opensearch_fixture import remove_indexes
from tests.unit.search.records import indexed, record, versions

if TYPE_CHECKING:
    from tests.opensearch_node.node import OwnedNode

pytestmark = pytest.mark.opensearch

PROVIDER = FakeEmbeddings()


@pytest.fixture
def connection(opensearch: OpenSearchClient) -> OpenSearchClient:
    return opensearch


@pytest.fixture
def stem(connection: OpenSearchClient, unique_stem: str) -> Iterator[str]:
    yield unique_stem
    remove_indexes(connection, unique_stem)


def opened(connection: OpenSearchClient, stem: str, **told: Any) -> OpenSearchEngine:
    """An engine whose writes are seen at once."""
    return OpenSearchEngine(connection, stem, told.pop("provider", PROVIDER), refresh="true", **told)


def current(connection: OpenSearchClient, stem: str) -> str:
    name = Aliases(connection, stem).roles().current
    assert name is not None
    return name


def words(engine: Engine, text: str) -> list[str]:
    return [hit.id for hit in engine.candidates(Query.of(text), None, Filters(), 50).lexical]


def note(number: int, text: str = "rain", generation: int = 1) -> Record:
    return record(f"note/{number}", text, generation=generation)


def test_tombstones_outlive_a_close_of_the_index_and_late_writers_stay_out(
    connection: OpenSearchClient, stem: str
) -> None:
    engine = opened(connection, stem)
    engine.write(indexed(PROVIDER, note(1), note(2)), ())
    engine.write((), [Tombstone(RecordId("note/1"), 20)])
    name = current(connection, stem)

    connection.indices.close(index=name)
    connection.indices.open(index=name)
    connection.cluster.health(index=name, wait_for_status="yellow")
    engine.write(indexed(PROVIDER, note(1, generation=15)), ())

    assert versions(engine) == {"note/2": 1}
    assert words(engine, "rain") == ["note/2"]


def test_a_swept_tombstone_is_forgotten_and_a_younger_one_is_not(connection: OpenSearchClient, stem: str) -> None:
    moments = iter([1_000.0, 2_000.0])
    engine = opened(connection, stem, now=lambda: next(moments))
    engine.write((), [Tombstone(RecordId("note/1"), 9)])
    engine.write((), [Tombstone(RecordId("note/2"), 9)])

    swept = engine.sweep(datetime.fromtimestamp(1_500, UTC))

    left = connection.search(index=current(connection, stem), body={"query": {"term": {"deleted": True}}})
    assert swept == 1
    assert [hit["_source"]["id"] for hit in left["hits"]["hits"]] == ["note/2"]


def test_first_writers_at_the_same_time_make_one_index(connection: OpenSearchClient, stem: str) -> None:
    def write(number: int) -> None:
        opened(connection, stem).write(indexed(PROVIDER, note(number)), ())

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))

    roles = Aliases(connection, stem).roles()
    assert len(roles.every) == 1
    assert len(versions(opened(connection, stem))) == 4


def test_every_record_is_listed_however_many_pages_that_takes(connection: OpenSearchClient, stem: str) -> None:
    engine = opened(connection, stem)
    engine.write(indexed(PROVIDER, *(note(number) for number in range(23))), [Tombstone(RecordId("note/3"), 5)])
    engine.write(indexed(None, note(7, generation=2)), ())
    name = current(connection, stem)

    paged = dict(search.live(connection, name, page=5))

    assert paged == versions(engine)
    assert len(paged) == 22
    assert [found for found, _ in search.live(connection, name, waiting=True, page=1)] == ["note/7"]


def test_what_was_written_a_moment_ago_is_held_before_any_search_finds_it(
    connection: OpenSearchClient, stem: str
) -> None:
    engine = OpenSearchEngine(connection, stem, PROVIDER, replace(IndexParameters(), refresh_interval="1m"))
    engine.write(indexed(PROVIDER, note(1)), ())

    assert engine.held([RecordId("note/1"), RecordId("note/2")]) == {"note/1": 1}
    assert words(engine, "rain") == []
    assert versions(engine) == {"note/1": 1}


def test_a_write_that_came_second_is_seen_when_it_returns_like_any_other(
    connection: OpenSearchClient, stem: str
) -> None:
    engine = opened(connection, stem, parameters=replace(IndexParameters(), refresh_interval="1m"))
    unseen = OpenSearchEngine(connection, stem, PROVIDER, replace(IndexParameters(), refresh_interval="1m"))
    engine.write(indexed(PROVIDER, note(1, "rain", generation=1)), ())
    newer = indexed(PROVIDER, note(1, "wind", generation=2))

    unseen.write(newer, ())
    engine.write(newer, ())

    assert (words(engine, "rain"), words(engine, "wind")) == ([], ["note/1"])


def test_long_and_odd_values_cost_no_record(connection: OpenSearchClient, stem: str) -> None:
    engine = opened(connection, stem)
    long = "x" * 40_000
    odd = record(
        "note/odd", "tide " + "y" * 40_000, title="Tide " + long, tags=[long, "kept"], aliases=[long, "\ud800"]
    )
    odd = replace(
        odd, group=long, status="\ud800", url=long, description="z " * 600_000, id=RecordId("note/" + "é" * 300)
    )
    engine.write(indexed(PROVIDER, odd), ())

    found = engine.candidates(Query.of("tide"), None, Filters(tags_all=("kept",)), 5)

    assert [hit.id for hit in found.lexical] == [odd.id]
    assert engine.held([odd.id]) == {odd.id: 1}
    assert engine.fetch([(odd.id, None)], Query.of("tide"))[odd.id].record.tags == (long, "kept")


def test_synonyms_find_what_is_called_otherwise(connection: OpenSearchClient, stem: str) -> None:
    rules = ("DAO, decentralized autonomous organization",)
    engine = opened(connection, stem, parameters=replace(IndexParameters(), synonyms=rules))
    long = record("note/long", "A decentralized, autonomous organization of divers.")
    engine.write(indexed(PROVIDER, long, record("note/short", "Our DAO votes."), record("note/other", "rain")), ())

    assert set(words(engine, "dao")) == {"note/long", "note/short"}
    assert set(words(engine, "decentralized autonomous organization")) == {"note/long", "note/short"}


def test_a_writer_under_other_parameters_is_refused_and_told_what_to_run(
    connection: OpenSearchClient, stem: str
) -> None:
    opened(connection, stem).write(indexed(PROVIDER, note(1)), ())

    with pytest.raises(IndexMismatch, match="another mapping") as refusal:
        opened(connection, stem, parameters=replace(IndexParameters(), m=8)).write((), ())

    assert "Rebuild the index" in (refusal.value.hint or "")


def test_a_reader_refuses_an_index_that_it_cannot_read(connection: OpenSearchClient, stem: str) -> None:
    engine = opened(connection, stem)
    engine.write(indexed(PROVIDER, note(1)), ())
    name = current(connection, stem)
    meta = connection.indices.get_mapping(index=name)[name]["mappings"]["_meta"]
    meta["commonplace"]["schema"] = "of another version"
    connection.indices.put_mapping(index=name, body={"_meta": meta})

    with pytest.raises(IndexMismatch, match="another version of Commonplace"):
        words(opened(connection, stem), "rain")


def test_a_reader_goes_on_when_its_index_is_replaced_and_dropped_under_it(
    connection: OpenSearchClient, stem: str
) -> None:
    opened(connection, stem).write(indexed(PROVIDER, note(1)), ())
    reader = opened(connection, stem, directory=Aliases(connection, stem, remembered_seconds=3_600))
    assert words(reader, "rain") == ["note/1"]
    other = FakeEmbeddings(revision="2")
    generations = OpenSearchGenerations(connection, stem, other, refresh="true")
    made = generations.create_next()
    generations.engine(made.name).write(indexed(other, note(2)), ())
    generations.settle(made.name)

    old, new = generations.swap()
    assert words(reader, "rain") == ["note/1"]
    generations.drop(str(old))

    assert new == made.name
    assert words(reader, "rain") == ["note/2"]
    assert list(reader.fetch([(RecordId("note/2"), None)], Query.of("rain"))) == ["note/2"]


def test_writes_go_to_every_index_of_the_same_facts(connection: OpenSearchClient, stem: str) -> None:
    engine = opened(connection, stem)
    engine.write(indexed(PROVIDER, note(1)), ())
    generations = OpenSearchGenerations(connection, stem, PROVIDER)
    generations.create_next()
    generations.swap()

    engine.write(indexed(PROVIDER, note(2)), ())
    back, _ = generations.rollback()

    assert {generation.role for generation in generations.all()} == {"current", "next"}
    assert back is not None
    assert versions(generations.engine(back)) == {"note/2": 1}
    assert versions(engine) == {"note/1": 1, "note/2": 1}


def test_a_write_into_an_index_that_was_dropped_goes_to_the_one_that_is_there(
    connection: OpenSearchClient, stem: str
) -> None:
    engine = opened(connection, stem)
    engine.write(indexed(PROVIDER, note(1)), ())
    generations = OpenSearchGenerations(connection, stem, PROVIDER, refresh="true")
    generations.create_next()
    generations.swap()
    old = next(generation.name for generation in generations.all() if generation.role == "previous")
    # Between looking up where to write and writing there, the previous index is dropped.
    bulk, dropped = connection.bulk, threading.Event()

    def dropping(**told: Any) -> Any:
        if not dropped.is_set():
            dropped.set()
            connection.indices.delete(index=old)
        return bulk(**told)

    connection.bulk = dropping
    engine.write(indexed(PROVIDER, note(2)), ())
    connection.bulk = bulk

    assert old not in [generation.name for generation in generations.all()]
    assert versions(engine) == {"note/2": 1}


_numbers = count()
_writes = st.lists(
    st.tuples(st.integers(0, 2), st.integers(1, 3), st.sampled_from(["bury", "words", "vectors"])), max_size=12
)


@settings(max_examples=examples(12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(_writes, min_size=1, max_size=3))
def test_both_engines_end_in_the_same_state_whatever_is_written(
    opensearch_url: str, engines: tuple[OpenSearchEngine, EmbeddedEngine], batches: list[list[tuple[int, int, str]]]
) -> None:
    example = next(_numbers)

    def ref(number: int) -> str:
        return f"note/e{example}-{number}"

    for batch in batches:
        alive = [
            item
            for number, version, kind in batch
            if kind != "bury"
            for item in indexed(
                PROVIDER if kind == "vectors" else None, record(ref(number), "rain", generation=version)
            )
        ]
        gone = [Tombstone(RecordId(ref(number)), version) for number, version, kind in batch if kind == "bury"]
        for engine in engines:
            engine.write(alive, gone)

    def state(engine: Engine) -> tuple[dict[RecordId, int], set[RecordId]]:
        mine = {found: version for found, version in engine.versions() if found.startswith(f"note/e{example}-")}
        return mine, {found for found in engine.incomplete() if found in mine}

    ours, theirs = state(engines[0]), state(engines[1])
    assert ours == theirs
    assert engines[0].held(list(ours[0])) == ours[0]


@pytest.fixture(scope="module")
def engines(
    opensearch_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[OpenSearchEngine, EmbeddedEngine]]:
    connection = connect(opensearch_url, "none")
    stem = f"test-{tmp_path_factory.getbasetemp().name}-alike".lower()
    file = EmbeddedEngine(Path(tmp_path_factory.mktemp("alike")) / "index.sqlite", PROVIDER)
    yield opened(connection, stem), file
    file.close()
    remove_indexes(connection, stem)
    connection.close()


def test_a_node_killed_in_the_middle_of_writing_loses_nothing_is_told_quickly_and_found_again(
    own_node: "OwnedNode", unique_stem: str
) -> None:
    engine = OpenSearchEngine(connect(own_node.url, "none", breaker=patient()), unique_stem, PROVIDER)
    engine.write(indexed(PROVIDER, note(9_000)), [Tombstone(RecordId("note/9001"), 20)])
    moment = [0.0]
    breaker = CircuitBreaker("OpenSearch", failures=3, open_seconds=5, clock=lambda: moment[0])
    reader = opened(connect(own_node.url, "none", breaker=breaker), f"reader-{unique_stem}")
    reader.write(indexed(PROVIDER, note(1)), ())
    vector = QueryVector(model_fingerprint(PROVIDER), PROVIDER.embed(["rain"])[0])
    batches = [indexed(PROVIDER, *(note(number) for number in range(first, first + 20))) for first in range(0, 800, 20)]
    taken: list[IndexedRecord] = []
    failed: list[Sequence[IndexedRecord]] = []
    some_taken = threading.Event()

    def index() -> None:
        for batch in batches:
            try:
                engine.write(batch, ())
            except Unavailable:
                failed.append(batch)
            else:
                taken.extend(batch)
                some_taken.set()

    writer = threading.Thread(target=index)
    writer.start()
    assert some_taken.wait(60)
    own_node.kill()
    writer.join()
    for _ in range(4):
        with pytest.raises(Unavailable) as refusal:
            reader.candidates(Query.of("rain"), vector, Filters(), 5)
    assert breaker.trips == 1
    assert refusal.value.retry_after_seconds <= 5

    own_node.restart()
    wait_until(lambda: bool(engine.held([RecordId("note/9000")])))
    assert failed
    assert {item.record.id for item in taken} <= versions(engine).keys()
    for batch in failed:
        engine.write(batch, ())
    engine.write(indexed(PROVIDER, note(9_001, generation=15)), ())
    assert versions(engine) == {RecordId(f"note/{number}"): 1 for number in (*range(800), 9_000)}
    moment[0] = 6.0
    wait_until(lambda: words_or_none(reader, moment) == ["note/1"])


def patient() -> CircuitBreaker:
    """One that never opens: each write is to be tried."""
    return CircuitBreaker("OpenSearch", failures=1_000_000)


def words_or_none(engine: Engine, moment: list[float]) -> list[str] | None:
    try:
        return words(engine, "rain")
    except Unavailable:
        moment[0] += 6.0
        return None


def wait_until(holds: Callable[[], bool], tries: int = 1_200) -> None:
    """Until it holds. A node that has just come back has its shards a moment later."""
    for _ in range(tries):
        try:
            if holds():
                return
        except Unavailable:
            pass
        threading.Event().wait(0.1)
    raise AssertionError("it never held")
