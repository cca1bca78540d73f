"""Organisations on DynamoDB, table `records`: rooms, reads, and changes with their journal in one transaction.

Every partition begins `{organisation}#gov#`, but that of sealed secrets. Direct messages have rooms of their own, which
nothing but their two members' pages reads and no index follows. An account's organisations are at
`account#{account}#gov`, which no organisation's key can equal: its second part is `gov`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from commonplace.governance import model
from commonplace.governance.model import ROOT, Channel, Decision, Member, MembershipOf, Message, Organisation, new_id
from commonplace.governance.rules import Access, gone
from commonplace.identity.store.grant_writes import live
from commonplace.kernel.audit_store import HIVE
from commonplace.kernel.errors import CommonplaceError, Conflict, Forbidden
from commonplace.kernel.items import Item, decoded, encode, key
from commonplace.kernel.records import Change, Records, Room
from commonplace.kernel.table import Table, Write

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

R = TypeVar("R")

ORGANISATIONS = Room("gov#orga", Organisation)
TEAMS = Room("gov#teams", model.Team)
ROLES = Room("gov#roles", model.Role)
MEMBERS = Room("gov#members", Member)
CHANNELS = Room("gov#channels", Channel)
POLICIES = Room("gov#policies", model.Policy)
TEXTS = Room("gov#texts", model.PolicyText)
INVITATIONS = Room("gov#invitations", model.Invitation)
MESSAGES, REPLIES = Room("gov#messages", Message), Room("gov#replies", Message)
DIRECT, DIRECT_REPLIES = Room("gov#direct", Message), Room("gov#direct-replies", Message)
PROCESSES = Room("gov#processes", model.Process)
ANSWERS = Room("gov#answers", model.Answer)
ACTIVE = Room("gov#active", model.Active)
JOURNAL = Room("gov#journal", Decision)
FEED = Room("gov#feed", model.Touched)
NAMES: Room[Any] = Room("gov#names", dict)
"""Claims of what only one may have: `team.{digest of the name}`, `dm.{a}.{b}` and `dm.{b}.{a}`, and UNFINISHED."""
CARDS: Room[Any] = Room("gov#cards", dict)
"""Counters beside a message: `replies`, `r_{code points}` for each reaction, and `a_{code points}` for those of them
that agents gave; `last` of a channel."""
REACTIONS: Room[Any] = Room("gov#reactions", dict)
"""`{message}.{member}.{code points}`: one each, with the `client` of an agent that gave it."""
HOOKS = Room("gov#hooks", model.Webhook)
HOOK_SECRETS: Room[Any] = Room("gov-secrets", dict)
"""What signs the messages of each webhook, sealed: `current`, and `previous` until `previousUntil`. Who makes them
cannot read them, so their partitions have a name of their own."""
AGENTS = Room("gov#agents", model.Agent)
"""The grants of members, by their public names: written with the grant, and removed with its end."""

UNFINISHED = "founding"
"""The name that an organisation holds until its founding from a file has come to its end."""
FEED_SECONDS = 3_600
ATTEMPTS = 12
"""Of one transaction, while others write the same items: a hundred members may vote at once."""


@dataclass(slots=True)
class Act:
    """One change of an organisation: what it writes, what the journal says of it, and which addresses it touches."""

    store: Store
    change: Change
    access: Access
    at: str
    touched: list[str] = field(default_factory=list)
    named: set[tuple[str, str]] = field(default_factory=set)
    """Rooms and ids of records that it writes or checks: a transaction names an item once."""
    decision: Decision | None = None
    """The record of the journal, as soon as there is one."""

    def get(self, room: Room[R], id: str, revision: int | None = None) -> R:
        """Return a record as it is now. Raises NotFound, and Conflict for another revision than this one."""
        found = self.store.get(self.access.organisation, room, id)
        current = getattr(found, "revision", None)
        if revision is not None and current != revision:
            raise Conflict("This has been changed in the meantime.", hint="See what it is now.", revision=current)
        return found

    def all(self, room: Room[R], within: str = "") -> list[R]:
        """Return every record of a room as it is now."""
        return self.store.all(self.access.organisation, room, within)

    def add(self, room: Room[Any], record: Any) -> None:
        self.named.add((room.name, record.id))
        self.change.add(room, record)

    def replace(self, room: Room[Any], now: Any, was: Any) -> None:
        """Write a record over the revision that was read, with the next revision."""
        self.named.add((room.name, now.id))
        self.change.replace(room, replace(now, revision=was.revision + 1), was)

    def require(self, room: Room[Any], id: str, condition: str = "attribute_exists(pk)", **values: Any) -> None:
        """Commit only if another record meets a condition; not for one that this writes or checks already."""
        if (room.name, id) not in self.named:
            self.named.add((room.name, id))
            self.change.require(room, id, condition, **values)

    def alone(self, what: str = "structure") -> None:
        """Commit only if no other change that calls this was committed since: for what rests on a whole room.

        Whoever calls it does so before reading. Changes of the tree, of what a team has, and of what a role has do.
        """
        seen = self.change.table.get(CARDS.at(self.access.organisation, what)) or {}
        condition = "attribute_not_exists(#revision) OR #revision = :seen"
        self.change.touch(CARDS, what, condition, seen=seen.get("revision", 0))

    def authority(self, role: str | None) -> None:
        """Commit only if the member still has this role, or with None still is a member."""
        held = f"attribute_exists(#roles.#{role})" if role else "attribute_not_exists(#leftAt)"
        self.require(MEMBERS, self.access.member.id, f"attribute_exists(pk) AND {held}")

    def touch(self, *names: str) -> None:
        """Name addresses below the organisation's that may read otherwise from now on: `teams`, `channels/{id}`."""
        self.touched += [name for name in names if name not in self.touched]

    def record(
        self,
        type: str,
        target_type: str,
        target: str,
        difference: tuple[Mapping[str, Any], Mapping[str, Any]],
        *,
        through: model.Role | None = None,
        team: model.Team | None = None,
        organisation: str = "",
        client: str = "",
    ) -> Decision:
        """Write a record of the journal: `difference` is before and after; `through` the role that gave the right.

        That of an agent says so in place of a role, and names application and grant.
        """
        role = through.title if through else "Member"
        decision = self.decision = Decision(
            id=new_id(),
            at=self.at,
            member=self.access.member.id,
            name=self.access.member.name,
            role=f"AI Agent (via {self.access.member.name})" if self.access.agent else role,
            team=team.name if team else organisation or self.store.organisation(self.access.organisation).name,
            target=target,
            target_type=target_type,
            type=type,
            target_team=team.id if team else None,
            before=difference[0],
            after=difference[1],
            client=client or self.access.client,
            grant=self.access.grant,
        )
        self.change.add(JOURNAL, decision)
        self.touch("decisions")
        return decision

    def answered(
        self, type: str, target_type: str, target: str, team: str | None, *, again: bool = False, **state: Any
    ) -> None:
        """Write in the journal that an agent did something, and not what: it is read by the whole organisation.

        `state` is the phase and the round of a process; `again` says that an answer was replaced. What a person does
        there is no matter of the journal, which has the end of the process.
        """
        if self.access.agent:
            after = {**state, "answered": True}
            within = self.get(TEAMS, team) if team else None
            self.record(type, target_type, target, (after if again else {}, after), team=within)

    def permit(self) -> None:
        """Return if this agent may act: by its token, and by its organisation. Raises Forbidden."""
        organisation = self.store.organisation(self.access.organisation)
        if not self.access.acts:
            hint = f"{self.access.member.name} can connect you again, and let you act."
            raise Forbidden("This agent may only read.", hint=hint)
        if not organisation.agents_act:
            owner = self.get(MEMBERS, organisation.owner).name
            raise Forbidden("Agents only read in this organisation.", hint=f"{owner}, its owner, can change that.")

    def bind(self) -> None:
        """Commit only if the agent may act then, too, and its grant lives, which counts what it does.

        Raises RuntimeError for a change that is not in the journal: agents change nothing silently.
        """
        if self.decision is None:
            raise RuntimeError("an agent's change has no record in the journal")
        self.require(ORGANISATIONS, ROOT, "#agentsAct = :acts", acts=True)
        counted = AGENTS.at(self.access.organisation, self.access.grant)
        self.change.writes += [
            live(self.store.grants, self.access.grant, int(self.store.clock())),
            self.store.table.update(counted, "ADD #actions :one", "attribute_exists(pk)", one=1),
        ]


