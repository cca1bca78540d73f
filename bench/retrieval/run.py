"""Judged sets over every engine, model and size of chunk that is asked for; what cannot be had is skipped aloud."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import starmap
from pathlib import Path

from bench import table
from bench.retrieval import engines
from bench.retrieval.engines import Missing, embedding_model, rerank_model
from bench.retrieval.judged import JudgedSet, Topic, is_locked
from bench.retrieval.metrics import METRICS, UNANSWERABLE, Evaluated, by_kind
from bench.retrieval.systems import BUILT, LEXICAL, Asked, Ranking, System, swept, systems_of
from bench.table import Row, Value
from commonplace.kernel.errors import Unavailable
from commonplace.search.embeddings import model_fingerprint
from commonplace.search.fusion import Fusion
from commonplace.search.model import EmbeddingProvider, Engine, IndexedRecord, RecordId, Reranker

UPPER = "in upper case"
"""The system as built, given the query in upper case."""
BEFORE = "before"
"""What was built when an earlier run kept its rankings."""

Rankings = dict[str, list[str]]
"""Topic -> what is built found, best first."""


def evaluate(judged: JudgedSet, systems: Mapping[str, System]) -> Evaluated:
    """Runs every system on every topic. Raises Unavailable when the engine does not answer."""
    return scored(judged, {name: [system(topic) for topic in judged.topics] for name, system in systems.items()})


def scored(judged: JudgedSet, rankings: Mapping[str, Sequence[Ranking]]) -> Evaluated:
    """What rankings of the set's topics come to, by the measures of such a set."""
    metrics = UNANSWERABLE if judged.unanswerable else METRICS
    grades = [judged.grades.get(topic.id, {}) for topic in judged.topics]
    scores = {
        name: {
            metric: [measure(*each) for each in zip(found, grades, strict=True)] for metric, measure in metrics.items()
        }
        for name, found in rankings.items()
    }
    return Evaluated([topic.category for topic in judged.topics], scores, LEXICAL)


def overall(evaluated: Evaluated) -> list[Row]:
    """A row for each system: its figures over all topics, and how sure it differs from words alone and from before."""
    rows: list[Row] = []
    for system, scores in evaluated.scores.items():
        row: dict[str, Value] = {"system": system}
        row |= {metric: round(evaluated.mean(system, metric), 3) for metric in scores}
        for baseline in (LEXICAL, BEFORE):
            if baseline in evaluated.scores:
                difference = evaluated.difference(system, evaluated.primary, baseline=baseline)
                row[f"{evaluated.primary} over {baseline}"] = "" if system == baseline else str(difference)
        rows.append(row)
    return rows


