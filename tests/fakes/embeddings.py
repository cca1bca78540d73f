"""A model for tests: texts that share words are near each other. It counts what it is asked, and fails when told to."""

import hashlib
from collections.abc import Sequence

from commonplace.kernel.errors import Unavailable
from commonplace.search.embeddings import model_fingerprint
from commonplace.search.model import QueryVector, Vector
from commonplace.search.text import query_terms

DIMENSION = 64


class FakeEmbeddings:
    name = "fake"
    dimension = DIMENSION

    def __init__(self, revision: str = "1") -> None:
        self.revision = revision
        self.asked: list[str] = []
        self.failing = False

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
        if self.failing:
            raise Unavailable("The model does not answer.")
        self.asked += texts
        return [_vector(text) for text in texts]


def _vector(text: str) -> Vector:
    counts = [0.0] * DIMENSION
    for word in query_terms(text, limit=1_000):
        counts[hashlib.sha256(word.encode()).digest()[0] % DIMENSION] += 1.0
    norm = sum(count * count for count in counts) ** 0.5
    return [count / norm for count in counts] if norm else counts


def asked(provider: FakeEmbeddings, query: str) -> QueryVector:
    """The query under this model, as a search asks an engine with it."""
    return QueryVector(model_fingerprint(provider), provider.embed([query], query=True)[0])
