"""The command line, `commonplace`. A command's own module is imported when it runs, so that help comes at once."""

import importlib
import importlib.metadata
import sys
from typing import NoReturn

import typer

from local.errors import CommandError

PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}

OUTSIDE = ("botocore.", "httpx", "commonplace.")
"""Errors of these modules speak of the outside world, not of a defect: no traceback helps."""

app = typer.Typer(
    name="commonplace",
    help="An organisation's knowledge, kept in one place and served to agents, web sites and people.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.command(context_settings=PASS_ON)
def dev(context: typer.Context) -> None:
    """Serve a knowledge base on this machine."""
    _run("dev", "dev_command", context)


@app.command(context_settings=PASS_ON)
def sync(context: typer.Context) -> None:
    """Look at the sync, ask for a run, read reports."""
    _run("sync", "sync_app", context)


@app.command(context_settings=PASS_ON)
def validate(context: typer.Context) -> None:
    """Check the Markdown files of a folder."""
    _run("validate", "validate_command", context)


@app.command(context_settings=PASS_ON)
def search(context: typer.Context) -> None:
    """Search the knowledge base that runs here, or that is deployed."""
    _run("search", "search_command", context)


@app.command(context_settings=PASS_ON)
def opensearch(context: typer.Context) -> None:
    """Run an OpenSearch node on this machine."""
    _run("opensearch", "opensearch_app", context)


@app.command(context_settings=PASS_ON)
def operators(context: typer.Context) -> None:
    """Make the key with which operators have a search explained."""
    _run("operators", "operators_app", context)


@app.command(context_settings=PASS_ON)
def index(context: typer.Context) -> None:
    """Build the search index anew, check it, and swap it in."""
    _run("index", "index_app", context)


@app.command()
def version() -> None:
    """Say which version this is."""
    typer.echo(importlib.metadata.version("commonplace"))


def _run(module: str, name: str, context: typer.Context) -> None:
    """Hands the rest of the command line to a command's own parser, and tells its errors in two sentences."""
    command = getattr(importlib.import_module(f"local.commands.{module}"), name)
    if not isinstance(command, typer.Typer):
        single = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
        single.command(help=command.__doc__)(command)
        command = single
    try:
        command(args=context.args, prog_name=f"commonplace {module}")
    except CommandError as error:
        _fail(module, error.message, error.hint)
    except Exception as error:
        if not isinstance(error, OSError) and not type(error).__module__.startswith(OUTSIDE):
            raise
        _fail(module, f"{type(error).__name__}: {error}", "")


def _fail(command: str, message: str, hint: str) -> NoReturn:
    typer.echo(f"commonplace {command}: {message}", err=True)
    if hint:
        typer.echo(hint, err=True)
    sys.exit(1)


if __name__ == "__main__":
    app()
