"""Files of one story, and what stands in them: sections, status, tables, records, folded parts."""

import pytest

from commonplace.memory.entry_files import Parsed, Seed, combined
from commonplace_local.memory.lessons import parse


def stories(found: Parsed) -> list[str | None]:
    return [one.source_story for one in found.seeds if one.entry_type == "summary"]


def facts(found: Parsed) -> list[Seed]:
    return [one for one in found.seeds if one.entry_type == "fact"]


def said(found: Parsed) -> list[tuple[str, bool, bool]]:
    return [(one.content, "went-well" in one.tags, "went-wrong" in one.tags) for one in facts(found)]


DAYS = """# Lessons
## DAY 1 — Harbour (2026-01-24)
### L1: Tar melts
- shade it
### L2: Oil thins
- warm it
## DAY 2 — Nets (2026-01-25)
We mended.
### L3: Knots slip
- dry the rope
"""


def test_ids_that_run_through_the_file_are_the_stories_and_the_days_above_them_are_not() -> None:
    found = parse(DAYS)
    assert stories(found) == ["L1", "L2", "L3"]
    assert {one.content: (one.source_story, one.metadata.get("date")) for one in facts(found)} == {
        "shade it": ("L1", "2026-01-24"),
        "warm it": ("L2", "2026-01-24"),
        "dry the rope": ("L3", "2026-01-25"),
        "We mended.": (None, None),
    }


def test_ids_that_begin_anew_in_each_chapter_are_parts_of_it() -> None:
    assert stories(parse(DAYS.replace("L3:", "L1:"))) == ["DAY 1", "DAY 2"]


def test_parts_of_a_trackers_story_stay_parts_of_it() -> None:
    found = parse("# All\n## APP-1: Docks\n### L1: Tar\n- a\n### L2: Oil\n- b\n## APP-2: Nets\n### L3: Knots\n- c\n")
    assert stories(found) == ["APP-1", "APP-2"]


POSTMORTEM = """# The gate stood open

## Summary

Nobody shut it.

## Impact
- two boats left

## Root cause
- the winch was wet

## Action items
- dry the winch

Written by the pilot, 26 January 2026
"""


@pytest.mark.parametrize(
    ("text", "file", "story", "date"),
    [
        (POSTMORTEM, "gate.md", "The gate stood open", "2026-01-26"),
        (POSTMORTEM.replace("## ", "# "), "2026-01-25-gate.md", "The gate stood open", "2026-01-25"),
        ("---\ndate: 2026-01-24\n---\n" + POSTMORTEM, "gate.md", "The gate stood open", "2026-01-24"),
        (POSTMORTEM.replace("stood open\n", "stood open\n\n- Date: 2026-01-24\n"), "g.md", None, "2026-01-24"),
        (POSTMORTEM.replace("boats left", "boats left\n\n### 2026-01-20: one more"), "g.md", None, "2026-01-26"),
        ("# Retrospective\n\nAll was well.\n\nNearly.\n", "docs/RETROSPECTIVE.md", "Retrospective", None),
        ("---\ntitle: Nets\n---\n## What went well\n- nets\n## What didn't\n- knots\n", "a.md", "Nets", None),
        ("## Actions\n- rope\n", "retros/2026-01-24_nets.md", "nets", "2026-01-24"),
        ("# Postmortem: Oil\n## Timeline\n### 2026-01-20 09:00\nThin.\n## Why\n- cold\n", "a.md", None, None),
    ],
)
def test_a_file_that_is_one_document_is_one_story(text: str, file: str, story: str | None, date: str | None) -> None:
    (summary,) = (one for one in parse(text, file).seeds if one.entry_type == "summary")
    assert summary.metadata.get("date") == date
    assert story in (None, summary.source_story)


def test_tags_and_other_fields_of_the_frontmatter_are_the_storys() -> None:
    (summary, *_) = parse(f"---\ntags: [gates, winch]\nseverity: SEV-2\n---\n{POSTMORTEM}", "gate.md").seeds
    assert {"gates", "winch"} <= set(summary.tags)
    assert summary.metadata["fields"]["severity"] == "SEV-2"


