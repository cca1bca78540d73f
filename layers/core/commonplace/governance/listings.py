"""What members and agents read of an organisation: rows, and the fourteen readings of seed 002, section 4.1.

Every reading begins with who asks. What gives away things of another kind, such as who holds a role, is left out
wherever it stands for a token that does not reach that kind. A page reads what it shows, in batches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import wraps
from itertools import islice, takewhile
from operator import attrgetter
from typing import Annotated, Any, TypeVar, get_args

from pydantic import Field, create_model

from commonplace.governance import model, store
from commonplace.governance.governance import Governance
from commonplace.governance.model import Answer, Channel, Kind, Message, Process, ProcessKind, Role, Team, roles_of
from commonplace.governance.rules import Access, awaits, gone, tally
from commonplace.kernel.errors import Forbidden
from commonplace.kernel.items import Item
from commonplace.kernel.records import Room
from commonplace.web.faces import Face
from commonplace.web.operations import Actor, Input, Listing, Operation, Skipped, listing, operation

T = TypeVar("T")


class OfOrganisation(Input):
    orga_id: str = Field(max_length=64, description="The short name of an organisation")


def naming(name: str, base: type[Input] = OfOrganisation) -> type[Input]:
    """Return the input of what is read of one thing."""
    fields: Any = {f"{name}_id": (str, Field(max_length=128))}
    return create_model(f"Of{name.title()}", __base__=base, **fields)


OfChannel = naming("channel")


class OfDecisions(OfOrganisation):
    team_id: str | None = Field(None, max_length=64, description="Only about this team")
    target_type: str | None = Field(None, max_length=32, description="Only about such things: roles, policies, topics")


def row_of(name: str, fields: str, kinds: Mapping[str, Any] | None = None) -> Any:
    """Return the face of a row: its fields in order, text unless `kinds` says otherwise.

    `*` marks a list of such things, `?` what can be absent.
    """
    # Revisions are for the forms of people: no agent changes what has one.
    kinds = {"id": ID, "revision": Annotated[int | None, Field(exclude=True)], **(kinds or {})}
    shape: dict[str, Any] = {}
    for field in fields.split():
        kind: Any = kinds.get(bare := field.rstrip("*?"), str)
        kind = list[kind] if "*" in field else kind
        shape[bare] = (kind | None, None) if "?" in field else (kind, ...)
    return create_model(name, __base__=Face, **shape)


ID = Annotated[str, Field(serialization_alias="_id")]
Somebody = row_of("Somebody", "member_id name count? via?", {"count": int})
Named = row_of("Named", "id name")
RoleRow = row_of(
    "RoleRow",
    "id team_id? team_name? title role_type? mission duties* member_id? member_name? parent_team_id? mine revision",
    {"mine": bool},
)
TeamRow = row_of(
    "TeamRow",
    "id name color? mission parent_team_id? leader? role_count? member_count? channel_id? mine revision roles*?",
    {"leader": Somebody, "role_count": int, "member_count": int, "mine": bool, "roles": RoleRow},
)
MemberRow = row_of(
    "MemberRow",
    "id name picture_url role_ids*? team_ids*? firstname? surname? roles*? teams*?",
    {"picture_url": Annotated[str | None, Field(serialization_alias="pictureURL")], "roles": RoleRow, "teams": Named},
)
You = row_of("You", "member_id name roles*? permission resource_scopes*? expires_at?", {"roles": dict[str, str]})
OrganisationRow = row_of(
    "OrganisationRow",
    "id name mission? accent_color? logo_url? owner counts you revision",
    {"owner": Somebody, "counts": dict[str, int], "you": You},
)
ChannelRow = row_of("ChannelRow", "id kind name team_id? is_archived last_message_at?", {"is_archived": bool})
OptionRow = row_of("OptionRow", "id label", {"id": str})
ResultRow = row_of(
    "ResultRow",
    "id label count score voters*?",
    {"id": Annotated[str, Field(serialization_alias="optionId")], "count": int, "score": int, "voters": Somebody},
)
SAID = "id member_id name at text round response? nominee? via?"
"""What somebody said in a process: a question, an answer, or the reason of a response or a nomination. `via`, wherever
it stands, is the application of an agent that did it in somebody's name."""
Said = row_of("Said", SAID, {"round": int, "nominee": Somebody})
Question = row_of("Question", f"{SAID} answers*", {"round": int, "nominee": Somebody, "answers": Said})
PROCESS = (
    "title? question? description? role_title? role_id? team_id? phase? round? deadline? is_closed? mode? options*?"
    " ballots? results*? electorate? questions? unanswered? responses? nominations? you_nominated? tally*?"
    " proposed_candidate? yours? awaits_you? outcome? elected? changes? decision_id?"
    # What was said by whom stands in the thread of a process alone.
    " clarifications*? given_responses*? given_nominations*? revision"
)
OF_PROCESS: dict[str, Any] = {
    **dict.fromkeys(("round", "ballots", "electorate", "questions", "unanswered", "nominations"), int),
    **dict.fromkeys(("is_closed", "you_nominated", "awaits_you"), bool),
    **dict.fromkeys(("proposed_candidate", "elected", "proposer", "tally"), Somebody),
    **dict.fromkeys(("given_responses", "given_nominations"), Said),
    "options": OptionRow,
    "results": ResultRow,
    "responses": dict[str, int],
    "yours": str | list[str],
    "clarifications": Question,
}
ProcessFace = row_of("ProcessFace", f"type {PROCESS}", OF_PROCESS)
TOOL_TYPE = Annotated[str, Field(serialization_alias="toolType")]
ACTIVE = f"message_id channel_id channel_name? type proposer {PROCESS}"
ActiveRow = row_of("ActiveRow", ACTIVE, {**OF_PROCESS, "type": TOOL_TYPE})
ActiveRow.read = {"id": attrgetter("message_id")}
ReactionRow = row_of("ReactionRow", "emoji count reacted agents?", {"count": int, "reacted": bool, "agents": int})
MessageRow = row_of(
    "MessageRow",
    "id channel_id text author_id author_name via? created_at embedded_tool? thread_count reactions*",
    {"embedded_tool": ProcessFace, "thread_count": int, "reactions": ReactionRow},
)
Difference = row_of("Difference", "type before after", {"before": dict[str, Any], "after": dict[str, Any]})
DecisionRow = row_of(
    "DecisionRow",
    "id created_at author role_name team_name target_team_id? target_id target_type diff agent?",
    {"author": Somebody, "diff": Difference, "agent": dict[str, str]},
)
PolicyRow = row_of(
    "PolicyRow",
    "id number title abstract role_id? role_title? team_id? owner_name? updated_at revision text?",
    {"number": int},
)

