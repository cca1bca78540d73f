"""Organisations founded from files: the sample, every fault by its line, and nothing left of what was refused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.governance import founding
from commonplace.governance import store as rooms
from commonplace.governance.founding import carry_out
from commonplace.governance.governance import Governance
from commonplace.governance.model import Process
from commonplace.governance.store import CHANNELS, JOURNAL, MEMBERS, PROCESSES, ROLES, TEAMS, Store
from commonplace.governance.structure import accept_invitation, found_organisation
from commonplace.kernel.errors import Conflict, InvalidInput, NotFound
from tests.dynamodb_fixture import dump, new_table
from tests.fakes.governance import Clock, person

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

SAMPLE = Path(__file__).parents[3] / "samples" / "governance" / "low-water.yaml"
TEXT = SAMPLE.read_text(encoding="utf-8")
SMALL = """\
organisation: {slug: reef, name: Reef, owner: ada}
members:
  ada: {firstname: Ada, account: local:ada}
  bo: {firstname: Bo}
teams:
  - {key: reef, name: Reef, leader: ada, secretary: ada, referee: bo}
"""


VOTE = "channel: reef, title: A, mode: single, options: [a, b]"


@pytest.fixture
def governance(aws: None, dynamodb_client: DynamoDBClient) -> Governance:
    tables = new_table(dynamodb_client, "records"), new_table(dynamodb_client, "activity")
    store = Store(dynamodb_client, *tables, clock=Clock(), sleep=lambda _: None)
    return Governance(store=store, reserved=frozenset({"house"}))


@pytest.fixture
def held(governance: Governance, dynamodb_client: DynamoDBClient) -> Any:
    """Return what the table holds, as text."""
    return lambda: dump(dynamodb_client, governance.store.table.name)


def account(subject: str) -> str:
    return subject.replace(":", "-")


def found(governance: Governance, text: str) -> dict[str, str]:
    return carry_out(founding.founding(text, governance), governance, account)


def hint_of(governance: Governance, text: str) -> str:
    with pytest.raises(InvalidInput) as refused:
        founding.founding(text, governance)
    return f"{refused.value.message}\n{refused.value.hint}"


def test_the_sample_is_founded_by_the_operations_of_its_members(governance: Governance) -> None:
    secrets = found(governance, TEXT)
    store = governance.store
    counted = ["TEAMS", "ROLES", "MEMBERS", "POLICIES", "MESSAGES", "REPLIES", "DIRECT", "INVITATIONS", "ACTIVE"]
    numbers = [len(store.all("low-water", getattr(rooms, name))) for name in counted]
    assert numbers == [3, 13, 10, 6, 23, 13, 2, 7, 6]
    assert Counter(one.kind for one in store.all("low-water", CHANNELS)) == {"team": 3, "orga": 1, "dm": 1}
    processes: list[Process] = store.all("low-water", PROCESSES)
    phases = Counter(one.phase for one in processes)
    assert phases.total() == 9 and phases["open"] == 2 and phases.keys() >= {"consent", "nomination", "elected"}
    assert max(one.round for one in processes) == 2
    names = {one.id: one.firstname for one in store.all("low-water", MEMBERS)}
    assert names[store.organisation("low-water").owner] == "Ada"
    teams = {one.id: one for one in store.all("low-water", TEAMS)}
    assert {one.name: teams[one.parent].name for one in teams.values() if one.parent} == {
        "Harbour Watch": "Low Water",
        "Pool Desk": "Low Water",
    }
    held = {(teams[one.team].name, one.title): names[one.member] for one in store.all("low-water", ROLES)}
    assert held["Pool Desk", "Secretary"] == "Vi" and held["Low Water", "Leader"] == "Ines"
    assert secrets.keys() == {"ines", "tobias", "amara", "noor", "pell", "sunniva", "jory"}
    for name in ("ada", "vi", "guest"):
        assert governance.access(person(f"local-{name}"), "low-water").member.firstname == name.capitalize()
    types = Counter(one.type for one in store.all("low-water", JOURNAL))
    assert types["Policy"] == 6 and types["Member"] == 9 and types["Organization"] == 1
    assert types["Topic"] == types["Voting"] == types["Election"] == 1


def test_an_invitation_makes_somebody_the_member_of_the_file(governance: Governance) -> None:
    secrets = found(governance, TEXT)
    given = {"orga_id": "low-water", "secret": secrets["ines"], "firstname": "Ines", "surname": "Farrow"}
    accept_invitation.run(governance, person("wallet"), accept_invitation.accepted(given))
    access = governance.access(person("wallet"), "low-water")
    assert len(access.roles) == 2 and access.member.name == "Ines Farrow"
    with pytest.raises(NotFound):
        accept_invitation.run(governance, person("another"), accept_invitation.accepted(given))


@pytest.mark.parametrize(
    ("given", "becomes", "line", "told"),
    [
        ("slug: reef", "slug: house", 1, "no name that this deployment uses"),
        ("slug: reef", "slug: A b", 1, "small letters"),
        ("owner: ada", "owner: zoe", 1, "there is no such member; there are: ada, bo"),
        ("name: Reef, owner", "naem: Reef, owner", 1, "is not known here"),
        (", account: local:ada", "", 3, "the owner has an `account`"),
        ("{firstname: Bo}", "{firstname: Bo, account: local:ada}", 2, "same account"),
        ("{firstname: Bo}", f"{{firstname: {'B' * 81}}}", 4, "firstname: must have at most 80 characters"),
        ("{firstname: Bo}", "{firstname: A.I., surname: Agent}", 4, "reads like the mark of an agent"),
        ("{firstname: Bo}", "{firstname: Bo, surname: (via Ada)}", 4, "reads like the mark of an agent"),
        ("name: Reef, owner", "name: AI Agent, owner", 1, "reads like the mark of an agent"),
        ("name: Reef, leader", "name: ΑI Agents, leader", 6, "reads like the mark of an agent"),
        ("  bo: {", "  Bo Bee: {", 4, "must match ^"),
        ("referee: bo", "referee: zoe", 6, "there is no such member; there are: ada, bo"),
        ("leader: ada", "ledaer: ada", 6, "unknown: ledaer; there are: parent_team, name"),
        ("name: Reef, leader", "name: '', leader", 6, "name: it is empty"),
        ("key: reef", "key: reef, parent_team: reef", 5, "one team has no `parent_team`; there are: none"),
        ("bo}\n", "bo}\n  - {key: b, name: B, parent_team: c}\n", 7, "there is no such team; there are: reef"),
        ("bo}\n", "bo}\nroles: [5]\n", 7, "must be an object"),
        ("bo}\n", "bo}\npolicies: [{role: x, title: T, abstract: A, text: T}]\n", 7, "there are: reef.leader, reef."),
        ("bo}\n", "bo}\nmessages: [{channel: reef}]\n", 7, "text: is missing"),
        ("bo}\n", "bo}\nmessages: [{channel: reef, text: A, then: [{react: {emoji: hm}}]}]\n", 7, "one emoji"),
        ("bo}\n", "bo}\nmessages: [{channel: reef, text: A, then: [{clap: {}}]}]\n", 7, "there are: team, role"),
        ("bo}\n", "bo}\nmessages: [{channel: reef, text: A, then: 5}]\n", 7, "then: this takes a list of mappings"),
        ("bo}\n", f"bo}}\nvotes: [{{days: {10**15}, {VOTE}}}]\n", 7, "days: this takes a number from 1 to 365"),
        ("bo}\n", "bo}\n  - {key: reef, name: B, parent_team: reef}\n", 7, "key: another team has this key"),
        ("bo}\n", "bo}\nmessages:\n  - {channel: reef,\n     text: 7, by: zoe}\n", 8, "text: must be a text"),
    ],
)
def test_a_fault_is_named_with_its_line_and_what_is_valid(
    governance: Governance, held: Any, given: str, becomes: str, line: int, told: str
) -> None:
    before = held()
    hint = hint_of(governance, SMALL.replace(given, becomes, 1))
    assert any(f"line {line}, " in one and told in one for one in hint.splitlines()), hint
    assert held() == before


def test_all_faults_of_a_file_are_named_at_once(governance: Governance) -> None:
    hint = hint_of(governance, SMALL.replace("owner: ada", "owner: zoe").replace("referee: bo", "referee: yan"))
    assert [one.partition(":")[0] for one in hint.splitlines()] == [
        "Faults of the file",
        "line 1, organisation.owner",
        "line 6, teams.0.referee.member",
    ]


BOMBS = {
    "aliases": "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
    "tag": "members: !!python/object:os.system {}\n",
    "depth": "[" * 40 + "]" * 40,
    "values": "x: [" + "1," * 100_001 + "]",
    "bytes": "x" * 2_000_001,
    "twice": "a: 1\na: 2\n",
    "syntax": "a: [",
    "half": "\ud800",
    "documents": "a: 1\n---\nb: 2\n",
}
SHAPES = ("", "5", "[]", "organisation: 5")


@pytest.mark.parametrize("text", [*BOMBS.values(), *SHAPES], ids=[*BOMBS, *map(repr, SHAPES)])
def test_a_bomb_and_a_file_of_another_shape_are_refused(governance: Governance, text: str) -> None:
    assert hint_of(governance, text).startswith("Faults of the file: " if text in SHAPES else "The file ")


@pytest.mark.parametrize("console", [True, False])
def test_an_organisation_that_exists_is_never_touched(governance: Governance, held: Any, console: bool) -> None:
    if console:
        given = {"slug": "reef", "name": "Reef", "firstname": "Zoe"}
        found_organisation.run(governance, person("zoe"), found_organisation.accepted(given))
    else:
        found(governance, SMALL)
    before = held()
    with pytest.raises(Conflict, match="There is an organisation reef"):
        found(governance, SMALL)
    assert held() == before


REFUSED = """\
topics:
  - channel: reef
    title: T
    description: D
    then:
      - move: {phase: consent}
      - respond: {by: bo, response: objection, reason: R}
      - move: {phase: resolved, outcome: accepted}
