"""The structure of an organisation, which people change in the console: teams, roles, members, policies, invitations.

An operation's input is what its function takes after `act`. Every change writes one record of the journal in its own
transaction; one with a `revision` is refused if somebody changed the thing since it was read. What rests on a whole
room (the tree of teams, what a team or a role has) commits alone.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from types import MappingProxyType
from typing import Any, TypeVar, get_args

from commonplace.governance import inputs, model, store
from commonplace.governance.governance import Governance
from commonplace.governance.inputs import (
    Aim,
    Color,
    Firstname,
    Id,
    Kind,
    Name,
    Revision,
    RoleTitle,
    Tasks,
    Title,
    Url,
    change,
)
from commonplace.governance.model import ROOT, Invitation, Member, Organisation, Policy, Role, Team, new_id, roles_of
from commonplace.governance.rules import Access, below, gone
from commonplace.governance.store import (
    AGENTS,
    CHANNELS,
    INVITATIONS,
    MEMBERS,
    NAMES,
    POLICIES,
    ROLES,
    TEAMS,
    TEXTS,
    Act,
)
from commonplace.identity.secrets import digest, fresh
from commonplace.identity.store.grant_writes import end
from commonplace.kernel.environment import is_organisation
from commonplace.kernel.errors import Conflict, Forbidden, InvalidInput, NotFound
from commonplace.web.operations import Actor, accepted, operation

R = TypeVar("R", bound=model.Record)

INVITATION = "cpv_"
"""The beginning of the secret of an invitation."""
HOLDERS = ("", "teams", "roles", "members", "channels", "topics", "governance-tools")
JOURNAL: Mapping[type, tuple[Any, str, str, tuple[str, ...]]] = {
    Organisation: (store.ORGANISATIONS, "Organization", "orgas", ("", "channels", "members")),
    Team: (TEAMS, "Team", "teams", HOLDERS),
    Role: (ROLES, "Role", "roles", (*HOLDERS, "policies")),
    Member: (MEMBERS, "Member", "members", (*HOLDERS, "policies")),
    Policy: (POLICIES, "Policy", "policies", ("", "policies")),
    Invitation: (INVITATIONS, "Invitation", "invitations", ()),
}
"""Where records are, what the journal calls them (seed 002, section 4.2), and the lists that show them."""
UNRECORDED = ("account", "note", "updated_at", "roles")
"""Fields that the journal does not have: an account is nobody's business, a note is for those who invite."""
NOTHING: Mapping[str, Any] = MappingProxyType({})


@operation("governance", title="Found an organisation", input=inputs.Founding, **inputs.DECLARED)
def found_organisation(governance: Governance, actor: Actor, request: inputs.Founding) -> Organisation:
    """Found an organisation, with its first team, whose roles the founder holds."""
    account, slug = governance.account(actor), request.slug
    if not is_organisation(slug):
        raise InvalidInput("Small letters, digits and hyphens, at most 64, with none at the ends.", field="slug")
    if slug in governance.reserved:
        raise Conflict("This deployment uses this name.", hint="Choose another one.", field="slug")
    founder = newcomer(governance, account, request)

    def decide(act: Act) -> Organisation:
        if act.store.founded(account) >= governance.founded:
            raise Forbidden(f"An account can found at most {governance.founded} organisations.")
        act.change.writes += act.store.found(slug, operator=governance.acting is not None)
        act.change.writes += act.store.join(slug, account, founder.id, founded=governance.founded)
        act.add(CHANNELS, model.Channel(id=new_id("ch"), kind="orga", name=request.name))
        team, member = new_team(act, request.name, founder)
        act.add(TEAMS, team)
        act.add(MEMBERS, member)
        new = Organisation(slug=slug, name=request.name, owner=founder.id, created_at=act.at)
        return write(act, None, new, [team])

    return governance.store.change(Access(organisation=slug, member=founder, roles={}), decide)


@change("Change the settings")
def change_settings(
    act: Act, *, revision: Revision, name: Name, color: Color = None, logo_url: Url = None
) -> Organisation:
    """Change the name, the colour and the logo of the organisation, as its owner."""
    was = owned(act, revision)
    channel = next(one for one in act.all(CHANNELS) if one.kind == "orga")
    if name != channel.name:
        act.replace(CHANNELS, replace(channel, name=name), channel)
    return write(act, was, replace(was, name=name, color=color, logo_url=logo_url))


