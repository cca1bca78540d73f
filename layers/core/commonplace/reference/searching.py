"""Searching by words and meaning: two rankings of one edition, fused (seed 003, "Search Implementation", both options).

Words are compared in the process. Meaning is the index's, which lags behind and may be away: what it names is looked up
in the edition, every condition is judged again, and without it words alone answer.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from commonplace.kernel.errors import Unavailable
from commonplace.reference.entries import Entry
from commonplace.reference.model import Asked, Hit
from commonplace.reference.ports import Meaning, Near
from commonplace.reference.records import record_id
from commonplace.reference.search import DEFAULT_WEIGHTS, Scorer, Weights
from commonplace.reference.shelf import Kept
from commonplace.search.fusion import Fusion, fuse
from commonplace.search.model import Candidates, LegHit
from commonplace.search.text import words

logger = logging.getLogger(__name__)

CANDIDATES = 100
"""Of each ranking: enough for what is filtered out, replaced or deprecated to take nobody's place."""

SPEAKS_OF_API = frozenset({"api", "apis", "endpoint", "endpoints", "rest", "http", "curl", "request", "requests"})
"""Words of somebody who asks for an endpoint."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """How words and meaning are weighed, and what is too little of either.

    Weights were chosen on half of the judged queries of `bench/reference` and checked on the other half; from where on
    something is found, on all of them, with the local model.
    """

    weights: Weights = DEFAULT_WEIGHTS
    fusion: Fusion = Fusion("min-max", 0.5, 0.5)  # noqa: RUF009 - immutable
    endpoint: float = 0.8
    """What an endpoint's score is multiplied by unless the query speaks of an API: most endpoints have a command that
    does the same, and people type commands (seed 003 gives commands its highest weight)."""
    optional: float = 0.95
    """The same of what belongs to an optional part of the product, unless that part is asked for."""
    least_words: float = 0.1
    """Share of the query. Where the best entry has less, and none is as near as `least_meaning`, nothing is found."""
    least_meaning: float = 0.36
    """Cosine."""
    tail: float = 0.2
    """Share of the best score below which others are left out: they answer nothing, and cost their reader's tokens."""


DEFAULT_TUNING = Tuning()


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best first."""

    hits: tuple[Hit, ...]
    fallback: bool
    """Whether meaning was not compared."""


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
        self._scorer = Scorer([kept.entry for kept in entries], synonyms, tuning.weights)
        self._tuning = tuning

    def rank(
        self,
        asked: Asked,
        admits: Callable[[Entry], bool],
        current: Callable[[Kept], Kept],
        meaning: Meaning | None = None,
    ) -> Ranking:
        """What has the query's words, or is near to it; nothing where all of it is about something else.

        `current` says what is to be used in place of a deprecated entry. Those that nothing replaces come last.
        """
        near = _near(asked, meaning)
        ranked = self._fused(asked, admits, near or ())
        hits = list(_without_repeats(ranked, admits, current))
        hits.sort(key=lambda hit: hit.entry.deprecated)
        return Ranking(tuple(hits[: asked.limit]), fallback=near is None)

    def _fused(
        self, asked: Asked, admits: Callable[[Entry], bool], near: Sequence[Near]
    ) -> Sequence[tuple[Kept, float]]:
        lexical = [
            LegHit(self._ids[place], score)
            for place, score in self._scorer.rank(asked.query, self._admitted(asked, admits))
        ]
        vector = [hit for hit in self._known(near) if admits(self._entries[self._places[hit.id]].entry)]
        if not self._relevant(lexical, vector):
            return ()
        candidates = Candidates(tuple(lexical[:CANDIDATES]), tuple(vector), total=len(lexical))
        fused = fuse(candidates, self._tuning.fusion)
        found = [(self._entries[self._places[id]], score) for id, score in fused]
        ranked = self._preferred(asked, found)
        return [one for one in ranked if one[1] >= self._tuning.tail * ranked[0][1]]

    def _admitted(self, asked: Asked, admits: Callable[[Entry], bool]) -> Callable[[int], bool] | None:
        if asked.type is None and asked.category is None and asked.module is None:
            return None
        return lambda place: admits(self._entries[place].entry)

    def _known(self, near: Sequence[Near]) -> Iterator[LegHit]:
        """Of what the index names, what the edition has."""
        for one in near:
            id = record_id(one.catalogue, one.id)
            if id in self._places:
                yield LegHit(id, one.score)

    def _relevant(self, lexical: Sequence[LegHit], vector: Sequence[LegHit]) -> bool:
        return (bool(lexical) and lexical[0].score >= self._tuning.least_words) or (
            bool(vector) and vector[0].score >= self._tuning.least_meaning
        )

    def _preferred(self, asked: Asked, found: Sequence[tuple[Kept, float]]) -> list[tuple[Kept, float]]:
        """What most people mean first, where little else tells two entries apart."""
        endpoint = 1.0 if speaks_of_api(asked) else self._tuning.endpoint
        optional = 1.0 if asked.module else self._tuning.optional

        def share(entry: Entry) -> float:
            return (endpoint if entry.type == "api" else 1.0) * (optional if entry.module else 1.0)

        return sorted(((kept, score * share(kept.entry)) for kept, score in found), key=lambda one: -one[1])


def speaks_of_api(asked: Asked) -> bool:
    """Whether somebody wants endpoints as much as anything else."""
    return asked.type is not None or not SPEAKS_OF_API.isdisjoint(words(asked.query))


def _near(asked: Asked, meaning: Meaning | None) -> Sequence[Near] | None:
    """None where meaning cannot be compared: that is no reason to answer nothing."""
    try:
        return meaning.near(asked, CANDIDATES) if meaning else None
    except Unavailable as error:
        logger.warning("meaning cannot be compared, searching words only", extra={"reason": error.message})
        return None


def _without_repeats(
    ranked: Sequence[tuple[Kept, float]], admits: Callable[[Entry], bool], current: Callable[[Kept], Kept]
) -> Iterator[Hit]:
    """Each entry once, where the best of what it stands for stood."""
    seen: set[tuple[str, str]] = set()
    for kept, score in ranked:
        now = current(kept)
        key = (now.catalogue.name, now.entry.id)
        if key in seen or not admits(now.entry):
            continue
        seen.add(key)
        replaced = None if now is kept else kept.entry
        yield Hit(now.catalogue, now.placed, "words", round(score, 4), instead_of=replaced)
