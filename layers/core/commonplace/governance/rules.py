"""What is true of organisations, whoever asks: who sees what, tallies, phases, and what awaits a member. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from commonplace.governance import model
from commonplace.governance.model import Answer, AnswerKind, Channel, Mode, Outcome, Phase, Process, ProcessKind
from commonplace.kernel.errors import Conflict, InvalidInput, NotFound


def gone() -> NotFound:
    """Return the answer to every address that is unknown, another organisation's, or out of reach: always the same."""
    return NotFound(
        "There is nothing of this kind here, or it is not for you.",
        hint="Ids and addresses of what you can read stand in the lists of your organisation.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Who asks, in which organisation, and how far that reaches. A person has all roles of the member and all kinds."""

    organisation: str
    member: model.Member
    roles: Mapping[str, str]
    """Role id -> team id: those of the member, and of an agent's token as well."""
    kinds: frozenset[str] | None = None
    """Kinds of things; None is all."""
    agent: bool = False
    acts: bool = True
    """Whether it may do more than read: of an agent, by its token."""
    client: str = ""
    """The application of an agent, which is never empty; empty for a person."""
    grant: str = ""
    """The public name of an agent's grant."""
    expires_at: int | None = None
    """Epoch seconds, of an agent's grant."""

    @property
    def teams(self) -> frozenset[str]:
        return frozenset(self.roles.values())

    def touches(self, kind: str) -> bool:
        """Return whether this reaches things of a kind."""
        return self.kinds is None or kind in self.kinds

    def reaches(self, channel: Channel) -> bool:
        """Return whether this channel is readable: the organisation's to all, a team's to holders of its roles, a
        direct one to its two members in person."""
        if channel.kind == "dm":
            return not self.agent and self.member.id in channel.members
        return channel.team is None or channel.team in self.teams

    def role_in(self, team: str | None) -> str | None:
        """Return a role through which a team's channel is reached."""
        return next((role for role, of in sorted(self.roles.items()) if of == team), None)


PHASES: Mapping[ProcessKind, Mapping[Phase, Sequence[Phase]]] = {
    "topic": {"clarification": ("consent",), "consent": ("clarification", "resolved")},
    "voting": {"open": ("closed",)},
    "election": {"nomination": ("discussion",), "discussion": ("consent",), "consent": ("elected", "no_election")},
}
"""Where each phase can lead. A topic is also withdrawn, and an election given up, from any phase before its end."""

GIVEN_UP: Mapping[ProcessKind, tuple[Phase, Outcome]] = {
    "topic": ("resolved", "withdrawn"),
    "election": ("no_election", "no_election"),
}

OUTCOMES: Mapping[Phase, Sequence[Outcome]] = {
    "resolved": ("accepted", "modified", "withdrawn"),
    "closed": ("closed",),
    "elected": ("elected",),
    "no_election": ("no_election",),
}
"""The outcomes that each phase at an end has."""

TAKES: Mapping[AnswerKind, Phase] = {
    "question": "clarification",
    "answer": "clarification",
    "response": "consent",
    "nomination": "nomination",
    "ballot": "open",
}
"""The phase in which an answer of each kind is given."""

TOOLS: Mapping[tuple[ProcessKind, Phase], str] = {
    ("topic", "clarification"): "ask_clarification",
    ("topic", "consent"): "respond_to_topic",
    ("voting", "open"): "cast_vote",
    ("election", "nomination"): "nominate_member",
    ("election", "consent"): "respond_to_election",
}
"""How an agent takes part in a process in a phase."""


def lead(process: Process, to: Phase, outcome: Outcome | None, now: str) -> None:
    """Return if a process can go on to a phase with this outcome.

    Raises Conflict, which names the phases that it can go to, and InvalidInput for an outcome that the phase lacks.
    """
    over(process, now, late=process.kind == "voting")
    onward = PHASES[process.kind][process.phase]
    if to not in onward and (to, outcome) != GIVEN_UP.get(process.kind):
        hint = f"It can go on to: {', '.join(onward)}."
        raise Conflict(f"It is in the phase {process.phase}, which does not lead to {to}.", hint=hint)
    outcomes = OUTCOMES.get(to, ())
    if outcome not in (outcomes or (None,)):
        hint = f"Outcomes: {', '.join(outcomes)}." if outcomes else "Leave the outcome out."
        raise InvalidInput(f"The phase {to} does not have this outcome.", hint=hint, field="outcome")


def takes(process: Process, kind: AnswerKind, now: str) -> None:
    """Return if answers of a kind are given in the present phase. Raises Conflict, also for another kind of process."""
    over(process, now)
    if TAKES[kind] != process.phase:
        tool = TOOLS.get((process.kind, process.phase))
        hint = f"A {kind} is given in the phase {TAKES[kind]}. " + (f"Now there is {tool}." if tool else "Wait for it.")
        raise Conflict(f"This {process.kind} is in the phase {process.phase}, which takes no {kind}.", hint=hint)


def over(process: Process, now: str, *, late: bool = False) -> None:
    """Return unless a process has ended; with `late` its deadline does not count. Raises Conflict."""
    if process.phase in model.ENDED or (not late and process.ended(now)):
        since = process.ended_at or process.deadline
        raise Conflict("This process has ended.", hint="Read its result; a new one can be opened.", since=since)


def objectors(answers: Iterable[Answer], round: int) -> list[str]:
    """Return the members whose answer of this round is an objection."""
    return [one.member for one in answers if one.response == "objection" and one.round == round]


def ballot(mode: Mode, options: Sequence[str], choices: Sequence[str]) -> None:
    """Return if these choices are a valid ballot. Raises InvalidInput, which names the options."""
    known = [str(number) for number in range(1, len(options) + 1)]
    listed = ", ".join(f"{id} ({label})" for id, label in zip(known, options, strict=True))
    wanted = {"single": len(choices) == 1, "approval": len(choices) >= 1, "ranked": len(choices) == len(known)}
    if unknown := [one for one in choices if one not in known]:
        fault = f"There is no option {unknown[0][:64]}."
    elif len(set(choices)) < len(choices):
        fault = "An option is named more than once."
    elif not wanted[mode]:
        expected = {
            "single": "exactly one option",
            "approval": "at least one option",
            "ranked": "every option, best first",
        }
        fault = f"This vote takes {expected[mode]}."
    else:
        return
    raise InvalidInput(fault, hint=f"Options: {listed}.", field="choices")


@dataclass(frozen=True, slots=True)
class Result:
    """An option's part of a tally: the ballots that contain it, and its points where the vote is ranked (Borda)."""

    option: str
    label: str
    count: int
    score: int


def tally(mode: Mode, options: Sequence[str], ballots: Iterable[Sequence[str]]) -> list[Result]:
    """Return the tally in the order of the options; ranked by points, where ties keep that order.

    With n options, place i (from 0) gives n - i points.
    """
    count: Counter[str] = Counter()
    points: Counter[str] = Counter()
    for choices in ballots:
        for place, one in enumerate(choices):
            count[one] += 1
            points[one] += len(options) - place if mode == "ranked" else 0
    numbered = enumerate(options, 1)
    found = [Result(str(number), label, count[str(number)], points[str(number)]) for number, label in numbered]
    return sorted(found, key=lambda one: -one.score) if mode == "ranked" else found


def awaits(process: Process, answers: Collection[Answer], member: str, now: str) -> bool:
    """Return whether something is left for a member to do in a process."""
    if process.ended(now):
        return False
    mine = {one.kind for one in answers if one.member == member and one.round in (0, process.round)}
    match process.phase:
        case "clarification":
            answered = {one.question for one in answers}
            open_questions = any(one.kind == "question" and one.id not in answered for one in answers)
            return process.author == member and open_questions
        case "consent":
            return "response" not in mine
        case "open":
            return "ballot" not in mine
        case "nomination":
            return "nomination" not in mine
    return False


def below(team: str, parent: str, teams: Mapping[str, model.Team]) -> bool:
    """Return whether a team would stand below itself with this parent."""
    above: str | None = parent
    for _ in teams:
        if above is None or above == team:
            break
        above = teams[above].parent if above in teams else None
    return above == team
