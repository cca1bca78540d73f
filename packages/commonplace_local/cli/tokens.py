"""Create service tokens for programs."""

from typing import Annotated

import typer

from commonplace_local.errors import CommandError
from commonplace_local.identity import reach, scopes_of, tier_of
from commonplace_local.options import Target, grouped
from commonplace_local.terminal import commands

app = commands("Service tokens for programs.")


@app.callback()
def tokens() -> None:
    """Service tokens for programs."""


@app.command()
@grouped
def mint(
    *,
    organisation: Annotated[str, typer.Option("--org", help="Its organisation.")] = "default",
    agent: Annotated[str, typer.Option(help="Name of the program, shown in records and pull requests.")],
    scopes: Annotated[str, typer.Option(help='Such as "knowledge:read memory:write".')],
    tier: Annotated[str, typer.Option(help="public, member or vibecoder.")] = "member",
    path: Annotated[str, typer.Option(help="Audience: /mcp, /mcp/all, /mcp/knowledge, /mcp/commons, /api.")] = "/mcp",
    days: Annotated[int, typer.Option(min=1, max=366, help="Lifetime in days.")] = 90,
    target: Target,
) -> None:
    """Create a service token and print it once. `commonplace grants revoke` revokes it."""
    from commonplace.identity.principals import GRANTABLE

    wanted = scopes_of(scopes)
    if unknown := [one for one in wanted if one not in GRANTABLE] or ([] if wanted else ["none"]):
        raise CommandError(f"{', '.join(unknown)}: no such scope.", f"There are: {', '.join(GRANTABLE)}.")
    reached = tier_of(tier)
    identity = reach(target)
    token = identity.mint(organisation=organisation, agent=agent, scopes=wanted, tier=reached, path=path, days=days)
    typer.echo("The token, shown only once; store it like a password:", err=True)
    typer.echo(token)
