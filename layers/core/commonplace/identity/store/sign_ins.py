"""Pending requests, challenges, sessions and consents on DynamoDB: `identity.ports.SignInStore`.

Taking something out is one conditional delete that returns what it deleted: of two callers one gets it. Sessions and
consents are kept under hashes and pseudonyms, so that the table names nobody.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from commonplace.identity.records import Challenge, PendingRequest, ProviderSession, Remembered, Session
from commonplace.kernel.audit import Lost
from commonplace.kernel.items import Item, decoded, encode, key
from commonplace.kernel.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

MAX_ID_CHARACTERS = 200


class _Expiring(Protocol):
    @property
    def expires_at(self) -> int: ...


R = TypeVar("R", bound=_Expiring)


class DynamoSignIns:
    """Pending requests, challenges, sessions, what providers gave at a sign-in, and consents."""

    def __init__(self, client: DynamoDBClient, table: str, *, clock: Callable[[], float] = time.time) -> None:
        self._table = Table(client, table)
        self._clock = clock

    def put_pending(self, handle_hash: str, pending: PendingRequest) -> None:
        self._put(key(f"pending#{handle_hash}", "pending"), pending)

    def pending(self, handle_hash: str) -> PendingRequest | None:
        return self._get(PendingRequest, key(f"pending#{handle_hash}", "pending"))

    def take_pending(self, handle_hash: str) -> PendingRequest | None:
        return self._take(PendingRequest, key(f"pending#{handle_hash}", "pending"))

    def put_challenge(self, challenge: Challenge) -> None:
        self._put(key(f"challenge#{challenge.id}", "challenge"), challenge)

    def take_challenge(self, challenge_id: str) -> Challenge | None:
        if not challenge_id.isascii() or len(challenge_id) > MAX_ID_CHARACTERS:
            return None  # none of ours, and perhaps no key at all
        return self._take(Challenge, key(f"challenge#{challenge_id}", "challenge"))

    def put_session(self, session: Session) -> None:
        self._put(key(f"session#{session.hash}", "session"), session)

    def session(self, session_hash: str) -> Session | None:
        return self._get(Session, key(f"session#{session_hash}", "session"))

    def end_session(self, session_hash: str) -> None:
        self._table.write(self._table.delete(key(f"session#{session_hash}", "session")))

    def put_provider_session(self, session: ProviderSession) -> None:
        self._put(_provider(session.id), session)

    def provider_session(self, session_id: str) -> ProviderSession | None:
        return self._get(ProviderSession, _provider(session_id))

    def replace_provider_session(self, session: ProviderSession) -> None:
        where = _provider(session.id)
        put = self._table.put(where, encode(session), "#version = :was", was=session.version - 1)
        if self._table.write(put) is None:
            raise Lost

    def end_provider_session(self, session_id: str) -> None:
        self._table.write(self._table.delete(_provider(session_id)))

    def remember(self, consent: Remembered) -> None:
        self._put(_consent(consent.subject_hash, consent.client_id, consent.redirect_uri, consent.resource), consent)

    def remembered(self, subject_hash: str, client_id: str, redirect_uri: str, resource: str) -> Remembered | None:
        return self._get(Remembered, _consent(subject_hash, client_id, redirect_uri, resource))

    def forget(self, subject_hash: str, client_id: str | None = None) -> None:
        for item in list(self._table.query(f"consent#{subject_hash}")):
            if client_id in (None, item.get("clientId")):
                self._table.write(self._table.delete(key(item["pk"], item["sk"])))

    def _put(self, where: Item, record: Any) -> None:
        self._table.write(self._table.put(where, encode(record)))

    def _get(self, kind: type[R], where: Item) -> R | None:
        return self._alive(decoded(kind, self._table.get(where)))

    def _take(self, kind: type[R], where: Item) -> R | None:
        # The condition is what makes it single: without one, two deletes at once may both return what they deleted.
        return self._alive(decoded(kind, self._table.write(self._table.delete(where, "attribute_exists(pk)"))))

    def _alive(self, record: R | None) -> R | None:
        """The table deletes late: what has expired is gone, whether it is still there or not."""
        return record if record is not None and record.expires_at > self._clock() else None


def _provider(session_id: str) -> Item:
    return key(f"provider#{session_id}", "provider")


def _consent(subject_hash: str, *to: str) -> Item:
    return key(f"consent#{subject_hash}", sha256(json.dumps(to).encode()).hexdigest())
