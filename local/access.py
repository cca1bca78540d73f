"""The way of a command to a running Commonplace: its address, and a token for what the command does there."""

import base64
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from commonplace.kernel.errors import CommonplaceError
from local.deployment import Deployment, find, web_address
from local.errors import CommandError
from local.terminal import Data, Outputs, Stage

if TYPE_CHECKING:
    from commonplace.identity.principals import Tier

URL_VARIABLE, TOKEN_VARIABLE = "COMMONPLACE_URL", "COMMONPLACE_TOKEN"

Url = Annotated[
    str | None,
    typer.Option(envvar="COMMONPLACE_URL", help="Base URL of a deployment; the token is in COMMONPLACE_TOKEN."),
]
Org = Annotated[str | None, typer.Option("--org", help="Organisation, where no token says it; default: its own.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What a token is made for where none is given."""

    agent: str
    scopes: tuple[str, ...]
    path: str
    tier: "Tier" = "member"


class Unreachable(CommandError):
    """Nobody responds: not now, and perhaps later."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the user wants to go: options of the command line, and the environment."""

    url: Url = None
    data: Data = None
    outputs: Outputs = None
    stage: Stage = None
    organisation: Org = None


@contextmanager
def granted(place: Place, grant: Grant) -> Iterator[tuple[str, str | None]]:
    """Its address, and the token of the environment, else one that lasts as long as the block.

    None is an address for which no token was given. Raises CommandError when nothing runs there, or nobody may make a
    token.
    """
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
    with _minted(deployment, place.organisation, grant) as token:
        yield deployment.base_url, token


@contextmanager
def _minted(deployment: Deployment, organisation: str | None, grant: Grant) -> Iterator[str]:
    """A token of our own, by the operator's right to make one; its grant ends with the block."""
    from commonplace.identity.secrets import digest
    from local.identity import Identity

    identity = Identity(deployment)
    try:
        token = identity.mint(
            organisation=organisation or deployment.outputs.get("Organisation", "default"),
            agent=grant.agent,
            scopes=grant.scopes,
            tier=grant.tier,
            path=grant.path,
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
