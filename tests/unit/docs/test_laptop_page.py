"""docs/start/laptop.md has every option of `commonplace dev`."""

from typing import Any

import typer

from commonplace_local.cli import parser
from tests.unit.docs.pages import ROOT, first_cells, rows, section

PAGE = ROOT / "docs" / "start" / "laptop.md"


def test_the_page_has_every_option_and_no_other() -> None:
    command: Any = typer.main.get_command(parser("dev"))
    options = {max(one.opts, key=len) for one in command.params if one.param_type_name == "option"}
    table = " ".join(" ".join(row) for row in rows(section(PAGE, "Serve your own")))
    listed = {name.split()[0] for name in first_cells(PAGE, "Serve your own") if name.startswith("--")}
    assert [option for option in options if f"`{option}" not in table] == []
    assert listed <= options
