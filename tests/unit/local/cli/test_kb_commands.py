"""`commonplace kb` as its user meets it: what it prints, what it leaves behind, and how it ends."""

import json
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from commonplace.kernel.errors import RateLimited
from commonplace_local import cli, deployment
from tests.examples import examples
from tests.fakes.memory_http import TOKEN, MemoryOverHttp
from tests.processes import ended

SYNCS = examples(2, soak=4)
COMMAND = [str(Path(sys.executable).with_name("commonplace"))]
FIXTURES = Path(__file__).parents[3] / "fixtures" / "memory"
STORY = """\
story_id: APP-7
title: Search
summary: It works.
recommendations:
  - Log searches without a result.
failures:
  - An unused import. Run the linter.
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryOverHttp]:
    server = MemoryOverHttp()
    monkeypatch.setenv("COMMONPLACE_URL", server.url)
    monkeypatch.setenv("COMMONPLACE_TOKEN", TOKEN)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    monkeypatch.setattr(deployment, "RUNNING_FOLDER", tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "story.yaml").write_text(STORY, encoding="utf-8")
    yield server
    server.stop()


def kb(*words: str) -> Result:
    return CliRunner().invoke(cli.app, ["kb", *words])


def record(file: str = "_implementation/LEARNINGS.yaml") -> dict[str, Any]:
    told: dict[str, Any] = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    return told


def timeless(told: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in told.items() if name not in ("recorded_at", "synced_at")}


def test_a_story_is_recorded_and_its_file_says_so(place: MemoryOverHttp) -> None:
    done = kb("learn", "story.yaml")
    assert (done.exit_code, done.stdout) == (0, "APP-7: 3 entries in the memory, see _implementation/LEARNINGS.yaml.\n")
    told = record()
    assert (told["kb_available"], "pending_sync" in told, len(place.memory.kept)) == (True, False, 3)
    assert kb("learn", "story.yaml").exit_code == 0
    assert len(place.memory.kept) == 3


def test_without_a_server_the_story_goes_on_and_later_everything_is_as_if_nothing_had_been(
    place: MemoryOverHttp, tmp_path: Path
) -> None:
    kb("learn", "story.yaml", "-o", "straight.yaml")
    straight, contents = record("straight.yaml"), place.memory.contents()
    place.memory.kept.clear()

    place.stop()
    done = kb("learn", "story.yaml")
    assert done.exit_code == 0
    assert done.stdout == ""
    assert "\nWarning: the memory cannot be reached. 127.0.0.1:" in done.stderr
    assert "3 entries of APP-7 pending in _implementation/LEARNINGS.yaml. Deliver them later" in done.stderr
    waiting = record()
    assert (waiting["kb_available"], waiting["pending_sync"]) == (False, True)
    assert [one["roles"] for one in waiting["entries"]] == [["pm", "dev", "qa"], ["dev"], ["dev"]]

    still = kb("sync-pending")
    assert still.exit_code == 1
    assert "Is it running? Try its /health. 1 record was not looked at; nothing is lost." in still.stderr
    assert record() == waiting

    place.start()
    assert kb("sync-pending").stdout == "APP-7: 3 entries in the memory, see _implementation/LEARNINGS.yaml.\n"
    assert timeless(record()) == timeless(straight)
    assert place.memory.contents() == contents
    assert kb("sync-pending").stdout == "Nothing is pending below .; 1 record compared with the memory.\n"


def test_a_crash_after_delivery_and_before_the_file_leads_to_the_same_end(
    place: MemoryOverHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    from commonplace_local.cli.kb import files
    from commonplace_local.files import write_whole as real

    kb("learn", "story.yaml", "-o", "straight.yaml")
    straight, contents = record("straight.yaml"), place.memory.contents()
    place.memory.kept.clear()
    written: list[str] = []

    def dies(file: Path, text: str) -> None:
        written.append(text)
        if len(written) == 2:
            raise KeyboardInterrupt
        real(file, text)

    monkeypatch.setattr(files, "write_whole", dies)
    kb("learn", "story.yaml")
    assert len(place.memory.kept) == 3
    assert record()["pending_sync"] is True
    monkeypatch.setattr(files, "write_whole", real)
    assert kb("sync-pending").exit_code == 0
    assert timeless(record()) == timeless(straight)
    assert place.memory.contents() == contents


def test_a_token_that_is_refused_is_a_failure_and_loses_nothing(
    place: MemoryOverHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMMONPLACE_TOKEN", "wrong")
    done = kb("learn", "story.yaml")
    assert done.exit_code == 1
    assert "The server does not accept this token. 3 entries of APP-7 pending in" in done.stderr
    assert "commonplace tokens mint" in done.stderr
    assert record()["pending_sync"] is True
    monkeypatch.setenv("COMMONPLACE_TOKEN", TOKEN)
    assert kb("sync-pending").exit_code == 0


def test_where_nothing_runs_and_nothing_is_named_a_story_is_kept(
    place: MemoryOverHttp, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("COMMONPLACE_URL")
    done = kb("learn", "story.yaml", "--data", str(tmp_path / "nothing"))
    assert done.exit_code == 0
    assert "Warning: the memory cannot be reached. No laptop cloud is running." in done.stderr
    assert record()["pending_sync"] is True


def test_a_record_names_its_server_and_another_one_gets_everything(
    place: MemoryOverHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb("learn", "story.yaml")
    first = record()
    assert first["server"] == place.url
    other = MemoryOverHttp()
    try:
        other.memory.first = 100
        monkeypatch.setenv("COMMONPLACE_URL", other.url)
        done = kb("sync-pending")
        assert f"3 entries delivered again: this is another memory than {place.url}." in done.stderr
        assert (record()["server"], len(other.memory.kept)) == (other.url, 3)
        assert {one["id"] for one in record()["entries"]} == set(other.memory.kept)
        assert other.memory.contents() == place.memory.contents()
    finally:
        other.stop()


@pytest.mark.parametrize("command", [["learn", "story.yaml"], ["sync-pending"]])
def test_an_entry_that_the_memory_lost_is_delivered_again_and_said(place: MemoryOverHttp, command: list[str]) -> None:
    kb("learn", "story.yaml")
    before, contents = record(), place.memory.contents()
    lost = before["entries"][2]
    place.memory.delete(lost["id"])
    done = kb(*command)
    assert f"1 entry delivered again: the memory did not have them.\n  {lost['id']}: {lost['content']}" in done.stderr
    after = record()
    assert place.memory.contents() == contents
    assert [one["id"] in place.memory.kept for one in after["entries"]] == [True, True, True]
    assert after["entries"][:2] == before["entries"][:2]


def test_what_was_delivered_and_cannot_be_compared_is_not_claimed(place: MemoryOverHttp) -> None:
    kb("learn", "story.yaml")
    place.stop()
    done = kb("learn", "story.yaml")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "What _implementation/LEARNINGS.yaml records was not compared with it." in done.stderr
    assert kb("sync-pending").exit_code == 1


def test_a_rehearsal_writes_and_sends_nothing(place: MemoryOverHttp) -> None:
    done = kb("learn", "story.yaml", "--dry-run")
    assert done.exit_code == 0
    assert "APP-7: 3 entries would be delivered" in done.stdout
    assert not Path("_implementation").exists()
    assert place.memory.calls == []


def test_a_record_of_another_story_is_left_alone(place: MemoryOverHttp) -> None:
    kb("learn", "story.yaml")
    Path("story.yaml").write_text(STORY.replace("APP-7", "APP-8"), encoding="utf-8")
    done = kb("learn", "story.yaml")
    assert (done.exit_code, record()["story_id"]) == (1, "APP-7")
    assert "is the record of APP-7" in done.stderr


def test_a_story_that_cannot_be_read_is_said_before_anything_is_written(place: MemoryOverHttp) -> None:
    Path("story.yaml").write_text("story_id: A-1\nlessons: []\n", encoding="utf-8")
    done = kb("learn", "story.yaml")
    assert done.exit_code == 1
    assert "story.yaml: A story has no field 'lessons'." in done.stderr
    assert not Path("_implementation").exists()


def test_one_broken_record_does_not_keep_the_others_from_being_delivered(place: MemoryOverHttp) -> None:
    place.stop()
    kb("learn", "story.yaml", "-o", "b/LEARNINGS.yaml")
    Path("a").mkdir()
    Path("a/LEARNINGS.yaml").write_text("{", encoding="utf-8")
    place.start()
    done = kb("sync-pending", "--json")
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert (told["broken"], [one["pending_sync"] for one in told["files"]]) == (1, [False])
    assert "a/LEARNINGS.yaml: The YAML cannot be read" in done.stderr


def test_a_story_may_be_piped_in(place: MemoryOverHttp) -> None:
    done = CliRunner().invoke(cli.app, ["kb", "learn", "-", "--json"], input=STORY)
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["file"], told["pending_sync"], len(told["entries"])) == ("_implementation/LEARNINGS.yaml", False, 3)


def test_what_still_waits_is_confirmed_without_anybody_there(place: MemoryOverHttp) -> None:
    place.stop()
    kb("learn", "story.yaml")
    assert kb("validated", "APP-7", "--gate", "PASS").stdout == "1 failure of APP-7: PASS.\n"
    place.start()
    assert kb("sync-pending").exit_code == 0
    (failure,) = (one for one in place.memory.kept.values() if "failure" in one["tags"])
    assert (failure["confidence"], failure["metadata"]["gate_result"]) == (1.0, "PASS")


def test_an_import_that_is_interrupted_says_how_to_go_on(
    place: MemoryOverHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("commonplace.memory.client.client.plant", interrupted)
    Path("one.yaml").write_text("- {content: One., entry_type: fact, roles: [dev]}\n", encoding="utf-8")
    done = kb("seed", "--file", "one.yaml")
    assert done.exit_code != 0
    assert "Interrupted. Run the same command again to resume." in done.stderr


def test_several_syncs_at_once_deliver_once(place: MemoryOverHttp) -> None:
    kb("learn", "story.yaml", "-o", "straight.yaml")
    straight, contents = record("straight.yaml"), place.memory.contents()
    place.memory.kept.clear()
    place.stop()
    kb("learn", "story.yaml")
    place.start()
    with ExitStack() as stack:
        command = [*COMMAND, "kb", "sync-pending"]
        running = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(SYNCS)]
        waited = [stack.enter_context(ended(one)) for one in running]
        assert [one.wait(120) for one in waited] == [0] * SYNCS
    assert timeless(record()) == timeless(straight)
    assert place.memory.contents() == contents


def test_failures_are_confirmed_by_the_file_or_by_the_story(place: MemoryOverHttp) -> None:
    kb("learn", "story.yaml")
    done = kb("validated", "_implementation/LEARNINGS.yaml", "--gate", "PASS")
    assert done.stdout == "1 failure of _implementation/LEARNINGS.yaml: PASS.\n"
    (failure,) = (one for one in place.memory.kept.values() if "failure" in one["tags"])
    assert (failure["confidence"], record()["entries"][-1]["confidence"]) == (1.0, 1.0)
    assert kb("validated", "APP-7", "--gate", "FAIL").stdout == "1 failure of APP-7: FAIL.\n"
    Path("elsewhere").mkdir()
    Path("elsewhere/LEARNINGS.yaml").write_text("{", encoding="utf-8")
    Path("_implementation/LEARNINGS.yaml").unlink()
    assert kb("validated", "APP-7", "--gate", "PASS").stdout == "1 failure of APP-7: PASS.\n"
    assert failure["metadata"]["gate_result"] == "PASS"


def test_a_record_can_be_seeded_into_a_memory_that_lacks_it(place: MemoryOverHttp) -> None:
    kb("learn", "story.yaml")
    delivered = [{**one} for one in place.memory.kept.values()]
    place.memory.kept.clear()
    assert kb("seed", "--file", "_implementation/LEARNINGS.yaml").exit_code == 0
    contents = [(one["content"], one["tags"], one["source_story"]) for one in place.memory.kept.values()]
    assert contents == [(one["content"], one["tags"], one["source_story"]) for one in delivered]
    summary, *facts = place.memory.kept.values()
    assert {one["parent_id"] for one in facts} == {summary["id"]}


def test_a_seed_file_with_more_than_its_entries_is_refused(place: MemoryOverHttp) -> None:
    Path("more.yaml").write_text("roles: [dev]\nentries: [{content: Cars are red., entry_type: fact, roles: [qa]}]\n")
    done = kb("seed", "--file", "more.yaml")
    assert (done.exit_code, "'roles'" in done.stderr) == (1, True)
    assert place.memory.calls == []


def test_what_is_parsed_can_be_seeded_and_seeded_again(place: MemoryOverHttp) -> None:
    lessons = str(FIXTURES / "LESSONS-LEARNED.md")
    parsed = kb("parse", "lessons", lessons, "-o", "seed-data/lessons.yaml")
    assert parsed.exit_code == 0
    assert "15 summaries, 55 facts" in parsed.stderr
    assert "70 entries. Review it" in parsed.stderr
    rehearsed = kb("seed", "--dry-run")
    assert rehearsed.stdout == "seed-data/lessons.yaml: 70 entries would be sent (dry run).\n"
    assert place.memory.calls == []
    assert kb("seed").stdout == "seed-data/lessons.yaml: 70 entries imported, 0 skipped.\n"
    assert kb("seed").stdout == "seed-data/lessons.yaml: 0 entries imported, 70 skipped.\n"
    told = json.loads(kb("seed", "--file", "seed-data/lessons.yaml", "--json").stdout)
    assert told["files"][0]["skipped"] == 70


def test_what_was_read_and_what_was_not_is_listed_with_its_lines_before_anything_is_written(
    place: MemoryOverHttp,
) -> None:
    done = kb("parse", "lessons", str(FIXTURES / "MESSY-LESSONS.md"), "-o", "a.yaml")
    told = done.stderr.splitlines()
    assert told[0].endswith("MESSY-LESSONS.md: 9 summaries, 30 facts")
    assert told[1].endswith("2 facts of no story")
    assert "  line 30: Story 006 Locks (no upload) (2026-01-09): 3 facts" in told
    assert "  line 9-10: not read: “How to read this file” is about the file, and is not a lesson" in told
    assert told[-1].startswith("a.yaml: 39 entries.")
    rules = kb("parse", "claude", str(FIXTURES / "CLAUDE.md")).stderr.splitlines()
    assert "  line 5: Code style" in rules
    template = kb("parse", "templates", str(FIXTURES / "templates/operations/RUNBOOK.md")).stderr.splitlines()
    assert template[1:] == ["  line 1: Runbook: NAME OF THE ALARM"]


@pytest.mark.parametrize(
    ("parser", "text", "reason"),
    [
        ("lessons", "## APP-1\n- one\n\n<p>two</p>\n", "line 4: not read: HTML is not read"),
        ("claude", "- one\n\n@docs/two.md\n", "line 3: not read: takes in docs/two.md; parse that as well"),
        ("templates", "", "line 1: not read: the file is empty"),
    ],
)
def test_strict_writes_nothing_where_anything_was_not_read(
    place: MemoryOverHttp, parser: str, text: str, reason: str
) -> None:
    Path("a.md").write_text(text, encoding="utf-8")
    Path("b.md").write_text("## APP-2\n- one\n", encoding="utf-8")
    done = kb("parse", parser, "a.md", "b.md", "-o", "out.yaml", "--strict")
    assert done.exit_code == 1
    assert reason in done.stderr
    assert "1 place was not read: see above. Nothing was written." in done.stderr
    assert not Path("out.yaml").exists()
    assert kb("parse", parser, "a.md", "b.md", "-o", "out.yaml").exit_code == 0
    assert kb("parse", parser, "b.md", "-o", "whole.yaml", "--strict").exit_code == 0


def test_a_file_that_was_edited_is_not_written_over(place: MemoryOverHttp) -> None:
    rules = str(FIXTURES / "CLAUDE.md")
    assert kb("parse", "claude", rules, "-o", "rules.yaml").exit_code == 0
    assert kb("parse", "claude", rules, "-o", "rules.yaml").exit_code == 0
    with Path("rules.yaml").open("a", encoding="utf-8") as file:
        file.write("- content: One more.\n  entry_type: fact\n  roles: [dev]\n")
    done = kb("parse", "claude", rules, "-o", "rules.yaml")
    assert done.exit_code == 1
    assert "rules.yaml exists and was edited since this command wrote it." in done.stderr
    assert "One more." in Path("rules.yaml").read_text(encoding="utf-8")
    assert kb("parse", "claude", rules, "-o", "rules.yaml", "--force").exit_code == 0


def test_templates_are_parsed_with_their_roles_or_with_given_ones(place: MemoryOverHttp) -> None:
    files = [str(FIXTURES / "_templates/PROOF-TEMPLATE.md"), str(FIXTURES / "templates/operations/RUNBOOK.md")]
    told = yaml.safe_load(kb("parse", "templates", *files).stdout)
    assert [one["tags"] for one in told] == [
        ["proof", "documentation", "template"],
        ["operations", "runbook", "template"],
    ]
    told = yaml.safe_load(kb("parse", "templates", *files, "--role", "qa", "--role", "pm").stdout)
    assert [one["roles"] for one in told] == [["qa", "pm"]] * 2


def test_an_entry_that_is_wrong_is_named_with_its_place_and_the_others_are_imported(place: MemoryOverHttp) -> None:
    good = {"content": "One.", "entry_type": "fact", "roles": ["dev"]}
    Path("some.yaml").write_text(
        yaml.safe_dump([good, {**good, "content": "Two.", "roles": ["boss"]}]), encoding="utf-8"
    )
    done = kb("seed", "--file", "some.yaml")
    assert done.exit_code == 1
    assert done.stdout.splitlines()[0] == "some.yaml: 1 entry imported, 0 skipped."
    assert done.stdout.splitlines()[1].startswith("some.yaml, entry 2: `roles` is not a valid value")
    rehearsed = json.loads(kb("seed", "--file", "some.yaml", "--dry-run", "--json").stdout)
    assert [one["entry"] for one in rehearsed["files"][0]["errors"]] == [2]


def test_an_import_obeys_the_limits_of_the_server(place: MemoryOverHttp, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    place.memory.errors = [RateLimited("Too many calls.", retry_after_seconds=17)]
    Path("one.yaml").write_text("- {content: One., entry_type: fact, roles: [dev]}\n", encoding="utf-8")
    done = kb("seed", "--file", "one.yaml")
    assert done.exit_code == 0, done.stderr
    assert 17 in waits
    assert "Trying again in 17 s." in done.stderr


def test_a_search_shows_what_was_found_and_what_it_is(place: MemoryOverHttp, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []
    found = {
        "id": "0" * 8,
        "content": "Put specific routes first.\x1b[31m",
        "entry_type": "fact",
        "roles": ["dev"],
        "tags": ["routing"],
        "confidence": 0.8,
        "source_story": "APP-1",
        "seen": 12,
        "seen_in": ["APP-8", "APP-9"],
    }

    def answers(**arguments: Any) -> dict[str, Any]:
        asked.append(arguments)
        return {"entries": [found], "fallback": True}

    monkeypatch.setattr(place.memory, "_kb_search", answers, raising=False)
    done = kb("search", "route order", "--role", "dev", "--tag", "routing", "--limit", "3", "--phase", "dev")
    assert asked[0] == {
        "query": "route order",
        "role": "dev",
        "tags": ["routing"],
        "limit": 3,
        "min_confidence": 0.5,
        "phase": "dev",
    }
    assert done.stdout == (
        "1. fact · for dev · confidence 0.80 · APP-1 · #routing · seen again in APP-8, APP-9 and 10 more\n"
        "   Put specific routes first. [31m\n"
        "   00000000\n\n"
        "The model is unavailable; these results are by words only.\n"
    )
    assert json.loads(kb("search", "x", "--json").stdout)["fallback"] is True
    where = {"source_story": "APP-1", "source_file": "a.md", "since": "2026-01-01", "until": "2026-02", "story": "B-1"}
    kb("search", "x", *(word for name, one in where.items() for word in (f"--{name.replace('_', '-')}", one)))
    assert asked[-1] == {"query": "x", "limit": 10, "min_confidence": 0.5, **where}


def test_a_hit_is_rated(place: MemoryOverHttp, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def answers(**arguments: Any) -> dict[str, Any]:
        asked.append(arguments)
        return {"success": True, "votes": 3, "mean": 3.67}

    monkeypatch.setattr(place.memory, "_kb_rate", answers, raising=False)
    assert kb("rate", "one", "4").stdout == "one: 3.7, mean of 3 votes.\n"
    assert json.loads(kb("rate", "one", "0", "--story", "APP-1", "--json").stdout)["mean"] == 3.67
    assert asked == [{"id": "one", "relevance": 4}, {"id": "one", "relevance": 0, "story": "APP-1"}]
    assert kb("rate", "one", "6").exit_code == 2
    assert len(asked) == 2


def test_an_entry_is_shown_as_it_was_with_its_versions_and_its_votes(
    place: MemoryOverHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []

    def answers(**arguments: Any) -> dict[str, Any]:
        asked.append(arguments)
        history = [
            {"version": 2, "updated_at": "2026-02-01", "changed": ["content", "tags"], "content": "New."},
            {"version": 1, "updated_at": "2026-01-01", "changed": [], "content": "Old."},
        ]
        part = {"id": "one", "content": "New", "relevance": {"votes": 1, "mean": 4.0}, "history": history}
        return part | {"next_cursor": "3"} if "cursor" not in arguments else {"content": "."}

    monkeypatch.setattr(place.memory, "_kb_get", answers)
    done = kb("get", "one", "--history", "--as-of", "2026-02-02")
    assert done.stdout == (
        "id: one\nrelevance: 4.0, mean of 1 vote\n\nNew.\n\n"
        "version 2 of 2026-02-01: content, tags\nversion 1 of 2026-01-01: the oldest kept\n"
    )
    assert asked == [
        {"id": "one", "as_of": "2026-02-02", "history": True},
        {"id": "one", "as_of": "2026-02-02", "cursor": "3"},
    ]


def test_a_deletion_is_undone_by_id(place: MemoryOverHttp, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def answers(**arguments: Any) -> dict[str, Any]:
        asked.append(arguments)
        return {"success": True}

    monkeypatch.setattr(place.memory, "_kb_delete", answers, raising=False)
    assert kb("delete", "--undo", "one", "two", "one").stdout == "2 entries restored.\n"
    assert asked == [{"id": "one", "undo": True}, {"id": "two", "undo": True}]
    for words in (("--undo",), ("--undo", "one", "--story", "APP-1")):
        assert kb("delete", *words).exit_code == 1
    assert len(asked) == 2


def test_a_lesson_that_was_learned_before_is_said_with_its_story(
    place: MemoryOverHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = place.memory._kb_bulk_import

    def answers(**arguments: Any) -> dict[str, Any]:
        answer = real(**arguments)
        known = [(2, "APP-3"), (3, None)]
        told = [{"id": str(uuid.UUID(int=number)), "first_story": first, "seen": 1} for number, first in known]
        return answer | {"recurrences": told}

    monkeypatch.setattr(place.memory, "_kb_bulk_import", answers)
    expected = (
        "APP-7: 3 entries in the memory, see _implementation/LEARNINGS.yaml.\n"
        "  already known by APP-3: Log searches without a result.\n"
        "  already known: An unused import. Run the linter.\n"
    )
    assert kb("learn", "story.yaml").stdout == expected
    assert [one.get("first_story") for one in record()["entries"]] == [None, "APP-3", ""]
    assert kb("learn", "story.yaml").stdout == expected


def test_figures_are_told(place: MemoryOverHttp, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = {
        "total_entries": 70,
        "by_type": {"fact": 55, "summary": 15, "template": 0},
        "by_role": {"all": 70},
        "avg_confidence": 0.997,
        "last_updated": "2026-03-24T10:00:00.000000Z",
        "cache_size": 70,
        "queries": {"dev": {"qa": 2, "dev": 5}, "none": {"all": 1}},
        "recurrences": 4,
    }
    monkeypatch.setattr(place.memory, "_kb_stats", lambda: figures, raising=False)
    assert kb("stats").stdout.splitlines() == [
        "Entries: 70",
        "By type: 55 fact, 15 summary",
        "By role: 70 all",
        "Mean confidence: 1.00",
        "Last change: 2026-03-24T10:00:00.000000Z",
        "Cached vectors: 70",
        "Searches: 2 dev, qa; 5 dev, dev; 1 none, all",
        "Recurrences: 4",
    ]
    assert json.loads(kb("stats", "--json").stdout) == figures


def test_the_four_metrics_are_told_and_what_is_not_known_is_said(
    place: MemoryOverHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics = {
        "tokens_per_story": {
            "with_searches": {"n": 2, "mean": 40_000.5},
            "without_searches": {"n": 0, "mean": None},
            "of_answers": {"n": 3, "mean": 1_580},
        },
        "recurrence": {
            "recurrences": 3,
            "most": [
                {"id": "one", "seen": 2, "first_story": "APP-1", "last_story": "APP-9"},
                {"id": "two", "seen": 1, "first_story": "", "last_story": "APP-8"},
            ],
        },
        "relevance": {"n": 2, "mean": 3.5, "votes": {"2": 1, "5": 1}, "lowest": [{"id": "one", "n": 2, "mean": 3.5}]},
        "adoption": {"n": 4, "mean": 2.25, "stories_that_searched": 3},
    }
    asked: list[bool] = []

    def answers(*, metrics: bool = False) -> dict[str, Any]:
        asked.append(metrics)
        return {"total_entries": 1, "metrics": figures}

    figures = metrics
    monkeypatch.setattr(place.memory, "_kb_stats", answers, raising=False)
    told = kb("stats", "--metrics").stdout
    assert told[told.index("1. ") :] == (
        "1. Tokens of a story\n"
        "   with searches of the memory: 40,000.5 (mean of 2 stories with token counts)\n"
        "   without: unknown: no stories with token counts\n"
        "   of the memory's answers: 1,580.0 (mean of 3 stories that searched)\n"
        "2. Recurrence\n"
        "   lessons learned again by another story: 3\n"
        "   2 times: one, from APP-1 to APP-9\n"
        "   1 time: two, from no story to APP-8\n"
        "3. Relevance, 0 to 5\n"
        "   3.5 (mean of 2 votes): 1 of 2, 1 of 5\n"
        "   lowest: one, 3.5 of 2\n"
        "4. Adoption\n"
        "   searches of a story: 2.2 (mean of 4 stories); 3 searched\n"
    )
    assert asked == [True]


def test_what_is_exported_is_what_was_imported(place: MemoryOverHttp) -> None:
    kb("parse", "lessons", str(FIXTURES / "LESSONS-LEARNED.md"), "-o", "a.yaml")
    kb("seed", "--file", "a.yaml")
    contents = place.memory.contents()
    assert kb("export", "-o", "b.yaml").exit_code == 0
    place.memory.kept.clear()
    assert kb("seed", "--file", "b.yaml").exit_code == 0
    assert place.memory.contents() == contents


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("seed",), "There is no YAML file in seed-data/."),
        (("seed", "--file", "none.yaml"), "none.yaml cannot be read: No such file or directory."),
        (("stats", "--url", "ftp://x"), "ftp://x is not the address of a deployment."),
        (("stats", "--url", "http://knowledge.example.org"), "is not the address of a deployment."),
        (("parse", "lessons", "empty.md"), "No entries were found in it."),
    ],
)
def test_what_goes_wrong_is_said_in_a_sentence_and_a_hint(
    place: MemoryOverHttp, words: tuple[str, ...], told: str
) -> None:
    Path("empty.md").write_text("", encoding="utf-8")
    done = kb(*words)
    assert done.exit_code == 1
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) >= 2


def test_a_secret_stops_a_story_and_a_seed_before_anything_is_written_or_said(place: MemoryOverHttp) -> None:
    key = "AKIA" + "Q7RZ4XN2LMPV6TBD"
    Path("secret.yaml").write_text(f"story_id: APP-8\nsummary: Fine.\nfailures: [The key {key} was logged.]\n")
    done = kb("learn", "secret.yaml")
    assert (done.exit_code, key in done.output, "aws key id" in done.stderr) == (1, False, True)
    assert not Path("_implementation/LEARNINGS.yaml").exists()
    Path("seed.yaml").write_text(f"- {{content: Use {key}., entry_type: fact, roles: [dev]}}\n")
    rehearsed = kb("seed", "--file", "seed.yaml", "--dry-run")
    assert (rehearsed.exit_code, key in rehearsed.output, "aws key id" in rehearsed.stdout) == (1, False, True)
    assert place.memory.calls == []


def test_data_files_are_said_to_be_that(place: MemoryOverHttp) -> None:
    Path("lessons.yaml").write_text("lessons:\n- id: L-1\n  rule: shade the tar\n", encoding="utf-8")
    done = kb("parse", "lessons", "lessons.yaml")
    assert done.exit_code == 1
    assert "lessons.yaml is YAML, and not Markdown." in done.stderr
    for text in ("lessons:\n- id: L-1\n", "- id: L-1\n  rule: shade the tar\n"):
        Path("lessons.yaml").write_text(text, encoding="utf-8")
        done = kb("seed", "--file", "lessons.yaml", "--dry-run")
        assert done.exit_code == 1
        assert "lessons.yaml is the YAML of another tool." in done.stderr
        assert "kb import --help" in done.stderr


def test_what_is_left_out_is_listed_with_its_lines_and_strict_fails(place: MemoryOverHttp) -> None:
    text = "# All\n\nRead this.\n\nAnd that.\n\n## APP-1\n- one\n\n## Timeline\n- storm\n- calm\n"
    Path("a.md").write_text(text, encoding="utf-8")
    done = kb("parse", "lessons", "a.md", "-o", "a.yaml", "--strict")
    assert done.exit_code == 1
    assert "  line 3, 5: not read: introduces the file, or ends it, and is no lesson" in done.stderr
    assert "  line 11-12: not read: “Timeline” is a timeline, and is no lesson" in done.stderr
    assert not Path("a.yaml").exists()


GRAPH = '{"type":"entity","name":"Gate","entityType":"place","observations":["Opens with the winch."]}\nno json\n'


def test_what_another_tool_remembers_is_imported_once_and_a_dry_run_sends_nothing(place: MemoryOverHttp) -> None:
    Path("memory.json").write_text(GRAPH, encoding="utf-8")
    dry = kb("import", "--from", "mcp-memory", "memory.json", "--dry-run")
    assert (dry.exit_code, dry.stdout) == (0, "memory.json: 2 entries would be sent (dry run).\n")
    assert "  line 2: not read: neither a new entity nor a relation" in dry.stderr
    assert place.memory.calls == []
    done = kb("import", "--from", "mcp-memory", "memory.json", "--role", "dev")
    assert (done.exit_code, done.stdout) == (0, "memory.json: 2 entries imported, 0 skipped.\n")
    assert [one["roles"] for one in place.memory.kept.values()] == [["dev"], ["dev"]]
    assert kb("import", "--from", "mcp-memory", "memory.json").stdout.endswith("0 entries imported, 2 skipped.\n")


def test_a_folder_of_notes_is_imported_without_what_is_hidden(place: MemoryOverHttp) -> None:
    Path("notes/.trash").mkdir(parents=True)
    Path("notes/.trash/old.md").write_text("- [fact] old\n", encoding="utf-8")
    Path("notes/a.md").write_text("---\ntitle: A\n---\n- [fact] new\n- superseded_by [[B]]\n", encoding="utf-8")
    Path("notes/b.md").write_text("---\ntitle: B\n---\n- [fact] newer\n", encoding="utf-8")
    assert kb("import", "--from", "basic-memory", "notes").exit_code == 0
    kept = {one["content"]: one for one in place.memory.kept.values()}
    assert {"new", "newer"} < kept.keys() and "old" not in kept
    (by,) = (id for id, one in place.memory.kept.items() if one["content"].startswith("B"))
    assert (kept["new"]["superseded_by"], kept["newer"].get("superseded_by")) == (by, None)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--from", "mem0", "."), "is a folder"),
        (("--from", "mem0", "story.yaml"), "has no memories of mem0"),
        (("--from", "other", "story.yaml"), "'basic-memory', 'mcp-memory', 'mem0'"),
        (("story.yaml",), "--from"),
    ],
)
def test_an_import_says_what_it_takes(place: MemoryOverHttp, words: tuple[str, ...], said: str) -> None:
    done = kb("import", *words)
    assert done.exit_code in (1, 2)
    assert said in done.stderr
