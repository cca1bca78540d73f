"""What every engine does, whatever it is made of."""

from dataclasses import replace

import pytest

from commonplace.search.filters import Filters
from commonplace.search.model import Engine, IndexMismatch, Record, RecordId, Tombstone
from commonplace.search.query import NOTHING, Query
from tests.contracts.engines import Make
from tests.fakes.embeddings import FakeEmbeddings, asked
from tests.unit.search.records import indexed, record, versions

ODD_QUERIES = (
    *('"', "'", "*", "a*", "^tide", "-tide", "title:tide", "(", "{}", "[a](b)", "%", "_", "\\", '""'),
    *("AND", "a OR", "NOT", "NEAR(a b)", ";DROP TABLE records;"),
    *("\x00", "tide\0pool", "\ud800", "\u200b", "🦀", "İ", "ß", "ﬁ", "潮汐", "مد"),
    *("x" * 1_000, "a " * 500),
)


def ids(hits: object) -> list[str]:
    return [hit.id for hit in hits]  # type: ignore[attr-defined]


def tide_pools() -> list[Record]:
    sea = ["sea", "time"]
    crabs = "# Method\n\nCount crabs in a square."
    return [
        record("concept/tide", "The sea rises and falls twice a day.", title="Tide", tags=sea, group="shore"),
        record("concept/crab", "Crabs hide at low tide.", title="Crab", tags=["animal", "sea"], date="2024-05-10"),
        record("link/survey", crabs, title="Survey", tags=["Sea"], date="2025-01-02", status="active"),
        record(
            "note/diary",
            "Nothing but wind today.",
            title="Diary",
            path="field/notes/diary.md",
            release="r1",
            author=["Ines Reef", "Amara Quill"],
            aliases=["Log, of the shore"],
        ),
    ]


@pytest.fixture
def filled(engine: Engine, provider: FakeEmbeddings) -> Engine:
    engine.write(indexed(provider, *tide_pools()), ())
    return engine


def test_an_index_that_was_never_written_finds_nothing(engine: Engine, provider: FakeEmbeddings) -> None:
    found = engine.candidates(Query.of("tide"), asked(provider, "tide"), Filters(), 10)

    assert (found.lexical, found.vector, found.named, found.total) == ((), (), (), 0)
    assert (versions(engine), engine.held([RecordId("concept/tide")]), list(engine.incomplete())) == ({}, {}, [])
    assert engine.fetch([(RecordId("concept/tide"), None)], Query.of("tide")) == {}


def test_words_find_records_best_first(filled: Engine) -> None:
    found = filled.candidates(Query.of("tide"), None, Filters(), 10)

    assert ids(found.lexical) == ["concept/tide", "concept/crab"]
    assert found.lexical[0].score > found.lexical[1].score
    assert (found.vector, found.total, found.degraded) == ((), 2, False)


def test_other_forms_of_a_word_and_words_without_accents_find_it(engine: Engine, provider: FakeEmbeddings) -> None:
    engine.write(indexed(provider, record("note/a", "The café was governing itself by ﬁshing.")), ())

    for query in ("cafe", "CAFÉ", "govern", "governs", "fish", "ﬁshes"):
        assert ids(engine.candidates(Query.of(query), None, Filters(), 10).lexical) == ["note/a"], query


def test_meaning_finds_the_best_chunk_of_each_record(engine: Engine, provider: FakeEmbeddings) -> None:
    body = "# One\n\n" + "wind " * 400 + "\n\n# Two\n\n" + "crabs under stones " * 150
    engine.write(indexed(provider, record("note/long", body), record("note/other", "rain")), ())

    vector = asked(provider, "crabs under stones")
    found = engine.candidates(Query.of("crabs under stones"), vector, Filters(), 10)

    best = found.vector[0]
    assert best.id == "note/long"
    shown = engine.fetch([(best.id, best.chunk)], NOTHING, vector)[best.id]
    assert shown.chunk is not None
    assert shown.chunk.heading_path == ("Two",)


def test_a_title_is_told_apart_from_words_in_the_text(filled: Engine) -> None:
    found = filled.candidates(Query.of("  survey "), None, Filters(), 10)

    assert ids(found.named) == ["link/survey"]
    assert filled.candidates(Query.of("count crabs"), None, Filters(), 10).named == ()


