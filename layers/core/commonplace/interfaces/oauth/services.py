"""What the routes of the authorization server work with, put together once per process.

Everything that is heavy stands here as a `deferred` part: a request loads what it uses, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commonplace.audit.records import AuditLog
    from commonplace.auth_settings import AuthSettings
    from commonplace.identity.accounts import Standings
    from commonplace.identity.authenticating import Authentication
    from commonplace.identity.clients import Clients
    from commonplace.identity.connections import Connections
    from commonplace.identity.consenting import Consents
    from commonplace.identity.granting import Granting
    from commonplace.identity.oidc import OidcSignIn
    from commonplace.identity.provider_sessions import ReadsClaims
    from commonplace.identity.registering import Registering
    from commonplace.identity.resources import Resources
    from commonplace.identity.signing_in import SignIn
    from commonplace.identity.stores import GrantStore, SignInStore
    from commonplace.identity.tokens import SigningKeys
    from commonplace.limits.quota import Limiter


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthServices:
    """Everything that the routes need."""

    settings: AuthSettings
    """Every URL is made of its `issuer`, none of a request's Host."""
    clock: Callable[[], float]
    """Epoch seconds."""
    resources: Resources
    clients: Clients
    registering: Registering
    authentication: Authentication
    granting: Granting
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
    """The name of an account in records: `issuing.subject_hash` under the key of this deployment."""
    oidc: OidcSignIn | None = None
    """The provider that signs people in beside wallets; None where there is none."""
