"""Lessons files as teams write them: stories, dates and lists in every usual form, and nothing lost without a word."""

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.memory.entry_files import Parsed, Seed, Unread
from commonplace_local.memory import claude
from commonplace_local.memory.dates import first_date
from commonplace_local.memory.lessons import parse

FILE = Path(__file__).parents[3] / "fixtures" / "memory" / "MESSY-LESSONS.md"


def facts(found: Parsed, story: str | None = None) -> list[str]:
    return [one.content for one in found.seeds if one.entry_type == "fact" and one.source_story == story]


def summaries(found: Parsed) -> list[Seed]:
    return [one for one in found.seeds if one.entry_type == "summary"]


def below(body: str, heading: str = "## APP-1: Title") -> list[str]:
    return facts(parse(f"{heading}\n\n{body}\n"), "APP-1")


@pytest.mark.parametrize(
    ("heading", "story", "title", "date"),
    [
        ("## STORY-003: Tide tables", "STORY-003", "Tide tables", None),
        ("###### Story 006 - Locks (no upload)", "Story 006", "Locks (no upload)", None),
        ("### #123: Buoys", "#123", "Buoys", None),
        ("## Buoys (#123)", "#123", "Buoys", None),
        ("#### Sprint 12 / STORY-011: Search", "STORY-011", "Search", None),
        ("## Sprint 12 Retrospective", "Sprint 12", "Retrospective", None),
        ("### L-012: Never trust a clock", "L-012", "Never trust a clock", None),
        ("# ADR-0005 Use one queue", "ADR-0005", "Use one queue", None),
        ("## Tide tables — STORY-003", "STORY-003", "Tide tables", None),
        ("## What STORY-003 … taught, in STORY-003", "STORY-003", "What STORY-003 … taught, in STORY-003", None),
        ("## Lessons from STORY-009: Ropes", "STORY-009", "Ropes", None),
        ("## STORY-003/STORY-004: Both", "STORY-003", "Both", None),
        ("### [2026-01-24 18:00] L-113: Prompts", "L-113", "Prompts", "2026-01-24"),
        ("## 24 Jan 2026 - The lock that froze", "The lock that froze", "The lock that froze", "2026-01-24"),
        ("## The lock that froze (January 24th, 2026)", "The lock that froze", "The lock that froze", "2026-01-24"),
        ("## Week 1: Docks (Jan 21-22, 2026)", "Week 1", "Docks", "2026-01-21"),
        ("## 2026/01/24", "2026-01-24", None, "2026-01-24"),
        ("## v0.3.0 — Charts (2026-01-24)", "v0.3.0", "Charts", "2026-01-24"),
        ("## [1.2.0] - 2026-01-24", "1.2.0", None, "2026-01-24"),
        ("## [v00044] — 2026-01-24", "v00044", None, "2026-01-24"),
        ("## [v1.9.0 / v00029] — Nets", "v1.9.0", "Nets", None),
        ("## Phase 6A-6D: Docks", "Phase 6A-6D", "Docks", None),
        ("## Phase 0: 码头（2026-01-24）", "Phase 0", "码头", "2026-01-24"),
        ("## Docks (PR #14)", "PR #14", "Docks", None),
        ("## Docks (PR #11, reverted as #12)", "PR #11", "Docks (PR #11, reverted as #12)", None),
        ("## Milestone: v1.0 — Harbour", "v1.0", "Harbour", None),
        ("## Release 1.4: Locks", "Release 1.4", "Locks", None),
        ("## Lesson 7: Name the rope", "Lesson 7", "Name the rope", None),
        ("## Gotcha #4 - Tides are late", "Gotcha #4", "Tides are late", None),
        ("### Day 4-5: Docks", "Day 4-5", "Docks", None),
        ("## 0012 - Use one queue", "0012", "Use one queue", None),
        ("## L-3: Tar (updated 2026-01-24)", "L-3", "Tar (updated 2026-01-24)", "2026-01-24"),
        ("## Week of Jan 21, 2026: Docks", "Week of Jan 21, 2026: Docks", "Week of Jan 21, 2026: Docks", "2026-01-21"),
        ("## Docks (12/02/2026)", "Docks (12/02/2026)", "Docks (12/02/2026)", None),
        ("## Lessons Learned from Phase 15 — Ropes", "Phase 15", "Ropes", None),
        ("## Retrospective: Sprint 3", "Sprint 3", None, None),
        (
            "## Postmortem: the gate stood open",
            "Postmortem: the gate stood open",
            "Postmortem: the gate stood open",
            None,
        ),
        ("# Incident: no light", "Incident: no light", "Incident: no light", None),
    ],
)
def test_a_heading_names_a_story_in_any_usual_form(
    heading: str, story: str, title: str | None, date: str | None
) -> None:
    (summary,) = summaries(parse(f"{heading}\n\n- one thing\n"))
    assert (summary.source_story, summary.metadata.get("title"), summary.metadata.get("date")) == (story, title, date)


