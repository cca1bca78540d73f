"""Organisations founded from a YAML file, for operators: `docs/governance.md` describes it.

The file becomes a plan of operations, each by a member of the file, so that the rules hold that hold for people. Faults
of the file are found before anything is written; what only an operation can refuse undoes the whole founding.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from commonplace.governance import conversation, model, processes, rules, store, structure
from commonplace.governance.governance import Governance
from commonplace.governance.model import Invitation, Member, new_id, shown
from commonplace.governance.store import (
    CHANNELS,
    INVITATIONS,
    MEMBERS,
    NAMES,
    ORGANISATIONS,
    ROLES,
    TEAMS,
    Act,
    Store,
    founded_key,
)
from commonplace.identity.principals import Principal
from commonplace.identity.secrets import digest, fresh
from commonplace.kernel.environment import is_organisation
from commonplace.kernel.errors import CommonplaceError, Conflict, InvalidInput
from commonplace.kernel.items import key as key_of
from commonplace.kernel.records import Room
from commonplace.kernel.yaml import Place, YamlError, read
from commonplace.web.operations import Actor, Operation

MAX_BYTES, MAX_DEPTH, MAX_VALUES = 2_000_000, 10, 50_000
"""What a thousand members, their structure and some thousand messages need: a founding is no bulk load."""
MAX_FAULTS = 50
UNFINISHED = "founding"
"""The mark of an organisation whose founding has not come to its end, among its names."""
EVERYBODY = "organisation"
"""The channel that all members have, in the place of a team."""
TOGETHER = 10
"""Members that one transaction writes."""


Key = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,29}$")]


class Part(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)

    @model_validator(mode="after")
    def known(self) -> Self:
        if self.model_extra:
            unknown = ", ".join(sorted(self.model_extra))[:200]
            raise ValueError(f"unknown: {unknown}; there are: {', '.join(type(self).model_fields)}")
        return self


class OrganisationPart(Part):
    slug: str
    name: str
    owner: str
    color: str | None = None


class Person(Part):
    firstname: str
    surname: str = ""
    account: str | None = None
    """The subject of an account, such as a wallet's address. Whoever has none here is invited."""


class TeamPart(Part):
    name: str
    leader: str
    secretary: str
    referee: str
    parent: str | None = None
    mission: str = ""
    color: str | None = None


class RolePart(Part):
    team: str
    title: str
    member: str
    mission: str = ""
    duties: list[str] = []


class PolicyPart(Part):
    role: str
    title: str
    abstract: str = ""
    text: str


class Said(Part):
    by: str
    text: str


class Reply(Said):
    reactions: Mapping[str, list[str]] = {}


class MessagePart(Reply):
    replies: list[Reply] = []


class ChannelPart(Part):
    channel: str | tuple[str, str]
    messages: list[MessagePart]


class Response(Part):
    response: model.Response
    reason: str = ""


class Question(Said):
    answers: list[Said] = []


class TopicPart(Part):
    channel: str
    by: str
    title: str
    description: str = ""
    questions: list[Question] = []
    rounds: list[Mapping[str, Response]] = []
    """The answers of each round of consent; between two of them the topic went back to clarification."""
    phase: Literal["clarification", "consent", "resolved"] = "clarification"
    outcome: Literal["accepted", "modified", "withdrawn"] | None = None
    changes: str = ""


class VotePart(Part):
    channel: str
    by: str
    title: str
    mode: model.Mode
    options: list[str]
    ballots: Mapping[str, list[int]] = {}
    """Numbers of options, from 1."""
    days: int | None = None
    """Until the deadline, from the founding on."""
    phase: Literal["open", "closed"] = "open"


class Nomination(Part):
    member: str
    reason: str


class ElectionPart(Part):
    channel: str
    by: str
    role: str
    nominations: Mapping[str, Nomination] = {}
    candidate: str | None = None
    responses: Mapping[str, Response] = {}
    phase: Literal["nomination", "discussion", "consent", "elected", "no_election"] = "nomination"


