"""How an organisation decides: topics by consent, votes, elections without candidates (seed 002).

An answer is one transaction: the member's authority, the answer under its only id, and the revision of the process,
which it raises if phase, round and deadline are still those. Whoever moves a process on reads it first, then the
answers, and replaces it at the revision seen: no answer is lost in between.

A topic and an election begin in round 1. Going back to clarification opens the next round, and answers count in their
round alone. A vote has round 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from commonplace.governance import model, rules, store
from commonplace.governance.conversation import Text, channel_to_write, post, require_present, touch
from commonplace.governance.inputs import Id, Title, block, change, filled, named
from commonplace.governance.model import Answer, AnswerKind, Message, Outcome, Phase, Process, Role, new_id
from commonplace.governance.store import ACTIVE, ANSWERS, MEMBERS, PROCESSES, ROLES, Act, Store
from commonplace.kernel.audit import Lost
from commonplace.kernel.errors import Conflict, Forbidden, InvalidInput, NotFound

RECORDED = {"ballot": "Voting", "question": "Clarification", "nomination": "Nomination"}
"""How the journal calls what an agent did, by the kind of answer; a response is named by its process."""
SWEPT = 20
"""Pointers to votes past their deadline that opening another process removes."""

Reason = Annotated[str, Field(max_length=model.MAX_REASON), AfterValidator(filled)]
AnyReason = Annotated[str, Field(max_length=model.MAX_REASON), AfterValidator(block)]
Option = Annotated[str, Field(max_length=model.MAX_OPTION), AfterValidator(named)]
Options = Annotated[
    list[Option], Field(min_length=model.MIN_OPTIONS, max_length=model.MAX_OPTIONS, description="At least two.")
]


def _in_utc(at: datetime) -> datetime:
    """Return a time in UTC. Raises ValueError for one that UTC has no year for."""
    try:
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except OverflowError:
        raise ValueError("it is out of range") from None


Deadline = Annotated[
    Annotated[datetime, AfterValidator(_in_utc)] | None,
    Field(description="Such as 2026-12-31T18:00; in UTC if it names no other zone."),
]
Choices = Annotated[
    list[str], Field(max_length=model.MAX_OPTIONS, description="Ids of options; in a ranked vote all, best first.")
]


@change("Open a topic")
def open_topic(act: Act, channel_id: Id, title: Title, description: Text) -> Process:
    """Propose something, on which those of the channel decide by consent."""
    said = {"title": title, "description": description}
    return _open(act, channel_id, kind="topic", phase="clarification", round=1, **said)


@change("Open a vote")
def open_vote(
    act: Act, channel_id: Id, title: Title, mode: model.Mode, options: Options, *, deadline: Deadline = None
) -> Process:
    """Put a question with options to those of the channel."""
    if len({option.casefold() for option in options}) < len(options):
        raise InvalidInput("Two options are the same.", field="options")
    if mode == "ranked" and len(options) > model.MAX_RANKED:
        raise InvalidInput(f"A ranked vote has at most {model.MAX_RANKED} options.", field="options")
    until = model.stamp(deadline) if deadline else None
    if until is not None and until <= act.at:
        raise InvalidInput("The deadline has passed.", hint=f"In UTC it is {act.at} now.", field="deadline")
    said = {"title": title, "mode": mode, "options": tuple(options), "deadline": until}
    return _open(act, channel_id, kind="voting", phase="open", **said)


@change("Open an election")
def open_election(act: Act, channel_id: Id, role_id: Id) -> Process:
    """Begin an election for a role of the channel's team, in which members nominate one another."""
    role = act.get(ROLES, role_id)
    if role.team != act.store.channel(act.access, channel_id).team:
        raise InvalidInput("An election is opened in the channel of the role's team.", field="role_id")
    act.require(ROLES, role.id)
    return _open(act, channel_id, kind="election", phase="nomination", round=1, title=role.title, role=role.id)


