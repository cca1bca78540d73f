"""The authorization server on Lambda: settings, deferred parts, and the application over them.

Importing this loads what discovery needs, and nothing that signs, encrypts, draws a page or calls anybody: each of
those is loaded by the first request that wants it. The token endpoint never loads what reads signatures of wallets.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from commonplace.capabilities import served_toolsets
from commonplace.identity.access_tokens import Issuer, subject_hash
from commonplace.identity.oauth.client_auth import Assertions, Authentication
from commonplace.identity.oauth.client_documents import Documents
from commonplace.identity.oauth.clients import Clients
from commonplace.identity.oauth.connections import Connections
from commonplace.identity.oauth.consent import Consents
from commonplace.identity.oauth.registration import Registrar
from commonplace.identity.oauth.server.app import create_app
from commonplace.identity.oauth.server.services import OAuthServices
from commonplace.identity.oauth.token_endpoint import TokenEndpoint
from commonplace.identity.oidc import OidcSignIn
from commonplace.identity.oidc_sessions import NO_PROVIDER, ProviderSessions
from commonplace.identity.resources import Resources
from commonplace.identity.settings import AuthSettings
from commonplace.identity.wallets import SignIn, SignInSettings
from commonplace.kernel.deferred import Deferred, deferred
from commonplace.kernel.limits import Limiter
from commonplace.kernel.telemetry import instrument
from commonplace.web.gateway import Gateway
from commonplace.web.origin import origin_values

if TYPE_CHECKING:
    from commonplace.identity.auth_wiring import AuthParts

SETTINGS = AuthSettings.from_environ(os.environ)
RESOURCES = Resources(SETTINGS.issuer, SETTINGS.toolsets, served_toolsets(os.environ))
CLOCK = time.time


def _parts() -> AuthParts:
    from commonplace.identity.auth_wiring import AuthParts

    return AuthParts(SETTINGS, CLOCK)


PARTS = Deferred(_parts)


def _key() -> bytes:
    return PARTS().key()


def _subject_hash(subject: str) -> str:
    return subject_hash(_key(), subject)


CLIENT_STORE = deferred(lambda: PARTS().clients)
GRANTS = deferred(lambda: PARTS().grants)
SIGN_INS = deferred(lambda: PARTS().sign_ins)
AUDIT = deferred(lambda: PARTS().audit)
KEYS = deferred(lambda: PARTS().signing_keys)
STANDINGS = deferred(lambda: PARTS().standings)
FETCHER = deferred(lambda: PARTS().fetcher)
PROVIDER = deferred(lambda: PARTS().provider)
CLAIMS = (
    ProviderSessions(
        PROVIDER,
        SIGN_INS,
        CLOCK,
        claims_seconds=SETTINGS.oidc_claims_seconds,
        absolute_seconds=SETTINGS.absolute_seconds,
    )
    if SETTINGS.oidc_issuer
    else None
)
LIMITER = Limiter(
    deferred(lambda: PARTS().counters), CLOCK, secret=f"{SETTINGS.stage}/{SETTINGS.activity_table}".encode()
)
CLIENTS = Clients(
    CLIENT_STORE,
    Documents(CLIENT_STORE, FETCHER, LIMITER, CLOCK, loopback=SETTINGS.loopback_documents),
    CLOCK,
)
SERVICES = OAuthServices(
    settings=SETTINGS,
    clock=CLOCK,
    resources=RESOURCES,
    clients=CLIENTS,
    registrar=Registrar(CLIENT_STORE, LIMITER, CLOCK, per_day=SETTINGS.registrations_per_day),
    authentication=Authentication(
        CLIENTS,
        Assertions(
            CLIENT_STORE,
            FETCHER,
            LIMITER,
            CLOCK,
            issuer=SETTINGS.issuer,
            token_endpoint=f"{SETTINGS.issuer}/token",
        ),
    ),
    token_endpoint=TokenEndpoint(
        store=GRANTS,
        standings=STANDINGS,
        claims=CLAIMS or NO_PROVIDER,
        issuer=Issuer(SETTINGS.issuer, KEYS, CLOCK),
        resources=RESOURCES,
        key=_key,
        clock=CLOCK,
        audit=AUDIT,
        limits=LIMITER,
        access_seconds=SETTINGS.access_seconds,
        idle_seconds=SETTINGS.idle_seconds,
        organisation=SETTINGS.organisation,
    ),
    consents=Consents(
        store=SIGN_INS,
        grants=GRANTS,
        clients=CLIENTS,
        audit=AUDIT,
        key=_key,
        issuer=SETTINGS.issuer,
        clock=CLOCK,
        limits=LIMITER,
        sessions_per_hour=SETTINGS.agent_sessions_per_hour,
        absolute_seconds=SETTINGS.absolute_seconds,
        organisation=SETTINGS.organisation,
    ),
    connections=Connections(grants=GRANTS, signins=SIGN_INS, key=_key, clock=CLOCK, organisation=SETTINGS.organisation),
    sign_in=SignIn(
        SIGN_INS,
        deferred(lambda: PARTS().signatures),
        standings=STANDINGS,
        names=deferred(lambda: PARTS().names),
        limiter=LIMITER,
        settings=SignInSettings(
            base_url=SETTINGS.issuer,
            site_name=SETTINGS.site_name,
            chain_id=SETTINGS.siwe_chain_id,
            organisation=SETTINGS.organisation,
            tries_per_minute=(SETTINGS.requests_per_minute + 1) // 2,
            sign_ins_per_hour=SETTINGS.sign_ins_per_hour,
        ),
        audit=AUDIT,
        subject_hash=_subject_hash,
        clock=CLOCK,
    ),
    standings=STANDINGS,
    claims=CLAIMS or NO_PROVIDER,
    grants=GRANTS,
    sign_ins=SIGN_INS,
    keys=KEYS,
    audit=AUDIT,
    limiter=LIMITER,
    subject_hash=_subject_hash,
    oidc=OidcSignIn(
        PROVIDER,
        CLAIMS,
        SIGN_INS,
        CLOCK,
        issuer=SETTINGS.issuer,
        name=SETTINGS.oidc_name,
        parameters=SETTINGS.oidc_parameters,
    )
    if CLAIMS
    else None,
)
handler = instrument(Gateway(create_app(SERVICES), origin=origin_values(os.environ)), os.environ)
