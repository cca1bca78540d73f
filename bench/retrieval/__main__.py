"""How well a search finds: `python -m bench.retrieval`, on our own judged sets and on what your clone yields."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from bench import table
from bench.engines import Missing, embedded_records, embedding_model, index, rerank_model
from bench.retrieval.sets import JudgedSet, Topic, clone_sets, paraphrased_set, sample_sets
from bench.table import DEPTH, METRICS, UNANSWERABLE, Evaluated, Row, every_figure, say_figures
from commonplace.kernel.errors import Unavailable
from commonplace.search.candidates import CANDIDATES_PER_LEG
from commonplace.search.embeddings import model_fingerprint
from commonplace.search.filters import Filters
from commonplace.search.fusion import Fusion
from commonplace.search.model import (
    Candidates,
    EmbeddingProvider,
    Engine,
    QueryVector,
    Reranker,
    SearchRequest,
)
from commonplace.search.query import Query
from commonplace.search.rerank import MemoryRerankCache
from commonplace.search.service import SearchService
from commonplace.search.text import clean_query

LEXICAL, VECTOR, BUILT = "lexical only", "vector only", "as built"
NO_TOKENS, NO_NAMES, RRF = "without tokens", "without names", "RRF"
CORRECTED, RERANKED, PERFECT = "+ did-you-mean", "+ rerank", "+ perfect rerank"
BEFORE = "before"
"""What was built when an earlier run stored its rankings."""

System = Callable[[Topic], Sequence[str]]
Rankings = dict[str, list[str]]
"""Topic -> what is built found, best first."""


class CachedLegs:
    """An engine that gives the same legs again for the same query, so that systems fuse the same."""

    def __init__(self, engine: Engine, cache: dict[tuple[str, bool, Filters], Candidates], *, named: bool) -> None:
        self._engine, self._cache, self._named = engine, cache, named

    def candidates(self, query: Query, vector: QueryVector | None, filters: Filters, size: int) -> Candidates:
        key = (query.text, vector is None, filters)
        if key not in self._cache:
            self._cache[key] = self._engine.candidates(query, vector, filters, size)
        return self._cache[key] if self._named else replace(self._cache[key], named=())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


def systems_of(
    engine: Engine,
    provider: EmbeddingProvider | None,
    grades: Mapping[str, Mapping[str, int]],
    reranker: Reranker | None,
) -> dict[str, System]:
    """Return every system this index and these models allow, the baseline first: the whole search without any model."""
    cache: dict[tuple[str, bool, Filters], Candidates] = {}

    def searched(
        model: EmbeddingProvider | None = provider,
        fusion: Fusion | None = None,
        *,
        named: bool = True,
        rerank: bool = True,
        corrected: bool = False,
        by: Reranker | None = None,
    ) -> System:
        legs = cast(Engine, CachedLegs(engine, cache, named=named))
        service = SearchService(
            legs, model, by, rerank_cache=MemoryRerankCache() if by else None, fusion=fusion or Fusion()
        )

        def rank(topic: Topic) -> Sequence[str]:
            found = service.search(SearchRequest(topic.text, topic.filters, limit=DEPTH, rerank=rerank))
            if corrected and found.suggestion:
                found = service.search(SearchRequest(found.suggestion, topic.filters, limit=DEPTH, rerank=rerank))
            # A hit names its near-duplicates, and what fits weakly where nothing fits is nothing.
            shown = found.results if found.hint is None else ()
            return [one for hit in shown for one in (f"{hit.content_type}/{hit.id}", *hit.duplicates)][:DEPTH]

        return rank

    def nearest(topic: Topic) -> Sequence[str]:
        """By meaning and nothing else: not even a name counts."""
        assert provider is not None
        vector = QueryVector(model_fingerprint(provider), provider.embed([clean_query(topic.text)], query=True)[0])
        legs = engine.candidates(Query.of(topic.text), vector, topic.filters, CANDIDATES_PER_LEG)
        return [hit.id for hit in legs.vector[:DEPTH]]

    built = searched()
    systems: dict[str, System] = {LEXICAL: searched(None, rerank=False)}
    if provider is not None:
        systems |= {VECTOR: nearest, RRF: searched(fusion=replace(Fusion(), method="rrf"))}
    systems |= {NO_TOKENS: searched(rerank=False), NO_NAMES: searched(named=False)}
    systems |= {BUILT: built, CORRECTED: searched(corrected=True)}
    if reranker is not None:
        systems[RERANKED] = searched(by=reranker)
    if grades:
        # The same twenty in the best order: no reranker can exceed it. It reads the grades, so it is no system.
        systems[PERFECT] = lambda topic: sorted(
            built(topic), key=lambda record: -grades.get(topic.id, {}).get(record, 0)
        )
    return systems


def scored(judged: JudgedSet, rankings: Mapping[str, Sequence[Sequence[str]]]) -> Evaluated:
    """Return what rankings of the set's topics come to, by the measures of such a set."""
    metrics = METRICS if judged.grades else UNANSWERABLE
    grades = [judged.grades.get(topic.id, {}) for topic in judged.topics]
    scores = {
        name: {
            metric: [measure(*each) for each in zip(found, grades, strict=True)] for metric, measure in metrics.items()
        }
        for name, found in rankings.items()
    }
    return Evaluated([topic.category for topic in judged.topics], scores, LEXICAL)


