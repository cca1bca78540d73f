"""The tool `report_gap`: a report of what is missing, for the maintainers."""

from functools import partial

from pydantic import Field

from commonplace.kernel.errors import InvalidInput
from commonplace.reference.model import MAX_CHARACTERS, EntryType, kept
from commonplace.reference.tools.answers import OpenOutput
from commonplace.reference.tools.markdown import line
from commonplace.reference.tools.services import REPORTERS, ReferenceServices
from commonplace.web.mcp.declaration import Answer, Arguments, Call, Tool

FULL = "The list of gaps is full, so this one was not kept. Tell the maintainers another way if it matters."


class GapArguments(Arguments):
    query: str = Field(
        min_length=1, max_length=MAX_CHARACTERS, description="What was asked and not found, without personal data"
    )
    type: EntryType | None = Field(None, description="What was looked for")
    note: str | None = Field(None, max_length=MAX_CHARACTERS, description="What would have helped")


class Reported(OpenOutput):
    recorded: bool
    query: str
    """As it was kept: addresses, keys and long numbers are masked."""
    count: int | None = None
    """Reports of it so far."""


def tools(using: ReferenceServices) -> tuple[Tool, ...]:
    if not using.keeps_gaps:
        return ()
    return (
        Tool(
            name="report_gap",
            title="Report a gap",
            description="Tells the maintainers of the reference that something was asked for and is not in it. Use it "
            "after search_knowledge and list_commands found nothing.",
            arguments=GapArguments,
            output=Reported,
            run=partial(report_gap, using),
            tier=REPORTERS,
            level="write",
            cost="write",
            read_only=False,
            idempotent=False,
        ),
    )


def report_gap(using: ReferenceServices, call: Call, asked: GapArguments) -> Answer:
    if not kept(asked.query):
        raise InvalidInput("query is empty.", hint="Say what was asked for and not found.")
    organisation = call.caller.principal.organisation or using.organisation
    told = using.reference.report_gap(organisation, asked.query, asked.type, asked.note)
    data = Reported(recorded=told.count is not None, query=told.query, count=told.count)
    if told.count is None:
        return Answer(FULL, data)
    times = "for the first time" if told.count == 1 else f"{told.count} times by now"
    return Answer(f"Noted for the maintainers: “{line(told.query)}”, reported {times}.", data)