def _open(act: Act, channel_id: str, **said: Any) -> Process:
    """Write a process with its message and the pointer to it."""
    # Whoever archives the channel meanwhile reads again what is open in it.
    channel = channel_to_write(act, channel_id, touched=True)
    if channel.kind == "dm":
        raise Conflict("A direct channel has no processes.", hint="Open it in the channel of a team, or of all.")
    # Two that are opened at once could both be the last that is allowed.
    act.alone("opened")
    active = act.all(ACTIVE)
    late = [one for one in active if one.deadline is not None and one.deadline <= act.at]
    if len(active) - len(late) >= model.MAX_OPEN:
        raise Conflict(f"{model.MAX_OPEN} processes are open already.", hint="End one of them first.")
    for one in late[:SWEPT]:
        act.change.remove(ACTIVE, one)
    said |= {"created_at": act.at, "team": channel.team, "electorate": electorate(act, channel.team)}
    process = Process(id=f"{channel.id}.{new_id()}", author=act.access.member.id, **said)
    act.add(PROCESSES, process)
    act.add(ACTIVE, model.Active(id=process.id, kind=process.kind, deadline=process.deadline))
    text = "\n\n".join(filter(None, (process.title, process.description)))
    post(act, Message(id=process.id, author=process.author, text=text, created_at=act.at, process=process.kind))
    _touch(act, process)
    return process


def electorate(act: Act, team: str | None) -> int:
    """Return how many members reach the channel of a team, or of the organisation."""
    return sum(one.left_at is None and (team is None or team in one.teams) for one in act.all(MEMBERS))


def _touch(act: Act, process: Process) -> None:
    touch(act, process.id, *(("topics",) if process.kind == "topic" else ()), "governance-tools")


@change("Ask about a topic")
def ask_clarification(act: Act, message_id: Id, question: Reason) -> Answer:
    """Ask something about a topic while it is being clarified."""
    return _answer(act, message_id, "question", text=question)


@change("Answer a question")
def answer_clarification(act: Act, message_id: Id, question_id: Id, answer: Text) -> Answer:
    """Answer a question about a topic."""
    if not question_id.startswith(f"{message_id}.question."):
        raise rules.gone()
    act.get(ANSWERS, question_id)
    return _answer(act, message_id, "answer", text=answer, question=question_id)


@change("Respond to a proposal")
def respond(act: Act, message_id: Id, response: model.Response, reason: AnyReason = "") -> Answer:
    """Consent to a topic or to an election's candidate, object with a reason, or stand aside; again replaces it."""
    return _respond(act, message_id, response, reason)


def respond_to_topic(act: Act, message_id: Id, response: model.Response, reason: AnyReason = "") -> Answer:
    return _respond(act, message_id, response, reason, "topic")


def respond_to_election(act: Act, message_id: Id, response: model.Response, reason: AnyReason = "") -> Answer:
    return _respond(act, message_id, response, reason, "election")


def _respond(act: Act, id: str, response: model.Response, reason: str, of: model.ProcessKind | None = None) -> Answer:
    if response == "objection" and not reason:
        raise InvalidInput("An objection needs a reason.", hint="Say what harm it would do.", field="reason")
    return _answer(act, id, "response", of, response=response, text=reason)


@change("Vote")
def cast_vote(act: Act, message_id: Id, choices: Choices) -> Answer:
    """Vote; voting again replaces the ballot."""
    return _answer(act, message_id, "ballot", choices=tuple(choices))


@change("Nominate a member")
def nominate_member(act: Act, message_id: Id, nominee_id: Id, reason: Reason) -> Answer:
    """Nominate a member for the role of an election, once. Nominations are secret until they are discussed."""
    given = _answer(act, message_id, "nomination", nominee=nominee_id, text=reason)
    if act.change.writes:
        try:
            require_present(act, nominee_id)
        except NotFound:
            hint = "The list of members has their ids."
            raise InvalidInput("There is no member with this id.", hint=hint, field="nominee_id") from None
    return given


