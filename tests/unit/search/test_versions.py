"""Whatever the order in which writes arrive, and however often, the index ends in the same state."""

import sqlite3
import tempfile
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.filters import Filters
from commonplace.search.model import RecordId, Tombstone
from commonplace.search.query import Query
from tests.examples import examples
from tests.fakes.embeddings import FakeEmbeddings
from tests.unit.search.records import indexed, record, versions

PROVIDER = FakeEmbeddings()

Write = tuple[str, int, str]
"""Which record, which version, and what: removed, words only, or with vectors."""

RANKS = {"removed": 0, "words": 1, "vectors": 2}
WRITES = st.tuples(st.sampled_from("ab"), st.integers(0, 4), st.sampled_from(sorted(RANKS)))


def apply(engine: EmbeddedEngine, writes: list[Write]) -> None:
    """One call for all of them; what a version says is the same wherever it is said."""
    upserts, tombstones = [], []
    for name, version, kind in writes:
        if kind == "removed":
            tombstones.append(Tombstone(RecordId(f"note/{name}"), version))
        else:
            text = record(f"note/{name}", f"version{version}", generation=version)
            upserts += indexed(PROVIDER if kind == "vectors" else None, text)
    engine.write(upserts, tombstones)


def expected(writes: list[Write]) -> dict[str, Write]:
    """The greatest write of each record, by version first."""
    final: dict[str, Write] = {}
    for write in writes:
        name = f"note/{write[0]}"
        if name not in final or (write[1], RANKS[write[2]]) > (final[name][1], RANKS[final[name][2]]):
            final[name] = write
    return {name: write for name, write in final.items() if write[2] != "removed"}


@settings(max_examples=examples(15, soak=600), deadline=None)
@given(st.lists(WRITES, max_size=8), st.data())
def test_the_final_state_depends_on_the_writes_alone(writes: list[Write], data: st.DataObject) -> None:
    doubled = writes + (data.draw(st.lists(st.sampled_from(writes), max_size=4)) if writes else [])
    shuffled = data.draw(st.permutations(doubled))
    cut = data.draw(st.integers(0, len(shuffled)))

    with tempfile.TemporaryDirectory() as folder:
        engine = EmbeddedEngine(Path(folder) / "index.sqlite", PROVIDER, journal="delete")
        apply(engine, shuffled[:cut])
        for write in shuffled[cut:]:
            apply(engine, [write])
        found = versions(engine)
        waiting = set(engine.incomplete())
        worded = {
            name: [hit.id for hit in engine.candidates(Query.of(f"version{write[1]}"), None, Filters(), 9).lexical]
            for name, write in expected(writes).items()
        }
        engine.close()

    final = expected(writes)
    assert found == {name: write[1] for name, write in final.items()}
    assert waiting == {name for name, write in final.items() if write[2] == "words"}
    assert all(name in hits for name, hits in worded.items())


@settings(max_examples=examples(10, soak=400), deadline=None)
@given(st.lists(WRITES, max_size=8), st.integers(0, 8))
def test_the_vocabulary_is_the_words_of_what_is_live(writes: list[Write], swept: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index.sqlite"
        engine = EmbeddedEngine(path, PROVIDER, journal="delete")
        for number, write in enumerate(writes):
            apply(engine, [write])
            if number == swept:
                engine.sweep(datetime(2100, 1, 1, tzinfo=UTC))
        live = versions(engine)
        engine.close()
        with closing(sqlite3.connect(path)) as database:
            told = dict(database.execute("SELECT term, doc FROM vocabulary")) if writes else {}

    expected: Counter[str] = Counter()
    for name, version in live.items():
        expected.update({name.removeprefix("note/"), f"version{version}"})
    assert told == expected


@settings(max_examples=examples(10, soak=400), deadline=None)
@given(st.lists(WRITES, max_size=6))
def test_writing_the_same_again_changes_nothing(writes: list[Write]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        engine = EmbeddedEngine(Path(folder) / "index.sqlite", PROVIDER, journal="delete")
        apply(engine, writes)
        before = versions(engine)
        again = [engine.apply((), [Tombstone(RecordId(f"note/{n}"), v)]) for n, v, kind in writes if kind == "removed"]
        apply(engine, writes)
        after = versions(engine)
        engine.close()

    assert (not any(again), after) == (True, before)
