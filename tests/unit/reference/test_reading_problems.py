"""What is wrong with a catalogue is told with its place and with what would be right, and nothing of it is raised."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.reference.model import Problem
from commonplace.reference.source import bounds
from commonplace.reference.source.reader import Reading, read_catalogue

GUIDE = {"id": "g", "type": "guide", "title": "G", "category": "c", "summary": "S.", "content": "Text."}
DATED = GUIDE | {"lastUpdated": "2026-01-01"}
COMMAND = DATED | {"type": "command", "id": "cmd-a", "name": "helios users list"}
ENDPOINT = DATED | {"type": "api", "id": "api-a", "method": "GET", "pathTemplate": "/users/{id}"}


def of(*entries: Any, **more: bytes) -> Reading:
    files = {f"{name}.yaml": raw for name, raw in more.items()}
    return read_catalogue({"all.json": json.dumps(list(entries), indent=1).encode()} | files, "helios")


def told(reading: Reading) -> list[tuple[str, str | None]]:
    return [(one.code, one.entry) for one in reading.problems]


def one_problem(reading: Reading) -> Problem:
    [problem] = reading.problems
    assert problem.message.endswith(".")
    assert problem.hint
    return problem


@pytest.mark.parametrize(
    ("path", "raw", "line"),
    [
        ("a.json", b"[\n{", 2),
        ("a.json", b'[\n{"id": "a",\n "id": "b"}]', 3),
        ("a.json", b'[\n{"a": [{"b": 1, "b": 2}]}]', 2),
        ("a.json", b"[1]\n[2]", 2),
        ("a.json", b'[{"id": "a\nb"}]', 1),
        ("a.json", b"[" * 200_000, 1),
        ("a.json", b'[{"id": Infinity}]', 1),
        ("a.json", b'[{"id": ' + b"9" * 5_000 + b"}]", 1),
        ("a.json", b"\xef\xbb\xbf[\n\n\xff]", 3),
        ("a.json", b"", 1),
        ("a.json", b'{"entries": 3}', 1),
        ("a.json", b"[\n  3\n]", 2),
        ("a.yaml", b"- a: &x 1\n- *x\n", 1),
        ("a.yaml", b"- a: !!python/object:os.system x\n", 1),
        ("a.yaml", b"a: [\n", 2),
        ("a.yaml", b"---\na: 1\n---\na: 2\n", 3),
        ("a.yaml", b"a: " + b"[" * 100, 1),
        ("a.yaml", b"- a: 1\n  a: 2\n", 2),
        ("a.yaml", b"just text\n", 1),
        ("guides/c/a.md", b"---\ntitle: [\n---\nText.\n", 3),
        ("guides/c/a.md", b"---\ntitle: T\nText.\n", 1),
        ("guides/c/a.md", b"Text \xff.\n", 1),
    ],
)
def test_a_malformed_file_is_one_error_at_its_line(path: str, raw: bytes, line: int) -> None:
    problem = one_problem(read_catalogue({path: raw}, "helios"))
    assert (problem.code, problem.severity, problem.path, problem.line) == ("malformed-file", "error", path, line)


def test_a_file_that_holds_something_else_is_told_once() -> None:
    problem = one_problem(read_catalogue({"package.json": b'{"version": "1", "private": true}'}, "helios"))
    assert (problem.code, problem.line) == ("malformed-file", 1)
    assert "begin the file's name with `_`" in (problem.hint or "")


@pytest.mark.parametrize("name", ["catalogue.yml", "catalog.yaml", "Catalogue.json"])
def test_settings_in_another_file_are_not_overlooked(name: str) -> None:
    problem = one_problem(read_catalogue({name: b"title: Helios\n"}, "helios"))
    assert (problem.code, problem.path) == ("malformed-settings", name)
    assert "catalogue.yaml" in (problem.hint or "")


def test_no_message_of_a_malformed_file_quotes_it() -> None:
    for raw in (b'[{"id": secret}]', b'{"secret" 1}', b'["secret\n"]', b'["\\secret"]'):
        assert "secret" not in str(read_catalogue({"a.json": raw}, "helios").problems)


@pytest.mark.parametrize(
    ("changed", "code", "hint"),
    [
        ({"type": "story"}, "unknown-type", "command, api, guide"),
        ({"type": None}, "missing-field", "command, api, guide"),
        ({"id": None}, "missing-field", "cmd-users-list"),
        ({"id": "With Space"}, "invalid-field", "small letters"),
        ({"id": "a" * 201}, "invalid-field", "200"),
        ({"title": ""}, "missing-field", "title"),
        ({"title": "a" * 201}, "invalid-field", "200"),
        ({"title": ["a"]}, "invalid-field", "text"),
        ({"title": "a\u0007"}, "invalid-field", "Remove it"),
        ({"summary": None}, "missing-field", "sentences"),
        ({"category": "Google Workspace"}, "invalid-field", "google-workspace"),
        ({"category": None}, "missing-field", "slug"),
        ({"subcategory": "Ä"}, "invalid-field", "small letters"),
        ({"module": "a" * 61}, "invalid-field", "60"),
        ({"content": "ä" * 32_001}, "invalid-field", "several entries"),
        ({"keywords": ["a"] * 51}, "invalid-field", "50"),
        ({"keywords": [["a"]]}, "invalid-field", "list of texts"),
        ({"aliases": ["a" * 201]}, "invalid-field", "200"),
        ({"examples": {"code": "a"}}, "invalid-field", "description, code"),
        ({"examples": [{"description": "a"}]}, "missing-field", "description, code"),
        ({"examples": [{"code": "a" * 8_001}]}, "invalid-field", "8,000"),
        ({"examples": [{"code": "a"}] * 21}, "invalid-field", "20"),
        ({"relatedIds": ["a"] * 51}, "invalid-field", "50"),
        ({"deprecated": "yes"}, "invalid-field", "true or false"),
        ({"sourceHash": "abc"}, "invalid-field", "hexadecimal"),
        ({"lastUpdated": "yesterday"}, "invalid-field", "2026-03-01"),
    ],
)
def test_a_field_outside_its_bounds_is_an_error_that_says_what_would_be_valid(
    changed: dict[str, Any], code: str, hint: str
) -> None:
    reading = of(DATED | changed)
    problem = one_problem(reading)
    assert (problem.code, problem.severity, problem.path) == (code, "error", "all.json")
    assert hint in (problem.hint or "")
    assert not reading.publishable
    assert reading.entries == ()


@pytest.mark.parametrize(
    ("entry", "code", "hint"),
    [
        (COMMAND | {"name": None}, "missing-field", "helios gw users list"),
        (ENDPOINT | {"pathTemplate": None}, "missing-field", "/api/v1/users/{id}"),
        (ENDPOINT | {"pathTemplate": "users"}, "invalid-field", "/api/v1/users/{id}"),
        (ENDPOINT | {"pathTemplate": "/users?page"}, "invalid-field", "part of every call"),
        (ENDPOINT | {"method": None}, "missing-field", "GET"),
        (ENDPOINT | {"method": "FETCH"}, "invalid-field", "GET, POST"),
    ],
)
def test_commands_and_endpoints_say_how_they_are_used(entry: dict[str, Any], code: str, hint: str) -> None:
    problem = one_problem(of(entry))
    assert problem.code == code
    assert hint in (problem.hint or "")


def test_two_entries_of_one_id_are_refused_with_both_places() -> None:
    reading = of(DATED, more=b"- id: g\n  type: guide\n  title: T\n  category: c\n  summary: S\n  content: T\n")
    problem = next(one for one in reading.errors if one.code == "duplicate-id")
    assert (problem.path, problem.line, problem.entry) == ("more.yaml", 1, "g")
    assert "all.json, line 2" in problem.message


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (COMMAND, COMMAND | {"name": "Helios  users-list"}),
        (COMMAND, COMMAND | {"name": "helios users list <status> [--json]"}),
        (ENDPOINT, ENDPOINT | {"pathTemplate": "/users/{user}/"}),
    ],
)
def test_two_entries_that_nothing_but_their_ids_tells_apart_are_refused(first: Any, second: Any) -> None:
    problem = one_problem(of(first, second | {"id": "zzz"}))
    assert (problem.code, problem.severity, problem.entry) == ("duplicate-name", "error", "zzz")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (ENDPOINT, ENDPOINT | {"method": "PUT"}),
        (COMMAND, COMMAND | {"deprecated": True}),
        (COMMAND | {"name": "h users <id> roles"}, COMMAND | {"name": "h users <id> groups"}),
    ],
)
def test_names_may_meet_where_method_or_age_or_words_tell_them_apart(first: Any, second: Any) -> None:
    assert of(first, second | {"id": "zzz"}).publishable


def test_relations_to_what_is_not_there_name_the_nearest_id() -> None:
    reading = of(DATED | {"relatedIds": ["cmd-b"]}, COMMAND | {"replacedBy": "gg"})
    assert told(reading) == [("dangling-relation", "g"), ("dangling-relation", "cmd-a")]
    assert [one.hint for one in reading.problems] == ["Did you mean `cmd-a`?", "Did you mean `g`?"]


def test_a_relation_to_an_entry_that_is_invalid_is_not_at_fault() -> None:
    assert told(of(DATED | {"relatedIds": ["h"]}, DATED | {"id": "h", "type": "story"})) == [("unknown-type", "h")]


def test_replacements_in_a_ring_are_told_once() -> None:
    ring = [DATED | {"id": one, "replacedBy": other} for one, other in ("ab", "bc", "ca")]
    problem = one_problem(of(*ring, DATED | {"id": "d", "replacedBy": "a"}))
    assert (problem.code, problem.entry) == ("replacement-cycle", "a")
    assert "`a` -> `b` -> `c` -> `a`" in problem.message


def test_an_alias_that_is_how_another_is_called_is_a_warning() -> None:
    other = COMMAND | {"id": "cmd-b", "name": "helios users get", "aliases": ["Helios users-list"]}
    assert told(of(COMMAND, other)) == [("alias-of-another", "cmd-b")]
    assert of(COMMAND, other).publishable


def test_a_replacement_may_take_the_old_name_as_alias() -> None:
    old = COMMAND | {"id": "cmd-old", "name": "helios list-users", "replacedBy": "cmd-a"}
    assert told(of(COMMAND | {"aliases": ["helios list users"]}, old)) == []


@pytest.mark.parametrize(
    "code", ["helios users lst", "$ helios usrs list", "cat x | helios users lst --json", "helios \\\n  users lst"]
)
def test_an_example_that_no_command_stands_behind_is_a_warning(code: str) -> None:
    reading = of(COMMAND, DATED | {"examples": [{"description": "d", "code": code}]})
    assert told(reading) == [("unknown-command", "g")]


@pytest.mark.parametrize("text", ["```bash\nhelios users lst\n```", "Type `helios users lst` now."])
def test_commands_in_the_content_are_looked_at_too(text: str) -> None:
    assert told(of(COMMAND, DATED | {"content": text})) == [("unknown-command", "g")]


@pytest.mark.parametrize(
    "code", ["helios users list --json", "HELIOS users list | head", "helios users", "other x y", "#"]
)
def test_an_example_of_a_command_or_of_something_else_is_fine(code: str) -> None:
    assert told(of(COMMAND, DATED | {"examples": [{"description": "d", "code": code}]})) == []


@pytest.mark.parametrize(
    "code", ["helios users list --jsno", "x=$(helios users list --jsno)", "helios users list --jsno | cat"]
)
def test_an_example_with_an_option_that_its_command_does_not_take_is_a_warning(code: str) -> None:
    command = COMMAND | {"parameters": [{"name": "--json", "place": "option"}]}
    problem = one_problem(of(command, DATED | {"examples": [{"description": "d", "code": code}]}))
    assert (problem.code, problem.entry, problem.hint) == ("unknown-option", "g", "Did you mean `--json`?")
    assert problem.message == "An example shows `--jsno`, which `helios users list` does not take."


def test_options_of_a_command_whose_options_nobody_knows_are_no_matter() -> None:
    assert told(of(COMMAND, DATED | {"examples": [{"description": "d", "code": "helios users list --jsno"}]})) == []


def test_broken_links_are_told_with_their_line() -> None:
    text = b"---\nlastUpdated: 2026-01-01\n---\n# T\n\nSee [a](b.md), [c](../x/c.md#d), [w](https://x.example/y.md).\n"
    reading = read_catalogue({"guides/x/a.md": text, "guides/x/c.md": text.replace(b"[a](b.md), ", b"")}, "helios")
    problem = one_problem(reading)
    assert (problem.code, problem.path, problem.line) == ("broken-link", "guides/x/a.md", 6)
    assert "`b.md`" in problem.message


def test_an_unknown_field_is_left_out_and_the_known_one_is_named() -> None:
    reading = of(DATED | {"keyword": ["a"], "description": "x"})
    assert {one.code for one in reading.problems} == {"unknown-field"}
    assert [one.hint for one in reading.problems] == ["Did you mean `keywords`?", "Did you mean `summary`?"]


def test_what_is_only_untidy_is_a_warning() -> None:
    reading = of(GUIDE | {"content": ""})
    assert sorted(one.code for one in reading.problems) == ["empty-content", "missing-last-updated"]
    assert reading.publishable


def test_categories_and_modules_that_the_settings_do_not_name_are_odd() -> None:
    settings = b"categories: {d: D}\nmodules: {m: M}\n"
    reading = of(DATED | {"module": "n"}, catalogue=settings)
    assert [one.code for one in reading.problems] == ["odd-category", "odd-module"]


def test_a_file_that_is_too_large_is_not_parsed() -> None:
    problem = one_problem(read_catalogue({"a.json": b"[" + b" " * bounds.MAX_FILE_BYTES}, "helios"))
    assert (problem.code, problem.severity) == ("too-large", "error")


def test_too_many_entries_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_ENTRIES", 2)
    reading = of(*(DATED | {"id": str(one)} for one in range(4)))
    assert [(one.code, one.severity) for one in reading.problems] == [("too-many", "error")]


def test_too_many_files_are_an_error_and_none_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_FILES", 2)
    reading = read_catalogue({f"{one}.json": b"[" for one in range(3)}, "helios")
    assert [one.code for one in reading.problems] == ["too-many"]


def test_of_very_many_problems_the_errors_are_told_and_the_rest_is_counted() -> None:
    entries = [GUIDE | {"id": f"g{one}", "content": ""} for one in range(bounds.MAX_PROBLEMS)]
    reading = of(*entries, DATED | {"id": "zzz", "relatedIds": ["nothing"]})
    assert len(reading.problems) == bounds.MAX_PROBLEMS + 1
    assert [one.code for one in reading.errors] == ["dangling-relation"]
    assert (reading.problems[-1].code, reading.problems[-1].severity) == ("more-problems", "warning")
    assert "1,001 more" in reading.problems[-1].message


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)
fields = st.sampled_from([*DATED, *COMMAND, *ENDPOINT, "syntax", "keywords", "aliases", "examples", "relatedIds"]) | (
    st.sampled_from(["deprecated", "replacedBy", "source", "sourceHash", "x"])
)
values = st.sampled_from(["command", "api", "guide", "GET", "/a/{b}", "helios a", "a", "b", "2026-01-01", ["a"], True])
entries = st.lists(st.dictionaries(fields, values | json_values, max_size=20), max_size=4)


@given(
    st.dictionaries(st.sampled_from(["a.json", "b.yaml", "guides/c/d.md", "catalogue.yaml"]), st.binary(max_size=80))
)
def test_no_bytes_make_the_reading_raise(files: dict[str, bytes]) -> None:
    read_catalogue(files, "helios")


@given(entries)
def test_no_values_make_the_reading_raise_and_what_it_says_is_the_same_twice(given_entries: Any) -> None:
    page = "\n".join(f"{name}: {json.dumps(value)}" for one in given_entries[:1] for name, value in one.items())
    files = {
        "a.json": json.dumps(given_entries).encode(),
        "b.yaml": json.dumps(given_entries[:1]).encode(),
        "guides/c/d.md": f"---\n{page}\n---\n# T\n\nText with [a link](x.md) and `helios a`.\n".encode(),
    }
    first = read_catalogue(files, "helios")
    assert first == read_catalogue(files, "helios")
    for problem in first.problems:
        problem.to_json()
    for written in first.entries:
        written.entry.to_json()
