"""How an organisation decides: topics by consent, votes, elections without candidates (seed 002).

An answer is one transaction: the member's authority, the answer under its only id, and the process's revision, which
it raises if the phase and the round are still those. Whoever moves a process on reads it first, then the answers, and
replaces it at the revision seen: no answer is lost in between.

A topic and an election begin in round 1. Going back to clarification opens the next round, and answers count in their
round alone. A vote has round 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from commonplace.governance import rules
from commonplace.governance.conversation import WRITABLE, post, writable
from commonplace.governance.governance import BY_PERSON, Governance, InOrganisation, Line, Text
from commonplace.governance.model import (
    ENDED,
    MAX_DESCRIPTION,
    MAX_OPEN,
    MAX_OPTION,
    MAX_OPTIONS,
    MAX_QUESTIONS,
    MAX_REASON,
    MAX_TITLE,
    MIN_OPTIONS,
    ROOT,
    Active,
    Answer,
    AnswerKind,
    Message,
    Mode,
    Outcome,
    Phase,
    Process,
    Response,
    Role,
    new_id,
    stamp,
)
from commonplace.governance.rules import Access
from commonplace.governance.store import (
    ACTIVE,
    ANSWERS,
    CARDS,
    CHANNELS,
    MEMBERS,
    ORGANISATIONS,
    PROCESSES,
    ROLES,
    TEAMS,
    Act,
)
from commonplace.kernel.errors import Conflict, Forbidden, InvalidInput
from commonplace.web.operations import Actor, operation

SWEPT = 20
"""Pointers to votes past their deadline that opening another process removes."""

Reason = Annotated[Text, Field(max_length=MAX_REASON)]
Title = Annotated[Line, Field(max_length=MAX_TITLE)]


class NewTopic(InOrganisation):
    channel_id: str
    title: Title
    description: Annotated[Text, Field(max_length=MAX_DESCRIPTION)]


class NewVote(InOrganisation):
    channel_id: str
    title: Title
    mode: Mode
    options: list[Annotated[Line, Field(max_length=MAX_OPTION)]] = Field(min_length=MIN_OPTIONS, max_length=MAX_OPTIONS)
    deadline: datetime | None = Field(None, description="Such as 2026-12-31T18:00; in UTC if it names no other zone.")


class NewElection(InOrganisation):
    channel_id: str
    role_id: str


class OneProcess(InOrganisation):
    message_id: str = Field(description="The message of the process.")


class Question(OneProcess):
    question: Reason


class Clarification(OneProcess):
    question_id: str
    answer: Annotated[Text, Field(max_length=MAX_DESCRIPTION)]


class Position(OneProcess):
    response: Response
    reason: Annotated[str, StringConstraints(strip_whitespace=True)] = Field(
        "", max_length=MAX_REASON, description="An objection needs one."
    )


class Ballot(OneProcess):
    choices: list[str] = Field(max_length=MAX_OPTIONS, description="Ids of options; in a ranked vote all, best first.")


class Nomination(OneProcess):
    nominee_id: str
    reason: Reason


class Step(OneProcess):
    phase: Phase = Field(description="Where it goes on to.")
    outcome: Outcome | None = None
    changes: Annotated[Text, Field(max_length=MAX_DESCRIPTION)] | None = Field(
        None, description="What changed, of a topic that is accepted modified."
    )
    candidate_id: str | None = Field(None, description="The candidate of an election's consent.")


@operation("governance", title="Open a topic", input=NewTopic, **BY_PERSON)
def open_topic(governance: Governance, actor: Actor, asked: NewTopic) -> Process:
    """Propose something, on which those of the channel decide by consent."""
    said = {"title": asked.title, "description": asked.description}
    return _open(governance, actor, asked, kind="topic", phase="clarification", round=1, **said)


@operation("governance", title="Open a vote", input=NewVote, **BY_PERSON)
def open_vote(governance: Governance, actor: Actor, asked: NewVote) -> Process:
    """Put a question with options to those of the channel."""
    if len({option.casefold() for option in asked.options}) < len(asked.options):
        raise InvalidInput("Two options are the same.", field="options")
    rules.require_ranked_size(asked.mode, asked.options)
    until, now = asked.deadline, governance.store.now()
    deadline = stamp(until if until.tzinfo else until.replace(tzinfo=UTC)) if until else None
    if deadline is not None and deadline <= now:
        raise InvalidInput("The deadline has passed.", hint=f"In UTC it is {now} now.", field="deadline")
    said = {"title": asked.title, "mode": asked.mode, "options": tuple(asked.options), "deadline": deadline}
    return _open(governance, actor, asked, kind="voting", phase="open", **said)


@operation("governance", title="Open an election", input=NewElection, **BY_PERSON)
def open_election(governance: Governance, actor: Actor, asked: NewElection) -> Process:
    """Begin an election for a role of the channel's team, in which members nominate one another."""
    return _open(governance, actor, asked, kind="election", phase="nomination", round=1, role=asked.role_id, title="")


