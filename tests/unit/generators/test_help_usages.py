"""What usages and rows of options say that a call takes, and help of several pages: one text for each difficulty."""

import json
from collections.abc import Mapping, Sequence

import pytest

from commonplace.reference.model import Entry
from commonplace_generators import helptext
from commonplace_generators.usages import head_of, option, taken


def made(pages: Mapping[str, str], root: str = "", **more: object) -> dict[str, Entry]:
    raw = json.dumps({"format": 2, "program": next(iter(pages)).split(), "pages": pages, **more}).encode()
    found = helptext.generate(raw, source="help", options={"root": root} if root else {})
    return {entry.name or "": entry for entry in found.entries}


def lines(entry: Entry) -> list[str]:
    return [one.line.removeprefix("- ") for one in entry.parameters or ()]


@pytest.mark.parametrize(
    ("term", "said"),
    [
        ("-m, --message <msg>", "`--message`, `-m` `<msg>`"),
        ("-m MESSAGE, --message MESSAGE", "`--message`, `-m` `MESSAGE`"),
        ("-A, --all-namespaces=false:", "`--all-namespaces`, `-A`: (default: false)"),
        ("-f, --filename=[]:", "`--filename`, `-f` `<list>`: (default: [])"),
        ("--chunk-size=500:", "`--chunk-size` `<number>`: (default: 500)"),
        ("--color[=<when>]", "`--color` `[=<when>]`"),
        ("-S, --gpg-sign[=<key-id>]", "`--gpg-sign`, `-S` `[=<key-id>]`"),
        ('--dry-run string[="client"]', "`--dry-run` `[=string]`"),
        ("-p, --package [<SPEC>]", "`--package`, `-p` `[<SPEC>]`"),
        ("--[no-]status", "`--status`, `--no-status`"),
        ("-S|--save", "`--save`, `-S`"),
        ("-H --host=[USER@]HOST", "`--host`, `-H` `[USER@]HOST`"),
        ("-v, --verbose...", "`--verbose`, `-v`"),
        ("-am,--also-make", "`--also-make`, `-am`"),
        ("-lock=true", "`-lock` `[=true]`"),
        ("-u, --user <user:password> Server user and password", "`--user`, `-u` `<user:password>`: Server user and"),
    ],
)
def test_a_row_says_the_spellings_of_an_option_and_its_value(term: str, said: str) -> None:
    found = option(term)
    assert found is not None and found.line.startswith(f"- {said}")


def test_a_value_that_may_be_left_out_is_not_the_next_word() -> None:
    takes = {term: found.takes_next for term in ("-x", "-x <y>", "-x[=<y>]", "-x [<y>]") if (found := option(term))}
    assert takes == {"-x": False, "-x <y>": True, "-x[=<y>]": False, "-x [<y>]": True}


@pytest.mark.parametrize(
    ("usage", "said"),
    [
        ("moor [-h] [--tight] boat", ["`-h`", "`--tight`", "`boat` (argument, required)"]),
        ("moor [<boat> ...]", ["`<boat>...` (argument)"]),
        (
            "moor IMAGE [COMMAND] [ARG...]",
            ["`IMAGE` (argument, required)", "`COMMAND` (argument)", "`ARG...` (argument)"],
        ),
        ("moor [-q | --quiet] (-d | -D) <boat>", ["`--quiet`, `-q`", "`-d`", "`-D`", "`<boat>` (argument, required)"]),
        ("moor (-f FILE | TYPE NAME)", ["`-f` `FILE`", "`TYPE` (argument)", "`NAME` (argument)"]),
        ("moor <BOATS|--from <FILE>>", ["`BOATS` (argument)", "`--from` `<FILE>`"]),
        ("moor [--fix [(a|b):]<x>)] [--tight]", ["`--fix` `[(a|b):]<x>`", "`--tight`"]),
        ("moor [-46AaCf] [-l user] [user@]host", [*(f"`-{one}`" for one in "46AaCf"), "`-l` `user`"]),
        ("moor [build flags] [more options; see below] [boats]", ["`boats` (argument)"]),
    ],
)
def test_a_usage_says_what_is_required_and_what_is_repeated(usage: str, said: Sequence[str]) -> None:
    found = [one.line.removeprefix("- ") for one in taken(usage, ("moor",), {})]
    assert found[: len(said)] == list(said)


