"""Authentication for the REST addresses that need it (resource `{base}/api`), and the endpoint `/me`."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Depends
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from commonplace.identity.authorization import Need
from commonplace.identity.principals import Principal, author, ordered
from commonplace.identity.sessions import COOKIE, Visitors
from commonplace.kernel.audit import Author
from commonplace.kernel.errors import Forbidden
from commonplace.web.browsers import cookie_of, to_sign_in
from commonplace.web.challenges import Accounts, SignIn
from commonplace.web.middleware import client_address
from commonplace.web.representations import API, JSON
from commonplace.web.rest.declaration import services
from commonplace.web.rest.documentation import TOKEN_MUST_COME, answers
from commonplace.web.rest.models import Answer
from commonplace.web.stack import Find

router = APIRouter(tags=["Account"])

PRIVATE = {"cache-control": "private, no-store", "vary": "Authorization"}
"""On an answer that depends on who calls, refusals included."""


def accounts_of(request: Request) -> Accounts:
    """Raises Forbidden where nobody can sign in."""
    if (accounts := services(request).accounts) is None:
        raise Forbidden("Sign-in is disabled in this deployment.", hint="Everything else here is public.")
    return accounts


async def account(request: Request) -> Principal:
    """Return an account that has signed in, and does not call too often with all its tokens together; a dependency.

    Raises SignIn, NotValid, RateLimited, Unavailable, or Forbidden where nobody can sign in.
    """
    using, accounts = services(request), accounts_of(request)
    principal = accounts.identify(request)
    if principal.anonymous:
        raise SignIn(accounts.challenges.sign_in(accounts.resource))
    using.limits.spend_account(request.scope, principal)
    return principal


@dataclass(frozen=True, slots=True)
class Caller:
    """A verified account, and on whose behalf it acts."""

    principal: Principal
    author: Author


def permitted(need: Need) -> Callable[[Request, Principal], Awaitable[Caller]]:
    """Return a dependency: an account that may do what takes this, for what an organisation has for itself.

    Raises as `account`, and Consent.
    """

    async def caller(request: Request, principal: Annotated[Principal, Depends(account)]) -> Caller:
        accounts_of(request).permit(principal, need)
        return Caller(principal, author(principal, client_address(request.scope)))

    return caller


def private(answer: Answer) -> Response:
    """Return an answer that no cache stores, for it depends on who calls."""
    return Response(answer.to_json(), media_type=JSON, headers=PRIVATE)


MONITORED = ("/health", f"{API}/health")
"""In a private deployment: monitors bring no token, and are answered the status alone."""
DOCS = "/docs"
"""A page for people: who is unknown is sent to sign in."""
UNGUARDED = (*MONITORED, f"{API}/me")
"""In a private deployment: the last judges by itself."""


def readers(accounts: Accounts, visitors: Visitors) -> Find:
    """Find readers of a private deployment by their tokens, or by sessions of browsers, which show pictures so."""

    def find(request: Request) -> Principal | Response:
        principal = accounts.identify(request)
        visitor = visitors.find(cookie_of(request, COOKIE)) if principal.anonymous else None
        if visitor is not None:
            return visitor.principal
        if principal.anonymous and request.url.path == DOCS and request.method == "GET":
            return to_sign_in(request)
        if principal.anonymous:
            raise SignIn(accounts.challenges.sign_in(accounts.resource))
        return principal

    return find


class Me(Answer):
    """The account behind an access token, and what the token may do now."""

    subject: str = Field(description="A wallet's address, `oidc:{issuer}#{sub}` or `agent:{name}`.")
    name: str | None = Field(description="For people to read, such as an ENS name.")
    tier: Literal["public", "member", "vibecoder"] = Field(description="The highest that the account's roles give now.")
    roles: list[str]
    uncertain: bool = Field(description="The roles could not be read just now: tier and scopes are the public's.")
    organisation: str | None = Field(description="Whose data the token reaches.")
    member: str | None = Field(description="The account as a member of the organisation.")
    scopes: list[str] = Field(description="What the token may do now.")
    attainable: list[str] = Field(description="What another consent could grant.")
    permission: Literal["readonly", "action"]
    resource_scopes: list[str] | None = Field(description="Kinds of things that the token reaches; null is all.")
    client: str | None = Field(description="The application that acts for the account.")
    grant: str | None = Field(description="The consent behind the token, as connected apps list it.")


ME = Me(
    subject="0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
    name="rosa.eth",
    tier="member",
    roles=["member"],
    uncertain=False,
    organisation="default",
    member="mem_8c1f0e5d2b3a49687f6e5d4c",
    scopes=["knowledge:write"],
    attainable=["knowledge:read", "knowledge:write", "reference:read"],
    permission="action",
    resource_scopes=None,
    client="https://app.example.org/client.json",
    grant="5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9",
)


@router.get(
    "/me",
    operation_id="getMe",
    summary="Get who you are",
    response_model=Me,
    responses=answers(ME, 401, 403, description="What the token may do now.", conditional=False),
    openapi_extra=TOKEN_MUST_COME,
)
async def get_me(principal: Annotated[Principal, Depends(account)]) -> Response:
    """The account behind the access token, with its tier and roles as of now, and what the token may do."""
    kinds = principal.resource_scopes
    told = Me(
        subject=principal.subject,
        name=principal.display_name,
        tier=principal.tier,
        roles=sorted(principal.roles),
        uncertain=principal.uncertain,
        organisation=principal.organisation,
        member=principal.member,
        scopes=list(ordered(principal.scopes)),
        attainable=list(ordered(principal.attainable)),
        permission=principal.permission,
        resource_scopes=None if kinds is None else sorted(kinds),
        client=principal.client,
        grant=principal.grant,
    )
    return private(told)