AgentRow = row_of(
    "AgentRow",
    "id client member roles* kinds* acts created_at expires_at actions refused",
    {**dict.fromkeys(("expires_at", "actions", "refused"), int), "acts": bool, "roles": Named, "member": Somebody},
)

BEYOND: Mapping[Kind, frozenset[str]] = {
    "teams": frozenset({"team_id", "team_ids", "team_name", "parent_team_id", "teams", "team", "parent"}),
    "roles": frozenset({"role_id", "role_ids", "role_title", "role_count", "roles", "leader", "owner_name", "role"}),
    "members": frozenset({"member_id", "member_name", "member_count", "leader", "owner_name", "member"}),
    "channels": frozenset({"channel_name", "channel"}),
    "messages": frozenset({"last_message_at"}),
}
"""Fields of rows, and of what the journal tells, that are left out where a token does not reach a kind."""

RESULTS = ("results", "ballots", "tally", "nominations")
"""What lists of open processes do not show."""

DECIDED: Mapping[str, Kind] = {one: one for one in model.KINDS} | {"votings": "topics", "elections": "topics"}
"""The kinds of what the journal tells before and after, by its type of target."""

PEOPLE: dict[str, Any] = {"tier": "public", "tool": False}

SHOWN: Mapping[ProcessKind, str] = {
    "topic": "title description phase round electorate outcome changes",
    "voting": "mode deadline electorate outcome",
    "election": "phase round electorate outcome",
}
"""What a process shows as it is stored."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading by one caller. Its methods take the records of a page, and read at once what else the rows show."""

    governance: Governance
    access: Access

    def beyond(self) -> set[str]:
        """Return the names of fields out of reach."""
        return {name for kind, names in BEYOND.items() if not self.access.touches(kind) for name in names}

    def row(self, face: Any, record: Any, **more: Any) -> Any:
        """Return a row: fields of the record that are called alike, what is given, and nothing out of reach."""
        beyond = self.beyond()
        if "role_ids" in beyond:  # whoever reads the teams of a member knows of roles as well
            beyond |= {"team_ids", "teams"}
        beyond -= {name for name, field in face.model_fields.items() if field.is_required()}
        values = {name: getattr(record, name) for name in face.model_fields if hasattr(record, name)} | more
        return face(**{name: value for name, value in values.items() if name not in beyond})

    def read(self, room: Room[T], limit: int = 100, **how: Any) -> Iterator[T]:
        """Yield records of a room, read as many at a time as a page shows."""
        return self.governance.store.records.list(self.access.organisation, room, page=limit + 2, **how)

    def paged(self, show: Callable[[list[T]], Iterable[Any]], found: Iterable[T], request: Any) -> Iterator[Any]:
        """Yield rows of what is found, as many at a time as a page shows, and one by which it knows of the next."""
        return (row for batch in batches(found, request.limit + 1) for row in show(batch))

    def many(self, room: Room[T], ids: Iterable[str]) -> dict[str, T]:
        return self.governance.store.records.get_many(self.access.organisation, room, sorted(set(ids)))

    def count(self, room: Room[Any], filter: str = "") -> int:
        """Return how many records a room has, without fetching them."""
        where = room.partition(self.access.organisation)
        return sum(page["Count"] for page in self.governance.store.table.pages(where, filter=filter, Select="COUNT"))

    def names(self, ids: Iterable[str | None]) -> Callable[[str], Any]:
        known = self.governance.names(self.access.organisation, {id for id in ids if id})
        return lambda id: Somebody(member_id=id, name=known.get(id, ""))

    def roles(self, roles: Sequence[Role]) -> list[Any]:
        teams, names = self.many(store.TEAMS, (one.team for one in roles)), self.names(one.member for one in roles)
        rows = []
        for one in roles:
            team = teams.get(one.team)
            more: dict[str, Any] = {"team_id": one.team, "team_name": team and team.name, "role_type": one.type}
            more |= {"member_name": names(one.member).name, "mine": one.id in self.access.roles}
            more["parent_team_id"] = team.parent if team and one.type == "leader" else None
            rows.append(self.row(RoleRow, one, member_id=one.member, **more))
        return rows

    def of_teams(self, first: str, last: str) -> list[Role]:
        """Return the roles of the teams from one id to another."""
        found = self.read(store.ROLES, after=roles_of(first))
        return list(takewhile(lambda one: one.id < f"{roles_of(last)}~", found))

    def teams(self, teams: Sequence[Team], roles: Sequence[Role] | None = None, *, whole: bool = False) -> list[Any]:
        """Return rows of teams, in the order of their ids unless their roles are given; `whole` ones have them too."""
        roles = self.of_teams(teams[0].id, teams[-1].id) if roles is None else roles
        leaders = {one.team: one for one in roles if one.type == "leader"}
        names, rows = self.names(one.member for one in leaders.values()), []
        for one in teams:
            own, mine = [each for each in roles if each.team == one.id], one.id in self.access.teams
            leader, more = leaders.get(one.id), dict[str, Any]()
            more |= {"mission": leader.mission if leader else "", "leader": leader and names(leader.member)}
            more |= {"role_count": len(own), "member_count": len({each.member for each in own})}
            more |= {"parent_team_id": one.parent, "mine": mine, "roles": self.roles(own) if whole else None}
            more["channel_id"] = one.channel if mine and self.access.touches("channels") else None
            rows.append(self.row(TeamRow, one, **more))
        return rows

    def policies(self, policies: Sequence[model.Policy], text: str | None = None) -> list[Any]:
        roles, rows = self.many(store.ROLES, (one.role for one in policies)), []
        names = self.names(one.member for one in roles.values())
        for one in policies:
            more: dict[str, Any] = {"role_id": one.role, "team_id": one.team, "text": text}
            if role := roles.get(one.role):
                more |= {"role_title": role.title, "owner_name": names(role.member).name}
            rows.append(self.row(PolicyRow, one, **more))
        return rows

    def readable(self) -> list[Channel]:
        """Return every channel in reach: the organisation's, those of teams by name, direct ones last."""
        where, me, records = self.access.organisation, self.access.member.id, self.governance.store.records
        found = [one for one in self.read(store.CHANNELS, within="ch_") if self.access.reaches(one)]
        if not self.access.agent:
            pairs = records.items(store.NAMES.partition(where), within=f"dm.{me}.", page=1_000)
            found += self.many(store.CHANNELS, (pair["id"] for pair in pairs)).values()
        return sorted(found, key=lambda one: (("orga", "team", "dm").index(one.kind), one.name.casefold(), one.id))

    def agents(self, agents: Sequence[model.Agent]) -> list[Any]:
        members = self.many(store.MEMBERS, (one.member for one in agents))
        roles, rows = self.many(store.ROLES, (id for one in agents for id in one.roles)), []
        for one in agents:
            member = members.get(one.member)
            if member is None or member.left_at is not None:  # the grant is worth nothing, and ends when it is used
                continue
            held = [Named(id=id, name=roles[id].title) for id in one.roles if id in roles and id in member.roles]
            whose = Somebody(member_id=member.id, name=member.name)
            rows.append(self.row(AgentRow, one, roles=held, member=whose))
        return rows

    def channels(self, channels: Sequence[Channel]) -> list[Any]:
        cards, rows = self.governance.store.cards(self.access.organisation, [one.id for one in channels]), []
        names = self.names(id for one in channels for id in one.members)
        for one in channels:
            other = next((names(id).name for id in one.members if id != self.access.member.id), one.name)
            more = {"name": other, "is_archived": one.archived_at is not None, "team_id": one.team}
            rows.append(self.row(ChannelRow, one, **more, last_message_at=cards.get(one.id, {}).get("last")))
        return rows

    def messages(self, messages: Sequence[Message], *, whole: bool = False) -> list[Any]:
        """Return messages with counters, reactions and processes; with `whole`, all that was said in a process."""
        where, me, rows = self.access.organisation, self.access.member.id, []
        cards = self.governance.store.cards(where, [one.id for one in messages])
        counted = {id: reactions(card) for id, card in cards.items()}
        keys = [store.REACTIONS.at(where, f"{id}.{me}.{code}") for id, found in counted.items() for code, *_ in found]
        mine = {item["sk"] for item in self.governance.store.table.get_many(keys)}
        topics = self.access.touches("topics")
        found = self.many(store.PROCESSES, (one.id for one in messages if one.process and topics))
        shown, names = self.processes(found.values(), whole=whole), self.names(one.author for one in messages)
        for one in messages:
            more: dict[str, Any] = {"channel_id": one.channel, "author_id": one.author, "via": one.client or None}
            more["author_name"] = names(one.author).name
            more["thread_count"] = cards.get(one.id, {}).get("replies", 0)
            more["reactions"] = [
                ReactionRow(emoji=emoji(code), count=count, reacted=f"{one.id}.{me}.{code}" in mine, agents=agents)
                for code, count, agents in counted.get(one.id, ())
            ]
            if one.process:
                # The text of such a message is the topic's.
                more["embedded_tool"] = shown.get(one.id, ProcessFace(type=one.process, revision=None))
                more |= {} if topics else {"text": ""}
            rows.append(self.row(MessageRow, one, **more))
        return rows

    def processes(self, processes: Iterable[Process], *, whole: bool = False) -> dict[str, Any]:
        """Return processes by id, each read with all that was said in it."""
        said = [(one, self.governance.store.answers(self.access.organisation, one.id)) for one in processes]
        ids = {id for _, answers in said for one in answers for id in (one.nominee, one.member if whole else None)}
        names, now = self.names(ids | {one.candidate for one, _ in said}), self.governance.store.now()
        return {one.id: self.process(one, answers, names, now, whole=whole) for one, answers in said}

    def process(
        self, one: Process, answers: Sequence[Answer], names: Callable[[str], Any], now: str, *, whole: bool
    ) -> Any:
        me = self.access.member.id
        of = {kind: [each for each in answers if each.kind == kind] for kind in get_args(model.AnswerKind)}
        given = [each for each in of["response"] if each.round == one.round]
        shown: dict[str, Any] = {name: getattr(one, name) for name in SHOWN[one.kind].split()}
        shown |= {"type": one.kind, "decision_id": one.decision, "revision": one.revision}
        shown["awaits_you"] = awaits(one, answers, me, now)
        if one.kind == "voting":
            results = tally(one.mode, one.options, [each.choices for each in of["ballot"]])
            rows = []
            for each in results:
                by = [voter(one, names) for one in of["ballot"] if each.option in one.choices] if whole else None
                rows.append(ResultRow(**asdict(each), id=each.option, voters=by))
            mine = next((list(each.choices) for each in of["ballot"] if each.member == me), None)
            shown |= {"question": one.title, "is_closed": one.ended(now), "ballots": len(of["ballot"]), "results": rows}
            options = [OptionRow(id=str(at), label=label) for at, label in enumerate(one.options, 1)]
            return ProcessFace(**shown, yours=mine, options=options)
        count = Counter(each.response for each in given)
        shown["responses"] = {each: count[each] for each in get_args(model.Response)}
        shown["yours"] = next((each.response for each in given if each.member == me), None)
        shown["given_responses"] = [said(each, names) for each in of["response"]] if whole else None
        if one.kind == "topic":
            to = {one.id: [said(by, names) for by in of["answer"] if by.question == one.id] for one in of["question"]}
            shown |= {"questions": len(to), "unanswered": sum(not each for each in to.values())}
            questions = [Question(**dict(said(each, names)), answers=to[each.id]) for each in of["question"] if whole]
            return ProcessFace(**shown, clarifications=questions if whole else None)
        # Nominations are numbers until they are discussed; those of an election that ended before stay so.
        nominees = Counter(each.nominee for each in of["nomination"] if each.nominee)
        candidate = names(one.candidate) if one.candidate else None
        shown |= {"role_title": one.title, "role_id": one.role, "team_id": one.team, "proposed_candidate": candidate}
        shown |= {"nominations": len(of["nomination"]), "elected": candidate if one.phase == "elected" else None}
        shown["you_nominated"] = any(each.member == me for each in of["nomination"])
        if one.revealed:
            shown["tally"] = [Somebody(**dict(names(id)) | {"count": by}) for id, by in sorted(nominees.items())]
            shown["given_nominations"] = [said(each, names) for each in of["nomination"]] if whole else None
        return self.row(ProcessFace, None, **shown)

    def active(self, after: str | None, limit: int, *kinds: str) -> Iterator[Any]:
        """Yield the open processes of readable channels, in the order of their ids."""
        now = self.governance.store.now()
        found = (one for one in self.read(store.ACTIVE) if one.kind in kinds and (one.deadline or "~") > now)
        ids = [one.id for one in found if after is None or one.id > after]
        channels = self.many(store.CHANNELS, (id.partition(".")[0] for id in ids))
        reached = {id for id, one in channels.items() if self.access.reaches(one)}
        for batch in batches((id for id in ids if id.partition(".")[0] in reached), limit + 1):
            processes = {id: one for id, one in self.many(store.PROCESSES, batch).items() if not one.ended(now)}
            rows, names = self.processes(processes.values()), self.names(one.author for one in processes.values())
            for id, one in sorted(processes.items()):
                fields = {name: getattr(rows[id], name) for name in ProcessFace.model_fields if name not in RESULTS}
                fields |= {"title": one.title, "description": one.description[: model.MAX_SUMMARY] or None}
                fields |= {"message_id": id, "team_id": one.team}
                fields |= {"channel_id": one.channel, "channel_name": channels[one.channel].name}
                yield self.row(ActiveRow, None, **fields, proposer=names(one.author))


