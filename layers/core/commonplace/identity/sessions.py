"""Sessions of browsers whose person has signed in, and what that person may do now.

A session is kept under the hash of its cookie. What the store knows of the person is encrypted under the cookie.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING

from commonplace.identity import secrets
from commonplace.identity.accounts import Profile, Standing, Standings
from commonplace.identity.oidc_sessions import ReadsClaims, SignInOver
from commonplace.identity.principals import Principal
from commonplace.identity.records import SESSION_SECONDS, Session
from commonplace.kernel.errors import Unavailable

if TYPE_CHECKING:
    from commonplace.identity.ports import SignInStore

COOKIE = "__Host-cp_session"
PURPOSE = "session"
CLIENT = "console"
"""The name of the client in records and in a principal: the person's own browser."""


@dataclass(frozen=True, slots=True)
class Sessions:
    """Opened by a sign-in, ended by signing out or after twelve hours."""

    store: SignInStore
    claims: ReadsClaims
    clock: Callable[[], float]

    def look(self, cookie: str) -> tuple[Session, Profile] | None:
        """Return who has signed in with this browser; None when nobody has, it was too long ago, or their provider has
        taken it back. Raises Unavailable."""
        session = self.store.session(secrets.digest(cookie)) if cookie else None
        if session is None or session.expires_at <= self.clock():
            return None
        try:
            profile = Profile.from_json(secrets.unseal(cookie, PURPOSE, session.sealed_profile))
            return session, replace(profile, claims=self.claims.claims(profile))
        except (secrets.SealBroken, SignInOver):
            return None

    def find(self, cookie: str) -> Profile | None:
        """Return what `look` does, without the session."""
        found = self.look(cookie)
        return found[1] if found else None

    def end(self, cookie: str) -> None:
        if cookie:
            self.store.end_session(secrets.digest(cookie))


def open_session(store: SignInStore, profile: Profile, account: str, now: float) -> str:
    """The value of the cookie: known to the browser alone. `account` is the person's name in records."""
    cookie = secrets.fresh(secrets.SESSION)
    session = Session(
        hash=secrets.digest(cookie),
        subject_hash=account,
        sealed_profile=secrets.seal(cookie, PURPOSE, profile.as_json()),
        created_at=int(now),
        expires_at=int(now) + SESSION_SECONDS,
    )
    store.put_session(session)
    return cookie


def csrf_token(cookie: str) -> str:
    """Return the token that every form of this session brings along. It names neither the cookie nor anything that the
    store has."""
    return hmac.digest(cookie.encode("utf-8", "surrogateescape"), b"commonplace csrf", sha256).hex()


@dataclass(frozen=True, slots=True)
class Visitor:
    """The person behind a session."""

    profile: Profile
    principal: Principal


@dataclass(eq=False, repr=False)
class Visitors:
    """The persons behind sessions, with what a token of theirs with every scope would be worth now.

    Nothing that a browser sends but the cookie has any influence. Roles are as old as those of a bearer token.

    `member_id` takes organisation and subject, and may raise Unavailable.
    """

    sessions: Sessions
    standings: Standings
    member_id: Callable[[str, str], str]

    def find(self, cookie: str) -> Visitor | None:
        """None for whoever has to sign in. The principal is uncertain where the roles cannot be read.

        Raises Unavailable when the session itself cannot be read.
        """
        found = self.sessions.look(cookie)
        if found is None:
            return None
        session, profile = found
        try:
            standing = self.standings.of(profile.subject, claims=profile.claims)
            whose = standing.organisation
            member = self.member_id(whose, profile.subject) if whose else None
        except Unavailable:
            standing, member = None, None
        now = standing or Standing()
        principal = Principal(
            subject=profile.subject,
            organisation=now.organisation,
            member=member,
            tier=now.tier,
            roles=frozenset(now.roles),
            scopes=now.scopes,
            attainable=now.scopes,
            client=CLIENT,
            account=session.subject_hash,
            display_name=profile.label,
            uncertain=standing is None,
        )
        return Visitor(profile, principal)

    def sign_out(self, cookie: str) -> None:
        """Raises Unavailable."""
        self.sessions.end(cookie)