class FoundingFile(Part):
    organisation: OrganisationPart
    members: Mapping[Key, Person]
    teams: Mapping[Key, TeamPart] = {}
    roles: Mapping[Key, RolePart] = {}
    policies: list[PolicyPart] = []
    channels: list[ChannelPart] = []
    topics: list[TopicPart] = []
    votes: list[VotePart] = []
    elections: list[ElectionPart] = []


class Ref(str):
    """The name of something that an earlier step makes, in the place of its id."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Step:
    """An operation by a member of the file. `makes` names its result for later steps."""

    place: Place
    member: str
    operation: Operation
    values: Mapping[str, Any]
    makes: str = ""

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.place))}: {self.member}, {self.operation.title.lower()}"


@dataclass(slots=True)
class Plan:
    """What a file amounts to, in the order in which it is done, and its faults."""

    file: FoundingFile
    now: datetime
    held: Mapping[str, tuple[str, str]]
    """The team and the member of every role; a team's own are `{team}.leader`, `{team}.secretary`, `{team}.referee`."""
    steps: list[Step] = field(default_factory=list)
    faults: list[tuple[Place, str]] = field(default_factory=list)

    def add(self, place: Place, member: str, operation: Operation, makes: str = "", **values: Any) -> None:
        """Append a step. Values out of the operation's bounds, and emoji and ballots that are none, are faults."""
        fields = operation.input.model_fields
        given = {"orga_id": self.file.organisation.slug, "revision": 1}
        with self.checked(place):
            operation.accepted({name: value for name, value in given.items() if name in fields} | values)
            if "emoji" in values:
                conversation.emoji_of(values["emoji"])
        self.steps.append(Step(place, member, operation, values, makes))

    @contextmanager
    def checked(self, place: Place) -> Iterator[None]:
        """Within the block, what an operation would refuse becomes a fault."""
        try:
            yield
        except InvalidInput as error:
            self.faults.append((place, f"{error.message} {error.hint or ''}".strip()))

    def known(self, place: Place, key: str, among: Collection[str], what: str) -> bool:
        """Return whether a key is one of these; it is a fault otherwise."""
        if key not in among:
            there = ", ".join(sorted(among)[:30]) or "none"
            self.faults.append((place, f"there is no {what} {key[:64]}; there are: {there}"))
        return key in among

    def voice(self, place: Place, key: str, channel: str | tuple[str, str]) -> str:
        """Return a member who takes part in a channel; it is a fault if they do not reach it."""
        if self.known(place, key, self.file.members, "member") and channel != EVERYBODY:
            of_team = {member for team, member in self.held.values() if team == channel}
            self.known(place, key, channel if isinstance(channel, tuple) else of_team, f"member of the channel {channel}")
        return key


def founding(text: str, governance: Governance) -> Plan:
    """Return the plan of a file. Raises InvalidInput, which lists every fault with line, place and what is valid."""
    if len(text.encode(errors="replace")) > MAX_BYTES:
        raise InvalidInput(f"The file is larger than {MAX_BYTES:,} bytes.", hint="Leave messages out.")
    try:
        parsed = read(text, max_depth=MAX_DEPTH, max_values=MAX_VALUES, lines_to_depth=MAX_DEPTH)
    except YamlError as error:
        line = f", line {error.line}" if error.line else ""
        bounds = f"It has at most {MAX_VALUES:,} values and {MAX_DEPTH} levels, each key once, no anchor, alias or tag."
        raise InvalidInput(f"The file cannot be read{line}: {error.problem or error.reason}.", hint=bounds) from None
    try:
        plan = planned(FoundingFile.model_validate(parsed.value), governance)
        found = plan.faults
    except ValidationError as error:
        found = [(one["loc"], one["msg"].removeprefix("Value error, ")) for one in error.errors(include_url=False)]
    if not found:
        return plan
    listed = []
    for place, fault in found:
        line = next((parsed.lines[place[:end]] for end in range(len(place), 0, -1) if place[:end] in parsed.lines), 1)
        listed.append((line, f"line {line}, {'.'.join(map(str, place)) or 'the file'}: {fault}"))
    hint = "\n".join(line for _, line in sorted(listed)[:MAX_FAULTS])
    more = f"\nand {len(listed) - MAX_FAULTS} more" if len(listed) > MAX_FAULTS else ""
    raise InvalidInput(f"The file has {len(listed)} faults. Nothing was written.", hint=hint + more)


