"""Security invariants of seed 002 (section 6), by their numbers, and its threats, by their names.

Agents read here through the guard with tokens and grants, as clients do. `everything` is each address that the
organisation has, whether or not anybody told the agent of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from pydantic.alias_generators import to_camel

from commonplace.governance import conversation, model, processes, structure, webhooks
from commonplace.governance.agent_tools import TOOLS
from commonplace.governance.capability import GOVERNANCE
from commonplace.governance.index_source import StoredMessages
from commonplace.governance.listings import OPERATIONS, list_messages
from commonplace.governance.model import KINDS
from commonplace.governance.store import (
    ANSWERS,
    CHANNELS,
    DIRECT,
    DIRECT_REPLIES,
    JOURNAL,
    MEMBERS,
    MESSAGES,
    POLICIES,
    ROLES,
    TEAMS,
)
from commonplace.governance.toolset import governance_toolset
from commonplace.kernel.errors import Forbidden, NotFound
from commonplace.web.mcp.declaration import Call, Caller
from tests.fakes.governance import Tide, agent, found_tide
from tests.fakes.governance_agents import PATH, SCHEME, Agents, Numbered, Seen, within
from tests.unit.web.mcp.guarded import bearer, resource
from tests.unit.web.mcp.world import LEGACY, body_of, event, message, modern

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

WORD = "periwinkle"
"""A secret."""
SAID = ("messages", "replies", "answers", "reactions")
"""Rooms of what agents write."""


def lived(tide: Tide, *, secret: str = WORD, nominee: str = "Guest", reason: str = WORD) -> Tide:
    """Let members decide: a topic with an objection, a vote, an election in its nomination, direct messages."""
    tide.join("Mo")
    watch = tide.role("Watch", "Referee")
    tide.do("Vi", structure.assign_role, role_id=watch.id, revision=watch.revision, member_id=tide.member("Mo").id)
    root = tide.role("Tide", "Leader")
    tide.do("Ada", structure.create_policy, role_id=root.id, title="Boats", abstract="Who sails", text="# Boats")
    here, there = tide.channel().id, tide.channel("Watch").id
    said = tide.do("Guest", conversation.send_message, channel_id=here, text="Good morning")
    tide.do("Ada", conversation.send_message, channel_id=here, text="Morning", parent_id=said.id)
    tide.do("Mo", conversation.react_to_message, message_id=said.id, emoji="👍")
    topic = tide.do("Ada", processes.open_topic, channel_id=here, title="Nets", description="Mend them")
    tide.do("Ada", processes.move_on, message_id=topic.id, phase="consent")
    tide.do("Mo", processes.respond, message_id=topic.id, response="objection", reason="Too wet")
    vote = tide.do("Vi", processes.open_vote, channel_id=there, title="Colour?", mode="ranked", options=["Red", "Blue"])
    tide.do("Mo", processes.cast_vote, message_id=vote.id, choices=["2", "1"])
    election = tide.do("Vi", processes.open_election, channel_id=there, role_id=watch.id)
    who = tide.member(nominee).id
    tide.do("Vi", processes.nominate_member, message_id=election.id, nominee_id=who, reason=reason)
    for one, other in (("Vi", "Mo"), ("Ada", "Guest")):
        direct = tide.do(one, conversation.open_direct, member_id=tide.member(other).id)
        first = tide.do(one, conversation.send_message, channel_id=direct.id, text=secret)
        tide.do(other, conversation.send_message, channel_id=direct.id, text=f"{secret}!", parent_id=first.id)
    return tide


@pytest.fixture
def agents(tide: Tide) -> Agents:
    return Agents(lived(tide).governance)


def in_person(tide: Tide, agents: Agents, name: str) -> Callable[[str], str]:
    """Return what a member reads at an address, by the same operations as in the console."""
    return lambda place: agents.at(Call(Caller(tide.person(name).principal)), place)


def readable(seen: Seen) -> dict[str, Any]:
    return {
        place: json.loads(text) for place, text in seen.items() if place.startswith(SCHEME) and text.startswith("{")
    }


@pytest.mark.parametrize(
    ("name", "kinds"), [("Ada", ["organisation", "messages"]), ("Vi", None), ("Mo", ["organisation", "topics"])]
)
def test_invariant_1_an_agent_sees_no_more_than_its_member(
    tide: Tide, agents: Agents, name: str, kinds: list[str] | None
) -> None:
    member, person = tide.member(name), in_person(tide, agents, name)
    seen_by_all: set[str] = set()
    for roles in ([], sorted(member.roles)):
        seen = agents.everything(tide, agents.token(tide, name, roles=roles, kinds=kinds))
        found = readable(seen)
        for place, told in found.items():
            assert within(told, json.loads(person(place))), place
        assert seen_by_all <= set(found), "a further role takes nothing away"
        seen_by_all = set(found)
        for place, text in seen.items():
            if "/channels/dm_" in place:
                assert place not in found, text


def test_invariant_1_a_kind_left_out_is_left_out_everywhere(tide: Tide, agents: Agents) -> None:
    everything = agents.everything(tide, agents.token(tide, "Vi"))
    for kind in ("teams", "messages", "topics", "decisions"):
        seen = agents.everything(tide, agents.token(tide, "Vi", kinds=[one for one in KINDS if one != kind]))
        lost = readable(everything).keys() - readable(seen).keys()
        assert lost == {
            place
            for one in OPERATIONS
            if one.kind == kind
            for place in readable(everything)
            if re.fullmatch(pattern(one.address), place)
        }, kind
    bare = agents.everything(tide, agents.token(tide, "Vi", kinds=["organisation"]))
    assert set(readable(bare)) == {f"{SCHEME}://orgas/tide"}


def pattern(address: str) -> str:
    place, _, query = f"{SCHEME}://{address}".partition("{?")
    return re.sub(r"{\w+}", "[^/?]+", place) + (r"(\?.*)?" if query else "")


def table_of(tide: Tide) -> dict[tuple[str, str], Any]:
    return {(item["pk"], item["sk"]): item for item in tide.store.table.scan("attribute_exists(pk)")}


def test_invariant_2_an_agent_does_no_more_than_its_member(tide: Tide) -> None:
    """For each channel and process: what an agent of a member may do is what the member may, and its roles give."""
    lived(tide)
    topic = tide.do("Vi", processes.open_topic, channel_id=tide.channel("Watch").id, title="Ropes", description="New")
    for name in ("Ada", "Vi", "Mo", "Guest"):
        every, none = tide.agent(name), tide.agent(name, roles=())
        for channel in tide.all(CHANNELS):
            given = {"channel_id": channel.id, "text": "Hello"}
            person = allowed(lambda: tide.do(name, conversation.send_message, **given))  # noqa: B023 - called at once
            by_every = allowed(lambda: tide.act(every, "send_message", **given))  # noqa: B023
            by_none = allowed(lambda: tide.act(none, "send_message", **given))  # noqa: B023
            assert by_every == (person and channel.kind != "dm")
            assert by_none == (channel.kind == "orga")
        asks = {"message_id": topic.id, "question": "How many?"}
        person = allowed(lambda: tide.do(name, processes.ask_clarification, **asks))  # noqa: B023
        assert allowed(lambda: tide.act(every, "ask_clarification", **asks)) == person  # noqa: B023
        assert not allowed(lambda: tide.act(none, "ask_clarification", **asks))  # noqa: B023


def allowed(do: Callable[[], object]) -> bool:
    try:
        do()
    except (NotFound, Forbidden):
        return False
    return True


def test_invariant_3_every_mutation_of_an_agent_is_in_the_journal(tide: Tide) -> None:
    """A change without its record cannot be committed, whatever a tool would do."""
    helper = tide.agent("Vi")
    done = tide.act(helper, "send_message", channel_id=tide.channel().id, text="Hello")
    (record,) = [one for one in tide.all(JOURNAL) if one.grant]
    assert (record.target, record.role) == (done.message_id, "AI Agent (via Vi)")
    access, before = tide.governance.access(helper, "tide"), table_of(tide)
    silent = model.Message(id=f"{tide.channel().id}.{model.new_id()}", author="", text="", created_at="")
    with pytest.raises(RuntimeError, match="no record in the journal"):
        tide.store.change(access, lambda act: act.add(MESSAGES, silent))
    assert table_of(tide) == before


def test_agent_impersonation(tide: Tide) -> None:
    """Agents say that they are agents, and nobody can be called as they are recorded: `test_acting` has the names."""
    helper = tide.agent("Vi", client="Ada Marsh")
    tide.act(helper, "send_message", channel_id=tide.channel().id, text="As Ada")
    (row,) = tide.do("Ada", list_messages, channel_id=tide.channel().id)["messages"]
    assert (row.author_name, row.via) == ("Vi", "Ada Marsh")
    record = tide.all(JOURNAL)[-1]
    assert (record.name, record.role, record.client) == ("Vi", "AI Agent (via Vi)", "Ada Marsh")


@pytest.mark.parametrize("outsider", ["Guest", "Ada"])
def test_what_agents_answer_is_no_matter_of_the_journal(
    dynamodb_client: DynamoDBClient, aws: None, monkeypatch: pytest.MonkeyPatch, outsider: str
) -> None:
    """Two histories that differ in what agents wrote, chose, answered and why give outsiders the same bytes."""

    def history(word: str, response: str, choice: str, nominee: str) -> Seen:
        tide = found_tide(dynamodb_client)
        watch = tide.channel("Watch").id
        helper = tide.agent("Vi")
        topic = tide.do("Vi", processes.open_topic, channel_id=watch, title="Nets", description="Mend them").id
        given: dict[str, Any] = {"title": "Colour?", "mode": "single", "options": ["Red", "Blue"]}
        vote = tide.do("Vi", processes.open_vote, channel_id=watch, **given).id
        role = tide.role("Watch", "Referee").id
        election = tide.do("Vi", processes.open_election, channel_id=watch, role_id=role).id
        sent = tide.act(helper, "send_message", channel_id=watch, text=word)
        tide.act(helper, "react_to_message", message_id=sent.message_id, emoji="👍" if word == WORD else "👀")
        tide.act(helper, "ask_clarification", message_id=topic, question=word)
        tide.do("Vi", processes.move_on, message_id=topic, phase="consent")
        tide.act(helper, "respond_to_topic", message_id=topic, response=response, reason=word)
        tide.act(helper, "cast_vote", message_id=vote, choices=[choice])
        named = tide.member(nominee).id
        tide.act(helper, "nominate_member", message_id=election, nominee_id=named, reason=word)
        assert len([one for one in tide.all(ANSWERS) if one.client]) == 4
        agents = Agents(tide.governance)
        return agents.everything(tide, agents.token(tide, outsider))

    seen = []
    for differing in ((WORD, "objection", "1", "Ada"), ("cormorant", "stand_aside", "2", "Guest")):
        monkeypatch.setattr(model, "ULID", Numbered())
        monkeypatch.setattr(structure, "fresh", Numbered())
        monkeypatch.setattr("tests.fakes.governance.fresh", Numbered())
        seen.append(history(*differing))
    assert [(place, text, seen[1][place]) for place, text in seen[0].items() if seen[1][place] != text] == []
    assert WORD not in "".join(seen[0].values())


def test_invariant_4_token_revocation_is_immediate(tide: Tide, agents: Agents) -> None:
    claims = agents.claims(tide, "Vi")
    token = agents.signed(claims)
    messages = f"{SCHEME}://orgas/tide/channels/{tide.channel('Watch').id}/messages"
    assert agents.read(token, messages).startswith("{")
    kept = body_of(agents.ask(token, "resources/read", {"uri": messages}))["result"]["ttlMs"]
    assert kept <= 5_000, "no client shows for long what its member may read no more"
    agents.realm.change(claims, revoked_at=int(agents.realm.clock.now))
    assert agents.read(token, messages).startswith("401 invalid_token")


def test_invariant_5_direct_channels_are_never_accessible_to_agents(tide: Tide, agents: Agents) -> None:
    for name in ("Ada", "Vi"):
        token = agents.token(tide, name)
        seen = agents.everything(tide, token)
        assert WORD not in "".join(seen.values())
        direct = {place: text for place, text in seen.items() if "/channels/dm_" in place}
        nowhere = agents.read(token, f"{SCHEME}://orgas/tide/channels/ch_01ARZ3NDEKTSV4RRFFQ69G5FAV/messages")
        assert len(direct) == 4
        assert set(direct.values()) == {nowhere}, "there and not there read alike"
        assert "dm_" not in seen["listed"] + seen["completed"] + seen[f"{SCHEME}://orgas/tide/channels"]
    assert len(tide.all(DIRECT)) == 2
    indexed = StoredMessages(tide.store).published().versions
    assert indexed
    assert not any("dm_" in id for id in indexed)
    with_direct = [one.id for room in (DIRECT, DIRECT_REPLIES) for one in tide.all(room)]
    assert len(with_direct) == 4


def test_cross_tenant_data_leakage(tide: Tide, agents: Agents, dynamodb_client: DynamoDBClient) -> None:
    """Both organisations have people, teams and texts of the same names, and one person is a member of both."""
    other = Tide(tide.governance, tide.clock, slug="ebb")
    other.do("Vi", structure.found_organisation, slug="ebb", name="Tide", firstname="Vi")
    other.do("Vi", conversation.send_message, channel_id=other.channel().id, text=f"Good morning, {WORD}")
    token = agents.token(tide, "Vi")
    seen = agents.everything(other, token)
    unknown = {
        place: agents.read(token, place.replace("/ebb", "/nowhere")) for place in seen if place.startswith(SCHEME)
    }
    assert {place: text for place, text in seen.items() if place in unknown} == unknown, "as if it did not exist"
    assert WORD not in "".join(agents.everything(tide, token).values())
    page = json.loads(agents.read(token, f"{SCHEME}://orgas/tide/members?limit=1"))
    foreign = page["next"].replace("/tide/", "/ebb/")
    assert agents.read(agents.token(other, "Vi"), foreign).startswith("error -32602")


def test_privilege_escalation(tide: Tide, agents: Agents) -> None:
    """A role that its member loses is lost to the agent with the next request, whatever its token says."""
    token = agents.token(tide, "Mo")
    watch = tide.channel("Watch").id
    messages = f"{SCHEME}://orgas/tide/channels/{watch}/messages"
    assert agents.read(token, messages).startswith("{")
    role = tide.role("Watch", "Referee")
    tide.do("Vi", structure.assign_role, role_id=role.id, revision=role.revision, member_id=tide.member("Vi").id)
    assert not agents.read(token, messages).startswith("{")
    assert watch not in agents.read(token, f"{SCHEME}://orgas/tide/channels")
    claims = agents.claims(tide, "Guest")
    forged = agents.signed(claims, gov_roles=[one.id for one in tide.all(ROLES)])
    assert not agents.read(forged, messages).startswith("{")


def test_a_member_who_left_is_refused_with_every_token(tide: Tide, agents: Agents) -> None:
    token = agents.token(tide, "Guest")
    assert agents.read(token, f"{SCHEME}://orgas/tide").startswith("{")
    tide.do("Guest", structure.leave_organisation)
    assert agents.read(token, f"{SCHEME}://orgas/tide").startswith("401 invalid_token")


def test_dm_privacy_violation(tide: Tide, agents: Agents) -> None:
    """Not even with every kind, every role, and the channel's own id does an agent read what its member writes."""
    token = agents.token(tide, "Vi")
    mine = [one.id for one in tide.all(DIRECT) if tide.member("Vi").id == one.author]
    for id in mine:
        channel = id.partition(".")[0]
        for place in (f"channels/{channel}/messages", f"channels/{channel}/messages/{id}/thread"):
            assert not agents.read(token, f"{SCHEME}://orgas/tide/{place}").startswith("{")
    assert mine


