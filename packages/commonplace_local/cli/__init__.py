"""The command line, `commonplace`. Each module of this folder is a command, and is imported when it runs.

The first line of a module is the help of its command; the rest of the command line goes to the module's `app`.
"""

import importlib
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from commonplace import __version__
from commonplace.kernel.errors import CommonplaceError
from commonplace_local.errors import CommandError
from commonplace_local.extras import extra_of, lacks
from commonplace_local.terminal import CommandList, commands, worded

OUTSIDE = ("botocore.", "httpx", "commonplace.")
"""Errors of these modules speak of the outside world, not of a defect: no traceback helps."""


PARTS = {
    "Write": ("init", "dev", "validate", "why", "proposals", "kb", "hive", "reference", "governance"),
    "Ask": ("search", "connect", "partners"),
    "Operate": ("sync", "index", "smoke", "clients", "tokens", "grants", "operators"),
}


class Commands(CommandList):
    """The commands, each read from its module when it is run or completed; the list shows first lines alone."""

    parts = PARTS

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command's own parser in place of its line in the list."""
        name, listed, rest = super().resolve_command(ctx, args)
        return name, worded(typer.main.get_command(parser(name))) if name and listed else listed, rest

    def invoke(self, ctx: Any) -> Any:
        """Run a command; what it cannot do is a sentence without a traceback."""
        try:
            return super().invoke(ctx)
        except (CommandError, CommonplaceError) as error:
            _fail(ctx.invoked_subcommand, error.message, error.hint or "")
        except ModuleNotFoundError as error:
            if (extra := extra_of(error)) is None:
                raise
            missing = lacks(extra, "This command")
            _fail(ctx.invoked_subcommand, missing.message, missing.hint)
        except Exception as error:
            if not isinstance(error, OSError) and not type(error).__module__.startswith(OUTSIDE):
                raise
            _fail(ctx.invoked_subcommand, f"{type(error).__name__}: {error}", "")


app = commands(
    "An organisation's knowledge, kept in one place and served to agents, web sites and people.",
    cls=Commands,
    add_completion=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def top(
    *,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = (
        False
    ),
) -> None:
    """The program itself; options before the name of a command."""


def modules() -> dict[str, Path]:
    """Name of a command -> the file of its module."""
    here = Path(__file__).parent
    files = {file.stem: file for file in here.glob("[!_]*.py")}
    return dict(sorted((files | {file.parent.name: file for file in here.glob("*/__init__.py")}).items()))


def parser(name: str) -> typer.Typer:
    """What understands a command's own arguments."""
    found: typer.Typer = importlib.import_module(f"{__name__}.{name}").app
    return found


def _fail(command: str, message: str, hint: str) -> NoReturn:
    typer.echo(f"commonplace {command}: {message}", err=True)
    if hint:
        typer.echo(hint, err=True)
    sys.exit(1)


for _name, _file in modules().items():
    with _file.open(encoding="utf-8") as _source:
        app.command(_name, help=_source.readline().strip('"\n'))(lambda: None)
