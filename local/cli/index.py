"""Build the search index anew, check it, and swap it in."""

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from commonplace.capabilities import CAPABILITIES
from commonplace.kernel.capability import built
from local.deployment import Deployment
from local.errors import CommandError
from local.options import Target, grouped
from local.terminal import AsJson, commands

if TYPE_CHECKING:
    from commonplace.search.operations import Operations

WAIT_SECONDS = 5
"""Before a build goes on that has not come any further."""
STRETCH_SECONDS = 20
"""The length of a stretch of building. It begins with a look at all documents, which takes a second or two."""
CALL_SECONDS = 900
"""The longest that a function runs."""

ROLES = ("current", "next", "previous")
FACTS = ("model", "chunker", "schema", "mapping")

Answer = dict[str, Any]
Told = Callable[[int, int], None]
Ask = Callable[[Mapping[str, Any], Told], Answer]
"""Takes a step, and reports records done and left where they are known meanwhile."""

Endpoint = Annotated[
    str | None, typer.Option(help="OpenSearch to work on from here, with the models of this shell's environment.")
]
Bucket = Annotated[str | None, typer.Option(help="With --endpoint: the bucket of the store.")]
Index = Annotated[str | None, typer.Option(help="With --endpoint: what the names of the indexes begin with.")]
Whose = Annotated[str, typer.Option(help="Whose index: documents, memory, reference or contributions.")]

app = commands("Build the search index anew beside the one that answers, check it, and let it take over.")


@dataclass(frozen=True, slots=True)
class Place(Target):
    """The place that the options name: a deployment or, with an endpoint, an index and a store reached from here."""

    endpoint: Endpoint = None
    bucket: Bucket = None
    index: Index = None
    collection: Whose = "documents"


@app.command()
@grouped
def build(
    *,
    anew: Annotated[
        bool, typer.Option("--anew", help="Begin from nothing, even if the settings are the same.")
    ] = False,
    place: Place,
) -> None:
    """Build the next index, or go on with it. Ctrl-C leaves what is done."""
    ask = reach(place)
    planned = _answer(ask, {"step": "plan"})
    begun = _answer(ask, {"step": "begin", "anew": anew})
    total = planned["published"] if anew else planned["documents"]
    typer.echo(f"Building {begun['index']}: {total} records")
    began = time.monotonic()
    try:
        progress: Answer | None = None
        written = 0
        with _bar(total) as show:
            while True:
                answer = _answer(ask, {"step": "build", "progress": progress}, show)
                progress = answer["progress"]
                written += answer["done"]
                show(0, answer["remaining"])
                if answer["action"] in ("verify", "stuck"):
                    break
                if answer["action"] == "wait":
                    time.sleep(WAIT_SECONDS)
    except KeyboardInterrupt:
        typer.echo(f"Stopped. What is written stays. Go on with: {command('build', place.collection)}", err=True)
        raise typer.Exit(130) from None
    typer.echo(f"{written} written in {time.monotonic() - began:.0f} s, {answer['remaining']} remain")
    if answer["unreadable"]:
        verify = command("verify", place.collection)
        typer.echo(f"{answer['unreadable']} cannot be read from the store: {verify} names them")
    if answer["action"] == "stuck":
        hint = "The function's log says why: perhaps the model does not answer."
        go_on = f"Go on with: {command('build', place.collection)}"
        raise CommandError("The build does not come any further.", f"{hint} {go_on}")
    typer.echo(f"Next: {command('swap', place.collection)} (which verifies first)")


@app.command()
@grouped
def drop(
    name: Annotated[str | None, typer.Argument(help="An index; default: those that have no role any more.")] = None,
    *,
    place: Place,
    as_json: AsJson = False,
) -> None:
    """Delete indexes that are no longer needed."""
    _take(place, {"step": "drop"} | ({"name": name} if name else {}), _message, as_json=as_json)


def _step(step: str, text: str, tell: Callable[[Answer], str]) -> None:
    """A command that requests one step and prints its answer."""

    @app.command(step, help=text)
    @grouped
    def run(
        *,
        place: Place,
        as_json: AsJson = False,
    ) -> None:
        _take(place, {"step": step}, tell, as_json=as_json)


