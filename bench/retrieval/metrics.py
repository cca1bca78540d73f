"""nDCG, recall and reciprocal rank of one ranking, as `trec_eval` computes them: gains are the grades themselves."""

from collections.abc import Mapping, Sequence
from math import log2

Grades = Mapping[str, int]
"""Judged document -> grade; what is not judged counts as not relevant, and so does a grade of 0 or less."""

DEPTH = 20
"""How much of a ranking is looked at: recall@20 needs no more, and MRR counts what is below as not found."""


def ndcg(ranking: Sequence[str], grades: Grades, depth: int = 10) -> float:
    """Discounted gain of the first `depth`, as a share of the best order's. 0 without anything relevant."""
    best = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:depth]
    ideal = _discounted(best)
    return _discounted([max(0, grades.get(document, 0)) for document in ranking[:depth]]) / ideal if ideal else 0.0


def recall(ranking: Sequence[str], grades: Grades, depth: int = DEPTH) -> float:
    """Share of the relevant documents that are among the first `depth`."""
    relevant = {document for document, grade in grades.items() if grade > 0}
    return len(relevant.intersection(ranking[:depth])) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranking: Sequence[str], grades: Grades, depth: int = DEPTH) -> float:
    """One by the rank of the first relevant document; 0 when none is among the first `depth`."""
    return next((1 / rank for rank, document in enumerate(ranking[:depth], 1) if grades.get(document, 0) > 0), 0.0)


def best_first(ranking: Sequence[str], grades: Grades) -> float:
    """1 when what is shown first is one of the best graded, else 0: whoever types a name wants that one."""
    return float(bool(ranking) and grades.get(ranking[0], 0) == max(grades.values(), default=1))


METRICS = {"nDCG@10": ndcg, "recall@20": recall, "MRR": reciprocal_rank, "best first": best_first}


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))
