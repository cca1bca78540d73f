"""Accounts of one laptop, for people without a wallet: whoever is at it may choose any of them.

Functions refuse to start with them anywhere else (`settings.GuardSettings`).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass

from commonplace.identity.accounts import LOCAL, Profile, Standings
from commonplace.identity.principals import TIERS, Tier
from commonplace.kernel.audit import NOWHERE, AuditLog, AuditRecord
from commonplace.kernel.errors import BadRequest

_ACCOUNT = re.compile(rf"([A-Z][a-z]{{0,19}})=({'|'.join(TIERS)})")


@dataclass(frozen=True, slots=True)
class LocalAccount:
    """One to choose."""

    name: str
    tier: Tier

    @classmethod
    def parse(cls, text: str) -> "LocalAccount | None":
        """`Ada=member`; None for what is no account."""
        found = _ACCOUNT.fullmatch(text)
        return cls(found[1], next(tier for tier in TIERS if tier == found[2])) if found else None

    @property
    def id(self) -> str:
        return self.name.lower()

    @property
    def subject(self) -> str:
        return f"{LOCAL}{self.id}"


@dataclass(eq=False, repr=False)
class LocalSignIn:
    """Signs people in by their choice alone.

    `subject_hash` makes the account's name in records; `clock` gives epoch seconds.
    """

    accounts: Sequence[LocalAccount]
    standings: Standings
    audit: AuditLog
    _: KW_ONLY
    subject_hash: Callable[[str], str]
    clock: Callable[[], float]
    organisation: str = NOWHERE

    def __post_init__(self) -> None:
        self.accounts = tuple(self.accounts)

    def choose(self, account_id: str, network: str) -> Profile:
        """Raises BadRequest for an account that is not among them, Unavailable."""
        chosen = next((one for one in self.accounts if one.id == account_id), None)
        if chosen is None:
            raise BadRequest("There is no such local account.", hint="Choose one of those on the sign-in page.")
        standing = self.standings.of(chosen.subject, fresh=True)
        self.audit.write(
            AuditRecord(
                event="signin",
                outcome="ok",
                at=self.clock(),
                organisation=standing.organisation or self.organisation,
                subject=self.subject_hash(chosen.subject),
                network=network,
                details={"kind": "local", "tier": standing.tier, "roles": " ".join(standing.roles)},
            )
        )
        return Profile(subject=chosen.subject, kind="local", name=chosen.name)
