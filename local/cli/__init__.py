"""The command line, `commonplace`. Each module of this folder is a command, and is imported when it runs.

The first line of a module is the help of its command; the rest of the command line goes to the module's `app`.
"""

import importlib
import importlib.metadata
import sys
from pathlib import Path
from typing import NoReturn

import typer

from local.errors import CommandError
from local.terminal import commands

PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}

OUTSIDE = ("botocore.", "httpx", "commonplace.")
"""Errors of these modules speak of the outside world, not of a defect: no traceback helps."""

app = commands("An organisation's knowledge, kept in one place and served to agents, web sites and people.")


@app.command()
def version() -> None:
    """Say which version this is."""
    typer.echo(importlib.metadata.version("commonplace"))


def modules() -> dict[str, Path]:
    """Name of a command -> the file of its module."""
    here = Path(__file__).parent
    files = {file.stem: file for file in here.glob("[!_]*.py")}
    return dict(sorted((files | {file.parent.name: file for file in here.glob("*/__init__.py")}).items()))


def parser(name: str) -> typer.Typer:
    """What understands a command's own arguments."""
    found: typer.Typer = importlib.import_module(f"{__name__}.{name}").app
    return found


def _add(name: str, file: Path) -> None:
    with file.open(encoding="utf-8") as source:
        text = source.readline().strip('"\n')

    @app.command(name, help=text, context_settings=PASS_ON)
    def run(context: typer.Context) -> None:
        try:
            parser(name)(args=context.args, prog_name=f"commonplace {name}")
        except CommandError as error:
            _fail(name, error.message, error.hint)
        except Exception as error:
            if not isinstance(error, OSError) and not type(error).__module__.startswith(OUTSIDE):
                raise
            _fail(name, f"{type(error).__name__}: {error}", "")


def _fail(command: str, message: str, hint: str) -> NoReturn:
    typer.echo(f"commonplace {command}: {message}", err=True)
    if hint:
        typer.echo(hint, err=True)
    sys.exit(1)


for _name, _file in modules().items():
    _add(_name, _file)
