"""Imports of any size: cut into calls, parents first, the same in the end however often they are begun."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.client import Patient
from commonplace.kernel.errors import RateLimited, Unavailable
from commonplace.memory.client.client import MAX_CALL_BYTES, UNNAMED, MemoryClient, exported, importable, plant
from commonplace.memory.client.learnings import Address
from tests.fakes.memory_server import FakeMemoryServer


def entry(number: int, **more: Any) -> dict[str, Any]:
    return {"content": f"Fact {number}", "entry_type": "fact", "roles": ["dev"], "tags": [], "confidence": 1.0} | more


def sizes(server: FakeMemoryServer) -> list[int]:
    return [len(arguments["entries"]) for tool, arguments in server.calls if "entries" in arguments]


def test_a_hundred_entries_go_in_one_call_and_progress_is_told_after_each() -> None:
    server, told = FakeMemoryServer(), list[int]()
    done = plant(server, [entry(number) for number in range(250)], told=told.append)
    assert sizes(server) == [100, 100, 50]
    assert told == [100, 200, 250]
    assert (done.total, done.imported, done.skipped, done.errors) == (250, 250, 0, {})


def test_no_call_is_larger_than_the_server_takes() -> None:
    server = FakeMemoryServer()
    plant(server, [entry(number, content=f"{number}" + "é" * 15_000) for number in range(60)])
    for _, arguments in server.calls:
        assert len(json.dumps(arguments["entries"], ensure_ascii=False).encode()) <= MAX_CALL_BYTES + 1_000
    assert len(server.kept) == 60


def test_what_is_there_is_skipped() -> None:
    server = FakeMemoryServer()
    entries = [entry(number) for number in range(120)]
    plant(server, entries)
    again = plant(server, entries)
    assert (again.imported, again.skipped, len(server.kept)) == (0, 120, 120)


def test_an_import_that_stopped_goes_on_where_it_was() -> None:
    server = FakeMemoryServer()
    entries = [entry(number, parent_ref="top") for number in range(249)] + [entry(999, ref="top")]
    server.lose_answers = 1
    with pytest.raises(Unavailable):
        plant(server, entries)
    done = plant(server, entries)
    assert (done.imported, done.skipped, len(server.kept)) == (150, 100, 250)
    (top,) = (id for id, one in server.kept.items() if one["content"] == "Fact 999")
    assert sum(one["parent_id"] == top for one in server.kept.values()) == 249


def test_parents_in_an_earlier_call_are_named_by_their_ids() -> None:
    server = FakeMemoryServer()
    plant(server, [entry(number, parent_ref="top") for number in range(150)] + [entry(999, ref="top")])
    first, second = (arguments["entries"] for _, arguments in server.calls)
    assert (first[0]["ref"], first[0]["content"]) == ("~150", "Fact 999")
    assert {one.get("parent_ref") for one in first[1:]} == {"~150"}
    assert {one.get("parent_id") for one in second} == {"00000000-0000-0000-0000-000000000001"}


def test_a_child_of_a_later_call_is_refused_when_its_parent_was() -> None:
    server = FakeMemoryServer()
    entries = [entry(0, ref="top", roles=["boss"]), *(entry(number, parent_ref="top") for number in range(1, 150))]
    done = plant(server, entries)
    assert sorted(done.errors) == list(range(150))
    assert done.errors[149] == "Its parent was not imported. Mend that one first."


def test_an_error_names_the_place_in_the_file_and_not_in_the_call() -> None:
    server = FakeMemoryServer()
    entries = [entry(number) for number in range(150)]
    entries[120]["confidence"] = 7
    done = plant(server, entries)
    assert list(done.errors) == [120]
    assert (done.imported, "confidence" in done.errors[120]) == (149, True)


def test_an_import_that_goes_on_by_itself_is_waited_for_and_its_ids_are_asked_for() -> None:
    server = FakeMemoryServer()
    server.carry_on = True
    done = plant(server, [entry(0, ref="top"), entry(1, parent_ref="top")], sleep=lambda seconds: None)
    assert (done.imported, done.skipped, len(done.ids)) == (2, 0, 2)
    assert [sorted(arguments) for _, arguments in server.calls] == [
        ["entries", "skip_existing"],
        ["handle"],
        ["entries", "skip_existing"],
    ]


def test_what_is_no_entry_and_a_name_that_comes_twice_are_errors_of_their_places() -> None:
    server = FakeMemoryServer()
    done = plant(server, ["text", entry(1, ref="a"), entry(2, ref="a"), entry(3, parent_ref="a"), None])
    assert sorted(done.errors) == [0, 2, 4]
    assert [one["content"] for one in server.kept.values()] == ["Fact 1", "Fact 3"]


def test_reasons_that_the_answer_has_no_room_for_are_not_taken_for_successes() -> None:
    server = FakeMemoryServer()
    server.told_errors = 2
    done = plant(server, [entry(number, roles=["boss"] if number % 2 else ["dev"]) for number in range(10)])
    assert sorted(done.errors) == sorted({1, 3, 5, 7, 9})
    assert done.errors[9] == UNNAMED
    assert done.imported == 5


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 14)), max_size=13))
def test_any_net_of_parents_comes_in_an_order_that_the_server_can_take(pairs: list[tuple[int, int]]) -> None:
    """Rings and parents that do not exist are errors of their entries, and of those below them alone."""
    parents = {child: parent for child, parent in pairs if parent not in (child, 13, 14)}
    entries = [entry(number, ref=f"r{number}") for number in range(13)]
    for child, parent in parents.items():
        entries[child]["parent_ref"] = f"r{parent}"
    done = plant(FakeMemoryServer(), entries)
    in_a_ring = {place for place in range(13) if _loops(place, parents)}
    assert set(done.errors) == in_a_ring


def _loops(place: int, parents: dict[int, int]) -> bool:
    seen = set()
    while place in parents and place not in seen:
        seen.add(place)
        place = parents[place]
    return place in seen


def test_a_call_waits_as_the_server_says_and_no_longer_than_it_may() -> None:
    server, waits = FakeMemoryServer(), list[float]()
    patient = Patient(server, outage_seconds=3, limited_seconds=100, sleep=waits.append, monotonic=lambda: 0.0)
    server.errors = [RateLimited("Slow down.", retry_after_seconds=40), Unavailable("Gone.", retry_after_seconds=2)]
    assert patient.call("kb_list", {"limit": 1, "offset": 0, "order_by": "created_at", "order": "asc"})["total"] == 0
    assert waits == [40, 2]
    server.errors = [RateLimited("Slow down.", retry_after_seconds=60) for _ in range(3)]
    with pytest.raises(RateLimited):
        patient.call("kb_list", {})
    assert waits == [40, 2, 60]
    server.down = True
    with pytest.raises(Unavailable):
        patient.call("kb_list", {})
    assert waits == [40, 2, 60, 1, 2]


def test_the_time_that_a_silent_server_takes_counts_as_outage() -> None:
    server, waits, clock = FakeMemoryServer(), list[float](), iter(range(0, 1_000, 60))
    server.down = True
    patient = Patient(server, outage_seconds=30, sleep=waits.append, monotonic=lambda: float(next(clock)))
    with pytest.raises(Unavailable):
        patient.call("kb_list", {})
    assert waits == []


def test_an_entry_that_a_list_cuts_is_read_whole() -> None:
    server = FakeMemoryServer()
    plant(server, [entry(0, content="é" * 9_000), entry(1)])
    server.cut = 1_000
    assert [len(one["content"]) for one in MemoryClient(server, Address("here")).entries()] == [9_000, 6]


def test_an_export_passes_over_nothing_and_sees_what_is_added_meanwhile() -> None:
    server = FakeMemoryServer()
    plant(server, [entry(n) for n in range(25)])
    server.page, server.calls = 10, []
    read = []
    for one in MemoryClient(server, Address("here")).entries():
        read.append(one["content"])
        if len(read) == 10:
            for id in list(server.kept)[:8]:
                server.delete(id)
            server.first += 100
            plant(server, [entry(25)])
    assert read == [entry(n)["content"] for n in range(26)]
    lists = [arguments for tool, arguments in server.calls if tool == "kb_list"]
    assert [arguments.get("offset", 0) for arguments in lists] == [0, 0, 0]


def test_what_is_exported_can_be_imported_elsewhere_with_its_parents() -> None:
    here, there = FakeMemoryServer(), FakeMemoryServer()
    entries = [
        entry(0, ref="top", metadata={"date": "2026-01-05"}),
        *(entry(n, parent_ref="top") for n in range(1, 230)),
    ]
    plant(here, entries)
    here.page = 37
    told: list[tuple[int, int]] = []
    read = list(MemoryClient(here, Address("here")).entries(lambda done, total: told.append((done, total))))
    assert told[-1] == (230, 230)
    plant(there, importable([exported(one) for one in read]))
    assert there.contents() == here.contents()


def test_what_is_superseded_is_linked_across_calls_and_also_where_it_was_there_before() -> None:
    server = FakeMemoryServer()
    old = [entry(number, superseded_by_ref="new") for number in range(120)]
    plant(server, [{name: one for name, one in each.items() if name != "superseded_by_ref"} for each in old[:5]])
    done = plant(server, [*old, entry(999, ref="new")])
    assert (done.imported, done.skipped, done.errors) == (116, 5, {})
    (new,) = (id for id, one in server.kept.items() if one["content"] == "Fact 999")
    assert [one.get("superseded_by") for one in server.kept.values()].count(new) == 120


def test_a_replacement_that_was_refused_is_named_at_what_it_replaces() -> None:
    server = FakeMemoryServer()
    done = plant(server, [entry(1, superseded_by_ref="new"), entry(2, ref="new", roles=["nobody"])])
    assert done.imported == 1
    assert done.errors[0] == "It was imported, but `superseded_by_ref` names no other entry that was."


def test_an_export_keeps_what_superseded_an_entry_anywhere() -> None:
    old, new = (
        {"id": "1" * 8, "content": "Old", "superseded_by": "2" * 8, "version": 2},
        {"id": "2" * 8, "content": "New", "version": 1},
    )
    moved = importable([exported(old), exported(new)])
    assert moved[0] == {"ref": "1" * 8, "content": "Old", "superseded_by_ref": "2" * 8}
    assert "superseded_by_ref" not in importable([exported(old)], as_they_were=True)[0]
