"""The judged memory over every engine and model that is asked for; what cannot be had is skipped aloud."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import table
from bench.memory_quality.evaluation import draw, evaluate, every_figure, overall
from bench.memory_quality.judged import JudgedMemory, Query
from bench.memory_quality.systems import BUILT, System, indexed, systems_of
from bench.memory_quality.tokens import compared, figures_of_files, ways
from bench.retrieval.engines import Missing, embedding_model
from bench.retrieval.metrics import by_kind
from bench.table import Row
from commonplace.kernel.errors import Unavailable
from commonplace.search.embeddings import model_fingerprint


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
    """How many entries are found for what nobody wrote about."""

    def found(system: System, query: Query) -> int:
        return len(system(query))

    for name in (BUILT,):
        if name in systems and judged.unanswerable:
            counts = [found(systems[name], query) for query in judged.unanswerable]
            print(f"\nFor what nobody wrote about, {name}: {sum(counts) / len(counts):.1f} entries a query")
            yield {"system": name, "kind": "nothing", "entries": round(sum(counts) / len(counts), 2)}
