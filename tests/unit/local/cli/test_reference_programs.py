"""Programs that are imported, or asked for help, to be read: fixtures, and programs of installed packages."""

import json
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from commonplace.reference.model import Entry, Parameter
from commonplace.reference.source.reader import read_catalogue
from commonplace_generators import catalogue_file, plan
from commonplace_generators.commands import Command, CommandOptions, generated
from commonplace_generators.generated import Generated
from commonplace_local.cli.reference import programs
from commonplace_local.cli.reference.programs import ran, raw_of
from commonplace_local.errors import CommandError

FOLDER = Path(__file__).parents[3] / "fixtures" / "reference" / "programs"
PROGRAMS = Path(sys.executable).parent


@cache
def _raw(kind: str, target: str, options: str) -> bytes:
    """Asked once: each program starts a process that imports it."""
    return raw_of(kind, target, folder=FOLDER, options=json.loads(options))


def made(kind: str, target: str, options: Mapping[str, Any] = {}) -> Generated:
    return plan.generate(kind, _raw(kind, target, json.dumps(options)), source=target, options=options)


def named(found: Generated) -> dict[str, Entry]:
    return {entry.name or "": entry for entry in found.entries}


def test_a_click_program_gives_its_commands() -> None:
    found = made("click", "harbour.py:cli", {"root": "harbour"})
    assert {name: one.syntax for name, one in named(found).items()} == {
        "harbour berth book": "harbour berth book <boat> [<nights>] --from <from>",
        "harbour berth list": "harbour berth list [--quay <north|south>] [--free]",
        "harbour moor": "harbour moor <boats>...",
        "harbour tide": "harbour tide",
        "harbour tide table": "harbour tide table [--days]",
    }


def test_what_click_says_of_a_command_is_in_its_entry() -> None:
    entries = named(made("click", "harbour.py:cli", {"root": "harbour"}))
    book, listed, moor = entries["harbour berth book"], entries["harbour berth list"], entries["harbour moor"]
    assert (book.id, book.title) == ("cmd-berth-book", "Book a berth for a boat")
    assert "Not for readers" not in book.content
    assert "--token" not in book.text
    assert "`--port` `<name>`: The harbour that is meant. Given to `harbour`, before the command." in book.text
    assert listed.aliases == ["harbour berth ls"]
    assert [one.code for one in listed.examples] == ["harbour berth list --quay north", "harbour berth list --free"]
    assert moor.deprecated and "**Deprecated.**" in moor.content


def test_a_command_that_cannot_be_loaded_is_told_and_a_hidden_one_is_left_out_unless_asked_for() -> None:
    found = made("click", "harbour.py:cli", {"root": "harbour"})
    assert [one.where for one in found.unread] == ["harbour berth chart", "harbour tide table"]
    assert "No module named 'charts'" in found.unread[0].what
    assert "harbour dredge" in named(made("click", "harbour.py:cli", {"root": "harbour", "hidden": True}))


def test_an_argparse_program_gives_its_commands() -> None:
    found = made("argparse", "beacon.py:parser")
    assert {name: one.syntax for name, one in named(found).items()} == {
        "beacon light list": "beacon light list [<areas>...]",
        "beacon light show": "beacon light show <name> [--colour <white|red|green>]",
        "beacon run": "beacon run [<program>...] [--loud] [--many <many>]",
    }
    entries = named(found)
    assert set(entries["beacon light list"].aliases) == {"beacon light ls", "beacon lamp list", "beacon lamp ls"}
    assert [one.code for one in entries["beacon light show"].examples] == ["beacon light show skerry --colour red"]
    assert "`--coast` `<coast>`: the coast that is meant (default: west)" in entries["beacon run"].text
    assert "One of: 0, 1, 2, 3, 4, 5, 6, 7, 8." in entries["beacon run"].text
    assert "--secret" not in entries["beacon light show"].text


def test_a_parser_may_be_an_object_or_what_a_function_returns() -> None:
    described = [raw_of("argparse", f"beacon.py:{name}", folder=FOLDER, options={}) for name in ("PARSER", "parser")]
    assert described[0] == described[1]


def test_options_that_a_program_takes_before_its_parser_are_read_from_its_help() -> None:
    listed = named(made("typer", "huggingface_hub.cli.hf:app", {"root": "hf"}))["hf auth list"]
    assert {"--format", "--json", "--quiet"} <= {one.name for one in listed.parameters or ()}