def _answer(act: Act, message_id: str, kind: AnswerKind, of: model.ProcessKind | None = None, **said: Any) -> Answer:
    """Write what a member says in a process; the same again writes nothing.

    What the member said in person no agent replaces. Raises Conflict for that, and unless the process is one `of`
    this kind whose present phase takes answers of this kind.
    """
    channel = channel_to_write(act, message_id.partition(".")[0])
    process, access = act.get(PROCESSES, message_id), act.access
    member = access.member.id
    if of not in (None, process.kind):
        raise Conflict(f"This {process.kind} is no {of}.", hint=f"For it there is respond_to_{process.kind}.")
    rules.takes(process, kind, act.at)
    own = f"{process.round:03}.{member}" if kind == "response" else member
    if kind in ("question", "answer"):
        own = new_id()
        if len(act.all(ANSWERS, within=f"{process.id}.{kind}.")) >= model.MAX_QUESTIONS:
            raise Conflict(f"A topic has at most {model.MAX_QUESTIONS} of these.", hint="Write in its thread.")
    id = f"{process.id}.{kind}.{own}"
    now = Answer(id=id, kind=kind, member=member, at=act.at, round=process.round, client=access.client, **said)
    was = act.store.records.get(access.organisation, ANSWERS, id)
    if was is not None:
        in_person, nominated = not was.client, kind == "nomination"
        repeated = replace(was, at=now.at, revision=now.revision, client=now.client) == now
        if (repeated or (nominated and was.nominee == now.nominee)) and (access.agent or in_person):
            act.change.writes.clear()  # the checks too: nothing is written
            return was
        if access.agent and in_person:
            hint = "Nobody else changes it: they can, in the console."
            raise Conflict(f"{access.member.name} answered this in person.", hint=hint)
        if nominated and (access.agent or in_person):
            raise Conflict("You have nominated another member.", hint="A nomination is not changed.")
    if kind == "ballot":
        rules.ballot(process.mode, process.options, now.choices)
    seen: dict[str, Any] = {"phase": process.phase, "round": process.round}
    if process.deadline is not None:
        seen["deadline"] = process.deadline
    same = [f"#{name} = :{name}" for name in seen] + ["attribute_not_exists(#deadline)"] * (process.deadline is None)
    act.change.touch(PROCESSES, process.id, " AND ".join(same), **seen)
    if was is None:
        act.add(ANSWERS, now)
    else:
        act.replace(ANSWERS, now, was)
    _touch(act, process)
    type = RECORDED.get(kind) or f"{process.kind.capitalize()}Response"
    state = {"phase": process.phase, "round": process.round}
    act.answered(type, f"{process.kind}s", process.id, channel.team, again=was is not None, **state)
    return now


