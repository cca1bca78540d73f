"""Commands out of a console's source: the fixture of the seed's product, and patterns one at a time."""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.kernel.errors import InvalidInput, TooLarge
from commonplace.reference.model import Entry, Parameter
from commonplace.reference.source.reader import read_catalogue
from commonplace_generators import catalogue_file, console, plan, tsx
from commonplace_generators.console_words import alternatives
from commonplace_generators.generated import Generated
from tests.examples import examples

SOURCE = Path(__file__).parents[2] / "fixtures" / "reference" / "helios" / "sources" / "DeveloperConsole.tsx"
OPTIONS = {
    "root": "helios",
    "subcategory": "helios",
    "subcategories": {"helios gw": "google-workspace", "helios ms": "microsoft-365", "helios api": "api"},
    "modules": {"helios ms": "microsoft-365"},
}
NAMES = """
clear | examples | help | helios api | helios history | helios status | helios version | helios whoami
helios export users | helios groups list | helios groups sync
helios gw delegates add | helios gw delegates list | helios gw delegates remove
helios gw groups add-member | helios gw groups create | helios gw groups delete | helios gw groups get
helios gw groups list | helios gw groups members | helios gw groups move | helios gw groups remove-member
helios gw groups update | helios gw list-groups | helios gw list-users
helios gw orgunits create | helios gw orgunits delete | helios gw orgunits get | helios gw orgunits list
helios gw orgunits move
helios gw sync all | helios gw sync groups | helios gw sync orgunits | helios gw sync users
helios gw users create | helios gw users delete | helios gw users get | helios gw users list
helios gw users reset-password | helios gw users restore | helios gw users suspend | helios gw users update
helios ms groups get | helios ms groups list | helios ms groups members
helios ms licenses assign | helios ms licenses list | helios ms licenses remove | helios ms sync
helios ms users create | helios ms users disable | helios ms users get | helios ms users list
helios settings get | helios settings list | helios settings set
helios users create | helios users delete | helios users export | helios users get | helios users list
helios users offboard | helios users update
"""


def generated(source: str, options: Mapping[str, Any] = {}) -> Generated:
    return console.generate(source.encode(), source="Console.tsx", options=options)


def called(source: str, options: Mapping[str, Any] = {}) -> dict[str, Entry]:
    return {entry.name or "": entry for entry in generated(source, options).entries}


@pytest.fixture(scope="module")
def helios() -> Generated:
    return console.generate(SOURCE.read_bytes(), source=SOURCE.name, options=OPTIONS)


@pytest.fixture(scope="module")
def entries(helios: Generated) -> dict[str, Entry]:
    return {entry.id: entry for entry in helios.entries}


def test_every_command_of_the_console_is_found_and_no_other(helios: Generated) -> None:
    assert sorted(entry.name or "" for entry in helios.entries) == sorted(
        name.strip() for line in NAMES.strip().splitlines() for name in line.split("|")
    )


def test_the_command_of_the_seed_has_its_id_its_place_and_its_shape(entries: dict[str, Entry]) -> None:
    found = entries["cmd-gw-users-list"]
    assert (found.name, found.title) == ("helios gw users list", "List Google Workspace Users")
    assert (found.category, found.subcategory, found.summary) == (
        "developer-console",
        "google-workspace",
        "List all Google Workspace users",
    )
    assert found.content == (
        "List all Google Workspace users\n\n**Output:** Table with columns: Email, Name, Status, Department"
    )
    assert found.parameters == [
        Parameter(name="--ou", place="option", type="<path>", description="Only users of this organizational unit"),
        Parameter(name="--json", place="option", description="Print JSON instead of a table"),
    ]
    assert {"users", "list", "google", "workspace", "directory"} <= set(found.keywords)
    assert {"cmd-gw-users-get", "cmd-gw-users-create"} <= set(found.related_ids)
    assert [(one.code, bool(one.output)) for one in found.examples] == [("helios gw users list", True)]


def test_several_labels_of_a_case_are_ways_to_type_the_command_that_help_documents(entries: dict[str, Entry]) -> None:
    assert {"helios gw users ls", "helios google users list", "get users"} <= set(entries["cmd-gw-users-list"].aliases)
    assert "helios gw delegates rm" in entries["cmd-gw-delegates-remove"].aliases
    assert entries["cmd-help"].aliases == ["?"]


