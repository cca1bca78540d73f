"""Memberships for identity (`identity.memberships.Memberships`): for whom an account can let agents read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from commonplace.governance.model import KINDS, ROOT, Agent, Decision, Member, Organisation, new_id, stamp
from commonplace.governance.rules import gone
from commonplace.governance.store import AGENTS, JOURNAL, MEMBERS, ORGANISATIONS, ROLES, TEAMS, Store
from commonplace.identity.memberships import NAMELESS, MemberNow, MemberOf, RoleHeld
from commonplace.kernel.items import decoded
from commonplace.kernel.records import Change, is_id

if TYPE_CHECKING:
    from commonplace.identity.records import Grant
    from commonplace.kernel.table import Write


class StoredMemberships:
    """Memberships as the store has them now. Every method raises Unavailable."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def of_account(self, account: str) -> Sequence[MemberOf]:
        """Return the memberships of an account, in the order of their organisations' names."""
        found = [self._shown(one.id, one.member, account) for one in self.store.memberships(account)]
        return sorted(filter(None, found), key=lambda one: (one.organisation_name.casefold(), one.organisation))

    def of(self, organisation: str, member: str, account: str) -> MemberNow | None:
        """Return what a member has now; None unless this account is that member."""
        if not is_id(member):
            return None
        where = [MEMBERS.at(organisation, member), ORGANISATIONS.at(organisation, ROOT)]
        # Every request of a token reads this: at once, for it waits for the answer.
        items = {item["pk"]: item for item in self.store.table.get_many(where)}
        person, whole = (items.get(one["pk"]) for one in where)
        if (found := _living(decoded(Member, person), account)) is None:
            return None
        if (present := decoded(Organisation, whole)) is None:
            raise gone()
        return MemberNow(roles=frozenset(found.roles), limits=present.limits)

    def refused(self, organisation: str, grant: str) -> None:
        """Count something that was refused to an agent."""
        self.store.refused(organisation, grant)

    def journal(self, event: Literal["granted", "revoked"], grant: Grant, at: float) -> Sequence[Write]:
        """Return what the journal says of a grant: which application reads what, for whom, and until when."""
        if (chosen := grant.membership) is None:
            return ()
        records = self.store.records
        member = records.get(chosen.organisation, MEMBERS, chosen.member)
        organisation = records.get(chosen.organisation, ORGANISATIONS, ROOT)
        kinds = KINDS if grant.resource_scopes is None else grant.resource_scopes
        agent = Agent(
            id=grant.id,
            member=chosen.member,
            client=grant.client_name or NAMELESS,
            roles=chosen.roles,
            kinds=tuple(kind for kind in KINDS if kind in kinds),
            acts=grant.permission == "action",
            created_at=stamp(datetime.fromtimestamp(at, UTC)),
            expires_at=grant.expires_at,
        )
        change = Change(self.store.table, chosen.organisation)
        made: dict[str, Any] = {"type": "Grant", "target_type": "grants", "target": grant.id, "role": "Member"}
        made |= {"at": agent.created_at, "client": agent.client, "member": chosen.member}
        made |= {"name": member.name if member else "", "team": organisation.name if organisation else ""}
        made["after" if event == "granted" else "before"] = agent.terms
        change.add(JOURNAL, Decision(id=new_id(), **made))
        if event == "granted":
            change.add(AGENTS, agent)
        else:
            change.writes.append(self.store.table.delete(AGENTS.at(chosen.organisation, grant.id)))
        # Who waits for changes with this grant hears of its end (`watch`).
        self.store.feed(change, ("decisions", *([f"grants/{grant.id}"] if event == "revoked" else ())))
        return change.writes

    def _shown(self, slug: str, id: str, account: str) -> MemberOf | None:
        records = self.store.records
        organisation, member = records.get(slug, ORGANISATIONS, ROOT), _living(records.get(slug, MEMBERS, id), account)
        if organisation is None or member is None:
            return None
        teams = records.get_many(slug, TEAMS, sorted(member.teams))
        roles = records.get_many(slug, ROLES, sorted(member.roles)).values()
        held = (RoleHeld(id=one.id, title=one.title, team=teams[one.team].name) for one in roles if one.team in teams)
        return MemberOf(
            organisation=slug,
            organisation_name=organisation.name,
            member=id,
            name=member.name,
            roles=tuple(sorted(held, key=lambda one: (one.team, one.title, one.id))),
        )


def _living(member: Member | None, account: str) -> Member | None:
    """Return a member that is this account and has not left; None otherwise."""
    return member if member and account and member.account == account and member.left_at is None else None
