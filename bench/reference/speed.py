"""What a look-up and a search cost in the process, warm, beside a search of documents over the same texts."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from bench.reference.judged import catalogue, of_size, paraphrases
from bench.reference.quality import Fixed
from bench.retrieval import engines
from bench.table import Row, percentile
from commonplace.reference.index_source import record_of
from commonplace.reference.model import Asked, Catalogue
from commonplace.reference.search import VectorMeaning
from commonplace.reference.service import Reference
from commonplace.search.model import EmbeddingProvider, Engine, SearchRequest
from commonplace.search.service import SearchService

LARGE = 5_000
WARM_UP, CALLS = 20, 200
ALLOWED_MS = 5.0
"""CPU of a warm look-up by its exact name, half of the calls and more."""

Call = Callable[[int], object]
"""The nth call of its kind: each asks for something else."""


@dataclass(frozen=True, slots=True)
class Timed:
    """Milliseconds of CPU of each call."""

    what: str
    entries: int
    taken: Sequence[float]
    exact: bool = False
    """Whether it is a look-up by exact name."""

    def row(self) -> Row:
        return {
            "call": self.what,
            "entries": self.entries,
            "p50 ms CPU": median(self.taken),
            "p95 ms CPU": percentile(self.taken, 95),
            "highest": max(self.taken),
        }


def timed(provider: EmbeddingProvider | None) -> Iterator[Timed]:
    """Look-ups and searches over the judged catalogue and over a large one."""
    yield from _alone(catalogue())
    yield from _alone(of_size(LARGE))
    if provider is not None:
        yield from _beside(catalogue(), provider)


def missed(all_timed: Sequence[Timed]) -> list[str]:
    """A sentence for each look-up by exact name that takes longer than is allowed."""
    return [
        f"{one.what} over {one.entries:,} entries takes {median(one.taken):.2f} ms; {ALLOWED_MS:g} are allowed."
        for one in all_timed
        if one.exact and median(one.taken) > ALLOWED_MS
    ]


def _alone(whole: Catalogue) -> Iterator[Timed]:
    """What needs neither model nor index."""
    size, shelf = len(whole.entries), Fixed((whole,))
    yield Timed("built for look-ups", size, [_took(lambda _: Reference(shelf).prepare(), 0)])
    reference = Reference(shelf)
    yield Timed("built for words, with the first search", size, [_took(lambda _: _search(reference, "bicycle"), 0)])
    commands = [placed.entry.called for placed in whole.entries if placed.entry.type == "command"]
    paths = [placed.entry.path_template or "" for placed in whole.entries if placed.entry.type == "api"]
    asked = [query.text for query in paraphrases()]
    yield _each("get_command, exact name", size, lambda n: reference.command(_of(commands, n)), exact=True)
    yield _each("search_knowledge, exact name", size, lambda n: _search(reference, _of(commands, n)), exact=True)
    yield _each("get_api_endpoint, concrete path", size, lambda n: reference.endpoint(_concrete(_of(paths, n))))
    yield _each("get_command, misspelt: suggestions", size, lambda n: reference.command(_misspelt(_of(commands, n))))
    yield _each("search_knowledge, words only", size, lambda n: _search(reference, _of(asked, n)))


def _beside(whole: Catalogue, provider: EmbeddingProvider) -> Iterator[Timed]:
    """The search of the reference and that of documents, by turns, over one index of the same texts."""
    records = [record_of(whole, placed) for placed in whole.entries]
    embedded = engines.embedded_records(records, provider, lambda *_: None)
    asked = [query.text for query in paraphrases()]
    with engines.embedded_engine(embedded, provider) as engine:
        ours, theirs = _turns(_reference_search(whole, engine, provider, asked), _documents(engine, provider, asked))
    yield Timed("search_knowledge of the reference, words and meaning", len(records), ours)
    yield Timed("search_knowledge of documents, the same texts", len(records), theirs)


def _reference_search(whole: Catalogue, engine: Engine, provider: EmbeddingProvider, asked: Sequence[str]) -> Call:
    reference = Reference(Fixed((whole,)), VectorMeaning(engine, [provider]))
    return lambda n: _search(reference, _of(asked, n))


def _documents(engine: Engine, provider: EmbeddingProvider, asked: Sequence[str]) -> Call:
    service = SearchService(engine, provider)
    return lambda n: service.search(SearchRequest(_of(asked, n)))


def _turns(ours: Call, theirs: Call) -> tuple[list[float], list[float]]:
    taken = [(_took(ours, n), _took(theirs, n)) for n in range(WARM_UP + CALLS)][WARM_UP:]
    return [one for one, _ in taken], [other for _, other in taken]


def _each(what: str, entries: int, call: Call, *, exact: bool = False) -> Timed:
    taken = [_took(call, n) for n in range(WARM_UP + CALLS)]
    return Timed(what, entries, taken[WARM_UP:], exact)


def _took(call: Call, number: int) -> float:
    began = time.process_time()
    call(number)
    return 1000 * (time.process_time() - began)


def _search(reference: Reference, query: str) -> object:
    return reference.search(Asked(query))


def _of(texts: Sequence[str], number: int) -> str:
    """A prime step: neighbours in the order of names are much alike."""
    return texts[number * 31 % len(texts)]


def _concrete(template: str) -> str:
    return template.replace("{id}", "42")


def _misspelt(name: str) -> str:
    """Without its last letter but one."""
    return name[:-2] + name[-1]