def test_labels_that_are_documented_each_are_commands_each(entries: dict[str, Entry]) -> None:
    assert entries["cmd-gw-users-suspend"].syntax == "helios gw users suspend <email>"
    assert entries["cmd-gw-users-restore"].aliases == ["helios google users restore"]


def test_options_are_those_that_the_branch_reads(entries: dict[str, Entry]) -> None:
    assert entries["cmd-gw-sync-users"].syntax == "helios gw sync users [--dry-run]"
    assert "`--no-forward`" in entries["cmd-gw-groups-move"].text
    assert "--recursive" not in entries["cmd-gw-orgunits-create"].text
    assert entries["cmd-whoami"].parameters == []


def test_comments_jsdoc_and_help_texts_describe_what_no_table_does(entries: dict[str, Entry]) -> None:
    assert entries["cmd-gw-orgunits-create"].summary == "Create an organizational unit below another."
    assert entries["cmd-settings-set"].summary == "Change a setting of the organization"
    offboard = entries["cmd-users-offboard"]
    assert offboard.syntax == "helios users offboard <email> --transfer-to=<email> [--forward-mail]"
    assert "**Output:** One line for each step that was done" in offboard.content
    assert offboard.examples[0].code.startswith("helios users offboard john@example.com")


def test_deprecated_names_lead_to_the_new_ones(entries: dict[str, Entry]) -> None:
    replaced = {entry.id: entry.replaced_by for entry in entries.values() if entry.deprecated}
    assert replaced == {
        "cmd-gw-list-users": "cmd-gw-users-list",
        "cmd-gw-list-groups": "cmd-gw-groups-list",
        "cmd-export-users": "cmd-users-export",
    }


def test_optional_modules_are_marked(entries: dict[str, Entry]) -> None:
    assert {entry.subcategory for entry in entries.values() if entry.module == "microsoft-365"} == {"microsoft-365"}
    assert sum(entry.module == "microsoft-365" for entry in entries.values()) == 11


def test_what_cannot_be_read_is_told_with_its_line(helios: Generated) -> None:
    assert [(one.where, "extensions" in one.what) for one in helios.unread] == [("line 755", True)]


def test_the_same_source_gives_the_same_entries(helios: Generated) -> None:
    again = console.generate(SOURCE.read_bytes(), source=SOURCE.name, options=json.loads(json.dumps(OPTIONS)))
    assert again == helios


def test_a_prefix_that_is_cut_off_is_part_of_the_names() -> None:
    found = called(
        """
        function runCommand(line: string) {
          if (!line.startsWith('pools ')) return;
          const words = line.slice('pools '.length).trim().split(/\\s+/);
          // Count what lives in a pool.
          if (words[0] === 'count') { count(words[1]); }
          else if (words[0] === 'list') { /* List the pools. */ list(); }
        }
        """
    )
    assert {name: one.summary for name, one in found.items()} == {
        "pools count": "Count what lives in a pool.",
        "pools list": "List the pools.",
    }


def test_words_that_are_shifted_away_count() -> None:
    found = called(
        """
        const handleCommand = (input: string) => {
          const words = input.split(' ');
          if (words[0] === 'pools') { words.shift(); }
          const verb = words.shift();
          switch (verb) { case 'add': return add(words[0]); case 'drop': return drop(words[0]); }
        };
        """,
        {"root": "pools"},
    )
    assert sorted(found) == ["pools add", "pools drop"]


def test_methods_of_a_class_are_followed() -> None:
    found = called(
        """
        class Shell {
          /** Takes a line. */
          execute(command: string) {
            const [verb, ...args] = command.trim().split(/\\s+/);
            switch (verb) { case 'tide': return this.tide(args); default: return this.unknown(verb); }
          }
          private tide = (args: string[]) => {
            if (args[0] === 'now') return now();
            else if (args[0] === 'table') return table(args.includes('--week'));
          };
          private unknown(verb: string) {}
        }
        """
    )
    assert {name: one.syntax for name, one in found.items()} == {
        "tide now": "tide now",
        "tide table": "tide table [--week]",
    }


