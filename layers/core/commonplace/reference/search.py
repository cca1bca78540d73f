"""Search by words and meaning: two rankings of one edition, fused (seed 003, "Search Implementation", both options).

Words are compared in the process. Meaning comes from the collection `reference` of the index, which lags behind and may
be away: its hits are looked up in the edition, every condition is checked again, and without it words alone answer.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from commonplace.kernel.errors import Unavailable
from commonplace.reference.index_source import address, record_id
from commonplace.reference.model import EVERYWHERE, Asked, Hit
from commonplace.reference.ports import Meaning, Near
from commonplace.reference.query_shapes import without_kind
from commonplace.reference.scorer import DEFAULT_WEIGHTS, Scorer, Weights
from commonplace.reference.shelf import Kept
from commonplace.reference.synonyms import WORDS
from commonplace.search.embeddings import QueryEmbeddings
from commonplace.search.filters import Filters
from commonplace.search.fusion import Fusion, fuse
from commonplace.search.model import Candidates, EmbeddingProvider, Engine, LegHit
from commonplace.search.query import NOTHING
from commonplace.search.text import words

logger = logging.getLogger(__name__)

CANDIDATES = 100
"""Of each ranking: enough for what is filtered out, replaced or deprecated to take nobody's place."""

SPEAKS_OF_API = frozenset(WORDS["api"])
"""Words of somebody who asks for an endpoint."""


class VectorMeaning:
    """`Meaning` over an engine. Several `embeddings` are those of the index that answers and of the one to come."""

    def __init__(self, engine: Engine, embeddings: Sequence[EmbeddingProvider]) -> None:
        self._engine = engine
        self._queries = QueryEmbeddings(embeddings)

    def near(self, asked: Asked, size: int) -> Sequence[Near] | None:
        """None also when the model fails. Raises Unavailable when the index does not answer."""
        vector = self._queries.vector(asked.query, self._engine.model())
        if vector is None:
            return None
        found = self._engine.candidates(NOTHING, vector, filters(asked), size)
        model = self._engine.model() if found.degraded else vector.model
        if model != vector.model and self._queries.knows(model):
            # Another index has replaced the one whose model was read.
            again = self._queries.vector(asked.query, model)
            found = self._engine.candidates(NOTHING, again, filters(asked), size) if again else found
        return None if found.degraded else [Near(*address(hit.id), score=hit.score) for hit in found.vector]


def filters(asked: Asked) -> Filters:
    """The conditions as far as the index knows them: it says less than a catalogue, never more."""
    return Filters(
        content_types=(asked.type,) if asked.type else (),
        tags_all=(asked.module.lower(),) if asked.module else (),
        tags_any=(asked.category.lower(),) if asked.category else (),
    )


@dataclass(frozen=True, slots=True)
class Tuning:
    """Weights of words and meaning, and from where on something is found: chosen as `Weights` are."""

    weights: Weights = DEFAULT_WEIGHTS
    fusion: Fusion = Fusion("min-max", 0.7, 0.3)  # noqa: RUF009 - immutable
    endpoint: float = 0.8
    """What an endpoint's score is multiplied by unless the query speaks of an API: most endpoints have a command that
    does the same, and people type commands (seed 003 gives commands its highest weight)."""
    optional: float = 0.95
    """The same of what belongs to an optional part of the product, unless the query names that part."""
    other: float = 0.7
    """The same of other products than those that the query names."""
    least: float = 0.316
    """Of the query: where the best entry has less, and the nearest cosine does not make up for it, nothing is found."""
    nearness: float = 0.4
    """The share that a cosine of 1 makes up."""
    least_words: float = 0.18
    """The least share where meaning cannot be compared."""
    tail: float = 0.4
    """Share of the best score below which others are left out: they answer nothing, and cost their reader's tokens."""


