"""The connection of a command to a running Commonplace: calls that wait for a server which says when to come back."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from commonplace_local.access import Access, Grant, Place, granted

if TYPE_CHECKING:
    from commonplace.client import Patient

NOTICED_SECONDS = 3.0
"""Shorter waits are not reported."""


@contextmanager
def connected(
    place: Place,
    grant: Grant,
    *,
    what: str,
    hint: str,
    toolset: str = "",
    outage_seconds: float,
    limited_seconds: float | None = None,
    seconds: float | None = None,
) -> Iterator[tuple["Patient", Access]]:
    """Yield the server there. Where no token is given, one is made that lasts as long as the block.

    `what` is what a wait is reported for, `hint` says which token the server takes, `limited_seconds` is how long a
    call waits for its turn, and `seconds` how long for its answer. Raises CommandError when nothing runs there, or
    nobody may make a token, and what the server answers.
    """
    from commonplace.client import CALL_SECONDS, LIMITED_SECONDS, Patient, Server

    def waiting(seconds: float, why: str) -> None:
        if seconds >= NOTICED_SECONDS:
            typer.echo(f"Waiting for {what}: {why}. Trying again in {seconds:.0f} s.", err=True)

    with granted(place, grant) as access:
        server = Server(access.url, access.token, toolset, hint=hint, seconds=seconds or CALL_SECONDS)
        patient = Patient(
            server,
            outage_seconds=outage_seconds,
            limited_seconds=limited_seconds or LIMITED_SECONDS,
            sleep=time.sleep,
            waiting=waiting,
        )
        try:
            yield patient, access
        finally:
            server.close()
