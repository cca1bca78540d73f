"""What a word is, and what it finds, is the same in every engine."""

import pytest

from commonplace.search.filters import Filters
from commonplace.search.model import Engine, RecordId
from commonplace.search.query import Query
from tests.fakes.embeddings import FakeEmbeddings
from tests.unit.search.records import indexed, record


@pytest.fixture
def words(engine: Engine, provider: FakeEmbeddings) -> Engine:
    engine.write(
        indexed(
            provider,
            record("note/coop", "A co-operative owned by its members.", title="Owners"),
            record("note/centre", "The organisation colours its theatre.", title="Stage"),
            record("note/daos", "Two DAOs were governing together.", title="Rules"),
            record("note/ideographs", "\u5206\u6563\u578b\u81ea\u5f8b\u7d44\u7e54", title="Far"),
            record("pattern/data", "Numbers.", title="Figures", tags=["good-data"]),
            record("link/essay", "An essay.", title="Essay", author=["Ada Lovelace", "Grace Hopper"]),
            record("link/other", "Another one.", title="Lovelace Street", aliases=["Engine Road"]),
        ),
        (),
    )
    return engine


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cooperative", {"note/coop"}),
        ("co-operatives", {"note/coop"}),
        ("co operative", {"note/coop"}),
        ("organizations", {"note/centre"}),
        ("color", {"note/centre"}),
        ("theater", {"note/centre"}),
        ("dao governed", {"note/daos"}),
        ("\u81ea\u5f8b", {"note/ideographs"}),
        ("good data", {"pattern/data"}),
        ("pattern", {"pattern/data"}),
        ("hopper", {"link/essay"}),
        ("lovelace", {"link/essay", "link/other"}),
        ("engine", {"link/other"}),
        ("quokka", set()),
    ],
)
def test_words_meet_in_every_form(words: Engine, text: str, expected: set[str]) -> None:
    found = words.candidates(Query.of(text), None, Filters(), 10)

    assert {hit.id for hit in found.lexical} == expected
    assert found.total == len(expected)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(authors=("Ada Lovelace",)), {"link/essay"}),
        (Filters(authors=("Ada",)), set()),
        (Filters(aliases=("Engine Road",)), {"link/other"}),
        (Filters(aliases=("Engine",)), set()),
        (Filters(authors=("Grace Hopper",), content_types=("note",)), set()),
    ],
)
def test_authors_and_aliases_are_matched_whole(words: Engine, filters: Filters, expected: set[str]) -> None:
    assert {hit.id for hit in words.page(Query.of("essay lovelace one"), filters, 10).hits} == expected


def test_a_title_counts_for_more_than_an_author_and_equals_stand_by_id(
    engine: Engine, provider: FakeEmbeddings
) -> None:
    engine.write(
        indexed(
            provider,
            *(record(f"note/{name}", "The same words.", title="Same") for name in "cab"),
            record("note/author", "Nothing else.", title="Else", author=["Same"]),
        ),
        (),
    )

    found = engine.candidates(Query.of("same"), None, Filters(), 10)

    assert [hit.id for hit in found.lexical] == ["note/a", "note/b", "note/c", "note/author"]
    assert len({round(hit.score, 6) for hit in found.lexical[:3]}) == 1
    assert found.total == 4


def test_a_record_of_many_chunks_counts_once(engine: Engine, provider: FakeEmbeddings) -> None:
    body = "".join(f"# Part {number}\n\n" + "rain " * 400 for number in range(4))
    engine.write(indexed(provider, record("note/long", body), record("note/short", "rain")), ())

    found = engine.candidates(Query.of("rain"), None, Filters(), 10)

    assert sorted(hit.id for hit in found.lexical) == [RecordId("note/long"), RecordId("note/short")]
    assert found.total == 2