@pytest.mark.parametrize(
    "heading",
    [
        "## UTF-8 in names",
        "## Move to version 12.3",
        "## See `STORY-3`",
        "## SHA-256",
        "## Docks (v0.4)",
        "## Docks (Batch 5)",
        "## 2.1 Docks",
    ],
)
def test_what_only_looks_like_an_id_names_no_story(heading: str) -> None:
    assert summaries(parse(f"{heading}\n\n- one thing\n")) == []


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2026-01-24", "2026-01-24"),
        ("2026/1/24", "2026-01-24"),
        ("2026-01-24T10:30:00Z", "2026-01-24"),
        ("24 Jan 2026", "2026-01-24"),
        ("Sat, 24th of January 2026", "2026-01-24"),
        ("Jan. 24, 2026", "2026-01-24"),
        ("Jan 24–26, 2026", "2026-01-24"),
        ("24.-25. January 2026", "2026-01-24"),
        ("24.01.2026", "2026-01-24"),
        ("01/24/2026", "2026-01-24"),
        ("2026年1月24日", "2026-01-24"),
        ("2026년 1월 24일", "2026-01-24"),
        ("2026-01-24/25", "2026-01-24"),
        ("03/04/2026", ""),
        ("2026-13-40", None),
        ("STORY-2026-01", None),
        ("version 2.2026.1", None),
    ],
)
def test_dates_are_read_in_usual_forms_and_never_guessed(text: str, iso: str | None) -> None:
    found = first_date(f"Done: {text}.")
    assert (found.iso if found else None) == iso


@pytest.mark.parametrize(
    "lines",
    [
        "Date: 24 Jan 2026",
        "**Date:** 24 Jan 2026",
        "**Completed**: January 24, 2026",
        "- **Date Completed**: 2026/01/24",
        "_24 January 2026_",
        "**Status:** done | **Date:** 2026-01-24",
        "> **Finished:** 2026-01-24",
        f"**Date**: 2026-01-24 (the second night, {'and all of the day after it, ' * 5})",
        "| Field | Value |\n|---|---|\n| Date | 2026-01-24 |",
    ],
)
def test_the_date_below_a_heading_is_the_storys_and_no_lesson(lines: str) -> None:
    found = parse(f"## APP-1: Title\n{lines}\n\n### Reuse\n- one thing\n")
    assert summaries(found)[0].metadata["date"] == "2026-01-24"
    assert facts(found, "APP-1") == ["one thing"]


def test_a_date_that_may_be_two_days_is_reported_and_not_taken() -> None:
    found = parse("## APP-1\nDate: 03/04/2026\n")
    assert "date" not in summaries(found)[0].metadata
    assert found.unread == (Unread(2, "`03/04/2026` may be two days; write it as 2026-01-24"),)
    assert parse("## Docks (03/04/2026)\n- one\n").unread[0].line == 1


@pytest.mark.parametrize(
    ("heading", "tag"),
    [
        ("Key Recommendations", "recommendation"),
        ("QA Verification Notes", "verification"),
        ("🚧 Main Blockers", "blocker"),
        ("3. Biggest time sinks", "time-sink"),
        ("Failed Fixes (and why)", "failure"),
        ("Token Usage Analysis", "high-cost"),
        ("Discoveries not covered by the plan", "discoveries-not-covered-by-the-plan"),
    ],
)
def test_a_section_is_of_the_kind_that_its_words_name(heading: str, tag: str) -> None:
    found = parse(f"## APP-1\n### {heading}\n- one thing\n")
    assert [one.tags[0] for one in found.seeds if one.entry_type == "fact"] == [tag]


