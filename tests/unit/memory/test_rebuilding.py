"""Making vectors anew: in batches, resumable, and unnoticed by those who search meanwhile."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from commonplace.kernel.errors import Conflict, NotFound, Unavailable
from commonplace.memory.jobs import Rebuilding
from commonplace.memory.model import Card, EntryId, Rebuilt
from commonplace.memory.upkeep import carry_on
from tests.fakes.memories import ACME, OTHER, CountingEmbeddings, Remembering, remembering


@pytest.fixture
def model() -> CountingEmbeddings:
    return CountingEmbeddings()


@pytest.fixture
def team(tmp_path: Path, model: CountingEmbeddings) -> Remembering:
    team = remembering(tmp_path, model)
    for number in range(25):
        team.add(f"Lesson {number} about subject {number}.")
    team.add("A lesson of theirs.", OTHER)
    team.settle()
    model.calls.clear()
    return team


def rebuild(
    team: Remembering, size: int = 10, *, clear: bool = True, enough: Callable[[], bool] = lambda: False
) -> Rebuilt:
    return Rebuilding(team.memory).start(ACME, size, clear, enough)


def revisions(team: Remembering) -> list[int]:
    return sorted({card.revision for card in team.store.cards("acme")})


def at_once() -> bool:
    return True


def test_rebuild_embeds_everything_again_in_batches(team: Remembering, model: CountingEmbeddings) -> None:
    done = rebuild(team)
    assert (done.total, done.processed, done.status, done.handle) == (25, 25, "complete", None)
    assert model.calls == [10, 10, 5]
    assert revisions(team) == [2]
    team.settle()
    assert model.calls == [10, 10, 5]


def test_version_stays_for_nobody_has_changed_anything(team: Remembering) -> None:
    rebuild(team)
    assert {card.version for card in team.store.cards("acme")} == {1}


def test_rebuild_that_keeps_the_cache_asks_no_model(team: Remembering, model: CountingEmbeddings) -> None:
    assert rebuild(team, clear=False).processed == 25
    assert model.calls == []
    assert revisions(team) == [2]


def test_only_the_callers_own_cache_is_cleared(team: Remembering) -> None:
    rebuild(team, clear=True)
    assert team.memory.stats(OTHER).cache_size == 1
    assert {card.revision for card in team.store.cards("other")} == {1}


def test_searches_find_with_vectors_all_the_time(team: Remembering) -> None:
    begun = rebuild(team, enough=at_once)
    assert begun.handle is not None
    for _ in range(4):
        assert team.search("lesson about subject 7")
        assert list(team.engine.incomplete()) == []
        carry_on(team.memory, "acme", begun.handle, at_once)
        team.settle()
    assert list(team.engine.incomplete()) == []


def test_what_there_is_no_time_for_goes_on_under_a_handle(team: Remembering, model: CountingEmbeddings) -> None:
    begun = rebuild(team, enough=at_once)
    assert (begun.total, begun.processed, begun.status) == (25, 10, "in_progress")
    assert begun.handle is not None
    carry_on(team.memory, "acme", begun.handle, at_once)
    assert Rebuilding(team.memory).progress(ACME, begun.handle).processed == 20
    team.carry_on(ACME, begun.handle)
    done = Rebuilding(team.memory).progress(ACME, begun.handle)
    assert (done.total, done.processed, done.status, done.handle) == (25, 25, "complete", None)
    assert model.calls == [10, 10, 5]
    assert revisions(team) == [2]


def test_a_stretch_reads_nothing_of_what_is_done(team: Remembering, monkeypatch: pytest.MonkeyPatch) -> None:
    cards, read = team.store.cards, list[EntryId]()

    def counted(organisation: str, *, after: str = "") -> Iterator[Card]:
        for card in cards(organisation, after=after):
            read.append(card.id)
            yield card

    monkeypatch.setattr(team.store, "cards", counted)
    begun = rebuild(team, 5, enough=at_once)
    assert begun.handle is not None
    team.carry_on(ACME, begun.handle)
    assert Rebuilding(team.memory).progress(ACME, begun.handle).status == "complete"
    # Each stretch looks whether there is a batch behind its own.
    assert len(read) <= 2 * 25
    assert set(read) == {card.id for card in cards("acme")}


def test_rebuild_that_goes_on_is_told_of_and_not_begun_again(team: Remembering, model: CountingEmbeddings) -> None:
    begun = rebuild(team, enough=at_once)
    again = rebuild(team)
    assert again == begun
    assert model.calls == [10]


def test_model_that_is_away_costs_nothing(team: Remembering, model: CountingEmbeddings) -> None:
    model.failing = True
    with pytest.raises(Unavailable):
        rebuild(team)
    assert team.memory.stats(ACME).cache_size == 25
    assert revisions(team) == [1]
    assert team.jobs.kept == {}


def test_model_that_goes_away_leaves_the_rest_for_later(team: Remembering, model: CountingEmbeddings) -> None:
    def gone() -> bool:
        model.failing = True
        return False

    begun = rebuild(team, enough=gone)
    assert (begun.processed, begun.status) == (10, "in_progress")
    assert begun.handle is not None
    with pytest.raises(Unavailable):
        carry_on(team.memory, "acme", begun.handle, at_once)
    assert Rebuilding(team.memory).progress(ACME, begun.handle).processed == 10
    model.failing = False
    team.carry_on(ACME, begun.handle)
    assert Rebuilding(team.memory).progress(ACME, begun.handle).status == "complete"


def test_entries_that_come_and_go_meanwhile_do_no_harm(team: Remembering) -> None:
    begun = rebuild(team, enough=at_once)
    assert begun.handle is not None
    for card in list(team.store.cards("acme"))[8:20]:
        team.memory.delete(ACME, card.id)
    for number in range(5):
        team.add(f"New lesson {number}.")
    team.carry_on(ACME, begun.handle)
    done = Rebuilding(team.memory).progress(ACME, begun.handle)
    assert done.status == "complete"
    assert done.processed == done.total


def test_rebuild_of_nothing_is_complete(tmp_path: Path) -> None:
    team = remembering(tmp_path)
    assert rebuild(team) == Rebuilt(total=0, processed=0, status="complete")


def test_deployment_without_a_model_says_so(team: Remembering) -> None:
    without = Remembering(team.engine, None)
    with pytest.raises(Conflict) as refused:
        rebuild(without)
    assert refused.value.hint


def test_rebuild_is_recorded(team: Remembering) -> None:
    rebuild(team)
    [record] = team.jobs.audit.records
    assert (record.event, record.organisation, record.details["entries"]) == ("memory.rebuild", "acme", "25")


def test_handle_of_another_organisation_is_unknown(team: Remembering) -> None:
    begun = rebuild(team, enough=at_once)
    assert begun.handle is not None
    with pytest.raises(NotFound):
        Rebuilding(team.memory).progress(OTHER, begun.handle)
