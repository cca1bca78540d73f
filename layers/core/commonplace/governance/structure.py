"""The structure of an organisation, which people change in the console: teams, roles, members, policies, invitations.

Every change writes one record of the journal in its own transaction. What takes a `revision` is refused if the thing
was changed since it was read. What rests on a whole room (the tree of teams, what a team or a role has) commits alone.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial, wraps
from hashlib import sha256
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field

from commonplace.governance.governance import Governance
from commonplace.governance.model import (
    MAX_DUTIES,
    MAX_DUTY,
    MAX_INVITATIONS,
    MAX_MISSION,
    MAX_NAME,
    MAX_PERSON_NAME,
    MAX_POLICY_CHARACTERS,
    MAX_ROLES,
    MAX_SUMMARY,
    MAX_TITLE,
    MAX_URL,
    ROOT,
    Channel,
    Invitation,
    Member,
    Organisation,
    Policy,
    PolicyText,
    Role,
    RoleType,
    Team,
    changed,
    new_id,
    shown,
)
from commonplace.governance.rules import Access, below, gone, only_in_person
from commonplace.governance.store import (
    ACTIVE,
    CHANNELS,
    INVITATIONS,
    MEMBERS,
    NAMES,
    ORGANISATIONS,
    POLICIES,
    ROLES,
    TEAMS,
    TEXTS,
    Act,
)
from commonplace.identity.secrets import digest, fresh
from commonplace.kernel.environment import is_organisation
from commonplace.kernel.errors import Conflict, Forbidden, InvalidInput, NotFound
from commonplace.web.faces import Face
from commonplace.web.operations import Actor, Input, Operation, operation

INVITATION = "cpv_"
"""The beginning of the secret of an invitation."""

JOINERS = "\u200c\u200d"
"""Invisible characters that writing needs; others could hide or turn around what a reader sees."""


def line(text: str) -> str:
    """Return a text as one line without needless spaces. Raises ValueError for characters that nobody sees."""
    found = " ".join(text.split())
    if any(unicodedata.category(one).startswith("C") and one not in JOINERS for one in found):
        raise ValueError("it has characters that cannot be seen")
    return found


def named(text: str) -> str:
    """Return a text as `line` does. Raises ValueError for one that shows nothing, too."""
    if not (found := line(text)).strip(JOINERS):
        raise ValueError("it is empty")
    return found


def block(text: str) -> str:
    """Return a text of several lines. Raises ValueError for control characters."""
    found = text.replace("\r\n", "\n").strip()
    if any(unicodedata.category(one) in ("Cc", "Cs") and one not in "\n\t" for one in found):
        raise ValueError("it has control characters")
    return found


def filled(text: str) -> str:
    """Return a text as `block` does. Raises ValueError for one that shows nothing, too."""
    if not (found := block(text)).strip(JOINERS):
        raise ValueError("it is empty")
    return found


Id = Annotated[str, Field(max_length=100)]
Revision = Annotated[int, Field(ge=1, description="The one that was read: a change in between is a conflict.")]
Name = Annotated[str, Field(max_length=MAX_NAME), AfterValidator(named)]
Title = Annotated[str, Field(max_length=MAX_TITLE), AfterValidator(named)]
Firstname = Annotated[str, Field(max_length=MAX_PERSON_NAME), AfterValidator(named)]
Surname = Annotated[str, Field(max_length=MAX_PERSON_NAME), AfterValidator(line)]
Mission = Annotated[str, Field(max_length=MAX_MISSION), AfterValidator(block)]
Duties = Annotated[
    list[Annotated[str, Field(max_length=MAX_DUTY), AfterValidator(named)]], Field(max_length=MAX_DUTIES)
]
Summary = Annotated[str, Field(max_length=MAX_SUMMARY), AfterValidator(block)]
PolicyMarkdown = Annotated[
    str, Field(min_length=1, max_length=MAX_POLICY_CHARACTERS, description="Markdown."), AfterValidator(block)
]
Color = Annotated[str | None, Field(pattern="^#[0-9A-Fa-f]{6}$", description="Such as #2f6f4e.")]
Url = Annotated[str | None, Field(max_length=MAX_URL, pattern=r"^https://[!#-;=?-~]+$", description="https://…")]


class InOrganisation(Input):
    orga_id: Id


class Founding(Input):
    slug: str = Field(max_length=64, description="Small letters, digits and hyphens; it can never be changed.")
    name: Name
    firstname: Firstname
    surname: Surname = ""


class Settings(InOrganisation):
    revision: Revision
    name: Name
    color: Color = None
    logo_url: Url = None


class OneMember(InOrganisation):
    member_id: Id


class Profile(InOrganisation):
    firstname: Firstname
    surname: Surname = ""
    picture_url: Url = None


class NewTeam(InOrganisation):
    parent_team_id: Id
    name: Name
    mission: Mission = ""
    color: Color = None


class OneTeam(InOrganisation):
    team_id: Id
    revision: Revision


class TeamChange(OneTeam):
    name: Name
    color: Color = None
    parent_team_id: Id | None = Field(None, description="Without it the team stays where it is.")


class RoleFields(InOrganisation):
    title: Title
    type: Literal["secretary", "referee"] | None = Field(None, description="A leader's role stays one.")
    mission: Mission = ""
    duties: Duties = Field(default_factory=list)


class NewRole(RoleFields):
    team_id: Id
    member_id: Id = Field("", description="Who holds it; empty is who leads the team.")


class OneRole(InOrganisation):
    role_id: Id
    revision: Revision


class RoleChange(RoleFields, OneRole):
    pass


class Assignment(OneRole):
    member_id: Id


class PolicyFields(InOrganisation):
    title: Title
    abstract: Summary
    text: PolicyMarkdown


class NewPolicy(PolicyFields):
    role_id: Id


class OnePolicy(InOrganisation):
    policy_id: Id
    revision: Revision


class PolicyChange(PolicyFields, OnePolicy):
    pass


class NewInvitation(InOrganisation):
    note: Annotated[str, Field(max_length=MAX_TITLE), AfterValidator(line)] = ""


class OneInvitation(InOrganisation):
    invitation_id: Id


class Acceptance(InOrganisation):
    secret: Id
    firstname: Firstname
    surname: Surname = ""


DECLARED: dict[str, Any] = {"output": Face, "tier": "public", "level": "write", "tool": False}


def change(title: str, input: type[InOrganisation]) -> Callable[[Callable[[Act, Any], Any]], Operation]:
    """Declare a change of an organisation by a member in person. `decide(act, asked)` is repeated after conflicts."""

    def declare(decide: Callable[[Act, Any], Any]) -> Operation:
        @wraps(decide)
        def function(governance: Governance, actor: Actor, asked: InOrganisation) -> Any:
            access = governance.access(actor, asked.orga_id)
            only_in_person(access)
            return governance.store.change(access, lambda act: decide(act, asked))

        return operation("governance", title=title, input=input, **DECLARED)(function)

    return declare


@operation("governance", title="Found an organisation", input=Founding, **DECLARED)
def found_organisation(governance: Governance, actor: Actor, asked: Founding) -> Organisation:
    """Found an organisation, with its first team, whose roles the founder holds."""
    account, store, slug = governance.account(actor), governance.store, asked.slug
    if not is_organisation(slug):
        raise InvalidInput("Small letters, digits and hyphens, at most 64, with none at the ends.", field="slug")
    if slug in governance.reserved:
        raise Conflict("This deployment uses this name.", hint="Choose another one.", field="slug")
    founder = Member(
        id=new_id("mb"), firstname=asked.firstname, surname=asked.surname, account=account, joined_at=store.now()
    )

    def decide(act: Act) -> Organisation:
        if store.founded(account) >= governance.founded:
            raise Forbidden(f"An account can found at most {governance.founded} organisations.")
        organisation = Organisation(slug=slug, name=asked.name, owner=founder.id, created_at=act.at)
        act.change.writes += [store.found(slug), *store.join(slug, account, founder.id, founded=governance.founded)]
        act.add(ORGANISATIONS, organisation)
        act.add(CHANNELS, Channel(id=new_id("ch"), kind="orga", name=asked.name))
        team, member = new_team(act, asked.name, founder)
        act.add(MEMBERS, member)
        act.record("Organization", "orgas", slug, ({}, shown(organisation)), team=team)
        return organisation

    return store.change(Access(organisation=slug, member=founder, roles={}), decide)


@change("Change the settings", Settings)
def change_settings(act: Act, asked: Settings) -> Organisation:
    """Change the name, the colour and the logo of the organisation, as its owner."""
    was = only_owner(act)
    require_revision(was, asked.revision)
    now = replace(was, name=asked.name, color=asked.color, logo_url=asked.logo_url)
    if now != was:
        channel = next(one for one in act.all(CHANNELS) if one.kind == "orga")
        if now.name != was.name:
            act.replace(CHANNELS, replace(channel, name=now.name), channel)
        act.replace(ORGANISATIONS, now, was)
        act.record("Organization", "orgas", was.slug, changed(was, now), organisation=now.name)
        act.touch("", "channels", f"channels/{channel.id}/messages")
    return now


@change("Transfer the ownership", OneMember)
def transfer_ownership(act: Act, asked: OneMember) -> Organisation:
    """Make another member, who has an account, the owner in your place."""
    was, heir = only_owner(act), present(act, asked.member_id)
    if not heir.account:
        raise Conflict(f"{heir.name} has no account here yet.", hint="Invite them first.", field="member_id")
    now = replace(was, owner=heir.id)
    if now != was:
        act.replace(ORGANISATIONS, now, was)
        act.require(MEMBERS, heir.id, "attribute_exists(pk) AND #account = :account", account=heir.account)
        act.record("Organization", "orgas", was.slug, changed(was, now), organisation=was.name)
        act.touch("", "members", f"members/{was.owner}", f"members/{heir.id}")
    return now


@change("Remove a member", OneMember)
def remove_member(act: Act, asked: OneMember) -> Member:
    """Remove a member who holds no role any more, as the owner."""
    return end_membership(act, only_owner(act), asked.member_id)


@change("Leave the organisation", InOrganisation)
def leave_organisation(act: Act, asked: InOrganisation) -> Member:  # noqa: ARG001 - every change takes its input
    """Leave the organisation, once your roles are assigned to others. Its owner transfers it first."""
    return end_membership(act, act.get(ORGANISATIONS, ROOT), act.access.member.id)


def end_membership(act: Act, organisation: Organisation, id: str) -> Member:
    """Make a member somebody who left. Raises Conflict for the owner, and for whoever holds roles, with their titles."""
    was = present(act, id)
    if was.id == organisation.owner:
        raise Conflict("The owner cannot leave.", hint="Transfer the ownership first.")
    if was.roles:
        held = act.store.records.get_many(organisation.slug, ROLES, list(was.roles)).values()
        titles = ", ".join(sorted(f"{one.title} ({act.get(TEAMS, one.team).name})" for one in held))
        raise Conflict(f"{was.name} holds roles, which go to others first.", hint=f"Assign: {titles}.")
    now = replace(was, account="", picture_url=None, left_at=act.at)
    act.replace(MEMBERS, now, was)
    act.require(ORGANISATIONS, ROOT, "#owner = :owner", owner=organisation.owner)
    if was.account:
        act.change.writes.append(act.store.leave(organisation.slug, was.account))
    act.record("Member", "members", was.id, changed(was, now, "account"), organisation=organisation.name)
    act.touch("", "members", f"members/{was.id}")
    return now


@change("Change your profile", Profile)
def change_profile(act: Act, asked: Profile) -> Member:
    """Change your name and your picture in this organisation."""
    was = present(act, act.access.member.id)
    now = replace(was, firstname=asked.firstname, surname=asked.surname, picture_url=asked.picture_url)
    if now != was:
        act.replace(MEMBERS, now, was)
        act.record("Member", "members", was.id, changed(was, now, "account"), organisation=name_of(act))
        touch_roles(act, [one for one in act.all(TEAMS) if one.id in was.teams], [was.id])
        # Messages show the names of their authors.
        act.touch("policies", *(f"channels/{one.id}/messages" for one in act.all(CHANNELS) if one.kind != "dm"))
    return now


@change("Create a team", NewTeam)
def create_team(act: Act, asked: NewTeam) -> Team:
    """Create a team below another one, with a channel and the roles of leader, secretary and referee, which you hold
    until they are assigned to others."""
    act.alone()
    parent, me = act.get(TEAMS, asked.parent_team_id), present(act, act.access.member.id)
    team, holder = new_team(act, asked.name, me, parent=parent.id, color=asked.color, mission=asked.mission)
    act.replace(MEMBERS, holder, me)
    after = shown(team) | ({"mission": asked.mission} if asked.mission else {})
    act.record("Team", "teams", team.id, ({}, after), team=team)
    touch_roles(act, [team, parent], [me.id])
    return team


@change("Change a team", TeamChange)
def change_team(act: Act, asked: TeamChange) -> Team:
    """Change the name and the colour of a team, or the team that it stands below."""
    was = act.get(TEAMS, asked.team_id)
    require_revision(was, asked.revision)
    now = replace(was, name=asked.name, color=asked.color, parent=asked.parent_team_id or was.parent)
    teams = [was]
    if now.parent != was.parent:
        act.alone()
        if was.parent is None:
            raise Conflict("This is the first team: it stands below no other.", field="parent_team_id")
        tree = {one.id: one for one in act.all(TEAMS)}
        if now.parent not in tree:
            raise gone()
        if below(was.id, now.parent, tree):
            raise Conflict("A team cannot stand below itself.", hint="Choose another team.", field="parent_team_id")
        teams += [tree[was.parent], tree[now.parent]]
    if now == was:
        return was
    if now.name != was.name:
        if name_claim(now.name) != name_claim(was.name):
            claim_name(act, now)
            act.change.release(NAMES, name_claim(was.name), was.id)
        channel = act.get(CHANNELS, was.channel)
        act.replace(CHANNELS, replace(channel, name=now.name), channel)
    act.replace(TEAMS, now, was)
    act.record("Team", "teams", was.id, changed(was, now), team=now)
    touch_roles(act, teams, [])
    return now


@change("Delete a team", OneTeam)
def delete_team(act: Act, asked: OneTeam) -> None:
    """Delete a team that is not in use: without teams below it, policies, open processes, or roles beside those of
    leader, secretary and referee, which end with it. Its channel is archived."""
    act.alone()
    team = act.get(TEAMS, asked.team_id)
    require_revision(team, asked.revision)
    roles = [one for one in act.all(ROLES) if one.team == team.id]
    hindrances = {
        "it is the first team": team.parent is None,
        "teams stand below it": any(one.parent == team.id for one in act.all(TEAMS)),
        "it has further roles": len(roles) > len(get_args(RoleType)) or any(one.type is None for one in roles),
        "it has policies": any(one.team == team.id for one in act.all(POLICIES)),
        "a process is open in its channel": bool(act.all(ACTIVE, f"{team.channel}.")),
    }
    if found := [why for why, is_so in hindrances.items() if is_so]:
        raise Conflict(f"This team is in use: {', '.join(found)}.", hint="Move, end or delete these first.")
    act.change.remove(TEAMS, team)
    act.change.release(NAMES, name_claim(team.name), team.id)
    channel = act.get(CHANNELS, team.channel)
    act.replace(CHANNELS, replace(channel, archived_at=act.at), channel)
    for role in roles:
        act.change.remove(ROLES, role)
    holders = {one.member for one in roles}
    for holder in map(partial(act.get, MEMBERS), sorted(holders)):
        act.replace(MEMBERS, without_roles(holder, *(one.id for one in roles)), holder)
    before = shown(team) | {"roles": {one.title: one.member for one in roles}}
    act.record("Team", "teams", team.id, (before, {}), team=team)
    touch_roles(act, [team, act.get(TEAMS, team.parent or "")], holders)


@change("Create a role", NewRole)
def create_role(act: Act, asked: NewRole) -> Role:
    """Create a role of a team. Somebody always holds it: without a member, who leads the team."""
    act.alone()
    team = act.get(TEAMS, asked.team_id)
    holder = present(act, asked.member_id or act.get(ROLES, team.leader).member)
    role = Role(
        id=new_id("ro"),
        team=team.id,
        title=asked.title,
        member=holder.id,
        type=asked.type,
        mission=asked.mission,
        duties=tuple(asked.duties),
    )
    act.add(ROLES, role)
    act.replace(MEMBERS, with_roles(holder, team, role.id), holder)
    act.record("Role", "roles", role.id, ({}, shown(role)), team=team)
    touch_roles(act, [team], [holder.id])
    return role


@change("Change a role", RoleChange)
def change_role(act: Act, asked: RoleChange) -> Role:
    """Change what a role is called, its mission and its duties."""
    was = act.get(ROLES, asked.role_id)
    require_revision(was, asked.revision)
    if was.type == "leader" and asked.type:
        raise Conflict("The role of a leader stays one.", field="type")
    kind = was.type if was.type == "leader" else asked.type
    now = replace(was, title=asked.title, type=kind, mission=asked.mission, duties=tuple(asked.duties))
    if now != was:
        team = act.get(TEAMS, was.team)
        act.replace(ROLES, now, was)
        act.record("Role", "roles", was.id, changed(was, now), team=team)
        touch_roles(act, [team], [was.member])
    return now


@change("Assign a role", Assignment)
def assign_role(act: Act, asked: Assignment) -> Role:
    """Give a role to another member; whoever held it does so no longer."""
    was = act.get(ROLES, asked.role_id)
    require_revision(was, asked.revision)
    holder, heir = act.get(MEMBERS, was.member), present(act, asked.member_id)
    now = replace(was, member=heir.id)
    if now != was:
        team = act.get(TEAMS, was.team)
        act.replace(ROLES, now, was)
        act.replace(MEMBERS, without_roles(holder, was.id), holder)
        act.replace(MEMBERS, with_roles(heir, team, was.id), heir)
        act.record("Role", "roles", was.id, changed(was, now), team=team)
        touch_roles(act, [team], [holder.id, heir.id])
    return now


@change("Delete a role", OneRole)
def delete_role(act: Act, asked: OneRole) -> None:
    """Delete a role that owns no policies and is not a leader's."""
    act.alone()
    role = act.get(ROLES, asked.role_id)
    require_revision(role, asked.revision)
    if role.type == "leader":
        raise Conflict("A team always has a leader.", hint="Assign the role to somebody else.")
    if owned := [one.title for one in act.all(POLICIES) if one.role == role.id]:
        raise Conflict("This role owns policies.", hint=f"Delete them first: {', '.join(owned[:5])}.")
    team, holder = act.get(TEAMS, role.team), act.get(MEMBERS, role.member)
    act.change.remove(ROLES, role)
    act.replace(MEMBERS, without_roles(holder, role.id), holder)
    act.record("Role", "roles", role.id, (shown(role), {}), team=team)
    touch_roles(act, [team], [holder.id])


