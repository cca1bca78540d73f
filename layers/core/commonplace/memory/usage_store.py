"""What becomes of lessons, on DynamoDB, table `records`: recurrences, searches by story, votes on hits.

    {org}#memory#recurrences   {entry}#{story}   once each; written with the entry, which names the story as well
    {org}#memory#stories       {story}           searches, tokens of their answers, tokens that the story took
    {org}#memory#usage         recurrences       how many there are
    {org}#memory#votes         {entry}#{story}#{voter}   how relevant the entry was to that story, 0 to 5

Stories and votes are kept for a year. No text of a query is kept.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from commonplace.kernel.audit import Lost
from commonplace.kernel.audit_store import MEMORY, audit_writes
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.items import decoded, encode, key
from commonplace.kernel.table import Table, Write
from commonplace.memory.facets import facet
from commonplace.memory.model import MAX_SEEN_IN, EntryId, Recurrence, StoryUse, Vote
from commonplace.memory.records import EntryTable, entry_key, read_entry, room

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from commonplace.kernel.audit import AuditRecord
    from commonplace.kernel.items import Item

logger = logging.getLogger(__name__)

KEPT_SECONDS = 366 * 86_400
ROUNDS = 12


class DynamoUsage:
    """`memory.ports.UsageStore`."""

    def __init__(
        self,
        client: DynamoDBClient,
        records: str,
        activity: str,
        *,
        hasty: DynamoDBClient | None = None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`hasty` counts, where nobody is to wait for that; `client` reads. `clock` gives epoch seconds."""
        self._table = EntryTable(client, records, sleep=sleep)
        self._counting = Table(hasty or client, records, attempts=1)
        self._activity = activity
        self._clock = clock

    def recur(self, organisation: str, id: EntryId, story: str, at: str, audit: AuditRecord) -> Recurrence | None:
        for _ in range(ROUNDS):
            entry = read_entry(organisation, self._table.get(entry_key(organisation, id)))
            if entry is None or story in ("", entry.source_story):
                return None
            where = key(room(organisation, "recurrences"), f"{id}#{facet('story', story)}")
            if kept := self._table.get(where):
                return decoded(Recurrence, kept)
            found = Recurrence(id, entry.source_story or "", story, at, entry.seen + 1)
            seen = self._table.changed(
                organisation,
                id,
                "SET #revision = #revision + :one, #seen = :seen, #seenIn = :stories",
                "#revision = :was",
                {
                    "one": 1,
                    "was": entry.revision,
                    "seen": found.seen,
                    "stories": [*entry.seen_in, story][-MAX_SEEN_IN:],
                },
            )
            counted = self._table.update(key(room(organisation, "usage"), "recurrences"), "ADD #n :one", one=1)
            record = audit_writes(self._activity, [audit], MEMORY)
            try:
                self._table.transact([self._table.new(where, encode(found)), *seen, counted, *record])
            except Lost:
                continue
            return found
        raise Unavailable("Others keep writing the same entries just now.", retry_after_seconds=1)

    def searched(self, organisation: str, story: str, tokens: int) -> None:
        change = "ADD #searches :one, #answerTokens :tokens"
        self._count(self._counting, self._story(organisation, story, change, one=1, tokens=tokens))

    def recorded(self, organisation: str, story: str, tokens_used: int | None) -> None:
        took = {} if tokens_used is None else {"tokens": tokens_used}
        change = "SET #recorded = :yes" + (", #tokensUsed = :tokens" if took else "")
        self._count(self._table, self._story(organisation, story, change, yes=True, **took))

    def vote(self, organisation: str, vote: Vote) -> None:
        where = key(room(organisation, "votes"), f"{vote.id}#{facet('story', vote.story)}#{vote.voter}")
        self._table.write(self._table.put(where, encode(vote) | {"expiresAt": self._end()}))

    def stories(self, organisation: str) -> Iterator[StoryUse]:
        for item in self._living(organisation, "stories"):
            if use := decoded(StoryUse, item):
                yield use

    def votes(self, organisation: str, id: EntryId | None = None) -> Iterator[Vote]:
        items = self._living(organisation, "votes", f"{id}#" if id else "")
        return (vote for item in items if (vote := decoded(Vote, item)))

    def recurrences(self, organisation: str) -> Iterator[Recurrence]:
        items = self._table.query(room(organisation, "recurrences"))
        return (found for item in items if (found := decoded(Recurrence, item)))

    def recurred(self, organisation: str) -> int:
        item = self._table.get(key(room(organisation, "usage"), "recurrences"))
        return int(item["n"]) if item else 0

    def _story(self, organisation: str, story: str, change: str, **values: Any) -> Write:
        where = key(room(organisation, "stories"), facet("story", story))
        kept = "SET #expiresAt = :end, #story = :story"
        told = change.replace("SET ", f"{kept}, ") if change.startswith("SET") else f"{kept} {change}"
        return self._table.update(where, told, end=self._end(), story=story, **values)

    def _count(self, table: Table, write: Write) -> None:
        try:
            table.write(write)
        except Unavailable:
            logger.warning("a story could not be counted")

    def _living(self, organisation: str, name: str, prefix: str = "") -> Iterator[Item]:
        condition, values = ("begins_with(sk, :prefix)", {"prefix": prefix}) if prefix else ("", {})
        now = self._clock()
        return (one for one in self._table.query(room(organisation, name), condition, values) if one["expiresAt"] > now)

    def _end(self) -> int:
        return int(self._clock()) + KEPT_SECONDS