def planned(file: FoundingFile, governance: Governance) -> Plan:
    """Return the plan of a file, with the faults of what its parts say of one another."""
    types: Sequence[str] = get_args(model.RoleType)
    held = {f"{key}.{type}": (key, getattr(team, type)) for key, team in file.teams.items() for type in types}
    held |= {key: (role.team, role.member) for key, role in file.roles.items()}
    plan = Plan(file, datetime.fromisoformat(governance.store.now()), held)
    own, people, teams = file.organisation, file.members, file.teams
    if own.slug in governance.reserved or not is_organisation(own.slug):
        taken = "small letters, digits and hyphens, and no name that this deployment uses already"
        plan.faults.append((("organisation", "slug"), f"it takes {taken}"))
    if plan.known(("organisation", "owner"), own.owner, people, "member") and people[own.owner].account is None:
        plan.faults.append((("members", own.owner), "the owner has an `account`, or nobody could sign in and invite"))
    accounts = [one.account for one in people.values() if one.account]
    for key, person in people.items():
        name = {"firstname": person.firstname, "surname": person.surname}
        with plan.checked(("members", key)):
            structure.accept_invitation.accepted({"orga_id": own.slug, "secret": "", **name})
        if accounts.count(person.account) > 1:
            plan.faults.append((("members", key, "account"), "two members have this account"))
    founder = people.get(own.owner, Person(firstname=own.owner))
    name = {"firstname": founder.firstname, "surname": founder.surname}
    root = next((key for key, team in teams.items() if team.parent is None), "")
    first = Ref(f"team/{root}")
    plan.add(("organisation",), own.owner, structure.found_organisation, first, slug=own.slug, name=own.name, **name)
    if own.color:
        settings = {"name": own.name, "color": own.color}
        plan.add(("organisation",), own.owner, structure.change_settings, **settings)
    _plan_teams(plan, types)
    for key, role in file.roles.items():
        plan.known(("roles", key, "team"), role.team, teams, "team")
        plan.known(("roles", key, "member"), role.member, people, "member")
        holder = {"team_id": Ref(f"team/{role.team}"), "member_id": Ref(f"member/{role.member}")}
        about = {"title": role.title, "mission": role.mission, "duties": role.duties}
        plan.add(("roles", key), own.owner, structure.create_role, f"role/{key}", **holder, **about)
    for number, policy in enumerate(file.policies):
        if plan.known(("policies", number, "role"), policy.role, held, "role"):
            about = {"title": policy.title, "abstract": policy.abstract, "text": policy.text}
            role_id = Ref(f"role/{policy.role}")
            plan.add(("policies", number), held[policy.role][1], structure.create_policy, role_id=role_id, **about)
    for number, channel in enumerate(file.channels):
        _plan_channel(plan, ("channels", number), channel)
    for kind, each in (("topics", _plan_topic), ("votes", _plan_vote), ("elections", _plan_election)):
        for number, process in enumerate(getattr(file, kind)):
            if plan.known((kind, number, "channel"), process.channel, {*teams, EVERYBODY}, "team"):
                each(plan, (kind, number), process)
    return plan