@change("Create a policy", NewPolicy)
def create_policy(act: Act, asked: NewPolicy) -> Policy:
    """Create a policy of a role that you hold. Its number is given once and for all."""
    act.alone()
    role, organisation = held(act, asked.role_id), act.get(ORGANISATIONS, ROOT)
    number = organisation.policies + 1
    policy = Policy(
        id=f"pol_{number:06}",
        number=number,
        role=role.id,
        team=role.team,
        title=asked.title,
        abstract=asked.abstract,
        updated_at=act.at,
    )
    act.replace(ORGANISATIONS, replace(organisation, policies=number), organisation)
    act.add(POLICIES, policy)
    act.add(TEXTS, PolicyText(id=policy.id, text=asked.text))
    record_policy(act, policy, role, ({}, shown(policy, "updated_at") | {"text": asked.text}))
    return policy


@change("Change a policy", PolicyChange)
def change_policy(act: Act, asked: PolicyChange) -> Policy:
    """Change a policy of a role that you hold."""
    was = act.get(POLICIES, asked.policy_id)
    require_revision(was, asked.revision)
    role, text = held(act, was.role), act.get(TEXTS, was.id)
    now = replace(was, title=asked.title, abstract=asked.abstract)
    if now != was or asked.text != text.text:
        before, after = changed(was, now)
        if asked.text != text.text:
            before, after = before | {"text": text.text}, after | {"text": asked.text}
            act.replace(TEXTS, replace(text, text=asked.text), text)
        now = replace(now, updated_at=act.at)
        act.replace(POLICIES, now, was)
        record_policy(act, was, role, (before, after))
    return now


