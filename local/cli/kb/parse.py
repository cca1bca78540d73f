"""Entries out of files that a team already has, as YAML to look through."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import typer

from commonplace.memory.entry_files import Parsed, combined, write
from commonplace.memory.model import Role
from local.cli.kb.files import read_text, relative
from local.errors import CommandError
from local.files import write_whole
from local.memory import claude as rules
from local.memory import lessons as stories
from local.memory import templates as texts
from local.memory.markdown import MAX_CHARACTERS
from local.terminal import commands, counted

MARK = "# Made by `commonplace kb parse`; edited since if this is not the hash of the rest: "
MANY = {"summary": "summaries", "fact": "facts", "template": "templates"}

Files = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Markdown files.", exists=True, dir_okay=False)]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="The YAML file; default: print it.")]

Force = Annotated[bool, typer.Option("--force", help="Write over a file that was edited by hand.")]
Parse = Callable[[str, str, tuple[Role, ...]], Parsed]

app = commands("Make entries of a team's files, as YAML.")


class RoleName(StrEnum):
    """Typer knows no lists of literals."""

    PM = "pm"
    DEV = "dev"
    QA = "qa"
    ALL = "all"


Roles = Annotated[list[RoleName] | None, typer.Option("--role", help="Whom all entries are for; may be repeated.")]


@app.command()
def lessons(files: Files, *, output: Output = None, role: Roles = None, force: Force = False) -> None:
    """Make a summary of each story, a fact of each lesson."""
    _write(_parsed(files, stories.parse, _roles(role) or stories.ROLES), output, force)


@app.command()
def templates(files: Files, *, output: Output = None, role: Roles = None, force: Force = False) -> None:
    """Make a template of each file. Tags come from its path, roles from its kind."""
    _write(_parsed(files, texts.parse, _roles(role)), output, force)


@app.command()
def claude(files: Files, *, output: Output = None, role: Roles = None, force: Force = False) -> None:
    """Make a fact of each rule. The headings above it become its tags."""
    _write(_parsed(files, rules.parse, _roles(role) or rules.ROLES), output, force)


def _roles(role: list[RoleName] | None) -> tuple[Role, ...]:
    return tuple(dict.fromkeys(one.value for one in role or ()))


def _parsed(files: list[Path], parse: Parse, roles: tuple[Role, ...]) -> list[Parsed]:
    """What is made of each file, reported on standard error with what was left out."""
    parts = []
    for file in files:
        text = read_text(file)
        if len(text) > MAX_CHARACTERS:
            raise CommandError(f"{file} has more than {MAX_CHARACTERS:,} characters.", "Cut it into several files.")
        found = parse(text, relative(file), roles)
        kinds = {kind: sum(one.entry_type == kind for one in found.seeds) for kind in MANY}
        told = ", ".join(counted(count, kind, MANY[kind]) for kind, count in kinds.items() if count)
        typer.echo(f"{file}: {told or 'nothing'}", err=True)
        for remark in found.remarks:
            typer.echo(f"  {remark}", err=True)
        parts.append(found)
    return parts


def _write(parts: Sequence[Parsed], output: Path | None, force: bool) -> None:
    seeds = combined(parts).seeds
    if not seeds:
        raise CommandError("Nothing could be made of it.", "Is this the right parser? See: commonplace kb parse --help")
    text = write([one.as_import() for one in seeds])
    if output is None:
        typer.echo(text, nl=False)
        return
    if output.exists() and not force and _edited(output):
        hint = "Keep your changes and give another -o, or give --force."
        raise CommandError(f"{output} is there, and not as this command wrote it.", hint)
    write_whole(output, f"{MARK}{_hash(text)}\n{text}")
    typer.echo(f"{output}: {counted(len(seeds))}. Look it through, then: commonplace kb seed --file {output}", err=True)


def _edited(file: Path) -> bool:
    """Whether a file holds anything but what this command has written."""
    first, _, rest = read_text(file).partition("\n")
    return bool(first or rest) and first != f"{MARK}{_hash(rest)}"


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]
