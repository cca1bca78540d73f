"""The services that the routes of the authorization server use, built once per process.

Heavy parts are `deferred`: a request loads what it uses, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commonplace.identity.accounts import Standings
    from commonplace.identity.local_accounts import LocalSignIn
    from commonplace.identity.oauth.client_auth import Authentication
    from commonplace.identity.oauth.clients import Clients
    from commonplace.identity.oauth.connections import Connections
    from commonplace.identity.oauth.consent import Consents
    from commonplace.identity.oauth.registration import Registrar
    from commonplace.identity.oauth.token_endpoint import TokenEndpoint
    from commonplace.identity.oidc import OidcSignIn
    from commonplace.identity.oidc_sessions import ReadsClaims
    from commonplace.identity.ports import GrantStore, SignInStore
    from commonplace.identity.resources import Resources
    from commonplace.identity.settings import AuthSettings
    from commonplace.identity.tokens import SigningKeys
    from commonplace.identity.wallets import SignIn
    from commonplace.kernel.audit import AuditLog
    from commonplace.kernel.limits import Limiter
    from commonplace.web.pages.frame import Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthServices:
    """Everything that the routes need."""

    settings: AuthSettings
    """Every URL is made of its `issuer`, none of a request's Host."""
    frame: Frame
    """Of the pages."""
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
