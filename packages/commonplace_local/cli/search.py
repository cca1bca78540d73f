"""Search a knowledge base that runs here or is deployed."""

import json as jsonlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit

import typer
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from commonplace_local.cli.operators import KEY_VARIABLE
from commonplace_local.deployment import find, web_address
from commonplace_local.errors import CommandError
from commonplace_local.options import grouped
from commonplace_local.terminal import Outputs, Stage, commands, counted, print_json

if TYPE_CHECKING:
    import httpx


Answer = dict[str, Any]
Mode = Literal["hybrid", "lexical"]

INDEX_FILE = Path("index", "documents.sqlite")
TIMEOUT_SECONDS = 30
WIDTH = 100
PIPE_WIDTH = 140
"""The width of tables that go into a file or another program."""

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Texts come from a repository, and a terminal would obey some of these."""

app = commands()


@dataclass(frozen=True, slots=True)
class Question:
    """The query of the command line."""

    query: Annotated[str, typer.Argument(help="Words, a question, or the name of a document.")]
    content_type: Annotated[list[str] | None, typer.Option("--type", help="Only this type; repeatable.")] = None
    group: Annotated[list[str] | None, typer.Option(help="Only documents of this group; repeatable (any).")] = None
    release: Annotated[list[str] | None, typer.Option(help="Only documents of this release; repeatable (any).")] = None
    status: Annotated[list[str] | None, typer.Option(help="Only documents of this status; repeatable (any).")] = None
    author: Annotated[list[str] | None, typer.Option(help="Only documents by this author; repeatable (any).")] = None
    tag: Annotated[list[str] | None, typer.Option(help="Only documents with this tag; repeatable (all).")] = None
    limit: Annotated[int, typer.Option(min=1, max=100, help="Maximum number of results; over 20 by words only.")] = 5
    mode: Annotated[Mode, typer.Option(help="By words and meaning, or by words alone.")] = "hybrid"
    rerank: Annotated[bool, typer.Option("--rerank/--no-rerank", help="Rerank the best results.")] = True
    collapse: Annotated[bool, typer.Option("--collapse/--no-collapse", help="Collapse near-duplicates.")] = True
    documents: Annotated[bool, typer.Option("--documents", help="Print whole documents.")] = False
    explain: Annotated[bool, typer.Option("--explain", help="Explain the ranking.")] = False
    expect: Annotated[
        str | None, typer.Option(metavar="TYPE/ID", help="Explain why this document is shown or not.")
    ] = None

    @property
    def explained(self) -> bool:
        return self.explain or self.expect is not None

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of `GET /api/v1/search`, without empty ones."""
        values: dict[str, Any] = {
            "q": self.query,
            "contentType": self.content_type,
            "group": self.group,
            "release": self.release,
            "status": self.status,
            "author": self.author,
            "tags": self.tag,
            "limit": self.limit,
            "mode": self.mode,
            "include": ["documents"] if self.documents else [],
            "explain": "true" if self.explained else None,
            "expect": self.expect,
            "rerank": None if self.rerank else "false",
            "collapse": None if self.collapse else "false",
        }
        return {name: value for name, value in values.items() if value not in (None, [])}


