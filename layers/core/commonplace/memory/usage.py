"""What becomes of lessons, on DynamoDB, table `records`: recurrences, searches by story, votes on hits.

    {org}#memory#recurrences   {entry}#{story}   once each; written with the entry, which names the story as well
    {org}#memory#recurring     {rank}#{entry}    the last one of each entry, the most often seen first
    {org}#memory#stories       {story}           searches, tokens of their answers, tokens that the story took
    {org}#memory#votes         {entry}#{story}#{voter}   how relevant the entry was to that story, 0 to 5
    {org}#memory#ratings       {entry}           how many votes there are on it, and their sum
    {org}#memory#rated         {mean}#{rank}#{entry}     the same, the lowest first
    {org}#memory#usage         {shard}           totals of all of them

What a change does to ranks and totals is in its transaction, so nobody reads all stories or votes. Stories and votes
are stored for a year; what they added stays. No text of a query is stored.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from commonplace.kernel.audit_store import MEMORY
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.items import decoded, encode, key
from commonplace.kernel.records import Change, Records
from commonplace.kernel.table import Table, Write
from commonplace.memory.facets import facet
from commonplace.memory.model import MAX_SEEN_IN, EntryId, Rating, Recurrence, StoryUse, Vote
from commonplace.memory.records import (
    EntryTable,
    adding,
    entry_key,
    random_shard,
    read_entry,
    room,
    summed,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from commonplace.kernel.audit import AuditRecord
    from commonplace.kernel.items import Item

logger = logging.getLogger(__name__)

RECURRENCES = "recurrences"
"""The total of them."""
KEPT_SECONDS = 366 * 86_400
HASTY_ATTEMPTS = 3
LAST_RANK = 10**9
"""Above every number that is ranked: the highest comes first."""


def of_story(use: StoryUse | None) -> Counter[str]:
    """Return what a story adds to the totals."""
    if use is None:
        return Counter()
    cells = Counter(stories=1)
    if use.searches:
        cells += Counter(searching=1, searches=use.searches, answer_tokens=use.answer_tokens)
    if use.tokens_used is not None:
        kind = "searching" if use.searches else "other"
        cells.update({f"{kind}_told": 1, f"{kind}_tokens": use.tokens_used})
    return cells


def of_vote(vote: Vote | None) -> Counter[str]:
    """Return what a vote adds to the totals."""
    return Counter({f"rated_{vote.relevance}": 1}) if vote else Counter()


class DynamoUsage:
    """Stories, votes and recurrences in the table. A search and a summary are counted without failing their caller."""

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
        self._records = Records(self._table, activity, MEMORY)
        counting = Table(hasty or client, records, attempts=HASTY_ATTEMPTS, sleep=sleep)
        self._counting = Records(counting, activity, MEMORY)
        self._clock = clock

    def recur(self, organisation: str, id: EntryId, story: str, at: str, audit: AuditRecord) -> Recurrence | None:
        """Note in one transaction that this story learned the entry again.

        The same again notes nothing, and returns what is noted. None when it is the story that learned it first, and
        when there is no such entry. Raises Unavailable.
        """

        def decide(change: Change) -> Recurrence | None:
            entry = read_entry(organisation, self._table.get(entry_key(organisation, id)))
            if entry is None or story in ("", entry.source_story):
                return None
            where = key(room(organisation, "recurrences"), f"{id}#{facet('story', story)}")
            if noted := self._table.get(where):
                return decoded(Recurrence, noted)
            found = Recurrence(id, entry.source_story or "", story, at, entry.seen + 1)
            how = "SET #revision = #revision + :one, #seen = :seen, #seenIn = :stories"
            stories = [*entry.seen_in, story][-MAX_SEEN_IN:]
            values = {"one": 1, "was": entry.revision, "seen": found.seen, "stories": stories}
            change.writes += [
                self._table.new(where, encode(found)),
                *self._table.changed(organisation, id, how, "#revision = :was", values),
                self._table.put(_recurring(organisation, id, found.seen), encode(found)),
                self._table.delete(_recurring(organisation, id, entry.seen)),
                *self._counted(self._table, organisation, {RECURRENCES: 1}),
            ]
            change.record(audit)
            return found

        return self._records.change(organisation, decide)

    def searched(self, organisation: str, story: str, tokens: int) -> None:
        """Count a search, and the tokens of its answer. Never fails its caller."""

        def searched(use: StoryUse) -> StoryUse:
            return replace(use, searches=use.searches + 1, answer_tokens=use.answer_tokens + tokens)

        self._note(self._counting, organisation, story, searched)

    def recorded(self, organisation: str, story: str, tokens_used: int | None) -> None:
        """The story left a summary, and took so many tokens where that is known. Never fails its caller."""

        def recorded(use: StoryUse) -> StoryUse:
            return use if tokens_used is None else replace(use, tokens_used=tokens_used)

        self._note(self._records, organisation, story, recorded)

    def _note(self, records: Records, organisation: str, story: str, use: Callable[[StoryUse], StoryUse]) -> None:
        table = records.table
        where = key(room(organisation, "stories"), facet("story", story))

        def decide(change: Change) -> None:
            read = table.get(where)
            was = decoded(StoryUse, read)
            now = use(was or StoryUse(story))
            cells = of_story(now)
            cells.subtract(of_story(was))
            change.writes.append(self._replaced(table, where, read, encode(now) | self._for_a_year()))
            change.writes += self._counted(table, organisation, cells)

        try:
            records.change(organisation, decide)
        except Unavailable:
            logger.warning("a story could not be counted")

    def vote(self, organisation: str, vote: Vote) -> Rating:
        """Store a vote in place of the one that the voter gave the entry in that story. Raises Unavailable."""
        where = key(room(organisation, "votes"), f"{vote.id}#{facet('story', vote.story)}#{vote.voter}")
        of_entry = key(room(organisation, "ratings"), vote.id)

        def decide(change: Change) -> Rating:
            read, rated = self._table.get(where), self._table.get(of_entry)
            was, before = decoded(Vote, read), decoded(Rating, rated) or Rating(vote.id)
            votes, total = (0, vote.relevance - was.relevance) if was else (1, vote.relevance)
            now = replace(before, votes=before.votes + votes, total=before.total + total)
            cells = of_vote(vote)
            cells.subtract(of_vote(was))
            change.writes += [
                self._replaced(self._table, where, read, encode(vote) | self._for_a_year()),
                self._replaced(self._table, of_entry, rated, encode(now)),
                self._table.put(_rated(organisation, now), encode(now)),
                *([self._table.delete(_rated(organisation, before))] if before.votes and before != now else []),
                *self._counted(self._table, organisation, cells),
            ]
            return now

        return self._records.change(organisation, decide)

    def rating(self, organisation: str, id: EntryId) -> Rating:
        return decoded(Rating, self._table.get(key(room(organisation, "ratings"), id))) or Rating(id)

    def lowest(self, organisation: str, most: int) -> Sequence[Rating]:
        """Return the entries that were rated lowest, of equal ones those with more votes first."""
        items = self._table.query(room(organisation, "rated"), Limit=most)
        return [rating for item in islice(items, most) if (rating := decoded(Rating, item))]

    def recurring(self, organisation: str, most: int) -> Sequence[Recurrence]:
        """Return the last recurrence of each lesson that was learned again most often."""
        items = self._table.query(room(organisation, "recurring"), Limit=most)
        return [found for item in islice(items, most) if (found := decoded(Recurrence, item))]

    def totals(self, organisation: str) -> Mapping[str, int]:
        """Return the cells of stories and votes, and how many `recurrences` there are, of all that was ever noted."""
        return summed(self._table.query(room(organisation, "usage")))

    def _for_a_year(self) -> Item:
        return {"expiresAt": int(self._clock()) + KEPT_SECONDS}

    @staticmethod
    def _replaced(table: Table, where: Item, read: Item | None, now: Item) -> Write:
        """In place of what was read, unless somebody has since."""
        if read is None:
            return table.new(where, now | {"turn": 1})
        return table.put(where, now | {"turn": read["turn"] + 1}, "#turn = :turn", turn=read["turn"])

    @staticmethod
    def _counted(table: Table, organisation: str, cells: Mapping[str, int]) -> list[Write]:
        changed = {cell: amount for cell, amount in cells.items() if amount}
        where = key(room(organisation, "usage"), f"{random_shard():02d}")
        return [table.update(where, adding(changed), "", **changed)] if changed else []


def _recurring(organisation: str, id: EntryId, seen: int) -> Item:
    return key(room(organisation, "recurring"), f"{LAST_RANK - seen:010d}#{id}")


def _rated(organisation: str, rating: Rating) -> Item:
    at = f"{rating.total / rating.votes:.6f}#{LAST_RANK - rating.votes:010d}#{rating.id}"
    return key(room(organisation, "rated"), at)
