"""The site of a private deployment: its pages are shown to whoever has signed in, anybody else is sent to do so."""

from collections.abc import Mapping

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response

from commonplace.identity.composition import visitors
from commonplace.identity.principals import Principal, Tier
from commonplace.identity.sessions import COOKIE, Visitors
from commonplace.identity.settings import SessionSettings
from commonplace.kernel.errors import Unauthorized
from commonplace.web.browsers import SIGN_IN, cookie_of, to_sign_in
from commonplace.web.private import Find, Private

UNGUARDED = ("/assets/", "/icon.png", "/favicon.ico", "/robots.txt")
"""Of the code, not of the knowledge base: the sign-in page needs the first, crawlers the last."""


def members(tier: Tier, environ: Mapping[str, str]) -> Middleware:
    """Raises SettingsError where nobody could sign in."""
    find = readers(visitors(SessionSettings.from_environ(environ)))
    return Middleware(Private, tier=tier, find=find, unguarded=UNGUARDED)


def readers(found: Visitors) -> Find:
    """By their sessions."""

    def find(request: Request) -> Principal | Response:
        visitor = found.find(cookie_of(request, COOKIE))
        if visitor is not None:
            return visitor.principal
        if request.method != "GET" or "text/html" not in request.headers.get("accept", ""):
            raise Unauthorized("This is for people who have signed in.", hint=f"Sign in at {SIGN_IN}.")
        return to_sign_in(request)

    return find
