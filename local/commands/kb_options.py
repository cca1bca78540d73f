"""What the commands of `commonplace kb` have in common: options, and the way to the memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from local.operations.memory import ASK_SECONDS, Place, opened, refused

if TYPE_CHECKING:
    from commonplace.memory.client.client import MemoryClient

Url = Annotated[
    str | None,
    typer.Option(envvar="COMMONPLACE_URL", help="Base URL of a deployment; the token is in COMMONPLACE_TOKEN."),
]
Data = Annotated[Path | None, typer.Option(help="Data folder of a `commonplace dev --data`.")]
Outputs = Annotated[Path | None, typer.Option(help="File written by `cdk deploy --outputs-file`.")]
Stage = Annotated[str | None, typer.Option(help="Stage of a deployment, read from its stack.")]
Org = Annotated[str | None, typer.Option("--org", help="Organisation, where no token says it; default: its own.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")]


NOTICED_SECONDS = 3.0


class EntryType(StrEnum):
    FACT = "fact"
    SUMMARY = "summary"
    TEMPLATE = "template"


class Phase(StrEnum):
    PM = "pm"
    ELAB = "elab"
    DEV = "dev"
    REVIEW = "review"
    QA = "qa"


class Role(StrEnum):
    PM = "pm"
    DEV = "dev"
    QA = "qa"
    ALL = "all"


@contextmanager
def reached(place: Place, seconds: float = ASK_SECONDS) -> "Iterator[MemoryClient]":
    """The memory there; what goes wrong on the way is told in two sentences."""
    from commonplace.kernel.errors import CommonplaceError

    try:
        with opened(place, outage_seconds=seconds, waiting=waiting) as client:
            yield client
    except CommonplaceError as error:
        raise refused(error) from error


def waiting(wait: float, why: str) -> None:
    """Tells of a wait before it begins, if it is one that anybody would notice."""
    if wait >= NOTICED_SECONDS:
        typer.echo(f"Waiting for the memory: {why}. Trying again in {wait:.0f} s.", err=True)
