"""Memberships of organisations in memory, which tests change, and a toolset that takes one."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import pytest

from commonplace.identity import principals
from commonplace.identity.memberships import MemberNow, MemberOf, RoleHeld
from commonplace.identity.records import Grant
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.items import key
from commonplace.kernel.table import Write, serialize

LEAD = RoleHeld(id="ro_lead", title="Lead", team="Garden")
CLERK = RoleHeld(id="ro_clerk", title="Clerk", team="Kitchen")
KINDS = ("organisation", "messages", "topics")


@dataclass
class MemoryMemberships:
    """`commonplace.identity.memberships.Memberships`. `table` is where writes of the journal would go."""

    table: str = "records"
    members: dict[tuple[str, str], tuple[str, MemberOf]] = field(default_factory=dict)
    down: bool = False
    limits: dict[str, int] = field(default_factory=dict)
    refusals: list[tuple[str, str]] = field(default_factory=list)

    def join(self, account: str, organisation: str, *roles: RoleHeld, **named: str) -> MemberOf:
        """Makes the account a member with these roles, or gives its member these roles from now on."""
        values = {"organisation_name": organisation.title(), "member": f"mb_{organisation}", "name": "Ada"} | named
        made = MemberOf(organisation=organisation, roles=roles, **values)
        self.members[organisation, made.member] = account, made
        return made

    def hold(self, member: MemberOf, *roles: RoleHeld) -> None:
        account, _ = self.members[member.organisation, member.member]
        self.members[member.organisation, member.member] = account, replace(member, roles=roles)

    def leave(self, member: MemberOf) -> None:
        del self.members[member.organisation, member.member]

    def of_account(self, account: str) -> Sequence[MemberOf]:
        return [one for whose, one in self.members.values() if whose == account]

    def of(self, organisation: str, member: str, account: str) -> MemberNow | None:
        if self.down:
            raise Unavailable("The store does not answer.")
        whose, found = self.members.get((organisation, member), ("", None))
        if found is None or whose != account:
            return None
        return MemberNow(roles=frozenset(role.id for role in found.roles), limits=self.limits)

    def refused(self, organisation: str, grant: str) -> None:
        self.refusals.append((organisation, grant))

    def journal(self, event: Literal["granted", "revoked"], grant: Grant, at: float) -> Sequence[Write]:
        if (acts := grant.membership) is None:
            return []
        item = key(f"{acts.organisation}#journal", f"{event}#{grant.id}") | {"member": acts.member, "at": at}
        put = {"TableName": self.table, "Item": serialize(item), "ConditionExpression": "attribute_not_exists(pk)"}
        return [{"Put": put}]


def take_membership(monkeypatch: pytest.MonkeyPatch, toolset: str) -> None:
    """Makes what a toolset has take a membership, until the test ends."""
    monkeypatch.setitem(principals.MEMBERSHIP, toolset, True)
    monkeypatch.setitem(principals.KINDS, toolset, KINDS)
    monkeypatch.setitem(principals.ALWAYS, toolset, KINDS[:1])
