"""The tools `kb_bulk_import` and `kb_rebuild_embeddings`, which continue by themselves where one call is not enough."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from pydantic import Field

from commonplace.identity.authorization import Need, Verdict, judge
from commonplace.kernel.errors import Forbidden, InvalidInput
from commonplace.memory import validation
from commonplace.memory.jobs import LargeImports, Rebuilding
from commonplace.memory.model import BATCH, ENTRY_TYPES, MAX_IMPORT, ROLES, Import, Imported, Rebuilt, Status
from commonplace.memory.personal_data import without_secrets
from commonplace.memory.tools.answers import RecurrencePart, recurrence, recurrence_told
from commonplace.memory.tools.services import MemoryServices
from commonplace.web.mcp.budgets import estimate_tokens
from commonplace.web.mcp.declaration import Answer, Call, SnakeCaseArguments, SnakeCaseOutput, Tool
from commonplace.web.mcp.rendering import compact

MAX_VALUES = 200_000
"""Values in the arguments of an import: more than a request's body can hold."""
MAX_TOLD_RECURRENCES = 100
MAX_TOLD_ERRORS = 30
MAX_TOLD_IDS = 100
"""Beyond these an answer only counts."""
MAX_ID_TOKENS = 12_000
"""Of all ids as data: a name may have 200 characters."""
MAX_READ_IDS = 20
"""In the text, which is for readers: whoever imported more is a program, and reads the data."""

IDS_ARE_DATA = "The ids of all of them are in the structured answer."

RESTORE = Need("member", "memory:admin")

ENTRIES: Mapping[str, Any] = {
    "description": f"At most {MAX_IMPORT} entries, or YAML text of such a list",
    "anyOf": [
        {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["content", "entry_type", "roles"],
                "properties": {
                    "content": {"type": "string"},
                    "entry_type": {"enum": list(ENTRY_TYPES)},
                    "roles": {"type": "array", "items": {"enum": list(ROLES)}},
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "source_file": {"type": "string"},
                    "source_story": {"type": "string"},
                    "parent_id": {"type": "string"},
                    "ref": {"type": "string", "description": "Names it within this import"},
                    "parent_ref": {"type": "string", "description": "ref of its parent"},
                    "confidence": {"type": "number"},
                    "metadata": {"type": "object"},
                    "id": {"type": "string", "description": "memory:admin: it is brought back as it was, with these"},
                    "created_at": {"type": "string"},
                    "updated_at": {"type": "string"},
                    "version": {"type": "integer"},
                    "supersedes": {"type": "string"},
                    "superseded_by": {"type": "string"},
                    "seen": {"type": "integer"},
                    "seen_in": {"type": "array", "items": {"type": "string"}},
                },
            },
        },
        {"type": "string"},
    ],
}
"""What clients are shown. Each entry is checked by itself: one that is wrong costs the others nothing."""

IMPORT_SCHEMA: Mapping[str, Any] = {
    "properties": {
        "entries": ENTRIES,
        "skip_existing": {"type": "boolean", "default": True, "description": "false: a duplicate is an error"},
        "handle": {"type": "string", "description": "Alone: how far the import has come that gave it"},
    },
}


class ImportArguments(SnakeCaseArguments):
    entries: list[Any] | str | None = None
    skip_existing: bool = Field(True, description="false: content that is there already is an error of its entry")
    handle: str | None = Field(None, description="Alone: how far the import has come that gave it")


class RebuildArguments(SnakeCaseArguments):
    batch_size: int = Field(BATCH, ge=1, le=BATCH)
    clear_cache: bool = Field(True, description="Forget the vectors kept so far")
    handle: str | None = Field(None, description="Alone: how far the work has come that gave it")


class ImportProgress(SnakeCaseOutput):
    imported: int
    skipped: int
    errors: list[str] = Field(description="Each begins with the entry's place")
    total: int
    processed: int
    status: Status
    handle: str | None = None
    ids: dict[str, str] | None = Field(None, description="By ref or place; of small imports")
    recurrences: list[RecurrencePart] | None = Field(None, description="What other stories learned before")


class RebuildProgress(SnakeCaseOutput):
    total: int
    processed: int
    status: Status
    handle: str | None = None


