"""Rules of organisations: tallies, phases, what awaits a member, and who reaches a channel."""

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.governance.model import Answer, Channel, Member, Process, Team
from commonplace.governance.rules import Access, awaits, ballot, below, lead, objectors, over, tally
from commonplace.kernel.errors import Conflict, InvalidInput

NOW, LATER = "2026-01-02T00:00:00.000Z", "2026-01-03T00:00:00.000Z"
ASKED = "ch_1.1.question.mb_a"
LABELS = ("Reef", "Sand", "Kelp")


def process(**values: Any) -> Process:
    given = {"id": "ch_1.1", "kind": "topic", "title": "x", "author": "mb_a", "created_at": NOW, "phase": "consent"}
    return Process(**given | values)


def answer(kind: Any, member: str = "mb_a", **values: Any) -> Answer:
    return Answer(id=f"ch_1.1.{kind}.{member}", kind=kind, member=member, at=NOW, **values)


def test_a_ranked_tally_gives_points_by_place() -> None:
    results = tally("ranked", LABELS, [("1", "2", "3"), ("2", "3", "1")])
    assert [(one.label, one.score) for one in results] == [("Sand", 5), ("Reef", 4), ("Kelp", 3)]


@given(st.lists(st.permutations(["1", "2", "3"]), max_size=20))
def test_a_tally_equals_a_count_by_hand(ballots: list[list[str]]) -> None:
    ranked = {one.option: one.score for one in tally("ranked", LABELS, ballots)}
    assert ranked == {id: sum(3 - each.index(id) for each in ballots) for id in "123"}
    approved = [each[:2] for each in ballots]
    counted = [(one.option, one.count, one.score) for one in tally("approval", LABELS, approved)]
    assert counted == [(id, sum(id in each for each in approved), 0) for id in "123"]


@pytest.mark.parametrize(
    ("mode", "wrong", "right"),
    [
        ("single", [(), ("1", "2"), ("4",)], ("2",)),
        ("approval", [(), ("2", "2")], ("3", "1")),
        ("ranked", [("1", "2"), ("1", "1", "2")], ("3", "1", "2")),
    ],
)
def test_a_wrong_ballot_is_told_the_options(mode: Any, wrong: list[tuple[str, ...]], right: tuple[str, ...]) -> None:
    ballot(mode, LABELS, right)
    for choices in wrong:
        with pytest.raises(InvalidInput) as refused:
            ballot(mode, LABELS, choices)
        assert "2 (Sand)" in str(refused.value.hint)
        assert refused.value.details["field"] == "choices"


@pytest.mark.parametrize(
    ("kind", "phase", "to", "outcome", "leads"),
    [
        ("topic", "clarification", "resolved", "accepted", False),
        ("topic", "clarification", "resolved", "withdrawn", True),
        ("topic", "consent", "clarification", None, True),
        ("topic", "resolved", "clarification", None, False),
        ("election", "nomination", "consent", None, False),
        ("election", "nomination", "elected", "elected", False),
        ("election", "nomination", "no_election", "no_election", True),
        ("election", "consent", "discussion", None, False),
        ("voting", "open", "consent", None, False),
        ("voting", "open", "closed", "closed", True),
    ],
)
def test_each_phase_leads_on_and_nowhere_else(kind: Any, phase: Any, to: Any, outcome: Any, *, leads: bool) -> None:
    with nullcontext() if leads else pytest.raises(Conflict):
        lead(process(kind=kind, phase=phase), to, outcome, NOW)


def test_a_vote_is_over_from_its_deadline_on_and_can_still_be_closed() -> None:
    vote = process(kind="voting", phase="open", deadline=NOW)
    assert vote.ended(NOW)
    assert not replace(vote, deadline=LATER).ended(NOW)
    with pytest.raises(Conflict):
        over(vote, NOW)
    lead(vote, "closed", "closed", LATER)


@pytest.mark.parametrize(
    ("one", "answers", "waits"),
    [
        (process(round=2), [], True),
        (process(round=2), [answer("response", response="consent", round=1)], True),
        (process(round=2), [answer("response", response="consent", round=2)], False),
        (process(phase="clarification"), [], False),
        (process(phase="clarification"), [answer("question", "mb_b")], True),
        (process(phase="clarification", author="mb_b"), [answer("question", "mb_b")], False),
        (process(phase="clarification"), [answer("question"), answer("answer", question=ASKED)], False),
        (process(kind="voting", phase="open"), [], True),
        (process(kind="voting", phase="open"), [answer("ballot", choices=("1",))], False),
        (process(kind="voting", phase="open", deadline=NOW), [], False),
        (process(kind="election", phase="nomination"), [answer("nomination", "mb_b")], True),
        (process(kind="election", phase="discussion"), [], False),
        (process(phase="resolved"), [], False),
    ],
)
def test_what_awaits_a_member(one: Process, answers: list[Answer], waits: bool) -> None:
    assert awaits(one, answers, "mb_a", NOW) is waits


def test_objections_count_in_their_round_alone() -> None:
    said = [answer("response", "mb_a", response="objection", round=1), answer("response", "mb_b", response="consent")]
    assert objectors(said, 1) == ["mb_a"]
    assert objectors(said, 2) == []


def test_who_reaches_a_channel() -> None:
    me = Member(id="mb_a", firstname="Ada", joined_at=NOW, account="a", roles={"ro_1": "te_1", "ro_2": "te_2"})
    whole, team = Channel(id="ch_1", kind="orga"), Channel(id="ch_2", kind="team", team="te_1")
    direct = Channel(id="dm_1", kind="dm", members=("mb_a", "mb_b"))
    person = Access(organisation="tide", member=me, roles=me.roles)
    agent = replace(person, agent=True, roles={"ro_2": "te_2"})
    assert [person.reaches(one) for one in (whole, team, direct)] == [True, True, True]
    assert [agent.reaches(one) for one in (whole, team, direct)] == [True, False, False]
    assert not replace(person, member=replace(me, id="mb_c")).reaches(direct)
    assert person.role_in("te_2") == "ro_2"
    assert person.role_in("te_3") is None


def test_no_team_stands_below_itself() -> None:
    chain = {id: Team(id=id, name=id, channel="", leader="", parent=parent) for id, parent in ("ab", "bc", "cd")}
    assert below("c", "a", chain)
    assert below("a", "a", chain)
    assert not below("a", "d", chain)
