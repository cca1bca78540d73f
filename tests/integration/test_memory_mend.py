"""A memory that is read, mended, emptied and filled again by `commonplace kb`, over the real `commonplace dev`."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.running_dev import Dev, commonplace, running

pytestmark = pytest.mark.laptop

Kb = Callable[..., "subprocess.CompletedProcess[str]"]

SEEDS = """\
- ref: one
  content: Story T-1.
  entry_type: summary
  roles: [all]
  source_story: T-1
  source_file: notes/a.md
- parent_ref: one
  content: Cache the parser.
  entry_type: fact
  roles: [dev]
  source_story: T-1
  source_file: notes/a.md
- parent_ref: one
  content: "Ask first.\\n\\nThen build."
  entry_type: fact
  roles: [pm]
  tags: [asking]
  source_story: T-1
- content: Pin the linter.
  entry_type: fact
  roles: [dev]
  tags: [tools]
  source_story: T-2
  source_file: notes/a.md
"""


@pytest.fixture
def kb(team: Dev, tmp_path: Path, request: pytest.FixtureRequest) -> Kb:
    """A command of somebody with an organisation, and a folder, of their own."""
    organisation = request.node.name.replace("_", "-")[5:40].strip("-")

    def run(*words: str, right: bool = True, told: str | None = None, at: Path = team.data) -> Any:
        done = commonplace("kb", *words, "--data", str(at), "--org", organisation, at=tmp_path, input=told)
        assert (done.returncode == 0) is right, done.stdout + done.stderr
        return done

    (tmp_path / "seeds.yaml").write_text(SEEDS, encoding="utf-8")
    return run


def listed(kb: Kb, *words: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(kb("list", "--all", "--json", *words).stdout)["entries"]
    return entries


def ids(kb: Kb) -> dict[str, str]:
    return {one["content"]: one["id"] for one in listed(kb)}


def test_entries_are_listed_by_what_they_are_and_where_they_come_from(kb: Kb) -> None:
    kb("seed", "--file", "seeds.yaml")
    contents = {
        words: {one["content"].split()[0] for one in listed(kb, *words)}
        for words in (
            ("--story", "T-1"),
            ("--file", "notes/a.md"),
            ("--file", "notes/a.md", "--story", "T-2"),
            ("--role", "pm"),
            ("--tag", "tools"),
            ("--type", "summary"),
        )
    }
    assert list(contents.values()) == [
        {"Story", "Cache", "Ask"},
        {"Story", "Cache", "Pin"},
        {"Pin"},
        {"Story", "Ask"},
        {"Pin"},
        {"Story"},
    ]
    page = kb("list", "--limit", "3", "--order", "asc", "--json")
    rest = kb("list", "--limit", "3", "--order", "asc", "--offset", "3", "--json")
    assert (json.loads(page.stdout)["nextOffset"], json.loads(rest.stdout)["nextOffset"]) == (3, None)
    both = json.loads(page.stdout)["entries"] + json.loads(rest.stdout)["entries"]
    assert both == listed(kb, "--order", "asc")
    assert "There are more: --offset 1, or --all." in kb("list", "--limit", "1").stderr


def test_an_entry_is_shown_and_mended(kb: Kb) -> None:
    kb("seed", "--file", "seeds.yaml")
    named = ids(kb)
    id, parent = named["Pin the linter."], named["Story T-1."]
    kb("update", id, "--content", "-", "--tag", "lint", "--role", "qa", told="Pin the linter,\nand say which.")
    kb("update", id, "--type", "template", "--story", "T-1", "--file", "", "--parent", parent, "--confidence", "0.5")
    entry = json.loads(kb("get", id, "--json").stdout)
    assert entry["content"] == "Pin the linter,\nand say which."
    assert (entry["tags"], entry["roles"], entry["entry_type"], entry["confidence"]) == (
        ["lint"],
        ["qa"],
        "template",
        0.5,
    )
    assert (entry["source_story"], entry["parent_id"], "source_file" in entry) == ("T-1", parent, False)
    refused = kb("update", id, "--story", "T-3", "--expected-version", "1", right=False)
    assert "version 3, not 1" in refused.stderr
    assert "Pin the linter,\nand say which." in kb("get", id).stdout
    assert (
        "There is no entry"
        in kb("get", parent.replace(parent[0], "0" if parent[0] != "0" else "1"), right=False).stderr
    )


def test_nothing_is_deleted_unless_it_was_written_down_and_confirmed(kb: Kb, tmp_path: Path) -> None:
    kb("seed", "--file", "seeds.yaml")
    refused = kb("delete", "--story", "T-1", right=False)
    assert "There is no terminal for the confirmation; nothing was deleted." in refused.stderr
    kb("delete", right=False)
    taken = kb("delete", "--story", "T-1", "--yes", "-o", "seeds.yaml", right=False)
    assert "seeds.yaml already exists." in taken.stderr
    assert len(listed(kb)) == 4

    done = kb("delete", "--story", "T-1", "--file", "notes/a.md", "--yes", "-o", "gone.yaml", "--json")
    assert json.loads(done.stdout)["deleted"] == 2
    assert {one["content"] for one in listed(kb)} == {"Ask first.\n\nThen build.", "Pin the linter."}
    kept = yaml.safe_load((tmp_path / "gone.yaml").read_text(encoding="utf-8"))
    assert {one["content"] for one in kept} == {"Story T-1.", "Cache the parser."}
    assert kb("delete", "--story", "T-9", "--yes").stdout == "There is no such entry.\n"
    kb("delete", ids(kb)["Pin the linter."], "--yes")
    assert [one["content"] for one in listed(kb)] == ["Ask first.\n\nThen build."]


def test_what_is_exported_is_restored_to_the_same_bytes_on_another_server(kb: Kb, tmp_path: Path) -> None:
    kb("seed", "--file", "seeds.yaml")
    named = ids(kb)
    kb("update", named["Cache the parser."], "--confidence", "0.4", "--parent", named["Pin the linter."])
    kb("update", named["Pin the linter."], "--content", "Long. " * 2_000)
    for story in ("T-3", "T-4"):
        again = [{"content": "Cache the parser.", "entry_type": "fact", "roles": ["dev"], "source_story": story}]
        (tmp_path / "again.yaml").write_text(yaml.safe_dump(again), encoding="utf-8")
        kb("seed", "--file", "again.yaml")
    kb("export", "-o", "memory.yaml")
    memory = (tmp_path / "memory.yaml").read_bytes()
    assert kb("export").stdout.encode() == memory
    with running(tmp_path / "elsewhere") as dev:
        for said in ("4 entries imported, 0 skipped", "0 entries imported, 4 skipped"):
            assert said in kb("restore", "memory.yaml", at=dev.data).stdout
            assert kb("export", at=dev.data).stdout.encode() == memory
        kb("update", named["Pin the linter."], "--content", "Short.", at=dev.data)
        assert "is there with another content" in kb("restore", "memory.yaml", right=False, at=dev.data).stdout


def test_what_was_deleted_is_brought_back_from_the_file(kb: Kb, tmp_path: Path) -> None:
    kb("seed", "--file", "seeds.yaml")
    memory = kb("export").stdout
    done = kb("delete", "--file", "notes/a.md", "--story", "T-2", "--yes")
    kb(*done.stdout.partition("commonplace kb ")[2].split())
    assert kb("export").stdout == memory


def test_an_entry_is_rated_and_told_with_its_versions_and_a_deletion_undone(kb: Kb) -> None:
    kb("seed", "--file", "seeds.yaml")
    id = ids(kb)["Cache the parser."]
    kb("update", id, "--tag", "parsing")
    assert kb("rate", id, "1", "--story", "T-3").stdout == f"{id}: 1.0, mean of 1 vote.\n"
    assert kb("rate", id, "4", "--story", "T-3").stdout == f"{id}: 4.0, mean of 1 vote.\n"
    shown = kb("get", id, "--history").stdout
    assert "relevance: 4.0, mean of 1 vote" in shown
    assert shown.splitlines()[-2].endswith(": tags")
    first = json.loads(kb("get", id, "--history", "--json").stdout)["history"][-1]
    assert json.loads(kb("get", id, "--as-of", first["updated_at"], "--json").stdout)["tags"] == []
    kb("delete", id, "--yes", "-o", "deleted.yaml")
    kb("get", id, right=False)
    assert kb("delete", "--undo", id).stdout == "1 entry restored.\n"
    assert json.loads(kb("get", id, "--json").stdout)["tags"] == ["parsing"]


def test_a_lesson_of_another_story_is_said_by_the_story_that_learns_it_again(kb: Kb, tmp_path: Path) -> None:
    kb("seed", "--file", "seeds.yaml")
    story = "story_id: T-9\nsummary: It works.\ntokens_used: 48000\nrecommendations: [Pin the linter.]\n"
    (tmp_path / "story.yaml").write_text(story, encoding="utf-8")
    for _ in range(2):
        assert kb("learn", "story.yaml").stdout.splitlines()[1:] == ["  already known by T-2: Pin the linter."]
        (tmp_path / "_implementation" / "LEARNINGS.yaml").unlink()
    told = json.loads(kb("stats", "--metrics", "--json").stdout)
    assert (told["recurrences"], told["metrics"]["recurrence"]["most"][0]["last_story"]) == (1, "T-9")
    assert told["metrics"]["tokens_per_story"]["without_searches"] == {"n": 1, "mean": 48_000}
    (pinned,) = [one for one in listed(kb) if one["content"] == "Pin the linter."]
    assert (pinned["seen"], pinned["seen_in"]) == (1, ["T-9"])


def test_an_edited_file_takes_the_place_of_what_it_brought(kb: Kb, tmp_path: Path) -> None:
    kb("seed", "--file", "seeds.yaml")
    before = {one["content"]: one for one in listed(kb)}
    edited = SEEDS.replace("Cache the parser.", "Cache the parser, and clear it with each release.")
    edited = edited.replace("Story T-1.", "Story T-1 was cut in two.").partition("- content: Pin")[0]
    (tmp_path / "edited.yaml").write_text(edited, encoding="utf-8")

    rehearsed = json.loads(kb("seed", "--file", "edited.yaml", "--replace", "--dry-run", "--json").stdout)["files"][0]
    assert [one["was"] for one in rehearsed["edited"]] == ["Story T-1.", "Cache the parser."]
    assert listed(kb) == list(before.values())

    told = kb("seed", "--file", "edited.yaml", "--replace").stdout
    assert "0 entries imported, 2 changed, 1 unchanged." in told
    assert "Pin the linter." in told
    after = {one["id"]: one for one in listed(kb)}
    assert after.keys() == {one["id"] for one in before.values()}
    lesson = after[before["Cache the parser."]["id"]]
    assert lesson["content"] == "Cache the parser, and clear it with each release."
    assert lesson["parent_id"] == before["Story T-1."]["id"]
    assert "2 changed" not in kb("seed", "--file", "edited.yaml", "--replace").stdout
