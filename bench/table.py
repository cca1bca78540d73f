"""What all benchmarks share: statistics, measures, the table that is printed, its file in `bench/results/`.

nDCG, recall and reciprocal rank are those of `trec_eval`, with the grades themselves as gains; intervals of differences
come from a paired percentile bootstrap with a fixed seed, intervals of shares are Wilson's. All are of 95 %.
"""

import json
import platform
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import compress
from math import log2, sqrt
from pathlib import Path
from statistics import quantiles

RESULTS = Path(__file__).parent / "results"

Value = str | int | float | bool | None
Row = Mapping[str, Value]


def show(name: str, title: str, rows: Sequence[Row], *, note: str = "") -> Path:
    """Print the table and write `bench/results/{name}.json`; return that file. Columns come from the first row."""
    say(title, rows)
    if note:
        print(note)
    return keep(name, title, rows, note=note)


def say(title: str, rows: Sequence[Row]) -> None:
    """Print a table below its title, and write nothing."""
    print(f"\n{title}")
    print("\n".join(lines(rows)), flush=True)


def lines(rows: Sequence[Row]) -> list[str]:
    """Return the lines of a table: words to the left, numbers to the right."""
    if not rows:
        return ["(nothing)"]
    columns = list(rows[0])
    cells = [columns, *([text(row.get(column)) for column in columns] for row in rows)]
    widths = [max(len(row[index]) for row in cells) for index in range(len(columns))]
    numeric = [all(not isinstance(row.get(column), str) for row in rows) for column in columns]
    aligned = [
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ).rstrip()
        for row in cells
    ]
    return [aligned[0], "  ".join("-" * width for width in widths), *aligned[1:]]


def text(value: Value) -> str:
    """Return a value as it is printed; three significant digits are as many as a laptop's timing is worth."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
        case int():
            return f"{value:,}"
        case _:
            return str(value)


def keep(name: str, title: str, rows: Sequence[Row], *, note: str = "") -> Path:
    """Write the figures with the machine and the moment they were taken on."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    file = RESULTS / f"{name}.json"
    facts = {
        "name": name,
        "title": title,
        "note": note,
        "measuredAt": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "machine": {"system": platform.system(), "architecture": platform.machine(), "python": sys.version.split()[0]},
        "rows": [dict(row) for row in rows],
    }
    file.write_text(json.dumps(facts, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    return file


def percentile(values: Sequence[float], percent: int) -> float:
    """Return it interpolated; the value itself when there is only one. Raises ValueError for none."""
    if not values:
        raise ValueError("no values")
    return values[0] if len(values) == 1 else quantiles(values, n=100, method="inclusive")[percent - 1]


def ratio(value: float, baseline: float) -> float | None:
    """Return how many times the baseline a value is; None when that took no time."""
    return value / baseline if baseline else None


_Z = 1.959964


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many."""

    part: int
    whole: int

    @property
    def value(self) -> float | None:
        return self.part / self.whole if self.whole else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's, 95 %; everything is possible where nothing was counted."""
        if not self.whole:
            return 0.0, 1.0
        share, square = self.part / self.whole, _Z * _Z / self.whole
        centre, half = share + square / 2, _Z * sqrt(share * (1 - share) / self.whole + square / self.whole / 4)
        return max(0.0, (centre - half) / (1 + square)), min(1.0, (centre + half) / (1 + square))

    def __str__(self) -> str:
        if not self.whole:
            return "-"
        low, high = self.interval
        return f"{self.part / self.whole:.3f} ({self.part}/{self.whole}) [{low:.2f}, {high:.2f}]"


Grades = Mapping[str, int]
"""Judged document -> grade; what is not judged counts as not relevant, and so does a grade of 0 or less."""

DEPTH = 20
"""The length of a ranking that is looked at: recall@20 needs no more, and MRR counts what is below as not found."""
NDCG = "nDCG@10"


def ndcg(ranking: Sequence[str], grades: Grades, depth: int = 10) -> float:
    """Return the discounted gain of the first `depth`, as a share of the best order's. 0 without anything relevant."""
    best = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:depth]
    found = [max(0, grades.get(document, 0)) for document in ranking[:depth]]
    ideal, gained = (sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1)) for gains in (best, found))
    return gained / ideal if ideal else 0.0


def recall(ranking: Sequence[str], grades: Grades, depth: int = DEPTH) -> float:
    """Return the share of the relevant documents that are among the first `depth`."""
    relevant = {document for document, grade in grades.items() if grade > 0}
    return len(relevant.intersection(ranking[:depth])) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranking: Sequence[str], grades: Grades, depth: int = DEPTH) -> float:
    """Return one by the rank of the first relevant document; 0 when none is among the first `depth`."""
    return next((1 / rank for rank, document in enumerate(ranking[:depth], 1) if grades.get(document, 0) > 0), 0.0)


def best_first(ranking: Sequence[str], grades: Grades) -> float:
    """Return 1 when what is shown first is one of the best graded, else 0: whoever types a name wants that one."""
    return float(bool(ranking) and grades.get(ranking[0], 0) == max(grades.values(), default=1))


Metric = Callable[[Sequence[str], Grades], float]

METRICS: Mapping[str, Metric] = {NDCG: ndcg, "recall@20": recall, "MRR": reciprocal_rank, "best first": best_first}
UNANSWERABLE: Mapping[str, Metric] = {
    "finds nothing": lambda ranking, _: float(not ranking),
    "results": lambda ranking, _: float(len(ranking)),
}
"""The measures where nothing is relevant. The first of each mapping is what systems are compared by."""

SEED = 20_260_223
BOUNDS = (0.025, 0.975)
"""Of an interval of 95 %."""


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


