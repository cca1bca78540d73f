"""What is particular to the index as a file on disk."""

import random
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace.documents.index_source import StoredDocuments
from commonplace.kernel.errors import Unavailable
from commonplace.search.embedded import tables
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.embeddings import embedding_text, model_fingerprint, vector_key
from commonplace.search.filters import Filters
from commonplace.search.indexer import Indexer
from commonplace.search.model import IndexMismatch, RecordId, Tombstone
from commonplace.search.query import Query
from tests.fakes.embeddings import FakeEmbeddings, asked
from tests.fakes.store import FakeObjectStore
from tests.unit.search.records import document, indexed, message, publish, record, versions

ROOT = Path(__file__).parents[3]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index.sqlite"


@pytest.fixture
def engine(path: Path, provider: FakeEmbeddings) -> Iterator[EmbeddedEngine]:
    with closing(EmbeddedEngine(path, provider)) as engine:
        yield engine


def test_writers_at_the_same_time_wait_for_each_other(path: Path, provider: FakeEmbeddings) -> None:
    def write(writer: int) -> None:
        with closing(EmbeddedEngine(path, provider)) as engine:
            for number in range(5):
                engine.write(indexed(provider, record(f"note/w{writer}-{number}", "rain")), ())

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))

    with closing(EmbeddedEngine(path, provider, read_only=True)) as reader:
        assert len(versions(reader)) == 20


def test_nothing_of_what_was_taken_out_lingers_in_the_files(
    engine: EmbeddedEngine, path: Path, provider: FakeEmbeddings
) -> None:
    others = [record(f"note/n{number}", f"rain number {number}") for number in range(50)]
    secret = record("note/secret", "quokkaline gossip", title="Whisperwind")
    engine.write(indexed(provider, secret, *others), ())
    assert b"quokkalin" in path.read_bytes()
    engine.write((), [Tombstone(RecordId("note/secret"), 9)])
    written = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert b"quokkalin" not in written
    assert b"whisperwind" not in written.lower()


def test_many_threads_may_search_one_engine(engine: EmbeddedEngine, provider: FakeEmbeddings) -> None:
    engine.write(indexed(provider, *(record(f"note/n{number}", "rain") for number in range(20))), ())
    vector = asked(provider, "rain")

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: engine.candidates(Query.of("rain"), vector, Filters(), 50), range(40)))

    assert {(len(item.lexical), len(item.vector), item.total) for item in found} == {(20, 20, 20)}


