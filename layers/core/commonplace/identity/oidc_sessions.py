"""Sessions at an OIDC provider: an account's claims, read again while grants of it live.

One sign-in makes one record, which the browser's session and all its grants share: a provider may issue a new refresh
token at each use, and take a second use of one for theft. So a refresh first claims the record, by one conditional
write, while others wait for its result. The record is encrypted under a secret that only the encrypted profiles of
session and grants hold.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol

from commonplace.identity.accounts import OIDC, Profile
from commonplace.identity.oidc import IdTokens, Provider, ProviderTokens, profile_of
from commonplace.identity.ports import SignInStore
from commonplace.identity.records import ABSOLUTE_SECONDS, SESSION_SECONDS, ProviderSession
from commonplace.identity.secrets import SealBroken, digest, fresh, seal, unseal
from commonplace.kernel.audit import Lost
from commonplace.kernel.errors import Forbidden, Reasoned, Unavailable

CLAIMS_SECONDS = 24 * 3_600
"""The age that claims may have where the provider lets nobody read them again."""
REUSE_SECONDS = 300
"""Claims that were read so lately are not read again."""
BUSY_SECONDS = 30
"""Longer than asking the provider takes, and than a function runs: whoever took the record has given up by then."""
ATTEMPTS, PAUSE_SECONDS = 10, 0.3
LEEWAY_SECONDS = 60
"""Before its end an access token is not relied on."""

_PURPOSE = "provider"


class SignInOver(Reasoned):
    """The account has to sign in again. `reason` is for records: a stable code."""


class ReadsClaims(Protocol):
    """The port to an account's claims at a provider, from which roles follow."""

    def claims(self, profile: Profile, *, fresh: bool = False) -> tuple[str, ...]:
        """Return the claims as of the last time that they were read, or at most five minutes old if `fresh`.

        Raises SignInOver, and Unavailable when the provider does not answer: never "no groups".
        """
        ...


class NoProvider:
    """`ReadsClaims` where nobody signs in through a provider, or nobody does any longer."""

    def claims(self, profile: Profile, *, fresh: bool = False) -> tuple[str, ...]:  # noqa: ARG002 - the port's shape
        if profile.kind == "oidc":
            raise SignInOver("provider_gone")
        return ()


NO_PROVIDER = NoProvider()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """The encrypted contents of a record."""

    claims: tuple[str, ...]
    refresh_token: str | None = None
    access_token: str | None = None
    """Only where there is no refresh token: with one, there is a new access token each time."""
    access_until: int = 0
    original: Mapping[str, Any] = field(default_factory=dict)
    """`nonce` and `auth_time` of the first ID token: a later one that has them has the same (OIDC Core, 12.2)."""

    def renewed(self, tokens: ProviderTokens, now: int) -> "_Held":
        """A provider that gives no new refresh token means the old one to go on (RFC 6749, section 6)."""
        if token := tokens.refresh_token or self.refresh_token:
            return replace(self, refresh_token=token, access_token=None, access_until=0)
        return replace(self, access_token=tokens.access_token, access_until=now + tokens.seconds)

    def again(self, now: int) -> bool:
        """Return whether there is anything to ask the provider with."""
        return bool(self.refresh_token or (self.access_token and now < self.access_until - LEEWAY_SECONDS))


class StoredClaims:
    """`ReadsClaims` as of the last time that they were read, by whoever may ask the provider."""

    def __init__(
        self,
        issuer: Callable[[], str],
        store: SignInStore,
        clock: Callable[[], float],
        *,
        claims_seconds: int,
    ) -> None:
        self._issuer = issuer
        self._records = store
        self._clock = clock
        self._claims_seconds = claims_seconds

    def claims(self, profile: Profile, *, fresh: bool = False) -> tuple[str, ...]:  # noqa: ARG002 - nobody is asked
        if profile.kind != "oidc":
            return ()
        return self._young(*self._found(profile), int(self._clock()))

    def _found(self, profile: Profile) -> tuple[ProviderSession, _Held]:
        # Never with a token of one provider to another, whatever the configuration became.
        if not profile.subject.startswith(f"{OIDC}{self._issuer()}#"):
            raise SignInOver("provider_other")
        record = self._records.provider_session(digest(profile.provider))
        if record is None:
            raise SignInOver("provider_session_over")
        try:
            values = unseal(profile.provider, _PURPOSE, record.sealed)
        except SealBroken:
            raise SignInOver("provider_session_broken") from None
        return record, _Held(**values | {"claims": tuple(values["claims"])})

    def _young(self, record: ProviderSession, held: _Held, now: int) -> tuple[str, ...]:
        if now - record.read_at >= self._claims_seconds:
            raise SignInOver("claims_too_old")
        return held.claims


