"""The seven prompts on the sample, and on an organisation of 1,000 members who write in many scripts, and much."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, get_args

import pytest
from tokenizers import Tokenizer

from commonplace.governance import conversation, model, structure
from commonplace.governance.founding import carry_out, founding
from commonplace.governance.model import (
    KINDS,
    Active,
    Answer,
    Channel,
    Decision,
    Member,
    Message,
    Policy,
    PolicyText,
    Process,
    ProcessKind,
    Role,
    Team,
    new_id,
    roles_of,
    stamp,
)
from commonplace.governance.prompts import TOKENS, WORDS
from commonplace.governance.store import (
    ACTIVE,
    ANSWERS,
    CHANNELS,
    JOURNAL,
    MEMBERS,
    MESSAGES,
    POLICIES,
    PROCESSES,
    REPLIES,
    ROLES,
    TEAMS,
    TEXTS,
)
from commonplace.kernel.items import encode
from commonplace.search.models.local import TOKENIZER, bundled
from commonplace.web.mcp.budgets import estimate_tokens
from commonplace_local.cli.dev import SAMPLE_ORGANISATION
from tests.fakes.governance import Tide, found_tide
from tests.fakes.governance_agents import SCHEME, Agents, Numbered
from tests.unit.governance.test_prompts import SNAPSHOT, UPDATE, arguments

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

SCRIPTS = (
    "Who reads the gauge at low water writes it down at once. ",
    "潮が引いたら、すぐに水位を書き留める。",
    "من يقرأ المقياس عند الجزر يدوّنه فورًا. ",
    "מי שקורא את המד בשפל רושם זאת מיד. ",
    "जो भाटे में पैमाना पढ़ता है वह उसे तुरंत लिखता है। ",
    "ผู้ที่อ่านมาตรวัดเมื่อน้ำลงให้จดทันที ",
    "Ce qu’on mesure à marée basse, on l’écrit aussitôt. ",
    "🌊🦀👩🏽‍🔬🏴‍☠️🇨🇭 ",
)
"""One sentence in many scripts, from left to right and from right to left, and emoji of several code points."""
SECRET = {one: f"heron{one}" for one in ("direct", "foreign", "roles", "policies", "messages", "decisions")}
"""What no prompt may hold of direct messages and of foreign teams, nor of a kind that the token has not."""


def much(number: int, of: str = "", characters: int = 900) -> str:
    """Return a text in a script, which begins with the word that gives it away."""
    return f"{SECRET.get(of, '')} {number} {SCRIPTS[number % len(SCRIPTS)] * 40}"[:characters].strip()


def thousand(tide: Tide) -> Tide:
    """Fill the organisation in batches to 1,000 members, 200 teams, 3,000 roles, 200 policies, 100 open processes."""
    vi, watch, root = tide.member("Vi"), tide.team("Watch"), tide.team("Tide")
    here, there, at = tide.channel().id, tide.channel("Watch").id, tide.store.now()
    records: list[tuple[Any, Any]] = []
    teams = [
        Team(id=new_id("te"), name=much(one, characters=60), channel=new_id("ch"), leader="", parent=root.id)
        for one in range(198)
    ]
    people = [Member(id=new_id("mb"), firstname=much(one, characters=40), joined_at=at) for one in range(997)]
    held: dict[str, dict[str, str]] = {one.id: {} for one in people}

    def role(number: int, team: Team, member: str, leader: bool = False) -> str:
        titled: dict[str, Any] = {"title": "Leader", "type": "leader"} if leader else {"title": much(number, "", 80)}
        said: dict[str, Any] = {"mission": much(number, "" if leader else "roles"), "duties": (much(number, "", 200),)}
        one = Role(id=roles_of(team.id) + new_id(), team=team.id, member=member, **titled, **said)
        records.append((ROLES, one))
        return one.id

    for number, team in enumerate(teams):
        leader = ""
        records.append((CHANNELS, Channel(id=team.channel, kind="team", name=team.name, team=team.id)))
        for seat in range(15):
            member = people[(number * 5 + seat) % len(people)].id
            id = role(number + seat, team, member, leader=seat == 0)
            held[member][id] = team.id
            leader = leader or id
        records.append((TEAMS, replace(team, leader=leader)))
    mine = dict(vi.roles) | {role(one, watch, vi.id): watch.id for one in range(24)}
    records.append((MEMBERS, replace(vi, roles=mine)))
    records += [(MEMBERS, replace(one, roles=held[one.id])) for one in people]
    for number in range(1, 201):
        id, of = (
            f"pol_{number:06}",
            next(iter(mine)) if number % 4 == 0 else next(iter(held[people[number].id]), "ro_x"),
        )
        about: dict[str, Any] = {"team": mine.get(of, teams[0].id), "title": much(number, "", 100), "updated_at": at}
        records.append(
            (POLICIES, Policy(id=id, number=number, role=of, abstract=much(number, "policies", 500), **about))
        )
        records.append((TEXTS, PolicyText(id=id, text=much(number, "policies", 4_000))))
        said: dict[str, Any] = {"member": vi.id, "name": vi.name, "role": "Leader", "team": watch.name, "at": at}
        said |= {"target": id, "target_type": "policies", "type": "Policy", "target_team": watch.id}
        records.append((JOURNAL, Decision(id=new_id(), after={"abstract": much(number, "decisions")}, **said)))
    for number in range(100):
        kinds: tuple[ProcessKind, ...] = get_args(ProcessKind)
        away, kind = number % 10 == 9, kinds[number % 3]
        id = f"{teams[number].channel if away else (here, there)[number % 2]}.{new_id()}"
        due = stamp(datetime.fromtimestamp(tide.clock() + 86_400 * (1 + number), UTC)) if kind == "voting" else None
        phase: Any = {"topic": "consent", "voting": "open", "election": "consent"}[kind]
        of_it: dict[str, Any] = {"options": (much(number, "", 80), "No")} if kind == "voting" else {"round": 1}
        of_it |= {"role": next(iter(mine)), "candidate": vi.id, "revealed": True} if kind == "election" else {}
        of_it |= {"team": teams[number].id if away else None if number % 2 == 0 else watch.id, "deadline": due}
        text = much(number, "foreign" if away else "")
        about = {
            "title": text[:150],
            "description": text,
            "author": people[number].id,
            "created_at": at,
        }
        records.append((PROCESSES, Process(id=id, kind=kind, phase=phase, electorate=1_000, **about, **of_it)))
        records.append((ACTIVE, Active(id=id, kind=kind, deadline=due)))
        about = {"author": people[number].id, "created_at": at}
        records.append((MESSAGES, Message(id=id, text=text, process=kind, **about)))
        for other in range(40 if number < 3 else 0):
            by: dict[str, Any] = {"member": people[other].id, "at": at, "round": 1, "text": much(other, "messages")}
            records.append(
                (ANSWERS, Answer(id=f"{id}.response.001.{other}", kind="response", response="objection", **by))
            )
            records.append((REPLIES, Message(id=f"{id}.{new_id()}", text=much(other, "messages"), **about)))
    for number in range(400):
        away = number % 4 == 3
        channel, word = (teams[number % 198].channel, "foreign") if away else (here, "messages")
        about = {"author": people[number].id, "created_at": at}
        records.append((MESSAGES, Message(id=f"{channel}.{new_id()}", text=much(number, word, 4_000), **about)))
    put = tide.store.table.put
    assert not tide.store.table.write_many(put(room.at(tide.slug, one.id), encode(one)) for room, one in records)
    for name in ("Ada", "Guest"):
        direct = tide.do(name, conversation.open_direct, member_id=vi.id).id
        tide.do(name, conversation.send_message, channel_id=direct, text=much(2, "direct"))
    rooms: Any = (MEMBERS, TEAMS, ROLES, POLICIES, ACTIVE)
    sizes = [len(tide.all(room)) for room in rooms]
    assert sizes == [1_000, 200, 3_000, 200, 100]
    return tide


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    loaded = Tokenizer.from_file(str(bundled() / TOKENIZER))
    loaded.no_truncation()
    return loaded


@pytest.fixture(params=["sample", "large"])
def organisation(
    request: pytest.FixtureRequest, aws: None, dynamodb_client: DynamoDBClient, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, Tide, str, dict[str, dict[str, str]]]:
    """Return the name of the snapshot, an organisation with the same ids in each run, a member, and arguments."""
    monkeypatch.setattr(model, "ULID", Numbered())
    monkeypatch.setattr(structure, "fresh", Numbered())
    tide, name = found_tide(dynamodb_client), "Vi"
    if request.param == "large":
        thousand(tide)
        given = arguments(tide, tide.channel().id, tide.team("Watch").id, tide.member("Vi").id)
    else:
        plan = founding(SAMPLE_ORGANISATION.read_text(encoding="utf-8"), tide.governance)
        carry_out(plan, tide.governance, lambda subject: subject)
        tide = Tide(tide.governance, tide.clock, slug="low-water")
        member = next(one for one in tide.all(MEMBERS) if one.account and one.roles)
        name, team = member.name, min(member.teams)
        given = arguments(tide, tide.channel().id, team, member.id)
    return request.param, tide, name, given


def test_each_text_fits_and_is_the_committed_one(organisation: Any, tokenizer: Tokenizer) -> None:
    size, tide, name, given = organisation
    agents = Agents(tide.governance)
    rooms = (TEAMS, ROLES, MEMBERS, CHANNELS, POLICIES, JOURNAL, MESSAGES, REPLIES, ANSWERS)
    token, ids = agents.token(tide, name, acts=True), {one.id for room in rooms for one in tide.all(room)}
    texts = {one: agents.prompt(token, one, **asked) for one, asked in given.items()}
    assert list(texts) == list(WORDS["prompts"])
    for one, text in texts.items():
        real = len(tokenizer.encode(text, add_special_tokens=False).ids)
        assert max(real, estimate_tokens(text)) <= TOKENS and not text.startswith("error"), (one, text[:200])
        shown = set(re.findall(r'^(?:_id|messageId) "([^"]+)"; ', text, re.MULTILINE))
        assert shown and shown <= ids, one
        assert not any(word in text for word in (SECRET["direct"], SECRET["foreign"], "dm_")), one
        if size == "large":
            cut = rf"^(\d+ of \d+ left out here.*|There are more): read {SCHEME}://orgas/tide/"
            assert re.search(cut, text, re.MULTILINE), one
    file = SNAPSHOT.with_name(f"prompts_{size}.txt")
    written = "\n".join(f"=== {one}\n{text}\n" for one, text in texts.items())
    if os.environ.get(UPDATE) == "1":
        file.write_text(written, encoding="utf-8", newline="\n")
    assert file.read_bytes().decode() == written, f"run with {UPDATE}=1 to accept the change"


def test_nothing_of_a_kind_left_out_is_in_a_text(aws: None, dynamodb_client: DynamoDBClient) -> None:
    tide = thousand(found_tide(dynamodb_client))
    given = arguments(tide, tide.channel().id, tide.team("Watch").id, tide.member("Vi").id)
    agents = Agents(tide.governance)
    whole = SNAPSHOT.with_name("prompts_large.txt").read_text(encoding="utf-8")
    for left in (("roles", "messages", "policies"),):
        token = agents.token(tide, "Vi", kinds=[one for one in KINDS if one not in left])
        texts = [agents.prompt(token, one, **asked) for one, asked in given.items()]
        assert sum(not text.startswith("error 403") for text in texts) > 4
        for kind in left:
            assert SECRET[kind] in whole, "whoever has the kind reads it"
            assert SECRET[kind] not in "".join(texts), kind
