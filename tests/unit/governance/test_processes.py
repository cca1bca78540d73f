"""Topics, votes and elections: who takes part when, what moves them on, and what the journal says of their end."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from commonplace.governance import processes, structure
from commonplace.governance.model import Decision, Process
from commonplace.governance.rules import GIVEN_UP, OUTCOMES, PHASES
from commonplace.governance.store import ACTIVE, ANSWERS, FEED, JOURNAL, PROCESSES
from commonplace.kernel.errors import CommonplaceError, Conflict, Forbidden, InvalidInput, NotFound
from tests.fakes.governance import AT, Tide, found_tide

OBJECTION = {"response": "objection", "reason": "It fades."}


def topic(tide: Tide, who: str = "Vi", team: str | None = "Watch") -> Any:
    return tide.do(who, processes.open_topic, channel_id=tide.channel(team).id, title="Paint", description="Blue.")


def vote(tide: Tide, who: str = "Guest", mode: str = "ranked", **more: Any) -> Any:
    given = {"channel_id": tide.channel().id, "title": "Lunch", "mode": mode, "options": ["Soup", "Salad", "Pie"]}
    return tide.do(who, processes.open_vote, **(given | more))


def election(tide: Tide) -> Any:
    role = tide.role("Watch", "Referee").id
    return tide.do("Vi", processes.open_election, channel_id=tide.channel("Watch").id, role_id=role)


def lead(tide: Tide, who: str, process: Process, phase: str, outcome: str | None = None, **more: Any) -> Any:
    return tide.do(who, processes.move_on, message_id=process.id, phase=phase, outcome=outcome, **more)


def respond(tide: Tide, who: str, process: Process, response: str = "consent", reason: str = "") -> Any:
    return tide.do(who, processes.respond, message_id=process.id, response=response, reason=reason)


def record(tide: Tide, process: Process) -> Decision:
    (found,) = [one for one in tide.all(JOURNAL) if one.target == process.id]
    return found


def test_a_process_has_a_message_that_search_finds_and_an_electorate(tide: Tide) -> None:
    opened = topic(tide)
    message = tide.store.message(tide.slug, opened.id)
    assert (message.text, message.process, message.author) == ("Paint\n\nBlue.", "topic", tide.member("Vi").id)
    assert (opened.electorate, opened.team, opened.round) == (1, tide.team("Watch").id, 1)
    assert topic(tide, "Guest", None).electorate == 3
    assert {one.id for one in tide.all(ACTIVE)} == {one.id for one in tide.all(PROCESSES)}


def test_a_topic_is_clarified_then_decided_and_the_journal_has_what_changed(tide: Tide) -> None:
    opened = topic(tide, "Guest", None)
    question = tide.do("Vi", processes.ask_clarification, message_id=opened.id, question="Which blue?")
    given = {"message_id": opened.id, "question_id": question.id, "answer": "Sky."}
    assert tide.do("Guest", processes.answer_clarification, **given).question == question.id
    lead(tide, "Guest", opened, "consent")
    respond(tide, "Vi", opened, "stand_aside")
    respond(tide, "Ada", opened)
    resolved = lead(tide, "Ada", opened, "resolved", "modified", changes="Green.")

    decision = record(tide, opened)
    assert (decision.type, decision.target_type, decision.before) == ("Topic", "topics", {"phase": "consent"})
    told = {"title": "Paint", "phase": "resolved", "outcome": "modified", "changes": "Green."}
    assert decision.after == told | {"electorate": 3, "round": 1, "responses": {"stand_aside": 1, "consent": 1}}
    assert (resolved.decision, resolved.outcome, resolved.changes) == (decision.id, "modified", "Green.")
    assert tide.all(ACTIVE) == []
    names = tide.all(FEED)[-1].names
    messages = f"channels/{opened.channel}/messages"
    assert set(names) == {"decisions", messages, f"{messages}/{opened.id}/thread", "topics", "governance-tools"}


def test_a_process_of_a_team_is_led_by_its_officers_its_author_and_the_owner_alone(tide: Tide) -> None:
    opened = topic(tide, "Guest", None)
    with pytest.raises(Forbidden):
        lead(tide, "Vi", opened, "consent")
    watch = tide.team("Watch").id
    role = tide.do("Vi", structure.create_role, team_id=watch, title="Cook", member_id=tide.member("Guest").id)
    ours = topic(tide, "Guest")
    assert lead(tide, "Vi", ours, "consent").phase == "consent"
    assert lead(tide, "Guest", ours, "resolved", "withdrawn").outcome == "withdrawn"
    assert record(tide, ours).role == role.title
    with pytest.raises(NotFound):
        lead(tide, "Ada", topic(tide), "consent")
    assert lead(tide, "Ada", opened, "consent").phase == "consent"


def test_an_objection_blocks_until_it_is_answered_anew_or_a_round_is_opened(tide: Tide) -> None:
    opened = topic(tide, "Guest", None)
    lead(tide, "Guest", opened, "consent")
    respond(tide, "Vi", opened, **OBJECTION)
    for outcome, more in (("accepted", {}), ("modified", {"changes": "Green."})):
        with pytest.raises(Conflict) as refused:
            lead(tide, "Guest", opened, "resolved", outcome, **more)
        assert "Vi" in (refused.value.hint or "")
    assert lead(tide, "Guest", opened, "clarification").round == 2
    lead(tide, "Guest", opened, "consent")
    respond(tide, "Vi", opened, **OBJECTION)
    respond(tide, "Vi", opened)
    assert lead(tide, "Guest", opened, "resolved", "accepted").outcome == "accepted"
    assert record(tide, opened).after["responses"] == {"consent": 1}


def test_an_objection_goes_with_the_member_who_made_it(tide: Tide) -> None:
    opened = topic(tide, "Vi", None)
    lead(tide, "Vi", opened, "consent")
    respond(tide, "Guest", opened, **OBJECTION)
    tide.do("Guest", structure.leave_organisation)
    assert lead(tide, "Vi", opened, "resolved", "accepted").outcome == "accepted"


@pytest.mark.parametrize(
    ("operation", "given"),
    [
        (processes.respond, {"response": "objection", "reason": " "}),
        (processes.move_on, {"phase": "resolved", "outcome": "modified"}),
        (processes.move_on, {"phase": "resolved", "outcome": "accepted", "changes": "Green."}),
        (processes.move_on, {"phase": "resolved", "outcome": "elected"}),
        (processes.move_on, {"phase": "resolved"}),
        (processes.move_on, {"phase": "resolved", "outcome": "accepted", "candidate_id": "mb_x"}),
    ],
)
def test_what_a_topic_does_not_take_is_refused(tide: Tide, operation: Any, given: dict[str, str]) -> None:
    opened = topic(tide)
    lead(tide, "Vi", opened, "consent")
    with pytest.raises(InvalidInput):
        tide.do("Vi", operation, message_id=opened.id, **given)


def test_the_same_answer_again_writes_nothing(tide: Tide) -> None:
    opened = vote(tide)
    first = tide.do("Vi", processes.cast_vote, message_id=opened.id, choices=["2", "1", "3"])
    feed, tide.clock.now = len(tide.all(FEED)), AT + 60
    assert tide.do("Vi", processes.cast_vote, message_id=opened.id, choices=["2", "1", "3"]) == first
    assert len(tide.all(FEED)) == feed
    again = tide.do("Vi", processes.cast_vote, message_id=opened.id, choices=["3", "1", "2"])
    assert (again.id, tide.all(ANSWERS)[0].choices) == (first.id, ("3", "1", "2"))


def test_a_vote_ends_at_its_deadline_and_the_first_who_closes_it_writes_the_record(tide: Tide) -> None:
    deadline = "2026-11-18T13:00:00"
    with pytest.raises(InvalidInput):
        vote(tide, deadline="2020-01-01T00:00:00")
    opened = vote(tide, deadline=deadline)
    for who, choices in (("Vi", ["1", "2", "3"]), ("Ada", ["2", "3", "1"])):
        tide.do(who, processes.cast_vote, message_id=opened.id, choices=choices)
    tide.clock.now = AT + 7 * 86_400
    with pytest.raises(Conflict):
        tide.do("Guest", processes.cast_vote, message_id=opened.id, choices=["1", "2", "3"])
    closed = lead(tide, "Ada", opened, "closed")

    assert closed.ended_at == opened.deadline
    after = record(tide, opened).after
    assert (after["ballots"], after["electorate"]) == (2, 3)
    assert [(one["label"], one["score"]) for one in after["tally"]] == [("Salad", 5), ("Soup", 4), ("Pie", 3)]
    with pytest.raises(Conflict):
        lead(tide, "Guest", opened, "closed")


def test_expired_votes_do_not_count_among_the_open_ones(tide: Tide, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commonplace.governance.model.MAX_OPEN", 2)
    expired = vote(tide, deadline="2026-11-18T13:00:00")
    vote(tide)
    with pytest.raises(Conflict):
        topic(tide)
    tide.clock.now = AT + 7 * 86_400
    topic(tide)
    assert expired.id not in {one.id for one in tide.all(ACTIVE)}
    assert lead(tide, "Guest", expired, "closed").outcome == "closed"


@pytest.mark.parametrize(
    "given",
    [{"options": ["Soup"]}, {"options": ["Soup", "soup"]}, {"options": [str(n) for n in range(13)]}, {"title": " "}],
)
def test_a_vote_has_a_question_and_options_that_differ(tide: Tide, given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        vote(tide, **given)


def test_an_election_elects_a_nominated_member(tide: Tide) -> None:
    opened, guest, ada = election(tide), tide.member("Guest"), tide.member("Ada")
    assert (opened.title, opened.revealed) == ("Referee", False)
    with pytest.raises(InvalidInput):
        tide.do("Ada", processes.open_election, channel_id=tide.channel().id, role_id=opened.role)
    for _ in range(2):
        tide.do("Vi", processes.nominate_member, message_id=opened.id, nominee_id=guest.id, reason="Fair.")
    with pytest.raises(Conflict):
        tide.do("Vi", processes.nominate_member, message_id=opened.id, nominee_id=ada.id, reason="Fair.")
    assert lead(tide, "Vi", opened, "discussion").revealed
    for candidate in ({}, {"candidate_id": ada.id}):
        with pytest.raises(InvalidInput):
            lead(tide, "Vi", opened, "consent", **candidate)
    lead(tide, "Vi", opened, "consent", candidate_id=guest.id)
    respond(tide, "Vi", opened, **OBJECTION)
    with pytest.raises(Conflict):
        lead(tide, "Vi", opened, "elected")
    respond(tide, "Vi", opened)
    lead(tide, "Vi", opened, "elected")
    assert record(tide, opened).after["elected"] == {"memberId": guest.id, "name": "Guest"}


def test_an_election_that_is_given_up_early_never_reveals_its_nominations(tide: Tide) -> None:
    opened = election(tide)
    tide.do("Vi", processes.nominate_member, message_id=opened.id, nominee_id=tide.member("Ada").id, reason="Fair.")
    ended = lead(tide, "Vi", opened, "no_election")
    assert (ended.revealed, ended.candidate) == (False, None)
    assert tide.member("Ada").id not in str(record(tide, opened).after)


def test_nobody_who_left_is_nominated_or_elected(tide: Tide) -> None:
    opened, guest = election(tide), tide.member("Guest").id
    nominate = {"message_id": opened.id, "nominee_id": guest, "reason": "Fair."}
    tide.do("Vi", processes.nominate_member, **nominate)
    lead(tide, "Vi", opened, "discussion")
    lead(tide, "Vi", opened, "consent", candidate_id=guest)
    tide.do("Guest", structure.leave_organisation)
    with pytest.raises(Conflict):
        lead(tide, "Vi", opened, "elected")
    with pytest.raises(Conflict):
        tide.do("Vi", processes.nominate_member, **(nominate | {"message_id": election(tide).id}))


class Decisions(RuleBasedStateMachine):
    """One process of each kind, led and answered at random; `client` is set by the test."""

    client: Any = None

    def __init__(self) -> None:
        super().__init__()
        self.tide = found_tide(self.client)
        watch, guest = self.tide.team("Watch").id, self.tide.member("Guest").id
        self.tide.do("Vi", structure.create_role, team_id=watch, title="Cook", member_id=guest)
        self.people = {name: self.tide.member(name).id for name in ("Vi", "Guest")}
        self.processes: dict[str, Process] = {
            one.kind: one for one in (topic(self.tide), vote(self.tide, "Vi"), election(self.tide))
        }
        self.said: dict[tuple[str, int, str], Any] = {}

    def attempt(self, who: str, operation: Any, kind: str, **given: Any) -> Any:
        try:
            return self.tide.do(who, operation, message_id=self.processes[kind].id, **given)
        except CommonplaceError:
            return None

    @rule(
        kind=st.sampled_from(list(PHASES)),
        phase=st.sampled_from(sorted({*OUTCOMES, *(phase for one in PHASES.values() for phase in one)})),
        outcome=st.sampled_from([None, "accepted", "withdrawn", "no_election"]),
        candidate=st.sampled_from(["Vi", "Guest", None]),
    )
    def move(self, kind: Any, phase: Any, outcome: str | None, candidate: str | None) -> None:
        was = self.processes[kind]
        more = {"candidate_id": self.people[candidate]} if candidate else {}
        if (led := self.attempt("Vi", processes.move_on, kind, phase=phase, outcome=outcome, **more)) is None:
            return
        self.processes[kind] = led
        assert led.phase in PHASES[kind][was.phase] or (led.phase, led.outcome) == GIVEN_UP[kind]
        assert led.round == was.round + (led.phase == "clarification")
        assert (led.outcome in OUTCOMES.get(led.phase, ())) == (led.decision is not None)
        responses = {who: said for (of, round, who), said in self.said.items() if (of, round) == (kind, was.round)}
        if led.outcome in ("accepted", "elected"):
            assert "objection" not in responses.values()
        if led.candidate is not None:
            assert led.candidate in {said for (of, _, _), said in self.said.items() if of == "nomination"}
        if led.outcome is None:
            return
        after = record(self.tide, led).after
        if kind != "voting":
            assert after["responses"] == Counter(responses.values())
        else:
            ballots = [said for (of, _, _), said in self.said.items() if of == "voting"]
            points = {option: sum(3 - one.index(option) for one in ballots) for option in ("1", "2", "3")}
            assert [(one["option"], one["score"]) for one in after["tally"]] == sorted(
                points.items(), key=lambda pair: -pair[1]
            )
            assert after["ballots"] == len(ballots)

    @rule(
        kind=st.sampled_from(["topic", "election"]),
        who=st.sampled_from(["Vi", "Guest"]),
        response=st.sampled_from(["consent", "objection", "stand_aside"]),
    )
    def respond(self, kind: Any, who: str, response: str) -> None:
        process = self.processes[kind]
        given = self.attempt(who, processes.respond, kind, response=response, reason="It fades.")
        assert (given is not None) == (process.phase == "consent")
        if given is not None:
            self.said[kind, process.round, who] = response

    @rule(who=st.sampled_from(["Vi", "Guest"]), choices=st.permutations(["1", "2", "3"]))
    def cast(self, who: str, choices: list[str]) -> None:
        cast = self.attempt(who, processes.cast_vote, "voting", choices=choices)
        assert (cast is not None) == (self.processes["voting"].phase == "open")
        if cast is not None:
            self.said["voting", 0, who] = tuple(choices)

    @rule(who=st.sampled_from(["Vi", "Guest"]), nominee=st.sampled_from(["Vi", "Guest"]))
    def nominate(self, who: str, nominee: str) -> None:
        given = {"nominee_id": self.people[nominee], "reason": "Fair."}
        if self.attempt(who, processes.nominate_member, "election", **given) is not None:
            assert self.processes["election"].phase == "nomination"
            assert self.said.setdefault(("nomination", 1, who), self.people[nominee]) == self.people[nominee]

    @invariant()
    def open_ones_are_active(self) -> None:
        open_ones = {one.id for one in self.processes.values() if one.outcome is None}
        assert {one.id for one in self.tide.all(ACTIVE)} == open_ones
        elected = self.processes["election"]
        assert elected.outcome or elected.revealed == (elected.phase != "nomination")
