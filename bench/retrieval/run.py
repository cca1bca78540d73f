"""One judged set over every engine, model and size of chunk that is asked for; what cannot be had is skipped aloud."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench import table
from bench.retrieval import engines
from bench.retrieval.engines import Missing, embedding_model, rerank_model
from bench.retrieval.judged import JudgedSet
from bench.retrieval.metrics import METRICS, Evaluated, by_kind
from bench.retrieval.systems import LEXICAL, Asked, System, swept, systems_of
from bench.table import Row, Value
from commonplace.kernel.errors import Unavailable
from commonplace.search.embeddings import model_fingerprint
from commonplace.search.fusion import Fusion
from commonplace.search.model import EmbeddingProvider, Engine, IndexedRecord, Reranker


def evaluate(judged: JudgedSet, systems: Mapping[str, System]) -> Evaluated:
    """Runs every system on every topic. Raises Unavailable when the engine does not answer."""
    scores: dict[str, dict[str, list[float]]] = {}
    for name, system in systems.items():
        rankings = [(system(topic), judged.grades[topic.id]) for topic in judged.topics]
        scores[name] = {metric: [measure(*each) for each in rankings] for metric, measure in METRICS.items()}
    return Evaluated([topic.category for topic in judged.topics], scores, LEXICAL)


def overall(evaluated: Evaluated) -> list[Row]:
    """A row for each system: its figures over all topics, and how sure it differs from words alone."""
    return [
        {"system": system}
        | {metric: round(evaluated.mean(system, metric), 3) for metric in METRICS}
        | {"nDCG@10 over lexical only": "" if system == LEXICAL else str(evaluated.difference(system, "nDCG@10"))}
        for system in evaluated.scores
    ]


def every_figure(evaluated: Evaluated, **of: Value) -> Iterator[Row]:
    """What goes into the file: all of it, with what it is a figure of."""
    for system in evaluated.scores:
        for category in evaluated.kinds:
            count = len(evaluated.values(system, "MRR", category))
            row: dict[str, Value] = of | {"system": system, "category": category, "queries": count}
            for metric in METRICS:
                difference = evaluated.difference(system, metric, category)
                row |= {
                    metric: round(evaluated.mean(system, metric, category), 4),
                    f"{metric} difference": round(difference.mean, 4),
                    f"{metric} low": round(difference.low, 4),
                    f"{metric} high": round(difference.high, 4),
                }
            yield row


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be compared."""

    embeddings: Sequence[str] = ("local",)
    rerank: str = "none"
    chunks: Sequence[int | None] = (None,)
    sweep: bool = False
    embedded: bool = True
    fusion: Fusion = field(default_factory=Fusion)

    @property
    def floor(self) -> float | None:
        """A sweep of floors needs what lies below them."""
        return -1.0 if self.sweep else None


@dataclass(frozen=True, slots=True)
class Corpus:
    """A judged set, cut and embedded."""

    judged: JudgedSet
    provider: EmbeddingProvider | None
    indexed: Sequence[IndexedRecord]
    chunk: str

    @property
    def model(self) -> str:
        return model_fingerprint(self.provider) if self.provider else "none"


def measure(judged: JudgedSet, plan: Plan, url: str | None) -> Iterator[Row]:
    """Prints a table for every combination and yields its figures."""
    print(f"\n{judged.name}: {len(judged.records):,} documents, {len(judged.topics):,} queries", flush=True)
    reranker = None if plan.sweep else _reranker(plan.rerank)
    for corpus in _corpora(judged, plan):
        if plan.embedded:
            with engines.embedded_engine(corpus.indexed, corpus.provider, floor=plan.floor) as engine:
                yield from _report(corpus, _systems(corpus, plan, engine, reranker), "embedded")
        if url:
            with engines.opensearch_engine(url, corpus.indexed, corpus.provider, floor=plan.floor, say=_say) as served:
                systems = _systems(corpus, plan, served.engine, reranker) | _own_hybrid(served, corpus, plan)
                yield from _report(corpus, systems, "opensearch")


def keep(rows: Sequence[Row], name: str = "") -> Path:
    """Writes every figure of the run."""
    return table.keep(f"retrieval-{name}" if name else "retrieval", "How well a search finds", rows)


@contextmanager
def node(wanted: str | None) -> Iterator[str | None]:
    """The address of the node to measure on: the one that is named, one that is started, or none."""
    if wanted is None:
        print("Skipped: the engine opensearch. Give --opensearch URL, or --opensearch start.")
    yield _started() if wanted == "start" else wanted


def _started() -> str | None:
    from local.errors import CommandError
    from local.opensearch.node import ensure_node

    try:
        return ensure_node(tell=_say).url
    except CommandError as error:
        print(f"\nSkipped: the engine opensearch. {error}")
        return None


def _corpora(judged: JudgedSet, plan: Plan) -> Iterator[Corpus]:
    for name in plan.embeddings:
        try:
            provider = embedding_model(name)
            for pieces in plan.chunks:
                records = engines.recut(judged.records, pieces)
                indexed = engines.embedded_records(records, provider, _say)
                chunks = sum(len(record.chunks) for record in records)
                yield Corpus(judged, provider, indexed, f"{pieces or 'default'} pieces, {chunks:,} chunks")
        except (Missing, RuntimeError, Unavailable) as error:
            print(f"\nSkipped: the embedding model {name}. {error}")


def _systems(corpus: Corpus, plan: Plan, engine: Engine, reranker: Reranker | None) -> dict[str, System]:
    asked = Asked(engine, corpus.provider)
    return swept(asked) if plan.sweep else systems_of(asked, corpus.judged.grades, reranker, plan.fusion)


def _own_hybrid(served: engines.Served, corpus: Corpus, plan: Plan) -> dict[str, System]:
    from bench.retrieval.systems import own_hybrid

    if plan.sweep or corpus.provider is None:
        return {}
    return own_hybrid(served.node, served.stem, Asked(served.engine, corpus.provider), plan.fusion)


def _reranker(name: str) -> Reranker | None:
    try:
        return rerank_model(name)
    except Missing as error:
        print(f"\nSkipped: + rerank. {error}")
        return None


def _report(corpus: Corpus, systems: Mapping[str, System], engine: str) -> Iterator[Row]:
    evaluated = evaluate(corpus.judged, systems)
    print(f"\n{corpus.judged.name} on {engine}, {corpus.model}, {corpus.chunk}")
    print("\n".join(table.lines(overall(evaluated))))
    if len(evaluated.kinds) > 1:
        print("\nnDCG@10 by kind of query; + and - are beyond the 95 % interval of the difference to lexical only")
        print("\n".join(table.lines(by_kind(evaluated))), flush=True)
    yield from every_figure(evaluated, set=corpus.judged.name, engine=engine, model=corpus.model, chunk=corpus.chunk)


def _say(step: str, seconds: float = 0) -> None:  # noqa: ARG001 - as a start of the node tells it
    print(step, flush=True)
