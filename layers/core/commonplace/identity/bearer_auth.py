"""Bearer authentication: the principal of a token, as far as its grant and the account's roles still allow.

Every request reads the grant once, consistently, so that a revocation holds at once. Of what a caller sends, only a
verified token has any influence.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from commonplace.identity.access_tokens import AccessTokens, claims_for
from commonplace.identity.accounts import Denials, Profile, Standing, Standings
from commonplace.identity.memberships import GONE, NAMELESS, Membership, Memberships, member_now
from commonplace.identity.principals import ANONYMOUS, GRANTABLE, IN_PERSON, Principal, reach
from commonplace.identity.secrets import TOKEN, SealBroken, digest, grant_secret, same, unseal
from commonplace.identity.telemetry import record
from commonplace.identity.tokens import AccessClaims, BadToken
from commonplace.kernel.errors import Unauthorized, Unavailable
from commonplace.kernel.limits import network

if TYPE_CHECKING:
    from commonplace.identity.records import Grant

logger = logging.getLogger(__name__)

USE_SECONDS = 300
"""A grant's last use is exact to five minutes: a write for each call would be of no more use."""
MAX_DUE = 1_000

_BEARER = re.compile(r"bearer(?:[ \t]+(.*))?", re.IGNORECASE | re.DOTALL)


class GrantReader(Protocol):
    """The port through which a guard reads, consistently, and touches grants. Both methods raise Unavailable."""

    def grant(self, grant_id: str) -> Grant | None: ...

    def touch(self, grant_id: str, now: int, network: str) -> None:
        """Notes a use, of a grant that is there and has not been used later; does nothing otherwise."""
        ...


def bearer_token(authorization: str | None) -> str | None:
    """The token of a header (RFC 6750, section 2.1); None where there is none, or another scheme."""
    found = _BEARER.fullmatch((authorization or "").strip())
    return (found[1] or "").strip() or None if found else None


class NotBehind(BadToken):
    """A grant that is there does not stand behind the token, or no longer."""

    def __init__(self, reason: str, grant: Grant) -> None:
        super().__init__(reason)
        self.grant = grant


@dataclass(eq=False, repr=False)
class TokenJudge:
    """The judge of a verified token: the same for the guard of a call and for whoever asks by introspection.

    `names` is as in `TokenPrincipals`.
    """

    grants: GrantReader
    standings: Standings
    _: KW_ONLY
    names: bool = False
    memberships: Memberships | None = None

    def grant(self, claims: AccessClaims, now: float, found: Grant | None = None) -> Grant:
        """Return the grant, which is read unless it was `found`. Raises BadToken unless it still stands behind the
        token, and Unavailable."""
        grant = found or self.grants.grant(digest(claims.grant))
        if grant is None:
            raise BadToken("grant_unknown")
        reason = _against(claims, grant, now)
        if reason is not None:
            raise NotBehind(reason, grant)
        return grant

    def principal(self, claims: AccessClaims, grant: Grant) -> Principal:
        """Return the principal as far as the account's roles allow it now; uncertain where they cannot be read.

        Raises NotBehind for a grant whose member is gone, and Unavailable where that cannot be read.
        """
        acts, membership = grant.membership, None
        if acts is not None:
            current = member_now(self.memberships, grant)
            if current is None:
                raise NotBehind(GONE, grant)
            roles = current.roles if claims.gov_roles is None else current.roles & frozenset(claims.gov_roles)
            membership = Membership(
                organisation=acts.organisation,
                member=acts.member,
                roles=roles,
                expires_at=grant.expires_at,
                client=grant.client_name or NAMELESS,
                limits=current.limits,
            )
        person = grant.kind == "person"
        standing: Standing | None
        if person:
            try:
                standing = self.standings.of(claims.subject, rules=claims.rules)
            except Unavailable:
                standing = None
        else:
            # An agent has what its operator gave it.
            given = frozenset(claims.scopes)
            standing = Standing(tier=claims.tier, roles=claims.roles, scopes=given, organisation=grant.organisation)
        now = standing or Standing()
        # An account whose roles have moved it to another organisation reaches neither with its old token: it was
        # consented to for the old one, and its next refresh is for the new.
        same = now.organisation is not None and now.organisation == claims.organisation
        # Kinds that both reach; None is all.
        if claims.resource_scopes is None or grant.resource_scopes is None:
            kinds = grant.resource_scopes if claims.resource_scopes is None else claims.resource_scopes
            common_kinds = None if kinds is None else frozenset(kinds)
        else:
            common_kinds = frozenset(claims.resource_scopes) & frozenset(grant.resource_scopes)
        return Principal(
            subject=claims.subject,
            organisation=now.organisation if same else None,
            member=claims.member if same else None,
            tier=now.tier,
            roles=frozenset(now.roles),
            scopes=_reached(claims.scopes, grant.scopes, now.scopes),
            # For an agent nobody can consent to more.
            attainable=now.scopes - IN_PERSON if person else frozenset(),
            permission="readonly" if "readonly" in (claims.permission, grant.permission) else "action",
            resource_scopes=common_kinds,
            membership=membership,
            client=claims.client_id,
            grant=grant.id,
            account=grant.subject_hash,
            token=digest(claims.jti),
            display_name=self._name(claims, grant) if self.names else None,
            uncertain=standing is None,
        )

    def _name(self, claims: AccessClaims, grant: Grant) -> str | None:
        try:
            return Profile.from_json(unseal(claims.grant, "profile", grant.sealed_profile)).label
        except (SealBroken, KeyError, TypeError):
            return None