def _open(governance: Governance, actor: Actor, asked: NewTopic | NewVote | NewElection, **said: Any) -> Process:
    """Write a process with its message and the pointer to it."""
    access = governance.access(actor, asked.orga_id)
    rules.only_in_person(access)
    store, organisation = governance.store, access.organisation

    def decide(act: Act) -> Process:
        channel = writable(governance.channel(access, asked.channel_id))
        if channel.kind == "dm":
            raise Conflict("A direct channel has no processes.", hint="Open it in the channel of a team, or of all.")
        process = Process(
            id=f"{channel.id}.{new_id('')}",
            author=access.member.id,
            created_at=act.at,
            team=channel.team,
            electorate=electorate(governance, access, channel.team),
            **said,
        )
        if process.role is not None:
            role = store.get(organisation, ROLES, process.role)
            if role.team != channel.team:
                hint = "An election is opened in the channel of the role's team."
                raise InvalidInput("The channel's team does not have this role.", hint=hint, field="role_id")
            process = replace(process, title=role.title)
            act.require(ROLES, role.id, "#team = :team", team=role.team)
        opened = store.table.get(CARDS.at(organisation, "opened")) or {}
        active = store.all(organisation, ACTIVE)
        late = [one for one in active if one.deadline is not None and one.deadline <= act.at]
        if len(active) - len(late) >= MAX_OPEN:
            raise Conflict(f"{MAX_OPEN} processes are open already.", hint="End one of them first.")
        # Two that open at once could both be the last that is allowed.
        condition = "attribute_not_exists(#revision) OR #revision = :seen"
        act.change.touch(CARDS, "opened", condition, seen=opened.get("revision", 0))
        # Whoever archives the channel meanwhile reads again what is open in it.
        act.change.touch(CHANNELS, channel.id, f"attribute_exists(pk) AND {WRITABLE}")
        act.authority(access.role_in(channel.team))
        for one in late[:SWEPT]:
            act.change.remove(ACTIVE, one)
        act.add(PROCESSES, process)
        act.add(ACTIVE, Active(id=process.id, kind=process.kind, deadline=process.deadline))
        text = "\n\n".join(filter(None, (process.title, process.description)))
        post(act, Message(id=process.id, author=process.author, text=text, created_at=act.at, process=process.kind))
        _touch(act, process)
        return process

    return store.change(access, decide)


def electorate(governance: Governance, access: Access, team: str | None) -> int:
    """Return how many members reach the channel of a team, or of the organisation."""
    members = governance.store.all(access.organisation, MEMBERS)
    return sum(one.left_at is None and (team is None or team in one.teams) for one in members)


def _touch(act: Act, process: Process) -> None:
    messages = f"channels/{process.channel}/messages"
    topics = ("topics",) if process.kind == "topic" else ()
    act.touch(messages, f"{messages}/{process.id}/thread", *topics, "governance-tools")


@operation("governance", title="Ask about a topic", input=Question, **BY_PERSON)
def ask_clarification(governance: Governance, actor: Actor, asked: Question) -> Answer:
    """Ask something about a topic while it is being clarified."""
    return _answer(governance, actor, asked, "question", text=asked.question)


@operation("governance", title="Answer a question", input=Clarification, **BY_PERSON)
def answer_clarification(governance: Governance, actor: Actor, asked: Clarification) -> Answer:
    """Answer a question about a topic."""
    return _answer(governance, actor, asked, "answer", text=asked.answer, question=asked.question_id)


@operation("governance", title="Respond to a proposal", input=Position, **BY_PERSON)
def respond(governance: Governance, actor: Actor, asked: Position) -> Answer:
    """Consent to a topic or to an election's candidate, object with a reason, or stand aside; again replaces it."""
    if asked.response == "objection" and not asked.reason:
        raise InvalidInput("An objection needs a reason.", hint="Say what harm it would do.", field="reason")
    return _answer(governance, actor, asked, "response", response=asked.response, text=asked.reason)


