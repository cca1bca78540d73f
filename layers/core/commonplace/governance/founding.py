"""Organisations founded from a YAML file, for operators: `docs/agents/governance.md` describes it.

Each entry of the file is an operation by one of its members, so that bounds and rules are those of people. Whatever the
file says wrong is found before anything is written; what only an operation can refuse undoes the whole founding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Any, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from commonplace.governance import conversation, processes, structure
from commonplace.governance import store as rooms
from commonplace.governance.governance import Governance
from commonplace.governance.model import Invitation, Member, RoleType, new_id, roles_of, shown
from commonplace.governance.rules import Access
from commonplace.governance.store import (
    CHANNELS,
    INVITATIONS,
    MEMBERS,
    NAMES,
    ROLES,
    TEAMS,
    UNFINISHED,
    Act,
    Store,
    founded_key,
)
from commonplace.identity.principals import Principal
from commonplace.identity.secrets import digest, fresh
from commonplace.kernel.audit import Lost
from commonplace.kernel.environment import is_organisation
from commonplace.kernel.errors import CommonplaceError, Conflict, InvalidInput
from commonplace.kernel.items import key as key_of
from commonplace.kernel.records import Room
from commonplace.kernel.yaml import Place, YamlError, read
from commonplace.web.faults import words
from commonplace.web.operations import Actor, Operation

MAX_BYTES, MAX_DEPTH, MAX_VALUES, MAX_FAULTS = 2_000_000, 16, 100_000, 50
"""Of a file: some thousand members, roles and messages; a founding is no bulk load. The last is of the report."""
MAX_DAYS = 365
"""Until the deadline of a vote."""

SECTIONS = ("teams", "roles", "policies", "messages", "direct", "topics", "votes", "elections")
"""The lists of a file, in the order in which they are carried out."""
MESSAGE = ("message_id", "parent_id")
DOES: Mapping[str, tuple[Operation, tuple[str, ...]]] = {
    "team": (structure.create_team, ()),
    "role": (structure.create_role, ()),
    "policy": (structure.create_policy, ()),
    "message": (conversation.send_message, MESSAGE),
    "direct": (conversation.open_direct, ("channel_id",)),
    "topic": (processes.open_topic, MESSAGE),
    "vote": (processes.open_vote, MESSAGE),
    "election": (processes.open_election, MESSAGE),
    "reply": (conversation.send_message, ()),
    "react": (conversation.react_to_message, ()),
    "ask": (processes.ask_clarification, ("question_id",)),
    "answer": (processes.answer_clarification, ()),
    "respond": (processes.respond, ()),
    "ballot": (processes.cast_vote, ()),
    "nominate": (processes.nominate_member, ()),
    "move": (processes.move_on, ()),
}
"""What an entry does, those of sections first, and the fields that what follows in `then` gets from it."""
LEADING: tuple[str, ...] = get_args(RoleType)
"""The first roles of a team. Fields of a team name who holds them, and `{team}.leader` names the role."""
MORE = {"vote": ("days",), "team": LEADING}
"""Fields of entries that their operation does not have."""
NAMED = {"parent_team_id": "team", "nominee_id": "member", "candidate_id": "member"}
"""What a field names by its key, where the field does not say it."""


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Named(Part):
    slug: str
    name: str
    owner: str


class Person(Part):
    firstname: str
    surname: str = ""
    account: str | None = None
    """The subject of an account, such as a wallet's address. Whoever has none here is invited."""


Entry = Mapping[str, Any]
MemberKey = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
SHAPE: dict[str, Any] = {"organisation": (Named, ...), "members": (Mapping[MemberKey, Person], ...)}
SHAPE |= dict.fromkeys(SECTIONS, (list[Entry], []))
FoundingFile: Any = create_model("FoundingFile", __base__=Part, **SHAPE)


