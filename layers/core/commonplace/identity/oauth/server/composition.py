"""The authorization server, built from settings.

Importing this loads what discovery needs, and nothing that signs, encrypts, renders a page or calls the network: each
of those is loaded by the first request that needs it. The token endpoint never loads what verifies wallets' signatures.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commonplace.identity.access_tokens import Issuer, subject_hash
from commonplace.identity.local_accounts import LocalSignIn
from commonplace.identity.oauth.client_auth import Assertions, Authentication
from commonplace.identity.oauth.client_documents import Documents
from commonplace.identity.oauth.clients import Clients
from commonplace.identity.oauth.connections import Connections
from commonplace.identity.oauth.consent import Consents
from commonplace.identity.oauth.pages.html import frame
from commonplace.identity.oauth.registration import Registrar
from commonplace.identity.oauth.token_endpoint import TokenEndpoint
from commonplace.identity.oidc import OidcSignIn
from commonplace.identity.oidc_sessions import NO_PROVIDER, ProviderSessions
from commonplace.identity.resources import Resources
from commonplace.identity.settings import AuthSettings
from commonplace.identity.wallets import SignIn, SignInSettings
from commonplace.kernel.deferred import Deferred, deferred
from commonplace.kernel.limits import Limiter

if TYPE_CHECKING:
    from commonplace.identity.accounts import Standings
    from commonplace.identity.oauth.server.parts import AuthParts
    from commonplace.identity.oidc_sessions import ReadsClaims
    from commonplace.identity.ports import GrantStore, SignInStore
    from commonplace.identity.tokens import SigningKeys
    from commonplace.kernel.audit import AuditLog
    from commonplace.web.pages.frame import Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthServices:
    """Everything that the routes need."""

    settings: AuthSettings
    """Every URL is made of its `issuer`, none of a request's Host."""
    frame: Frame
    """The frame of the pages."""
    clock: Callable[[], float]
    """Epoch seconds."""
    resources: Resources
    clients: Clients
    registrar: Registrar
    authentication: Authentication
    token_endpoint: TokenEndpoint
    consents: Consents
    connections: Connections
    sign_in: SignIn
    standings: Standings
    claims: ReadsClaims
    grants: GrantStore
    sign_ins: SignInStore
    keys: SigningKeys
    audit: AuditLog
    limiter: Limiter
    subject_hash: Callable[[str], str]
    """The name of an account in records: `access_tokens.subject_hash` under the key of this deployment."""
    oidc: OidcSignIn | None = None
    """The provider that signs people in beside wallets; None where there is none."""
    local: LocalSignIn | None = None
    """The accounts of a laptop; None anywhere else."""


def oauth_services(
    settings: AuthSettings,
    toolsets: tuple[str, ...],
    clock: Callable[[], float] = time.time,
    parts: Callable[[], AuthParts] | None = None,
) -> OAuthServices:
    """Return what the endpoints use. `toolsets` are those that are served; `clock` gives epoch seconds."""

    def build() -> AuthParts:
        from commonplace.identity.oauth.server.parts import AuthParts

        return AuthParts(settings, clock)

    outside = parts or Deferred(build)

    def key() -> bytes:
        return outside().key()

    def subject_hash_of(subject: str) -> str:
        return subject_hash(key(), subject)

    resources = Resources(settings.issuer, settings.toolsets, toolsets)
    client_store = deferred(lambda: outside().clients)
    grants = deferred(lambda: outside().grants)
    sign_ins = deferred(lambda: outside().sign_ins)
    audit = deferred(lambda: outside().audit)
    keys = deferred(lambda: outside().signing_keys)
    standings = deferred(lambda: outside().standings)
    fetcher = deferred(lambda: outside().fetcher)
    provider = deferred(lambda: outside().provider)
    claims = (
        ProviderSessions(
            provider,
            sign_ins,
            clock,
            claims_seconds=settings.oidc_claims_seconds,
            absolute_seconds=settings.absolute_seconds,
        )
        if settings.oidc_issuer
        else None
    )
    limiter = Limiter(deferred(lambda: outside().counters), clock, secret=settings.counter_secret)
    clients = Clients(
        client_store,
        Documents(client_store, fetcher, limiter, clock, loopback=settings.loopback_documents),
        clock,
    )
    return OAuthServices(
        settings=settings,
        frame=frame(settings, settings.issuer),
        clock=clock,
        resources=resources,
        clients=clients,
        registrar=Registrar(client_store, limiter, clock, per_day=settings.registrations_per_day),
        authentication=Authentication(
            clients,
            Assertions(
                client_store,
                fetcher,
                limiter,
                clock,
                issuer=settings.issuer,
                token_endpoint=f"{settings.issuer}/token",
            ),
        ),
        token_endpoint=TokenEndpoint(
            store=grants,
            standings=standings,
            claims=claims or NO_PROVIDER,
            issuer=Issuer(settings.issuer, keys, clock),
            resources=resources,
            key=key,
            clock=clock,
            audit=audit,
            limits=limiter,
            access_seconds=settings.access_seconds,
            idle_seconds=settings.idle_seconds,
            organisation=settings.organisation,
        ),
        consents=Consents(
            store=sign_ins,
            grants=grants,
            clients=clients,
            audit=audit,
            key=key,
            issuer=settings.issuer,
            clock=clock,
            limits=limiter,
            sessions_per_hour=settings.agent_sessions_per_hour,
            absolute_seconds=settings.absolute_seconds,
            organisation=settings.organisation,
        ),
        connections=Connections(
            grants=grants, signins=sign_ins, key=key, clock=clock, organisation=settings.organisation
        ),
        sign_in=SignIn(
            sign_ins,
            deferred(lambda: outside().signatures),
            standings=standings,
            names=deferred(lambda: outside().names),
            limiter=limiter,
            settings=SignInSettings(
                base_url=settings.issuer,
                site_name=settings.site_name,
                chain_id=settings.siwe_chain_id,
                organisation=settings.organisation,
                tries_per_minute=(settings.requests_per_minute + 1) // 2,
                sign_ins_per_hour=settings.sign_ins_per_hour,
            ),
            audit=audit,
            subject_hash=subject_hash_of,
            clock=clock,
        ),
        standings=standings,
        claims=claims or NO_PROVIDER,
        grants=grants,
        sign_ins=sign_ins,
        keys=keys,
        audit=audit,
        limiter=limiter,
        subject_hash=subject_hash_of,
        oidc=OidcSignIn(
            provider,
            claims,
            sign_ins,
            clock,
            issuer=settings.issuer,
            name=settings.oidc_name,
            parameters=settings.oidc_parameters,
        )
        if claims
        else None,
        local=LocalSignIn(
            settings.local_accounts,
            standings,
            audit,
            subject_hash=subject_hash_of,
            clock=clock,
            organisation=settings.organisation,
        )
        if settings.local_accounts
        else None,
    )