def said(one: Answer, names: Callable[[str], Any]) -> Any:
    values = {"id": one.id, "at": one.at, "text": one.text, "round": one.round, "response": one.response}
    nominee = names(one.nominee) if one.nominee else None
    return Said(**values, **dict(voter(one, names)), nominee=nominee)


def voter(one: Answer, names: Callable[[str], Any]) -> Any:
    """Return who gave an answer, with the application of the agent that did."""
    return Somebody(**dict(names(one.member)) | {"via": one.client or None})


def reactions(card: Item) -> list[tuple[str, int, int | None]]:
    """Return the reactions that a card counts: code points as it has them, how many, and how many by agents, if any."""
    found = [(name[2:], int(count)) for name, count in sorted(card.items()) if name.startswith("r_") and count > 0]
    return [(code, count, int(card.get(f"a_{code}", 0)) or None) for code, count in found]


def emoji(code: str) -> str:
    return "".join(chr(int(point, 16)) for point in code.split("_"))


def batches(records: Iterable[T], size: int) -> Iterator[list[T]]:
    records = iter(records)
    while batch := list(islice(records, size)):
        yield batch


def entered(governance: Governance, actor: Actor, request: Any, kind: Kind) -> Reading:
    """Return the reading of whoever asks. Raises NotFound, and Forbidden for a kind that a token does not reach."""
    access = governance.access(actor, request.orga_id)
    if not access.touches(kind):
        raise Forbidden(f"This token does not reach {kind}.", hint="Its member excluded them, and can consent again.")
    return Reading(governance, access)


