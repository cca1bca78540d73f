"""What becomes of lessons, on DynamoDB, table `records`: recurrences, searches by story, votes on hits.

    {org}#memory#recurrences   {entry}#{story}   once each; written with the entry, which names the story as well
    {org}#memory#recurring     {rank}#{entry}    the last one of each entry, the most often seen first
    {org}#memory#stories       {story}           searches, tokens of their answers, tokens that the story took
    {org}#memory#votes         {entry}#{story}#{voter}   how relevant the entry was to that story, 0 to 5
    {org}#memory#ratings       {entry}           how many votes there are on it, and their sum
    {org}#memory#rated         {mean}#{rank}#{entry}     the same, the lowest first
    {org}#memory#usage         {shard}           totals of all of them

What a change does to ranks and totals is in its transaction, so nobody reads all stories or votes. Stories and votes
are kept for a year; what they added stays. No text of a query is kept.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from commonplace.kernel.audit import Lost
from commonplace.kernel.audit_store import MEMORY, audit_writes
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.items import decoded, encode, key
from commonplace.kernel.table import Table, Write
from commonplace.memory.facet_store import adding, random_shard, summed
from commonplace.memory.facets import facet
from commonplace.memory.model import MAX_SEEN_IN, EntryId, Rating, Recurrence, StoryUse, Vote
from commonplace.memory.records import EntryTable, contended, entry_key, read_entry, room
from commonplace.memory.usage import RECURRENCES, of_story, of_vote

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from commonplace.kernel.audit import AuditRecord
    from commonplace.kernel.items import Item

logger = logging.getLogger(__name__)

KEPT_SECONDS = 366 * 86_400
ROUNDS, HASTY_ATTEMPTS = 12, 3
LAST_RANK = 10**9
"""Above every number that is ranked: the highest comes first."""


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
        self._counting = Table(hasty or client, records, attempts=HASTY_ATTEMPTS, sleep=sleep)
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
            ranked = [
                self._table.put(_recurring(organisation, id, found.seen), encode(found)),
                self._table.delete(_recurring(organisation, id, entry.seen)),
            ]
            counted = self._counted(self._table, organisation, {RECURRENCES: 1})
            record = audit_writes(self._activity, [audit], MEMORY)
            try:
                self._table.transact([self._table.new(where, encode(found)), *seen, *ranked, *counted, *record])
            except Lost:
                continue
            return found
        raise contended()

    def searched(self, organisation: str, story: str, tokens: int) -> None:
        def searched(use: StoryUse) -> StoryUse:
            return replace(use, searches=use.searches + 1, answer_tokens=use.answer_tokens + tokens)

        self._note(self._counting, organisation, story, searched)

    def recorded(self, organisation: str, story: str, tokens_used: int | None) -> None:
        def recorded(use: StoryUse) -> StoryUse:
            return use if tokens_used is None else replace(use, tokens_used=tokens_used)

        self._note(self._table, organisation, story, recorded)

    def vote(self, organisation: str, vote: Vote) -> Rating:
        where = key(room(organisation, "votes"), f"{vote.id}#{facet('story', vote.story)}#{vote.voter}")
        of_entry = key(room(organisation, "ratings"), vote.id)
        for _ in range(ROUNDS):
            kept, rated = self._table.get(where), self._table.get(of_entry)
            was, before = decoded(Vote, kept), decoded(Rating, rated) or Rating(vote.id)
            votes, total = (0, vote.relevance - was.relevance) if was else (1, vote.relevance)
            now = replace(before, votes=before.votes + votes, total=before.total + total)
            cells = of_vote(vote)
            cells.subtract(of_vote(was))
            writes = [
                self._replaced(self._table, where, kept, encode(vote) | self._kept_a_year()),
                self._replaced(self._table, of_entry, rated, encode(now)),
                self._table.put(_rated(organisation, now), encode(now)),
                *([self._table.delete(_rated(organisation, before))] if before.votes and before != now else []),
                *self._counted(self._table, organisation, cells),
            ]
            try:
                self._table.transact(writes)
            except Lost:
                continue
            return now
        raise contended()

    def rating(self, organisation: str, id: EntryId) -> Rating:
        return decoded(Rating, self._table.get(key(room(organisation, "ratings"), id))) or Rating(id)

    def lowest(self, organisation: str, most: int) -> Sequence[Rating]:
        items = self._table.query(room(organisation, "rated"), Limit=most)
        return [rating for item in islice(items, most) if (rating := decoded(Rating, item))]

    def recurring(self, organisation: str, most: int) -> Sequence[Recurrence]:
        items = self._table.query(room(organisation, "recurring"), Limit=most)
        return [found for item in islice(items, most) if (found := decoded(Recurrence, item))]

    def totals(self, organisation: str) -> Mapping[str, int]:
        return summed(self._table.query(room(organisation, "usage")))

    def _note(self, table: Table, organisation: str, story: str, change: Callable[[StoryUse], StoryUse]) -> None:
        """Changes what is known of a story. Never fails."""
        where = key(room(organisation, "stories"), facet("story", story))
        try:
            for _ in range(ROUNDS):
                kept = table.get(where)
                was = decoded(StoryUse, kept)
                now = change(was or StoryUse(story))
                cells = of_story(now)
                cells.subtract(of_story(was))
                noted = self._replaced(table, where, kept, encode(now) | self._kept_a_year())
                writes = [noted, *self._counted(table, organisation, cells)]
                with suppress(Lost):
                    table.transact(writes)
                    return
        except Unavailable:
            pass
        logger.warning("a story could not be counted")

    def _kept_a_year(self) -> Item:
        return {"expiresAt": int(self._clock()) + KEPT_SECONDS}

    @staticmethod
    def _replaced(table: Table, where: Item, read: Item | None, now: Item) -> Write:
        """In place of what was read, unless somebody has since."""
        if read is None:
            return table.new(where, now | {"turn": 1})
        return table.put(where, now | {"turn": read["turn"] + 1}, "#turn = :turn", turn=read["turn"])

    def _counted(self, table: Table, organisation: str, cells: Mapping[str, int]) -> list[Write]:
        changed = {cell: amount for cell, amount in cells.items() if amount}
        where = key(room(organisation, "usage"), f"{random_shard():02d}")
        return [table.update(where, adding(changed), "", **changed)] if changed else []


def _recurring(organisation: str, id: EntryId, seen: int) -> Item:
    return key(room(organisation, "recurring"), f"{LAST_RANK - seen:010d}#{id}")


def _rated(organisation: str, rating: Rating) -> Item:
    at = f"{rating.total / rating.votes:.6f}#{LAST_RANK - rating.votes:010d}#{rating.id}"
    return key(room(organisation, "rated"), at)
