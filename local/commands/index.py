"""`commonplace index`: build the search index anew beside the one that answers, check it, and let it take over."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from local.errors import CommandError
from local.operations import migrating
from local.operations.migrating import Ask, Place, Told
from local.operations.migration_text import NOUNS

WAIT_SECONDS = 5
"""Before a build goes on that has not come any further."""

Data = Annotated[Path | None, typer.Option(help="Data folder of a `commonplace dev --data`.")]
Outputs = Annotated[Path | None, typer.Option(help="File written by `cdk deploy --outputs-file`.")]
Stage = Annotated[str | None, typer.Option(help="Stage of a deployment, read from its stack.")]
Endpoint = Annotated[
    str | None, typer.Option(help="OpenSearch to work on from here, with the models of this shell's environment.")
]
Bucket = Annotated[str | None, typer.Option(help="With --endpoint: the bucket of the store.")]
Index = Annotated[str | None, typer.Option(help="With --endpoint: what the names of the indexes begin with.")]
Collection = Annotated[
    str, typer.Option(help="Whose index: that of the documents, of the memory, or of the reference.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

index_app = typer.Typer(
    help="Build the search index anew beside the one that answers, check it, and let it take over.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@index_app.command()
def build(
    *,
    anew: Annotated[
        bool, typer.Option("--anew", help="Begin from nothing, even if the settings are the same.")
    ] = False,
    data: Data = None,
    outputs: Outputs = None,
    stage: Stage = None,
    endpoint: Endpoint = None,
    bucket: Bucket = None,
    index: Index = None,
    collection: Collection = "documents",
) -> None:
    """Build the next index, or go on with it. Ctrl-C leaves what is done."""
    ask = migrating.reach(Place(data, outputs, stage, endpoint, bucket, index, collection))
    for_collection = partial(migrating.commands_for, collection)
    planned = _taken(ask, {"step": "plan"})
    begun = _taken(ask, {"step": "begin", "anew": anew})
    total = planned["published"] if anew else planned["documents"]
    typer.echo(f"Building {begun['index']}: {total} {NOUNS.get(collection, 'records')}")
    began = time.monotonic()
    try:
        answer, written = _build(ask, total)
    except KeyboardInterrupt:
        typer.echo(for_collection("Stopped. What is written stays. Go on with: commonplace index build"), err=True)
        raise typer.Exit(130) from None
    typer.echo(f"{written} written in {time.monotonic() - began:.0f} s, {answer['remaining']} remain")
    if answer["unreadable"]:
        told = f"{answer['unreadable']} cannot be read from the store: commonplace index verify names them"
        typer.echo(for_collection(told))
    if answer["action"] == "stuck":
        hint = "The function's log says why: perhaps the model does not answer. Go on with: commonplace index build"
        raise CommandError("The build does not come any further.", for_collection(hint))
    typer.echo(for_collection("Next: commonplace index swap (which verifies first)"))


@index_app.command()
def drop(
    name: Annotated[str | None, typer.Argument(help="An index; default: those that have no role any more.")] = None,
    *,
    data: Data = None,
    outputs: Outputs = None,
    stage: Stage = None,
    endpoint: Endpoint = None,
    bucket: Bucket = None,
    index: Index = None,
    collection: Collection = "documents",
    as_json: AsJson = False,
) -> None:
    """Delete indexes that are no longer needed."""
    event = {"step": "drop"} | ({"name": name} if name else {})
    _tell(_asked(Place(data, outputs, stage, endpoint, bucket, index, collection), event), _message, as_json=as_json)


def _step(step: str, text: str, tell: Callable[[dict[str, Any]], str]) -> None:
    """A command that asks for one step and tells its answer."""

    @index_app.command(step, help=text)
    def run(
        *,
        data: Data = None,
        outputs: Outputs = None,
        stage: Stage = None,
        endpoint: Endpoint = None,
        bucket: Bucket = None,
        index: Index = None,
        collection: Collection = "documents",
        as_json: AsJson = False,
    ) -> None:
        answer = _asked(Place(data, outputs, stage, endpoint, bucket, index, collection), {"step": step})
        _tell(answer, tell, as_json=as_json)


def _asked(place: Place, event: dict[str, Any]) -> dict[str, Any]:
    return _taken(migrating.reach(place), event)


def _taken(ask: Ask, event: dict[str, Any], told: Told = lambda _done, _left: None) -> dict[str, Any]:
    """The answer to a step. A refusal ends the command with the one to run instead."""
    answer = ask(event, told)
    if answer.get("action") == "refused":
        raise CommandError(answer["message"], answer.get("hint") or "")
    if "action" not in answer:
        raise CommandError("The index function does not know this step.", "Deploy this version and try again.")
    return answer


def _build(ask: Ask, total: int) -> tuple[dict[str, Any], int]:
    """Stretch after stretch, with a bar. The last answer, and how many records were written."""
    progress: dict[str, Any] | None = None
    written = 0
    with _bar(total) as show:
        while True:
            answer = _taken(ask, {"step": "build", "progress": progress}, show)
            progress = answer["progress"]
            written += answer["done"]
            show(0, answer["remaining"])
            if answer["action"] in ("verify", "stuck"):
                return answer, written
            if answer["action"] == "wait":
                time.sleep(WAIT_SECONDS)


@contextmanager
def _bar(total: int) -> Iterator[Told]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    # On a terminal only: in a log the lines before and after say enough.
    columns = (TextColumn("Records"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"))
    console = Console(stderr=True)
    with Progress(*columns, TimeElapsedColumn(), console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("build", total=total, rate="")

        def show(_done: int, left: int) -> None:
            whole = max(total, left)
            seconds = progress.tasks[task].elapsed or 0.0
            rate = f"{(whole - left) / seconds:.0f}/s" if seconds >= 1 else ""
            progress.update(task, total=whole, completed=whole - left, rate=rate)

        yield show


def _tell(answer: dict[str, Any], tell: Callable[[dict[str, Any]], str], *, as_json: bool) -> None:
    """Prints the answer. One that names differences ends the command with exit code 1."""
    differs = answer["action"] == "differs"
    if as_json:
        typer.echo(json.dumps(answer, indent=2))
    else:
        typer.echo(_differences(answer) if differs else tell(answer))
    if differs:
        raise CommandError("Nothing was changed.", answer.get("hint") or "")


def _state(answer: dict[str, Any]) -> str:
    from local.operations.migration_text import status_text

    return status_text(answer)


def _plan(answer: dict[str, Any]) -> str:
    from local.operations.migration_text import plan_text

    return plan_text(answer)


def _differences(answer: dict[str, Any]) -> str:
    from local.operations.migration_text import differences_text

    return differences_text(answer)


def _message(answer: dict[str, Any]) -> str:
    return str(answer["message"])


def _verified(answer: dict[str, Any]) -> str:
    return f"{_message(answer)}\n{_next(answer, 'Next: commonplace index swap')}"


def _swapped(answer: dict[str, Any]) -> str:
    return _message(answer) + (
        f"\n{_next(answer, 'To go back: commonplace index rollback')}" if answer.get("old") else ""
    )


def _next(answer: dict[str, Any], text: str) -> str:
    return migrating.commands_for(answer.get("collection", "documents"), text)


_step("status", "Say which indexes there are, and which of them answers.", _state)
_step("plan", "Say whether the index must be built anew, why, and how much work that is.", _plan)
_step(
    "verify",
    "Compare the next index with the store, and search it for sampled records. Exit code 1 if anything differs.",
    _verified,
)
_step("swap", "Verify the next index and let it answer. The one before is kept as the previous one.", _swapped)
_step("rollback", "Bring the previous index up to date and let it answer again.", _message)
