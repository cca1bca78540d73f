"""The way of a command to a running Commonplace: its address, and a token for what the command does there."""

import base64
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from commonplace.kernel.errors import CommonplaceError
from commonplace_local.deployment import Ambiguous, Deployment, find, laptops, web_address
from commonplace_local.errors import CommandError
from commonplace_local.terminal import Data, Outputs, Stage

if TYPE_CHECKING:
    from commonplace.identity.principals import Tier

URL_VARIABLE, TOKEN_VARIABLE = "COMMONPLACE_URL", "COMMONPLACE_TOKEN"

Url = Annotated[
    str | None,
    typer.Option(help="Base URL of a deployment; default: COMMONPLACE_URL. The token is in COMMONPLACE_TOKEN."),
]
Org = Annotated[str | None, typer.Option("--org", help="Organisation, if no token names one; default: its own.")]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """A server, and the token for it; None is an address for which none was given."""

    url: str
    token: str | None = field(repr=False)
    organisation: str | None
    """None where no token says it: the server decides."""
    chosen_by: str
    """What named the server, as a user writes it."""

    def __str__(self) -> str:
        return f"Server: {self.url}, organisation {self.organisation or 'of the server'} ({self.chosen_by})"


@contextmanager
def granted(place: Place, grant: Grant) -> Iterator[Access]:
    """The server that is meant, said on standard error, with the token of the environment, else one that lasts as
    long as the block.

    Raises CommandError when two servers may be meant, when nothing runs there, or nobody may make a token.
    """
    given = os.environ.get(TOKEN_VARIABLE, "").strip() or None
    option, url = _choose(place)
    here = next((one for one in laptops().values() if one.base_url == url), None) if place.url and not given else None
    if url is not None and here is None:
        yield _told(Access(url=url, token=given, organisation=_organisation(given, place), chosen_by=option))
        return
    try:
        found = here or find(place.data, place.outputs, place.stage)
    except Ambiguous:
        raise
    except CommandError as error:
        hint = f"{error.hint} An address of your own: {URL_VARIABLE}, and {TOKEN_VARIABLE} for its token."
        raise Unreachable(error.message, hint) from error
    if given and (place.outputs or place.stage):
        organisation = _organisation(given, place)
        yield _told(Access(url=found.base_url, token=given, organisation=organisation, chosen_by=option))
        return
    organisation = place.organisation or found.outputs.get("Organisation", "default")
    with minted(found, organisation, grant) as token:
        yield _told(Access(url=found.base_url, token=token, organisation=organisation, chosen_by=option))


def _choose(place: Place) -> tuple[str, str | None]:
    """What names the server, and its address where that is known already. Raises Ambiguous for two of them."""
    options = {"--url": place.url, "--data": place.data, "--outputs": place.outputs, "--stage": place.stage}
    named = [option for option, value in options.items() if value]
    if len(named) > 1:
        raise Ambiguous(f"{' and '.join(named)} name two servers.", "Use one of them.")
    if named:
        return named[0], web_address(place.url) if place.url else None
    address = os.environ.get(URL_VARIABLE, "").strip()
    if not address:
        return "commonplace dev on this machine", None
    url = web_address(address)
    here = {one.base_url: folder for folder, one in laptops().items()}
    if here and url not in here:
        running = next(iter(here))
        raise Ambiguous(
            f"Two servers are possible: {url} of {URL_VARIABLE}, and the commonplace dev here, {running}.",
            f"Choose: --url {url}, or --data {here[running]}.",
        )
    return URL_VARIABLE, url


def _told(access: Access) -> Access:
    typer.echo(str(access), err=True)
    return access


def _organisation(token: str | None, place: Place) -> str | None:
    """Of the token, unverified: the server decides. Raises CommandError where another one was asked for."""
    try:
        organisation = str(_claims(token or "")["org"])
    except (ValueError, LookupError, TypeError):
        organisation = None
    if place.organisation and place.organisation != organisation:
        told = f"is for {organisation}" if organisation else "says which organisation it is for"
        raise CommandError(
            f"--org {place.organisation} is not available: the token in {TOKEN_VARIABLE} {told}.",
            f"Omit --org, or set another token in {TOKEN_VARIABLE}.",
        )
    return organisation


def _claims(token: str) -> Any:
    """Of a JSON Web Token (RFC 7519), unverified. Raises ValueError and IndexError for other texts."""
    return json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))


@contextmanager
def minted(deployment: Deployment, organisation: str, grant: Grant) -> Iterator[str]:
    """A token of our own, by the operator's right to make one; its grant ends with the block."""
    from commonplace.identity.secrets import digest
    from commonplace_local.identity import Identity

    identity = Identity(deployment)
    try:
        token = identity.mint(
            organisation=organisation,
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
            f"No token can be created: {type(error).__name__}.", "Is it running? Try its /health."
        ) from error
    try:
        yield token
    finally:
        with suppress(Exception):  # it ends by itself within a day
            identity.connections.revoke_for_operator(digest(_claims(token)["grant"]))