def test_aliases_name_a_record_less_surely_than_its_title(engine: Engine, provider: FakeEmbeddings) -> None:
    engine.write(
        indexed(
            provider,
            record("concept/daos", "x", title="Organisations on a chain", aliases=["#dao", "DAOs"]),
            record("note/dao", "y", title="dao"),
        ),
        (),
    )

    assert ids(engine.candidates(Query.of("dao"), None, Filters(), 10).named) == ["note/dao", "concept/daos"]
    assert ids(engine.candidates(Query.of("#DAO"), None, Filters(), 10).named) == ["concept/daos", "note/dao"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(content_types=("concept",)), ["concept/crab", "concept/tide"]),
        (Filters(content_types=("note", "link")), ["link/survey", "note/diary"]),
        (Filters(groups=("shore",)), ["concept/tide"]),
        (Filters(groups=("Shore",)), []),
        (Filters(releases=("r1",)), ["note/diary"]),
        (Filters(statuses=("active",)), ["link/survey"]),
        (Filters(groups=("shore", "inland"), statuses=()), ["concept/tide"]),
        (Filters(statuses=("active", "done")), ["link/survey"]),
        (Filters(authors=("Amara Quill",)), ["note/diary"]),
        (Filters(authors=("Nobody", "Ines Reef")), ["note/diary"]),
        (Filters(authors=("amara quill",)), []),
        (Filters(aliases=("Log, of the shore",)), ["note/diary"]),
        (Filters(aliases=("Diary",)), []),
        (Filters(tags_all=("sea",)), ["concept/crab", "concept/tide"]),
        (Filters(tags_all=("sea", "animal")), ["concept/crab"]),
        (Filters(tags_any=("time", "animal")), ["concept/crab", "concept/tide"]),
        (Filters(tags_any=("time", "Sea"), content_types=("link",)), ["link/survey"]),
        (Filters(date_from="2024-05-10"), ["concept/crab", "link/survey"]),
        (Filters(date_from="2024-05-11"), ["link/survey"]),
        (Filters(date_to="2024-05-10"), ["concept/crab"]),
        (Filters(date_to="2024"), ["concept/crab"]),
        (Filters(date_from="2024-01-01", date_to="2025-01"), ["concept/crab", "link/survey"]),
        (Filters(path_prefix="field"), ["note/diary"]),
        (Filters(path_prefix="/field/notes/"), ["note/diary"]),
        (Filters(path_prefix="field/notes/diary.md"), ["note/diary"]),
        (Filters(path_prefix="field/note"), []),
        (Filters(path_prefix="/"), ["concept/crab", "concept/tide", "link/survey", "note/diary"]),
        (Filters(tags_all=("sea') OR 1=1 --",)), []),
    ],
)
def test_filters_are_exact_in_both_legs(
    filled: Engine, provider: FakeEmbeddings, filters: Filters, expected: list[str]
) -> None:
    everything = "tide crabs survey diary wind"

    found = filled.candidates(Query.of(everything), asked(provider, everything), filters, 10)

    assert sorted(ids(found.lexical)) == expected
    assert set(ids(found.vector)) <= set(expected)
    assert found.total == len(expected)
    for name in ("Tide", "Crab", "Survey", "Diary"):
        assert set(ids(filled.candidates(Query.of(name), None, filters, 10).named)) <= set(expected)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(tags_all=("inbox",)), ["note/deep", "note/one", "note/two"]),
        (Filters(tags_all=("inbox/to-read",)), ["note/deep", "note/one"]),
        (Filters(tags_all=("inbox/to-read/now",)), ["note/deep"]),
        (Filters(tags_any=("inbox/to-read/now", "sea")), ["note/deep", "note/two"]),
        (Filters(tags_all=("inbox", "sea")), ["note/two"]),
        (Filters(tags_all=("to-read",)), []),
        (Filters(tags_all=("inbo",)), []),
        (Filters(tags_all=("inbox/",)), []),
    ],
)
def test_a_tag_is_found_under_what_it_lies_in(
    engine: Engine, provider: FakeEmbeddings, filters: Filters, expected: list[str]
) -> None:
    notes = {"deep": ["inbox/to-read/now"], "one": ["inbox/to-read"], "two": ["inbox", "sea"], "other": ["inbox2"]}
    engine.write(indexed(provider, *(record(f"note/{name}", "tide", tags=tags) for name, tags in notes.items())), ())

    found = engine.candidates(Query.of("tide"), asked(provider, "tide"), filters, 10)

    assert sorted(ids(found.lexical)) == sorted(ids(found.vector)) == expected
    shown = engine.fetch([(RecordId("note/deep"), None)], Query.of("tide"))[RecordId("note/deep")]
    assert shown.record.tags == ("inbox/to-read/now",)


