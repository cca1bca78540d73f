"""Who calls, and what that account may ever do (seed 000, sections 2.1 and 7.3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

Tier = Literal["public", "member", "vibecoder"]
TIERS: tuple[Tier, ...] = get_args(Tier)
"""Lowest first; each includes those before it."""

Level = Literal["read", "write", "admin"]
LEVELS: tuple[Level, ...] = get_args(Level)
"""Lowest first: who may administer may write, who may write may read."""


def scope(toolset: str, level: Level) -> str:
    """The OAuth scope `{toolset}:{level}`."""
    return f"{toolset}:{level}"


def covers(granted: frozenset[str], wanted: str) -> bool:
    """Whether the wanted scope, or a higher level of the same toolset, is granted."""
    toolset, _, level = wanted.partition(":")
    return any(f"{toolset}:{name}" in granted for name in LEVELS[LEVELS.index(level) :]) if level in LEVELS else False


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """The account behind a request. `subject` None is somebody we know nothing of."""

    subject: str | None = None
    """Wallet address or member id."""
    organisation: str | None = None
    tier: Tier = "public"
    """The highest that the account's roles give."""
    roles: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()
    """Granted to the client with this token: what may be done now, not what the account may ever do."""
    client: str | None = None
    """The OAuth client that acts for the account."""
    token: str | None = None
    """A name of the credential that tells nothing of it: what calls are counted by."""
    display_name: str | None = None
    """For people to read; never for a decision."""

    @property
    def anonymous(self) -> bool:
        return self.subject is None

    def reaches(self, tier: Tier) -> bool:
        """Whether the account has this tier, or a higher one."""
        return TIERS.index(self.tier) >= TIERS.index(tier)


ANONYMOUS = Principal()


class Principals(Protocol):
    """Finds out who calls."""

    def identify(self, headers: Mapping[str, str]) -> Principal:
        """The principal of a request. Header names are lower-case. Raises Unauthorized for a credential that is bad."""
        ...


@dataclass(frozen=True, slots=True)
class Everybody:
    """The same principal for every request: nobody in particular, until a sign-in is there."""

    principal: Principal = ANONYMOUS

    def identify(self, headers: Mapping[str, str]) -> Principal:  # noqa: ARG002 - the port's shape
        return self.principal