class ProviderSessions(StoredClaims):
    """`ReadsClaims` of accounts that sign in through the provider."""

    def __init__(
        self,
        provider: Provider,
        store: SignInStore,
        clock: Callable[[], float],
        *,
        claims_seconds: int = CLAIMS_SECONDS,
        absolute_seconds: int = ABSOLUTE_SECONDS,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`absolute_seconds` is how long a grant may last."""
        super().__init__(lambda: provider.issuer, store, clock, claims_seconds=claims_seconds)
        self._provider = provider
        self._store = store
        self._keep_seconds = SESSION_SECONDS + absolute_seconds
        self._sleep = sleep
        self._id_tokens = IdTokens(provider, clock)

    def open(self, profile: Profile, tokens: ProviderTokens, claims: Mapping[str, Any]) -> Profile:
        """The profile of a sign-in that has just succeeded, with what leads to its record. Raises Unavailable."""
        secret, now = fresh(), int(self._clock())
        original = {name: claims[name] for name in ("nonce", "auth_time") if name in claims}
        held = _Held(claims=profile.claims, original=original).renewed(tokens, now)
        record = ProviderSession(
            id=digest(secret), sealed=_sealed(secret, held), read_at=now, expires_at=now + self._keep_seconds
        )
        self._store.put_provider_session(record)
        return replace(profile, provider=secret)

    def claims(self, profile: Profile, *, fresh: bool = False) -> tuple[str, ...]:
        if profile.kind != "oidc":
            return ()
        for _ in range(ATTEMPTS):
            record, held = self._found(profile)
            now = int(self._clock())
            if not fresh or now - record.read_at < REUSE_SECONDS or not held.again(now):
                return self._young(record, held, now)
            if record.busy_until > now:
                self._sleep(PAUSE_SECONDS)
                continue
            with suppress(Lost):
                return self._young(*self._read_again(profile, record, held, now), now)
        raise Unavailable("The identity provider is already being queried.", retry_after_seconds=2)

    def _read_again(
        self, profile: Profile, record: ProviderSession, held: _Held, now: int
    ) -> tuple[ProviderSession, _Held]:
        """Raises Lost when somebody else was faster, SignInOver, Unavailable: then the record is as good as before."""
        taken = replace(record, busy_until=now + BUSY_SECONDS, version=record.version + 1)
        self._store.replace_provider_session(taken)
        free = replace(taken, busy_until=0, version=taken.version + 1)
        try:
            tokens = self._tokens(held)
            held = held.renewed(tokens, now) if held.refresh_token else held
            free = replace(free, sealed=_sealed(profile.provider, held))
            # None where the provider gives neither an ID token nor an answer about the account.
            try:
                found = self._answer(tokens, held)
                again = None if found is None else profile_of(found, self._provider.issuer)
            except Forbidden:
                raise SignInOver("provider_answer_refused") from None
            if again is not None and again.subject != profile.subject:
                raise SignInOver("provider_other_account")
            claims = None if again is None else again.claims
        except SignInOver:
            self._store.end_provider_session(record.id)
            raise
        except Unavailable:
            with suppress(Lost, Unavailable):
                self._store.replace_provider_session(free)
            raise
        if claims is not None:
            held = replace(held, claims=claims)
            free = replace(free, sealed=_sealed(profile.provider, held), read_at=now)
        self._store.replace_provider_session(free)
        return free, held

    def _tokens(self, held: _Held) -> ProviderTokens:
        if held.refresh_token is None:
            return ProviderTokens(access_token=held.access_token)
        tokens = self._provider.refresh(held.refresh_token)
        if tokens is None:
            raise SignInOver("provider_refused")
        return tokens

    def _answer(self, tokens: ProviderTokens, held: _Held) -> Mapping[str, Any] | None:
        if tokens.id_token is not None:
            same = {name: {"value": value} for name, value in held.original.items()}
            return self._id_tokens.verify(tokens.id_token, **same)  # type: ignore[arg-type]
        if tokens.access_token is None or self._provider.metadata().userinfo_endpoint is None:
            return None
        found = self._provider.userinfo(tokens.access_token)
        if found is None:
            raise SignInOver("provider_refused")
        return found


def _sealed(secret: str, held: _Held) -> bytes:
    return seal(secret, _PURPOSE, asdict(held))
