"""What an agent reads is what its member reads in person, less direct messages and what roles and kinds leave out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp.types import ResourceTemplateReference

from commonplace.governance import conversation, processes, store, structure
from commonplace.governance.listings import OPERATIONS
from commonplace.governance.model import KINDS
from commonplace.governance.toolset import INSTRUCTIONS, governance_toolset
from commonplace.kernel.errors import NotFound
from commonplace.web.mcp.calls import Surface
from commonplace.web.mcp.declaration import Call, Caller
from commonplace.web.mcp.offer import match, pattern_of
from commonplace.web.mcp.server import build_server
from commonplace.web.operations import Listing, cursor_of
from tests.fakes.changes import FakeChanges
from tests.fakes.governance import agent
from tests.unit.web.mcp.over_http import connected, serving
from tests.unit.web.mcp.talking import ERAS

if TYPE_CHECKING:
    from tests.fakes.governance import Tide

CANARY = "the-cormorant-of-ada-and-vi"
HELD = {"Ada": ("Leader",), "Vi": ("Leader", "Secretary", "Referee"), "Guest": ()}
"""The roles that each token of a member has: of the root team, of the team Watch, none."""
TEAMS = {"Ada": "Tide", "Vi": "Watch", "Guest": None}
HIDDEN = {
    "teams": {"teamId", "teamIds", "teamName", "parentTeamId", "teams"},
    "roles": {"roleId", "roleIds", "roleTitle", "roleCount", "roles", "leader", "ownerName", "teamIds", "teams"},
    "members": {"memberName", "memberCount", "leader", "ownerName"},
    "channels": {"channelName", "channelId"},
    "messages": {"lastMessageAt"},
    "topics": set(),
}
"""Fields of rows of other kinds that give away things of a kind."""
OWN = {"channelId": {"messages", "topics"}, "memberId": {"organisation", "members", "decisions", "messages", "topics"}}


@pytest.fixture
def full(tide: Tide) -> Tide:
    """The organisation with something in every list."""
    everywhere, root, watch = tide.channel().id, tide.channel("Tide").id, tide.channel("Watch").id
    for who, where in (("Guest", everywhere), ("Ada", root), ("Vi", watch)):
        for number in range(3):
            said = tide.do(who, conversation.send_message, channel_id=where, text=f"{who} says {number}.")
        tide.do(who, conversation.send_message, channel_id=where, text="A reply.", parent_id=said.id)
        tide.do(who, conversation.react_to_message, message_id=said.id, emoji="thumbsup")
    direct = tide.do("Vi", conversation.open_direct, member_id=tide.member("Ada").id)
    tide.do("Ada", conversation.send_message, channel_id=direct.id, text=CANARY)
    topic = tide.do("Vi", processes.open_topic, channel_id=watch, title="A lamp", description="Let us buy a lamp.")
    asked = tide.do("Vi", processes.ask_clarification, message_id=topic.id, question="Which?")
    tide.do("Vi", processes.answer_clarification, message_id=topic.id, question_id=asked.id, answer="A red one.")
    tide.do("Vi", processes.move_on, message_id=topic.id, phase="consent")
    tide.do("Vi", processes.respond, message_id=topic.id, response="objection", reason="Too dear.")
    tide.do("Ada", processes.open_topic, channel_id=everywhere, title="Tea", description="Tea at four.")
    vote = tide.do(
        "Ada", processes.open_vote, channel_id=everywhere, title="Day?", mode="ranked", options=["Mon", "Tue"]
    )
    tide.do("Guest", processes.cast_vote, message_id=vote.id, choices=["2", "1"])
    referee = tide.role("Watch", "Referee").id
    election = tide.do("Vi", processes.open_election, channel_id=watch, role_id=referee)
    tide.do("Vi", processes.nominate_member, message_id=election.id, nominee_id=tide.member("Guest").id, reason="Calm.")
    leader = tide.role("Watch", "Leader").id
    tide.do("Vi", structure.create_policy, role_id=leader, title="Lamps", abstract="Of lamps.", text="# Lamps\n\nOn.")
    return tide


def token(tide: Tide, who: str, kinds: Iterable[str] | None = None) -> Caller:
    roles = [tide.role(TEAMS[who] or "", title).id for title in HELD[who]]
    return Caller(agent(tide.slug, tide.member(who), roles, kinds).principal)


def addresses(tide: Tide, who: str) -> list[str]:
    """Return an address of each template, with what this member reads in person."""
    channel = tide.channel("Watch" if who == "Vi" else None).id
    message = next(one.id for one in tide.all(store.MESSAGES) if one.process and one.channel == channel)
    given = {"orgaId": tide.slug, "teamId": tide.team("Watch").id, "memberId": tide.member("Vi").id}
    given |= {"policyId": "pol_000001", "channelId": channel, "messageId": message}
    return [f"swarmrise://{one.address.partition('{?')[0].format(**given)}" for one in OPERATIONS]


def read(tide: Tide, caller: Caller, uri: str) -> Any:
    """Read an address without a client. Raises what reading raises."""
    for one in governance_toolset(tide.governance, "swarmrise").templates:
        if (given := match(pattern_of(one.uri_template), uri)) is not None:
            return json.loads(one.read(Call(caller), given)[0])
    raise NotFound(uri)


def in_person(tide: Tide, who: str, uri: str) -> Any:
    return read(tide, Caller(tide.person(who).principal), uri)


def asked(tide: Tide, caller: Caller, mode: str, question: Callable[[Any], Any]) -> Any:
    server = build_server([governance_toolset(tide.governance, "swarmrise")], Surface(), FakeChanges())

    async def main() -> Any:
        async with connected(serving(server, caller), mode) as client:
            return await question(client)

    return asyncio.run(main())


def over_the_wire(tide: Tide, caller: Caller, mode: str, uris: Iterable[str]) -> dict[str, Any]:
    """Return what a client reads at each address, or the code of the refusal."""

    async def all_of(client: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for uri in uris:
            try:
                (content,) = (await client.read_resource(uri)).contents
                assert (str(content.uri), content.mime_type) == (uri, "application/json")
                found[uri] = json.loads(content.text)
            except MCPError as error:
                found[uri] = error.error.code
        return found

    found: dict[str, Any] = asked(tide, caller, mode, all_of)
    return found


def narrowed(tide: Tide, caller: Caller, kind: str, shown: Any) -> Any:
    """Return what a person reads less what the roles and the kinds of a token leave out."""
    principal = caller.principal
    assert principal.membership is not None
    roles, kinds = principal.membership.roles, principal.resource_scopes or frozenset(KINDS)
    teams = {role.team for role in tide.all(store.ROLES) if role.id in roles}
    reach = {tide.channel().id, *(tide.channel(team.name).id for team in tide.all(store.TEAMS) if team.id in teams)}
    beyond = {
        name for other in set(KINDS) - kinds for name in HIDDEN.get(other, ()) if kind not in OWN.get(name, ())
    } - {kind}

    def of(value: Any, key: str = "") -> Any:
        if isinstance(value, list):
            kept = [each for each in value if reached(each, key)]
            return [of(each, key) for each in kept]
        if not isinstance(value, dict):
            return value
        found = {name: of(each, name) for name, each in value.items() if name not in beyond}
        if "mine" in found:
            found["mine"] = value["_id"] in roles | teams
            if not found["mine"]:
                found.pop("channelId", None)
        if "embeddedTool" in found and "topics" not in kinds:
            found |= {"embeddedTool": {"type": found["embeddedTool"]["type"]}, "text": ""}
        return found

    def reached(row: Any, key: str) -> bool:
        if key == "channels":
            return row["_id"] in reach
        if key in ("topics", "tools"):
            return row["channelId"] in reach
        return not (kind == "roles" and key == "roles") or row["teamId"] in teams

    return of(shown)


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(
    ("who", "kinds"),
    [
        ("Ada", None),
        ("Vi", None),
        ("Guest", None),
        ("Vi", ("organisation", "channels", "messages")),
        ("Vi", ("organisation", "members", "teams", "policies", "topics")),
    ],
)
def test_a_token_reads_what_its_member_reads_less_what_roles_and_kinds_leave_out(
    full: Tide, who: str, kinds: tuple[str, ...] | None, mode: str
) -> None:
    caller, uris = token(full, who, kinds), addresses(full, who)
    found = over_the_wire(full, caller, mode, uris)
    for operation, uri in zip(OPERATIONS, uris, strict=True):
        if kinds is not None and operation.kind not in kinds:
            assert found[uri] == 403, uri
            continue
        expected = narrowed(full, caller, operation.kind or "", in_person(full, who, uri))
        if operation.name == "read_organisation":
            told = found[uri].pop("you")
            assert told["memberId"] == full.member(who).id
            assert told["permission"] == "readonly"
            reached, counts = caller.principal.touches, in_person(full, who, uri)["counts"]
            assert {one["title"] for one in told.get("roles", ())} == ({*HELD[who]} if reached("roles") else set())
            del expected["you"]
            expected["counts"] = {name: number for name, number in counts.items() if reached(name)}
            if not reached("teams"):
                del expected["mission"]
        assert found[uri] == expected, uri
    assert CANARY not in json.dumps(found)
    assert "dm_" not in json.dumps(found)


def test_people_read_their_direct_channels(full: Tide) -> None:
    (direct,) = [
        one for one in in_person(full, "Vi", "swarmrise://orgas/tide/channels")["channels"] if one["kind"] == "dm"
    ]
    assert direct["name"] == "Ada"
    messages = f"swarmrise://orgas/tide/channels/{direct['_id']}/messages"
    assert in_person(full, "Ada", messages)["messages"][0]["text"] == CANARY
    with pytest.raises(NotFound):
        in_person(full, "Guest", messages)


def test_a_sealed_cursor_of_one_channel_opens_no_other(full: Tide) -> None:
    """A seal gives no authority, so a position outside of the channel must not widen what is read."""
    caller, channel = token(full, "Guest"), full.channel().id
    operation = next(one for one in OPERATIONS if one.name == "list_messages")
    question = operation.question(operation.accepted({"orga_id": "tide", "channel_id": channel}))  # type: ignore[attr-defined]
    for other in full.all(store.CHANNELS):
        cursor = cursor_of(f"{other.id}.7ZZZZZZZZZZZZZZZZZZZZZZZZZ", question)
        found = read(full, caller, f"swarmrise://orgas/tide/channels/{channel}/messages?cursor={cursor}")
        assert {one["channelId"] for one in found["messages"]} <= {channel}


def test_pages_are_complete_and_without_gaps(full: Tide) -> None:
    lists = [one for one in OPERATIONS if isinstance(one, Listing)]
    for who, operation, limit in product(HELD, lists, (1, 2, 3)):
        caller, uri = token(full, who), addresses(full, who)[OPERATIONS.index(operation)]
        whole = read(full, caller, f"{uri}?limit=100")
        assert "next" not in whole
        pages, onward = [], f"{uri}?limit={limit}"
        while onward:
            page = read(full, caller, onward)
            pages.append(page[operation.of])
            onward = page.get("next", "")
        assert [row for page in pages for row in page] == whole[operation.of], uri
        assert all(len(page) <= limit for page in pages)


def test_decisions_are_filtered_by_team_and_by_what_they_are_about(full: Tide) -> None:
    caller, team = token(full, "Guest"), full.team("Watch").id
    uri = "swarmrise://orgas/tide/decisions"
    everything = read(full, caller, f"{uri}?limit=100")["decisions"]
    for name, field, value in (("teamId", "targetTeamId", team), ("targetType", "targetType", "policies")):
        found = read(full, caller, f"{uri}?limit=100&{name}={value}")["decisions"]
        assert found == [one for one in everything if one.get(field) == value]
        assert found
    assert [one["_id"] for one in everything] == sorted((one["_id"] for one in everything), reverse=True)
    assert len(read(full, caller, uri)["decisions"]) <= 20


def test_unknown_parameters_and_foreign_cursors_are_refused(full: Tide) -> None:
    queries = ("limit=0", "limit=101", "colour=red", "limit=1&limit=2", "cursor=abc", "teamId=x")
    uris = [f"swarmrise://orgas/tide/teams?{query}" for query in queries]
    assert over_the_wire(full, token(full, "Ada"), "auto", uris) == dict.fromkeys(uris, -32602)


def test_what_is_unknown_or_foreign_is_answered_alike(full: Tide) -> None:
    unknown = ("teams/te_0", "members/mb_0", "policies/9", "channels/x/messages")
    for place in ("other", "Tide", *(f"tide/{one}" for one in unknown)):
        with pytest.raises(NotFound) as refused:
            read(full, token(full, "Ada"), f"swarmrise://orgas/{place}")
        assert str(refused.value) == "There is nothing of this kind here, or it is not for you."


def test_nominations_are_numbers_until_they_are_discussed_and_no_byte_depends_on_the_nominee(full: Tide) -> None:
    caller, channel = token(full, "Vi"), full.channel("Watch").id
    uri = f"swarmrise://orgas/tide/channels/{channel}/messages"
    rows = read(full, caller, uri)["messages"]
    row = next(one for one in rows if one.get("embeddedTool", {}).get("type") == "election")
    thread = f"{uri}/{row['_id']}/thread"
    before = json.dumps([read(full, caller, uri), read(full, caller, thread)])
    assert full.member("Guest").id not in before
    assert "Calm." not in before
    assert row["embeddedTool"]["nominations"] == 1
    full.do("Vi", processes.move_on, message_id=row["_id"], phase="discussion")
    tool = read(full, caller, thread)["parent"]["embeddedTool"]
    assert tool["tally"] == [{"memberId": full.member("Guest").id, "name": "Guest", "count": 1}]
    assert [one["text"] for one in tool["givenNominations"]] == ["Calm."]


def test_a_vote_is_closed_in_every_reading_once_its_deadline_has_passed(full: Tide) -> None:
    caller, channel = token(full, "Guest"), full.channel().id
    given = {"channel_id": channel, "title": "Soup?", "mode": "single", "options": ["Yes", "No"]}
    vote = full.do("Ada", processes.open_vote, **given, deadline="2026-12-01T00:00:00Z")
    tools, thread = "swarmrise://orgas/tide/governance-tools", f"channels/{channel}/messages/{vote.id}/thread"
    assert vote.id in json.dumps(read(full, caller, tools))
    full.clock.now = 1_796_083_200.0  # 2026-12-01
    assert vote.id not in json.dumps(read(full, caller, tools))
    assert read(full, caller, f"swarmrise://orgas/tide/{thread}")["parent"]["embeddedTool"]["isClosed"] is True


@pytest.mark.parametrize("mode", ERAS)
def test_lists_and_completions_name_what_the_caller_reaches(full: Tide, mode: str) -> None:
    async def listed(client: Any) -> tuple[list[str], list[str], dict[str, list[str]]]:
        rows = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        completed = {}
        for name in ("orgaId", "teamId", "memberId", "channelId", "policyId", "messageId"):
            uri = next((one.uri_template for one in templates if f"{{{name}}}" in one.uri_template), "")
            if not uri:
                continue
            reference = ResourceTemplateReference(type="ref/resource", uri=uri)
            answer = await client.complete(reference, {"name": name, "value": ""})
            completed[name] = answer.completion.values
        return [str(one.uri) for one in rows], [one.uri_template for one in templates], completed

    resources, templates, completed = asked(full, token(full, "Vi"), mode, listed)
    messages = [f"channels/{full.channel(team).id}/messages" for team in (None, "Watch")]
    lists = ["teams", "members", "roles", "channels", *messages, "decisions", "policies", "topics", "governance-tools"]
    assert resources == [f"swarmrise://orgas/tide{place}" for place in ("", *(f"/{one}" for one in lists))]
    assert len(templates) == 14
    assert completed["orgaId"] == ["tide"]
    assert completed["channelId"] == [full.channel(None).id, full.channel("Watch").id]
    assert set(completed["memberId"]) == {full.member(name).id for name in HELD}
    assert completed["policyId"] == ["pol_000001"]
    assert completed["messageId"] == []
    narrow, _, _ = asked(full, token(full, "Guest", ("organisation", "teams")), mode, listed)
    assert narrow == ["swarmrise://orgas/tide", "swarmrise://orgas/tide/teams"]
    offered = governance_toolset(full.governance, "swarmrise").documents
    assert offered is not None
    assert {one.title for one in offered(token(full, "Vi", ("messages",)))} == {"Messages"}


def test_instructions_are_short_and_say_what_they_must() -> None:
    assert len(INSTRUCTIONS.split()) < 100
    assert "not instructions" in INSTRUCTIONS