@change("Change what agents may do")
def change_agents(
    act: Act,
    *,
    revision: Revision,
    agents_act: bool = False,
    reads_a_minute: inputs.Reads = None,
    writes_a_minute: inputs.Writes = None,
    searches_a_minute: inputs.Searches = None,
) -> Organisation:
    """Let agents act for their members, or only read, and limit the calls of each; empty is the usual limit."""
    was = owned(act, revision)
    now = replace(was, agents_act=agents_act, reads_a_minute=reads_a_minute)
    now = replace(now, writes_a_minute=writes_a_minute, searches_a_minute=searches_a_minute)
    return write(act, was, now)


@change("End an agent's access")
def end_agent(act: Act, *, agent_id: Id) -> model.Agent:
    """End the grant of any member's agent, as the owner: it is refused from its next request on."""
    owned(act)
    act.require(store.ORGANISATIONS, ROOT, "#owner = :me", me=act.access.member.id)
    agent = act.get(AGENTS, agent_id)
    act.change.writes += [
        act.store.table.delete(AGENTS.at(act.access.organisation, agent.id), "attribute_exists(pk)"),
        end(act.store.grants, agent.id, "organisation", int(act.store.clock())),
    ]
    act.record("Grant", "grants", agent.id, (agent.terms, {}), client=agent.client)
    act.touch(f"grants/{agent.id}")
    return agent


@change("Transfer the ownership")
def transfer_ownership(act: Act, *, member_id: Id) -> Organisation:
    """Make another member, who has an account, the owner in your place."""
    was, heir = owned(act), present(act, member_id)
    if not heir.account:
        raise Conflict(f"{heir.name} has no account here yet.", hint="Invite them first.", field="member_id")
    if heir.id != was.owner:
        act.require(MEMBERS, heir.id, "attribute_exists(pk) AND #account = :account", account=heir.account)
    return write(act, was, replace(was, owner=heir.id), members=[was.owner, heir.id])


@change("Remove a member")
def remove_member(act: Act, *, member_id: Id) -> Member:
    """Remove a member who holds no role any more, as the owner."""
    return end_membership(act, owned(act), member_id)


@change("Leave the organisation")
def leave_organisation(act: Act) -> Member:
    """Leave the organisation, once your roles are assigned to others. Its owner transfers it first."""
    return end_membership(act, act.get(store.ORGANISATIONS, ROOT), act.access.member.id)


def end_membership(act: Act, organisation: Organisation, id: str) -> Member:
    """Make a member somebody who left. Raises Conflict for the owner, and for whoever holds roles: it names them."""
    was = present(act, id)
    if was.id == organisation.owner:
        raise Conflict("The owner cannot leave.", hint="Transfer the ownership first.")
    if was.roles:
        held = map(partial(act.get, ROLES), was.roles)
        titles = sorted(f"{one.title} ({act.get(TEAMS, one.team).name})" for one in held)
        raise Conflict(f"{was.name} holds roles: assign them to others first.", hint=f"Assign: {', '.join(titles)}.")
    act.require(store.ORGANISATIONS, ROOT, "#owner = :owner", owner=organisation.owner)
    if was.account:
        act.change.writes.append(act.store.leave(organisation.slug, was.account))
    return write(act, was, replace(was, account="", picture_url=None, left_at=act.at))


@change("Change your profile")
def change_profile(act: Act, *, firstname: Firstname, surname: inputs.Surname = "", picture_url: Url = None) -> Member:
    """Change your name and your picture in this organisation."""
    was = present(act, act.access.member.id)
    accepted(inputs.OfPerson, {"firstname": firstname, "surname": surname})
    now = replace(was, firstname=firstname, surname=surname, picture_url=picture_url)
    if now.name != was.name:
        # Messages show the names of their authors, teams those of their roles' holders.
        act.touch(*(f"channels/{one.id}/messages" for one in act.all(CHANNELS) if one.kind != "dm"))
        act.touch(*(f"teams/{id}" for id in sorted(was.teams)))
    return write(act, was, now)