"""


def test_what_an_operation_refuses_leaves_nothing(governance: Governance, held: Any) -> None:
    with pytest.raises(Conflict, match=r"^topics\.0\.then\.2\.move: ada: Move a process on: .* Nothing was stored"):
        found(governance, SMALL + REFUSED)
    assert "reef" not in held() and governance.store.founded("local-ada") == 0
    assert not governance.store.memberships("local-ada")
    found(governance, SMALL)
    assert governance.store.founded("local-ada") == 1


def test_who_is_not_in_a_channel_writes_nothing_there_in_a_file_either(governance: Governance) -> None:
    more = "  - {key: up, name: Up, parent_team: reef}\nmessages: [{by: bo, channel: up, text: A}]\n"
    with pytest.raises(Conflict, match=r"^messages\.0: bo: "):
        found(governance, SMALL + more)


def test_the_next_run_finishes_what_was_interrupted(
    governance: Governance, held: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(founding, "remove", lambda *_: None)  # the process was killed before it could
        with pytest.raises(Conflict):
            found(governance, SMALL + REFUSED)
    assert governance.store.all("reef", PROCESSES)
    secrets = found(governance, SMALL)
    assert not governance.store.all("reef", PROCESSES) and len(governance.store.all("reef", MEMBERS)) == 2
    assert secrets.keys() == {"bo"} and governance.store.founded("local-ada") == 1
    with pytest.raises(Conflict, match="There is an organisation"):
        found(governance, SMALL)


def test_a_file_counts_towards_what_an_account_can_found(governance: Governance) -> None:
    for number in range(3):
        found(governance, SMALL.replace("slug: reef", f"slug: reef-{number}"))
    with pytest.raises(Conflict, match="at most 3"):
        found(governance, SMALL)


def test_a_founding_of_many_members_is_batched(governance: Governance) -> None:
    many = "".join(f"  m{number}: {{firstname: M{number}}}\n" for number in range(25))
    assert len(found(governance, SMALL.replace("teams:\n", f"{many}teams:\n"))) == 26
    assert len(governance.store.all("reef", MEMBERS)) == 27
    assert len(governance.store.all("reef", JOURNAL)) == 28
