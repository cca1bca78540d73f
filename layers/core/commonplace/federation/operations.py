"""What people do with partners, declared once for the console and the command line: no model and no token does it."""

from __future__ import annotations

import difflib
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from pydantic import Field

from commonplace.federation.model import Partner, PartnerTool, pin
from commonplace.federation.partners import MOST_PARTNERS, TITLE_CHARACTERS, Partners, Review
from commonplace.kernel.errors import CommonplaceError, Conflict, InvalidInput
from commonplace.web.faces import Face
from commonplace.web.operations import Actor, Input, operation

IN_PERSON: dict[str, Any] = {"tier": "vibecoder", "level": "admin", "tool": False}
NAME = "1 to 23 of a-z, digits and single hyphens, such as dao-primitives."
_NOT_ASCII = re.compile(r"[^\t\n\x20-\x7e]")
_UNDRAWN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""Variation selectors and fillers: Unicode calls them marks and letters, and no font draws them."""


class OnePartner(Input):
    name: str = Field(max_length=40, description=NAME)


class NewPartner(OnePartner):
    url: str = Field(max_length=2_048, description="Such as https://mcp.example.org/mcp")
    title: str = Field("", max_length=TITLE_CHARACTERS, description="Shown to people; default: the name.")
    search: str = Field("", max_length=128, description="Leave empty to find it by name.")


class Approval(OnePartner):
    tools: list[str] = Field(
        max_length=200, description="Tools as they were shown: the name here, a space, and the pin of the texts."
    )


class NewClient(OnePartner):
    client_id: str = Field(min_length=1, max_length=500, description="Of this deployment, at the partner's server.")
    client_secret: str = Field("", max_length=500, description="Empty if there is none.")


class Nothing(Input):
    pass


class ArgumentFace(Face):
    name: str
    type: str
    """Of JSON Schema; empty where it says none."""
    required: bool
    description: str


class ToolFace(Face):
    """A tool as somebody reads it before they approve it, with characters that no font draws written out."""

    id: str
    name: str
    """Its name at the partner."""
    state: str
    reads_only: bool
    """It says now that it changes nothing."""
    description: str
    arguments: list[ArgumentFace]
    text: list[str]
    """Lines of how its texts differ from those approved; of a tool that has not changed, of all its texts."""
    pinned: list[str]
    """Lines of all its texts as they are now."""
    pin: str
    """Of its texts, where they wait for approval; else empty."""


class ReviewFace(Face):
    name: str
    title: str
    url: str
    search: str
    tools: list[ToolFace]
    faults: dict[str, str]
    """Tools that cannot be offered, and why."""
    sign_in: bool
    """It lists its tools to people who have signed in there."""


class PartnerRow(Face):
    name: str
    url: str
    search: str
    approved: int
    new: int
    changed: int
    gone: int
    answers: str
    waiting: list[str]
    """Tools that are new or have changed, by their names here."""


class PartnerRows(Face):
    partners: list[PartnerRow]


class Said(Face):
    message: str


@operation("commons", title="Add a partner", input=NewPartner, output=ReviewFace, command="add", **IN_PERSON)
def add_partner(partners: Partners, actor: Actor, given: NewPartner) -> dict[str, Any]:
    """Connect to a partner and show its tools. None is called before it is approved."""
    return shown(partners.add(actor.author, given.name, given.url, title=given.title, search=given.search))


@operation("commons", title="List partners", input=Nothing, output=PartnerRows, command="list", **IN_PERSON)
def list_partners(partners: Partners, actor: Actor, _: Nothing) -> dict[str, Any]:
    """List partners and their tools, with changes since their approval."""

    def row(partner: Partner) -> dict[str, Any]:
        try:
            tools, answers = partners.review(actor.author, partner.id).tools, "yes"
        except CommonplaceError as error:  # one that is down is a row like the others
            tools, answers = partners.tools(actor.author.organisation, partner.id), error.message
        states = [tool.state for tool in tools]
        counts = {state: states.count(state) for state in ("approved", "new", "changed", "gone")}
        named = {"name": partner.id, "url": partner.url, "search": partner.search, "answers": answers}
        return named | counts | {"waiting": list(waiting(tools))}

    # At once: several that do not answer take no longer than one.
    with ThreadPoolExecutor(MOST_PARTNERS) as pool:
        return {"partners": list(pool.map(row, partners.all(actor.author.organisation)))}


@operation("commons", title="Look at a partner", input=OnePartner, output=ReviewFace, **IN_PERSON)
def review_partner(partners: Partners, actor: Actor, given: OnePartner) -> dict[str, Any]:
    """List the tools of a partner now, with new and changed ones."""
    return shown(partners.review(actor.author, given.name))


@operation("commons", title="Approve tools", input=Approval, output=Said, **IN_PERSON)
def approve_tools(partners: Partners, actor: Actor, given: Approval) -> dict[str, str]:
    """Approve tools as they were shown; one that changes is withheld."""
    pins = dict(tool.rpartition(" ")[::2] for tool in given.tools)
    if not pins:
        raise InvalidInput("No tool was chosen.", field="tools")
    approved = partners.approve(actor.author, given.name, pins)
    return {"message": f"{len(approved)} {'tool' if len(approved) == 1 else 'tools'} approved."}


@operation("commons", title="Remove a partner", input=OnePartner, output=Said, command="remove", **IN_PERSON)
def remove_partner(partners: Partners, actor: Actor, given: OnePartner) -> dict[str, str]:
    """Remove a partner, with its approvals and all sign-ins there."""
    partners.remove(actor.author, given.name)
    return {"message": f"{given.name} was removed."}


@operation("commons", title="Name a client", input=NewClient, output=Said, **IN_PERSON)
def name_client(partners: Partners, actor: Actor, given: NewClient) -> dict[str, str]:
    """Set the OAuth client of this deployment at a partner whose server does not register clients itself."""
    if partners.sign_ins is None:
        raise Conflict("Sign-in at partners is disabled here.")
    partner = partners.get(actor.author.organisation, given.name)
    server = partners.sign_ins.name_client(actor.author, partner, given.client_id, given.client_secret)
    return {"message": f"People sign in at {server} as users of {given.client_id}."}


@operation("commons", title="Sign out at a partner", input=OnePartner, output=Said, tool=False)
def sign_out_at_partner(partners: Partners, actor: Actor, given: OnePartner) -> dict[str, str]:
    """Delete your sign-in at a partner, and revoke it there."""
    if partners.sign_ins is not None:
        partners.sign_ins.sign_out(actor.author, partners.get(actor.author.organisation, given.name))
    return {"message": f"You are signed out at {given.name}."}


OPERATIONS = (add_partner, list_partners, review_partner, approve_tools, remove_partner, name_client)


def shown(review: Review) -> dict[str, Any]:
    """Return what a person reads of a partner before they approve it."""
    partner = review.partner
    return {
        "name": partner.id,
        "title": partner.title,
        "url": partner.url,
        "search": partner.search,
        "tools": [shown_tool(tool) for tool in review.tools],
        "faults": dict(review.faults),
        "sign_in": partner.challenge is not None and not review.tools,
    }


def shown_tool(tool: PartnerTool) -> dict[str, Any]:
    """Return what a person reads of a tool, by what it says now, or said last."""
    now = replace(tool, approved=tool.offered or tool.approved or "{}")
    return {
        "id": tool.id,
        "name": visible(tool.name),
        "state": tool.state,
        "reads_only": now.reads_only,
        "description": visible(str(now.texts.get("description") or "")),
        "arguments": arguments_of(now.texts.get("inputSchema")),
        "text": changes(tool),
        "pinned": _lines(tool.offered),
        "pin": pin(tool.offered) if tool.state in ("new", "changed") else "",
    }


def arguments_of(schema: Any) -> list[dict[str, Any]]:
    """Return the arguments that a schema declares, the required ones first, whatever a partner wrote there."""
    found = schema if isinstance(schema, dict) else {}
    properties, required = found.get("properties"), found.get("required")
    arguments = []
    for name, one in (properties if isinstance(properties, dict) else {}).items():
        said = one if isinstance(one, dict) else {}
        ways = [way for way in (said, *_several(said.get("anyOf"))) if isinstance(way, dict)]
        types = [each for way in ways for each in _several(way.get("type"))]
        arguments.append(
            {
                "name": visible(name),
                "type": visible(" or ".join(map(str, types))),
                "required": name in _several(required),
                "description": visible(str(said.get("description") or "")),
            }
        )
    return sorted(arguments, key=lambda one: not one["required"])


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def visible(text: str) -> str:
    """Return a text in which characters that no font draws are written out as `\\uXXXX`; tabs and line ends stay."""

    def written(match: re.Match[str]) -> str:
        one = match[0]
        drawn = (one.isprintable() or unicodedata.category(one) == "Zs") and not _UNDRAWN.match(one)
        return one if drawn else json.dumps(one)[1:-1]

    return _NOT_ASCII.sub(written, text)


def waiting(tools: Sequence[PartnerTool]) -> Mapping[str, str]:
    """Return the tools that wait for approval, as `approve_tools` takes them, by their names here."""
    return {tool.id: f"{tool.id} {pin(tool.offered)}" for tool in tools if tool.state in ("new", "changed")}


def changes(tool: PartnerTool) -> list[str]:
    """Return the texts of a tool line by line, or how they differ from those that were approved."""
    before, now = _lines(tool.approved), _lines(tool.offered)
    if not tool.approved or tool.state == "approved":
        return now
    return list(difflib.unified_diff(before, now, lineterm="", n=1))[2:]


def _lines(texts: str) -> list[str]:
    return visible(json.dumps(json.loads(texts), indent=1, ensure_ascii=False)).split("\n") if texts else []