def test_unauthorized_structural_changes(tide: Tide, agents: Agents) -> None:
    """The tools write what agents say, and nothing else; no other change takes a token; there is no REST."""
    tools = governance_toolset(tide.governance, SCHEME).tools
    assert [one.name for one in tools if not one.read_only] == [one.name for one in TOOLS]
    assert GOVERNANCE.routes is None
    stored = Agents(tide.governance, stored=tide.grants)
    token = stored.token(tide, "Ada", acts=True)
    rooms: Any = (TEAMS, ROLES, MEMBERS, CHANNELS, POLICIES)
    things = [tide.slug, *(one.id for room in rooms for one in tide.all(room))]
    things += [tide.do("Ada", conversation.send_message, channel_id=tide.channel().id, text="Hello").id]
    things += [tide.do("Ada", conversation.open_direct, member_id=tide.member("Vi").id).id]
    before = table_of(tide)
    for one in tools:
        for thing in things:
            given: dict[str, Any] = {"choices": [thing], "emoji": "👍", "response": "consent", "limit": 1}
            names = [to_camel(name) for name, field in one.arguments.model_fields.items() if field.is_required()]
            stored.act(token, one.name, **{name: given.get(name, thing) for name in names})
    changed = {pk.partition("#")[2] for (pk, sk), item in table_of(tide).items() if before.get((pk, sk)) != item}
    assert changed <= {f"gov#{room}" for room in (*SAID, "journal", "feed", "cards", "agents", "processes")}
    assert "gov#messages" in changed
    assert not [key for key in before if key not in table_of(tide)]
    member = tide.member("Vi")

    writes = [
        one
        for module in (structure, conversation, processes, webhooks)
        for one in vars(module).values()
        if getattr(one, "level", "") == "write" and getattr(one, "toolset", "") == "governance"
    ]
    assert len({one.name for one in writes}) > 25
    actors = (agent("tide", member, member.roles), tide.agent("Vi"))
    before = table_of(tide)
    for one in writes:
        assert not one.tool
        assert not one.rest
        given = dict.fromkeys(one.input.model_fields) | {"orga_id": "tide", "slug": "ebb"}
        for actor in actors:
            with pytest.raises(Forbidden):
                one.run(tide.governance, actor, one.input.model_construct(**given))
    assert table_of(tide) == before


