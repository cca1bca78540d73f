"""The seven tools with which an agent takes part for its member (seed 002, section 4.2).

Each is one transaction of the change that people make in the console, with the agent's record in the journal
(`store.Act`). Agents have no other way to change anything.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Literal

from pydantic import Field, create_model
from pydantic.alias_generators import to_pascal
from pydantic.fields import FieldInfo

from commonplace.governance import conversation, processes
from commonplace.governance.governance import Governance
from commonplace.governance.inputs import parameters_of
from commonplace.governance.listings import Reading
from commonplace.governance.model import Answer, Kind, Message, ProcessKind
from commonplace.governance.rules import gone
from commonplace.governance.store import Act
from commonplace.kernel.errors import CommonplaceError, NotFound
from commonplace.web.mcp.declaration import Answer as Answered
from commonplace.web.mcp.declaration import Arguments, Call, Output, Tool
from commonplace.web.operations import Actor, Operation

DESCRIBED = {
    "channel_id": "The id of a channel, of the list of channels",
    "message_id": "The id of a message; that of a process is its message's",
    "thread_parent_id": "The id of the message that this replies to",
    "text": "What to write, as plain text",
    "emoji": "An emoji, or the usual name of one: thumbsup, heart, tada, eyes",
    "choices": "Ids of options: one, one or more, or all of them, best first, by the mode of the vote",
    "response": "consent, objection (with a reason), or stand_aside",
    "reason": "Why, in the member's interest; the channel reads it",
    "question": "What to ask, as plain text",
    "nominee_id": "The id of a member, of the list of members",
}
"""Models read this of each argument."""
RENAMED = {"parent_id": "thread_parent_id"}
"""The seed's name of a field of the change."""
SEEN = "Everybody sees that an agent did it, and for whom, and the journal records it."
SUGGESTED = 3
"""Ids of open processes that an error names."""


class Recorded(Output):
    """This was done in a member's name, as the organisation reads it from now on."""

    message_id: str
    changed: bool = Field(description="False if this was done before: then nothing was written")
    on_behalf_of: str = Field(description="The name of the member")
    decision_id: str | None = Field(None, description="The record in the journal")
    clarification_id: str | None = None
    created_at: str | None = None
    emoji: str | None = None
    choices: list[str] | None = None
    response: str | None = None
    nominee_id: str | None = None
    round: int | None = None


@dataclass(frozen=True, slots=True)
class Acting:
    """A change that an agent can do for its member: `decide` is called with an act and the tool's arguments."""

    decide: Callable[..., Any]
    level: Literal["write", "decide"]
    title: str
    description: str
    of: ProcessKind | None = None
    """The kind of process in which it takes part."""
    kind: Kind = "topics"
    idempotent: bool = True

    @property
    def name(self) -> str:
        return self.decide.__name__

    def tool(self, using: Governance) -> Tool:
        """Return the tool over an organisation's services."""
        fields: dict[str, Any] = {}
        for name, one in self.taken.items():
            info = FieldInfo.from_annotation(one.annotation)
            info.description = DESCRIBED[name]
            info.default = ... if one.default is one.empty else one.default
            fields[name] = (one.annotation, info)
        build: Any = create_model
        return Tool(
            name=self.name,
            title=self.title,
            description=f"{self.description} {SEEN}",
            arguments=build(to_pascal(self.name), __base__=Arguments, **fields),
            output=Recorded,
            run=partial(self.run, using),
            level=self.level,
            cost="write",
            kind=self.kind,
            read_only=False,
            idempotent=self.idempotent,
            exact=True,
        )

    @property
    def taken(self) -> dict[str, inspect.Parameter]:
        """Return what it takes beside the act, by the names of the tool's arguments."""
        return {RENAMED.get(one.name, one.name): one for one in parameters_of(self.decide)}

    def run(self, using: Governance, call: Call, arguments: Any) -> Answered:
        """Do it in one transaction, and return what was recorded. Raises NotFound, Conflict, Forbidden, InvalidInput
        with hints, and Unavailable."""
        if (held := call.caller.principal.membership) is None:
            raise gone()
        given = {name: getattr(arguments, name) for name in self.taken}
        values = {one.name: given[name] for name, one in self.taken.items()}
        access = using.access(Actor(call.caller.principal, call.caller.address), held.organisation)

        def decided(act: Act) -> tuple[Any, Act]:
            return self.decide(act, **values), act

        try:
            result, act = using.store.change(access, decided)
        except CommonplaceError as error:
            if error.status in (403, 404, 409):
                using.store.refused(access.organisation, access.grant)
            if isinstance(error, NotFound):
                raise NotFound(error.message, hint=self.nearest(Reading(using, access), error)) from None
            raise
        return recorded(act, result, given)

    def nearest(self, reading: Reading, error: NotFound) -> str:
        """Return the hint of a miss with ids of open processes, or of channels, as far as they are in reach."""
        hint = error.hint or ""
        if self.of is not None and reading.access.touches("topics"):
            ids = [one.message_id for one in islice(reading.active(None, SUGGESTED, self.of), SUGGESTED)]
            return f"{hint} Open now: {', '.join(ids) or 'none'}."
        if self.of is None and reading.access.touches("channels"):
            return f"{hint} Channels: {', '.join(one.id for one in reading.readable()[:SUGGESTED])}."
        return hint