def _take(place: Place, event: Answer, tell: Callable[[Answer], str], *, as_json: bool) -> None:
    """Take a step and print the answer. One that names differences ends the command with exit code 1."""
    answer = _answer(reach(place), event)
    differs = answer["action"] == "differs"
    if as_json:
        typer.echo(json.dumps(answer, indent=2))
    elif differs:  # the sum, then each difference that is known by name
        typer.echo(answer["message"])
        for difference in answer["differences"]:
            record = difference["record"] or "the index"
            typer.echo(f"- {difference['kind']}: {record}. {difference['sentence']}")
        more = sum(answer["counts"].values()) - len(answer["differences"])
        if more > 0:
            typer.echo(f"- and {more} more")
    else:
        typer.echo(tell(answer))
    if differs:
        raise CommandError("Nothing was changed.", _hint(answer))


def _answer(ask: Ask, event: Answer, told: Told = lambda _done, _left: None) -> Answer:
    """The answer to a step. A refusal ends the command with the one to run instead."""
    answer = ask(event, told)
    if answer.get("action") == "refused":
        raise CommandError(answer["message"], _hint(answer))
    return answer


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


def command(step: str, collection: str | None) -> str:
    """Return the command to type for a step of `search.migration`."""
    typed = f"commonplace index {step.replace('-anew', ' --anew')}"
    return typed if collection in (None, "documents") else f"{typed} --collection {collection}"


def _hint(answer: Answer) -> str:
    """Return the next thing to do, with the command to type."""
    step, hint = answer.get("next"), answer.get("hint") or ""
    return f"{hint} Run: {command(step, answer.get('collection'))}".strip() if step else hint


def _message(answer: Answer) -> str:
    return str(answer["message"])


def _plan(answer: Answer) -> str:
    """Return what there is, what differs, how much work it is, and the command to run next."""
    lines = [*_roles(answer), "", f"Wanted    {_facts(answer['wanted'])}"]
    for name, change in answer["changes"].items():
        lines.append(f"Differs   {name}: {change['from']}, wanted {change['to']}")
    lines.append(answer["message"])
    if answer["next"]:
        about = f", about {answer['chunks']} chunks to embed" if answer["chunks"] else ", nothing to embed"
        lines.append(f"To write  {answer['documents']} of {answer['published']} records{about}")
    lines += [f"Note      {warning}" for warning in answer["warnings"]]
    lines += [f"Next      {command(answer['next'], answer['collection'])}"] if answer["next"] else []
    return "\n".join(lines)


def _roles(answer: Answer) -> Iterator[str]:
    for role in (*ROLES, "spare"):
        indexes = [index for index in answer["indexes"] if index["role"] == role]
        for index in indexes:
            held = f"{index['documents']} records"
            yield f"{role.capitalize():9} {index['name']}, {held}, {_facts(index['facts'])}"
        if not indexes and role != "spare":
            yield f"{role.capitalize():9} none"


