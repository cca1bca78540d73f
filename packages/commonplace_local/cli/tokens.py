"""Make a token for a program that nobody sits in front of."""

from typing import Annotated

import typer

from commonplace_local.errors import CommandError
from commonplace_local.identity import reach, scopes_of, tier_of
from commonplace_local.options import Target, grouped
from commonplace_local.terminal import commands

app = commands("Tokens for programs that nobody sits in front of.")


@app.callback()
def tokens() -> None:
    """Tokens for programs that nobody sits in front of."""


@app.command()
@grouped
def mint(
    *,
    organisation: Annotated[str, typer.Option("--org", help="Whose data it reaches.")] = "default",
    agent: Annotated[str, typer.Option(help="What the program is called; records and pull requests say so.")],
    scopes: Annotated[str, typer.Option(help='Such as "knowledge:read memory:write".')],
    tier: Annotated[str, typer.Option(help="public, member or vibecoder.")] = "member",
    path: Annotated[
        str, typer.Option(help="What it is for: /mcp, /mcp/all, /mcp/knowledge, /mcp/commons, /api.")
    ] = "/mcp",
    days: Annotated[int, typer.Option(min=1, max=366, help="How long it lasts.")] = 90,
    target: Target,
) -> None:
    """Print a service token, once. `commonplace grants revoke` ends it."""
    from commonplace.identity.principals import GRANTABLE

    wanted = scopes_of(scopes)
    if unknown := [one for one in wanted if one not in GRANTABLE] or ([] if wanted else ["none"]):
        raise CommandError(f"{', '.join(unknown)}: no such scope.", f"There are: {', '.join(GRANTABLE)}.")
    reached = tier_of(tier)
    identity = reach(target)
    token = identity.mint(organisation=organisation, agent=agent, scopes=wanted, tier=reached, path=path, days=days)
    typer.echo("The token. It is shown now and never again; keep it where you keep passwords:", err=True)
    typer.echo(token)
