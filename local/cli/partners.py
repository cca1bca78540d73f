"""Add, review, approve and remove partners: MCP servers of others whose knowledge is searched beside our own."""

import difflib
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from local.deployment import Deployment
from local.errors import CommandError
from local.options import Target, grouped
from local.terminal import commands, counted, printable, show

if TYPE_CHECKING:
    from commonplace.federation.model import PartnerTool
    from commonplace.federation.partners import Partners, Review
    from commonplace.kernel.audit import Author

app = commands("Partners whose knowledge is searched beside our own.")

Name = Annotated[str, typer.Argument(help="The partner's name here, such as dao-primitives.")]
Organisation = Annotated[str, typer.Option("--org", help="Whose partner it is.")]
OPERATOR = "operator"
"""In records, for whoever runs the deployment."""


@app.callback()
def partners() -> None:
    """Partners whose knowledge is searched beside our own."""


@app.command()
@grouped
def add(
    name: Name,
    url: Annotated[str, typer.Argument(help="Its MCP address, https.")],
    *,
    title: Annotated[str, typer.Option(help="What people read; default: the name.")] = "",
    search: Annotated[str, typer.Option(metavar="TOOL", help="Its tool that searches; default: found by name.")] = "",
    organisation: Organisation = "default",
    target: Target,
) -> None:
    """Connect to a partner and show its tools. Nothing of it is asked before somebody approves it."""
    deployment = target.find()
    using = partners_of(deployment)
    review = using.add(author(organisation), name, url, title=title, search=search)
    typer.echo("\n".join(reviewed(review)))
    typer.echo(f"Approve them: commonplace partners approve {name}", err=True)


@app.command("list")
@grouped
def list_partners(*, organisation: Organisation = "default", target: Target) -> None:
    """Ask each partner for its tools, and show what has changed since somebody approved them."""
    using = partners_of(target.find())
    rows: list[dict[str, str]] = []
    for partner in using.all(organisation):
        states = [tool.state for tool in using.tools(organisation, partner.id)]
        try:
            states = [tool.state for tool in using.review(organisation, partner.id).tools]
            answers = "yes"
        except Exception as error:  # noqa: BLE001 - one that is down is a row like the others
            answers = printable(getattr(error, "message", type(error).__name__))
        counts = {state: str(states.count(state)) for state in ("approved", "new", "changed", "gone")}
        rows.append({"name": partner.id, "url": partner.url, "search": partner.search, **counts, "answers": answers})
    show(rows, nothing="There are no partners. commonplace partners add NAME URL")


@app.command()
@grouped
def approve(
    name: Name,
    tools: Annotated[list[str] | None, typer.Argument(help="Tools by their names here; default: all.")] = None,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    organisation: Organisation = "default",
    target: Target,
) -> None:
    """Show what is new or has changed, ask, and pin it as it was shown."""
    from commonplace.federation.model import pin

    using = partners_of(target.find())
    review = using.review(organisation, name)
    waiting = [tool for tool in review.tools if tool.state in ("new", "changed") and (not tools or tool.id in tools)]
    if unknown := set(tools or ()) - {tool.id for tool in review.tools}:
        raise CommandError(
            f"{name} has no tool {', '.join(map(printable, sorted(unknown)))}.", "commonplace partners list"
        )
    if not waiting:
        typer.echo("Nothing is new or has changed.", err=True)
        return
    for tool in waiting:
        typer.echo("\n".join(changes(tool)))
    if not yes:
        typer.confirm(f"Approve {counted(len(waiting), 'tool', 'tools')} as shown?", abort=True)
    using.approve(author(organisation), name, {tool.id: pin(tool.offered) for tool in waiting})
    typer.echo(f"{counted(len(waiting), 'tool', 'tools')} approved.", err=True)


@app.command()
@grouped
def remove(name: Name, *, organisation: Organisation = "default", target: Target) -> None:
    """Remove a partner, with what was approved of it."""
    partners_of(target.find()).remove(author(organisation), name)
    typer.echo(f"{name} is no partner any more.", err=True)


def approved_for_reading(using: "Partners", by: "Author", name: str, url: str) -> int:
    """Add a partner unless it is there, approve its tool that searches and those that only read; return how many."""
    from commonplace.federation.model import pin
    from commonplace.federation.partners import APPROVED_AT_ONCE

    known = {partner.id: partner for partner in using.all(by.organisation)}
    if name in known and known[name].url != url:
        using.remove(by, name)
        del known[name]
    review = using.review(by.organisation, name) if name in known else using.add(by, name, url)
    offered = [tool for tool in review.tools if tool.offered]
    reading = [tool for tool in offered if tool.name == review.partner.search or tool.reads_only]
    if chosen := {tool.id: pin(tool.offered) for tool in reading[:APPROVED_AT_ONCE]}:
        using.approve(by, name, chosen)
    return len(chosen)


def author(organisation: str) -> "Author":
    from commonplace.kernel.audit import Author

    return Author(organisation=organisation, account=OPERATOR, client="commonplace")


def partners_of(deployment: Deployment) -> "Partners":
    """Return the partners of a deployment; of a laptop, servers of this machine too."""
    from commonplace.federation.settings import partners_in
    from commonplace.kernel.environment import is_loopback

    tables = deployment.outputs["RecordsTable"], deployment.outputs["ActivityTable"]
    loopback = is_loopback(urlsplit(deployment.base_url).hostname)
    return partners_in(deployment.client("dynamodb"), *tables, loopback=loopback)


def reviewed(review: "Review") -> Iterator[str]:
    """Yield what a person reads of a partner before they approve it."""
    yield f"{review.partner.title}, {review.partner.url}"
    yield f"Searched by {printable(review.partner.search)}" if review.partner.search else "No tool of it searches."
    for tool in review.tools:
        yield ""
        yield from changes(tool)
    for name, why in review.faults.items():
        yield f"\n{printable(name)} cannot be offered: {why}."


def changes(tool: "PartnerTool") -> Iterator[str]:
    """Yield the texts of a tool, or how they differ from those that were approved."""
    yield f"{tool.id} ({tool.state})"
    before, now = _lines(tool.approved), _lines(tool.offered)
    if not tool.approved or tool.state == "approved":
        yield from (f"  {printable(line)}" for line in now)
    else:
        yield from (f"  {printable(line)}" for line in list(difflib.unified_diff(before, now, lineterm="", n=1))[2:])


def _lines(texts: str) -> Sequence[str]:
    return json.dumps(json.loads(texts), indent=1, ensure_ascii=False).splitlines() if texts else []
