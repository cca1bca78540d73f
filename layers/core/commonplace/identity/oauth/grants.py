"""Grants, and the exchange of authorization codes and refresh tokens for access tokens (RFC 6749, OAuth 2.1).

Only who holds a code or a token of a grant can decrypt what the grant knows.
"""

import base64
import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from secrets import token_hex
from typing import Any, Literal

from commonplace.identity import secrets
from commonplace.identity.access_tokens import Issuer, claims_for, subject_hash
from commonplace.identity.accounts import Profile, Standing, Standings
from commonplace.identity.audit import issued, reused
from commonplace.identity.memberships import GONE, ChosenMembership, Memberships, member_now
from commonplace.identity.oauth.errors import OAuthError, invalid_grant, temporarily_unavailable
from commonplace.identity.oidc_sessions import ReadsClaims, SignInOver
from commonplace.identity.ports import GrantStore
from commonplace.identity.principals import covers, parse_scopes, permission_of, reach, without_offline_access
from commonplace.identity.records import (
    ACCESS_SECONDS,
    CODE_SECONDS,
    IDLE_SECONDS,
    RETRY_SECONDS,
    AuthorizationRequest,
    Client,
    Code,
    Grant,
    Refresh,
    Source,
)
from commonplace.identity.resources import Resources
from commonplace.kernel.audit import NOWHERE, Lost
from commonplace.kernel.errors import Unavailable

PROFILE, GRANT = "profile", "grant"
"""Purposes of what is sealed."""

Form = Mapping[str, str]
Json = dict[str, Any]

REPLAYED = "code_replayed"

_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")

ATTEMPTS = 4
"""Each judges what it finds anew: whoever was faster has changed it."""

REUSED = "refresh_reused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The terms of a grant: what, to whom, until when."""

    client_id: str
    client_name: str
    resource: str
    scopes: tuple[str, ...]
    seconds: int
    """How long the grant lasts, used or not."""
    client_source: Source = "operator"
    redirect_uri: str = ""
    resource_scopes: tuple[str, ...] | None = None
    organisation: str | None = None
    """Of agents."""
    membership: ChosenMembership | None = None


def new_grant(
    kind: Literal["person", "agent"],
    profile: Profile,
    terms: Terms,
    *,
    key: bytes,
    now: int,
    network: str,
    secret: str | None = None,
) -> tuple[Grant, str]:
    """The grant, and its secret, which is a fresh one unless it is given."""
    secret = secret or secrets.fresh()
    grant = Grant(
        id=secrets.digest(secret),
        kind=kind,
        subject_hash=subject_hash(key, profile.subject, terms.organisation),
        client_id=terms.client_id,
        client_name=terms.client_name,
        resource=terms.resource,
        scopes=terms.scopes,
        created_at=now,
        expires_at=now + terms.seconds,
        client_source=terms.client_source,
        redirect_uri=terms.redirect_uri,
        permission=permission_of(terms.scopes),
        resource_scopes=terms.resource_scopes,
        organisation=terms.organisation,
        membership=terms.membership,
        sealed_profile=secrets.seal(secret, PROFILE, profile.as_json()),
        last_used_at=now,
        last_used_from=network,
    )
    return grant, secret


def new_code(grant: Grant, secret: str, request: AuthorizationRequest) -> tuple[str, Code]:
    """The code as the client gets it, and as it is kept."""
    code = secrets.fresh(secrets.CODE)
    kept = Code(
        hash=secrets.digest(code),
        grant_id=grant.id,
        client_id=grant.client_id,
        redirect_uri=request.redirect_uri,
        redirect_given=request.redirect_given,
        challenge=request.challenge,
        resource=grant.resource,
        scopes=grant.scopes,
        sealed_grant=secrets.seal(code, GRANT, {"secret": secret}),
        expires_at=min(grant.created_at + CODE_SECONDS, grant.expires_at),
    )
    return code, kept


def kept_token(token: str, grant: Grant, secret: str, expires_at: int) -> Refresh:
    """A refresh token as it is kept; it ends with its grant at the latest."""
    return Refresh(
        hash=secrets.digest(token),
        grant_id=grant.id,
        client_id=grant.client_id,
        sealed_grant=secrets.seal(token, GRANT, {"secret": secret}),
        expires_at=min(expires_at, grant.expires_at),
    )


class GrantOver(Exception):
    """Nothing can come of the grant any more: it ends. `reason` is for records: a stable code."""

    def __init__(self, grant: Grant, reason: str) -> None:
        super().__init__(reason)
        self.grant = grant
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Holder:
    """The contents of a code or token, which it alone decrypts."""

    grant: Grant
    secret: str
    profile: Profile