class Ref(str):
    """What stands for an id until an earlier step has made it, such as `team harbour-watch`."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Step:
    place: Place
    by: str
    operation: Operation
    values: Mapping[str, Any]
    makes: str = ""

    def __str__(self) -> str:
        return f"{dotted(self.place)}: {self.by}: {self.operation.title}"


@dataclass(slots=True)
class Plan:
    """What a file amounts to, step by step, and its faults."""

    file: Any
    now: datetime
    steps: list[Step] = field(default_factory=list)
    faults: list[tuple[Place, str]] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    """The references to what the steps until now have made."""
    keys: set[str] = field(default_factory=set)

    def fault(self, message: str, *place: str | int) -> None:
        self.faults.append((place, message))

    def step(self, place: Place, by: str, operation: Operation, values: Mapping[str, Any], makes: str = "") -> None:
        """Append an operation. What its input refuses is a fault, and what refers to nothing."""
        for name, one in values.items():
            if isinstance(one, Ref) and one not in self.known:
                kind = one.partition(" ")[0]
                there = sorted(known.partition(" ")[2] for known in self.known if known.startswith(f"{kind} "))
                self.fault(f"there is no such {kind}; {listed(there)}", *place, name.removesuffix("_id"))
        given = {"orga_id": self.file.organisation.slug, "revision": 1}
        try:
            known = {name: one for name, one in given.items() if name in operation.input.model_fields}
            operation.accepted({**known, **values})
            if "emoji" in values:
                conversation.emoji_of(values["emoji"])
        except InvalidInput as error:
            self.fault(f"{error.message.replace('_id:', ':')} {error.hint or ''}".strip(), *place)
        if by not in self.file.members:
            self.fault(f"there is no such member; {listed(self.file.members)}", *place, "by")
        self.known.add(makes)
        self.steps.append(Step(place, by, operation, values, makes))

    def entry(self, place: Place, does: str, given: Entry, by: str, around: Mapping[str, Ref]) -> None:
        """Append what an entry does, and what follows it; `around` are the fields that it gets from what it follows."""
        operation, gives = DOES[does]
        fields = {name.removesuffix("_id"): name for name in operation.input.model_fields if name != "orga_id"}
        own = (*fields, "by", "key", "then", *MORE.get(does, ()))
        if unknown := [name for name in given if name not in own]:
            self.fault(f"unknown: {', '.join(unknown)[:200]}; {listed(own)}", *place)
        by, made = str(given.get("by", by)), f"{does} {given.get('key') or dotted(place)}"
        if "key" in given and made in self.keys:
            self.fault(f"another {does} has this key", *place, "key")
        self.keys.add(made)
        values: dict[str, Any] = {name: one for name, one in around.items() if name in fields.values()}
        for short, name in fields.items():
            if (one := given.get(short)) is not None:
                values[name] = Ref(f"{NAMED.get(name, short)} {one}") if name.endswith("_id") else one
        if isinstance(choices := values.get("choices"), list):
            values["choices"] = [str(one) for one in choices]
        if (days := given.get("days")) is not None and does == "vote":
            if isinstance(days, int) and 1 <= days <= MAX_DAYS:
                values["deadline"] = self.now + timedelta(days=days)
            else:
                self.fault(f"this takes a number from 1 to {MAX_DAYS}", *place, "days")
        if does == "team":
            self.team(place, given, by, values, made)
        else:
            self.step(place, by, operation, values, made)
        after = {**around, **dict.fromkeys(gives, Ref(made))}
        if "channel_id" in values:
            after.setdefault("channel_id", values["channel_id"])
        self.follow((*place, "then"), given.get("then", []), by, after)

    def follow(self, place: Place, then: Any, by: str, around: Mapping[str, Ref]) -> None:
        """Append what follows an entry: a list of mappings of one key, which says what is done."""
        for number, one in enumerate(then if isinstance(then, list) else [None]):
            at = (*place, number) if isinstance(then, list) else place
            does, given = next(iter(one.items())) if isinstance(one, Mapping) and len(one) == 1 else ("", None)
            if does in DOES and isinstance(given, Mapping):
                self.entry((*at, does), does, given, by, around)
            else:
                self.fault(f"this takes a list of mappings of one key, what is done, of a mapping; {listed(DOES)}", *at)

    def team(self, place: Place, given: Entry, by: str, values: dict[str, Any], made: str) -> None:
        """Append a team, and who holds its first roles. The one without parent is that of the founding."""
        key = made.partition(" ")[2]
        if "parent_team_id" in values:
            self.step(place, by, structure.create_team, values, made)
            self.known |= with_a_team(key)
        else:
            mission = values.pop("mission", "")
            self.step(place, by, structure.change_team, {**values, "team_id": Ref(made)})
            about = {"role_id": Ref(f"role {key}.leader"), "title": "Leader", "mission": mission}
            self.step(place, by, structure.change_role, about)
        for type in LEADING:
            if given.get(type, by) != by:
                values = {"role_id": Ref(f"role {key}.{type}"), "member_id": Ref(f"member {given[type]}")}
                self.step((*place, type), by, structure.assign_role, values)


def with_a_team(key: str) -> set[str]:
    """Return the references to what comes with a team: itself, its channel, its first roles."""
    return {f"team {key}", f"channel {key}", *(f"role {key}.{type}" for type in LEADING)}


def dotted(place: Place) -> str:
    return ".".join(map(str, place))


def listed(names: Iterable[str]) -> str:
    return f"there are: {', '.join(list(names)[:30]) or 'none'}"


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
        faults: list[tuple[Any, str]] = list(plan.faults)
    except ValidationError as error:
        known = listed(FoundingFile.model_fields)
        faults = [(one["loc"], f"{words(one)} (in the file {known})") for one in error.errors(include_url=False)]
    if not faults:
        return plan
    lines = []
    for place, fault in faults:
        at = next((parsed.lines[place[:end]] for end in range(len(place), 0, -1) if place[:end] in parsed.lines), 1)
        lines.append((at, f"line {at}, {dotted(place) or 'the file'}: {fault}"))
    more = [f"and {len(lines) - MAX_FAULTS} more"] if len(lines) > MAX_FAULTS else []
    hint = "\n".join([*(fault for _, fault in sorted(lines)[:MAX_FAULTS]), *more])
    raise InvalidInput(f"Faults of the file: {len(lines)}. Nothing was written.", hint=hint)


def planned(file: Any, governance: Governance) -> Plan:
    """Return the plan of a file, with its faults."""
    own, people = file.organisation, file.members
    plan = Plan(file, datetime.fromisoformat(governance.store.now()))
    if own.slug in governance.reserved or not is_organisation(own.slug):
        valid = "small letters, digits and hyphens, and no name that this deployment uses already"
        plan.fault(f"this takes {valid}", "organisation", "slug")
    if own.owner not in people:
        plan.fault(f"there is no such member; {listed(people)}", "organisation", "owner")
    elif people[own.owner].account is None:
        plan.fault("the owner has an `account`, or nobody could sign in", "members", own.owner)
    accounts = [one.account for one in people.values() if one.account]
    if len(set(accounts)) < len(accounts):
        plan.fault("two members have the same account", "members")
    roots = [str(one.get("key")) for one in file.teams if "parent_team" not in one]
    if file.teams and len(roots) != 1:
        plan.fault(f"one team has no `parent_team`; {listed(roots)}", "teams")
    for key, one in people.items():
        at = ("organisation",) if key == own.owner else ("members", key)
        values = {"slug": own.slug, "name": own.name, "firstname": one.firstname, "surname": one.surname}
        plan.step(at, key, structure.found_organisation, values, f"team {roots[0] if roots else ''}")
    # Only the owner founds; of the others this has checked the names.
    plan.steps = [one for one in plan.steps if one.by == own.owner]
    plan.known |= {f"member {key}" for key in people} | {"channel organisation"}
    plan.known |= set().union(*map(with_a_team, roots))
    by = own.owner if own.owner in people else next(iter(people), "")
    for section, does in zip(SECTIONS, DOES, strict=False):
        for number, entry in enumerate(getattr(file, section)):
            plan.entry((section, number), does, entry, by, {})
    return plan


@dataclass(frozen=True, slots=True, kw_only=True)
class InTheirPlace(Governance):
    """Governance for an operator who acts for the members of a file: many of them have no account yet."""

    def member(self, actor: Actor, organisation: str) -> Member:  # noqa: ARG002 - who acts is not who asks
        return self.store.get(organisation, MEMBERS, self.acting or "")


def carry_out(plan: Plan, governance: Governance, pseudonym: Callable[[str], str]) -> dict[str, str]:
    """Found the organisation of a plan; return the secrets of the invitations of those without account, by key.

    `pseudonym` names the account of a subject. Raises Conflict for a name that is taken, and for what an operation
    refuses, after everything was removed again. What an interrupted run has left is removed by the next one.
    """
    own, store, ids, secrets = plan.file.organisation, governance.store, dict[str, str](), dict[str, str]()
    unfinished, name = NAMES.at(own.slug, UNFINISHED), key_of("organisations", f"gov#{own.slug}")
    if store.table.get(unfinished):
        remove(store, own.slug)
    accounts = {key: pseudonym(one.account) for key, one in plan.file.members.items() if one.account}
    actor, step = Actor(Principal(account=accounts[own.owner])), plan.steps[0]
    operator = InTheirPlace(store=store, reserved=governance.reserved, founded=governance.founded)
    mark = store.table.put(unfinished, {"account": accounts[own.owner]})
    try:
        # From here on nobody else founds it: what `remove` deletes is of this file.
        store.table.transact([mark, store.table.check(name, "attribute_not_exists(pk)")])
    except Lost:
        hint = "A file only founds. Change it in the console."
        raise Conflict(f"There is an organisation {own.slug}.", hint=hint) from None
    try:
        for step in plan.steps:
            takes = step.operation.input.model_fields
            values = {name: ids[one] if isinstance(one, Ref) else one for name, one in step.values.items()}
            values |= {"orga_id": own.slug} if "orga_id" in takes else {}
            if "revision" in takes:
                room: Room[Any] = ROLES if "role_id" in values else TEAMS
                values["revision"] = store.get(own.slug, room, values.get("role_id") or values["team_id"]).revision
            acting = replace(operator, acting=ids.get(f"member {step.by}", ""))
            result = step.operation.run(acting, actor, step.operation.accepted(values))
            if step.operation is structure.found_organisation:
                ids[f"member {own.owner}"] = result.owner
                _add_members(plan, store, accounts, ids, secrets)
                channels = store.all(own.slug, CHANNELS)
                ids["channel organisation"] = next(one.id for one in channels if one.kind == "orga")
                result = store.all(own.slug, TEAMS)[0]
            if step.operation in (structure.found_organisation, structure.create_team):
                key = step.makes.partition(" ")[2]
                roles = store.all(own.slug, ROLES, within=roles_of(result.id))
                ids |= {f"channel {key}": result.channel} | {f"role {key}.{one.type}": one.id for one in roles}
            if step.makes:
                ids[step.makes] = getattr(result, "id", "")
    except BaseException as error:
        remove(store, own.slug)
        if isinstance(error, CommonplaceError):
            raise Conflict(f"{step}: {error.message} Nothing was stored.", hint=error.hint) from error
        raise
    store.table.write(store.table.delete(unfinished))
    return secrets


def _add_members(
    plan: Plan, store: Store, accounts: Mapping[str, str], ids: dict[str, str], secrets: dict[str, str]
) -> None:
    """Write the members of a file but its owner; those without account with an invitation that makes somebody them."""
    own = plan.file.organisation
    owner = store.get(own.slug, MEMBERS, ids[f"member {own.owner}"])
    access = Access(organisation=own.slug, member=owner, roles=owner.roles)

    def add(act: Act, key: str, one: Person) -> None:
        named: dict[str, Any] = {"firstname": one.firstname, "surname": one.surname}
        member = Member(id=new_id("mb"), account=accounts.get(key, ""), joined_at=act.at, **named)
        act.add(MEMBERS, member)
        ids[f"member {key}"] = member.id
        if member.account:
            act.change.writes += store.join(own.slug, member.account, member.id)
        else:
            secrets[key] = fresh(structure.INVITATION)
            about: dict[str, Any] = {"member": owner.id, "note": member.name, "claims": member.id}
            about |= {"created_at": act.at, "expires_at": store.invitation_ends}
            act.add(INVITATIONS, Invitation(id=digest(secrets[key]), **about))
        act.record("Member", "members", member.id, ({}, shown(member, "account", "roles")), organisation=own.name)
        act.touch("", "members")

    for key, one in plan.file.members.items():
        if key != own.owner:
            store.change(access, partial(add, key=key, one=one))


def remove(store: Store, slug: str) -> None:
    """Delete everything of an organisation whose founding did not come to its end, and its name at last."""
    table, unfinished = store.table, NAMES.at(slug, UNFINISHED)
    account = (table.get(unfinished) or {}).get("account")
    for member in store.all(slug, MEMBERS):
        if member.account:
            table.write(store.leave(slug, member.account))
    for room in (one for one in vars(rooms).values() if isinstance(one, Room)):
        keys = [key_of(item["pk"], item["sk"]) for item in table.query(room.partition(slug))]
        table.write_many(table.delete(where) for where in keys if where != unfinished)
    name = key_of("organisations", f"gov#{slug}")
    if account and table.get(name):
        less = table.update(founded_key(account), "ADD #founded :less", less=-1)
        table.transact([table.delete(name), less, table.delete(unfinished)])
    else:
        table.write(table.delete(unfinished))
