"""Memberships of organisations: the port through which identity knows on whose behalf a token reads (seed 002)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from commonplace.identity.records import Grant
    from commonplace.kernel.table import Write


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleHeld:
    """A role of a member, with the name of its team."""

    id: str
    title: str
    team: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberOf:
    """A membership of an account, as it is now."""

    organisation: str
    organisation_name: str
    member: str
    name: str
    roles: tuple[RoleHeld, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """The membership that a principal acts for, narrowed to the roles of its grant that the member still has."""

    organisation: str
    member: str
    roles: frozenset[str]
    expires_at: int
    """Epoch seconds: when the grant ends."""


class Memberships(Protocol):
    """The port to memberships. All methods raise Unavailable."""

    def of_account(self, account: str) -> Sequence[MemberOf]:
        """Return the memberships of an account, by its pseudonym."""
        ...

    def of(self, organisation: str, member: str, account: str) -> frozenset[str] | None:
        """Return the roles that a member has now, consistently; None for who is no member, or not this account."""
        ...

    def journal(self, event: Literal["granted", "revoked"], grant: Grant, at: float) -> Sequence[Write]:
        """Return what the organisation's journal says of a grant: written in the grant's own transaction."""
        ...
