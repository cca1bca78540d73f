"""The conversations of one person as pydantic-ai loads and saves them, over the store of the room."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from pydantic import TypeAdapter
from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationEntry,
    ConversationRecord,
    ConversationStore,
)

from commonplace.chat.model import Owner
from commonplace.chat.store import ChatStore
from commonplace.kernel.audit import AuditRecord, Lost

RECORDS, ENTRIES = TypeAdapter(ConversationRecord), TypeAdapter(ConversationEntry)


class Conversations(ConversationStore):
    """One conversation of one account: a library that asks for another gets none."""

    def __init__(self, store: ChatStore, owner: Owner, id: str, title: str, record: Callable[[], AuditRecord]) -> None:
        """`title` is for a conversation that begins; `record` makes what is written down with each turn."""
        self._store, self._owner, self.id, self._title, self._record = store, owner, id, title, record

    async def read_record(self, conversation_id: str) -> ConversationRecord | None:
        if conversation_id != self.id:
            return None
        body = await asyncio.to_thread(self._store.record, self._owner, self.id)
        return RECORDS.validate_json(body) if body is not None else None

    async def read_records(self, *, scope: str | None = None, limit: int | None = None) -> Sequence[ConversationRecord]:
        record = await self.read_record(self.id)
        return [record][:limit] if record is not None and scope in (None, record.scope) else []

    async def write_record(
        self,
        record: ConversationRecord,
        *,
        new_entries: Sequence[ConversationEntry] = (),
        expected_revision: str | None,
    ) -> None:
        if record.conversation_id != self.id:
            raise ConversationConflict(record.conversation_id)
        entries = {one.id: (_written(ENTRIES, one), one.parent_id) for one in new_entries}
        try:
            await asyncio.to_thread(
                self._store.save,
                self._owner,
                self.id,
                record=_written(RECORDS, record),
                revision=record.revision,
                expected=expected_revision,
                entries=entries,
                title=self._title,
                audit=self._record(),
            )
        except Lost:
            raise ConversationConflict(self.id) from None

    async def delete_record(self, conversation_id: str, *, expected_revision: str) -> None:
        """Raises NotImplementedError: people delete conversations, and the library has no reason to."""
        raise NotImplementedError

    async def read_entry(self, entry_id: str) -> ConversationEntry:
        found = await asyncio.to_thread(self._store.entries, self._owner, self.id, entry_id)
        if not found:
            raise LookupError(entry_id)
        return ENTRIES.validate_json(found[-1])

    async def read_history(self, head_id: str | None, *, limit: int | None = None) -> list[ConversationEntry]:
        """Return the messages that have not expired: a conversation begins where they do."""
        found = await asyncio.to_thread(self._store.entries, self._owner, self.id, head_id)
        return [ENTRIES.validate_json(one) for one in (found if limit is None else found[-limit or len(found) :])]


def _written(kind: TypeAdapter[Any], value: Any) -> str:
    """Return a value as JSON. A model may send half an emoji, which no encoding takes."""
    return whole_characters(json.dumps(kind.dump_python(value, mode="json"), ensure_ascii=False))


def whole_characters(text: str) -> str:
    """Return a text with pairs of surrogates joined, and U+FFFD for those that stand alone."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
