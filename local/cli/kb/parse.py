"""`commonplace kb parse`: entries out of files that a team already has, as YAML to look through."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from local.cli.kb.connection import Role
from local.errors import CommandError

if TYPE_CHECKING:
    from commonplace.memory.entry_files import Parsed
    from commonplace.memory.model import Role as RoleName

MARK = "# Made by `commonplace kb parse`; edited since if this is not the hash of the rest: "


Files = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Markdown files.", exists=True, dir_okay=False)]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="The YAML file; default: print it.")]
Roles = Annotated[list[Role] | None, typer.Option("--role", help="Whom all entries are for; may be repeated.")]
Force = Annotated[bool, typer.Option("--force", help="Write over a file that was edited by hand.")]

parse_app = typer.Typer(
    help="Make entries of a team's files, as YAML.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@parse_app.command()
def lessons(files: Files, *, output: Output = None, role: Roles = None, force: Force = False) -> None:
    """Make a summary of each story, a fact of each lesson."""
    from commonplace.memory.parsers import lessons as parser

    roles = _roles(role) or parser.ROLES
    _write([_read(file, lambda text, name: parser.parse(text, name, roles)) for file in files], output, force)


@parse_app.command()
def templates(files: Files, *, output: Output = None, role: Roles = None, force: Force = False) -> None:
    """Make a template of each file. Tags come from its path, roles from its kind."""
    from commonplace.memory.parsers import templates as parser

    roles = _roles(role)
    _write([_read(file, lambda text, name: parser.parse(text, name, roles)) for file in files], output, force)


@parse_app.command()
def claude(files: Files, *, output: Output = None, role: Roles = None, force: Force = False) -> None:
    """Make a fact of each rule. The headings above it become its tags."""
    from commonplace.memory.parsers import claude as parser

    roles = _roles(role) or parser.ROLES
    _write([_read(file, lambda text, name: parser.parse(text, name, roles)) for file in files], output, force)


def _roles(role: list[Role] | None) -> "tuple[RoleName, ...]":
    return tuple(dict.fromkeys(one.value for one in role or ()))


def _read(file: Path, parse: "Callable[[str, str], Parsed]") -> "Parsed":
    from commonplace.memory.parsers.markdown import MAX_CHARACTERS
    from local.cli.kb.files import read_text, relative
    from local.terminal import counted

    text = read_text(file)
    if len(text) > MAX_CHARACTERS:
        raise CommandError(f"{file} has more than {MAX_CHARACTERS:,} characters.", "Cut it into several files.")
    found = parse(text, relative(file))
    kinds = {kind: sum(one.entry_type == kind for one in found.seeds) for kind in ("summary", "fact", "template")}
    many = {"summary": "summaries", "fact": "facts", "template": "templates"}
    told = ", ".join(counted(count, kind, many[kind]) for kind, count in kinds.items() if count)
    typer.echo(f"{file}: {told or 'nothing'}", err=True)
    for remark in found.remarks:
        typer.echo(f"  {remark}", err=True)
    return found


def _write(parts: "Sequence[Parsed]", output: Path | None, force: bool) -> None:
    from commonplace.memory.entry_files import combined, write
    from local.cli.kb.files import write_whole
    from local.terminal import counted

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
    from local.cli.kb.files import read_text

    first, _, rest = read_text(file).partition("\n")
    return bool(first or rest) and first != f"{MARK}{_hash(rest)}"


def _hash(text: str) -> str:
    from hashlib import sha256

    return sha256(text.encode()).hexdigest()[:16]
