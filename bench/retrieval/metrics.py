"""nDCG, recall and reciprocal rank as `trec_eval` computes them, and how sure a difference of two systems is.

Gains are the grades themselves; intervals are of a paired percentile bootstrap, the same every time.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from math import log2

from bench.table import Row, Value

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


def finds_nothing(ranking: Sequence[str], grades: Grades) -> float:  # noqa: ARG001 - a measure of a ranking as all are
    """1 when nothing is shown: the right answer to a question that no document answers."""
    return float(not ranking)


def shown(ranking: Sequence[str], grades: Grades) -> float:  # noqa: ARG001 - a measure of a ranking as all are
    """How many results there are, up to `DEPTH`."""
    return float(len(ranking))


Metric = Callable[[Sequence[str], Grades], float]

METRICS: Mapping[str, Metric] = {"nDCG@10": ndcg, "recall@20": recall, "MRR": reciprocal_rank, "best first": best_first}
UNANSWERABLE: Mapping[str, Metric] = {"finds nothing": finds_nothing, "results": shown}
"""Where nothing is relevant. The first of each mapping is what systems are compared by."""


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))


SAMPLES = 10_000
SEED = 20_260_223
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Difference:
    """Mean of the differences, and the interval that 95 of 100 resamplings of the queries fall into."""

    mean: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """`better` or `worse` when the whole interval says so, else nothing."""
        return "better" if self.low > 0 else "worse" if self.high < 0 else ""

    def __str__(self) -> str:
        return f"{self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"


def paired(system: Sequence[float], baseline: Sequence[float], *, samples: int = SAMPLES) -> Difference:
    """Of values for the same queries in the same order. Raises ValueError for none, and for unequal numbers of them."""
    if len(system) != len(baseline) or not system:
        raise ValueError("paired values are as many of each, and at least one")
    import numpy

    differences = numpy.subtract(system, baseline)
    drawn = numpy.random.default_rng(SEED).integers(0, len(differences), (samples, len(differences)))
    means = differences[drawn].mean(axis=1)
    low, high = numpy.quantile(means, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return Difference(float(differences.mean()), float(low), float(high))


def ratio_of_medians(
    ours: Sequence[float], theirs: Sequence[float], *, samples: int = 2_000
) -> tuple[float, float, float]:
    """The ratio of two medians of interleaved timings, and its interval; pairs are resampled together."""
    if len(ours) != len(theirs) or not ours:
        raise ValueError("paired values are as many of each, and at least one")
    import numpy

    first, second = numpy.asarray(ours), numpy.asarray(theirs)
    drawn = numpy.random.default_rng(SEED).integers(0, len(first), (samples, len(first)))
    ratios = numpy.median(first[drawn], axis=1) / numpy.median(second[drawn], axis=1)
    low, high = numpy.quantile(ratios, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return float(numpy.median(first) / numpy.median(second)), float(low), float(high)


EVERY = "all"
"""Where all kinds of queries are counted together."""
NDCG = "nDCG@10"


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What every system scored on the same queries."""

    each_kind: Sequence[str]
    """Of every query."""
    scores: Mapping[str, Mapping[str, Sequence[float]]]
    """System -> metric -> a value for each query, in their order."""
    baseline: str
    """The system that others are compared with."""

    @property
    def primary(self) -> str:
        """The metric that systems are compared by."""
        return next(iter(self.scores[self.baseline]))

    def only(self, kept: Sequence[bool]) -> "Evaluated":
        """On a part of the queries."""
        scores = {
            system: {metric: list(compress(values, kept)) for metric, values in metrics.items()}
            for system, metrics in self.scores.items()
        }
        return Evaluated(list(compress(self.each_kind, kept)), scores, self.baseline)

    @property
    def kinds(self) -> list[str]:
        found = list(dict.fromkeys(self.each_kind))
        return [EVERY, *found] if len(found) > 1 else [EVERY]

    def values(self, system: str, metric: str = NDCG, kind: str = EVERY) -> list[float]:
        """Those of the queries of a kind."""
        told = zip(self.scores[system][metric], self.each_kind, strict=True)
        return [value for value, each in told if kind in (EVERY, each)]

    def mean(self, system: str, metric: str = NDCG, kind: str = EVERY) -> float:
        values = self.values(system, metric, kind)
        return sum(values) / len(values)

    def difference(self, system: str, metric: str = NDCG, kind: str = EVERY, baseline: str | None = None) -> Difference:
        """Query by query, with the interval of a paired bootstrap."""
        return paired(self.values(system, metric, kind), self.values(baseline or self.baseline, metric, kind))


def by_kind(evaluated: Evaluated, metric: str = NDCG) -> list[Row]:
    """A column for each kind; `+` and `-` mark what differs from the baseline beyond the interval."""
    marks = {"better": " +", "worse": " -", "": "  "}
    rows: list[Row] = []
    for system in evaluated.scores:
        row: dict[str, Value] = {"system": system}
        for kind in evaluated.kinds:
            mark = marks[evaluated.difference(system, metric, kind).verdict]
            count = len(evaluated.values(system, metric, kind))
            row[f"{kind} ({count})"] = f"{evaluated.mean(system, metric, kind):.3f}{mark}"
        rows.append(row)
    return rows
