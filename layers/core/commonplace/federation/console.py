"""The console's pages of partners: what members sign in at, and what whoever may adds, reviews and approves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool

from commonplace.federation import operations
from commonplace.federation.operations import (
    Approval,
    add_partner,
    approve_tools,
    list_partners,
    name_client,
    remove_partner,
    review_partner,
    sign_out_at_partner,
)
from commonplace.federation.partners import APPROVED_AT_ONCE, Review
from commonplace.federation.settings import FederationSettings
from commonplace.federation.sign_ins import CALLBACK, DOCUMENT, client_metadata
from commonplace.kernel.deferred import deferred
from commonplace.kernel.errors import CommonplaceError, InvalidInput
from commonplace.web.browsers import from_elsewhere
from commonplace.web.forms import Fields
from commonplace.web.operation_pages import Form, action, actor
from commonplace.web.pages.declaration import ConsolePage, ConsolePages, Done, Leave, View, Visit

if TYPE_CHECKING:
    from commonplace.federation.model import Partner
    from commonplace.federation.partners import Partners
    from commonplace.federation.sign_ins import SignIns
    from commonplace.web.pages.frame import PageContext

HERE = Path(__file__).parent
PATH = "partners"
READER, ADMIN = sign_out_at_partner.need, add_partner.need

MESSAGES = {
    "added": "Added. Review the descriptions of its tools, and approve those that agents may use.",
    "compared": "These are its current tools.",
    "approved": "Approved: agents may use them until they change.",
    "removed": "Removed, with its approvals.",
    "client": "Saved. People sign in there with this client.",
    "signed_in": "You are signed in there.",
    "signed_out": "You are signed out there.",
}

ADD = Form(
    "add",
    add_partner,
    "Add a partner",
    "Connect",
    {"name": "Name here", "url": "MCP address", "title": "Title", "search": "Tool that searches"},
    kinds={"url": "text"},
    about="It is not called before its tools are approved.",
)
CLIENT = Form(
    "client",
    name_client,
    "A client that its server knows",
    "Save",
    {"client_id": "Client id", "client_secret": "Client secret"},
    kinds={"client_id": "text", "client_secret": "text"},
    about="Only where its server takes neither our document nor a registration. Whoever runs it gives id and secret.",
)
REMOVE = Form("remove", remove_partner, "Remove", "Remove", about=remove_partner.description, sure=True)


@dataclass(frozen=True, slots=True)
class PartnerPages:
    """The pages over the partners of a deployment."""

    partners: Partners

    @property
    def sign_ins(self) -> SignIns:
        assert self.partners.sign_ins is not None  # noqa: S101 - a deployment with pages has people
        return self.partners.sign_ins

    def pages(self) -> list[ConsolePage]:
        of_all, of_one = partial(action, service=self.partners), partial(action, service=self.partners, show=self.one)
        chosen = Fields(model=Approval, names=("tools",), id="approve", kinds={"tools": "choices"})
        return [
            ConsolePage(
                path=PATH,
                title="Partners",
                show=partial(self.all, problem=None),
                need=READER,
                messages=MESSAGES,
                actions={
                    "add": ADD.action(self.partners, self.all, done=_added),
                    "ask": of_all(list_partners, show=self.all, done=self._answers),
                    "sign-out": of_all(sign_out_at_partner, show=self.all, done="signed_out"),
                },
            ),
            ConsolePage(
                path=f"{PATH}/{{name}}",
                title="Partner",
                show=partial(self.one, problem=None),
                need=ADMIN,
                messages=MESSAGES,
                actions={
                    "compare": of_one(review_partner, done="compared"),
                    "approve": of_one(approve_tools, done="approved", fields=chosen),
                    "client": CLIENT.action(self.partners, self.one, done="client"),
                    "remove": REMOVE.action(self.partners, self.one, done=_removed),
                },
            ),
            ConsolePage(path=f"{PATH}/{{name}}/sign-in", title="Sign in", show=self.begin, need=READER),
            ConsolePage(
                path=CALLBACK.removeprefix("/console/"), title="Sign in", show=self.finish, need=READER, listed=False
            ),
        ]

    async def all(self, visit: Visit, problem: CommonplaceError | None, answers: Any = None) -> View:
        author = actor(visit).author

        def read() -> list[dict[str, Any]]:
            partners = self.partners.all(author.organisation)
            wanting = [one for one in partners if one.challenge is not None]
            signed_in = self.sign_ins.signed_in(author, wanting)
            return [
                {
                    "partner": one,
                    "states": [tool.state for tool in self.partners.tools(author.organisation, one.id)],
                    "wants": one.challenge is not None,
                    "signed_in": one.id in signed_in,
                    "answers": (answers or {}).get(one.id),
                }
                for one in partners
            ]

        values = {
            "rows": await run_in_threadpool(read),
            "admin": visit.may(ADMIN),
            "add": ADD.shown(visit, None, problem),
            "problem": problem,
        }
        return View("partners.html", values, problem.status if problem else 200)

    async def one(self, visit: Visit, problem: CommonplaceError | None) -> View:
        organisation, name = actor(visit).author.organisation, visit.request.path_params["name"]

        def read() -> tuple[Partner, dict[str, Any], Any]:
            partner = self.partners.get(organisation, name)
            tools = self.partners.tools(organisation, name)
            return partner, operations.shown(Review(partner, tools)), operations.waiting(tools)

        partner, shown, waiting = await run_in_threadpool(read)
        values = {
            "partner": partner,
            "review": shown,
            "waiting": dict(list(waiting.items())[:APPROVED_AT_ONCE]),
            "client": CLIENT.shown(visit, None, problem),
            "remove": REMOVE.shown(visit, None, problem),
            "problem": problem,
        }
        return View("partner.html", values, problem.status if problem else 200)

    async def begin(self, visit: Visit) -> View | Leave:
        """Lead to the page where a partner signs people in; whom another site has sent here is asked first."""
        author, name = actor(visit).author, visit.request.path_params["name"]
        partner = await run_in_threadpool(self.partners.get, author.organisation, name)
        if visit.request.method != "GET" or from_elsewhere(visit.request, self.sign_ins.base_url):
            return View("sign_in.html", {"partner": partner, "problem": None})
        try:
            return Leave(await run_in_threadpool(self.sign_ins.begin, author, partner, visit.csrf))
        except CommonplaceError as problem:
            return View("sign_in.html", {"partner": partner, "problem": problem}, problem.status)

    async def finish(self, visit: Visit) -> View | Done:
        """Take what a partner sent somebody back with: a code is exchanged for tokens, once."""
        author, query = actor(visit).author, visit.request.query_params
        found: list[Partner] = []

        def work() -> None:
            pending = self.sign_ins.pending(author, query.get("state", ""), visit.csrf)
            found.append(partner := self.partners.get(author.organisation, pending.partner))
            if not (code := query.get("code", "")):
                declined = query.get("error") == "access_denied"
                raise InvalidInput(f"{partner.title} issued no code: {'access denied' if declined else 'it failed'}.")
            self.sign_ins.finish(author, partner, pending, code, query.get("iss", ""))

        try:
            await run_in_threadpool(work)
        except CommonplaceError as problem:
            return View("sign_in.html", {"partner": next(iter(found), None), "problem": problem}, problem.status)
        return Done("signed_in", path=PATH)

    async def _answers(self, visit: Visit, found: Any) -> View:
        return await self.all(visit, None, {row["name"]: row["answers"] for row in found["partners"]})


async def _added(_: Visit, review: Any) -> Done:
    return Done("added", path=f"{PATH}/{review['name']}")


async def _removed(_: Visit, __: Any) -> Done:
    return Done("removed", path=PATH)


def pages(context: PageContext) -> ConsolePages | None:
    """Return the pages of a deployment; None where it has no partners."""
    if (settings := FederationSettings.where_federated(context.environ)) is None:
        return None
    base_url, name = context.settings.base_url or "", context.settings.site_name
    partners: Partners = deferred(lambda: settings.partners(base_url, name))
    document = {"client_id": f"{base_url}{DOCUMENT}", **client_metadata(base_url, name)}
    return ConsolePages(
        pages=PartnerPages(partners).pages(),
        templates=HERE / "templates",
        documents={DOCUMENT.removeprefix("/console/"): document},
    )