@app.command()
@grouped
def search(
    *,
    question: Question,
    index: Annotated[Path | None, typer.Option(help="Search this index file instead.")] = None,
    data: Annotated[Path | None, typer.Option(help="The data folder of `commonplace dev --data`.")] = None,
    url: Annotated[str | None, typer.Option(help="Base URL of one that runs.")] = None,
    outputs: Outputs = None,
    stage: Stage = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Search a knowledge base that runs here or is deployed. Exit code 1 if nothing is found."""
    from commonplace.documents.content.ontology import ONTOLOGY

    expect = question.expect
    if expect is not None and not all(expect.partition("/")):
        raise CommandError(f"{expect} does not name a document.", "Use type and id, for example --expect tag/neap-tide")
    file, base_url = (None, web_address(url)) if url else _where(index, data, outputs, stage)
    for name in question.content_type or ():
        ONTOLOGY.expand(name)  # raises for an unknown one
    answer = ask_deployment(base_url, question) if file is None else ask_file(file, question)
    if json:
        print_json(answer)
    else:
        typer.echo(results_text(answer))
        if question.explained:
            print_explanation(answer.get("explanation"), publication_known=file is None)
    if not answer["results"]:
        raise typer.Exit(1)


def _where(index: Path | None, data: Path | None, outputs: Path | None, stage: str | None) -> tuple[Path | None, str]:
    """Return an index file, or the address of a running server. A stopped laptop's index is searched, too."""
    if index is not None:
        if not index.is_file():
            raise CommandError(f"There is no index at {index}.", "Name the file documents.sqlite of a data folder.")
        return index, ""
    try:
        return None, find(data, outputs, stage).base_url
    except CommandError:
        kept = data / INDEX_FILE if data else None
        if outputs is not None or stage is not None or kept is None or not kept.is_file():
            raise
        typer.echo(f"No laptop cloud is running. These are the results of its last index, {kept}.", err=True)
        return kept, ""


def ask_deployment(base_url: str, question: Question, transport: "httpx.BaseTransport | None" = None) -> Answer:
    """Return the answer of a running REST API. The operators' key goes with a request for an explanation only."""
    import httpx

    from commonplace.kernel.environment import is_loopback

    key = os.environ.get(KEY_VARIABLE, "").strip() if question.explained else ""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    address = urlsplit(base_url)
    local = is_loopback(address.hostname)
    if key and not local and address.scheme != "https":
        raise CommandError(f"{base_url} is not https.", "The operators' key is sent over https only.")
    try:
        with httpx.Client(timeout=TIMEOUT_SECONDS, trust_env=not local, transport=transport) as client:
            answer = client.get(f"{base_url}/api/v1/search", params=question.parameters(), headers=headers)
    except httpx.HTTPError as error:
        raise CommandError(
            f"{base_url} does not answer: {type(error).__name__}.", "Is it running? Try its /health."
        ) from error
    try:
        told: Answer = answer.json()
    except ValueError as error:
        raise CommandError(f"{base_url} answered {answer.status_code} without JSON.") from error
    if answer.status_code != httpx.codes.OK:
        refusal = told.get("error") or {}
        message = str(refusal.get("message") or f"The search answered {answer.status_code}.")
        if answer.status_code == 401:
            raise CommandError(message, f"Set {KEY_VARIABLE} to the operators' key of this deployment.")
        raise CommandError(message, str((refusal.get("details") or {}).get("hint") or ""))
    return told


def ask_file(index: Path, question: Question) -> Answer:
    """The answer of an index file of the embedded engine. Documents and what is published are not in it."""
    from commonplace.documents.addresses import DocumentAddresses
    from commonplace.documents.content.ontology import ONTOLOGY
    from commonplace.documents.rest import hits
    from commonplace.search.embedded.published import open_index
    from commonplace.search.filters import Filters
    from commonplace.search.model import RecordId, SearchRequest
    from commonplace.search.models.local import LocalEmbeddings
    from commonplace.search.service import SearchService

    if question.documents:
        raise CommandError(
            "An index file has no whole documents.", "Search a running Commonplace instead: commonplace dev."
        )
    leaves = tuple(dict.fromkeys(leaf for name in question.content_type or () for leaf in ONTOLOGY.expand(name)))
    request = SearchRequest(
        question.query,
        Filters(content_types=leaves, groups=tuple(question.group or ()), tags_all=tuple(question.tag or ())),
        question.limit,
        mode=question.mode,
        explain=question.explained,
        expect=RecordId(question.expect) if question.expect else None,
        rerank=question.rerank,
        collapse=question.collapse,
    )
    embeddings = LocalEmbeddings()
    engine = open_index(index.resolve().as_uri(), None, embeddings, read_only=True)
    try:
        results = SearchService(engine, embeddings).search(request)
    finally:
        engine.close()
    told: Answer = jsonlib.loads(hits.answer(results, request, DocumentAddresses(), limit=question.limit))
    return told


def results_text(answer: Answer) -> str:
    """The results, one paragraph each, with what is worth knowing about the whole."""
    lines = [f"Did you mean: {_clean(answer['suggestion'])}"] if answer["suggestion"] else []
    lines += [_clean(hint) for hint in answer.get("hints", ())]
    if not answer["results"]:
        return "\n\n".join(["Nothing was found.", *lines])
    left_out = answer.get("documentsLeftOut", [])
    hits = [_paragraph(position, hit, left_out) for position, hit in enumerate(answer["results"], 1)]
    candidates = counted(answer["total"], "candidate", "candidates")
    found = f"{answer['total']} found" if answer["totalRelation"] == "exact" else candidates
    notes = [found, f"{answer['tookMs']} ms"]
    notes += ["by words only"] if answer["fallback"] else []
    notes += ["reranked"] if answer["reranked"] else []
    return "\n\n".join([*lines, *hits, ", ".join(notes)])


def print_explanation(explanation: Answer | None, *, publication_known: bool) -> None:
    """Tables of how the ranking came about, and the sentence about the document that was expected."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PIPE_WIDTH)
    if explanation is None:
        console.print(Text("\nNo explanation: the index was not queried."))
        return
    filters = {name: value for name, value in explanation["filters"].items() if value not in (None, [], "")}
    limits = [f"{name} {', '.join(map(str, one)) if isinstance(one, list) else one}" for name, one in filters.items()]
    index = f", index {explanation['index']}" if explanation["index"] else ""
    legs = f"{explanation['lexicalHits']} by words, {explanation['vectorHits']} by meaning"
    candidates = counted(explanation["candidates"], "candidate", "candidates")
    facts = _grid(
        ("engine", explanation["engine"] + index),
        ("model", explanation["model"] or "none, words only"),
        ("fusion", explanation["fusion"]),
        ("reranker", explanation["reranker"] or "none"),
        ("filters", "; ".join(limits) or "none"),
        ("found", f"{legs}, {explanation['namedHits']} by name; {candidates}"),
    )
    parts: list[RenderableType] = [Text(), facts, Text(), _hits(explanation["hits"]), Text()]
    parts.append(Text("ms: " + ", ".join(f"{name} {ms:.1f}" for name, ms in explanation["timingsMs"].items())))
    if (expectation := explanation["expectation"]) is not None:
        parts += [Text(), Text(f"Expected {_clean(expectation['id'])}: {expectation['verdict']}", style="bold")]
        parts.append(Text(_clean(expectation["sentence"])))
        if standing := expectation["standing"]:
            rows = (
                ("by words", _place(standing["lexical"])),
                ("by meaning", _place(standing["vector"], standing["belowFloor"])),
                ("in the index", "no" if standing["held"] is None else f"generation {standing['held']}"),
                ("passes the filters", "yes" if standing["admitted"] else "no"),
            )
            parts.append(_grid(*rows))
        if not publication_known:
            parts.append(Text("Unknown whether it is published: an index file has no store."))
    console.print(Group(*parts))


def _paragraph(position: int, hit: Answer, left_out: list[str]) -> str:
    number = f"{position}. "
    indent = " " * len(number)
    ref = f"{hit['contentType']}/{hit['id']}"
    where = " · ".join(_clean(part) for part in (ref, hit["heading"]) if part)
    snippet = fill(_clean(hit["snippet"]), WIDTH, initial_indent=indent, subsequent_indent=indent)
    same = f"{indent}Near-duplicates: {', '.join(hit['duplicates'])}" if hit["duplicates"] else ""
    # Of an index file nobody knows where it is served.
    address = indent + _clean(hit["documentUrl"]) if urlsplit(hit["documentUrl"]).scheme else ""
    fit = ", weak match" if hit.get("fit") == "weak" else ""
    head = f"{number}{_clean(hit['title'])}  ({hit['score']:.2f}{fit})"
    paragraph = "\n".join(line for line in (head, indent + where, snippet, same, address) if line)
    if "document" not in hit:
        return paragraph
    if hit["document"] is None:
        reason = "is too large for the answer" if ref in left_out else "no longer exists"
        return f"{paragraph}\n{indent}(The document {reason}.)"
    return f"{paragraph}\n\n{_clean(hit['document']['content']).strip()}"


def _grid(*rows: tuple[str, str]) -> Table:
    """A table of names and values."""
    table = Table.grid(padding=(0, 2))
    for name, value in rows:
        table.add_row(Text(name, style="bold"), Text(_clean(value)))
    return table


def _hits(hits: Iterable[Answer]) -> Table:
    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="bold")
    table.add_column("#", justify="right")
    table.add_column("document", overflow="fold")
    for name in ("score", "words: rank", "score", "share", "meaning: rank", "score", "share", "name", "rerank"):
        table.add_column(name, justify="right", no_wrap=True)
    for hit in hits:
        numbers = (_number(hit["score"]), *_leg(hit["lexical"]), *_leg(hit["vector"]))
        told = (*numbers, _number(hit["named"]), _number(hit["rerankScore"]))
        table.add_row(str(hit["rank"]), Text(_clean(hit["id"])), *told)
    return table


def _leg(share: Answer | None) -> tuple[str, str, str]:
    if share is None:
        return ("-", "-", "-")
    return (str(share["rank"]), _number(share["score"]), _number(share["share"]))


def _place(place: list[float] | None, below_floor: float | None = None) -> str:
    if place is not None:
        return f"rank {place[0]:.0f}, score {_number(place[1])}"
    return "not found" if below_floor is None else f"not found: its similarity is {_number(below_floor)}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _clean(text: Any) -> str:
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", str(text).replace("\r\n", "\n"))