def test_a_flag_of_the_list_takes_no_argument_away_from_a_usage() -> None:
    flag, valued = option("-r"), option("-C <commit>")
    assert flag and valued
    known = {"-r": flag, "-C": valued}
    assert [one.name for one in taken("moor [-r <boat>] (-C) <commit>", ("moor",), known)] == ["-r", "<boat>", "-C"]


def test_words_of_a_command_stand_behind_options_too() -> None:
    assert head_of("tide [--quiet] add [-b <x>] <url>", ("tide",)) == ("add",)
    assert head_of("tide [global options] apply [PLAN]", ("tide", "apply")) == ()
    assert head_of("tide-add <x>", ("tide", "add")) == ()
    assert head_of("tide drop <x>", ("tide", "add")) is None


STASH = """usage: tide [-q] <command>

All commands:
   keep   Keep what is not finished

"""
KEEP = """usage: tide keep list [<options>]
   or: tide keep drop [-q | --quiet] [<mark>]
   or: tide keep [push [-m <message>]
                 [--] [<place>...]]
"""


def test_commands_that_usages_alone_tell_of_have_their_usage_and_the_page_of_their_group() -> None:
    found = made({"tide": STASH, "tide keep": KEEP})
    assert {name: one.syntax for name, one in found.items()} == {
        "tide keep": "tide keep [push [-m <message>] [--] [<place>...]]",
        "tide keep drop": "tide keep drop [-q | --quiet] [<mark>]",
        "tide keep list": "tide keep list [<options>]",
        "tide keep push": "tide keep push [-m <message>] [--] [<place>...]",
    }
    assert found["tide keep drop"].summary == "Keep what is not finished: drop"
    assert lines(found["tide keep drop"]) == [
        "`<mark>` (argument)",
        "`--quiet`, `-q`",
    ]


def test_arguments_of_several_usages_are_those_of_all_and_required_where_every_one_has_them() -> None:
    page = "usage: knot tie <rope> <post>\n   or: knot tie <rope> [--loose]\n"
    found = made({"knot tie": page})["knot tie"]
    assert found.usages == ["knot tie <rope> [--loose]"]
    assert lines(found) == ["`<rope>` (argument, required)", "`<post>` (argument)", "`--loose`"]


def test_bare_words_are_arguments_where_nothing_else_stands_in_their_place() -> None:
    page = "Usage:\npier org set orgname username [developer | owner]\npier org rm orgname username\n"
    found = made({"pier org": page})
    assert lines(found["pier org rm"]) == ["`orgname` (argument, required)", "`username` (argument, required)"]


CTL = """ctl keeps a harbour.

Available Commands:
  apply      Apply a plan

Usage:
  ctl [flags] [options]

Use "ctl options" for a list of global command-line options.
"""
APPLY = """Apply a plan.

 The order is:

  1.  First the flags.
  2.  Then the file.

Examples:
  # Apply the plan of a file
  ctl apply -f plan.yaml

  # Apply what another program says
  cat plan.yaml | ctl apply -f -

Available Commands:
  undo      Take a plan back

Options:
    --all=false:
\tEverything of the plan.

    -f, --filename=[]:
\tWhere the plan is.

Usage:
  ctl apply -f FILENAME [options]
"""


def test_a_group_that_is_a_command_has_an_entry_and_a_numbered_list_makes_none() -> None:
    lists = {"ctl options": "These can be passed to any command:\n\n    -n, --namespace='':\n\tWhich harbour.\n"}
    found = made({"ctl": CTL, "ctl apply": APPLY}, lists=lists)
    assert set(found) - {"ctl"} == {"ctl apply", "ctl apply undo"}
    assert lines(found["ctl apply"]) == [
        "`--all`: Everything of the plan. (default: false)",
        "`--filename`, `-f` `FILENAME` (required): Where the plan is. (default: [])",
        "`--namespace`, `-n` `<value>`: Which harbour. (default: '')",
    ]
    assert [(one.description, one.code) for one in found["ctl apply"].examples] == [
        ("Apply the plan of a file", "ctl apply -f plan.yaml"),
        ("Apply what another program says", "cat plan.yaml | ctl apply -f -"),
    ]


