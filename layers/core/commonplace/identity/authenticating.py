"""Client authentication at the token, revocation and introspection endpoints (RFC 6749 section 2.3, RFC 7523)."""

from collections.abc import Mapping

from commonplace.identity.assertions import Assertions
from commonplace.identity.clients import Clients
from commonplace.identity.records import Client


class Authentication:
    """Finds out which client sends a request, by the method that the client is registered with and no other."""

    def __init__(self, clients: Clients, assertions: Assertions) -> None: ...

    def authenticate(self, headers: Mapping[str, str], form: Mapping[str, str], network: str = "") -> Client:
        """The client. Header names are lower-case; `form` has each parameter once.

        Raises OAuthError (401 `invalid_client`, with `WWW-Authenticate: Basic` iff the Authorization header was used;
        400 `invalid_request`), RateLimited, Unavailable.
        """
        raise NotImplementedError
