"""What is compared: the memory's own search under several fusions, and looking words up in the files."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from bench.memory_quality.judged import ORGANISATION, JudgedMemory, Query, id_of
from bench.retrieval import engines
from commonplace.memory import search
from commonplace.memory.index_source import record_of
from commonplace.memory.model import DEFAULT_LIMIT, Entry, EntryId
from commonplace.memory.search import SEED_FUSION, MemorySearch
from commonplace.memory.store import DynamoEntries
from commonplace.search.fusion import Fusion
from commonplace.search.model import EmbeddingProvider, Engine
from commonplace.search.text import fold, query_terms

GREP, LEXICAL, VECTOR, BUILT, MIN_MAX = (
    "grep",
    "lexical only",
    "vector only",
    "RRF 0.3/0.7, as built",
    "min-max 0.3/0.7",
)
FUSIONS: Mapping[str, Fusion] = {
    LEXICAL: Fusion("rrf", 1.0, 0.0),
    VECTOR: Fusion("rrf", 0.0, 1.0),
    BUILT: SEED_FUSION,
    MIN_MAX: Fusion("min-max", 0.3, 0.7),
    "RRF 0.5/0.5": Fusion("rrf", 0.5, 0.5),
    "RRF 0.6/0.4": Fusion("rrf", 0.6, 0.4),
    "min-max 0.5/0.5": Fusion("min-max", 0.5, 0.5),
    "min-max 0.6/0.4": Fusion("min-max", 0.6, 0.4),
    "min-max 0.7/0.3": Fusion("min-max", 0.7, 0.3),
}
"""Weights of words and of meaning: the seed's, those of documents (0.6 and 0.4), and what lies around them."""

System = Callable[[Query], Sequence[str]]
"""From a query to names of entries, best first. What stands for others is followed by them."""


class FixedEntries:
    """As much of `DynamoEntries` as a search asks for, over entries that stay as they are."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = {(entry.organisation, entry.id): entry for entry in entries}

    def get_many(self, organisation: str, ids: Sequence[EntryId]) -> dict[EntryId, Entry]:
        """Those that are there."""
        return {id: self._entries[organisation, id] for id in ids if (organisation, id) in self._entries}


def store_of(judged: JudgedMemory) -> DynamoEntries:
    """The entries, to be read by searches alone."""
    return cast(DynamoEntries, FixedEntries(list(judged.entries.values())))


@contextmanager
def indexed(judged: JudgedMemory, provider: EmbeddingProvider | None, url: str | None = None) -> Iterator[Engine]:
    """An index of the entries, on the node at `url` or in a file of its own; it goes away."""
    records = [record_of(entry) for entry in judged.entries.values()]
    embedded = engines.embedded_records(records, provider, _silent)
    if url is None:
        with engines.embedded_engine(embedded, provider) as engine:
            yield engine
        return
    with engines.opensearch_engine(url, embedded, provider, say=_silent) as served:
        yield served.engine


def systems_of(judged: JudgedMemory, engine: Engine, provider: EmbeddingProvider | None) -> dict[str, System]:
    """Every system, the plainest first. Without a model there is nothing to fuse."""
    fusions = FUSIONS if provider else {LEXICAL: FUSIONS[LEXICAL]}
    searches = {
        name: MemorySearch(engine, [provider] if provider else [], store_of(judged), fusion=fusion)
        for name, fusion in fusions.items()
    }
    return {GREP: grep(judged)} | {name: searched(search, judged) for name, search in searches.items()}


def searched(search: MemorySearch, judged: JudgedMemory) -> System:
    """What `kb_search` answers."""
    names = {id_of(name): name for name in judged.entries}

    def rank(query: Query) -> Sequence[str]:
        found = search.search(ORGANISATION, query.asked).found
        return [names[id] for one in found for id in (one.entry.id, *one.duplicates)]

    return rank


def grep(judged: JudgedMemory) -> System:
    """Entries with the most of the query's words in them, anywhere in a word, in the order of the files."""
    texts = {name: fold(entry.content) for name, entry in judged.entries.items()}

    def rank(query: Query) -> Sequence[str]:
        terms = query_terms(query.asked.query)
        counted = [
            (-sum(term in text for term in terms), place, name)
            for place, (name, text) in enumerate(texts.items())
            if search.found(query.asked, judged.entries[name])
        ]
        return [name for count, _, name in sorted(counted) if count][:DEFAULT_LIMIT]

    return rank


def _silent(*_: Any) -> None:
    """Six hundred entries are embedded in a moment."""
