"""From a record to its document, and back."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.search.model import Chunk, RecordId, Tombstone
from commonplace.search.opensearch import mapping
from tests.fakes.embeddings import FakeEmbeddings
from tests.unit.search.records import indexed, record

PROVIDER = FakeEmbeddings()
(RAIN,) = indexed(PROVIDER, record("note/a", "rain", title="Café's _end_", generation=7))


def test_versions_order_writes_by_version_then_life_then_vectors() -> None:
    bare = replace(RAIN, vectors=())
    told = [
        mapping.buried(Tombstone(RecordId("note/a"), 7), 0)[0],
        mapping.written(bare, with_vectors=True)[0],
        mapping.written(RAIN, with_vectors=True)[0],
        mapping.buried(Tombstone(RecordId("note/a"), 8), 0)[0],
    ]

    assert told == sorted(told)
    assert len(set(told)) == 4


def test_in_an_index_without_vectors_a_record_is_just_live() -> None:
    version, source = mapping.written(RAIN, with_vectors=False)

    assert version == mapping.written(replace(RAIN, vectors=()), with_vectors=False)[0] == 7 * 4 + mapping.LIVE
    assert source["embedded"] is True
    assert "vector" not in source["chunks"][0]


@given(st.integers(0, 2**60), st.sampled_from([mapping.LIVE, mapping.EMBEDDED]))
def test_a_version_is_read_as_it_was_written(version: int, code: int) -> None:
    assert mapping.live_version(mapping.external_version(version, code)) == version
    assert mapping.live_version(mapping.external_version(version, mapping.BURIED)) is None


def test_a_record_comes_back_as_it_was_without_its_body() -> None:
    _, source = mapping.written(RAIN, with_vectors=True)

    assert mapping.record_of(source) == replace(RAIN.record, body="", chunks=())
    assert mapping.chunk_of(source["chunks"][0]) == RAIN.record.chunks[0]


def test_words_are_kept_folded_and_without_what_an_analyser_could_take_differently() -> None:
    _, source = mapping.written(RAIN, with_vectors=True)

    assert source["labels"]["title"] == "cafe end"
    assert source["names"] == ["cafeend", "cafesend", "a", "/a", "/note/a"]
    assert source["named"] == ["tCafé's _end_", "sa", "pa", "pnote/a"]


def test_a_tombstone_has_nothing_that_a_search_finds() -> None:
    _, source = mapping.buried(Tombstone(RecordId("note/a"), 3), 5)

    assert source == {"id": "note/a", "version": 3, "deleted": True, "buried": 5}


@pytest.mark.parametrize("vector", [[0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0], []])
def test_a_vector_without_a_direction_is_left_out(vector: list[float]) -> None:
    _, source = mapping.written(replace(RAIN, vectors=(vector,)), with_vectors=True)

    assert "vector" not in source["chunks"][0]
    assert source["embedded"] is True


def test_more_chunks_than_a_document_may_have_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    chunks = tuple(Chunk(number, (), "rain") for number in range(mapping.MOST_CHUNKS + 5))
    long = replace(RAIN, record=replace(RAIN.record, chunks=chunks), vectors=())

    _, source = mapping.written(long, with_vectors=True)

    assert len(source["chunks"]) == mapping.MOST_CHUNKS
    assert "without its last chunks" in caplog.text


def test_a_wrong_number_of_vectors_is_told() -> None:
    with pytest.raises(ValueError, match="2 vectors for 1 chunks"):
        mapping.check_vectors(replace(RAIN, vectors=(*RAIN.vectors, *RAIN.vectors)))


def test_an_id_that_is_too_long_is_kept_apart_by_its_hash() -> None:
    short, long, other = (RecordId("note/" + letters) for letters in ("é" * 250, "é" * 260, "é" * 259 + "e"))

    assert mapping.document_key(short) == short
    assert len({mapping.document_key(long), mapping.document_key(other), mapping.document_key(RecordId(""))}) == 3
    assert len(mapping.document_key(long).encode()) <= mapping.MAX_ID_BYTES
