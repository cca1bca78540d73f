"""Look-up of clients by `client_id`: registered, made by an operator, or described by a metadata document."""

import logging
import re
from collections.abc import Callable

from commonplace.identity.oauth.client_documents import BadDocument, Documents
from commonplace.identity.ports import ClientStore
from commonplace.identity.records import REGISTRATION_SECONDS, Client
from commonplace.kernel.errors import Reasoned, Unavailable

logger = logging.getLogger(__name__)

_ID = re.compile(r"[!-~]{1,2048}")
_OURS = re.compile(r"[A-Za-z0-9_.~-]{1,200}")


class UnknownClient(Reasoned):
    """No client that could be used has this id. `reason` is for the log: a stable code."""


class Clients:
    """Every client that the authorization server knows, or can get to know."""

    def __init__(self, store: ClientStore, documents: Documents, clock: Callable[[], float]) -> None:
        self._store = store
        self._documents = documents
        self._clock = clock

    def find(self, client_id: str, network: str = "") -> Client:
        """Raises UnknownClient, RateLimited when too many documents are fetched, Unavailable.

        `network` names who asks, as in `kernel.limits.network`: fetches are limited by it.
        """
        if not _ID.fullmatch(client_id):
            raise UnknownClient("id_malformed")
        if "://" in client_id:
            try:
                return self._documents.find(client_id, network)
            except BadDocument as error:
                raise UnknownClient(error.reason) from error
        client = self._store.client(client_id) if _OURS.fullmatch(client_id) else None
        if client is None:
            raise UnknownClient("id_unknown")
        if client.expires_at is not None and client.expires_at <= self._clock():
            raise UnknownClient("registration_expired")
        return client

    def used(self, client: Client) -> None:
        """Renews a registration of which more than half is over. Called once the client has authenticated itself."""
        now = int(self._clock())
        if client.source != "registered" or client.expires_at is None:
            return
        if client.expires_at - now >= REGISTRATION_SECONDS // 2:
            return
        try:
            self._store.renew_client(client.id, now + REGISTRATION_SECONDS)
        except Unavailable:
            # The next use renews it as well: there are weeks left for that.
            logger.warning("a registration could not be renewed", extra={"client": client.id})