def test_a_typer_program_gives_its_commands() -> None:
    entries = named(made("typer", "lagoon.py:app"))
    assert {name: one.syntax for name, one in entries.items()} == {
        "lagoon count add": "lagoon count add <species> [<number>] [--zone <shore|reef>] [--unsure]",
        "lagoon count list": "lagoon count list",
        "lagoon export": "lagoon export <files>...",
    }
    assert entries["lagoon count add"].summary == "Add a count to the day."
    assert entries["lagoon count list"].deprecated


@pytest.mark.parametrize(
    ("kind", "target", "root"),
    [
        ("click", "harbour.py:cli", "harbour"),
        ("argparse", "beacon.py:parser", "beacon"),
        ("typer", "lagoon.py:app", "lagoon"),
        ("typer", "huggingface_hub.cli.hf:app", "hf"),
        ("click", "schemathesis.cli:schemathesis", "st"),
    ],
)
def test_what_is_generated_is_a_catalogue_that_can_be_published(kind: str, target: str, root: str) -> None:
    found = made(kind, target, {"root": root})
    raw = catalogue_file.written(catalogue_file.dated(found.entries, None, "2026-01-01T00:00:00Z"))
    reading = read_catalogue({"commands.json": raw}, "programs")
    assert len(reading.entries) == len(found.entries)
    assert not reading.errors


def test_a_program_describes_itself_in_the_same_bytes_each_time() -> None:
    for kind, target in (("click", "harbour.py:cli"), ("argparse", "beacon.py:parser"), ("typer", "lagoon.py:app")):
        assert raw_of(kind, target, folder=FOLDER, options={}) == raw_of(kind, target, folder=FOLDER, options={})


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("nowhere.py:cli", "FileNotFoundError|no file"),
        ("harbour.py:nothing", "has no nothing"),
        ("harbour.py", "no object"),
        ("no_such_package_here:cli", "No module named"),
        ("beacon.py:NOT_A_PARSER", "neither an argparse"),
        ("stubborn.py:cli", "exits when it is imported"),
    ],
)
def test_a_target_that_is_no_program_is_refused_in_a_sentence(target: str, said: str) -> None:
    with pytest.raises(CommandError, match=said):
        raw_of("argparse", target, folder=FOLDER, options={})


def test_a_program_that_dies_or_never_ends_is_ended_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "IMPORT_TIMEOUT_SECONDS", 1)
    for way in ("sleeps", "dies"):
        monkeypatch.setenv("STUBBORN", way)
        with pytest.raises(CommandError, match="could not be imported"):
            raw_of("click", "stubborn.py:cli", folder=FOLDER, options={})


def test_a_program_that_says_too_much_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUBBORN", "talks")
    monkeypatch.setattr(programs, "MAX_OUTPUT_BYTES", 100_000)
    done = ran([sys.executable, str(FOLDER / "stubborn.py")], folder=FOLDER, timeout_seconds=60)
    assert done.status is None and len(done.said) == 100_000 and "exceeds" in done.why


def test_an_interpreter_has_to_be_there() -> None:
    with pytest.raises(CommandError, match="no interpreter"):
        raw_of("click", "harbour.py:cli", folder=FOLDER, options={"python": "no/such/python"})
    with pytest.raises(CommandError, match="has to be a path"):
        raw_of("click", "harbour.py:cli", folder=FOLDER, options={"python": 3})


