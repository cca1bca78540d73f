"""Commands out of help texts: one text for each layout, and any bytes at all."""

import contextlib
import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.kernel.errors import InvalidInput
from commonplace.reference.model import Entry
from commonplace.reference.source.reader import read_catalogue
from commonplace_generators import catalogue_file, helptext, programs
from commonplace_generators.help_pages import lines_of, page
from tests.examples import examples

CLICK = """Usage: harbour [OPTIONS] COMMAND [ARGS]...

  Berths, boats and tides.

  Keep your lines dry.

Options:
  -p, --port NAME  The harbour that is meant, if it is not the one
                   that was meant before.
  --help           Show this message and exit.

Commands:
  berth  Berths along the quays.
  moor   Moor boats where
         there is room.
"""
ARGPARSE = """usage: beacon [-h] [--coast COAST] {light,lamp,run} ...

Lights along the coast.

positional arguments:
  {light,lamp,run}
    light (lamp)   lights and their characters
    run            run a program

options:
  -h, --help       show this help message and exit
  --coast COAST    the coast that is meant

Keep a good lookout.
"""
RICH = """
 Usage: lagoon [OPTIONS] COMMAND [ARGS]...

 What lives in a lagoon.

╭─ Options ───────────────────────────────────────────╮
│ *  --zone         <zone>  Where to look. [required]  │
│    --unsure  -u   <bool>  Not certain.               │
│    --help                 Show this message and exit. │
╰─────────────────────────────────────────────────────╯
╭─ Commands ──────────────────────────────────────────╮
│ count    Count a species.                            │
│ export   Write the counts                            │
│          to a file.                                  │
╰─────────────────────────────────────────────────────╯
"""
COBRA = """reefctl keeps the moorings of a reef.

 Find more at: https://reef.example

Basic Commands (Beginner):
  create          Lay a mooring
  get             Show moorings

Other Commands:
  completion      Write a completion script

Usage:
  reefctl [flags] [options]

Flags:
  -h, --help            help for reefctl
      --output string   how it is printed (default "table")

Use "reefctl <command> --help" for more information about a command.
"""
GIT = """usage: tide [--version] <command> [<args>]

These are common commands:

look at the water (see also: tide help looking)
   now       Show the tide now
   table     Show the tides of a week

write it down
   note      Keep a note

'tide help -a' lists all of them.
"""
NPM = """shells <command>

Usage:

shells add <shell>        add a shell to the drawer
shells find               find a shell

All commands:

    add, drop, find, ls,
    mend, swap
"""


def entries(text: str, root: str = "") -> dict[str, Entry]:
    found = helptext.generate(text.encode(), source="help.txt", options={"root": root} if root else {})
    return {entry.name or "": entry for entry in found.entries}


@pytest.mark.parametrize(
    ("text", "summaries"),
    [
        (CLICK, {"harbour berth": "Berths along the quays.", "harbour moor": "Moor boats where there is room."}),
        (ARGPARSE, {"beacon light": "lights and their characters", "beacon run": "run a program"}),
        (RICH, {"lagoon count": "Count a species.", "lagoon export": "Write the counts to a file."}),
        (
            COBRA,
            {
                "reefctl create": "Lay a mooring",
                "reefctl get": "Show moorings",
                "reefctl completion": "Write a completion script",
            },
        ),
        (
            GIT,
            {"tide now": "Show the tide now", "tide table": "Show the tides of a week", "tide note": "Keep a note"},
        ),
    ],
    ids=["click", "argparse", "typer", "cobra", "git"],
)
def test_the_commands_of_a_layout_are_found(text: str, summaries: dict[str, str]) -> None:
    found = entries(text)
    assert {name: one.summary for name, one in found.items() if " " in name} == summaries


def test_a_list_of_bare_names_is_read_and_told_to_say_little() -> None:
    found = helptext.generate(NPM.encode(), source="help.txt", options={"root": "shells"})
    assert [one.name for one in found.entries] == [
        f"shells {name}" for name in ("add", "drop", "find", "ls", "mend", "swap")
    ]
    assert {one.where for one in found.unread} >= {"shells drop", "shells mend"}


def test_a_usage_that_is_too_long_loses_the_names_of_its_options_and_no_argument() -> None:
    options = " ".join(f"[--option-{number} {{a,b}} | --no-option-{number} [now]]" for number in range(20))
    text = f"usage: reef add [-h] {options} name [name ...]\n\nAdds names.\n"
    assert entries(text)["reef add"].syntax == "reef add [options] name [name ...]"


