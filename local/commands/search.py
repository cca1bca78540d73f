"""`commonplace search QUERY`: asks an index directly, by default that of the `commonplace dev` that runs here."""

import json as jsonlib
from dataclasses import asdict
from pathlib import Path
from textwrap import fill
from typing import Annotated, Any

import typer
from pydantic.alias_generators import to_camel

from commonplace.adapters.embedded.published import open_index
from commonplace.adapters.local_embeddings import LocalEmbeddings
from commonplace.content.filters import Filters
from commonplace.content.ontology import ONTOLOGY
from commonplace.errors import CommonplaceError
from commonplace.search.model import Hit, SearchRequest, SearchResults
from commonplace.search.service import SearchService
from local.errors import CommandError
from local.operations.deployment import LAPTOP_DATA, laptop

WIDTH = 100
INDEX_FILE = Path("index", "documents.sqlite")


def search_command(
    query: Annotated[str, typer.Argument(help="Words, a question, or the name of a document.")],
    *,
    content_type: Annotated[list[str] | None, typer.Option("--type", help="Only this type; may be repeated.")] = None,
    group: Annotated[str | None, typer.Option(help="Only documents of this group.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Only documents with this tag; repeated: with all.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many results at most.")] = 5,
    index: Annotated[Path | None, typer.Option(help="An index file, instead of the running one's.")] = None,
    data: Annotated[Path | None, typer.Option(help="The data folder of `commonplace dev --data`.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Search the knowledge base that runs here."""
    try:
        types = tuple(dict.fromkeys(name for asked in content_type or () for name in ONTOLOGY.expand(asked)))
        filters = Filters(content_types=types, group=group, tags_all=tuple(tag or ()))
        found = _search(_location(index, data), SearchRequest(query, filters, limit))
    except CommonplaceError as error:
        raise CommandError(error.message, error.hint or "") from error
    typer.echo(jsonlib.dumps(as_json(found), indent=2, ensure_ascii=False) if json else as_text(found))


def as_json(found: SearchResults) -> dict[str, Any]:
    """The results under the names that the REST API gives them."""
    results = [{to_camel(name): value for name, value in asdict(hit).items()} for hit in found.results]
    return {to_camel(name): value for name, value in asdict(found).items()} | {"results": results}


def as_text(found: SearchResults) -> str:
    """The results for a terminal, one paragraph each."""
    if not found.results:
        return "Nothing was found."
    notes = [f"{found.total} found", f"{found.took_ms} ms"] + (["by words only"] if found.fallback else [])
    paragraphs = [_paragraph(position, hit) for position, hit in enumerate(found.results, 1)]
    return "\n\n".join([*paragraphs, ", ".join(notes)])


def _paragraph(position: int, hit: Hit) -> str:
    number = f"{position}. "
    indent = " " * len(number)
    where = " · ".join(part for part in (f"{hit.content_type}/{hit.id}", hit.heading) if part)
    snippet = fill(hit.snippet, WIDTH, initial_indent=indent, subsequent_indent=indent)
    return "\n".join(line for line in (f"{number}{hit.title}  ({hit.score:.2f})", indent + where, snippet) if line)


def _search(location: str, request: SearchRequest) -> SearchResults:
    embeddings = LocalEmbeddings()
    engine = open_index(location, None, embeddings, read_only=True)
    try:
        return SearchService(engine, embeddings).search(request)
    finally:
        engine.close()


def _location(index: Path | None, data: Path | None) -> str:
    if index is not None:
        if not index.is_file():
            raise CommandError(f"There is no index at {index}.", "Name the file documents.sqlite of a data folder.")
        return index.resolve().as_uri()
    try:
        return laptop(data).outputs["IndexLocation"]
    except CommandError:
        kept = (data or LAPTOP_DATA) / INDEX_FILE
        if kept.is_file():
            return kept.resolve().as_uri()
        raise
