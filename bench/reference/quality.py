"""How well paraphrases are answered: by words, by meaning, and by both, over one index and one set of words."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache

from bench.reference.judged import Query, catalogue, misspelt, paraphrases, unanswerable
from bench.retrieval import engines
from bench.table import Row
from commonplace.reference.index_source import record_of
from commonplace.reference.model import Asked, Catalogue
from commonplace.reference.ports import Edition, Meaning
from commonplace.reference.search import DEFAULT_TUNING, VectorMeaning
from commonplace.reference.service import Reference
from commonplace.search.fusion import Fusion
from commonplace.search.model import EmbeddingProvider

WORDS, VECTORS, BUILT = "words only", "vectors only", "both, as built"
SEED = "seed 003, Option A"
FUSIONS: Mapping[str, Fusion] = {
    VECTORS: Fusion("min-max", 0.0, 1.0),
    BUILT: DEFAULT_TUNING.fusion,
    "both, min-max 0.6/0.4": Fusion("min-max", 0.6, 0.4),
    "both, min-max 0.4/0.6": Fusion("min-max", 0.4, 0.6),
    "both, RRF 0.5/0.5": Fusion("rrf", 0.5, 0.5),
}
DEPTHS = (1, 3, 5)
LEAST = 0.9
"""Share of paraphrases with an answer among the first five."""

System = Callable[[Query], Sequence[str]]
"""From a query to ids, best first."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """A shelf on which the same catalogues stand for ever."""

    catalogues: tuple[Catalogue, ...]

    def edition(self) -> Edition:
        return Edition(self.catalogues, "fixed")


@contextmanager
def meaning_of(whole: Catalogue, provider: EmbeddingProvider) -> Iterator[Meaning]:
    """An index of the catalogue in a file of its own; it goes away."""
    records = [record_of(whole, placed) for placed in whole.entries]
    embedded = engines.embedded_records(records, provider, lambda *_: None)
    with engines.embedded_engine(embedded, provider) as engine:
        yield VectorMeaning(engine, [provider])


def systems(meaning: Meaning | None) -> dict[str, System]:
    """Every way of searching, the plainest first. Without a model there is nothing to fuse."""
    shelf = Fixed((catalogue(),))
    found = {SEED: seed_scoring(), WORDS: searched(Reference(shelf))}
    if meaning is None:
        return found
    return found | {
        name: searched(Reference(shelf, meaning, tuning=replace(DEFAULT_TUNING, fusion=fusion)))
        for name, fusion in FUSIONS.items()
    }


def searched(reference: Reference) -> System:
    """What `search_knowledge` answers."""
    return lambda query: [hit.entry.id for hit in reference.search(Asked(query.text, limit=max(DEPTHS))).hits]


def seed_scoring() -> System:
    """The scoring of the seed to the letter, as the baseline: terms anywhere in a text, 20, 10, 5 and 1 points."""
    entries = [placed.entry for placed in catalogue().entries]
    titles = [entry.title.lower() for entry in entries]
    texts = list(zip(titles, (entry.content.lower() for entry in entries), entries, strict=True))

    @cache
    def points(term: str) -> list[int]:
        return [
            10 * (term in title) + (term in content) + 5 * sum(term in keyword for keyword in entry.keywords)
            for title, content, entry in texts
        ]

    @cache
    def named(term: str) -> set[int]:
        return {place for place, entry in enumerate(entries) if entry.type == "command" and term in titles[place]}

    def rank(query: Query) -> Sequence[str]:
        terms = query.text.lower().split()
        commands = set().union(*map(named, terms))
        scores = [sum(each) for each in zip(*map(points, terms), strict=True)]
        scored = [(-score - 20 * (place in commands), place) for place, score in enumerate(scores)]
        return [entries[place].id for score, place in sorted(scored) if score][: max(DEPTHS)]

    return rank


@dataclass(frozen=True, slots=True)
class Figures:
    """Shares of queries, from 0 to 1."""

    top: Mapping[int, float]
    """Depth -> share of paraphrases with an answer among so many."""
    held_out: float
    """The share at the greatest depth, of queries that weights were chosen without."""
    misspelt: float
    """The same of paraphrases with a mistake in one word."""
    missed: tuple[Query, ...]
    empty: float
    """Share of what nobody wrote about that nothing is found for."""


def measured(system: System) -> Figures:
    asked = paraphrases()
    ranks = {query.text: _rank(system(query), query) for query in asked}
    deepest = max(DEPTHS)

    def share(queries: Sequence[Query], depth: int) -> float:
        return sum(ranks[query.text] <= depth for query in queries) / len(queries)

    return Figures(
        top={depth: share(asked, depth) for depth in DEPTHS},
        held_out=share([query for query in asked if query.held_out], deepest),
        misspelt=sum(_rank(system(query), query) <= deepest for query in misspelt()) / len(misspelt()),
        missed=tuple(query for query in asked if ranks[query.text] > deepest),
        empty=sum(not system(query) for query in unanswerable()) / len(unanswerable()),
    )


def _rank(ids: Sequence[str], query: Query) -> int:
    return next((rank for rank, id in enumerate(ids, 1) if id in query.answers), max(DEPTHS) + 1)


def missed(figures: Figures) -> list[str]:
    """A sentence when fewer paraphrases are answered than should be."""
    share = figures.top[max(DEPTHS)]
    if share >= LEAST:
        return []
    return [f"{100 * share:.1f} % of paraphrases have an answer among the first five; {100 * LEAST:.0f} % should."]


def rows(measured: Mapping[str, Figures]) -> Iterator[Row]:
    """One for each system, in per cent."""
    for name, figures in measured.items():
        yield {
            "search": name,
            **{f"top {depth} %": round(100 * share, 1) for depth, share in figures.top.items()},
            "held out, top 5 %": round(100 * figures.held_out, 1),
            "a word misspelt, top 5 %": round(100 * figures.misspelt, 1),
            "nothing for nothing %": round(100 * figures.empty, 1),
        }


def by_kind(system: System) -> Iterator[Row]:
    """Top 5 of each kind of query, of the search as built."""
    kinds = dict.fromkeys(query.kind for query in paraphrases())
    for kind in kinds:
        asked = [query for query in paraphrases() if query.kind == kind]
        found = sum(_rank(system(query), query) <= max(DEPTHS) for query in asked)
        yield {"kind": kind, "queries": len(asked), "top 5 %": round(100 * found / len(asked), 1)}
