"""What the files of a catalogue say, in each of their forms."""

import json
from typing import Any

import pytest

from commonplace.reference.source.drafts import is_read
from commonplace.reference.source.reader import Reading, read_catalogue

SEED = {
    "id": "cmd-gw-users-list",
    "type": "command",
    "title": "List Google Workspace Users",
    "category": "developer-console",
    "subcategory": "google-workspace",
    "content": "Lists all users.\n\n**Syntax:**\n```\nhelios gw users list\n```\n\n**Options:**\n- None",
    "summary": "List all Google Workspace users",
    "keywords": ["users", "list", "google"],
    "examples": [{"description": "List all users", "code": "helios gw users list", "output": "john@example.com"}],
    "relatedIds": [],
    "source": "auto-generated:DeveloperConsole.tsx",
    "lastUpdated": "2025-12-17T00:00:00Z",
}
GUIDE = {"id": "g", "type": "guide", "title": "G", "category": "c", "summary": "S.", "lastUpdated": "2026-01-01"}


def read(**files: Any) -> Reading:
    """Names of files with `__` for the dot and `_in_` for the slash."""
    named = {name.replace("_in_", "/").replace("__", "."): body for name, body in files.items()}
    return read_catalogue(
        {name: body if isinstance(body, bytes) else body.encode() for name, body in named.items()}, "helios"
    )


def only(reading: Reading) -> Any:
    assert reading.errors == ()
    [written] = reading.entries
    return written.entry


def test_an_entry_of_the_seed_reads_as_it_is_and_takes_its_name_from_its_syntax() -> None:
    entry = only(read(commands__json=json.dumps([SEED])))
    assert entry.name == entry.syntax == "helios gw users list"
    assert entry.model_dump(by_alias=True, exclude_defaults=True) == {
        key: value for key, value in SEED.items() if value != []
    } | {"name": "helios gw users list", "syntax": "helios gw users list"}


@pytest.mark.parametrize("text", [json.dumps([SEED]), json.dumps({"entries": [SEED]}), json.dumps(SEED)])
def test_a_json_file_is_a_list_or_entries_or_one_entry(text: str) -> None:
    assert only(read(commands__json=text)).id == "cmd-gw-users-list"


def test_fields_are_understood_in_snake_case_too() -> None:
    yaml = """\
- id: api-users-get
  type: api
  title: Get a user
  category: api
  method: get
  path_template: /users/{id}
  summary: Shows a user.
  content: Text.
  source_hash: %s
  last_updated: 2026-01-01
""" % ("a" * 64)
    entry = only(read(api__yaml=yaml))
    assert (entry.method, entry.path_template, entry.source_hash) == ("GET", "/users/{id}", "a" * 64)


def test_an_endpoint_may_be_named_by_its_title() -> None:
    given = GUIDE | {"type": "api", "title": "DELETE /users/{id}"}
    entry = only(read(api__json=json.dumps(given)))
    assert (entry.method, entry.path_template) == ("DELETE", "/users/{id}")


def test_a_command_without_name_is_called_as_its_syntax_begins() -> None:
    given = GUIDE | {"type": "command", "syntax": "helios gw users get <email> [--json]"}
    entry = only(read(commands__json=json.dumps(given)))
    assert entry.name == "helios gw users get"


def test_a_markdown_file_is_an_entry_whose_text_is_the_content() -> None:
    text = "---\nkeywords: [a, b]\nlastUpdated: 2026-01-01\n---\n# First steps\n\nDo *this* [now](#x) first.\n\n- x\n"
    entry = only(read(guides_in_setup_in_first__md=text))
    assert (entry.id, entry.type, entry.category) == ("guides-setup-first", "guide", "setup")
    assert (entry.title, entry.summary) == ("First steps", "Do this now first.")
    assert entry.content.startswith("# First steps\n\nDo")
    assert entry.keywords == ["a", "b"]


def test_what_a_markdown_file_says_of_itself_wins_over_its_place() -> None:
    text = "---\nid: x\ntype: feature\ntitle: 1.10\ncategory: c\nsummary: S\nlastUpdated: 2026-01-01\n---\nText.\n"
    entry = only(read(guides_in_setup_in_first__md=text))
    assert (entry.id, entry.type, entry.category, entry.title) == ("x", "feature", "c", "1.10")


@pytest.mark.parametrize("said", ["publish: false", "draft: true", "draft: perhaps", "publish: 'true'"])
def test_a_markdown_file_that_is_private_is_left_out(said: str) -> None:
    assert read(guides_in_c_in_x__md=f"---\ntitle: T\n{said}\n---\nSecret.\n").entries == ()


@pytest.mark.parametrize("path", ["README.md", "guides/readme.md", "_x/a.md", "guides/_a.md", ".git/a.json", "a/.b.md"])
def test_what_is_set_aside_is_not_read(path: str) -> None:
    reading = read_catalogue({path: b"{", "sources/api.yaml": b"[", "sources/x.tsx": b""}, "helios")
    assert (reading.entries, reading.problems) == ((), ())
    assert not is_read(path)


def test_a_file_of_another_kind_is_named_and_keeps_nothing_from_being_published() -> None:
    reading = read(notes__txt="x")
    assert [(one.code, one.path) for one in reading.warnings] == [("unknown-file", "notes.txt")]
    assert reading.publishable


def test_the_order_of_files_changes_nothing() -> None:
    files = {
        "b.json": json.dumps([GUIDE | {"id": "b"}, GUIDE | {"id": "a"}]).encode(),
        "a.yaml": b"- id: c\n  type: guide\n  title: ['T']\n",
        "guides/c/x.md": b"# X\n\nText.",
    }
    turned = dict(reversed(files.items()))
    assert read_catalogue(files, "x") == read_catalogue(turned, "x")
    assert [one.entry.id for one in read_catalogue(files, "x").entries] == ["a", "b", "guides-c-x"]


def test_lines_are_those_of_entries_and_fields() -> None:
    text = json.dumps([GUIDE, GUIDE | {"id": "h", "relatedIds": ["nothing"]}], indent=2)
    reading = read(guides__json=text)
    assert [one.line for one in reading.entries] == [2, 10]
    [problem] = reading.errors
    assert (problem.code, problem.entry, text.splitlines()[(problem.line or 0) - 1].strip()) == (
        "dangling-relation",
        "h",
        '"relatedIds": [',
    )


def test_a_replaced_entry_is_deprecated_without_saying_so() -> None:
    reading = read(guides__json=json.dumps([GUIDE, GUIDE | {"id": "old", "replacedBy": "g"}]))
    assert [one.entry.deprecated for one in reading.entries] == [False, True]


def test_without_settings_the_catalogue_is_called_by_its_name() -> None:
    assert read().settings.title == "helios"