@change("Move a process on")
def move_on(
    act: Act, message_id: Id, phase: Phase, outcome: Outcome | None = None, *, changes: Text = "", candidate_id: Id = ""
) -> Process:
    """Lead a process to its next phase, back to clarification, or to its end, which the journal records.

    Objections of the present round stand against accepting and electing.
    """
    channel = act.store.channel(act.access, message_id.partition(".")[0])
    process = act.get(PROCESSES, message_id)
    allowed, role = facilitator(act.store, act.access, process)
    if not allowed:
        hint = "Its author, the organisation's owner, and the leader and the secretary of the channel's team can."
        raise Forbidden("You do not move this process on.", hint=hint)
    only = rules.OUTCOMES.get(phase, ())
    outcome = outcome or (only[0] if len(only) == 1 else None)
    rules.lead(process, phase, outcome, act.at)
    if bool(changes) != (outcome == "modified"):
        raise InvalidInput("What changed is said of a topic that is accepted modified.", field="changes")
    if bool(candidate_id) != (process.kind == "election" and phase == "consent"):
        raise InvalidInput("A candidate is named for the consent of an election.", field="candidate_id")
    through = role.id if role else act.access.role_in(channel.team)
    act.authority(through)
    if role is not None:
        act.require(ROLES, role.id, "#type = :type", type=role.type)
    elif process.author != act.access.member.id:
        act.require(store.ORGANISATIONS, model.ROOT, "#owner = :me", me=act.access.member.id)
    if process.kind == "voting" and not process.ended(act.at):
        # First no more ballots are taken: as long as they come, each would overtake who counts them.
        keys = [room.at(act.access.organisation, process.id) for room in (PROCESSES, ACTIVE)]
        stopped, there = "SET #deadline = :at", "attribute_exists(pk)"
        stop = [act.store.table.update(key, stopped, there, at=act.at) for key in keys]
        _touch(act, process)
        act.store.feed(act.change, act.touched)
        act.store.table.transact([*act.change.writes, *stop])
        raise Lost
    answers = act.all(ANSWERS, within=f"{process.id}.")
    now = _led(act, replace(process, phase=phase, candidate=candidate_id or process.candidate), answers)
    if outcome in ("accepted", "modified", "elected"):
        objectors = [act.get(MEMBERS, one) for one in rules.objectors(answers, process.round)]
        # An objection goes with the member who made it.
        if against := sorted(one.name for one in objectors if one.left_at is None):
            ways = "go back to clarification or withdraw it" if process.kind == "topic" else "end it without election"
            raise Conflict("An objection is open.", hint=f"{', '.join(against)} can answer again; or {ways}.")
    if phase in model.ENDED:
        now = replace(now, outcome=outcome, changes=changes, ended_at=min(act.at, process.deadline or act.at))
        kind, difference = process.kind, ({"phase": process.phase}, _result(act, now, answers))
        held = act.get(ROLES, through) if through else None
        team = act.get(store.TEAMS, channel.team) if channel.team else None
        decision = act.record(kind.capitalize(), f"{kind}s", process.id, difference, through=held, team=team)
        now = replace(now, decision=decision.id)
        # Opening another process may have removed the pointer of a vote past its deadline.
        act.change.writes.append(act.store.table.delete(ACTIVE.at(act.access.organisation, process.id)))
    act.replace(PROCESSES, now, process)
    _touch(act, process)
    return now


def facilitator(store: Store, access: rules.Access, process: Process) -> tuple[bool, Role | None]:
    """Return whether a member moves a process on, and the leader's or secretary's role that allows it, if one does."""
    roles = [role for role, team in access.roles.items() if team == process.team]
    held = store.records.get_many(access.organisation, ROLES, roles).values()
    role = next((one for one in held if one.type in ("leader", "secretary")), None)
    owner = store.organisation(access.organisation).owner
    return role is not None or access.member.id in (process.author, owner), role


def _led(act: Act, now: Process, answers: Sequence[Answer]) -> Process:
    """Return what a process becomes by the phase that it now has. Raises InvalidInput and Conflict for a candidate."""
    if now.candidate is not None and now.phase in ("consent", "elected"):
        nominated = {one.nominee for one in answers if one.nominee is not None}
        if now.candidate not in nominated:
            names = ", ".join(sorted(act.get(MEMBERS, one).name for one in nominated if one))
            hint = f"Nominated: {names or 'nobody'}."
            raise InvalidInput("A candidate is a member who was nominated.", hint=hint, field="candidate_id")
        require_present(act, now.candidate)
    match now.phase:
        case "clarification":
            return replace(now, round=now.round + 1)
        case "consent":
            return replace(now, electorate=electorate(act, now.team))
        case "discussion":
            return replace(now, revealed=True)
    return now


def _result(act: Act, process: Process, answers: Sequence[Answer]) -> dict[str, Any]:
    """Return the end of a process as the journal has it: its outcome, and the answers in figures."""
    found: dict[str, Any] = {one: getattr(process, one) for one in ("title", "phase", "outcome", "electorate")}
    if process.kind == "voting":
        ballots = [one.choices for one in answers if one.kind == "ballot"]
        results = rules.tally(process.mode, process.options, ballots)
        return found | {"ballots": len(ballots), "tally": [asdict(one) for one in results]}
    responses = Counter(one.response for one in answers if one.response and one.round == process.round)
    found |= {"round": process.round, "responses": dict(responses)}
    if process.changes:
        found["changes"] = process.changes
    if process.outcome == "elected" and process.candidate is not None:
        found["elected"] = {"memberId": process.candidate, "name": act.get(MEMBERS, process.candidate).name}
    return found
