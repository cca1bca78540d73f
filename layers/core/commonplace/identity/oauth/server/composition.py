"""The authorization server, built from settings.

Importing this loads what discovery needs, and nothing that signs, encrypts, renders a page or calls the network: each
of those is loaded by the first request that needs it. The token endpoint never loads what verifies wallets' signatures.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from commonplace.identity.access_tokens import Issuer, subject_hash
from commonplace.identity.composition import Parts
from commonplace.identity.local_accounts import LocalSignIn
from commonplace.identity.oauth.client_auth import Assertions, Authentication
from commonplace.identity.oauth.client_documents import Documents
from commonplace.identity.oauth.clients import Clients
from commonplace.identity.oauth.connections import Connections
from commonplace.identity.oauth.consent import Consents
from commonplace.identity.oauth.member_tokens import MemberTokens
from commonplace.identity.oauth.pages.html import frame
from commonplace.identity.oauth.registration import Registrar
from commonplace.identity.oauth.token_endpoint import TokenEndpoint
from commonplace.identity.oidc import OidcSignIn
from commonplace.identity.oidc_sessions import NO_PROVIDER, ProviderSessions
from commonplace.identity.resources import Resources
from commonplace.identity.settings import AuthSettings
from commonplace.identity.wallets import SignIn, SignInSettings
from commonplace.kernel.deferred import deferred
from commonplace.kernel.limits import Limiter

if TYPE_CHECKING:
    from commonplace.identity.memberships import Memberships
    from commonplace.identity.oidc import Provider
    from commonplace.identity.oidc_sessions import ReadsClaims
    from commonplace.identity.secret_values import SecretSigningKeys
    from commonplace.identity.store.clients import DynamoClients
    from commonplace.identity.store.grants import DynamoGrants
    from commonplace.identity.store.sign_ins import DynamoSignIns
    from commonplace.identity.wallets import Names, SignatureCheck
    from commonplace.kernel.audit_store import DynamoAudit
    from commonplace.kernel.fetch import Fetcher
    from commonplace.kernel.limit_store import DynamoCounters

MAINNET = 1
"""The chain that ENS lives on."""


class AuthParts(Parts):
    """The outside parts of the authorization server: stores, keys, the chain, documents of clients, the provider."""

    memberships: Memberships | None = None

    def __init__(self, settings: AuthSettings, clock: Callable[[], float] = time.time) -> None:
        super().__init__(settings, settings.activity_table, clock)

    @cached_property
    def clients(self) -> DynamoClients:
        from commonplace.identity.store.clients import DynamoClients

        return DynamoClients(self._table, self._settings.identity_table, self._activity_table, clock=self._clock)

    @cached_property
    def grants(self) -> DynamoGrants:
        from commonplace.identity.store.grants import DynamoGrants

        table, journal = self._settings.identity_table, self.memberships
        return DynamoGrants(self._table, table, self._activity_table, memberships=journal, clock=self._clock)

    @cached_property
    def sign_ins(self) -> DynamoSignIns:
        from commonplace.identity.store.sign_ins import DynamoSignIns

        return DynamoSignIns(self._table, self._settings.identity_table, clock=self._clock)

    @cached_property
    def audit(self) -> DynamoAudit:
        from commonplace.kernel.audit_store import DynamoAudit

        return DynamoAudit(self._table, self._activity_table)

    @cached_property
    def counters(self) -> DynamoCounters:
        """A counter that does not answer is done without, so it gets half a second."""
        from commonplace.kernel.limit_store import DynamoCounters

        return DynamoCounters(self._dynamodb(0.5, attempts=1), self._activity_table)

    @cached_property
    def signing_keys(self) -> SecretSigningKeys:
        from commonplace.identity.secret_values import SecretSigningKeys

        return SecretSigningKeys(self._secrets, self._settings.signing_secret_arn)

    @cached_property
    def signatures(self) -> SignatureCheck:
        from commonplace.identity.ethereum.signatures import SiweSignatures

        return SiweSignatures(self._rpc("optimism", self._settings.hats_chain_id))

    @cached_property
    def names(self) -> Names:
        from commonplace.identity.ethereum.names import EnsNames
        from commonplace.identity.name_cache import RememberedNames

        names = EnsNames(self._rpc("mainnet", MAINNET))
        return RememberedNames(names, self._table, self._settings.cache_table, key=self.key, clock=self._clock)

    @cached_property
    def fetcher(self) -> Fetcher:
        from commonplace.kernel.guarded_http import GuardedHttp

        return GuardedHttp(loopback=self._settings.loopback_documents)

    @cached_property
    def provider(self) -> Provider:
        """The OIDC provider, where `oidc_issuer` is set."""
        from commonplace.identity.oidc_provider import HttpProvider
        from commonplace.identity.secret_values import KeptSecret, client_secret

        arn = self._settings.oidc_secret_arn
        secret: Callable[[], str | None] = (
            KeptSecret(self._secrets, arn, client_secret).current if arn else lambda: None
        )
        return HttpProvider(self._settings.oidc_issuer or "", self._settings.oidc_client_id, secret)

    @cached_property
    def _table(self) -> Any:
        return self._dynamodb(2, attempts=3)


class OAuthServices:
    """Everything that the routes need. `toolsets` are those that are served; `clock` gives epoch seconds."""

    def __init__(
        self,
        settings: AuthSettings,
        toolsets: tuple[str, ...],
        clock: Callable[[], float] = time.time,
        parts: AuthParts | None = None,
        memberships: Memberships | None = None,
    ) -> None:
        outside = parts or AuthParts(settings, clock)
        outside.memberships = memberships
        issuer, organisation = settings.issuer, settings.organisation
        self._key = key = outside.key
        self.settings = settings
        """Every URL is made of its `issuer`, none of a request's Host."""
        self.frame = frame(settings, issuer)
        """The frame of the pages."""
        self.clock = clock
        """Epoch seconds."""
        self.resources = resources = Resources(issuer, settings.toolsets, toolsets)
        self.keys = deferred(lambda: outside.signing_keys)
        self.sign_ins = sign_ins = deferred(lambda: outside.sign_ins)
        self.standings = standings = deferred(lambda: outside.standings)
        self.limiter = limiter = Limiter(deferred(lambda: outside.counters), clock, secret=settings.counter_secret)
        client_store, fetcher = deferred(lambda: outside.clients), deferred(lambda: outside.fetcher)
        self.grants = grants = deferred(lambda: outside.grants)
        self.audit = audit = deferred(lambda: outside.audit)
        provider = deferred(lambda: outside.provider)
        self.claims: ReadsClaims = NO_PROVIDER
        self.oidc: OidcSignIn | None = None
        """The provider that signs people in beside wallets; None where there is none."""
        if settings.oidc_issuer:
            self.claims = provider_sessions = ProviderSessions(
                provider,
                sign_ins,
                clock,
                claims_seconds=settings.oidc_claims_seconds,
                absolute_seconds=settings.absolute_seconds,
            )
            self.oidc = OidcSignIn(
                provider,
                provider_sessions,
                sign_ins,
                clock,
                issuer=issuer,
                name=settings.oidc_name,
                parameters=settings.oidc_parameters,
            )
        documents = Documents(client_store, fetcher, limiter, clock, loopback=settings.loopback_documents)
        self.clients = Clients(client_store, documents, clock)
        self.registrar = Registrar(client_store, limiter, clock, per_day=settings.registrations_per_day)
        assertions = Assertions(client_store, fetcher, limiter, clock, issuer=issuer, token_endpoint=f"{issuer}/token")
        self.authentication = Authentication(self.clients, assertions)
        self.token_endpoint = TokenEndpoint(
            store=grants,
            standings=standings,
            claims=self.claims,
            issuer=Issuer(issuer, self.keys, clock),
            resources=resources,
            key=key,
            clock=clock,
            memberships=memberships,
            audit=audit,
            limits=limiter,
            access_seconds=settings.access_seconds,
            idle_seconds=settings.idle_seconds,
            organisation=organisation,
        )
        self.consents = Consents(
            store=sign_ins,
            grants=grants,
            clients=self.clients,
            audit=audit,
            key=key,
            issuer=issuer,
            clock=clock,
            memberships=memberships,
            limits=limiter,
            sessions_per_hour=settings.agent_sessions_per_hour,
            absolute_seconds=settings.absolute_seconds,
            organisation=organisation,
        )
        tokens: dict[str, Any] = {"consents": self.consents, "resources": resources}
        self.member_tokens = MemberTokens(key=key, clock=clock, **tokens)
        self.connections = Connections(grants=grants, signins=sign_ins, key=key, clock=clock, organisation=organisation)
        self.sign_in = SignIn(
            sign_ins,
            deferred(lambda: outside.signatures),
            standings=standings,
            names=deferred(lambda: outside.names),
            limiter=limiter,
            settings=SignInSettings(
                base_url=issuer,
                site_name=settings.site_name,
                chain_id=settings.siwe_chain_id,
                organisation=organisation,
                tries_per_minute=(settings.requests_per_minute + 1) // 2,
                sign_ins_per_hour=settings.sign_ins_per_hour,
            ),
            audit=audit,
            subject_hash=self.subject_hash,
            clock=clock,
        )
        self.local: LocalSignIn | None = None
        """The accounts of a laptop; None anywhere else."""
        if settings.local_accounts:
            self.local = LocalSignIn(
                settings.local_accounts,
                standings,
                audit,
                subject_hash=self.subject_hash,
                clock=clock,
                organisation=organisation,
            )

    def subject_hash(self, subject: str) -> str:
        """Return the name of an account in records: `access_tokens.subject_hash` under the key of this deployment."""
        return subject_hash(self._key(), subject)
