"""`commonplace kb validated`: what a quality gate says of the failures that a story recorded."""

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from local.commands.kb_options import AsJson, Data, Org, Outputs, Stage, Url, reached
from local.operations.memory import Place

if TYPE_CHECKING:
    from commonplace.memory.client.client import MemoryClient


class Gate(StrEnum):
    PASS = "PASS"  # noqa: S105 - no password
    FAIL = "FAIL"


def validated(
    what: Annotated[str, typer.Argument(metavar="STORY|FILE", help="A story's id, or its LEARNINGS.yaml.")],
    *,
    gate: Annotated[Gate, typer.Option(help="What the quality gate has said.")],
    as_json: AsJson = False,
    url: Url = None,
    data: Data = None,
    outputs: Outputs = None,
    stage: Stage = None,
    org: Org = None,
) -> None:
    """Note a quality gate's result on a story's failures. PASS raises their confidence to 1.0."""
    from local.operations.counting import counted
    from local.operations.memory_files import now, records_below

    files = [Path(what)] if Path(what).is_file() else []
    files = files or [file for file, one in records_below(Path())[0] if one.story == what]
    confirmed, gone = 0, 0
    with _asked_if(files, Place(url, data, outputs, stage, org)) as client:
        for file in files:
            done, lost = _confirmed(client, file, gate)
            confirmed, gone = confirmed + done, gone + lost
        if not files:
            for entry in client.failures_of(what):
                confirmed += client.confirm(entry["id"], gate.value, now())
    if as_json:
        typer.echo(json.dumps({"gate": gate.value, "confirmed": confirmed, "gone": gone}, indent=2))
        return
    typer.echo(f"{counted(confirmed, 'failure', 'failures')} of {what}: {gate.value}.")
    if gone:
        typer.echo(f"{counted(gone)} of the record are no longer in the memory.", err=True)


def _asked_if(files: list[Path], place: Place) -> "AbstractContextManager[MemoryClient]":
    """The memory, unless everything that is confirmed still waits to be delivered: then nobody has to be there."""
    from commonplace.memory.client.client import FAILURE, MemoryClient
    from local.operations.memory_files import read_learnings

    failures = [one for file in files for one in read_learnings(file).entries if one.category == FAILURE]
    if files and all(one.pending for one in failures):
        return nullcontext(MemoryClient(Nobody()))
    return reached(place)


class Nobody:
    """A memory that is not asked anything."""

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        raise AssertionError(f"{tool} is not asked here: {sorted(arguments)}")


def _confirmed(client: "MemoryClient", file: Path, gate: Gate) -> tuple[int, int]:
    from local.operations.memory_files import alone, now, read_learnings, write_learnings

    with alone(file):
        told = client.validated(read_learnings(file), gate.value, now())
        write_learnings(file, told.learnings)
    return told.confirmed, len(told.gone)
