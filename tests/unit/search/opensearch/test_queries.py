"""The questions asked of an index."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.search.filters import Filters
from commonplace.search.model import Position, RecordId
from commonplace.search.opensearch import queries
from commonplace.search.opensearch.client import Numbers
from commonplace.search.opensearch.queries import Words


def test_the_words_of_a_query_are_folded_distinct_and_in_order() -> None:
    assert Words.of("The  Tide's CAFÉ, tide: ﬁshing!") == Words("the tide cafe fishing", telling=True)


@pytest.mark.parametrize("query", ["", " ", "???", '"', "🦀", "\x00", "_"])
def test_a_query_without_a_word_has_none(query: str) -> None:
    assert Words.of(query) is None


def test_stop_words_are_looked_for_when_there_is_nothing_else() -> None:
    words = Words.of("What is this")

    assert words == Words("what is this", telling=False)
    assert words is not None
    assert "asked_plainly" in str(queries.lexical(words, ()))


@given(st.text(max_size=3_000))
def test_no_query_has_more_words_than_a_request_may_have_clauses(query: str) -> None:
    words = Words.of(query)

    if words is not None:
        tokens = [piece for word in words.text.split() for piece in queries._TOKEN.findall(word)]
        assert 0 < len(tokens) <= queries.MOST_TERMS


def test_an_ideograph_counts_as_a_word() -> None:
    words = Words.of("tide " + "潮" * 1_000)

    assert words is not None
    assert words.text == "tide " + "潮" * (queries.MOST_TERMS - 1)


def test_no_filter_is_no_condition() -> None:
    assert queries.conditions(Filters()) == []
    assert queries.conditions(Filters(path_prefix="/", date_from="", date_to="")) == []


def test_every_tag_of_all_is_a_condition_of_its_own_and_any_is_one() -> None:
    assert queries.conditions(Filters(tags_all=("a", "b", "a"), tags_any=("c", "d"))) == [
        {"term": {"tags": "a"}},
        {"term": {"tags": "b"}},
        {"terms": {"tags": ["c", "d"]}},
    ]


def test_filters_are_inside_every_leg() -> None:
    where = queries.conditions(Filters(group="shore"))
    clause = {"term": {"group": "shore"}}
    near = queries.nearest(Numbers([1.0]), where, 10, 200)

    assert queries.lexical(Words("tide", telling=True), where)["bool"]["filter"] == [clause]
    assert near["nested"]["query"]["knn"]["chunks.vector"]["filter"] == {"bool": {"filter": [clause]}}
    assert clause in queries.named("tide", where)["bool"]["filter"]


def test_the_graph_is_searched_at_least_as_deep_as_hits_are_asked_for() -> None:
    def depth(k: int) -> int:
        near = queries.nearest(Numbers([1.0]), [], k, 100)
        return int(near["nested"]["query"]["knn"]["chunks.vector"]["method_parameters"]["ef_search"])

    assert (depth(10), depth(500)) == (100, 500)


def test_a_page_begins_after_the_last_hit_of_the_one_before() -> None:
    first, second = (
        queries.ranked({"match_all": {}}, 5, counted=True, after=after)
        for after in (None, Position(1.5, RecordId("note/a")))
    )

    assert "search_after" not in first
    assert second["search_after"][:2] == [1.5, "note/a"]


def test_each_record_is_shown_with_a_chunk_whatever_was_asked() -> None:
    ids = [RecordId("note/a")]

    def names(words: Words | None, vector: Numbers | None, ordinals: list[int]) -> list[str]:
        body = queries.details(ids, words, vector, ordinals, 100)
        return [clause["nested"]["inner_hits"]["name"] for clause in body["query"]["bool"]["should"]]

    words, vector = Words("tide", telling=True), Numbers([1.0])
    assert names(None, None, []) == ["words"]
    assert names(words, None, []) == ["words"]
    assert names(words, vector, []) == ["words", "vector"]
    assert names(None, vector, [3]) == ["vector", "at-3"]