def test_lists_of_all_commands_add_those_that_the_program_does_not_deny() -> None:
    listing = (
        "Installed Commands:\n    keep   Keep it\n    k      alias: keep\n    mend   Mend it\n    guide  A guide\n"
    )
    found = made(
        {"tide": STASH, "tide keep": "usage: tide keep\n"}, lists={"tide --list": listing}, denied=["tide guide"]
    )
    assert set(found) == {"tide keep", "tide mend"}
    assert found["tide keep"].aliases == ["tide k"]
    assert found["tide mend"].parameters is None


def test_a_page_that_is_about_another_command_makes_a_name_an_alias() -> None:
    pages = {
        "reef": "Usage: reef <COMMAND>\n\nCommands:\n  build  Build it\n  b      Short\n",
        "reef build": "Build it.\n\nUsage: reef build [--fast]\n",
        "reef b": "Build it.\n\nUsage: reef build [--fast]\n",
    }
    assert {name: one.aliases for name, one in made(pages).items()} == {"reef build": ["reef b"]}


def test_aliases_of_a_page_are_those_of_the_command() -> None:
    listed = "Usage: reef group list [flags]\n\nAliases:\n  reef group list, reef group ls\n\nFlags:\n  -a   all\n"
    assert made({"reef group list": listed})["reef group list"].aliases == ["reef group ls"]
    line = "Install a package\n\nUsage:\nreef install [<name>]\n\naliases: add, i\n"
    assert made({"reef install": line})["reef install"].aliases == ["reef add", "reef i"]


def test_options_of_a_synopsis_give_the_values_that_their_rows_do_not() -> None:
    page = (
        "Install\n\nUsage:\nreef add [<name> ...]\n\nOptions:\n[-S|--save|--no-save] [--omit <dev|peer>]\n"
        "[-w|--workspace <name> [-w|--workspace <name> ...]]\n\n  -S|--save\n    Keep it.\n\n  --omit\n    Leave it\n"
    )
    assert lines(made({"reef add": page})["reef add"]) == [
        "`<name>...` (argument)",
        "`--save`, `-S`: Keep it.",
        "`--omit` `<dev|peer>`: Leave it",
        "`--no-save`",
        "`--workspace`, `-w` `<name>`",
    ]


def test_options_of_a_group_are_those_of_its_commands_and_where_they_stand_is_said() -> None:
    pages = {
        "tide": "Usage: tide [-C <path>] COMMAND\n\nCommands:\n  keep  Keep it\n\nOptions:\n  --debug  Say more\n",
        "tide keep": "Usage: tide keep [--debug]\n",
    }
    assert lines(made(pages)["tide keep"]) == ["`--debug`", "`-C` `<path>`: Given to `tide`, before the command."]


def test_a_program_is_called_by_its_root_whatever_file_it_was_started_as() -> None:
    pages = {
        "cli": "node cli.js <command>\n\nCommands:\n  cli.js serve [port]  Serve it  [aliases: s]\n".replace(
            "node ", ""
        ),
        "cli serve": "cli.js serve [port]\n\nServe it\n\nOptions:\n  -q, --quiet  Say less  [boolean]\n",
    }
    found = made(pages, root="dock")
    assert {name: (one.syntax, one.aliases) for name, one in found.items()} == {
        "dock serve": ("dock serve [port]", ["dock s"])
    }


def test_options_right_below_a_usage_are_none_of_it_and_prose_below_it_no_usage() -> None:
    found = made({"fetch": "Usage: fetch [options...] <url>\n -d, --data <data>   Send it\n -f, --fail   Fail\n"})[
        "fetch"
    ]
    assert found.syntax == "fetch [options...] <url>"
    assert [one.name for one in found.parameters or ()] == ["<url>", "--data", "--fail"]
    told = "Usage: apt [options] command\n\napt is the manager of packages for us.\n\nCommands:\n  list - list it\n"
    assert {name: one.summary for name, one in made({"apt": told}).items()} == {"apt list": "list it"}


@pytest.mark.parametrize(
    "usage", ["[" * 9_000, "(" * 4_000 + ")" * 4_000, "[--a|" * 1_500, "<-a|" * 1_500 + ">" * 1_500]
)
def test_brackets_without_end_are_read_as_far_as_it_makes_sense(usage: str) -> None:
    assert len(taken(f"moor {usage}", ("moor",), {})) < 1_000


def test_prose_among_arguments_is_none_of_them() -> None:
    page = "usage: tide [-h] place\n\nPositional arguments:\n  These come after any flags.\n  place  where\n"
    assert [one.name for one in made({"tide": page})["tide"].parameters or ()] == ["place", "-h"]
