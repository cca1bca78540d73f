"""Fusion of several rankings into one: min-max, reciprocal ranks, and named records above both. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal

from commonplace.search.model import Candidates, LegHit, RecordId

FLOOR = 0.001
"""What the last of a leg gets: being found at all counts for more than not being found."""

LEAST_WIDTH = 0.2
"""Between the worst and the best: smaller differences of cosines or of tokens are noise, and are not made larger than
this. Three in four queries of the judged sets are wider."""

RELEVANCE_SHARE = 0.8
"""Scores up to here are relevance; above it are records that the query names."""


METHODS: Mapping[str, Literal["min-max", "rrf"]] = {"min-max": "min-max", "rrf": "rrf"}

EXAMPLE = "min-max:0.6,0.4"


@dataclass(frozen=True, slots=True)
class Fusion:
    """Method and weights of fusion. The defaults come from judged queries (`docs/inside/retrieval.md`)."""

    method: Literal["min-max", "rrf"] = "min-max"
    lexical_weight: float = 0.6
    vector_weight: float = 0.4
    rank_constant: int = 60

    def __post_init__(self) -> None:
        weights = (self.lexical_weight, self.vector_weight)
        if not all(map(isfinite, weights)) or min(weights) < 0 or sum(weights) <= 0:
            raise ValueError("fusion weights are finite, none is negative, and one of them is above zero")
        if self.rank_constant < 1:
            raise ValueError("the rank constant is at least 1")

    @classmethod
    def parse(cls, text: str) -> "Fusion":
        """`min-max` or `rrf`, and the weights of words and of meaning where they are not the usual: `rrf:0.3,0.7`.

        Raises ValueError with the form that is expected.
        """
        name, colon, told = text.strip().partition(":")
        if name not in METHODS:
            raise ValueError(f"{name!r} is not a way of fusing; there are min-max and rrf, for instance {EXAMPLE}")
        if not colon:
            return cls(METHODS[name])
        try:
            lexical, vector = (float(weight) for weight in told.split(","))
        except ValueError:
            raise ValueError(f"{told!r} is not two weights, of words and of meaning, as in {EXAMPLE}") from None
        return cls(METHODS[name], lexical, vector)

    def __str__(self) -> str:
        method = "min-max" if self.method == "min-max" else f"reciprocal ranks, constant {self.rank_constant}"
        return f"{method}; words {self.lexical_weight:g}, meaning {self.vector_weight:g}"

    def lexical_shares(self, leg: Sequence[LegHit]) -> dict[RecordId, float]:
        """Return what words give each of their records, in [0, 1], before weighing: the part of the best score."""
        if self.method == "rrf":
            return reciprocal_rank(leg, self.rank_constant)
        best = max((hit.score for hit in leg), default=0.0)
        return {hit.id: max(FLOOR, hit.score / best) if best > 0 else FLOOR for hit in leg}

    def vector_shares(self, leg: Sequence[LegHit]) -> dict[RecordId, float]:
        """Return what meaning gives each of its records, in [0, 1]: where it lies between the worst and the best."""
        if self.method == "rrf":
            return reciprocal_rank(leg, self.rank_constant)
        return {record: max(FLOOR, share) for record, share in stretched({hit.id: hit.score for hit in leg}).items()}


def stretched(scores: Mapping[RecordId, float]) -> dict[RecordId, float]:
    """Return the scores from their worst, which gets 0, to their best, which gets 1 if it is well above the worst."""
    low = min(scores.values(), default=0.0)
    width = max(LEAST_WIDTH, max(scores.values(), default=0.0) - low)
    return {record: (score - low) / width for record, score in scores.items()}


def reciprocal_rank(leg: Sequence[LegHit], constant: int = 60) -> dict[RecordId, float]:
    """`(constant + 1) / (constant + rank)`: the usual shares, scaled so that the first gets 1."""
    return {hit.id: (constant + 1) / (constant + rank) for rank, hit in enumerate(leg, 1)}


def weighted(shares: Sequence[tuple[Mapping[RecordId, float], float]]) -> dict[RecordId, float]:
    """The weighted mean of each record's shares; a leg that lacks a record gives it nothing. In [0, 1]."""
    whole = sum(weight for _, weight in shares)
    totals: dict[RecordId, float] = {}
    for share, weight in shares:
        for record, value in share.items():
            totals[record] = totals.get(record, 0.0) + value * weight
    return {record: total / whole for record, total in totals.items()}


def fuse(candidates: Candidates, fusion: Fusion) -> list[tuple[RecordId, float]]:
    """One ranking of everything found, best first, ties by id; scores in [0, 1].

    A record that the query names stands above every record that is merely relevant, a title above an alias: whoever
    types a name wants that record. So relevance fills the lower four fifths of the scale, and named records the
    rest, by grade first and relevance second.
    """
    legs = (
        (fusion.lexical_shares(candidates.lexical), fusion.lexical_weight),
        (fusion.vector_shares(candidates.vector), fusion.vector_weight),
    )
    # A leg that counts for nothing still counts when it is all there is: without embedding, for instance.
    found = [(leg, weight) for leg, weight in legs if leg and weight > 0] or [(leg, 1.0) for leg, _ in legs if leg]
    relevance = weighted(found)
    named = {hit.id: hit.score for hit in candidates.named}
    ids = relevance.keys() | named.keys() if named else relevance
    scores = [(-_score(relevance.get(record, 0.0), named.get(record, 0.0)), record) for record in ids]
    scores.sort()
    return [(record, -score) for score, record in scores]


def _score(relevance: float, grade: float) -> float:
    if not grade:
        return RELEVANCE_SHARE * relevance
    # Grades are at least 0.0105 apart: relevance decides only inside such a step.
    return RELEVANCE_SHARE + (1 - RELEVANCE_SHARE) * (0.985 * grade + 0.01 * relevance)
