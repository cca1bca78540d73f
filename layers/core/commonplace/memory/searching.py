"""Searching the memory: words and meaning, fused by reciprocal ranks (seed 001, `kb_search`)."""

from collections.abc import Sequence

from commonplace.memory.entries import Entry
from commonplace.memory.ports import EntryStore
from commonplace.memory.results import Asked, Near, SearchAnswer
from commonplace.search.fusion import Fusion
from commonplace.search.model import EmbeddingProvider, Engine, Vector

SEED_FUSION = Fusion("rrf", lexical_weight=0.3, vector_weight=0.7, rank_constant=60)


class MemorySearch:
    """Searches the index of the memory, and shows what the store says of what was found.

    Several `embeddings` are those of the index that answers and of the one that is to take its place.
    """

    def __init__(
        self,
        engine: Engine,
        embeddings: Sequence[EmbeddingProvider],
        store: EntryStore,
        *,
        fusion: Fusion = SEED_FUSION,
    ) -> None:
        self._engine = engine
        self._embeddings = embeddings
        self._store = store
        self._fusion = fusion

    def search(self, organisation: str, asked: Asked) -> SearchAnswer:
        """The best entries of this organisation. Raises Unavailable when index or store do not answer."""
        raise NotImplementedError

    def nearest(self, entry: Entry, vector: Vector, limit: int = 3) -> tuple[Near, ...]:
        """Other entries of the same organisation with a similar text, the most similar first; none in doubt."""
        raise NotImplementedError