@dataclass(eq=False, repr=False, kw_only=True)
class Answers:
    """Access tokens, and the members of a token response (RFC 6749, section 5.1)."""

    issuer: Issuer
    standings: Standings
    claims: ReadsClaims
    resources: Resources
    key: Callable[[], bytes]
    memberships: Memberships | None = None
    access_seconds: int = ACCESS_SECONDS

    def standing(self, holder: Holder, *, fresh: bool) -> Standing:
        """What the holder's roles amount to. Raises GrantOver for who has to sign in again, Unavailable."""
        try:
            claims = self.claims.claims(holder.profile, fresh=fresh)
        except SignInOver as over:
            raise GrantOver(holder.grant, over.reason) from None
        return self.standings.of(holder.profile.subject, claims=claims, fresh=fresh)

    def check_resource(self, form: Form, resource: str) -> None:
        """Left out, it is inherited. Raises OAuthError `invalid_target`."""
        named = form.get("resource")
        if named and self.resources.canonical(named) != resource:
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
        """The token carries the requested scopes, so far as the roles still cover them. Raises GrantOver, Unavailable.

        It lasts for `seconds`, or as long as access tokens last, but never longer than its grant.
        """
        now_member = member_now(self.memberships, holder.grant)
        if now_member is None:
            raise GrantOver(holder.grant, GONE)
        claims = claims_for(
            holder.grant,
            holder.secret,
            holder.profile.subject,
            standing,
            scopes=reach(scopes, standing.scopes),
            issuer=self.issuer.issuer,
            key=self.key(),
            now=now,
            seconds=seconds or self.access_seconds,
            held=now_member.roles,
        )
        answer: Json = {
            "access_token": self.issuer.sign(claims),
            "token_type": "Bearer",
            "expires_in": claims.expires_at - now,
            "scope": " ".join(claims.scopes),
        }
        return answer | ({"refresh_token": refresh_token} if refresh_token else {})


def holder_of(presented: str, sealed_grant: bytes, grant: Grant) -> Holder:
    """Raises OAuthError `invalid_grant` when the seals do not fit."""
    try:
        return holder_of_secret(str(secrets.unseal(presented, GRANT, sealed_grant)["secret"]), grant)
    except (secrets.SealBroken, KeyError, TypeError):
        raise invalid_grant("seal_broken", grant.id) from None


def holder_of_secret(secret: str, grant: Grant) -> Holder:
    """Raises OAuthError `invalid_grant` for another grant's secret."""
    try:
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
        named = without_offline_access(parse_scopes(form.get("scope", "")))
    except ValueError:
        named = ("",)
    if not all(covers(granted, one) for one in named):
        raise OAuthError("invalid_scope", "A token can have no more than was granted.")
    return named or granted


@dataclass(eq=False, repr=False, kw_only=True)
class Exchange:
    """The authorization code grant (RFC 6749 and OAuth 2.1, section 4.1.3; RFC 7636; RFC 9700, section 4.5).

    A code is found by its hash and its client, and the presenter proves that the request was theirs, before anything
    acts on its grant: a stolen code without the verifier can neither be used nor end the grant. It is used up last, in
    the write that stores the refresh token, so that a request that is wrong in any way leaves it to its owner.
    """

    store: GrantStore
    answers: Answers
    clock: Callable[[], float]
    idle_seconds: int = IDLE_SECONDS
    organisation: str = NOWHERE

    def redeem(self, form: Form, client: Client, network: str) -> Json:
        """Raises OAuthError, Unavailable: then the code is as good as before, unless it was used before."""
        now = int(self.clock())
        presented = form.get("code", "")
        if not presented:
            raise OAuthError("invalid_request", "code is missing.")
        code, grant = self._found(presented, client)
        _check_proof(form, code)
        if code.used_at is not None:
            raise self._replayed(grant, now, network)
        if code.expires_at <= now or not grant.alive(now):
            raise invalid_grant("code_expired")
        self.answers.check_resource(form, code.resource)
        scopes = wanted_scopes(form, grant.scopes)
        holder = holder_of(presented, code.sealed_grant, grant)
        standing = self.answers.standing(holder, fresh=False)
        token = secrets.fresh(secrets.REFRESH)
        answer = self.answers.answer(holder, standing, scopes, now, refresh_token=token)
        kept = kept_token(token, grant, holder.secret, now + self.idle_seconds)
        record = issued("grant", grant, answer["scope"].split(), standing, now=now, network=network)
        try:
            self.store.redeem(code, kept, now, [record])
        except Lost:
            raise self._lost(code, grant, now, network) from None
        return answer

    def _found(self, presented: str, client: Client) -> tuple[Code, Grant]:
        code = self.store.code(secrets.digest(presented))
        if code is None:
            raise invalid_grant("code_unknown")
        if code.client_id != client.id:
            raise invalid_grant("code_of_another", code.grant_id)
        grant = self.store.grant(code.grant_id)
        if grant is None or grant.client_id != client.id:
            raise invalid_grant("grant_over")
        return code, grant

    def _lost(self, code: Code, grant: Grant, now: int, network: str) -> OAuthError:
        """Somebody else used the code, or the grant ended, while we looked."""
        kept = self.store.code(code.hash)
        if kept is not None and kept.used_at is not None:
            return self._replayed(grant, now, network)
        return invalid_grant("grant_over")

    def _replayed(self, grant: Grant, now: int, network: str) -> OAuthError:
        self.store.revoke(grant.id, REPLAYED, now, [reused(grant, REPLAYED, now, network, self.organisation)])
        return invalid_grant(REPLAYED)