@dataclass(eq=False, repr=False)
class TokenPrincipals:
    """`principals.Principals` by access tokens.

    `names` says whether people's names are wanted: they are encrypted in the grant. `otherwise` is the principal of
    requests without a credential.
    """

    tokens: AccessTokens
    grants: GrantReader
    standings: Standings
    clock: Callable[[], float]
    _: KW_ONLY
    names: bool = False
    memberships: Memberships | None = None
    denials: Denials | None = None
    otherwise: Principal = ANONYMOUS

    def __post_init__(self) -> None:
        self._judge = TokenJudge(self.grants, self.standings, names=self.names, memberships=self.memberships)
        self._due: dict[str, None] = {}

    def identify(self, headers: Mapping[str, str], resource: str) -> Principal:
        """Raises Unauthorized for a bad token, Unavailable. A credential of another scheme is anonymous."""
        token = bearer_token(headers.get("authorization"))
        if token is None:
            return ANONYMOUS if "authorization" in headers else self.otherwise
        now = self.clock()
        try:
            try:
                claims, found = self._claims(token, resource, now)
                grant = self._judge.grant(claims, now, found)
                principal = self._judge.principal(claims, grant)
            except NotBehind as bad:
                if self.denials is not None:
                    self.denials.record(
                        grant=bad.grant.id,
                        subject=bad.grant.subject_hash,
                        client=bad.grant.client_id,
                        organisation=bad.grant.organisation,
                        reason=bad.reason,
                    )
                raise
        except BadToken as bad:
            # The reason is ours to know: who guesses tokens should not learn how near a guess came.
            record("denied", "denied", bad.reason)
            raise Unauthorized("This access token is not valid here.", hint="Sign in again.") from None
        if now - grant.last_used_at >= USE_SECONDS and len(self._due) < MAX_DUE:
            self._due[grant.id] = None
        return principal

    def _claims(self, token: str, resource: str, now: float) -> tuple[AccessClaims, Grant | None]:
        """Return what a token says, and the grant of a member's own token, which says nothing without it.

        Such a token is for a resource that acts for members alone. Raises BadToken, Unavailable.
        """
        if not token.startswith(TOKEN):
            return self.tokens.verify(token, resource, now), None
        secret = grant_secret(token)
        grant = self.grants.grant(digest(secret))
        if grant is None:
            raise BadToken("grant_unknown")
        if grant.membership is None or not same(grant.resource, resource):
            raise NotBehind("audience", grant)
        try:
            subject = Profile.from_json(unseal(secret, "profile", grant.sealed_profile)).subject
        except (SealBroken, KeyError, TypeError):
            raise BadToken("seal_broken") from None
        terms: Any = {"scopes": grant.scopes, "held": frozenset(grant.membership.roles)}
        terms |= {"issuer": "", "key": b"", "now": int(now), "seconds": USE_SECONDS}
        return claims_for(grant, secret, subject, Standing(), **terms), grant

    def used(self, principal: Principal, address: str) -> None:
        """Notes the use that `identify` has just found, every five minutes at most; an answer never waits in vain."""
        grant_id = principal.grant
        if grant_id is None or grant_id not in self._due:
            return
        self._due.pop(grant_id, None)
        try:
            self.grants.touch(grant_id, int(self.clock()), network(address))
        except Unavailable:
            logger.warning("a use of a grant could not be noted")

    def denied(self, principal: Principal, reason: str, wanted: str, address: str) -> None:
        if self.memberships is not None and (acts := principal.membership) is not None and principal.grant is not None:
            self.memberships.refused(acts.organisation, principal.grant)
        if self.denials is not None and principal.grant is not None:
            self.denials.record(
                grant=principal.grant,
                subject=principal.account or "",
                client=principal.client or "",
                organisation=principal.organisation,
                reason=reason,
                wanted=wanted,
                network=network(address),
            )


def _against(claims: AccessClaims, grant: Grant, now: float) -> str | None:
    """Why the grant does not stand behind the token; None if it does."""
    if not grant.alive(now):
        return "grant_over"
    if claims.jti in grant.revoked_tokens:
        return "token_revoked"
    agent = grant.kind == "agent"
    acts = (one.organisation, one.member) if (one := grant.membership) else (None, None)
    other = (claims.client_id, claims.audience) != (grant.client_id, grant.resource)
    if other or (claims.gov_org, claims.gov_member) != acts or agent != claims.subject.startswith("agent:"):
        return "grant_other"
    return "grant_other" if agent and grant.organisation != claims.organisation else None


@lru_cache(maxsize=256)
def _reached(token: tuple[str, ...], grant: tuple[str, ...], roles: frozenset[str]) -> frozenset[str]:
    """Return what all three cover; a scope that is too high for one becomes the highest level that is not."""
    found = reach(reach(token, grant), roles)
    return frozenset(found if IN_PERSON.isdisjoint(found) else reach(found, GRANTABLE))
