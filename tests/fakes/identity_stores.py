"""Grants, sign-ins and the audit log in memory, with a clock that only tests move. They pass the adapters' contract."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from commonplace.identity.audit import revoked
from commonplace.identity.ports import GrantStore, SignInStore
from commonplace.identity.records import (
    Challenge,
    Code,
    Grant,
    PendingRequest,
    ProviderSession,
    Refresh,
    Remembered,
    Session,
)
from commonplace.kernel.audit import Audit, AuditRecord, Lost
from commonplace.kernel.errors import Unavailable

R = TypeVar("R", PendingRequest, Challenge, Session, ProviderSession, Remembered)

MAX_GRANTS = 10
MAX_REVOKED_TOKENS = 50
TOUCH_SECONDS = 300


@dataclass
class Clock:
    """Epoch seconds."""

    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += seconds


class MemoryAudit:
    """`commonplace.kernel.audit.AuditLog`."""

    def __init__(self) -> None:
        self.records: list[AuditRecord] = []

    def write(self, record: AuditRecord) -> None:
        self.records.append(record)

    def read(self, organisation: str, *, limit: int = 100, before: str | None = None) -> Iterator[AuditRecord]:
        own = [record for record in self.records if record.organisation == organisation]
        ordered = sorted(own, key=_position, reverse=True)
        yield from [record for record in ordered if before is None or _position(record) < before][:limit]

    def events(self) -> list[tuple[str, str, str]]:
        """What was recorded: event, outcome, reason."""
        return [(record.event, record.outcome, record.reason) for record in self.records]


def _position(record: AuditRecord) -> str:
    return f"{int(record.at * 1_000):015d}#{record.id}"


@dataclass
class MemoryGrants:
    """`commonplace.identity.ports.GrantStore`. `down` makes every call raise Unavailable."""

    clock: Clock
    audit: MemoryAudit = field(default_factory=MemoryAudit)
    grants: dict[str, Grant] = field(default_factory=dict)
    codes: dict[str, Code] = field(default_factory=dict)
    tokens: dict[str, Refresh] = field(default_factory=dict)
    down: bool = False

    def open(self, grant: Grant, code: Code | None = None, refresh: Refresh | None = None, audit: Audit = ()) -> None:
        self._answer()
        if grant.id in self.grants or (code and code.hash in self.codes) or (refresh and refresh.hash in self.tokens):
            raise Lost
        self.grants[grant.id] = grant
        if code:
            self.codes[code.hash] = code
        if refresh:
            self.tokens[refresh.hash] = refresh
        self._record(audit)
        if grant.kind == "person":
            self._make_room(grant)

    def code(self, code_hash: str) -> Code | None:
        self._answer()
        found = self.codes.get(code_hash)
        return found if found and self.grants[found.grant_id].expires_at > self.clock.now else None

    def refresh(self, token_hash: str) -> Refresh | None:
        self._answer()
        found = self.tokens.get(token_hash)
        return found if found and found.expires_at > self.clock.now else None

    def grant(self, grant_id: str) -> Grant | None:
        self._answer()
        found = self.grants.get(grant_id)
        return found if found and found.expires_at > self.clock.now else None

    def redeem(self, code: Code, refresh: Refresh | None, now: int, audit: Audit = ()) -> None:
        self._answer()
        stored = self.codes.get(code.hash)
        if stored is None or stored.used_at is not None or not self._alive(code.grant_id, now):
            raise Lost
        self._use(code.grant_id, now)
        self.codes[code.hash] = replace(stored, used_at=now)
        if refresh:
            self.tokens[refresh.hash] = refresh
        self._record(audit)

    def rotate(self, spent: Refresh, heir: Refresh, voided: Refresh | None, now: int, audit: Audit = ()) -> None:
        self._answer()
        stored = self.tokens.get(spent.hash)
        as_read = stored and (stored.heir == voided.hash if voided else stored.phase == "current")
        unused = voided is None or self.tokens[voided.hash].phase == "current"
        if not stored or not as_read or not unused or not self._alive(spent.grant_id, now) or heir.hash in self.tokens:
            raise Lost
        self._use(spent.grant_id, now)
        self.tokens[spent.hash] = replace(stored, phase="spent", heir=heir.hash, salt=spent.salt, spent_at=now)
        self.tokens[heir.hash] = heir
        if voided:
            self.tokens[voided.hash] = replace(self.tokens[voided.hash], phase="void")
        self._record(audit)

    def retried(self, spent: Refresh, heir: Refresh, now: int, audit: Audit = ()) -> None:
        self._answer()
        stored = self.tokens.get(heir.hash)
        if stored is None or stored.phase != "current" or not self._alive(spent.grant_id, now):
            raise Lost
        self._use(spent.grant_id, now)
        self._record(audit)

    def revoke(self, grant_id: str, because: str, now: int, audit: Audit = ()) -> bool:
        self._answer()
        grant = self.grant(grant_id)
        if grant is None or grant.revoked_at is not None:
            return False
        self.grants[grant_id] = replace(grant, revoked_at=now, revoked_because=because)
        self._record(audit)
        return True

    def revoke_token(self, grant_id: str, jti: str, expires_at: int, audit: Audit = ()) -> None:
        self._answer()
        grant, now = self.grant(grant_id), int(self.clock.now)
        if grant is None or grant.revoked_at is not None or grant.revoked_tokens.get(jti, 0) >= expires_at:
            return
        live = {name: until for name, until in grant.revoked_tokens.items() if until > now} | {jti: expires_at}
        if len(live) > MAX_REVOKED_TOKENS:
            self.revoke(grant_id, "too_many_revoked_tokens", now, audit)
            return
        self.grants[grant_id] = replace(grant, revoked_tokens=live)
        self._record(audit)

    def touch(self, grant_id: str, now: int, network: str) -> None:
        grant = self.grants.get(grant_id)
        if grant and not self.down and grant.last_used_at <= now - TOUCH_SECONDS:
            self.grants[grant_id] = replace(grant, last_used_at=now, last_used_from=network)

    def of_subject(self, subject_hash: str) -> Sequence[Grant]:
        self._answer()
        return _newest(grant for grant in self.all() if grant.subject_hash == subject_hash)

    def all(self) -> Iterator[Grant]:
        self._answer()
        yield from [grant for grant in self.grants.values() if grant.alive(self.clock.now)]

    def dump(self) -> str:
        """Everything that is stored, as text."""
        return repr((self.grants, self.codes, self.tokens, self.audit.records))

    def _make_room(self, newest: Grant) -> None:
        mine = [one for one in self.of_subject(newest.subject_hash) if one.client_id == newest.client_id]
        others = [one for one in mine if one.id != newest.id]
        now = int(self.clock.now)
        for grant in others[MAX_GRANTS - 1 :]:
            self.revoke(grant.id, "too_many_grants", now, [revoked(grant, "too_many_grants", now)])

    def _alive(self, grant_id: str, now: int) -> bool:
        grant = self.grants.get(grant_id)
        return grant is not None and grant.alive(now)

    def _use(self, grant_id: str, now: int) -> None:
        self.grants[grant_id] = replace(self.grants[grant_id], last_used_at=now)

    def _record(self, audit: Audit) -> None:
        self.audit.records += audit

    def _answer(self) -> None:
        if self.down:
            raise Unavailable("The store does not answer.", retry_after_seconds=2)


def _newest(grants: Iterator[Grant]) -> list[Grant]:
    return sorted(grants, key=lambda grant: (grant.created_at, grant.id), reverse=True)


@dataclass
class MemorySignIns:
    """`commonplace.identity.ports.SignInStore`. `down` as in `MemoryGrants`."""

    clock: Clock
    requests: dict[str, PendingRequest] = field(default_factory=dict)
    challenges: dict[str, Challenge] = field(default_factory=dict)
    sessions: dict[str, Session] = field(default_factory=dict)
    provider_sessions: dict[str, ProviderSession] = field(default_factory=dict)
    consents: dict[tuple[str, str, str, str], Remembered] = field(default_factory=dict)
    down: bool = False

    def put_pending(self, handle_hash: str, pending: PendingRequest) -> None:
        self._answer()
        self.requests[handle_hash] = pending

    def pending(self, handle_hash: str) -> PendingRequest | None:
        self._answer()
        return self._alive(self.requests.get(handle_hash))

    def take_pending(self, handle_hash: str) -> PendingRequest | None:
        self._answer()
        return self._alive(self.requests.pop(handle_hash, None))

    def put_challenge(self, challenge: Challenge) -> None:
        self._answer()
        self.challenges[challenge.id] = challenge

    def take_challenge(self, challenge_id: str) -> Challenge | None:
        self._answer()
        return self._alive(self.challenges.pop(challenge_id, None))

    def put_session(self, session: Session) -> None:
        self._answer()
        self.sessions[session.hash] = session

    def session(self, session_hash: str) -> Session | None:
        self._answer()
        return self._alive(self.sessions.get(session_hash))

    def end_session(self, session_hash: str) -> None:
        self._answer()
        self.sessions.pop(session_hash, None)

    def put_provider_session(self, session: ProviderSession) -> None:
        self._answer()
        self.provider_sessions[session.id] = session

    def provider_session(self, session_id: str) -> ProviderSession | None:
        self._answer()
        return self._alive(self.provider_sessions.get(session_id))

    def replace_provider_session(self, session: ProviderSession) -> None:
        self._answer()
        stored = self.provider_sessions.get(session.id)
        if stored is None or stored.version != session.version - 1:
            raise Lost
        self.provider_sessions[session.id] = session

    def end_provider_session(self, session_id: str) -> None:
        self._answer()
        self.provider_sessions.pop(session_id, None)

    def remember(self, consent: Remembered) -> None:
        self._answer()
        where = (consent.subject_hash, consent.client_id, consent.redirect_uri, consent.resource)
        self.consents[where] = consent

    def remembered(self, subject_hash: str, client_id: str, redirect_uri: str, resource: str) -> Remembered | None:
        self._answer()
        return self._alive(self.consents.get((subject_hash, client_id, redirect_uri, resource)))

    def forget(self, subject_hash: str, client_id: str | None = None) -> None:
        self._answer()
        gone = [at for at in self.consents if at[0] == subject_hash and client_id in (None, at[1])]
        for at in gone:
            del self.consents[at]

    def dump(self) -> str:
        """Everything that is stored, as text."""
        return repr((self.requests, self.challenges, self.sessions, self.provider_sessions, self.consents))

    def _alive(self, record: R | None) -> R | None:
        return record if record is not None and record.expires_at > self.clock.now else None

    def _answer(self) -> None:
        if self.down:
            raise Unavailable("The store does not answer.", retry_after_seconds=2)


class Racing:
    """A store where, once, something else happens right before a write: what a race comes to."""

    def __init__(self, store: GrantStore | SignInStore, method: str, meanwhile: Callable[[], object]) -> None:
        self._store = store
        self._method = method
        self._meanwhile: Callable[[], object] | None = meanwhile

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if name != self._method or self._meanwhile is None:
            return found

        def call(*values: Any, **named: Any) -> Any:
            meanwhile, self._meanwhile = self._meanwhile, None
            if meanwhile is not None:
                meanwhile()
            return found(*values, **named)

        return call
