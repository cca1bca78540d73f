"""The judged memory over every engine and model that is asked for: tables, and pictures as SVG.

What cannot be had is skipped aloud.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from bench import table
from bench.memory_quality.judged import JudgedMemory
from bench.memory_quality.systems import BUILT, LEXICAL, System, indexed, systems_of
from bench.memory_quality.tokens import compared, figures_of_files, ways
from bench.retrieval.engines import Missing, embedding_model
from bench.retrieval.metrics import NDCG, Evaluated, best_first, by_kind, ndcg, paired, recall, reciprocal_rank
from bench.table import Row, Value
from commonplace.kernel.errors import Unavailable
from commonplace.search.embeddings import model_fingerprint

METRICS = (NDCG, "MRR", "recall@5", "recall@10", "best first")
"""nDCG by all grades; the reciprocal rank and recall of entries that help, those of grade 2 and 3."""


def evaluate(judged: JudgedMemory, systems: Mapping[str, System]) -> Evaluated:
    """Runs every system on every query that has an answer."""
    scores = {
        name: {metric: list(values) for metric, values in _scores(judged, system).items()}
        for name, system in systems.items()
    }
    return Evaluated([query.kind for query in judged.queries], scores, LEXICAL)


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
            row[f"over {baseline}"] = str(evaluated.difference(system, baseline=baseline)) if told else ""
        rows.append(row)
    return rows


def every_figure(evaluated: Evaluated, engine: str, model: str) -> Iterator[Row]:
    """One row for each system, kind and measure, with its interval: what is kept."""
    for system in evaluated.scores:
        for kind in evaluated.kinds:
            for metric in METRICS:
                difference = evaluated.difference(system, metric, kind)
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


WIDTH, LABELS, RIGHT, ROW, TOP = 720, 250, 70, 26, 34
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#374151}.head{font-weight:600}.grid{stroke:#9ca3af;opacity:.3}"
    ".bar{fill:#9ca3af}.built{fill:#2563eb}.range{stroke:#111827;stroke-width:1.5}"
    "@media (prefers-color-scheme:dark){text{fill:#d1d5db}.range{stroke:#f9fafb}}"
)


@dataclass(frozen=True, slots=True)
class Bar:
    """One line of a picture."""

    name: str
    value: float
    told: str
    low: float | None = None
    high: float | None = None
    marked: bool = False


def draw(folder: Path, evaluated: Evaluated, tokens: Sequence[Row]) -> list[Path]:
    """Writes both and says where."""
    quality, cost = folder / "memory-quality.svg", folder / "memory-tokens.svg"
    count = len(evaluated.each_kind)
    title = f"nDCG@10 on {count} judged queries; the lines are 95 % intervals of the mean"
    quality.write_text(svg(title, quality_bars(evaluated), most=1.0), encoding="utf-8")
    bars = token_bars(tokens)
    told = "Tokens put before a model for one query, and how often the best entry is among them"
    cost.write_text(svg(told, bars, most=max(bar.value for bar in bars)), encoding="utf-8")
    return [quality, cost]


def quality_bars(evaluated: Evaluated) -> list[Bar]:
    """The mean of each system, with its own interval. Differences are surer than these: they are paired."""
    bars = []
    for system in evaluated.scores:
        values = evaluated.values(system, NDCG)
        told = paired(values, [0.0] * len(values))
        bars.append(Bar(system, told.mean, f"{told.mean:.3f}", told.low, told.high, system == BUILT))
    return bars


def token_bars(rows: Sequence[Row]) -> list[Bar]:
    """The mean of each way to an answer."""
    return [
        Bar(
            str(row["way"]),
            float(str(row["tokens, mean"])),
            f"{row['tokens, mean']:,} · {row['best entry in it']}",
            marked=str(row["way"]).startswith("kb_search"),
        )
        for row in rows
    ]


def svg(title: str, bars: Sequence[Bar], *, most: float) -> str:
    """Bars from 0 to `most`."""
    height = TOP + ROW * len(bars) + 10
    wide = WIDTH - LABELS - RIGHT - 40

    def across(value: float) -> float:
        return LABELS + value / most * wide

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">']
    parts.append(f"<title>{escape(title)}</title><style>{STYLE}</style>")
    parts.append(f'<text class="head" x="8" y="18">{escape(title)}</text>')
    parts += [f'<path class="grid" d="M{across(most * step / 4):.1f} {TOP - 6}V{height - 8}"/>' for step in range(5)]
    for number, bar in enumerate(bars):
        top = TOP + ROW * number
        end = across(bar.high if bar.high is not None else bar.value)
        kind = "built" if bar.marked else "bar"
        parts.append(f'<text x="{LABELS - 8}" y="{top + 14}" text-anchor="end">{escape(bar.name)}</text>')
        parts.append(
            f'<rect class="{kind}" x="{LABELS}" y="{top + 3}" height="{ROW - 11}" '
            f'width="{max(across(bar.value) - LABELS, 1):.1f}" rx="2"/>'
        )
        if bar.low is not None and bar.high is not None:
            parts.append(f'<path class="range" d="M{across(bar.low):.1f} {top + 10.5}H{across(bar.high):.1f}"/>')
        parts.append(f'<text x="{end + 8:.1f}" y="{top + 14}">{escape(bar.told)}</text>')
    return "\n".join([*parts, "</svg>", ""])


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be compared."""

    embeddings: Sequence[str] = ("local",)
    url: str | None = None
    """Of an OpenSearch node."""
    pictures: Path | None = None
    """A folder to draw into what the first model scored on the embedded engine."""


