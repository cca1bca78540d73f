"""`commonplace grants`: what people and operators have let clients do, and the end of it."""

from pathlib import Path
from typing import Annotated

import typer

from local import deployment
from local.errors import CommandError
from local.identity import Identity, grant_row, record_row
from local.terminal import show

Data = Annotated[Path | None, typer.Option(help="Data folder of a `commonplace dev --data`.")]
Outputs = Annotated[Path | None, typer.Option(help="File written by `cdk deploy --outputs-file`.")]
Stage = Annotated[str | None, typer.Option(help="Stage of a deployment, read from its stack.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print a JSON list.")]
Subject = Annotated[str | None, typer.Option(help="Only of this account: a wallet's address, or another subject.")]
OfClient = Annotated[str | None, typer.Option("--client", help="Only of this client.")]

MIN_ID = 8

grants_app = typer.Typer(
    help="See what clients may do, end it, and read the records of it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def reach(data: Path | None, outputs: Path | None, stage: str | None) -> Identity:
    """The deployment that the options name, else the one that `commonplace dev` runs."""
    return Identity(deployment.find(data, outputs, stage))


@grants_app.command("list")
def list_grants(
    *,
    subject: Subject = None,
    client: OfClient = None,
    as_json: AsJson = False,
    data: Data = None,
    outputs: Outputs = None,
    stage: Stage = None,
) -> None:
    """List the grants that live, the newest first."""
    found = sorted(reach(data, outputs, stage).grants_of(subject, client), key=lambda one: -one.created_at)
    rows = (grant_row(one) | ({"grant": one.id} if as_json else {}) for one in found)
    show(rows, nothing="No client may do anything.", as_json=as_json)


@grants_app.command()
def revoke(
    grant: Annotated[str | None, typer.Argument(help="The grant's name, as `list` shows it.")] = None,
    *,
    subject: Subject = None,
    client: OfClient = None,
    every: Annotated[bool, typer.Option("--all", help="Every grant of this deployment.")] = False,
    data: Data = None,
    outputs: Outputs = None,
    stage: Stage = None,
) -> None:
    """End a grant, those of an account or client, or all of them. Their tokens are refused from now on."""
    if not (grant or subject or client or every):
        raise CommandError("Nothing is named.", "Name a grant, --subject, --client, or --all.")
    if grant and (subject or client or every):
        raise CommandError("A grant is named, and more besides.", "Name a grant alone, or none.")
    identity = reach(data, outputs, stage)
    found = list(identity.grants_of(subject, client))
    if grant:
        if len(grant) < MIN_ID:
            raise CommandError("This name is too short.", f"Give at least {MIN_ID} characters of it.")
        found = [one for one in found if one.id.startswith(grant.lower())]
        if len(found) != 1:
            hint = "See: commonplace grants list"
            raise CommandError(f"{len(found) or 'No'} grants that live begin with {grant}.", hint)
    ended = identity.revoke(found)
    typer.echo(f"{ended} {'grant has' if ended == 1 else 'grants have'} ended.")


@grants_app.command()
def records(
    *,
    organisation: Annotated[str, typer.Option("--org", help="The organisation; `-` is none.")] = "default",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many.")] = 50,
    denied: Annotated[bool, typer.Option("--denied", help="What calls with a token were refused, instead.")] = False,
    memory: Annotated[bool, typer.Option("--memory", help="Who changed what is remembered, instead.")] = False,
    as_json: AsJson = False,
    data: Data = None,
    outputs: Outputs = None,
    stage: Stage = None,
) -> None:
    """Read the records of sign-ins, consents, grants, refreshes, revocations and refusals, the newest first."""
    identity = reach(data, outputs, stage)
    if denied and memory:
        raise CommandError("--denied and --memory are two lists.", "Ask for one, then for the other.")
    log = identity.refusals if denied else identity.remembered if memory else identity.audit
    found = log.read(organisation, limit=limit)
    show((record_row(one) for one in found), nothing="There is no record.", as_json=as_json)