@change("Delete a policy", OnePolicy)
def delete_policy(act: Act, asked: OnePolicy) -> None:
    """Delete a policy of a role that you hold. The journal keeps its text, and no other gets its number."""
    policy = act.get(POLICIES, asked.policy_id)
    require_revision(policy, asked.revision)
    role, text = held(act, policy.role), act.get(TEXTS, policy.id)
    act.change.remove(POLICIES, policy)
    act.change.remove(TEXTS, text)
    record_policy(act, policy, role, (shown(policy, "updated_at") | {"text": text.text}, {}))


def held(act: Act, id: str) -> Role:
    """Return a role that this member holds, and still must when the change is committed. Raises Forbidden."""
    role = act.get(ROLES, id)
    if role.member != act.access.member.id:
        raise Forbidden("Only the holder of a policy's role can do this.", hint=f"The role is {role.title}.")
    act.authority(role.id)
    return role


def record_policy(
    act: Act, policy: Policy, role: Role, difference: tuple[Mapping[str, Any], Mapping[str, Any]]
) -> None:
    act.record("Policy", "policies", policy.id, difference, through=role, team=act.get(TEAMS, role.team))
    act.touch("policies", f"policies/{policy.id}", "", f"teams/{role.team}", "roles", f"members/{role.member}")


