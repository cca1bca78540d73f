"""Finds the client behind a `client_id`: one that registered, one that an operator made, or one that has a document."""

import logging
from collections.abc import Callable

from commonplace.identity.documents import Documents
from commonplace.identity.records import Client
from commonplace.identity.stores import ClientStore

logger = logging.getLogger(__name__)

MAX_ID_CHARACTERS = 2_048


class UnknownClient(Exception):
    """No client that could be used has this id. `reason` is for the log: a stable code."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Clients:
    """Every client that the authorization server knows, or can get to know."""

    def __init__(self, store: ClientStore, documents: Documents, clock: Callable[[], float]) -> None:
        """`clock` gives epoch seconds."""
        self._store = store
        self._documents = documents
        self._clock = clock

    def find(self, client_id: str, network: str = "") -> Client:
        """Raises UnknownClient, RateLimited when too many documents are asked for, Unavailable.

        `network` names who asks, as in `limits.quota.network`: fetches are limited by it.
        """
        raise NotImplementedError

    def used(self, client: Client) -> None:
        """Renews a registration of which more than half is over. Called once the client has authenticated itself."""
        raise NotImplementedError