def declares(declared: Callable[..., Any], kind: Kind, address: str, title: str, **more: Any) -> Callable[..., Any]:
    """Declare `function(reading, request)`, or `function(reading, request, after)` of a list."""
    shared: dict[str, Any] = {"tier": "public", "tool": False, "kind": kind, "title": title}
    made = declared("governance", address=f"orgas/{{orgaId}}{address}", **(shared | more))

    def declare(function: Callable[..., Any]) -> Any:
        @wraps(function)
        def run(governance: Governance, actor: Actor, request: Any, *after: str | None) -> Any:
            return function(entered(governance, actor, request, kind), request, *after)

        return made(run)

    return declare


def reads(kind: Kind, address: str, title: str, output: type[Face], input: type[Input]) -> Callable[..., Operation]:
    return declares(operation, kind, address, title, output=output, input=input)


def lists(kind: Kind, address: str, title: str, row: type[Face], **more: Any) -> Callable[..., Listing]:
    """Declare a list; the last word of its address names the rows, or `of`."""
    shared: dict[str, Any] = {"usual": 50, "most": 100, "input": OfOrganisation, "of": address.rpartition("/")[2]}
    place = f"{address}{{?{more.pop('parameters', 'limit,cursor')}}}"
    return declares(listing, kind, place, title, row=row, line=lambda _: "", **(shared | more))