@change("Invite somebody", NewInvitation)
def invite(act: Act, asked: NewInvitation) -> tuple[Invitation, str]:
    """Invite somebody by a link, whose secret is shown once and counts once. The note is for those who invite."""
    me = act.access.member.id
    if sum(one.member == me for one in act.all(INVITATIONS)) >= MAX_INVITATIONS:
        raise Conflict(f"{MAX_INVITATIONS} invitations of yours are open.", hint="Withdraw some first.")
    secret = fresh(INVITATION)
    invitation = Invitation(
        id=digest(secret),
        member=me,
        created_at=act.at,
        expires_at=act.store.invitation_ends,
        note=asked.note,
    )
    act.add(INVITATIONS, invitation)
    act.record("Invitation", "invitations", invitation.id, ({}, shown(invitation, "note")), organisation=name_of(act))
    return invitation, secret


@change("Withdraw an invitation", OneInvitation)
def withdraw_invitation(act: Act, asked: OneInvitation) -> None:
    """Withdraw an invitation of yours; the owner withdraws anybody's."""
    invitation = act.get(INVITATIONS, asked.invitation_id)
    if invitation.member != act.access.member.id:
        only_owner(act)
    act.change.remove(INVITATIONS, invitation)
    act.record("Invitation", "invitations", invitation.id, (shown(invitation, "note"), {}), organisation=name_of(act))


