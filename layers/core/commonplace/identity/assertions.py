"""Client assertions: `private_key_jwt` (RFC 7523, OpenID Connect Core section 9)."""

from collections.abc import Callable

from commonplace.identity.fetching import Fetcher
from commonplace.identity.records import Client
from commonplace.identity.stores import ClientStore


class BadAssertion(Exception):
    """The client has not proved who it is. `reason` is for the log: a stable code, nothing of the assertion."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Assertions:
    """Checks assertions, each good for one use."""

    def __init__(
        self, store: ClientStore, fetcher: Fetcher, issuer: str, token_endpoint: str, clock: Callable[[], float]
    ) -> None:
        """`clock` gives epoch seconds."""

    def check(self, client: Client, assertion: str) -> None:
        """Raises BadAssertion, Unavailable."""
        raise NotImplementedError
