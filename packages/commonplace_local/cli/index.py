"""Rebuild the search index, verify it, and swap it in."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from commonplace.capabilities import CAPABILITIES
from commonplace_local.deployment import Deployment
from commonplace_local.errors import CommandError
from commonplace_local.options import Target, grouped
from commonplace_local.terminal import AsJson, commands

WAIT_SECONDS = 5
"""Before a build goes on that has not come any further."""
STRETCH_SECONDS = 20
"""The length of a stretch of building. It begins with a look at all documents, which takes a second or two."""
CALL_SECONDS = 900
"""The longest that a function runs."""

ROLES = ("current", "next", "previous")
FACTS = ("model", "chunker", "schema", "mapping")

Answer = dict[str, Any]
Ask = Callable[[Mapping[str, Any]], Answer]
"""Takes a step and returns its answer."""

Whose = Annotated[str, typer.Option(help="Collection: documents, memory, reference or contributions.")]

app = commands("Rebuild the search index beside the live one, verify it, and swap it in.")


@dataclass(frozen=True, slots=True)
class Place(Target):
    """The deployment that the options name, and one of its collections."""

    collection: Whose = "documents"


@app.command()
@grouped
def build(
    *,
    anew: Annotated[
        bool, typer.Option("--anew", help="Start from scratch, even if the settings are unchanged.")
    ] = False,
    place: Place,
) -> None:
    """Build the next index, or resume it. Ctrl-C saves the progress."""
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
                answer = _answer(ask, {"step": "build", "progress": progress})
                progress = answer["progress"]
                written += answer["done"]
                show(answer["remaining"])
                if answer["action"] in ("verify", "stuck"):
                    break
                if answer["action"] == "wait":
                    time.sleep(WAIT_SECONDS)
    except KeyboardInterrupt:
        typer.echo(f"Interrupted. Progress is saved. Resume with: {command('build', place.collection)}", err=True)
        raise typer.Exit(130) from None
    typer.echo(f"{written} written in {time.monotonic() - began:.0f} s, {answer['remaining']} remain")
    if answer["unreadable"]:
        verify = command("verify", place.collection)
        typer.echo(f"{answer['unreadable']} cannot be read from the store: {verify} lists them")
    if answer["action"] == "stuck":
        hint = "See the function's log; the model may be unavailable."
        go_on = f"Resume with: {command('build', place.collection)}"
        raise CommandError("The build makes no progress.", f"{hint} {go_on}")
    typer.echo(f"Next: {command('swap', place.collection)} (which verifies first)")


@app.command()
@grouped
def drop(
    name: Annotated[str | None, typer.Argument(help="An index; default: all unused ones.")] = None,
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


def _answer(ask: Ask, event: Answer) -> Answer:
    """The answer to a step. A refusal ends the command with the one to run instead."""
    answer = ask(event)
    if answer.get("action") == "refused":
        raise CommandError(answer["message"], _hint(answer))
    return answer


@contextmanager
def _bar(total: int) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    # On a terminal only: in a log the lines before and after say enough.
    columns = (TextColumn("Records"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"))
    console = Console(stderr=True)
    with Progress(*columns, TimeElapsedColumn(), console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("build", total=total, rate="")

        def show(left: int) -> None:
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
    "List the indexes and their roles.",
    lambda answer: "\n".join([*_roles(answer), *(f"Note      {warning}" for warning in answer["warnings"])]),
)
_step("plan", "Show whether a rebuild is needed, why, and how much work it is.", _plan)
_step(
    "verify",
    "Compare the next index with the store, and search it for sampled records. Exit code 1 if anything differs.",
    lambda answer: f"{_message(answer)}\nNext: {command('swap', answer['collection'])}",
)
_step(
    "swap",
    "Verify the next index and make it live. The old one becomes the previous one.",
    lambda answer: (
        _message(answer) + (f"\nTo go back: {command('rollback', answer['collection'])}" if answer.get("old") else "")
    ),
)
_step("rollback", "Update the previous index and make it live again.", _message)


def reach(place: Place) -> Ask:
    """Return the way to the index. Raises CommandError for an unknown collection."""
    if place.collection not in (names := [one.collection_name for one in CAPABILITIES if one.collection_name]):
        raise CommandError(f"There is no collection {place.collection}.", f"Collections: {', '.join(names)}.")
    return ask_function(place.find(), place.collection)


def ask_function(deployment: Deployment, collection: str = "documents") -> Ask:
    """Return the way to the index function, which has the models, the credentials and the way to the index.

    On AWS a function of the same code with more time builds, so that the queue's need not wait.
    """
    name = deployment.outputs.get("IndexBuildFunction") or deployment.outputs.get("IndexFunction")
    if name is None:
        raise CommandError("The deployment names no index function.", "Deploy this version and try again.")
    client = deployment.client("lambda", read_seconds=CALL_SECONDS)

    def ask(event: Mapping[str, Any]) -> Answer:
        chosen = {} if collection == "documents" else {"collection": collection}
        payload = {"source": "commonplace.operator", "seconds": STRETCH_SECONDS, **chosen, **event}
        answer = client.invoke(FunctionName=name, Payload=json.dumps(payload).encode())
        content: Answer = json.loads(answer["Payload"].read() or b"{}") or {}
        if answer.get("FunctionError"):
            kind, message = content.get("errorType", "unknown error"), content.get("errorMessage", "")
            hint = f"No data is lost. Retry with: commonplace index {event.get('step')}"
            raise CommandError(f"The index function failed: {kind}. {message}".rstrip(), hint)
        return content

    return ask