def _plan_teams(plan: Plan, types: Sequence[str]) -> None:
    """Plan the teams, each after its parent. The one without a parent is what the organisation is founded with."""
    teams, owner = plan.file.teams, plan.file.organisation.owner
    if teams and len(roots := [key for key, team in teams.items() if team.parent is None]) != 1:
        plan.faults.append((("teams",), f"one team has no parent; here: {', '.join(roots) or 'none'}"))
    below: dict[str | None, list[str]] = {}
    for key, team in teams.items():
        below.setdefault(team.parent, []).append(key)
        if team.parent is not None:
            plan.known(("teams", key, "parent"), team.parent, teams, "team")
    order = list(below.get(None, ()))
    for key in order:
        order += below.get(key, ())
    for key in teams.keys() - order:
        plan.faults.append((("teams", key, "parent"), "this leads to no team without a parent"))
    for key in order:
        team, at, here = teams[key], ("teams", key), Ref(f"team/{key}")
        about = {"name": team.name, "color": team.color}
        if team.parent:
            above = Ref(f"team/{team.parent}")
            plan.add(at, owner, structure.create_team, here, parent_team_id=above, mission=team.mission, **about)
        else:
            plan.add(at, owner, structure.change_team, team_id=here, **about)
            leader = {"role_id": Ref(f"role/{key}.leader"), "title": "Leader", "mission": team.mission}
            plan.add(at, owner, structure.change_role, **leader)
        for type in types:
            holder = getattr(team, type)
            if plan.known((*at, type), holder, plan.file.members, "member") and holder != owner:
                role, member = Ref(f"role/{key}.{type}"), Ref(f"member/{holder}")
                plan.add((*at, type), owner, structure.assign_role, role_id=role, member_id=member)


def _plan_channel(plan: Plan, at: Place, part: ChannelPart) -> None:
    if isinstance(part.channel, tuple):
        one, other = part.channel
        channel = Ref(f"channel/{one}+{other}")
        plan.known((*at, "channel"), other, plan.file.members.keys() - {one}, "other member")
        plan.add(at, one, conversation.open_direct, channel, member_id=Ref(f"member/{other}"))
    else:
        plan.known((*at, "channel"), part.channel, {*plan.file.teams, EVERYBODY}, "team")
        channel = Ref(f"channel/{part.channel}")

    def send(place: Place, message: Reply, **parent: Ref) -> Ref:
        sent = Ref(f"message/{place}")
        author = plan.voice((*place, "by"), message.by, part.channel)
        plan.add(place, author, conversation.send_message, sent, channel_id=channel, text=message.text, **parent)
        for emoji, members in message.reactions.items():
            for member in members:
                here = (*place, "reactions", emoji)
                plan.voice(here, member, part.channel)
                plan.add(here, member, conversation.react_to_message, message_id=sent, emoji=emoji)
        return sent

    for number, message in enumerate(part.messages):
        place = (*at, "messages", number)
        sent = send(place, message)
        for index, reply in enumerate(message.replies):
            send((*place, "replies", index), reply, parent_id=sent)


def _opened(plan: Plan, at: Place, part: Any, operation: Operation, **values: Any) -> Callable[..., None]:
    """Plan the opening of a process; return what plans a step in it: place, member or None for who opened it, ..."""
    process, channel = Ref(f"process/{at}"), Ref(f"channel/{part.channel}")
    author = plan.voice((*at, "by"), part.by, part.channel)
    plan.add(at, author, operation, process, channel_id=channel, **values)

    def step(place: Place, member: str | None, operation: Operation, makes: str = "", **values: Any) -> None:
        who = author if member is None else plan.voice((*at, *place), member, part.channel)
        plan.add((*at, *place), who, operation, makes, message_id=process, **values)

    return step


def _respond(step: Callable[..., None], place: Place, responses: Mapping[str, Response]) -> None:
    for member, one in responses.items():
        step((*place, member), member, processes.respond, response=one.response, reason=one.reason)


def _plan_topic(plan: Plan, at: Place, part: TopicPart) -> None:
    about = {"title": part.title, "description": part.description}
    step = _opened(plan, at, part, processes.open_topic, **about)
    for number, question in enumerate(part.questions):
        place, asked = ("questions", number), Ref(f"question/{at}/{number}")
        step(place, question.by, processes.ask_clarification, asked, question=question.text)
        for one in question.answers:
            step(place, one.by, processes.answer_clarification, question_id=asked, answer=one.text)
    for number, responses in enumerate(part.rounds):
        if number:
            step(("rounds", number), None, processes.move_on, phase="clarification")
        step(("rounds", number), None, processes.move_on, phase="consent")
        _respond(step, ("rounds", number), responses)
    if part.phase != ("consent" if part.rounds else "clarification"):
        changes = {"changes": part.changes} if part.changes else {}
        step(("phase",), None, processes.move_on, phase=part.phase, outcome=part.outcome, **changes)
    open_objection = bool(part.rounds) and any(one.response == "objection" for one in part.rounds[-1].values())
    if part.phase == "resolved" and (part.outcome is None or (open_objection and part.outcome != "withdrawn")):
        plan.faults.append(((*at, "outcome"), "it is accepted or modified without open objections, or withdrawn"))


