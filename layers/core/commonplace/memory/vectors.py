"""An entry's vectors, through the cache of its organisation: the very ones that the index asks for later."""

import logging
from collections.abc import Mapping

from commonplace.kernel.errors import Unavailable
from commonplace.memory.ports import VectorCaches
from commonplace.search.embeddings import embedding_text, model_fingerprint, vector_key
from commonplace.search.model import EmbeddingProvider, QueryVector, Record, Vector

logger = logging.getLogger(__name__)

Texts = Mapping[str, str]
"""By the keys of their vectors."""


class Vectors:
    """Makes vectors and remembers them. Without a model there are none, and none are missing."""

    def __init__(self, embedder: EmbeddingProvider | None, caches: VectorCaches) -> None:
        self._embedder = embedder
        self._caches = caches

    def texts(self, record: Record) -> dict[str, str]:
        """What is embedded of a record, in the order of its chunks."""
        if self._embedder is None:
            return {}
        fingerprint = model_fingerprint(self._embedder)
        texts = (embedding_text(record, chunk) for chunk in record.chunks)
        return {vector_key(fingerprint, text): text for text in texts}

    def missing(self, organisation: str, texts: Texts) -> set[str]:
        """The keys whose vectors are not remembered."""
        return texts.keys() - self._caches.of(organisation).known(list(texts)).keys() if texts else set()

    def make(self, texts: Texts) -> dict[str, Vector]:
        """The vectors of these texts, asked of the model in one go. Raises Unavailable."""
        if self._embedder is None or not texts:
            return {}
        return dict(zip(texts, self._embedder.embed(list(texts.values())), strict=True))

    def warm(self, organisation: str, texts: Texts) -> bool:
        """Makes and remembers these vectors; False when the model does not answer: the index makes them later."""
        return self._made(organisation, texts) is not None

    def first(self, organisation: str, record: Record) -> QueryVector | None:
        """The vector of the record's beginning, all of its vectors being warmed; None when they cannot be had."""
        texts = self.texts(record)
        if self._embedder is None or not texts:
            return None
        known = dict(self._caches.of(organisation).known(list(texts)))
        lacking = {key: text for key, text in texts.items() if key not in known}
        made = self._made(organisation, lacking)
        if made is None:
            return None
        return QueryVector(model_fingerprint(self._embedder), (known | made)[next(iter(texts))])

    def _made(self, organisation: str, texts: Texts) -> dict[str, Vector] | None:
        """Made and remembered; None when the model does not answer."""
        try:
            made = self.make(texts)
        except Unavailable as error:
            logger.warning("entries are kept without vectors", extra={"texts": len(texts), "reason": error.message})
            return None
        if made:
            self._caches.of(organisation).remember(made)
        return made
