"""Search of the hive: one's own items and public ones, the most relevant first (seed 004, `search_knowledge`).

The index proposes items and the store decides: the index lags behind by a second or two, so every item is read again,
and what was withdrawn, deleted, invalidated or damaged meanwhile is left out.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from commonplace.hive.index_source import address
from commonplace.hive.model import Asked, Contribution, Counts, Found, ItemId, SearchAnswer
from commonplace.hive.quality import item_of, quality
from commonplace.hive.store import DynamoContributions
from commonplace.search.candidates import CANDIDATES_PER_LEG, TOKEN_DEPTH, Ranked, Retrieval, Stopwatch
from commonplace.search.embeddings import model_fingerprint
from commonplace.search.filters import Filters
from commonplace.search.fusion import RELEVANCE_SHARE, Fusion
from commonplace.search.model import EmbeddingProvider, Engine, QueryVector, RecordId, SearchRequest
from commonplace.search.organisations import Retrievals
from commonplace.search.query import NOTHING, Query
from commonplace.search.rerank import blend

logger = logging.getLogger(__name__)

DEPTH = 2 * CANDIDATES_PER_LEG
"""Where a ranking ends."""

NEAR_TIE = 0.05
"""How much relevance the best quality makes up for."""

LIKELY = 0.965
"""Of the relevance of the last one that is wanted: what is below hardly ever comes before it, so one look at the store
is enough for 98 of 100 pages."""

NOTHING_KNOWN = (
    "Nothing is known about this yet. When you have solved it, contribute what you learned with add_knowledge."
)
NOTHING_IN_CATEGORY = "Nothing in this category is about this. Search without a category, or contribute what you learn."

Stored = Mapping[ItemId, tuple[Contribution, Counts]]


class Group(NamedTuple):
    """Records of nearly the same text, the best first, and the relevance of that one."""

    relevance: float
    records: Sequence[RecordId]


class Placed(NamedTuple):
    """An item's place in the order: by relevance, which quality lowers a little, then by id."""

    order: tuple[float, str]
    found: Found