def test_filters_come_before_the_cut(engine: Engine, provider: FakeEmbeddings) -> None:
    crowd = [record(f"note/n{number}", "tide tide tide") for number in range(20)]
    engine.write(indexed(provider, *crowd, record("link/rare", "A tide among many other words here.")), ())

    found = engine.candidates(Query.of("tide"), asked(provider, "tide"), Filters(content_types=("link",)), 1)

    assert (ids(found.lexical), ids(found.vector), found.total) == (["link/rare"], ["link/rare"], 1)


def test_each_leg_is_cut_at_the_size_and_the_total_is_not(filled: Engine, provider: FakeEmbeddings) -> None:
    found = filled.candidates(Query.of("tide crabs"), asked(provider, "tide crabs"), Filters(), 1)

    assert (len(found.lexical), len(found.vector)) == (1, 1)
    assert found.total == 3


def test_no_query_is_syntax(filled: Engine, provider: FakeEmbeddings) -> None:
    for query in ODD_QUERIES:
        text = query.encode("utf-8", "replace").decode()

        found = filled.candidates(Query.of(text), asked(provider, text), Filters(), 10)

        assert found.total <= 4, query


def test_what_is_fetched_is_what_was_written_without_its_body(filled: Engine) -> None:
    survey = tide_pools()[2]

    shown = filled.fetch([(RecordId("link/survey"), 0), (RecordId("link/none"), 0)], NOTHING)

    assert list(shown) == ["link/survey"]
    assert shown[RecordId("link/survey")].record == replace(survey, body="", chunks=())
    assert shown[RecordId("link/survey")].chunk == survey.chunks[0]


def test_without_a_wanted_chunk_the_one_with_the_words_is_shown(engine: Engine, provider: FakeEmbeddings) -> None:
    body = "# One\n\n" + "wind " * 400 + "\n\n# Two\n\n" + "rain " * 400
    engine.write(indexed(provider, record("note/a", body)), ())
    wanted = RecordId("note/a")

    def heading(text: str) -> tuple[str, ...]:
        chunk = engine.fetch([(wanted, None)], Query.of(text))[wanted].chunk
        assert chunk is not None
        return chunk.heading_path

    assert (heading("rain"), heading("nothing of it"), heading("")) == (("Two",), ("One",), ("One",))


def test_an_older_write_changes_nothing(engine: Engine, provider: FakeEmbeddings) -> None:
    engine.write(indexed(provider, record("note/a", "rain", generation=3)), ())

    engine.write(indexed(provider, record("note/a", "wind", generation=2)), [Tombstone(RecordId("note/a"), 2)])

    assert versions(engine) == {"note/a": 3}
    assert ids(engine.candidates(Query.of("rain"), None, Filters(), 10).lexical) == ["note/a"]
    assert ids(engine.candidates(Query.of("wind"), None, Filters(), 10).lexical) == []


def test_a_newer_write_leaves_nothing_of_the_older(engine: Engine, provider: FakeEmbeddings) -> None:
    engine.write(indexed(provider, record("note/a", "rain", title="Old", tags=["old"], aliases=["elder"])), ())

    engine.write(indexed(provider, record("note/a", "wind", title="New", generation=2)), ())

    for query in ("rain", "old", "elder"):
        assert engine.candidates(Query.of(query), asked(provider, query), Filters(), 10).total == 0, query
    assert engine.candidates(Query.of("wind"), None, Filters(tags_all=("old",)), 10).total == 0


def test_a_tombstone_removes_what_was_written_before_and_keeps_late_writers_out(
    engine: Engine, provider: FakeEmbeddings
) -> None:
    engine.write(indexed(provider, record("note/a", "rain", generation=1)), ())

    engine.write((), [Tombstone(RecordId("note/a"), 3)])
    engine.write(indexed(provider, record("note/a", "rain", generation=2)), ())

    assert (versions(engine), engine.held([RecordId("note/a")])) == ({}, {})
    assert engine.candidates(Query.of("rain"), asked(provider, "rain"), Filters(), 10).total == 0
    assert engine.fetch([(RecordId("note/a"), 0)], Query.of("rain")) == {}