@operation("governance", title="Vote", input=Ballot, **BY_PERSON)
def cast_vote(governance: Governance, actor: Actor, asked: Ballot) -> Answer:
    """Vote; voting again replaces the ballot."""
    return _answer(governance, actor, asked, "ballot", choices=tuple(asked.choices))


@operation("governance", title="Nominate a member", input=Nomination, **BY_PERSON)
def nominate_member(governance: Governance, actor: Actor, asked: Nomination) -> Answer:
    """Nominate a member for the role of an election, once. Nominations are secret until they are discussed."""
    return _answer(governance, actor, asked, "nomination", nominee=asked.nominee_id, text=asked.reason)


def _answer(governance: Governance, actor: Actor, asked: OneProcess, kind: AnswerKind, **said: Any) -> Answer:
    """Write what a member says in a process; the same again writes nothing.

    Raises Conflict unless the present phase takes answers of this kind.
    """
    access = governance.access(actor, asked.orga_id)
    rules.only_in_person(access)
    store, organisation, member = governance.store, access.organisation, access.member.id

    def decide(act: Act) -> Answer:
        process = governance.process(access, asked.message_id)
        writable(governance.channel(access, process.channel))
        rules.takes(process, kind, act.at)
        own = f"{process.round:03}.{member}" if kind == "response" else member
        if kind in ("question", "answer"):
            own = new_id("")
            said_before = store.all(organisation, ANSWERS, within=f"{process.id}.{kind}.")
            if len(said_before) >= MAX_QUESTIONS:
                raise Conflict(f"A topic has at most {MAX_QUESTIONS} of these.", hint="Write in its thread.")
        now = Answer(id=f"{process.id}.{kind}.{own}", kind=kind, member=member, at=act.at, round=process.round, **said)
        was = store.records.get(organisation, ANSWERS, now.id)
        if was is not None and kind == "nomination":
            if was.nominee != now.nominee:
                raise Conflict("You have nominated another member.", hint="A nomination is not changed.")
            return was
        if was is not None and replace(was, at=now.at, revision=now.revision) == now:
            return was
        if kind == "ballot":
            rules.ballot(process.mode, process.options, now.choices)
        if now.question and not now.question.startswith(f"{process.id}.question."):
            raise rules.gone()
        if now.question:
            store.get(organisation, ANSWERS, now.question)
        act.authority(access.role_in(process.team))
        if now.nominee is not None:
            present(act, governance, now.nominee)
        act.require(CHANNELS, process.channel, f"attribute_exists(pk) AND {WRITABLE}")
        condition = "#phase = :phase AND #round = :round AND (attribute_not_exists(#deadline) OR #deadline > :at)"
        act.change.touch(PROCESSES, process.id, condition, phase=process.phase, round=process.round, at=act.at)
        if was is None:
            act.add(ANSWERS, now)
        else:
            act.replace(ANSWERS, now, was)
        _touch(act, process)
        return now

    return store.change(access, decide)


def present(act: Act, governance: Governance, id: str) -> None:
    """Commit only if this member has not left. Raises InvalidInput."""
    member = governance.store.records.get(act.access.organisation, MEMBERS, id)
    if member is None or member.left_at is not None:
        raise InvalidInput("This is not a present member.", hint="The list of members has who is here.")
    if id not in act.members:
        act.members.add(id)
        act.require(MEMBERS, id, "attribute_exists(pk) AND attribute_not_exists(#leftAt)")


