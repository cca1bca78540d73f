"""The connection to the memory of a running Commonplace, and options that the commands of `commonplace kb` share."""

import base64
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Annotated

import typer

from commonplace.kernel.errors import CommonplaceError, InvalidInput
from commonplace.memory.client.client import AUTHORIZATION_HINT, LIMITED_SECONDS, MemoryClient, Patient
from local.deployment import Deployment, find, web_address
from local.errors import CommandError
from local.terminal import Data, Outputs, Stage

URL_VARIABLE, TOKEN_VARIABLE = "COMMONPLACE_URL", "COMMONPLACE_TOKEN"
MINT = (
    "It belongs into COMMONPLACE_TOKEN. Make one: commonplace tokens mint --org ORGANISATION --agent NAME "
    '--scopes "memory:write" --path /mcp/memory'
)
AGENT = "commonplace-kb"
SCOPES = ("memory:write",)
PATH = "/mcp/memory"

LEARN_LIMITED_SECONDS = 90.0
"""How long a story's end waits for its turn: a window of calls, and half of the next."""
LEARN_SECONDS, ASK_SECONDS, SEED_SECONDS = 3.0, 10.0, 120.0
"""How long an outage may last: a story's end does not wait for it, an import of thousands does."""
NOTICED_SECONDS = 3.0

Url = Annotated[
    str | None,
    typer.Option(envvar="COMMONPLACE_URL", help="Base URL of a deployment; the token is in COMMONPLACE_TOKEN."),
]
Org = Annotated[str | None, typer.Option("--org", help="Organisation, where no token says it; default: its own.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")]


class Unreachable(CommandError):
    """No memory responds: not now, and perhaps later."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the user wants to go: options of the command line, and the environment."""

    url: Url = None
    data: Data = None
    outputs: Outputs = None
    stage: Stage = None
    organisation: Org = None


@contextmanager
def opened(
    place: Place,
    *,
    outage_seconds: float,
    limited_seconds: float = LIMITED_SECONDS,
    waiting: Callable[[float, str], object],
) -> Iterator[MemoryClient]:
    """A client of the memory there. Where no token is given, one is made that lasts as long as the block.

    Raises CommandError when nothing runs there, or nobody may make a token.
    """
    from commonplace.memory.client.server import HttpMemoryServer

    with _token(place) as (url, token):
        try:
            server = HttpMemoryServer(url, token)
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
            yield MemoryClient(patient, sleep=time.sleep)
        finally:
            server.close()


@contextmanager
def _token(place: Place) -> Iterator[tuple[str, str | None]]:
    given = os.environ.get(TOKEN_VARIABLE, "").strip() or None
    named = place.data or place.outputs or place.stage
    if place.url and not named:
        yield web_address(place.url), given
        return
    try:
        deployment = find(place.data, place.outputs, place.stage)
    except CommandError as error:
        hint = f"{error.hint} An address of your own: {URL_VARIABLE}, and {TOKEN_VARIABLE} for its token."
        raise Unreachable(error.message, hint) from error
    if given and (place.outputs or place.stage):
        yield deployment.base_url, given
        return
    with _minted(deployment, place.organisation) as token:
        yield deployment.base_url, token


@contextmanager
def _minted(deployment: Deployment, organisation: str | None) -> Iterator[str]:
    """A token of our own, by the operator's right to make one; its grant ends with the block."""
    from commonplace.identity.secrets import digest
    from local.identity import Identity

    identity = Identity(deployment)
    try:
        token = identity.mint(
            organisation=organisation or deployment.outputs.get("Organisation", "default"),
            agent=AGENT,
            scopes=SCOPES,
            tier="member",
            path=PATH,
            days=1,
        )
    except CommonplaceError as error:
        raise CommandError(error.message, error.hint or "") from error
    except Exception as error:
        if not type(error).__module__.startswith("botocore."):
            raise
        raise Unreachable(
            f"No token can be made: {type(error).__name__}.", "Is it running? Try its /health."
        ) from error
    try:
        yield token
    finally:
        with suppress(Exception):  # it ends by itself within a day
            claims = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
            identity.connections.revoke_for_operator(digest(claims["grant"]))


@contextmanager
def reached(place: Place, seconds: float = ASK_SECONDS) -> Iterator[MemoryClient]:
    """The memory there; failures on the way become an error of two sentences."""
    try:
        with opened(place, outage_seconds=seconds, waiting=waiting) as client:
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
