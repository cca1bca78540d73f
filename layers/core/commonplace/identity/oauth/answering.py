"""What a code or a refresh token turns into: its holder, what the holder's roles allow now, and the answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from commonplace.identity import secrets
from commonplace.identity.accounts import Profile, Standing, Standings
from commonplace.identity.issuing import Issuer, claims_for
from commonplace.identity.oauth.authorization_request import KnowsResources
from commonplace.identity.oauth.errors import OAuthError, invalid_grant
from commonplace.identity.oauth.opening import GRANT, PROFILE
from commonplace.identity.oidc_sessions import ReadsClaims, SignInOver
from commonplace.identity.records import ACCESS_SECONDS, Grant
from commonplace.identity.scopes import OFFLINE_ACCESS, covers, parse_scopes, reach

Form = Mapping[str, str]
Json = dict[str, Any]


class GrantOver(Exception):
    """Nothing can come of the grant any more: it ends. `reason` is for records: a stable code."""

    def __init__(self, grant: Grant, reason: str) -> None:
        super().__init__(reason)
        self.grant = grant
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a code or token: what it alone reveals."""

    grant: Grant
    secret: str
    profile: Profile


class Answers:
    """Access tokens, and the members of a token response (RFC 6749, section 5.1)."""

    def __init__(
        self,
        *,
        issuer: Issuer,
        standings: Standings,
        claims: ReadsClaims,
        resources: KnowsResources,
        key: Callable[[], bytes],
        access_seconds: int = ACCESS_SECONDS,
    ) -> None:
        self._issuer = issuer
        self._standings = standings
        self._claims = claims
        self._resources = resources
        self._key = key
        self._access_seconds = access_seconds

    def standing(self, holder: Holder, *, fresh: bool) -> Standing:
        """What the holder's roles amount to. Raises GrantOver for who has to sign in again, Unavailable."""
        try:
            claims = self._claims.claims(holder.profile, fresh=fresh)
        except SignInOver as over:
            raise GrantOver(holder.grant, over.reason) from None
        return self._standings.of(holder.profile.subject, claims=claims, fresh=fresh)

    def check_resource(self, form: Form, resource: str) -> None:
        """Left out, it is inherited. Raises OAuthError `invalid_target`."""
        named = form.get("resource")
        if named and self._resources.canonical(named) != resource:
            raise OAuthError("invalid_target", "This code or token is for another resource.")

    def answer(
        self,
        holder: Holder,
        standing: Standing,
        scopes: tuple[str, ...],
        now: int,
        *,
        refresh_token: str | None = None,
        seconds: int | None = None,
    ) -> Json:
        """The token carries what was asked for, so far as the roles still cover it. Raises Unavailable.

        It lasts for `seconds`, or as long as access tokens last, but never longer than its grant.
        """
        claims = claims_for(
            holder.grant,
            holder.secret,
            holder.profile.subject,
            standing,
            scopes=reach(scopes, standing.scopes),
            issuer=self._issuer.issuer,
            key=self._key(),
            now=now,
            seconds=seconds or self._access_seconds,
        )
        answer: Json = {
            "access_token": self._issuer.sign(claims),
            "token_type": "Bearer",
            "expires_in": claims.expires_at - now,
            "scope": " ".join(claims.scopes),
        }
        return answer | ({"refresh_token": refresh_token} if refresh_token else {})


def holder_of(presented: str, sealed_grant: bytes, grant: Grant) -> Holder:
    """Raises OAuthError `invalid_grant` when the seals do not fit."""
    try:
        secret = str(secrets.unseal(presented, GRANT, sealed_grant)["secret"])
        profile = Profile.from_json(secrets.unseal(secret, PROFILE, grant.sealed_profile))
    except (secrets.SealBroken, KeyError, TypeError):
        raise invalid_grant("seal_broken", grant.id) from None
    if secrets.digest(secret) != grant.id:
        raise invalid_grant("seal_broken", grant.id)
    return Holder(grant, secret, profile)


def wanted_scopes(form: Form, granted: tuple[str, ...]) -> tuple[str, ...]:
    """What a request narrows its token to; all that was granted if it says nothing. Raises OAuthError `invalid_scope`.

    `offline_access` is no scope of ours: clients send it along.
    """
    try:
        named = tuple(one for one in parse_scopes(form.get("scope", "")) if one != OFFLINE_ACCESS)
    except ValueError:
        named = ("",)
    if not all(covers(granted, one) for one in named):
        raise OAuthError("invalid_scope", "A token can have no more than was granted.")
    return named or granted
