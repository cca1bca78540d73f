"""Sign-in with a wallet (seed 000, sections 2.2 and 2.7), through an OIDC provider, or as an account of a laptop."""

import json
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from commonplace.identity import secrets, telemetry, wallets
from commonplace.identity.accounts import Profile
from commonplace.identity.local_accounts import LocalSignIn
from commonplace.identity.oauth.consent import RequestGone
from commonplace.identity.oauth.pages import html
from commonplace.identity.oauth.pages.consent import Asker
from commonplace.identity.oauth.pages.html import page
from commonplace.identity.oauth.pages.waap import Waap
from commonplace.identity.oauth.server.browsers import (
    CHALLENGE_COOKIE,
    LOCAL_COOKIE,
    OIDC_COOKIE,
    again,
    drop,
    must_be_ours,
    page_route,
    read_json,
    request_cookie,
    script_route,
    sessions,
)
from commonplace.identity.oauth.server.composition import OAuthServices
from commonplace.identity.oauth.server.endpoint import json_answer, network_of
from commonplace.identity.records import CHALLENGE_SECONDS, REQUEST_SECONDS, SESSION_SECONDS
from commonplace.identity.redirects import is_own_path
from commonplace.identity.sessions import COOKIE, open_session
from commonplace.kernel.errors import BadRequest, CommonplaceError, Forbidden, NotFound
from commonplace.web.browsers import cookie_of, from_elsewhere, one, read_fields, seen, set_cookie

ACCOUNT = "/account"
LOCAL_PATH = "/account/local"
MAX_STATE_CHARACTERS = 200


def routes(services: OAuthServices) -> list[Route]:
    """Raises ValueError when WaaP is wanted and nonsense is said of it."""
    _waap(services)
    return [
        script_route(services, "/siwe/nonce", partial(_nonce, services), "GET"),
        script_route(services, "/siwe/verify", partial(_verify, services), "POST"),
        script_route(services, "/oidc/start", partial(_oidc_start, services), "POST"),
        page_route(services, "/oidc/callback", partial(_oidc_callback, services), "GET"),
        *(
            [page_route(services, LOCAL_PATH, partial(_local, services, services.local), "POST")]
            if services.local
            else ()
        ),
        *html.routes(),
    ]


def sign_in_page(
    services: OAuthServices,
    request: Request,
    *,
    asker: Asker | None = None,
    handle: str = "",
    csrf: str = "",
    ask_again: bool = False,
    next_path: str = ACCOUNT,
) -> Response:
    """Return the page for a client's request, or without one for a page of ours, which `next_path` names."""
    here = wallets.are_installed()
    waap, site = _waap(services) if here else None, services.settings.site_name
    cookie = (cookie_of(request, LOCAL_COOKIE) or secrets.fresh()) if services.local else ""
    answer = page(
        services.frame,
        request,
        "signin.html",
        icons=True,
        waap=waap is not None,
        wallets=here,
        asker=asker,
        handle=handle,
        csrf=csrf,
        ask_again=ask_again,
        waap_settings=json.dumps(waap.as_json(site)) if waap else None,
        waap_words=waap.words if waap else "",
        oidc=services.settings.oidc_name if services.oidc is not None else None,
        next_path=next_path,
        local=services.local.accounts if services.local else (),
        local_path=LOCAL_PATH,
        local_csrf=secrets.digest(cookie),
    )
    if cookie:
        # As long as a session: a sign-in page may stay open for a while.
        set_cookie(answer, LOCAL_COOKIE, cookie, SESSION_SECONDS)
    return answer


async def _nonce(services: OAuthServices, request: Request) -> Response:
    """`{nonce}`; with `address`, and `stateId` for a client's request, the exact text to sign as well."""
    if from_elsewhere(request, services.settings.issuer):
        raise Forbidden("Only a page of this site may send this request.")
    _wallets_only()
    address, state = request.query_params.get("address"), request.query_params.get("stateId", "")
    _next_path(services, request, {"stateId": state})
    cookie = cookie_of(request, CHALLENGE_COOKIE) or secrets.fresh()
    answer = json_answer(services.sign_in.challenge(address, state or None, cookie, network_of(request)))
    # Strict: only pages of ours bring it along, so nobody's browser is signed in from elsewhere.
    set_cookie(answer, CHALLENGE_COOKIE, cookie, CHALLENGE_SECONDS, strict=True)
    return answer