def test_token_audience_mismatch(tide: Tide, agents: Agents) -> None:
    claims = agents.claims(tide, "Vi")
    for path in ("/mcp", "/mcp/knowledge", "/api"):
        token = agents.signed(claims, aud=resource(path))
        assert agents.read(token, f"{SCHEME}://orgas/tide").startswith("401 invalid_token")


def test_dns_rebinding(tide: Tide, agents: Agents) -> None:
    request = modern("tools/list", {}, bearer(agents.token(tide, "Vi")) | {"origin": "https://evil.example"}, path=PATH)
    assert agents.handler(request, None)["statusCode"] == 403  # type: ignore[arg-type]


def test_token_theft_and_session_hijacking(tide: Tide, agents: Agents) -> None:
    """A token is worth an hour, and a session's name is worth nothing: who has no token is nobody."""
    token = agents.token(tide, "Vi")
    headers = {"mcp-protocol-version": LEGACY, "mcp-session-id": "4f0c9a52-8a0e-4d0c-9f4c-3f3b7f1f5d3e"}
    request = event(message("tools/list", {}, 1), headers, path=PATH)
    assert agents.handler(request, None)["statusCode"] == 401  # type: ignore[arg-type]
    agents.realm.clock.now += 3_700
    assert agents.read(token, f"{SCHEME}://orgas/tide").startswith("401 invalid_token")