def test_bold_labels_name_kinds_and_what_is_nested_below_them_is_one_fact_each() -> None:
    found = parse(
        "## APP-1\n- **Blockers**:\n  - the gate was shut\n  - the key was lost\n- **Reuse**: the old winch\n"
    )
    assert [(one.content, one.tags[0]) for one in found.seeds if one.entry_type == "fact"] == [
        ("the gate was shut", "blocker"),
        ("the key was lost", "blocker"),
        ("Reuse: the old winch", "reuse"),
    ]


def test_each_labelled_line_of_a_paragraph_is_a_fact_and_a_label_at_the_margin_ends_a_list() -> None:
    body = "**Problem:** the gate\nwas shut\n**Options:**\n- wait\n- climb\n**Chose:** to climb"
    assert below(body) == ["Problem: the gate was shut", "Options: wait", "Options: climb", "Chose: to climb"]


def test_code_belongs_to_what_it_follows_or_is_announced_by() -> None:
    body = "### Reuse\n- the winch\n\n```sh\nwinch --up\n```\n\n**Wrong:**\n```sh\nwinch --down\n```\n"
    assert below(body) == ["the winch\n```sh\nwinch --up\n```", "Wrong:\n```sh\nwinch --down\n```"]


def test_a_sentence_is_whole_in_the_summary_and_a_title_keeps_its_brackets() -> None:
    long = "Keep the gate shut, e.g. with a rope, " + "and look at it " * 20 + "once more"
    (summary,) = summaries(parse(f"## APP-1: Gates (no locks)\n### Reuse\n- {long}. A second sentence.\n"))
    assert summary.content == f"APP-1 (Gates (no locks)).\nReuse: {long}."


def test_stories_below_another_storys_title_are_their_own_and_its_lessons_stay_its_own() -> None:
    text = "# WRKF-000: Harness\n- of all\n## WRKF-1021: Metrics\n- of one\n## Key Recommendations\n- of all again\n"
    found = parse(text)
    assert {one: facts(found, one) for one in ("WRKF-000", "WRKF-1021")} == {
        "WRKF-000": ["of all", "of all again"],
        "WRKF-1021": ["of one"],
    }


def of_each(text: str) -> dict[str | None, list[str]]:
    found = parse(text)
    return {one: facts(found, one) for one in dict.fromkeys(seed.source_story for seed in found.seeds)}


def test_the_next_number_of_a_series_begins_a_story_at_any_depth() -> None:
    text = "# All\n## Phase 14: Nets\n- a net\n### Knots\n- a knot\n### Lessons from Phase 15 — Ropes\n- a rope\n"
    text += "### Lesson 3: Lines\n- a line\n### Learned in Phase 14\n- a net again\n### Phase 16 is next\n- so\n"
    assert of_each(text) == {
        "Phase 14": ["a net", "a knot", "a line", "a net again", "so"],
        "Phase 15": ["a rope"],
    }


def test_a_word_that_numbers_two_headings_numbers_stories_in_any_language() -> None:
    text = "# Storia\n## Fase 1: Moli\n- a\n### Nota\n- b\n## [DUE] Fase 2 - Reti\n- c\n## Stato\n- d\n"
    assert of_each(text) == {"Fase 1": ["a", "b"], "Fase 2": ["c"], None: ["d"]}
    assert list(of_each("# All\n## Step 1: Tar\n- a\n## Step 2: Oil\n- b\n")) == [None]
    assert list(of_each("# All\n## Fase 1: Tar\n- a\n## Oil\n- b\n")) == [None]


def test_letters_number_stories_and_labels_name_them_where_they_come_again() -> None:
    text = "# All\n## P1 · Tar（v2）\n**确诊日期**：2026-01-24 · **Fix**: shade\n- a\n## P2 · Oil\n- b\n## Other\n- c\n"
    assert of_each(text) == {"P1": ["a"], "P2": ["b"], None: ["c"]}
    assert summaries(parse(text))[0].metadata["date"] == "2026-01-24"
    text = "## Pattern: Tar\n- a\n## Pattern: Oil\n- b\n### Lesson: Rust\n- c\n### More\n- d\n## Pattern: Nets\n- e\n"
    assert of_each(text) == {
        "Pattern: Tar": ["a"],
        "Pattern: Oil": ["b", "d"],
        "Lesson: Rust": ["c"],
        "Pattern: Nets": ["e"],
    }
    assert list(of_each("# All\n## Pattern: Tar\n- a\n## Nets\n- b\n")) == [None]