def paired(system: Sequence[float], baseline: Sequence[float], *, samples: int = 10_000) -> Difference:
    """Compare values for the same queries in the same order. Raises ValueError for none, and for unequal numbers."""
    import numpy

    if len(system) != len(baseline) or not system:
        raise ValueError("paired values are as many of each, and at least one")
    differences = numpy.subtract(system, baseline)
    drawn = numpy.random.default_rng(SEED).integers(0, len(differences), (samples, len(differences)))
    low, high = numpy.quantile(differences[drawn].mean(axis=1), BOUNDS)
    return Difference(float(differences.mean()), float(low), float(high))


def ratio_of_medians(
    ours: Sequence[float], theirs: Sequence[float], *, samples: int = 2_000
) -> tuple[float, float, float]:
    """Return the ratio of two medians of interleaved timings, and its interval; pairs are resampled together."""
    import numpy

    if len(ours) != len(theirs) or not ours:
        raise ValueError("paired values are as many of each, and at least one")
    first, second = numpy.asarray(ours), numpy.asarray(theirs)
    drawn = numpy.random.default_rng(SEED).integers(0, len(first), (samples, len(first)))
    low, high = numpy.quantile(numpy.median(first[drawn], axis=1) / numpy.median(second[drawn], axis=1), BOUNDS)
    return float(numpy.median(first) / numpy.median(second)), float(low), float(high)


EVERY = "all"
"""The name under which all kinds of queries are counted together."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What every system scored on the same queries."""

    each_kind: Sequence[str]
    """The kind of every query."""
    scores: Mapping[str, Mapping[str, Sequence[float]]]
    """System -> metric -> a value for each query, in their order."""
    baseline: str
    """The system that others are compared with."""

    @property
    def primary(self) -> str:
        """The metric that systems are compared by."""
        return next(iter(self.scores[self.baseline]))

    @property
    def kinds(self) -> list[str]:
        found = list(dict.fromkeys(self.each_kind))
        return [EVERY, *found] if len(found) > 1 else [EVERY]

    def only(self, chosen: Sequence[bool]) -> "Evaluated":
        """Return the scores of a part of the queries."""
        scores = {
            system: {metric: list(compress(values, chosen)) for metric, values in metrics.items()}
            for system, metrics in self.scores.items()
        }
        return Evaluated(list(compress(self.each_kind, chosen)), scores, self.baseline)

    def values(self, system: str, metric: str = NDCG, kind: str = EVERY) -> list[float]:
        """Return those of the queries of a kind."""
        pairs = zip(self.scores[system][metric], self.each_kind, strict=True)
        return [value for value, each in pairs if kind in (EVERY, each)]

    def mean(self, system: str, metric: str = NDCG, kind: str = EVERY) -> float:
        values = self.values(system, metric, kind)
        return sum(values) / len(values)

    def difference(self, system: str, metric: str = NDCG, kind: str = EVERY, baseline: str | None = None) -> Difference:
        """Compare query by query, with the interval of a paired bootstrap."""
        return paired(self.values(system, metric, kind), self.values(baseline or self.baseline, metric, kind))


def overall(evaluated: Evaluated, *others: str) -> list[Row]:
    """Return a row for each system: its figures, and how sure it differs from the baseline and from others."""
    rows: list[Row] = []
    for system, scores in evaluated.scores.items():
        row: dict[str, Value] = {"system": system}
        row |= {metric: round(evaluated.mean(system, metric), 3) for metric in scores}
        for baseline in (evaluated.baseline, *others):
            if baseline in evaluated.scores:
                difference = evaluated.difference(system, evaluated.primary, baseline=baseline)
                row[f"{evaluated.primary} over {baseline}"] = "" if system == baseline else str(difference)
        rows.append(row)
    return rows


def by_kind(evaluated: Evaluated) -> list[Row]:
    """Return a column for each kind; `+` and `-` mark what differs from the baseline beyond the interval."""
    marks = {"better": " +", "worse": " -", "": "  "}
    rows: list[Row] = []
    for system in evaluated.scores:
        row: dict[str, Value] = {"system": system}
        for kind in evaluated.kinds:
            mark = marks[evaluated.difference(system, evaluated.primary, kind).verdict]
            count = len(evaluated.values(system, evaluated.primary, kind))
            row[f"{kind} ({count})"] = f"{evaluated.mean(system, evaluated.primary, kind):.3f}{mark}"
        rows.append(row)
    return rows


def every_figure(evaluated: Evaluated, *others: str, **of: Value) -> Iterator[Row]:
    """Yield what goes into the file: all of it, with what it is a figure of."""
    for system, scores in evaluated.scores.items():
        for kind in evaluated.kinds:
            count = len(evaluated.values(system, evaluated.primary, kind))
            row: dict[str, Value] = of | {"system": system, "category": kind, "queries": count}
            for metric in scores:
                row[metric] = round(evaluated.mean(system, metric, kind), 4)
                for baseline in (evaluated.baseline, *others):
                    if baseline in evaluated.scores:
                        difference = evaluated.difference(system, metric, kind, baseline)
                        than = "" if baseline == evaluated.baseline else f" over {baseline}"
                        row[f"{metric} difference{than}"] = round(difference.mean, 4)
                        row[f"{metric} low{than}"] = round(difference.low, 4)
                        row[f"{metric} high{than}"] = round(difference.high, 4)
            yield row


def say_figures(evaluated: Evaluated, *others: str) -> None:
    """Print the overall table, and the table by kind where there are several."""
    print("\n".join(lines(overall(evaluated, *others))), flush=True)
    if len(evaluated.kinds) > 1:
        beyond = f"+ and - are beyond the 95 % interval of the difference to {evaluated.baseline}"
        say(f"{evaluated.primary} by kind of query; {beyond}", by_kind(evaluated))