def measure(judged: JudgedMemory, plan: Plan) -> Iterator[Row]:
    """Prints a table for every combination and yields its figures."""
    print(
        f"\n{len(judged.entries):,} entries, {len(judged.queries):,} queries, {len(judged.unanswerable)} without answer"
    )
    for name in plan.embeddings:
        for engine, url in (("embedded", None), ("opensearch", plan.url)):
            if url is None and engine == "opensearch":
                continue
            try:
                drawn = plan.pictures if name == plan.embeddings[0] else None
                yield from _measured(judged, name, engine, url, drawn)
            except (Missing, RuntimeError, Unavailable) as error:
                print(f"\nSkipped: {name} on {engine}. {error}")


def keep(rows: Sequence[Row]) -> Path:
    """Writes every figure of the run."""
    return table.keep("memory_quality", "How well a team's memory is searched, and what an answer costs", rows)


def _measured(
    judged: JudgedMemory, name: str, engine_name: str, url: str | None, pictures: Path | None
) -> Iterator[Row]:
    provider = embedding_model(name)
    model = model_fingerprint(provider) if provider else "none"
    with indexed(judged, provider, url) as engine:
        systems = systems_of(judged, engine, provider)
        evaluated = evaluate(judged, systems)
        print(f"\non {engine_name}, {model}")
        print("\n".join(table.lines(overall(evaluated))))
        print("\nnDCG@10 by kind of query; + and - are beyond the 95 % interval of the difference to lexical only")
        print("\n".join(table.lines(by_kind(evaluated))), flush=True)
        yield from every_figure(evaluated, engine_name, model)
        yield from _of_nothing(judged, systems)
        if url is None and provider is not None:
            print("\nTokens to answer a query")
            rows = compared(judged, ways(judged, engine, provider))
            print("\n".join(table.lines(rows)))
            files = list(figures_of_files(judged))
            print("\n" + "\n".join(table.lines(files)), flush=True)
            if pictures is not None:
                draw(pictures, evaluated, rows)
            yield from rows
            yield from files


def _of_nothing(judged: JudgedMemory, systems: dict[str, System]) -> Iterator[Row]:
    """Yield how much is found for what nobody wrote about, a row for each kind."""
    if BUILT not in systems or not judged.unanswerable:
        return
    counts = [(query.kind, len(systems[BUILT](query))) for query in judged.unanswerable]
    rows: list[Row] = []
    for kind in dict.fromkeys(kind for kind, _ in counts):
        found = [count for each, count in counts if each == kind]
        none, mean = sum(not count for count in found), round(sum(found) / len(found), 2)
        rows.append({"system": BUILT, "kind": kind, "queries": len(found), "finds nothing": none, "entries": mean})
    print("\nFor what nobody wrote about\n" + "\n".join(table.lines(rows)))
    yield from rows