ODD = {
    "reef": """Usage:
  reef [flags]
  reef [command]

Available Commands:
  config      Show the settings
  completing  Write a script
  chromastyles Write styles
""",
    "reef config": "Show the settings.\n\nUsage:\n  reef config [command] [flags]\n  reef config [command]\n\n"
    "Available Commands:\n  mounts      Show what is mounted\n",
    "reef config mounts": "Show what is mounted.\n\nUsage:\n  reef config mounts [flags]\n",
    "reef completing": "# complete -F _reef reef\n\nCommands:\n  if   [ -n x ]\n  fi   done\n",
    "reef chromastyles": "Usage: reef chromastyles|styles [options] [name]\n\nOptions:\n  --dark  At night\n",
}


def test_placeholders_scripts_and_wide_names_make_no_command_and_hide_none() -> None:
    raw = json.dumps({"format": 1, "program": ["reef"], "pages": ODD})
    found = entries(raw)
    names = ["config", "config mounts", "completing", "chromastyles"]
    assert found.keys() - {"reef"} == {f"reef {name}" for name in names}
    assert found["reef config"].syntax == "reef config [command] [flags]"
    assert found["reef chromastyles"].syntax == "reef chromastyles [options] [name]"
    assert found["reef chromastyles"].summary == "Write styles"
    assert "--dark" in [one.name for one in found["reef chromastyles"].parameters or ()]
    assert helptext.below(ODD["reef"], ["reef"]) == ["config", "completing", "chromastyles"]


def test_other_names_of_a_command_are_its_aliases() -> None:
    assert entries(ARGPARSE)["beacon light"].aliases == ["beacon lamp"]
    listed = "Usage: x <COMMAND>\n\nCommands:\n  list, ls    Show all.\n  drop        Drop it. [aliases: rm, del]\n"
    assert {one.name: one.aliases for one in entries(listed, "x").values()} == {
        "x list": ["x ls"],
        "x drop": ["x rm", "x del"],
    }


def test_options_keep_their_spelling_and_what_is_said_of_them() -> None:
    assert [one.line for one in page(RICH).parameters][:2] == [
        "- `--zone` `<zone>` (required): Where to look. [required]",
        "- `--unsure`, `-u`: Not certain.",
    ]
    assert (
        page(CLICK).parameters[0].description
        == "The harbour that is meant, if it is not the one that was meant before."
    )


def test_options_whose_text_stands_below_them_are_read() -> None:
    text = "Usage: r c [OPTIONS]\n\nOptions:\n      --fix\n          Mend it.\n\n  -w, --watch\n          Look on.\n"
    assert [one.line for one in page(text).parameters] == ["- `--fix`: Mend it.", "- `--watch`, `-w`: Look on."]


def test_an_argument_that_a_list_repeats_is_repeated_though_the_usage_names_it_once() -> None:
    text = "Add packages.\n\nUsage: uv add <NAMES|--from <FILE>>\n\nArguments:\n  [NAMES]...\n          Packages.\n"
    [entry] = entries(text).values()
    assert entry.parameters is not None
    assert [one.name for one in entry.parameters if one.place == "argument"] == ["NAMES..."]


def test_a_page_without_commands_is_a_command() -> None:
    text = "usage: moor [-h] [--tight] boat\n\nMoor a boat. Asks first.\n\npositional arguments:\n  boat  which one\n"
    [entry] = entries(text).values()
    assert (entry.name, entry.syntax, entry.summary) == ("moor", "moor [-h] [--tight] boat", "Moor a boat.")
    assert "`boat` (argument, required): which one" in entry.text


def test_several_usages_name_commands_of_their_own() -> None:
    text = "usage: buoy [-v]\n   or: buoy add [-t] <name>\n   or: buoy drop <name>\n\n    -v   say more\n"
    assert {name: one.syntax for name, one in entries(text).items()} == {
        "buoy": "buoy [-v]",
        "buoy add": "buoy add [-t] <name>",
        "buoy drop": "buoy drop <name>",
    }


def test_pages_below_a_page_are_joined_with_what_the_page_says_of_them() -> None:
    pages = {"harbour": CLICK, "harbour moor": "Usage: harbour moor [OPTIONS] BOAT\n\nOptions:\n  --tight  Closer.\n"}
    raw = json.dumps({"format": 1, "pages": pages}).encode()
    found = {one.name: one for one in helptext.generate(raw, source="harbour", options={}).entries}
    assert found["harbour moor"].syntax == "harbour moor [OPTIONS] BOAT"
    assert found["harbour moor"].summary == "Moor boats where there is room."
    assert "`--tight`: Closer." in found["harbour moor"].text


