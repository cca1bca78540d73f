"""`commonplace connect`: what to do in an MCP client, for a deployment or for the knowledge base that runs here."""

import json
from typing import Annotated

import typer

from local.errors import CommandError


def connect_command(
    client: Annotated[str | None, typer.Argument(help="A client, such as claude-code; default: all of them.")] = None,
    *,
    url: Annotated[str, typer.Option(help="Base URL of the deployment.")] = "http://127.0.0.1:8787",
    name: Annotated[str, typer.Option(help="Name of the knowledge base, as people know it.")] = "Commonplace",
    toolset: Annotated[str | None, typer.Option(help="One toolset, or all; default: those of /mcp.")] = None,
    server_json: Annotated[bool, typer.Option("--server-json", help="Print the entry for the MCP registry.")] = False,
) -> None:
    """Say how to connect an MCP client."""
    from commonplace.kernel.environment import SettingsError
    from commonplace.kernel.settings import WEB_URL, Environment
    from commonplace.site.connect import registry
    from commonplace.site.connect.clients import Endpoint, clients
    from commonplace.site.connect.markdown import client_text
    from commonplace.web.rest.documentation import API_VERSION

    try:
        base = Environment({"URL": url}).url("URL")
    except SettingsError:
        raise CommandError(f"{url} is not the base URL of a deployment.", f"It is {WEB_URL}.") from None
    at = Endpoint.of(name, base, toolset)
    if server_json:
        typer.echo(json.dumps(registry.server_json(at, API_VERSION), indent=2, ensure_ascii=False))
        if not at.public:
            typer.echo("The registry takes public https addresses only: give the deployment's with --url.", err=True)
        return
    known = {each.key: each for each in clients(at)}
    if client is not None and client not in known:
        raise CommandError(f"There is no client {client} here.", f"Known are: {', '.join(known)}.")
    for each in [known[client]] if client else known.values():
        typer.echo(f"{each.title}\n{'-' * len(each.title)}\n{client_text(each, at)}")