def leaves(told: Mapping[str, Any], words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The commands of click's own description of a program that are not hidden."""
    if told["hidden"]:
        return
    if "commands" not in told:
        yield words
    for name, below in told.get("commands", {}).items():
        yield from leaves(below, (*words, name))


@pytest.mark.parametrize(("target", "root"), [("flask.cli:cli", "flask"), ("schemathesis.cli:schemathesis", "st")])
def test_every_command_of_an_installed_click_program_is_there(target: str, root: str) -> None:
    import importlib

    import click

    module, _, name = target.partition(":")
    program = getattr(importlib.import_module(module), name)
    registered = click.Context(program).to_info_dict()["command"]
    found = made("click", target, {"root": root})
    assert {tuple((entry.name or "").split()) for entry in found.entries} == set(leaves(registered, (root,)))


def test_every_command_of_a_large_installed_program_is_there() -> None:
    from huggingface_hub.cli.hf import app

    def registered(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        command = command.materialize() if hasattr(command, "materialize") else command
        below = getattr(command, "commands", {})
        if not below:
            yield words
        for name, one in below.items():
            if not one.hidden:
                yield from registered(one, (*words, name.split(" | ")[0]))

    wanted = {" ".join(words) for words in registered(app, ("hf",))}
    found = made("typer", "huggingface_hub.cli.hf:app", {"root": "hf"})
    assert len(wanted) > 100
    assert wanted - set(named(found)) == set()
    assert not found.unread


def test_an_installed_argparse_program_is_read() -> None:
    found = made("argparse", "jsonschema.cli:parser", {"root": "jsonschema"})
    [entry] = found.entries
    assert entry.name == "jsonschema"
    assert "--base-uri" in entry.text


def test_help_of_a_program_is_asked_for_only_where_that_was_asked_for() -> None:
    alone = json.loads(raw_of("help", str(PROGRAMS / "flask"), folder=FOLDER, options={}))
    heard: list[str] = []
    told = raw_of("help", str(PROGRAMS / "flask"), folder=FOLDER, options={"depth": 1}, tell=heard.append)
    assert list(alone["pages"]) == ["flask"]
    assert sorted(json.loads(told)["pages"]) == ["flask", "flask routes", "flask run", "flask shell"]
    assert heard[0] == "flask: 0 pages read, 0 pending"
    assert heard[-1].endswith(": 3 pages read, 0 pending")


def test_help_gives_the_commands_that_the_program_has() -> None:
    asked = {"depth": 1, "root": "flask"}
    found = made("help", str(PROGRAMS / "flask"), asked)
    registered = made("click", "flask.cli:cli", {"root": "flask"})
    assert {one.id for one in found.entries} - {"cmd-flask"} == {one.id for one in registered.entries}
    assert named(found)["flask run"].syntax == "flask run [OPTIONS]"


def test_help_of_git_and_of_clap_is_read() -> None:
    git = named(made("help", "git", {"ask": "-h"}))
    assert {"git clone", "git init", "git add", "git commit", "git push"} <= set(git)
    ruff = named(made("help", str(PROGRAMS / "ruff"), {"depth": 1}))
    assert {"ruff check", "ruff format", "ruff rule", "ruff server"} <= set(ruff)
    assert "`--cache-dir` `<CACHE_DIR>`: Path to the cache directory" in ruff["ruff check"].text


def test_commands_of_which_only_a_line_is_known_do_not_claim_to_have_no_options() -> None:
    git = named(made("help", "git", {"ask": "-h"}))
    assert git["git clone"].parameters is None


@pytest.mark.parametrize(
    ("target", "options", "said"),
    [
        ("no-such-program-here", {}, "no program"),
        ("git 'unfinished", {}, "not a command line"),
        ("  ", {}, "names no program"),
        ("git", {"depth": 99}, "`depth`"),
        ("git", {"depth": "deep"}, "`depth`"),
        ("git", {"ask": "--delete-everything"}, "`ask`"),
        ("git", {"complete": "--delete-everything"}, "`complete`"),
    ],
)
def test_help_is_asked_for_in_known_ways_alone(target: str, options: Mapping[str, Any], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        raw_of("help", target, folder=FOLDER, options=options)


CAPSTAN = f"{sys.executable} ./capstan.py"


def test_what_a_program_says_of_errors_is_no_part_of_its_help_unless_it_is_all() -> None:
    said = {ask: json.loads(raw_of("help", CAPSTAN, folder=FOLDER, options={"ask": ask})) for ask in ("--help", "-h")}
    assert said["--help"]["pages"]["capstan"].startswith("usage: capstan")
    assert "usage: capstan" in said["-h"]["pages"]["capstan"]


def test_a_list_that_the_help_names_has_the_commands_that_it_leaves_out() -> None:
    raw = json.loads(raw_of("help", CAPSTAN, folder=FOLDER, options={"depth": 1}))
    assert (list(raw["lists"]), raw["denied"]) == (["capstan help -a"], ["capstan guide"])
    found = named(made("help", CAPSTAN, {"depth": 1}))
    assert {name: (one.syntax, one.summary) for name, one in found.items()} == {
        "capstan heave": ("capstan heave [--slow]", "Turn it"),
        "capstan veer": ("capstan veer <fathoms>", "Let it out"),
    }
    alone = json.loads(raw_of("help", CAPSTAN, folder=FOLDER, options={"depth": 1, "list": ""}))
    assert (alone["lists"], sorted(alone["pages"])) == ({}, ["capstan", "capstan heave"])


def test_options_that_a_program_completes_are_added_to_those_of_its_help() -> None:
    found = named(made("help", CAPSTAN, {"depth": 1, "complete": "--git-completion-helper"}))
    taken = {one.name: one.type for one in found["capstan heave"].parameters or ()}
    assert taken == {"--slow": None, "--pawl": "<value>", "--no-slow": None}


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["node", "bin/cli.mjs", "up"], ["cli", "up"]),
        (["python3", "-m", "tool"], ["tool"]),
        (["java", "-jar", "build/tool.jar"], ["tool"]),
        (["/opt/tool"], ["tool"]),
        (["node"], ["node"]),
    ],
)
def test_a_program_is_called_as_it_would_be_if_it_were_installed(words: list[str], name: list[str]) -> None:
    assert programs.called_by(words) == name