def test_where_most_headings_below_the_title_tell_a_problem_the_others_are_lessons_too() -> None:
    text = "# All\n## Tar melts\n**Problem:** sun\n## Oil\n**Gotcha:** thin\n## Nets\nThey tear.\n"
    assert list(of_each(text)) == ["Tar melts", "Oil", "Nets"]
    assert list(of_each(text.replace("**Gotcha:**", "So"))) == ["Tar melts", None]


def test_a_number_below_a_number_is_a_part() -> None:
    text = "## Phase 3: Docks\n- a\n### Phase 3.1: Tar\n- b\n### Phase 30: Nets\n- c\n"
    assert of_each(text) == {"Phase 3": ["a", "b"], "Phase 30": ["c"]}


def test_another_date_below_a_dated_story_begins_another_and_the_same_date_does_not() -> None:
    text = "## 2026-01-24 — Locks\n- one\n### Night (2026-01-24)\n- two\n### Keys (2026-01-25)\n- three\n"
    text += "### Oil\n**Date:** 2026-01-26\n- four\n"
    assert of_each(text) == {"Locks": ["one", "two"], "Keys": ["three"], "Oil": ["four"]}


def test_dates_below_a_storys_own_id_are_parts_of_it() -> None:
    text = "## INC-7: No light (2026-01-24)\n- dark\n### 2026-01-25: second night\n- dark again\n"
    assert of_each(text) == {"INC-7": ["dark", "dark again"]}


def test_one_number_beside_topics_makes_no_story_of_them_and_most_of_them_do() -> None:
    assert list(of_each("# A\n## B\n### Docks\n- a\n### Lesson 1: Tar\n- b\n### Nets\n- c\n")) == ["Lesson 1", None]
    assert list(of_each("# A\n## B\n### Lesson 2: Oil\n- a\n### Lesson 1: Tar\n- b\n### Nets\n- c\n")) == [
        "Lesson 2",
        "Lesson 1",
        "Nets",
    ]


def test_stories_of_one_name_are_told_apart_by_date_or_chapter() -> None:
    assert of_each("## Task\nDate: 2026-01-24\n- one\n## Task\nDate: 2026-01-25\n- two\n") == {
        "Task (2026-01-24)": ["one"],
        "Task (2026-01-25)": ["two"],
    }
    assert of_each("## 2026-01-24 — Phase 2: Tar\n- one\n## 2026-01-25 — Phase 2: Oil\n- two\n") == {
        "Phase 2: Tar": ["one"],
        "Phase 2: Oil": ["two"],
    }
    chapters = "# All\n## Docks\n### Lesson 1: Tar\n- one\n## Nets\n### Lesson 1: Knots\n- two\n"
    assert of_each(chapters) == {"Lesson 1: Tar": ["one"], "Lesson 1: Knots": ["two"]}
    assert list(of_each("# All\n## Week 1: Docks\n- one\n## Week 1: Summary\n- two\n")) == ["Week 1"]


def test_headings_that_only_announce_stories_make_none() -> None:
    text = (
        "# All\n## Timeline\n### Phase 1: Docks\n### Phase 2: Nets\n## Phase 1: Docks\n- one\n## Phase 2: Nets\n- two\n"
    )
    found = parse(text)
    assert [one.source_story for one in summaries(found)] == ["Phase 1", "Phase 2"]
    assert [one.kind for one in found.read if one.line in (3, 4)] == ["group", "group"]


def test_numbers_below_the_title_of_a_retrospective_are_stories() -> None:
    text = "# Retrospective: Harbour\n## Sprint 1: Docks\n- one\n## Sprint 2: Nets\n- two\n## Thanks\n- three\n"
    assert of_each(text) == {"Retrospective: Harbour": ["three"], "Sprint 1": ["one"], "Sprint 2": ["two"]}
    assert of_each("# APP-1: Docks\n## Problem 1: Tar\n- one\n") == {"APP-1": ["one"]}


