"""What a story taught reaches the memory exactly once, through outages, lost answers and crashes."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.kernel.errors import CommonplaceError, InvalidInput, Unavailable
from commonplace.memory.client.client import CONFIDENCE_AFTER, Gate, MemoryClient
from commonplace.memory.client.learnings import Address, Learnings, from_mapping, learnings_of
from commonplace.memory.entry_files import document, write
from commonplace.memory.model import DEFAULT_MIN_CONFIDENCE
from commonplace.memory.tools.prompts import MIN_CONFIDENCE
from tests.examples import examples
from tests.fakes.memory_server import FakeMemoryServer

HERE = Address("https://knowledge.example.org", "garden")
THEN, LATER = "2026-03-24T10:00:00Z", "2026-03-24T18:00:00Z"

STORY: dict[str, Any] = {
    "story_id": "WRKF-1021",
    "title": "Node execution metrics",
    "summary": "Clean implementation.",
    "tags": ["wrkf", "metrics"],
    "recommendations": [
        "Check for naming conflicts before creating new types.",
        {"content": "Write tests along with the code.", "roles": ["dev", "qa"], "tags": ["testing"]},
    ],
    "reuse": ["RetryMetrics of the client package fits every node."],
    "blockers": ["The schema of events was not agreed."],
    "time_sinks": ["Two hours on a mock that was not needed."],
    "verification": ["Fast-fail caught an unused import."],
    "high_cost_operations": ["Reading LESSONS-LEARNED.md costs about 4,575 tokens."],
    "failures": ["Verification failed on an unused import; run the linter with --fix."],
}


def client(server: FakeMemoryServer) -> MemoryClient:
    return MemoryClient(server, HERE, sleep=lambda seconds: None)


def learned() -> Learnings:
    return learnings_of(STORY, THEN)


def kept(learnings: Learnings) -> Learnings:
    """As the file gives it back."""
    return from_mapping(document(write(learnings.as_mapping())))


def timeless(learnings: Learnings) -> dict[str, Any]:
    told = learnings.as_mapping()
    return {name: value for name, value in told.items() if name not in ("recorded_at", "synced_at")}


def test_a_story_becomes_a_summary_and_a_fact_below_it_of_everything_that_was_learned() -> None:
    server = FakeMemoryServer()
    done = client(server).deliver(learned(), THEN)
    summary, *facts = server.kept.values()
    assert summary["content"] == "WRKF-1021: Node execution metrics - Clean implementation."
    assert (summary["entry_type"], summary["roles"]) == ("summary", ["pm", "dev", "qa"])
    assert [one["parent_id"] for one in facts] == [summary["id"]] * 8
    assert {one["source_story"] for one in server.kept.values()} == {"WRKF-1021"}
    assert {one.category: one.seed.tags for one in done.entries if one.category != "recommendation"} == {
        None: ("wrkf", "metrics"),
        "reuse": ("reuse", "pattern", "wrkf", "metrics"),
        "blocker": ("blocker", "wrkf", "metrics"),
        "time-sink": ("time-sink", "wrkf", "metrics"),
        "verification": ("verification", "wrkf", "metrics"),
        "high-cost": ("high-cost", "tokens", "optimization", "wrkf", "metrics"),
        "failure": ("failure", "wrkf", "metrics"),
    }
    assert [one["confidence"] for one in facts] == [1.0] * 7 + [0.8]


def test_one_call_delivers_it_and_has_the_parent_before_its_children() -> None:
    server = FakeMemoryServer()
    client(server).deliver(learned(), THEN)
    ((tool, arguments),) = server.calls
    assert tool == "kb_bulk_import"
    refs = [one["ref"] for one in arguments["entries"]]
    for place, one in enumerate(arguments["entries"]):
        assert one.get("parent_ref") is None or one["parent_ref"] in refs[:place]


def test_the_file_tells_the_ids_as_evidence() -> None:
    server = FakeMemoryServer()
    told = client(server).deliver(learned(), LATER).as_mapping()
    assert (told["story_id"], told["synced_at"], told["kb_available"]) == ("WRKF-1021", LATER, True)
    assert "pending_sync" not in told
    assert [one["id"] for one in told["entries"]] == list(server.kept)
    assert {one["parent_id"] for one in told["entries"][1:]} == {told["entries"][0]["id"]}


def test_the_file_of_an_outage_loses_nothing() -> None:
    told = learned().as_mapping()
    assert (told["kb_available"], told["pending_sync"]) == (False, True)
    assert told["entries"][1]["parent_id"] == told["entries"][0]["id"] == "pending-1"
    assert kept(learned()) == learned()


def test_after_an_outage_everything_is_as_if_there_had_been_none() -> None:
    without, through = FakeMemoryServer(), FakeMemoryServer()
    at_once = client(without).deliver(learned(), THEN)
    through.down = True
    with pytest.raises(Unavailable):
        client(through).deliver(learned(), THEN)
    waiting = kept(learned())
    through.down = False
    later = client(through).deliver(waiting, LATER)
    assert through.contents() == without.contents()
    assert timeless(later) == timeless(at_once)


def test_a_crash_between_delivery_and_the_writing_of_the_file_changes_nothing() -> None:
    without, crashed = FakeMemoryServer(), FakeMemoryServer()
    at_once = client(without).deliver(learned(), THEN)
    client(crashed).deliver(learned(), THEN)
    later = client(crashed).deliver(kept(learned()), LATER)
    assert crashed.contents() == without.contents()
    assert timeless(later) == timeless(at_once)


def test_an_answer_that_was_lost_changes_nothing() -> None:
    without, lossy = FakeMemoryServer(), FakeMemoryServer()
    at_once = client(without).deliver(learned(), THEN)
    lossy.lose_answers = 1
    with pytest.raises(Unavailable):
        client(lossy).deliver(learned(), THEN)
    assert timeless(client(lossy).deliver(learned(), LATER)) == timeless(at_once)
    assert lossy.contents() == without.contents()


@settings(max_examples=examples(15, soak=300))
@given(st.lists(st.sampled_from(["down", "lost", "crash", "done"]), max_size=6))
def test_whatever_happens_on_the_way_each_entry_is_there_once_in_the_end(happened: list[str]) -> None:
    without, server = FakeMemoryServer(), FakeMemoryServer()
    at_once = client(without).deliver(learned(), THEN)
    file = kept(learned())
    for one in [*happened, "done"]:
        server.down, server.lose_answers = one == "down", int(one == "lost")
        try:
            told = client(server).deliver(kept(file), LATER)
        except Unavailable:
            continue
        file = file if one == "crash" else kept(told)
    assert server.contents() == without.contents()
    assert timeless(file) == timeless(at_once)


def test_an_entry_that_is_refused_stays_with_its_reason_and_the_others_are_delivered() -> None:
    server = FakeMemoryServer()
    wrong = replace(learned().entries[2], seed=replace(learned().entries[2].seed, confidence=7.0))
    done = client(server).deliver(replace(learned(), entries=(*learned().entries[:2], wrong)), THEN)
    assert [one.pending for one in done.entries] == [False, False, True]
    assert done.entries[2].error is not None
    assert "confidence" in done.entries[2].error
    told = done.as_mapping()
    assert (told["kb_available"], told["pending_sync"]) == (True, True)
    mended = replace(kept(done), entries=(*done.entries[:2], replace(done.entries[2], seed=learned().entries[2].seed)))
    again = client(server).deliver(mended, LATER)
    assert not again.pending
    assert again.entries[2].parent == again.entries[0].id
    assert len(server.kept) == 3


def test_a_story_that_is_learned_again_keeps_its_ids_and_what_still_waits() -> None:
    server = FakeMemoryServer()
    first = client(server).deliver(learned(), THEN)
    changed = learnings_of({**STORY, "reuse": [], "blockers": ["Another one."]}, LATER).joined(kept(first))
    assert [one.seed.content for one in changed.pending] == ["Another one."]
    assert changed.pending[0].parent == first.entries[0].id
    done = client(server).deliver(changed, LATER)
    assert {one.id for one in first.entries} < {one.id for one in done.entries} == set(server.kept)

    waiting = learnings_of({**STORY, "summary": "Other words."}, LATER).joined(learned())
    assert len({one.id for one in waiting.entries}) == len(waiting.entries) == 10
    assert all(one.pending for one in kept(waiting).entries)


def test_a_gate_that_is_passed_raises_failures_to_certain_and_says_when() -> None:
    server = FakeMemoryServer()
    done = client(server).deliver(learned(), THEN)
    told = client(server).validated(done, "PASS", LATER)
    (failure,) = (one for one in server.kept.values() if "failure" in one["tags"])
    assert failure["confidence"] == 1.0
    assert failure["metadata"] == {
        "title": "Node execution metrics",
        "section": "Failures",
        "validated_at": LATER,
        "gate_result": "PASS",
    }
    assert (told.confirmed, told.gone) == (1, ())
    assert told.learnings.entries[-1].seed.confidence == 1.0
    assert len([1 for tool, _ in server.calls if tool == "kb_update"]) == 1


@pytest.mark.parametrize(("gate", "sure"), [("CONCERNS", 0.6), ("FAIL", 0.3), ("WAIVED", 0.8)])
def test_a_gate_that_is_not_passed_is_noted_and_leaves_failures_less_sure(gate: Gate, sure: float) -> None:
    server = FakeMemoryServer()
    told = client(server).validated(client(server).deliver(learned(), THEN), gate, LATER)
    (failure,) = (one for one in server.kept.values() if "failure" in one["tags"])
    assert (failure["confidence"], failure["metadata"]["gate_result"]) == (sure, gate)
    assert kept(told.learnings).entries[-1].seed.confidence == sure


def test_after_a_failed_gate_a_failure_is_found_by_those_who_ask_for_less_certainty_only() -> None:
    assert CONFIDENCE_AFTER["FAIL"] < DEFAULT_MIN_CONFIDENCE <= CONFIDENCE_AFTER["CONCERNS"] < MIN_CONFIDENCE


def test_failures_that_still_wait_are_confirmed_in_the_file_and_delivered_so() -> None:
    server = FakeMemoryServer()
    told = client(server).validated(learned(), "PASS", LATER)
    assert server.calls == []
    client(server).deliver(kept(told.learnings), LATER)
    (failure,) = (one for one in server.kept.values() if "failure" in one["tags"])
    assert (failure["confidence"], failure["metadata"]["gate_result"]) == (1.0, "PASS")


def test_a_failure_that_is_gone_is_named() -> None:
    server = FakeMemoryServer()
    done = client(server).deliver(learned(), THEN)
    server.delete(done.entries[-1].id)
    assert client(server).validated(done, "PASS", LATER).gone == (done.entries[-1].id,)


def test_without_a_summary_one_is_made_of_the_facts() -> None:
    told = {name: value for name, value in STORY.items() if name != "summary"}
    content = learnings_of(told, THEN).entries[0].seed.content
    assert content.startswith("WRKF-1021 (Node execution metrics).\nReuse: RetryMetrics")
    assert "Blockers: The schema of events was not agreed." in content


def test_the_same_thing_said_twice_in_a_story_is_one_entry() -> None:
    told = learnings_of({"story_id": "A-1", "summary": "s", "reuse": ["One.", "One. "], "blockers": "One."}, THEN)
    assert [one.seed.content for one in told.entries] == ["A-1: s", "One."]


@pytest.mark.parametrize(
    ("story", "named"),
    [
        ([], "not a story's file"),
        ({"summary": "s"}, "story_id"),
        ({"story_id": "A-1", "recomendations": []}, "recomendations"),
        ({"story_id": "A-1", "reuse": 7}, "reuse"),
        ({"story_id": "A-1", "reuse": [7]}, "reuse[0]"),
        ({"story_id": "A-1", "reuse": [""]}, "reuse[0]"),
        ({"story_id": "A-1", "reuse": [{"contents": "x"}]}, "contents"),
        ({"story_id": "A-1", "reuse": [{"content": "x", "roles": ["boss"]}]}, "reuse[0].roles"),
        ({"story_id": "A-1", "reuse": [{"content": "x", "confidence": 2}]}, "reuse[0].confidence"),
        ({"story_id": "A-1", "reuse": [{"content": "x", "metadata": []}]}, "reuse[0].metadata"),
    ],
)
def test_a_story_that_cannot_be_read_names_the_field(story: Any, named: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        learnings_of(story, THEN)
    assert named in caught.value.message
    assert caught.value.hint


SEEDED = """
story_id: WRKF-1021
kb_available: false
pending_sync: true
entries:
  - id: the-summary
    type: summary
    content: "WRKF-1021: node metrics."
  - type: fact
    category: recommendation
    content: Check for naming conflicts.
    parent_id: the-summary
  - type: fact
    category: failure
    content: The linter stopped the gate.
    parent_id: the-summary
    tags: [lint]
  - type: fact
    category: accessibility
    content: Say what a button does.
