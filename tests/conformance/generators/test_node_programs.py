"""Help that programs print which are made with commander and yargs, beside what the programs say they take."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from commonplace.reference.model import Entry
from commonplace_generators.plan import generate
from commonplace_local.cli.reference.programs import raw_of
from tests.conformance.mcp.clients import or_skipped

HERE = Path(__file__).parent / "node"
FOLDER = HERE.parents[3] / ".tools" / "help-programs"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Mapping[str, Entry]]:
    """Program -> its entries by name. The programs are run as files, as nobody has installed them."""
    folder = or_skipped(tmp_path_factory.mktemp("home"), HERE, FOLDER).folder
    found: dict[str, Mapping[str, Entry]] = {}
    for name in ("pier", "sluice"):
        shutil.copyfile(HERE / f"{name}.cjs", folder / f"{name}.cjs")
        raw = raw_of("help", f"node ./{name}.cjs", folder=folder, options={"depth": 2})
        entries = generate("help", raw, source=name, options={}).entries
        found[name] = {entry.name or "": entry for entry in entries}
    return found


def lines(entry: Entry) -> list[str]:
    """Its parameters, without those of every command."""
    beside = {"--help", "--version", "--loud", "--verbose"}
    return [one.line.removeprefix("- ") for one in entry.parameters or () if one.name not in beside]


def test_commands_of_commander_are_read(programs: Mapping[str, Mapping[str, Entry]]) -> None:
    pier = programs["pier"]
    assert {name: one.syntax for name, one in pier.items()} == {
        "pier": "pier [options] [command]",
        "pier book": "pier book [options] <boat> [nights...]",
        "pier buoy lay": "pier buoy lay [options] <place>",
        "pier buoy lift": "pier buoy lift [options] <place>",
        "pier help": "pier help [command]",
    }
    assert (pier["pier book"].summary, pier["pier book"].aliases) == ("Book a berth for a boat", ["pier b"])
    assert lines(pier["pier book"]) == [
        "`<boat>` (argument, required): name of the boat",
        "`nights...` (argument): which nights",
        "`--quay`, `-q` `<name>`: along which quay",
        "`--no-power`: without a plug",
        "`--note` `[text]`: what the harbour master reads",
        '`--size` `<size>`: of the boat (choices: "small", "large", default: "small")',
    ]


def test_commands_of_yargs_are_called_by_the_program_and_not_by_its_file(
    programs: Mapping[str, Mapping[str, Entry]],
) -> None:
    sluice = programs["sluice"]
    assert {name: one.syntax for name, one in sluice.items()} == {
        "sluice close": "sluice close [gate]",
        "sluice level": "sluice level",
        "sluice level set": "sluice level set <metres>",
        "sluice level show": "sluice level show",
        "sluice open": "sluice open <gate>",
    }
    opened = sluice["sluice open"]
    assert (opened.summary, opened.aliases) == ("Open a gate", ["sluice o"])
    assert lines(opened) == [
        "`<gate>` (argument, required): which one [string] [required]",
        "`--width`, `-w` `<number>` (required): in metres [number] [required]",
        '`--side` `<value>`: which wing [choices: "left", "right"]',
    ]
    assert [(one.description, one.code) for one in opened.examples] == [
        ("A boat goes through", "sluice open north --width 3")
    ]
