"""Signed-in accounts, what their roles amount to now (seed 000, sections 2.1 and 2.4), and records of refusals."""

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from threading import Lock
from typing import Any, Literal, Protocol, Self

from commonplace.identity.principals import Tier
from commonplace.kernel.audit import NOWHERE, AuditRecord
from commonplace.kernel.errors import Unavailable

logger = logging.getLogger(__name__)

Kind = Literal["wallet", "oidc", "agent", "local"]

OIDC = "oidc:"
"""Subjects of accounts at a provider begin so: `oidc:{issuer}#{sub}`."""
LOCAL = "local:"
"""Those of a laptop's own accounts: `local:{name}`."""

AGAIN_SECONDS = 600
"""A client that tries in a loop would fill the records with what the first of them says."""
REMEMBERED = 1_000

EVENT = "denied"

Write = Callable[[AuditRecord], None]
"""Keeps one record. Raises Unavailable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """An account's profile at sign-in. Stored only under the grant's secret; for display, never for a decision.

    `claims` are what an OIDC provider said at the sign-in, groups and the like; `provider_sessions` has them as of now.
    """

    subject: str
    """As `Principal.subject`."""
    kind: Kind
    address: str | None = None
    """The address of a wallet, EIP-55."""
    name: str | None = None
    """ENS name, or what an OIDC provider calls the person."""
    avatar: str | None = None
    """An https URL; a text for display, never fetched here."""
    github: str | None = None
    claims: tuple[str, ...] = ()
    provider: str = field(default="", repr=False)
    """The secret of the `records.ProviderSession` that says what the claims are now."""

    def as_json(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in self.__slots__}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items() if value}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        known = {name: values[name] for name in cls.__slots__ if name in values}
        return cls(**known | {"claims": tuple(values.get("claims", ()))})

    @property
    def label(self) -> str:
        """A name for people: `alice.eth`, or a shortened address."""
        return self.name or short(self.subject)


def short(subject: str) -> str:
    """`0xf39F…2266`; anything that is no address as it is."""
    return f"{subject[:6]}…{subject[-4:]}" if subject.startswith("0x") and len(subject) == 42 else subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The tier, scopes and organisation that an account's roles give."""

    tier: Tier = "public"
    roles: tuple[str, ...] = ()
    """Names of the roles, sorted: for people to read, never for a decision."""
    rules: tuple[str, ...] = ()
    """Ids of the rules of groups that hold: what an access token says in place of an OIDC account's claims."""
    scopes: frozenset[str] = frozenset()
    """What the account may ever be granted."""
    organisation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Worn:
    """The hats of an account, and when they were read."""

    hats: frozenset[str] = field(default_factory=frozenset)
    """Paths such as `30.3.1`."""
    read_at: int = 0
    """Epoch seconds."""


class Hats(Protocol):
    """Reads the roles that a wallet wears (EIP-1155 balances of Hats Protocol, in one call)."""

    def worn(self, address: str, *, fresh: bool = False) -> Worn:
        """Return those hats of the role map that the wallet wears. At most five minutes old, or read just now if
        `fresh`.

        Raises Unavailable when the chain cannot be read: never "no roles".
        """
        ...


class Standings(Protocol):
    """The port to an account's present standing."""

    def of(
        self, subject: str, *, claims: tuple[str, ...] = (), rules: tuple[str, ...] = (), fresh: bool = False
    ) -> Standing:
        """Raises Unavailable. An OIDC account is judged by its `claims`, as in `Profile`, or by the `rules` of a token
        that was made from them; a wallet by its address alone.
        """
        ...


@dataclass(eq=False, repr=False)
class Denials:
    """The refusals of one process. Safe for threads; nothing reaches a caller, and nothing waits for more than one
    write.

    `organisation` is where records go of accounts that have none; `clock` gives epoch seconds.
    """

    write: Write
    clock: Callable[[], float]
    _: KW_ONLY
    organisation: str = NOWHERE

    def __post_init__(self) -> None:
        self._told: OrderedDict[tuple[str, str, str], float] = OrderedDict()
        self._lock = Lock()

    def record(
        self,
        *,
        grant: str,
        subject: str,
        client: str,
        organisation: str | None,
        reason: str,
        wanted: str = "",
        network: str = "",
    ) -> None:
        """`subject` is the account's name in records; `wanted` the scope of what was refused."""
        now = self.clock()
        if not self._due((grant or subject, reason, wanted), now):
            return
        told = AuditRecord(
            event=EVENT,
            outcome="denied",
            at=now,
            organisation=organisation or self.organisation,
            subject=subject,
            client=client,
            grant=grant,
            reason=reason,
            network=network,
            details={"scope": wanted} if wanted else {},
        )
        try:
            self.write(told)
        except Unavailable:
            logger.warning("a refusal could not be recorded", extra={"reason": reason})

    def _due(self, what: tuple[str, str, str], now: float) -> bool:
        with self._lock:
            last = self._told.get(what)
            if last is not None and now - last < AGAIN_SECONDS:
                return False
            self._told[what] = now
            self._told.move_to_end(what)
            if len(self._told) > REMEMBERED:
                self._told.popitem(last=False)
            return True
