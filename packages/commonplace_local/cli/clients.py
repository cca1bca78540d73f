"""Register, list and remove the applications that may ask for tokens."""

from typing import Annotated

import typer

from commonplace_local.errors import CommandError
from commonplace_local.identity import day, reach, scopes_of, tier_of
from commonplace_local.options import Target, grouped
from commonplace_local.terminal import AsJsonList, clean, commands, show

KNOWN_BY = {"registered": "registration", "document": "its document", "operator": "an operator"}

app = commands("The applications that may ask for tokens.")


@app.command("list")
@grouped
def list_clients(*, as_json: AsJsonList = False, target: Target) -> None:
    """List the clients that registered or were registered. Metadata documents are not kept."""
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
    name: Annotated[str, typer.Argument(help="What people are told; of an agent, what it is called.")],
    *,
    redirect: Annotated[list[str] | None, typer.Option(help="Where people come back to; repeatable.")] = None,
    confidential: Annotated[bool, typer.Option("--confidential", help="It can keep a secret.")] = False,
    agent: Annotated[bool, typer.Option("--agent", help="It gets tokens for itself, with nobody asked.")] = False,
    organisation: Annotated[str, typer.Option("--org", help="With --agent: whose data it reaches.")] = "default",
    scopes: Annotated[str, typer.Option(help='At most these, such as "knowledge:read memory:write".')] = "",
    tier: Annotated[str, typer.Option(help="With --agent: public, member or vibecoder.")] = "public",
    target: Target,
) -> None:
    """Register an application that people sign in with, or an agent; a secret is printed once."""
    from commonplace.identity.oauth.registration import BadClient

    if agent and (redirect or confidential):
        raise CommandError("An agent sends nobody anywhere.", "Leave out --redirect and --confidential.")
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
        typer.echo("The secret is shown now and never again; keep it where you keep passwords.", err=True)


@app.command()
@grouped
def remove(
    client: Annotated[str, typer.Argument(help="The client's id, as `list` shows it.")],
    *,
    target: Target,
) -> None:
    """Remove a client and end everything that was granted to it."""
    identity = reach(target)
    known = identity.operating.remove(client)
    ended = identity.connections.revoke_client(client)
    if not known and not ended:
        raise CommandError(f"No client is called {clean(client)[:80]}.", "See: commonplace clients list")
    typer.echo(f"The client is gone, and {ended} {'grant has' if ended == 1 else 'grants have'} ended.")
