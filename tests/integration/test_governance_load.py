"""Twenty agents act at once through the guard, under the limits of a deployment, on DynamoDB Local: nothing is lost.

Half a minute in every run, five in `make soak`. Each call moves the clock by a second: minutes of limits pass faster
than those of the wall. Agents are threads.
"""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import count
from random import Random
from threading import Lock
from typing import TYPE_CHECKING, Any

from commonplace.governance import conversation, listings, processes, structure
from commonplace.governance.capability import GOVERNANCE
from commonplace.governance.store import AGENTS, ANSWERS, JOURNAL, MESSAGES, REACTIONS, REPLIES, Store
from commonplace.identity.secrets import digest
from commonplace.identity.tokens import AccessClaims
from tests.examples import SOAKING
from tests.fakes.governance import Tide, found_tide
from tests.fakes.governance_agents import Agents
from tests.unit.web.mcp.world import body_of

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

SECONDS = 300 if SOAKING else 30
AGENTS_AT_ONCE, MEMBERS_OF_THEM = 20, 7
"""Up to three grants of each member: together they write nine times a minute where ten are allowed."""
EMOJI = ("👍", "🎉", "🌊")


@dataclass
class Load:
    """The organisation, the calls that one agent after another makes, and how each of them was answered."""

    tide: Tide
    agents: Agents
    votes: list[str]
    topics: list[str]
    """Two of them in consent, the last in clarification."""
    election: str
    message: str
    here: str
    nominee: str
    lock: Lock = field(default_factory=Lock)
    answers: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = field(default_factory=list)
    """Grant, tool, arguments, and the structured answer of each call that was answered without an error."""
    refused: Counter[str] = field(default_factory=Counter)

    def tick(self) -> float:
        with self.lock:
            self.tide.clock.now += 1
            self.agents.realm.clock.now = self.tide.clock.now
            return self.tide.clock.now

    def call(self, random: Random, number: int, which: int) -> tuple[str, dict[str, Any]]:
        """Return one of eight calls with arguments, as agents might choose them."""
        text = f"{number}: {random.random()} 潮汐 🌊"
        responds = {"response": random.choice(["consent", "stand_aside", "objection"]), "reason": text}
        calls: list[tuple[str, dict[str, Any]]] = [
            ("send_message", {"channelId": self.here, "text": text}),
            ("send_message", {"channelId": self.here, "text": text, "threadParentId": self.message}),
            ("react_to_message", {"messageId": self.message, "emoji": random.choice(EMOJI)}),
            ("cast_vote", {"messageId": random.choice(self.votes), "choices": [random.choice("123")]}),
            ("respond_to_topic", {"messageId": random.choice(self.topics), **responds}),
            ("ask_clarification", {"messageId": self.topics[-1], "question": text}),
            ("nominate_member", {"messageId": self.election, "nomineeId": self.nominee, "reason": text}),
            ("respond_to_election", {"messageId": self.election, **responds}),
        ]
        return calls[which]

    def act(self, number: int, claims: AccessClaims, until: float) -> None:
        """Call tools as one agent until the deadline, with a new token of its grant each half hour.

        The first call is a message, the second differs between agents, whatever time they take.
        """
        random, grant, token = Random(number), digest(claims.grant), self.agents.signed(claims)
        for turn in count():
            if turn > 1 and time.monotonic() >= until:
                break
            now = int(self.tick())
            if now > claims.expires_at - 1_800:
                claims = replace(claims, issued_at=now, expires_at=now + 3_600)
                token = self.agents.signed(claims)
            tool, given = self.call(random, number, (0, number % 8)[turn] if turn < 2 else random.randrange(8))
            answer = self.agents.act(token, tool, **given)
            assert answer["statusCode"] == 200, answer
            result = body_of(answer)["result"]
            with self.lock:
                if result.get("isError"):
                    self.refused[result["content"][0]["text"].partition(":")[0]] += 1
                else:
                    self.answers.append((grant, tool, given, result["structuredContent"]))


