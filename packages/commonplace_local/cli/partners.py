"""Add, review, approve and remove partners: MCP servers that are searched too."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from commonplace.federation.operations import (
    NAME,
    OPERATIONS,
    NewClient,
    NewPartner,
    add_partner,
    approve_tools,
    list_partners,
    name_client,
    remove_partner,
    review_partner,
)
from commonplace.federation.partners import APPROVED_AT_ONCE
from commonplace.identity.principals import Principal
from commonplace.kernel.errors import CommonplaceError
from commonplace.web.operations import Actor
from commonplace_local.access import Org
from commonplace_local.deployment import Deployment
from commonplace_local.errors import CommandError
from commonplace_local.operation_commands import add_commands
from commonplace_local.options import Target, grouped
from commonplace_local.terminal import AsJson, commands, counted, print_json, printable

if TYPE_CHECKING:
    from commonplace.federation.partners import Partners

app = commands("Partners: MCP servers of others that are searched too.")

OPERATOR = "operator"
"""In records, for whoever runs the deployment."""
OFF_SECONDS = 20
"""How long a deployment is waited for that may be asleep, to learn whether it has partners."""
NAMES_LISTED, SENTENCE_CHARACTERS = 8, 120
_SENTENCE = re.compile(r"(?<=[.!?])\s|\n")


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

    def approve(self, name: str, tools: Sequence[Mapping[str, Any]]) -> None:
        """Approve tools of a review as it shows them. Raises CommonplaceError."""
        pins = [f"{tool['id']} {tool['pin']}" for tool in tools]
        for start in range(0, len(pins), APPROVED_AT_ONCE):
            self.answer(approve_tools.name, name=name, tools=pins[start : start + APPROVED_AT_ONCE])


@dataclass(frozen=True, slots=True)
class Whose(Target):
    """Which deployment, and whose partners: an operator's, so neither an address nor a token will do."""

    organisation: Org = None

    def command(self, words: str) -> str:
        """Return a command line for the same deployment and organisation."""
        given = {"--data": self.data, "--outputs": self.outputs, "--stage": self.stage, "--org": self.organisation}
        options = [f" {option} {shlex.quote(str(value))}" for option, value in given.items() if value is not None]
        return f"commonplace partners {words}{''.join(options)}"


@contextmanager
def opened(place: Whose, _: str = "") -> Iterator[Here]:
    """Raises CommandError for a deployment that has no partners."""
    deployment = place.find()
    if partners_are_off(deployment.base_url):
        raise CommandError(
            "Partners are disabled.", "Start dev with --partner NAME=URL, or set federation in cdk.json, and deploy."
        )
    yield Here(deployment, place.organisation)


def partners_are_off(base_url: str) -> bool:
    """Return whether a deployment answers that it has none. One that does not answer may have some."""
    import httpx

    from commonplace.federation.sign_ins import DOCUMENT
    from commonplace.kernel.environment import is_loopback

    here = is_loopback(urlsplit(base_url).hostname)
    try:
        return httpx.get(f"{base_url}{DOCUMENT}", timeout=OFF_SECONDS, trust_env=not here).status_code == 404
    except httpx.HTTPError:
        return False


def rows_text(answer: Mapping[str, Any]) -> str:
    return "\n".join(map(_row, answer["partners"])) or "There are no partners. commonplace partners add NAME URL"


def _row(row: Mapping[str, Any]) -> str:
    counts = ", ".join(f"{row[state]} {state}" for state in ("approved", "new", "changed", "gone") if row[state])
    facts = [
        row["url"],
        f"searched by {row['search']}" if row["search"] else "no tool that searches",
        counts or "no tools",
    ]
    waiting, more = row["waiting"][:NAMES_LISTED], len(row["waiting"]) - NAMES_LISTED
    names = f"; not approved: {', '.join(waiting)}{f' and {more} more' if more > 0 else ''}" if waiting else ""
    answers = "" if row["answers"] == "yes" else f"; {row['answers']}"
    return printable(f"{row['name']}: {', '.join(facts)}{names}{answers}")


TEXTS = {list_partners.name: rows_text, remove_partner.name: lambda done: done["message"]}


@app.callback()
def partners() -> None:
    """Partners: MCP servers of others that are searched too."""


@app.command(help=add_partner.description)
@grouped
def add(
    name: Annotated[str, typer.Argument(help=NAME)],
    url: Annotated[str, typer.Argument(help=f"Its MCP address. {NewPartner.model_fields['url'].description}")],
    *,
    title: Annotated[str, typer.Option(help=NewPartner.model_fields["title"].description)] = "",
    search: Annotated[str, typer.Option(help="Its tool that searches; leave empty to find it by name.")] = "",
    as_json: AsJson = False,
    place: Whose,
) -> None:
    with opened(place) as here:
        review = here.answer(add_partner.name, name=name, url=url, title=title, search=search)
    if as_json:
        print_json(review)
    else:
        typer.echo(review_text(review, place.command(f"approve {name}")))


