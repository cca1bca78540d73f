"""Register, list and remove OAuth clients."""

from typing import Annotated

import typer

from commonplace_local.errors import CommandError
from commonplace_local.identity import day, reach, scopes_of, tier_of
from commonplace_local.options import Target, grouped
from commonplace_local.terminal import AsJsonList, clean, commands, show

KNOWN_BY = {"registered": "registration", "document": "its document", "operator": "an operator"}

app = commands("OAuth clients: the applications that may request tokens.")


@app.command("list")
@grouped
def list_clients(*, as_json: AsJsonList = False, target: Target) -> None:
    """List the registered clients. Those with a metadata document are not stored."""
    found = reach(target).operating.clients()
    show(
        (
            {
                "client": one.id,
                "name": one.name,
                "known by": KNOWN_BY[one.source],
                "method": one.auth_method,
                "grants": " ".join(one.grant_types),
                "organisation": one.organisation or "",
                "scopes": " ".join(one.scopes),
                "since": day(one.created_at),
                "until": day(one.expires_at) if one.expires_at else "",
            }
            for one in found
        ),
        nothing="No client is registered.",
        as_json=as_json,
    )


@app.command()
@grouped
def add(
    name: Annotated[str, typer.Argument(help="Name that people see, or the agent's name.")],
    *,
    redirect: Annotated[list[str] | None, typer.Option(help="Redirect URI; repeatable.")] = None,
    confidential: Annotated[bool, typer.Option("--confidential", help="Confidential client, with a secret.")] = False,
    agent: Annotated[bool, typer.Option("--agent", help="An agent, which gets tokens by client credentials.")] = False,
    organisation: Annotated[str, typer.Option("--org", help="With --agent: its organisation.")] = "default",
    scopes: Annotated[str, typer.Option(help='Allowed scopes, such as "knowledge:read memory:write".')] = "",
    tier: Annotated[str, typer.Option(help="With --agent: public, member or vibecoder.")] = "public",
    target: Target,
) -> None:
    """Register an application that people sign in with, or an agent; a secret is printed once."""
    from commonplace.identity.oauth.registration import BadClient

    if agent and (redirect or confidential):
        raise CommandError("An agent has no redirect URI.", "Omit --redirect and --confidential.")
    operating = reach(target).operating
    wanted = scopes_of(scopes)
    try:
        client, secret = (
            operating.add_agent(name, organisation=organisation, scopes=wanted, tier=tier_of(tier))
            if agent
            else operating.add_client(name, redirect or [], scopes=wanted, confidential=confidential)
        )
    except BadClient as error:
        raise CommandError(str(error)) from error
    typer.echo(f"client_id      {client.id}")
    if secret is not None:
        typer.echo(f"client_secret  {secret}")
        typer.echo("The secret is shown only once; store it like a password.", err=True)


@app.command()
@grouped
def remove(
    client: Annotated[str, typer.Argument(help="The client's id, as `list` shows it.")],
    *,
    target: Target,
) -> None:
    """Remove a client and revoke its grants."""
    identity = reach(target)
    known = identity.operating.remove(client)
    ended = identity.connections.revoke_client(client)
    if not known and not ended:
        raise CommandError(f"There is no client {clean(client)[:80]}.", "See: commonplace clients list")
    typer.echo(f"The client is removed, and {ended} {'grant' if ended == 1 else 'grants'} revoked.")
