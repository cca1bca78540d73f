"""Show how to connect an MCP client."""

from pathlib import Path
from typing import Annotated

import typer

from commonplace import __version__
from commonplace_local.deployment import web_address
from commonplace_local.errors import CommandError
from commonplace_local.terminal import commands, print_json

HERE = "http://127.0.0.1:8787"

app = commands()


@app.command()
def connect(
    client: Annotated[str | None, typer.Argument(help="A client, such as claude-code; default: all of them.")] = None,
    *,
    url: Annotated[str | None, typer.Option(help=f"Base URL of the deployment; default: {HERE}.")] = None,
    name: Annotated[str, typer.Option(help="Name of the knowledge base, as people know it.")] = "Commonplace",
    toolset: Annotated[str | None, typer.Option(help="One toolset, or all; default: those of /mcp.")] = None,
    hooks: Annotated[bool, typer.Option("--hooks", help="Write a skill and hooks for Claude Code.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="With --hooks: remove them.")] = False,
    project: Annotated[Path, typer.Option(exists=True, file_okay=False, help="With --hooks: its folder.")] = Path(),
    yes: Annotated[bool, typer.Option("--yes", "-y", help="With --hooks: do not ask.")] = False,
    server_json: Annotated[bool, typer.Option("--server-json", help="Print the entry for the MCP registry.")] = False,
) -> None:
    """Show how to connect an MCP client."""
    from commonplace.site.connect import registry
    from commonplace.site.connect.clients import Endpoint, clients
    from commonplace_local.connect_page import client_text

    base_url = web_address(url or HERE, "base URL")
    at = Endpoint.of(name, base_url, toolset)
    if server_json:
        print_json(registry.server_json(at, __version__))
        if not at.public:
            typer.echo("The registry takes public https addresses only: give the deployment's with --url.", err=True)
        return
    if hooks:
        if client != "claude-code":
            raise CommandError("Only Claude Code has hooks.", "Use: commonplace connect claude-code --hooks")
        from commonplace_local import claude_code

        claude_code.install(project, base_url if url else None, remove=remove, yes=yes)
        return
    known = {each.key: each for each in clients(at)}
    if client is not None and client not in known:
        raise CommandError(f"There is no client {client}.", f"Known: {', '.join(known)}.")
    for each in [known[client]] if client else known.values():
        typer.echo(f"{each.title}\n{'-' * len(each.title)}\n{client_text(each, at)}")
