"""Memberships of organisations: on whose behalf a token acts, beside what its account may do (seed 002, section 3).

A person chooses one at consent, the grant carries it, and every request reads it anew: a role that was lost, or a
member who is gone, counts at once. Who is a member is known to a capability, behind the port `Memberships`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol

from commonplace.identity.principals import MEMBERSHIP

if TYPE_CHECKING:
    from commonplace.identity.records import Grant
    from commonplace.kernel.table import Write

GRANT_SECONDS = (3_600, *(days * 86_400 for days in (1, 7, 30, 90)))
"""How long a person may let a client act for a member."""
USUAL_SECONDS = 30 * 86_400

NAMELESS = "An app without a name"

GONE = "member_gone"
"""Why a grant is worth nothing any more: the account is no longer this member."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleHeld:
    """One role of a member, for a consent page."""

    id: str
    title: str
    team: str
    """Its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberOf:
    """A membership of an account, as of now."""

    organisation: str
    organisation_name: str
    member: str
    name: str
    roles: tuple[RoleHeld, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenMembership:
    """The membership that a person chose for a grant, with the ids of the roles that the client may use, sorted."""

    organisation: str
    member: str
    roles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """On whose behalf a principal acts."""

    organisation: str
    member: str
    roles: frozenset[str]
    """Of those that were chosen, the ones that the member holds now."""
    expires_at: int
    """When the grant ends, in epoch seconds."""
    client: str
    """The name of the application that acts, or NAMELESS."""
    limits: Mapping[str, int] = field(default_factory=dict, compare=False)
    """Calls a minute that the organisation allows each token, by class of calls, where it names some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberNow:
    """A member as of now: ids of the roles held, and the organisation's limits as in `Membership`."""

    roles: frozenset[str]
    limits: Mapping[str, int] = field(default_factory=dict)


class Memberships(Protocol):
    """The port to the organisations of a deployment. `account` is `Principal.account`, or `Grant.subject_hash`."""

    def of_account(self, account: str) -> Sequence[MemberOf]:
        """Return every membership of an account. Raises Unavailable."""

    def of(self, organisation: str, member: str, account: str) -> MemberNow | None:
        """Return what a member has now, read consistently; None unless the account is that member. Raises
        Unavailable."""

    def refused(self, organisation: str, grant: str) -> None:
        """Count something that was refused to whoever acts with a grant. Never raises."""

    def journal(self, event: Literal["granted", "revoked"], grant: Grant, at: float) -> Sequence[Write]:
        """Return writes of the organisation's journal, none for a grant without membership.

        They are part of the grant's own transaction, so they have no conditions. It may read names. Raises Unavailable.
        """


def takes_membership(resource: str) -> bool:
    """Return whether tokens for a canonical resource, the path of one toolset, act for a member."""
    return MEMBERSHIP.get(resource.rpartition("/mcp/")[2], False)


def member_now(memberships: Memberships | None, grant: Grant) -> MemberNow | None:
    """Return what a grant's membership gives now: of the roles that were chosen, those that its member holds; None if
    the grant is worth nothing any more.

    A grant has a membership exactly if its resource takes one; without, it has no roles. Raises Unavailable.
    """
    chosen = grant.membership
    if (chosen is not None) is not takes_membership(grant.resource):
        return None
    if chosen is None:
        return MemberNow(roles=frozenset())
    now = memberships.of(chosen.organisation, chosen.member, grant.subject_hash) if memberships else None
    return None if now is None else replace(now, roles=now.roles & frozenset(chosen.roles))
