"""What an organisation consists of and does (seed 002): frozen records, each field once, with its bounds.

Ids are `{kind}_{ULID}`, of roles `ro_{ULID of the team}_{ULID}`. A message's id is `{channel}.{ULID}`, a reply's
`{channel}.{message}.{ULID}`: the id says where it is. Times are ISO 8601 in UTC, with milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from pydantic.alias_generators import to_camel
from ulid import ULID

MAX_NAME, MAX_PERSON_NAME, MAX_TITLE, MAX_SUMMARY = 120, 80, 200, 500
MAX_MISSION, MAX_DUTY, MAX_DUTIES, MAX_URL = 2_000, 300, 20, 300
MAX_TEXT, MAX_REASON, MAX_POLICY_CHARACTERS = 4_000, 2_000, 16_000
MIN_OPTIONS, MAX_OPTIONS, MAX_RANKED, MAX_OPTION = 2, 20, 12, 120
MAX_EMOJI_BYTES, MAX_REACTIONS = 40, 20
MAX_ROLES, MAX_OPEN, MAX_QUESTIONS = 40, 100, 40
"""Roles of one member; open processes of an organisation; questions of one process, and answers to them."""
MAX_WEBHOOKS = 5
INVITATION_DAYS, MAX_INVITATIONS = 30, 50
"""How long an invitation is open, and how many of one member are."""

Kind = Literal["organisation", "teams", "members", "roles", "channels", "messages", "decisions", "policies", "topics"]
KINDS: tuple[Kind, ...] = get_args(Kind)
RoleType = Literal["leader", "secretary", "referee"]
ChannelKind = Literal["orga", "team", "dm"]
ProcessKind = Literal["topic", "voting", "election"]
Mode = Literal["single", "approval", "ranked"]
Phase = Literal[
    "clarification", "consent", "resolved", "open", "closed", "nomination", "discussion", "elected", "no_election"
]
Outcome = Literal["accepted", "modified", "withdrawn", "closed", "elected", "no_election"]
ENDED: frozenset[Phase] = frozenset({"resolved", "closed", "elected", "no_election"})
Response = Literal["consent", "objection", "stand_aside"]
AnswerKind = Literal["question", "answer", "response", "nomination", "ballot"]

ROOT = "orga"
"""The id of the item of the organisation itself."""


def stamp(at: datetime) -> str:
    """Return a time as records have it."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def new_id(kind: str = "") -> str:
    """Return a new id of a kind, `te`, `mb`, `ch`, `dm`, or one without a prefix."""
    return f"{kind}_{ULID()}" if kind else str(ULID())


