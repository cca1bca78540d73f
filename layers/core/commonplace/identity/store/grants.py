"""Grants, codes and refresh tokens on DynamoDB: `identity.ports.GrantStore`.

Every change is one transaction over what it depends on, with its audit records. Revoking a grant ends all that leads to
it with one write, since every use reads the grant. `subject#{hash}` lists what a person's page shows; no decision rests
on it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from commonplace.identity.audit import revoked
from commonplace.identity.records import Code, Grant, Refresh
from commonplace.identity.store.grant_writes import LIVES, UNREVOKED, end, grant_key
from commonplace.kernel.audit import Audit, Lost
from commonplace.kernel.audit_store import audit_writes
from commonplace.kernel.errors import CommonplaceError
from commonplace.kernel.items import Item, decoded, encode, key
from commonplace.kernel.table import Table, Write

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from commonplace.identity.memberships import Memberships

MAX_GRANTS = 10
"""That live, of one person and client; the oldest make room."""
MAX_REVOKED_TOKENS = 50
"""Of one grant, within the life of an access token; whoever revokes more ends the grant."""
TOUCH_SECONDS = 300
TOKEN_ATTEMPTS = 20
"""Of those who revoke tokens of one grant at once, one goes through in each round: more than it has clients for."""

VALID_UNTIL = "validUntil"
"""Of a code; its item stays until the grant ends."""


class DynamoGrants:
    """Reads consistently, writes conditionally, and takes nothing that has expired for alive."""

    def __init__(
        self,
        client: DynamoDBClient,
        table: str,
        activity_table: str,
        *,
        memberships: Memberships | None = None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`clock` gives epoch seconds; `activity_table` is where audit records go. `memberships` journal grants."""
        self._table = Table(client, table, sleep=sleep)
        self._activity = activity_table
        self._clock = clock
        self._memberships = memberships

    def open(self, grant: Grant, code: Code | None = None, refresh: Refresh | None = None, audit: Audit = ()) -> None:
        listed = {"clientId": grant.client_id, "expiresAt": grant.expires_at}
        writes = [
            self._table.new(grant_key(grant.id), encode(grant)),
            self._table.new(key(f"subject#{grant.subject_hash}", f"grant#{grant.id}"), listed),
        ]
        if code:
            writes.append(self._table.new(_code(code.hash), _kept(code, grant.expires_at)))
        if refresh:
            writes.append(self._table.new(_refresh(refresh.hash), encode(refresh)))
        if self._memberships:
            writes += self._memberships.journal("granted", grant, grant.created_at)
        self._write(writes, audit)
        if grant.kind == "person":
            self._make_room(grant)

    def code(self, code_hash: str) -> Code | None:
        """One that has expired as well, until its grant ends: a replay must be known."""
        item = self._table.get(_code(code_hash))
        if item is None or item["expiresAt"] <= self._clock():
            return None
        return decoded(Code, item | {"expiresAt": item.get(VALID_UNTIL, 0)})

    def refresh(self, token_hash: str) -> Refresh | None:
        found = decoded(Refresh, self._table.get(_refresh(token_hash)))
        return found if found and found.expires_at > self._clock() else None

    def grant(self, grant_id: str) -> Grant | None:
        found = decoded(Grant, self._table.get(grant_key(grant_id)))
        return found if found and found.expires_at > self._clock() else None

    def redeem(self, code: Code, refresh: Refresh | None, now: int, audit: Audit = ()) -> None:
        used = self._table.update(
            _code(code.hash),
            "SET #usedAt = :now",
            "attribute_exists(pk) AND attribute_not_exists(#usedAt)",
            now=now,
        )
        writes = [used, self._use(code.grant_id, now)]
        if refresh:
            writes.append(self._table.new(_refresh(refresh.hash), encode(refresh)))
        self._write(writes, audit)

    def rotate(self, spent: Refresh, heir: Refresh, voided: Refresh | None, now: int, audit: Audit = ()) -> None:
        # The token is still as it was read: current, or spent for the heir that is voided now.
        was = {"was": voided.hash} if voided else {"was": "current"}
        told = self._table.update(
            _refresh(spent.hash),
            "SET #phase = :spent, #heir = :heir, #salt = :salt, #spentAt = :now",
            "#heir = :was" if voided else "#phase = :was",
            spent="spent",
            heir=heir.hash,
            salt=spent.salt,
            now=now,
            **was,
        )
        writes = [told, self._use(spent.grant_id, now), self._table.new(_refresh(heir.hash), encode(heir))]
        if voided:
            writes.append(
                self._table.update(
                    _refresh(voided.hash), "SET #phase = :void", "#phase = :was", void="void", was="current"
                )
            )
        self._write(writes, audit)

    def retried(self, spent: Refresh, heir: Refresh, now: int, audit: Audit = ()) -> None:
        still = self._table.check(_refresh(heir.hash), "attribute_exists(pk) AND #phase = :current", current="current")
        self._write([still, self._use(spent.grant_id, now)], audit)

    def revoke(self, grant_id: str, because: str, now: int, audit: Audit = ()) -> bool:
        grant = self.grant(grant_id)
        if grant is None or grant.revoked_at is not None:
            return False
        ended = end(self._table, grant_id, because, now)
        unlisted = self._table.delete(key(f"subject#{grant.subject_hash}", f"grant#{grant_id}"))
        told = self._memberships.journal("revoked", grant, now) if self._memberships else ()
        try:
            self._write([ended, unlisted, *told], audit)
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
            noted = self._table.update(
                grant_key(grant_id),
                "SET #revokedTokens = :live",
                f"{UNREVOKED} AND #revokedTokens = :was",
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
        noted = self._table.update(
            grant_key(grant_id),
            "SET #lastUsedAt = :now, #lastUsedFrom = :network",
            "attribute_exists(pk) AND #lastUsedAt <= :before",
            now=now,
            network=network,
            before=now - TOUCH_SECONDS,
        )
        try:
            self._table.write(noted)
        except CommonplaceError:
            return

    def of_subject(self, subject_hash: str) -> Sequence[Grant]:
        return self._living(self._table.query(f"subject#{subject_hash}"))

    def all(self) -> Iterator[Grant]:
        """Reads the whole table: for operators, who ask seldom."""
        found = (decoded(Grant, item) for item in self._table.scan("sk = :grant", grant="grant"))
        return (grant for grant in found if grant and grant.alive(self._clock()))

    def _make_room(self, newest: Grant) -> None:
        values = {"client": newest.client_id}
        listed = list(self._table.query(f"subject#{newest.subject_hash}", values=values, filter="#clientId = :client"))
        if len(listed) <= MAX_GRANTS:
            return
        others = [grant for grant in self._living(listed) if grant.id != newest.id]
        now = int(self._clock())
        for grant in others[MAX_GRANTS - 1 :]:
            self.revoke(grant.id, "too_many_grants", now, [revoked(grant, "too_many_grants", now)])

    def _living(self, listed: Iterable[Item]) -> list[Grant]:
        keys = [grant_key(item["sk"].removeprefix("grant#")) for item in listed]
        items = self._table.get_many(keys)
        found = [grant for item in items if (grant := decoded(Grant, item)) and grant.alive(self._clock())]
        return sorted(found, key=lambda grant: (grant.created_at, grant.id), reverse=True)

    def _use(self, grant_id: str, now: int) -> Write:
        """That the grant lives is a condition of everything that is done with it."""
        return self._table.update(grant_key(grant_id), "SET #lastUsedAt = :now", LIVES, now=now)

    def _write(self, writes: Sequence[Write], audit: Audit) -> None:
        self._table.transact([*writes, *audit_writes(self._activity, audit)])


def _code(code_hash: str) -> Item:
    return key(f"code#{code_hash}", "code")


def _refresh(token_hash: str) -> Item:
    return key(f"refresh#{token_hash}", "refresh")


def _kept(code: Code, until: int) -> Item:
    item = encode(code)
    return item | {VALID_UNTIL: item["expiresAt"], "expiresAt": until}
