"""Every system on every topic, and what the figures come to: by category and over all."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bench.retrieval.bootstrap import Difference, paired
from bench.retrieval.judged import JudgedSet
from bench.retrieval.metrics import METRICS
from bench.retrieval.systems import LEXICAL, System
from bench.table import Row, Value

EVERY = "all"
"""Where all categories are counted together."""

Scores = Mapping[str, Sequence[float]]
"""Metric -> a value for each topic, in their order."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What every system scored on one set, over one index."""

    judged: JudgedSet
    engine: str
    model: str
    chunk: str
    scores: Mapping[str, Scores]

    def values(self, system: str, metric: str, category: str = EVERY) -> list[float]:
        """Those of the topics of a category."""
        chosen = self.scores[system][metric]
        return [
            value
            for value, topic in zip(chosen, self.judged.topics, strict=True)
            if category in (EVERY, topic.category)
        ]

    def mean(self, system: str, metric: str, category: str = EVERY) -> float:
        values = self.values(system, metric, category)
        return sum(values) / len(values)

    def difference(self, system: str, metric: str, category: str = EVERY, baseline: str = LEXICAL) -> Difference:
        """Against the search by words alone, topic by topic."""
        return paired(self.values(system, metric, category), self.values(baseline, metric, category))

    @property
    def categories(self) -> list[str]:
        found = self.judged.categories
        return [EVERY, *found] if len(found) > 1 else [EVERY]


def evaluate(judged: JudgedSet, systems: Mapping[str, System], engine: str, model: str, chunk: str) -> Evaluated:
    """Runs every system on every topic. Raises Unavailable when the engine does not answer."""
    scores: dict[str, dict[str, list[float]]] = {}
    for name, system in systems.items():
        rankings = [system(topic) for topic in judged.topics]
        scores[name] = {
            metric: [
                measure(ranking, judged.grades[topic.id])
                for ranking, topic in zip(rankings, judged.topics, strict=True)
            ]
            for metric, measure in METRICS.items()
        }
    return Evaluated(judged, engine, model, chunk, scores)


def overall(evaluated: Evaluated) -> list[Row]:
    """A row for each system: its figures over all topics, and how sure it differs from words alone."""
    return [
        {"system": system}
        | {metric: round(evaluated.mean(system, metric), 3) for metric in METRICS}
        | {"nDCG@10 over lexical only": "" if system == LEXICAL else str(evaluated.difference(system, "nDCG@10"))}
        for system in evaluated.scores
    ]


def by_category(evaluated: Evaluated, metric: str = "nDCG@10") -> list[Row]:
    """A row for each system, a column for each category; `+` and `-` mark what is beyond the interval."""
    marks = {"better": " +", "worse": " -", "": "  "}
    rows: list[Row] = []
    for system in evaluated.scores:
        row: dict[str, Value] = {"system": system}
        for category in evaluated.categories:
            mark = marks[evaluated.difference(system, metric, category).verdict]
            row[f"{category} ({len(evaluated.values(system, metric, category))})"] = (
                f"{evaluated.mean(system, metric, category):.3f}{mark}"
            )
        rows.append(row)
    return rows


def every_figure(evaluated: Evaluated) -> Iterator[Row]:
    """What goes into the file: all of it."""
    for system in evaluated.scores:
        for category in evaluated.categories:
            row: dict[str, Value] = {
                "set": evaluated.judged.name,
                "engine": evaluated.engine,
                "model": evaluated.model,
                "chunk": evaluated.chunk,
                "system": system,
                "category": category,
                "queries": len(evaluated.values(system, "MRR", category)),
            }
            for metric in METRICS:
                difference = evaluated.difference(system, metric, category)
                row |= {
                    metric: round(evaluated.mean(system, metric, category), 4),
                    f"{metric} difference": round(difference.mean, 4),
                    f"{metric} low": round(difference.low, 4),
                    f"{metric} high": round(difference.high, 4),
                }
            yield row
