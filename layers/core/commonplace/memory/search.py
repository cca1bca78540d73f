"""Search of the memory: words and meaning, fused by reciprocal ranks (seed 001, `kb_search`).

The index proposes entries and the store decides: the index lags behind by a second or two, so every entry is read again
and every condition is checked again before anything is shown.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from commonplace.kernel.errors import Unavailable
from commonplace.memory.index_source import CURRENT, record_id
from commonplace.memory.model import Asked, Entry, EntryId, Found, Role, SearchAnswer
from commonplace.search.candidates import Ranked, Retrievals, Stopwatch
from commonplace.search.filters import Filters
from commonplace.search.fitness import DEPTH, NOTHING_FITS, NOTHING_WITHIN, fits
from commonplace.search.fusion import Fusion
from commonplace.search.model import EmbeddingProvider, Engine, QueryVector, RecordId, SearchRequest
from commonplace.search.near_duplicates import folded, nearly_equal
from commonplace.search.query import NOTHING, Query
from commonplace.search.snippets import snippet

if TYPE_CHECKING:
    from commonplace.memory.store import DynamoEntries


logger = logging.getLogger(__name__)

SEED_FUSION = Fusion("rrf", lexical_weight=0.3, vector_weight=0.7, rank_constant=60)

OVER_FETCH = 3
"""So many times the limit are looked at: what is gone, changed or nearly the same takes nobody's place."""

EXCERPT_CHARACTERS = 1_600
"""About 400 tokens. A shorter entry is shown whole."""

Group = tuple[Entry, float, list[EntryId]]
"""An entry, its score, and the others that it stands for."""


def filters(organisation: str, asked: Asked) -> Filters:
    """Return the conditions as the index takes them. The organisation always stands among them."""
    return Filters(
        content_types=(asked.entry_type,) if asked.entry_type else (),
        tags_any=asked.tags,
        organisation=organisation,
        roles_any=roles_meant(asked.role),
        min_confidence=asked.min_confidence,
        statuses=(CURRENT,),
        groups=(asked.source_story,) if asked.source_story else (),
        path_prefix=asked.source_file,
        created_from=asked.since,
        created_to=asked.until,
    )


def roles_meant(role: Role | None) -> tuple[Role, ...]:
    """Return which roles an entry may have for a query of this role; empty is no condition."""
    return () if role in (None, "all") else (role, "all")


def found(asked: Asked, entry: Entry) -> bool:
    """Return whether a search may show the entry: any of the tags is enough."""
    roles = roles_meant(asked.role)
    return (
        asked.entry_type in (None, entry.entry_type)
        and (not roles or not set(roles).isdisjoint(entry.roles))
        and entry.superseded_by is None
        and asked.source_story in (None, entry.source_story)
        and asked.source_file in (None, entry.source_file)
        and (asked.since is None or entry.created_at >= asked.since)
        and (asked.until is None or entry.created_at[: len(asked.until)] <= asked.until)
        and entry.confidence >= asked.min_confidence
        and (not asked.tags or not set(asked.tags).isdisjoint(entry.tags))
    )


