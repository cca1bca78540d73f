"""Who calls, and what that account may ever do (seed 000, sections 2.1 and 7.3; seed 002, section 3)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from commonplace.identity.scopes import LEVELS, Level, Permission, covers, scope

__all__ = ["ANONYMOUS", "LEVELS", "TIERS", "Everybody", "Level", "Principal", "Principals", "Tier", "covers", "scope"]

Tier = Literal["public", "member", "vibecoder"]
TIERS: tuple[Tier, ...] = get_args(Tier)
"""Lowest first; each includes those before it."""


def highest(tiers: Iterable[Tier]) -> Tier:
    """The highest of these, `public` if there is none."""
    return max(tiers, key=TIERS.index, default="public")


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """The account behind a request. `subject` None is somebody we know nothing of.

    Comes from a verified token alone: no argument, header or body can widen it.
    """

    subject: str | None = None
    """Wallet address (EIP-55), `oidc:{issuer}#{sub}` or `agent:{name}`."""
    organisation: str | None = None
    """Whose data the account may reach. None: nobody's."""
    member: str | None = None
    """The account as a member of the organisation, an opaque id; None without an organisation."""
    tier: Tier = "public"
    """The highest that the account's roles give, now."""
    roles: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()
    """Granted to the client with this token, and still covered by the account's roles: what may be done now."""
    attainable: frozenset[str] = frozenset()
    """What another consent of this account could grant. Empty for agents that nobody can be asked for."""
    permission: Permission = "action"
    resource_scopes: frozenset[str] | None = None
    """Kinds of things that the token reaches; None is all."""
    client: str | None = None
    """The OAuth client that acts for the account."""
    grant: str | None = None
    """The public name of the grant behind the token."""
    account: str | None = None
    """The account's name in records, which tells nothing of it."""
    token: str | None = None
    """A name of the credential that tells nothing of it: what calls are counted by."""
    display_name: str | None = None
    """For people to read; never for a decision."""
    uncertain: bool = False
    """The roles could not be read just now, so `tier` and `scopes` are those of the public for the time being."""

    @property
    def anonymous(self) -> bool:
        return self.subject is None

    def reaches(self, tier: Tier) -> bool:
        """Whether the account has this tier, or a higher one."""
        return TIERS.index(self.tier) >= TIERS.index(tier)

    def may(self, wanted: str) -> bool:
        """Whether the token's scopes cover this one."""
        return covers(self.scopes, wanted) and (self.permission == "action" or wanted.endswith(":read"))

    def could(self, wanted: str) -> bool:
        """Whether another consent could make the token cover it."""
        return covers(self.attainable, wanted)

    def touches(self, kind: str) -> bool:
        """Whether the token reaches things of this kind."""
        return self.resource_scopes is None or kind in self.resource_scopes


ANONYMOUS = Principal()


class Principals(Protocol):
    """Finds out who calls."""

    def identify(self, headers: Mapping[str, str], resource: str) -> Principal:
        """The principal of a request to `resource`, the canonical URL that tokens for it name as their audience.

        Header names are lower-case. No credential, or one of another scheme, is ANONYMOUS. Raises Unauthorized for a
        bearer token that is bad, Unavailable when that cannot be judged now.
        """
        ...

    def used(self, principal: Principal, address: str) -> None:
        """Notes that this principal, just identified, has made a call from this address. Never raises."""
        ...

    def denied(self, principal: Principal, reason: str, wanted: str, address: str) -> None:
        """Notes that this principal was refused something that takes the scope `wanted`. Never raises."""
        ...


@dataclass(frozen=True, slots=True)
class Everybody:
    """The same principal for every request: nobody in particular, or whom a laptop takes everybody for."""

    principal: Principal = ANONYMOUS

    def identify(self, headers: Mapping[str, str], resource: str) -> Principal:  # noqa: ARG002 - the port's shape
        return self.principal

    def used(self, principal: Principal, address: str) -> None:
        """Nobody keeps count."""

    def denied(self, principal: Principal, reason: str, wanted: str, address: str) -> None:
        """Nobody is anybody."""