def _plan_vote(plan: Plan, at: Place, part: VotePart) -> None:
    deadline = plan.now + timedelta(days=part.days) if part.days else None
    about = {"title": part.title, "mode": part.mode, "options": part.options, "deadline": deadline}
    step = _opened(plan, at, part, processes.open_vote, **about)
    for member, numbers in part.ballots.items():
        choices = [str(number) for number in numbers]
        with plan.checked((*at, "ballots", member)):
            rules.ballot(part.mode, part.options, choices)
        step(("ballots", member), member, processes.cast_vote, choices=choices)
    if part.phase == "closed":
        step(("phase",), None, processes.move_on, phase="closed")


def _plan_election(plan: Plan, at: Place, part: ElectionPart) -> None:
    plan.known((*at, "role"), part.role, {role for role, held in plan.held.items() if held[0] == part.channel}, "role of the team")
    step = _opened(plan, at, part, processes.open_election, role_id=Ref(f"role/{part.role}"))
    for member, one in part.nominations.items():
        plan.known((*at, "nominations", member, "member"), one.member, plan.file.members, "member")
        nominee = Ref(f"member/{one.member}")
        step(("nominations", member), member, processes.nominate_member, nominee_id=nominee, reason=one.reason)
    if part.candidate or part.phase in ("discussion", "consent", "elected"):
        step(("phase",), None, processes.move_on, phase="discussion")
    if part.candidate or part.phase in ("consent", "elected"):
        nominees = {one.member for one in part.nominations.values()}
        plan.known((*at, "candidate"), part.candidate or "", nominees, "nominated member")
        step(("candidate",), None, processes.move_on, phase="consent", candidate_id=Ref(f"member/{part.candidate}"))
        _respond(step, ("responses",), part.responses)
    if part.phase in ("elected", "no_election"):
        step(("phase",), None, processes.move_on, phase=part.phase)
    if part.phase == "elected" and any(one.response == "objection" for one in part.responses.values()):
        plan.faults.append(((*at, "phase"), "nobody is elected over an open objection: consent, or no_election"))


@dataclass(frozen=True, slots=True, kw_only=True)
class InTheirPlace(Governance):
    """Governance for an operator who acts for the members of a file: many of them have no account yet."""

    acting: str = ""

    def member(self, actor: Actor, organisation: str) -> Member:  # noqa: ARG002 - who acts is not who asks
        return self.store.get(organisation, MEMBERS, self.acting)