@operation("governance", title="Accept an invitation", input=Acceptance, **DECLARED)
def accept_invitation(governance: Governance, actor: Actor, asked: Acceptance) -> Member:
    """Become a member by the link of an invitation, which counts once. One that was made for a member who is known by
    name only makes you that member."""
    account, store = governance.account(actor), governance.store
    over = NotFound("This invitation is not valid any more.", hint="Ask who sent the link for a new one.")
    if not is_organisation(slug := asked.orga_id):
        raise over
    secret = digest(asked.secret)

    def pending() -> Invitation:
        if store.membership(account, slug):
            raise Conflict("You are a member of this organisation already.")
        found = store.records.get(slug, INVITATIONS, secret)
        if found is None or found.expires_at <= store.clock():
            raise over
        return found

    newcomer = Member(
        id=pending().claims or new_id("mb"),
        firstname=asked.firstname,
        surname=asked.surname,
        account=account,
        joined_at=store.now(),
    )

    def decide(act: Act) -> Member:
        invitation, member = pending(), newcomer
        if invitation.claims:
            known = act.get(MEMBERS, invitation.claims)
            if known.account or known.left_at:
                raise over
            member = replace(newcomer, roles=known.roles, picture_url=known.picture_url)
            act.replace(MEMBERS, member, known)
        else:
            act.add(MEMBERS, member)
        act.change.remove(INVITATIONS, invitation)
        act.change.writes += store.join(slug, account, member.id)
        after = shown(member, "account", "roles") | {"invitedBy": invitation.member}
        act.record("Member", "members", member.id, ({}, after), organisation=store.organisation(slug).name)
        touch_roles(act, [], [member.id])
        return member

    return store.change(Access(organisation=slug, member=newcomer, roles={}), decide)


