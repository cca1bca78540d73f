"""Pages of an organisation with 1,000 members and 100,000 messages beside the same pages of the sample.

Both stand in tables of DynamoDB Local at `--url`. The sample is founded from its file; so is the large one, which is
then filled in batches with what the operations would have written. Of every list the first, a middle and the last page
are read with as many rows as the sample's first page has, by turns: the time and the capacity that DynamoDB counts may
be three times the sample's. Then each tool of agents is called beside its bare transaction.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, time
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from bench.mcp_servers import BASE_URL, CONTEXT, modern, ours, result
from bench.measure import Table, Ways, by_turns, times
from bench.speed.guard import Account
from bench.table import Row
from commonplace.governance import conversation, listings, processes, store, structure
from commonplace.governance.founding import carry_out, founding
from commonplace.governance.governance import Governance
from commonplace.governance.memberships import StoredMemberships
from commonplace.governance.model import Channel, Decision, Member, Message, Policy, Role, Team, new_id, roles_of
from commonplace.governance.store import CHANNELS, MEMBERS, MESSAGES, ROLES, TEAMS, Store
from commonplace.governance.toolset import governance_toolset
from commonplace.identity.bearer_auth import TokenPrincipals
from commonplace.identity.memberships import ChosenMembership
from commonplace.identity.principals import Principal
from commonplace.identity.resources import Resources
from commonplace.identity.store.grants import DynamoGrants
from commonplace.identity.store.guard import DynamoGuard
from commonplace.kernel.items import encode
from commonplace.kernel.records import Room
from commonplace.kernel.table import Table as KernelTable
from commonplace.web.challenges import Challenges
from commonplace.web.operations import Actor
from commonplace_local.cli.dev import SAMPLE_ORGANISATION

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

NO_TABLES = "Skipped: no DynamoDB Local is named. Start one and give its address with --url."
SIZES = (1_000, 100_000)
"""Members and messages. There is a team for ten members, a role for each, and a policy for five."""
MOST = 3.0
ROUNDS, WARM_UP = 30, 3
SMALL, LARGE = "sample", "large"
ADA = Actor(Principal(account="local-ada"))


class Meter:
    """The capacity that the calls of a client have consumed, as DynamoDB counts it."""

    def __init__(self, client: "DynamoDBClient") -> None:
        self.units = 0.0
        for name in ("GetItem", "Query", "BatchGetItem", "TransactWriteItems"):
            client.meta.events.register(f"before-parameter-build.dynamodb.{name}", self.ask)
            client.meta.events.register(f"after-call.dynamodb.{name}", self.add)

    def ask(self, params: dict[str, Any], **_: Any) -> None:
        params["ReturnConsumedCapacity"] = "TOTAL"

    def add(self, parsed: Mapping[str, Any], **_: Any) -> None:
        found = parsed.get("ConsumedCapacity", [])
        self.units += sum(one["CapacityUnits"] for one in (found if isinstance(found, list) else [found]))

    def of(self, call: Any) -> float:
        before = self.units
        call()
        return self.units - before


def governance(options: argparse.Namespace, folder: Path) -> Iterator[Table]:  # noqa: ARG001 - a benchmark's arguments
    if options.url is None:
        print(NO_TABLES)
        return
    people, messages = options.sizes or SIZES
    client = connect(options.url)
    organisations = Governance(store=Store(client, *(new_table(client) for _ in range(2))))
    text = SAMPLE_ORGANISATION.read_text(encoding="utf-8")
    for slug in (SMALL, LARGE):
        named = text.replace("slug: low-water", f"slug: {slug}")
        carry_out(founding(named, organisations), organisations, lambda subject: subject.replace(":", "-"))
    fill(organisations.store, people, messages)
    meter, rows, faults = Meter(client), list[Row](), list[str]()
    for operation in listings.OPERATIONS:
        if not operation.name.startswith("list_") and operation.name != "read_thread":
            continue
        ways = ways_of(organisations, operation)
        taken = by_turns([ways] * (WARM_UP + ROUNDS), warm_up=WARM_UP)
        row: dict[str, Any] = {"list": operation.name}
        for unit, found in (
            ("ms", {name: 1000 * median(seconds) for name, seconds in taken.items()}),
            ("units", {name: meter.of(call) for name, call in ways.items()}),
        ):
            row |= {f"{name} {unit}": found.get(name) for name in (SMALL, "first", "middle", "last")}
            worst = max(found[name] for name in ways if name != SMALL) / found[SMALL]
            row[f"times ({unit})"] = worst
            faults += [f"{operation.name}: {worst:.1f} times the sample's {unit}"] if worst > MOST else []
        rows.append(row)
    title = f"Pages at {people:,} members and {messages:,} messages beside those of the sample, same number of rows"
    yield Table("governance", title, rows, faults=faults)
    yield Table("governance_actions", "The tools of agents beside the bare transactions of boto3", actions(options.url))


def actions(url: str) -> list[Row]:
    """Return each writing tool, called through the guard, beside `transact_write_items` with the very same items.

    Each transaction of a tool is played again by boto3, in tables that began as copies of the tool's.
    """
    client, bare = connect(url), connect(url)
    store = Store(client, *(new_table(client) for _ in range(3)))
    organisations, memberships, account = Governance(store=store), StoredMemberships(store), Account()
    do(organisations, structure.found_organisation, slug=SMALL, name="Tide", firstname="Ada")
    calls, count = calls_of(organisations), WARM_UP + ROUNDS
    (ada,) = store.all(SMALL, MEMBERS)
    chosen = ChosenMembership(organisation=SMALL, member=ada.id, roles=tuple(sorted(ada.roles)))
    scopes = tuple(f"governance:{level}" for level in ("read", "write", "decide"))
    may: dict[str, Any] = {"membership": chosen, "permission": "action", "scopes": scopes}
    resource = f"{BASE_URL}/mcp/governance"
    account.grant = replace(account.grant, subject_hash=ada.account, resource=resource, **may)
    identity = store.grants.name
    DynamoGrants(client, identity, store.records._activity, memberships=memberships).open(account.grant)
    grants, standings = DynamoGuard(client, identity), account.standings()
    principals = TokenPrincipals(account.tokens(), grants, standings, time, memberships=memberships)
    challenges = Challenges(Resources(BASE_URL, ("knowledge",), ("knowledge", "governance")))
    handler = ours(governance_toolset(organisations, "swarmrise"), principals, challenges)
    token = {"authorization": f"Bearer {account.token()}"}
    copies = {one: new_table(bare) for one in (store.table.name, identity)}
    for name, copy in copies.items():
        pages = bare.get_paginator("scan").paginate(TableName=name)
        items = (item for page in pages for item in page["Items"])
        KernelTable(bare, copy).write_many({"Put": {"TableName": copy, "Item": item}} for item in items)
    meter, replayed, sent = Meter(client), Meter(bare), list[Any]()
    client.meta.events.register(
        "before-parameter-build.dynamodb.TransactWriteItems", lambda params, **_: sent.append(params["TransactItems"])
    )
    rows = list[Row]()
    for tool, given in calls.items():
        taken, units = (list[float](), list[float]()), (meter.units, replayed.units)
        for number in range(count):
            asked = modern("tools/call", {"name": tool, "arguments": given(number)})
            asked["requestContext"]["http"]["path"] = "/mcp/governance"
            asked |= {"rawPath": "/mcp/governance", "headers": asked["headers"] | token}
            sent.clear()
            began = perf_counter()
            answer = handler(asked, CONTEXT)
            taken[0].append(perf_counter() - began)
            if result(answer).get("isError") or len(sent) != 1:
                raise RuntimeError(f"{tool} did not commit one transaction: {answer['body']}")
            again: Any = [
                {kind: one | {"TableName": copies[one["TableName"]]} for kind, one in each.items()} for each in sent[0]
            ]
            began = perf_counter()
            bare.transact_write_items(TransactItems=again)
            taken[1].append(perf_counter() - began)
        acted, alone = (seconds[WARM_UP:] for seconds in taken)
        row: dict[str, Any] = {"tool": tool, "ms": 1000 * median(acted), "bare ms": 1000 * median(alone)}
        row |= {"times": times(acted, alone), "items": len(sent[0]), "units": (meter.units - units[0]) / count}
        rows.append(row | {"of them written": (replayed.units - units[1]) / count})
    return rows


def do(organisations: Governance, operation: Any, **given: Any) -> Any:
    """Do something as Ada, in person."""
    if "orga_id" in operation.input.model_fields:
        given = {"orga_id": SMALL} | given
    return operation.run(organisations, ADA, operation.accepted(given))


def calls_of(organisations: Governance) -> dict[str, Callable[[int], dict[str, Any]]]:
    """Return arguments by tool and round, with which every call changes something."""
    turns, act, store = range(WARM_UP + ROUNDS), partial(do, organisations), organisations.store
    channels = {one.kind: one.id for one in store.all(SMALL, CHANNELS)}
    here, there = channels["orga"], channels["team"]
    ask = {"channel_id": here, "title": "Count twice?", "description": "In March, and in September."}
    topics = [act(processes.open_topic, **ask).id for _ in range(2)]
    act(processes.move_on, message_id=topics[0], phase="consent")
    options = {"title": "Which day?", "mode": "single", "options": ["Sat", "Sun"]}
    vote = act(processes.open_vote, channel_id=here, **options).id
    role, nominee = store.all(SMALL, ROLES)[0].id, store.all(SMALL, MEMBERS)[0].id
    elections = [act(processes.open_election, channel_id=there, role_id=role).id for _ in (*turns, "consent")]
    said = [act(conversation.send_message, channel_id=here, text=f"Message {one}").id for one in turns]
    chosen = elections[-1]
    act(processes.nominate_member, message_id=chosen, nominee_id=nominee, reason="She reads the gauge.")
    for phase, more in (("discussion", {}), ("consent", {"candidate_id": nominee})):
        act(processes.move_on, message_id=chosen, phase=phase, **more)
    text, answers = "The gauge stands at 1.2 m, and the water falls.", ("consent", "stand_aside")
    return {
        "send_message": lambda _: {"channelId": here, "text": text},
        "react_to_message": lambda turn: {"messageId": said[turn], "emoji": "👍"},
        "cast_vote": lambda turn: {"messageId": vote, "choices": ["12"[turn % 2]]},
        "respond_to_topic": lambda turn: {"messageId": topics[0], "response": answers[turn % 2]},
        "ask_clarification": lambda _: {"messageId": topics[1], "question": text},
        "nominate_member": lambda turn: {"messageId": elections[turn], "nomineeId": nominee, "reason": text},
        "respond_to_election": lambda turn: {"messageId": chosen, "response": answers[turn % 2]},
    }


def ways_of(organisations: Governance, operation: Any) -> Ways:
    """Return the reading of a first page of the sample, and of pages of the large organisation, as long."""

    takes = operation.input.model_fields

    def asked(slug: str, **more: Any) -> Any:
        channel = next(one.id for one in organisations.store.all(slug, CHANNELS) if one.kind == "orga")
        message = next(organisations.store.records.list(slug, MESSAGES, within=f"{channel}.")).id
        given = {"orga_id": slug, "channel_id": channel, "message_id": message}
        return operation.accepted({name: one for name, one in given.items() if name in takes} | more)

    shown = max(1, len(operation.run(organisations, ADA, asked(SMALL))[operation.of]))
    found = operation.function(organisations, ADA, asked(LARGE, limit=100), None)
    positions = [operation.position(record) for record in found]
    pages = {"first": ""}
    if len(positions) > 3 * shown:
        pages |= {"middle": positions[len(positions) // 2], "last": positions[-shown - 1]}
    ways = {SMALL: partial(operation.run, organisations, ADA, asked(SMALL, limit=shown))}
    for name, position in pages.items():
        cursor = operation.cursor(asked(LARGE, limit=shown), position) if position else None
        ways[name] = partial(operation.run, organisations, ADA, asked(LARGE, limit=shown, cursor=cursor))
    return ways


def fill(organisations: Store, people: int, messages: int) -> None:
    """Write members, teams, roles, policies and messages of the large organisation in batches."""
    root = next(one for one in organisations.all(LARGE, TEAMS) if one.parent is None)
    channel = next(one.id for one in organisations.all(LARGE, CHANNELS) if one.kind == "orga")
    records: list[tuple[Room[Any], Any]] = []
    now, team, everybody = organisations.now(), root, list[str]()
    for number in range(people - len(organisations.all(LARGE, MEMBERS))):
        if first := number % 10 == 0:
            team = Team(id=new_id("te"), name=f"Team {number}", channel=new_id("ch"), leader="", parent=root.id)
            records.append((CHANNELS, Channel(id=team.channel, kind="team", name=team.name, team=team.id)))
        titled: dict[str, Any] = {"title": "Leader", "type": "leader"} if first else {"title": f"Role {number}"}
        role = Role(id=roles_of(team.id) + new_id(), team=team.id, member=new_id("mb"), mission="M" * 80, **titled)
        member = Member(id=role.member, firstname=f"Member {number}", joined_at=now, roles={role.id: team.id})
        records += [(store.ROLES, role), (MEMBERS, member)]
        records += [(TEAMS, replace(team, leader=role.id))] if first else []
        if number % 5 == 0:
            about: dict[str, Any] = {"role": role.id, "team": team.id, "title": f"Policy {number}", "updated_at": now}
            policy = Policy(id=f"pol_{number + 100:06}", number=number, abstract="A" * 200, **about)
            records.append((store.POLICIES, policy))
        said: dict[str, Any] = {"member": member.id, "name": member.name, "role": "Member", "target": member.id}
        decision = Decision(id=new_id(), at=now, team=root.name, target_type="members", type="Member", **said)
        records.append((store.JOURNAL, decision))
        everybody.append(member.id)
    parent = ""
    for number in range(messages):
        text = f"Message {number} of the bench, as long as people write them. " * 2
        reply = number % 10 == 9
        id = f"{parent if reply else channel}.{new_id('')}"
        message = Message(id=id, author=everybody[number % len(everybody)], text=text, created_at=now)
        records.append((store.REPLIES if reply else MESSAGES, message))
        parent = parent if reply else id
    table = organisations.table
    left = table.write_many(table.put(room.at(LARGE, one.id), encode(one)) for room, one in records)
    cards = [one.id for room, one in records if room is MESSAGES][::3]
    left += table.write_many(table.put(store.CARDS.at(LARGE, id), {"replies": 1, "r_1f44d": 3}) for id in cards)
    if left:
        raise RuntimeError(f"the table left {left} writes undone")


def connect(url: str) -> "DynamoDBClient":
    import boto3

    session = boto3.session.Session("local", "x", region_name="us-east-1")
    return session.client("dynamodb", endpoint_url=url)


def new_table(client: "DynamoDBClient") -> str:
    name = f"bench-{uuid4().hex}"
    client.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        AttributeDefinitions=[{"AttributeName": one, "AttributeType": "S"} for one in ("pk", "sk")],
        BillingMode="PAY_PER_REQUEST",
    )
    return name