def test_colours_boxes_and_overstruck_letters_are_taken_off() -> None:
    assert lines_of("\x1b[1mUsage:\x1b[0m x\r\nN\x08NA\x08AME") == ["Usage: x", "NAME"]
    assert lines_of("╭─ Options ─╮\n│ --x  y    │\n╰───────────╯") == ["Options:", "   --x  y"]


def test_a_text_that_names_no_program_is_refused_unless_it_is_named() -> None:
    with pytest.raises(InvalidInput):
        helptext.generate(b"nothing to see", source="x.txt", options={})
    assert list(entries("nothing to see", "x")) == ["x"]


@settings(max_examples=examples(40, soak=3_000), deadline=None)
@given(st.one_of(st.binary(max_size=600), st.text(max_size=600).map(lambda text: text.encode("utf-8", "replace"))))
def test_no_bytes_raise_anything_else(raw: bytes) -> None:
    helptext.generate(raw, source="x", options={"root": "x"})


@settings(max_examples=examples(40, soak=2_000), deadline=None)
@given(st.data())
def test_no_damage_to_a_help_text_raises(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([CLICK, ARGPARSE, RICH, COBRA, GIT, NPM]))
    lines = data.draw(st.permutations(text.splitlines()))
    cut = data.draw(st.integers(min_value=0, max_value=len(text)))
    helptext.generate("\n".join(lines)[cut:].encode(), source="x", options={"root": "x"})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.sampled_from(["name", "help", "params", "commands", "group", "aliases", "names", "argument", "choices"]),
        inner,
        max_size=6,
    ),
    max_leaves=20,
)  # fmt: skip


@settings(max_examples=examples(40, soak=3_000), deadline=None)
@given(st.binary(max_size=200) | JSON.map(lambda told: json.dumps({"format": 1, "program": told}).encode()))
def test_what_describes_no_program_is_refused_and_nothing_else_happens(raw: bytes) -> None:
    with contextlib.suppress(InvalidInput):
        programs.generate(raw, source="x:y", options={"root": "x"})


def test_names_that_differ_in_their_signs_alone_are_one_command() -> None:
    told = {"name": "x", "group": True, "commands": [{"name": "a-b"}, {"name": "a_b"}, {"name": "a.b"}]}
    raw = json.dumps({"format": 1, "program": told}).encode()
    found = programs.generate(raw, source="x", options={}).entries
    assert [(one.id, one.aliases) for one in found if one.name == "x a-b"] == [("cmd-a-b", ["x a_b"])]
    raw = catalogue_file.written(catalogue_file.dated(found, None, "2026-01-01T00:00:00Z"))
    reading = read_catalogue({"commands.json": raw}, "x")
    assert not reading.errors


def test_names_that_would_have_one_id_have_one_each() -> None:
    told = {"name": "x", "group": True, "commands": [{"name": "a b"}, {"name": "a"}, {"name": "a!b"}]}
    raw = json.dumps({"format": 1, "program": told}).encode()
    ids = [one.id for one in programs.generate(raw, source="x", options={}).entries]
    assert len(set(ids)) == len(ids)


def test_another_commands_name_is_nobodys_alias() -> None:
    told = {"name": "x", "group": True, "commands": [{"name": "a", "aliases": ["b", "c"]}, {"name": "b"}]}
    raw = json.dumps({"format": 1, "program": told}).encode()
    found = {one.name: one.aliases for one in programs.generate(raw, source="x", options={}).entries}
    assert found == {"x a": ["x c"], "x b": []}


def test_a_catalogue_may_say_more_aliases_and_keywords_than_the_program() -> None:
    options = {"aliases": {"harbour moor": ["tie up a boat"]}, "keywords": {"harbour moor": ["rope"]}}
    found = {one.name: one for one in helptext.generate(CLICK.encode(), source="h", options=options).entries}
    assert found["harbour moor"].aliases == ["tie up a boat"]
    assert found["harbour moor"].keywords[0] == "rope"


def test_the_same_page_gives_the_same_bytes_in_every_process() -> None:
    rows = [f"  {name:<10} Alias for install" for name in ("i", "in", "ins", "inst", "insta", "instal", "add", "put")]
    page = "Usage: crane <command>\n\nCommands:\n" + "\n".join(["  install    Install a crane.", *rows]) + "\n"
    script = (
        "import sys; from commonplace_generators import helptext;"
        "from commonplace_generators.catalogue_file import written;"
        "found = helptext.generate(sys.stdin.buffer.read(), source='crane', options={});"
        "sys.stdout.buffer.write(written(found.entries))"
    )
    raw = json.dumps({"format": 1, "pages": {"crane": page}}).encode()
    made = {
        subprocess.run(
            [sys.executable, "-c", script],
            input=raw,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3", "4")
    }
    (only,) = made
    assert b'"crane add"' in only
