"""LESSONS-LEARNED.md of fifteen stories, with what such files have in them: every story, every lesson, nothing else."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.memory.entry_files import Seed, Unread
from commonplace.memory.validation import Refused, imports
from commonplace_local.memory.lessons import parse

FILE = Path(__file__).parents[3] / "fixtures" / "memory" / "LESSONS-LEARNED.md"

FACTS = {
    "BERTH-001": 5,
    "BERTH-002": 4,
    "BERTH-003": 5,
    "BERTH-004": 6,
    "BERTH-005": 3,
    "BERTH-006": 4,
    "BERTH-007": 2,
    "BERTH-008": 3,
    "BERTH-009": 3,
    "BERTH-010": 2,
    "BERTH-011": 2,
    "BERTH-012": 3,
    "BERTH-013": 4,
    "BERTH-014": 3,
    "BERTH-015": 3,
}
"""Counted by hand. Two recommendations of later stories repeat an earlier one word for word."""


def seeds() -> tuple[Seed, ...]:
    return parse(FILE.read_text(encoding="utf-8"), "LESSONS-LEARNED.md").seeds


def facts(story: str | None, *tags: str) -> list[str]:
    return [
        one.content
        for one in seeds()
        if one.entry_type == "fact" and one.source_story == story and set(tags) <= set(one.tags)
    ]


def story(body: str, heading: str = "## APP-001: Title") -> tuple[Seed, ...]:
    return parse(f"{heading}\n\n{body}\n").seeds


def test_each_story_has_one_summary_and_each_bullet_is_a_fact_below_it() -> None:
    found = seeds()
    assert Counter(one.source_story for one in found if one.entry_type == "fact" and one.source_story) == FACTS
    assert [one.ref for one in found if one.entry_type == "summary"] == list(FACTS)
    assert all(one.parent_ref == one.source_story for one in found if one.entry_type == "fact")


def test_everything_that_is_parsed_can_be_imported_and_nothing_comes_twice() -> None:
    taken = imports([one.as_import() for one in seeds()])
    assert [one for one in taken if isinstance(one, Refused)] == []
    assert len({one.hash for one in seeds()}) == len(seeds()) == 15 + sum(FACTS.values()) + 3


def test_sections_give_the_tags_that_the_seed_names() -> None:
    assert facts("BERTH-005", "reuse", "pattern") == [
        "Soft deletion from the boats module (`deletedAt`, and a view without deleted rows)."
    ]
    assert facts("BERTH-005", "recommendation") == [
        "List every foreign key that points at an entity before planning its deletion."
    ]
    assert len(facts("BERTH-004", "blocker")) == 2
    assert len(facts("BERTH-004", "time-sink")) == 1
    assert len(facts("BERTH-004", "high-cost", "tokens", "optimization")) == 1
    assert len(facts("BERTH-003", "verification")) == 2


def test_a_summary_tells_what_the_story_was_and_what_was_learned_in_it() -> None:
    (summary,) = (one for one in seeds() if one.ref == "BERTH-004")
    lines = summary.content.splitlines()
    assert lines[0] == "BERTH-004 (Upload of berth photos), 2026-01-12."
    assert lines[1] == "57 acceptance criteria in one story. It was split after the fact."
    assert (
        "Time Sinks: 141 tests were written in the fix phase, because none were written along with the code." in lines
    )
    assert summary.metadata == {"date": "2026-01-12", "title": "Upload of berth photos"}
    assert summary.source_file == "LESSONS-LEARNED.md"


def test_what_was_planned_is_told_by_the_summary_and_is_no_fact() -> None:
    (summary,) = (one for one in seeds() if one.ref == "BERTH-015")
    assert "Plan vs Reality: Files planned: 6; Files actually touched: 41." in summary.content
    assert not [text for text in facts("BERTH-015") if "planned" in text]


def test_headings_of_many_kinds_name_stories() -> None:
    titles = {one.ref: one.metadata.get("title") for one in seeds() if one.entry_type == "summary"}
    assert titles["BERTH-002"] == "Berth detail"
    assert titles["BERTH-003"] == "Filter berths — length, draught, power"
    assert titles["BERTH-011"] == "Search"
    assert titles["BERTH-012"] == "Übersetzungen 🌍"
    dates = {one.ref: one.metadata.get("date") for one in seeds() if one.entry_type == "summary"}
    assert dates["BERTH-002"] == "2026-01-06"
    assert dates["BERTH-003"] == "2026-01-08"


@pytest.mark.parametrize(
    "heading",
    [
        "## APP-001: Title (2026-01-05)",
        "## 2026-01-05: APP-001 - Title",
        "# [APP-001] Title, 2026-01-05",
        "## Story APP-001 — Title (2026-01-05)",
        "## ✅ APP-001 | Title 2026-01-05",
        "APP-001: Title (2026-01-05)\n===",
    ],
)
def test_a_story_is_known_by_its_id_however_its_heading_is_written(heading: str) -> None:
    (summary, fact) = story("### Reuse\n- one thing", heading)
    assert (summary.ref, summary.metadata) == ("APP-001", {"date": "2026-01-05", "title": "Title"})
    assert fact.parent_ref == "APP-001"


def test_headings_inside_of_code_are_code() -> None:
    assert not [one for one in seeds() if one.source_story == "BERTH-999"]
    (text,) = facts("BERTH-009", "blocker")
    assert "## BERTH-999: Not a story" in text


def test_a_bullet_keeps_its_code_and_its_inner_list_and_joins_its_wrapped_lines() -> None:
    assert "```ts\nconst { url }" in facts("BERTH-004", "blocker")[0]
    assert facts("BERTH-003", "reuse")[0].splitlines()[1:] == ["- a reload keeps them,", "- a link shares them."]
    assert "in London. Store instants as `timestamptz`" in facts("BERTH-002", "time-sink")[0]


def test_bold_lines_stand_for_headings_and_paragraphs_and_rows_for_bullets() -> None:
    assert len(facts("BERTH-006", "time-sink")) == 1
    assert facts("BERTH-006", "verification")[0].startswith("The concurrency test found")
    assert facts("BERTH-013", "verification")[0] == "Found by: fast-fail; What: a missing `DTSTAMP`"
    assert facts("BERTH-013", "time-sink")[0].startswith("Calendars cache feeds")


def test_nothing_is_made_of_none_and_something_of_a_sentence_that_begins_so() -> None:
    for said in ("None", "N/A", "none.", "None found", "None (smooth implementation)", "No issues found.", "Nothing"):
        assert [one.entry_type for one in story(f"### Blockers Hit\n- {said}")] == ["summary"], said
    assert facts("BERTH-014", "reuse")[0].startswith("None of the existing middlewares")


def test_what_is_said_twice_is_one_entry_that_names_the_other_story() -> None:
    (once,) = (one for one in seeds() if one.content.startswith("Write tests along with the code"))
    assert once.source_story == "BERTH-004"
    assert once.metadata["also_in"] == ["BERTH-007"]


def test_sections_of_other_titles_are_tagged_by_them_and_failures_count_less() -> None:
    assert facts("BERTH-007", "architecture-notes") == [
        "Mails are written to an outbox table in the same transaction and sent by a worker."
    ]
    (failure,) = (one for one in seeds() if "failure" in one.tags and one.entry_type == "fact")
    assert failure.confidence == 0.8


def test_the_register_of_costs_belongs_to_no_story_and_what_was_left_out_is_named_with_its_line() -> None:
    assert len(facts(None, "high-cost")) == 3
    found = parse(FILE.read_text(encoding="utf-8"))
    assert found.remarks == ("2 repetitions were joined with what they repeat.",)
    use, costs = (
        "“How to use this file” is about the file, and is not a lesson",
        "“Token Usage Summary” is about plans, files or figures",
    )
    assert [one.line for one in found.unread if "introduces the file" in one.reason] == [7]
    assert tuple(one for one in found.unread if "“" in one.reason) == (
        Unread(13, use),
        Unread(14, use),
        Unread(22, f"{costs}, and belongs to no story"),
        Unread(23, f"{costs}, and belongs to no story"),
    )


def test_a_story_that_comes_twice_has_two_summaries_each_above_its_own_facts() -> None:
    text = "## APP-1: First\n### Reuse\n- one thing\n## APP-2\n## APP-1: Again\n### Reuse\n- another thing\n"
    found = {one.content: one.parent_ref for one in parse(text).seeds if one.entry_type == "fact"}
    assert found == {"one thing": "APP-1", "another thing": "APP-1#2"}


def test_a_file_without_stories_says_so() -> None:
    assert parse("# Notes\n\nSome text.\n").remarks[-1].startswith("No heading names a story")


@given(st.text(alphabet=st.sampled_from("#-*`[](){}:|> \n\t\r0123APP-\u00e9\U0001f30a_~"), max_size=400))
def test_any_text_is_parsed_into_entries_that_can_be_imported(text: str) -> None:
    found = parse(text).seeds
    taken = imports([one.as_import() for one in found]) if found else []
    assert [one for one in taken if isinstance(one, Refused)] == []


@given(st.sampled_from(["\n", "\r\n", "\r"]))
def test_line_ends_change_nothing(end: str) -> None:
    text = FILE.read_text(encoding="utf-8")
    assert parse(text.replace("\n", end), "LESSONS-LEARNED.md").seeds == seeds()


def test_fact_names_the_story_and_the_section_that_it_stands_in() -> None:
    found = [one for one in seeds() if one.entry_type == "fact" and one.source_story == "BERTH-007"]
    assert found
    assert all(one.metadata["title"] and one.metadata["section"] for one in found)