def carry_out(plan: Plan, governance: Governance, pseudonym: Callable[[str], str]) -> dict[str, str]:
    """Found the organisation of a plan; return the secrets of the invitations of those without account, by key.

    `pseudonym` names the account of a subject. Raises Conflict for a name that is taken, and for what an operation
    refuses, after everything was removed again. What an interrupted run has left is removed by the next one.
    """
    own, records, ids = plan.file.organisation, governance.store, dict[str, str]()
    unfinished = NAMES.at(own.slug, UNFINISHED)
    if records.table.get(unfinished):
        remove(records, own.slug)
    elif records.table.get(key_of("organisations", f"gov#{own.slug}")):
        raise Conflict(f"There is an organisation {own.slug}.", hint="A file only founds. Change it in the console.")
    accounts = {key: pseudonym(one.account) for key, one in plan.file.members.items() if one.account}
    records.table.write(records.table.put(unfinished, {"account": accounts[own.owner]}))
    actor, secrets, step = Actor(Principal(account=accounts[own.owner])), dict[str, str](), plan.steps[0]
    known = {"store": records, "reserved": governance.reserved, "founded": governance.founded}
    try:
        for step in plan.steps:
            acting = InTheirPlace(**known, acting=ids.get(f"member/{step.member}", ""))
            values = {name: ids[one] if isinstance(one, Ref) else one for name, one in step.values.items()}
            fields = step.operation.input.model_fields
            if "orga_id" in fields:
                values["orga_id"] = own.slug
            if "revision" in fields:
                changes = ((room, values[name]) for name, room in (("team_id", TEAMS), ("role_id", ROLES)) if name in values)
                values["revision"] = records.get(own.slug, *next(changes, (ORGANISATIONS, model.ROOT))).revision
            result = step.operation.run(acting, actor, step.operation.accepted(values))
            if step.makes and step.operation is not structure.found_organisation:
                ids[step.makes] = result.id
            if step.operation is structure.found_organisation:
                ids[f"member/{own.owner}"] = result.owner
                ids[step.makes] = records.all(own.slug, TEAMS)[0].id
                channels = records.all(own.slug, CHANNELS)
                ids[f"channel/{EVERYBODY}"] = next(one.id for one in channels if one.kind == "orga")
                _add_members(plan, records, accounts, ids, secrets)
            if step.operation in (structure.found_organisation, structure.create_team):
                team = records.get(own.slug, TEAMS, ids[step.makes])
                key = step.makes.removeprefix("team/")
                ids[f"channel/{key}"] = team.channel
                roles = (one for one in records.all(own.slug, ROLES) if one.team == team.id)
                ids |= {f"role/{key}.{one.type}": one.id for one in roles}
    except BaseException as error:
        remove(records, own.slug)
        if isinstance(error, CommonplaceError):
            raise Conflict(f"{step}: {error.message} Nothing of it was kept.", hint=error.hint) from error
        raise
    records.table.write(records.table.delete(unfinished))
    return secrets


def _add_members(
    plan: Plan, records: Store, accounts: Mapping[str, str], ids: dict[str, str], secrets: dict[str, str]
) -> None:
    """Write the members of a file but its owner; those without account with an invitation that makes somebody them."""
    own = plan.file.organisation
    owner = records.get(own.slug, MEMBERS, ids[f"member/{own.owner}"])
    access = rules.Access(organisation=own.slug, member=owner, roles=owner.roles)
    people = [(key, one) for key, one in plan.file.members.items() if key != own.owner]

    def write(act: Act, part: Sequence[tuple[str, Person]]) -> None:
        for key, one in part:
            id, account, secret = new_id("mb"), accounts.get(key, ""), fresh(structure.SECRET)
            member = Member(id=id, firstname=one.firstname, surname=one.surname, account=account, joined_at=act.at)
            act.add(MEMBERS, member)
            if account:
                act.change.writes += records.join(own.slug, account, id)
            else:
                until, note = records.invitation_ends, member.name
                invitation = Invitation(
                    id=digest(secret), member=owner.id, created_at=act.at, expires_at=until, note=note, claims=id
                )
                act.add(INVITATIONS, invitation)
                secrets[key] = secret
            act.record("Member", "members", id, ({}, shown(member, "account", "roles")), organisation=own.name)
            ids[f"member/{key}"] = id
        act.touch("members")

    for start in range(0, len(people), TOGETHER):
        records.change(access, partial(write, part=people[start : start + TOGETHER]))


def remove(records: Store, slug: str) -> None:
    """Delete everything of an organisation whose founding did not come to its end, its name at last."""
    table, unfinished = records.table, NAMES.at(slug, UNFINISHED)
    account = (table.get(unfinished) or {}).get("account")
    for member in records.all(slug, MEMBERS):
        if member.account:
            table.write(records.leave(slug, member.account))
    for room in (one for one in vars(store).values() if isinstance(one, Room)):
        keys = [key_of(item["pk"], item["sk"]) for item in table.query(room.partition(slug))]
        table.write_many(table.delete(where) for where in keys if where != unfinished)
    name = key_of("organisations", f"gov#{slug}")
    if account and table.get(name):
        less = table.update(founded_key(account), "ADD #founded :less", less=-1)
        table.transact([table.delete(name), less, table.delete(unfinished)])
    else:
        table.write(table.delete(unfinished))
