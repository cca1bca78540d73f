"""Catalogues of commands and endpoints: generate, check, compare and search them."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from commonplace.kernel.errors import CommonplaceError
from commonplace.reference.model import SETTINGS_FILE, Asked, Catalogue, EntryType, Gap, Problem
from commonplace.reference.ports import Edition, Meaning
from commonplace.reference.service import Reference
from commonplace.reference.settings import CatalogueSource
from commonplace.reference.source.compilation import compile
from commonplace.reference.source.compilation import diff as compare
from commonplace.reference.source.findings import in_order
from commonplace.reference.source.reader import Reading, read_catalogue
from local import reports
from local.cli.reference import text
from local.cli.reference.folders import Folder, opened
from local.cli.reference.generation import generate
from local.cli.reference.staleness import check_sources
from local.deployment import Deployment
from local.errors import CommandError
from local.files import write_whole
from local.options import Target, grouped
from local.terminal import AsJson, commands, print_json, show

Where = Annotated[str, typer.Argument(metavar="[FOLDER]", help="The folder of a catalogue, or REVISION:FOLDER.")]
Name = Annotated[str | None, typer.Option(help="Name of the catalogue; default: that of its folder.")]
Org = Annotated[str | None, typer.Option("--org", help="Organisation; default: the deployment's own.")]
AnyJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

HERE = "local/folder"
"""Stands for the repository that a folder is in: nothing of an answer links to it."""

SETTINGS = """\
# What this catalogue is called, and what is generated. Every setting may be left out.
title: {title}
description: What the product does, in a sentence.
# First words of commands, besides those of the commands' own names.
roots: []
# Slug -> title. Once some are named, `commonplace reference validate` warns of others.
categories: {{}}
# Optional parts of the product: slug -> title.
modules: {{}}
# Words that mean the same to people who ask, beyond the usual ones.
synonyms: {{}}
# URLs of the API: they may stand before the path of an endpoint.
servers: []
# Made by `commonplace reference generate`, checked by `--check`. Sources lie in `sources/`, which is not published.
generate: []
#  - kind: openapi
#    source: sources/openapi.yaml
#    into: api.json
#  - kind: typer
#    source: package.module:app
#    into: commands.json
"""

GUIDE = """\
---
title: First steps
category: start
summary: What to do first.
keywords: [start, begin, first]
lastUpdated: {day}
---
# First steps

Say here what people ask first. The folder says that this is a guide.
"""

app = commands("Catalogues of commands, endpoints and guides: generate, check, compare and search them.")


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(help="The folder of the new catalogue.")] = Path("reference"),
    *,
    title: Annotated[str | None, typer.Option(help="What the product is called; default: the folder's name.")] = None,
) -> None:
    """Begin a catalogue: catalogue.yaml and a first guide. Nothing that is there is written over."""
    settings, guide = folder / SETTINGS_FILE, folder / "guides" / "first-steps.md"
    for file in (settings, guide):
        if file.exists():
            raise CommandError(f"{file} is there already.", "Name another folder, or go on with this one.")
    # A text of JSON is one of YAML, whatever is in it.
    quoted = json.dumps(" ".join((title or folder.resolve().name).split()), ensure_ascii=False)
    write_whole(settings, SETTINGS.format(title=quoted))
    write_whole(guide, GUIDE.format(day=datetime.now(UTC).date().isoformat()))
    typer.echo(f"{settings}\n{guide}\nNext: commonplace reference validate {folder}")


app.command()(generate)


@app.command()
@grouped
def status(
    name: Annotated[str | None, typer.Argument(help="One catalogue: with everything its last run said.")] = None,
    *,
    as_json: AnyJson = False,
    target: Target,
) -> None:
    """Say what is published of each catalogue, and what was refused and why."""
    deployment = target.find()
    if name is not None:
        typer.echo(reports.catalogue_report_text(deployment, name, as_json=as_json), nl=False)
    elif as_json:
        typer.echo(json.dumps(reports.catalogue_facts(deployment), indent=2))
    else:
        told = [*reports.catalogue_lines(deployment), *_refused(deployment)]
        typer.echo("\n".join(told) or "There is no catalogue; docs/reference.md says how to add one.")


def _refused(deployment: Deployment) -> Iterator[str]:
    """Every error that keeps a catalogue from being published."""
    for one in deployment.catalogues():
        report = reports.report_of(deployment.store, one.name)
        if report and report.status == "refused":
            yield from ("", f"{one.name}, commit {(report.commit_sha or '-')[:12]}:")
            yield from (f"  {error.code}: {reports.problem_line(error)}" for error in report.errors)


@app.command()
@grouped
def gaps(
    *,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many at most.")] = 50,
    as_json: AnyJson = False,
    org: Org = None,
    target: Target,
) -> None:
    """List what agents looked for and did not find, the most reported first."""
    from commonplace.reference.store import DynamoGaps

    deployment = target.find()
    table = deployment.outputs.get("RecordsTable")
    if table is None:
        raise CommandError("No gaps are kept there.", "Deploy this version, or start `commonplace dev` of it.")
    organisation = org or deployment.outputs.get("Organisation", "default")
    try:
        found = DynamoGaps(deployment.client("dynamodb"), table).gaps(organisation, limit)
    except CommonplaceError as error:
        raise CommandError(error.message, error.hint or "") from error
    if as_json:
        print_json([asdict(one) for one in found])
    else:
        show((_row(one) for one in found), nothing="No gap has been reported.")


def _row(gap: Gap) -> dict[str, str]:
    return {
        "COUNT": f"{gap.count:,}",
        "QUERY": gap.query,
        "TYPE": gap.type or "",
        "LAST": gap.last_at[:16].replace("T", " "),
        "NOTE": gap.note or "",
    }


@app.command()
def validate(
    folder: Where = ".",
    *,
    strict: Annotated[bool, typer.Option("--strict", help="Fail on warnings too.")] = False,
    github: Annotated[bool, typer.Option("--github", help="Print annotations for a GitHub workflow.")] = False,
    name: Name = None,
    as_json: AsJson = False,
) -> None:
    """Check a catalogue as a sync would, and more: 1 if it would not be published."""
    place = opened(folder, name)
    reading, problems = _checked(place)
    if as_json:
        print_json(text.problems_json(reading, problems))
    elif github:
        for line in text.annotations(place, problems):
            typer.echo(line)
    else:
        typer.echo(text.problems_text(place, reading, problems))
    failed = bool(problems) if strict else any(one.severity == "error" for one in problems)
    raise typer.Exit(1 if failed else 0)


def _checked(place: Folder) -> tuple[Reading, tuple[Problem, ...]]:
    """What a sync would say, and what only a checkout can: whether sources have changed since."""
    reading = read_catalogue(place.files, place.name)
    problems = [*reading.problems, *check_sources(reading, place.source)]
    if reading.publishable and not reading.entries:
        # As a sync judges it, which takes an empty catalogue for a mistake.
        nothing = Problem(
            code="empty-catalogue",
            severity="error",
            message="The folder holds no entry of a catalogue.",
            hint="Name another folder, or begin one: commonplace reference init FOLDER",
        )
        problems.append(nothing)
    return reading, in_order(problems)


@app.command()
def diff(
    old: Annotated[str, typer.Argument(help="A folder, or REVISION:FOLDER, such as main:reference.")],
    new: Annotated[str, typer.Argument(help="The same, of the newer state.")],
    *,
    breaking: Annotated[bool, typer.Option("--breaking", help="End with 1 if a name leads nowhere any more.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compare two states of a catalogue: what is new, gone, changed, renamed, deprecated."""
    before, after = ([one.entry for one in _publishable(folder, None).entries] for folder in (old, new))
    found = compare(before, after)
    if as_json:
        print_json(text.difference_json(found))
    else:
        typer.echo(text.difference_text(found))
    raise typer.Exit(1 if breaking and found.breaking else 0)


