"""From several rankings to one: min-max, reciprocal ranks, and names above both. Pure functions over scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from commonplace.search.model import Candidates, LegHit, RecordId

FLOOR = 0.001
"""What the last of a leg gets: being found at all counts for more than not being found."""

RELEVANCE_SHARE = 0.8
"""Scores up to here are relevance; above it are records that the query names."""


@dataclass(frozen=True, slots=True)
class Fusion:
    """How the legs are weighed. The defaults come from judged queries; see the README of this package."""

    method: Literal["min-max", "rrf"] = "min-max"
    lexical_weight: float = 0.5
    vector_weight: float = 0.5
    rank_constant: int = 60

    def __post_init__(self) -> None:
        if min(self.lexical_weight, self.vector_weight) < 0 or self.lexical_weight + self.vector_weight <= 0:
            raise ValueError("fusion weights are not negative, and one of them is above zero")
        if self.rank_constant < 1:
            raise ValueError("the rank constant is at least 1")


def min_max(leg: Sequence[LegHit]) -> dict[RecordId, float]:
    """Scores of a leg stretched to [FLOOR, 1]; a leg whose scores are all equal gets 1 throughout."""
    if not leg:
        return {}
    low, high = min(hit.score for hit in leg), max(hit.score for hit in leg)
    if not high > low:
        return {hit.id: 1.0 for hit in leg}
    return {hit.id: max(FLOOR, min(1.0, (hit.score - low) / (high - low))) for hit in leg}


def reciprocal_rank(leg: Sequence[LegHit], constant: int = 60) -> dict[RecordId, float]:
    """`(constant + 1) / (constant + rank)`: the usual shares, scaled so that the first gets 1."""
    return {hit.id: (constant + 1) / (constant + rank) for rank, hit in enumerate(leg, 1)}


def weighted(shares: Sequence[tuple[Mapping[RecordId, float], float]]) -> dict[RecordId, float]:
    """The weighted mean of each record's shares; a leg that lacks a record gives it nothing. In [0, 1]."""
    ids = dict.fromkeys(record for share, _ in shares for record in share)
    whole = sum(weight for _, weight in shares)
    return {record: sum(share.get(record, 0.0) * weight for share, weight in shares) / whole for record in ids}


def fuse(candidates: Candidates, fusion: Fusion) -> list[tuple[RecordId, float]]:
    """One ranking of everything found, best first, ties by id; scores in [0, 1].

    A record that the query names stands above every record that is merely relevant, a title above an alias: whoever
    types a name wants that record. So relevance fills the lower four fifths of the scale, and named records the
    rest, by grade first and relevance second.
    """
    relevance = _relevance(candidates, fusion)
    named = {hit.id: hit.score for hit in candidates.named}
    ids = relevance.keys() | named.keys()
    scores = {record: _score(relevance.get(record, 0.0), named.get(record, 0.0)) for record in ids}
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def _relevance(candidates: Candidates, fusion: Fusion) -> dict[RecordId, float]:
    legs = ((candidates.lexical, fusion.lexical_weight), (candidates.vector, fusion.vector_weight))
    found = [(leg, weight) for leg, weight in legs if leg and weight > 0]
    if fusion.method == "rrf":
        return weighted([(reciprocal_rank(leg, fusion.rank_constant), weight) for leg, weight in found])
    return weighted([(min_max(leg), weight) for leg, weight in found])


def _score(relevance: float, grade: float) -> float:
    if not grade:
        return RELEVANCE_SHARE * relevance
    # Grades are at least 0.05 apart: relevance decides only inside such a step.
    return RELEVANCE_SHARE + (1 - RELEVANCE_SHARE) * (0.95 * grade + 0.04 * relevance)