def test_a_log_of_documents_is_not_one_story() -> None:
    log = POSTMORTEM + POSTMORTEM.replace("The gate", "The lock")
    assert len(stories(parse(log, "postmortem.md"))) != 1
    assert stories(parse("# Retrospective: Harbour\n## Sprint 1\n- a\n## Sprint 2\n- b\n", "a.md")) == [
        "Sprint 1",
        "Sprint 2",
    ]


def test_numbered_lessons_of_a_postmortem_are_stories() -> None:
    lessons = "".join(f"### {number}. Rope {number}\nIt tore.\n" for number in range(1, 6))
    assert len(stories(parse(f"# Harbour postmortem\n## Why\n{lessons}## Next\n- new rope\n", "postmortem.md"))) == 5


def test_sections_that_are_underlined_are_parts_and_a_line_below_a_sentence_is_none() -> None:
    text = (
        "Gate postmortem\n===\n\nSummary\n---\nOpen.\n\nImpact\n---\n- two boats\n\nRoot cause\n---\nIt rained.\n---\n"
    )
    found = parse(text, "gate.md")
    assert stories(found) == ["Gate postmortem"]
    assert [(one.content, one.metadata["section"]) for one in facts(found)] == [
        ("Open.", "Summary"),
        ("two boats", "Impact"),
        ("It rained.", "Root cause"),
    ]


OLD = "# 3. Two queues\n\n## Status\n\nSuperceded by [9. One queue](0009-one.md)\n\n"
OLD += "## Context\n\nTwo.\n\n## Decision\n\nYes.\n"
NEW = "# ADR-0009: One queue\n\n- Status: accepted\n- Date: 2026-02-01\n\n"
NEW += "## Context\nOne.\n## Decision\nSo.\n## Consequences\nFew.\n"


@pytest.mark.parametrize(
    "status",
    ["Superseded by ADR-9", "superseded by [ADR 0009](b.md)", "Accepted on 2026-01-02, replaced by ADR-009"],
)
def test_a_decision_that_was_superseded_says_by_which_and_is_less_certain(status: str) -> None:
    found = parse(OLD.replace("Superceded by [9. One queue](0009-one.md)", status), "0003-two.md")
    assert {one.confidence for one in found.seeds} == {0.4}
    assert found.seeds[0].metadata["fields"] == {"Status": status}
    assert found.seeds[0].metadata["superseded_by"].lstrip("ADR- 0") == "9"


def test_what_was_superseded_is_linked_to_its_replacement_in_another_file() -> None:
    seeds = combined([parse(OLD, "0003-two.md"), parse(NEW, "0009-one.md")]).seeds
    links = {one.source_story: one.superseded_by_ref for one in seeds}
    assert links == {"ADR-3": "ADR-0009", "ADR-0009": None}
    assert {one.confidence for one in seeds if one.source_story == "ADR-0009"} == {1.0}
    alone = combined([parse(OLD, "0003-two.md")]).seeds
    assert {one.superseded_by_ref for one in alone} == {None}


@pytest.mark.parametrize("status", ["Rejected", "deprecated since May", "withdrawn"])
def test_a_decision_that_is_not_in_force_is_less_certain(status: str) -> None:
    assert {one.confidence for one in parse(NEW.replace("accepted", status)).seeds} == {0.4}


def test_what_did_not_go_well_is_never_told_as_having_gone_well() -> None:
    text = "# Retro\n## What went well / What didn't\n- both\n### Well\n- nets went well\n\n**What didn't:**\n- knots\n"
    text += "## What went well\n- **What didn’t go well:** tar\n- ropes\n- **What went wrong**:\n  - oil\n"
    assert said(parse(text, "retro.md")) == [
        ("both", False, False),
        ("nets went well", False, False),
        ("knots", False, True),
        ("What didn’t go well: tar", False, True),
        ("ropes", True, False),
        ("oil", False, True),
    ]
    assert [one.metadata["section"] for one in facts(parse(text, "retro.md")) if one.content == "ropes"] == [
        "What went well"
    ]