def test_bold_words_with_a_date_or_an_id_name_a_lesson_outside_of_stories() -> None:
    text = "# All\n## Docks\n**2026-01-24 — Tar**\nIt melts.\n\n**Fix:**\n- shade\n\n**L-12: Oil**\n- thin\n"
    text += "## Nets\n- torn\n"
    found = parse(text)
    assert facts(found, "Tar") == ["Fix: shade"]
    assert (facts(found, "L-12"), facts(found)) == (["thin"], ["torn"])
    assert facts(parse(text.replace("## Nets", "### Nets"))) == ["torn"]


def test_a_title_in_bold_with_a_date_behind_it_names_a_lesson_and_the_next_title_ends_it() -> None:
    text = "# All\n## Docks\n**Tar melts** *(2026-01-24)*\nIn the sun.\n\n**Fix:** shade\n\n"
    text += "**Oil is thin**\nIn winter.\n\n> **2026-01-25 — not any more.** It is thick.\n"
    assert of_each(text) == {
        "Tar melts": ["Fix: shade"],
        None: ["Oil is thin In winter.", "2026-01-25 — not any more. It is thick."],
    }


def test_headings_that_are_numbered_through_the_file_are_a_lesson_each() -> None:
    text = "# All\n## Docks\n### 1. Tar\n- a\n### 2. Oil\n- b\n### 3. Verify\n- c\n"
    text += "## Nets\n### 4. Knots\n- d\n### 5. Floats\n- e\n"
    assert list(of_each(text)) == ["1. Tar", "2. Oil", "3. Verify", "4. Knots", "5. Floats"]
    assert list(of_each(text.replace("4.", "1.").replace("5.", "2."))) == [None]
    assert list(of_each(text.replace("- c", "#### More\n- c"))) == [None]


def test_lessons_numbered_through_dated_chapters_have_the_date_of_theirs() -> None:
    text = "# All\n## Docks (2026-01-24)\n### 1. Tar\n- a\n### 2. Oil\n- b\n### 3. Rust\n- c\n"
    text += "## Phase 2: Nets (2026-01-25)\n### 4. Knots\n- d\n### 5. Floats\n- e\n"
    found = [(one.source_story, one.metadata["date"]) for one in summaries(parse(text))]
    assert found[0] == ("1. Tar", "2026-01-24")
    assert found[-1] == ("5. Floats", "2026-01-25")
    one_chapter = text.partition("## Phase")[0] + "### 4. Knots\n- d\n### 5. Floats\n- e\n"
    assert list(of_each(one_chapter)) == ["Docks"]


def test_a_file_whose_title_is_change_log_is_read() -> None:
    assert of_each("# Changelog\n## v1.2.0\n### Added\n- tar\n## Change log\n- moved\n") == {"v1.2.0": ["tar"]}


def test_dated_lessons_below_a_heading_about_the_format_are_taken() -> None:
    text = "# All\n## Format\nA line each.\n### 2026-01-24 — Tar\n- a\n### Oil\n- b\n"
    found = parse(text)
    assert (facts(found, "Tar"), facts(found, "Oil"), [one.line for one in found.unread]) == (["a"], ["b"], [3])
    assert facts(parse("# All\n## Change log\n### 2026-01-24 — Tar\n- a\n"), "Tar") == []


def test_a_date_below_bold_words_that_name_a_kind_begins_no_story() -> None:
    assert of_each("# All\n## Docks\n**Files created:**\n\n**Date:** 2026-01-24\n\n**Why:**\n- shade\n") == {
        None: ["Why: shade"]
    }


def test_a_bold_label_ends_the_section_that_another_began() -> None:
    text = "## APP-1\n**Files created:**\n- a\n\n**Why:**\n- b\n\n**Blockers:**\n- c\n\n**Also:**\n- d\n"
    found = {one.content: one.tags[0] for one in parse(text).seeds if one.entry_type == "fact"}
    assert found == {"Why: b": "app", "c": "blocker", "Also: d": "app"}


def test_a_lesson_of_no_story_has_its_own_date() -> None:
    text = "# All\n## Docks\n- 2026-01-24: tar\n- **Oil** (2026-01-25): thin\n- tested on 2026-01-26 at night\n"
    dates = [one.metadata.get("date") for one in parse(text).seeds if one.entry_type == "fact"]
    assert dates == ["2026-01-24", "2026-01-25", None]
    rows = "# All\n\n| What | Date |\n|---|---|\n| tar | 2026-01-24 |\n"
    assert parse(rows).seeds[0].metadata["date"] == "2026-01-24"


