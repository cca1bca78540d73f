"""A browser whose person has signed in. What the store knows of them is encrypted under the browser's cookie."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, Self

from starlette.requests import Request
from starlette.responses import Response

from commonplace.identity import secrets
from commonplace.identity.accounts import Profile
from commonplace.identity.oauth.server.services import OAuthServices
from commonplace.identity.oidc_sessions import ReadsClaims, SignInOver
from commonplace.identity.ports import SignInStore
from commonplace.identity.records import CHALLENGE_SECONDS, REQUEST_SECONDS, SESSION_SECONDS, Session

SESSION_COOKIE = "__Host-cp_session"
CHALLENGE_COOKIE = "__Host-cp_challenge"
OIDC_COOKIE = "__Host-cp_oidc"
REQUEST_COOKIE = "__Host-cp_request_"
MAX_REQUESTS = 10
"""That wait for one browser at a time."""
PURPOSE = "session"
MAX_COOKIE_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class Sessions:
    """Opened by a sign-in, ended by signing out or after twelve hours."""

    store: SignInStore
    claims: ReadsClaims
    subject_hash: Callable[[str], str]
    clock: Callable[[], float]

    @classmethod
    def over(cls, services: OAuthServices) -> Self:
        return cls(services.sign_ins, services.claims, services.subject_hash, services.clock)

    def open(self, profile: Profile) -> str:
        """The value of the cookie: known to the browser alone."""
        cookie, now = secrets.fresh(secrets.SESSION), int(self.clock())
        sealed = secrets.seal(cookie, PURPOSE, profile.as_json())
        session = Session(
            hash=secrets.digest(cookie),
            subject_hash=self.subject_hash(profile.subject),
            sealed_profile=sealed,
            created_at=now,
            expires_at=now + SESSION_SECONDS,
        )
        self.store.put_session(session)
        return cookie

    def find(self, cookie: str) -> Profile | None:
        """Who has signed in with this browser; None when nobody has, it was too long ago, or their provider has taken
        it back. Raises Unavailable.
        """
        session = self.store.session(secrets.digest(cookie)) if cookie else None
        if session is None or session.expires_at <= self.clock():
            return None
        try:
            profile = Profile.from_json(secrets.unseal(cookie, PURPOSE, session.sealed_profile))
            return replace(profile, claims=self.claims.claims(profile))
        except (secrets.SealBroken, SignInOver):
            return None

    def end(self, cookie: str) -> None:
        if cookie:
            self.store.end_session(secrets.digest(cookie))


def cookie_of(request: Request, name: str) -> str:
    """The cookie's value; empty when there is none that could be ours."""
    value = request.cookies.get(name, "")
    return value if len(value) <= MAX_COOKIE_CHARACTERS else ""


def request_cookie(handle: str) -> str:
    """The name of the cookie that binds a request to its browser: one for each, so that two tabs both work."""
    return f"{REQUEST_COOKIE}{secrets.digest(handle)[:8]}"


def keep_session(answer: Response, cookie: str) -> None:
    _set(answer, SESSION_COOKIE, cookie, SESSION_SECONDS)


def keep_request(request: Request, answer: Response, handle: str, cookie: str) -> None:
    """Beside those of a few requests before: a client that asks again and again must not fill the browser's headers."""
    known = [name for name in request.cookies if name.startswith(REQUEST_COOKIE)]
    for name in known[: max(0, len(known) + 1 - MAX_REQUESTS)]:  # browsers send the oldest first (RFC 6265, 5.4)
        drop(answer, name)
    _set(answer, request_cookie(handle), cookie, REQUEST_SECONDS)


def keep_challenge(answer: Response, cookie: str) -> None:
    """Strict: only pages of ours bring it along, so nobody's browser is signed in from elsewhere."""
    _set(answer, CHALLENGE_COOKIE, cookie, CHALLENGE_SECONDS, strict=True)


def keep_oidc(answer: Response, cookie: str) -> None:
    """Lax: the provider sends the browser back from its own site."""
    _set(answer, OIDC_COOKIE, cookie, REQUEST_SECONDS)


def drop(answer: Response, name: str) -> None:
    _set(answer, name, "", 0, strict=name == CHALLENGE_COOKIE)


def _set(answer: Response, name: str, value: str, seconds: int, *, strict: bool = False) -> None:
    same_site: Literal["strict", "lax"] = "strict" if strict else "lax"
    answer.set_cookie(name, value, max_age=seconds, path="/", secure=True, httponly=True, samesite=same_site)
