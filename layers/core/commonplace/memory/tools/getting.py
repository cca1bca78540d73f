"""`kb_get`: one entry, whole; what is too dense for one answer, in parts."""

from functools import partial

from pydantic import Field

from commonplace.memory import checking
from commonplace.memory.entries import Entry
from commonplace.memory.tools.entries import Told, told, whole
from commonplace.memory.tools.services import MemoryArguments, MemoryOutput, MemoryServices, author_of
from commonplace.web.mcp import continuing
from commonplace.web.mcp.budgets import MAX_TOKENS, estimate_tokens, piece
from commonplace.web.mcp.declaration import Answer, Call, Tool
from commonplace.web.mcp.rendering import compact, data_of

GET = "kb_get"
MARGIN = 200
"""Tokens for the handle of a long entry, and for notes of the frame."""
MAX_READ_METADATA = 3_000
"""Characters of JSON in the text: with more of them, told twice, some entries would leave no room for their content."""
METADATA_IS_DATA = "Its metadata is in the structured answer."


class GetArguments(MemoryArguments):
    id: str = Field(description="UUID of the entry")
    cursor: str | None = Field(None, description="next_cursor of the part before, of a very long entry")


class WholeEntry(MemoryOutput, Told):
    content_hash: str = Field(description="SHA-256 of the content")
    next_cursor: str | None = Field(None, description="Where the content goes on")


def tools(using: MemoryServices) -> tuple[Tool, ...]:
    return (
        Tool(
            name=GET,
            title="Read an entry",
            description="One entry of the team's memory, whole.",
            arguments=GetArguments,
            output=WholeEntry,
            run=partial(kb_get, using),
            tier="member",
        ),
    )


def kb_get(using: MemoryServices, call: Call, asked: GetArguments) -> Answer:
    entry = using.memory.get(author_of(call), checking.entry_id(asked.id))
    start = _position(entry, asked.cursor)
    room = MAX_TOKENS - MARGIN - _cost(_whole(entry, "", None, start))
    share = max(room, 2) // 2
    while True:
        part = piece(entry.content, start, max_tokens=share)
        cursor = None if part.complete else continuing.handle(part.end, tool=GET, question=entry.id, version=_of(entry))
        answer = _whole(entry, part.text, cursor, start)
        if share <= 1 or _cost(answer) <= MAX_TOKENS - MARGIN:
            return answer
        # As data a text is longer: marks are escaped.
        share = share * 4 // 5


def _position(entry: Entry, cursor: str | None) -> int:
    if cursor is None:
        return 0
    found = continuing.resume(cursor, tool=GET, question=entry.id, version=_of(entry))
    return found if isinstance(found, int) else 0


def _of(entry: Entry) -> str:
    return f"{entry.version} {entry.content_hash}"


def _whole(entry: Entry, content: str, cursor: str | None, start: int) -> Answer:
    data = WholeEntry(
        **whole(entry, content),
        content_hash=entry.content_hash,
        next_cursor=cursor,
        truncated=True if cursor or start else None,
    )
    of = f"characters {start + 1:,} to {start + len(content):,} of {len(entry.content):,}"
    part = f"This is a part: {of}." + (f" {GET} goes on with cursor `{cursor}`." if cursor else "")
    times = f"Created {entry.created_at}, changed {entry.updated_at}, SHA-256 {entry.content_hash}"
    long = len(compact(data.metadata)) > MAX_READ_METADATA
    read = data.model_copy(update={"truncated": None} | ({"metadata": None} if long else {}))
    rest = [*([part] if data.truncated else []), *([METADATA_IS_DATA] if long else []), times]
    return Answer("\n\n".join([told(read), *rest]), data)


def _cost(answer: Answer) -> int:
    return estimate_tokens(answer.text) + estimate_tokens(compact(data_of(answer)))
