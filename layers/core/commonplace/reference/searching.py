"""Searching by words and meaning: two rankings of one edition, fused (seed 003, "Search Implementation", both options).

Words are compared in the process. Meaning is the index's, which lags behind and may be away: what it names is looked up
in the edition, every condition is judged again, and without it words alone answer.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from commonplace.reference.catalogue import Catalogue, Placed
from commonplace.reference.entries import Entry
from commonplace.reference.ports import Meaning
from commonplace.reference.records import record_id
from commonplace.reference.results import Asked
from commonplace.reference.scoring import Scorer
from commonplace.search.fusion import Fusion, fuse
from commonplace.search.model import Candidates, LegHit

CANDIDATES = 60
"""Of each ranking: enough for what is filtered out, replaced or deprecated to take nobody's place."""

FUSION = Fusion("min-max", 0.6, 0.4)

Standing = tuple[Catalogue, Placed]


@dataclass(frozen=True, slots=True)
class Tuning:
    """How words and meaning are weighed, and what is too little of either. Chosen on the judged queries of
    `bench/reference`: docs/reference.md has the table.
    """

    fusion: Fusion = FUSION
    least_words: float = 0.1
    """Share of the query below which an entry that has some of its words is about something else."""
    least_meaning: float = 0.35
    """Similarity below which an entry that has none of its words is."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Entries, best first, with scores from 0 to 1."""

    entries: Sequence[tuple[Standing, float]]
    fallback: bool
    """Whether meaning was not compared."""


class Words:
    """The words of an edition's entries, and the way from an id to its entry. Immutable once built."""

    def __init__(self, catalogues: Sequence[Catalogue], tuning: Tuning = Tuning()) -> None:
        self._standing = [(catalogue, placed) for catalogue in catalogues for placed in catalogue.entries]
        self._ids = [record_id(catalogue.name, placed.entry.id) for catalogue, placed in self._standing]
        self._places = {id: place for place, id in enumerate(self._ids)}
        self._scorer = Scorer(
            [placed.entry for _, placed in self._standing], [catalogue.synonyms for catalogue in catalogues]
        )
        self._tuning = tuning

    def rank(self, asked: Asked, admits: Callable[[Entry], bool] | None, meaning: Meaning | None) -> Ranking:
        """What has the query's words, or is near to it. `admits` is None where nothing is asked of an entry."""
        near = meaning.near(asked, CANDIDATES) if meaning else None
        return Ranking(list(self._ranked(asked.query, admits, near or ())), fallback=near is None)

    def _ranked(
        self, query: str, admits: Callable[[Entry], bool] | None, near: Sequence[tuple[str, str, float]]
    ) -> Iterator[tuple[Standing, float]]:
        admitted = (lambda place: admits(self._standing[place][1].entry)) if admits else None
        words = self._scorer.rank(query, admitted, CANDIDATES)
        lexical = [LegHit(self._ids[place], score) for place, score in words if score >= self._tuning.least_words]
        vector = [
            LegHit(id, score)
            for catalogue, name, score in near
            if (place := self._places.get(id := record_id(catalogue, name))) is not None
            and score >= self._tuning.least_meaning
            and (admitted is None or admitted(place))
        ]
        candidates = Candidates(tuple(lexical), tuple(vector), total=len(lexical))
        for id, score in fuse(candidates, self._tuning.fusion):
            yield self._standing[self._places[id]], score
