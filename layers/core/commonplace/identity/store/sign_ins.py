"""What happens between a browser's first request and a code, on DynamoDB: `commonplace.identity.ports.SignInStore`.

Taking something out is one conditional delete that returns what it deleted: of two callers one gets it. Sessions and
consents are kept under hashes and pseudonyms, so that the table names nobody.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from commonplace.identity.records import Challenge, Pending, ProviderSession, Remembered, Session
from commonplace.kernel.audit import Lost
from commonplace.kernel.items import Item, decoded, encode, key
from commonplace.kernel.table import Writes, answering, get, holds, query

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
        """`clock` gives epoch seconds."""
        self._client = client
        self._table = table
        self._to = Writes(table)
        self._clock = clock

    def put_pending(self, handle_hash: str, pending: Pending) -> None:
        self._put(key(f"pending#{handle_hash}", "pending"), pending)

    def pending(self, handle_hash: str) -> Pending | None:
        return self._get(Pending, f"pending#{handle_hash}", "pending")

    def take_pending(self, handle_hash: str) -> Pending | None:
        return self._take(Pending, f"pending#{handle_hash}", "pending")

    def put_challenge(self, challenge: Challenge) -> None:
        self._put(key(f"challenge#{challenge.id}", "challenge"), challenge)

    def take_challenge(self, challenge_id: str) -> Challenge | None:
        if not challenge_id.isascii() or len(challenge_id) > MAX_ID_CHARACTERS:
            return None  # none of ours, and perhaps no key at all
        return self._take(Challenge, f"challenge#{challenge_id}", "challenge")

    def put_session(self, session: Session) -> None:
        self._put(key(f"session#{session.hash}", "session"), session)

    def session(self, session_hash: str) -> Session | None:
        return self._get(Session, f"session#{session_hash}", "session")

    def end_session(self, session_hash: str) -> None:
        self._delete(key(f"session#{session_hash}", "session"))

    def put_provider_session(self, session: ProviderSession) -> None:
        self._put(_provider(session.id), session)

    def provider_session(self, session_id: str) -> ProviderSession | None:
        return self._get(ProviderSession, f"provider#{session_id}", "provider")

    def replace_provider_session(self, session: ProviderSession) -> None:
        told: Any = self._to.put(_provider(session.id), encode(session), "#version = :was", was=session.version - 1)[
            "Put"
        ]
        if not holds(self._table, lambda: self._client.put_item(**told)):
            raise Lost

    def end_provider_session(self, session_id: str) -> None:
        self._delete(_provider(session_id))

    def remember(self, consent: Remembered) -> None:
        where = _consent(consent.client_id, consent.redirect_uri, consent.resource)
        self._put(key(f"consent#{consent.subject_hash}", where), consent)

    def remembered(self, subject_hash: str, client_id: str, redirect_uri: str, resource: str) -> Remembered | None:
        return self._get(Remembered, f"consent#{subject_hash}", _consent(client_id, redirect_uri, resource))

    def forget(self, subject_hash: str, client_id: str | None = None) -> None:
        for item in list(query(self._client, self._table, f"consent#{subject_hash}")):
            if client_id is None or item.get("clientId", {}).get("S") == client_id:
                self._delete({"pk": item["pk"], "sk": item["sk"]})

    def _put(self, where: Item, record: Any) -> None:
        with answering(self._table):
            self._client.put_item(TableName=self._table, Item=encode(record) | where)

    def _get(self, kind: type[R], pk: str, sk: str) -> R | None:
        return self._alive(decoded(kind, get(self._client, self._table, pk, sk)))

    def _take(self, kind: type[R], pk: str, sk: str) -> R | None:
        taken: Item = {}

        def take() -> None:
            # The condition is what makes it single: without one, two deletes at once may both tell what they deleted.
            answer = self._client.delete_item(
                TableName=self._table,
                Key=key(pk, sk),
                ConditionExpression="attribute_exists(pk)",
                ReturnValues="ALL_OLD",
            )
            taken.update(answer.get("Attributes", {}))

        return self._alive(decoded(kind, taken)) if holds(self._table, take) else None

    def _delete(self, where: Item) -> None:
        with answering(self._table):
            self._client.delete_item(TableName=self._table, Key=where)

    def _alive(self, record: R | None) -> R | None:
        """The table deletes late: what has expired is gone, whether it is still there or not."""
        return record if record is not None and record.expires_at > self._clock() else None


def _provider(session_id: str) -> Item:
    return key(f"provider#{session_id}", "provider")


def _consent(client_id: str, redirect_uri: str, resource: str) -> str:
    return sha256(json.dumps([client_id, redirect_uri, resource]).encode()).hexdigest()