def new_team(
    act: Act, name: str, holder: Member, *, parent: str | None = None, color: str | None = None, mission: str = ""
) -> tuple[Team, Member]:
    """Write a team with its channel and first roles; return it, and the member with these roles, whom the caller
    writes. Raises Conflict for a name that another team has, and for too many roles."""
    roles = {type: new_id("ro") for type in get_args(RoleType)}
    team = Team(id=new_id("te"), name=name, channel=new_id("ch"), leader=roles["leader"], parent=parent, color=color)
    claim_name(act, team)
    act.add(TEAMS, team)
    act.add(CHANNELS, Channel(id=team.channel, kind="team", name=name, team=team.id))
    for type, id in roles.items():
        role = Role(id=id, team=team.id, title=type.capitalize(), member=holder.id, type=type)
        act.add(ROLES, replace(role, mission=mission) if type == "leader" else role)
    return team, with_roles(holder, team, *roles.values())


def claim_name(act: Act, team: Team) -> None:
    """Write the claim of a team's name. Raises Conflict if another team has it, whatever the case of its letters."""
    name = name_claim(team.name)
    if act.change.table.get(NAMES.at(act.access.organisation, name)):
        raise Conflict("Another team has this name.", hint="Choose another one.", field="name")
    act.change.claim(NAMES, name, team.id)