@reads("organisation", "", "Organisation", OrganisationRow, OfOrganisation)
def read_organisation(reading: Reading, request: Any) -> Any:
    """Returns an organisation: name, mission and owner, and on whose behalf, how far and how long, you read it."""
    access, one = reading.access, reading.governance.store.organisation(request.orga_id)
    teams = {team.id: team for team in reading.read(store.TEAMS)} if access.touches("teams") else {}
    root = next((team.leader for team in teams.values() if team.parent is None), None)
    roles = reading.many(store.ROLES, [*access.roles, *([root] if root else [])])
    held = [
        {"_id": id, "title": roles[id].title} | ({"teamName": teams[team].name} if team in teams else {})
        for id, team in sorted(access.roles.items())
        if id in roles
    ]
    counts: dict[Kind, Callable[[], int]] = {"teams": lambda: len(teams), "roles": lambda: reading.count(store.ROLES)}
    counts["members"] = lambda: reading.count(store.MEMBERS, "attribute_not_exists(#leftAt)")
    until = None if access.expires_at is None else model.stamp(datetime.fromtimestamp(access.expires_at, UTC))
    you = {"member_id": access.member.id, "name": access.member.name}
    you["permission"] = "action" if access.acts and (one.agents_act or not access.agent) else "readonly"
    more: dict[str, Any] = {"id": one.slug, "accent_color": one.color, "owner": reading.names([one.owner])(one.owner)}
    more["mission"] = roles[root].mission if root in roles else None
    more["counts"] = {kind: count() for kind, count in sorted(counts.items()) if access.touches(kind)}
    kinds = None if access.kinds is None else sorted(access.kinds)
    roles_held = held if access.touches("roles") else None
    more["you"] = You(**you, roles=roles_held, resource_scopes=kinds, expires_at=until)
    return reading.row(OrganisationRow, one, **more)


