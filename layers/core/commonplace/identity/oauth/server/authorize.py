"""The authorization endpoint: GET shows the request, POST takes the person's decision (RFC 6749, section 4.1)."""

from collections.abc import Mapping
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from commonplace.identity import telemetry
from commonplace.identity.memberships import GRANT_SECONDS, USUAL_SECONDS, takes_membership
from commonplace.identity.oauth.authorization_request import RequestRefused, read_query, understand
from commonplace.identity.oauth.consent import RequestGone
from commonplace.identity.oauth.pages.consent import Account, Asker, ConsentView
from commonplace.identity.oauth.pages.html import page, refused
from commonplace.identity.oauth.server.browsers import (
    drop,
    keep_request,
    page_route,
    request_cookie,
    sessions,
    wants_json,
)
from commonplace.identity.oauth.server.composition import OAuthServices
from commonplace.identity.oauth.server.endpoint import json_answer, network_of
from commonplace.identity.oauth.server.sign_in import sign_in_page
from commonplace.identity.sessions import COOKIE
from commonplace.kernel.errors import BadRequest, Forbidden
from commonplace.web.browsers import cookie_of, from_elsewhere, one, read_fields, seen

SIGN_IN_AGAIN = frozenset({"login", "select_account"})
"""Words of `prompt` that want to know anew who is there (OpenID Connect Core 1.0, section 3.1.2.1)."""


def routes(services: OAuthServices) -> list[Route]:
    return [
        page_route(services, "/authorize", partial(_show, services), "GET"),
        page_route(services, "/authorize", partial(_decide, services), "POST"),
    ]


async def _show(services: OAuthServices, request: Request) -> Response:
    params = read_query(request.scope["query_string"])
    issuer, network = services.settings.issuer, network_of(request)
    profile = sessions(services).find(cookie_of(request, COOKIE))
    try:
        asked = understand(params, services.clients, services.resources, issuer=issuer, network=network)
    except RequestRefused as error:
        telemetry.record("denied", "denied", error.code)
        if services.consents.may_hear(error.client, error.redirect_uri, profile):
            return seen(error.url, 302)
        return page(
            services.frame,
            request,
            "mistake.html",
            400,
            asker=Asker.of(error.client, error.redirect_uri),
            address=error.redirect_uri,
            code=error.code,
            description=error.description,
        )
    if profile is None or asked.prompts & SIGN_IN_AGAIN:
        begun = services.consents.begin(asked.request)
        answer = sign_in_page(
            services,
            request,
            asker=Asker.of(asked.client, asked.request.redirect_uri),
            handle=begun.handle,
            csrf=begun.csrf,
            ask_again="consent" in asked.prompts,
        )
        keep_request(request, answer, begun.handle, begun.cookie)
        return answer
    standing = services.standings.of(profile.subject, claims=profile.claims)
    if url := services.consents.recalled(asked, profile, standing, network_of(request)):
        return seen(url, 302)
    begun = services.consents.begin(asked.request)
    offered = services.consents.offered(asked.request, standing)
    asking = ConsentView.of(asked.request, offered, services.consents.members(asked.request.resource, profile.subject))
    settings = services.settings
    answer = page(
        services.frame,
        request,
        "consent.html",
        asker=Asker.of(asked.client, asked.request.redirect_uri),
        account=Account.of(profile, standing),
        asking=asking,
        acts=any(wish.acts for wish in asking.wishes),
        handle=begun.handle,
        csrf=begun.csrf,
        subject=profile.subject,
        access_seconds=settings.access_seconds,
        idle_seconds=settings.idle_seconds,
        ends=services.clock() + settings.absolute_seconds,
        expiries=[seconds for seconds in GRANT_SECONDS if seconds <= settings.absolute_seconds],
        usual=USUAL_SECONDS,
    )
    keep_request(request, answer, begun.handle, begun.cookie)
    return answer


async def _decide(services: OAuthServices, request: Request) -> Response:
    if from_elsewhere(request, services.settings.issuer):
        raise Forbidden("Only a page of this site may send this request.")
    fields = await read_fields(request)
    handle = one(fields, "handle")
    try:
        url = _answer(services, request, fields, handle)
    except RequestGone as error:
        telemetry.record("denied", "denied", error.reason)
        if wants_json(request):
            raise
        return refused(services.frame, request, error, "This page is over")
    answer = json_answer({"redirectTo": url}) if wants_json(request) else seen(url)
    drop(answer, request_cookie(handle))
    return answer


def _answer(services: OAuthServices, request: Request, fields: Mapping[str, list[str]], handle: str) -> str:
    """Return where the browser goes. Raises RequestGone, BadRequest, RateLimited, Unavailable."""
    cookie, csrf = cookie_of(request, request_cookie(handle)), one(fields, "csrf")
    decide = partial(services.consents.decide, handle, cookie, csrf, network=network_of(request))
    profile = sessions(services).find(cookie_of(request, COOKIE))
    decision = one(fields, "decision")
    if decision == "deny":
        url = decide(profile=profile, standing=None, allowed=None)
        telemetry.record("consent", "denied", "access_denied")
        return url
    if decision != "allow":
        raise BadRequest("The decision must be allow or deny.")
    pending = services.consents.look(handle, cookie)
    if profile is None or pending is None:
        raise RequestGone("request_unknown" if pending is None else "signed_out")
    standing = services.standings.of(profile.subject, claims=profile.claims)
    offered = services.consents.offered(pending.request, standing)
    asking, allowed = ConsentView.of(pending.request, offered), fields.get("scope", [])
    if takes_membership(pending.request.resource):
        acts = one(fields, "permission") == "action"
        allowed = [scope for scope in offered if acts or scope.endswith(":read")]
    url = decide(
        profile=profile,
        standing=standing,
        allowed=allowed,
        resource_scopes=_kinds(fields, asking),
        account=one(fields, "account"),
        organisation=one(fields, "organisation"),
        roles=fields.get(f"role:{one(fields, 'organisation')}", []),
        expiry=one(fields, "expiry"),
    )
    telemetry.record("consent")
    return url


def _kinds(fields: Mapping[str, list[str]], asking: ConsentView) -> list[str] | None:
    """The kinds of things that were left ticked; None is all. Raises BadRequest for none of those that were shown."""
    ticked = [kind for kind in asking.kinds if kind in fields.get("kind", [])]
    if len(asking.kinds) < 2 or len(ticked) == len(asking.kinds):
        return None
    if not ticked:
        raise BadRequest("At least one kind of things must stay ticked.")
    return ticked