DEFAULT_TUNING = Tuning()


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best first."""

    hits: tuple[Hit, ...]
    fallback: bool
    """True if meaning was not compared."""


class Words:
    """The words of an edition's entries, and the way from an id to its entry. Immutable once built."""

    def __init__(
        self,
        entries: Sequence[Kept],
        synonyms: Sequence[Mapping[str, Sequence[str]]] = (),
        tuning: Tuning = DEFAULT_TUNING,
    ) -> None:
        """`synonyms` are the catalogues' own tables."""
        self._entries = entries
        self._ids = [record_id(kept.catalogue.name, kept.entry.id) for kept in entries]
        self._places = {id: place for place, id in enumerate(self._ids)}
        products = [f"{kept.catalogue.name} {kept.catalogue.title}" for kept in entries]
        self.scorer = Scorer([kept.entry for kept in entries], synonyms, tuning.weights, products)
        self._products = {kept.catalogue.name: frozenset(words(kept.catalogue.title)) for kept in entries}
        self._tuning = tuning

    def rank(
        self,
        asked: Asked,
        admits: Callable[[Kept], bool],
        current: Callable[[Kept], Kept],
        meaning: Meaning | None = None,
    ) -> Ranking:
        """Return what has the query's words, or is near to it; nothing where all of it is about something else.

        `current` says what is to be used in place of a deprecated entry. Those that nothing replaces come last.
        """
        near = None
        try:
            subject, _ = without_kind(asked.query)  # `list users command`: no vector says what kind of entry it is of
            near = meaning.near(replace(asked, query=subject or asked.query), CANDIDATES) if meaning else None
        except Unavailable as error:
            logger.warning("meaning cannot be compared, searching words only", extra={"reason": error.message})
        hits: dict[tuple[str, str], Hit] = {}
        for kept, score in self._fused(asked, admits, near):
            # Each entry stands once, where the best of what it replaces stood.
            now = current(kept)
            key = (now.catalogue.name, now.entry.id)
            if key not in hits and admits(now):
                replaced = None if now is kept else kept.entry
                hits[key] = Hit(now.catalogue, now.placed, "words", round(score, 4), instead_of=replaced)
        ranked = sorted(hits.values(), key=lambda hit: hit.entry.deprecated)
        return Ranking(tuple(ranked[: asked.limit]), fallback=near is None)

    def _fused(
        self, asked: Asked, admits: Callable[[Kept], bool], near: Sequence[Near] | None
    ) -> Sequence[tuple[Kept, float]]:
        every = (asked.type, asked.category, asked.module) == (None, None, None) and asked.within == EVERYWHERE
        admitted = None if every else lambda place: admits(self._entries[place])
        lexical = [LegHit(self._ids[place], score) for place, score in self.scorer.rank(asked.query, admitted)]
        named = ((record_id(one.catalogue, one.id), one.score) for one in near or ())
        known = [LegHit(id, score) for id, score in named if id in self._places]
        vector = [hit for hit in known if admits(self._entries[self._places[hit.id]])]
        share, cosine = (leg[0].score if leg else 0.0 for leg in (lexical, vector))
        least = self._tuning.least_words if near is None else self._tuning.least - self._tuning.nearness * cosine
        if share < least:
            return ()
        candidates = Candidates(tuple(lexical[:CANDIDATES]), tuple(vector), total=len(lexical))
        fused = fuse(candidates, self._tuning.fusion)
        found = [(self._entries[self._places[id]], score) for id, score in fused]
        ranked = self._preferred(asked, found)
        return [one for one in ranked if one[1] >= self._tuning.tail * ranked[0][1]]

    def _preferred(self, asked: Asked, found: Sequence[tuple[Kept, float]]) -> list[tuple[Kept, float]]:
        """Return what most people mean first, where little else distinguishes two entries."""
        told = set(words(asked.query))
        speaks_of_api = asked.type is not None or not SPEAKS_OF_API.isdisjoint(told)
        endpoint = 1.0 if speaks_of_api else self._tuning.endpoint
        optional = 1.0 if asked.module else self._tuning.optional
        products = {name for name, title in self._products.items() if name in told or title <= told}

        def share(kept: Kept) -> float:
            other = self._tuning.other if products and kept.catalogue.name not in products else 1.0
            return other * (endpoint if kept.entry.type == "api" else 1.0) * (optional if kept.entry.module else 1.0)

        return sorted(((kept, score * share(kept)) for kept, score in found), key=lambda one: -one[1])