@change("Create a team")
def create_team(act: Act, *, parent_team_id: Id, name: Name, mission: Aim = "", color: Color = None) -> Team:
    """Create a team below another one, with a channel and the roles of leader, secretary and referee, which you hold
    until they are assigned to others."""
    act.alone()
    parent, me = act.get(TEAMS, parent_team_id), present(act, act.access.member.id)
    team, holder = new_team(act, name, me, parent=parent.id, color=color, mission=mission)
    act.replace(MEMBERS, holder, me)
    return write(act, None, team, [team, parent], [me.id], more={"mission": mission} if mission else NOTHING)


@change("Change a team")
def change_team(
    act: Act, *, team_id: Id, revision: Revision, name: Name, color: Color = None, parent_team_id: Id | None = None
) -> Team:
    """Change the name and the colour of a team, or, with a parent, the team that it stands below."""
    was = act.get(TEAMS, team_id, revision)
    now, moved = replace(was, name=name, color=color, parent=parent_team_id or was.parent), []
    if now.parent is not None and now.parent != was.parent:
        act.alone()
        if was.parent is None:
            raise Conflict("This is the top team: it cannot have a parent.", field="parent_team_id")
        tree = {one.id: one for one in act.all(TEAMS)}
        if now.parent not in tree:
            raise gone()
        if below(was.id, now.parent, tree):
            raise Conflict("A team cannot be its own ancestor.", hint="Choose another team.", field="parent_team_id")
        moved = [tree[was.parent], tree[now.parent]]
    if now.name != was.name:
        if name_claim(now.name) != name_claim(was.name):
            claim_name(act, now)
            act.change.release(NAMES, name_claim(was.name), was.id)
        channel = act.get(CHANNELS, was.channel)
        act.replace(CHANNELS, replace(channel, name=now.name), channel)
    holders = [one.member for one in act.all(ROLES, roles_of(was.id))]
    return write(act, was, now, [now, *moved], holders)


@change("Delete a team")
def delete_team(act: Act, *, team_id: Id, revision: Revision) -> Team:
    """Delete a team that is not in use: without teams below it, policies, open processes, or roles beside those of
    leader, secretary and referee, which end with it. Its channel is archived."""
    act.alone()
    team = act.get(TEAMS, team_id, revision)
    roles, channel = act.all(ROLES, roles_of(team.id)), act.get(CHANNELS, team.channel)
    obstacles = {
        "it is the first team": team.parent is None,
        "teams stand below it": any(one.parent == team.id for one in act.all(TEAMS)),
        "it has further roles": len(roles) > len(get_args(model.RoleType)) or any(one.type is None for one in roles),
        "it has policies": any(one.team == team.id for one in act.all(POLICIES)),
        "a process is open in its channel": bool(act.all(store.ACTIVE, f"{channel.id}.")),
    }
    if team.parent is None or any(obstacles.values()):
        found = ", ".join(why for why, is_so in obstacles.items() if is_so)
        raise Conflict(f"This team is in use: {found}.", hint="Move, end or delete these first.")
    act.change.release(NAMES, name_claim(team.name), team.id)
    act.replace(CHANNELS, replace(channel, archived_at=act.at), channel)
    for role in roles:
        act.change.remove(ROLES, role)
    for holder in [act.get(MEMBERS, id) for id in {one.member for one in roles}]:
        act.replace(MEMBERS, with_roles(holder, team, without=[one.id for one in roles]), holder)
    ended = {"roles": {one.title: one.member for one in roles}}
    return write(act, team, None, [team, act.get(TEAMS, team.parent)], (one.member for one in roles), more=ended)


@change("Create a role")
def create_role(
    act: Act,
    *,
    team_id: Id,
    title: RoleTitle,
    type: Kind = None,
    mission: Aim = "",
    duties: Tasks = (),
    member_id: Id = "",
) -> Role:
    """Create a role of a team. Somebody always holds it: without a member, who leads the team."""
    act.alone()
    team = act.get(TEAMS, team_id)
    holder = present(act, member_id or act.get(ROLES, team.leader).member)
    id = roles_of(team.id) + new_id()
    role = Role(id=id, team=team.id, member=holder.id, title=title, type=type, mission=mission, duties=duties)
    act.replace(MEMBERS, with_roles(holder, team, role.id), holder)
    return write(act, None, role, [team], [holder.id])