def every_figure(evaluated: Evaluated, **of: Value) -> Iterator[Row]:
    """What goes into the file: all of it, with what it is a figure of."""
    baselines = [name for name in (LEXICAL, BEFORE) if name in evaluated.scores]
    for system, scores in evaluated.scores.items():
        for category in evaluated.kinds:
            count = len(evaluated.values(system, evaluated.primary, category))
            row: dict[str, Value] = of | {"system": system, "category": category, "queries": count}
            for metric in scores:
                row[metric] = round(evaluated.mean(system, metric, category), 4)
                for baseline in baselines:
                    difference = evaluated.difference(system, metric, category, baseline)
                    than = "" if baseline == LEXICAL else f" over {baseline}"
                    row |= {
                        f"{metric} difference{than}": round(difference.mean, 4),
                        f"{metric} low{than}": round(difference.low, 4),
                        f"{metric} high{than}": round(difference.high, 4),
                    }
            yield row


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be compared."""

    embeddings: Sequence[str] = ("local",)
    rerank: str = "none"
    chunks: Sequence[int | None] = (None,)
    sweep: bool = False
    brief: bool = False
    twins: bool = False
    embedded: bool = True
    fusion: Fusion = field(default_factory=Fusion)
    before: Mapping[str, Rankings] = field(default_factory=dict)
    """What `keep_rankings` wrote in an earlier run."""
    kept: dict[str, Rankings] = field(default_factory=dict)
    """What is built finds in this one."""

    @property
    def floor(self) -> float | None:
        """A sweep of floors needs what lies below them."""
        return -1.0 if self.sweep else None


@dataclass(frozen=True, slots=True)
class Corpus:
    """The documents that some sets share, cut and embedded."""

    sets: Sequence[JudgedSet]
    provider: EmbeddingProvider | None
    indexed: Sequence[IndexedRecord]
    chunk: str

    @property
    def model(self) -> str:
        return model_fingerprint(self.provider) if self.provider else "none"


def measure(sets: Sequence[JudgedSet], plan: Plan, url: str | None) -> Iterator[Row]:
    """Prints tables for sets over the same documents and yields their figures."""
    records = sets[0].records
    named = ", ".join(f"{judged.name} ({len(judged.topics):,})" for judged in sets)
    print(f"\n{len(records):,} documents, queries: {named}", flush=True)
    reranker = None if plan.sweep else _reranker(plan.rerank)
    for corpus in _corpora(sets, plan):
        if plan.embedded:
            with engines.embedded_engine(corpus.indexed, corpus.provider, floor=plan.floor) as engine:
                for judged in sets:
                    systems = _systems(judged, corpus, plan, engine, reranker)
                    yield from _report(judged, corpus, plan, systems, "embedded")
        if url:
            with engines.opensearch_engine(url, corpus.indexed, corpus.provider, floor=plan.floor, say=_say) as served:
                for judged in sets:
                    systems = _systems(judged, corpus, plan, served.engine, reranker)
                    yield from _report(judged, corpus, plan, systems, "opensearch")


def agreement(kept: Mapping[str, Rankings]) -> list[Row]:
    """How alike both engines answer, for every set and model that both were measured on."""
    rows: list[Row] = []
    for key, ours in kept.items():
        theirs = kept.get(key.replace("embedded", "opensearch", 1))
        if not key.startswith("embedded") or theirs is None:
            continue
        pairs = [(found, theirs[topic]) for topic, found in ours.items()]
        rows.append({"set, model, chunks": key.partition(" ")[2], **alike(pairs)})
    return rows


def alike(pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> Row:
    """Return the share of pairs with the same first, and how much of their first ten they share."""
    same = sum(first[:1] == second[:1] for first, second in pairs) / len(pairs)
    return {"same first": round(same, 3), "first ten shared": round(sum(starmap(_shared, pairs)) / len(pairs), 3)}


def _shared(first: Sequence[str], second: Sequence[str], depth: int = 10) -> float:
    both = {*first[:depth], *second[:depth]}
    return len({*first[:depth]} & {*second[:depth]}) / len(both) if both else 1.0


def keep_rankings(kept: Mapping[str, Rankings], name: str = "") -> Path:
    """Writes what is built found, for `--before` of a later run."""
    table.RESULTS.mkdir(parents=True, exist_ok=True)
    file = table.RESULTS / f"rankings{'-' if name else ''}{name}.json"
    file.write_text(json.dumps(kept, indent=0), encoding="utf-8")
    return file


def keep(rows: Sequence[Row], name: str = "") -> Path:
    """Writes every figure of the run."""
    return table.keep(f"retrieval-{name}" if name else "retrieval", "How well a search finds", rows)


@contextmanager
def node(wanted: str | None) -> Iterator[str | None]:
    """The address of the node to measure on: the one that is named, one that is started, or none."""
    if wanted is None:
        print("Skipped: the engine opensearch. Give --opensearch URL, or --opensearch start.")
    if wanted != "start":
        yield wanted
        return
    from local.errors import CommandError
    from tests.opensearch_node.node import OwnedNode

    own = OwnedNode()
    try:
        own.start()
    except CommandError as error:
        print(f"\nSkipped: the engine opensearch. {error}")
        yield None
        return
    try:
        yield own.url
    finally:
        own.stop()


def _corpora(sets: Sequence[JudgedSet], plan: Plan) -> Iterator[Corpus]:
    for name in plan.embeddings:
        try:
            provider = embedding_model(name)
            for pieces in plan.chunks:
                records = engines.recut(sets[0].records, pieces)
                indexed = engines.embedded_records(records, provider, _say)
                chunks = sum(len(record.chunks) for record in records)
                yield Corpus(sets, provider, indexed, f"{pieces or 'default'} pieces, {chunks:,} chunks")
        except (Missing, RuntimeError, Unavailable) as error:
            print(f"\nSkipped: the embedding model {name}. {error}")


def _systems(
    judged: JudgedSet, corpus: Corpus, plan: Plan, engine: Engine, reranker: Reranker | None
) -> dict[str, System]:
    asked = Asked(engine, corpus.provider)
    if plan.sweep:
        return swept(asked)
    systems = systems_of(asked, judged.grades, reranker, plan.fusion)
    systems = {name: systems[name] for name in (LEXICAL, BUILT)} if plan.brief else systems
    upper = {UPPER: lambda topic: systems[BUILT](replace(topic, text=topic.text.upper()))}
    return systems | upper if plan.twins else systems


def _reranker(name: str) -> Reranker | None:
    try:
        return rerank_model(name)
    except Missing as error:
        print(f"\nSkipped: + rerank. {error}")
        return None


def _report(judged: JudgedSet, corpus: Corpus, plan: Plan, systems: Mapping[str, System], engine: str) -> Iterator[Row]:
    topics, key = judged.topics, f"{engine} {judged.name}, {corpus.model}, {corpus.chunk}"
    rankings: dict[str, Sequence[Ranking]] = {name: [find(topic) for topic in topics] for name, find in systems.items()}
    if BUILT in rankings:
        plan.kept[key] = {topic.id: [*found] for topic, found in zip(topics, rankings[BUILT], strict=True)}
    if earlier := plan.before.get(f"{engine} {judged.name}"):
        rankings[BEFORE] = [[RecordId(record) for record in earlier[topic.id]] for topic in topics]
    evaluated = scored(judged, rankings)
    if UPPER in rankings:
        row = {UPPER: len(topics), **alike([*zip(rankings[BUILT], rankings[UPPER], strict=True)])}
        print("\n" + "\n".join(table.lines([row])))
    of = {"set": judged.name, "engine": engine, "model": corpus.model, "chunk": corpus.chunk}
    print(f"\n{judged.name} on {engine}, {corpus.model}, {corpus.chunk}")
    yield from _shown(evaluated, of | {"queries of": "all" if any(map(_locked, topics)) else "tuning"})
    if any(map(_locked, topics)):
        print("\nThe locked third alone")
        yield from _shown(evaluated.only([*map(_locked, topics)]), of | {"queries of": "locked"})


def _shown(evaluated: Evaluated, of: Row) -> Iterator[Row]:
    print("\n".join(table.lines(overall(evaluated))))
    if len(evaluated.kinds) > 1:
        told = "; + and - are beyond the 95 % interval of the difference to lexical only"
        print(f"\n{evaluated.primary} by kind of query{told}")
        print("\n".join(table.lines(by_kind(evaluated, evaluated.primary))), flush=True)
    yield from every_figure(evaluated, **of)


def _locked(topic: Topic) -> bool:
    return is_locked(topic.id)


def _say(step: str, seconds: float = 0) -> None:  # noqa: ARG001 - as a start of the node tells it
    print(step, flush=True)