@operation("governance", title="Move a process on", input=Step, **BY_PERSON)
def move_on(governance: Governance, actor: Actor, asked: Step) -> Process:
    """Lead a process to its next phase, back to clarification, or to its end, which the journal records.

    It takes the author, the organisation's owner, or who leads the channel's team or is its secretary. Objections of
    the present round stand against accepting and electing.
    """
    access = governance.access(actor, asked.orga_id)
    rules.only_in_person(access)
    store, organisation = governance.store, access.organisation
    only = rules.OUTCOMES.get(asked.phase, ())
    outcome = asked.outcome or (only[0] if len(only) == 1 else None)

    def decide(act: Act) -> Process:
        # The process is read before the answers: one that is given in between changes its revision.
        process = governance.process(access, asked.message_id)
        allowed, role = facilitator(governance, access, process)
        if not allowed:
            hint = "Its author, the organisation's owner, and the leader and the secretary of the channel's team can."
            raise Forbidden("You do not move this process on.", hint=hint)
        rules.lead(process, asked.phase, outcome, act.at)
        if (asked.changes is not None) != (outcome == "modified"):
            raise InvalidInput("What changed is said of a topic that is accepted modified.", field="changes")
        if (asked.candidate_id is not None) != (process.kind == "election" and asked.phase == "consent"):
            raise InvalidInput("A candidate is named for the consent of an election.", field="candidate_id")
        through = role.id if role else access.role_in(process.team)
        act.authority(through)
        if role is not None:
            act.require(ROLES, role.id, "#type = :type", type=role.type)
        elif access.member.id != process.author:
            act.require(ORGANISATIONS, ROOT, "#owner = :me", me=access.member.id)
        answers = store.answers(organisation, process.id)
        now = replace(process, phase=asked.phase)
        match asked.phase:
            case "clarification":
                now = replace(now, round=process.round + 1)
            case "discussion":
                now = replace(now, revealed=True)
            case "consent":
                now = replace(
                    now, electorate=electorate(governance, access, process.team), candidate=asked.candidate_id
                )
                nominated = {one.nominee for one in answers if one.nominee is not None}
                if now.candidate is not None and now.candidate not in nominated:
                    hint = f"Nominated: {', '.join(sorted(nominated)) or 'nobody'}."
                    raise InvalidInput("A candidate was nominated before.", hint=hint, field="candidate_id")
        if now.candidate is not None and asked.phase in ("consent", "elected"):
            present(act, governance, now.candidate)
        if outcome in ("accepted", "modified", "elected"):
            require_no_objection(governance, process, answers, organisation)
        if asked.phase in ENDED:
            until = min(act.at, process.deadline or act.at)
            now = replace(now, outcome=outcome, changes=asked.changes or "", ended_at=until)
            names = governance.names(organisation, {now.candidate} if now.candidate else set())
            decision = act.record(
                process.kind.capitalize(),
                f"{process.kind}s",
                process.id,
                ({"phase": process.phase}, result(now, answers, names)),
                through=governance.through(access, through),
                team=store.get(organisation, TEAMS, process.team) if process.team else None,
                organisation=store.organisation(organisation).name,
            )
            now = replace(now, decision=decision.id)
            # Another process that was opened may have removed the pointer of a vote past its deadline.
            act.change.writes.append(store.table.delete(ACTIVE.at(organisation, process.id)))
        act.replace(PROCESSES, now, process)
        _touch(act, process)
        return now

    return store.change(access, decide)


def facilitator(governance: Governance, access: Access, process: Process) -> tuple[bool, Role | None]:
    """Return whether a member moves a process on, and the leader's or secretary's role that allows it, if one does."""
    roles = [role for role, team in access.roles.items() if team == process.team]
    held = governance.store.records.get_many(access.organisation, ROLES, roles)
    owner = governance.store.organisation(access.organisation).owner
    allowed = rules.facilitates(access, process, owner, {id: role.type for id, role in held.items()})
    return allowed, next((role for role in held.values() if role.type in ("leader", "secretary")), None)


def require_no_objection(
    governance: Governance, process: Process, answers: Sequence[Answer], organisation: str
) -> None:
    """Raises Conflict for an objection of the present round, which names who has it and the ways out."""
    if against := set(rules.objectors(answers, process.round)):
        names = ", ".join(sorted(governance.names(organisation, against).values()))
        ways = "go back to clarification or withdraw it" if process.kind == "topic" else "end it without election"
        raise Conflict("An objection is open.", hint=f"{names} can answer anew; or {ways}.")


def result(process: Process, answers: Sequence[Answer], names: Mapping[str, str]) -> dict[str, Any]:
    """Return the end of a process as the journal has it: its outcome, and the answers in figures."""
    found = {"title": process.title, "phase": process.phase, "outcome": process.outcome}
    figures: dict[str, Any] = {"electorate": process.electorate}
    if process.kind == "voting":
        ballots = [one.choices for one in answers if one.kind == "ballot"]
        results = [asdict(one) for one in rules.tally(process.mode, process.options, ballots)]
        return found | figures | {"ballots": len(ballots), "tally": results}
    responses = Counter(one.response for one in answers if one.response and one.round == process.round)
    figures |= {"round": process.round, "responses": dict(responses)}
    if process.changes:
        figures["changes"] = process.changes
    if process.outcome == "elected":
        figures["elected"] = {"memberId": process.candidate, "name": names.get(process.candidate or "", "")}
    return found | figures
