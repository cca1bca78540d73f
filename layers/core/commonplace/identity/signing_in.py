"""A wallet proves that it is there: a challenge, taken once, signed, and judged (seed 000, sections 2.2 and 2.6)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from commonplace.audit.records import AuditLog
from commonplace.errors import BadRequest, Forbidden
from commonplace.identity.accounts import Profile, Standings
from commonplace.identity.stores import SignInStore
from commonplace.identity.wallets import Names, SignatureCheck
from commonplace.limits.quota import Limiter


class SignInRefused(Forbidden):
    """The wallet is not signed in. `reason` is for records and telemetry; the caller is told none."""

    def __init__(self, reason: str) -> None:
        super().__init__("The signature was not accepted.", hint="Start the sign-in again and sign the new text.")
        self.reason = reason


class SignInUnreadable(BadRequest):
    """The request to sign in is malformed. `reason` as of SignInRefused."""

    def __init__(self, reason: str) -> None:
        super().__init__("The request cannot be read.", hint="Send {id, signature} for the text that /siwe/nonce gave.")
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInSettings:
    """What a deployment says of its sign-in."""

    base_url: str
    """The public origin: no path, no trailing slash."""
    site_name: str
    chain_id: int = 10
    challenges_per_minute: int = 20
    """Of one network; 0 switches the limit off, as below."""
    sign_ins_per_hour: int = 30
    """Of one account."""


class SignIn:
    """Challenges, and what comes of them. Errors carry `reason`, a stable code for records and telemetry."""

    def __init__(
        self,
        store: SignInStore,
        check: SignatureCheck,
        *,
        standings: Standings,
        names: Names,
        limiter: Limiter,
        settings: SignInSettings,
        audit: AuditLog,
        subject_hash: Callable[[str], str],
        clock: Callable[[], float],
    ) -> None:
        """`subject_hash` makes the account's name in records; `clock` gives epoch seconds."""
        self._store = store
        self._check = check
        self._standings = standings
        self._names = names
        self._limiter = limiter
        self._settings = settings
        self._audit = audit
        self._subject_hash = subject_hash
        self._clock = clock

    def challenge(self, address: str | None, handle: str | None, cookie: str, network: str) -> dict[str, Any]:
        """`{nonce}`, and for an address `{id, message}` as well: the exact text to sign. Good for five minutes, once.

        `cookie` is the random value that the browser has, or gets with this answer, as `__Host-cp_challenge`; `handle`
        names the authorization request that the sign-in is for. Raises BadRequest, RateLimited, Unavailable.
        """
        raise NotImplementedError

    def verify(self, body: Mapping[str, Any], cookie: str, network: str) -> Profile:
        """Who signed: `{id, signature}` for a text of ours, `{message, signature, stateId}` for a client's own.

        Raises SignInRefused, SignInUnreadable, RateLimited, and Unavailable when the chain cannot be asked.
        """
        raise NotImplementedError
