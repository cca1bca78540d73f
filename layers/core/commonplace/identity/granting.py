"""The token endpoint's logic: codes and refresh tokens into access tokens, and the end of grants.

The caller has authenticated the client and parsed the form; `network` is `limits.quota.network` of the caller.
Everything raises OAuthError, and 503 `temporarily_unavailable` in place of Unavailable: then nothing was changed.
"""

from collections.abc import Callable, Mapping
from typing import Any

from commonplace.audit.records import NOWHERE
from commonplace.identity.accounts import Standings
from commonplace.identity.authorizing import KnowsResources
from commonplace.identity.consenting import Limits
from commonplace.identity.issuing import Issuer
from commonplace.identity.principals import Tier
from commonplace.identity.records import ACCESS_SECONDS, IDLE_SECONDS, Client
from commonplace.identity.stores import GrantStore

Form = Mapping[str, str]


class Granting:
    """Answers of the token, revocation and introspection endpoints, as the JSON objects they are."""

    def __init__(
        self,
        *,
        store: GrantStore,
        standings: Standings,
        issuer: Issuer,
        resources: KnowsResources,
        key: Callable[[], bytes],
        clock: Callable[[], float],
        limits: Limits | None = None,
        access_seconds: int = ACCESS_SECONDS,
        idle_seconds: int = IDLE_SECONDS,
        organisation: str = NOWHERE,
    ) -> None:
        """`key` is that of pseudonyms and heirs; `organisation` as in `Consents`."""

    def exchange(self, form: Form, client: Client, network: str = "") -> dict[str, Any]:
        """`grant_type=authorization_code` (RFC 6749, section 4.1.3; RFC 7636; RFC 8707)."""
        raise NotImplementedError

    def refresh(self, form: Form, client: Client, network: str = "") -> dict[str, Any]:
        """`grant_type=refresh_token`: rotates, and survives a lost answer."""
        raise NotImplementedError

    def client_credentials(self, form: Form, client: Client, network: str = "") -> dict[str, Any]:
        """`grant_type=client_credentials`, for agents that an operator registered."""
        raise NotImplementedError

    def revoke(self, token: str, client: Client, network: str = "") -> None:
        """A refresh token ends its whole grant, an access token itself; anything else, or another's, nothing."""
        raise NotImplementedError

    def introspect(self, token: str, client: Client) -> dict[str, Any]:
        """RFC 7662, of access tokens: of any for a client that an operator registered, of its own for another."""
        raise NotImplementedError

    def mint(
        self, *, organisation: str, agent: str, scopes: tuple[str, ...], tier: Tier, resource: str, days: int
    ) -> str:
        """A service token: an access token that lasts, for an agent of an organisation. Raises InvalidInput."""
        raise NotImplementedError
