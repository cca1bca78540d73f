"""`commonplace reference search` and `show`: folders answered from as the tools of a deployment answer."""

import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from commonplace.kernel.errors import CommonplaceError
from commonplace.reference.model import METHODS, Catalogue, EntryType
from commonplace.reference.ports import FixedShelf, Meaning
from commonplace.reference.settings import CatalogueSource
from commonplace.reference.source.compilation import compile
from commonplace.reference.source.reader import Reading, read_catalogue
from commonplace_local.cli.reference.folders import Folder, opened
from commonplace_local.errors import CommandError
from commonplace_local.terminal import AsJson, print_json

HERE = "local/folder"
"""Stands for the repository that a folder is in."""
Folders = Annotated[
    list[str] | None,
    typer.Argument(metavar="[[NAME=]FOLDER]...", help="Catalogues, as they are or at REVISION:FOLDER; default: here."),
]
OfCatalogue = Annotated[str | None, typer.Option(help="Only of the catalogue of this name or title.")]
OfVersion = Annotated[str | None, typer.Option(help="Only of this version of the product.")]
_ENDPOINT = re.compile(rf"\s*(?:(?:{'|'.join(METHODS)})\s+)?(?:/|https?:)", re.IGNORECASE)


def search(
    query: Annotated[str, typer.Argument(help="A command, an endpoint, a question, or a few words.")],
    folders: Folders = None,
    *,
    entry_type: Annotated[EntryType | None, typer.Option("--type", help="Only entries of this type.")] = None,
    category: Annotated[str | None, typer.Option(help="Only of this category or subcategory.")] = None,
    module: Annotated[str | None, typer.Option(help="Only of this optional module.")] = None,
    catalogue: OfCatalogue = None,
    version: OfVersion = None,
    limit: Annotated[int, typer.Option(min=1, max=20, help="Maximum number.")] = 5,
    words: Annotated[bool, typer.Option("--words", help="By words only, without the embedding model.")] = False,
    as_json: AsJson = False,
) -> None:
    """Search folders offline, as agents would once they are published. Exit code 0 even without results."""
    given = {"query": query, "type": entry_type or "all", "category": category, "module": module, "limit": limit}
    within = {"catalogue": catalogue, "version": version}
    _answer(folders, ("search_knowledge", given | within), meaning=not words, as_json=as_json)


def show_entry(
    name: Annotated[str, typer.Argument(help="A command; an endpoint: “GET /users/42”, a URL; the title of a guide.")],
    folders: Folders = None,
    *,
    catalogue: OfCatalogue = None,
    version: OfVersion = None,
    page: Annotated[int, typer.Option(min=1, help="Page number.")] = 1,
    max_tokens: Annotated[int, typer.Option(min=200, max=8_000, help="Maximum length of a page.")] = 1_000,
    as_json: AsJson = False,
) -> None:
    """Show one command, endpoint or guide as agents see it; exit code 1 and similar names if there is none."""
    tools = {"get_api_endpoint": "path"} if _ENDPOINT.match(name) else {"get_command": "command", "get_guide": "guide"}
    more = {"catalogue": catalogue, "version": version, "page": page, "max_tokens": max_tokens}
    calls = [(tool, {field: name, **more}) for tool, field in tools.items()]
    _answer(folders, *calls, meaning=False, as_json=as_json)


def _answer(folders: Sequence[str] | None, *calls: tuple[str, dict[str, Any]], meaning: bool, as_json: bool) -> None:
    """Prints the answer of the first tool that finds anything. Raises CommandError with what the first one says."""
    from commonplace.reference.service import Reference
    from commonplace.reference.tools.services import ReferenceServices
    from commonplace.reference.tools.toolset import reference_toolset
    from commonplace.web.mcp.declaration import Answer, Call

    made = []
    for folder in folders or ["."]:  # as if these were published now
        place, reading = publishable(folder)
        if not reading.entries:
            hint = "Create one: commonplace reference init FOLDER"
            raise CommandError(f"{place.shown} contains no catalogue entries.", hint)
        catalogue = compile(
            reading,
            source=CatalogueSource(reading.name, HERE, "HEAD", ""),
            web_url=place.root.resolve().as_uri() if place.root else None,
            commit=place.commit,
            generation=1,
            synced_at=datetime.now(UTC),
            before=None,
        )
        made.append(catalogue)
    names = [one.name for one in made]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise CommandError(f"Two catalogues have the name {twice}.", "Rename one of them: NAME=FOLDER")
    answer, failed = None, None
    with _meaning(made) if meaning else nullcontext() as compared:
        reference = Reference(FixedShelf(tuple(made)), compared)
        toolset = reference_toolset(ReferenceServices(reference=reference, keeps_gaps=False))
        tools = {one.name: one for one in toolset.tools}
        for name, given in calls:
            try:
                answer = cast(Answer, tools[name].run(Call(), tools[name].arguments(**given)))
                break
            except CommonplaceError as error:
                failed = failed or error
    if answer is None:
        raise CommandError(failed.message if failed else "", (failed and failed.hint) or "")
    if as_json:
        print_json(answer.data.model_dump(by_alias=True, mode="json", exclude_none=True))
    else:
        typer.echo(answer.text)


def publishable(folder: str) -> tuple[Folder, Reading]:
    """Raises CommandError for a catalogue that could not be published: half of it says nothing."""
    place = opened(folder)
    reading = read_catalogue(place.files, place.name)
    if not reading.publishable:
        count = len(reading.errors)
        said = "is an error" if count == 1 else f"are {count:,} errors"
        raise CommandError(f"There {said} in {folder}.", f"See: commonplace reference validate {folder}")
    return place, reading


@contextmanager
def _meaning(catalogues: Sequence[Catalogue]) -> Iterator[Meaning]:
    """A comparison by meaning over an index of its own, with the model that comes with the package."""
    from rich.console import Console

    from commonplace.reference.index_source import record_of
    from commonplace.reference.search import VectorMeaning
    from commonplace.search.embedded.engine import EmbeddedEngine
    from commonplace.search.embeddings import embed_records
    from commonplace.search.models.local import LocalEmbeddings

    model = LocalEmbeddings()
    records = [record_of(one, it) for one in catalogues for it in one.entries]
    with tempfile.TemporaryDirectory(prefix="commonplace-") as folder:
        engine = EmbeddedEngine(Path(folder) / "reference.sqlite", model)
        try:
            working = f"Embedding {len(records):,} entries; --words skips this"
            with Console(stderr=True).status(working):
                engine.replace(embed_records(records, model))
            yield VectorMeaning(engine, [model])
        finally:
            engine.close()