@app.command(
    help=f"{approve_tools.description} Shown is what a tool says now, or how it differs from what was approved."
)
@grouped
def approve(
    name: Annotated[str, typer.Argument(help="The partner's name here.")],
    tools: Annotated[list[str] | None, typer.Argument(help="Tools by their names here or there; default: all.")] = None,
    *,
    full: Annotated[bool, typer.Option("--full", help="Show everything that is pinned, as JSON.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    place: Whose,
) -> None:
    with opened(place) as here:
        shown = here.answer(review_partner.name, name=name)["tools"]
        if unknown := set(tools or ()) - {each for tool in shown for each in (tool["id"], tool["name"])}:
            raise CommandError(
                f"{name} has no tool {', '.join(map(printable, sorted(unknown)))}.",
                f"There are: {', '.join(tool['id'] for tool in shown) or 'none'}.",
            )
        chosen = [tool for tool in shown if tool["pin"] and (not tools or {tool["id"], tool["name"]} & set(tools))]
        if not chosen:
            typer.echo("There are no new or changed tools.", err=True)
            return
        typer.echo("\n\n".join("\n".join(tool_lines(tool, full=full)) for tool in chosen))
        if not yes:
            typer.confirm(f"Approve {counted(len(chosen), 'tool', 'tools')} as shown?", abort=True)
        here.approve(name, chosen)
        typer.echo(f"{counted(len(chosen), 'tool', 'tools')} approved.", err=True)


add_commands(app, [list_partners], opened, texts=TEXTS, place=Whose)


@app.command(help=name_client.description)
@grouped
def client(
    name: Annotated[str, typer.Argument(help="The partner's name here.")],
    client_id: Annotated[str, typer.Argument(help=NewClient.model_fields["client_id"].description)],
    *,
    secret: Annotated[
        str | None,
        typer.Option(envvar="PARTNER_CLIENT_SECRET", help="Its secret, empty if there is none; default: prompt."),
    ] = None,
    place: Whose,
) -> None:
    with opened(place) as here:
        here.partners.get(here.organisation, name)
        if secret is None:
            secret = typer.prompt("Its secret, if any", default="", hide_input=True, show_default=False)
        done = here.answer(name_client.name, name=name, client_id=client_id, client_secret=secret)
        typer.echo(done["message"], err=True)


add_commands(app, [remove_partner], opened, texts=TEXTS, place=Whose)


def named_on_start(here: Here, name: str, url: str, place: Whose) -> str:
    """Return how a partner stands that `commonplace dev` was started with.

    One that is new is added, and its tool that searches and those that only read are approved. Of one that is known
    nothing is. Raises CommonplaceError where it cannot be added.
    """
    known = {partner.id: partner for partner in here.partners.all(here.organisation)}
    if name in known and known[name].url != url:
        here.answer(remove_partner.name, name=name)
        del known[name]
    trouble = ""
    if name in known:
        try:
            here.answer(review_partner.name, name=name)
        except CommonplaceError as error:
            trouble = f"; {error.message} {error.hint or ''}".rstrip()
    else:
        review = here.answer(add_partner.name, name=name, url=url)
        reading = [tool for tool in review["tools"] if tool["name"] == review["search"] or tool["reads_only"]]
        here.approve(name, [tool for tool in reading if tool["pin"]])
        if review["sign_in"]:
            trouble = "; it lists its tools to people who have signed in: see /console/partners"
    states = [tool.state for tool in here.partners.tools(here.organisation, name)]
    waits = ", ".join(f"{states.count(state)} {state}" for state in ("changed", "new") if state in states)
    see = f"; {waits}, see: {place.command(f'approve {name}')}" if waits else ""
    return f"{counted(states.count('approved'), 'tool', 'tools')} approved{see}{trouble}"


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


def review_text(review: Mapping[str, Any], approve: str) -> str:
    """Return what a person reads of a partner that was added; `approve` is the command for what comes next."""
    lines = [f"{review['title']}, {review['url']}"]
    lines.append(f"Searched by {printable(review['search'])}" if review["search"] else "No tool of it searches.")
    lines += ["", *map(tool_line, review["tools"])] if review["tools"] else []
    lines += [f"\n{printable(name)} cannot be offered: {why}." for name, why in review["faults"].items()]
    if review["sign_in"]:
        return "\n".join([*lines, "", "It lists its tools to people who have signed in: sign in at /console/partners."])
    return "\n".join([*lines, "", f"Approve them: {approve}"])


def tool_line(tool: Mapping[str, Any]) -> str:
    first = _SENTENCE.split(tool["description"].strip(), maxsplit=1)[0].strip()
    cut = first if len(first) <= SENTENCE_CHARACTERS else f"{first[: SENTENCE_CHARACTERS - 1]}…"
    return f"{tool['id']}: {does(tool)}{f'. {printable(cut)}' if cut else ''}"


def does(tool: Mapping[str, Any]) -> str:
    return "only reads" if tool["reads_only"] else "changes something"


def tool_lines(tool: Mapping[str, Any], *, full: bool = False) -> list[str]:
    """Return what a person reads of a tool before they approve it."""
    head = f"{tool['id']} ({tool['state']}, {does(tool)})"
    if full or tool["state"] == "changed":
        return [head, *(f"  {printable(line)}" for line in tool["pinned" if full else "text"])]
    arguments = [
        f"  {one['name']} ({one['type'] or 'any type'}{', required' if one['required'] else ''}): {one['description']}"
        for one in tool["arguments"]
    ]
    lines = [f"  {line}".rstrip() for line in tool["description"].split("\n")]
    return [head, *map(printable, lines), *(printable(line.rstrip(": ").replace("\n", " ")) for line in arguments)]
