"""Check a deployment from outside."""

import dataclasses
import json as jsonlib
from typing import Annotated
from urllib.parse import urlsplit

import typer

from commonplace_local.cli.smoke.checks import CHECKS
from commonplace_local.cli.smoke.site import Failed, Site, run, table
from commonplace_local.deployment import web_address
from commonplace_local.errors import CommandError
from commonplace_local.terminal import commands

app = commands()


@app.command()
def smoke(
    url: Annotated[str, typer.Argument(help="Public address of the deployment, without a path.")],
    *,
    origin: Annotated[
        str | None, typer.Option(help="Address of the API behind the distribution, which must refuse requests.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=1, max=120, help="Timeout of a request in seconds.")] = 15,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Check a deployment from outside, without writing or signing in."""
    site = Site(_address(url), _address(origin) if origin else None, seconds)
    try:
        site.get("/health")
    except Failed as error:
        raise CommandError(f"{site.base} does not answer ({error.detail}).", error.hint) from None
    findings = run(site, CHECKS)
    if json:
        typer.echo(jsonlib.dumps({"url": site.base, "checks": [dataclasses.asdict(each) for each in findings]}))
    else:
        typer.echo(table(findings))
    if any(each.outcome == "failed" for each in findings):
        raise typer.Exit(1)


def _address(url: str) -> str:
    base = web_address(url)
    if urlsplit(base).path:
        raise CommandError(f"{url} has a path.", "Give the address alone: scheme, host and port.")
    return base
