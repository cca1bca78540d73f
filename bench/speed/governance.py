"""Pages of an organisation with 1,000 members and 100,000 messages beside the same pages of the sample.

Both stand in tables of DynamoDB Local at `--url`. The sample is founded from its file; so is the large one, which is
then filled in batches with what the operations would have written. Of every list the first, a middle and the last page
are read with as many rows as the sample's first page has, by turns: the time and the capacity that DynamoDB counts may
be three times the sample's.
"""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from bench.measure import Table, Ways, by_turns
from bench.table import Row
from commonplace.governance import listings
from commonplace.governance.founding import carry_out, founding
from commonplace.governance.governance import Governance
from commonplace.governance.model import Channel, Decision, Member, Message, Policy, Role, Team, new_id, roles_of
from commonplace.governance.store import (
    CARDS,
    CHANNELS,
    JOURNAL,
    MEMBERS,
    MESSAGES,
    POLICIES,
    REPLIES,
    ROLES,
    TEAMS,
    Store,
)
from commonplace.identity.principals import Principal
from commonplace.kernel.items import encode
from commonplace.kernel.records import Room
from commonplace.web.operations import Actor
from local.cli.dev import SAMPLE_ORGANISATION

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
        for name in ("GetItem", "Query", "BatchGetItem"):
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
        milliseconds = {name: 1000 * median(seconds) for name, seconds in taken.items()}
        units = {name: meter.of(call) for name, call in ways.items()}
        others = [name for name in ways if name != SMALL]
        slowest, dearest = max(milliseconds[name] for name in others), max(units[name] for name in others)
        worst = {"time": slowest / milliseconds[SMALL], "capacity": dearest / units[SMALL]}
        rows.append(
            {
                "list": operation.name,
                "sample ms": milliseconds[SMALL],
                **{f"{name} ms": milliseconds.get(name) for name in ("first", "middle", "last")},
                "sample units": units[SMALL],
                **{f"{name} units": units.get(name) for name in ("first", "middle", "last")},
                "times (ms)": worst["time"],
                "times (units)": worst["capacity"],
            }
        )
        faults += [
            f"{operation.name}: {times:.1f} times the sample's {what}" for what, times in worst.items() if times > MOST
        ]
    title = f"Pages at {people:,} members and {messages:,} messages beside those of the sample, same number of rows"
    yield Table("governance", title, rows, faults=faults)


def ways_of(organisations: Governance, operation: Any) -> Ways:
    """Return the reading of a first page of the sample, and of pages of the large organisation, as long."""

    def asked(slug: str, **more: Any) -> Any:
        channel = next(one.id for one in organisations.store.all(slug, CHANNELS) if one.kind == "orga")
        given: dict[str, Any] = {"orga_id": slug, "channel_id": channel}
        if "message_id" in operation.input.model_fields:
            found = organisations.store.records.list(slug, MESSAGES, within=f"{channel}.")
            given["message_id"] = next(found).id
        return operation.accepted(
            {name: one for name, one in given.items() if name in operation.input.model_fields} | more
        )

    small = asked(SMALL)
    shown = max(1, len(operation.run(organisations, ADA, small)[operation.of]))
    whole, after, positions = asked(LARGE, limit=shown), None, list[str]()
    for record in operation.function(organisations, ADA, asked(LARGE, limit=100), after):
        positions.append(operation.position(record))
    pages: dict[str, str] = {"first": ""}
    if len(positions) > 3 * shown:
        pages |= {"middle": positions[len(positions) // 2], "last": positions[-shown - 1]}
    ways = {SMALL: partial(operation.run, organisations, ADA, asked(SMALL, limit=shown))}
    for name, position in pages.items():
        cursor: dict[str, Any] = {"cursor": operation.cursor(whole, position)} if position else {}
        ways[name] = partial(operation.run, organisations, ADA, asked(LARGE, limit=shown, **cursor))
    return ways


def fill(store: Store, people: int, messages: int) -> None:
    """Write members, teams, roles, policies and messages of the large organisation in batches."""
    root = next(one for one in store.all(LARGE, TEAMS) if one.parent is None)
    channels = [one for one in store.all(LARGE, CHANNELS) if one.kind == "orga"]
    records: list[tuple[Room[Any], Any]] = []
    now, team = store.now(), root
    for number in range(people - len(store.all(LARGE, MEMBERS))):
        if number % 10 == 0:
            team = Team(id=new_id("te"), name=f"Team {number}", channel=new_id("ch"), leader="", parent=root.id)
        role = Role(
            id=roles_of(team.id) + new_id(), team=team.id, title=f"Role {number}", member=new_id("mb"), mission="M" * 80
        )
        if number % 10 == 0:
            role = replace(role, title="Leader", type="leader")
            team = replace(team, leader=role.id)
            channel = Channel(id=team.channel, kind="team", name=team.name, team=team.id)
            records += [(TEAMS, team), (CHANNELS, channel)]
        member = Member(id=role.member, firstname=f"Member {number}", joined_at=now, roles={role.id: team.id})
        records += [(ROLES, role), (MEMBERS, member)]
        if number % 5 == 0:
            about: dict[str, Any] = {"role": role.id, "team": team.id, "title": f"Policy {number}", "updated_at": now}
            records.append((POLICIES, Policy(id=f"pol_{number + 100:06}", number=number, abstract="A" * 200, **about)))
        said: dict[str, Any] = {
            "member": member.id,
            "name": member.name,
            "role": "Member",
            "team": root.name,
            "target": member.id,
        }
        records.append((JOURNAL, Decision(id=new_id(""), at=now, target_type="members", type="Member", **said)))
    everybody = [one.id for room, one in records if room is MEMBERS]
    parent = ""
    for number in range(messages):
        text = f"Message {number} of the bench, as long as people write them. " * 2
        common = {"author": everybody[number % len(everybody)], "text": text, "created_at": now}
        if number % 10 == 9:
            records.append((REPLIES, Message(id=f"{parent}.{new_id('')}", **common)))
            continue
        parent = f"{channels[0].id}.{new_id('')}"
        records.append((MESSAGES, Message(id=parent, **common)))
    table = store.table
    left = table.write_many(table.put(room.at(LARGE, one.id), encode(one)) for room, one in records)
    cards = [one.id for room, one in records if room is MESSAGES][::3]
    left += table.write_many(table.put(CARDS.at(LARGE, id), {"replies": 1, "r_1f44d": 3}) for id in cards)
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
