"""Importing: what is counted, what is asked of the model, what is left when somebody is stopped on the way."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.kernel.audit import AuditRecord, Author
from commonplace.kernel.errors import NotFound, Unavailable
from commonplace.memory import validation
from commonplace.memory.jobs import LargeImports, Rebuilding
from commonplace.memory.model import MAX_CONTENT_BYTES, Entry, EntryId, Imported
from commonplace.memory.upkeep import carry_on
from tests.fakes.memories import ACME, OTHER, CountingEmbeddings, Remembering, remembering


@pytest.fixture
def model() -> CountingEmbeddings:
    return CountingEmbeddings()


@pytest.fixture
def team(tmp_path: Path, model: CountingEmbeddings) -> Remembering:
    return remembering(tmp_path, model)


def entry(content: str, **told: Any) -> dict[str, Any]:
    return {"content": content, "entry_type": "fact", "roles": ["dev"], **told}


def many(number: int, first: int = 0) -> list[dict[str, Any]]:
    return [entry(f"Lesson {n} of the story about subject {n}.") for n in range(first, first + number)]


def imported(
    team: Remembering,
    entries: list[Any],
    author: Author = ACME,
    *,
    skip_existing: bool = True,
    enough: Callable[[], bool] = lambda: False,
) -> Imported:
    items = validation.imports(entries)
    return LargeImports(team.memory).start(author, items, skip_existing, enough)


def total(team: Remembering, author: Author = ACME) -> int:
    return team.memory.stats(author).total_entries


def at_once() -> bool:
    """There is enough after one batch."""
    return True


def after(batches: int) -> Callable[[], bool]:
    left = iter(range(batches - 1))
    return lambda: next(left, None) is None


def test_entries_are_imported_and_told_by_name_or_place(team: Remembering) -> None:
    result = imported(team, [entry("one", ref="first"), entry("two")])
    assert (result.imported, result.skipped, result.errors, result.total, result.processed) == (2, 0, (), 2, 2)
    assert (result.status, result.handle) == ("complete", None)
    assert result.ids is not None
    assert {name: team.memory.get(ACME, id).content for name, id in result.ids.items()} == {"first": "one", "1": "two"}


def test_what_is_there_is_skipped_and_told_by_its_own_id(team: Remembering) -> None:
    there = team.add("one")
    result = imported(team, [entry("one"), entry("two"), entry("two", tags=["again"])])
    assert (result.imported, result.skipped, result.errors) == (1, 2, ())
    assert result.ids is not None
    assert result.ids["0"] == there
    assert result.ids["1"] == result.ids["2"]


def test_what_is_there_is_an_error_when_nothing_is_to_be_skipped(team: Remembering) -> None:
    there = team.add("one")
    result = imported(team, [entry("one"), entry("two"), entry("two")], skip_existing=False)
    assert (result.imported, result.skipped, len(result.errors)) == (1, 0, 2)
    assert result.errors[0].startswith(f"entries[0]: The entry {there} ")
    assert result.errors[1].startswith("entries[2]: ")


def test_entry_that_is_wrong_costs_the_others_nothing(team: Remembering) -> None:
    result = imported(team, [entry("one"), entry(""), "text", entry("two", roles=["boss"]), entry("three")])
    assert (result.imported, result.processed, result.total) == (2, 5, 5)
    assert [error.split(":")[0] for error in result.errors] == ["entries[1]", "entries[2]", "entries[3]"]
    assert "pm, dev, qa, all" in result.errors[2]


def test_children_get_the_ids_of_their_parents(team: Remembering) -> None:
    result = imported(team, [entry("fact", parent_ref="s"), entry("story", ref="s", entry_type="summary")])
    assert result.ids is not None
    assert team.memory.get(ACME, result.ids["0"]).parent_id == result.ids["s"]


def test_child_of_a_parent_that_is_there_already_becomes_its_child(team: Remembering) -> None:
    parent = team.add("story", entry_type="summary")
    result = imported(team, [entry("story", ref="s"), entry("fact", parent_ref="s"), entry("other", parent_id=parent)])
    assert (result.imported, result.skipped) == (2, 1)
    assert result.ids is not None
    assert {team.memory.get(ACME, result.ids[name]).parent_id for name in ("1", "2")} == {parent}


def test_parent_that_is_not_there_is_an_error_of_its_entry_and_of_its_children(team: Remembering) -> None:
    theirs = team.add("their story", OTHER)
    result = imported(
        team,
        [
            entry("a", parent_id="00000000-0000-4000-8000-000000000000", ref="a"),
            entry("b", parent_id=theirs),
            entry("c", parent_ref="a"),
            entry("d"),
        ],
    )
    assert result.imported == 1
    assert [error.split(":")[0] for error in result.errors] == ["entries[0]", "entries[1]", "entries[2]"]


def test_parent_that_somebody_adds_at_the_same_moment_is_the_parent(team: Remembering) -> None:
    real = team.store.add
    raced: list[EntryId] = []

    def add(organisation: str, entries: Any, audit: AuditRecord) -> dict[str, EntryId]:
        if not raced:
            raced.append(EntryId("ffffffff-0000-4000-8000-00000000000f"))
            real(organisation, [replace(entries[0], id=raced[0])], audit)
        return real(organisation, entries, audit)

    team.store.add = add  # type: ignore[method-assign]
    result = imported(team, [entry("story", ref="s"), entry("fact", parent_ref="s")])
    assert (result.imported, result.skipped) == (1, 1)
    assert result.ids is not None
    assert team.memory.get(ACME, result.ids["1"]).parent_id == result.ids["s"] == raced[0]


def test_import_asks_the_model_once_for_a_hundred_new_texts(team: Remembering, model: CountingEmbeddings) -> None:
    imported(team, many(450))
    assert model.calls == [100, 100, 100, 100, 50]
    team.settle()
    imported(team, many(450))
    assert len(model.calls) == 5
    assert team.memory.stats(ACME).cache_size == 450


def test_entries_that_are_there_do_not_make_calls_smaller(team: Remembering, model: CountingEmbeddings) -> None:
    half = many(400)
    imported(team, half[::2])
    model.calls.clear()
    result = imported(team, half)
    assert (result.imported, result.skipped) == (200, 200)
    assert model.calls == [100, 100]


def test_vectors_made_before_do_not_make_calls_smaller(team: Remembering, model: CountingEmbeddings) -> None:
    first = imported(team, many(60))
    for id in (first.ids or {}).values():
        team.memory.delete(ACME, id)
    model.calls.clear()
    assert imported(team, many(260)).imported == 260
    assert model.calls == [100, 100]


def test_long_entries_are_embedded_by_their_parts(team: Remembering, model: CountingEmbeddings) -> None:
    long = [entry(f"Number {n}. " + "Some words about cars. " * 1_000) for n in range(12)]
    assert imported(team, long).imported == 12
    calls = list(model.calls)
    assert all(texts <= 100 for texts in calls)
    team.settle()
    assert model.calls == calls
    assert list(team.engine.incomplete()) == []


def test_import_without_a_model_that_answers_keeps_the_entries(team: Remembering, model: CountingEmbeddings) -> None:
    model.failing = True
    assert imported(team, many(150)).imported == 150
    team.settle()
    assert team.search("lesson 7")
    model.failing = False
    team.settle()
    assert list(team.engine.incomplete()) == []


def test_what_there_is_no_time_for_goes_on_under_a_handle(team: Remembering, model: CountingEmbeddings) -> None:
    begun = imported(team, many(1_234), enough=after(2))
    assert (begun.status, begun.processed, begun.total, begun.ids) == ("in_progress", 200, 1_234, None)
    assert begun.handle is not None
    assert total(team) == 200
    team.carry_on(ACME, begun.handle)
    done = LargeImports(team.memory).progress(ACME, begun.handle)
    assert (done.status, done.imported, done.processed, done.total) == ("complete", 1_234, 1_234, 1_234)
    assert (done.handle, done.ids) == (None, None)
    assert total(team) == 1_234
    assert model.calls == [100] * 12 + [34]


def test_large_entries_go_on_in_pieces_that_can_be_kept(team: Remembering) -> None:
    quoted = ["".join(f'"{word}"' for word in range(n * 10_000, (n + 1) * 10_000)) for n in range(8)]
    large = [entry(text[: MAX_CONTENT_BYTES - 10], metadata={"a": "ä" * 4_000}) for text in quoted]
    begun = imported(team, large, enough=at_once)
    assert begun.handle is not None
    assert len(team.jobs.pieces) > 1
    team.carry_on(ACME, begun.handle)
    assert LargeImports(team.memory).progress(ACME, begun.handle).imported == 8


def test_errors_and_parents_reach_across_the_pieces(team: Remembering) -> None:
    entries = [
        entry("story", ref="s", entry_type="summary"),
        entry("", ref="bad"),
        *(entry(f"fact {n}", parent_ref="s") for n in range(250)),
        entry("lost", parent_id="00000000-0000-4000-8000-000000000000"),
    ]
    begun = imported(team, entries, enough=at_once)
    assert begun.handle is not None
    assert len(begun.errors) == 1
    team.carry_on(ACME, begun.handle)
    done = LargeImports(team.memory).progress(ACME, begun.handle)
    assert (done.imported, done.processed) == (251, 253)
    assert [error.split(":")[0] for error in done.errors] == ["entries[1]", "entries[252]"]
    children = team.memory.list(ACME, validation.listing(entry_type="fact", limit=100)).entries
    assert len({child.parent_id for child in children}) == 1


def test_worker_that_was_stopped_before_it_said_how_far_it_came_counts_nothing_twice(team: Remembering) -> None:
    begun = imported(team, many(350), enough=at_once)
    assert begun.handle is not None
    before = team.jobs.job("acme", begun.handle)
    carry_on(team.memory, "acme", begun.handle, at_once)
    forget(team, begun.handle, before)
    team.carry_on(ACME, begun.handle)
    done = LargeImports(team.memory).progress(ACME, begun.handle)
    assert (done.imported, done.skipped, done.processed) == (350, 0, 350)
    assert total(team) == 350


def test_worker_stopped_in_the_middle_of_a_batch_is_followed_by_one_that_finishes_it(
    team: Remembering, model: CountingEmbeddings
) -> None:
    begun = imported(team, many(300), enough=at_once)
    assert begun.handle is not None
    real = team.store.add

    def stopped(organisation: str, entries: list[Entry], audit: AuditRecord) -> dict[str, EntryId]:
        real(organisation, entries[:37], audit)
        raise Unavailable("The worker is stopped.")

    team.store.add = stopped  # type: ignore[method-assign, assignment]
    with pytest.raises(Unavailable):
        carry_on(team.memory, "acme", begun.handle, at_once)
    assert total(team) == 137
    team.store.add = real  # type: ignore[method-assign]
    team.carry_on(ACME, begun.handle)
    done = LargeImports(team.memory).progress(ACME, begun.handle)
    assert (done.imported, done.skipped, total(team)) == (300, 0, 300)
    assert sum(model.calls) == 300
    assert len(model.calls) == 3


def test_two_workers_on_one_job_count_once(team: Remembering) -> None:
    begun = imported(team, many(250), enough=at_once)
    assert begun.handle is not None
    real = team.jobs.advance

    def overtaken(job: Any, was: Any) -> bool:
        team.jobs.advance = real  # type: ignore[method-assign]
        carry_on(team.memory, "acme", job.id, at_once)
        return real(job, was)

    team.jobs.advance = overtaken  # type: ignore[method-assign]
    team.carry_on(ACME, begun.handle)
    done = LargeImports(team.memory).progress(ACME, begun.handle)
    assert (done.imported, done.skipped, done.processed, total(team)) == (250, 0, 250, 250)


def test_call_that_was_stopped_may_be_sent_again_as_it_was(team: Remembering, model: CountingEmbeddings) -> None:
    real = team.store.add
    calls: list[int] = []

    def stopped(organisation: str, entries: list[Entry], audit: AuditRecord) -> dict[str, EntryId]:
        calls.append(len(entries))
        if len(calls) == 3:
            real(organisation, entries[:50], audit)
            raise Unavailable("The process is stopped.")
        return real(organisation, entries, audit)

    team.store.add = stopped  # type: ignore[method-assign, assignment]
    with pytest.raises(Unavailable):
        imported(team, many(500))
    again = imported(team, many(500))
    assert (again.imported, again.skipped, total(team)) == (250, 250, 500)
    assert model.calls == [100] * 5


def test_job_whose_pieces_are_gone_fails_and_says_what_to_do(team: Remembering) -> None:
    begun = imported(team, many(250), enough=at_once)
    assert begun.handle is not None
    team.jobs.pieces.clear()
    team.carry_on(ACME, begun.handle)
    done = LargeImports(team.memory).progress(ACME, begun.handle)
    assert (done.status, done.imported) == ("failed", 100)
    assert "Send it again" in done.errors[-1]


def test_errors_are_told_up_to_a_bound_and_then_counted(team: Remembering) -> None:
    result = imported(team, [entry("")] * 1_000)
    assert len(result.errors) == 201
    assert result.errors[-1] == "And 800 more."
    assert len(json.dumps(result.errors)) < 100_000


def test_handle_of_another_organisation_is_unknown(team: Remembering) -> None:
    begun = imported(team, many(250), enough=at_once)
    assert begun.handle is not None
    for author, handle in ((OTHER, begun.handle), (ACME, "00000000-0000-4000-8000-000000000000")):
        with pytest.raises(NotFound):
            LargeImports(team.memory).progress(author, handle)
        with pytest.raises(NotFound):
            Rebuilding(team.memory).progress(author, handle)
    assert carry_on(team.memory, "other", begun.handle, at_once) is None


def test_import_is_recorded_on_behalf_of_who_began_it(team: Remembering) -> None:
    author = replace(ACME, client="client-1", grant="grant-1")
    begun = imported(team, many(250), author, enough=at_once)
    assert begun.handle is not None
    team.carry_on(author, begun.handle)
    records = [*team.store.audit.records, *team.jobs.audit.records]
    assert {(record.event, record.client, record.grant) for record in records} == {
        ("memory.import", "client-1", "grant-1")
    }
    assert sum(int(record.details.get("entries", 0)) for record in records) == 250
    assert "Lesson" not in repr(records)


def forget(team: Remembering, handle: str, job: Any) -> None:
    """As if the last write of the job had never happened."""
    team.jobs.kept["acme", handle] = (job, team.jobs.kept["acme", handle][1])


CONTENTS: Any = st.sampled_from(["a", "b", "c", "d", "e", "f"])
ITEMS: Any = st.lists(
    st.fixed_dictionaries(
        {"content": CONTENTS},
        optional={"ref": st.sampled_from("xyz"), "parent_ref": st.sampled_from("xyz"), "roles": st.just(["boss"])},
    ),
    min_size=1,
    max_size=10,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ITEMS, st.lists(CONTENTS, max_size=3), st.booleans(), st.integers(1, 4))
def test_every_import_ends_with_each_content_once_and_every_entry_counted(
    tmp_path_factory: pytest.TempPathFactory, items: list[dict[str, Any]], there: list[str], skip: bool, batch: int
) -> None:
    team = remembering(tmp_path_factory.mktemp("import"))
    for content in there:
        team.add(content)
    entries = [{"entry_type": "fact", "roles": ["dev"], **item} for item in items]
    whole = imported(team, entries, skip_existing=skip)
    assert whole.processed == whole.total == len(items)
    assert whole.imported + whole.skipped + len(whole.errors) == len(items)
    found = team.memory.list(ACME, validation.listing(limit=100)).entries
    contents = [one.content for one in found]
    assert len(contents) == len(set(contents)) == whole.imported + len(set(there))
    assert {one.parent_id for one in found} - {None} <= {one.id for one in found}
    if skip:
        again = imported(team, entries)
        assert again.imported == 0
        assert again.ids == whole.ids