def roles_of(team: str) -> str:
    """Return what the ids of a team's roles begin with: they stand together, in the order of the teams."""
    return f"ro_{team.partition('_')[2]}_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What every record has; each change adds one to its revision."""

    id: str
    revision: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Organisation(Record):
    """An organisation. `slug` begins the keys of all that it has."""

    slug: str
    name: str
    owner: str
    created_at: str
    color: str | None = None
    logo_url: str | None = None
    policies: int = 0
    """The highest number that a policy ever had."""
    agents_act: bool = True
    """Whether agents may act for their members; else they read."""
    reads_a_minute: int | None = None
    writes_a_minute: int | None = None
    searches_a_minute: int | None = None
    """Calls of one agent; None is as many as the deployment allows."""
    id: str = ROOT

    @property
    def limits(self) -> dict[str, int]:
        """Calls of one agent by class, where the organisation says how many."""
        limits = {"read": self.reads_a_minute, "write": self.writes_a_minute, "search": self.searches_a_minute}
        return {name: calls for name, calls in limits.items() if calls is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Team(Record):
    """A team. Its mission is that of its leader's role; the one without a parent is the root."""

    name: str
    channel: str
    leader: str
    """Id of the leader's role."""
    parent: str | None = None
    color: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Role(Record):
    """A role of a team, which a member always holds. `type` None is one without a special right."""

    team: str
    title: str
    member: str
    type: RoleType | None = None
    mission: str = ""
    duties: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Member(Record):
    """An account as a member. Whoever left stays as a name, without account and roles."""

    firstname: str
    joined_at: str
    surname: str = ""
    account: str = ""
    """The account's pseudonym (`Principal.account`); empty once the member left."""
    picture_url: str | None = None
    roles: Mapping[str, str] = field(default_factory=dict)
    """Role id -> team id: the authority for everything in a team."""
    left_at: str | None = None

    @property
    def name(self) -> str:
        return f"{self.firstname} {self.surname}".strip()

    @property
    def teams(self) -> frozenset[str]:
        return frozenset(self.roles.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy(Record):
    """A policy. `id` is `pol_` and its number with six digits, which is never given again."""

    number: int
    role: str
    team: str
    title: str
    abstract: str
    updated_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyText(Record):
    """The Markdown of a policy, apart: lists do not read it."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation(Record):
    """A pending invitation, under the digest of the secret in its link. Accepting or withdrawing deletes it."""

    member: str
    created_at: str
    expires_at: int
    """Epoch seconds."""
    note: str = ""
    """For whom it is, in the words of who invites."""
    claims: str = ""
    """Id of a member without account, whom the link makes of whoever accepts; empty makes a new member."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel(Record):
    """A channel of the whole organisation, of a team, or of two members (`dm`: its id begins with `dm_`)."""

    kind: ChannelKind
    name: str = ""
    team: str | None = None
    members: tuple[str, ...] = ()
    archived_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message(Record):
    """A message, a reply, or the message of a process."""

    author: str
    text: str
    created_at: str
    process: ProcessKind | None = None
    client: str = ""
    """The application of the agent that wrote it for its author; empty if the author did, in person."""

    @property
    def channel(self) -> str:
        return self.id.partition(".")[0]

    @property
    def parent(self) -> str | None:
        """The id of the message that this replies to."""
        channel, _, rest = self.id.partition(".")
        return f"{channel}.{rest.partition('.')[0]}" if "." in rest else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Process(Record):
    """A topic, a vote or an election; its id is that of its message. `revision` counts answers too."""

    kind: ProcessKind
    title: str
    """Of a topic; the question of a vote; the title of the role of an election."""
    author: str
    created_at: str
    phase: Phase
    team: str | None = None
    """Of its channel; None is the channel of the organisation."""
    description: str = ""
    round: int = 0
    deadline: str | None = None
    electorate: int = 0
    """Members who reached the channel when it, or its present round, was opened."""
    mode: Mode = "single"
    options: tuple[str, ...] = ()
    """Labels; an option's id is its number, from 1, as text."""
    role: str | None = None
    candidate: str | None = None
    revealed: bool = False
    """Whether an election's nominations are shown: from its discussion on, and never where it ended before."""
    outcome: Outcome | None = None
    changes: str = ""
    """What changed, of a topic that was accepted modified."""
    ended_at: str | None = None
    decision: str | None = None
    """The journal's record of the end."""

    @property
    def channel(self) -> str:
        return self.id.partition(".")[0]

    def ended(self, now: str) -> bool:
        """Return whether nobody can take part any more: it ended, or its deadline has passed."""
        return self.phase in ENDED or (self.deadline is not None and self.deadline <= now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Record):
    """What a member said in a process. `id` is the process's, `.`, the kind, and what makes it the only one."""

    kind: AnswerKind
    member: str
    at: str
    round: int = 0
    text: str = ""
    """A question, an answer, or a reason."""
    response: Response | None = None
    nominee: str | None = None
    choices: tuple[str, ...] = ()
    question: str = ""
    client: str = ""
    """The application of the agent that gave it for the member; empty if the member did, in person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Active(Record):
    """A pointer to an open process."""

    kind: ProcessKind
    deadline: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Record):
    """A record of the journal (seed 002, section 4.2): who changed what, before and after. It is never changed."""

    at: str
    member: str
    name: str
    role: str
    """The title of the role through which it was done; "Member" for what every member may do."""
    team: str
    """The name of that role's team, else the organisation's."""
    target: str
    target_type: str
    type: str
    target_team: str | None = None
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)
    client: str = ""
    """The application, of what an agent did or was granted."""
    grant: str = ""
    """The public name of the grant with which an agent did it; empty for what somebody did in person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent(Record):
    """A grant of a member that lives, by its public name, with the numbers of what its agent did and was refused."""

    member: str
    client: str
    roles: tuple[str, ...]
    kinds: tuple[str, ...]
    acts: bool
    """Whether it may do more than read."""
    created_at: str
    expires_at: int
    """Epoch seconds."""
    actions: int = 0
    refused: int = 0

    @property
    def terms(self) -> dict[str, Any]:
        """The terms of the grant as the journal has them."""
        terms = {"client": self.client, "roles": list(self.roles), "kinds": list(self.kinds)}
        until = stamp(datetime.fromtimestamp(self.expires_at, UTC))
        return terms | {"permission": "action" if self.acts else "readonly", "expiresAt": until}


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook(Record):
    """An address outside that gets a message for each action of an agent. Times are epoch seconds."""

    url: str
    created_at: str
    failing_since: int | None = None
    """Since when no message has arrived; None if the last one did."""
    off_at: int | None = None
    off_because: Literal["gone", "failing"] | None = None

    @property
    def host(self) -> str:
        return self.url.split("/")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched(Record):
    """An entry of the change feed: the names of what a change may have altered, such as `channels/ch_…/messages`."""

    names: tuple[str, ...]
    expires_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipOf(Record):
    """An organisation of an account; its id is the slug."""

    member: str


def shown(record: Any, *without: str) -> dict[str, Any]:
    """Return the fields of a record for the journal: in camel case, without id, revision, and what is empty."""
    values = {name: value for name, value in asdict(record).items() if name not in ("id", "revision", *without)}
    return {
        to_camel(name): list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
        if value or value is False
    }


def changed(was: Any, now: Any, *without: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields in which two states of a record differ, before and after; of one alone, all on its side."""
    before, after = (shown(one, *without) if one else {} for one in (was, now))
    if not was or not now:
        return before, after
    names = [name for name in before | after if before.get(name) != after.get(name)]
    return {name: before.get(name) for name in names}, {name: after.get(name) for name in names}
