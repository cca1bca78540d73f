"""Run an OpenSearch node on this machine."""

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from local.terminal import AsJson, commands

if TYPE_CHECKING:
    from local.opensearch.node import Status

NOT_RUNNING = 3
"""Exit code of `status` when no node answers, as init scripts have it."""

HEAP = re.compile(r"[1-9][0-9]{0,4}[mg]")

Folder = Annotated[
    Path | None,
    typer.Option(help="Where it is kept; default: $COMMONPLACE_OPENSEARCH_HOME, else .tools/opensearch."),
]

app = commands(
    "Run an OpenSearch node on this machine: for development and tests, without a password, never in public."
)


@app.command()
def start(
    *,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 for the last one, or any.")] = 0,
    heap: Annotated[str, typer.Option(help="Java heap: 512m, 2g.")] = "512m",
    fast: Annotated[bool, typer.Option("--fast", help="Start sooner and search slower: for tests.")] = False,
    folder: Folder = None,
) -> None:
    """Start the node, unless it runs. The first time it is fetched (180 MB, through Maven)."""
    from local.opensearch.node import ensure_node
    from local.opensearch.process import Options
    from local.opensearch.progress import told

    if not HEAP.fullmatch(heap):
        raise typer.BadParameter(f"{heap!r} is no heap size; 512m and 2g are.", param_hint="--heap")
    with told() as tell:
        node = ensure_node(folder, Options(port, heap, fast), tell)
    typer.echo(f"OpenSearch {'is ready' if node.fresh else 'runs already'}: {node.url}")
    if node.fresh:
        typer.echo("Serve a knowledge base with it: commonplace dev --engine opensearch")
        typer.echo("It goes on until: commonplace opensearch stop")


@app.command()
def stop(
    *,
    wipe: Annotated[bool, typer.Option("--wipe", help="Remove its data as well; the program stays.")] = False,
    folder: Folder = None,
) -> None:
    """End the node that `start` started, and no other."""
    from local.opensearch.node import stop_node

    ended = stop_node(folder, wipe=wipe)
    typer.echo(("OpenSearch has ended." if ended else "No node runs.") + (" Its data is removed." if wipe else ""))


@app.command()
def status(*, as_json: AsJson = False, folder: Folder = None) -> None:
    """Say where the node is and what it holds. Exit code 0 when it answers, 3 when not."""
    from local.opensearch.node import status as look

    found = look(folder)
    typer.echo(json.dumps(asdict(found), indent=2, default=str) if as_json else _as_text(found))
    if found.state != "running":
        raise typer.Exit(NOT_RUNNING)


def _as_text(found: "Status") -> str:
    if found.state == "stopped":
        kept = "assembled" if found.assembled else "not fetched yet"
        return f"No node runs. Folder: {found.folder} ({kept})\nStart one: commonplace opensearch start"
    if found.state == "silent":
        return f"The node's process {found.pid} runs and does not answer: it may be starting. Folder: {found.folder}"
    lines = [f"OpenSearch {found.version}: {found.url}", f"Health: {found.health}", f"Folder: {found.folder}"]
    lines += [f"Index {item.name}: {item.records} records, {item.bytes / 1e6:.1f} MB" for item in found.indexes]
    return "\n".join(lines if found.indexes else [*lines, "No index yet."])
