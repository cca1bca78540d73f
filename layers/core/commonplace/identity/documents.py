"""Clients that are known by a document at their id (OAuth Client ID Metadata Documents)."""

from collections.abc import Callable

from commonplace.identity.fetching import Fetcher
from commonplace.identity.stores import ClientStore
from commonplace.limits.quota import Limiter


class Documents:
    """Fetches, judges and remembers metadata documents."""

    def __init__(
        self,
        store: ClientStore,
        fetcher: Fetcher,
        limiter: Limiter,
        clock: Callable[[], float],
        *,
        loopback: bool = False,
    ) -> None:
        """`clock` gives epoch seconds. `loopback` lets documents of this machine through: for development alone."""
