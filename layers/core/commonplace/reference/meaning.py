"""Comparing by meaning: the collection `reference` of the index, asked with the query's vector."""

from collections.abc import Sequence

from commonplace.reference.model import Asked
from commonplace.reference.ports import Near
from commonplace.reference.records import address
from commonplace.search.filters import Filters
from commonplace.search.model import Candidates, EmbeddingProvider, Engine, QueryVector
from commonplace.search.queries import QueryEmbeddings


class VectorMeaning:
    """`Meaning` over an engine. Several `embeddings` are those of the index that answers and of the one to come."""

    def __init__(self, engine: Engine, embeddings: Sequence[EmbeddingProvider]) -> None:
        self._engine = engine
        self._queries = QueryEmbeddings(embeddings)

    def near(self, asked: Asked, size: int) -> Sequence[Near] | None:
        """None also when the model fails. Raises Unavailable when the index does not answer."""
        vector = self._queries.vector(asked.query, self._engine.model())
        found = self._candidates(vector, asked, size) if vector else None
        if found is None or found.degraded:
            return None
        return [Near(*address(hit.id), score=hit.score) for hit in found.vector]

    def _candidates(self, vector: QueryVector, asked: Asked, size: int) -> Candidates:
        found = self._engine.candidates("", vector, filters(asked), size)
        if not found.degraded:
            return found
        model = self._engine.model()
        if model == vector.model or not self._queries.knows(model):
            return found
        # Another index took the place of the one that was asked for its model.
        again = self._queries.vector(asked.query, model)
        return self._engine.candidates("", again, filters(asked), size) if again else found


def filters(asked: Asked) -> Filters:
    """The conditions as far as the index knows them: it says less than a catalogue, never more."""
    return Filters(
        content_types=(asked.type,) if asked.type else (),
        tags_all=(asked.module.lower(),) if asked.module else (),
        tags_any=(asked.category.lower(),) if asked.category else (),
    )
