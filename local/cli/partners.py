"""Add, review, approve and remove partners: MCP servers of others whose knowledge is searched beside our own."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from commonplace.federation.operations import (
    NAME,
    OPERATIONS,
    NewClient,
    add_partner,
    approve_tools,
    list_partners,
    name_client,
    remove_partner,
    review_partner,
    waiting,
)
from commonplace.identity.principals import Principal
from commonplace.web.operations import Actor
from local.access import Org
from local.deployment import Deployment
from local.errors import CommandError
from local.operation_commands import add_commands
from local.options import Target, grouped
from local.terminal import commands, counted, printable

if TYPE_CHECKING:
    from commonplace.federation.partners import Partners

app = commands("Partners whose knowledge is searched beside our own.")

OPERATOR = "operator"
"""In records, for whoever runs the deployment."""


class Here:
    """The partners of a deployment, by its tables: what is done with them needs no server that runs."""

    def __init__(self, deployment: Deployment, organisation: str | None) -> None:
        whose = organisation or deployment.outputs.get("Organisation", "default")
        self.partners, self.organisation = partners_of(deployment), whose
        self._actor = Actor(Principal(organisation=whose, account=OPERATOR, client="commonplace"))

    def answer(self, operation: str, /, **given: Any) -> Mapping[str, Any]:
        """Return what an operation gives. Raises CommonplaceError."""
        called = next(one for one in OPERATIONS if one.name == operation)
        result = called.run(self.partners, self._actor, called.accepted(given))
        answer: Mapping[str, Any] = called.output.model_validate(result).model_dump(mode="json", by_alias=True)
        return answer


@dataclass(frozen=True, slots=True)
class Whose(Target):
    """Which deployment, and whose partners: an operator's, so neither an address nor a token will do."""

    organisation: Org = None


@contextmanager
def opened(place: Whose, _: str = "") -> Iterator[Here]:
    yield Here(place.find(), place.organisation)


@app.callback()
def partners() -> None:
    """Partners whose knowledge is searched beside our own."""


@app.command(help=approve_tools.description)
@grouped
def approve(
    name: Annotated[str, typer.Argument(help=NAME)],
    tools: Annotated[list[str] | None, typer.Argument(help="Tools by their names here; default: all.")] = None,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    place: Whose,
) -> None:
    with opened(place) as here:
        shown = here.answer(review_partner.name, name=name)["tools"]
        if unknown := set(tools or ()) - {tool["id"] for tool in shown}:
            raise CommandError(
                f"{name} has no tool {', '.join(map(printable, sorted(unknown)))}.", "commonplace partners list"
            )
        pins = waiting(here.partners.tools(here.organisation, name))
        chosen = [tool for tool in shown if tool["id"] in pins and (not tools or tool["id"] in tools)]
        if not chosen:
            typer.echo("Nothing is new or has changed.", err=True)
            return
        typer.echo("\n".join(line for tool in chosen for line in tool_lines(tool)))
        if not yes:
            typer.confirm(f"Approve {counted(len(chosen), 'tool', 'tools')} as shown?", abort=True)
        done = here.answer(approve_tools.name, name=name, tools=[pins[tool["id"]] for tool in chosen])
        typer.echo(done["message"], err=True)


@app.command(help=name_client.description)
@grouped
def client(
    name: Annotated[str, typer.Argument(help=NAME)],
    client_id: Annotated[str, typer.Argument(help=NewClient.model_fields["client_id"].description)],
    *,
    secret: Annotated[
        str, typer.Option(envvar="PARTNER_CLIENT_SECRET", prompt="Its secret, if any", hide_input=True)
    ] = "",
    place: Whose,
) -> None:
    with opened(place) as here:
        done = here.answer(name_client.name, name=name, client_id=client_id, client_secret=secret)
        typer.echo(done["message"], err=True)


def approved_for_reading(here: Here, name: str, url: str) -> int:
    """Add a partner unless it is there, approve its tool that searches and those that only read; return how many."""
    known = {partner.id: partner for partner in here.partners.all(here.organisation)}
    if name in known and known[name].url != url:
        here.answer(remove_partner.name, name=name)
        del known[name]
    given = {"name": name} if name in known else {"name": name, "url": url}
    search = here.answer((review_partner if name in known else add_partner).name, **given)["search"]
    tools = here.partners.tools(here.organisation, name)
    reading = waiting([tool for tool in tools if tool.name == search or tool.reads_only])
    if reading:
        here.answer(approve_tools.name, name=name, tools=list(reading.values())[:40])
    return len(reading)


def partners_of(deployment: Deployment) -> "Partners":
    """Return the partners of a deployment; of a laptop, servers of this machine too."""
    from commonplace.federation.settings import partners_in
    from commonplace.kernel.environment import is_loopback

    outputs = deployment.outputs
    return partners_in(
        deployment.client("dynamodb"),
        deployment.client("secretsmanager"),
        records=outputs["RecordsTable"],
        activity=outputs["ActivityTable"],
        secret=outputs["IdentitySecretArn"],
        base_url=deployment.base_url,
        name="Commonplace",
        loopback=is_loopback(urlsplit(deployment.base_url).hostname),
    )


def review_text(review: Mapping[str, Any]) -> str:
    """Return what a person reads of a partner that was added."""
    lines = [f"{review['title']}, {review['url']}"]
    lines.append(f"Searched by {printable(review['search'])}" if review["search"] else "No tool of it searches.")
    lines += [line for tool in review["tools"] for line in ("", *tool_lines(tool))]
    lines += [f"\n{printable(name)} cannot be offered: {why}." for name, why in review["faults"].items()]
    if review["sign_in"]:
        return "\n".join([*lines, "", "It lists its tools to people who have signed in: sign in at /console/partners."])
    return "\n".join([*lines, "", f"Approve them: commonplace partners approve {review['name']}"])


def tool_lines(tool: Mapping[str, Any]) -> list[str]:
    return [f"{tool['id']} ({tool['state']})", *(f"  {printable(line)}" for line in tool["text"])]


def rows_text(answer: Mapping[str, Any]) -> str:
    lines = []
    for row in answer["partners"]:
        counts = ", ".join(f"{row[state]} {state}" for state in ("approved", "new", "changed", "gone") if row[state])
        answers = "" if row["answers"] == "yes" else f"; {row['answers']}"
        lines.append(
            printable(f"{row['name']}: {row['url']}, searched by {row['search'] or 'nothing'}, {counts}{answers}")
        )
    return "\n".join(lines) or "There are no partners. commonplace partners add NAME URL"


TEXTS = {
    add_partner.name: review_text,
    list_partners.name: rows_text,
    remove_partner.name: lambda done: done["message"],
}
add_commands(app, OPERATIONS, opened, texts=TEXTS, place=Whose)
