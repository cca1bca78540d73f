"""The token endpoint's logic: codes and refresh tokens into access tokens, revocation and introspection.

The caller has authenticated the client and parsed the form; `network` is `kernel.limits.network` of the caller.
Everything raises OAuthError, and 503 `temporarily_unavailable` in place of Unavailable: then nothing was changed.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from commonplace.identity import secrets
from commonplace.identity.access_tokens import Issuer
from commonplace.identity.accounts import Standings
from commonplace.identity.audit import issued, revoked
from commonplace.identity.bearer_auth import TokenJudge
from commonplace.identity.memberships import Memberships
from commonplace.identity.oauth.agents import Agents
from commonplace.identity.oauth.errors import OAuthError, invalid_grant, temporarily_unavailable
from commonplace.identity.oauth.grants import (
    Answers,
    Exchange,
    Form,
    GrantOver,
    Json,
    Rotation,
    holder_of_secret,
    wanted_scopes,
)
from commonplace.identity.oidc_sessions import NO_PROVIDER, ReadsClaims
from commonplace.identity.ports import GrantStore
from commonplace.identity.principals import Tier, ordered
from commonplace.identity.records import ACCESS_SECONDS, IDLE_SECONDS, Client
from commonplace.identity.resources import Resources
from commonplace.identity.tokens import AccessClaims, BadToken
from commonplace.kernel.audit import NOWHERE, AuditLog, AuditRecord
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.limits import Limiter

logger = logging.getLogger(__name__)

EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS = "urn:ietf:params:oauth:token-type:access_token"
"""Types of RFC 8693, sections 2.1 and 3."""


@dataclass(eq=False, repr=False, kw_only=True)
class TokenEndpoint:
    """Answers of the token, revocation and introspection endpoints, as the JSON objects they are.

    `key` is that of pseudonyms and heirs; `organisation` is as in `Consents`.
    """

    store: GrantStore
    standings: Standings
    claims: ReadsClaims = NO_PROVIDER
    issuer: Issuer
    resources: Resources
    key: Callable[[], bytes]
    clock: Callable[[], float]
    memberships: Memberships | None = None
    audit: AuditLog | None = None
    limits: Limiter | None = None
    access_seconds: int = ACCESS_SECONDS
    idle_seconds: int = IDLE_SECONDS
    organisation: str = NOWHERE

    def __post_init__(self) -> None:
        self._judge = TokenJudge(self.store, self.standings, memberships=self.memberships)
        answers = self._answers = Answers(
            issuer=self.issuer,
            standings=self.standings,
            claims=self.claims,
            resources=self.resources,
            key=self.key,
            memberships=self.memberships,
            access_seconds=self.access_seconds,
        )
        self._exchange = Exchange(
            store=self.store,
            answers=answers,
            clock=self.clock,
            idle_seconds=self.idle_seconds,
            organisation=self.organisation,
        )
        self._rotation = Rotation(
            store=self.store,
            answers=answers,
            key=self.key,
            clock=self.clock,
            idle_seconds=self.idle_seconds,
            organisation=self.organisation,
        )
        self._agents = Agents(
            store=self.store,
            answers=answers,
            resources=self.resources,
            key=self.key,
            clock=self.clock,
            limits=self.limits,
            access_seconds=self.access_seconds,
        )

    def exchange(self, form: Form, client: Client, network: str = "") -> Json:
        """`grant_type=authorization_code` (RFC 6749, section 4.1.3; RFC 7636; RFC 8707)."""
        _allow(client, "authorization_code")
        with self._judging(client, network):
            return self._exchange.redeem(form, client, network)

    def refresh(self, form: Form, client: Client, network: str = "") -> Json:
        """`grant_type=refresh_token`: rotates, and survives a lost answer."""
        # Who may send people to us may also refresh: clients that name one grant type mean both.
        _allow(client, "refresh_token", "authorization_code")
        with self._judging(client, network):
            return self._rotation.refresh(form, client, network)

    def client_credentials(self, form: Form, client: Client, network: str = "") -> Json:
        """`grant_type=client_credentials`, for agents that an operator registered. Raises RateLimited, too."""
        _allow(client, "client_credentials")
        with _answering():
            return self._agents.grant(form, client, self.issuer.issuer, network)

    def token_exchange(self, form: Form, network: str = "") -> Json:
        """Return an access token for a member's token (RFC 8693): whoever has that needs no other proof."""
        if form.get("subject_token_type") != ACCESS or form.get("requested_token_type", ACCESS) != ACCESS:
            raise OAuthError("invalid_request", f"subject_token_type must be {ACCESS}, and nothing else is given.")
        if "actor_token" in form or "audience" in form:
            raise OAuthError("invalid_request", "Leave out actor_token and audience; resource names what it is for.")
        secret, now = secrets.grant_secret(form.get("subject_token", "")), int(self.clock())
        with _answering():
            grant = self.store.grant(secrets.digest(secret))
        if grant is None:
            raise invalid_grant("token_unknown")
        client = Client(id=grant.client_id, name=grant.client_name, source=grant.client_source)
        with self._judging(client, network):
            if not grant.alive(now):
                raise invalid_grant("grant_over", grant.id)
            self._answers.check_resource(form, grant.resource)
            scopes, holder = wanted_scopes(form, grant.scopes), holder_of_secret(secret, grant)
            standing = self._answers.standing(holder, fresh=False)
            answer = self._answers.answer(holder, standing, scopes, now)
            if self.audit:
                scopes = answer["scope"].split()
                self.audit.write(issued("exchange", grant, scopes, standing, now=now, network=network))
            return answer | {"issued_token_type": ACCESS}

    def revoke_own(self, token: str, network: str = "") -> None:
        """End the grant of a member's token, for whoever has it; anything else ends nothing."""
        with _answering():
            now, grant = int(self.clock()), self.store.grant(secrets.digest(secrets.grant_secret(token)))
            if grant is not None:
                self.store.revoke(grant.id, "client", now, [revoked(grant, "client", now, network, self.organisation)])

    def revoke(self, token: str, client: Client, network: str = "") -> None:
        """A refresh token ends its whole grant, an access token itself; anything else, or another's, nothing."""
        with _answering():
            now = int(self.clock())
            kept = self.store.refresh(secrets.digest(token))
            if kept is not None:
                whole = self.store.grant(kept.grant_id)
                if whole is not None and whole.client_id == client.id:
                    record = revoked(whole, "client", now, network, self.organisation)
                    self.store.revoke(whole.id, "client", now, [record])
                return
            claims = self._read(token)
            grant = self.store.grant(secrets.digest(claims.grant)) if claims else None
            if claims is None or grant is None or claims.client_id != client.id or grant.client_id != client.id:
                return
            record = revoked(grant, "access_token_revoked", now, network, self.organisation)
            self.store.revoke_token(grant.id, claims.jti, claims.expires_at, [record])

    def introspect(self, token: str, client: Client) -> Json:
        """RFC 7662, of access tokens: those of its organisation for a client that an operator registered, and of
        any organisation if it has none; its own for another. Everything else is not active.

        The answer is what the guard of a call would find now. Raises 503 where roles cannot be read: to say that
        there are none would send people to sign in again.
        """
        with _answering():
            claims = self._read(token)
            if claims is None:
                return {"active": False}
            try:
                principal = self._judge.principal(claims, self._judge.grant(claims, self.clock()))
            except BadToken:
                return {"active": False}
            if principal.uncertain:
                raise Unavailable("What this account may do cannot be read just now.")
            own = principal.client == client.id
            if not own and (client.source != "operator" or client.organisation not in (None, principal.organisation)):
                return {"active": False}
            # The token's own claims, and beside them what may change while it lasts: as it is now.
            acts = principal.membership
            values = replace(claims, gov_roles=tuple(sorted(acts.roles)) if acts else None).as_claims()
            names = ("client_id", "sub", "aud", "exp", "iat", "iss", "jti", "gov_org", "gov_member", "gov_roles")
            return {
                "active": True,
                **{name: values[name] for name in names if name in values},
                "scope": " ".join(ordered(one for one in principal.scopes if principal.may(one))),
                "org": principal.organisation,
                "tier": principal.tier,
                "roles": sorted(principal.roles),
                "token_type": "Bearer",
            }

    def mint(
        self, *, organisation: str, agent: str, scopes: tuple[str, ...], tier: Tier, resource: str, days: int
    ) -> str:
        """A service token: an access token that lasts, for an agent of an organisation.

        Raises InvalidInput, whose text says what would be valid, and Unavailable.
        """
        return self._agents.mint(
            organisation=organisation, agent=agent, scopes=scopes, tier=tier, resource=resource, days=days
        )

    @contextmanager
    def _judging(self, client: Client, network: str) -> Iterator[None]:
        """Records who tries to use what is another's; what nobody has heard of is not worth a record.

        Ends the grant of who has to sign in again.
        """
        try:
            with _answering():
                try:
                    yield
                except GrantOver as over:
                    now = int(self.clock())
                    record = revoked(over.grant, over.reason, now, network, self.organisation)
                    self.store.revoke(over.grant.id, over.reason, now, [record])
                    raise invalid_grant(over.reason) from None
        except OAuthError as error:
            if error.grant and self.audit:
                record = AuditRecord(
                    event="denied",
                    outcome="denied",
                    at=self.clock(),
                    organisation=self.organisation,
                    client=client.id,
                    grant=error.grant,
                    reason=error.reason,
                    network=network,
                )
                # A refusal stands, whether it can be recorded or not.
                try:
                    self.audit.write(record)
                except Unavailable:
                    logger.warning("a refusal could not be recorded", extra={"reason": record.reason})
            raise

    def _read(self, token: str) -> AccessClaims | None:
        try:
            claims = self.issuer.read(token)
        except BadToken:
            return None
        return claims if claims.expires_at > self.clock() else None


@contextmanager
def _answering() -> Iterator[None]:
    try:
        yield
    except Unavailable as error:
        raise temporarily_unavailable(error) from error


def _allow(client: Client, *types: str) -> None:
    if not set(types) & set(client.grant_types):
        raise OAuthError("unauthorized_client", "This client is not registered for this grant type.")