@lists("teams", "/teams", "Teams", TeamRow)
def list_teams(reading: Reading, request: Any, after: str | None) -> Iterator[Any]:
    """Lists the teams of an organisation: a tree, by the ids of their parents."""
    return reading.paged(reading.teams, reading.read(store.TEAMS, request.limit, after=after), request)


@reads("teams", "/teams/{teamId}", "Team", TeamRow, naming("team"))
def read_team(reading: Reading, request: Any) -> Any:
    """Returns a team with its roles and who holds them."""
    return reading.teams([reading.governance.store.get(request.orga_id, store.TEAMS, request.team_id)], whole=True)[0]


@lists("members", "/members", "Members", MemberRow)
def list_members(reading: Reading, request: Any, after: str | None) -> Iterator[Any]:
    """Lists the members of an organisation, with the ids of their roles and teams."""
    for one in reading.read(store.MEMBERS, request.limit, after=after):
        more = {"role_ids": sorted(one.roles), "team_ids": sorted(one.teams), "roles": None, "teams": None}
        yield reading.row(MemberRow, one, **more) if one.left_at is None else Skipped(one.id)


@reads("members", "/members/{memberId}", "Member", MemberRow, naming("member"))
def read_member(reading: Reading, request: Any) -> Any:
    """Returns a member with roles and teams."""
    one = reading.governance.store.get(request.orga_id, store.MEMBERS, request.member_id)
    if one.left_at is not None:
        raise gone()
    teams = reading.governance.names(request.orga_id, set(one.teams), store.TEAMS)
    return reading.row(
        *(MemberRow, one),
        role_ids=sorted(one.roles),
        team_ids=sorted(one.teams),
        roles=reading.roles(list(reading.many(store.ROLES, one.roles).values())),
        teams=[Named(id=id, name=name) for id, name in sorted(teams.items())],
    )