def tools(using: MemoryServices) -> tuple[Tool, ...]:
    return (
        Tool(
            name="kb_bulk_import",
            title="Import entries",
            description="Adds many entries at once. What is there already is skipped. A large import goes on by "
            "itself: call again with the handle to see how far it is.",
            arguments=ImportArguments,
            input_schema=IMPORT_SCHEMA,
            output=ImportProgress,
            run=partial(kb_bulk_import, using),
            tier="member",
            level="write",
            cost="write",
            read_only=False,
            max_values=MAX_VALUES,
        ),
        Tool(
            name="kb_rebuild_embeddings",
            title="Make vectors anew",
            description="Embeds every entry anew, after a change of model. Searches go on meanwhile. Call again with "
            "the handle to see how far it is.",
            arguments=RebuildArguments,
            output=RebuildProgress,
            run=partial(kb_rebuild_embeddings, using),
            tier="member",
            level="admin",
            cost="write",
            read_only=False,
        ),
    )


def kb_bulk_import(using: MemoryServices, call: Call, asked: ImportArguments) -> Answer:
    author, enough = call.author, using.enough()
    if (asked.entries is None) == (asked.handle is None):
        raise InvalidInput("Give `entries` to import, or the `handle` of an import, and not both.")
    if asked.handle is not None:
        done = LargeImports(using.memory).progress(author, validation.handle(asked.handle))
    else:
        entries = _given(asked.entries)
        items = validation.imports(entries)
        if any(isinstance(one, Import) and one.former for one in items):
            _admit(call)
        screened = using.entry_redaction.imports(items) if using.entry_redaction else without_secrets(items, entries)
        done = LargeImports(using.memory).start(author, screened, asked.skip_existing, enough)
    data = _imported(done)
    return Answer(_import_told(data, done), data)


def kb_rebuild_embeddings(using: MemoryServices, call: Call, asked: RebuildArguments) -> Answer:
    author, enough = call.author, using.enough()
    if asked.handle is not None:
        done = Rebuilding(using.memory).progress(author, validation.handle(asked.handle))
    else:
        done = Rebuilding(using.memory).start(author, asked.batch_size, asked.clear_cache, enough)
    data = RebuildProgress(total=done.total, processed=done.processed, status=done.status, handle=done.handle)
    return Answer(f"{done.processed} of {done.total} entries embedded anew: {_state(done)}", data)


def _admit(call: Call) -> None:
    """Raises Forbidden: whoever chooses ids and dates may pass for the author of what others wrote."""
    if judge(call.caller.principal, RESTORE) is not Verdict.ALLOWED:
        hint = "Leave out id, created_at, updated_at and version, or use a token with that scope."
        raise Forbidden(f"Bringing entries back takes the scope {RESTORE.scope}.", hint=hint)


def _given(entries: Sequence[Any] | str | None) -> Any:
    if not isinstance(entries, str):
        return entries
    from commonplace.memory import entry_files

    return entry_files.read(entries)


def _imported(done: Imported) -> ImportProgress:
    errors = list(done.errors[:MAX_TOLD_ERRORS])
    if more := len(done.errors) - len(errors):
        errors.append(f"… and {more} more.")
    ids = {str(name): str(id) for name, id in (done.ids or {}).items()}
    whole = 0 < len(ids) <= MAX_TOLD_IDS and estimate_tokens(compact(ids)) <= MAX_ID_TOKENS
    return ImportProgress(
        imported=done.imported,
        skipped=done.skipped,
        errors=errors,
        total=done.total,
        processed=done.processed,
        status=done.status,
        handle=done.handle,
        ids=ids if whole else None,
        recurrences=[recurrence(one) for one in done.recurrences[:MAX_TOLD_RECURRENCES]] or None,
    )


def _import_told(data: ImportProgress, done: Imported) -> str:
    counts = f"{data.imported} imported, {data.skipped} skipped, {len(done.errors)} refused"
    lines = [f"{counts}; {data.processed} of {data.total} entries done: {_state(done)}", *data.errors]
    lines += [recurrence_told(one) for one in data.recurrences or ()]
    ids = data.ids or {}
    lines += [f"- {name}: `{id}`" for name, id in ids.items()] if len(ids) <= MAX_READ_IDS else [IDS_ARE_DATA]
    return "\n".join(lines)


def _state(done: Imported | Rebuilt) -> str:
    match done.status:
        case "complete":
            return "complete."
        case "failed":
            return "failed. What was done stays; start it again, and it goes on with what is missing."
        case _:
            return f"goes on by itself. Handle: `{done.handle}`."
