"""Grants, codes and refresh tokens on DynamoDB: `commonplace.identity.ports.GrantStore`.

Every change is one transaction over what it depends on, with its audit records. A grant that is revoked ends all that
leads to it with one write, since every use reads the grant. `subject#{hash}` lists what a person's page shows; no
decision rests on it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from commonplace.identity.oauth.audit import revoked
from commonplace.identity.records import Code, Grant, Refresh
from commonplace.kernel.audit import Audit, Lost
from commonplace.kernel.audit_store import audit_writes
from commonplace.kernel.errors import CommonplaceError
from commonplace.kernel.items import Item, decoded, encode, key, names, plain, typed
from commonplace.kernel.table import Writes, answering, get, get_all, holds, query, transact

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

MAX_GRANTS = 10
"""That live, of one person and client; the oldest make room."""
MAX_REVOKED_TOKENS = 50
"""Of one grant, within the life of an access token; whoever revokes more ends the grant."""
TOUCH_SECONDS = 300
TOKEN_ATTEMPTS = 20
"""Of those who revoke tokens of one grant at once, one goes through in each round: more than it has clients for."""

VALID_UNTIL = "validUntil"
"""Of a code; its item stays until the grant ends."""

_UNREVOKED = "attribute_exists(pk) AND attribute_not_exists(#revokedAt)"


class DynamoGrants:
    """Reads consistently, writes conditionally, and takes nothing that has expired for alive."""

    def __init__(
        self,
        client: DynamoDBClient,
        table: str,
        activity_table: str,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`clock` gives epoch seconds; `activity_table` is where audit records go."""
        self._client = client
        self._table = table
        self._activity = activity_table
        self._to = Writes(table)
        self._clock = clock
        self._sleep = sleep

    def open(self, grant: Grant, code: Code | None = None, refresh: Refresh | None = None, audit: Audit = ()) -> None:
        listed = {"clientId": typed(grant.client_id), "expiresAt": typed(grant.expires_at)}
        writes = [
            self._to.new(_grant(grant.id), encode(grant)),
            self._to.new(key(f"subject#{grant.subject_hash}", f"grant#{grant.id}"), listed),
        ]
        if code:
            writes.append(self._to.new(_code(code.hash), _kept(code, grant.expires_at)))
        if refresh:
            writes.append(self._to.new(_refresh(refresh.hash), encode(refresh)))
        self._write(writes, audit)
        if grant.kind == "person":
            self._make_room(grant)

    def code(self, code_hash: str) -> Code | None:
        """One that has expired as well, until its grant ends: a replay must be known."""
        item = self._get(_code(code_hash))
        if item is None or plain(item["expiresAt"]) <= self._clock():
            return None
        return decoded(Code, item | {"expiresAt": item.get(VALID_UNTIL, typed(0))})

    def refresh(self, token_hash: str) -> Refresh | None:
        found = decoded(Refresh, self._get(_refresh(token_hash)))
        return found if found and found.expires_at > self._clock() else None

    def grant(self, grant_id: str) -> Grant | None:
        found = decoded(Grant, self._get(_grant(grant_id)))
        return found if found and found.expires_at > self._clock() else None

    def redeem(self, code: Code, refresh: Refresh | None, now: int, audit: Audit = ()) -> None:
        used = self._to.update(
            _code(code.hash),
            "SET #usedAt = :now",
            "attribute_exists(pk) AND attribute_not_exists(#usedAt)",
            now=now,
        )
        writes = [used, self._use(code.grant_id, now)]
        if refresh:
            writes.append(self._to.new(_refresh(refresh.hash), encode(refresh)))
        self._write(writes, audit)

    def rotate(self, spent: Refresh, heir: Refresh, voided: Refresh | None, now: int, audit: Audit = ()) -> None:
        # The token is still as it was read: current, or spent for the heir that is voided now.
        was = {"was": voided.hash} if voided else {"was": "current"}
        told = self._to.update(
            _refresh(spent.hash),
            "SET #phase = :spent, #heir = :heir, #salt = :salt, #spentAt = :now",
            "#heir = :was" if voided else "#phase = :was",
            spent="spent",
            heir=heir.hash,
            salt=spent.salt,
            now=now,
            **was,
        )
        writes = [told, self._use(spent.grant_id, now), self._to.new(_refresh(heir.hash), encode(heir))]
        if voided:
            writes.append(
                self._to.update(
                    _refresh(voided.hash), "SET #phase = :void", "#phase = :was", void="void", was="current"
                )
            )
        self._write(writes, audit)

    def retried(self, spent: Refresh, heir: Refresh, now: int, audit: Audit = ()) -> None:
        still = self._to.check(_refresh(heir.hash), "attribute_exists(pk) AND #phase = :current", current="current")
        self._write([still, self._use(spent.grant_id, now)], audit)

    def revoke(self, grant_id: str, because: str, now: int, audit: Audit = ()) -> bool:
        grant = self.grant(grant_id)
        if grant is None or grant.revoked_at is not None:
            return False
        ended = self._to.update(
            _grant(grant_id), "SET #revokedAt = :now, #revokedBecause = :because", _UNREVOKED, now=now, because=because
        )
        unlisted = self._to.delete(key(f"subject#{grant.subject_hash}", f"grant#{grant_id}"))
        try:
            self._write([ended, unlisted], audit)
        except Lost:
            return False
        return True

    def revoke_token(self, grant_id: str, jti: str, expires_at: int, audit: Audit = ()) -> None:
        for _ in range(TOKEN_ATTEMPTS):
            grant, now = self.grant(grant_id), int(self._clock())
            if grant is None or grant.revoked_at is not None or grant.revoked_tokens.get(jti, 0) >= expires_at:
                return
            live = {name: until for name, until in grant.revoked_tokens.items() if until > now} | {jti: expires_at}
            if len(live) > MAX_REVOKED_TOKENS:
                self.revoke(grant_id, "too_many_revoked_tokens", now, audit)
                return
            noted = self._to.update(
                _grant(grant_id),
                "SET #revokedTokens = :live",
                f"{_UNREVOKED} AND #revokedTokens = :was",
                live=live,
                was=dict(grant.revoked_tokens),
            )
            try:
                self._write([noted], audit)
            except Lost:
                continue
            return
        # Others revoke tokens of this grant faster than we can: it ends with all of them.
        self.revoke(grant_id, "too_many_revoked_tokens", int(self._clock()), audit)

    def touch(self, grant_id: str, now: int, network: str) -> None:
        noted: Any = self._to.update(
            _grant(grant_id),
            "SET #lastUsedAt = :now, #lastUsedFrom = :network",
            "attribute_exists(pk) AND #lastUsedAt <= :before",
            now=now,
            network=network,
            before=now - TOUCH_SECONDS,
        )["Update"]
        try:
            holds(self._table, lambda: self._client.update_item(**noted), sleep=self._sleep)
        except CommonplaceError:
            return

    def of_subject(self, subject_hash: str) -> Sequence[Grant]:
        listed = query(self._client, self._table, f"subject#{subject_hash}")
        return self._living([item["sk"]["S"].removeprefix("grant#") for item in listed])

    def all(self) -> Iterator[Grant]:
        """Reads the whole table: for operators, who ask seldom."""
        asked: Any = {
            "TableName": self._table,
            "FilterExpression": "sk = :grant",
            "ExpressionAttributeValues": {":grant": {"S": "grant"}},
            "ConsistentRead": True,
        }
        while True:
            with answering(self._table):
                answer = self._client.scan(**asked)
            found = (decoded(Grant, dict(item)) for item in answer["Items"])
            yield from (grant for grant in found if grant and grant.alive(self._clock()))
            if "LastEvaluatedKey" not in answer:
                return
            asked["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def _make_room(self, newest: Grant) -> None:
        values = {":pk": {"S": f"subject#{newest.subject_hash}"}, ":client": {"S": newest.client_id}}
        listed = query(
            self._client,
            self._table,
            f"subject#{newest.subject_hash}",
            FilterExpression="#clientId = :client",
            ExpressionAttributeNames=names("clientId"),
            ExpressionAttributeValues=values,
        )
        ids = [item["sk"]["S"].removeprefix("grant#") for item in listed]
        if len(ids) <= MAX_GRANTS:
            return
        others = [grant for grant in self._living(ids) if grant.id != newest.id]
        now = int(self._clock())
        for grant in others[MAX_GRANTS - 1 :]:
            self.revoke(grant.id, "too_many_grants", now, [revoked(grant, "too_many_grants", now)])

    def _living(self, ids: Sequence[str]) -> list[Grant]:
        items = get_all(self._client, self._table, [_grant(one) for one in ids])
        found = [grant for item in items if (grant := decoded(Grant, item)) and grant.alive(self._clock())]
        return sorted(found, key=lambda grant: (grant.created_at, grant.id), reverse=True)

    def _use(self, grant_id: str, now: int) -> Item:
        """That the grant lives is a condition of everything that is done with it."""
        return self._to.update(
            _grant(grant_id), "SET #lastUsedAt = :now", f"{_UNREVOKED} AND #expiresAt > :now", now=now
        )

    def _get(self, where: Item) -> Item | None:
        return get(self._client, self._table, where["pk"]["S"], where["sk"]["S"])

    def _write(self, writes: Sequence[Item], audit: Audit) -> None:
        told = [*writes, *audit_writes(self._activity, audit)]
        transact(self._client, self._table, told, sleep=self._sleep)


def _grant(grant_id: str) -> Item:
    return key(f"grant#{grant_id}", "grant")


def _code(code_hash: str) -> Item:
    return key(f"code#{code_hash}", "code")


def _refresh(token_hash: str) -> Item:
    return key(f"refresh#{token_hash}", "refresh")


def _kept(code: Code, until: int) -> Item:
    item = encode(code)
    return item | {VALID_UNTIL: item["expiresAt"], "expiresAt": typed(until)}