def _facts(facts: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {facts[name]}" for name in FACTS)


_step(
    "status",
    "Say which indexes there are, and which of them answers.",
    lambda answer: "\n".join([*_roles(answer), *(f"Note      {warning}" for warning in answer["warnings"])]),
)
_step("plan", "Say whether the index must be built anew, why, and how much work that is.", _plan)
_step(
    "verify",
    "Compare the next index with the store, and search it for sampled records. Exit code 1 if anything differs.",
    lambda answer: f"{_message(answer)}\nNext: {command('swap', answer['collection'])}",
)
_step(
    "swap",
    "Verify the next index and let it answer. The one before is kept as the previous one.",
    lambda answer: (
        _message(answer) + (f"\nTo go back: {command('rollback', answer['collection'])}" if answer.get("old") else "")
    ),
)
_step("rollback", "Bring the previous index up to date and let it answer again.", _message)


def reach(place: Place) -> Ask:
    """Return the way to the index. Raises CommandError when the options name none."""
    if place.endpoint is None and (place.bucket or place.index):
        raise CommandError("--bucket and --index go with --endpoint.", "Without it the index function does the work.")
    if place.collection not in (names := [one.collection_name for one in CAPABILITIES if one.collection_name]):
        raise CommandError(f"There is no collection {place.collection}.", f"Collections: {', '.join(names)}.")
    if place.endpoint:
        return ask_here(place)
    return ask_function(place.find(), place.collection)


def ask_function(deployment: Deployment, collection: str = "documents") -> Ask:
    """The index function, which has the models, the credentials and the way to the index.

    On AWS one of the same code with more time builds, so that the queue's need not wait.
    """
    name = deployment.outputs.get("IndexBuildFunction") or deployment.outputs.get("IndexFunction")
    if name is None:
        raise CommandError("The deployment names no index function.", "Deploy this version and try again.")
    client = deployment.client("lambda", read_seconds=CALL_SECONDS)

    def ask(event: Mapping[str, Any], _told: Told) -> dict[str, Any]:
        chosen = {} if collection == "documents" else {"collection": collection}
        payload = {"source": "commonplace.operator", "seconds": STRETCH_SECONDS, **chosen, **event}
        answer = client.invoke(FunctionName=name, Payload=json.dumps(payload).encode())
        told: dict[str, Any] = json.loads(answer["Payload"].read() or b"{}") or {}
        if answer.get("FunctionError"):
            kind, message = told.get("errorType", "unknown error"), told.get("errorMessage", "")
            raise CommandError(f"The index function failed: {kind}. {message}".rstrip(), _again(event))
        return told

    return ask


def ask_here(place: Place) -> Ask:
    """This process, with the models of its own environment: for an index that its operator can reach."""
    from commonplace.kernel.environment import SettingsError
    from commonplace.kernel.errors import CommonplaceError

    try:
        operations = _operations(place)
    except (SettingsError, ValueError) as error:
        raise CommandError(
            str(error), "The settings come from this shell's environment: docs/configuration.md."
        ) from error

    def ask(event: Mapping[str, Any], told: Told) -> dict[str, Any]:
        end = time.monotonic() + STRETCH_SECONDS
        try:
            return operations.step(event, lambda: time.monotonic() >= end and event.get("step") == "build", told)
        except CommonplaceError as error:
            hint = _hint({"hint": error.hint, "next": error.details.get("step"), "collection": place.collection})
            raise CommandError(error.message, hint or _again(event)) from error

    return ask


def _operations(place: Place) -> "Operations":
    """Return what the collection's capability makes for the index function. Raises CommandError, SettingsError."""
    from commonplace.kernel.s3 import S3ObjectStore
    from commonplace.search import providers
    from commonplace.search.collections import IndexContext
    from commonplace.search.settings import RetrievalSettings

    named = place.data or place.outputs or place.stage
    deployment = place.find() if named or not place.bucket else Deployment({})
    given = {"SEARCH_ENGINE": "opensearch", "OPENSEARCH_ENDPOINT": place.endpoint, "OPENSEARCH_INDEX": place.index}
    stored: dict[str, str] = {"STAGE": "dev"}
    if deployment.outputs:
        tables = {"RECORDS_TABLE": "RecordsTable", "ACTIVITY_TABLE": "ActivityTable", "CACHE_TABLE": "CacheTable"}
        stored |= deployment.settings()
        stored |= {variable: deployment.outputs.get(output, "") for variable, output in tables.items()}
    environment = stored | dict(os.environ) | {name: value for name, value in given.items() if value}
    settings = RetrievalSettings.from_environ(environment)
    objects = S3ObjectStore(deployment.client("s3"), place.bucket) if place.bucket else deployment.store
    context = IndexContext(
        environ=environment,
        settings=settings,
        objects=objects,
        dynamodb=lambda: deployment.client("dynamodb"),
        models=providers.indexed_models(settings),
        note=lambda _collection: None,
        changes=None,
    )
    capability = next(one for one in CAPABILITIES if one.collection_name == place.collection)
    made = next(built([capability], "collection", context), None)
    if made is None:
        hint = "Name the deployment that has it: --stage or --outputs."
        raise CommandError(f"There is nothing of the collection {place.collection} here.", hint)
    operations: Operations = made.operations
    return operations


def _again(event: Mapping[str, Any]) -> str:
    return f"Nothing is lost: try again with commonplace index {event.get('step')}"
