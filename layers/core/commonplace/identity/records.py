"""Records of the authorization server. Secrets are kept as hashes (`secrets.digest`), times in epoch seconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from commonplace.identity.memberships import ChosenMembership
from commonplace.identity.principals import Permission, Tier
from commonplace.identity.redirects import redirect_host

AuthMethod = Literal["none", "client_secret_basic", "client_secret_post", "private_key_jwt"]
GrantType = Literal["authorization_code", "refresh_token", "client_credentials"]
Source = Literal["registered", "document", "operator", "person"]
"""How a client became known: dynamic registration (RFC 7591), a metadata document at its id, an operator, or the person
who made a token for it."""

CODE_SECONDS = 60
ACCESS_SECONDS = 3_600
IDLE_SECONDS = 30 * 86_400
ABSOLUTE_SECONDS = 180 * 86_400
RETRY_SECONDS = 60
"""How long a refresh token that was just spent gives the same heir again."""
REQUEST_SECONDS = 600
CHALLENGE_SECONDS = 300
REMEMBERED_SECONDS = 90 * 86_400
"""How long a consent holds without another page."""
SESSION_SECONDS = 12 * 3_600
REGISTRATION_SECONDS = 90 * 86_400

Phase = Literal["current", "spent", "void"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """An application that may ask for tokens."""

    id: str
    name: str
    source: Source
    redirect_uris: tuple[str, ...] = ()
    auth_method: AuthMethod = "none"
    method_given: bool = True
    """False when the registration left the method out: then Basic and POST both serve."""
    secret_hash: str | None = None
    grant_types: tuple[GrantType, ...] = ("authorization_code", "refresh_token")
    scopes: tuple[str, ...] = ()
    """At most these may be requested; empty is no bound. What an operator gave a `client_credentials` client."""
    organisation: str | None = None
    """Of a `client_credentials` client."""
    agent: str | None = None
    """What a `client_credentials` client is called in its organisation."""
    tier: Tier = "public"
    """What the operator lets a `client_credentials` client reach."""
    jwks: Mapping[str, Any] | None = None
    jwks_uri: str | None = None
    uri: str | None = None
    application_type: str | None = None
    created_at: int = 0
    expires_at: int | None = None
    """None lasts. A registration that is used is renewed."""

    @property
    def host(self) -> str | None:
        """The host of a metadata document: it vouches for where the client may be sent, never for its name."""
        return self.id.split("/")[2] if self.source == "document" else None

    @property
    def confidential(self) -> bool:
        return self.auth_method != "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationRequest:
    """A client's request at /authorize, after it was checked."""

    client_id: str
    redirect_uri: str
    redirect_given: bool
    """Whether the request named it: then the exchange must as well."""
    resource: str
    """Canonical."""
    scopes: tuple[str, ...]
    challenge: str
    """PKCE S256 (RFC 7636)."""
    state: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingRequest:
    """A request that waits for a person: kept under the hash of its handle, for ten minutes, for one browser."""

    request: AuthorizationRequest
    browser_hash: str
    """Of the cookie that the browser got with the page."""
    csrf_hash: str
    expires_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What a person, or an operator, has let a client do. Its secret is known to its codes and tokens alone."""

    id: str
    """`secrets.digest` of the grant's secret: its public name."""
    kind: Literal["person", "agent"]
    subject_hash: str
    """`secrets.pseudonym(key, "subject", subject)`."""
    client_id: str
    client_name: str
    resource: str
    scopes: tuple[str, ...]
    created_at: int
    expires_at: int
    """Absolute; no token outlives it."""
    client_source: Source = "operator"
    redirect_uri: str = ""
    """Where its codes went; empty for agents."""
    permission: Permission = "action"
    resource_scopes: tuple[str, ...] | None = None
    organisation: str | None = None
    """Fixed for agents; None follows the account's roles."""
    membership: ChosenMembership | None = None
    """On whose behalf the client acts, for a resource that takes it: this is the truth, and tokens repeat it."""
    sealed_profile: bytes = b""
    """`secrets.seal(grant secret, "profile", Profile.as_json())`."""
    last_used_at: int = 0
    last_used_from: str = ""
    """`kernel.limits.network` of the caller."""
    revoked_at: int | None = None
    revoked_because: str = ""
    revoked_tokens: Mapping[str, int] = field(default_factory=dict)
    """`jti` of access tokens that were revoked alone -> when they expire anyway."""

    @property
    def redirect_host(self) -> str:
        return redirect_host(self.redirect_uri) if self.redirect_uri else ""

    def alive(self, now: float) -> bool:
        return self.revoked_at is None and now < self.expires_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """An authorization code; kept until its grant ends, so that a replay is known."""

    hash: str
    grant_id: str
    client_id: str
    redirect_uri: str
    redirect_given: bool
    challenge: str
    resource: str
    scopes: tuple[str, ...]
    sealed_grant: bytes
    """`secrets.seal(code, "grant", {"secret": grant secret})`."""
    expires_at: int
    used_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh:
    """A refresh token. `heir` and `salt` say what it was exchanged for."""

    hash: str
    grant_id: str
    client_id: str
    sealed_grant: bytes
    """`secrets.seal(token, "grant", {"secret": grant secret})`."""
    expires_at: int
    phase: Phase = "current"
    heir: str | None = None
    """Hash."""
    salt: str | None = None
    spent_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """A sign-in that waits for an answer: taken out of the store by one atomic delete before any check.

    The store deletes late what is not answered, so that whose it is stands here only encrypted.
    """

    id: str
    """`secrets.digest` of what the answer brings: an id of ours, a nonce, a `state`."""
    sealed: bytes
    """What the answer is held against, encrypted under that."""
    browser_hash: str
    handle_hash: str
    """Of the request that the sign-in is for; empty for the account page."""
    expires_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A browser whose person has signed in. Kept under the hash of its cookie, the profile under the cookie itself."""

    hash: str
    subject_hash: str
    sealed_profile: bytes
    """`secrets.seal(cookie value, "session", Profile.as_json())`."""
    created_at: int
    expires_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSession:
    """What an OIDC provider gave at one sign-in: for the browser's session and for every grant that came of it."""

    id: str
    """`secrets.digest` of a secret that only the encrypted profiles of session and grants hold."""
    sealed: bytes
    """Claims, and tokens of the provider, encrypted under that."""
    read_at: int
    """When the provider issued the claims."""
    expires_at: int
    """When the last grant can end that may come of the sign-in."""
    busy_until: int = 0
    """Somebody asks the provider, until then at most."""
    version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A consent that holds without another page: for one person, client, redirect URI and resource."""

    subject_hash: str
    client_id: str
    redirect_uri: str
    resource: str
    scopes: tuple[str, ...]
    resource_scopes: tuple[str, ...] | None
    expires_at: int