def _check_proof(form: Form, code: Code) -> None:
    """The redirect URI of the request, and the verifier of its challenge (RFC 7636, section 4.6)."""
    named = form.get("redirect_uri", "")
    if (named or code.redirect_given) and not secrets.same(named, code.redirect_uri):
        raise invalid_grant("redirect_differs", code.grant_id)
    verifier = form.get("code_verifier", "")
    if not verifier:
        raise OAuthError("invalid_request", "code_verifier is missing.")
    if not _VERIFIER.fullmatch(verifier):
        raise invalid_grant("verifier_malformed", code.grant_id)
    told = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    if not code.challenge or not secrets.same(told, code.challenge):
        raise invalid_grant("verifier_wrong", code.grant_id)


@dataclass(eq=False, repr=False, kw_only=True)
class Rotation:
    """The refresh grant (RFC 6749, section 6; RFC 9700, section 4.14).

    A token is exchanged for an heir; a lost answer can be repeated, and reuse ends the family:

    presented                           answer
    newest                              spend it, mint an heir
    spent, heir unused, within 60 s     the same heir again: derived from the token and a salt, never stored
    spent, heir unused, later           void that heir, mint another
    spent, heir used; or a void heir    reuse: the grant ends
    """

    store: GrantStore
    answers: Answers
    key: Callable[[], bytes]
    clock: Callable[[], float]
    idle_seconds: int = IDLE_SECONDS
    organisation: str = NOWHERE

    def refresh(self, form: Form, client: Client, network: str) -> Json:
        """Raises OAuthError, Unavailable: then the presented token is as good as before."""
        presented = form.get("refresh_token", "")
        if not presented:
            raise OAuthError("invalid_request", "refresh_token is missing.")
        for _ in range(ATTEMPTS):
            try:
                return self._once(presented, form, client, network)
            except Lost:
                continue
        raise temporarily_unavailable(Unavailable("Others refresh this token all the time."))

    def _once(self, presented: str, form: Form, client: Client, network: str) -> Json:
        now = int(self.clock())
        token, grant = self._found(presented, client, now)
        heir = self.store.refresh(token.heir) if token.heir else None
        if token.phase == "void" or (token.phase == "spent" and (heir is None or heir.phase != "current")):
            self.store.revoke(grant.id, REUSED, now, [reused(grant, REUSED, now, network, self.organisation)])
            raise invalid_grant(REUSED)
        scopes = wanted_scopes(form, grant.scopes)
        self.answers.check_resource(form, grant.resource)
        holder = holder_of(presented, token.sealed_grant, grant)
        standing = self.answers.standing(holder, fresh=True)
        again, salt = self._same_heir(presented, token, now), token_hex(16)
        follower = again or secrets.heir(self.key(), presented, salt)
        # Signed before anything is written: where no key can be had, nothing has happened.
        answer = self.answers.answer(holder, standing, scopes, now, refresh_token=follower)
        reason = "retried" if again else ""
        record = issued("refresh", grant, answer["scope"].split(), standing, now=now, network=network, reason=reason)
        if again and heir:
            self.store.retried(token, heir, now, [record])
            return answer
        kept = kept_token(follower, grant, holder.secret, now + self.idle_seconds)
        spent = replace(token, phase="spent", heir=kept.hash, salt=salt, spent_at=now)
        self.store.rotate(spent, kept, heir, now, [record])
        return answer

    def _found(self, presented: str, client: Client, now: int) -> tuple[Refresh, Grant]:
        token = self.store.refresh(secrets.digest(presented))
        if token is None or token.expires_at <= now:
            raise invalid_grant("refresh_unknown")
        if token.client_id != client.id:
            raise invalid_grant("refresh_of_another", token.grant_id)
        grant = self.store.grant(token.grant_id)
        if grant is None or not grant.alive(now) or grant.client_id != client.id:
            raise invalid_grant("grant_over")
        return token, grant

    def _same_heir(self, presented: str, token: Refresh, now: int) -> str | None:
        if token.phase != "spent" or token.salt is None or token.spent_at is None:
            return None
        follower = secrets.heir(self.key(), presented, token.salt)
        soon = now - token.spent_at <= RETRY_SECONDS
        return follower if soon and secrets.digest(follower) == token.heir else None
