"""The tools `kb_add`, `kb_update` and `kb_delete`, for one entry at a time."""

from functools import partial
from typing import Any, Literal

from pydantic import Field

from commonplace.kernel.errors import InvalidInput
from commonplace.memory import validation
from commonplace.memory.model import MAX_CONTENT_BYTES, MAX_TAGS, EntryType, Role
from commonplace.memory.personal_data import refuse_secrets
from commonplace.memory.tools.answers import RecurrencePart, recurrence, recurrence_told
from commonplace.memory.tools.services import MemoryServices
from commonplace.web.mcp.declaration import Answer, Call, SnakeCaseArguments, SnakeCaseOutput, SnakeCasePart, Tool

Removable = Literal["source_file", "source_story", "parent_id"]

WORDS_ONLY = "Its vectors follow; until then it is found by its words."


class AddArguments(SnakeCaseArguments):
    content: str = Field(description=f"What is worth knowing, to be read by itself; at most {MAX_CONTENT_BYTES} bytes")
    entry_type: EntryType = Field(description="fact: one thing learned; summary: of a story; template: a document")
    roles: list[Role] = Field(description="For whom")
    tags: list[str] | None = Field(None, description=f"Subjects, at most {MAX_TAGS}")
    source_file: str | None = None
    source_story: str | None = Field(None, description="Id of the story it comes from")
    parent_id: str | None = Field(None, description="The summary that a fact belongs to")
    confidence: float | None = Field(None, ge=0, le=1, description="1 if left out; 0.8 until validated")
    metadata: dict[str, Any] | None = None
    supersedes: str | None = Field(None, description="Id of an entry that this one replaces: it is found no more")
    idempotency_key: str | None = Field(None, description="Your name of this request: sent twice, it is done once")
    recurs_of: str | None = Field(None, description="An entry that says it in other words: it is seen again")


class UpdateArguments(SnakeCaseArguments):
    id: str
    content: str | None = None
    entry_type: EntryType | None = None
    roles: list[Role] | None = None
    tags: list[str] | None = Field(None, description="In place of those it has")
    confidence: float | None = Field(None, ge=0, le=1)
    source_file: str | None = None
    source_story: str | None = None
    parent_id: str | None = None
    remove: list[Removable] | None = Field(None, description="What it is not to have any more")
    metadata: dict[str, Any] | None = Field(None, description="Merged with what it has; null removes a key")
    expected_version: int | None = Field(None, description="Change nothing if it has another version by now")


class DeleteArguments(SnakeCaseArguments):
    id: str
    undo: bool = Field(False, description="Bring it back, up to 30 days later")


class NearEntry(SnakeCasePart):
    id: str
    similarity: float
    excerpt: str


class AddedEntry(SnakeCaseOutput):
    id: str
    success: bool
    duplicate: bool = Field(description="It was there already, as id")
    embedded: bool | None = Field(None, description="False while only its words are found")
    nearest: list[NearEntry] | None = Field(None, description="Entries that come near it")
    recurrence: RecurrencePart | None = Field(None, description="Another story learned it before")


class UpdatedEntry(SnakeCaseOutput):
    success: bool
    re_embedded: bool
    version: int


class DeletedEntry(SnakeCaseOutput):
    success: bool


def tools(using: MemoryServices) -> tuple[Tool, ...]:
    return (
        Tool(
            name="kb_add",
            title="Add an entry",
            description="Keeps one thing that the team should know later. What is there already is not added again: "
            "the answer has its id.",
            arguments=AddArguments,
            output=AddedEntry,
            run=partial(kb_add, using),
            tier="member",
            level="write",
            cost="write",
            read_only=False,
        ),
        Tool(
            name="kb_update",
            title="Change an entry",
            description="Changes what is given and leaves the rest as it is.",
            arguments=UpdateArguments,
            output=UpdatedEntry,
            run=partial(kb_update, using),
            tier="member",
            level="write",
            cost="write",
            read_only=False,
            destructive=True,
        ),
        Tool(
            name="kb_delete",
            title="Delete an entry",
            description="Removes an entry; for 30 days `undo` brings it back. Its children stay, without a parent.",
            arguments=DeleteArguments,
            output=DeletedEntry,
            run=partial(kb_delete, using),
            tier="member",
            level="write",
            cost="write",
            read_only=False,
            destructive=True,
        ),
    )


def kb_add(using: MemoryServices, call: Call, asked: AddArguments) -> Answer:
    fields = dict(asked)
    key = validation.idempotency_key(fields.pop("idempotency_key"))
    recurs_of = fields.pop("recurs_of")
    again = validation.entry_id(recurs_of, "recurs_of") if recurs_of else None
    if using.entry_redaction is None:
        refuse_secrets(fields)
    new = validation.new_entry(**fields)
    if using.entry_redaction:
        new = using.entry_redaction.new(new)
    added = using.memory.add(call.author, new, idempotency_key=key, recurs_of=again)
    nearest = [NearEntry(id=one.id, similarity=round(one.similarity, 4), excerpt=one.excerpt) for one in added.nearest]
    data = AddedEntry(
        id=added.id,
        success=True,
        duplicate=added.duplicate,
        embedded=None if added.duplicate or added.embedded else False,
        nearest=nearest or None,
        recurrence=recurrence(added.recurrence) if added.recurrence else None,
    )
    return Answer(_added_told(data), data)


def kb_update(using: MemoryServices, call: Call, asked: UpdateArguments) -> Answer:
    fields = dict(asked)
    removed: list[Removable] = fields.pop("remove") or []
    if both := [name for name in removed if fields[name] is not None]:
        raise InvalidInput(f"`{both[0]}` is both given and in `remove`.", hint="Give it, or remove it.")
    fields |= dict.fromkeys(removed, "")
    id = validation.entry_id(fields.pop("id"))
    expected = validation.expected_version(fields.pop("expected_version"))
    if using.entry_redaction is None:
        refuse_secrets(fields)
    changes = validation.changes(**fields)
    if using.entry_redaction:
        changes = using.entry_redaction.changes(changes)
    updated = using.memory.update(call.author, id, changes, expected_version=expected)
    data = UpdatedEntry(success=True, re_embedded=updated.re_embedded, version=updated.entry.version)
    anew = " Its content is new, so its vectors are made anew." if data.re_embedded else ""
    return Answer(f"Changed `{id}`, now version {data.version}.{anew}", data)


def kb_delete(using: MemoryServices, call: Call, asked: DeleteArguments) -> Answer:
    id = validation.entry_id(asked.id)
    if asked.undo:
        entry = using.memory.undelete(call.author, id)
        return Answer(f"Brought back `{id}`, in version {entry.version}.", DeletedEntry(success=True))
    using.memory.delete(call.author, id)
    return Answer(f"Deleted `{id}`.", DeletedEntry(success=True))


def _added_told(data: AddedEntry) -> str:
    again = [f" {recurrence_told(data.recurrence)}"] if data.recurrence else []
    if data.duplicate:
        return f"Nothing was added: the same content is there already, as `{data.id}`.{''.join(again)}"
    lines = [f"Added as `{data.id}`." + ("" if data.embedded is not False else f" {WORDS_ONLY}")]
    if data.nearest:
        lines.append("Entries that come near it. If one says the same, change that one and delete this;")
        lines.append("if another story learned the same, send this again with recurs_of:")
        lines += [f"- `{one.id}` (similarity {one.similarity:g}) {one.excerpt}" for one in data.nearest]
    return "\n".join([*lines, *map(str.strip, again)])