@change("Change a role")
def change_role(
    act: Act,
    *,
    role_id: Id,
    revision: Revision,
    title: RoleTitle,
    type: Kind = None,
    mission: Aim = "",
    duties: Tasks = (),
) -> Role:
    """Change what a role is called, its mission and its duties; and its type, unless it is a leader's."""
    was = act.get(ROLES, role_id, revision)
    if was.type == "leader" and type:
        raise Conflict("The role of a leader stays one.", field="type")
    kind = was.type if was.type == "leader" else type
    now = replace(was, title=title, type=kind, mission=mission, duties=duties)
    return write(act, was, now, [act.get(TEAMS, was.team)], [was.member])


@change("Assign a role")
def assign_role(act: Act, *, role_id: Id, revision: Revision, member_id: Id) -> Role:
    """Give a role to another member; whoever held it does so no longer."""
    was = act.get(ROLES, role_id, revision)
    team, holder, heir = act.get(TEAMS, was.team), act.get(MEMBERS, was.member), present(act, member_id)
    if heir.id != holder.id:
        act.replace(MEMBERS, with_roles(holder, team, without=[was.id]), holder)
        act.replace(MEMBERS, with_roles(heir, team, was.id), heir)
    return write(act, was, replace(was, member=heir.id), [team], [holder.id, heir.id])


@change("Delete a role")
def delete_role(act: Act, *, role_id: Id, revision: Revision) -> Role:
    """Delete a role that owns no policies and is not a leader's."""
    act.alone()
    role = act.get(ROLES, role_id, revision)
    if role.type == "leader":
        raise Conflict("A team always has a leader.", hint="Assign the role to somebody else.")
    if owned := [one.title for one in act.all(POLICIES) if one.role == role.id]:
        raise Conflict("This role owns policies.", hint=f"Delete them first: {', '.join(owned[:5])}.")
    team, holder = act.get(TEAMS, role.team), act.get(MEMBERS, role.member)
    act.replace(MEMBERS, with_roles(holder, team, without=[role.id]), holder)
    return write(act, role, None, [team], [holder.id])


@change("Create a policy")
def create_policy(act: Act, *, role_id: Id, title: Title, abstract: inputs.Abstract, text: inputs.Markdown) -> Policy:
    """Create a policy of a role that you hold. Its number is given once and for all."""
    act.alone()
    role, organisation = held(act, role_id), act.get(store.ORGANISATIONS, ROOT)
    number = organisation.policies + 1
    about: dict[str, Any] = {"id": f"pol_{number:06}", "title": title, "abstract": abstract, "updated_at": act.at}
    policy = Policy(number=number, role=role.id, team=role.team, **about)
    act.replace(store.ORGANISATIONS, replace(organisation, policies=number), organisation)
    act.add(TEXTS, model.PolicyText(id=policy.id, text=text))
    return write(act, None, policy, [act.get(TEAMS, role.team)], through=role, more={"text": text})


@change("Change a policy")
def change_policy(
    act: Act, *, policy_id: Id, revision: Revision, title: Title, abstract: inputs.Abstract, text: inputs.Markdown
) -> Policy:
    """Change a policy of a role that you hold."""
    was = act.get(POLICIES, policy_id, revision)
    role, before = held(act, was.role), act.get(TEXTS, was.id)
    now = replace(was, title=title, abstract=abstract)
    if now == was and text == before.text:
        return was
    if text != before.text:
        act.replace(TEXTS, replace(before, text=text), before)
    texts = ({"text": before.text}, {"text": text}) if text != before.text else NOTHING
    return write(act, was, replace(now, updated_at=act.at), [act.get(TEAMS, role.team)], through=role, more=texts)


@change("Delete a policy")
def delete_policy(act: Act, *, policy_id: Id, revision: Revision) -> Policy:
    """Delete a policy of a role that you hold. The journal keeps its text, and no other gets its number."""
    policy = act.get(POLICIES, policy_id, revision)
    role, text = held(act, policy.role), act.get(TEXTS, policy.id)
    act.change.remove(TEXTS, text)
    return write(act, policy, None, [act.get(TEAMS, role.team)], through=role, more={"text": text.text})


