"""Manual pages, and what a page of help says to be elsewhere."""

import json

import pytest

from commonplace.reference.model import Entry
from commonplace_generators import helptext
from commonplace_generators.generated import Generated
from commonplace_generators.man_pages import any_page

MOOR = """TIDE-MOOR(1)                 Tide Manual                 TIDE-MOOR(1)

NAME
       tide-moor - Tie a boat to
       its place

SYNOPSIS
       tide moor [-a | --all] [--line=<n>]
                 [<boat>...]
       tide moor --list | tide count

DESCRIPTION
       Ties boats. With
       -q is meant what nobody says here.

OPTIONS
       -a, --all
           Ties every boat, as
           --force never did.

       -i
       --in
           Stays within.

       -n <n>, --line=<n>
           How many lines.

       -x is an option of old, and no more.

EXAMPLES
           $ tide moor --all

SEE ALSO
       --nothing
           Elsewhere.
"""
TIDE = """TIDE(1)

NAME
       tide — keeps boats

SYNOPSIS
     tide [-v] COMMAND [ARG...]

COMMANDS
   Boats and lines
     moor BOAT...
             Ties a boat.

     set-line NAME=VALUE
             Sets a line.

     and
             # an example
"""


def made(pages: dict[str, str], **more: object) -> Generated:
    raw = json.dumps({"format": 3, "program": ["tide"], "pages": pages, **more})
    return helptext.generate(raw.encode(), source="tide", options={})


def entries(pages: dict[str, str], **more: object) -> dict[str, Entry]:
    return {one.name or "": one for one in made(pages, **more).entries}


def test_name_and_synopsis_of_a_manual_are_read_and_sentences_make_no_option() -> None:
    one = entries({"tide moor": MOOR})["tide moor"]
    assert one.summary == "Tie a boat to its place"
    assert (one.syntax, one.usages) == ("tide moor [-a | --all] [--line=<n>] [<boat>...]", ["tide moor --list"])
    options = {it.name: (it.aliases, it.description) for it in one.parameters or () if it.place == "option"}
    assert options == {
        "--all": (["-a"], "Ties every boat, as --force never did."),
        "--in": (["-i"], "Stays within."),
        "--line": (["-n"], "How many lines."),
        "--list": ([], ""),
    }
    assert [it.code for it in one.examples] == ["tide moor --all"]


def test_commands_of_a_manual_are_those_of_a_program_that_takes_one() -> None:
    assert set(entries({"tide": TIDE})) == {"tide", "tide moor", "tide set-line"}
    assert entries({"tide": TIDE})["tide set-line"].syntax == "tide set-line NAME=VALUE"
    assert set(entries({"tide": TIDE.replace("[-v] COMMAND", "-E <command>")})) == {"tide"}


def test_pages_of_one_command_are_read_together() -> None:
    short = "usage: tide moor [<boat>]\n\n    -q, --quiet   Say nothing\n\nSee 'man tide-moor' for all options.\n"
    one = entries({"tide moor": short}, more={"tide moor": [MOOR]})["tide moor"]
    assert {"--quiet", "--all"} <= {it.name for it in one.parameters or ()}
    assert "options" not in one.partial
    assert "options" in entries({"tide moor": short})["tide moor"].partial


@pytest.mark.parametrize(
    ("said", "partial"),
    [
        ("This is not the full help.", {"options"}),
        ("For all options use the manual.", {"options"}),
        ("See https://tide.example/docs for more.", {"options"}),
        ("Run 'tide COMMAND --help' for more information on a command.", set()),
        ('Use "tide help <topic>" for more information about that topic.', set()),
        ("These are common tide commands used in various situations:", {"commands"}),
        (" -*    Any supported cipher", {"any"}),
        ("Nothing is said of more.", set()),
    ],
)
def test_a_page_that_points_elsewhere_lists_a_part(said: str, partial: set[str]) -> None:
    page = any_page(f"Usage: tide moor [-q]\n\n{said}\n\nOptions:\n  -q   Say nothing\n", ("tide", "moor"))
    assert page.partial == partial


@pytest.mark.parametrize(
    ("listed", "names"),
    [
        ("CORE COMMANDS\n  auth:   Sign in\n  codespace: Work there\n", {"tide auth", "tide codespace"}),
        ("Available commands:\n  about         Says it\n cache\n  cache clear   Clears it\n",
         {"tide about", "tide cache clear"}),
        ("Standard commands\nreq    ca     dgst   \nenc    rand   \n",
         {"tide req", "tide ca", "tide dgst", "tide enc", "tide rand"}),
        ("Commands:\n  set A=B...   Sets it\n  show X       Shows\n  long-name UNIT A=B... Sets it too\n",
         {"tide set", "tide show", "tide long-name"}),
    ],
    ids=["name and colon", "two words", "columns", "pairs"],
)  # fmt: skip
def test_layouts_of_lists(listed: str, names: set[str]) -> None:
    assert set(entries({"tide": f"Usage: tide <command>\n\n{listed}"})) == names


def test_a_usage_that_leaves_the_program_out_is_that_of_its_command() -> None:
    found = entries(
        {"tide": "Usage: tide COMMAND\n\nCommands:\n  req   Asks\n", "tide req": "Usage: req [options] <x>\n"}
    )
    assert found["tide req"].syntax == "tide req [options] <x>"


def test_a_program_that_is_lost_is_an_error_and_names_without_a_page_are_counted() -> None:
    lost = "Usage: tide <command>\n\nThe commands:\n  moor, tie to   Ties\n  set, lay to   Sets\n  req   Asks\n"
    lost += "  go, run to   Goes\n  end, stop to   Ends\n"
    errors = [one.what for one in made({"tide": lost}).unread if one.severity == "error"]
    assert errors == ["Its help shows 5 words that may be commands; 1 of them were understood."]
    nothing = [one for one in made({"tide": "Boats are kept here.\n"}).unread if one.severity == "error"]
    assert nothing[0].what == "No command was found in its help."
    counted = made({"tide": "Usage: tide COMMAND\n\nCommands:\n  req   Asks\n  ca    Signs\n"})
    assert [one.what for one in counted.unread] == ["2 commands have no page of their own: tide ca, tide req."]