def test_regular_expressions_of_words_are_read_and_others_told() -> None:
    source = """
        function onCommand(command: string) {
          if (/^pool\\s+(?:add|new)\\s+(\\S+)$/i.test(command)) return add();
          if (command.match(/^pool (list)$/)) return list();
          if (/^(?=x)pool/.test(command)) return odd();
          if (command === 'pool help') return help();
          if (command === 'pool quit') return quit();
          if (command === 'pool undo') return undo();
        }
    """
    assert sorted(called(source)) == ["pool add", "pool help", "pool list", "pool quit", "pool undo"]
    assert called(source)["pool add"].aliases == ["pool new"]
    assert any("(?=x)pool" in one.what and one.where == "line 5" for one in generated(source).unread)


def test_a_case_that_is_computed_is_told() -> None:
    found = generated(
        """
        function run(command: string) {
          const parts = command.split(' ');
          switch (parts[0]) { case 'known': return a(); case names[0]: return b(); case PREFIX + x: return c(); }
        }
        """
    )
    assert [entry.name for entry in found.entries] == ["known"]
    assert {"names[0]", "PREFIX + x"} == {one.what.split("`")[1] for one in found.unread if "case" in one.what}


def test_a_handler_of_another_file_is_told() -> None:
    found = generated(
        """
        import { handlePlugin } from './plugins';
        function run(command: string) {
          const parts = command.split(' ');
          if (parts[0] === 'plugin') return handlePlugin(parts.slice(1));
        }
        """
    )
    assert any("`handlePlugin` is not in this source" in one.what for one in found.unread)
    assert "No options" not in found.entries[0].content


def test_a_help_table_without_handlers_is_believed_and_told() -> None:
    found = generated("export const HELP = [{ cmd: 'pools list <region>', desc: 'List the pools', flags: ['--all'] }];")
    assert [(one.name, one.syntax, one.summary) for one in found.entries] == [
        ("pools list", "pools list <region>", "List the pools")
    ]
    assert any("no code that reads it" in one.what for one in found.unread)


def test_switches_over_other_things_are_no_commands() -> None:
    source = """
        function colour(kind: string) { switch (kind) { case 'error': return 'red'; default: return 'grey'; } }
        const reduce = (state: State, action: Action) => { switch (action.type) { case 'add': return state; } };
        const classes = (input: string) => input.split(',').map((one) => one.trim());
        """
    with pytest.raises(InvalidInput, match=r"No command was found in Console\.tsx") as error:
        generated(source)
    assert "Searched for: a function that takes the input" in (error.value.hint or "")


def test_a_function_can_be_named() -> None:
    source = "const go = (one: string) => { const w = one.split(' '); if (w[0] === 'dive') { dive(); } };"
    with pytest.raises(InvalidInput):
        called(source)
    assert list(called(source, {"entry": "go"})) == ["dive"]


def test_handlers_that_call_one_another_come_to_an_end() -> None:
    found = generated(
        """
        const a = (args: string[]) => { if (args[0] === 'x') return b(args.slice(1)); };
        const b = (args: string[]) => { if (args[0] === 'y') return a(args.slice(1)); };
        function run(command: string) { const parts = command.split(' '); return a(parts); }
        """
    )
    assert any("too deeply" in one.what for one in found.unread)


def test_a_broken_source_gives_what_can_be_read_and_says_where_it_cannot() -> None:
    found = generated(
        """
        function run(command: string) {
          const parts = command.split(' ');
          switch (parts[0]) { case 'good': return fine(); }
        }
        const broken = = {{ ;
        """
    )
    assert [entry.name for entry in found.entries] == ["good"]
    assert any("not TypeScript" in one.what for one in found.unread)


def test_a_source_has_a_bound_and_options_have_kinds() -> None:
    with pytest.raises(TooLarge):
        tsx.parse(b" " * (tsx.MAX_BYTES + 1))
    with pytest.raises(InvalidInput):
        generated("", {"root": 3})
    with pytest.raises(InvalidInput):
        generated("", {"subcategories": ["helios gw"]})


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"^helios\s+gw$", {("helios", "gw")}),
        (r"^examples?$", {("examples",), ("example",)}),
        (r"^(list|ls)\b", {("list",), ("ls",)}),
        (r"^get (?<email>\S+)$", {("get",)}),
        (r"^sync(?: (users|groups))", None),
        (r"^a+b", None),
        (r".*", None),
        (r"^(?!x)y", None),
        ("(", None),
        ("", None),
    ],
)
def test_patterns_are_read_as_words_or_not_at_all(pattern: str, words: set[tuple[str, ...]] | None) -> None:
    assert (set(alternatives(pattern)) or None) == words