def without_lost_parents(store: DynamoEntries, organisation: str, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return the entries, with no parent where that is gone: at once, before it is swept."""
    parents = list({entry.parent_id for entry in entries if entry.parent_id})
    there = store.get_many(organisation, parents).keys() if parents else set()
    return tuple(
        entry if entry.parent_id is None or entry.parent_id in there else replace(entry, parent_id=None)
        for entry in entries
    )


def in_order(ids: Sequence[EntryId], entries: Mapping[EntryId, Entry]) -> tuple[Entry, ...]:
    """Return those that are there, in this order."""
    return tuple(entries[id] for id in ids if id in entries)


class MemorySearch:
    """Searches the index of the memory, and shows what the store says of what was found.

    Several `embeddings` are those of the index that answers and of the one that is to take its place. `clock` gives
    seconds, for timings.
    """

    def __init__(
        self,
        engine: Engine,
        embeddings: Sequence[EmbeddingProvider],
        store: DynamoEntries,
        *,
        fusion: Fusion = SEED_FUSION,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._engine = engine
        self._store = store
        self._retrievals = Retrievals(engine, embeddings, fusion)
        self._clock = clock

    def search(self, organisation: str, asked: Asked) -> SearchAnswer:
        """Return the best entries of this organisation. Raises Unavailable when index or store do not answer."""
        query = Query.of(asked.query)
        request = SearchRequest(query.text, filters(organisation, asked), asked.limit, collapse=asked.collapse)
        retrieval = self._retrievals.of(organisation)
        watch = Stopwatch(self._clock)
        ranked = retrieval.rank(query, request, OVER_FETCH * asked.limit, watch)
        groups = self._groups(organisation, asked, ranked)[: max(asked.limit, DEPTH)]
        judged = [record_id(organisation, entry.id) for entry, _, _ in groups]
        grades = fits(ranked, judged, retrieval.likeness(ranked.understood, judged, watch))
        groups = groups[: asked.limit]
        excerpts = self._excerpts(organisation, query, [entry for entry, _, _ in groups], ranked)
        entries = without_lost_parents(self._store, organisation, [entry for entry, _, _ in groups])
        found = tuple(
            Found(entry, round(score, 6), excerpts[entry.id], grades[record_id(organisation, entry.id)], tuple(others))
            for entry, (_, score, others) in zip(entries, groups, strict=True)
        )
        hint = None
        if {*grades.values()} == {"weak"}:
            unconditional = filters(organisation, Asked(query="", min_confidence=asked.min_confidence))
            hint = NOTHING_FITS if request.filters == unconditional else NOTHING_WITHIN
        return SearchAnswer(found, fallback=self._retrievals.fell_back(organisation, query, ranked), hint=hint)

    def nearest(self, organisation: str, vector: QueryVector, limit: int) -> list[tuple[Entry, float]]:
        """Return entries with a similar text and how similar, the nearest first; none in doubt."""
        asked = Asked(query="", min_confidence=0.0)
        try:
            candidates = self._engine.candidates(NOTHING, vector, filters(organisation, asked), limit)
        except Unavailable as error:
            logger.warning("similar entries could not be looked for", extra={"reason": error.message})
            return []
        scores = {id: hit.score for hit in candidates.vector if (id := _entry_of(organisation, hit.id))}
        entries = in_order(list(scores), self._store.get_many(organisation, list(scores)) if scores else {})
        return [(entry, scores[entry.id]) for entry in entries]

    def _groups(self, organisation: str, asked: Asked, ranked: Ranked) -> list[Group]:
        """Return what may be shown, best first: of texts that are nearly equal, only the best."""
        copies = {record: (record, *ranked.best.duplicates.get(record, ())) for record, _ in ranked.best.ranking}
        ids = {one: id for each in copies.values() for one in each if (id := _entry_of(organisation, one)) is not None}
        entries = self._store.get_many(organisation, list(dict.fromkeys(ids.values()))) if ids else {}
        groups: dict[tuple[str, ...], Group] = {}
        for record, score in ranked.best.ranking:
            members = [entries[ids[one]] for one in copies[record] if one in ids and ids[one] in entries]
            for entry in (one for one in members if found(asked, one)):
                if asked.collapse:
                    self._place(groups, entry, score, beside=members)
                else:
                    groups[(entry.id,)] = (entry, score, [])
        return list(groups.values())

    @staticmethod
    def _place(groups: dict[tuple[str, ...], Group], entry: Entry, score: float, beside: Sequence[Entry]) -> None:
        best = next((groups[key] for one in (entry, *beside) if (key := folded(one.content)) in groups), None)
        meant = entry.entry_type, {*entry.roles}
        rest = [one for one in groups.values() if (one[0].entry_type, {*one[0].roles}) == meant]
        best = best or next((one for one in rest if nearly_equal(one[0].content, entry.content)), None)
        if best is None:
            groups[folded(entry.content)] = (entry, score, [])
        elif best[0].id != entry.id and entry.id not in best[2]:
            best[2].append(entry.id)

    def _excerpts(
        self, organisation: str, query: Query, entries: Sequence[Entry], ranked: Ranked
    ) -> Mapping[EntryId, str]:
        """Return all of a short entry, and of a long one the chunk that was found, as the store has it."""
        long = [entry for entry in entries if len(entry.content) > EXCERPT_CHARACTERS]
        wanted = [(record_id(organisation, entry.id), 0.0) for entry in long]
        shown = self._retrievals.of(organisation).show(query, ranked, wanted, {}) if wanted else {}
        excerpts = {entry.id: entry.content for entry in entries}
        for entry in long:
            found = shown.get(record_id(organisation, entry.id))
            chunk = found.chunk.text if found and found.chunk else ""
            current = chunk and _flat(chunk) in _flat(entry.content)
            excerpts[entry.id] = (
                beginning(chunk, EXCERPT_CHARACTERS) if current else snippet(entry.content, query, size=1_000).text
            )
        return excerpts


def _entry_of(organisation: str, record: RecordId) -> EntryId | None:
    """Return the entry behind a record of this organisation; None for a record of any other."""
    owner, _, id = record.rpartition("/")
    return EntryId(id) if owner == organisation else None


def _flat(text: str) -> str:
    return " ".join(text.split())


def beginning(text: str, most: int) -> str:
    """Return the text, cut between words where it is longer."""
    if len(text) <= most:
        return text
    cut = text.rfind(" ", most // 2, most)
    return text[: cut if cut > 0 else most].rstrip() + " …"