def _publishable(folder: str, name: str | None) -> Reading:
    """Raises CommandError for a catalogue that could not be published: half of it says nothing."""
    place = opened(folder, name)
    reading = read_catalogue(place.files, place.name)
    if not reading.publishable:
        count = len(reading.errors)
        said = "is an error" if count == 1 else f"are {count:,} errors"
        raise CommandError(f"There {said} in {folder}.", f"See: commonplace reference validate {folder}")
    return reading


@app.command()
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
    reading = _publishable(folder, name)
    with _reference(reading, meaning=not words) as reference:
        answer = reference.search(Asked(query, type=entry_type, category=category, module=module, limit=limit))
    if as_json:
        print_json(text.answer_json(answer))
    else:
        typer.echo(text.answer_text(answer))


@dataclass(frozen=True, slots=True)
class OneShelf:
    """A `Shelf` with what was read."""

    catalogues: tuple[Catalogue, ...]

    def edition(self) -> Edition:
        return Edition(self.catalogues, "1")


@contextmanager
def _reference(reading: Reading, *, meaning: bool) -> Iterator[Reference]:
    """Answers as if these entries were published now. Without the model's files, too, words alone are compared."""
    source, moment = CatalogueSource(reading.name, HERE, "HEAD", ""), datetime.now(UTC)
    made = compile(reading, source=source, web_url=None, commit="0" * 40, generation=1, synced_at=moment, before=None)
    if not meaning:
        yield Reference(OneShelf((made,)))
        return
    with tempfile.TemporaryDirectory(prefix="commonplace-") as folder, _meaning([made], Path(folder)) as compared:
        yield Reference(OneShelf((made,)), compared)


@contextmanager
def _meaning(catalogues: Sequence[Catalogue], folder: Path) -> Iterator[Meaning]:
    """Over an index of its own, with the model that comes with the package."""
    from commonplace.reference.index_source import record_of
    from commonplace.reference.search import VectorMeaning
    from commonplace.search.embedded.engine import EmbeddedEngine
    from commonplace.search.embeddings import embed_records
    from commonplace.search.models.local import LocalEmbeddings

    model = LocalEmbeddings()
    engine = EmbeddedEngine(folder / "reference.sqlite", model)
    try:
        engine.replace(embed_records([record_of(one, it) for one in catalogues for it in one.entries], model))
        yield VectorMeaning(engine, [model])
    finally:
        engine.close()