SECRETS: dict[str, tuple[dict[str, str], set[str]]] = {
    "the text of a direct message": ({"secret": "limpet and whelk"}, {"Ada", "Vi"}),
    "a nominee": ({"nominee": "Mo"}, {"Ada", "Vi"}),
    "the reason of a nomination": ({"reason": "limpet and whelk"}, {"Ada", "Vi"}),
}
"""What differs between two histories, and the members whose agents may see nothing of it."""


@pytest.mark.parametrize("difference", SECRETS)
def test_two_histories_that_differ_in_a_secret_read_alike(
    aws: None, dynamodb_client: DynamoDBClient, monkeypatch: pytest.MonkeyPatch, difference: str
) -> None:
    changes, readers = SECRETS[difference]
    told: list[dict[str, Seen]] = []
    for history in ({}, changes):
        monkeypatch.setattr(model, "ULID", Numbered())
        monkeypatch.setattr(structure, "fresh", Numbered())
        tide = lived(found_tide(dynamodb_client), **history)
        agents = Agents(tide.governance)
        told.append({name: agents.everything(tide, agents.token(tide, name)) for name in sorted(readers)})
        for outsider in ("Ada", "Guest"):
            person = in_person(tide, agents, outsider)
            places = [place for place in told[-1]["Ada"] if place.startswith(SCHEME)]
            told[-1][f"{outsider} in person"] = {
                place: person(place)
                for place in places
                if difference != "the text of a direct message" or "/dm_" not in place
            }
    first, second = told
    for reader in first:
        assert len(first[reader]) > 20
        for place, text in first[reader].items():
            assert json.dumps(second[reader][place]) == json.dumps(text), (reader, place)
    assert first.keys() == second.keys()