@settings(max_examples=examples(25, soak=1_500), deadline=None)
@given(st.binary(max_size=400))
def test_no_bytes_raise(raw: bytes) -> None:
    with suppress(InvalidInput):
        console.generate(raw, source="x.tsx", options={"root": "x"})


@settings(max_examples=examples(25, soak=1_500), deadline=None)
@given(st.data())
def test_no_damage_to_a_real_source_raises(data: st.DataObject) -> None:
    raw = SOURCE.read_bytes()
    start = data.draw(st.integers(min_value=0, max_value=len(raw)))
    size = data.draw(st.integers(min_value=0, max_value=600))
    between = data.draw(st.sampled_from([b"", b"{", b"`${", b"*/", b"'", b"<", b"\xff\x00", b"case x:", b"=>"]))
    with suppress(InvalidInput):
        console.generate(raw[:start][-6_000:] + between + raw[start + size :][:6_000], source="x.tsx", options=OPTIONS)


@pytest.mark.parametrize("nested", ["(" * 3_000, "{" * 3_000, "if (command === 'a') { " * 400, "a ? b : " * 2_000])
def test_a_source_that_nests_deeply_does_not_raise(nested: str) -> None:
    known = "const HELP = [{ command: 'dive', description: 'Go down.' }];"
    generated(f"{known} function run(command: string) {{ const parts = command.split(' '); {nested}")


@pytest.mark.parametrize("way", ["return;", "{ a(); } else"])
def test_guards_that_follow_one_another_come_to_an_end(way: str) -> None:
    guards = " ".join(f"if (p[{index}] !== 'w{index}') {way}" for index in range(1_500))
    found = generated(f"function run(command: string) {{ const p = command.split(' '); {guards} {{ }} }}")
    assert any("too deeply" in one.what for one in found.unread)


def test_constants_that_double_each_other_cost_nothing() -> None:
    doubling = "\n".join(f"const c{n} = c{n + 1} + c{n + 1};" for n in range(60)) + "\nconst c60 = 'x';"
    generated(doubling + "\nfunction run(command: string) { const p = command.split(' '); if (p[0] === c0) return 1; }")


def test_the_commands_of_the_catalogue_of_the_tests_are_those_of_its_console(helios: Generated) -> None:
    folder = SOURCE.parents[1]
    made = plan.generate("console", SOURCE.read_bytes(), source=SOURCE.name, options=OPTIONS)
    assert not catalogue_file.stale(made.entries, (folder / "commands.json").read_bytes())


def test_what_is_generated_is_a_catalogue_that_can_be_published(helios: Generated) -> None:
    made = plan.generate("console", SOURCE.read_bytes(), source=SOURCE.name, options=OPTIONS)
    raw = catalogue_file.written(catalogue_file.dated(made.entries, None, "2026-01-01T00:00:00Z"))
    reading = read_catalogue({"commands.json": raw}, "helios")
    assert len(reading.entries) == len(helios.entries)
    assert not reading.problems


def test_a_thousand_commands_are_read_with_their_help() -> None:
    table = [
        f"{{ command: 'big a{i} v{j}', description: 'Do {i} {j}.', usage: 'big a{i} v{j} <x>' }}"
        for i in range(20)
        for j in range(50)
    ]
    handlers = [
        f"const h{i} = (args: string[]) => {{ switch (args[0]) {{ "
        + " ".join(f"case 'v{j}': return post(args[1], args.includes('--y'));" for j in range(50))
        + " } };"
        for i in range(20)
    ]
    areas = " ".join(f"case 'a{i}': return h{i}(parts.slice(2));" for i in range(20))
    run = f"function run(command: string) {{ const parts = command.split(' '); switch (parts[1]) {{ {areas} }} }}"
    found = generated("\n".join([f"const HELP = [{', '.join(table)}];", *handlers, run]), {"root": "big"})
    assert len(found.entries) == 1_000
    assert not found.unread
    assert all("`--y`" in one.text and one.summary.startswith("Do ") for one in found.entries)
