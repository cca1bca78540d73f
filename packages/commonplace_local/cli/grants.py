"""See what clients may do, end it, and read the records of it."""

from typing import Annotated

import typer

from commonplace.kernel.audit_store import Kind
from commonplace_local.errors import CommandError
from commonplace_local.identity import day, minute, reach
from commonplace_local.options import Target, grouped
from commonplace_local.terminal import AsJsonList, commands, show

Subject = Annotated[str | None, typer.Option(help="Only of this account: a wallet's address, or another subject.")]
OfClient = Annotated[str | None, typer.Option("--client", help="Only of this client.")]

MIN_ID = 8

app = commands("See what clients may do, end it, and read the records of it.")


@app.command("list")
@grouped
def list_grants(
    *,
    subject: Subject = None,
    client: OfClient = None,
    as_json: AsJsonList = False,
    target: Target,
) -> None:
    """List the grants that live, the newest first."""
    found = sorted(reach(target).grants_of(subject, client), key=lambda one: -one.created_at)
    # Whose a grant is, is not known to the table.
    rows = (
        {
            "grant": one.id[:16],
            "client": one.client_name,
            "kind": one.kind,
            "organisation": one.organisation or "by roles",
            "for": one.resource.partition("://")[2].partition("/")[2] or "/",
            "scopes": " ".join(one.scopes),
            "since": day(one.created_at),
            "last used": f"{minute(one.last_used_at)} {one.last_used_from}".strip() if one.last_used_at else "never",
            "until": day(one.expires_at),
        }
        | ({"grant": one.id} if as_json else {})
        for one in found
    )
    show(rows, nothing="No client may do anything.", as_json=as_json)


@app.command()
@grouped
def revoke(
    grant: Annotated[str | None, typer.Argument(help="The grant's name, as `list` shows it.")] = None,
    *,
    subject: Subject = None,
    client: OfClient = None,
    every: Annotated[bool, typer.Option("--all", help="Every grant of this deployment.")] = False,
    target: Target,
) -> None:
    """End a grant, those of an account or client, or all of them. Their tokens are refused from now on."""
    if not (grant or subject or client or every):
        raise CommandError("Nothing is named.", "Name a grant, --subject, --client, or --all.")
    if grant and (subject or client or every):
        raise CommandError("A grant is named, and more besides.", "Name a grant alone, or none.")
    identity = reach(target)
    found = list(identity.grants_of(subject, client))
    if grant:
        if len(grant) < MIN_ID:
            raise CommandError("This name is too short.", f"Give at least {MIN_ID} characters of it.")
        found = [one for one in found if one.id.startswith(grant.lower())]
        if len(found) != 1:
            hint = "See: commonplace grants list"
            raise CommandError(f"{len(found) or 'No'} grants that live begin with {grant}.", hint)
    ended = sum(identity.connections.revoke_for_operator(one.id) for one in found)
    typer.echo(f"{ended} {'grant has' if ended == 1 else 'grants have'} ended.")


@app.command()
@grouped
def records(
    *,
    organisation: Annotated[str, typer.Option("--org", help="The organisation; `-` is none.")] = "default",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many.")] = 50,
    denied: Annotated[bool, typer.Option("--denied", help="What calls with a token were refused, instead.")] = False,
    memory: Annotated[bool, typer.Option("--memory", help="Who changed what is remembered, instead.")] = False,
    console: Annotated[bool, typer.Option("--console", help="Who did what in the console, instead.")] = False,
    chat: Annotated[bool, typer.Option("--chat", help="Turns and approvals of conversations, instead.")] = False,
    partners: Annotated[
        bool, typer.Option("--partners", help="Who added, approved, removed or signed in at partners, instead.")
    ] = False,
    as_json: AsJsonList = False,
    target: Target,
) -> None:
    """Read the records of sign-ins, consents, grants, refreshes, revocations and refusals, the newest first."""
    identity = reach(target)
    asked: dict[Kind, bool] = {
        "denied": denied,
        "memory": memory,
        "console": console,
        "chat": chat,
        "partners": partners,
    }
    kinds = [kind for kind, wanted in asked.items() if wanted] or ["audit"]
    if len(kinds) > 1:
        raise CommandError(f"--{kinds[0]} and --{kinds[1]} are two lists.", "Ask for one, then for the other.")
    found = identity.log(kinds[0]).read(organisation, limit=limit)
    show(
        (
            {
                "at": minute(int(one.at)),
                "event": one.event,
                "outcome": one.outcome,
                "reason": one.reason,
                "account": one.subject[:12],
                "client": one.client,
                "grant": one.grant[:16],
                "from": one.network,
                "details": " ".join(f"{name}={value}" for name, value in one.details.items()),
            }
            for one in found
        ),
        nothing="There is no record.",
        as_json=as_json,
    )