def test_a_row_of_three_lists_is_three_facts_and_a_number_is_none() -> None:
    text = "# Retro\n## Table\n\n| # | What went well | What went poorly | Where we got lucky |\n|---|---|---|---|\n"
    found = parse(text + "| 1 | ropes | knots | no storm |\n| 2 | nets | | |\n", "retro.md")
    assert said(found) == [
        ("ropes", True, False),
        ("knots", False, True),
        ("no storm", True, False),
        ("nets", True, False),
    ]
    rows = parse("## APP-1\n### Reuse\n\n| No. | Lesson | Why |\n|---|---|---|\n| 7 | shade | tar |\n")
    assert [one.content for one in facts(rows)] == ["Lesson: shade; Why: tar"]


@pytest.mark.parametrize(
    "timeline",
    [
        "## Timeline\n\n- 09:00 storm\n- 10:00 calm\n",
        "## What we saw\n\n| Time (UTC) | Event |\n|---|---|\n| 09:00 | storm |\n",
        "## Timeline of events\n### Morning\n- storm\n",
    ],
)
def test_a_timeline_is_no_lesson_and_is_listed(timeline: str) -> None:
    found = parse(f"# Postmortem: Storm\n## Impact\n- wet\n{timeline}## Root cause\n- wind\n")
    assert [one.content for one in facts(found)] == ["wet", "wind"]
    assert found.unread and all("timeline" in one.reason for one in found.unread)


def test_a_record_of_fields_is_one_entry() -> None:
    text = "# Mistakes\n## Entries\n### tar-melts\n- id: M-1\n- severity: low\n- tags: [docs, tar]\n"
    text += "- pattern: tar without shade\n- prevention_rule: shade first\n"
    text += "- first_seen: 2026-02-25\n- last_seen: 2026-02-26\n"
    text += "- evidence:\n  - a.md:1\n## Others\n- frontend: blue\n- backend: red\n- database: green\n"
    found = parse(text)
    assert stories(found) == ["tar-melts"]
    assert [one.content for one in facts(found)] == [
        "pattern: tar without shade\nprevention_rule: shade first\nevidence:\n- a.md:1",
        "frontend: blue",
        "backend: red",
        "database: green",
    ]
    assert {"docs", "tar"} <= set(found.seeds[0].tags)
    assert found.seeds[0].metadata["date"] == "2026-02-25"


def test_a_folded_part_keeps_its_id_and_ends_where_it_is_closed() -> None:
    text = "# All\n\nIntro.\n\n<details>\n<summary><b>L-12: Tar</b></summary>\n\n- melts\n\n"
    text += "```html\n<summary>no</summary>\n```\n\n"
    text += "</details>\n\n<details><summary>L-13: Oil</summary>\n- thins\n</details>\n\n"
    text += "- of no story\n\n## L-14: Nets\n- tear\n"
    found = parse(text)
    assert stories(found) == ["L-12", "L-13", "L-14"]
    assert [(one.source_story, one.content.partition("\n")[0]) for one in facts(found)] == [
        ("L-12", "melts"),
        ("L-13", "thins"),
        ("L-14", "tear"),
        (None, "of no story"),
    ]
    assert [one.line for one in found.unread] == [3]


def test_what_is_left_out_is_listed_with_its_line() -> None:
    text = "---\nowner: pilot\n---\n# All\n\nRead this first.\n\n## APP-1\n### Plan vs Reality\n"
    text += "- Two boats were planned for the harbour. It was three of them in the end.\n- Four ropes\n"
    assert [(one.line, one.reason.split(",")[0]) for one in parse(text).unread] == [
        (2, "frontmatter of a file that is not one story"),
        (6, "introduces the file"),
        (10, "“Plan vs Reality” is no lesson"),
    ]
