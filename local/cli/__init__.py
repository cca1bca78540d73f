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

COMMANDS = {
    "dev": ("dev_command", "Serve a knowledge base on this machine."),
    "sync": ("sync_app", "Look at the sync, ask for a run, read reports."),
    "validate": ("validate_command", "Check the Markdown files of a folder."),
    "search": ("search_command", "Search the knowledge base that runs here, or that is deployed."),
    "connect": ("connect_command", "Say how to connect an MCP client."),
    "smoke": ("smoke_command", "Check a deployment from outside, after it was made."),
    "opensearch": ("opensearch_app", "Run an OpenSearch node on this machine."),
    "operators": ("operators_app", "Make the key with which operators have a search explained."),
    "clients": ("clients_app", "Register, list and remove the applications that may ask for tokens."),
    "grants": ("grants_app", "See what clients may do, end it, and read the records of it."),
    "tokens": ("tokens_app", "Make a token for a program that nobody sits in front of."),
    "kb": ("kb_app", "A team's memory: fill it from files, ask it, record what a story taught."),
    "reference": ("reference_app", "Catalogues of commands and endpoints: generate, check, compare and search them."),
    "index": ("index_app", "Build the search index anew, check it, and swap it in."),
}
"""Name of a command, which is that of its module in `local.cli` -> what stands for it there, and its help."""

app = typer.Typer(
    name="commonplace",
    help="An organisation's knowledge, kept in one place and served to agents, web sites and people.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.command()
def version() -> None:
    """Say which version this is."""
    typer.echo(importlib.metadata.version("commonplace"))


def _hand_over(command: str, name: str, text: str) -> None:
    @app.command(command, help=text, context_settings=PASS_ON)
    def run(context: typer.Context) -> None:
        _run(command, name, context)


def _run(module: str, name: str, context: typer.Context) -> None:
    """Hands the rest of the command line to a command's own parser, and tells its errors in two sentences."""
    command = getattr(importlib.import_module(f"local.cli.{module}"), name)
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


for _command, (_name, _text) in COMMANDS.items():
    _hand_over(_command, _name, _text)

if __name__ == "__main__":
    app()
