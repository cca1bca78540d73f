"""`commonplace search QUERY`: asks the `commonplace dev` that runs here, a deployment, or an index file."""

import json as jsonlib
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from local.errors import CommandError
from local.operations.deployment import LAPTOP_DATA, find

INDEX_FILE = Path("index", "documents.sqlite")


class Mode(StrEnum):
    HYBRID = "hybrid"
    LEXICAL = "lexical"


def search_command(
    query: Annotated[str, typer.Argument(help="Words, a question, or the name of a document.")],
    *,
    content_type: Annotated[list[str] | None, typer.Option("--type", help="Only this type; may be repeated.")] = None,
    group: Annotated[str | None, typer.Option(help="Only documents of this group.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Only documents with this tag; repeated: with all.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many results at most; over 20 by words only.")] = 5,
    mode: Annotated[Mode, typer.Option(help="By words and meaning, or by words alone.")] = Mode.HYBRID,
    rerank: Annotated[bool, typer.Option("--rerank/--no-rerank", help="Let the reranker order the best.")] = True,
    collapse: Annotated[
        bool, typer.Option("--collapse/--no-collapse", help="Show one of several with nearly the same text.")
    ] = True,
    documents: Annotated[bool, typer.Option("--documents", help="Print the whole documents.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say how the ranking came about.")] = False,
    expect: Annotated[
        str | None, typer.Option(metavar="TYPE/ID", help="Say why this document is shown, or is not.")
    ] = None,
    index: Annotated[Path | None, typer.Option(help="An index file, instead of what runs here.")] = None,
    data: Annotated[Path | None, typer.Option(help="The data folder of `commonplace dev --data`.")] = None,
    outputs: Annotated[Path | None, typer.Option(help="File written by `cdk deploy --outputs-file`.")] = None,
    stage: Annotated[str | None, typer.Option(help="Stage of a deployment, read from its stack.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Search the knowledge base that runs here, or that is deployed."""
    from commonplace.kernel.errors import CommonplaceError
    from local.operations.searching import Question, ask_deployment, ask_file

    question = Question(
        query,
        content_types=tuple(content_type or ()),
        group=group,
        tags=tuple(tag or ()),
        limit=limit,
        mode=_mode(mode),
        documents=documents,
        explain=explain or expect is not None,
        expect=_reference(expect),
        rerank=rerank,
        collapse=collapse,
    )
    file, base_url = _where(index, data, outputs, stage)
    try:
        _known(question.content_types)
        answer = ask_deployment(base_url, question) if file is None else ask_file(file, question)
    except CommonplaceError as error:
        raise CommandError(error.message, error.hint or "") from error
    if json:
        typer.echo(jsonlib.dumps(answer, indent=2, ensure_ascii=False))
        return
    from local.operations.search_text import print_explanation, results_text

    typer.echo(results_text(answer))
    if question.explain:
        print_explanation(answer.get("explanation"), publication_known=file is None)


def _mode(mode: Mode) -> Literal["hybrid", "lexical"]:
    return "lexical" if mode is Mode.LEXICAL else "hybrid"


def _reference(expect: str | None) -> str | None:
    if expect is None or all(expect.partition("/")):
        return expect
    raise CommandError(f"{expect} names no document.", "Name it by type and id, for example --expect tag/neap-tide")


def _known(types: tuple[str, ...]) -> None:
    from commonplace.documents.content.ontology import ONTOLOGY

    for name in types:
        ONTOLOGY.expand(name)


def _where(index: Path | None, data: Path | None, outputs: Path | None, stage: str | None) -> tuple[Path | None, str]:
    """An index file, or the address of a running one. What a stopped laptop has kept is asked, too."""
    if index is not None:
        if not index.is_file():
            raise CommandError(f"There is no index at {index}.", "Name the file documents.sqlite of a data folder.")
        return index, ""
    try:
        return None, find(data, outputs, stage).base_url
    except CommandError:
        kept = (data or LAPTOP_DATA) / INDEX_FILE
        if outputs is not None or stage is not None or not kept.is_file():
            raise
        typer.echo(f"No laptop cloud is running. This is what the last one kept in {kept}.", err=True)
        return kept, ""
