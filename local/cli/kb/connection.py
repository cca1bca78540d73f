"""The connection to the memory of a running Commonplace, and options that the commands of `commonplace kb` share."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Annotated

import typer

from commonplace.kernel.errors import CommonplaceError, InvalidInput
from commonplace.memory.client.client import AUTHORIZATION_HINT, MemoryClient
from commonplace.memory.client.learnings import Address
from local.access import Grant, Place, granted
from local.errors import CommandError

MINT = (
    "It belongs into COMMONPLACE_TOKEN. Make one: commonplace tokens mint --org ORGANISATION --agent NAME "
    '--scopes "memory:write" --path /mcp/memory'
)
GRANT = Grant(agent="commonplace-kb", scopes=("memory:write",), path="/mcp/memory")

RESTORING = replace(GRANT, scopes=("memory:admin",))
"""Bringing entries back with their ids and dates."""

LIMITED_SECONDS = 300.0
"""How long a call waits for its turn. A class of calls has a new window every minute."""
LEARN_LIMITED_SECONDS = 90.0
"""How long a story's end waits for its turn: a window of calls, and half of the next."""
LEARN_SECONDS, ASK_SECONDS, SEED_SECONDS = 3.0, 10.0, 120.0
"""How long an outage may last: a story's end does not wait for it, an import of thousands does."""
NOTICED_SECONDS = 3.0

DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")]


@contextmanager
def opened(
    place: Place,
    *,
    grant: Grant = GRANT,
    outage_seconds: float,
    limited_seconds: float = LIMITED_SECONDS,
    waiting: Callable[[float, str], object],
) -> Iterator[MemoryClient]:
    """A client of the memory there. Where no token is given, one is made that lasts as long as the block.

    Raises CommandError when nothing runs there, or nobody may make a token.
    """
    from commonplace.client import Patient, Server

    with granted(place, grant) as access:
        try:
            server = Server(access.url, access.token, "memory", hint=AUTHORIZATION_HINT)
        except InvalidInput as error:
            raise CommandError(error.message, error.hint or "") from error
        try:
            patient = Patient(
                server,
                outage_seconds=outage_seconds,
                limited_seconds=limited_seconds,
                sleep=time.sleep,
                waiting=waiting,
            )
            yield MemoryClient(patient, Address(access.url, access.organisation), sleep=time.sleep)
        finally:
            server.close()


@contextmanager
def reached(place: Place, seconds: float = ASK_SECONDS, grant: Grant = GRANT) -> Iterator[MemoryClient]:
    """The memory there; failures on the way become an error of two sentences."""
    try:
        with opened(place, grant=grant, outage_seconds=seconds, waiting=waiting) as client:
            yield client
    except CommonplaceError as error:
        raise CommandError(error.message, hint_of(error)) from error


def hint_of(error: CommonplaceError) -> str:
    """The command that helps, where there is one."""
    return MINT if error.hint == AUTHORIZATION_HINT else error.hint or ""


def waiting(wait: float, why: str) -> None:
    """Reports a wait before it begins, if it is one that anybody would notice."""
    if wait >= NOTICED_SECONDS:
        typer.echo(f"Waiting for the memory: {why}. Trying again in {wait:.0f} s.", err=True)