async def _verify(services: OAuthServices, request: Request) -> Response:
    """Opens a session for whoever signed, and says where to go on."""
    if from_elsewhere(request, services.settings.issuer):
        raise Forbidden("Only a page of this site may send this request.")
    _wallets_only()
    body = await read_json(request)
    next_path = _next_path(services, request, body)
    try:
        profile = services.sign_in.verify(body, cookie_of(request, CHALLENGE_COOKIE), network_of(request))
    except CommonplaceError as error:
        telemetry.record("signin", telemetry.outcome_of(error.status), getattr(error, "reason", error.code.lower()))
        raise
    answer = json_answer({"redirectTo": next_path, "address": profile.address, "name": profile.name})
    _signed_in(services, request, answer, profile)
    drop(answer, CHALLENGE_COOKIE)
    return answer


async def _oidc_start(services: OAuthServices, request: Request) -> Response:
    """The provider's address, and a cookie that its answer is held against. Only a press of our button gets here."""
    must_be_ours(request, services.settings.issuer)
    next_path = _next_path(services, request, await read_json(request))
    cookie = secrets.fresh()
    answer = json_answer({"redirectTo": _provider(services).start(next_path, cookie)})
    # Lax: the provider sends the browser back from its own site.
    set_cookie(answer, OIDC_COOKIE, cookie, REQUEST_SECONDS)
    return answer


async def _oidc_callback(services: OAuthServices, request: Request) -> Response:
    """Return where the provider sends the browser back to."""
    provider = _provider(services)
    pairs = parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)
    if len({name for name, _ in pairs}) < len(pairs):
        raise BadRequest("A parameter was sent more than once.")
    try:
        profile, next_path = provider.finish(dict(pairs), cookie_of(request, OIDC_COOKIE))
    except CommonplaceError as error:
        telemetry.record("signin", telemetry.outcome_of(error.status), getattr(error, "reason", error.code.lower()))
        raise
    answer = seen(next_path)
    _signed_in(services, request, answer, profile)
    drop(answer, OIDC_COOKIE)
    return answer


async def _local(services: OAuthServices, local: LocalSignIn, request: Request) -> Response:
    """A form, which needs no script. Its `csrf` says that the page was shown to this very browser."""
    cookie = cookie_of(request, LOCAL_COOKIE)
    fields = await read_fields(request)
    if from_elsewhere(request, services.settings.issuer) or not (
        cookie and secrets.same(one(fields, "csrf"), secrets.digest(cookie))
    ):
        raise Forbidden("Only the sign-in page of this site may send this request.", hint="Reload it and choose again.")
    asked = {name: one(fields, name) for name in ("stateId", "prompt", "next")}
    answer = seen(_next_path(services, request, asked))
    _signed_in(services, request, answer, local.choose(one(fields, "account"), network_of(request)))
    return answer


def _signed_in(services: OAuthServices, request: Request, answer: Response, profile: Profile) -> None:
    sessions(services).end(cookie_of(request, COOKIE))
    account = services.subject_hash(profile.subject)
    session = open_session(services.sign_ins, profile, account, services.clock())
    set_cookie(answer, COOKIE, session, SESSION_SECONDS)
    telemetry.record("signin")


def _next_path(services: OAuthServices, request: Request, body: Mapping[str, Any]) -> str:
    """Return where a sign-in leads: back to the client's request that `stateId` names, else to `next`.

    Raises RequestGone when the request is over, or was begun in another browser.
    """
    state = body.get("stateId") or ""
    if not state:
        return own_path(body.get("next"))
    if not isinstance(state, str) or len(state) > MAX_STATE_CHARACTERS:
        raise BadRequest("stateId must be the one that the sign-in page has.")
    pending = services.consents.look(state, cookie_of(request, request_cookie(state)))
    if pending is None:
        raise RequestGone("request_unknown")
    return again(pending.request, ask=body.get("prompt") == "consent")


def own_path(text: object) -> str:
    """A path of this site as it is; the account page for anything else."""
    return text if isinstance(text, str) and is_own_path(text) else ACCOUNT


def _waap(services: OAuthServices) -> Waap | None:
    told = services.settings.waap
    return None if told is None else Waap.of(told, services.settings.site_name)


def _wallets_only() -> None:
    """Raise NotFound where nothing can judge a wallet's signature."""
    if not wallets.are_installed():
        raise NotFound("Sign-in with a wallet is disabled here.", hint="The extra `wallets` is not installed.")


def _provider(services: OAuthServices) -> Any:
    if services.oidc is None:
        raise NotFound("Sign-in through a provider is disabled here.")
    return services.oidc