@change("Invite somebody")
def invite(act: Act, *, note: inputs.Note = "", member_id: Id = "") -> tuple[Invitation, str]:
    """Invite somebody by a link, whose secret is shown once and counts once. The note is for those who invite; a member
    is one without an account, whom the link makes of whoever accepts."""
    me, secret = act.access.member.id, fresh(INVITATION)
    if sum(one.member == me for one in act.all(INVITATIONS)) >= model.MAX_INVITATIONS:
        raise Conflict(f"{model.MAX_INVITATIONS} invitations of yours are open.", hint="Withdraw some first.")
    if member_id and (known := present(act, member_id)).account:
        raise Conflict(f"{known.name} has an account here.", field="member_id")
    about: dict[str, Any] = {"created_at": act.at, "expires_at": act.store.invitation_ends, "note": note}
    return write(act, None, Invitation(id=digest(secret), member=me, claims=member_id, **about)), secret


@change("Withdraw an invitation")
def withdraw_invitation(act: Act, *, invitation_id: Id) -> None:
    """Withdraw an invitation of yours; the owner withdraws anybody's."""
    invitation = act.get(INVITATIONS, invitation_id)
    if invitation.member != act.access.member.id:
        owned(act)
    write(act, invitation, None)


@operation("governance", title="Accept an invitation", input=inputs.Acceptance, **inputs.DECLARED)
def accept_invitation(governance: Governance, actor: Actor, request: inputs.Acceptance) -> Member:
    """Become a member by the link of an invitation, which counts once, and while who sent it is one. One that was made
    for a member who is known by name only makes you that member."""
    account, slug = governance.account(actor), request.orga_id
    over = NotFound("This invitation is no longer valid.", hint="Ask who sent the link for a new one.")
    if not is_organisation(slug):
        raise over

    def pending() -> Invitation:
        if governance.store.membership(account, slug):
            raise Conflict("You are a member of this organisation already.")
        found = governance.store.records.get(slug, INVITATIONS, digest(request.secret))
        if found is None or found.expires_at <= governance.store.clock():
            raise over
        if governance.store.get(slug, MEMBERS, found.member).left_at:
            raise over
        return found

    joining = newcomer(governance, account, request, pending().claims)

    def decide(act: Act) -> Member:
        invitation, known, member = pending(), None, joining
        if invitation.claims:
            known = act.get(MEMBERS, invitation.claims)
            if known.account or known.left_at:
                raise over
            member = replace(joining, roles=known.roles, picture_url=known.picture_url)
        act.change.remove(INVITATIONS, invitation)
        act.require(MEMBERS, invitation.member, "attribute_not_exists(#leftAt)")
        act.change.writes += act.store.join(slug, account, member.id)
        return write(act, known, member, more={"invitedBy": invitation.member})

    return governance.store.change(Access(organisation=slug, member=joining, roles={}), decide)


def newcomer(
    governance: Governance, account: str, request: inputs.Founding | inputs.Acceptance, id: str = ""
) -> Member:
    """Return whoever founds or joins an organisation as a member; `id` is that of one who is known already."""
    about: dict[str, Any] = {"account": account, "joined_at": governance.store.now()}
    return Member(id=id or new_id("mb"), firstname=request.firstname, surname=request.surname, **about)