def test_another_process_reads_while_this_one_has_the_file_open(engine: EmbeddedEngine, path: Path) -> None:
    engine.write(indexed(None, record("note/a", "rain")), ())
    program = (
        "import sys; from pathlib import Path; from commonplace.search.embedded.engine import EmbeddedEngine;"
        "engine = EmbeddedEngine(Path(sys.argv[1]), None, read_only=True);"
        "print(dict(engine.versions())); engine.close()"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        env={"PYTHONPATH": str(ROOT / "layers" / "core")},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.strip() == "{'note/a': 1}"


def test_a_reader_follows_when_another_file_takes_the_place_of_its_own(path: Path, provider: FakeEmbeddings) -> None:
    with closing(EmbeddedEngine(path, provider)) as first:
        first.write(indexed(provider, record("note/a", "rain")), ())
    reader = EmbeddedEngine(path, provider, read_only=True)
    assert versions(reader) == {"note/a": 1}
    path.unlink()
    assert versions(reader) == {}

    with closing(EmbeddedEngine(path, provider)) as second:
        second.write(indexed(provider, record("note/b", "wind")), ())

    assert versions(reader) == {"note/b": 1}
    reader.close()


def test_a_reader_writes_nothing_and_makes_no_file(path: Path, provider: FakeEmbeddings) -> None:
    reader = EmbeddedEngine(path, provider, read_only=True)

    with pytest.raises(Unavailable, match="reading only"):
        reader.write(indexed(provider, record("note/a", "rain")), ())

    assert (versions(reader), path.exists()) == ({}, False)


def test_a_write_that_fails_leaves_nothing_behind(engine: EmbeddedEngine, provider: FakeEmbeddings) -> None:
    good = indexed(provider, record("note/a", "rain"))
    engine.write(good, ())
    (wrong,) = indexed(provider, record("note/b", "wind"))
    object.__setattr__(wrong, "vectors", (*wrong.vectors, *wrong.vectors))

    with pytest.raises(ValueError, match="vectors"):
        engine.write([*indexed(provider, record("note/c", "snow")), wrong], [Tombstone(RecordId("note/a"), 9)])

    assert versions(engine) == {"note/a": 1}


@pytest.mark.parametrize("fact", ["schema", "chunker"])
def test_an_index_of_another_schema_or_chunker_is_refused_and_can_be_replaced(
    engine: EmbeddedEngine, path: Path, provider: FakeEmbeddings, fact: str
) -> None:
    engine.write(indexed(provider, record("note/a", "rain")), ())
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE meta SET value = 'another' WHERE name = ?", (fact,))

    with pytest.raises(IndexMismatch):
        engine.write((), ())
    engine.replace(indexed(provider, record("note/b", "wind")))

    assert versions(engine) == {"note/b": 1}


FIRST_SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES ('schema', '1'), ('chunker', '1'), ('model', 'none');
CREATE TABLE records (rowid INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, version INTEGER NOT NULL);
INSERT INTO records VALUES (1, 'note/old', 1);
CREATE TABLE chunks (rowid INTEGER PRIMARY KEY, record INTEGER NOT NULL, ordinal INTEGER NOT NULL);
CREATE VIRTUAL TABLE labels USING fts5 (title, aliases, description, tags);
"""


def test_an_index_of_the_first_schema_is_rebuilt_by_the_next_message(path: Path, provider: FakeEmbeddings) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.executescript(FIRST_SCHEMA)
    store = FakeObjectStore()
    publish(store, [document("note/a", "the lantern", generation=1)], generation=1)

    with closing(EmbeddedEngine(path, provider)) as engine:
        with pytest.raises(IndexMismatch, match="another version"):
            engine.candidates(Query.of("lantern"), None, Filters(), 5)
        failed = Indexer(StoredDocuments(store), engine, provider, memories=lambda _: engine).take(
            [message("1", "note/a")]
        )

        assert (failed, versions(engine)) == ([], {"note/a": 1})
        assert engine.candidates(Query.of("lantren"), None, Filters(), 5).suggestions == ("lantern",)


def test_vectors_outlive_their_chunk_but_not_without_end(
    engine: EmbeddedEngine, provider: FakeEmbeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "SPARE_VECTORS", 2)
    texts = [record("note/a", f"text {number}", generation=number + 1) for number in range(5)]
    model = model_fingerprint(provider)
    keys = [vector_key(model, embedding_text(text, text.chunks[0])) for text in texts]

    kept = []
    for text in texts:
        engine.write(indexed(provider, text), ())
        kept.append([key in engine.known([key]) for key in keys].count(True))

    assert kept == [1, 2, 3, 4, 1]


def test_a_tombstone_is_as_old_as_the_clock_says_and_burying_again_makes_it_young(
    path: Path, provider: FakeEmbeddings
) -> None:
    now = [1_000.0]
    engine = EmbeddedEngine(path, provider, clock=lambda: now[0])
    engine.write((), [Tombstone(RecordId("note/a"), 5), Tombstone(RecordId("note/b"), 5)])
    now[0] = 2_000.0
    engine.write((), [Tombstone(RecordId("note/a"), 5), Tombstone(RecordId("note/b"), 6)])

    assert engine.sweep(datetime.fromtimestamp(1_000, UTC)) == 0
    assert engine.sweep(datetime.fromtimestamp(1_500, UTC)) == 1
    engine.write(indexed(provider, *(record(f"note/{name}", "rain", generation=4) for name in "ab")), ())
    assert versions(engine) == {"note/a": 4}
    engine.close()


def test_a_closed_engine_opens_again_when_it_is_asked(engine: EmbeddedEngine, provider: FakeEmbeddings) -> None:
    engine.write(indexed(provider, record("note/a", "rain")), ())

    engine.close()

    assert versions(engine) == {"note/a": 1}


def test_what_one_search_left_in_memory_answers_like_a_new_opening_after_any_writes(
    engine: EmbeddedEngine, path: Path, provider: FakeEmbeddings
) -> None:
    chance = random.Random(5)
    said = ["rain", "wind", "snow", "tide", "crab"]

    def text() -> str:
        return "\n\n".join(f"# {word}\n\n{word} " * chance.randint(1, 90) for word in chance.sample(said, 2))

    for generation in range(1, 13):
        names = chance.sample(range(8), 3)
        written = [record(f"note/n{number}", text(), generation=generation) for number in names[:2]]
        gone = [Tombstone(RecordId(f"note/n{names[2]}"), generation)]
        engine.write(indexed(provider if generation % 5 else None, *written), gone)
        with closing(EmbeddedEngine(path, provider, read_only=True)) as fresh:
            for word in chance.sample(said, 2):
                query, vector = Query.of(f"{word} tide"), asked(provider, word)
                for filters in (Filters(path_prefix="n1.md"), Filters()):
                    found = fresh.candidates(query, vector, filters, 5)
                    assert engine.candidates(query, vector, filters, 5) == found
                wanted = [(hit.id, None) for hit in (*found.lexical, *found.vector)]
                assert engine.fetch(wanted, query, vector) == fresh.fetch(wanted, query, vector)
                assert engine.page(query, Filters(), 3) == fresh.page(query, Filters(), 3)


def test_a_vector_that_two_records_share_changes_for_both(engine: EmbeddedEngine, provider: FakeEmbeddings) -> None:
    first, second = indexed(provider, *(record(f"note/{name}", "rain", title="Sky") for name in "ab"))
    engine.write([first, second], ())
    rain, wind = asked(provider, "rain"), asked(provider, "wind")
    engine.candidates(Query.of(""), rain, Filters(), 5)

    changed = replace(first, record=replace(first.record, version=9), vectors=(wind.values,))
    engine.write([changed], ())

    found = engine.candidates(Query.of(""), wind, Filters(), 5).vector
    assert [(hit.id, round(hit.score, 3)) for hit in found] == [("note/a", 1.0), ("note/b", 1.0)]


def test_an_older_copy_that_went_another_way_is_read_anew(
    engine: EmbeddedEngine, path: Path, provider: FakeEmbeddings, tmp_path: Path
) -> None:
    engine.write(indexed(provider, record("note/a", "rain")), ())
    copy = tmp_path / "copy.sqlite"
    copy.write_bytes(path.read_bytes())
    engine.write(indexed(provider, record("note/b", "wind")), ())
    assert engine.candidates(Query.of("wind"), None, Filters(), 5).total == 1
    with closing(EmbeddedEngine(copy, provider)) as other:
        other.write(indexed(provider, record("note/c", "rain")), ())
        other.snapshot = engine.snapshot

        found = other.candidates(Query.of("rain wind"), asked(provider, "rain wind"), Filters(), 5)

    assert {hit.id for leg in (found.lexical, found.vector) for hit in leg} == {"note/a", "note/c"}
