"""List and revoke grants of clients, and read audit records."""

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

app = commands("List and revoke grants of clients, and read audit records.")


@app.command("list")
@grouped
def list_grants(
    *,
    subject: Subject = None,
    client: OfClient = None,
    as_json: AsJsonList = False,
    target: Target,
) -> None:
    """List active grants, newest first."""
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
    show(rows, nothing="There are no active grants.", as_json=as_json)


@app.command()
@grouped
def revoke(
    grant: Annotated[str | None, typer.Argument(help="The grant's id, as `list` shows it.")] = None,
    *,
    subject: Subject = None,
    client: OfClient = None,
    every: Annotated[bool, typer.Option("--all", help="Every grant of this deployment.")] = False,
    target: Target,
) -> None:
    """Revoke a grant, those of an account or client, or all of them. Their tokens stop working at once."""
    if not (grant or subject or client or every):
        raise CommandError("No grant is named.", "Name a grant, --subject, --client, or --all.")
    if grant and (subject or client or every):
        raise CommandError("A grant cannot be combined with other options.", "Name the grant alone, or omit it.")
    identity = reach(target)
    found = list(identity.grants_of(subject, client))
    if grant:
        if len(grant) < MIN_ID:
            raise CommandError("This id is too short.", f"Give at least its first {MIN_ID} characters.")
        found = [one for one in found if one.id.startswith(grant.lower())]
        if len(found) != 1:
            hint = "See: commonplace grants list"
            raise CommandError(f"{len(found) or 'No'} active grants begin with {grant}.", hint)
    ended = sum(identity.connections.revoke_for_operator(one.id) for one in found)
    typer.echo(f"{ended} {'grant' if ended == 1 else 'grants'} revoked.")


@app.command()
@grouped
def records(
    *,
    organisation: Annotated[str, typer.Option("--org", help="The organisation; `-` is none.")] = "default",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number.")] = 50,
    denied: Annotated[bool, typer.Option("--denied", help="Denied calls instead.")] = False,
    memory: Annotated[bool, typer.Option("--memory", help="Changes of the memory instead.")] = False,
    console: Annotated[bool, typer.Option("--console", help="Actions in the console instead.")] = False,
    chat: Annotated[bool, typer.Option("--chat", help="Turns and approvals of chats instead.")] = False,
    partners: Annotated[
        bool, typer.Option("--partners", help="Changes of partners and sign-ins there instead.")
    ] = False,
    as_json: AsJsonList = False,
    target: Target,
) -> None:
    """Read the audit records of sign-ins, consents, grants, refreshes, revocations and denials, newest first."""
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
        raise CommandError(f"--{kinds[0]} and --{kinds[1]} exclude each other.", "Use one of them.")
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
        nothing="There are no records.",
        as_json=as_json,
    )