def test_the_foot_of_a_file_is_no_lesson_of_the_last_story() -> None:
    text = "## APP-1\n### Reuse\n- one thing\n\n---\n\n*Last updated: 2026-01-24*\n\n**Document owner**: the pilot\n"
    found = parse(text)
    assert facts(found, "APP-1") == ["one thing"]
    assert [one.kind for one in found.read][-2:] == ["introduction", "introduction"]


def test_a_story_that_a_recommendation_names_takes_nothing() -> None:
    found = parse("## APP-1\n### Recommendations\n#### APP-2: do it sooner\n- one thing\n1. **APP-3** - later\n")
    assert facts(found, "APP-1") == ["one thing", "APP-3 - later"]
    assert [one.source_story for one in summaries(found)] == ["APP-1"]


def test_stories_below_a_kind_have_that_kind() -> None:
    found = parse("# All\n## Blockers\n### APP-1: Gates\n- shut\n### APP-2: Keys\n- lost\n")
    assert [(one.source_story, one.tags[0]) for one in found.seeds if one.entry_type == "fact"] == [
        ("APP-1", "blocker"),
        ("APP-2", "blocker"),
    ]


def test_a_lesson_without_an_id_is_known_by_what_stands_below_it_or_beside_it() -> None:
    text = "# All\n## Nets\n### Knots slip\n**Problem:** wet rope\n### Floats sink\nThey are old.\n### N-3: Nets tear\n"
    text += "- often\n## Other\n### Some words\n- of no story\n"
    found = parse(text)
    assert [one.source_story for one in summaries(found)] == ["Knots slip", "Floats sink", "N-3"]
    assert facts(found) == ["of no story"]


def test_rows_and_items_outside_of_stories_are_filed_by_the_id_that_they_name() -> None:
    text = "# All\n## Log\n- **APP-1**: shut\n- 2026-01-24: open\n\n| Story | Lesson |\n|---|---|\n| APP-2 | lost |\n"
    found = [one for one in parse(text).seeds if one.entry_type == "fact"]
    assert [(one.source_story, one.metadata.get("date")) for one in found] == [
        ("APP-1", None),
        (None, "2026-01-24"),
        ("APP-2", None),
    ]


def test_a_fence_that_is_never_closed_is_reported_and_takes_no_story_with_it() -> None:
    found = parse("## APP-1\n- one thing\n\n```sh\nrun\n\n## APP-2\n- another\n")
    assert [one.source_story for one in summaries(found)] == ["APP-1", "APP-2"]
    assert [one.line for one in found.unread] == [4]


def test_html_is_reported_and_comments_are_not() -> None:
    found = parse("<!-- ## APP-9: a template -->\n\n## APP-1\n\n<div>\nlost words\n</div>\n")
    assert found.unread == (Unread(5, "HTML is not read"),)
    assert claude.parse("<p>lost words</p>\n").unread == (Unread(1, "HTML is not read"),)


def test_a_decision_of_a_numbered_record_has_its_number() -> None:
    text = (
        "# 7. Use one queue\n\nDate: 2026-01-24\n\n## Status\n\nAccepted\n\n## Context\n\nTwo.\n\n## Decision\n\nOne.\n"
    )
    (summary,) = summaries(parse(text))
    assert (summary.source_story, summary.metadata["title"]) == ("ADR-7", "Use one queue")
    assert summary.metadata["date"] == "2026-01-24"


def test_a_messy_file_is_read_whole() -> None:
    found = parse(FILE.read_text(encoding="utf-8"), "MESSY-LESSONS.md")
    stories = {one.source_story: one.metadata.get("date") for one in summaries(found)}
    assert stories == {
        "STORY-003": "2026-01-05",
        "Story 006": "2026-01-09",
        "#123": "2026-01-12",
        "STORY-011": "2026-01-24",
        "WRKF-000": None,
        "WRKF-1021": "2026-01-26",
        "The crane that would not stop": "2026-02-02",
        "Charts went missing after a restart": "2026-02-03",
        "L-012": None,
    }
    counts = Counter(one.source_story for one in found.seeds if one.entry_type == "fact")
    assert counts == {
        "STORY-003": 5,
        "Story 006": 3,
        "#123": 3,
        "STORY-011": 3,
        "WRKF-000": 2,
        "WRKF-1021": 4,
        "The crane that would not stop": 3,
        "Charts went missing after a restart": 3,
        "L-012": 2,
        None: 2,
    }
    assert [one.line for one in found.unread] == [3, 9, 10]


