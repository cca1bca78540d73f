"""The index is made from the record model."""

import json
from dataclasses import fields, replace

import pytest

from commonplace.search.model import Chunk, Record
from commonplace.search.opensearch import indices, mapping
from commonplace.search.opensearch.settings import IndexParameters
from tests.fakes.embeddings import FakeEmbeddings
from tests.unit.search.opensearch.scripted import Scripted, scripted
from tests.unit.search.records import indexed, record

PLAIN = IndexParameters()


def leaves(value: object, path: str = "") -> set[str]:
    """Paths of everything in a document."""
    if isinstance(value, dict):
        return {leaf for name, item in value.items() for leaf in leaves(item, f"{path}.{name}".lstrip("."))}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return {leaf for item in value for leaf in leaves(item, path)}
    return {path}


def mapped(properties: dict[str, dict[str, object]], path: str = "") -> set[str]:
    found: set[str] = set()
    for name, told in properties.items():
        inner = told.get("properties")
        here = f"{path}.{name}".lstrip(".")
        found |= mapped(inner, here) if isinstance(inner, dict) else {here}
    return found


def test_every_field_of_a_record_and_of_a_chunk_has_a_rule() -> None:
    assert {field.name for field in fields(Record)} == set(mapping.RECORD_RULES)
    assert {field.name for field in fields(Chunk)} == set(mapping.CHUNK_RULES)


def test_what_is_written_is_what_is_mapped() -> None:
    provider = FakeEmbeddings()
    full = record("note/a", "# One\n\nrain", title="A", description="b", tags=["t"], aliases=["c"], group="g")
    full = replace(
        full,
        release="r",
        status="s",
        date="2024",
        url="u",
        source_url="v",
        updated_at="w",
        created_at="v",
        fingerprint="f",
    )
    full = replace(full, organisation="o", roles=("dev",), confidence=0.5, valid_from="2024", valid_until="2025")
    (item,) = indexed(provider, full)
    _, source = mapping.written(replace(item, tokens=(b"\1\0",)), with_vectors=True)
    told = mapping.index_body(provider, PLAIN)["mappings"]["properties"]

    assert leaves(source) == mapped(told) - {"buried"}


def test_nothing_unknown_is_taken_in() -> None:
    assert mapping.index_body(None, PLAIN)["mappings"]["dynamic"] == "strict"


def test_the_facts_are_kept_in_the_index() -> None:
    provider = FakeEmbeddings()
    meta = mapping.index_body(provider, PLAIN)["mappings"]["_meta"]

    assert meta["dimension"] == provider.dimension
    assert meta["commonplace"]["model"] == "fake@1/64"
    assert mapping.facts(provider, PLAIN).mapping == meta["commonplace"]["mapping"]


@pytest.mark.parametrize(
    "parameters",
    [
        replace(PLAIN, m=8),
        replace(PLAIN, ef_construction=50),
        replace(PLAIN, shards=2),
        replace(PLAIN, synonyms=("a, b",)),
    ],
)
def test_what_an_index_is_built_with_is_in_its_facts(parameters: IndexParameters) -> None:
    provider = FakeEmbeddings()

    assert mapping.facts(provider, parameters) != mapping.facts(provider, PLAIN)


@pytest.mark.parametrize(
    "parameters",
    [replace(PLAIN, ef_search=500), replace(PLAIN, replicas=1), replace(PLAIN, refresh_interval="5s")],
)
def test_what_can_change_while_an_index_answers_is_not(parameters: IndexParameters) -> None:
    provider = FakeEmbeddings()

    assert mapping.facts(provider, parameters) == mapping.facts(provider, PLAIN)


def test_an_index_without_vectors_has_no_field_for_them() -> None:
    body = mapping.index_body(None, PLAIN)

    assert "vector" not in body["mappings"]["properties"]["chunks"]["properties"]
    assert "knn" not in body["settings"]["index"]


def test_the_vector_field_names_its_engine() -> None:
    body = mapping.index_body(FakeEmbeddings(), PLAIN)

    vector = body["mappings"]["properties"]["chunks"]["properties"]["vector"]
    assert vector["method"]["engine"] == "lucene"
    assert vector["method"]["parameters"] == {"m": 16, "ef_construction": 100}


def test_a_collection_chooses_its_engine_and_is_told_not_to_compress() -> None:
    body = mapping.index_body(FakeEmbeddings(), replace(PLAIN, engine="faiss"), serverless=True)

    vector = body["mappings"]["properties"]["chunks"]["properties"]["vector"]
    assert vector == {
        "type": "knn_vector",
        "dimension": 64,
        "space_type": "cosinesimil",
        "compression_level": "1x",
    }


def test_an_index_being_built_is_refreshed_by_nobody_until_it_is_settled() -> None:
    building_, serving = (mapping.index_body(None, PLAIN, building=told)["settings"]["index"] for told in (True, False))

    assert building_["refresh_interval"] == "-1"
    assert serving["refresh_interval"] == "1s"


def test_faiss_is_refused_where_it_would_end_the_node() -> None:
    local = scripted(Scripted(), local=True)

    with pytest.raises(ValueError, match="would exit at the first vector"):
        indices.check(local, FakeEmbeddings(), replace(PLAIN, engine="faiss"))
    for method in ({"method": {"engine": "faiss"}}, {}):
        body = {"mappings": {"properties": {"chunks": {"properties": {"vector": {"type": "knn_vector", **method}}}}}}
        with pytest.raises(ValueError, match="would make the local node exit"):
            indices.create(local, "docs-1", body, "docs")


def test_a_collection_without_faiss_is_refused() -> None:
    with pytest.raises(ValueError, match="no lucene"):
        indices.check(scripted(Scripted(), serverless=True), FakeEmbeddings(), PLAIN)


def test_synonyms_are_looked_for_and_not_indexed() -> None:
    analysis = mapping.index_body(None, replace(PLAIN, synonyms=("DAO, circle",)))["settings"]["analysis"]

    assert analysis["filter"]["synonyms"]["synonyms"] == ["dao, circl"]
    assert "synonyms" in analysis["analyzer"]["asked"]["filter"]
    assert "filter" not in analysis["analyzer"]["indexed"]


def test_the_body_of_an_index_is_json() -> None:
    assert json.loads(json.dumps(mapping.index_body(FakeEmbeddings(), PLAIN)))["mappings"]["_meta"]["dimension"] == 64


@pytest.mark.parametrize("parts", [(b"\1\0",), (b"\1\0\2\0", b"", b"\3\0"), (bytes(range(256)) * 300, b"\0")])
def test_tokens_of_every_chunk_come_back_from_a_doc_value(parts: tuple[bytes, ...]) -> None:
    (item,) = indexed(None, record("note/a", "rain"))
    _, source = mapping.written(replace(item, tokens=parts), with_vectors=False)

    assert mapping.unpacked(source["tokens"].rstrip("=")) == parts
