"""Names of indexes, aliases and documents."""

from dataclasses import replace

from commonplace.search.generations import Facts
from commonplace.search.model import RecordId
from commonplace.search.opensearch import names

FACTS = Facts(schema="1", chunker="1", model="fake@1/64", mapping="abc")


def test_equal_facts_give_equal_names_and_other_facts_other_ones() -> None:
    named = {names.index_name("docs", replace(FACTS, **{field: "another"})) for field in ("schema", "chunker", "model")}

    assert names.index_name("docs", FACTS) == names.index_name("docs", replace(FACTS))
    assert len(named | {names.index_name("docs", FACTS)}) == 4


def test_an_index_built_anew_has_a_number() -> None:
    first, second = names.index_name("docs", FACTS), names.index_name("docs", FACTS, 2)

    assert second == f"{first}-2"
    assert names.is_index_of("docs", first)
    assert names.is_index_of("docs", second)


def test_other_names_that_begin_with_the_stem_are_not_its_indexes() -> None:
    index = names.index_name("docs", FACTS)
    others = [names.upcoming("docs"), names.previous("docs"), "docs", names.write_alias(index), "docs-probe-0a1b2c3d"]

    assert not [name for name in (*others, names.index_name("docs-two", FACTS)) if names.is_index_of("docs", name)]


def test_an_id_that_is_too_long_is_kept_apart_by_its_hash() -> None:
    short, long, other = (RecordId("note/" + letters) for letters in ("é" * 250, "é" * 260, "é" * 259 + "e"))

    assert names.document_key(short) == short
    assert len({names.document_key(long), names.document_key(other), names.document_key(RecordId(""))}) == 3
    assert len(names.document_key(long).encode()) <= names.MAX_ID_BYTES