def test_a_heading_too_long_for_a_title_is_reported_and_still_ends_the_story_above() -> None:
    found = parse(f"## APP-1\n- one thing\n## {'long ' * 200}\n- another thing\n")
    assert [one.line for one in found.unread] == [3]
    assert facts(found, "APP-1") == ["one thing"]


def test_status_of_a_record_is_a_field() -> None:
    text = "# ADR-3: One queue\n\n## Status\n\nAccepted\n\n## Context\n\nTwo.\n\n## Decision\n\nOne.\n"
    assert facts(parse(text), "ADR-3") == ["Two.", "One."]


WORDS = st.integers(0, 10**9).map(lambda number: f"word{number}x")
LINES = st.one_of(
    st.tuples(
        st.sampled_from(
            ("# ", "## ", "### ", "#### ", "## APP-1: ", "### 2026-01-24 ", "### Key blockers ", "## Format ")
        ),
        WORDS,
    ),
    st.tuples(
        st.sampled_from(("## Phase 1: ", "### Phase 2: ", "### Fase 1: ", "## Fase 2 - ", "### 1. ", "## v1.2.0 — ")),
        WORDS,
    ),
    st.tuples(st.sampled_from(("- ", "  - ", "1. ", "- **Reuse**: ", "- **Blockers**:\n  - ", "- [ ] ", "")), WORDS),
    st.tuples(
        st.sampled_from(("**Fix:** ", "**Status:** ", "Date: 2026-01-24\n", "> ", "Look:\n\n- ", "None: ")), WORDS
    ),
    st.tuples(st.just("```sh\nrun "), WORDS, st.just("\n```")),
    st.tuples(st.just("| Story | Said |\n|---|---|\n| APP-2 | "), WORDS, st.just(" |")),
    st.tuples(
        st.sampled_from(("**", "**2026-01-24 — ", "**APP-3: ")),
        WORDS,
        st.sampled_from(("**", ":**", ".**", "** *(2026-01-24)*")),
    ),
    st.tuples(st.just("*Last updated: "), WORDS, st.just("*")),
    st.tuples(WORDS, st.sampled_from((":", ".", ""))),
)


@given(st.lists(st.tuples(LINES, st.sampled_from(("\n", "\n\n"))), max_size=12))
def test_no_word_of_a_file_is_lost_without_a_line_in_the_report(parts: list[tuple[tuple[str, ...], str]]) -> None:
    text = "".join("".join(part) + end for part, end in parts)
    found = parse(text)
    kept = " ".join(
        [str(one.as_import()) for one in found.seeds] + [one.what for one in found.read if one.kind != "fact"]
    )
    unread = {one.line for one in found.unread}
    for number, line in enumerate(text.split("\n"), start=1):
        for word in (
            word for word in line.replace("*", " ").replace(":", " ").replace(".", " ").split() if "word" in word
        ):
            assert word in kept or number in unread, (word, text)


NAMES = (
    "",
    "",
    "APP-1: ",
    "APP-2: ",
    "Phase 1: ",
    "Phase 2: ",
    "Fase 3 - ",
    "v1.2.0 — ",
    "2026-01-24 — ",
    "1. ",
    "Key blockers ",
)
HEADINGS = st.tuples(st.integers(1, 4), st.sampled_from(NAMES))


@given(st.lists(HEADINGS, max_size=12))
def test_no_lesson_is_filed_under_a_story_whose_heading_it_does_not_stand_below(
    headings: list[tuple[int, str]],
) -> None:
    text = "".join(f"{'#' * level} {name}head{at}x\n- item{at}x\n" for at, (level, name) in enumerate(headings))
    for seed in parse(text).seeds:
        if seed.entry_type == "fact" and seed.parent_ref:
            (at,) = map(int, re.findall(r"item(\d+)x", seed.content))
            above = [
                one for one in range(at + 1) if all(headings[one][0] < level for level, _ in headings[one + 1 : at + 1])
            ]
            said = next(one for one in parse(text).seeds if one.ref == seed.parent_ref)
            assert any(f"head{one}x" in str(said.metadata.get("title")) for one in above), text