class HiveSearch:
    """A search over the index of the collection `contributions`.

    Several `embeddings` are those of the index that answers and of the one that is to take its place. `names` are the
    public names of organisations. `clock` tells seconds, for timings.
    """

    def __init__(
        self,
        engine: Engine,
        embeddings: Sequence[EmbeddingProvider],
        store: DynamoContributions,
        names: Mapping[str, str],
        *,
        fusion: Fusion | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._engine = engine
        self._embeddings = embeddings
        self._store = store
        self._names = names
        self._retrievals = Retrievals(engine, embeddings, fusion or Fusion())
        self._clock = clock

    def search(self, organisation: str, asked: Asked, now: str) -> SearchAnswer:
        """A page of the ranking. As long as nothing changes, all pages together show each item once.

        Raises Unavailable when index or store do not answer.
        """
        moment = asked.as_of or now
        filters = Filters(
            content_types=(asked.category,) if asked.category else (),
            organisation=organisation,
            or_public=True,
            valid_at=moment,
        )
        query = Query.of(asked.query)
        retrieval = self._retrievals.of(organisation)
        watch = Stopwatch(self._clock)
        ranked = retrieval.rank(query, SearchRequest(query.text, filters), DEPTH, watch)
        groups = self._groups(retrieval, ranked, watch)
        end = asked.offset + asked.limit
        placed, gone = self._placed(organisation, groups, moment, now, end + 1)
        total = len(groups) - gone
        hint = None if total else NOTHING_IN_CATEGORY if asked.category else NOTHING_KNOWN
        return SearchAnswer(
            results=tuple(found for _, found in placed[asked.offset : end]),
            total=total,
            next_offset=end if len(placed) > end else None,
            fallback=self._retrievals.fell_back(organisation, query, ranked),
            hint=hint,
        )

    def similar(self, organisation: str, text: str, limit: int) -> Sequence[tuple[ItemId, float]]:
        """Items of similar meaning; none where meaning cannot be compared."""
        model = self._engine.model()
        provider = next((one for one in self._embeddings if model_fingerprint(one) == model), None)
        if provider is None or model is None:
            return ()
        vector = QueryVector(model, provider.embed([text])[0])
        filters = Filters(organisation=organisation, or_public=True)
        found = self._engine.candidates(NOTHING, vector, filters, limit)
        return [(address(hit.id)[1], round(hit.score, 4)) for hit in found.vector]

    def _groups(self, retrieval: Retrieval, ranked: Ranked, watch: Stopwatch) -> list[Group]:
        """By relevance from 0 to 1: the best also by their tokens, what comes after them never above them."""
        best, rest = ranked.best.ranking[:TOKEN_DEPTH], ranked.best.ranking[TOKEN_DEPTH:]
        likeness = retrieval.likeness(ranked.understood, [record for record, _ in best], watch)
        order = blend(ranked.understood, best, likeness, by_kind=False)
        if rest:
            scale = min(1.0, order[-1][1] / rest[0][1])
            order += [(record, score * scale) for record, score in rest]
        duplicates = ranked.best.duplicates
        return [
            Group(min(1.0, score / RELEVANCE_SHARE), (record, *duplicates.get(record, ()))) for record, score in order
        ]

    def _placed(
        self, organisation: str, groups: Sequence[Group], moment: str, now: str, wanted: int
    ) -> tuple[list[Placed], int]:
        """At least `wanted` of the best in order, where there are as many; and how many groups had nothing to show.

        Quality only lowers a score. So once the last one wanted stands above the relevance of all that were not read,
        none of those can come before it.
        """
        placed: list[Placed] = []
        start = gone = 0
        while start < len(groups):
            if len(placed) >= wanted:
                least = -placed[wanted - 1].order[0]
            else:
                least = LIKELY * groups[min(start + wanted - len(placed), len(groups)) - 1].relevance
            some = [group for group in groups[start:] if group.relevance >= least]
            if not some:
                break
            start += len(some)
            addresses = [address(record) for group in some for record in group.records]
            stored = self._store.items({id: owner for owner, id in addresses})
            for group in some:
                shown = self._shown(organisation, group, stored, moment)
                if shown is None:
                    gone += 1
                else:
                    placed.append(self._place(organisation, group.relevance, *shown, now))
            placed.sort()
        return placed, gone

    def _shown(
        self, organisation: str, group: Group, stored: Stored, moment: str
    ) -> tuple[Contribution, Counts] | None:
        """The one that stands for a group, one's own before others'; None where nothing of it may be shown."""
        items = [stored[id] for _, id in map(address, group.records) if id in stored]
        admitted = [item for item in items if _is_shown(organisation, item[0], moment)]
        return next((item for item in admitted if item[0].organisation == organisation), next(iter(admitted), None))

    def _place(
        self, organisation: str, relevance: float, contribution: Contribution, counts: Counts, now: str
    ) -> Placed:
        time = datetime.fromisoformat(now)
        # As of midnight: the order is the same on every page of a day.
        steady = quality(contribution, counts, time.replace(hour=0, minute=0, second=0, microsecond=0)).score
        item = item_of(organisation, contribution, counts, self._names, time)
        score = relevance * (1 - NEAR_TIE * (1 - steady))
        return Placed((-score, contribution.id), Found(item, round(relevance, 4)))


def _is_shown(organisation: str, item: Contribution, moment: str) -> bool:
    """Whether an organisation may find the item, as it is stored, by what was true at that moment."""
    if item.status != "approved" or not (item.is_public or item.organisation == organisation):
        return False
    if item.valid_at > moment or (item.invalid_at is not None and item.invalid_at <= moment):
        return False
    if not item.intact:
        logger.error("an item is not what was contributed", extra={"item": item.id})
    return item.intact