@dataclass
class Run:
    """What is compared in one run, and what was found so far."""

    options: argparse.Namespace
    before: Mapping[str, Rankings] = field(default_factory=dict)
    """By engine and set: the model of an earlier run may have been another."""
    built: dict[str, Rankings] = field(default_factory=dict)

    def measure(self, sets: Sequence[JudgedSet], reranker: Reranker | None) -> Iterator[Row]:
        """Print tables for sets over the same documents and yield their figures."""
        records = sets[0].records
        named = ", ".join(f"{judged.name} ({len(judged.topics):,})" for judged in sets)
        print(f"\n{len(records):,} documents, queries: {named}", flush=True)
        for name in filter(None, self.options.embeddings.split(",")):
            try:
                provider = embedding_model(name)
                indexed = embedded_records(records, provider)
                for where, address in (("embedded", None), ("opensearch", self.options.opensearch)):
                    if where == "embedded" or address:
                        with index(indexed, provider, address) as engine:
                            for judged in sets:
                                systems = systems_of(engine, provider, judged.grades, reranker)
                                yield from self._report(
                                    judged, systems, where, model_fingerprint(provider) if provider else "none"
                                )
            except (Missing, RuntimeError, Unavailable) as error:
                print(f"\nSkipped: the embedding model {name}. {error}")

    def _report(self, judged: JudgedSet, systems: dict[str, System], engine: str, model: str) -> Iterator[Row]:
        topics = judged.topics
        if self.options.brief:
            systems = {name: systems[name] for name in (LEXICAL, BUILT)}
        rankings = {name: [find(topic) for topic in topics] for name, find in systems.items()}
        self.built[f"{engine} {judged.name}, {model}"] = {
            topic.id: [*found] for topic, found in zip(topics, rankings[BUILT], strict=True)
        }
        if earlier := self.before.get(f"{engine} {judged.name}"):
            rankings[BEFORE] = [earlier[topic.id] for topic in topics]
        evaluated, locked = scored(judged, rankings), [topic.is_locked for topic in topics]
        of: dict[str, table.Value] = {"set": judged.name, "engine": engine, "model": model}
        print(f"\n{judged.name} on {engine}, {model}")
        say_figures(evaluated, BEFORE)
        yield from every_figure(evaluated, BEFORE, **of, **{"queries of": "all" if any(locked) else "tuning"})
        if any(locked):
            print("\nThe locked third alone")
            say_figures(evaluated.only(locked), BEFORE)
            yield from every_figure(evaluated.only(locked), BEFORE, **of, **{"queries of": "locked"})


CLONES = {
    "links": "a clone whose links are the queries",
    "titles": "a clone whose titles, and typos in them, are the queries",
    "paraphrases": "a clone with a topics.tsv and qrels.txt, or a public one in a folder named handbook or til",
}
"""Options that take a clone."""


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """Read the options; `--help` says what each is for."""
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval", description=__doc__)
    for kind, text in CLONES.items():
        parser.add_argument(f"--{kind}", action="append", default=[], type=Path, metavar="CLONE", help=text)
    parser.add_argument("--sample", action="store_true", help="our own sets as well, when clones are named")
    parser.add_argument("--brief", action="store_true", help="only what is built, beside words alone")
    parser.add_argument("--final", action="store_true", help="with the third of the queries that is locked away")
    parser.add_argument("--before", type=Path, help="rankings of an earlier run, to compare with")
    parser.add_argument("--opensearch", metavar="URL", help="a node to measure on as well")
    parser.add_argument("--embeddings", default="local", help="models: local, minilm, bedrock-titan, onnx:/FOLDER")
    parser.add_argument("--rerank", default="none", help="bedrock-cohere, bedrock-amazon, onnx:/FOLDER")
    parser.add_argument("--name", default="", help="of the file of results: bench/results/retrieval-NAME.json")
    return parser.parse_args(given)


def sets_of(options: argparse.Namespace) -> Iterator[Sequence[JudgedSet]]:
    """Yield sets over the same documents together; without --final, without what is locked away."""
    groups: list[list[JudgedSet]] = []
    if options.sample or not any(getattr(options, kind) for kind in CLONES):
        groups.append(sample_sets(final=options.final))
    groups += [[paraphrased_set(clone, final=options.final)] for clone in options.paraphrases]
    for clone in dict.fromkeys([*options.links, *options.titles]):
        links, titles = clone in options.links, clone in options.titles
        groups.append(clone_sets(clone, links=links, titles=titles, final=options.final))
    for group in groups:
        chosen = group if options.final else [judged.for_tuning() for judged in group]
        if left := [judged for judged in chosen if judged.topics]:
            yield left


def main(given: Sequence[str]) -> int:
    """Measure what can be measured and say what cannot; 1 when nothing could."""
    options = arguments(given)
    earlier = json.loads(options.before.read_text(encoding="utf-8")) if options.before else {}
    before = {key.partition(",")[0]: rankings for key, rankings in earlier.items()}
    run = Run(options, before)
    try:
        reranker = rerank_model(options.rerank)
    except Missing as error:
        print(f"\nSkipped: + rerank. {error}")
        reranker = None
    figures = [row for group in sets_of(options) for row in run.measure(group, reranker)]
    if not figures:
        print("\nNothing was measured.")
        return 1
    ending = f"-{options.name}" if options.name else ""
    file = table.keep(f"retrieval{ending}", "How well a search finds", figures)
    rankings = table.RESULTS / f"rankings{ending}.json"
    rankings.write_text(json.dumps(run.built, indent=0), encoding="utf-8")
    print(f"\nWritten to {file} and {rankings}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