class Store:
    """The organisations of a deployment. Safe for threads; reads are consistent; every method raises Unavailable."""

    def __init__(
        self,
        client: DynamoDBClient,
        records: str,
        activity: str,
        identity: str = "",
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`clock` gives epoch seconds; `identity` is the table of grants, without which no agent acts."""
        self.table = Table(client, records, attempts=ATTEMPTS, sleep=sleep)
        self.grants = Table(client, identity, attempts=ATTEMPTS, sleep=sleep)
        self.records = Records(self.table, activity, HIVE)
        self.clock = clock

    def now(self) -> str:
        return model.stamp(datetime.fromtimestamp(self.clock(), UTC))

    def get(self, organisation: str, room: Room[R], id: str) -> R:
        """Return a record. Raises NotFound, in the words that every address out of reach has."""
        if (found := self.records.get(organisation, room, id)) is None:
            raise gone()
        return found

    def channel(self, access: Access, id: str) -> Channel:
        """Return a channel that is readable. Raises NotFound, alike for one that does not exist and one that is not."""
        channel = self.get(access.organisation, CHANNELS, id)
        if not access.reaches(channel):
            raise gone()
        return channel

    def all(self, organisation: str, room: Room[R], within: str = "") -> list[R]:
        """Return every record of a room."""
        return list(self.records.list(organisation, room, within=within, page=1_000))

    def organisation(self, slug: str) -> Organisation:
        return self.get(slug, ORGANISATIONS, ROOT)

    def memberships(self, account: str) -> Sequence[MembershipOf]:
        """Return the organisations of an account."""
        found = (decoded(MembershipOf, item) for item in self.table.query(account_key(account)))
        return [one for one in found if one is not None]

    def membership(self, account: str, organisation: str) -> Member | None:
        """Return an account as a member of an organisation."""
        pointer = decoded(MembershipOf, self.table.get(key(account_key(account), organisation)))
        member = self.records.get(organisation, MEMBERS, pointer.member) if pointer else None
        return member if member and member.left_at is None and member.account == account else None

    def change(self, access: Access, decide: Callable[[Act], R]) -> R:
        """Commit what `decide` names, with journal and change feed, if the member still has the authority.

        After a concurrent change `act.access` is the member's as it is then. Raises NotFound for one who left.
        """
        current = access

        def decided(change: Change) -> R:
            act = Act(self, change, current, self.now())
            if current.agent:
                act.permit()
            result = decide(act)
            if change.writes:
                act.authority(None)
                if current.agent:
                    act.bind()
                self.feed(change, act.touched)
            return result

        def overtaken() -> None:
            nonlocal current
            me = self.records.get(access.organisation, MEMBERS, access.member.id)
            if me is None:  # of an organisation that is being founded, or who is just joining it
                return
            if me.left_at is not None:
                raise gone()
            if access.agent:
                grant = self.records.get(access.organisation, AGENTS, access.grant)
                if grant is None or grant.expires_at <= self.clock():
                    raise Forbidden("This agent's grant has ended.", hint=f"{me.name} can connect you again.")
            roles = {role: team for role, team in me.roles.items() if not access.agent or role in access.roles}
            current = replace(access, member=me, roles=roles)

        return self.records.change(access.organisation, decided, overtaken)

    def feed(self, change: Change, names: Sequence[str]) -> None:
        """Name what a change may have altered in the feed that subscriptions follow."""
        if names:
            until = int(self.clock()) + FEED_SECONDS
            change.add(FEED, model.Touched(id=new_id(), names=tuple(names), expires_at=until))

    def refused(self, organisation: str, grant: str) -> None:
        """Count something that an agent wanted and may not have. Nothing fails of a count that cannot be written."""
        counted = AGENTS.at(organisation, grant)
        with suppress(CommonplaceError):
            self.table.write(self.table.update(counted, "ADD #refused :one", "attribute_exists(pk)", one=1))

    def message(self, organisation: str, id: str) -> Message:
        """Return a message or a reply. Raises NotFound."""
        return self.get(organisation, room_of(id), id)

    def said(self, organisation: str, ids: Sequence[str]) -> dict[str, Message]:
        """Return messages and replies of channels, by id, and no direct ones."""
        found: dict[str, Message] = {}
        for room, dots in ((MESSAGES, 1), (REPLIES, 2)):
            found |= self.records.get_many(organisation, room, [id for id in ids if id.count(".") == dots])
        return found

    def slugs(self) -> Iterator[str]:
        """Yield every organisation."""
        items = self.table.query("organisations", "begins_with(sk, :prefix)", {"prefix": "gov#"})
        return (item["sk"].removeprefix("gov#") for item in items)

    def cards(self, organisation: str, ids: Sequence[str]) -> dict[str, Item]:
        """Return the counters beside messages or channels, by id, of those that have any."""
        found = self.table.get_many([CARDS.at(organisation, id) for id in dict.fromkeys(ids)])
        return {item["sk"]: item for item in found}

    def answers(self, organisation: str, process: str) -> list[model.Answer]:
        """Return everything that was said in a process."""
        return self.all(organisation, ANSWERS, within=f"{process}.")

    def join(self, organisation: str, account: str, member: str, *, founded: int = 0) -> Sequence[Write]:
        """Return the writes that make an account a member; with `founded` it founds at most so many organisations."""
        where = key(account_key(account), organisation)
        writes = [self.table.new(where, encode(MembershipOf(id=organisation, member=member)))]
        if founded:
            limit = "attribute_not_exists(#founded) OR #founded < :most"
            writes.append(self.table.update(founded_key(account), "ADD #founded :one", limit, one=1, most=founded))
        return writes

    def leave(self, organisation: str, account: str) -> Write:
        """Return the write that ends a membership."""
        return self.table.delete(key(account_key(account), organisation), "attribute_exists(pk)")

    def founded(self, account: str) -> int:
        """Return how many organisations an account has founded."""
        return int((self.table.get(founded_key(account)) or {}).get("founded", 0))

    def found(self, slug: str, *, operator: bool) -> Sequence[Write]:
        """Return the writes that take a name for ever. Raises Conflict if it is taken, or a file is to found it."""
        where, unfinished = key("organisations", f"gov#{slug}"), NAMES.at(slug, UNFINISHED)
        if self.table.get(where) or (not operator and self.table.get(unfinished)):
            raise Conflict("An organisation has, or had, this name.", hint="Choose another one.", field="slug")
        free = [] if operator else [self.table.check(unfinished, "attribute_not_exists(pk)")]
        return [self.table.new(where), *free]

    @property
    def invitation_ends(self) -> int:
        return int(self.clock()) + model.INVITATION_DAYS * 86_400


def account_key(account: str) -> str:
    """Return the partition of an account's organisations. Raises ValueError without an account."""
    if not account or "#" in account:
        raise ValueError("memberships belong to an account")
    return f"account#{account}#gov"


def founded_key(account: str) -> Item:
    """Return the key of the counter of what an account has founded."""
    return key(f"{account_key(account)}#founded", "count")


def room_of(id: str, *, reply: bool = False) -> Room[Message]:
    """Return the room of a message or a reply; of a channel's messages; or with `reply` of a message's replies."""
    reply = reply or id.count(".") == 2
    if id.startswith("dm_"):
        return DIRECT_REPLIES if reply else DIRECT
    return REPLIES if reply else MESSAGES
