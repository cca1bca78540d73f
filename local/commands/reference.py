"""`commonplace reference`: catalogues of commands, endpoints and guides, before they are published."""

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from local.commands.reference_deployed import gaps, status
from local.commands.reference_generate import generate
from local.commands.reference_init import init
from local.errors import CommandError

if TYPE_CHECKING:
    from commonplace.reference.model import Problem
    from commonplace.reference.source.reader import Reading
    from local.operations.reference_folders import Folder

Where = Annotated[str, typer.Argument(metavar="[FOLDER]", help="The folder of a catalogue, or REVISION:FOLDER.")]
Name = Annotated[str | None, typer.Option(help="Name of the catalogue; default: that of its folder.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

reference_app = typer.Typer(
    help="Catalogues of commands, endpoints and guides: generate, check, compare and search them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
reference_app.command()(init)
reference_app.command()(generate)
reference_app.command()(status)
reference_app.command()(gaps)


class EntryType(StrEnum):
    COMMAND = "command"
    API = "api"
    GUIDE = "guide"
    FEATURE = "feature"
    TROUBLESHOOTING = "troubleshooting"
    SETTING = "setting"


@reference_app.command()
def validate(
    folder: Where = ".",
    *,
    strict: Annotated[bool, typer.Option("--strict", help="Fail on warnings too.")] = False,
    github: Annotated[bool, typer.Option("--github", help="Print annotations for a GitHub workflow.")] = False,
    name: Name = None,
    as_json: AsJson = False,
) -> None:
    """Check a catalogue as a sync would, and more: 1 if it would not be published."""
    from local.operations.reference_folders import opened
    from local.operations.reference_text import annotations, problems_json, problems_text

    place = opened(folder, name)
    reading, problems = _checked(place)
    if as_json:
        typer.echo(json.dumps(problems_json(reading, problems), indent=2, ensure_ascii=False))
    elif github:
        for line in annotations(place, problems):
            typer.echo(line)
    else:
        typer.echo(problems_text(place, reading, problems))
    failed = bool(problems) if strict else any(one.severity == "error" for one in problems)
    raise typer.Exit(1 if failed else 0)


def _checked(place: "Folder") -> "tuple[Reading, tuple[Problem, ...]]":
    """What a sync would say, and what only a checkout can: whether sources have changed since."""
    from commonplace.reference.source.findings import in_order
    from commonplace.reference.source.reader import check_sources, read_catalogue

    reading = read_catalogue(place.files, place.name)
    problems = [*reading.problems, *check_sources(reading, place.source)]
    if reading.publishable and not reading.entries:
        problems.append(_nothing())
    return reading, in_order(problems)


def _nothing() -> "Problem":
    """As a sync judges it, which takes an empty catalogue for a mistake."""
    from commonplace.reference.model import Problem

    return Problem(
        code="empty-catalogue",
        severity="error",
        message="The folder holds no entry of a catalogue.",
        hint="Name another folder, or begin one: commonplace reference init FOLDER",
    )


@reference_app.command()
def diff(
    old: Annotated[str, typer.Argument(help="A folder, or REVISION:FOLDER, such as main:reference.")],
    new: Annotated[str, typer.Argument(help="The same, of the newer state.")],
    *,
    breaking: Annotated[bool, typer.Option("--breaking", help="End with 1 if a name leads nowhere any more.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compare two states of a catalogue: what is new, gone, changed, renamed, deprecated."""
    from commonplace.reference.source.compilation import diff as compare
    from local.operations.reference_text import difference_json, difference_text

    found = compare(_entries(old), _entries(new))
    if as_json:
        typer.echo(json.dumps(difference_json(found), indent=2, ensure_ascii=False))
    else:
        typer.echo(difference_text(found))
    raise typer.Exit(1 if breaking and found.breaking else 0)


def _entries(folder: str) -> list[Any]:
    """Raises CommandError for a catalogue that could not be published: half of it says nothing."""
    return [one.entry for one in _publishable(folder, None).entries]


def _publishable(folder: str, name: str | None) -> "Reading":
    from commonplace.reference.source.reader import read_catalogue
    from local.operations.reference_folders import opened

    place = opened(folder, name)
    reading = read_catalogue(place.files, place.name)
    if not reading.publishable:
        count = len(reading.errors)
        said = "is an error" if count == 1 else f"are {count:,} errors"
        raise CommandError(f"There {said} in {folder}.", f"See: commonplace reference validate {folder}")
    return reading


@reference_app.command()
def search(
    query: Annotated[str, typer.Argument(help="A command, an endpoint, a question, or a few words.")],
    folder: Where = ".",
    *,
    entry_type: Annotated[EntryType | None, typer.Option("--type", help="Only entries of this type.")] = None,
    category: Annotated[str | None, typer.Option(help="Only of this category or subcategory.")] = None,
    module: Annotated[str | None, typer.Option(help="Only of this optional module.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=20, help="How many at most.")] = 5,
    words: Annotated[bool, typer.Option("--words", help="By words only, without the embedding model.")] = False,
    name: Name = None,
    as_json: AsJson = False,
) -> None:
    """Search a folder offline, as agents would once it is published. Finding nothing is an answer: it ends with 0."""
    from commonplace.reference.model import ENTRY_TYPES, Asked
    from local.operations.reference_searching import asking
    from local.operations.reference_text import answer_json, answer_text

    reading = _publishable(folder, name)
    type = next((one for one in ENTRY_TYPES if one == entry_type), None)
    asked = Asked(query, type=type, category=category, module=module, limit=limit)
    with asking(reading, meaning=not words) as reference:
        answer = reference.search(asked)
    typer.echo(json.dumps(answer_json(answer), indent=2, ensure_ascii=False) if as_json else answer_text(answer))