def test_nothing_is_a_shells() -> None:
    with pytest.raises(CommandError):
        raw_of("help", "git; echo harm > harmed", folder=FOLDER, options={})
    assert not (FOLDER / "harmed").exists()


def test_help_that_goes_on_for_ever_is_given_up_and_what_is_left_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "MAX_PAGES", 2)
    raw = raw_of("help", str(PROGRAMS / "flask"), folder=FOLDER, options={"depth": 1})
    found = plan.generate("help", raw, source="flask", options={})
    assert json.loads(raw)["unasked"] == ["flask run", "flask shell"]
    assert [one.what for one in found.unread] == [
        "2 commands were not asked: the time or the number is used up: flask run, flask shell."
    ]


def test_a_help_text_that_was_saved_is_read_without_running_anything(tmp_path: Path) -> None:
    (tmp_path / "tool.txt").write_text("Usage: tool [OPTIONS] COMMAND\n\nCommands:\n  dive  Go down.\n")
    raw = raw_of("help", "tool.txt", folder=tmp_path, options={})
    found = plan.generate("help", raw, source="tool.txt", options={})
    assert [(one.name, one.summary) for one in found.entries] == [("tool dive", "Go down.")]


def test_what_is_said_of_an_option_is_cut_to_what_a_catalogue_holds() -> None:
    long = Parameter(name="--long", place="option", description="word " * 300)
    command = Command(words=("kit", "run"), summary="Runs.", parameters=(long,))
    (entry,) = generated([command], [], CommandOptions(category="kit")).entries

    found = read_catalogue({"all.json": catalogue_file.written([entry])}, "kit")

    assert [one.entry.id for one in found.entries] == ["cmd-kit-run"]
    assert found.errors == ()


ROPE = """#!{python}
import os, pathlib, sys
words = sys.argv[1:]
with open({log!r}, "a") as log:
    print(*words, os.listdir("."), os.listdir(os.environ["HOME"]), sys.stdin.read(), sep="|", file=log)
pages = {{
    "help": "Rope holds.\\n\\nUsage:\\n\\trope <command>\\n\\nThe commands are:\\n\\n\\tknot        tie it\\n\\n"
    "Use \\"rope help <command>\\" for more.\\n",
    "help knot": "usage: rope knot [-t] <end>\\n\\nTies it.\\n",
}}
said = pages.get(" ".join(words))
unknown = f"rope: unknown. Run 'rope help {{words[0].strip('-help')}}' for usage. Home: " + os.environ["HOME"]
print(said if said else unknown)
sys.exit(0 if said else 2)
"""


def test_a_program_is_asked_with_nothing_of_ones_own_and_what_is_asked_is_printed_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, rope = tmp_path / "log", tmp_path / "rope"
    rope.write_text(ROPE.format(python=sys.executable, log=str(log)))
    rope.chmod(0o755)
    raw = raw_of("help", "./rope", folder=tmp_path, options={"depth": 1})
    asked = [line.split("|") for line in log.read_text().splitlines()]
    assert [" ".join(line[:-3]) for line in asked] == ["--help", "help", "knot --help", "help knot"]
    assert all(line[-3:] == ["[]", "[]", ""] for line in asked)
    said = capsys.readouterr().err.splitlines()
    assert said[0].strip() == "rope is asked for its help: `rope --help`, `rope help`, `man rope`."
    assert said[1].strip() == "rope: 1 command is asked for its help: knot."
    found = plan.generate("help", raw, source="rope", options={})
    assert [(one.name, one.syntax, one.summary) for one in found.entries] == [
        ("rope knot", "rope knot [-t] <end>", "Ties it.")
    ]
    assert str(tmp_path) not in raw.decode() and "commonplace-" not in raw.decode()


@pytest.mark.parametrize(
    ("page", "ways"),
    [
        ("See 'git help add' and 'git help -a'.", [["help", "add"], ["help", "-a"]]),
        ('Use "--help all" for all; "--help category" for some.', [["add", "--help", "all"]]),
        ("Run `git push --force`, 'git add .' or 'rm --help'.", []),
        ("Use \u201cgit options\u201d.", [["options"]]),
    ],
)
def test_a_page_leads_to_further_help_and_to_nothing_else(page: str, ways: list[list[str]]) -> None:
    assert programs.pointed(page, ["git", "add"], ["git"]) == ways
