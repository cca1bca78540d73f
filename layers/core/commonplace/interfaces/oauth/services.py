"""What the routes of the authorization server work with, put together once per process.

Everything that is heavy stands here as a `deferred` part: a request loads what it uses, and nothing else.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from commonplace.audit.records import AuditLog
from commonplace.auth_settings import AuthSettings
from commonplace.identity.accounts import Profile, Standing, Standings
from commonplace.identity.records import Client, Pending
from commonplace.identity.stores import GrantStore, SignInStore
from commonplace.identity.tokens import SigningKeys
from commonplace.limits.quota import Limiter

Form = Mapping[str, str]
"""A form whose parameters each came once."""


class Resources(Protocol):
    """What tokens are for: each path of the MCP server, and the API."""

    def canonical(self, text: str) -> str | None: ...

    def baseline(self, resource: str) -> tuple[str, ...]: ...

    def catalogue(self, resource: str) -> tuple[str, ...]: ...

    def metadata_url(self, resource: str) -> str: ...

    def all(self) -> tuple[str, ...]: ...


class Clients(Protocol):
    """Every application that may ask for tokens."""

    def find(self, client_id: str) -> Client:
        """Raises `identity.clients.UnknownClient`."""
        ...


class Registrations(Protocol):
    """Dynamic registration (RFC 7591)."""

    def register(self, body: Mapping[str, Any]) -> tuple[Client, str | None]:
        """The client as stored, and its secret if it has one: told now and never again. Raises OAuthError."""
        ...


class Authentication(Protocol):
    """Who a client is, by the method it registered."""

    def authenticate(self, headers: Mapping[str, str], form: Form) -> Client:
        """Raises OAuthError `invalid_client`, or `invalid_request` for credentials given twice."""
        ...


class Granting(Protocol):
    """Tokens for codes, refresh tokens and credentials; each answers the members of a token response."""

    def exchange(self, form: Form, client: Client, network: str = "") -> dict[str, Any]: ...

    def refresh(self, form: Form, client: Client, network: str = "") -> dict[str, Any]: ...

    def client_credentials(self, form: Form, client: Client, network: str = "") -> dict[str, Any]: ...

    def revoke(self, token: str, client: Client, network: str = "") -> None:
        """Does nothing for what is unknown, over, or another client's."""
        ...

    def introspect(self, token: str) -> dict[str, Any]:
        """The members of RFC 7662, section 2.2; exactly `{"active": False}` for whatever is not valid."""
        ...


class Consents(Protocol):
    """From a checked request, over a person's decision, to a code."""

    def begin(self, request: Any) -> tuple[str, str, str]:
        """The handle, the value of the browser's cookie, and the form's own secret."""
        ...

    def look(self, handle: str, cookie: str) -> Pending | None: ...

    def decide(
        self,
        handle: str,
        cookie: str,
        csrf: str,
        *,
        profile: Profile,
        standing: Standing,
        scopes: Sequence[str] | None,
        resource_scopes: Sequence[str] | None = None,
        network: str = "",
    ) -> str:
        """Where the browser goes now. `scopes` None is a refusal. Raises Forbidden."""
        ...


class SignIn(Protocol):
    """A wallet proves that it is there."""

    def challenge(self, address: str | None, handle: str | None, cookie: str, network: str) -> dict[str, Any]: ...

    def verify(self, body: Mapping[str, Any], cookie: str, network: str) -> Profile:
        """Raises CommonplaceError."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthServices:
    """Everything that the routes need."""

    settings: AuthSettings
    """Every URL is made of its `issuer`, none of a request's Host."""
    clock: Callable[[], float]
    """Epoch seconds."""
    resources: Resources
    clients: Clients
    registrations: Registrations
    authentication: Authentication
    granting: Granting
    consents: Consents
    sign_in: SignIn
    standings: Standings
    grants: GrantStore
    sign_ins: SignInStore
    keys: SigningKeys
    audit: AuditLog
    limiter: Limiter
    subject_hash: Callable[[str], str]
    """The name of an account in records: `secrets.pseudonym(key, "subject", subject)`."""
    oidc: Any = None
    """The provider that signs people in beside wallets; None where there is none."""