def test_a_record_comes_back_with_the_version_of_its_tombstone(engine: Engine, provider: FakeEmbeddings) -> None:
    engine.write((), [Tombstone(RecordId("note/a"), 3)])

    engine.write(indexed(provider, record("note/a", "rain", generation=3)), ())
    engine.write((), [Tombstone(RecordId("note/a"), 3)])

    assert versions(engine) == {"note/a": 3}


def test_versions_survive_another_opening(make: Make, provider: FakeEmbeddings) -> None:
    make(provider).write(indexed(provider, record("note/a", "rain")), [Tombstone(RecordId("note/b"), 5)])

    later = make(provider)
    later.write(indexed(provider, record("note/b", "wind", generation=4)), ())

    assert versions(later) == {"note/a": 1}


def test_a_reader_sees_what_another_process_wrote(make: Make, provider: FakeEmbeddings) -> None:
    writer, reader = make(provider), make(provider)
    writer.write(indexed(provider, record("note/a", "rain")), ())
    vector = asked(provider, "rain wind")
    before = reader.candidates(Query.of("rain wind"), vector, Filters(), 10)

    writer.write(indexed(provider, record("note/b", "wind")), [Tombstone(RecordId("note/a"), 2)])
    after = reader.candidates(Query.of("rain wind"), vector, Filters(), 10)

    assert (ids(before.lexical), ids(before.vector)) == (["note/a"], ["note/a"])
    assert (ids(after.lexical), ids(after.vector)) == (["note/b"], ["note/b"])


def test_a_record_without_vectors_waits_for_them_and_is_found_by_words(
    engine: Engine, provider: FakeEmbeddings
) -> None:
    engine.write(indexed(None, record("note/a", "rain")), ())
    assert list(engine.incomplete()) == ["note/a"]
    assert ids(engine.candidates(Query.of("rain"), None, Filters(), 10).lexical) == ["note/a"]

    engine.write(indexed(provider, record("note/a", "rain")), ())
    engine.write(indexed(None, record("note/a", "rain")), ())

    assert list(engine.incomplete()) == []
    assert ids(engine.candidates(Query.of("rain"), asked(provider, "rain"), Filters(), 10).vector) == ["note/a"]


def test_a_writer_with_another_model_is_refused_and_told_what_to_do(make: Make, provider: FakeEmbeddings) -> None:
    make(provider).write(indexed(provider, record("note/a", "rain")), ())
    other = FakeEmbeddings(revision="2")

    for writer in (make(other), make(None)):
        with pytest.raises(IndexMismatch, match="embedding model") as refusal:
            writer.write((), ())
        assert refusal.value.hint is not None
        assert "rebuild" in refusal.value.hint.lower()


def test_a_reader_with_another_model_searches_words_and_says_so(make: Make, provider: FakeEmbeddings) -> None:
    make(provider).write(indexed(provider, record("note/a", "rain")), ())
    other = FakeEmbeddings(revision="2")

    found = make(other).candidates(Query.of("rain"), asked(other, "rain"), Filters(), 10)

    assert (ids(found.lexical), found.vector, found.degraded) == (["note/a"], (), True)


def test_replacing_makes_an_index_of_the_new_model_with_these_records_only(
    make: Make, provider: FakeEmbeddings
) -> None:
    make(provider).write(indexed(provider, record("note/a", "rain")), [Tombstone(RecordId("note/b"), 9)])
    other = FakeEmbeddings(revision="2")
    engine = make(other)

    engine.replace(indexed(other, record("note/b", "wind")))
    engine.write(indexed(other, record("note/c", "snow")), ())

    assert versions(engine) == {"note/b": 1, "note/c": 1}
    assert ids(engine.candidates(Query.of("wind"), asked(other, "wind"), Filters(), 10).vector) == ["note/b"]


def test_a_wrong_number_of_vectors_is_a_mistake_of_the_caller(engine: Engine, provider: FakeEmbeddings) -> None:
    (good,) = indexed(provider, record("note/a", "rain"))

    with pytest.raises(ValueError, match="vectors"):
        engine.write([replace(good, vectors=(*good.vectors, *good.vectors))], ())

    assert versions(engine) == {}
