"""*Connected apps*: the page on which a signed-in person sees every grant, and ends one or all of them."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from commonplace.identity import telemetry
from commonplace.identity.accounts import Profile, Standing
from commonplace.identity.memberships import takes_membership
from commonplace.identity.oauth.member_tokens import CLIENT, EXPIRIES
from commonplace.identity.oauth.pages.consent import Account, Asker
from commonplace.identity.oauth.pages.html import listed, page, plain
from commonplace.identity.oauth.server.browsers import (
    drop,
    must_be_ours,
    page_route,
    read_json,
    script_route,
    sessions,
)
from commonplace.identity.oauth.server.composition import OAuthServices
from commonplace.identity.oauth.server.endpoint import json_answer, network_of
from commonplace.identity.oauth.server.sign_in import own_path, sign_in_page
from commonplace.identity.principals import ALWAYS, WORDS, kinds_of
from commonplace.identity.records import Grant
from commonplace.identity.sessions import COOKIE
from commonplace.kernel.errors import BadRequest, NotFound, Unauthorized
from commonplace.web.browsers import cookie_of, seen
from commonplace.web.pages.frame import stamp

EVERY = "all"
MAX_VALUES = 200
"""Roles, or kinds, that a request for a token names."""


def routes(services: OAuthServices) -> list[Route]:
    return [
        page_route(services, "/account", partial(_show, services), "GET"),
        page_route(services, "/account/tokens", partial(_tokens, services), "GET"),
        script_route(services, "/account/tokens", partial(_create, services), "POST"),
        script_route(services, "/account/grants", partial(_grants, services), "GET"),
        script_route(services, "/account/revoke", partial(_revoke, services), "POST"),
        script_route(services, "/account/signout", partial(_sign_out, services), "POST"),
    ]


async def _show(services: OAuthServices, request: Request) -> Response:
    profile = sessions(services).find(cookie_of(request, COOKIE))
    if profile is None:
        return sign_in_page(services, request, next_path=own_path(request.query_params.get("next")))
    if "next" in request.query_params:
        return seen(own_path(request.query_params["next"]))
    return page(
        services.frame,
        request,
        "account.html",
        # Roles are not read: apps must be disconnected even while no chain answers.
        account=Account.of(profile, Standing()),
        grants=[_shown(grant) for grant in services.connections.of(profile.subject)],
        tokens=any(map(takes_membership, services.resources.all())),
    )


async def _tokens(services: OAuthServices, request: Request) -> Response:
    profile = sessions(services).find(cookie_of(request, COOKIE))
    if profile is None:
        return sign_in_page(services, request, next_path="/account/tokens")
    resource = services.member_tokens.resource
    standing = services.standings.of(profile.subject, claims=profile.claims)
    offered = [one for one in services.resources.catalogue(resource) if one in standing.scopes]
    toolsets = services.resources.toolsets(resource)
    always = kinds_of(toolsets, ALWAYS)
    return page(
        services.frame,
        request,
        "tokens.html",
        account=Account.of(profile, Standing()),
        resource=resource,
        members=services.consents.members(resource, profile.subject),
        wishes=[{"scope": one, "acts": not one.endswith(":read")} for one in offered],
        kinds=[kind for kind in kinds_of(toolsets) if kind not in always],
        always=always,
        expiries=EXPIRIES,
        usual=EXPIRIES[-1],
        grants=[_shown(one) for one in services.connections.of(profile.subject) if one.client_id.startswith(CLIENT)],
    )


async def _create(services: OAuthServices, request: Request) -> Response:
    """Answer with the token, this once."""
    must_be_ours(request, services.settings.issuer)
    profile, given = _person(services, request), await read_json(request)
    texts = {name: given.get(name) for name in ("name", "organisation", "permission", "expiry")}
    lists = {name: given.get(name) for name in ("roles", "kinds")}
    if not all(isinstance(one, str) for one in texts.values()) or not all(map(_texts, lists.values())):
        raise BadRequest('The body must be {"name", "organisation", "permission", "expiry", "roles", "kinds"}.')
    toolsets = services.resources.toolsets(services.member_tokens.resource)
    every = [kind for kind in kinds_of(toolsets) if kind not in kinds_of(toolsets, ALWAYS)]
    token, grant = services.member_tokens.create(
        profile,
        services.standings.of(profile.subject, claims=profile.claims),
        name=str(texts["name"]),
        organisation=str(texts["organisation"]),
        roles=lists["roles"] or (),
        kinds=None if set(every) <= set(lists["kinds"] or ()) else lists["kinds"],
        acts=texts["permission"] == "action",
        expiry=str(texts["expiry"]),
        network=network_of(request),
    )
    telemetry.record("consent")
    return json_answer({"token": token, "grant": _as_json(grant)}, 201)


def _texts(given: Any) -> bool:
    return isinstance(given, list) and len(given) <= MAX_VALUES and all(isinstance(one, str) for one in given)


async def _grants(services: OAuthServices, request: Request) -> Response:
    profile = _person(services, request)
    return json_answer({"grants": [_as_json(grant) for grant in services.connections.of(profile.subject)]})


async def _revoke(services: OAuthServices, request: Request) -> Response:
    """`{"grant": id}` or `{"grant": "all"}`; answers how many ended. Counts from the next request of the app on."""
    must_be_ours(request, services.settings.issuer)
    profile = _person(services, request)
    grant = (await read_json(request)).get("grant")
    if not isinstance(grant, str) or not grant:
        raise BadRequest('The body must be {"grant": id}, or {"grant": "all"}.')
    connections, network = services.connections, network_of(request)
    if grant == EVERY:
        ended = connections.revoke_all(profile.subject, network)
    elif connections.revoke(profile.subject, grant, network):
        ended = 1
    else:
        raise NotFound("This app is not connected, or no longer.")
    telemetry.record("revoke", reason="by_person")
    return json_answer({"revoked": ended})


async def _sign_out(services: OAuthServices, request: Request) -> Response:
    must_be_ours(request, services.settings.issuer)
    sessions(services).end(cookie_of(request, COOKIE))
    answer = json_answer({})
    drop(answer, COOKIE)
    return answer


def _person(services: OAuthServices, request: Request) -> Profile:
    profile = sessions(services).find(cookie_of(request, COOKIE))
    if profile is None:
        raise Unauthorized("You are not signed in.", hint="Load /account and sign in.")
    return profile


def _shown(grant: Grant) -> Mapping[str, Any]:
    """As the page has it: words of others cut, times as they are."""
    return {
        "id": grant.id,
        "asker": Asker.of_grant(grant),
        "host": plain(grant.redirect_host, 120),
        "words": [WORDS.get(one, plain(one)) for one in grant.scopes],
        "permission": grant.permission,
        "kinds": listed([plain(kind) for kind in grant.resource_scopes or ()]),
        "resource": plain(grant.resource, 200),
        "organisation": plain(grant.membership.organisation) if grant.membership else "",
        "created_at": grant.created_at,
        "expires_at": grant.expires_at,
        "last_used_at": grant.last_used_at,
        "last_used_from": plain(grant.last_used_from),
    }


def _as_json(grant: Grant) -> Mapping[str, Any]:
    return {
        "id": grant.id,
        "client": {
            "id": grant.client_id,
            "name": grant.client_name,
            "redirectHost": grant.redirect_host,
            "source": grant.client_source,
            "imitates": Asker.of_grant(grant).imitates,
        },
        "resource": grant.resource,
        "scopes": list(grant.scopes),
        "permission": grant.permission,
        "resourceScopes": None if grant.resource_scopes is None else list(grant.resource_scopes),
        "createdAt": stamp(grant.created_at),
        "expiresAt": stamp(grant.expires_at),
        "lastUsedAt": stamp(grant.last_used_at) if grant.last_used_at else None,
        "lastUsedFrom": grant.last_used_from or None,
    }