@lists("roles", "/roles", "Roles", RoleRow)
def list_roles(reading: Reading, request: Any, after: str | None) -> Iterator[Any]:
    """Lists roles with mission, duties and holder: an agent's are those of the teams of its own roles."""
    begin = sorted(map(roles_of, reading.access.teams)) if reading.access.agent else [""]
    found = (
        one
        for within in begin
        if after is None or after < f"{within}~"
        for one in reading.read(store.ROLES, request.limit, within=within, after=after)
    )
    return reading.paged(reading.roles, found, request)


@lists("channels", "/channels", "Channels", ChannelRow)
def list_channels(reading: Reading, request: Any, after: str | None) -> Iterator[Any]:
    """Lists the channels that you can read: the organisation's first, then those of teams by name."""
    found = reading.readable()
    begin = next((at for at, one in enumerate(found, 1) if one.id == after), 0)
    return reading.paged(reading.channels, found[begin:], request)


@lists("messages", "/channels/{channelId}/messages", "Messages", MessageRow, input=OfChannel, order="Newest first")
def list_messages(reading: Reading, request: Any, after: str | None) -> Iterator[Any]:
    """Lists the messages of a channel, newest first, without the replies to them."""
    channel = reading.governance.store.channel(reading.access, request.channel_id).id
    found = reading.read(store.room_of(channel), request.limit, within=f"{channel}.", after=after, newest=True)
    return reading.paged(reading.messages, found, request)


def root_of(reading: Reading, request: Any) -> Message:
    """Return the message that a thread begins with. Raises NotFound, also for a reply."""
    channel = reading.governance.store.channel(reading.access, request.channel_id).id
    message = reading.governance.store.message(request.orga_id, request.message_id)
    if message.channel != channel or message.parent:
        raise gone()
    return message


def parent_of(governance: Governance, actor: Actor, request: Any) -> dict[str, Any]:
    reading = entered(governance, actor, request, "messages")
    return {"parent": reading.messages([root_of(reading, request)], whole=True)[0]}


