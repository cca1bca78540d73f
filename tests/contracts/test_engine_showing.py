"""What every engine does, whatever it is made of: the chunk that is shown, the words found in it, and fingerprints."""

import pytest

from commonplace.search.embeddings import with_tokens
from commonplace.search.filters import Filters
from commonplace.search.model import Engine, RecordId, Tombstone
from commonplace.search.query import NOTHING, Query
from tests.contracts.engines import Make
from tests.fakes.embeddings import FakeEmbeddings, asked
from tests.unit.search.records import indexed, record

LONG = RecordId("note/long")


@pytest.fixture
def parts(engine: Engine, provider: FakeEmbeddings) -> Engine:
    """One record of three chunks: wind, governed crabs, rain."""
    body = "# One\n\n" + "wind " * 400 + "\n\n# Two\n\n" + "Crabs governed the café. " * 100
    engine.write(indexed(provider, record(str(LONG), body + "\n\n# Three\n\n" + "rain " * 400)), ())
    return engine


def heading(engine: Engine, text: str, said: str | None, provider: FakeEmbeddings) -> str:
    vector = asked(provider, said) if said else None
    chunk = engine.fetch([(LONG, None)], Query.of(text), vector)[LONG].chunk
    assert chunk is not None
    return chunk.heading_path[-1]


def test_words_choose_the_chunk_before_meaning_and_meaning_before_the_first(
    parts: Engine, provider: FakeEmbeddings
) -> None:
    assert heading(parts, "rain", "crabs governed", provider) == "Three"
    assert heading(parts, "quokka", "crabs governed", provider) == "Two"
    assert heading(parts, "quokka", None, provider) == "One"


def test_a_vector_of_another_model_chooses_no_chunk(parts: Engine) -> None:
    other = FakeEmbeddings(revision="2")

    assert heading(parts, "quokka", "crabs governed", other) == "One"


def test_the_chunk_that_the_legs_name_is_shown(parts: Engine, provider: FakeEmbeddings) -> None:
    vector = asked(provider, "crabs governed")
    found = parts.candidates(Query.of("crabs governed"), vector, Filters(), 5)

    for leg in (found.lexical, found.vector):
        shown = parts.fetch([(leg[0].id, leg[0].chunk)], Query.of("crabs governed"), vector)[LONG]
        assert shown.chunk is not None
        assert shown.chunk.heading_path == ("Two",)


def test_every_leg_carries_the_fingerprint_of_the_text(engine: Engine, provider: FakeEmbeddings) -> None:
    written = record("note/a", "the tide left a crab under a stone " * 8, title="Tide")
    assert written.fingerprint is not None
    engine.write(indexed(provider, written, record("note/short", "tide", title="Tide")), ())

    found = engine.candidates(Query.of("tide"), asked(provider, "tide"), Filters(), 5)

    for leg in (found.lexical, found.vector, found.named):
        assert {hit.id: hit.fingerprint for hit in leg} == {"note/a": written.fingerprint, "note/short": None}
    assert (
        engine.fetch([(RecordId("note/a"), 0)], NOTHING)[RecordId("note/a")].record.fingerprint == written.fingerprint
    )


def test_what_was_written_meanwhile_is_shown_as_soon_as_it_is_found(make: Make, provider: FakeEmbeddings) -> None:
    writer, reader, query = make(provider), make(provider), Query.of("tide")
    wanted = RecordId("note/a")

    def write(version: int, text: str) -> tuple[bytes, ...]:
        (written,) = with_tokens(indexed(provider, record("note/a", text, generation=version)))
        writer.write([written], ())
        return written.tokens

    for version, text in ((1, "the tide rises"), (2, "the tide falls at night")):
        tokens = write(version, text)
        for _ in range(2):
            assert [hit.id for hit in reader.candidates(query, None, Filters(), 5).lexical] == [wanted]
            assert reader.tokens([wanted, RecordId("note/none")]) == {wanted: tokens}
            found = reader.fetch([(wanted, 0)], query)[wanted]
            assert found.record.version == version
            assert found.record.chunks == ()
            assert found.chunk is not None
            assert text in found.chunk.text
    writer.write((), [Tombstone(wanted, 3)])
    assert reader.candidates(query, None, Filters(), 5).total == 0
