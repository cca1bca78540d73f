"""The questions asked of an index."""

from commonplace.search.filters import Filters
from commonplace.search.model import Position, RecordId
from commonplace.search.opensearch import queries
from commonplace.search.opensearch.client import Numbers
from commonplace.search.query import NOTHING, Query


def test_no_filter_is_no_condition() -> None:
    assert queries.conditions(Filters()) == []
    assert queries.conditions(Filters(path_prefix="/", date_from="", date_to="")) == []


def test_every_tag_of_all_is_a_condition_of_its_own_and_any_is_one() -> None:
    assert queries.conditions(Filters(tags_all=("a", "b", "a"), tags_any=("c", "d"))) == [
        {"terms": {"within": ["c", "d"]}},
        {"term": {"within": "a"}},
        {"term": {"within": "b"}},
    ]


def test_filters_are_inside_every_leg() -> None:
    where = queries.conditions(Filters(groups=("shore",)))
    clause = {"terms": {"group": ["shore"]}}
    near = queries.nearest(Numbers([1.0]), where, 10, 200)

    assert queries.lexical(("tide",), where)["bool"]["filter"] == [clause]
    assert near["nested"]["query"]["knn"]["chunks.vector"]["filter"] == {"bool": {"filter": [clause]}}
    assert clause in queries.named(Query.of("tide"), where)["bool"]["filter"]


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

    def names(words: Query, vector: Numbers | None) -> list[str]:
        body = queries.details(ids, words, vector, 100)
        return [clause["nested"]["inner_hits"]["name"] for clause in body["query"]["bool"]["should"]]

    words, vector = Query.of("tide"), Numbers([1.0])
    assert names(NOTHING, None) == ["words"]
    assert names(words, None) == ["words"]
    assert names(words, vector) == ["words", "vector"]
    assert names(NOTHING, vector) == ["vector"]