def write(
    act: Act,
    was: R | None,
    now: R | None,
    teams: Sequence[Team] = (),
    members: Iterable[str] = (),
    *,
    through: Role | None = None,
    more: Mapping[str, Any] | tuple[Mapping[str, Any], Mapping[str, Any]] = NOTHING,
) -> R:
    """Write a record, its change, or its end, with the journal; nothing if it stays as it is. Return it.

    The first of `teams` is whose change it is; they and `members` have pages that show it. `more` stands in the journal
    beside the record's fields: after a change, before an end, or both in a pair.
    """
    record: Any = now or was
    written: R = replace(now, revision=was.revision + 1) if was and now and was != now else record
    if was == now:
        return written
    room, name, target, lists = JOURNAL[type(record)]
    if was is None:
        act.add(room, now)
    elif now is None:
        act.change.remove(room, was)
    else:
        act.replace(room, now, was)
    id = record.slug if isinstance(record, Organisation) else record.id
    beside = more if isinstance(more, tuple) else (NOTHING, more) if now else (more, NOTHING)
    before, after = ({**one, **of} for one, of in zip(model.changed(was, now, *UNRECORDED), beside, strict=True))
    act.record(name, target, id, (before, after), through=through, team=teams[0] if teams else None)
    pages = (f"{target}/{id}",) if target in ("teams", "members", "policies") else ()
    act.touch(*lists, *pages, *(f"members/{one}" for one in members))
    # A policy shows the title and the holder of its role.
    roles = {id} if isinstance(record, Role) else set(record.roles) if isinstance(record, Member) else ()
    if was and now and roles:
        act.touch(*(f"policies/{one.id}" for one in act.all(POLICIES) if one.role in roles))
    for one in teams:
        act.touch(f"teams/{one.id}", f"channels/{one.channel}/messages")
    return written


def new_team(
    act: Act, name: str, holder: Member, *, parent: str | None = None, color: str | None = None, mission: str = ""
) -> tuple[Team, Member]:
    """Write the channel, the name and the first roles of a new team; return it, and the member who holds these roles.

    The caller writes both. Raises Conflict for a name that another team has, and for too many roles.
    """
    id = new_id("te")
    roles = {type: roles_of(id) + new_id() for type in get_args(model.RoleType)}
    team = Team(id=id, name=name, channel=new_id("ch"), leader=roles["leader"], parent=parent, color=color)
    claim_name(act, team)
    act.add(CHANNELS, model.Channel(id=team.channel, kind="team", name=name, team=id))
    for type, role in roles.items():
        about = {"mission": mission if type == "leader" else "", "title": type.capitalize()}
        act.add(ROLES, Role(id=role, team=id, member=holder.id, type=type, **about))
    return team, with_roles(holder, team, *roles.values())


def claim_name(act: Act, team: Team) -> None:
    """Write the claim of a team's name. Raises Conflict if another team has it, whatever the case of its letters."""
    name = name_claim(team.name)
    if act.change.table.get(NAMES.at(act.access.organisation, name)):
        raise Conflict("Another team has this name.", hint="Choose another one.", field="name")
    act.change.claim(NAMES, name, team.id)


def name_claim(name: str) -> str:
    """Return the id under which a team's name is claimed: a digest, since a key is bounded in bytes."""
    folded = unicodedata.normalize("NFKC", name).casefold().translate(dict.fromkeys(map(ord, inputs.JOINERS)))
    return f"team.{sha256(unicodedata.normalize('NFKC', folded).encode()).hexdigest()}"


def with_roles(member: Member, team: Team, *roles: str, without: Iterable[str] = ()) -> Member:
    """Return a member with and without roles of a team. Raises Conflict for more than a member can hold."""
    ended = set(without)
    held = {id: of for id, of in member.roles.items() if id not in ended} | dict.fromkeys(roles, team.id)
    if roles and len(held) > (most := model.MAX_ROLES):
        raise Conflict(f"{member.name} would hold more than {most} roles.", hint="Assign some to others first.")
    return replace(member, roles=held)


def present(act: Act, id: str) -> Member:
    """Return a member as it is now. Raises NotFound for one who left, too."""
    member = act.get(MEMBERS, id)
    if member.left_at is not None:
        raise gone()
    return member


def held(act: Act, id: str) -> Role:
    """Return a role that this member holds, and still must when the change is committed. Raises Forbidden."""
    role = act.get(ROLES, id)
    if role.member != act.access.member.id:
        raise Forbidden("Only the holder of a policy's role can do this.", hint=f"The role is {role.title}.")
    act.authority(role.id)
    return role


def owned(act: Act, revision: int | None = None) -> Organisation:
    """Return the organisation. Raises Forbidden for everybody but its owner, and Conflict for another revision."""
    organisation = act.get(store.ORGANISATIONS, ROOT, revision)
    if organisation.owner != act.access.member.id:
        raise Forbidden("Only the owner of the organisation can do this.")
    return organisation