@lists(
    *("messages", "/channels/{channelId}/messages/{messageId}/thread", "Thread", MessageRow),
    input=naming("message", OfChannel),
    of="replies",
    order="Oldest first",
    more=parent_of,
    more_fields={"parent": (MessageRow, ...)},
)
def read_thread(reading: Reading, request: Any, after: str | None) -> Iterator[Any]:
    """Returns a message, with all that was said in its process, and the replies to it, oldest first."""
    message = root_of(reading, request)
    room = store.room_of(message.id, reply=True)
    return reading.paged(
        reading.messages, reading.read(room, request.limit, within=f"{message.id}.", after=after), request
    )


@lists(
    *("decisions", "/decisions", "Decisions", DecisionRow),
    input=OfDecisions,
    usual=20,
    order="Newest first",
    parameters="limit,cursor,teamId,targetType",
)
def list_decisions(reading: Reading, request: Any, after: str | None) -> Iterator[Any]:
    """Lists the journal of an organisation, newest first: who changed what, before and after."""
    beyond = reading.beyond()
    for one in reading.read(store.JOURNAL, request.limit, after=after, newest=True):
        if request.team_id in (None, one.target_team) and request.target_type in (None, one.target_type):
            more: dict[str, Any] = {"role_name": one.role, "team_name": one.team, "target_team_id": one.target_team}
            more |= {"created_at": one.at, "author": Somebody(member_id=one.member, name=one.name)}
            visible = reading.access.touches(DECIDED.get(one.target_type, "organisation"))
            sides = ((one.before if visible else {}).items(), (one.after if visible else {}).items())
            was, now = ({name: value for name, value in side if name not in beyond} for side in sides)
            more |= {"diff": Difference(type=one.type, before=was, after=now)}
            by = {"client": one.client, "grant": one.grant} if one.grant else {"client": one.client}
            more |= {"target_id": one.target, "agent": by if one.client else None}
            yield DecisionRow(id=one.id, target_type=one.target_type, **more)
        else:
            yield Skipped(one.id)


@lists("policies", "/policies", "Policies", PolicyRow, nothing="None yet: who holds a role writes them, on its page.")
def list_policies(reading: Reading, request: Any, after: str | None) -> Iterator[Any]:
    """Lists the policies of an organisation by number, without their text."""
    return reading.paged(reading.policies, reading.read(store.POLICIES, request.limit, after=after), request)


@reads("policies", "/policies/{policyId}", "Policy", PolicyRow, naming("policy"))
def read_policy(reading: Reading, request: Any) -> Any:
    """Returns a policy with its text, in Markdown."""
    one = reading.governance.store.get(request.orga_id, store.POLICIES, request.policy_id)
    return reading.policies([one], reading.governance.store.get(request.orga_id, store.TEXTS, one.id).text)[0]


@lists("topics", "/topics", "Topics", ActiveRow)
def list_topics(reading: Reading, request: Any, after: str | None) -> Iterator[Any]:
    """Lists the open topics of the channels that you can read, and what awaits you."""
    yield from reading.active(after, request.limit, "topic")


@lists("topics", "/governance-tools", "Governance tools", ActiveRow, of="tools")
def list_processes(reading: Reading, request: Any, after: str | None) -> Iterator[Any]:
    """Lists the open topics, votes and elections of the channels that you can read, and what awaits you."""
    yield from reading.active(after, request.limit, *get_args(ProcessKind))


@listing(
    "governance",
    row=AgentRow,
    line=lambda _: "",
    of="agents",
    input=OfOrganisation,
    usual=50,
    title="Agents",
    **PEOPLE,
)
def list_agents(governance: Governance, actor: Actor, request: Any, after: str | None) -> Iterator[Any]:
    """Lists the agents that can act or read now: to the owner all, to a member its own. Agents do not see them."""
    governance.account(actor)
    reading = Reading(governance, governance.access(actor, request.orga_id))
    me, now = reading.access.member.id, governance.store.clock()
    every = governance.store.organisation(request.orga_id).owner == me
    found = (
        one
        for one in reading.read(store.AGENTS, request.limit, after=after)
        if one.expires_at > now and (every or one.member == me)
    )
    return reading.paged(reading.agents, found, request)


OPERATIONS = (
    *(read_organisation, list_teams, read_team, list_members, read_member, list_roles, list_channels, list_messages),
    *(read_thread, list_decisions, list_policies, read_policy, list_topics, list_processes),
)
"""In the order of the seed."""