def recorded(act: Act, result: Message | Answer | bool, given: dict[str, Any]) -> Answered:
    """Return what was recorded, and in whose name."""
    decision, name = act.decision if act.change.writes else None, act.access.member.name
    data: dict[str, Any] = {"message_id": given.get("message_id"), "on_behalf_of": name}
    data |= {"changed": decision is not None, "decision_id": decision and decision.id}
    match result:
        case Message():
            data |= {"message_id": result.id, "created_at": result.created_at}
        case Answer():
            data |= {"response": result.response, "nominee_id": result.nominee, "round": result.round or None}
            data |= {"choices": list(result.choices) or None, "created_at": result.at}
            data["clarification_id"] = result.id if result.kind == "question" else None
        case _:
            data["emoji"] = conversation.emoji_of(given["emoji"])
    shown = Recorded(**data)
    facts = shown.model_dump(by_alias=True, exclude_none=True, exclude={"changed", "on_behalf_of"})
    did = "Recorded" if shown.changed else "Nothing was written, for this stood already,"
    return Answered(f"{did} in the name of {name}: {'; '.join(f'{key} {one}' for key, one in facts.items())}.", shown)


def decide_of(change: Operation) -> Callable[..., Any]:
    """Return the function of a change that people make in the console."""
    found: Callable[..., Any] = inspect.unwrap(change.function)
    return found


TOOLS = (
    Acting(
        decide_of(conversation.send_message),
        "write",
        "Send a message",
        "Writes a message to a channel, or a reply in a thread. Sending twice writes two messages.",
        kind="messages",
        idempotent=False,
    ),
    Acting(
        decide_of(conversation.react_to_message),
        "write",
        "React to a message",
        "Adds a reaction to a message.",
        kind="messages",
    ),
    Acting(
        decide_of(processes.cast_vote),
        "write",
        "Cast a vote",
        "Votes for the member in an open vote, or replaces a vote that an agent cast; never one cast in person.",
        "voting",
    ),
    Acting(
        processes.respond_to_topic,
        "decide",
        "Respond to a topic",
        "Responds for the member to a topic in its consent phase, or replaces what an agent responded in this round.",
        "topic",
    ),
    Acting(
        decide_of(processes.ask_clarification),
        "decide",
        "Ask about a topic",
        "Asks a question about a topic in its clarification phase. Asking twice writes two questions.",
        "topic",
        idempotent=False,
    ),
    Acting(
        decide_of(processes.nominate_member),
        "decide",
        "Nominate a member",
        "Nominates somebody for the member in an election's nomination phase. No agent changes a nomination.",
        "election",
    ),
    Acting(
        processes.respond_to_election,
        "decide",
        "Respond to an election",
        "Responds for the member to an election's candidate in its consent phase, or replaces what an agent responded.",
        "election",
    ),
)
"""In the order of the seed."""
