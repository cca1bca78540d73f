"""An account that has signed in, and what its roles amount to now (seed 000, sections 2.1 and 2.4)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, Self

from commonplace.identity.principals import Tier

Kind = Literal["wallet", "oidc", "agent"]

OIDC = "oidc:"
"""Subjects of accounts at a provider begin so: `oidc:{issuer}#{sub}`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What a sign-in found out. Kept only encrypted under the grant's secret; shown to the person, never decided by.

    `claims` are what an OIDC provider told at the sign-in, groups and the like; `provider_sessions` has them as of now.
    """

    subject: str
    """As `Principal.subject`."""
    kind: Kind
    address: str | None = None
    """Of a wallet, EIP-55."""
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
    """What an account's roles amount to."""

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
    """What was read of an account's hats, and when."""

    hats: frozenset[str] = field(default_factory=frozenset)
    """Paths such as `30.3.1`."""
    read_at: int = 0
    """Epoch seconds."""


class Hats(Protocol):
    """Reads the roles that a wallet wears (EIP-1155 balances of Hats Protocol, in one call)."""

    def worn(self, address: str, *, fresh: bool = False) -> Worn:
        """Of the hats that the role map names. At most five minutes old, or read just now if `fresh`.

        Raises Unavailable when the chain cannot be read: never "no roles".
        """
        ...


class Standings(Protocol):
    """What an account's roles amount to now."""

    def of(
        self, subject: str, *, claims: tuple[str, ...] = (), rules: tuple[str, ...] = (), fresh: bool = False
    ) -> Standing:
        """Raises Unavailable. An OIDC account is judged by its `claims`, as in `Profile`, or by the `rules` of a token
        that was made from them; a wallet by its address alone.
        """
        ...