"""


def test_a_record_as_the_seed_shows_it_keeps_its_categories_tags_and_parents() -> None:
    server = FakeMemoryServer()
    done = client(server).deliver(from_mapping(document(SEEDED)), THEN)
    summary, button, naming, linter = server.kept.values()
    assert (summary["entry_type"], summary["roles"]) == ("summary", ["pm", "dev", "qa"])
    assert (naming["tags"], naming["roles"], naming["parent_id"]) == (["recommendation"], ["dev"], summary["id"])
    assert (linter["tags"], linter["confidence"], linter["parent_id"]) == (["lint", "failure"], 0.8, summary["id"])
    assert (button["tags"], button["roles"]) == (["accessibility"], ["all"])
    assert [one.category for one in kept(done).entries] == [None, "recommendation", "failure", "accessibility"]
    assert kept(done) == done


def test_a_record_can_be_imported_into_another_memory_as_a_whole() -> None:
    done = client(FakeMemoryServer()).deliver(from_mapping(document(SEEDED)), THEN)
    other = FakeMemoryServer()
    client(other).seed(done.imports(whole=True), lambda done: None)
    summary, _, naming, _ = other.kept.values()
    assert (naming["parent_id"], naming["source_story"], naming["tags"]) == (
        summary["id"],
        "WRKF-1021",
        ["recommendation"],
    )


@pytest.mark.parametrize(
    "file",
    [
        None,
        {"entries": []},
        {"story_id": "A-1", "entries": "none"},
        {"story_id": "A-1", "entries": [{}]},
        {"story_id": "A-1", "entries": [{"id": "pending-1", "content": "x", "parent_id": "pending-9"}]},
        {"story_id": "A-1", "entries": [{"id": "pending-1", "content": "x"}, {"id": "pending-1", "content": "y"}]},
        {"story_id": "A-1", "entries": [{"id": "pending-1", "content": "x", "confidence": "much"}]},
        {"story_id": "A-1", "entries": [{"content": "x", "roles": ["boss"]}]},
        {"story_id": "A-1", "entries": [{"content": "x", "tags": {"a": 1}}]},
        {"story_id": "A-1", "entries": [{"content": "x", "metadata": ["a"]}]},
        {"story_id": "A-1", "entries": [{"content": "x", "catgory": "reuse"}]},
        {"story_id": "A-1", "entris": [], "entries": []},
    ],
)
def test_a_file_that_is_broken_is_refused_with_a_hint(file: Any) -> None:
    with pytest.raises(CommonplaceError) as caught:
        from_mapping(file)
    assert caught.value.hint