def loaded(client: DynamoDBClient) -> tuple[Load, list[AccessClaims]]:
    """Return an organisation in which everything takes answers, and tokens of its agents."""
    tide = found_tide(client)
    # Agents that conflict wait for one another as they do in a deployment.
    names = (tide.store.table.name, tide.store.records._activity, tide.store.grants.name)
    tide = Tide(replace(tide.governance, store=Store(client, *names, clock=tide.clock)), tide.clock, people=tide.people)
    people = ["Ada", "Vi", "Guest", *(f"Member {number}" for number in range(MEMBERS_OF_THEM - 3))]
    watch = tide.team("Watch").id
    for name in people[3:]:
        member = tide.join(name).id
        tide.do("Vi", structure.create_role, team_id=watch, title="Counter", member_id=member)
    here, team = tide.channel().id, tide.channel("Watch").id
    ballot = {"channel_id": here, "mode": "single", "options": ["Sat", "Sun", "Mon"]}
    votes = [tide.do("Ada", processes.open_vote, title=f"Day {number}?", **ballot).id for number in range(3)]
    asked = {"channel_id": here, "description": "In March."}
    topics = [tide.do("Ada", processes.open_topic, title=f"Count {number}", **asked).id for number in range(3)]
    for topic in topics[:2]:
        tide.do("Ada", processes.move_on, message_id=topic, phase="consent")
    role = tide.role("Watch", "Referee").id
    election = tide.do("Vi", processes.open_election, channel_id=team, role_id=role).id
    message = tide.do("Ada", conversation.send_message, channel_id=here, text="The tide table is on the wall.").id
    assert GOVERNANCE.scopes is not None
    agents = Agents(tide.governance, GOVERNANCE.scopes.calls_a_minute, stored=tide.grants)
    claims = [agents.claims(tide, people[at % len(people)], acts=True) for at in range(AGENTS_AT_ONCE)]
    return Load(tide, agents, votes, topics, election, message, here, tide.member("Vi").id), claims


def test_twenty_agents_at_once_lose_nothing(dynamodb_local: DynamoDBClient) -> None:
    load, claims = loaded(dynamodb_local)
    tide, until = load.tide, time.monotonic() + SECONDS
    with ThreadPoolExecutor(AGENTS_AT_ONCE) as threads:
        for done in [threads.submit(load.act, *one, until) for one in enumerate(claims)]:
            done.result()
    changed = [one for one in load.answers if one[3]["changed"]]
    assert {tool for _, tool, *_ in changed} >= {"send_message", "react_to_message", "cast_vote", "respond_to_topic"}
    assert len({grant for grant, *_ in changed}) == AGENTS_AT_ONCE and load.refused["CONFLICT"]

    # Each answer has its record, each record its answer: refusals and repeats wrote none.
    journal = [one for one in tide.all(JOURNAL) if one.grant]
    records = {one.id: (one.grant, one.target) for one in journal}
    assert len(records) == len(journal) == len(changed)
    assert records == {a["decisionId"]: (grant, a["messageId"]) for grant, _, _, a in changed}
    counted = Counter(grant for grant, *_ in changed)
    assert {one.id: one.actions for one in tide.all(AGENTS)} == counted

    # Messages and questions: each once, and no other.
    sent = {a["messageId"]: given["text"] for _, tool, given, a in changed if tool == "send_message"}
    assert sent == {one.id: one.text for room in (MESSAGES, REPLIES) for one in tide.all(room) if one.client}
    card = tide.store.cards(tide.slug, [load.message])[load.message]
    assert card["replies"] == len(tide.all(REPLIES))
    asked = Counter(given["question"] for _, tool, given, _ in changed if tool == "ask_clarification")
    said = tide.all(ANSWERS)
    assert asked == Counter(one.text for one in said if one.kind == "question")

    # Reactions: one a member and emoji, counted.
    member_of = {one.id: one.member for one in tide.all(AGENTS)}
    reacted = [(member_of[grant], given["emoji"]) for grant, tool, given, _ in changed if tool == "react_to_message"]
    partition = REACTIONS.partition(tide.slug)
    held = [item["sk"].removeprefix(f"{load.message}.").split(".") for item in tide.store.table.query(partition)]
    assert sorted(reacted) == sorted((member, chr(int(points, 16))) for member, points in held)
    assert Counter(points for _, points in held) == {
        name[2:]: int(number) for name, number in card.items() if name.startswith("a_")
    }

    # Of each member the last answer stands; the tally is that of the ballots, and revisions counted every change.
    for tool, kind in (("cast_vote", "ballot"), ("respond_to_topic", "response"), ("nominate_member", "nomination")):
        given: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for grant, name, _, answer in changed:
            if name == tool:
                given.setdefault((answer["messageId"], member_of[grant]), []).append(answer)
        stand = {(one.id.partition(f".{kind}.")[0], one.member): one for one in said if one.kind == kind}
        assert stand.keys() == given.keys(), tool
        for who, one in stand.items():
            last = [each for each in given[who] if each["createdAt"] == one.at]
            assert one.at == max(each["createdAt"] for each in given[who]) and one.revision == len(given[who])
            assert (list(one.choices) or None, one.response, one.nominee) in [
                (each.get("choices"), each.get("response"), each.get("nomineeId")) for each in last
            ]
    for vote in load.votes:
        ballots = Counter(one.choices[0] for one in said if one.id.startswith(f"{vote}.ballot."))
        tide.do("Ada", processes.move_on, message_id=vote, phase="closed")
        shown = tide.do("Ada", listings.read_thread, channel_id=tide.channel().id, message_id=vote)["parent"]
        results = shown.embedded_tool.results
        assert sum(ballots.values()) == shown.embedded_tool.ballots == sum(one.count for one in results)
