"""Every system on every query, and what the figures come to: over all and by kind of query."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bench.memory_quality.judged import JudgedMemory, Query
from bench.memory_quality.systems import BUILT, LEXICAL, System
from bench.retrieval.bootstrap import Difference, paired
from bench.retrieval.metrics import best_first, ndcg, recall, reciprocal_rank
from bench.table import Row, Value

EVERY = "all"
NDCG = "nDCG@10"
METRICS = (NDCG, "MRR", "recall@5", "recall@10", "best first")
"""nDCG by all grades; the reciprocal rank and recall of entries that help, those of grade 2 and 3."""
_MARKS = {"better": " +", "worse": " -", "": "  "}


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What every system scored, query by query in their order."""

    queries: Sequence[Query]
    scores: Mapping[str, Mapping[str, Sequence[float]]]

    def values(self, system: str, metric: str = NDCG, kind: str = EVERY) -> list[float]:
        """Those of the queries of a kind."""
        told = zip(self.scores[system][metric], self.queries, strict=True)
        return [value for value, query in told if kind in (EVERY, query.kind)]

    def mean(self, system: str, metric: str = NDCG, kind: str = EVERY) -> float:
        values = self.values(system, metric, kind)
        return sum(values) / len(values)

    def difference(self, system: str, baseline: str, metric: str = NDCG, kind: str = EVERY) -> Difference:
        """Query by query, with the interval of a paired bootstrap."""
        return paired(self.values(system, metric, kind), self.values(baseline, metric, kind))


def evaluate(judged: JudgedMemory, systems: Mapping[str, System]) -> Evaluated:
    """Runs every system on every query that has an answer."""
    scores = {
        name: {metric: list(values) for metric, values in _scores(judged, system).items()}
        for name, system in systems.items()
    }
    return Evaluated(judged.queries, scores)


def _scores(judged: JudgedMemory, system: System) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {metric: [] for metric in METRICS}
    for query in judged.queries:
        ranking, grades, useful = system(query), judged.grades[query.id], judged.useful(query.id)
        values = (
            ndcg(ranking, grades),
            reciprocal_rank(ranking, useful),
            recall(ranking, useful, 5),
            recall(ranking, useful, 10),
            best_first(ranking, grades),
        )
        for metric, value in zip(METRICS, values, strict=True):
            found[metric].append(value)
    return found


def overall(evaluated: Evaluated) -> list[Row]:
    """A row for each system: its figures, and how sure it differs from words alone and from what is built."""
    rows: list[Row] = []
    for system in evaluated.scores:
        row: dict[str, Value] = {"system": system}
        row |= {metric: round(evaluated.mean(system, metric), 3) for metric in METRICS}
        for baseline in (LEXICAL, BUILT):
            told = system != baseline and baseline in evaluated.scores
            row[f"over {baseline}"] = str(evaluated.difference(system, baseline)) if told else ""
        rows.append(row)
    return rows


def by_kind(evaluated: Evaluated, metric: str = NDCG) -> list[Row]:
    """A column for each kind; `+` and `-` mark what differs from words alone beyond the interval."""
    kinds = [EVERY, *dict.fromkeys(query.kind for query in evaluated.queries)]
    rows: list[Row] = []
    for system in evaluated.scores:
        row: dict[str, Value] = {"system": system}
        for kind in kinds:
            mark = _MARKS[evaluated.difference(system, LEXICAL, metric, kind).verdict]
            count = len(evaluated.values(system, metric, kind))
            row[f"{kind} ({count})"] = f"{evaluated.mean(system, metric, kind):.3f}{mark}"
        rows.append(row)
    return rows


def every_figure(evaluated: Evaluated, engine: str, model: str) -> Iterator[Row]:
    """One row for each system, kind and measure, with its interval: what is kept."""
    for system in evaluated.scores:
        for kind in (EVERY, *dict.fromkeys(query.kind for query in evaluated.queries)):
            for metric in METRICS:
                difference = evaluated.difference(system, LEXICAL, metric, kind)
                yield {
                    "engine": engine,
                    "model": model,
                    "system": system,
                    "kind": kind,
                    "queries": len(evaluated.values(system, metric, kind)),
                    "metric": metric,
                    "mean": round(evaluated.mean(system, metric, kind), 4),
                    "over lexical only": round(difference.mean, 4),
                    "low": round(difference.low, 4),
                    "high": round(difference.high, 4),
                }