def name_claim(name: str) -> str:
    """Return the id under which a team's name is claimed: a digest, since a key is bounded in bytes."""
    folded = unicodedata.normalize("NFKC", name).casefold().translate(dict.fromkeys(map(ord, JOINERS)))
    return f"team.{sha256(unicodedata.normalize('NFKC', folded).encode()).hexdigest()}"


def with_roles(member: Member, team: Team, *roles: str) -> Member:
    """Return a member with further roles of a team. Raises Conflict for more than a member can hold."""
    held = {**member.roles, **dict.fromkeys(roles, team.id)}
    if len(held) > MAX_ROLES:
        raise Conflict(f"{member.name} would hold more than {MAX_ROLES} roles.", hint="Assign some to others first.")
    return replace(member, roles=held)


def without_roles(member: Member, *roles: str) -> Member:
    return replace(member, roles={id: team for id, team in member.roles.items() if id not in roles})


def present(act: Act, id: str) -> Member:
    """Return a member as it is now. Raises NotFound for one who left, too."""
    member = act.get(MEMBERS, id)
    if member.left_at is not None:
        raise gone()
    return member


def touch_roles(act: Act, teams: Iterable[Team], members: Iterable[str]) -> None:
    """Name what shows who has which role, and what its holders reach."""
    act.touch("", "teams", "roles", "members", "channels", "topics", *(f"members/{id}" for id in members))
    for team in teams:
        act.touch(f"teams/{team.id}", f"channels/{team.channel}/messages")


def require_revision(found: Any, revision: int) -> None:
    """Raises Conflict unless a record is as it was when it was read."""
    if found.revision != revision:
        raise Conflict(
            "Somebody changed this in the meantime.", hint="Look at it as it is now.", revision=found.revision
        )


def name_of(act: Act) -> str:
    return act.get(ORGANISATIONS, ROOT).name


def only_owner(act: Act) -> Organisation:
    """Return the organisation. Raises Forbidden for everybody but its owner."""
    organisation = act.get(ORGANISATIONS, ROOT)
    if organisation.owner != act.access.member.id:
        raise Forbidden("Only the owner of the organisation can do this.")
    return organisation
