"""What people do with partners, declared once for the console and the command line: no model and no token does it."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from commonplace.federation.model import PartnerTool, pin
from commonplace.federation.partners import TITLE_CHARACTERS, Partners, Review
from commonplace.kernel.errors import CommonplaceError, Conflict, InvalidInput
from commonplace.web.faces import Face
from commonplace.web.operations import Actor, Input, operation

IN_PERSON: dict[str, Any] = {"tier": "vibecoder", "level": "admin", "tool": False}
NAME = "The partner's name here, such as dao-primitives."


class OnePartner(Input):
    name: str = Field(max_length=40, description=NAME)


class NewPartner(OnePartner):
    url: str = Field(max_length=2_048, description="Its MCP address, https.")
    title: str = Field("", max_length=TITLE_CHARACTERS, description="What people read; empty is the name.")
    search: str = Field("", max_length=128, description="Its tool that searches; empty is found by name.")


class Approval(OnePartner):
    tools: list[str] = Field(
        max_length=200, description="Tools as they were shown: the name here, a space, and the pin of the texts."
    )


class NewClient(OnePartner):
    client_id: str = Field(min_length=1, max_length=500, description="Of this deployment, at the partner's server.")
    client_secret: str = Field("", max_length=500, description="Empty where the server gave none.")


class Nothing(Input):
    pass


class ToolFace(Face):
    id: str
    state: str
    text: list[str]
    """Lines of its texts, or of how they differ from those approved."""


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


class PartnerRows(Face):
    partners: list[PartnerRow]


class Said(Face):
    message: str


@operation("commons", title="Add a partner", input=NewPartner, output=ReviewFace, command="add", **IN_PERSON)
def add_partner(partners: Partners, actor: Actor, given: NewPartner) -> dict[str, Any]:
    """Connect to a partner and show its tools. Nothing of it is asked before somebody approves it."""
    return shown(partners.add(actor.author, given.name, given.url, title=given.title, search=given.search))


@operation("commons", title="List partners", input=Nothing, output=PartnerRows, command="list", **IN_PERSON)
def list_partners(partners: Partners, actor: Actor, _: Nothing) -> dict[str, Any]:
    """Ask each partner for its tools, and show what has changed since somebody approved them."""
    rows: list[dict[str, Any]] = []
    for partner in partners.all(actor.author.organisation):
        tools, answers = partners.tools(actor.author.organisation, partner.id), "yes"
        try:
            tools = list(partners.review(actor.author, partner.id).tools)
        except CommonplaceError as error:  # one that is down is a row like the others
            answers = error.message
        states = [tool.state for tool in tools]
        counts = {state: states.count(state) for state in ("approved", "new", "changed", "gone")}
        rows.append({"name": partner.id, "url": partner.url, "search": partner.search, "answers": answers, **counts})
    return {"partners": rows}


@operation("commons", title="Look at a partner", input=OnePartner, output=ReviewFace, **IN_PERSON)
def review_partner(partners: Partners, actor: Actor, given: OnePartner) -> dict[str, Any]:
    """Ask a partner for its tools now, and show what is new or has changed."""
    return shown(partners.review(actor.author, given.name))


@operation("commons", title="Approve tools", input=Approval, output=Said, **IN_PERSON)
def approve_tools(partners: Partners, actor: Actor, given: Approval) -> dict[str, str]:
    """Pin tools as they were shown: from then on they are offered, until they change."""
    pins = dict(tool.rpartition(" ")[::2] for tool in given.tools)
    if not pins:
        raise InvalidInput("No tool was chosen.", field="tools")
    approved = partners.approve(actor.author, given.name, pins)
    return {"message": f"{len(approved)} {'tool' if len(approved) == 1 else 'tools'} approved."}


@operation("commons", title="Remove a partner", input=OnePartner, output=Said, command="remove", **IN_PERSON)
def remove_partner(partners: Partners, actor: Actor, given: OnePartner) -> dict[str, str]:
    """Remove a partner, with what was approved of it and everybody's sign-in there."""
    partners.remove(actor.author, given.name)
    return {"message": f"{given.name} is no partner any more."}


@operation("commons", title="Name a client", input=NewClient, output=Said, **IN_PERSON)
def name_client(partners: Partners, actor: Actor, given: NewClient) -> dict[str, str]:
    """Say as which client a partner's authorization server knows this deployment, where it takes no other."""
    if partners.sign_ins is None:
        raise Conflict("Nobody signs in at partners here.")
    partner = partners.get(actor.author.organisation, given.name)
    server = partners.sign_ins.name_client(actor.author, partner, given.client_id, given.client_secret)
    return {"message": f"People sign in at {server} as users of {given.client_id}."}


@operation("commons", title="Sign out at a partner", input=OnePartner, output=Said, tool=False)
def sign_out_at_partner(partners: Partners, actor: Actor, given: OnePartner) -> dict[str, str]:
    """Forget your sign-in at a partner, and revoke it there."""
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
        "tools": [{"id": tool.id, "state": tool.state, "text": changes(tool)} for tool in review.tools],
        "faults": dict(review.faults),
        "sign_in": partner.challenge is not None and not review.tools,
    }


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
    return json.dumps(json.loads(texts), indent=1, ensure_ascii=False).splitlines() if texts else []
