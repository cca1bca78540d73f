"""Governance for callers: who they are in an organisation, and what of it they reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from commonplace.governance.model import Member, Process
from commonplace.governance.rules import Access, gone
from commonplace.governance.store import MEMBERS, PROCESSES, Store
from commonplace.identity.authorization import Need
from commonplace.kernel.environment import is_organisation
from commonplace.kernel.errors import Forbidden
from commonplace.kernel.records import Room
from commonplace.web.operations import Actor

if TYPE_CHECKING:
    from commonplace.governance.search import MessageSearch

PERSON = Need("public", "governance:read")
"""The need of pages for people: anybody who is signed in. `Governance.access` judges the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Governance:
    """The organisations of a deployment."""

    store: Store
    reserved: frozenset[str] = frozenset()
    """Names that no organisation can be founded under: configuration and role maps use them."""
    founded: int = 3
    """How many organisations one account may found."""
    search: MessageSearch | None = None
    sealing_key: Callable[[], str] | None = None
    """Returns what secrets of webhooks are sealed with. Raises Unavailable."""
    loopback: bool = False
    """Whether webhooks may be on this machine: for development alone."""
    acting: str | None = None
    """The member in whose place an operator acts; empty before there is one."""

    def access(self, actor: Actor, organisation: str) -> Access:
        """Return who asks and how far that reaches, by membership and roles as they are now.

        A token reaches the organisation of its grant; the session of a browser each of which the account is a member.
        Raises NotFound, and Forbidden for a token without a membership.
        """
        principal = actor.principal
        if not is_organisation(organisation):
            raise gone()
        if (held := principal.membership) is not None:
            member = self.store.records.get(organisation, MEMBERS, held.member)
            if held.organisation != organisation or member is None or member.account != principal.account:
                raise gone()
            return Access(
                organisation=organisation,
                member=member,
                roles={role: team for role, team in member.roles.items() if role in held.roles},
                kinds=principal.resource_scopes,
                agent=True,
                acts=principal.may("governance:write"),
                client=held.client,
                grant=principal.grant or "",
                expires_at=held.expires_at,
            )
        return self.in_person(actor, organisation)

    def in_person(self, actor: Actor, organisation: str) -> Access:
        """Return the access of the person of a browser's session. Raises NotFound, and Forbidden for a token."""
        member = self.member(actor, organisation)
        return Access(organisation=organisation, member=member, roles=member.roles)

    def member(self, actor: Actor, organisation: str) -> Member:
        """Return the person of a browser's session as a member. Raises NotFound, and Forbidden for a token."""
        if (member := self.store.membership(self.account(actor), organisation)) is None:
            raise gone()
        return member

    def account(self, actor: Actor) -> str:
        """Return the account of somebody who is here in person. Raises Forbidden for tokens, which act for others."""
        if actor.principal.grant is not None or not actor.principal.account:
            raise Forbidden("This requires a person who is signed in.", hint="Sign in to the console.")
        return actor.principal.account

    def process(self, access: Access, id: str) -> Process:
        """Return a process in a readable channel. Raises NotFound."""
        self.store.channel(access, id.partition(".")[0])
        return self.store.get(access.organisation, PROCESSES, id)

    def names(self, organisation: str, ids: set[str], room: Room[Any] = MEMBERS) -> Mapping[str, str]:
        """Return the names of members, those who left included; or of the records of another room."""
        found = self.store.records.get_many(organisation, room, sorted(ids))
        return {id: one.name for id, one in found.items()}
